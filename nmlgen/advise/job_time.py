"""How long one job of an experiment takes, its set-up included."""

from __future__ import annotations

from math import ceil, inf

from nmlgen.advise.experiment import situation_of
from nmlgen.advise.layout import present_layout
from nmlgen.advise.ranking import weighed
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError, unknown
from nmlgen.models.icon.clock import clock
from nmlgen.values import frozen

MARGIN = 1.25
"""A time limit that is left to nmlgen allows for so many times what one run in ten takes longer than."""

_ROUND_S = 300


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
    share = min(1.0, time.leg / time.computed) if time.computed else 1.0

    def of_a_leg(seconds: float) -> float:
        return start + max(0.0, seconds - start) * share

    return JobTime(
        of_a_leg(prediction.total_s),
        of_a_leg(prediction.low_s) * low,
        of_a_leg(prediction.high_s) * high,
        component.experiment.machine.set_up_s or 0,
        is_sure=not situation.unlike and not prediction.is_far,
    )


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
