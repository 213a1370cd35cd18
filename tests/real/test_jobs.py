"""The batch scripts that nmlgen writes, accepted by a real Slurm and run to their end by it.

In ICON's place runs the stand-in model: it reads the namelists, writes from the I/O ranks, restarts and fails
as ICON does.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from placements import GRID, TIME, component
from specs import unchecked_build
from tools import require, until

import nmlgen
from nmlgen.logs.record import records_of

from .cluster import Cluster, Layout, running_cluster


class Run:
    """A spec built into a directory, submitted to the cluster and watched to its end."""

    def __init__(self, cluster: Cluster, stand_in: Path, directory: Path) -> None:
        self.cluster = cluster
        self.directory = directory
        self.icon = directory / "icon's tree"
        (self.icon / "bin").mkdir(parents=True)
        (self.icon / "bin" / "icon").symlink_to(stand_in)
        (self.icon / GRID).write_text("a grid\n")

    def spec(self, **changes: Any) -> dict[str, Any]:
        """A chain of three jobs of one hour each; `changes` replace whole sections."""
        document = {
            "nmlgen": 1,
            "name": "chain",
            "extends": "icon/jabw",
            "site": "generic-slurm",
            "model": {"release": "2024.10", "directory": str(self.icon), "executable": "bin/icon"},
            "grid": {"file": GRID, "name": "R2B4", "num_lev": 10},
            "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T03:00:00Z", "modelTimeStep": "PT10M"},
            "job": {"nodes": 2, "ntasks_per_node": 4, "time": "02:00:00"},
            "parallel": {"nproma": 16, "num_io_procs": 2},
            "restart": {
                "restart_write_mode": "joint procs multifile",
                "checkpointTimeIntval": "PT30M",
                "restartTimeIntval": "PT1H",
            },
            "output": {
                "atm": {
                    "output_interval": "PT10M",
                    "file_interval": "PT1H",
                    "stream_partitions_ml": 2,
                    "ml_varlist": ["u", "v", "temp"],
                }
            },
        }
        return document | changes

    def build(self, **changes: Any) -> nmlgen.Build:
        build = nmlgen.build(self.spec(**changes))
        build.write(self.build_directory)
        return build

    def unchecked_build(self, **changes: Any) -> None:
        """A build of what the stand-in takes, though ICON would want more of it."""
        unchecked_build(nmlgen.load_spec(self.spec(**changes))).write(self.build_directory)

    @property
    def build_directory(self) -> Path:
        return self.directory / "a build"

    @property
    def run_directory(self) -> Path:
        return self.build_directory / "run"

    def submit(self, *arguments: str, environment: Mapping[str, str] | None = None) -> list[tuple[str, int]]:
        """Submit and wait until no job is left; the states and exit codes of the jobs since, in order."""
        before = {job.id for job in self.cluster.jobs()}
        script = self.build_directory / "chain.sbatch"
        self.cluster._call(["sbatch", script, *arguments], self.build_directory, environment)
        return self.ended_since(before)

    def ended_since(self, before: Collection[int]) -> list[tuple[str, int]]:
        """Wait until no job is left; the states and exit codes of those that were not there before."""
        self.cluster.wait_until_idle()
        return [(job.state.name, job.state.exit_code) for job in self.cluster.jobs() if job.id not in before]

    def submit_until_it_waits(self, **environment: str) -> int:
        """Submit a job whose model waits in its fifth step, and wait until it does; the job's id."""
        told = {"ICON_STAND_IN_FAIL": "wait", "ICON_STAND_IN_FAIL_STEP": "5", **environment}
        job = self.cluster.submit(self.build_directory / "chain.sbatch", self.build_directory, environment=told)
        until((self.run_directory / "is_waiting").exists)
        return job

    def log(self) -> str:
        """The text of all job logs, in the order of the jobs."""
        logs = sorted(self.build_directory.glob("chain.*.log"), key=lambda path: int(path.suffixes[-2][1:]))
        return "".join(path.read_text() for path in logs)

    def ledger(self) -> list[str]:
        """How the legs ended, as the script noted it."""
        path = self.run_directory / "nmlgen.legs"
        return [line.split()[-1] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def run(cluster, stand_in, tmp_path):
    return Run(cluster, stand_in, tmp_path)


def test_chain_of_three_jobs(run):
    run.build()
    assert run.submit() == [("COMPLETED", 0)] * 3
    assert run.ledger() == ["RESTART", "RESTART", "OK"]
    written = sorted(path.name for path in (run.run_directory / "output").iterdir())
    assert len(written) == 7  # ten and nine steps, three to a file
    writers = {
        line.split()[-1]
        for log in run.run_directory.glob("*.icon.log")
        for line in log.read_text().splitlines()
        if "Output to" in line
    }
    assert writers == {"6", "7"}  # the I/O ranks come after six work ranks
    assert run.submit() == [("FAILED", 1)]
    assert "has run to its end" in run.log()


def test_a_finished_chain_goes_on_by_a_later_end(run):
    """From the checkpoint of its end, in the same directory; with anything else changed it does not."""
    time = run.spec()["time"]
    run.build(time=time | {"stop": "2000-01-01T02:00:00Z"})
    assert run.submit() == [("COMPLETED", 0)] * 2
    run.build(parallel={"nproma": 8, "num_io_procs": 2})
    assert run.submit()[-1:] == [("FAILED", 1)]
    run.build()
    assert run.submit()[-1:] == [("COMPLETED", 0)]
    assert run.ledger() == ["RESTART", "RESTART", "OK"]
    assert "goes on from 20000101T020000Z, where it had ended, until 20000101T030000Z" in run.log()
    written = sorted(path.name for path in (run.run_directory / "output").iterdir())
    assert len(written) == 7  # as if it had been one chain of three jobs
    assert len(list((run.run_directory / "nmlgen.records").iterdir())) == 3


POST = """\
#!/bin/bash
#SBATCH --partition=shared --ntasks=1 --time=00:01:00
{ echo "$2 $SLURM_JOB_PARTITION"; cat -- "$1/finish.status"; } >> "$(dirname -- "$1")/post.txt"
"""


def test_a_job_of_its_own_after_each_leg(stand_in, tmp_path):
    """On another partition, when the leg has ended; a leg that fails has none."""
    script = tmp_path / "post it.sh"
    script.write_text(POST)
    with running_cluster(Layout(partitions=("compute", "shared"))) as cluster:
        run = Run(cluster, stand_in, tmp_path)
        run.build(after={"submit": str(script)})
        assert run.submit() == [("COMPLETED", 0)] * 6, run.log()
        assert done_after(run) == ["1 shared", "2 shared", "3 shared"]
        assert run.ledger() == ["RESTART", "RESTART", "OK"]
        shutil.rmtree(run.run_directory)
        states = run.submit(environment={"ICON_STAND_IN_FAIL": "abort", "ICON_STAND_IN_FAIL_STEP": "8"})
        assert sorted(state for state, _ in states) == ["COMPLETED", "COMPLETED", "FAILED"]
        assert done_after(run) == ["1 shared"]


def done_after(run: Run) -> list[str]:
    """Legs and partitions of the jobs since the last look."""
    path = run.build_directory / "post.txt"
    lines = path.read_text().splitlines()
    path.unlink()
    return sorted(line for line in lines if line.endswith("shared"))


OCEAN_ONLY = {"oce": component("ocean")}
COUPLED = {"atm": component("atmo", tasks=4), "oce": component("ocean")}


def test_the_record_of_what_ran(run, stand_in, tmp_path):
    """Each leg says what it ran, and before it goes on whether that is what ran before; two runs are compared by it."""
    run.build()
    one_leg = {"NMLGEN_OUTCOME": str(tmp_path / "outcome"), "LOADEDMODULES": "gcc/12:openmpi/4.1"}
    assert run.submit(environment=one_leg) == [("COMPLETED", 0)]
    shutil.copytree(run.build_directory, tmp_path / "before", symlinks=True)
    assert run.submit(environment=one_leg) == [("COMPLETED", 0)]
    assert "is another" not in run.log()
    executable = run.icon / "bin" / "icon"
    executable.unlink()
    executable.write_bytes(stand_in.read_bytes() + b"another")
    executable.chmod(0o755)
    (run.icon / GRID).write_text("another grid\n")
    assert run.submit(environment=one_leg) == [("COMPLETED", 0)]
    for what in (f"the executable {stand_in.resolve()}", f"the input {run.icon / GRID}"):
        assert run.log().count(f"since leg 2 {what} is another") == 1
    first, second, third = records_of(run.build_directory)
    assert first.said("module") == ("gcc/12", "openmpi/4.1")
    assert any("/libmpi" in library for library in first.said("library"))
    assert (first.said("exit"), first.said("outcome"), third.said("outcome")) == (("0",), ("RESTART",), ("OK",))
    assert first.executable == second.executable != third.executable
    assert first.said("icon") == ("revision stand-in",)
    found = nmlgen.compare(tmp_path / "before", run.build_directory)
    assert {"executable", f"input {GRID}"} <= {one.what for one in found.ran}
    assert (found.differences, found.is_same) == ((), False)


@pytest.mark.parametrize("models", [OCEAN_ONLY, COUPLED], ids=["ocean", "atmosphere-ocean"])
def test_chain_of_components(run, models):
    """Three legs; each component computes on its own ranks and goes on from its own checkpoint."""
    run.unchecked_build(models=models, time=TIME, output=None, grid=None, parallel=None, extends=None)
    assert run.submit() == [("COMPLETED", 0)] * 3, run.log()
    assert run.ledger() == ["RESTART", "RESTART", "OK"]
    for name in models:
        assert len(list((run.run_directory / "output").glob(f"*{name}*"))) == 4
        assert (run.run_directory / f"multifile_restart_{name}.mfr").is_symlink()


def test_a_component_without_its_checkpoint_stops_the_chain(run):
    """As if somebody had removed it after the first leg."""
    run.unchecked_build(models=COUPLED, time=TIME, output=None, grid=None, parallel=None, extends=None)
    assert run.submit()[0] == ("COMPLETED", 0)
    (run.run_directory / "nmlgen.legs").write_text("1 1 RESTART\n")
    shutil.rmtree((run.run_directory / "multifile_restart_oce.mfr").resolve())
    assert run.submit() == [("FAILED", 66)]
    assert "chain: error: cannot go on: there is no checkpoint of oce" in run.log()


def test_submitting_from_another_directory(run, tmp_path):
    run.build(restart={"restart_write_mode": "sync", "checkpointTimeIntval": "PT1H", "restartTimeIntval": "P1D"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    job = run.cluster.submit(run.build_directory / "chain.sbatch", elsewhere)
    run.cluster.wait(job)
    assert run.cluster.state(job).name == "COMPLETED"
    assert run.ledger() == ["OK"]


def test_failing_model(run):
    run.build()
    states = run.submit(environment={"ICON_STAND_IN_FAIL": "abort", "ICON_STAND_IN_FAIL_STEP": "8"})
    assert [state for state, _ in states] == ["COMPLETED", "FAILED"]
    assert states[1][1] != 0
    assert run.ledger() == ["RESTART"]
    assert "ICON ended with exit code" in run.log()
    assert "FINISH PE" in run.log()
    # the next submission goes on where the last good job ended
    assert run.submit() == [("COMPLETED", 0)] * 2
    assert run.ledger() == ["RESTART", "RESTART", "OK"]


def test_fields_of_nan(run):
    run.build()
    states = run.submit(environment={"ICON_STAND_IN_FAIL": "nan", "ICON_STAND_IN_FAIL_STEP": "3"})
    assert states == [("FAILED", 70)]
    assert "NaN" in run.log()
    assert run.ledger() == []


def test_missing_input_is_named_before_anything_starts(run):
    (run.icon / GRID).unlink()
    (run.icon / "bin" / "icon").unlink()
    run.build(input_files={"rrtmg_lw.nc": {"source": "data/rrtmg $(touch here).nc"}})
    assert run.submit() == [("FAILED", 66)]
    for missing in (f"{run.icon}/{GRID}", f"{run.icon}/bin/icon", f"{run.icon}/data/rrtmg $(touch here).nc"):
        assert f"missing: {missing}" in run.log()
    assert not list(run.directory.rglob("here"))
    assert not list(run.run_directory.glob("*.icon.log"))


def test_input_is_linked_or_copied(run):
    (run.icon / "a.dat").write_text("a")
    (run.icon / "b.dat").write_text("b")
    files = {"a": {"source": "a.dat"}, "b": {"source": "b.dat", "method": "copy"}}
    run.build(input_files=files)
    assert {state for state, _ in run.submit()} == {"COMPLETED"}
    assert (run.run_directory / "a").is_symlink()
    assert not (run.run_directory / "b").is_symlink()
    assert (run.run_directory / "b").read_text() == "b"


TIMED_JOB = {"nodes": 2, "ntasks_per_node": 4, "time": "02:00:00", "signal": "B:USR1@3600"}


def bring_the_time_limit_near(cluster: Cluster, job: int) -> None:
    """Lower a running job's limit to half an hour. That is less than the hour before which Slurm is to warn: it does so
    when it next looks at its jobs, and long before the job is killed."""
    cluster.run("scontrol", "update", f"jobid={job}", "timelimit=30")


def test_time_limit_strikes(run):
    """The model hangs; the script is warned, stops it, says so, and the chain goes on when asked to."""
    run.build(job=TIMED_JOB)
    before = {job.id for job in run.cluster.jobs()}
    bring_the_time_limit_near(run.cluster, run.submit_until_it_waits())
    ((state, code),) = run.ended_since(before)
    assert state == "FAILED"
    assert code != 0
    assert "stopped by time limit" in run.log()
    assert "to go on from it: sbatch chain.sbatch restart" in run.log()
    assert run.ledger() == []
    assert run.submit("restart") == [("COMPLETED", 0)] * len(run.ledger())
    assert run.ledger()[-1] == "OK"


def test_time_limit_with_checkpoint_on_demand(run, tmp_path):
    """Where ICON can be asked for a checkpoint, the chain goes on by itself."""
    run.build(
        job=TIMED_JOB,
        restart={
            "restart_write_mode": "async",
            "num_restart_procs": 1,
            "checkpointTimeIntval": "PT30M",
            "restartTimeIntval": "P1D",
            "checkpoint_on_demand": True,
        },
    )
    before = {job.id for job in run.cluster.jobs()}
    gate = tmp_path / "gate"
    bring_the_time_limit_near(run.cluster, run.submit_until_it_waits(ICON_STAND_IN_GATE=str(gate)))
    until((run.run_directory / "stop_icon").exists)
    gate.touch()
    assert run.ended_since(before) == [("COMPLETED", 0)] * 2
    assert run.ledger() == ["RESTART", "OK"]


def test_files_of_two_builds_do_not_run(run):
    run.build()
    master = run.build_directory / "icon_master.namelist"
    old = master.read_bytes()
    run.build(parallel={"nproma": 8, "num_io_procs": 2})
    master.write_bytes(old)
    assert run.submit() == [("FAILED", 65)]
    assert "is not of build" in run.log()


def test_darshan_is_preloaded_into_the_model_only(run, preload_probe, tmp_path):
    programs, environment = tmp_path / "programs", tmp_path / "environment"
    run.build(darshan={"library": str(preload_probe), "DARSHAN_MODMEM": 8, "MAX_RECORDS": 4096})
    variables = {"PRELOAD_PROBE_LOG": str(programs), "ICON_STAND_IN_ENVIRONMENT_LOG": str(environment)}
    assert run.submit(environment=variables) == [("COMPLETED", 0)] * 3
    names = programs.read_text().split()
    assert set(names) <= {"icon", "env"}
    assert names.count("icon") == 3 * 8
    seen = environment.read_text()
    for job in run.cluster.jobs()[-3:]:
        assert f"DARSHAN_LOGFILE={run.run_directory}/chain.{job.id}.darshan" in seen
    assert "DARSHAN_JOBID=SLURM_JOB_ID" in seen
    assert "DARSHAN_MODMEM=8" in seen
    assert "MAX_RECORDS\t4096\t" in (run.run_directory / "darshan.conf").read_text()


def test_striping_is_set_before_the_files_exist(run, lfs):
    run.build(
        lustre={
            "output": {"stripe_count": 4, "stripe_size": "1MiB"},
            "restart": {"stripe_count": 1},
        }
    )
    first_leg = run.submit(environment=lfs.environment)
    assert {state for state, _ in first_leg} == {"COMPLETED"}
    expected = [
        ["setstripe", "--stripe-count=4", "--stripe-size=1M", "output"],
        ["setstripe", "--stripe-count=1", "."],
    ]
    striping = [call for call in lfs.calls() if call[0] == "setstripe"]  # quotas are asked for as well
    assert striping[:2] == expected
    assert "no lfs here" not in run.log()


def test_without_lfs_striping_is_skipped_with_a_message(run):
    if shutil.which("lfs"):
        pytest.skip("there is a real lfs here")
    run.build(lustre={"output": {"stripe_count": 4}})
    assert run.submit() == [("COMPLETED", 0)] * 3
    assert "no lfs here: output keeps the default striping" in run.log()


def test_mpi_io_variables_stay_off_where_there_is_no_lustre(run, tmp_path):
    site = tmp_path / "site.yaml"
    site.write_text(
        "description: a site that believes in Lustre\n"
        "machine: {scheduler: slurm, file_system: lustre, mpi: {intel: {version: '2021.5'}}}\n"
    )
    environment = tmp_path / "environment"
    # The stand-in's tasks are Open MPI's and do not meet by pmi2.
    run.build(site=str(site), mpi={"implementation": "intel"}, environment={"SLURM_MPI_TYPE": None})
    variables = {"ICON_STAND_IN_ENVIRONMENT_LOG": str(environment)}
    assert {state for state, _ in run.submit(environment=variables)} == {"COMPLETED"}
    assert "the Lustre driver of MPI-IO stays off" in run.log()
    assert "I_MPI_EXTRA_FILESYSTEM" not in environment.read_text()


def test_local_site_runs_the_chain_without_slurm(run):
    require("mpirun")
    run.build(site="local", job={"ntasks_per_node": 4}, launch={"options": ["--oversubscribe"]})
    environment = run.cluster.complete_environment()
    environment.pop("SLURM_CONF")
    script = run.build_directory / "chain.sbatch"
    done = run.cluster._call(["bash", script], run.directory)
    assert done.returncode == 0, done.stdout + done.stderr
    assert run.ledger() == ["RESTART", "RESTART", "OK"]


@pytest.fixture
def node_local(cluster, tmp_path) -> dict[str, Any]:
    """The sections of a spec for a run on a file system that ends with its job."""
    site = tmp_path / "site.yaml"
    site.write_text(
        "description: a site with a node-local file system\n"
        "machine:\n"
        "  scheduler: slurm\n"
        "  file_system: nfs\n"
        "  node_local:\n"
        f'    beeond: {{type: beegfs, mount: "{cluster.node_local}", directory: stripe_4, directories: [stripe_4]}}\n'
    )
    job = {"nodes": 2, "ntasks_per_node": 4, "time": "02:00:00", "signal": "B:USR1@300"}
    return {"site": str(site), "node_local": {"file_system": "beeond"}, "job": job}


def files(directory: Path) -> dict[str, str]:
    """The output files with the model dates they hold."""
    return {
        path.name: path.read_text()
        for path in sorted((directory / "output").iterdir())
        if "before-leg" not in path.name
    }


def test_node_local_chain_is_staged_in_and_out(run, node_local, tmp_path):
    run.build(**node_local)
    assert run.submit() == [("COMPLETED", 0)] * 3
    assert run.ledger() == ["RESTART", "RESTART", "OK"]
    assert not list(run.run_directory.glob("incoming.*"))
    assert not any(Path(run.cluster.node_local).parent.iterdir())
    everything = "".join(path.read_text() for path in (run.run_directory / "output").iterdir())
    for minute in range(0, 181, 10):
        assert f"2000-01-01T{minute // 60:02d}:{minute % 60:02d}:00" in everything


def test_two_jobs_in_one_directory(run):
    """The second finds the first one's claim and asks Slurm; a third takes it over when the first has been killed."""
    run.build(job={"nodes": 1, "ntasks_per_node": 4, "time": "00:05:00"}, restart=NO_CHAIN)
    script, here = run.build_directory / "chain.sbatch", run.build_directory
    first = run.submit_until_it_waits(ICON_STAND_IN_FAIL_STEP="2")
    second = run.cluster.submit(script, here)
    run.cluster.wait(second)
    assert (run.cluster.state(second).name, run.cluster.state(second).exit_code) == ("FAILED", 1)
    assert f"is claimed by job {first}, RUNNING" in run.log()
    run.cluster.run("scancel", "--batch", "--signal=KILL", str(first))
    run.cluster.wait(first)
    (left,) = [os.readlink(path) for path in (run.run_directory / "nmlgen.claims").iterdir()]
    assert left.startswith(f"{first}|0|")
    assert run.submit() == [("COMPLETED", 0)]
    assert run.ledger() == ["OK"]


NO_CHAIN = {"restart_write_mode": "sync", "checkpointTimeIntval": "PT1H", "restartTimeIntval": "P1D"}


def test_node_local_copy_tool_of_the_site_is_used(run, node_local, tmp_path):
    called = tmp_path / "called"
    environment = stub(tmp_path / "stubs", "dsync", f'echo "$@" >>{called}; exec cp -a "$1"/. "$2"/')
    run.build(**node_local)
    assert run.submit(environment=environment) == [("COMPLETED", 0)] * 3
    assert called.read_text()
    assert run.ledger() == ["RESTART", "RESTART", "OK"]


def stub(directory: Path, name: str, text: str) -> dict[str, str]:
    """A program put in front of the PATH."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def test_node_local_copy_that_fails_loses_nothing(run, node_local, tmp_path):
    run.build(**node_local)
    environment = stub(tmp_path / "stubs", "cp", 'case "$*" in *incoming*) exit 1;; esac; exec /bin/cp "$@"')
    states = run.submit(environment=environment)
    assert states == [("FAILED", 74)]
    assert run.ledger() == []
    assert "the results were not copied whole" in run.log()
    assert run.submit() == [("COMPLETED", 0)] * 3
    assert run.ledger() == ["RESTART", "RESTART", "OK"]


def test_node_local_results_survive_a_failing_model(run, node_local):
    run.build(**node_local)
    states = run.submit(environment={"ICON_STAND_IN_FAIL": "abort", "ICON_STAND_IN_FAIL_STEP": "5"})
    assert [state for state, _ in states] == ["FAILED"]
    assert "FINISH PE" in run.log()
    assert files(run.run_directory)  # what the model wrote before it failed
    assert list(run.run_directory.glob("*.icon.log"))


@pytest.fixture(scope="module")
def large_cluster():
    """Nodes of 128 CPUs, as the presets' machines have: for the scheduler's judgement, not for running."""
    require("slurmctld", "slurmd", "sbatch")
    with running_cluster(Layout(nodes=2, cpus=128, memory_mib=256_000)) as running:
        yield running


ODD_TEXTS = (
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "a#b",
    "$(touch odd) `touch odd` $HOME ~",
    "both ' and \"",
    r"back\slash",
    r"""all: \ " ' # $x""",
)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_text_in_directives_stays_text(large_cluster, stand_in, tmp_path, text):
    run = Run(large_cluster, stand_in, tmp_path)
    job = {"nodes": 1, "ntasks_per_node": 8, "time": "02:00:00", "comment": text}
    run.build(job=job)
    job_id = large_cluster.submit(run.build_directory / "chain.sbatch", run.build_directory, "--hold")
    details = large_cluster.run("scontrol", "show", "job", str(job_id))
    large_cluster.run("scancel", str(job_id))
    (line,) = [line for line in details.splitlines() if line.strip().startswith("Comment=")]
    assert line.strip() == f"Comment={text}"


def test_points_of_a_sweep_share_a_script(run, tmp_path):
    """Each runs in its own directory, under its own name, through a link to the script that they share."""
    nmlgen.write_sweep(
        nmlgen.expand(run.spec(), grid={"parallel.num_io_procs": [1, 2]}, name="io{num_io_procs}"), tmp_path
    )
    assert len(list((tmp_path / "shared").iterdir())) == 1
    for name in ("io1", "io2"):
        point = tmp_path / "points" / name
        run.cluster.submit(point / "chain.sbatch", point)
    run.cluster.wait_until_idle()
    for name in ("io1", "io2"):
        directory = tmp_path / "points" / name / "run"
        assert [line.split()[-1] for line in (directory / "nmlgen.legs").read_text().splitlines()] == [
            "RESTART",
            "RESTART",
            "OK",
        ]
        assert {path.name.split(".")[0] for path in directory.glob("*.icon.log")} == {name}
    (tmp_path / "points" / "io1" / "NAMELIST_io1").write_bytes(
        (tmp_path / "points" / "io2" / "NAMELIST_io2").read_bytes()
    )
    job = run.cluster.submit(tmp_path / "points" / "io1" / "chain.sbatch", tmp_path)
    run.cluster.wait(job)
    assert run.cluster.state(job).exit_code == 65  # the namelist is not of this point
