"""Whose figures an experiment is judged by."""

from __future__ import annotations

from functools import cache
from pathlib import Path, PurePath

from nmlgen import disk
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


def figures_of(site: str, own: str | None) -> Calibration:
    """The calibration in a file of one's own, else the one that ships for a site, else Levante's."""
    if own is None:
        return _shipped_for(site)
    path = Path(own)
    if not disk.is_file(path):
        return levante()
    status = disk.status(path)
    return _own(path, status.st_mtime_ns, status.st_size)


@cache
def _shipped_for(site: str) -> Calibration:
    path = directory("presets") / "calibrations" / f"{PurePath(site).name}.yaml"
    return Calibration.load(path) if disk.is_file(path) else levante()


@cache
def _own(path: Path, _time: int, _size: int) -> Calibration:
    return Calibration.load(path)
