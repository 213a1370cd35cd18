"""nmlgen submit: hand the points of a sweep to its batch system."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import can_ask, quiet_option
from nmlgen.cli.submitted import progress_bar, show_demand, show_submitted, submission_options
from nmlgen.sweep.room import lack_of_room


@click.command("submit")
@click.argument("directory", type=click.Path(path_type=Path))
@submission_options
@click.option("-y", "--yes", is_flag=True, help="Do not ask on a terminal whether to submit.")
@quiet_option
def command(
    directory: Path, throttle: int | None, pack: int, mail: str | None, dry_run: bool, yes: bool, quiet: bool
) -> int:
    """Submit the points of the sweep in DIRECTORY as job arrays.

    Only what is missing is submitted: points that are done, under way or have failed are left alone. It may be
    interrupted at any moment and called again. On a terminal it says what the points may cost, and asks. Exit code 1
    if not all points are taken for now.
    """
    if not (dry_run or yes or quiet) and can_ask(sys.stdout):
        missing = [point.name for point in nmlgen.status(directory).points if point.state == "not submitted"]
        if missing and not _confirmed(directory, missing):
            return 1
    with progress_bar(quiet) as progress:
        done = nmlgen.submit(directory, throttle=throttle, pack=pack, mail=mail, dry_run=dry_run, progress=progress)
    if not quiet and (lack := lack_of_room(directory, done.points)) is not None:
        click.echo(f"warning: {lack}", err=True)
    return show_submitted(done, directory, dry_run, quiet)


def _confirmed(directory: Path, points: list[str]) -> bool:
    show_demand(directory, points)
    return click.confirm(f"Submit {len(points)} point{'s' * (len(points) != 1)}?", default=True)
