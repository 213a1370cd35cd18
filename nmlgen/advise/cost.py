"""What a part of an experiment's layout costs: a number for the rules, where there is one.

There is one where everything is known and the experiment is like those that were measured.
"""

from __future__ import annotations

from attrs import evolve, frozen

from nmlgen.advise.advice import Candidate, Choice, Layout, calibration_of, is_covered, present_layout, ranked, weighed
from nmlgen.advise.case import ASYNC
from nmlgen.advise.experiment import Situation, situation_of
from nmlgen.advise.prediction import NOISE
from nmlgen.experiment.experiment import Experiment
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
def output_cost(experiment: Experiment) -> Cost | None:
    """What the I/O ranks and partitions cost against the best ones; None where no number can be given."""
    situation = _measured(experiment)
    if situation is None or not situation.case.outputs:
        return None
    return _cost(situation, Choice(True, (True,) * len(situation.outputs), False, False))


@remembered
def restart_cost(experiment: Experiment) -> Cost | None:
    """What the restart mode and its ranks cost against the best ones; None where no number can be given."""
    situation = _measured(experiment)
    if situation is None or not situation.case.checkpoints:
        return None
    return _cost(situation, Choice(False, (False,) * len(situation.outputs), True, True))


@remembered
def idle_restart_cost(experiment: Experiment) -> Cost | None:
    """What the ranks beyond the first cost that the mode async sets apart; None where no number can be given."""
    situation = _measured(experiment)
    if situation is None or situation.case.restart_mode != ASYNC:
        return None
    layout = present_layout(situation)
    return _against(situation, layout, weighed(situation, evolve(layout, num_restart_procs=1)))


def _measured(experiment: Experiment) -> Situation | None:
    try:
        situation = situation_of(experiment)
    except UndecidedError:
        return None
    return None if situation.doubts or len(situation.outputs) > 1 else situation


def _cost(situation: Situation, choice: Choice) -> Cost | None:
    layout = present_layout(situation)
    return _against(situation, layout, ranked(situation, layout, choice, calibration_of(situation.site))[0])


def _against(situation: Situation, layout: Layout, better: Candidate) -> Cost | None:
    present, calibration = weighed(situation, layout), calibration_of(situation.site)
    if not all(is_covered(case, calibration) for case in (present.case, better.case)):
        return None
    foreign = "" if calibration.name == situation.site else calibration.name.capitalize()
    return Cost(present, better, foreign)
