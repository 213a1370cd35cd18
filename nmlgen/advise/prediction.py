"""How long a run will take, with an interval, and where the time goes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import field, frozen

from nmlgen.advise.calibration import Calibration, levante
from nmlgen.advise.case import Case
from nmlgen.advise.model import PARTS, run_time

NOISE = 0.02
"""Differences below this are not real: runs repeated on one node differ by as much."""


@frozen
class Prediction:
    """The expected time of a run."""

    total_s: float
    low_s: float
    """The run takes longer than this in nine cases of ten."""
    high_s: float
    """The run takes less than this in nine cases of ten."""
    parts: Mapping[str, float] = field(converter=lambda parts: MappingProxyType(dict(parts)))
    """Seconds by where they go, as `nmlgen.advise.model.PARTS` names it; they sum to `total_s`."""
    notes: tuple[str, ...] = ()
    """In what the case lies outside what was measured."""


def predict(case: Case, calibration: Calibration | None = None) -> Prediction:
    """How long the run will take, by a calibration; without one, by Levante's."""
    calibration = calibration or levante()
    runs = [run_time(case, constants) for constants in calibration.samples]
    parts = [sum(column) / len(runs) for column in zip(*runs, strict=True)]
    totals = sorted(sum(run) for run in runs)
    low, high = totals[len(totals) // 10], totals[-1 - len(totals) // 10]
    return Prediction(sum(parts), low * (1 - NOISE), high * (1 + NOISE), dict(zip(PARTS, parts, strict=True)))
