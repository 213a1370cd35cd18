"""nmlgen report: a page of a sweep."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

import nmlgen
from nmlgen.advise.document import load
from nmlgen.cli.console import quiet_option
from nmlgen.cli.terminal import unfiltered
from nmlgen.reporting import Progress
from nmlgen.writing import utf_8, write_whole


@click.command("report")
@click.argument("directory", metavar="SWEEPDIR", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="The page to write; SWEEPDIR/report.html by default."
)
@click.option("--stamp", metavar="TEXT", help="A text such as the date, to be shown on the page.")
@click.option("--calibration", type=click.Path(path_type=Path), help="The figures of a site for the predictions.")
@quiet_option
def command(directory: Path, output: Path | None, stamp: str | None, calibration: Path | None, quiet: bool) -> int:
    """Make a page of a sweep: what its runs took, against what the model expects, and which layout is best.

    The page is one HTML file that needs nothing else, no network either. Run times, time in output and in checkpoints
    and rates are drawn for each family of points that differ in their I/O layout only; differences below 2 % are called
    equal. Points without a result are named with the reason. The same logs give the same page, byte for byte.
    """
    figures = load(calibration) if calibration is not None else None
    with _progress(quiet) as progress:
        page = nmlgen.report_sweep(directory, calibration=figures, created=stamp, progress=progress)
    is_ours, output = output is None, output or directory / "report.html"
    write_whole(output, utf_8(page), is_ours=is_ours)
    if not quiet:
        click.echo(str(output))
    return 0


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress | None]:
    """A bar on the standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(file=unfiltered(sys.stderr)), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
