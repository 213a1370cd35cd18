"""nmlgen import: a spec made of files that exist already."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import release_option, variables_option
from nmlgen.cli.terminal import show_content
from nmlgen.errors import InputError
from nmlgen.files import encode
from nmlgen.writing import write_whole


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The spec to write; printed by default.")
@click.option("--force", is_flag=True, help="Overwrite it.")
@click.option("--site", metavar="NAME", help="The machine: one of `nmlgen presets`, or a site file as ./mysite.yaml.")
@click.option("--name", help="The experiment's name; by default that of its namelist.")
@click.option("--model", metavar="MODEL_NAME", help="Which model to take where several are started.")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, where PATH does not say it.")
@variables_option
@click.option(
    "--hosts",
    type=click.Path(path_type=Path),
    help="The file of hosts (SLURM_HOSTFILE) that a run of the script had, where another program makes it.",
)
@click.option(
    "--add-ignore",
    is_flag=True,
    help="Let the spec ignore each rule by which nmlgen build would refuse it, with the place in PATH.",
)
@release_option("The release whose variables and defaults hold; by default what PATH shows, else the newest.")
def command(
    path: Path,
    arguments: tuple[str, ...],
    output: Path | None,
    force: bool,
    site: str | None,
    name: str | None,
    model: str | None,
    ntasks: int | None,
    variables: dict[str, str],
    hosts: Path | None,
    add_ignore: bool,
    icon_release: str | None,
) -> int:
    """Make a spec of PATH: a run script, a directory with a build or an icon_master.namelist, such a file, a model's
    namelist, a configuration of mkexp, or a job of palmrun (JOBS/NAME, with .palm.config.* above JOBS). PATH - is the
    standard input. A script is read, never run.

    \b
      nmlgen import exp.amip.run --site levante -o spec.yaml
      nmlgen import run1 --site levante -o spec.yaml

    The spec builds to the same namelists and asks Slurm for the same; what stands there stays explicit, even if it is
    ICON's default. What only a run of the script knows, and what a spec needs and PATH does not say, stands in a
    comment with its place. Where a script may go several ways, the first one is taken. Nothing is dropped in silence:
    the spec is read again and compared with PATH, and what it does not say is named on stderr. So are errors that PATH
    itself has, such as settings that ICON refuses: the spec has them, too, and is not built before they are mended, or
    ignored: --add-ignore writes down which, for a model that takes what the released one does not.

    A fragment of ICON's own run scripts (exp.NAME) leaves some variables to the header that is put before it: those of
    the machine come from --site, others, such as basedir, from --set. What it leaves to what comes behind it, the
    master namelist and the links to its grids, is made of its variables as ICON's exec.iconrun does.

    The ARGUMENTS are those that a script is started with; they stand behind -- if one begins with a hyphen. Where it
    starts several programs, by srun --multi-prog or in the parts of a heterogeneous job, the spec says where each rank
    sits. If the script leaves that to another program, the file of hosts of a run tells it:

    \b
      nmlgen import hybrid.run --site lumi --hosts run1/hostfile.4711 -o spec.yaml

    Exit code 1 if something is left to be done by hand.
    """
    if output is not None and output.exists() and not force:
        raise InputError(f"{output} exists; --force overwrites it")
    imported = nmlgen.import_spec(
        path,
        site=site,
        name=name,
        model=model,
        ntasks=ntasks,
        icon_release=icon_release,
        directory=Path() if output is None else output.parent,
        variables=variables,
        arguments=arguments,
        hosts=hosts,
        add_ignore=add_ignore,
    )
    if output is None:
        show_content(imported.text)
    else:
        write_whole(output, encode(imported.text), is_new=not force)
        click.echo(f"wrote {output}\nnext: nmlgen check {shlex.quote(str(output))}")
    for note in imported.notes:
        click.echo(f"note: {note}", err=True)
    for remark in imported.remarks:
        click.echo(f"left to do: {remark}", err=True)
    for refusal in imported.refusals:
        click.echo(f"{'ignored' if add_ignore else 'nmlgen build refuses it'}: {refusal}", err=True)
    return 1 if imported.remarks else 0
