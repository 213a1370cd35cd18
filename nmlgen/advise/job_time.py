"""How long one job of an experiment takes, its set-up included."""

from __future__ import annotations

from math import ceil, inf

from attrs import frozen

from nmlgen.advise.advice import calibration_of, is_covered, is_like_the_measured, weighed
from nmlgen.advise.experiment import situation_of
from nmlgen.advise.layout import present_layout
from nmlgen.advise.model import SLOWEST_CHECKPOINT, SLOWEST_OUTPUT, run_time
from nmlgen.experiment.clock import clock
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError, unknown

MARGIN = 1.25
"""A time limit that is left to nmlgen allows for so many times what one run in ten takes longer than."""

_ROUND_S = 300
_MUCH = 2.0  # one run in ten takes a fifth longer than expected
_SLOWEST_STEP, _SLOWEST_FLOOR = 40e-6, 10e-3  # seconds of a step for a cell and level on a core, and at least


@frozen
class JobTime:
    """What the first job of a chain takes, in seconds: `expected_s`, in eight of ten runs from `low_s` to `high_s`,
    and `set_up_s` before the model's first step. It `is_sure` where the expected time can be told, not only the ends;
    where a model waits for others, `high_s` is infinite.
    """

    expected_s: float
    low_s: float
    high_s: float
    set_up_s: int
    is_sure: bool

    @property
    def limit_s(self) -> int:
        """A time limit with a margin, in whole five minutes."""
        return ceil((self.set_up_s + MARGIN * self.high_s) / _ROUND_S) * _ROUND_S


@remembered
def job_time(component: Component) -> JobTime:
    """How long the first job of a chain takes.

    Raises UndecidedError where nothing can be said of it.
    """
    situation = situation_of(component)
    low, high = 1.0, 1.0
    for one in situation.unlike:
        if one.only_delays:
            high = inf
            continue
        if one.computing is None or one.writing is None:
            raise UndecidedError(unknown(f"how long the job takes ({one.words})"))
        most = max(one.computing, one.writing)
        low, high = low / most, high * most
    prediction = weighed(situation, present_layout(situation)).prediction
    time, start = clock(component), prediction.parts["start-up"]
    share = min(1.0, time.leg / time.length) if time.length else 1.0

    def of_a_leg(seconds: float) -> float:
        return start + max(0.0, seconds - start) * share

    return JobTime(
        of_a_leg(prediction.total_s),
        of_a_leg(prediction.low_s) * low,
        of_a_leg(prediction.high_s) * high,
        component.experiment.machine.set_up_s or 0,
        is_sure=not situation.unlike and not prediction.is_far,
    )


def is_surely_enough(component: Component, limit_s: float) -> bool:
    """Whether a first look finds so many seconds more than enough for the first job of a chain: twice what the
    likeliest constants say of a case like those that were measured; else four times what was measured of a model step,
    and all that is written at the slowest rates measured.

    Raises UndecidedError where nothing can be said of it.
    """
    situation, time = situation_of(component), clock(component)
    case, steps = situation.case, time.leg / time.step
    set_up = component.experiment.machine.set_up_s or 0
    calibration = calibration_of(situation)
    if is_like_the_measured(situation) and is_covered(case, calibration):
        start_up, *rest = run_time(case, calibration.estimate.constants)
        share = min(1.0, time.leg / time.length) if time.length else 1.0
        return set_up + _MUCH * (start_up + sum(rest) * share) < limit_s
    factor = max([1.0, *(one.computing or inf for one in situation.unlike)])
    computing = steps * (_SLOWEST_STEP * case.n_cells * case.num_lev / case.workers + _SLOWEST_FLOOR)
    written = sum(output.run_bytes for output in situation.outputs) / SLOWEST_OUTPUT
    checkpoints = case.checkpoints * case.checkpoint_bytes / SLOWEST_CHECKPOINT
    factor_of_writing = max([1.0, *(one.writing or inf for one in situation.unlike)])
    return set_up + factor * computing + factor_of_writing * (written + checkpoints) < limit_s


def slowest(experiment: Experiment) -> JobTime:
    """What a job takes by the model of which the longest time is known: the others are waited for, if they take longer.

    Raises UndecidedError where nothing can be said of any.
    """
    found, doubt = [], None
    for component in experiment.components:
        try:
            found.append(job_time(component))
        except UndecidedError as error:
            doubt = doubt or error
    if not found:
        assert doubt is not None
        raise doubt
    return max(found, key=lambda one: one.low_s)


def time_limit(experiment: Experiment) -> tuple[int, JobTime]:
    """A time limit for a job of an experiment in seconds, no longer than the partition allows, and what it is made of.

    Raises UndecidedError where nothing can be said of it.
    """
    found = job_time(experiment.components[0])
    if found.high_s == inf:
        raise UndecidedError(unknown("how long the job takes (several models wait for each other)"))
    partition = experiment.directives.get("partition")
    known = experiment.machine.partitions.get(str(partition.value)) if partition is not None else None
    most = known.max_time if known is not None else None
    return (found.limit_s if most is None else min(found.limit_s, most)), found
