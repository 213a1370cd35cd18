"""nmlgen status: how far a sweep is."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import uses_colour
from nmlgen.report.json import to_json
from nmlgen.report.sweep_status import format_status, status_csv, status_document

_WRONG = ("failed", "lost", "cancelled")


@click.command("status")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def command(directory: Path, output_format: str) -> int:
    """Show how far each point of the sweep in DIRECTORY is.

    Exit codes: 0 all points are done, 1 some failed, were lost or cancelled, 3 none did, but not all are done.
    """
    found = nmlgen.status(directory)
    if found.problem is not None:
        click.echo(f"Slurm was not asked, this is what the points hold: {found.problem}", err=True)
    if output_format == "json":
        click.echo(to_json(status_document(found)))
    elif output_format == "csv":
        click.echo(status_csv(found), nl=False)
    else:
        click.echo(format_status(found, uses_colour(sys.stdout), sys.stdout.isatty()))
    counts = found.counts
    if any(counts[state] for state in counts if state in _WRONG):
        return 1
    return 0 if counts["done"] == len(found.points) else 3
