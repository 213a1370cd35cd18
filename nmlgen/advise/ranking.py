"""Layouts of an experiment in the order of what they are expected to take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import JOINT, Case
from nmlgen.advise.choices import Choice, possible, rough
from nmlgen.advise.experiment import Situation
from nmlgen.advise.figures import calibration_of, figures_of
from nmlgen.advise.layout import Layout, case_with, works
from nmlgen.advise.prediction import NOISE, Prediction, predict
from nmlgen.values import frozen

_NEAR = 1.15


@frozen
class Candidate:
    """A layout with what it is expected to take."""

    layout: Layout
    case: Case
    prediction: Prediction

    @property
    def seconds(self) -> float:
        """The expected run time."""
        return self.prediction.total_s


def preferred(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates with that one first which is to be chosen: the best, or the same with joint procs multifile where
    that is within the noise. There nobody has to know how many ranks the checkpoints need (F. Ott, IO-Verhalten und
    -Effizienz im Klima- und Wettermodell ICON, 2025, section 6.1)."""
    first = candidates[0]
    for item in candidates:
        is_joint = item.layout.restart_write_mode == JOINT and output_of(item.layout) == output_of(first.layout)
        if is_joint and item.seconds < first.seconds * (1 + NOISE):
            return (item, *(other for other in candidates if other is not item))
    return tuple(candidates)


def ranked(situation: Situation, layout: Layout, choice: Choice, calibration: Calibration) -> tuple[Candidate, ...]:
    """The layouts that differ from the given one in what may be chosen, the best first; hopeless ones are left out.

    Of the checkpoints the best is looked for first, then of the output: they meet only in the ranks they set apart.
    """
    scales = Scales(situation, calibration)
    times = rough(situation, possible(situation, layout, choice), calibration) or {layout: 0.0}
    limit = min(times.values()) * _NEAR
    near = sorted((item for item in times if times[item] <= limit), key=times.__getitem__)
    found = {item: scales.weigh(item) for item in near if output_of(item) == output_of(near[0])}
    best = min(found.values(), key=_order)
    found |= {item: scales.weigh(item) for item in near if restart_of(item) == restart_of(best.layout)}
    return tuple(sorted(found.values(), key=_order))


def weighed(situation: Situation, layout: Layout) -> Candidate:
    """A layout of the situation with what it is expected to take, by the figures of the site."""
    return Scales(situation, calibration_of(situation)).weigh(layout)


def _order(candidate: Candidate) -> tuple[float, int, int]:
    """By time; where that is the same, by the ranks set apart."""
    return round(candidate.seconds, 3), candidate.layout.num_io_procs, candidate.layout.num_restart_procs


def output_of(layout: Layout) -> tuple[int, tuple[int, ...], bool]:
    """The half of a layout that is about output."""
    return layout.num_io_procs, layout.stream_partitions, layout.is_spread


def joined(output: Layout, restart: Layout) -> Layout:
    """The output of one layout with the checkpoints of another."""
    return output._replace(restart_write_mode=restart.restart_write_mode, num_restart_procs=restart.num_restart_procs)


def restart_of(layout: Layout) -> tuple[str, int]:
    """The half of a layout that is about checkpoints."""
    return layout.restart_write_mode, layout.num_restart_procs


class Scales:
    """Weighs the layouts of one situation; what was weighed by the figures of a site is remembered, as many points of a
    sweep may share it."""

    def __init__(self, situation: Situation, calibration: Calibration) -> None:
        self.situation = situation
        self._calibration = calibration
        self._on_global: dict[Layout, Prediction] = {}

    def weigh(self, layout: Layout) -> Candidate:
        """A layout with what it is expected to take, where the experiment runs."""
        from nmlgen.advise.node_local import as_run

        prediction = as_run(self.situation, self.on_global(layout))
        return Candidate(layout, case_with(self.situation, layout), prediction)

    def on_global(self, layout: Layout) -> Prediction:
        """What a layout takes on the global file system."""
        if (found := self._on_global.get(layout)) is None:
            found = self._on_global[layout] = self._played(layout)
        return found

    def _played(self, layout: Layout) -> Prediction:
        from nmlgen.advise.play import played

        case = case_with(self.situation, layout)
        site, own = self.situation.site, self.situation.calibration
        is_own = self._calibration is calibration_of(self.situation)
        prediction = _predicted(case, site, own) if is_own else predict(case, self._calibration)
        return played(self.situation, layout, prediction, self._calibration)

    def weighed(self, layouts: Iterable[Layout]) -> tuple[Candidate, ...]:
        """Those that work, each once, in the order of the ranks that they set apart."""
        different = sorted(dict.fromkeys(layouts), key=lambda item: item.num_io_procs)
        return tuple(self.weigh(item) for item in different if works(self.situation, item))


@lru_cache(maxsize=1024)
def _predicted(case: Case, site: str, own: str | None) -> Prediction:
    """The prediction of a case by the figures of a site."""
    return predict(case, figures_of(site, own))
