"""Jobs of models that are not ICON, run by a real Slurm: a stand-in of the shell for the model."""

from __future__ import annotations

import pytest

import nmlgen

MODEL = """\
#!/bin/bash
[[ $(cat input/state) == "a state" ]] || exit 4
if (( SLURM_PROCID == 0 )); then sort -u namelist.input >seen; fi
echo "$SLURM_NODEID" >"rank.$SLURM_PROCID"
"""


@pytest.fixture
def spec(tmp_path):
    """A job of WRF on two nodes."""
    (tmp_path / "wrf.exe").write_text(MODEL)
    (tmp_path / "wrf.exe").chmod(0o755)
    (tmp_path / "state").write_text("a state\n")
    return {
        "nmlgen": 1,
        "name": "wave",
        "site": "generic-slurm",
        "model": {"name": "wrf", "directory": str(tmp_path), "executable": "wrf.exe"},
        "job": {"nodes": 2, "ntasks_per_node": 4, "time": "00:10:00"},
        "input_files": {"input/state": {"source": "state"}},
        "namelists": {
            "time_control": {"run_days": 5, "restart_interval": 1440},
            "domains": {"time_step": 600, "max_dom": 1, "e_we": 410, "e_sn": 810, "e_vert": 65, "dx": 1e5},
            "physics": {"mp_physics": 0, "sf_surface_physics": 0},
            "dynamics": {"diff_opt": 1, "km_opt": 1},
            "namelist_quilt": {"nio_tasks_per_group": 0},
        },
    }


def test_a_job_of_another_model_runs_once(cluster, spec, tmp_path):
    directory, run = tmp_path / "build", tmp_path / "build" / "run"
    nmlgen.build(spec).write(directory)
    first = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert cluster.job(first).state.name == "COMPLETED", (directory / f"wave.{first}.log").read_text()
    assert [(run / f"rank.{rank}").read_text() for rank in range(8)] == ["0\n"] * 4 + ["1\n"] * 4
    assert " restart_interval = 1440" in (run / "seen").read_text().splitlines()
    assert (run / "nmlgen.legs").read_text() == f"1 {first} OK\n"
    second = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert cluster.job(second).state.name == "FAILED"
    assert "the experiment has run to its end" in (directory / f"wave.{second}.log").read_text()


def test_what_the_model_returns_is_what_became_of_the_job(cluster, spec, tmp_path):
    directory = tmp_path / "build"
    (tmp_path / "state").write_text("another\n")
    nmlgen.build(spec).write(directory)
    job = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert (cluster.job(job).state.name, cluster.job(job).state.exit_code) == ("FAILED", 4)
    assert "error: WRF ended with exit code 4" in (directory / f"wave.{job}.log").read_text()
    (tmp_path / "state").write_text("a state\n")  # and it may be tried again
    again = cluster.submit(directory / "wave.sbatch", directory)
    cluster.wait_until_idle()
    assert cluster.job(again).state.name == "COMPLETED"
