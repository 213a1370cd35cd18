"""Two runs side by side, as text and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nmlgen.logs.record import Ran
from nmlgen.logs.rows import LogRun
from nmlgen.report.difference import difference_document, format_differences
from nmlgen.report.quantities import format_number, format_share
from nmlgen.report.table import format_table
from nmlgen.visible import joined

if TYPE_CHECKING:
    from nmlgen.comparing_runs import Measurement, RunComparison


def format_run_comparison(comparison: RunComparison, names: tuple[str, str], colour: bool, terminal: bool) -> str:
    """What became of each run, the numbers of both, then what differs in their set-up."""
    states = [
        f"{mark} {name}: {_state(legs)}"
        for mark, name, legs in zip("AB", names, (comparison.old, comparison.new), strict=True)
    ]
    rows = [_row(measurement) for measurement in comparison.measurements]
    table = format_table(("", "A", "B", "unit", "difference"), rows, colour, terminal)
    parts: list[str] = ["\n".join(states), table]
    if comparison.settings:
        rows = [(name, _text(old), _text(new)) for name, old, new in comparison.settings]
        parts.append(joined("\n", ("as the logs say:", format_table(("", "A", "B"), rows, colour, terminal))))
    if comparison.ran:
        parts.append(format_ran(comparison.ran))
    if comparison.setup is not None:
        differences = format_differences(comparison.setup.differences, names, comparison.setup.left_out, colour)
        parts.append(joined("\n", ("in the set-up:", differences)))
    return joined("\n\n", parts)


def format_ran(ran: Iterable[Ran]) -> str:
    """What two runs ran otherwise."""
    lines = ["what ran, by the records of the runs:"]
    for one in ran:
        lines += [f"  {one.what}:", f"    A {one.old or '-'}", f"    B {one.new or '-'}"]
    return "\n".join(lines)


def ran_document(ran: Iterable[Ran]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [{"what": one.what, "a": one.old, "b": one.new} for one in ran]


def run_comparison_document(comparison: RunComparison, names: tuple[str, str]) -> dict[str, Any]:
    """The same for programs; `difference` is B over A, minus one."""
    setup = comparison.setup
    return {
        "same": comparison.is_same,
        "runs": [_run_document(name, legs) for name, legs in zip(names, (comparison.old, comparison.new), strict=True)],
        "measurements": [
            {
                "name": one.name,
                "unit": one.unit,
                "a": one.old,
                "b": one.new,
                "difference": one.difference,
                "within_noise": one.is_noise,
            }
            for one in comparison.measurements
        ],
        "settings": [{"name": name, "a": old, "b": new} for name, old, new in comparison.settings],
        "ran": ran_document(comparison.ran),
        "setup": None if setup is None else [difference_document(difference) for difference in setup.differences],
        "remarks": list(comparison.remarks),
    }


def _run_document(name: str, legs: Sequence[LogRun]) -> dict[str, Any]:
    return {
        "path": name,
        "state": legs[-1].state,
        "reason": legs[-1].reason,
        "logs": [leg.log for leg in legs],
        "notes": list(dict.fromkeys(note for leg in legs for note in leg.notes)),
    }


def _state(legs: Sequence[LogRun]) -> str:
    last = legs[-1]
    chain = f", {len(legs)} legs" if len(legs) > 1 else ""
    return f"{last.state}{chain}{f', {last.reason}' if last.reason else ''}"


def _row(measurement: Measurement) -> tuple[str, ...]:
    difference = "" if measurement.difference is None else format_share(measurement.difference)
    if measurement.is_noise:
        difference = f"{difference} (noise)".strip()
    old, new = ("" if value is None else format_number(value) for value in (measurement.old, measurement.new))
    return measurement.name, old, new, measurement.unit, difference


def _text(value: Any) -> str:
    if value is None or value == ():
        return "not said"
    return ", ".join(map(str, value)) if isinstance(value, Iterable) and not isinstance(value, str) else str(value)
