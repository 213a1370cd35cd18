"""Sweeps on a real Slurm: every point runs, once, whatever happens to whoever submits and to the nodes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tools import require

from .cluster import PROGRAMS, Cluster, Layout, running_cluster

MODEL = """\
say() { printf '%s %s %s\\n' "$1" "$SLURM_JOB_ID" "$EPOCHREALTIME" >>model.log; }
say start
sleep "${MODEL_SECONDS:-0.2}"
code=0
if [[ -f fails ]]; then code=3; fi
say "end"
exit "$code"
"""
DIRECTIVES = ("--ntasks=1", "--time=00:05:00")
POINTS = 300


@pytest.fixture(scope="module")
def small_arrays() -> Iterator[Cluster]:
    """A cluster whose job arrays have at most 100 tasks."""
    require(*PROGRAMS)
    with running_cluster(Layout(max_array_size=100)) as running:
        yield running


class OnSlurm:
    """A sweep whose model is a few lines of shell that note when they start and end."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        self.cluster = cluster
        self.directory = directory

    def write(
        self,
        count: int,
        model: str = MODEL,
        directives: Callable[[int], Sequence[str]] = lambda _: DIRECTIVES,
        failing: Sequence[int] = (),
    ) -> None:
        """Write the points as `nmlgen sweep` would."""
        rows = ["id,name,directory,state,reason"]
        for number in range(count):
            name = f"p{number:03d}"
            point = self.point(number)
            point.mkdir(parents=True)
            lines = "\n".join(
                f"#SBATCH {line}" for line in (f"--job-name={name}", "--output=%x.log", *directives(number))
            )
            (point / f"{name}.sbatch").write_text(f"#!/bin/bash\n{lines}\n{model}")
            if number in failing:
                (point / "fails").touch()
            rows.append(f"{number:012x},{name},points/{name},built,")
        (self.directory / "points.csv").write_text("\n".join(rows) + "\n")

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

    def wait(self, timeout: float = 120) -> None:
        self.cluster.wait_until_idle(timeout)


@pytest.fixture
def sweep(small_arrays: Cluster, tmp_path: Path) -> Iterator[OnSlurm]:
    yield OnSlurm(small_arrays, tmp_path / "a sweep")
    small_arrays.cancel_all()


def slow_sbatch(directory: Path) -> str:
    """A PATH with an sbatch that takes its time before and after the real one is called."""
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
    environment = sweep.cluster.complete_environment({"PATH": slow_sbatch(tmp_path / "slow"), "MODEL_SECONDS": "1"})
    broken = False
    for _ in range(20):
        process = subprocess.Popen(
            sweep.command("submit", "--throttle", "24"),
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(random.uniform(0.1, 1.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
        running = sweep.cluster.run("squeue", "-h", "-t", "RUNNING", "-o", "%N").split()
        if running and not broken:
            node = running[0]
            sweep.cluster.break_node(node)
            broken = True
    assert broken
    last = sweep.nmlgen("submit", "--throttle", "24")
    assert last.returncode == 0, last.stderr
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
