"""Sweeps on a real Slurm with accounting: limits on jobs, what is cancelled by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import require, until

from .cluster import ACCOUNTING_PROGRAMS, PROGRAMS, Cluster, Layout, running_cluster
from .test_submission import DIRECTIVES, OnSlurm

MOST = 16  # jobs that the user may have


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


def test_what_scancel_takes_out_of_arrays_that_wait_for_others(sweep):
    """One task of an array of which others run, one of an array that waits, and an array of one task: none of them
    could ever start, and the queue forgets them while the others of their arrays are still there."""
    sweep.write(9, directives=lambda n: (*DIRECTIVES, f"--comment=group{n // 4}"))
    sweep.nmlgen("submit", "--throttle", "2", **sweep.waiting)
    until(lambda: sweep.is_started(0, 1))
    first, second, third = sorted({*sweep.cluster.run("squeue", "-h", "-o", "%F").split()}, key=int)
    sweep.cluster.run("scancel", f"{first}_3", f"{second}_3", f"{third}_0")
    until(lambda: "CANCELLED" not in sweep.cluster.run("squeue", "-h", "-t", "all", "-o", "%T"))
    until(lambda: sweep.states() == {"running": 2, "waiting": 4, "cancelled": 3}, lambda: str(sweep.status()))
    assert "0 points submitted" in sweep.nmlgen("submit").stdout
    sweep.gate.touch()
    sweep.wait()
    until(lambda: not sweep.cluster.jobs())
    assert sweep.states() == {"done": 6, "cancelled": 3}
    assert [number for number, point in sweep.status().items() if point["state"] == "cancelled"] == [3, 7, 8]
    assert "0 points submitted" in sweep.nmlgen("submit").stdout
    assert "3 points submitted" in sweep.nmlgen("resubmit", "--failed").stdout
    sweep.wait()
    assert sweep.states() == {"done": 9}
