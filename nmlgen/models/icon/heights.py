"""The heights of an atmosphere's levels over flat ground, as ICON makes them of sleve_nml.

Source: ICON 2024.10 `src/atm_dyn_iconam/mo_init_vgrid.f90:128-330`.
"""

from __future__ import annotations

from itertools import pairwise
from math import acos, inf, log, nan, pi, pow

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError

_SLEVE = 2
_THINNEST = 0.01
_MOST_LEVELS = 10_000
"""A bound on work: no model has a tenth of them."""


def _number(component: Component, name: str) -> float:
    return float(as_list(component["sleve_nml", name].value)[0])


@remembered
def half_levels(component: Component) -> tuple[float, ...]:
    """The heights in metres of the half levels of the first domain, from the top down to the ground.

    Where the settings ask for the logarithm or the arc cosine of what has none, they are NaN, as ICON computes them.
    Raises UndecidedError where a value is not known, where a table gives the heights, and where ICON refuses what
    should make them.
    """
    for name in ("vct_filename", "vertical_grid_filename"):
        table = component["grid_nml", name]
        if any(str(file).strip() for file in as_list(table.value)):
            raise UndecidedError(table)
    if component["nonhydrostatic_nml", "ivctype"].value != _SLEVE:
        raise UndecidedError(component["nonhydrostatic_nml", "ivctype"])
    levels = component["run_nml", "num_lev"]
    count = int(as_list(levels.value)[0])
    if not 1 <= count <= _MOST_LEVELS:
        raise UndecidedError(levels)
    try:
        heights = _unlimited(component, count)
        return tuple(_limited(component, heights) if _number(component, "min_lay_thckn") > _THINNEST else heights)
    except (OverflowError, ZeroDivisionError):
        raise UndecidedError(levels) from None


def _unlimited(component: Component, count: int) -> list[float]:
    """The heights before the thickness of layers is limited."""
    thinnest, top = _number(component, "min_lay_thckn"), _number(component, "top_height")
    stretch, kind = _number(component, "stretch_fac"), component["sleve_nml", "itype_laydistr"]
    if thinnest <= _THINNEST:
        return [top * (count - level) / count for level in range(count + 1)]
    if kind.value == 1:
        parts = [2 / pi * _acos(_power(level, stretch) / _power(count, stretch)) for level in range(count + 1)]
        exponent = _log(thinnest / top) / _log(parts[count - 1])
        return [top * _power(part, exponent) for part in parts]
    if kind.value == 2:
        x = (2 * stretch - 1) * thinnest
        b = (top - x / 6 * count**3 - (thinnest - x / 6) * count) / (count**2 - count**3 / 3 - 2 / 3 * count)
        a = (x - 2 * b) / 6
        return [a * n**3 + b * n**2 + (thinnest - a - b) * n for n in range(count, -1, -1)]
    if kind.value == 3:
        return [top * x * (stretch * x + 1 - stretch) for x in (n / count for n in range(count, -1, -1))]
    raise UndecidedError(kind)


def _acos(number: float) -> float:
    return acos(number) if number <= 1 else nan  # a quotient of powers: never below zero


def _log(number: float) -> float:
    return log(number) if number > 0 else -inf if number == 0 else nan


def _power(base: float, exponent: float) -> float:
    """A power as IEEE 754 has it: infinite or NaN where Python raises."""
    if base == 0 and exponent < 0:
        return inf
    try:
        return pow(base, exponent)
    except OverflowError:
        return inf
    except ValueError:
        return nan


def _limited(component: Component, heights: list[float]) -> list[float]:
    """The heights where layers below `htop_thcknlimit` are at most `max_lay_thckn` thick; how the layers above are
    smoothed is not followed, their heights are undecided then."""
    thinnest, thickest = _number(component, "min_lay_thckn"), _number(component, "max_lay_thckn")
    limit = _number(component, "htop_thcknlimit")
    if not 2 * thinnest < thickest < limit / 2:
        return heights
    if all(upper - lower <= thickest or lower >= limit for upper, lower in pairwise(heights)):
        return heights
    raise UndecidedError(component["sleve_nml", "max_lay_thckn"])


def flat_level(component: Component) -> int:
    """The number, from 1 at the top, of the lowest half level that is flat; errors as `half_levels`."""
    height = _number(component, "flat_height")
    below = next((n for n, level in enumerate(half_levels(component), 1) if level < height), None)
    if below is None:
        raise UndecidedError(component["sleve_nml", "flat_height"])
    return max(1, below - 1)
