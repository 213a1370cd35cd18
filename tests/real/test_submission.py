"""Sweeps on a real Slurm: every point runs, once, whatever happens to whoever submits and to the nodes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tools import require, until

import nmlgen

from .cluster import PROGRAMS, Cluster, Layout, running_cluster
from .test_jobs import Run as Chain

MODEL = """\
say() { printf '%s %s %s\\n' "$1" "$SLURM_JOB_ID" "$EPOCHREALTIME" >>model.log; }
say start
until [[ -e ${GATE:-.} ]]; do sleep 0.05; done
code=0
if [[ -f fails ]]; then code=3; fi
say "end"
exit "$code"
"""
DIRECTIVES = ("--ntasks=1", "--time=02:00:00")
POINTS = 300


@pytest.fixture(scope="module")
def small_arrays() -> Iterator[Cluster]:
    """A cluster whose job arrays have at most 100 tasks."""
    require(*PROGRAMS)
    with running_cluster(Layout(max_array_size=100)) as running:
        yield running


SOON = "starttime=now+3"
"""When a job that was stopped starts again: within the same second slurmd does not take it, having just ended it."""


class OnSlurm:
    """A sweep whose model is a few lines of shell that note when they start and end. Where a command is told of the
    `gate`, the models that it submits wait in between until there is a file of this name."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self.cluster = cluster
        self.directory = directory
        self.gate = directory.with_name("gate")
        self.waiting = {"GATE": str(self.gate)}

    def write(
        self,
        count: int,
        model: str = MODEL,
        directives: Callable[[int], Sequence[str]] = lambda _: DIRECTIVES,
        failing: Sequence[int] = (),
    ) -> None:
        """Write the points as `nmlgen sweep` would."""
        for number in range(count):
            self._write_point(number, model, directives(number))
            if number in failing:
                (self.point(number) / "fails").touch()

    def write_more(self, count: int, model: str = MODEL, directives: Sequence[str] = DIRECTIVES) -> None:
        """Add points."""
        there = len(list((self.directory / "points").iterdir()))
        for number in range(there, there + count):
            self._write_point(number, model, directives)

    def _write_point(self, number: int, model: str, directives: Sequence[str]) -> None:
        point = self.point(number)
        point.mkdir(parents=True)
        lines = "\n".join(f"#SBATCH {line}" for line in (f"--job-name={point.name}", "--output=%x.log", *directives))
        (point / f"{point.name}.sbatch").write_text(f"#!/bin/bash\n{lines}\n{model}")
        table = self.directory / "points.csv"
        if not table.exists():
            table.write_text("id,name,directory,state,reason\n")
        with table.open("a") as file:
            file.write(f"{number:012x},{point.name},points/{point.name},built,\n")

    def point(self, number: int) -> Path:
        return self.directory / "points" / f"p{number:03d}"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "nmlgen", arguments[0], str(self.directory), *arguments[1:]]

    def nmlgen(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Call nmlgen COMMAND DIRECTORY as a user would."""
        environment = self.cluster.complete_environment(more)
        return subprocess.run(self.command(*arguments), check=False, env=environment, capture_output=True, text=True)

    def status(self) -> dict[int, dict[str, Any]]:
        """What `nmlgen status` says of the points, by number."""
        done = self.nmlgen("status", "--format", "json")
        assert done.returncode in (0, 1, 3), done.stderr
        return {int(point["name"][1:]): point for point in json.loads(done.stdout)["points"]}

    def states(self) -> dict[str, int]:
        """How many points are in which state."""
        return dict(Counter(point["state"] for point in self.status().values()))

    def said(self, number: int) -> list[list[str]]:
        """What the model of a point noted."""
        path = self.point(number) / "model.log"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def words(self, number: int) -> list[str]:
        """The starts and ends of a point."""
        return [word for word, *_ in self.said(number)]

    def most_at_a_time(self, count: int) -> int:
        """How many models ran at once, by what they noted."""
        whole = [said for said in map(self.said, range(count)) if len(said) == 2]
        events = [(float(when), 1 if what == "start" else -1) for said in whole for what, _, when in said]
        now = most = 0
        for _, step in sorted(events):
            now += step
            most = max(most, now)
        return most

    def wait(self) -> None:
        self.cluster.wait_until_idle()

    def is_started(self, *numbers: int) -> bool:
        """Whether the models of these points have started, once, and none has ended."""
        return all(self.words(number) == ["start"] for number in numbers)

    def break_a_node(self) -> str:
        """Let a node fail on which models wait; its name. Nothing else starts meanwhile."""
        self.cluster.run("scontrol", "update", "partitionname=compute", "state=down")
        until(self._is_every_task_started)
        node = self.cluster.run("squeue", "-h", "-t", "RUNNING", "-o", "%N").split()[0]
        self.cluster.break_node(node)
        self.cluster.run("scontrol", "update", "partitionname=compute", "state=up")
        return node

    def _is_every_task_started(self) -> bool:
        started = {job for path in self.directory.glob("points/*/model.log") for job in path.read_text().split()[1::3]}
        return started == set(self.cluster.run("squeue", "-h", "-t", "RUNNING,CONFIGURING", "-o", "%A").split())


@pytest.fixture
def sweep(small_arrays: Cluster, tmp_path: Path) -> Iterator[OnSlurm]:
    yield OnSlurm(small_arrays, tmp_path / "a sweep")
    small_arrays.cancel_all()


def slow_sbatch(directory: Path) -> str:
    """A PATH with an sbatch that takes its time before and after the real one is called, so that more of the random
    moments of killing lie around the call. What must come of it does not depend on where they lie."""
    directory.mkdir()
    program = directory / "sbatch"
    program.write_text('#!/bin/bash\nsleep 0.2\nPATH=${PATH#*:}\nsbatch "$@"\ncode=$?\nsleep 0.2\nexit "$code"\n')
    program.chmod(0o755)
    return f"{directory}:{os.environ['PATH']}"


def test_nothing_is_lost_and_nothing_runs_twice(sweep, tmp_path):
    """300 points, arrays of 100, one in twenty fails, a node breaks, whoever submits is killed twenty times."""
    random.seed(11)
    failing = random.sample(range(POINTS), POINTS // 20)
    sweep.write(POINTS, failing=failing, directives=lambda n: (*DIRECTIVES, f"--comment=group{n % 2}"))
    slow = {"PATH": slow_sbatch(tmp_path / "slow"), **sweep.waiting}
    node = None
    for _ in range(20):
        process = subprocess.Popen(
            sweep.command("submit", "--throttle", "24"),
            env=sweep.cluster.complete_environment(slow),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0.1, 1.6))
        process.kill()
        process.wait()
        if node is None and any(sweep.directory.glob("points/*/model.log")):
            node = sweep.break_a_node()
    last = sweep.nmlgen("submit", "--throttle", "24", **sweep.waiting)
    assert last.returncode == 0, last.stderr
    if node is None:
        until(lambda: any(sweep.directory.glob("points/*/model.log")))
        node = sweep.break_a_node()
    sweep.gate.touch()
    assert "0 points submitted" in sweep.nmlgen("submit", "--throttle", "24").stdout
    sweep.wait()
    states = {number: point["state"] for number, point in sweep.status().items()}
    assert set(states.values()) == {"done", "failed", "lost"}
    assert {number for number, state in states.items() if state == "failed"} <= set(failing)
    for number, state in states.items():
        assert sweep.words(number) == (["start"] if state == "lost" else ["start", "end"])
    assert sweep.most_at_a_time(POINTS) <= 24
    # mend it
    sweep.cluster.mend_node(node)
    for number in failing:
        (sweep.point(number) / "fails").unlink()
    assert sweep.nmlgen("resubmit", "--failed").returncode == 0
    sweep.wait()
    assert sweep.states() == {"done": POINTS}
    for number, state in states.items():
        assert Counter(sweep.words(number)) == {
            "start": 1 if state == "done" else 2,
            "end": 2 if state == "failed" else 1,
        }
    assert sweep.nmlgen("status").returncode == 0


def killing_sbatch(directory: Path, when: str) -> str:
    """A PATH with an sbatch that kills whoever calls it, before or after it does its work."""
    directory.mkdir()
    program = directory / "sbatch"
    kill = "kill -KILL $PPID"
    steps = [kill, 'sbatch "$@"'] if when == "before" else ['sbatch "$@"', kill]
    program.write_text("\n".join(["#!/bin/bash", "PATH=${PATH#*:}", *steps]) + "\n")
    program.chmod(0o755)
    return f"{directory}:{os.environ['PATH']}"


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_around_the_call_of_sbatch(sweep, tmp_path, when):
    """The orphaned sbatch goes on: its array is found and taken over, not submitted once more."""
    sweep.write(3)
    killed = sweep.nmlgen("submit", PATH=killing_sbatch(tmp_path / "killing", when))
    assert killed.returncode == -signal.SIGKILL
    again = sweep.nmlgen("submit")
    assert (again.returncode, "0 points submitted" in again.stdout) == (0, True), again.stderr
    sweep.wait()
    assert sweep.states() == {"done": 3}
    assert [sweep.words(number) for number in range(3)] == [["start", "end"]] * 3
    assert len(list((sweep.directory / "submissions").iterdir())) == 1


def test_two_submit_at_once(sweep):
    sweep.write(12, directives=lambda n: (*DIRECTIVES, f"--comment=group{n % 4}"))
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: sweep.nmlgen("submit"), range(4)))
    assert [process.returncode for process in done] == [0] * 4, [process.stderr for process in done]
    assert sum(process.stdout.count("array ") for process in done) == 4
    sweep.wait()
    assert sweep.states() == {"done": 12}
    assert [sweep.words(number) for number in range(12)] == [["start", "end"]] * 12


def test_a_second_claimant_ends_at_once(sweep):
    sweep.write(1)
    sweep.nmlgen("submit")
    sweep.wait()
    (script,) = sweep.directory.glob("submissions/*/array.sbatch")
    options = ("--array=0", "--output=points/%a/slurm-%j.log")
    job = sweep.cluster.submit(script, script.parent, *options)
    early = sweep.cluster.run("sbatch", "--parsable", *options, script, "1", cwd=script.parent)
    sweep.wait()
    assert sweep.words(0) == ["start", "end"]
    assert sweep.cluster.state(job).name == "FAILED"  # it was not told which leg it is
    assert sweep.cluster.state(int(early)).name == "COMPLETED"
    assert "another task has run 1 of the point" in (sweep.point(0) / f"slurm-{early.strip()}.log").read_text()


CHAIN = """\
readonly legs=3
printf 'start %s %s\\n' "$SLURM_JOB_ID" "$EPOCHREALTIME" >>model.log
until [[ -e ${GATE:-.} ]]; do sleep 0.05; done
printf 'end %s %s\\n' "$SLURM_JOB_ID" "$EPOCHREALTIME" >>model.log
echo "$*" >>arguments
count=$(grep -c . legs 2>/dev/null)
if [[ -f fails && $count == 1 ]]; then exit 4; fi
echo leg >>legs
if (( count + 1 < $(<total) )); then echo RESTART >"$NMLGEN_OUTCOME"; fi
"""


def write_chains(sweep: OnSlurm, totals: Sequence[int], **more: Any) -> None:
    sweep.write(len(totals), CHAIN, **more)
    for number, total in enumerate(totals):
        (sweep.point(number) / "total").write_text(f"{total}\n")


def test_chains_of_legs(sweep):
    """Three legs are submitted in advance; one point ends a leg earlier, one needs a fourth, one fails in between."""
    write_chains(sweep, [3, 2, 4, 3], failing=[3])
    done = sweep.nmlgen("submit")
    assert done.stdout.count("4 points, leg ") == 3
    sweep.wait()
    found = sweep.status()
    assert [(found[n]["state"], found[n]["leg"], found[n]["legs"]) for n in range(4)] == [
        ("done", 3, 3),
        ("done", 2, 3),
        ("not submitted", 4, 4),
        ("failed", 2, 3),
    ]
    assert found[3]["exit_code"] == 4
    assert [len(sweep.words(number)) for number in range(4)] == [6, 4, 6, 4]
    assert len({job for _, job, _ in sweep.said(0)}) == 3  # each leg is a job with its own log
    assert len(list(sweep.point(0).glob("slurm-*.log"))) == 3
    assert "1 point submitted" in sweep.nmlgen("submit").stdout
    (sweep.point(3) / "fails").unlink()
    assert sweep.nmlgen("resubmit", "p003", "--restart").stdout.count("1 point, leg ") == 2
    sweep.wait()
    assert sweep.states() == {"done": 4}
    assert [len(sweep.words(number)) for number in range(4)] == [6, 4, 8, 8]
    assert (sweep.point(3) / "arguments").read_text().splitlines() == ["", "", "restart", ""]


def test_the_throttle_holds_for_all_legs_and_arrays(sweep):
    write_chains(sweep, [3] * 9, directives=lambda n: (*DIRECTIVES, f"--comment=group{n % 2}"))
    assert sweep.nmlgen("submit", "--throttle", "2", **sweep.waiting).returncode == 0
    until(lambda: sum(map(len, map(sweep.words, range(9)))) == 2)  # two at once; never three, as is counted below
    sweep.gate.touch()
    sweep.wait()
    assert sweep.states() == {"done": 9}
    events = sorted((float(when), word) for number in range(9) for word, _, when in sweep.said(number))
    running = [sum(1 if word == "start" else -1 for _, word in events[: at + 1]) for at in range(len(events))]
    assert (len(events), max(running)) == (54, 2)


def most_running(sweep: OnSlurm, count: int) -> int:
    """The most points that ran at a time, by what they noted."""
    events = sorted((float(when), word) for number in range(count) for word, _, when in sweep.said(number))
    running = [sum(1 if word == "start" else -1 for _, word in events[: at + 1]) for at in range(len(events))]
    return max(running)


def started(sweep: OnSlurm, count: int) -> int:
    """How many points run."""
    return sum(words.count("start") - words.count("end") for words in map(sweep.words, range(count)))


def test_the_throttle_is_used_by_several_groups(sweep):
    """Five kinds of directives, two points each of three legs: as many run as may, then and later."""
    write_chains(sweep, [3] * 10, directives=lambda n: (*DIRECTIVES, f"--comment=group{n // 2}"))
    done = sweep.nmlgen("submit", "--throttle", "7", **sweep.waiting)
    assert done.returncode == 0, done.stderr
    until(lambda: started(sweep, 10) == 7)
    sweep.gate.touch()
    sweep.wait()
    assert sweep.states() == {"done": 10}
    assert [len(sweep.words(number)) for number in range(10)] == [6] * 10
    assert most_running(sweep, 10) == 7


def test_stragglers_hold_back_nobody(sweep):
    """Three points take longer than all others together, which are in other arrays; a second call adds to them."""
    sweep.write(20, directives=lambda n: (*DIRECTIVES, f"--comment=group{n // 5}"))
    sweep.write_more(20, MODEL.replace("GATE", "NOWHERE"))
    for number in (0, 1, 5):
        script = sweep.point(number) / f"p{number:03d}.sbatch"
        script.write_text(script.read_text().replace("GATE", "LATE"))
    late = sweep.gate.with_name("late")
    assert sweep.nmlgen("submit", "--throttle", "4", LATE=str(late), **sweep.waiting).returncode == 0
    sweep.gate.touch()
    until(lambda: [len(sweep.words(number)) for number in range(40)].count(2) == 37)
    assert started(sweep, 40) == 3
    late.touch()
    sweep.wait()
    assert sweep.states() == {"done": 40}
    assert [sweep.words(number) for number in range(40)] == [["start", "end"]] * 40
    assert most_running(sweep, 40) == 4


def test_slots_are_shared_after_a_requeue_and_a_cancellation(sweep):
    """A task that Slurm starts again keeps its slot; those of points that are cancelled go to others."""
    sweep.write(12, directives=lambda n: (*DIRECTIVES, "--requeue", f"--comment=group{n // 4}"))
    sweep.nmlgen("submit", "--throttle", "3", **sweep.waiting)
    until(lambda: started(sweep, 12) == 3)
    sweep.cluster.run("scontrol", "requeue", str(sweep.status()[0]["job"]))
    until(lambda: sweep.status()[0]["state"] == "waiting")
    sweep.cluster.run("scontrol", "update", f"jobid={sweep.status()[0]['job']}", "starttime=now+1hour")  # so it stays
    assert "2 points cancelled" in sweep.nmlgen("cancel", "p001", "p003").stdout
    sweep.gate.touch()
    until(lambda: sweep.states() == {"done": 9, "waiting": 1, "cancelled": 2})
    until(lambda: len([job for job in sweep.cluster.jobs() if not job.state.is_finished]) == 1)  # others may still end
    (task,) = [job for job in sweep.cluster.jobs() if not job.state.is_finished]
    sweep.cluster.run("scontrol", "update", f"jobid={task.id}", SOON)
    sweep.wait()
    assert sweep.states() == {"done": 10, "cancelled": 2}


def test_legs_that_were_not_submitted_follow(sweep, tmp_path):
    """Killed between the legs: the next submission goes on with the second."""
    write_chains(sweep, [3, 3])
    assert sweep.nmlgen("submit", PATH=killing_sbatch(tmp_path / "killing", "after")).returncode == -signal.SIGKILL
    done = sweep.nmlgen("submit")
    assert done.returncode == 0, done.stderr
    sweep.wait()
    for _ in range(2):  # where the first leg was over before, its points are submitted anew
        assert sweep.nmlgen("submit").returncode == 0
        sweep.wait()
    assert sweep.states() == {"done": 2}
    assert [len(sweep.words(number)) for number in range(2)] == [6, 6]


def test_cancel_and_resubmit(sweep):
    sweep.write(6)
    sweep.nmlgen("submit", "--throttle", "2", **sweep.waiting)
    until(lambda: sweep.is_started(0, 1))
    assert "2 points cancelled" in sweep.nmlgen("cancel", "p000", "000000000005").stdout
    until(lambda: sweep.states() == {"cancelled": 2, "running": 2, "waiting": 2})
    assert "4 points cancelled" in sweep.nmlgen("cancel").stdout
    sweep.wait()
    assert sweep.states() == {"cancelled": 6}
    assert sweep.nmlgen("status").returncode == 1
    assert "0 points submitted, 6 cancelled" in sweep.nmlgen("submit").stdout
    assert "0 points cancelled" in sweep.nmlgen("cancel").stdout
    refused = sweep.nmlgen("resubmit", "p009")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert 'no point "p009"' in refused.stderr
    assert "2 points submitted" in sweep.nmlgen("resubmit", "p000", "p005").stdout
    sweep.wait()
    assert sweep.states() == {"cancelled": 4, "done": 2}
    assert 'the point "p000" is done' in sweep.nmlgen("resubmit", "p000").stderr
    assert "4 points submitted" in sweep.nmlgen("resubmit", "--failed").stdout
    sweep.wait()
    assert sweep.states() == {"done": 6}


def test_what_is_cancelled_by_hand(sweep):
    sweep.write(3)
    sweep.nmlgen("submit", "--throttle", "1", **sweep.waiting)
    until(lambda: sweep.is_started(0))
    sweep.cluster.cancel_all()
    assert sweep.states() == {"cancelled": 3}


@pytest.fixture(scope="module")
def forgetful() -> Iterator[Cluster]:
    """A small cluster that forgets a job two seconds after its end."""
    require(*PROGRAMS)
    with running_cluster(Layout(nodes=2, cpus=4, min_job_age=2, max_job_count=20)) as running:
        yield running


def until_forgotten(cluster: Cluster) -> None:
    cluster.wait_until_idle()
    until(lambda: not cluster.jobs())


def test_what_slurm_has_forgotten_the_points_remember(forgetful, tmp_path):
    """Killed before the ids are noted; a node breaks; then Slurm forgets it all."""
    sweep = OnSlurm(forgetful, tmp_path / "sweep")
    sweep.write(4, failing=[1])
    killing = {"PATH": killing_sbatch(tmp_path / "killing", "after")}
    assert sweep.nmlgen("submit", **killing, **sweep.waiting).returncode == -signal.SIGKILL
    until(lambda: sweep.is_started(*range(4)))
    assert sweep.states() == {"running": 4}
    sweep.gate.touch()
    until(lambda: not any(sweep.is_started(number) for number in range(4)))
    sweep.gate.unlink()
    sweep.write_more(4)
    sweep.nmlgen("submit", **sweep.waiting)
    until(lambda: sweep.is_started(*range(4, 8)))
    forgetful.break_node(sweep.status()[4]["node"])
    sweep.gate.touch()
    until_forgotten(forgetful)
    states = {number: point["state"] for number, point in sweep.status().items()}
    assert states[4] == "lost"
    forgetful.mend_node("n1" if forgetful.run("sinfo", "-h", "-N", "-o", "%N %T").split()[1] != "idle" else "n2")
    assert "0 points submitted" in sweep.nmlgen("submit").stdout
    again = [number for number, state in states.items() if state in ("failed", "lost")]
    assert f"{len(again)} points submitted" in sweep.nmlgen("resubmit", "--failed").stdout
    sweep.wait()
    assert Counter(map(len, map(sweep.words, range(5))))[0] == 0
    assert sweep.status()[4]["state"] == "done"


def test_a_limit_on_jobs_leaves_the_rest_for_later(forgetful, tmp_path):
    sweep = OnSlurm(forgetful, tmp_path / "sweep")
    sweep.write(30)
    first = sweep.nmlgen("submit", **sweep.waiting)
    assert first.returncode == 1
    assert "not submitted yet: " in first.stderr
    assert "temporarily unable to accept job" in first.stderr
    states = sweep.states()
    assert states["not submitted"] >= 10
    assert sum(states.values()) == 30
    sweep.gate.touch()
    until_forgotten(forgetful)
    while (again := sweep.nmlgen("submit")).returncode == 1:
        until_forgotten(forgetful)
    assert again.returncode == 0, again.stderr
    sweep.wait()
    assert sweep.states() == {"done": 30}
    assert [sweep.words(number) for number in range(30)] == [["start", "end"]] * 30


def test_a_point_that_wants_to_be_started_again(sweep):
    """--requeue in the point's own script: after a failure of its node, Slurm starts it again by itself."""
    sweep.write(1, directives=lambda _: (*DIRECTIVES, "--requeue"))
    sweep.nmlgen("submit", **sweep.waiting)
    until(lambda: sweep.is_started(0))
    node = sweep.status()[0]["node"]
    sweep.cluster.break_node(node)
    until(lambda: sweep.states() == {"waiting": 1})
    sweep.gate.touch()
    until(lambda: len([job for job in sweep.cluster.jobs() if not job.state.is_finished]) == 1)  # others may still end
    (task,) = [job for job in sweep.cluster.jobs() if not job.state.is_finished]
    sweep.cluster.run("scontrol", "update", f"jobid={task.id}", SOON)  # not in two minutes
    sweep.wait()
    assert sweep.states() == {"done": 1}
    assert sweep.words(0) == ["start", "start", "end"]
    sweep.cluster.mend_node(node)


def test_a_point_that_is_requeued(sweep):
    """As after preemption: the script is stopped by a signal first, and says so; what runs again is the same run."""
    sweep.write(1, directives=lambda _: (*DIRECTIVES, "--requeue"))
    sweep.nmlgen("submit", **sweep.waiting)
    until(lambda: sweep.is_started(0))
    sweep.cluster.run("scontrol", "requeue", str(sweep.status()[0]["job"]))
    until(lambda: sweep.states() == {"waiting": 1})
    sweep.gate.touch()
    assert "0 points submitted" in sweep.nmlgen("submit").stdout
    until(lambda: len([job for job in sweep.cluster.jobs() if not job.state.is_finished]) == 1)  # others may still end
    (task,) = [job for job in sweep.cluster.jobs() if not job.state.is_finished]
    sweep.cluster.run("scontrol", "update", f"jobid={task.id}", SOON)
    sweep.wait()
    assert sweep.states() == {"done": 1}
    assert sweep.words(0) == ["start", "start", "end"]


def test_a_refusal_names_the_directive(sweep):
    sweep.write(2, directives=lambda n: (*DIRECTIVES, f"--partition={'nosuch' if n else 'compute'}"))
    done = sweep.nmlgen("submit")
    assert done.returncode == 2
    assert "invalid partition specified: nosuch" in done.stderr
    assert "p001.sbatch:6: #SBATCH --partition=nosuch" in done.stderr
    sweep.wait()
    assert sweep.states() == {"done": 1, "not submitted": 1}
    script = sweep.point(1) / "p001.sbatch"
    script.write_text(script.read_text().replace("nosuch", "compute"))
    assert "1 point submitted" in sweep.nmlgen("submit").stdout


def test_dry_run(sweep):
    sweep.write(2)
    done = sweep.nmlgen("submit", "-n", "--throttle", "1")
    assert done.returncode == 0, done.stderr
    assert "array: 2 points, 1 at a time: sbatch: Job " in done.stdout
    assert "2 points would be submitted" in done.stdout
    assert sorted(path.name for path in sweep.directory.iterdir()) == ["points", "points.csv"]
    done = sweep.nmlgen("submit", "-n", PATH="/nonexistent")
    assert "no scheduler was asked" in done.stdout
    sweep.write_more(1, directives=("--ntasks=1", "--partition=nosuch"))
    done = sweep.nmlgen("submit", "-n")
    assert (done.returncode, "p002.sbatch:5: #SBATCH --partition=nosuch" in done.stderr) == (2, True)


def test_without_slurm_the_records_say_what_is_known(sweep):
    sweep.write(3, failing=[1])
    refused = sweep.nmlgen("submit", PATH="/nonexistent")
    assert refused.returncode == 2
    assert refused.stderr.startswith("nmlgen: error: there is no scontrol here; ")
    assert refused.stderr.count("\n") == 1
    sweep.nmlgen("submit")
    sweep.wait()
    sweep.write_more(1)
    done = sweep.nmlgen("status", PATH="/nonexistent")
    assert done.returncode == 1
    assert "Slurm was not asked" in done.stderr
    assert "4 points: 2 done, 1 not submitted, 1 failed" in done.stdout


def test_without_what_nmlgen_remembers_nothing_runs_twice(sweep):
    """Whoever deletes the SQLite file loses no more than the knowledge of what waits."""
    sweep.write(3)
    sweep.nmlgen("submit", "--throttle", "1", **sweep.waiting)
    until(lambda: sweep.is_started(0))
    (sweep.directory / "nmlgen-sweep.sqlite").unlink()
    assert sweep.states() == {"running": 1, "not submitted": 2}
    assert "0 points cancelled" in sweep.nmlgen("cancel", "p001").stdout
    assert "2 points submitted" in sweep.nmlgen("submit").stdout
    sweep.gate.touch()
    sweep.wait()
    assert sweep.states() == {"done": 3}
    assert [sweep.words(number) for number in range(3)] == [["start", "end"]] * 3


def test_signals_reach_the_points_script(sweep):
    """`--signal=B:USR1@...` is for the batch script alone: the array's hands it on."""
    model = "trap 'echo end 1 1 >>model.log; exit 7' USR1\necho start 1 1 >>model.log\nwhile :; do sleep 0.1; done\n"
    sweep.write(1, model)
    sweep.nmlgen("submit")
    until(lambda: sweep.words(0) == ["start"])
    (job,) = [job.id for job in sweep.cluster.jobs() if not job.state.is_finished]
    sweep.cluster.run("scancel", "--signal=USR1", "--batch", str(job))
    sweep.wait()
    assert (sweep.words(0), sweep.status()[0]["exit_code"]) == (["start", "end"], 7)


def test_a_sweep_of_real_builds(cluster, stand_in, tmp_path):
    """What `nmlgen sweep` writes: two experiments of three legs each, of which every log lies beside its point."""
    spec = Chain(cluster, stand_in, tmp_path).spec(name="io")
    directory = tmp_path / "written"
    points = nmlgen.expand(spec, grid={"parallel.num_io_procs": [1, 2]}, name="io{num_io_procs}")
    nmlgen.write_sweep(points, directory)
    sweep = OnSlurm(cluster, directory)
    before = {job.id for job in cluster.jobs()}
    done = sweep.nmlgen("submit")
    assert done.stdout.count("2 points, leg ") == 3, done.stdout + done.stderr
    sweep.wait()
    jobs = [job.id for job in cluster.jobs() if job.id not in before]
    assert len(jobs) == 6
    for name in ("io1", "io2"):
        point = directory / "points" / name
        assert [line.split()[-1] for line in (point / "run/nmlgen.legs").read_text().splitlines()] == [
            "RESTART",
            "RESTART",
            "OK",
        ]
        own = {int(path.name.split(".")[1]) for path in (point / "run").glob("*.icon.log")}
        assert own == {int(path.stem.removeprefix("slurm-")) for path in point.glob("slurm-*.log")}
        assert len(own) == 3
    assert sweep.nmlgen("status").returncode == 0
    assert "0 points submitted, 2 done" in sweep.nmlgen("submit").stdout
    longer = spec | {"time": spec["time"] | {"stop": "2000-01-01T04:00:00Z"}}
    points = nmlgen.expand(longer, grid={"parallel.num_io_procs": [1, 2]}, name="io{num_io_procs}")
    nmlgen.write_sweep(points, directory, force=True)
    assert sweep.nmlgen("status", "--summary").stdout.startswith("2 points: 2 stale")
    done = sweep.nmlgen("resubmit", "--go-on")
    assert "2 points" in done.stdout, done.stdout + done.stderr
    sweep.wait()
    for name in ("io1", "io2"):
        lines = (directory / "points" / name / "run/nmlgen.legs").read_text().splitlines()
        assert [line.split()[-1] for line in lines] == ["RESTART"] * 3 + ["OK"]
    status = nmlgen.status(directory).points
    assert [(point.state, point.leg, point.legs) for point in status] == [("done", 4, 4)] * 2


def test_the_script_that_submits_waits_and_joins(cluster, stand_in, tmp_path):
    """As docs/sweeps.md shows it."""
    pytest.importorskip("pandas")
    page = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    code = re.search(r"^### Submit, wait, join\n.*?^```python\n(.*?)^```", page, re.M | re.S)[1]
    (tmp_path / "experiment.yaml").write_text(json.dumps(Chain(cluster, stand_in, tmp_path).spec()))
    environment = cluster.complete_environment({})
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for ranks in (1, 2):
        assert re.search(rf"^io{ranks} +{ranks} +finished +\d+\.\d+ ", done.stdout, re.M), done.stdout


def test_points_share_a_job(sweep):
    """Five in packs of two: side by side, each with steps on a node of its own; one fails, and runs again alone."""
    model = MODEL.replace("say start\n", "say start\nsrun --ntasks=1 bash -c 'echo \"$SLURMD_NODENAME\" >>nodes'\n", 1)
    sweep.write(5, model, lambda _: ("--nodes=1", "--ntasks=2", "--exclusive", "--time=02:00:00"), failing=[1])
    done = sweep.nmlgen("submit", "--pack", "2", **sweep.waiting)
    assert "4 points, 2 in each job" in done.stdout, done.stdout + done.stderr
    until(lambda: sweep.states().get("running") == 4 and sum(map(len, map(sweep.words, range(5)))) == 4)
    assert {job.details["NumNodes"] for job in sweep.cluster.jobs() if job.state.name == "RUNNING"} == {"2"}
    assert "runs in the same job" in sweep.nmlgen("cancel", "p000").stderr
    sweep.gate.touch()
    sweep.wait()
    assert sweep.states() == {"done": 4, "failed": 1}
    assert [sweep.words(number) for number in range(5)] == [["start", "end"]] * 5
    nodes = [(sweep.point(number) / "nodes").read_text().split() for number in range(4)]
    assert [len(words) for words in nodes] == [1] * 4
    logs = [sorted(path.name for path in sweep.point(number).glob("slurm-*.log")) for number in range(5)]
    assert [len(names) for names in logs] == [1] * 5
    assert "0 points submitted" in sweep.nmlgen("submit", "--pack", "2").stdout
    (sweep.point(1) / "fails").unlink()
    assert "1 point submitted" in sweep.nmlgen("resubmit", "--failed", "--pack", "2").stdout
    sweep.wait()
    assert sweep.states() == {"done": 5}
    assert [len(sweep.words(number)) for number in range(5)] == [2, 4, 2, 2, 2]


def test_chains_share_jobs(sweep):
    """Two chains in each job: one that fails holds back no other, and a requeued job goes on with both."""
    write_chains(sweep, [3] * 4, directives=lambda _: ("--nodes=1", "--ntasks=1", "--time=02:00:00", "--requeue"))
    for script in sweep.directory.glob("points/*/*.sbatch"):
        script.write_text(script.read_text().replace("readonly legs=3\n", "readonly legs=3\nsrun --ntasks=1 true\n"))
    (sweep.point(2) / "fails").touch()
    done = sweep.nmlgen("submit", "--pack", "2", "--throttle", "4", **sweep.waiting)
    assert done.stdout.count("4 points, leg ") == 3, done.stdout + done.stderr
    until(lambda: started(sweep, 4) == 4)
    job = sweep.status()[0]["job"]
    sweep.cluster.run("scontrol", "requeue", str(job))
    until(lambda: sweep.status()[0]["state"] == sweep.status()[1]["state"] == "waiting")
    sweep.gate.touch()
    sweep.cluster.run("scontrol", "update", f"jobid={job}", SOON)
    sweep.wait()
    assert sweep.states() == {"done": 3, "failed": 1}
    assert [sweep.words(number).count("end") for number in range(4)] == [3, 3, 2, 3]
