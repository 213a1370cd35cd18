"""How far a sweep is, as text, as CSV and as a document for JSON."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from nmlgen.report.table import format_table
from nmlgen.values import asdict
from nmlgen.visible import csv_cell, joined

if TYPE_CHECKING:
    from nmlgen.sweep.status import PointStatus, SweepStatus


def status_document(status: SweepStatus) -> dict[str, Any]:
    """What `nmlgen status --format json` prints."""
    return {"counts": status.counts, "slurm": status.problem is None, "points": [asdict(p) for p in status.points]}


def status_csv(status: SweepStatus) -> str:
    """A row for each point, the columns named as in the JSON document."""
    out = io.StringIO()
    rows = [asdict(point) for point in status.points]
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: csv_cell(str(cell)) for key, cell in row.items() if cell is not None} for row in rows)
    return out.getvalue()


def summary_document(status: SweepStatus) -> dict[str, Any]:
    """What `nmlgen status --summary --format json` prints."""
    return {"counts": status.counts, "slurm": status.problem is None}


def format_summary(status: SweepStatus) -> str:
    """A line with the count of each state."""
    counts = ", ".join(f"{count} {state}" for state, count in status.counts.items() if count)
    total = len(status.points)
    return f"{total} point{'s' * (total != 1)}: {counts}" if total else "no points"


def format_status(status: SweepStatus, colour: bool, terminal: bool) -> str:
    """A row for each point, and a line with the count of each state."""
    summary = format_summary(status)
    if not status.points:
        return summary
    headings = ("point", "state", "leg", "job", "node", "reason")
    table = format_table(headings, [_row(point) for point in status.points], colour, terminal)
    return joined("\n\n", (table, summary))


def _row(point: PointStatus) -> tuple[str, ...]:
    exit_code = f"exit code {point.exit_code}" if point.exit_code else ""
    reason = ", ".join(filter(None, (exit_code, point.reason)))
    leg = f"{point.leg}/{point.legs}" if point.legs > 1 else ""
    return (point.name, point.state, leg, "" if point.job is None else str(point.job), point.node, reason)
