"""What a directory tells of the points in it, and who may use it. On a real Slurm: tests/real/test_tune.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pbs_stand_in import PbsStandIn, job
from slurm_stand_in import SlurmStandIn
from specs import MAPPING, changed

from nmlgen import InputError, WriteError, expand, load_spec, write_sweep
from nmlgen.tuning.runner import LOCK, AsSweep, alone

LOGS = Path(__file__).parent.parent.parent / "examples" / "logs"
GRID = {"parallel.num_io_procs": [1, 2]}


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    return SlurmStandIn(tmp_path / "bin", monkeypatch)


@pytest.fixture
def points():
    return list(expand(MAPPING, grid=GRID, name="io{num_io_procs}"))


@pytest.fixture
def runner(slurm, tmp_path, points):
    return AsSweep(tmp_path / "tuning", points[0].base)


def ran(directory: Path, number: int, seconds: int, outcome: str = "OK", code: int = 0) -> None:
    """Note a run in a point's directory, as its task does."""
    records = directory / "nmlgen.jobs"
    records.mkdir(exist_ok=True)
    start = f"token=t leg=1 name=n task=0 array=7 job={number} node=n1 time=2026-01-01T00:00:{number:02d}Z"
    (records / f"{number}.start").write_text(f"{start}\n")
    end = f"code={code} outcome={outcome} time=2026-01-01T00:00:{number + seconds:02d}Z"
    (records / f"{number}.end").write_text(f"{end}\n")


def log(directory: Path, name: str, source: str) -> None:
    (directory / "run").mkdir(exist_ok=True)
    shutil.copy(LOGS / source, directory / "run" / name)


def test_nothing_was_asked_for(runner):
    assert runner.outcomes() == {}


def test_points_are_added_and_submitted_once(runner, slurm, tmp_path, points):
    runner.start(points[:1])
    assert len(slurm.calls("sbatch")) == 1
    slurm.knows_every_name(7)
    assert [outcome.state for outcome in runner.outcomes().values()] == ["waiting"]
    runner.start(points[:1])
    assert len(slurm.calls("sbatch")) == 1
    runner.start(points)
    assert len(slurm.calls("sbatch")) == 2
    assert list(runner.outcomes()) == [point.id for point in points]
    assert (tmp_path / "tuning" / "points" / "io2" / "icon_master.namelist").exists()


def test_what_ran_is_measured_by_the_log_of_icon(runner, tmp_path, points):
    runner.start(points[:1])
    directory = tmp_path / "tuning" / "points" / "io1"
    ran(directory, 1, 20)
    log(directory, "io1.1.icon.log", "LOG.two_io_ranks.run")
    (found,) = runner.outcomes().values()
    assert (found.state, found.total_s, found.elapsed_s) == ("done", 100.0, 20.0)
    assert found.timers["wrt_output_io_avg_s"] == 24.0
    assert (found.started, found.ended) == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:21Z")
    shutil.rmtree(directory / "run")
    assert runner.outcomes()[points[0].id] == found  # what has ended is read once


def test_results_of_another_build_are_not_waited_for(runner, tmp_path, points):
    runner.start(points[:1])
    directory = tmp_path / "tuning" / "points" / "io1"
    ran(directory, 1, 20)
    start = directory / "nmlgen.jobs" / "1.start"
    start.write_text(start.read_text().replace("token=t", "token=t build=0123456789ab"))
    with pytest.raises(
        InputError, match=r"io1: its results are of build 0123456789ab, .* resubmit --stale \S+tuning lets"
    ):
        runner.outcomes()


def test_a_run_that_ends_well_and_failed(runner, tmp_path, points):
    runner.start(points[:1])
    directory = tmp_path / "tuning" / "points" / "io1"
    ran(directory, 1, 20)
    log(directory, "io1.1.icon.log", "LOG.one_io_rank.run")
    (found,) = runner.outcomes().values()
    assert (found.state, found.total_s, found.elapsed_s) == ("failed", None, 20.0)
    assert found.reason.startswith("ICON crashed: ")


def test_a_run_without_a_log(runner, tmp_path, points):
    runner.start(points[:1])
    ran(tmp_path / "tuning" / "points" / "io1", 1, 20)
    (found,) = runner.outcomes().values()
    assert found.state == "failed"
    assert "there is no log of ICON in" in found.reason


def test_a_run_without_timers(runner, tmp_path, points):
    runner.start(points[:1])
    directory = tmp_path / "tuning" / "points" / "io1"
    ran(directory, 1, 20)
    log(directory, "io1.1.icon.log", "LOG.two_io_ranks.run")
    path = directory / "run" / "io1.1.icon.log"
    lines = [line for line in path.read_text().splitlines(keepends=True) if not line.startswith(" total ")]
    path.write_text("".join(lines))
    (found,) = runner.outcomes().values()
    assert (found.state, found.total_s) == ("done", 20.0)


def test_failed_runs_cost_too(runner, tmp_path, points):
    runner.start(points[:1])
    directory = tmp_path / "tuning" / "points" / "io1"
    ran(directory, 1, 20, "FAILED", 3)
    (found,) = runner.outcomes().values()
    assert (found.state, found.elapsed_s, found.reason) == ("failed", 20.0, "exit code 3")
    ran(directory, 2, 5, "LOST", -1)
    (found,) = runner.outcomes().values()
    assert (found.state, found.elapsed_s, found.reason) == ("failed", 25.0, "lost")
    (directory / "nmlgen.jobs" / "2.end").write_text("code=-1 outcome=LOST time=\n")  # nobody knows when
    (found,) = runner.outcomes().values()
    assert (found.state, found.elapsed_s) == ("failed", None)


def test_on_pbs_points_run_and_end_as_pbs_says(tmp_path, monkeypatch):
    pbs = PbsStandIn(tmp_path / "bin", monkeypatch)
    points = list(expand(changed(site="generic-pbs", job={"account": "a"}), grid=GRID, name="io{num_io_procs}"))
    runner = AsSweep(tmp_path / "tuning", points[0].base)
    for number in (1, 2):
        runner.start(points[:number])
        name = pbs.calls("qsub")[-1].split()[2]
        pbs.lists(number, job(str(number), name, job_state="Q", substate="10"))
    runner.start(points)
    assert len(pbs.calls("qsub")) == 2
    found = list(runner.outcomes().values())
    assert [(outcome.state, outcome.job) for outcome in found] == [("waiting", "1.pbshost"), ("waiting", "2.pbshost")]

    directory = tmp_path / "tuning" / "points" / "io1"
    ran(directory, 1, 20)
    log(directory, "io1.1.icon.log", "LOG.two_io_ranks.run")
    pbs.forgets()
    for number in (1, 2):
        pbs.lists(number)  # one has ended, the other one never began
    first, second = runner.outcomes().values()
    assert (first.state, first.total_s, first.elapsed_s) == ("done", 100.0, 20.0)
    assert second.state == "planned"
    runner.start(points)
    assert len(pbs.calls("qsub")) == 3


def test_somebody_else_tunes(tmp_path):
    refused = pytest.raises(InputError, match="another `nmlgen tune` is at work")
    with alone(tmp_path / "tuning"), refused, alone(tmp_path / "tuning"):
        pass
    with alone(tmp_path / "tuning"):
        pass


def test_a_sweep_is_no_tuning(tmp_path, points):
    write_sweep(points, tmp_path)
    with pytest.raises(InputError, match="did not begin"), alone(tmp_path):
        pass
    assert not (tmp_path / LOCK).exists()


def test_the_tuning_of_another_spec(runner, tmp_path, points):
    runner.start(points)
    AsSweep(tmp_path / "tuning", points[0].base)
    for other in (load_spec(changed(job={"nodes": 1})), load_spec(MAPPING, ["job.nodes=1"])):
        with pytest.raises(InputError, match="another spec"):
            AsSweep(tmp_path / "tuning", other)
    (tmp_path / "tuning" / "nmlgen-sweep.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        AsSweep(tmp_path / "tuning", points[0].base)


def test_a_link_is_no_lock(tmp_path):
    (tmp_path / LOCK).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError, match="is a symbolic link"), alone(tmp_path):
        pass
    assert not (tmp_path / "elsewhere").exists()
