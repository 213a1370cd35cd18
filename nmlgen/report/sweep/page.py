"""The page of a sweep: one HTML file without anything from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Container, Sequence
from typing import Any

from nmlgen.advise.prediction import NOISE
from nmlgen.report.quantities import format_duration, format_number, format_share
from nmlgen.report.sweep.family import (
    Axes,
    Family,
    axes_of,
    families_of,
    layout_text,
    short_name,
    text_of,
    with_readable,
)
from nmlgen.report.sweep.figures import MOST_LINES, Drawn, family_figures, overview, predictions
from nmlgen.report.sweep.many import Listed, table_data
from nmlgen.report.sweep.measures import MEASURES, Measure, figures
from nmlgen.report.sweep.run import PointRun, State, SweepRuns
from nmlgen.resources import directory, templates
from nmlgen.values import evolve, frozen
from nmlgen.writing import utf_8

MANY = 1000
"""Runs on a page. Of more, the browser makes those rows of the table that are looked at; some families have figures."""

_DRAWN = 50  # families with figures and a table of their own where there are very many runs
_NAMED = 500  # families with their best layout, and runs without a result, that are named there

_MEANINGS: dict[State, str] = {
    "finished": "came to its end",
    "unfinished": "its logs end before the experiment does",
    "failed": "ended early",
    "missing": "has no log",
    "invalid": "could not be built",
}


@frozen
class _FamilySection:
    """What the page says of one family."""

    family: Family
    sentences: tuple[str, ...]
    figures: tuple[Drawn, ...]
    rows: tuple[_Row, ...]
    measures: tuple[Measure, ...]


@frozen
class _Row:
    """One run in a table."""

    run: PointRun
    family: Family
    layout: tuple[str, ...]
    cost: float | None
    mark: str


def sweep_page(sweep: SweepRuns) -> str:
    """The page as HTML. The same runs give the same text."""
    sweep = evolve(sweep, runs=tuple(map(with_readable, sweep.runs)))
    axes = axes_of(sweep.runs)
    families = families_of(sweep.runs, axes, sweep.present)
    drawn = len(families) if len(sweep.runs) <= MANY else _DRAWN
    sections = tuple(_section(family, axes, number < drawn) for number, family in enumerate(families))
    finished = [run for run in sweep.runs if run.total_s is not None]
    counted = Counter(run.state for run in sweep.runs)
    is_large = len(sweep.runs) > MANY
    measures = [measure for measure in MEASURES[1:] if any(measure.of(run) is not None for run in finished)]
    has_predictions = any(run.predicted is not None for run in sweep.runs)
    has_nodes = any(run.node_hours is not None for run in sweep.runs)
    layout_keys = [short_name(key) for key in axes.layout]
    data = None
    if is_large:
        listed = [
            Listed(row.run, number, row.layout, row.cost, row.mark)
            for number, section in enumerate(sections)
            for row in section.rows
        ]
        titles = [family.title for family in families]
        data = table_data(listed, titles, layout_keys, measures, has_nodes=has_nodes, has_predictions=has_predictions)
    without = [run for run in sweep.runs if run.total_s is None]
    style, script = (_text(name) for name in ("report.css", "report.js"))
    template = _environment().get_template("report.html.j2")
    page: str = template.render(
        sweep=sweep,
        axes=axes,
        x_title="" if axes.x is None else short_name(axes.x),
        layout_keys=layout_keys,
        sections=sections,
        drawn=drawn,
        named=_NAMED if is_large else len(sections),
        most_lines=MOST_LINES,
        data=data,
        overview=overview(families, axes) if finished and axes.x is not None else (),
        predictions=predictions(families, axes),
        accuracy=_accuracy(sweep.runs, families),
        counts=[(state, counted[state], meaning) for state, meaning in _MEANINGS.items()],
        without_result=without[:_NAMED] if is_large else without,
        unnamed=max(0, len(without) - _NAMED) if is_large else 0,
        measures=measures,
        has_predictions=has_predictions,
        has_nodes=has_nodes,
        noise=f"{100 * NOISE:g} %",
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
    )
    return page


def _section(family: Family, axes: Axes, is_drawn: bool) -> _FamilySection:
    equal = frozenset(map(id, family.equal))
    rows = tuple(_row(run, family, axes, equal) for run in family.runs)
    if not is_drawn:
        return _FamilySection(family, (), (), rows, ())
    drawn = (measure for figure in figures(family.runs) for measure in figure.measures)
    measures = tuple(measure for measure in drawn if any(measure.of(run) is not None for run in family.runs))
    return _FamilySection(family, tuple(_sentences(family, axes)), family_figures(family, axes), rows, measures)


def _row(run: PointRun, family: Family, axes: Axes, equal: Container[int]) -> _Row:
    layout = tuple(text_of(run.values.get(key)) for key in axes.layout)
    mark = "best" if run is family.best else "equal" if id(run) in equal else ""
    return _Row(run, family, layout, family.cost(run), mark)


def _sentences(family: Family, axes: Axes) -> list[str]:
    """The verdict on a family in words."""
    best = family.best
    if best is None or best.total_s is None:
        expected = family.predicted_best
        said = ["No run came to its end."]
        if expected is not None and expected.predicted is not None:
            time = format_duration(expected.predicted.total_s)
            said.append(f"The model expects {axes.layout_text(expected)} to be the fastest: {time}.")
        return said
    said = [f"Best: {axes.layout_text(best)}, {format_duration(best.total_s)}{_hours(best)}{_scatter(family, best)}."]
    if family.equal:
        others = "; ".join(f"{axes.layout_text(run)}{_scatter(family, run)}" for run in family.equal)
        said.append(f"Equal to it within {100 * NOISE:g} %: {others}.")
    if family.present is not None:
        said.append(f"The spec's own layout, {axes.layout_text(family.present)}, {_compared(family, family.present)}.")
    expected = family.predicted_best
    if expected is not None:
        said.append(f"The model would have chosen {axes.layout_text(expected)}: it {_compared(family, expected)}.")
    return said


def _scatter(family: Family, run: PointRun) -> str:
    """Between which times the runs lie of which this one is the median."""
    times = family.repeated(run)
    if len(times) < 2:
        return ""
    return f", the median of {len(times)} runs from {format_duration(times[0])} to {format_duration(times[-1])}"


def _hours(run: PointRun) -> str:
    if run.total_s is None or run.node_hours is None:
        return ""
    cores = f", {format_number(run.total_s * run.cores / 3600)} core-hours" if run.cores else ""
    return f" ({format_number(run.node_hours)} node-hours{cores})"


def _compared(family: Family, run: PointRun) -> str:
    """How a run compares with the best of its family, as the end of a sentence."""
    cost, best = family.cost(run), family.best
    if cost is None or best is None or best.total_s is None or run.total_s is None:
        return f"has no result ({run.state})"
    if run is best:
        return "is the best"
    if cost <= NOISE:
        return f"is equal to the best ({format_share(cost)})"
    more = f"takes {format_share(cost)}, {format_duration(run.total_s - best.total_s)} more a run"
    if run.node_hours is not None and best.node_hours is not None:
        more += f" and {format_number(run.node_hours - best.node_hours)} node-hours"
    return more


def _accuracy(runs: Sequence[PointRun], families: Sequence[Family]) -> dict[str, Any] | None:
    """How good the predictions are; None if there is nothing to compare."""
    errors = [run.error for run in runs if run.error is not None]
    if not errors:
        return None
    chosen = [(family, family.predicted_best) for family in families]
    regrets = [cost for family, run in chosen if run is not None and (cost := family.cost(run)) is not None]
    return {
        "runs": len(errors),
        "mean": f"{100 * sum(map(abs, errors)) / len(errors):.1f} %",
        "largest": format_share(max(errors, key=abs)),
        "within": f"{100 * sum(run.is_within is True for run in runs) / len(errors):.0f} %",
        "families": len(regrets),
        "regret": f"{100 * sum(regrets) / len(regrets):.1f} %" if regrets else "",
        "largest_regret": f"{100 * max(regrets):.1f} %" if regrets else "",
    }


def _environment() -> Any:
    environment = templates(autoescape=True)
    environment.filters["number"] = format_number
    environment.filters["share"] = format_share
    environment.filters["duration"] = format_duration
    environment.filters["short"] = short_name
    environment.filters["values"] = layout_text
    return environment


def _text(name: str) -> str:
    return (directory("templates") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """By which the page allows this text, and no other, to be its style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(utf_8(text)).digest()).decode()
