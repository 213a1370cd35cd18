"""What one job of a chain writes, and how much of it is left when its model ends."""

from __future__ import annotations

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import kept
from nmlgen.models.icon.chain import writes_checkpoints
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import partition_count, writes_output
from nmlgen.models.icon.schedule import duties
from nmlgen.models.icon.volume import Volume, checkpoint_files, checkpoint_volume, rank_volumes, stream_volumes


@kept
def first_job(component: Component) -> tuple[Volume, int]:
    """Bytes and files that the first job of the chain leaves, checkpoints included. Errors as `stream_volumes`."""
    time = clock(component)
    rows = duties(component, time)
    total = Volume.sum(rank_volumes(component, rows))
    files = sum(duty.files for row in rows for duty in row)
    end = time.begin + time.leg
    checkpoints = _multiples(time.checkpoint, time.begin, end)
    if time.legs > 1 and (not time.checkpoint or end % time.checkpoint):
        checkpoints += 1  # at the end of the job
    return total + checkpoint_volume(component).times(checkpoints), files + checkpoints * checkpoint_files(component)


def mean_job(experiment: Experiment, *, is_left: bool = False) -> Volume:
    """Output and checkpoints of a job, taken as the mean of the jobs of a chain: the largest has no less.

    Where it `is_left`, only what is on the disks when the model ends, if finished files leave before: the last file of
    each sequence. Raises UndecidedError for settings that nobody can know and for a grid whose size is not known,
    PlacementError where ICON refuses the placement.
    """
    total = Volume.exactly(0)
    for component in experiment.components:
        total += _of_component(component, is_left)
    return total


def _of_component(component: Component, is_left: bool) -> Volume:
    time = clock(component)
    total = Volume.exactly(0)
    for stream in stream_volumes(component) if writes_output(component) else ():
        parts = partition_count(component, stream.stream, stream.level_type)
        total += stream.file.times(parts) if is_left else _share(stream.run, time.legs)
    if writes_checkpoints(component):
        total += _share(checkpoint_volume(component).times(_checkpoints(component)), time.legs)
    return total


def _checkpoints(component: Component) -> int:
    """The checkpoints of the whole chain: at each interval, and at the end of each job but the last."""
    time = clock(component)
    return max(_multiples(time.checkpoint, time.begin, time.length), time.legs - 1)


def _multiples(interval: int | None, begin: int, end: int) -> int:
    """The multiples of an interval behind the begin, up to the end."""
    return end // interval - begin // interval if interval else 0


def _share(volume: Volume, parts: int) -> Volume:
    return Volume(volume.low // parts, volume.best // parts, -(-volume.high // parts), volume.reasons)
