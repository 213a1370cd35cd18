"""What a part of an experiment's layout costs: a number for the rules, where there is one.

There is one where everything is known and the experiment is like those that were measured.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import evolve, frozen

from nmlgen.advise.advice import (
    Candidate,
    Choice,
    calibration_of,
    is_covered,
    is_foreign,
    ranked,
    rough_cost,
    weighed,
)
from nmlgen.advise.case import ASYNC
from nmlgen.advise.experiment import Situation, situation_of
from nmlgen.advise.layout import Layout, present_layout
from nmlgen.advise.prediction import NOISE
from nmlgen.experiment.component import Component
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError
from nmlgen.units.wall_time import spoken_time

WORTH_SAYING = 0.05
"""The share from which on a layout is worth a word by itself: the mean error of a prediction."""


@frozen
class Cost:
    """What the `present` layout takes longer than a `better` one. `figures` names the site whose figures they are, if
    it is another than the experiment's."""

    present: Candidate
    better: Candidate
    figures: str = ""

    @property
    def share(self) -> float:
        """The difference as a share of the better one's time; negative if the present one is the better."""
        return self.present.seconds / self.better.seconds - 1

    @property
    def is_noise(self) -> bool:
        """Whether no two runs would show the difference."""
        return self.share < NOISE

    def __str__(self) -> str:
        foreign = f", by the figures of {self.figures}" if self.figures else ""
        if self.is_noise:
            return f"costs less than {100 * NOISE:.0f} % here, which is noise{foreign}"
        seconds = self.present.seconds - self.better.seconds
        times = f"{spoken_time(seconds)} of {spoken_time(self.present.seconds)}"
        percent = f"{100 * self.share:.0f}" if self.share > 0.1 else f"{100 * self.share:.2g}"
        return f"costs about {percent} % here ({times}{foreign})"


@remembered
def output_cost(component: Component) -> Cost | None:
    """What the I/O ranks and partitions cost against the best ones; None where no number can be given."""
    situation = _measured(component)
    if situation is None or not situation.case.outputs:
        return None
    return _against(situation, present_layout(situation), _best_output(_without_output_layout(situation)))


@remembered
def restart_cost(component: Component) -> Cost | None:
    """What the restart mode and its ranks cost against the best ones; None where no number can be given, or a first
    look finds it small."""
    situation = _measured(component)
    if situation is None or not situation.case.checkpoints:
        return None
    layout, choice = present_layout(situation), Choice(False, (False,) * len(situation.outputs), True, True)
    if rough_cost(situation, layout, choice) < WORTH_SAYING / 2:
        return None
    return _against(situation, layout, ranked(situation, layout, choice, calibration_of(situation))[0])


@remembered
def idle_restart_cost(component: Component) -> Cost | None:
    """What the ranks beyond the first cost that the mode async sets apart; None where no number can be given."""
    situation = _measured(component)
    if situation is None or situation.case.restart_mode != ASYNC:
        return None
    layout = present_layout(situation)
    return _against(situation, layout, weighed(situation, evolve(layout, num_restart_procs=1)))


def _measured(component: Component) -> Situation | None:
    try:
        situation = situation_of(component)
    except UndecidedError:
        return None
    return None if situation.doubts or len(situation.outputs) > 1 else situation


def _without_output_layout(situation: Situation) -> Situation:
    """The same for all points that differ in nothing but their I/O ranks and partitions; the headers of joint
    checkpoints are a little larger, the more workers write them."""
    size = float(f"{situation.case.checkpoint_bytes:.3g}")
    case = evolve(situation.case, num_io_procs=0, stream_partitions=1, files_on_a_rank=None, checkpoint_bytes=size)
    return evolve(situation, case=case, outputs=tuple(evolve(output, partitions=1) for output in situation.outputs))


@lru_cache(maxsize=256)
def _best_output(situation: Situation) -> Candidate:
    choice = Choice(True, (True,) * len(situation.outputs), False, False)
    return ranked(situation, present_layout(situation), choice, calibration_of(situation))[0]


def _against(situation: Situation, layout: Layout, better: Candidate) -> Cost | None:
    present, calibration = weighed(situation, layout), calibration_of(situation)
    if not all(is_covered(case, calibration) for case in (present.case, better.case)):
        return None
    foreign = calibration.name.capitalize() if is_foreign(situation, calibration) else ""
    return Cost(present, better, foreign)
