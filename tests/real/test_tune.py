"""nmlgen tune on a real Slurm, with a model whose timers say what its ranks are told to take for computing and writing:
it finds the layout that arithmetic says is best, and goes on where it was killed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tools import PATIENCE, until

import nmlgen
from nmlgen.sweep.records import elapsed_s

from .cluster import Cluster

STEPS, STEPS_AN_OUTPUT = 24, 2
STEP_CORE_SECONDS, RECORD_SECONDS = 0.8, 0.5
TASKS = 8
IO_RANKS = (0, 1, 2, 3, 4, 5)


def run_time(io_ranks: int) -> float:
    """What the ranks are told to take, in seconds: computing and writing, one after the other or side by side."""
    computing = STEPS * STEP_CORE_SECONDS / (TASKS - io_ranks)
    outputs = STEPS // STEPS_AN_OUTPUT + 1
    if not io_ranks:
        return computing + outputs * RECORD_SECONDS
    return max(computing, (outputs - 1) * RECORD_SECONDS / io_ranks) + RECORD_SECONDS


class Tuned:
    """A spec with a sweep of I/O ranks, and `nmlgen tune` of it as a user would call it."""

    def __init__(self, cluster: Cluster, stand_in: Path, home: Path) -> None:
        self.cluster = cluster
        self.home = home
        self.directory = home / "a tuning"
        self.gate = home / "gate"
        icon = home / "icon"
        (icon / "bin").mkdir(parents=True)
        (icon / "bin" / "icon").symlink_to(stand_in)
        (icon / "grid.nc").write_text("a grid\n")
        self.spec = home / "spec.yaml"
        self.spec.write_text(json.dumps(self.document(icon)))

    def document(self, icon: Path) -> dict[str, Any]:
        return {
            "nmlgen": 1,
            "name": "tuned",
            "extends": "icon/jabw",
            "site": "generic-slurm",
            "model": {"release": "2024.10", "directory": str(icon), "executable": "bin/icon"},
            "grid": {"file": "grid.nc", "name": "R2B4", "num_lev": 10},
            "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T04:00:00Z", "modelTimeStep": "PT10M"},
            "job": {"nodes": 2, "ntasks_per_node": TASKS // 2, "time": "02:00:00"},
            "parallel": {"nproma": 16, "num_io_procs": 1},
            "restart": {"restart_write_mode": "sync", "checkpointTimeIntval": "P1D", "restartTimeIntval": "P1D"},
            "output": {
                "atm": {
                    "output_interval": "PT20M",
                    "file_interval": "PT20M",
                    "stream_partitions_ml": 1,
                    "ml_varlist": ["u", "v", "w", "temp", "pres", "rho", "theta_v", "exner"],
                }
            },
            "namelists": {"io_nml": {"lnetcdf_flt64_output": True}},
            "sweep": {
                "grid": {"parallel.num_io_procs": list(IO_RANKS)},
                "derive": {"output.atm.stream_partitions_ml": "max(1, num_io_procs)"},
                "name": "io{num_io_procs}",
            },
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        times = {
            "ICON_STAND_IN_STEP_CORE_SECONDS": str(STEP_CORE_SECONDS),
            "ICON_STAND_IN_RECORD_SECONDS": str(RECORD_SECONDS),
            "ICON_STAND_IN_FAIL": "wait",
            "ICON_STAND_IN_GATE": str(self.gate),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "nmlgen", "tune", str(self.spec), "-o", str(self.directory), *arguments],
            env=self.cluster.complete_environment(times),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def starts(self) -> list[str]:
        """Which points were run, once for each time."""
        return [path.parts[-3] for path in self.directory.glob("points/*/nmlgen.jobs/*.start")]


@pytest.fixture
def tuned(cluster, stand_in, tmp_path):
    yield Tuned(cluster, stand_in, tmp_path)
    cluster.cancel_all()


def test_the_best_layout_is_found_though_tuning_is_killed(tuned):
    first = tuned.start()
    until(lambda: bool(tuned.starts()))
    first.kill()
    _, complaints = first.communicate()
    assert len(tuned.starts()) == 1, complaints
    tuned.gate.touch()

    said, complaints = (second := tuned.start("--format", "json")).communicate(timeout=PATIENCE)
    assert second.returncode == 0, complaints
    found = json.loads(said)
    assert found["best"] == f"io{min(IO_RANKS, key=run_time)}"
    names = [trial["name"] for trial in found["trials"]]
    assert len(names) < len(IO_RANKS)
    assert found["stop"] == "noise"
    assert sorted(tuned.starts()) == sorted(names)
    for trial in found["trials"]:
        assert trial["state"] == "done"
        assert trial["measured_s"] == pytest.approx(run_time(trial["values"]["parallel.num_io_procs"]), rel=1e-3)
        assert trial["node_hours"] == 2 * elapsed_s(tuned.directory / "points" / trial["name"]) / 3600
    best = nmlgen.load_spec(tuned.directory / "tuned.yaml").experiment
    assert best.components[0]["parallel_nml", "num_io_procs"].value == min(IO_RANKS, key=run_time)
