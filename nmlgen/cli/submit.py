"""nmlgen submit: hand the points of a sweep to Slurm."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option
from nmlgen.cli.submitted import progress_bar, show_submitted, submission_options
from nmlgen.sweep.room import lack_of_room


@click.command("submit")
@click.argument("directory", type=click.Path(path_type=Path))
@submission_options
@quiet_option
def command(directory: Path, throttle: int | None, dry_run: bool, quiet: bool) -> int:
    """Submit the points of the sweep in DIRECTORY as job arrays.

    Only what is missing is submitted: points that are done, under way or have failed are left alone. It may be
    interrupted at any moment and called again. Exit code 1 if Slurm does not take all points for now.
    """
    with progress_bar(quiet) as progress:
        done = nmlgen.submit(directory, throttle=throttle, dry_run=dry_run, progress=progress)
    if not quiet and (lack := lack_of_room(directory, done.points)) is not None:
        click.echo(f"warning: {lack}", err=True)
    return show_submitted(done, directory, dry_run, quiet)
