"""Whether an experiment can go on beyond its end, once the spec has a later one, as if that had been its end from the
start."""

from __future__ import annotations

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import kept
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.chain import writes_checkpoints
from nmlgen.models.icon.checkpoints import checkpoint_dates
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import PlacementError, output_files
from nmlgen.models.icon.schedule import dates_by_job


def can_go_on(experiment: Experiment) -> bool:
    """Whether every component writes a checkpoint at its end, a longer experiment has the end of a job there, too, and
    no output is written because it is the end; False where nobody can know."""
    try:
        return all(map(_can_go_on, experiment.components))
    except (UndecidedError, PlacementError, ValueError):
        return False


@kept
def _can_go_on(component: Component) -> bool:
    time = clock(component)
    end = time.length
    longer = time.shortened(2 * end)
    if end <= 0 or longer.end_of(longer.leg_at(end)) != end:
        return False
    if writes_checkpoints(component) and end not in checkpoint_dates(component, time, end):
        return False
    alone = (file for file in output_files(component) if file.partitions == 1)  # of several none includes the end
    return all(dates_by_job(component, file, time)(0, end)[1] is None for file in alone)
