"""nmlgen status: how far a sweep is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import nmlgen
from nmlgen.cli.console import Amount, uses_colour
from nmlgen.cli.terminal import show_coloured, unfiltered
from nmlgen.report.json import to_json
from nmlgen.report.sweep_status import format_status, format_summary, status_csv, status_document, summary_document
from nmlgen.schedulers import schedulers
from nmlgen.sweep.status import SweepStatus
from nmlgen.sweep.waiting import INTERVAL_S, wait

_WRONG = ("failed", "lost", "cancelled")

F = TypeVar("F", bound=Callable[..., Any])


def interval_option(function: F) -> F:
    """The option --interval."""
    return click.option(
        "--interval",
        type=Amount(),
        default=INTERVAL_S,
        show_default=True,
        help="Seconds between two looks; each asks the batch system.",
    )(function)


@click.command("status")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--summary", is_flag=True, help="Print the counts only, not every point.")
@click.option("--watch", "watches", is_flag=True, help="Look again and again until nothing waits or runs.")
@interval_option
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def command(directory: Path, summary: bool, watches: bool, interval: float, output_format: str) -> int:
    """Show how far each point of the sweep in DIRECTORY is.

    Exit codes: 0 all points are done, 1 some failed, were lost or cancelled, 3 none did, but not all are done.
    """
    if summary and output_format == "csv":
        raise click.UsageError("--summary prints text or JSON")
    if watches and output_format != "text":
        raise click.UsageError("--watch is for people; nmlgen wait is for programs")
    if watches:
        found = _watch(directory, summary, interval)
    else:
        found = nmlgen.status(directory)
        if found.problem is not None:
            title = schedulers()[found.scheduler].title
            click.echo(f"{title} was not asked, this is what the points hold: {found.problem}", err=True)
        if output_format == "json":
            click.echo(to_json(summary_document(found) if summary else status_document(found)))
        elif output_format == "csv":
            click.echo(status_csv(found), nl=False)
        else:
            show_coloured(_text(found, summary))
    return exit_code(found)


def exit_code(found: SweepStatus) -> int:
    """0 if all points are done, 1 if some are lost for good, 3 if some are still to come."""
    counts = found.counts
    if any(counts[state] for state in counts if state in _WRONG):
        return 1
    return 0 if counts["done"] == len(found.points) else 3


def _text(found: SweepStatus, summary: bool) -> str:
    if summary:
        return format_summary(found)
    return format_status(found, uses_colour(sys.stdout), sys.stdout.isatty())


def _watch(directory: Path, summary: bool, interval: float) -> SweepStatus:
    """On a terminal a table in its place, with a bar; elsewhere a line for each change."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        said: list[str] = []

        def tell(found: SweepStatus) -> None:
            if (line := format_summary(found)) not in said[-1:]:
                click.echo(line)
                said.append(line)

        return wait(directory, interval_s=interval, watch=tell)
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    with Live(console=Console(file=unfiltered(sys.stdout)), auto_refresh=False) as live:

        def show(found: SweepStatus) -> None:
            bar = ProgressBar(total=max(1, len(found.points)), completed=found.counts["done"], width=40)
            text = Text.from_ansi(_text(found, summary))
            live.update(Group(text, bar) if found.problem is None else Group(text, Text(found.problem)), refresh=True)

        return wait(directory, interval_s=interval, watch=show)
