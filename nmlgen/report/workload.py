"""The tasks of a model that is not ICON and its files, as tables and for programs."""

from __future__ import annotations

from typing import Any

from nmlgen.experiment.placement import number_ranges
from nmlgen.models.workload import OutputFile, Workload
from nmlgen.report.quantities import counted
from nmlgen.report.table import format_table


def format_workload(found: Workload, most: int, colour: bool, terminal: bool) -> str:
    """What the tasks do, and up to so many of the files."""
    roles = [(number_ranges(role.tasks), str(len(role.tasks)), role.what) for role in found.roles]
    parts = [format_table(("tasks", "count", "what they do"), roles, colour, terminal)]
    if found.files:
        rows = [(_name(file), file.stream, *_times(file), number_ranges(file.tasks)) for file in found.files[:most]]
        parts.append(format_table(("file", "of", "from", "times", "written by"), rows, colour, terminal))
    files = sum(len(file.names) for file in found.files)
    left = len(found.files) - most
    parts.append(
        counted(files, "file") + (f"; the last {counted(left, 'line')} of the table left out" if left > 0 else "")
    )
    parts += [f"not known: {what}" for what in found.unknown]
    return "\n\n".join(parts)


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
