"""What the likeliest constants alone say of an experiment, for the rules: enough where all is well, which it mostly is.

Nothing is loaded here that only a closer look needs, as most checks never take one.
"""

from __future__ import annotations

from math import inf

from nmlgen.advise.case import SYNC
from nmlgen.advise.choices import Choice, possible, rough
from nmlgen.advise.experiment import Situation, situation_of, without_checkpoints
from nmlgen.advise.figures import calibration_of
from nmlgen.advise.layout import Layout, case_with, present_layout
from nmlgen.advise.model import SLOWEST_CHECKPOINT, SLOWEST_OUTPUT, run_time
from nmlgen.advise.support import is_covered, is_like_the_measured
from nmlgen.experiment.component import Component
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError, unknown
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.volume import most_checkpoint_bytes
from nmlgen.values import evolve

WORTH_SAYING = 0.05
"""The share from which on a layout is worth a word by itself: the mean error of a prediction."""

_MUCH = 2.0  # one run in ten takes a fifth longer than expected
_SLOWEST_STEP, _SLOWEST_FLOOR = 40e-6, 10e-3  # seconds of a step for a cell and level on a core, and at least


def known_situation(component: Component) -> Situation:
    """What the experiment gives the advisor; raises UndecidedError, too, where the model says nothing of such."""
    return _known(situation_of(component))


def _known(situation: Situation) -> Situation:
    for one in situation.unlike:
        if one.computing is None or one.writing is None:
            raise UndecidedError(unknown(f"what the layout costs outside of what was measured ({one.words})"))
    return situation


@remembered
def has_good_output(component: Component) -> bool:
    """Whether the I/O ranks cost next to nothing, in a case like those that were measured: in a run with checkpoints,
    where writers have more time, a still smaller share. Raises UndecidedError where nothing can be said of it."""
    situation = _known(without_checkpoints(component))
    layout, calibration = present_layout(situation), calibration_of(situation)
    if not is_like_the_measured(situation) or not is_covered(case_with(situation, layout), calibration):
        return False
    return _is_good(situation, layout, Choice(True, (True,) * len(situation.outputs), False, False))


@remembered
def has_good_restart(component: Component) -> bool:
    """Whether the restart mode and its ranks cost next to nothing, in a case like those that were measured, or no
    checkpoint is written. Raises UndecidedError where nothing can be said of it."""
    outline = _known(without_checkpoints(component))
    if outline.case.checkpoint_interval_s is None or _are_cheap(component, outline):
        return True
    situation = known_situation(component)
    if not situation.case.checkpoints:
        return True
    choice = Choice(False, (False,) * len(situation.outputs), True, True)
    return is_like_the_measured(situation) and _is_good(situation, present_layout(situation), choice)


def _are_cheap(component: Component, outline: Situation) -> bool:
    """Whether the largest checkpoints that there may be take so little longer than none that no other mode can be
    much better."""
    if outline.unlike or component.kind not in (None, "atmosphere"):
        return False
    largest = evolve(outline.case, checkpoint_bytes=most_checkpoint_bytes(component))
    none = evolve(outline.case, restart_write_mode=SYNC, num_restart_procs=0)
    constants = calibration_of(outline).estimate.constants
    return sum(run_time(largest, constants)) / sum(run_time(none, constants)) - 1 < WORTH_SAYING / 2


def _is_good(situation: Situation, layout: Layout, choice: Choice) -> bool:
    """Whether a layout takes as long as the best, but for half of what is worth a word."""
    times = rough(situation, (layout, *possible(situation, layout, choice)), calibration_of(situation))
    return layout not in times or times[layout] / min(times.values()) - 1 < WORTH_SAYING / 2


def is_surely_enough(component: Component, limit_s: float) -> bool:
    """Whether a first look finds so many seconds more than enough for the first job of a chain: twice what the
    likeliest constants say of a case like those that were measured, of several outputs if one rank wrote them all; else
    four times what was measured of a model step, and all that is written at the slowest rates measured.

    Raises UndecidedError where nothing can be said of it.
    """
    outline = without_checkpoints(component)
    if outline.case.checkpoint_interval_s is not None and component.kind in (None, "atmosphere"):
        largest = evolve(outline, case=evolve(outline.case, checkpoint_bytes=most_checkpoint_bytes(component)))
        if _is_enough(component, largest, limit_s):
            return True
    return _is_enough(component, situation_of(component), limit_s)


def _is_enough(component: Component, situation: Situation, limit_s: float) -> bool:
    time = clock(component)
    case, steps = situation.case, time.leg / time.step
    set_up = component.experiment.machine.set_up_s or 0
    calibration = calibration_of(situation)
    alone = case
    if len(situation.outputs) > 1 and case.io_ranks:
        alone = evolve(case, num_io_procs=1, stream_partitions=1, files_on_a_rank=None)
    if not situation.unlike and is_covered(alone, calibration):
        start_up, *rest = run_time(alone, calibration.estimate.constants)
        share = min(1.0, time.leg / time.computed) if time.computed else 1.0
        return set_up + _MUCH * (start_up + sum(rest) * share) < limit_s
    factor = max([1.0, *(one.computing or inf for one in situation.unlike)])
    computing = steps * (_SLOWEST_STEP * case.n_cells * case.num_lev / case.workers + _SLOWEST_FLOOR)
    written = sum(output.run_bytes for output in situation.outputs) / SLOWEST_OUTPUT
    checkpoints = case.checkpoints * case.checkpoint_bytes / SLOWEST_CHECKPOINT
    factor_of_writing = max([1.0, *(one.writing or inf for one in situation.unlike)])
    return set_up + factor * computing + factor_of_writing * (written + checkpoints) < limit_s
