"""The tasks of a model that is not ICON and its files, as tables and for programs."""

from __future__ import annotations

from typing import Any

from nmlgen.experiment.seats import number_ranges
from nmlgen.models.workload import OutputFile, Workload
from nmlgen.report.quantities import counted
from nmlgen.report.table import format_table
from nmlgen.units.size import format_bytes
from nmlgen.visible import joined


def format_workload(found: Workload, most: int, colour: bool, terminal: bool) -> str:
    """What the tasks do, and up to so many of the files."""
    roles = [(number_ranges(role.tasks), str(len(role.tasks)), role.what) for role in found.roles]
    parts: list[str] = [format_table(("tasks", "count", "what they do"), roles, colour, terminal)]
    if found.files:
        rows = [
            (_name(file), file.stream, *_times(file), _bytes(file.size), number_ranges(file.tasks))
            for file in found.files[:most]
        ]
        parts.append(
            format_table(("file", "of", "from", "times", "bytes a time", "written by"), rows, colour, terminal)
        )
    files = sum(file.count for file in found.files)
    left = len(found.files) - most
    parts.append(
        counted(files, "file") + (f"; the last {counted(left, 'line')} of the table left out" if left > 0 else "")
    )
    parts += [f"not known: {what}" for what in found.unknown]
    return joined("\n\n", parts)


def format_volume(found: Workload, colour: bool, terminal: bool) -> str:
    """How many bytes a job writes, by what they are of."""
    rows = [(of, str(files), str(times or "?"), *map(_bytes, sizes)) for of, files, times, *sizes in _streams(found)]
    heads = ("of", "files", "times", "bytes a time", "bytes a file", "bytes")
    parts: list[str] = [format_table(heads, rows, colour, terminal)] if rows else []
    sums = [row[-1] for row in _streams(found)]
    parts.append(f"the job: {_bytes(None if None in sums else sum(size or 0 for size in sums))}, without compression")
    parts += [f"not known: {what}" for what in found.unknown]
    return joined("\n\n", parts)


def volume_document(found: Workload) -> dict[str, Any]:
    """The same for programs."""
    names = ("of", "files", "times", "bytes_a_time", "bytes_a_file", "bytes")
    return {"streams": [dict(zip(names, row, strict=True)) for row in _streams(found)], "unknown": list(found.unknown)}


def _streams(found: Workload) -> list[tuple[str, int, int | None, int | None, int | None, int | None]]:
    """Of each stream its name, files, times, bytes of a time, of its largest file (of one of each task their mean), and
    of all of them."""
    rows, by_stream = [], dict[str, list[OutputFile]]()
    for file in found.files:
        by_stream.setdefault(file.stream, []).append(file)
    for of, own in by_stream.items():
        sizes = [(file.bytes, file.count) for file in own]
        a_file = max((-(-size // count) for size, count in sizes if size is not None and count), default=None)
        total = None if any(size is None for size, _ in sizes) else sum(size or 0 for size, _ in sizes)
        times = sum(len(file.times) for file in own) or None
        rows.append((of, sum(file.count for file in own), times, own[0].size, a_file, total))
    return rows


def workload_document(found: Workload) -> dict[str, Any]:
    """The same for programs; tasks count from 0."""
    return {
        "tasks": found.tasks,
        "roles": [{"what": role.what, "tasks": number_ranges(role.tasks)} for role in found.roles],
        "files": [
            {
                "names": list(file.names),
                "of": file.stream,
                "times": list(file.times),
                "bytes_a_time": file.size,
                "tasks": number_ranges(file.tasks),
            }
            for file in found.files
        ],
        "unknown": list(found.unknown),
    }


def _name(file: OutputFile) -> str:
    """The name of a file; of one of each task those of the first and the last."""
    names = file.names
    return names[0] if len(names) == 1 else f"{names[0]} ... {names[-1][len(file.name) :]}"


def _times(file: OutputFile) -> tuple[str, str]:
    """The first time of a file, and how many it has."""
    return (file.times[0], str(len(file.times))) if file.times else ("?", "?")


def _bytes(count: int | None) -> str:
    return "?" if count is None else format_bytes(count)
