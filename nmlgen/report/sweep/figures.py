"""The charts of the page: those of each family, all families in one, predicted against measured."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from math import log10

from markupsafe import Markup

from nmlgen.report.quantities import format_number, format_share
from nmlgen.report.sweep.chart import COLOURS, Band, Chart, Dot, Line, Scatter, draw, draw_scatter
from nmlgen.report.sweep.family import Axes, Family, positions, short_name
from nmlgen.report.sweep.measures import MEASURES, RUN_TIME, Figure, Measure, figures
from nmlgen.report.sweep.run import PointRun
from nmlgen.values import frozen

_ValueOf = Callable[[Family, PointRun], float | None]
_SECOND = 1
_MANY = 50  # families in one chart
MOST_LINES = 300
"""Families in one chart: of more, so many are drawn."""
_CROWDED = 2000  # points of a scatter, of which those that cover each other are drawn as one
_STEPS = 60  # in which a power of ten is divided for that
_WIDE, _HIGH = 1000, 340
_Point = tuple[float, float, tuple[float, float], bool, str, str]  # as Scatter says


@frozen
class Drawn:
    """A chart with what stands around it; `legend` has the label of each kind of line, its colour (COLOURS for none in
    particular) and whether it is dashed. `key` names what is drawn."""

    key: str
    title: str
    svg: Markup
    legend: tuple[tuple[str, int, bool], ...] = ()


def family_figures(family: Family, axes: Axes) -> tuple[Drawn, ...]:
    """The figures of one family: run time, then time and rates of output and of checkpoints as far as they matter."""
    places = positions(family.runs, axes)
    lines = _by_line(family.runs, axes)
    drawn = [_run_time(family, axes, places, lines)]
    drawn += [_figure(figure, family, axes, places, lines) for figure in figures(family.runs)]
    return tuple(one for one in drawn if one is not None)


def overview(families: Sequence[Family], axes: Axes) -> tuple[Drawn, ...]:
    """A chart of each measure with all families in it; first, how much slower than the best of its family each is."""
    places = positions([run for family in families for run in family.runs], axes)
    relative = _all(
        "cost", "run time over the best of the family", "%", families, axes, places, _percent_over_best, is_root=True
    )
    others = (
        _all(measure.key, measure.title, measure.unit, families, axes, places, _of(measure)) for measure in MEASURES
    )
    return tuple(one for one in (relative, *others) if one is not None)


def predictions(families: Sequence[Family], axes: Axes) -> Drawn | None:
    """Predicted over measured run times; None if there are none of both."""
    points = []
    for family in families:
        for run in family.runs:
            if run.predicted is not None and run.total_s and run.error is not None:
                says = (
                    f"{run.name}: predicted {format_number(run.predicted.total_s)} s, measured "
                    f"{format_number(run.total_s)} s ({format_share(run.error)})"
                )
                interval = (run.predicted.low_s, run.predicted.high_s)
                points.append(
                    (run.total_s, run.predicted.total_s, interval, bool(run.is_within), says, family.identifier)
                )
    if not points:
        return None
    scatter = Scatter(
        title="Predicted against measured",
        about=f"Predicted over measured run time of {len(points)} runs, on logarithmic axes",
        x_title="measured run time",
        y_title="predicted run time, with its 80 % interval",
        unit="s",
        points=tuple(points) if len(points) <= _CROWDED else _apart(points),
    )
    legend = (("measured within the interval", 0, False), ("outside", 1, False))
    return Drawn("predictions", scatter.title, draw_scatter(scatter), legend)


def _apart(points: Iterable[_Point]) -> tuple[_Point, ...]:
    """Points of which none covers another: one for those of the same place, which tells how many they are."""
    found: dict[tuple[int, int, bool], list[_Point]] = {}
    for point in points:
        measured, expected, _, is_within, *_ = point
        place = (round(_STEPS * log10(measured)), round(_STEPS * log10(max(expected, 1e-9))), is_within)
        found.setdefault(place, []).append(point)
    return tuple(
        members[0] if len(members) == 1 else (*members[0][:4], f"{members[0][4]}; and {len(members) - 1} more here", "")
        for members in found.values()
    )


def _by_line(runs: Iterable[PointRun], axes: Axes) -> dict[str, list[PointRun]]:
    found: dict[str, list[PointRun]] = {}
    for run in runs:
        found.setdefault(axes.line(run), []).append(run)
    return found


def _run_time(family: Family, axes: Axes, places: tuple[str, ...], lines: dict[str, list[PointRun]]) -> Drawn | None:
    drawn, bands, legend = [], [], []
    at = {place: number for number, place in enumerate(places)}
    best = {run.name for run in (family.best, *family.equal) if run is not None}
    typical = {run.name for run in family.typical}
    alone = len(lines) == 1
    for number, (label, runs) in enumerate(lines.items()):
        predicted = [
            (at[axes.position(run)], run.predicted, run)
            for run in runs
            if run.predicted is not None and run.name in typical
        ]
        if predicted:
            colour = _SECOND if alone else number
            limits = tuple((place, expected.low_s, expected.high_s) for place, expected, _ in predicted)
            bands.append(Band(colour, limits))
            dots = tuple(
                Dot(
                    place,
                    expected.total_s,
                    f"{axes.layout_text(run)}: {format_number(expected.total_s)} s predicted "
                    f"({format_number(expected.low_s)} to {format_number(expected.high_s)} s)",
                )
                for place, expected, run in predicted
            )
            drawn.append(Line(label, colour, dots, is_dashed=True))
            if alone:
                legend.append(("predicted, with its 80 % interval", colour, True))
        dots = _dots(RUN_TIME, "measured", runs, axes, at, typical, best)
        if dots:
            drawn.append(Line(label, number, dots))
        if not alone:
            legend.append((label, number % COLOURS, False))
        elif dots:
            legend.insert(0, ("measured", number, False))
    if not alone and bands:
        legend.append(("predicted, with its 80 % interval", COLOURS, True))
    if not drawn:
        return None
    chart = Chart(
        title="Run time",
        about=f"Run time in seconds over {_x_title(axes)} for {family.title}",
        x_title=_x_title(axes),
        unit="s",
        places=places,
        lines=tuple(drawn),
        bands=tuple(bands),
    )
    return Drawn(RUN_TIME.key, chart.title, draw(chart), tuple(legend))


def _figure(
    figure: Figure, family: Family, axes: Axes, places: tuple[str, ...], lines: dict[str, list[PointRun]]
) -> Drawn | None:
    at = {place: number for number, place in enumerate(places)}
    typical = {run.name for run in family.typical}
    alone = len(lines) == 1
    drawn, legend = [], []
    for order, measure in enumerate(figure.measures):
        for number, (label, runs) in enumerate(lines.items()):
            dots = _dots(measure, measure.short, runs, axes, at, typical)
            if dots:
                colour = 2 * order if alone else number
                says = measure.short if alone else label if len(figure.measures) == 1 else f"{label}: {measure.short}"
                drawn.append(Line(says, colour, dots, is_dashed=bool(order) and not alone))
                legend.append((says, colour % COLOURS, bool(order) and not alone))
    if not drawn:
        return None
    chart = Chart(
        title=figure.title,
        about=f"{figure.title} in {figure.unit} over {_x_title(axes)} for {family.title}",
        x_title=_x_title(axes),
        unit=figure.unit,
        places=places,
        lines=tuple(drawn),
    )
    return Drawn(figure.measures[0].key, figure.title, draw(chart), tuple(legend))


def _dots(
    measure: Measure,
    short: str,
    runs: Iterable[PointRun],
    axes: Axes,
    at: dict[str, int],
    typical: Container[str],
    best: Container[str] = (),
) -> tuple[Dot, ...]:
    found = []
    for run in runs:
        value = measure.of(run)
        if value is not None:
            says = f"{axes.layout_text(run)}: {format_number(value)} {measure.unit} {short}"
            found.append(Dot(at[axes.position(run)], value, says, run.name in best, run.name not in typical))
    return tuple(found)


def _x_title(axes: Axes) -> str:
    return "" if axes.x is None else short_name(axes.x)


def _percent_over_best(family: Family, run: PointRun) -> float | None:
    cost = family.cost(run)
    return None if cost is None else 100 * cost


def _of(measure: Measure) -> _ValueOf:
    return lambda _, run: measure.of(run)


def _all(
    key: str,
    title: str,
    unit: str,
    families: Sequence[Family],
    axes: Axes,
    places: tuple[str, ...],
    value_of: _ValueOf,
    is_root: bool = False,
) -> Drawn | None:
    at = {place: number for number, place in enumerate(places)}
    is_plain = len(families) > _MANY
    lines = []
    few = (
        families
        if len(families) <= MOST_LINES
        else [families[number * len(families) // MOST_LINES] for number in range(MOST_LINES)]
    )
    for number, family in enumerate(few):
        for label, runs in _by_line(family.typical, axes).items():
            dots = []
            for run in runs:
                value = value_of(family, run)
                if value is not None:
                    says = f"{family.title}; {axes.layout_text(run)}: {format_number(value)} {unit}"
                    dots.append(Dot(at[axes.position(run)], value, says))
            if dots:
                name = "; ".join(filter(None, (family.title, label)))
                lines.append(Line(name, number, tuple(dots), family=family.identifier, is_plain=is_plain))
    if not lines:
        return None
    chart = Chart(
        title=title,
        about=f"{title} in {unit} over {_x_title(axes)}, a line for each of {len(few)} families",
        x_title=_x_title(axes),
        unit=f"{unit}, axis of square roots" if is_root else unit,
        places=places,
        lines=tuple(lines),
        is_root=is_root,
        width=_WIDE,
        height=_HIGH,
    )
    return Drawn(key, title, draw(chart))
