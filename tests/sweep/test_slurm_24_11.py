"""What squeue and sacct of Slurm 24.11.5 said of an array of ten tasks, two at a time, of which four were cancelled as
they waited; of an array that was cancelled whole, of one that took too long, of a task that was requeued and of one
whose node failed. The name and the number of the array alone are others."""

from __future__ import annotations

import pytest
from slurm_stand_in import SlurmStandIn
from sweep.test_submit import DIRECTIVES, array_of, write
from sweep_points import record, states

import nmlgen

STARTED = (
    """\
NAME|7_0|5|COMPLETED|n1|None
NAME|7_1|6|FAILED|n1|None
NAME|7_2|8|RUNNING|n1|JobArrayTaskLimit
NAME|7_3|9|RUNNING|n1|JobArrayTaskLimit
NAME|7_[3-9%2]|7|PENDING|None assigned|JobArrayTaskLimit""",
    """\
NAME|7|0|5|COMPLETED|n1|None
NAME|7|1|6|FAILED|n1|NonZeroExitCode
NAME|7|4|7|PENDING||JobArrayTaskLimit
NAME|7|5|7|PENDING||JobArrayTaskLimit
NAME|7|6|7|PENDING||JobArrayTaskLimit
NAME|7|7|7|PENDING||JobArrayTaskLimit
NAME|7|8|7|PENDING||JobArrayTaskLimit
NAME|7|9|7|PENDING||JobArrayTaskLimit
NAME|7|3|9|RUNNING|n1|None
NAME|7|2|8|RUNNING|n1|None""",
)
CANCELLED = (
    """\
NAME|7_0|5|COMPLETED|n1|None
NAME|7_1|6|FAILED|n1|None
NAME|7_2|8|RUNNING|n1|JobArrayTaskLimit
NAME|7_3|9|COMPLETED|n1|JobArrayTaskLimit
NAME|7_4|10|RUNNING|n1|JobArrayTaskLimit
NAME|7_5|7|PENDING|None assigned|JobArrayTaskLimit""",
    """\
NAME|7|3|9|COMPLETED|n1|None
NAME|7|0|5|COMPLETED|n1|None
NAME|7|1|6|FAILED|n1|NonZeroExitCode
NAME|7|5|7|PENDING||JobArrayTaskLimit
NAME|7|4|10|RUNNING|n1|None
NAME|7|2|8|RUNNING|n1|None""",
)
ENDED = (
    """\
NAME|7_0|5|COMPLETED|n1|None
NAME|7_1|6|FAILED|n1|None
NAME|7_2|8|COMPLETED|n1|JobArrayTaskLimit
NAME|7_3|9|COMPLETED|n1|JobArrayTaskLimit
NAME|7_4|10|COMPLETED|n1|JobArrayTaskLimit
NAME|7_5|7|COMPLETED|n1|JobArrayTaskLimit""",
    """\
NAME|7|5|7|COMPLETED|n1|None
NAME|7|4|10|COMPLETED|n1|None
NAME|7|3|9|COMPLETED|n1|None
NAME|7|2|8|COMPLETED|n1|None
NAME|7|0|5|COMPLETED|n1|None
NAME|7|1|6|FAILED|n1|NonZeroExitCode""",
)
FORGOTTEN = (ENDED[0], "")


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    return SlurmStandIn(tmp_path / "bin", monkeypatch)


@pytest.fixture
def sweep(tmp_path):
    return tmp_path / "sweep"


def says(slurm, sweep, replies: tuple[str, str]) -> None:
    accounting, queue = (reply.replace("NAME", array_of(sweep)) for reply in replies)
    slurm.says("sacct", accounting)
    slurm.queues(queue.splitlines())


def runs(sweep, *tasks: int, ended: str | None = None) -> None:
    """The points of these tasks have begun, and ended so."""
    for task in tasks:
        job = f"name={array_of(sweep)} task={task} array=7 job={task + 5} node=n1"
        record(sweep, task, "1.start", f"token=x leg=1 {job}")
        if ended is not None:
            record(sweep, task, "1.end", f"{ended} time=2026-11-23T08:48:33Z")


def test_an_array_from_its_beginning_to_its_end(slurm, sweep):
    write(sweep, *[DIRECTIVES] * 10)
    nmlgen.submit(sweep)
    runs(sweep, 0, ended="code=0 outcome=OK")
    runs(sweep, 1, ended="code=3 outcome=FAILED")
    runs(sweep, 2, 3)
    says(slurm, sweep, STARTED)
    assert states(sweep) == ["done", "failed", "running", "running", *["waiting"] * 6]
    runs(sweep, 3, ended="code=0 outcome=OK")
    runs(sweep, 4)
    says(slurm, sweep, CANCELLED)
    assert states(sweep) == ["done", "failed", "running", "done", "running", "waiting", *["cancelled"] * 4]
    runs(sweep, 2, 4, 5, ended="code=0 outcome=OK")
    for replies in (ENDED, FORGOTTEN):
        says(slurm, sweep, replies)
        assert states(sweep) == ["done", "failed", *["done"] * 4, *["cancelled"] * 4]
    assert nmlgen.submit(sweep).points == ()


def test_what_is_first_asked_when_all_is_over(slurm, sweep):
    """Of the tasks that were cancelled one by one Slurm keeps nothing."""
    write(sweep, *[DIRECTIVES] * 10)
    nmlgen.submit(sweep)
    runs(sweep, 0, 2, 3, 4, 5, ended="code=0 outcome=OK")
    runs(sweep, 1, ended="code=3 outcome=FAILED")
    says(slurm, sweep, FORGOTTEN)
    assert states(sweep) == ["done", "failed", *["done"] * 4, *["cancelled"] * 4]


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_an_array_that_waited_for_others_and_was_cancelled(slurm, sweep, is_forgotten):
    write(sweep, *[DIRECTIVES] * 4)
    nmlgen.submit(sweep)
    listed = "\n".join(f"NAME|7|{task}|7|CANCELLED||Dependency" for task in range(4))
    says(slurm, sweep, ("NAME|7_[0-3]|7|CANCELLED by 0|None assigned|None", "" if is_forgotten else listed))
    assert states(sweep) == ["cancelled"] * 4


@pytest.mark.parametrize(
    ("accounting", "queue", "state", "reason"),
    [
        ("NAME|7_0|5|TIMEOUT|n1|None", "NAME|7|0|5|TIMEOUT|n1|TimeLimit", "failed", "TIMEOUT TimeLimit"),
        ("NAME|7_0|5|TIMEOUT|n1|None", "", "failed", "TIMEOUT"),
        ("NAME|7_0|5|NODE_FAIL|n4|None", "NAME|7|0|5|NODE_FAIL|n4|NodeDown", "lost", "NODE_FAIL NodeDown"),
        ("NAME|7_0|5|NODE_FAIL|n4|None", "", "lost", "NODE_FAIL"),
        ("NAME|7_0|5|PENDING|None assigned|None", "NAME|7|0|5|PENDING||BeginTime", "waiting", "BeginTime"),
    ],
)
def test_how_a_run_ended_or_begins_again(slurm, sweep, accounting, queue, state, reason):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    runs(sweep, 0)
    says(slurm, sweep, (accounting, queue))
    (point,) = nmlgen.status(sweep).points
    assert (point.state, point.reason.replace("None", "").strip()) == (state, reason)
