"""nmlgen status, submit, resubmit and cancel, with a stand-in for Slurm."""

from __future__ import annotations

import csv
import io
import json

import pytest
from slurm_stand_in import SlurmStandIn

SCRIPT = "#!/bin/bash\n#SBATCH --ntasks=1\ntrue\n"
ENDS = {"a": "code=0 outcome=OK time=", "b": "code=3 outcome=FAILED time="}


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    return SlurmStandIn(tmp_path / "bin", monkeypatch)


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """Three points: a is done, b failed, c was not submitted."""
    monkeypatch.chdir(tmp_path)
    rows = ["id,name,directory,state,reason"]
    for name in "abc":
        directory = tmp_path / "sweep" / "points" / name
        directory.mkdir(parents=True)
        (directory / f"{name}.sbatch").write_text(SCRIPT)
        rows.append(f"id-{name},{name},points/{name},built,")
        if name in ENDS:
            (directory / "nmlgen.jobs").mkdir()
            start = "token=x leg=1 name=sweep.x.1 task=0 array=5 job=6 node=n1 time=2000-01-01T00:00:00Z"
            (directory / "nmlgen.jobs" / "1.start").write_text(f"{start}\n")
            (directory / "nmlgen.jobs" / "1.end").write_text(f"{ENDS[name]}2000-01-01T01:00:00Z\n")
    (tmp_path / "sweep" / "points.csv").write_text("\n".join(rows) + "\n")
    return tmp_path / "sweep"


def test_status_as_text(nmlgen, slurm, sweep):
    done = nmlgen("status", "sweep")
    assert (done.code, done.err) == (1, "")
    assert done.out == (
        "POINT  STATE          LEG  JOB  NODE  REASON\n"
        "a      done                6    n1\n"
        "b      failed              6    n1    exit code 3\n"
        "c      not submitted\n"
        "\n"
        "3 points: 1 done, 1 not submitted, 1 failed\n"
    )


def test_status_for_programs(nmlgen, slurm, sweep):
    document = json.loads(nmlgen("status", "sweep", "--format", "json").out)
    assert document["counts"]["failed"] == 1
    assert document["slurm"] is True
    assert [point["state"] for point in document["points"]] == ["done", "failed", "not submitted"]
    assert document["points"][1]["exit_code"] == 3
    rows = list(csv.DictReader(io.StringIO(nmlgen("status", "sweep", "--format", "csv").out)))
    assert list(rows[0]) == list(document["points"][0])
    assert [row["ended"] for row in rows] == ["2000-01-01T01:00:00Z"] * 2 + [""]


def test_summary(nmlgen, slurm, sweep):
    done = nmlgen("status", "sweep", "--summary")
    assert (done.code, done.out) == (1, "3 points: 1 done, 1 not submitted, 1 failed\n")
    document = json.loads(nmlgen("status", "sweep", "--summary", "--format", "json").out)
    assert sorted(document) == ["counts", "slurm"]
    assert nmlgen("status", "sweep", "--summary", "--format", "csv").code == 2


def test_watching_and_waiting_end_when_nothing_is_under_way(nmlgen, slurm, sweep):
    for command in (["status", "--watch"], ["wait"]):
        done = nmlgen(command[0], "sweep", *command[1:], "--interval", "0")
        assert (done.code, done.out, done.err) == (1, "3 points: 1 done, 1 not submitted, 1 failed\n", "")
    assert nmlgen("wait", "sweep", "--quiet").out == ""
    assert nmlgen("wait", "nowhere").code == 2
    assert nmlgen("status", "sweep", "--watch", "--format", "json").code == 2


def test_exit_codes_of_status(nmlgen, slurm, sweep):
    (sweep / "points/b/nmlgen.jobs/1.end").write_text(ENDS["a"])
    assert nmlgen("status", "sweep").code == 3
    table = (sweep / "points.csv").read_text()
    (sweep / "points.csv").write_text("".join(table.splitlines(keepends=True)[:3]))
    assert nmlgen("status", "sweep").code == 0
    assert nmlgen("status", "nowhere").code == 2


def test_submit_and_resubmit(nmlgen, slurm, sweep):
    done = nmlgen("submit", "sweep", "--throttle", "4")
    assert (done.code, done.out) == (0, "array 7: 1 point, 4 at a time\nsweep: 1 point submitted, 1 done, 1 failed\n")
    assert nmlgen("resubmit", "sweep").code == 2
    assert nmlgen("resubmit", "sweep", "--failed", "b").code == 2
    done = nmlgen("resubmit", "sweep", "id-b", "-q", "--restart")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert slurm.calls("sbatch")[-1].endswith("array.sbatch 1 restart")
    assert nmlgen("submit", "sweep", "--throttle", "0").code == 2


def test_what_slurm_says_is_shown(nmlgen, slurm, sweep):
    slurm.says("sbatch", error="sbatch: error: Batch job submission failed: Requested time limit is invalid", code=1)
    done = nmlgen("submit", "sweep")
    assert done.code == 2
    assert done.err == (
        "nmlgen: error: Slurm refuses the point c: "
        "sbatch: error: Batch job submission failed: Requested time limit is invalid\n"
        "    sweep/points/c/c.sbatch\n"
    )
    slurm.has_room_for(0)
    done = nmlgen("submit", "sweep")
    assert done.code == 1
    assert done.err.startswith("not submitted yet: 1 point; call this again when some have ended. Slurm says:\n")


def test_cancel(nmlgen, slurm, sweep):
    assert nmlgen("cancel", "sweep").out == "sweep: 0 points cancelled\n"
    assert nmlgen("cancel", "sweep", "z").code == 2
    nmlgen("submit", "sweep")
    (name,) = [word.partition("=")[2] for word in slurm.calls("sbatch")[0].split() if word.startswith("--job-name")]
    slurm.queues([f"{name}|7|0|7|PENDING||Priority"])
    assert nmlgen("cancel", "sweep", "c").out == "sweep: 1 point cancelled\n"
    assert slurm.calls("scancel") == ["--quiet 7_0"]


@pytest.mark.parametrize("number", ["nan", "inf", "-1", "1e10"])
def test_numbers_that_nobody_waits_or_pays_for(nmlgen, sweep, number):
    done = nmlgen("wait", "sweep", "--interval", number)
    assert (done.code, "--interval" in done.err) == (2, True)
    done = nmlgen("tune", "spec.yaml", "--budget", number)
    assert (done.code, "--budget" in done.err) == (2, True)
