"""Sweeps run by Snakemake, Cylc, JUBE, ecFlow and Autosubmit themselves: every point once, and again nothing."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tools import PATIENCE, require, until

import nmlgen

from .cluster import free_ports

POINTS = ["w.1", "w.0", "7"]


class Machine:
    """A machine without a batch system, and a model that notes where it ran; `model` is what it does besides."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.sweep = directory / "a_sweep"
        self.home = directory / "home"
        self.home.mkdir()
        (directory / "bin").mkdir()
        self.path = f"{directory}/bin:{os.environ['PATH']}"
        self._program("bin/mpirun", 'exec "${@: -1}"')
        self.model()
        (directory / "grid.nc").write_text("a grid\n")
        # Cylc's jobs begin with what a login shell has.
        (self.home / ".bash_profile").write_text(f"export PATH='{self.path}'\n")

    def model(self, *lines: str) -> None:
        note = f'echo "${{PWD#{self.sweep}/points/}}" >>{self.directory}/runs'
        self._program("icon", "\n".join([note, *lines, 'echo " OK" >finish.status']))

    def write(self, tool: str, leg: str = "P1D") -> None:
        points = [
            {"name": "w.1", "parallel.num_io_procs": 1},
            {"name": "w.0", "parallel.num_io_procs": 0},
            {"name": "7", "parallel.nproma": 8, "run_directory": "elsewhere/run"},
        ]
        spec = nmlgen.load_spec(
            {
                "nmlgen": 1,
                "name": "wave",
                "extends": "icon/jabw",
                "site": "local",
                "model": {"release": "2024.10", "directory": str(self.directory), "executable": "icon"},
                "grid": {"file": "grid.nc", "name": "R2B4", "num_lev": 10},
                "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T03:00:00Z", "modelTimeStep": "PT10M"},
                "job": {"nodes": 1, "ntasks_per_node": 4},
                "parallel": {"nproma": 16},
                "restart": {"checkpointTimeIntval": "PT1H", "restartTimeIntval": leg},
                "output": {"atm": {"output_interval": "PT10M", "file_interval": "PT1H", "ml_varlist": ["u", "v"]}},
            }
        )
        nmlgen.write_sweep(nmlgen.expand(spec, points=points), self.sweep)
        nmlgen.export_sweep(self.sweep, tool)

    def run(self, *command: str, code: int = 0) -> str:
        """Run a command as a user would, in the sweep's directory; what it printed."""
        done = subprocess.run(
            command,
            cwd=self.sweep,
            env={**os.environ, "HOME": str(self.home), "PATH": self.path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def runs(self) -> Counter[str]:
        """How often the model ran for each point."""
        path = self.directory / "runs"
        return Counter(line.split("/")[0] for line in path.read_text().split()) if path.exists() else Counter()

    def _program(self, name: str, text: str) -> None:
        (self.directory / name).write_text(f"#!/bin/bash\n{text}\n")
        (self.directory / name).chmod(0o755)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_snakemake(machine):
    require("snakemake")
    machine.write("snakemake")
    machine.run("snakemake", "--cores", "2")
    assert machine.runs() == dict.fromkeys(POINTS, 1)
    assert "Nothing to be done" in machine.run("snakemake", "--cores", "2")
    assert machine.runs() == dict.fromkeys(POINTS, 1)


def test_snakemake_after_a_failure(machine):
    require("snakemake")
    machine.write("snakemake")
    machine.model("[[ $PWD != *w.0* ]] || exit 3")
    said = machine.run("snakemake", "--cores", "1", "--keep-going", code=1)
    assert "w.0: error: ICON ended with exit code 3" in said
    machine.model()
    machine.run("snakemake", "--cores", "1")
    assert machine.runs() == {"w.1": 1, "w.0": 2, "7": 1}


def test_cylc(machine):
    require("cylc", "rsync")
    machine.write("cylc")
    machine.run("cylc", "vip", "--no-detach", "--workflow-name=a", ".")
    assert machine.runs() == dict.fromkeys(POINTS, 1)
    assert not (machine.home / "cylc-run" / "a" / "run1" / "points").exists()
    machine.run("cylc", "vip", "--no-detach", "--workflow-name=b", "--no-run-name", ".")
    assert machine.runs() == dict.fromkeys(POINTS, 1)


def test_jube(machine):
    require("jube")
    machine.write("jube")
    machine.run("jube", "run", "jube.xml")
    assert machine.runs() == dict.fromkeys(POINTS, 1)
    table = [
        [cell.strip() for cell in row.split("|")] for row in machine.run("jube", "result", "jube_runs").split("\n")
    ]
    assert [row[1:-1] for row in table if len(row) > 4 and row[1] in POINTS] == [
        ["w.1", "1", "", "", "has ended"],
        ["w.0", "0", "", "", "has ended"],
        ["7", "", "8", "elsewhere/run", "has ended"],
    ]
    machine.run("jube", "run", "jube.xml")
    assert machine.runs() == dict.fromkeys(POINTS, 1)


LEGS = (
    "echo leg >>legs",
    "count=$(grep -c . legs)",
    "touch restart_atm_2000010${count}T000000Z.nc",
    "ln -sfn restart_atm_2000010${count}T000000Z.nc restart_atm_DOM01.nc",
    "if (( count < 3 )); then echo ' RESTART' >finish.status; exit 0; fi",
)
"""A model that comes to its end in three legs."""


def test_autosubmit(machine):
    """Every leg of every point is a job, of an experiment of its own. One that fails can be run again there."""
    require("autosubmit")
    machine.write("autosubmit", leg="PT1H")
    machine.model("[[ $PWD != *w.0* || ! -f legs ]] || { mv legs was; exit 3; }", *LEGS)
    configuration = machine.sweep / "autosubmit.yml"
    text = configuration.read_text()
    assert text.count("_LEG") == 3 * 3 + 3 * 2
    configuration.write_text(text.replace("CONFIG:\n", "CONFIG:\n  SAFETYSLEEPTIME: 1\n"))  # from one look to the next
    machine.run("autosubmit", "configure")
    machine.run("autosubmit", "install")
    said = machine.run("bash", "start_autosubmit.sh", code=1)
    assert machine.runs() == {"w.1": 3, "w.0": 2, "7": 3}, said
    assert "W_0_LEG2" in said
    (folder,) = re.findall(r"^Experiment folder: (.*)$", said, re.M)
    experiment = Path(folder).name
    machine.model("[[ ! -f was ]] || mv was legs", *LEGS)
    machine.run("autosubmit", "setstatus", experiment, "-fs", "FAILED", "-t", "READY", "-s", "-np")
    machine.run("autosubmit", "run", experiment)
    assert machine.runs() == {"w.1": 3, "w.0": 4, "7": 3}
    assert {point.state for point in nmlgen.status(machine.sweep).points} == {"done"}


def test_ecflow(machine):
    """A server of its own: every leg of every point is a task."""
    require("ecflow_server", "ecflow_client")
    machine.write("ecflow", leg="PT1H")
    machine.model(*LEGS)
    port = str(free_ports(1))  # ecFlow takes none of those that the kernel gives away
    (machine.directory / "server").mkdir()
    own = {
        "ECF_HOST": "localhost",
        "ECF_PORT": port,
        "ECF_HOME": str(machine.directory / "server"),
        "PATH": machine.path,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            patch.setenv(name, value)
        server = subprocess.Popen(
            ["ecflow_server"], cwd=machine.directory / "server", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            until(lambda: subprocess.run(["ecflow_client", "--ping"], check=False, capture_output=True).returncode == 0)
            machine.run("ecflow_client", "--restart")
            machine.run("bash", "start_ecflow.sh")
            until(
                lambda: _state(machine) in ("complete", "aborted"), lambda: machine.run("ecflow_client", "--get_state")
            )
            assert _state(machine) == "complete"
        finally:
            server.kill()
            server.wait()
    assert machine.runs() == dict.fromkeys(POINTS, 3)
    assert {point.state for point in nmlgen.status(machine.sweep).points} == {"done"}


def _state(machine: Machine) -> str:
    """Of the suite on the server."""
    return re.search(r"^suite .*?state:(\w+)", machine.run("ecflow_client", "--get_state"), re.M)[1]


def test_chains_in_slurm(cluster, stand_in, tmp_path):
    require("snakemake")
    (tmp_path / "icon").symlink_to(stand_in)
    (tmp_path / "grid.nc").write_text("a grid\n")
    spec = {
        "nmlgen": 1,
        "name": "chain",
        "extends": "icon/jabw",
        "site": "generic-slurm",
        "model": {"release": "2024.10", "directory": str(tmp_path), "executable": "icon"},
        "grid": {"file": "grid.nc", "name": "R2B4", "num_lev": 10},
        "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T02:00:00Z", "modelTimeStep": "PT10M"},
        "job": {"nodes": 1, "ntasks_per_node": 4, "time": "00:05:00"},
        "parallel": {"nproma": 16, "num_io_procs": 1},
        "restart": {"checkpointTimeIntval": "PT30M", "restartTimeIntval": "PT1H"},
        "output": {"atm": {"output_interval": "PT10M", "file_interval": "PT1H", "ml_varlist": ["u", "v"]}},
    }
    sweep = tmp_path / "sweep"
    nmlgen.write_sweep(nmlgen.expand(spec, grid={"parallel.nproma": [8, 16]}, name="p{nproma}"), sweep)
    nmlgen.export_sweep(sweep, "snakemake")
    before = {job.id for job in cluster.jobs()}
    environment = cluster.complete_environment({"HOME": str(tmp_path)})
    cluster.submit(sweep / "points" / "p8" / "chain.sbatch", sweep / "points" / "p8")  # by hand: only to be waited for
    for _ in range(2):
        done = subprocess.run(
            ["snakemake", "--cores", "16"],
            cwd=sweep,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    jobs = [job for job in cluster.jobs() if job.id not in before]
    assert Counter((job.name, job.state.name) for job in jobs) == {("chain", "COMPLETED"): 4}
