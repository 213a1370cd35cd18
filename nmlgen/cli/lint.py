"""nmlgen lint: judge files that nmlgen did not write."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option, show_findings
from nmlgen.linting import PROBLEMS
from nmlgen.namelist.registry import releases
from nmlgen.report.github import format_github
from nmlgen.report.json import report_document, to_json
from nmlgen.report.sarif import sarif_document
from nmlgen.report.text import summary
from nmlgen.rules import all_rules


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks the model runs on.")
@click.option(
    "--icon-release",
    type=click.Choice(releases()),
    default=releases()[-1],
    show_default=True,
    help="The release whose variables and defaults hold.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print what was found.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.option("--show-undecided", is_flag=True, help="List the rules that lacked a value, and which.")
@quiet_option
def command(
    paths: tuple[Path, ...],
    ntasks: int | None,
    icon_release: str,
    output_format: str,
    strict: bool,
    show_undecided: bool,
    quiet: bool,
) -> int:
    """Judge namelist files: an icon_master.namelist with the files it names, a directory that holds one, or a
    model's namelist by itself.

    They are read as ICON and its Fortran runtime read them; nothing is run. Exit code 1 if there are errors.
    """
    report = nmlgen.lint(paths, ntasks=ntasks, icon_release=icon_release)
    if output_format == "json":
        click.echo(to_json(report_document(report)))
    elif output_format == "sarif":
        click.echo(to_json(sarif_document(report.findings, _explanations())))
    elif output_format == "github":
        if report.findings:
            click.echo(format_github(report.findings))
    else:
        show_findings(report.findings)
        if show_undecided:
            for item in report.undecided:
                click.echo(f"not applied: {item.code}, because {item.setting} is not known")
        if not quiet:
            click.echo(("\n" if report.findings else "") + summary(report))
    return 1 if report.errors or (strict and report.warnings) else 0


def _explanations() -> dict[str, str]:
    return {rule.code: rule.document() for rule in all_rules()} | {code: text for code, (_, text) in PROBLEMS.items()}
