"""Charts as inline SVG. Their colours are the page's: classes `c0` to `c7`, which follow the reader's light or dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

from markupsafe import Markup, escape

from nmlgen.values import frozen

COLOURS = 8


@frozen
class Dot:
    """A value at a place on the axis; `says` is what it tells when the pointer is on it. The line leaves out those that
    are `aside`: they show how much values vary."""

    place: int
    value: float
    says: str
    is_best: bool = False
    is_aside: bool = False


@frozen
class Line:
    """Dots that are joined, in one of COLOURS colours; dashed for what is not measured. `family` is the one it belongs
    to, where a chart shows several. If it `is_plain` the dots are not drawn, and the line tells its label."""

    label: str
    colour: int
    dots: tuple[Dot, ...]
    is_dashed: bool = False
    family: str = ""
    is_plain: bool = False


@frozen
class Band:
    """An interval at each of several places."""

    colour: int
    limits: tuple[tuple[int, float, float], ...]


@frozen(kw_only=True)
class Chart:
    """Lines over named places. `about` tells in a sentence what is to be seen, for those who do not see it."""

    title: str
    about: str
    x_title: str
    unit: str
    places: tuple[str, ...]
    lines: tuple[Line, ...]
    bands: tuple[Band, ...] = ()
    is_root: bool = False
    """Whether the axis of values goes by their square roots, which leaves room for small ones beside large ones."""
    width: int = 360
    height: int = 230


@frozen(kw_only=True)
class Scatter:
    """Values of two kinds in one unit, both on logarithmic axes, with the line on which they are equal. Each point is
    its x, its y, the interval of its y, whether x lies in the interval, what it says, and its family, if it has one."""

    title: str
    about: str
    x_title: str
    y_title: str
    unit: str
    points: tuple[tuple[float, float, tuple[float, float], bool, str, str], ...]
    size: int = 460


_LEFT, _RIGHT, _TOP, _BOTTOM = 50, 12, 22, 38
_MOST_LABELS = 12
_LETTER = 6.2  # the width of one, about


def draw(chart: Chart) -> Markup:
    """The chart as SVG."""
    top = _top(chart)
    ticks = _root_ticks(top) if chart.is_root else _ticks(top)
    frame = _Frame(chart.width, chart.height, max(len(chart.places), 1), ticks[-1], 0.5 if chart.is_root else 1.0)
    parts = [_opening(chart.width, chart.height, chart.about), *_grid(frame, ticks, chart.unit)]
    parts += _places(frame, chart.places, chart.x_title)
    for band in chart.bands:
        parts.append(_band(frame, band))
    for line in chart.lines:
        parts += _line(frame, line)
    return Markup("".join([*parts, "</svg>"]))


def draw_scatter(scatter: Scatter) -> Markup:
    """The scatter as SVG."""
    values = [value for x, y, interval, *_ in scatter.points for value in (x, y, *interval) if value > 0]
    low, high = 0.85 * min(values, default=1.0), 1.18 * max(values, default=10.0)
    size = scatter.size
    span = log10(high / low)

    def across(value: float) -> float:
        return _LEFT + (size - _LEFT - _RIGHT) * log10(max(value, low) / low) / span

    def up(value: float) -> float:
        return size - _BOTTOM - (size - _BOTTOM - _TOP) * log10(max(value, low) / low) / span

    left, right, bottom, top = across(low), across(high), up(low), up(high)
    parts = [_opening(size, size, scatter.about)]
    for tick in _logarithmic_ticks(low, high):
        x, y, label = across(tick), up(tick), _tick_label(tick)
        parts.append(f'<path class="grid" d="M{left:.1f} {y:.1f}H{right:.1f}M{x:.1f} {top:.1f}V{bottom:.1f}"/>')
        parts.append(f'<text class="tick" x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 16:.1f}" text-anchor="middle">{label}</text>')
    parts.append(f'<path class="diagonal" d="M{left:.1f} {bottom:.1f}L{right:.1f} {top:.1f}"/>')
    parts.append(f'<text class="axis" x="{left:.0f}" y="14">{escape(scatter.y_title)} ({escape(scatter.unit)})</text>')
    title = f"{escape(scatter.x_title)} ({escape(scatter.unit)})"
    parts.append(f'<text class="axis" x="{(left + right) / 2:.1f}" y="{size - 6}" text-anchor="middle">{title}</text>')
    for x, y, (lowest, highest), is_within, says, family in scatter.points:
        colour = "c0" if is_within else "c1"
        place = f"M{across(x):.1f} {up(lowest):.1f}V{up(highest):.1f}"
        belongs = f' data-family="{escape(family)}"' if family else ""
        parts.append(
            f'<g class="{colour}"{belongs}><path class="whisker" d="{place}"/>{_circle(across(x), up(y), says)}</g>'
        )
    return Markup("".join([*parts, "</svg>"]))


@frozen
class _Frame:
    """Where things are in a chart."""

    width: int
    height: int
    places: int
    top: float
    power: float

    @property
    def step(self) -> float:
        return (self.width - _LEFT - _RIGHT) / self.places

    def across(self, place: int) -> float:
        return _LEFT + self.step * (place + 0.5)

    def up(self, value: float) -> float:
        share: float = (value / self.top) ** self.power
        return self.height - _BOTTOM - (self.height - _BOTTOM - _TOP) * share


def _opening(width: int, height: int, about: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(about)}">'


def _top(chart: Chart) -> float:
    values = [dot.value for line in chart.lines for dot in line.dots]
    values += [high for band in chart.bands for _, _, high in band.limits]
    return max(values, default=0.0)


def _ticks(top: float) -> list[float]:
    """Round values from 0 to beyond the top."""
    if top <= 0:
        return [0.0, 1.0]
    step = _step(top / 4)
    count = int(top / step - 1e-9) + 1
    return [step * number for number in range(count + 1)]


def _root_ticks(top: float) -> list[float]:
    """Round values from 0 to beyond the top, closer together the smaller they are."""
    scale = 10.0 ** floor(log10(top)) if top > 0 else 1.0
    count = next(number for number in range(1, 8) if scale * number**2 / 4 >= top)
    return [scale * number**2 / 4 for number in range(count + 1)] if count > 2 else _ticks(top)


def _step(least: float) -> float:
    """The next 1, 2, 2.5 or 5 times a power of ten."""
    power: float = 10.0 ** floor(log10(least))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * (1 - 1e-9))


def _logarithmic_ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2 and 5 times the powers of ten."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    return [factor * 10.0**power for power in powers for factor in (1, 2, 5) if low <= factor * 10.0**power <= high]


def _tick_label(value: float) -> str:
    return f"{value:,.0f}".replace(",", "\N{NO-BREAK SPACE}") if value >= 10 else f"{value:g}"


def _grid(frame: _Frame, ticks: Sequence[float], unit: str) -> Iterator[str]:
    right = frame.width - _RIGHT
    yield f'<text class="axis" x="4" y="13">{escape(unit)}</text>'
    for tick in ticks:
        y = frame.up(tick)
        yield f'<path class="{"grid" if tick else "base"}" d="M{_LEFT} {y:.1f}H{right}"/>'
        yield f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_tick_label(tick)}</text>'


def _places(frame: _Frame, places: Sequence[str], title: str) -> Iterator[str]:
    """The names below the axis, as many as have room."""
    longest = max(map(len, places), default=0) * _LETTER + 4
    every = max(1, -(-int(longest) // max(1, int(frame.step))), -(-len(places) // (_MOST_LABELS * frame.width // 360)))
    room = int(frame.step * every / _LETTER)
    y = frame.height - _BOTTOM + 16
    for number, place in enumerate(places):
        if number % every == 0:
            text = place if len(place) <= max(room, 3) else f"{place[: max(room - 1, 2)]}…"
            x = frame.across(number)
            yield f'<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{escape(text)}</text>'
    middle = (_LEFT + frame.width - _RIGHT) / 2
    yield f'<text class="axis" x="{middle:.1f}" y="{frame.height - 5}" text-anchor="middle">{escape(title)}</text>'


def _band(frame: _Frame, band: Band) -> str:
    if len(band.limits) == 1:
        ((place, low, high),) = band.limits
        x = frame.across(place)
        shape = f"M{x - 7:.1f} {frame.up(low):.1f}H{x + 7:.1f}V{frame.up(high):.1f}H{x - 7:.1f}Z"
    else:
        above = [f"{frame.across(place):.1f} {frame.up(high):.1f}" for place, _, high in band.limits]
        below = [f"{frame.across(place):.1f} {frame.up(low):.1f}" for place, low, _ in reversed(band.limits)]
        shape = f"M{'L'.join([*above, *below])}Z"
    return f'<path class="band c{band.colour % COLOURS}" d="{shape}"/>'


def _line(frame: _Frame, line: Line) -> Iterator[str]:
    family = f' data-family="{escape(line.family)}"' if line.family else ""
    yield f'<g class="c{line.colour % COLOURS}{" dashed" if line.is_dashed else ""}"{family}>'
    joined = [dot for dot in line.dots if not dot.is_aside]
    if len(joined) > 1:
        way = "L".join(f"{frame.across(dot.place):.1f} {frame.up(dot.value):.1f}" for dot in joined)
        says = f"<title>{escape(line.label)}</title>" if line.is_plain else ""
        yield f'<path class="line" d="M{way}">{says}</path>' if says else f'<path class="line" d="M{way}"/>'
    for dot in line.dots if not line.is_plain or len(line.dots) == 1 else ():
        x, y = frame.across(dot.place), frame.up(dot.value)
        if dot.is_best:
            yield f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="8"/>'
        yield _circle(x, y, dot.says, 2.0 if dot.is_aside else 3.5)
    yield "</g>"


def _circle(x: float, y: float, says: str, radius: float = 3.5) -> str:
    return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"><title>{escape(says)}</title></circle>'
