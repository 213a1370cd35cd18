"""nmlgen join: the files of partitions, put together again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option, release_option, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.report.quantities import counted
from nmlgen.report.table import format_table


@click.command("join")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--legs", type=click.IntRange(min=1), help="So many jobs of the chain have ended; found out by default.")
@click.option("--cdo", default="cdo", show_default=True, help="The program that puts files together.")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, where nothing there says it.")
@release_option("The release, for namelists that do not show it; the newest one by default.")
@quiet_option
def command(
    directory: Path, legs: int | None, cdo: str, ntasks: int | None, icon_release: str | None, quiet: bool
) -> int:
    """Put the files of partitions together: with `cdo mergetime`, into a directory joined/ beside them, under the names
    that they would have without partitions.

    DIRECTORY is that of a build, or the one that ICON ran in. With file_interval there is a file for each, without it
    one for so many records as steps_per_file says, or one for all. Only whole files with all records that were promised
    are put together, and the result is looked at before it gets its name. What is there whole is left alone, and what a
    later job of the chain will write to is left for then.

    Exit code 1 if a file could not be made.
    """
    found = nmlgen.join(directory, legs=legs, cdo=cdo, ntasks=ntasks, icon_release=icon_release)
    failed = [one for one in found if one.why_not]
    if failed:
        rows = [(one.name, str(one.parts), one.why_not) for one in failed]
        show_coloured(format_table(("file", "of", "why not"), rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    if not quiet:
        made = [one for one in found if one.is_new and not one.why_not]
        there = len(found) - len(made) - len(failed)
        parts, records = sum(one.parts for one in made), sum(one.records for one in made)
        click.echo(
            f"{directory}: {counted(len(made), 'file')} made of {parts}, {counted(records, 'record')}"
            + (f"; {there} there already" if there else "")
        )
    return 1 if failed else 0
