"""What `nmlgen verify` found, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nmlgen.report.table import format_table
from nmlgen.units.size import format_bytes
from nmlgen.visible import joined, visible

if TYPE_CHECKING:
    from nmlgen.verifying import Verification

_MOST_SHOWN = 20


def format_verification(found: Verification, colour: bool, is_terminal: bool) -> str:
    """A table of what is wrong, then a line with what is there, then what was not looked at."""
    lines: list[str] = []
    if found.problems:
        rows = [(one.what, one.file, one.message) for one in found.problems[:_MOST_SHOWN]]
        lines.append(format_table(("WHAT", "FILE", "WHY"), rows, colour, is_terminal))
        if len(found.problems) > _MOST_SHOWN:
            lines.append(f"... and {len(found.problems) - _MOST_SHOWN} more")
        lines.append("")
    how_far = (
        f"after {found.legs} of {found.planned_legs}" if found.legs is not None else f"of all {found.planned_legs}"
    )
    legs = f" {how_far} jobs" if (found.planned_legs or 1) > 1 else ""
    count = f"{found.files} of {found.promised}" if found.files != found.promised else f"{found.files}"
    lines.append(
        f"{visible(str(found.directory))}: {count} output files{legs}, {found.records} records, "
        + format_bytes(found.bytes)
        + (f"; last checkpoint {', '.join(found.checkpoints)}" if found.checkpoints else "")
    )
    lines += [f"note: {remark}" for remark in found.remarks]
    count = str(len(found.problems))
    lines.append("everything promised is there" if not found.problems else f"{count} problem{'s'[: count != '1']}")
    return joined("\n", lines)


def verification_document(found: Verification) -> dict[str, Any]:
    """The same for machines."""
    return {
        "directory": str(found.directory),
        "jobs": found.legs,
        "planned_jobs": found.planned_legs,
        "promised_files": found.promised,
        "files": found.files,
        "records": found.records,
        "bytes": found.bytes,
        "checkpoints": list(found.checkpoints),
        "problems": [{"what": one.what, "file": one.file, "message": one.message} for one in found.problems],
        "remarks": list(found.remarks),
    }
