"""What logs say, as tables for the terminal: the columns that tell most, in units that are easy to read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nmlgen.report.table import format_table
from nmlgen.values import fields
from nmlgen.visible import joined, visible

_Column = tuple[str, Callable[[Any], str]]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _megabytes(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:.1f}"


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, dict.fromkeys(value)))
    return "" if value is None else str(value)


_RUN: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("log", "log", _plain),
    ("run", "run", _plain),
    ("state", "state", _plain),
    ("steps", "n_steps", _plain),
    ("ranks", "ntasks", _plain),
    ("I/O", "num_io_procs", _plain),
    ("parts", "stream_partitions_ml", _plain),
    ("total s", "total_s", _seconds),
    ("output s", "wrt_output_work_s", _seconds),
    ("I/O rank s", "wrt_output_io_s", _seconds),
    ("written MB", "output_bytes", _megabytes),
    ("MB/s", "output_write_bytes_per_s", _megabytes),
    ("restart", "restart_write_mode", _plain),
    ("checkpoints", "n_checkpoints", _plain),
    ("MB", "checkpoint_bytes", _megabytes),
    ("MB/s", "checkpoint_write_bytes_per_s", _megabytes),
)


def format_runs(runs: Sequence[Any], colour: bool, terminal: bool) -> str:
    """Runs, a line each, and below them why one has not finished and what the reader remarks, each remark once; seconds
    are averages over the ranks, MB 1e6 bytes."""
    table = format_table(
        [heading for heading, _, _ in _RUN],
        ([show(getattr(run, name)) for _, name, show in _RUN] for run in runs),
        colour,
        terminal,
    )
    remarks = [f"{_place(run)}: {run.state}: {run.reason}" for run in runs if run.reason is not None]
    noted: dict[str, list[Any]] = {}
    for run in runs:
        for note in run.notes:
            noted.setdefault(note, []).append(run)
    remarks += [f"{_place(some[0]) if len(some) == 1 else f'{len(some)} runs'}: {note}" for note, some in noted.items()]
    return joined("\n", (table, *([""] if remarks else []), *remarks))


def _place(run: Any) -> str:
    return visible(f"{run.log}, run {run.run}" if run.run > 1 else str(run.log))


def format_rows(rows: Iterable[Any], colour: bool, terminal: bool) -> str:
    """Rows of another table with those of their columns in which there is anything."""
    rows = list(rows)
    if not rows:
        return ""
    names = [column.name for column in fields(type(rows[0]))]
    names = [name for name in names if any(getattr(row, name) is not None for row in rows)]
    cells = ([_plain(getattr(row, name)) for name in names] for row in rows)
    return format_table(names, cells, colour, terminal)


_BARS = "▁▂▃▄▅▆▇█"
_WIDTH, _NARROWEST, _LABELS = 60, 20, 50


def format_writers(rows: Iterable[Any], colour: bool, terminal: bool) -> str:
    """A picture for each Darshan log: a line for each process that wrote, from the beginning of the job to its end."""
    logs: dict[str, list[Any]] = {}
    for row in rows:
        logs.setdefault(row.log, []).append(row)
    if not logs:
        return "no process wrote, or the log has no heat map: Darshan 3.4 and later make one"
    width = min(_WIDTH, max(_NARROWEST, shutil.get_terminal_size().columns - _LABELS)) if terminal else _WIDTH
    return joined("\n\n", (_picture(log, writers, width, colour, terminal) for log, writers in logs.items()))


def _picture(log: str, writers: Sequence[Any], width: int, colour: bool, terminal: bool) -> str:
    count = max(len(row.bytes_by_interval) for row in writers)
    drawn = [_rebinned(row.bytes_by_interval, count, min(width, count)) for row in writers]
    most = max(map(max, drawn))
    cells = (
        (str(row.rank), _drawn(line, most), _megabytes(row.written_bytes), f"{100 * row.idle_share:.0f} %")
        for row, line in zip(writers, drawn, strict=True)
    )
    seconds = count * writers[0].interval_s
    heading = f"0 to {seconds:.{0 if seconds >= 10 else 1}f} s of the job"
    return joined("\n", (visible(log), format_table(("rank", heading, "MB", "idle"), cells, colour, terminal)))


def _rebinned(values: Sequence[int], count: int, width: int) -> list[int]:
    """The values of so many intervals, put together to so many columns."""
    line = [0] * width
    for at, value in enumerate(values):
        line[at * width // count] += value
    return line


def _drawn(line: Sequence[int], most: int) -> str:
    return "".join(_BARS[min(7, 8 * value // most)] if value else "·" for value in line)
