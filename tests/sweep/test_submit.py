"""Submission where a real Slurm cannot be made to say what is to be answered; see tests/real for the rest."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import subprocess
import tracemalloc
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from slurm_stand_in import SlurmStandIn
from specs import MAPPING
from sweep_points import record, states, write_points
from tools import require

import nmlgen
from nmlgen.render.shell import Quoted
from nmlgen.sweep.arrays import array_script, slots_script
from nmlgen.sweep.records import build_of
from nmlgen.sweep.state import State

DIRECTIVES = ("--ntasks=1", "--time=00:05:00")


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    return SlurmStandIn(tmp_path / "bin", monkeypatch)


@pytest.fixture
def sweep(tmp_path) -> Path:
    return tmp_path / "sweep"


def write(sweep: Path, *points: tuple[str, ...], legs: int = 1) -> None:
    """A sweep of points with these directives."""
    names, bad = (lambda name: (f"--job-name={name}", f"--output={name}.log")), ("idx,bad,,invalid,no",)
    write_points(sweep, points, "#SBATCH", names, legs=legs, more=bad)


def array_of(sweep: Path) -> str:
    """The name of the first array of the first submission."""
    return State(sweep).submissions()[0].array_name(1)


def test_points_with_the_same_directives_share_an_array(slurm, sweep):
    write(sweep, DIRECTIVES, (*DIRECTIVES, "--nodes=2"), DIRECTIVES, DIRECTIVES[::-1])
    done = nmlgen.submit(sweep, throttle=3)
    assert [array.points for array in done.arrays] == [("p0", "p2", "p3"), ("p1",)]
    first, second = slurm.calls("sbatch")
    assert "--array=0-2%3 " in first
    assert "--dependency" not in first
    assert "--dependency=afterany:7 --kill-on-invalid-dep=yes" in second  # so that no more than 3 run at a time
    scripts = sorted(path.read_text() for path in sweep.glob("submissions/*/array.sbatch"))
    assert all("#SBATCH --no-requeue\n" in text and "job-name" not in text for text in scripts)
    assert sum("#SBATCH --nodes=2\n" in text for text in scripts) == 1


def test_arrays_are_split_at_the_clusters_size(slurm, sweep):
    slurm.configure(array_size=2)
    write(sweep, *[DIRECTIVES] * 5)
    assert [len(array.points) for array in nmlgen.submit(sweep).arrays] == [2, 2, 1]
    slurm.configure(array_size=0)
    with pytest.raises(nmlgen.SchedulerError, match="no job arrays"):
        nmlgen.submit(sweep)


def test_a_limit_of_the_accounting_splits_arrays_and_leaves_the_rest(slurm, sweep):
    slurm.has_room_for(5)
    write(sweep, *[DIRECTIVES] * 8)
    done = nmlgen.submit(sweep)
    assert [len(array.points) for array in done.arrays] == [4, 1]
    assert done.left == ("p5", "p6", "p7")
    assert "QOSMaxSubmitJobPerUserLimit" in done.refusal
    assert len(State(sweep).submissions()) == len(list((sweep / "submissions").iterdir())) == 2
    names = [submission.array_name(1) for submission in State(sweep).submissions()]
    tasks = [(name, index) for name, size in zip(names, (4, 1), strict=True) for index in range(size)]
    slurm.queues([f"{name}|100|{index}|100|PENDING||Priority" for name, index in tasks])
    assert states(sweep) == ["waiting"] * 5 + ["not submitted"] * 3
    slurm.has_room_for(8)
    assert [array.points for array in nmlgen.submit(sweep).arrays] == [("p5", "p6", "p7")]


def test_a_limit_in_the_middle_of_a_chain_leaves_its_legs_for_later(slurm, sweep):
    slurm.has_room_for(4)
    write(sweep, DIRECTIVES, DIRECTIVES, legs=3)
    done = nmlgen.submit(sweep)
    assert ([array.leg for array in done.arrays], done.left) == ([1, 2], ())
    assert "QOSMaxSubmit" in done.refusal
    (submission,) = State(sweep).submissions()
    assert submission.jobs == (100, 102, None)
    slurm.queues(
        [f"{submission.array_name(leg)}|{100 + 2 * leg - 2}|{i}|1|PENDING||" for leg in (1, 2) for i in (0, 1)]
    )
    slurm.has_room_for(9)
    assert [array.leg for array in nmlgen.submit(sweep).arrays] == [3]
    assert "aftercorr:102" in slurm.calls("sbatch")[-1]
    assert slurm.calls("sbatch")[-1].endswith("array.sbatch 3")


TIMED_OUT = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"


def test_an_array_that_was_accepted_when_the_connection_was_lost(slurm, sweep):
    write(sweep, DIRECTIVES)
    slurm.says("sbatch", error=TIMED_OUT, code=1)
    with pytest.raises(nmlgen.SchedulerError, match=r"(?s)Slurm refuses the point p0: sbatch: .*timed out.*p0\.sbatch"):
        nmlgen.submit(sweep)  # squeue does not know it
    assert State(sweep).submissions() == ()
    slurm.knows_every_name(9)
    assert [array.job for array in nmlgen.submit(sweep).arrays] == [9]


def test_when_nobody_knows_whether_an_array_was_accepted(slurm, sweep):
    """Neither sbatch nor squeue reaches Slurm: the next submission finds out."""
    write(sweep, DIRECTIVES, (*DIRECTIVES, "--nodes=2"))
    nmlgen.submit(sweep)  # so that squeue is asked first
    slurm.queues([f"{array_of(sweep)}|7|0|7|PENDING||"])
    slurm.replace("sbatch", f'#!/bin/bash\necho "{TIMED_OUT}" >&2\necho 1 >{slurm.directory}/squeue.code\nexit 1\n')
    with pytest.raises(nmlgen.SchedulerError, match="timed out"):
        nmlgen.submit(sweep)
    assert [submission.jobs for submission in State(sweep).submissions()] == [(7,), (7,), (None,)]
    second = State(sweep).submissions()[2].array_name(1)
    slurm.queues([f"{name}|{array}|0|7|PENDING||" for name, array in ((array_of(sweep), 7), (second, 8))])
    assert nmlgen.submit(sweep).arrays == ()
    assert [submission.jobs for submission in State(sweep).submissions()] == [(7,), (7,), (8,)]


def test_a_refused_leg_leaves_the_others(slurm, sweep):
    write(sweep, DIRECTIVES, legs=3)
    body = 'case $* in *"sbatch 2") echo "sbatch: error: no" >&2; exit 1;; esac; echo 7'
    slurm.replace("sbatch", f"#!/bin/bash\n{body}\n")
    with pytest.raises(nmlgen.SchedulerError, match="sbatch: error: no"):
        nmlgen.submit(sweep)
    assert [submission.jobs for submission in State(sweep).submissions()] == [(7,)]


def test_what_the_accounting_remembers(slurm, sweep):
    write(sweep, *[DIRECTIVES] * 4)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    for point in (0, 1):
        record(sweep, point, "1.start", f"token=x leg=1 name={name} task={point} array=7 job={7 + point} node=n1")
    assert states(sweep) == ["lost", "lost", "not submitted", "not submitted"]
    lines = (
        "7_0|7|TIMEOUT|n1|None",
        "7_1|8|CANCELLED by 0|n1|None",
        "7_2|9|FAILED|None assigned|None",
        "7_[x]|7|PENDING||",
    )
    slurm.says("sacct", "\n".join(f"{name}|{line}" for line in lines))
    found = nmlgen.status(sweep).points
    # of the last nothing is left, neither in the queue nor in the accounting: somebody took it out before it started
    assert [point.state for point in found] == ["failed", "cancelled", "failed", "cancelled"]
    assert found[0].reason == "TIMEOUT"
    slurm.says("sacct", error="Slurm accounting storage is disabled", code=1)
    assert states(sweep) == ["failed", "cancelled", "failed", "cancelled"]  # it was noted


def test_points_that_scancel_took_before_they_started(slurm, sweep):
    """The accounting lists them in one line, if all that were left of an array went at once; of single ones Slurm tells
    nothing at all. An array that Slurm does not know was lost, and is submitted again."""
    write(sweep, *[DIRECTIVES] * 6)
    nmlgen.submit(sweep)
    assert states(sweep) == ["not submitted"] * 6
    name = array_of(sweep)
    slurm.queues([f"{name}|7|0|8|RUNNING|n1|None", f"{name}|7|3|7|PENDING||"])
    slurm.says("sacct", f"{name}|7_[1-2,5:1%2]|7|CANCELLED by 1000|None assigned|None")
    assert states(sweep) == ["running", "cancelled", "cancelled", "waiting", "cancelled", "cancelled"]
    slurm.queues([])
    slurm.says("sacct", error="Slurm accounting storage is disabled", code=1)
    assert states(sweep) == ["not submitted", "cancelled", "cancelled", "not submitted", "cancelled", "cancelled"]
    assert nmlgen.submit(sweep).points == ("p0", "p3")


def test_what_a_real_accounting_lists(slurm, sweep):
    """Lines of Slurm 22.05 about tasks that were all submitted at once: the queue wins where it lists the array, for
    the accounting keeps tasks in its list of those that wait after `scancel` took them."""
    write(sweep, *[DIRECTIVES] * 6)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    slurm.queues([f"{name}|7|2|7|PENDING||JobHeldUser"])
    lines = ("7_0|8|COMPLETED|n1|JobHeldUser", "7_[1-5%2]|7|PENDING|None assigned|JobHeldUser")
    slurm.says("sacct", "\n".join(f"{name}|{line}" for line in lines))
    assert states(sweep) == ["not submitted", "cancelled", "waiting", "cancelled", "cancelled", "cancelled"]
    (call,) = slurm.calls("sacct")
    assert "--jobs=7 " in call  # by the name it would leave out what never could start


def test_what_only_the_accounting_lists_waits(slurm, sweep):
    """The queue may hide it (PrivateData), or have forgotten what the accounting is yet to hear of."""
    write(sweep, *[DIRECTIVES] * 3)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    slurm.says("sacct", f"{name}|7_[0-1%2]|7|PENDING|None assigned|Dependency")
    assert states(sweep) == ["waiting", "waiting", "cancelled"]
    slurm.says("sacct", f"{name}|7|7|CANCELLED by 0|None assigned|Dependency")
    assert states(sweep) == ["cancelled"] * 3
    slurm.says("sacct", error="Slurm accounting storage is disabled", code=1)
    assert nmlgen.submit(sweep).points == ()


def test_an_accounting_that_does_not_answer_is_not_an_empty_one(slurm, sweep):
    write(sweep, *[DIRECTIVES] * 3)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    record(sweep, 0, "1.start", f"token=x leg=1 name={name} task=0 array=7 job=7 node=n1")
    slurm.queues([f"{name}|7|2|7|PENDING||"])
    said = "sacct: error: Problem talking to the database: Connection refused"
    slurm.says("sacct", error=said, code=1)
    found = nmlgen.status(sweep)
    assert [point.state for point in found.points] == ["running", "waiting", "waiting"]
    assert found.problem == said
    with pytest.raises(nmlgen.SchedulerError, match="Connection refused"):
        nmlgen.submit(sweep)
    slurm.says("sacct", f"{name}|7_0|7|NODE_FAIL|n1|None\n{name}|7_1|8|CANCELLED by 0|None assigned|None")
    assert states(sweep) == ["lost", "cancelled", "waiting"]  # nothing else was noted meanwhile


def test_an_array_that_scancel_took_before_any_task_started(slurm, sweep):
    """squeue lists it for a while, without its tasks."""
    write(sweep, *[DIRECTIVES] * 2)
    nmlgen.submit(sweep)
    slurm.queues([f"{array_of(sweep)}|7|N/A|7|CANCELLED||Dependency"])
    assert states(sweep) == ["cancelled", "cancelled"]
    slurm.queues([])
    assert states(sweep) == ["cancelled", "cancelled"]  # it was noted
    assert nmlgen.submit(sweep).points == ()


@pytest.mark.parametrize("index", ["[1-", "[x]", "[]", "", "[1-999999999]", "[1-2:0]"])
def test_what_is_no_range_of_tasks_is_none(slurm, sweep, index):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    slurm.says("sacct", f"{array_of(sweep)}|7_{index}|7|CANCELLED|None assigned|None")
    assert states(sweep) == ["not submitted"]


@pytest.mark.parametrize("program", ["squeue", "sacct"])
def test_more_tasks_than_a_sweep_has_points_are_not_gone_through(slurm, sweep, program):
    """A line of a few characters stands for a million of them."""
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    line = {"squeue": "NAME|7|0-999999|7|PENDING||", "sacct": "NAME|7_[0-999999]|7|PENDING||"}[program]
    slurm.says(program, "\n".join([line.replace("NAME", array_of(sweep))] * 20))
    with pytest.raises(nmlgen.SchedulerError, match=f"{program} lists more than 1000000 tasks"):
        nmlgen.cancel(sweep)


@pytest.mark.parametrize("word", ["TIMEOUT", "OUT_OF_MEMORY", "FAILED"])
def test_why_slurm_ended_a_run_that_said_no_more_than_that_it_failed(slurm, sweep, word):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    record(sweep, 0, "1.start", f"token=x leg=1 name={name} task=0 array=7 job=7 node=n1")
    record(sweep, 0, "1.end", "code=143 outcome=FAILED time=2000-01-01T01:00:00Z")
    slurm.says("sacct", f"{name}|7_0|7|{word}|n1|None")
    for _ in range(2):  # asked, then noted
        (point,) = nmlgen.status(sweep).points
        assert (point.state, point.exit_code, point.reason) == ("failed", 143, word.replace("FAILED", ""))
        slurm.says("sacct", error="Slurm accounting storage is disabled", code=1)


def test_a_run_that_slurm_starts_again_is_under_way(slurm, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    record(sweep, 0, "1.start", f"token=x leg=1 name={name} task=0 array=7 job=7 node=n1")
    record(sweep, 0, "1.end", "code=143 outcome=FAILED time=2000-01-01T01:00:00Z")
    slurm.queues([f"{name}|7|0|7|PENDING||BeginTime"])
    assert states(sweep) == ["waiting"]
    assert nmlgen.resubmit(sweep).arrays == ()
    slurm.queues([f"{name}|7|0|7|RUNNING|n2|None"])
    assert states(sweep) == ["running"]


def test_a_job_that_slurm_starts_again_after_its_point_has_ended_is_told(slurm, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    record(sweep, 0, "1.start", f"token=x leg=1 name={name} task=0 array=7 job=7 node=n1")
    record(sweep, 0, "1.end", "code=0 outcome=OK time=2000-01-01T01:00:00Z")
    for state, reason in (("PENDING", "Slurm starts its job again, which finds nothing to do"), ("RUNNING", "")):
        slurm.queues([f"{name}|7|0|7|{state}||BeginTime"])
        (point,) = nmlgen.status(sweep).points
        assert (point.state, point.reason) == ("done", reason)


def run_task(sweep: Path, script: Path, restarts: int, **environment: str) -> subprocess.CompletedProcess[str]:
    """What Slurm does with the first task of a submission's first leg."""
    slurms = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_JOB_ID": "7", "SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "x"}
    environment = {**os.environ, **slurms, "SLURM_RESTART_COUNT": str(restarts), **environment}
    command = ["bash", str(script), "1"]
    return subprocess.run(command, cwd=script.parent, env=environment, capture_output=True, text=True, check=False)


def test_a_task_that_slurm_starts_again_runs_its_point_to_the_end(slurm, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    (script,) = sweep.glob("submissions/*/array.sbatch")
    point = sweep / "points/p0"
    text = (point / "p0.sbatch").read_text()
    (point / "p0.sbatch").write_text(f"{text}echo run >>log\n[[ -f good ]] || kill -TERM $$\n")
    assert run_task(sweep, script, 0).returncode == 143
    assert "another task has run 1 of the point" in run_task(sweep, script, 0).stdout  # not started again by Slurm
    assert run_task(sweep, script, 1).returncode == 143
    (point / "good").touch()
    assert "another task has run 1" in run_task(sweep, script, 2, SLURM_JOB_ID="8").stdout  # another job
    assert run_task(sweep, script, 2).returncode == 0
    assert states(sweep) == ["done"]
    assert "another task has run 1" in run_task(sweep, script, 3).stdout  # what has come to its end stays there
    assert (point / "log").read_text() == "run\n" * 3
    kept = sorted(path.name for path in (point / "nmlgen.jobs").iterdir())
    assert kept == ["1.end", "1.end.1", "1.end.2", "1.start"]


def test_a_task_started_again_leaves_a_point_that_runs_for_another_time(slurm, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    (script,) = sweep.glob("submissions/*/array.sbatch")
    text = (sweep / "points/p0/p0.sbatch").read_text()
    (sweep / "points/p0/p0.sbatch").write_text(f"{text}kill -TERM $$\n")
    assert run_task(sweep, script, 0).returncode == 143
    record(sweep, 0, "2.start", "token=x leg=1 name=y task=0 array=9 job=9 node=n1")
    assert "another task has run 1" in run_task(sweep, script, 1).stdout


# --- Points that were written anew ------------------------------------------------------------------------


def built(sweep: Path, interval: str, *, force: bool = False) -> nmlgen.Sweep:
    """A sweep of two real points; their names do not tell the output interval."""
    overrides = [f"output.atm.output_interval={interval}"]
    spec = nmlgen.load_spec(MAPPING, overrides)
    return nmlgen.write_sweep(
        nmlgen.expand(spec, grid={"parallel.nproma": [16, 32]}, name="p{nproma}"), sweep, force=force
    )


def run_point(sweep: Path, name: str, code: int = 0) -> None:
    """Run a point as its task would, with a model of one line."""
    point = sweep / "points" / name
    directory = f"points/{name}"
    submission = next(one for one in reversed(State(sweep).submissions()) if directory in one.points)
    task = submission.points.index(directory)
    script = sweep / "submissions" / submission.token / "array.sbatch"
    held = os.readlink(point / "wave.sbatch")
    (point / "wave.sbatch").unlink()
    (point / "wave.sbatch").write_text(f"#!/bin/bash\nmkdir -p run\necho {code} >>run/out\nexit {code}\n")
    run_task(sweep, script, 0, SLURM_ARRAY_TASK_ID=str(task), SLURM_JOB_NAME=submission.array_name(1))
    (point / "wave.sbatch").unlink()
    (point / "wave.sbatch").symlink_to(held)


def test_a_point_that_has_results_is_not_written_anew_unasked(slurm, sweep):
    built(sweep, "PT1H")
    nmlgen.submit(sweep)
    run_point(sweep, "p16")
    run_point(sweep, "p32", code=3)
    before = {path: path.read_bytes() for path in sweep.rglob("*") if path.is_file()}
    assert built(sweep, "PT1H").changed == 0
    with pytest.raises(nmlgen.WriteError, match=r"points/p16 has results, and NAMELIST_p16 would be another; --force"):
        built(sweep, "PT2H")
    assert {path: path.read_bytes() for path in before} == before
    (sweep / "points/p16/nmlgen.jobs/1.end").unlink()
    with pytest.raises(nmlgen.WriteError, match=r"points/p16 runs, and"):
        built(sweep, "PT2H")


def test_a_point_that_failed_is_written_anew(slurm, sweep):
    built(sweep, "PT1H")
    nmlgen.submit(sweep)
    for name in ("p16", "p32"):
        run_point(sweep, name, code=3)
    assert built(sweep, "PT2H").changed == 2
    assert states(sweep) == ["failed", "failed"]


def longer(sweep: Path, *overrides: str) -> None:
    spec = nmlgen.load_spec(MAPPING, ["output.atm.output_interval=PT1H", *overrides])
    points = nmlgen.expand(spec, grid={"parallel.nproma": [16, 32]}, name="p{nproma}")
    nmlgen.write_sweep(points, sweep, force=True)


def test_points_go_on_beyond_their_end(slurm, sweep):
    """Only where nothing but the end is another, and later, and what was reached is noted."""
    longer(sweep, "output.atm.stream_partitions_ml=1")
    nmlgen.submit(sweep)
    for name in ("p16", "p32"):
        run_point(sweep, name)
        build = build_of(sweep / "points" / name)
        manifest = json.loads((sweep / "points" / name / "nmlgen-manifest.json").read_text())
        goal = f"{manifest['until']} {manifest['but_for_the_end']} {build}\n"
        (sweep / "points" / name / "run/nmlgen.until").write_text(goal)
    with pytest.raises(nmlgen.InputError, match=r'"p16" cannot go on beyond its end: it is done; expected: stale'):
        nmlgen.resubmit(sweep, ["p16"], go_on=True)
    for overrides, said in (
        (["time.stop=2008-09-06T00:00:00Z"], "it has run until 20080911T000000Z, and is to run until 20080906T000000Z"),
        (["time.stop=2008-09-21T00:00:00Z", "parallel.num_io_procs=2"], "more than its end is another now"),
    ):
        longer(sweep, "output.atm.stream_partitions_ml=1", *overrides)
        with pytest.raises(nmlgen.InputError, match=f"{said}.*; --stale begins anew"):
            nmlgen.resubmit(sweep, go_on=True)
    longer(sweep, "output.atm.stream_partitions_ml=1", "time.stop=2008-10-01T00:00:00Z")
    assert states(sweep) == ["stale", "stale"]
    goal = sweep / "points/p32/run/nmlgen.until"
    held = goal.read_text()
    goal.unlink()
    with pytest.raises(nmlgen.InputError, match=r'"p32" cannot go on .* nothing says that there is a checkpoint'):
        nmlgen.resubmit(sweep, go_on=True)
    goal.write_text(held)
    assert [len(nmlgen.resubmit(sweep, go_on=True, dry_run=True).arrays)] == [2]
    done = nmlgen.resubmit(sweep, go_on=True)
    assert [(array.leg, array.legs, array.points) for array in done.arrays] == [
        (1, 2, ("p16", "p32")),
        (2, 2, ("p16", "p32")),
    ]
    assert not (sweep / "stale").exists()
    assert (sweep / "points/p16/run/out").read_text() == "0\n"  # what it left stays


def test_stale_results_are_told_and_set_aside(slurm, sweep):
    built(sweep, "PT1H")
    nmlgen.submit(sweep)
    for name in ("p16", "p32"):
        run_point(sweep, name)
    assert states(sweep) == ["done", "done"]
    assert built(sweep, "PT2H", force=True).changed == 2
    found = nmlgen.status(sweep)
    assert [point.state for point in found.points] == ["stale", "stale"]
    old = re.search(r"of build (\w+),", found.points[0].reason)[1]
    assert nmlgen.submit(sweep).arrays == ()
    assert nmlgen.resubmit(sweep).arrays == ()
    assert "its results are of build" in nmlgen.report_sweep(sweep)
    assert nmlgen.resubmit(sweep, stale=True, dry_run=True).points == ("p16", "p32")
    assert states(sweep) == ["stale", "stale"]
    assert nmlgen.resubmit(sweep, ["p32"]).points == ("p32",)
    assert states(sweep) == ["stale", "not submitted"]  # as if the call had been killed: Slurm knows of no job
    assert nmlgen.resubmit(sweep, stale=True).points == ("p16", "p32")
    assert (sweep / f"stale/p16-{old}/run/out").read_text() == "0\n"
    assert (sweep / f"stale/p16-{old}/nmlgen.jobs/1.end").is_file()
    left = {path.name for path in (sweep / "points/p16").iterdir()}
    assert left == {"NAMELIST_p16", "icon_master.namelist", "nmlgen-manifest.json", "wave.sbatch"}
    run_point(sweep, "p16")
    assert states(sweep)[0] == "done"
    run_point(sweep, "p32")
    built(sweep, "PT1H", force=True)
    assert states(sweep) == ["stale", "stale"]


def test_waiting_for_a_sweep(slurm, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES)
    nmlgen.submit(sweep)
    name = array_of(sweep)
    slurm.queues([f"{name}|7|0|7|RUNNING|n1|None", f"{name}|7|1|8|PENDING||Priority"])
    seen = []

    def watch(found):
        seen.append({state: count for state, count in found.counts.items() if count})
        if len(seen) == 2:  # Slurm does not answer, which decides nothing
            slurm.says("squeue", error="no answer", code=1)
        if len(seen) == 3:
            slurm.says("squeue")
            for point in (0, 1):
                record(sweep, point, "1.start", f"token=x leg=1 name={name} task={point} array=7 job=7 node=n1")
                record(sweep, point, "1.end", "code=0 outcome=OK time=2000-01-01T01:00:00Z")

    done = nmlgen.wait(sweep, interval_s=0, watch=watch)
    assert done.counts["done"] == 2
    assert seen == [{"running": 1, "waiting": 1}] * 2 + [{"waiting": 2}, {"done": 2}]
    assert asyncio.run(nmlgen.wait_async(sweep, interval_s=0)).counts["done"] == 2
    for interval_s in (-1, float("nan"), float("inf")):
        with pytest.raises(nmlgen.InputError, match="interval"):
            nmlgen.wait(sweep, interval_s=interval_s)


def test_another_users_jobs_that_slurm_hides_are_not_taken_for_none(slurm, sweep, monkeypatch):
    write(sweep, DIRECTIVES)
    monkeypatch.setenv("LOGNAME", "ada")
    nmlgen.submit(sweep)
    monkeypatch.setenv("LOGNAME", "bob")
    slurm.configure(private="accounts,jobs,usage")
    with pytest.raises(nmlgen.SchedulerError, match="ada submitted p0, and this Slurm shows nobody else's jobs"):
        nmlgen.submit(sweep)


def test_slurm_that_cannot_be_asked(slurm, sweep):
    write(sweep, DIRECTIVES, DIRECTIVES)
    nmlgen.submit(sweep)
    slurm.says("squeue", error="slurm_load_jobs error: Unable to contact slurm controller (connect failure)", code=1)
    name = array_of(sweep)
    record(sweep, 0, "1.start", f"token=x leg=1 name={name} task=0 array=7 job=7 node=n1")
    found = nmlgen.status(sweep)
    assert [point.state for point in found.points] == ["running", "waiting"]
    assert "Unable to contact" in found.problem
    for action in (nmlgen.submit, nmlgen.cancel):
        with pytest.raises(nmlgen.SchedulerError, match="Unable to contact"):
            action(sweep)


@pytest.mark.parametrize("fields", range(6))
@pytest.mark.parametrize("program", ["squeue", "sacct"])
def test_a_line_of_a_sweep_that_is_cut(slurm, sweep, program, fields):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    line = {"squeue": "NAME|7|0|7|RUNNING|n1|None", "sacct": "NAME|7_0|7|RUNNING|n1|None"}[program]
    cut = "|".join(line.replace("NAME", array_of(sweep)).split("|")[: min(fields + 1, line.count("|"))])
    slurm.says(program, cut)
    with pytest.raises(nmlgen.SchedulerError, match="gave an answer that cannot be understood"):
        nmlgen.cancel(sweep)


def test_a_run_that_ends_while_it_is_resubmitted_is_not_buried(slurm, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    record(sweep, 0, "1.start", f"token=x leg=1 name={array_of(sweep)} task=0 array=7 job=7 node=n1")
    assert states(sweep) == ["lost"]
    nmlgen.resubmit(sweep)
    assert "outcome=LOST" in (sweep / "points/p0/nmlgen.jobs/1.end").read_text()
    assert "readonly token=" in next(iter(sweep.glob("submissions/*/array.sbatch"))).read_text()
    assert [submission.first for submission in State(sweep).submissions()] == [1, 2]


@pytest.mark.parametrize(
    ("directives", "message"),
    [
        (("--ntasks=1x",), "p0.sbatch:4:18: sbatch refuses --ntasks"),
        (("--ntasks=one",), "p0.sbatch:4: --ntasks is no plain value"),
        (("--array=0-3",), "p0.sbatch:4: --array: a point of a sweep is one job"),
    ],
)
def test_scripts_that_cannot_be_submitted(slurm, sweep, directives, message):
    write(sweep, directives)
    with pytest.raises(nmlgen.InputError, match=re.escape(message)):
        nmlgen.submit(sweep)


def test_directories_that_are_no_sweep(slurm, sweep, tmp_path):
    with pytest.raises(nmlgen.InputError, match=r"points\.csv: there is no such file"):
        nmlgen.submit(tmp_path)
    assert not (tmp_path / "nmlgen-sweep.sqlite").exists()
    write(sweep, DIRECTIVES)
    (sweep / "points/p0/other.sbatch").write_text("#!/bin/bash\n")
    with pytest.raises(nmlgen.InputError, match=r"one file \*\.sbatch is expected, there is other\.sbatch, p0\.sbatch"):
        nmlgen.submit(sweep)
    (sweep / "points.csv").write_text("a,b\n1,2\n")
    with pytest.raises(nmlgen.InputError, match="no table of points"):
        nmlgen.status(sweep)


def test_a_user_without_a_name_submits_by_number(slurm, sweep, monkeypatch):
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr("getpass.getuser", nameless)
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    assert [one.user for one in State(sweep).submissions()] == [str(os.getuid())]


def test_a_table_of_points_in_which_a_line_has_no_end(slurm, sweep):
    write(sweep, DIRECTIVES)
    os.truncate(sweep / "points.csv", 10**9)
    tracemalloc.start()
    try:
        with pytest.raises(nmlgen.InputError, match=r"points\.csv"):
            nmlgen.status(sweep)
        assert tracemalloc.get_traced_memory()[1] < 10**8
    finally:
        tracemalloc.stop()


def test_what_is_shared_can_be_written_by_the_group(slurm, sweep):
    write(sweep, DIRECTIVES)
    mask = os.umask(0o002)
    try:
        nmlgen.submit(sweep)
    finally:
        os.umask(mask)
    for path in (sweep / "nmlgen-sweep.sqlite", sweep / "nmlgen-sweep.lock", *(sweep / "submissions").glob("*")):
        assert path.stat().st_mode & stat.S_IWGRP, path


def test_a_state_that_cannot_be_used_is_a_plain_error(slurm, sweep):
    write(sweep, DIRECTIVES)
    (sweep / "nmlgen-sweep.sqlite").write_text("this is no database, but long enough to look into it\n" * 100)
    for action in (nmlgen.submit, nmlgen.status):
        with pytest.raises(nmlgen.WriteError, match=r"nmlgen-sweep\.sqlite: file is not a database"):
            action(sweep)


def test_a_broken_state_of_which_sqlite_says_bytes(slurm, sweep):
    write(sweep, DIRECTIVES)
    nmlgen.submit(sweep)
    state = sweep / "nmlgen-sweep.sqlite"
    content = state.read_bytes().replace(b"TABLE submission", b"TABEL submission")
    state.write_bytes(content.replace(b"submission", b"\xff\xe9bmission"))
    with pytest.raises(nmlgen.WriteError, match=r"nmlgen-sweep\.sqlite: not a database, or a broken one"):
        nmlgen.status(sweep)


@pytest.mark.parametrize(
    "text",
    [
        array_script("0123abcd", 2, (Quoted("--nodes=2"), Quoted("--time=00:10:00"))),
        array_script("0123abcd", 1, (Quoted("--nodes=2"),), 20),
        array_script("0123abcd", 1, (Quoted("--nodes=8"),), 20, pack=4, legs=3, size={"nodes": 2, "ntasks": 8}),
        slots_script(),
    ],
    ids=["array", "throttled array", "packed array", "slots"],
)
def test_the_scripts_of_a_submission_are_clean(text):
    require("shellcheck")
    done = subprocess.run(["shellcheck", "-"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


LIMITED = """\
#!/bin/bash
for word in "$@"; do if [[ $word == --array=* ]]; then tasks=${{word#*=0-}}; fi; done
if (( ${{tasks%%%*}} + 1 > {room} )); then
  echo "sbatch: error: AssocMaxSubmitJobLimit" >&2
  echo "allocation failure: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)" >&2
  exit 1
fi
echo "sbatch: Job 1 to start" >&2
"""


@pytest.mark.parametrize(("room", "names"), [(0, []), (1, ["p0"]), (4, ["p0", "p1", "p2", "p3"]), (5, None), (9, None)])
def test_a_dry_run_counts_what_a_limit_lets(slurm, sweep, room, names):
    write(sweep, *[DIRECTIVES] * 3, *[(*DIRECTIVES, "--nodes=2")] * 2)
    slurm.replace("sbatch", LIMITED.format(room=room))
    done = nmlgen.submit(sweep, dry_run=True)
    every = [f"p{number}" for number in range(5)]
    assert list(done.points) == (every if names is None else names)
    assert list(done.left) == ([] if names is None else every[len(names) :])
    assert (done.refusal is None) == (names is None)


def test_mail_when_an_array_has_failed_and_when_all_is_over(slurm, sweep):
    write(sweep, DIRECTIVES, legs=2)
    nmlgen.submit(sweep, mail="ada@example.org")
    assert [re.findall(r"--mail-\w+=\S+", call) for call in slurm.calls("sbatch")] == [
        ["--mail-user=ada@example.org", "--mail-type=FAIL"],
        ["--mail-user=ada@example.org", "--mail-type=END,FAIL"],
    ]
    with pytest.raises(nmlgen.InputError, match="is no address for mail"):
        nmlgen.submit(sweep, mail="two words")


# --- Several points in one job ------------------------------------------------------------------------------


def packable(sweep: Path, count: int, *more: str) -> None:
    write(sweep, *[("--nodes=1", "--ntasks=4", "--ntasks-per-node=4", "--time=00:05:00", *more)] * count)
    for script in sweep.glob("points/*/*.sbatch"):
        script.write_text(script.read_text() + "srun true\n")


def test_points_share_jobs(slurm, sweep):
    """Eleven in packs of four: two jobs of four, and one of three."""
    packable(sweep, 11)
    done = nmlgen.submit(sweep, pack=4, throttle=9)
    assert [(array.pack, len(array.points)) for array in done.arrays] == [(4, 8), (3, 3)]
    assert [re.search(r"--array=(\S+)", call)[1] for call in slurm.calls("sbatch")] == ["0-1%2", "0-0%3"]
    texts = [(sweep / "submissions" / one.token / "array.sbatch").read_text() for one in State(sweep).submissions()]
    asked = [[line for line in text.splitlines() if line.startswith("#SBATCH --n")] for text in texts]
    for pack, lines in zip((4, 3), asked, strict=True):
        nodes = [f"#SBATCH --nodes={pack}", f"#SBATCH --ntasks={4 * pack}", "#SBATCH --ntasks-per-node=4"]
        assert lines == [*nodes[:1], "#SBATCH --no-requeue", *nodes[1:]] or sorted(lines) == sorted(
            [*nodes, "#SBATCH --no-requeue"]
        )
    first, _ = State(sweep).submissions()
    slurm.queues([f"{first.array_name(1)}|7|0|7|RUNNING|n[1-4]|None", f"{first.array_name(1)}|7|1|8|PENDING||Priority"])
    assert states(sweep) == ["running"] * 4 + ["waiting"] * 4 + ["not submitted"] * 3
    with pytest.raises(nmlgen.InputError, match=r'the point "p1" runs in the same job \(7_0\); name it, too'):
        nmlgen.cancel(sweep, ["p0", "p2", "p3"])
    assert slurm.calls("scancel") == []
    assert sorted(nmlgen.cancel(sweep, ["p0", "p1", "p2", "p3"])) == ["p0", "p1", "p2", "p3"]
    assert slurm.calls("scancel") == ["--quiet 7_0"]
    slurm.queues([f"{first.array_name(1)}|7|1|8|PENDING||Priority"])
    assert states(sweep) == ["cancelled"] * 4 + ["waiting"] * 4 + ["not submitted"] * 3


def test_a_limit_leaves_whole_packs(slurm, sweep):
    slurm.has_room_for(3)
    packable(sweep, 11)
    done = nmlgen.submit(sweep, pack=2)
    assert [len(array.points) for array in done.arrays] == [4, 2]
    assert done.left == ("p6", "p7", "p8", "p9", "p10")
    slurm.replace("sbatch", LIMITED.format(room=4))
    trial = nmlgen.submit(sweep, pack=2, dry_run=True)
    assert [(array.pack, len(array.points)) for array in trial.arrays] == [(2, 8)]
    assert trial.left == ("p8", "p9", "p10")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--nodelist=n1",), r"p0\.sbatch:8: with --nodelist a point cannot be packed"),
        (("--gpus=a100:2",), r"p0\.sbatch:8: --gpus is 'a100:2'; a point can be packed where it is a number"),
    ],
)
def test_what_cannot_be_packed(slurm, sweep, more, said):
    packable(sweep, 2, *more)
    with pytest.raises(nmlgen.InputError, match=said):
        nmlgen.submit(sweep, pack=2)
    assert State(sweep).submissions() == ()


def test_only_what_srun_starts_can_be_packed(slurm, sweep):
    write(sweep, *[("--nodes=1", "--time=00:05:00")] * 2)
    with pytest.raises(nmlgen.InputError, match="whose script starts one program with srun"):
        nmlgen.submit(sweep, pack=2)
    for pack, throttle in ((0, None), (3, 2)):
        with pytest.raises(nmlgen.InputError, match=f"{pack} points cannot share a job"):
            nmlgen.submit(sweep, pack=pack, throttle=throttle)


# --- The slots of a throttle ------------------------------------------------------------------------------

OURS = "x.0000000a"


def tell_throttles(slurm, queue):
    """Let scontrol say the throttles that the lines of squeue hold."""
    said = {line.split("|")[0]: line.split("|")[2].partition("%")[2] for line in queue if "%" in line}
    cases = "".join(f'"{array}") echo "JobId={array} ArrayTaskThrottle={slots} x";;\n' for array, slots in said.items())
    program = (
        f'#!/bin/bash\nprintf "%s\\n" "$*" >>{slurm.directory}/scontrol.calls\ncase "${{@: -1}}" in\n{cases}esac\n'
    )
    slurm.replace("scontrol", program)


@pytest.mark.parametrize(
    ("queue", "changes"),
    [
        pytest.param([], [], id="nothing is left"),
        pytest.param(
            [f"1|{OURS}.1|3-9%3|PENDING|(null)", *(f"1|{OURS}.1|{n}|RUNNING|" for n in range(3))], [], id="full"
        ),
        pytest.param(
            [f"1|{OURS}.1|0|RUNNING|(null)", "2|x.0000000b.1|0-8%3|PENDING|afterany:1_*(unfulfilled)"],
            ["2 ArrayTaskThrottle=2", "2 Dependency="],
            id="one is left",
        ),
        pytest.param(
            [
                f"1|{OURS}.1|0|RUNNING|(null)",
                "2|x.0000000b.1|0-8%3|PENDING|afterok:77(unfulfilled),afterany:66_*(unfulfilled),afterany:1_*(unfulfilled)",
            ],
            ["2 ArrayTaskThrottle=2", "2 Dependency=afterok:77,afterany:66_*"],
            id="what else it waits for stays",
        ),
        pytest.param(
            ["2|x.0000000b.1|5-8%1|PENDING|(null)", "2|x.0000000b.1|4|RUNNING|(null)"],
            ["2 ArrayTaskThrottle=3"],
            id="the last array gets all slots",
        ),
        pytest.param(
            ["2|x.0000000b.1|5%1|PENDING|(null)", "2|x.0000000b.1|4|RUNNING|(null)"],
            ["2 ArrayTaskThrottle=2"],
            id="no more than it has tasks",
        ),
        pytest.param(
            [f"1|{OURS}.1|0|COMPLETING|", f"1|{OURS}.1|1|SUSPENDED|", "2|x.0000000b.1|0,2-3%9|PENDING|afterany:1_*"],
            ["2 ArrayTaskThrottle=2", "2 Dependency="],
            id="what ends needs none, what is suspended does",
        ),
        pytest.param(
            [f"1|{OURS}.1|0|PENDING|(null)", f"1|{OURS}.1|1|RUNNING|", "2|x.0000000b.1|0|PENDING|afterany:1_*"],
            ["2 ArrayTaskThrottle=1", "2 Dependency="],
            id="what Slurm starts again keeps its slot",
        ),
        pytest.param(
            [
                *(f"1|{OURS}.1|{n}|RUNNING|" for n in (1, 2)),
                *(f"4|{OURS}.2|{n}|PENDING|afterany:1_*(unfulfilled),aftercorr:1_*(unfulfilled)" for n in range(3)),
                "5|x.0000000b.1|0-4%3|PENDING|afterany:1_*(unfulfilled),afterany:4_*(unfulfilled)",
            ],
            [
                "5 ArrayTaskThrottle=1",
                "5 Dependency=",  # before the next: Slurm refuses two that wait for each other
                "4 Dependency=afterany:1_*,aftercorr:1_*,afterany:5_*",
            ],
            id="the first legs first",
        ),
        pytest.param(
            [
                *(f"1|{OURS}.1|{n}|RUNNING|" for n in (1, 2)),
                *(f"4|{OURS}.2|{n}|PENDING|afterany:1_*(unfulfilled),aftercorr:1_*(unfulfilled)" for n in range(3)),
            ],
            ["4 ArrayTaskThrottle=1", "4 Dependency=aftercorr:1_*"],
            id="a task waits for its own of the leg before",
        ),
        pytest.param(
            ["7|x.0000000c.1|0-8|PENDING|", "8|other|N/A|RUNNING|"], [], id="what has no throttle is left alone"
        ),
    ],
)
def test_slots_that_an_array_needs_no_more_go_to_the_next(slurm, tmp_path, queue, changes):
    home = tmp_path / "submissions"
    for token in ("0000000a", "0000000b"):
        (home / token).mkdir(parents=True)
        (home / token / "throttle").write_text("3\n")
    (home / "slots.sh").write_text(slots_script())
    slurm.queues(queue)
    tell_throttles(slurm, queue)
    assert subprocess.run(["bash", home / "slots.sh"], check=False).returncode == 0
    assert [call for call in slurm.calls("scontrol") if call.startswith("update")] == [
        f"update jobid={change}" for change in changes
    ]


@pytest.mark.parametrize(
    ("restarts", "reason", "seconds", "is_hastened"),
    [
        (1, "BeginTime", 121, True),
        (12, "BeginTime", 60, True),
        (0, "BeginTime", 121, False),  # --begin of its own
        (1, "BeginTime", 3600, False),  # somebody said so
        (1, "BeginTime", 0, False),
        (1, "Resources", 121, False),
    ],
)
def test_what_slurm_starts_again_waits_no_longer_than_it_must(slurm, tmp_path, restarts, reason, seconds, is_hastened):
    (tmp_path / "0000000a").mkdir()
    (tmp_path / "0000000a" / "throttle").write_text("3\n")
    (tmp_path / "slots.sh").write_text(slots_script())
    about = f"JobId=8 ArrayJobId=1 Requeue=1 Restarts={restarts} BatchFlag=1"
    program = (
        f'#!/bin/bash\nprintf "%s\\n" "$*" >>{slurm.directory}/scontrol.calls\n[ "$1" != show ] || echo "{about}"\n'
    )
    slurm.replace("scontrol", program)
    start = (datetime.now() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    slurm.queues([f"1|{OURS}.1|4|PENDING|(null)|{reason}|{start}", f"1|{OURS}.1|0|RUNNING|(null)|None|{start}"])
    subprocess.run(["bash", tmp_path / "slots.sh"], check=True)
    changes = [call for call in slurm.calls("scontrol") if call.startswith("update")]
    assert changes == ["update jobid=1_4 StartTime=now+10"] * is_hastened


def test_nobody_looks_again_where_somebody_has_just_looked(slurm, tmp_path):
    """A task that starts asks only where nobody has for a while; one that ends always does."""
    (tmp_path / "0000000a").mkdir()
    (tmp_path / "0000000a" / "throttle").write_text("3\n")
    (tmp_path / "slots.sh").write_text(slots_script())
    (tmp_path / "slots.lock").write_text("99999999999\n")
    slurm.replace("sleep", '#!/bin/bash\nkill "$PPID"\n')
    slurm.queues([f"1|{OURS}.1|0|RUNNING|(null)"])
    subprocess.run(["bash", tmp_path / "slots.sh", "100"], check=True)
    assert slurm.calls("squeue") == []
    subprocess.run(["bash", tmp_path / "slots.sh"], check=True)
    assert len(slurm.calls("squeue")) == 1
    for text in ("", "0\n", "no time\n"):
        (tmp_path / "slots.lock").write_text(text)
        subprocess.run(["bash", tmp_path / "slots.sh", "100"], check=True)
    assert len(slurm.calls("squeue")) == 4


def test_a_task_whose_point_has_ended_needs_no_slot(slurm, tmp_path, monkeypatch):
    """Of several that end at once one asks for all: they leave marks. Marks of tasks that start again count no more."""
    for token in ("0000000a", "0000000b"):
        (tmp_path / token).mkdir()
        (tmp_path / token / "throttle").write_text("3\n")
    (tmp_path / "slots.sh").write_text(slots_script())
    ended = tmp_path / "slots.ended"
    ended.mkdir()
    for task in ("1_1", "1_2", "1_7"):
        (ended / task).touch()
    lines = [
        *(f"1|{OURS}.1|{n}|RUNNING|(null)" for n in range(2)),
        f"1|{OURS}.1|2|PENDING|(null)",
        "2|x.0000000b.1|0-8%3|PENDING|afterany:1_*(unfulfilled)",
    ]
    slurm.queues(lines)
    tell_throttles(slurm, lines)
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "1")
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "0")
    subprocess.run(["bash", tmp_path / "slots.sh"], check=True)
    changes = [call for call in slurm.calls("scontrol") if call.startswith("update")]
    assert changes == ["update jobid=2 ArrayTaskThrottle=2", "update jobid=2 Dependency="]
    assert sorted(path.name for path in ended.iterdir()) == ["1_0", "1_1"]


def test_of_several_throttles_the_smallest_holds(slurm, tmp_path):
    for token, throttle in (("0000000a", 2), ("0000000b", 5), ("0000000c", 1)):
        (tmp_path / token).mkdir()
        (tmp_path / token / "throttle").write_text(f"{throttle}\n")
    (tmp_path / "slots.sh").write_text(slots_script())
    slurm.queues([f"1|{OURS}.1|0|RUNNING|", "2|x.0000000b.1|0-8%5|PENDING|afterany:1_*(unfulfilled)"])
    subprocess.run(["bash", tmp_path / "slots.sh"], check=True)
    changes = [call for call in slurm.calls("scontrol") if call.startswith("update")]
    assert changes == ["update jobid=2 ArrayTaskThrottle=1", "update jobid=2 Dependency="]


# --- Points that others ran -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "place"),
    [
        ("", "run"),
        ('run="$here"/run\n', "run"),
        ("run=\"$here\"/'else where'/run\n", "else where/run"),
        ("run=HOME/x\n", "HOME/x"),
    ],
)
def test_points_that_have_ended_elsewhere_are_known(slurm, sweep, tmp_path, run, place):
    """By `sbatch`, Snakemake, Cylc, JUBE, ecFlow or Autosubmit: the point's own script says so."""
    write(sweep, DIRECTIVES, DIRECTIVES)
    script = sweep / "points" / "p0" / "p0.sbatch"
    script.write_text(script.read_text() + run.replace("HOME", str(tmp_path)))
    ledger = sweep / "points" / "p0" / place.replace("HOME", str(tmp_path)) / "nmlgen.legs"
    ledger.parent.mkdir(parents=True)
    ledger.write_text("1 17 RESTART\n")
    assert states(sweep) == ["not submitted", "not submitted"]
    ledger.write_text("1 17 RESTART\n2 18 OK\n")
    assert states(sweep) == ["done", "not submitted"]
    assert nmlgen.submit(sweep).points == ("p1",)


def test_results_that_others_made_with_another_build_are_stale(slurm, sweep):
    """The point's script notes by which build it came to its end, whoever started it."""
    built(sweep, "PT1H")
    old = build_of(sweep / "points/p16")
    run = sweep / "points/p16/run"
    run.mkdir()
    (run / "nmlgen.legs").write_text("1 17 OK\n")
    (run / "nmlgen.until").write_text(f"20080911T000000Z 99 {old}\n")
    assert states(sweep) == ["done", "not submitted"]
    with pytest.raises(nmlgen.WriteError, match=r"p16 has results, and .* would be another; --force"):
        built(sweep, "PT2H")
    assert built(sweep, "PT2H", force=True).changed == 2
    assert states(sweep) == ["stale", "not submitted"]
    assert f"its results are of build {old}, it is now " in nmlgen.status(sweep).points[0].reason
    assert nmlgen.submit(sweep).points == ("p32",)
    assert nmlgen.resubmit(sweep, stale=True).points == ("p16",)
    assert (sweep / f"stale/p16-{old}/run/nmlgen.legs").exists()
    assert not run.exists()


@pytest.mark.parametrize("run", ["run=$(pwd)\n", "run=one two\n", "run='\n", "run=\n"])
def test_run_directories_that_only_the_shell_knows(slurm, sweep, run):
    write(sweep, DIRECTIVES)
    script = sweep / "points" / "p0" / "p0.sbatch"
    script.write_text(script.read_text() + run)
    assert states(sweep) == ["not submitted"]
