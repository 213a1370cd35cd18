"""nmlgen cancel: take points of a sweep back from its batch system."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option


@click.command("cancel")
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("points", nargs=-1)
@quiet_option
def command(directory: Path, points: tuple[str, ...], quiet: bool) -> int:
    """Cancel the jobs of the sweep in DIRECTORY that wait or run, or those of POINTS, names or identifiers.

    A cancelled point is submitted again by `nmlgen resubmit` only.
    """
    cancelled = nmlgen.cancel(directory, points)
    if not quiet:
        click.echo(f"{directory}: {len(cancelled)} point{'s' * (len(cancelled) != 1)} cancelled")
    return 0
