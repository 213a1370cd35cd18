"""Sweeps on a real Slurm with accounting: limits on jobs, what is cancelled by hand, a controller that is restarted."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tools import require, until

from .cluster import ACCOUNTING_PROGRAMS, PROGRAMS, Cluster, Layout, running_cluster
from .test_submission import DIRECTIVES, OnSlurm, slow_sbatch, started

MOST = 16  # jobs that the user may have
THROTTLE = 6


@pytest.fixture(scope="module")
def accounted() -> Iterator[Cluster]:
    """A cluster whose accounting holds, with a limit on submitted jobs, that forgets jobs after some seconds."""
    require(*PROGRAMS, *ACCOUNTING_PROGRAMS)
    with running_cluster(Layout(has_accounting=True, min_job_age=2)) as running:
        running.limit_submitted_jobs(MOST)
        yield running


@pytest.fixture
def sweep(accounted: Cluster, tmp_path: Path) -> Iterator[OnSlurm]:
    yield OnSlurm(accounted, tmp_path / "sweep")
    accounted.cancel_all()


def test_a_dry_run_names_the_limit(sweep):
    """Not --time, of which Slurm speaks in the same sentence. What fits is counted."""
    sweep.write(30, directives=lambda n: (*DIRECTIVES, f"--comment=group{n // 10}"))
    done = sweep.nmlgen("submit", "-n")
    assert done.returncode == 1
    assert "would be left for later: 14 points" in done.stderr
    assert "AssocMaxSubmitJobLimit" in done.stderr
    assert "#SBATCH" not in done.stderr
    assert "16 points would be submitted" in done.stdout


def test_what_the_accounting_says_of_ranges(sweep):
    """Tasks that `scancel` took before they started stay cancelled when squeue has forgotten them."""
    sweep.write(6)
    sweep.nmlgen("submit", "--throttle", "2", **sweep.waiting)
    until(lambda: sweep.is_started(0, 1))
    array = sweep.cluster.run("squeue", "-h", "-t", "RUNNING", "-o", "%F").split()[0]
    sweep.cluster.run("scancel", f"{array}_[2-4]")
    sweep.gate.touch()
    sweep.wait()
    until(lambda: not sweep.cluster.jobs())
    assert sweep.states() == {"done": 3, "cancelled": 3}
    assert "0 points submitted, 3 done, 3 cancelled" in sweep.nmlgen("submit").stdout
    assert "3 points submitted" in sweep.nmlgen("resubmit", "--failed").stdout
    sweep.wait()
    assert sweep.states() == {"done": 6}


def finish(sweep: OnSlurm) -> None:
    """Submit until nothing is left, as one would who calls again and again; what is requeued starts now."""
    while True:
        done = sweep.nmlgen("submit", "--throttle", str(THROTTLE))
        assert done.returncode in (0, 1), done.stderr
        for job in sweep.cluster.jobs():
            if job.state.name == "PENDING" and job.details.get("Reason") == "BeginTime":
                sweep.cluster.run("scontrol", "update", f"jobid={job.id}", "starttime=now", check=False)
        if done.returncode == 0 and not {"running", "waiting"} & set(sweep.states()):
            return


def test_a_week(sweep, tmp_path):
    """60 points under a limit of 16 jobs and a throttle of 6: kills, a node that breaks, tasks that are cancelled and
    requeued, a controller that is restarted. Every point that is not cancelled runs to its end once."""
    random.seed(19)
    count = 60
    sweep.write(count, directives=lambda n: (*DIRECTIVES, "--requeue", f"--comment=group{n % 3}"))
    submit = ("submit", "--throttle", str(THROTTLE))
    slow = {"PATH": slow_sbatch(tmp_path / "slow"), **sweep.waiting}
    for _ in range(8):
        process = subprocess.Popen(
            sweep.command(*submit),
            env=sweep.cluster.complete_environment(slow),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0.5, 4))
        process.kill()
        process.wait()
    assert sweep.nmlgen(*submit, **sweep.waiting).returncode == 1  # the limit
    until(lambda: started(sweep, count) == THROTTLE)
    found = sweep.status()
    running = [point for point in found.values() if point["state"] == "running"]
    waiting = [point for point in found.values() if point["state"] == "waiting"]
    assert (len(running), len(running) + len(waiting)) == (THROTTLE, MOST)
    sweep.cluster.run("scontrol", "requeue", str(running[0]["job"]))
    last = sweep.cluster.run("squeue", "-h", "-r", "-t", "PENDING", "-S", "i", "-o", "%F_%K").split()[-1]
    sweep.cluster.run("scancel", str(running[1]["job"]), last)
    until(lambda: sweep.states().get("cancelled") == 2)
    sweep.cluster.restart_controller()
    assert sweep.states().get("cancelled") == 2
    assert sweep.status()[int(running[1]["name"][1:])]["state"] == "cancelled"
    node = sweep.break_a_node()
    sweep.cluster.mend_node_while_jobs_run(node)
    sweep.gate.touch()
    finish(sweep)
    assert sweep.states() == {"done": count - 2, "cancelled": 2}
    for number, point in sweep.status().items():
        assert sweep.words(number).count("end") == (point["state"] == "done")
