"""Whether restart ranks write for so much of a run that a slow write is waited for."""

from __future__ import annotations

from typing import NamedTuple

from nmlgen.advise.case import DEDICATED, Case
from nmlgen.advise.choices import RESTART_RANKS
from nmlgen.advise.experiment import situation_of, without_checkpoints
from nmlgen.advise.figures import calibration_of
from nmlgen.advise.model import Constants, run_and_writers
from nmlgen.advise.support import is_covered, is_like_the_measured
from nmlgen.experiment.component import Component
from nmlgen.experiment.memory import remembered
from nmlgen.models.icon.volume import most_checkpoint_bytes
from nmlgen.values import evolve

BUSY = 0.5
"""The part of a run for which dedicated restart ranks may write before more of them are worth a word: all nine layouts
that were measured so busy were slower than that with twice as many."""

_NOISE = 0.02  # that of predictions


class BusyRanks(NamedTuple):
    """Dedicated restart ranks that write for so much of the run (`share`) that a slow write makes the others wait, and
    the next number of them (`more`), with which the run takes no longer by more than noise (`more_share` of it)."""

    ranks: int
    share: float
    more: int
    more_share: float


@remembered
def busy_restart_ranks(component: Component) -> BusyRanks | None:
    """The dedicated restart ranks of a case like those that were measured, where they are busy for more than half of
    the run and more of them cost nothing; None elsewhere. Raises UndecidedError where nothing can be said."""
    situation = without_checkpoints(component)
    outline = situation.case
    more = next((count for count in RESTART_RANKS if count > outline.restart_ranks), None)
    if outline.restart_mode != DEDICATED or outline.checkpoint_interval_s is None or more is None:
        return None
    calibration = calibration_of(situation)
    constants = calibration.estimate.constants
    largest = evolve(outline, checkpoint_bytes=most_checkpoint_bytes(component))
    if not is_like_the_measured(situation) or _busy(largest, constants)[1] < BUSY:
        return None
    case = situation_of(component).case
    others = evolve(case, num_restart_procs=more)
    (total, share), (other, less) = _busy(case, constants), _busy(others, constants)
    is_known = is_covered(case, calibration) and is_covered(others, calibration)
    if not is_known or share < BUSY or other > total * (1 + _NOISE):
        return None
    return BusyRanks(case.restart_ranks, share, more, less)


def share_of_writing(case: Case, constants: Constants) -> float:
    """For which part of a run dedicated restart ranks receive and write, where more of them may be set apart; 0
    elsewhere."""
    may_be_more = 0 < case.restart_ranks < RESTART_RANKS[-1]
    if case.restart_mode != DEDICATED or not case.checkpoints or not may_be_more:
        return 0.0
    return _busy(case, constants)[1]


def _busy(case: Case, constants: Constants) -> tuple[float, float]:
    """What a run takes, and for which part of it its restart ranks receive and write."""
    parts, _, busy = run_and_writers(case, constants)
    return sum(parts), busy / sum(parts)
