"""What a job of a chain writes: the first one, and the mean of them."""

from __future__ import annotations

import pytest

from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.job_volume import first_job, mean_job
from nmlgen.models.icon.schedule import duties
from nmlgen.models.icon.volume import checkpoint_files, checkpoint_volume, stream_volumes

TIME = "time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-11T00:00:00Z}\nrun_directory: r\n"


def chain(build, restart: str, output: str = ""):
    return build(f"{TIME}restart: {{{restart}}}\n{output}")


@pytest.mark.parametrize(
    ("restart", "checkpoints"),
    [
        ("checkpointTimeIntval: P1D, restartTimeIntval: P10D", 10),
        ("checkpointTimeIntval: P3D, restartTimeIntval: P10D", 3),
        ("checkpointTimeIntval: P1D, restartTimeIntval: P5D", 5),
        ("checkpointTimeIntval: P2D, restartTimeIntval: P5D", 3),  # and one at the end of the job
        ("checkpointTimeIntval: P5D, restartTimeIntval: P5D", 1),
        ("checkpointTimeIntval: P9D, restartTimeIntval: P5D", 1),
        ("checkpointTimeIntval: null, restartTimeIntval: P5D", 1),
        ("checkpointTimeIntval: null, restartTimeIntval: P10D", 0),
    ],
)
def test_checkpoints_of_the_first_job(build, restart, checkpoints):
    component = chain(build, restart)
    volume, files = first_job(component)
    output = sum(duty.files for row in duties(component, clock(component)) for duty in row)
    assert files == output + checkpoints * checkpoint_files(component)
    assert volume.best > checkpoint_volume(component).best * checkpoints


def test_a_branch_has_the_checkpoints_behind_it(build):
    branch = "start_from: {directory: /work/before/run, time: 2000-01-07T00:00:00Z}\n"
    component = chain(build, "checkpointTimeIntval: P2D, restartTimeIntval: P3D", branch)
    _, files = first_job(component)
    output = sum(duty.files for row in duties(component, clock(component)) for duty in row)
    assert files == output + 2 * checkpoint_files(component)  # of the eighth day, and at the end of the job


@pytest.mark.parametrize(
    ("restart", "checkpoints", "jobs"),
    [
        ("checkpointTimeIntval: P1D, restartTimeIntval: P10D", 10, 1),
        ("checkpointTimeIntval: P1D, restartTimeIntval: P5D", 10, 2),
        ("checkpointTimeIntval: P4D, restartTimeIntval: P5D", 2, 2),
        ("checkpointTimeIntval: P20D, restartTimeIntval: P2D", 4, 5),
        ("checkpointTimeIntval: P20D, restartTimeIntval: P10D", 0, 1),
        ("checkpointTimeIntval: null, restartTimeIntval: P10D", 0, 1),
        ("checkpointTimeIntval: null, restartTimeIntval: P5D", 1, 2),
    ],
)
def test_checkpoints_of_a_mean_job(build, restart, checkpoints, jobs):
    component = chain(build, restart, "output: {atm: null}\n")
    one = checkpoint_volume(component)
    mean = mean_job(component.experiment)
    assert mean.low == one.low * checkpoints // jobs
    assert mean.high == -(-one.high * checkpoints // jobs)
    assert mean_job(component.experiment, is_left=True) == mean


def test_what_is_left_is_the_last_file_of_each_sequence(build):
    restart = "checkpointTimeIntval: P20D, restartTimeIntval: P10D"
    output = "parallel: {num_io_procs: 2}\noutput: {atm: {output_interval: PT12H, stream_partitions_ml: 2}}\n"
    component = chain(build, restart, output)
    (stream,) = stream_volumes(component)
    assert mean_job(component.experiment, is_left=True).best == 2 * stream.file.best
    assert mean_job(component.experiment).best == stream.run.best
