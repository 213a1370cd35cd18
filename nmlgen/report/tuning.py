"""How far a tuning is, as lines, as a table and as a document for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from nmlgen.report.quantities import counted
from nmlgen.report.table import format_table
from nmlgen.units.wall_time import spoken_time
from nmlgen.visible import joined

if TYPE_CHECKING:
    from nmlgen.tuning.belief import Expected
    from nmlgen.tuning.tune import Trial, Tuning

_SHOWN = 8  # candidates that were not run

_STOPS = {
    "noise": "what the others could save is noise",
    "budget": "no promising run fits what is left of the budget",
    "runs": "that was the last run that was asked for",
    "all tried": "every candidate was run",
    "failures": "the first runs all failed, so no other is tried",
}


def progress_lines(tuning: Tuning) -> Iterator[str]:
    """What happened since the last time: a line for each run that ended or begins."""
    for trial in tuning.ended:
        yield f"{trial.point.name}: {_ended(trial)}{_best(tuning)}"
    for trial in tuning.proposed:
        yield f"next {trial.point.name}: {_why(tuning, trial)}"


def format_tuning(tuning: Tuning, options: str, colour: bool, terminal: bool) -> str:
    """The end: why, a table of all runs, what is recommended; `options` are the best values for a command line."""
    best = tuning.best
    parts = [f"stopped: {_STOPS[tuning.stop]}{_left_to_gain(tuning)}"] if tuning.stop else []
    rows = [_row(trial, best) for trial in tuning.trials]
    rows += [(p.candidate.point.name, "not run", "", _span(p.expected), "", "") for p in tuning.left[:_SHOWN]]
    if rows:
        headings = ("point", "state", "measured", "expected", "to the best", "node-hours")
        parts.append(format_table(headings, rows, colour, terminal))
    cost = f"{tuning.node_hours:.3g}{_of(tuning.budget)} node-hours"
    others = f", {len(tuning.left)} of {len(tuning.candidates.candidates)} candidates not run"
    parts.append(f"{counted(len(tuning.trials), 'run')}, {cost}{others if tuning.left else ''}")
    for trial in tuning.trials:
        if trial.outcome.state == "failed":
            parts.append(f"failed: {trial.point.name}: {trial.outcome.reason or 'no reason known'}")
    if best is None and tuning.stop is not None:
        parts.append("no run came to its end, so nothing is recommended")
    elif best is not None:
        parts.append(f"best: {best.point.name}, {spoken_time(best.measured_s or 0.0)}\n  {options}")
    return joined("\n\n", parts)


def tuning_document(tuning: Tuning, settings: Iterable[str]) -> dict[str, Any]:
    """What `nmlgen tune --format json` prints; `settings` are the best values, KEY=VALUE each."""
    best = tuning.best
    return {
        "stop": tuning.stop,
        "best": None if best is None else best.point.name,
        "set": list(settings),
        "gain": tuning.gain,
        "node_hours": tuning.node_hours,
        "budget": tuning.budget,
        "trials": [
            {
                "id": trial.point.id,
                "name": trial.point.name,
                "values": dict(trial.point.values),
                "state": trial.outcome.state,
                "measured_s": trial.measured_s,
                **_document(trial.expected),
                "node_hours": trial.node_hours,
                "job": trial.outcome.job,
                "reason": trial.outcome.reason,
            }
            for trial in tuning.trials
        ],
        "left": [
            {
                "id": prospect.candidate.point.id,
                "name": prospect.candidate.point.name,
                "values": dict(prospect.candidate.point.values),
                **_document(prospect.expected),
                "gain": prospect.gain,
            }
            for prospect in tuning.left
        ],
        "rejected": [
            {"name": point.name, "code": findings[0].code, "message": findings[0].message}
            for point, findings in tuning.candidates.rejected
        ],
    }


def _document(expected: Expected | None) -> dict[str, float | None]:
    names = ("expected_s", "low_s", "high_s")
    if expected is None:
        return dict.fromkeys(names)
    return dict(zip(names, (expected.middle_s, expected.low_s, expected.high_s), strict=True))


def _ended(trial: Trial) -> str:
    if trial.measured_s is None:
        return f"failed: {trial.outcome.reason or 'no reason known'}"
    expected = "" if trial.expected is None else f", {spoken_time(trial.expected.middle_s)} expected"
    return f"{spoken_time(trial.measured_s)} measured{expected}"


def _best(tuning: Tuning) -> str:
    best = tuning.best
    return "" if best is None else f"; best so far {best.point.name}, {spoken_time(best.measured_s or 0.0)}"


def _why(tuning: Tuning, trial: Trial) -> str:
    if trial.expected is None:
        return "nothing is known before a first run"
    said = f"{_span(trial.expected)} expected"
    best = tuning.best
    if best is None:
        return f"{said}, the shortest of {counted(len(tuning.candidates.candidates), 'candidate')}"
    gain = trial.expected.gain(best.measured_s or 0.0)
    return (
        f"{said}, {_percent(gain)} to gain on average; {tuning.node_hours:.3g}{_of(tuning.budget)} node-hours with it"
    )


def _left_to_gain(tuning: Tuning) -> str:
    return "" if tuning.gain is None else f": {_percent(tuning.gain)} on average"


def _row(trial: Trial, best: Trial | None) -> tuple[str, ...]:
    measured, over = "", ""
    if trial.measured_s is not None and best is not None:
        measured = spoken_time(trial.measured_s)
        over = "best" if trial is best else f"+{_percent(trial.measured_s / (best.measured_s or 1.0) - 1)}"
    hours = f"{trial.node_hours:.3g}"
    return (trial.point.name, trial.outcome.state, measured, _span(trial.expected), over, hours)


def _span(expected: Expected | None) -> str:
    if expected is None:
        return ""
    times = map(spoken_time, (expected.middle_s, expected.low_s, expected.high_s))
    return "{} ({} to {})".format(*times)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def _of(budget: float | None) -> str:
    return "" if budget is None else f" of {budget:g}"
