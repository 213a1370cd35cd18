"""nmlgen logs: what ICON's logs and Darshan's say, as one table."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

import click

from nmlgen.cli.console import uses_colour
from nmlgen.cli.terminal import show_coloured, unfiltered
from nmlgen.errors import InputError
from nmlgen.logs.darshan import DarshanLog, DarshanWriter, scan_darshan, scan_darshan_writers
from nmlgen.logs.finding import darshan_logs_below
from nmlgen.logs.rows import CheckpointWrite, LogRun, LogWarning, OutputWrite, TimerTotal
from nmlgen.logs.table import write_csv, write_json, write_parquet
from nmlgen.models.icon.logs.finding import logs_below
from nmlgen.models.icon.logs.reader import scan_logs
from nmlgen.report.logs import format_rows, format_runs, format_writers
from nmlgen.visible import visible
from nmlgen.writing import whole_file

TABLES: dict[str, type[Any]] = {
    "runs": LogRun,
    "outputs": OutputWrite,
    "checkpoints": CheckpointWrite,
    "timers": TimerTotal,
    "darshan": DarshanLog,
    "writers": DarshanWriter,
}
"""The tables by their names on the command line."""

_SUFFIXES = {".csv": "csv", ".json": "json", ".parquet": "parquet"}
_PATIENCE = 1.0  # seconds
_MOST_TOLD = 5  # runs


@click.command("logs")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--what", type=click.Choice(list(TABLES)), default="runs", show_default=True, help="Which table.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    help="How to write it; by the name of FILE, or a table for the eye, by default.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of the terminal.")
@click.option("--why", is_flag=True, help="Say of every run why it waited, and what another layout would take.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr of lines that could not be understood.")
def command(
    paths: tuple[Path, ...], what: str, output_format: str | None, output: Path | None, why: bool, quiet: bool
) -> int:
    """Read ICON's logs into a table: a row for each run, or for each output, checkpoint or timer.

    PATH is a log, which may be compressed (.gz), or a directory, such as a sweep's, below which logs are found. Darshan
    logs are read with --what darshan, and with --what writers, which draws who wrote when. CSV and JSON have all
    columns, with units in their names; the table shows a few. Below it, of up to five runs, stands why they waited for
    output; --why says it of all, with what the model of nmlgen advise makes of them.

    Lines that should have been understood and were not are named on stderr; the exit code is 0 all the same.
    """
    chosen = output_format or (_SUFFIXES.get(output.suffix, "table") if output is not None else "table")
    if chosen == "parquet" and output is None:
        raise click.UsageError("--format parquet needs -o FILE")
    kind = TABLES[what]
    of_darshan = {DarshanLog: scan_darshan, DarshanWriter: scan_darshan_writers}.get(kind)
    if of_darshan is not None and next(darshan_logs_below(paths), None) is None:
        raise InputError("there is no Darshan log among these paths; expected names that end in .darshan")
    with reading_progress(paths, quiet, logs_below if of_darshan is None else darshan_logs_below) as progress:
        rows = _rows(paths, kind, quiet, progress) if of_darshan is None else of_darshan(paths, progress=progress)
        if kind is LogRun and chosen == "table":
            told: list[LogRun] = []
            rows = _told(rows, told)
            _write(rows, kind, chosen, output)
            _tell(told, why, output)
        else:
            _write(rows, kind, chosen, output)
    return 0


def _told(rows: Iterable[Any], told: list[LogRun]) -> Iterator[Any]:
    """The rows, remembered on their way."""
    for row in rows:
        told.append(row)
        yield row


def _tell(runs: list[LogRun], why: bool, output: Path | None) -> None:
    """Why runs waited, below their table."""
    if output is not None or not (why or len(runs) <= _MOST_TOLD):
        return
    from nmlgen.calibrating import looked_back

    for run in runs:
        sentences = looked_back(run, with_model=why)
        if sentences:
            click.echo("\n" + "\n".join((f"{visible(run.log)}:{run.line}", *(f"  {line}" for line in sentences))))


def _rows(
    paths: tuple[Path, ...], kind: type[Any], quiet: bool, progress: Callable[[int], None] | None
) -> Iterator[Any]:
    """The rows of one table; what was not understood goes to stderr."""
    for row in scan_logs(paths, events=kind is not LogRun, progress=progress):
        if isinstance(row, kind):
            yield row
        elif isinstance(row, LogWarning) and not quiet:
            click.echo(f"warning: {row}", err=True)


def _write(rows: Iterable[Any], kind: type[Any], chosen: str, output: Path | None) -> None:
    if chosen == "parquet" and output is not None:
        try:
            with whole_file(output) as raw:
                write_parquet(raw, kind, rows)
        except ImportError:
            raise InputError("to write Parquet, install pandas and pyarrow: pip install 'nmlgen[frame]'") from None
        return
    if output is None:
        _write_text(sys.stdout, rows, kind, chosen)
        return
    with whole_file(output) as raw:
        file = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="")
        _write_text(file, rows, kind, chosen)
        file.flush()
        file.detach()


def _write_text(file: TextIO, rows: Iterable[Any], kind: type[Any], chosen: str) -> None:
    if chosen == "csv":
        write_csv(file, kind, rows)
    elif chosen == "json":
        write_json(file, kind, rows)
    else:
        show = {LogRun: format_runs, DarshanWriter: format_writers}.get(kind, format_rows)
        text = show(list(rows), uses_colour(file), file.isatty())
        show_coloured(text, file)


@contextmanager
def reading_progress(
    paths: tuple[Path, ...], quiet: bool, below: Callable[[Iterable[Path]], Iterable[Path]] = logs_below
) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal's stderr, if it takes longer than a second; `below` finds the logs that are read."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn())
    bar = Progress(*columns, console=Console(file=unfiltered(sys.stderr)), transient=True)
    started, done, task = monotonic(), 0, None

    def advance(count: int) -> None:
        nonlocal done, task
        done += count
        if task is None and monotonic() - started > _PATIENCE:
            task = bar.add_task("", total=sum(path.stat().st_size for path in below(paths)))
            bar.start()
        if task is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        bar.stop()
