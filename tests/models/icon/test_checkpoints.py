"""When checkpoints are written, who writes and reads them, how many files they are."""

from __future__ import annotations

import pytest
from rules.experiments import experiment_of

from nmlgen.models.icon.checkpoints import checkpoint_dates, checkpoints_of
from nmlgen.models.icon.clock import clock

_HOUR = 3_600_000


def found(restart: str, tmp_path):
    text = f"restart: {{{restart}}}\nparallel: {{num_io_procs: 4}}\n"
    return checkpoints_of(experiment_of(text, tmp_path).components[0])


@pytest.mark.parametrize(
    ("restart", "writers", "files", "reader"),
    [
        ("restart_write_mode: sync", 1, 1, "work rank 0 gathers and writes each checkpoint, and reads it again"),
        ("restart_write_mode: async, num_restart_procs: 1", 1, 1, "one rank writes each checkpoint, and work rank 0"),
        ("restart_write_mode: joint procs multifile", 252, 253, "all work ranks read it again: 253 files a checkpoint"),
        ("restart_write_mode: dedicated procs multifile, num_restart_procs: 8", 8, 9, "8 ranks write each checkpoint"),
    ],
)
def test_who_writes_and_reads(restart, writers, files, reader, tmp_path):
    checkpoints = found(restart, tmp_path)
    assert (checkpoints.writers, checkpoints.files) == (writers, files)
    assert reader in str(checkpoints)


def test_the_whole_run_is_counted(tmp_path):
    checkpoints = found("restart_write_mode: joint procs multifile", tmp_path)
    assert (checkpoints.number, checkpoints.standing) == (20, 20)  # ten days, every 12 hours
    assert checkpoints.all_files == 20 * 253
    assert "5060 in the whole run (20 checkpoints)" in str(checkpoints)


def test_a_chain_that_removes_old_ones(tmp_path):
    restart = "restart_write_mode: joint procs multifile, restartTimeIntval: P1D, keep_last: 3"
    checkpoints = found(restart, tmp_path)
    assert (checkpoints.number, checkpoints.standing) == (20, 5)  # 3 kept, and those of a job
    assert found(f"{restart}, keep_every: 5", tmp_path).standing == 9


@pytest.mark.parametrize(
    ("restart", "hours"),
    [
        ("checkpointTimeIntval: P4D, restartTimeIntval: P10D", [96, 192, 240]),
        ("checkpointTimeIntval: P4D, restartTimeIntval: null", [96, 192]),
        ("checkpointTimeIntval: P5D, restartTimeIntval: null", [120]),  # none at the end of the experiment
        ("checkpointTimeIntval: PT25M, restartTimeIntval: P5D", None),  # only where an interval falls on a step
    ],
)
def test_when(restart, hours, tmp_path):
    component = experiment_of(f"restart: {{{restart}}}\n", tmp_path).components[0]
    time = clock(component)
    dates = list(checkpoint_dates(component, time, time.length))
    if hours is None:
        assert dates[:3] == [3_000_000, 6_000_000, 9_000_000]
        assert 120 * _HOUR in dates
    else:
        assert dates == [hour * _HOUR for hour in hours]


@pytest.mark.parametrize(
    ("output", "number"), [("none", 0), ("[none, nml]", 2), ("totint", 2), ("nml", 2), ("[timer, None]", 0)]
)
def test_a_run_whose_output_is_none_has_no_checkpoints(output, number, tmp_path):
    """Unless output_nml is read, too."""
    text = "restart: {checkpointTimeIntval: P5D, restartTimeIntval: P10D}\n"
    text += f"namelists: {{run_nml: {{output: {output}}}}}\n"
    component = experiment_of(text, tmp_path).components[0]
    assert len(checkpoint_dates(component, clock(component), clock(component).length)) == number


def test_no_checkpoint(tmp_path):
    assert found("checkpointTimeIntval: null, restartTimeIntval: null", tmp_path) is None


def test_none_is_written_up_to_a_branch(tmp_path):
    branch = "start_from: {directory: /work/before/run, time: 2008-09-03T00:00:00Z}\n"
    component = experiment_of(f"{branch}restart: {{checkpointTimeIntval: P1D}}\n", tmp_path).components[0]
    time = clock(component)
    assert [date // (24 * _HOUR) for date in checkpoint_dates(component, time, time.length - 1)] == [
        3,
        4,
        5,
        6,
        7,
        8,
        9,
    ]


@pytest.mark.parametrize(
    ("restart", "dates"),
    [
        ("checkpointTimeIntval: PT0.001S, restartTimeIntval: null", [1, 2, 3]),  # the end of the experiment is not one
        ("checkpointTimeIntval: PT0S, restartTimeIntval: PT0.001S", [1, 2, 3, 4]),
        ("checkpointTimeIntval: PT0S, restartTimeIntval: null", []),
        ("checkpointTimeIntval: PT0.002S, restartTimeIntval: PT0.003S", [2, 3, 4]),
    ],
)
def test_the_smallest_intervals(restart, dates, tmp_path):
    text = 'time: {start: "2008-09-01T00:00:00Z", stop: "2008-09-01T00:00:00.004Z", modelTimeStep: PT0.001S}\n'
    component = experiment_of(f"{text}restart: {{{restart}}}\noutput: null\n", tmp_path).components[0]
    assert list(checkpoint_dates(component, clock(component), 4)) == dates
