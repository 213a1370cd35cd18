"""How long a run will take, with an interval, and where the time goes."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log, sqrt
from types import MappingProxyType

from nmlgen.advise.calibration import Calibration, levante
from nmlgen.advise.case import Case
from nmlgen.advise.model import PARTS, run_time
from nmlgen.advise.support import EXTRAPOLATION, outside
from nmlgen.units.wall_time import rough_time, spoken_time
from nmlgen.values import field, frozen

NOISE = 0.02
"""Differences below this are not real: runs repeated on one node differ by as much."""

FARTHEST = 300.0
"""How far an interval may reach, in logarithms: a number that is so often another is none."""

_EIGHTY_PERCENT = 1.2816  # standard deviations to either side that hold 80 % of a normal distribution


def _read_only(parts: Mapping[str, float]) -> Mapping[str, float]:
    return MappingProxyType(dict(parts))


@frozen
class Prediction:
    """The expected time of a run: the mean over all that the constants may be, so the smaller is the better bet."""

    total_s: float
    low_s: float
    """One run in ten is faster than this; with `high_s`, the 80 % interval."""
    high_s: float
    """One run in ten is slower than this."""
    parts: Mapping[str, float] = field(converter=_read_only)
    """Seconds by where they go, as `nmlgen.advise.model.PARTS` names it; they sum to `total_s`."""
    notes: tuple[str, ...] = ()
    """In what the case lies outside what was measured: there the interval is wider, by judgement."""
    is_far: bool = False
    """Whether it lies so far outside that the range is all that can be said of the time."""

    def __str__(self) -> str:
        if self.is_far:
            return f"{rough_time(self.low_s)} to {rough_time(self.high_s)}"
        return spoken_time(self.total_s)


def predict(case: Case, calibration: Calibration | None = None) -> Prediction:
    """How long the run will take, by a calibration; without one, by Levante's."""
    calibration = calibration or levante()
    runs = [run_time(case, constants) for constants in calibration.samples(case)]
    parts = [sum(column) / len(runs) for column in zip(*runs, strict=True)]
    logs = [log(sum(run)) for run in runs]
    middle = sum(logs) / len(logs)
    beyond = outside(case, calibration)
    variance = sum((value - middle) ** 2 for value in logs) / len(logs)
    variance += calibration.scatter.between_runs(case.nodes) ** 2 + sum(
        (EXTRAPOLATION * one.distance) ** 2 for one in beyond
    )
    reach = min(_EIGHTY_PERCENT * sqrt(variance), FARTHEST)
    return Prediction(
        total_s=sum(parts),
        low_s=exp(middle - reach),
        high_s=exp(middle + reach),
        parts=dict(zip(PARTS, parts, strict=True)),
        notes=tuple(one.note for one in beyond),
        is_far=any(one.is_far for one in beyond),
    )
