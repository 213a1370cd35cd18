"""nmlgen diff: compare two experiments by meaning."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import format_option, release_option, show_findings, uses_colour, variables_option
from nmlgen.cli.terminal import show_coloured
from nmlgen.experiment.difference import Verdict
from nmlgen.report.difference import difference_document, format_differences
from nmlgen.report.json import finding_document, to_json
from nmlgen.report.run_comparison import format_ran, ran_document


@click.command("diff")
@click.argument("old", metavar="A", type=click.Path())
@click.argument("new", metavar="B", type=click.Path())
@click.argument("arguments", nargs=-1)
@click.option("--explicit", is_flag=True, help="Count what one side writes and the other has as default, too.")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, where a side does not say it.")
@click.option(
    "--site", metavar="NAME", help="The machine of scripts; by default that of a spec or build on the other side."
)
@variables_option
@click.option(
    "--hosts",
    type=click.Path(path_type=Path),
    help="The file of hosts (SLURM_HOSTFILE) that a run of a script had, where another program makes it.",
)
@release_option(
    "The release of scripts and namelists; by default that of a spec or build on either side, else what they show."
)
@format_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code says it.")
def command(
    old: str,
    new: str,
    arguments: tuple[str, ...],
    explicit: bool,
    ntasks: int | None,
    site: str | None,
    variables: dict[str, str],
    hosts: Path | None,
    icon_release: str | None,
    output_format: str,
    quiet: bool,
) -> int:
    """Compare two experiments by meaning: A and B are specs, run scripts, directories with a build or an
    icon_master.namelist, such files, or a model's namelist; one of them may be - for the standard input.

    \b
      nmlgen diff spec.yaml run1              has somebody changed a build?
      nmlgen diff old.yaml new.yaml           what does the new spec do differently?
      nmlgen diff exp.amip.run spec.yaml      does the spec do what the script did?
      nmlgen diff run1/NAMELIST_a run2/NAMELIST_b
      nmlgen diff run1 run2                   same namelists, another executable?

    1.0d0 is 1., the order of groups and variables does not count, output streams belong together by their
    output_filename. What one side writes and the other has as the default of its ICON release is shown as
    "explicit (= default)" and is no difference. What only a run of a script knows is shown as undecided. Where a script
    may go several ways, the first is compared, and stderr names what would else be otherwise. Of a spec and a namelist
    only the namelist is compared. Of WRF, PALM and MPAS two specs are, or two namelists.

    The ARGUMENTS are those that scripts are started with; they stand behind -- if one begins with a hyphen. Where each
    rank of several programs sits is compared as `nmlgen import` finds it, with the same options:

    \b
      nmlgen diff spec.yaml hybrid.run --hosts run1/hostfile.4711 --set CASE=R02B07

    Of two directories in which ICON ran, the records of their legs (nmlgen.records) are compared, too: executable,
    ICON's revision, modules, libraries, inputs.

    Exit code 0 if they are the same, 1 if they differ, 2 for trouble.
    """
    try:
        comparison = nmlgen.compare(
            old,
            new,
            ntasks=ntasks,
            icon_release=icon_release,
            variables=variables,
            site=site,
            arguments=arguments,
            hosts=hosts,
        )
    except nmlgen.SpecError as error:
        if output_format == "json" and not quiet:
            click.echo(to_json({"findings": [finding_document(finding) for finding in error.findings]}))
        else:
            show_findings(error.findings, err=True)
        return 2
    for remark in () if quiet else comparison.remarks:
        click.echo(f"note: {remark}", err=True)
    is_same = comparison.is_same and not (explicit and comparison.of(Verdict.EXPLICIT))
    if output_format == "json" and not quiet:
        document = {
            "same": is_same,
            "not_compared": list(comparison.left_out),
            "differences": [difference_document(difference) for difference in comparison.differences],
            **({"ran": ran_document(comparison.ran)} if comparison.ran else {}),
        }
        click.echo(to_json(document))
    elif not quiet:
        names = (str(Path(old)), str(Path(new)))
        colour = uses_colour(sys.stdout)
        show_coloured(format_differences(comparison.differences, names, comparison.left_out, colour))
        if comparison.ran:
            click.echo(format_ran(comparison.ran))
    return 0 if is_same else 1
