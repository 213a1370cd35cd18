"""nmlgen migrate: what a newer release of ICON takes no longer, or otherwise."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import format_option, quiet_option, release_option, show_findings
from nmlgen.cli.terminal import show_content
from nmlgen.namelist.registry import releases
from nmlgen.report.json import report_document, to_json
from nmlgen.report.text import summary


@click.command("migrate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--to",
    metavar="RELEASE",
    help=f"The newer release, or the path of its registry file.  [default: {releases()[-1]}]",
)
@release_option(
    "The release that PATH is for; by default what PATH shows, else the one that finds least wrong with it."
)
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks the model runs on.")
@click.option("--fix", "fixes", is_flag=True, help="Mend what can mean one thing only.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@format_option
@quiet_option
def command(
    paths: tuple[Path, ...],
    to: str | None,
    icon_release: str | None,
    ntasks: int | None,
    fixes: bool,
    diff: bool,
    output_format: str,
    quiet: bool,
) -> int:
    """Tell what of each PATH a newer release of ICON no longer has, renamed, declares otherwise or now checks.

    PATH is a spec, a run script, a namelist or a directory with such.

    \b
      nmlgen migrate exp.amip.run --to 2025.10
      nmlgen migrate spec.yaml --icon-release 2024.10 --diff

    What was wrong before is not told. Exit code 1 if something is left that the newer release refuses.
    """
    found = nmlgen.migrate(paths, to=to, icon_release=icon_release, ntasks=ntasks, mends=fixes or diff)
    if diff:
        show_content(found.fixed.differences())
        return 1 if found.fixed.changes else 0
    if fixes:
        found.fixed.write()
    if output_format == "json":
        click.echo(to_json({"from": list(found.old), "to": found.new, **report_document(found.report)}))
    else:
        show_findings(found.report.findings)
        if not quiet:
            mended = f", {found.fixed.count} mended" if fixes else ""
            head = f"from ICON {' and '.join(found.old)} to {found.new}{mended}: {summary(found.report)}"
            click.echo("\n".join(("",) * bool(found.report.findings) + (head,)))
    return 1 if found.report.errors else 0
