"""Whose figures an experiment is judged by."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePath

from nmlgen.advise.calibration import Calibration, levante
from nmlgen.advise.experiment import Situation
from nmlgen.resources import directory


def calibration_of(situation: Situation) -> Calibration:
    """The calibration that the site of an experiment names, else the one that ships for it; where there is none,
    Levante's."""
    return figures_of(situation.site, situation.calibration)


def is_foreign(situation: Situation, calibration: Calibration) -> bool:
    """Whether the figures are another site's."""
    return (
        calibration is calibration_of(situation)
        and situation.calibration is None
        and calibration.name != situation.site
    )


@cache
def figures_of(site: str, own: str | None) -> Calibration:
    """The calibration in a file of one's own, else the one that ships for a site, else Levante's."""
    path = directory("presets") / "calibrations" / f"{PurePath(site).name}.yaml" if own is None else Path(own)
    return Calibration.load(path) if path.is_file() else levante()
