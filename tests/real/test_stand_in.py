"""Tests of the test bed itself: the cluster, the stand-ins and the read-back."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from tools import PATIENCE, require, until

from . import cluster as cluster_module
from .cluster import ENVIRONMENT, Cluster, State
from .lfs_stand_in import LfsStandIn, stored_layout
from .readback import Declaration, ReadbackError, read_back, scalars

TWO_BY_TWO = "--nodes=2 --ntasks-per-node=2 --output=log"
MASTER = """\
&master_nml
 lrestart = {restart}
/
&master_time_control_nml
 experimentStartDate  = "2000-01-01T00:00:00Z"
 experimentStopDate   = "2000-01-01T04:00:00Z"
 checkpointTimeIntval = "PT1H"
 restartTimeIntval    = "{leg}"
/
&master_model_nml
 model_type              = 1
 model_name              = "atm"
 model_namelist_filename = "NAMELIST_atm"
 model_min_rank          = 0
 model_max_rank          = 1000
 model_inc_rank          = 1
/
"""
ATMOSPHERE = """\
&parallel_nml
 nproma = 16
 {parallel}
/
&grid_nml
 dynamics_grid_filename = "grid.nc"
/
&run_nml
 modelTimeStep = "PT10M"
 output        = "nml"
/
&nonhydrostatic_nml
 of_no_interest = "to this program"
/
&io_nml
 {io}
/
&output_nml
 output_filename = "{stream}"
 output_start    = "2000-01-01T00:00:00Z"
 output_end      = "2000-01-01T04:00:00Z"
 output_interval = "PT1H"
 {file}
 ml_varlist      = "temp", "u"
/
"""


def run(command: list[str], environment: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    complete = {**os.environ, **ENVIRONMENT, **environment}
    return subprocess.run(
        command, check=False, cwd=directory, env=complete, capture_output=True, text=True, timeout=PATIENCE
    )


@frozen
class Experiment:
    """A four-hour experiment in ten-minute steps with one hourly stream, in a directory of its own."""

    directory: Path
    stand_in: Path
    leg: str = "PT4H"
    parallel: str = "num_io_procs = 1"
    io: str = "restart_file_type = 4"
    stream: str = "atm"
    file: str = 'file_interval = "P1D"'

    def write(self, *, restart: bool = False) -> None:
        (self.directory / "grid.nc").touch()
        (self.directory / "icon_master.namelist").write_text(
            MASTER.format(restart=".true." if restart else ".false.", leg=self.leg)
        )
        fields = {"parallel": self.parallel, "io": self.io, "stream": self.stream, "file": self.file}
        (self.directory / "NAMELIST_atm").write_text(ATMOSPHERE.format(**fields))

    def run(self, ranks: int = 4, *, restart: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
        self.write(restart=restart)
        return self.launch(ranks, **environment)

    def launch(self, ranks: int, **environment: str) -> subprocess.CompletedProcess[str]:
        return run(self.command(ranks), environment, self.directory)

    def command(self, ranks: int) -> list[str]:
        return ["mpirun", "-n", str(ranks), str(self.stand_in)]

    def status(self) -> str:
        return (self.directory / "finish.status").read_text()

    def records(self, name: str) -> list[dict[str, str]]:
        """What an output file holds: a mapping for each step."""
        lines = (self.directory / name).read_text().splitlines()
        return [dict(token.split("=", 1) for token in line.split()) for line in lines]

    def names(self, pattern: str) -> list[str]:
        return sorted(path.name for path in self.directory.glob(pattern))


@pytest.fixture
def experiment(tmp_path: Path, stand_in: Path) -> Experiment:
    require("mpirun")
    directory = tmp_path / "run"
    directory.mkdir()
    return Experiment(directory, stand_in)


def job(directory: Path, command: str, *directives: str) -> Path:
    script = directory / "job.sh"
    lines = ["#!/bin/bash", *(f"#SBATCH {directive}" for directive in directives), command, ""]
    script.write_text("\n".join(lines))
    return script


class TestCluster:
    def test_srun_reaches_two_nodes(self, cluster: Cluster, tmp_path: Path) -> None:
        command = "srun bash -c 'echo $SLURMD_NODENAME'"
        script = job(tmp_path, command, "--nodes=2 --ntasks-per-node=1 --output=log")
        number = cluster.submit(script, tmp_path)
        cluster.wait(number)
        assert cluster.state(number) == State("COMPLETED", 0)
        assert len(set((tmp_path / "log").read_text().split())) == 2

    def test_state_of_a_failed_job(self, cluster: Cluster, tmp_path: Path) -> None:
        number = cluster.submit(job(tmp_path, "exit 3", "--output=log"), tmp_path)
        cluster.wait(number)
        assert cluster.state(number) == State("FAILED", 3)

    def test_environment_and_arguments_reach_the_job(self, cluster: Cluster, tmp_path: Path) -> None:
        script = job(tmp_path, 'echo "$GREETING"')
        number = cluster.submit(script, tmp_path, "--output=log", environment={"GREETING": "hello there"})
        cluster.wait(number)
        assert (tmp_path / "log").read_text() == "hello there\n"

    def test_follows_a_job_that_submits_another(self, cluster: Cluster, tmp_path: Path) -> None:
        before = len(cluster.jobs())
        command = '[ -e once ] || { touch once; sbatch "$PWD/job.sh"; }'
        cluster.submit(job(tmp_path, command, "--job-name=chain --output=log.%j"), tmp_path)
        cluster.wait_until_idle()
        chain = cluster.jobs()[before:]
        assert [(link.name, link.state.name) for link in chain] == [("chain", "COMPLETED")] * 2

    def test_array_with_one_bad_task(self, cluster: Cluster, tmp_path: Path) -> None:
        script = job(tmp_path, "exit $((SLURM_ARRAY_TASK_ID == 2))", "--array=1-3 --output=log.%a")
        number = cluster.submit(script, tmp_path)
        cluster.wait(number)
        assert cluster.state(number) == State("FAILED", 1)
        assert [task.array_id for task in cluster.jobs()].count(number) == 3

    def test_refuses_what_the_partition_does_not_allow(self, cluster: Cluster, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError, match="Requested time limit is invalid"):
            cluster.submit(job(tmp_path, "true", "--time=09:00:00"), tmp_path)

    def test_refuses_more_memory_than_a_node_has(self, cluster: Cluster, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError, match=r"[Mm]emory|node configuration"):
            cluster.submit(job(tmp_path, "true", "--mem=64G"), tmp_path)

    def test_wait_gives_up(self, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        number = cluster.submit(job(tmp_path, "true", "--output=log --hold"), tmp_path)
        monkeypatch.setattr("tools.PATIENCE", 0.0)
        with pytest.raises(TimeoutError, match="PENDING"):
            cluster.wait(number)
        monkeypatch.undo()
        cluster.run("scancel", str(number))
        cluster.wait(number)


class TestRequire:
    def test_nothing_missing(self) -> None:
        require("sh")

    def test_skips_on_a_users_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CI", raising=False)
        with pytest.raises(pytest.skip.Exception, match="not installed: no-such-program"):
            require("sh", "no-such-program")

    def test_fails_in_ci(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CI", "true")
        with pytest.raises(pytest.fail.Exception, match="no-such-program"):
            require("no-such-program")


class TestModel:
    def test_whole_run_ends_ok(self, experiment: Experiment) -> None:
        done = experiment.run()
        assert done.returncode == 0, done.stderr
        assert experiment.status() == " OK\n"
        assert "Number of procs for test: 0, work: 3, I/O: 1, Restart: 0, Prefetching: 0" in done.stderr
        assert "Time step:       24 model time 2000-01-01 04:00:00.000" in done.stderr
        assert "Timer report, ranks 0-2" in done.stderr

    def test_stream_partitions_go_round_the_io_ranks(self, experiment: Experiment) -> None:
        split = evolve(
            experiment,
            parallel="num_io_procs = 2",
            file='file_interval = "PT2H" stream_partitions_ml = 2',
        )
        split.run()
        assert split.names("atm_*") == [f"atm_DOM01_ML_000{number}.nc" for number in (1, 2, 3, 4, 5)]
        first, second = split.records("atm_DOM01_ML_0001.nc"), split.records("atm_DOM01_ML_0002.nc")
        assert [(step["date"], step["writer"]) for step in first] == [("2000-01-01T00:00:00.000", "2")]
        assert [(step["date"], step["writer"]) for step in second] == [("2000-01-01T01:00:00.000", "3")]
        assert second[0]["variables"] == "temp,u"

    def test_without_io_ranks_the_first_work_rank_writes(self, experiment: Experiment) -> None:
        evolve(experiment, parallel="num_io_procs = 0").run(ranks=2)
        steps = experiment.records("atm_DOM01_ML_0001.nc")
        assert [step["writer"] for step in steps] == ["0"] * 5
        assert steps[0]["senders"] == "2"

    def test_two_legs(self, experiment: Experiment) -> None:
        legs = evolve(experiment, leg="PT2H", file='file_interval = "PT3H"')
        legs.run()
        assert legs.status() == " RESTART\n"
        link = legs.directory / "restart_atm_DOM01.nc"
        assert link.readlink() == Path("grid_restart_atm_20000101T020000Z.nc")
        done = legs.run(restart=True)
        assert legs.status() == " OK\n"
        assert "Start date    : 2000-01-01T02:00:00.000 (restart run)" in done.stderr
        assert "Time step:       13 model time 2000-01-01 02:10:00.000" in done.stderr
        # ICON 2024.10 does the same: file windows begin anew with each leg, so the first file goes on.
        assert len(legs.records("atm_DOM01_ML_0001.nc")) == 5
        assert link.readlink() == Path("grid_restart_atm_20000101T040000Z.nc")

    @pytest.mark.parametrize(
        ("parallel", "mode", "files"),
        [
            ("num_restart_procs = 2", "joint procs multifile", 2),
            ("num_restart_procs = 0", "joint procs multifile", 4),
            ("num_restart_procs = 1", "dedicated procs multifile", 1),
        ],
    )
    def test_multifile_restart(self, experiment: Experiment, parallel: str, mode: str, files: int) -> None:
        legs = evolve(experiment, leg="PT2H", parallel=parallel, io=f'restart_write_mode = "{mode}"')
        legs.run()
        link = legs.directory / "multifile_restart_atm.mfr"
        assert link.readlink() == Path("multifile_restart_atm_20000101T020000Z.mfr")
        assert len(list(link.glob("patch1_*.nc"))) == files
        assert legs.run(restart=True).returncode == 0
        assert legs.status() == " OK\n"

    def test_restart_rank_writes_in_async_mode(self, experiment: Experiment) -> None:
        legs = evolve(experiment, parallel="num_restart_procs = 1", io='restart_write_mode = "async"')
        legs.run(ranks=3)
        assert "writer=2\n" in (legs.directory / "restart_atm_DOM01.nc").read_text()

    @pytest.mark.parametrize(
        ("changes", "ranks", "message"),
        [
            ({"parallel": "num_io_procs = 2"}, 2, "not enough processors"),
            ({"parallel": "num_restart_procs = 1", "io": "restart_write_mode = 'sync'"}, 4, "must be zero"),
            ({"io": "restart_write_mode = 'async'"}, 4, "must be non-zero"),
            ({"io": "restart_write_mode = 'no such mode'"}, 4, "unknown restart_write_mode"),
            ({"stream": "no/such/directory/atm"}, 4, "open failed on no/such/directory/atm_DOM01_ML_0001.nc"),
            ({"file": ""}, 4, "Please specify either <steps_per_file> or <file_interval>"),
            ({"parallel": "nproma_ = 3"}, 2, "Cannot match namelist object name nproma_"),
        ],
    )
    def test_refuses_as_icon_does(
        self, experiment: Experiment, changes: dict[str, Any], ranks: int, message: str
    ) -> None:
        done = evolve(experiment, **changes).run(ranks)
        assert done.returncode != 0
        assert message in done.stderr
        assert not (experiment.directory / "finish.status").exists()

    def test_refuses_a_missing_grid(self, experiment: Experiment) -> None:
        experiment.write()
        (experiment.directory / "grid.nc").unlink()
        done = experiment.launch(1)
        assert done.returncode != 0
        last_word = "FINISH PE:     0 mo_grid_config::init_grid_configuration: grid.nc file does not exist"
        assert last_word in done.stderr

    def test_refuses_a_restart_from_nothing(self, experiment: Experiment) -> None:
        done = experiment.run(restart=True)
        assert done.returncode != 0
        assert "no functional symlink found" in done.stderr

    def test_abort(self, experiment: Experiment) -> None:
        done = experiment.run(ICON_STAND_IN_FAIL="abort", ICON_STAND_IN_FAIL_STEP="7")
        assert done.returncode != 0
        assert "FINISH PE:     0 mo_nh_stepping:perform_nh_timeloop:" in done.stderr
        assert "Time step:        6 " in done.stderr
        assert "Time step:        7 " not in done.stderr
        assert not (experiment.directory / "finish.status").exists()

    def test_nan_goes_unnoticed(self, experiment: Experiment) -> None:
        done = experiment.run(ICON_STAND_IN_FAIL="nan", ICON_STAND_IN_FAIL_STEP="3")
        assert done.returncode == 0
        assert experiment.status() == " OK\n"
        lines = [line for line in done.stderr.splitlines() if "MAXABS" in line]
        assert [("NaN" in line) for line in lines] == [False] * 2 + [True] * 22
        assert lines[3] == (
            " MAXABS VN, W in domain  1:               NaN at level   9,   0.0000000000E+00 at level   4,"
        )

    @pytest.mark.parametrize("is_opened", [True, False])
    def test_waits(self, experiment: Experiment, is_opened: bool) -> None:
        experiment.write()
        gate = experiment.directory / "gate"
        told = {"ICON_STAND_IN_FAIL": "wait", "ICON_STAND_IN_FAIL_STEP": "2", "ICON_STAND_IN_GATE": str(gate)}
        process = subprocess.Popen(
            experiment.command(2),
            cwd=experiment.directory,
            env={**os.environ, **ENVIRONMENT, **told},
            stderr=subprocess.DEVNULL,
        )
        until((experiment.directory / "is_waiting").exists)
        assert process.poll() is None
        assert not (experiment.directory / "finish.status").exists()
        if is_opened:
            gate.touch()
        else:
            process.terminate()
        process.wait(PATIENCE)
        assert (experiment.directory / "finish.status").exists() is is_opened

    @pytest.mark.parametrize(
        ("ranks", "told", "seconds"),
        [
            (2, {"STEP": "0.05"}, 24 * 0.05),
            (4, {"STEP": "0.05", "STEP_CORE": "30"}, 24 * (0.05 + 30 / 3)),
            (4, {"STEP_CORE": "0.15", "RECORD": "0.25"}, 24 * 0.05 + 0.25),  # it writes beside those that compute
            (4, {"STEP_CORE": "0.15", "RECORD": "100"}, 5 * 100),  # they wait for it
        ],
    )
    def test_timers_tell_what_it_is_told_to_take(
        self, experiment: Experiment, ranks: int, told: dict[str, str], seconds: float
    ) -> None:
        said = experiment.run(ranks, **{f"ICON_STAND_IN_{name}_SECONDS": value for name, value in told.items()}).stderr
        (total,) = [line.split() for line in said.splitlines() if line.startswith(" total ")]
        assert float(total[-2 if ranks > 2 else -1]) == pytest.approx(seconds), said  # the last column counts ranks

    def test_stops_on_demand(self, experiment: Experiment) -> None:
        demanding = evolve(experiment, io="checkpoint_on_demand = .true.")
        (demanding.directory / "stop_icon").touch()
        done = demanding.run()
        assert "checkpoint+stop forced during runtime" in done.stderr
        assert demanding.status() == " RESTART\n"
        link = demanding.directory / "restart_atm_DOM01.nc"
        assert link.readlink() == Path("grid_restart_atm_20000101T001000Z.nc")
        (demanding.directory / "stop_icon").unlink()
        assert demanding.run(restart=True).returncode == 0
        assert demanding.status() == " OK\n"

    def test_logs_what_it_sees_of_the_environment(self, experiment: Experiment) -> None:
        log = experiment.directory / "seen"
        settings = {"DARSHAN_JOBID": "SLURM_JOB_ID", "I_MPI_FABRICS": "shm"}
        environment = {"ICON_STAND_IN_ENVIRONMENT_LOG": str(log), "OTHER": "x", **settings}
        experiment.write()
        run(experiment.command(2), environment, experiment.directory)
        assert set(log.read_text().splitlines()) >= {f"{name}={value}" for name, value in settings.items()}
        assert "OTHER" not in log.read_text()


class TestModelOnTheCluster:
    @pytest.mark.parametrize("launcher", ["srun --mpi=pmix", "mpirun"])
    def test_two_nodes(self, cluster: Cluster, experiment: Experiment, launcher: str) -> None:
        spread = evolve(experiment, parallel="num_io_procs = 2", file="steps_per_file = 1")
        spread.write()
        script = job(spread.directory, f"{launcher} {spread.stand_in}", TWO_BY_TWO)
        number = cluster.submit(script, spread.directory)
        cluster.wait(number)
        assert cluster.state(number) == State("COMPLETED", 0), (spread.directory / "log").read_text()
        assert spread.status() == " OK\n"

    def test_abort_fails_the_job(self, cluster: Cluster, experiment: Experiment) -> None:
        experiment.write()
        script = job(experiment.directory, f"srun {experiment.stand_in}", TWO_BY_TWO)
        number = cluster.submit(script, experiment.directory, environment={"ICON_STAND_IN_FAIL": "abort"})
        cluster.wait(number)
        assert cluster.state(number).name == "FAILED"
        assert "FINISH PE:" in (experiment.directory / "log").read_text()

    def test_preloaded_library(self, cluster: Cluster, experiment: Experiment, preload_probe: Path) -> None:
        experiment.write()
        command = f"srun --export=ALL,LD_PRELOAD={preload_probe} {experiment.stand_in}"
        script = job(experiment.directory, command, "--nodes=2 --ntasks-per-node=1 --output=log")
        log = experiment.directory / "probe"
        number = cluster.submit(script, experiment.directory, environment={"PRELOAD_PROBE_LOG": str(log)})
        cluster.wait(number)
        assert log.read_text().split() == ["icon"] * 2


class TestLfs:
    def call(self, lfs: LfsStandIn, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run([str(lfs.bin / "lfs"), *arguments], lfs.environment, lfs.bin)

    def test_directory_default(self, lfs: LfsStandIn, tmp_path: Path) -> None:
        done = self.call(lfs, "setstripe", "-c", "4", "-S", "4M", str(tmp_path))
        assert done.returncode == 0, done.stderr
        (tmp_path / "new").touch()
        assert stored_layout(tmp_path / "new") == [{"stripe_count": 4, "stripe_size": 4 * 1024**2}]
        assert self.call(lfs, "getstripe", "-c", str(tmp_path)).stdout == "4\n"
        assert lfs.calls()[0] == ["setstripe", "-c", "4", "-S", "4M", str(tmp_path)]

    def test_progressive_layout(self, lfs: LfsStandIn, tmp_path: Path) -> None:
        arguments = ["-E", "64M", "-c", "1", "-S", "1M", "-E", "4G", "-c", "4", "-E", "-1", "-c", "-1"]
        assert self.call(lfs, "setstripe", *arguments, str(tmp_path)).returncode == 0
        layout = stored_layout(tmp_path)
        assert [component["stripe_count"] for component in layout] == [1, 4, -1]
        assert [component["stripe_size"] for component in layout] == [1024**2] * 3

    @pytest.mark.parametrize(
        "arguments",
        [
            "-S 100K DIRECTORY",
            "-S 4G DIRECTORY",
            "-S 1.5x DIRECTORY",
            "-c 2001 DIRECTORY",
            "-c many DIRECTORY",
            "-c 09 DIRECTORY",
            "-i 40 DIRECTORY",
            "-s 1M DIRECTORY",
            "-p a_pool_with_a_long_name DIRECTORY",
            "-E eof -c 1 -E 1G -c 2 DIRECTORY",
            "-E 1G -c 1 -E 1G -c 2 DIRECTORY",
            "-E 1G -E eof -L mdt DIRECTORY",
            "-o 1,2 -c 3 DIRECTORY",
            "-d -c 1 DIRECTORY",
            "-c 4",
            "-c 4 DIRECTORY/present",
            "-c 4 DIRECTORY/missing/file",
        ],
    )
    def test_refuses(self, lfs: LfsStandIn, tmp_path: Path, arguments: str) -> None:
        (tmp_path / "present").touch()
        done = self.call(lfs, "setstripe", *arguments.replace("DIRECTORY", str(tmp_path)).split())
        assert done.returncode == 1
        assert done.stderr.startswith("error: setstripe:")

    def test_creates_a_file(self, lfs: LfsStandIn, tmp_path: Path) -> None:
        assert self.call(lfs, "setstripe", "-c", "010", str(tmp_path / "file")).returncode == 0
        assert stored_layout(tmp_path / "file") == [{"stripe_count": 8}]

    def test_runs_by_itself(self, tmp_path: Path) -> None:
        program = Path(cluster_module.__file__).with_name("lfs_stand_in.py")
        done = run([sys.executable, str(program), "setstripe", "-c", "1", str(tmp_path)], {}, tmp_path)
        assert done.returncode == 0, done.stderr


GROUPS = {
    "run_nml": {
        "ltimer": Declaration("logical"),
        "lart": Declaration("logical"),
        "nsteps": Declaration("integer"),
        "num_lev": Declaration("integer", shape=(10,)),
        "dtime": Declaration("real"),
        "modeltimestep": Declaration("character", length=32),
    },
    "output_nml": {
        "output_filename": Declaration("character", length=1024),
        "ml_varlist": Declaration("character", length=256, shape=(999,)),
        "p_levels": Declaration("real", shape=(100,)),
        "table": Declaration("integer", shape=((0, 2), 2)),
    },
}


@pytest.fixture(scope="module")
def workdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("gfortran")
    return tmp_path_factory.mktemp("readback")


class TestReadback:
    def read(self, text: str, tmp_path: Path, workdir: Path) -> list[dict[str, object]]:
        path = tmp_path / "NAMELIST"
        path.write_text(text, encoding="utf-8")
        return read_back(path, GROUPS, workdir)

    def test_scalars_of_every_type(self, tmp_path: Path, workdir: Path) -> None:
        text = "&RUN_NML ltimer = .FALSE. lart = T\n nsteps = -3 dtime = 0.1\n modelTimeStep = 'it''s \"é\" / & !' /\n"
        assert scalars(self.read(text, tmp_path, workdir), "run_nml") == {
            "ltimer": False,
            "lart": True,
            "nsteps": -3,
            "dtime": 0.1,
            "modeltimestep": 'it\'s "é" / & !',
        }

    def test_long_list(self, tmp_path: Path, workdir: Path) -> None:
        names = [f"variable_{number}" for number in range(999)]
        text = "&output_nml ml_varlist = " + ", ".join(f"'{name}'" for name in names) + "\n/\n"
        records = self.read(text, tmp_path, workdir)
        assert scalars(records, "output_nml") == {"ml_varlist": names}

    def test_array_elements_have_their_indices(self, tmp_path: Path, workdir: Path) -> None:
        text = "&output_nml table(0:1,2) = 7, 8 p_levels(3) = 1e30 p_levels(5:6) = 2*NaN /\n"
        records = self.read(text, tmp_path, workdir)
        assert [record["name"] for record in records] == ["p_levels", "table"]
        levels, table = (record["values"] for record in records)
        assert table == [{"index": [0, 2], "value": 7}, {"index": [1, 2], "value": 8}]
        assert isinstance(levels, list)
        assert [level["index"] for level in levels] == [[3], [5], [6]]
        assert levels[0]["value"] == 1e30
        assert math.isnan(levels[1]["value"])

    def test_copies(self, tmp_path: Path, workdir: Path) -> None:
        text = "! &output_nml\n" + "".join(f"&output_nml\n output_filename = 'f{n}'\n/\n" for n in (1, 2, 3))
        records = self.read(text, tmp_path, workdir)
        assert [(record["copy"], record["values"]) for record in records] == [
            (n, [{"index": [], "value": f"f{n}"}]) for n in (1, 2, 3)
        ]

    def test_blank_text_is_set(self, tmp_path: Path, workdir: Path) -> None:
        records = self.read("&run_nml modelTimeStep = '' /\n", tmp_path, workdir)
        assert scalars(records, "run_nml") == {"modeltimestep": ""}

    def test_seventeen_digits(self, tmp_path: Path, workdir: Path) -> None:
        value = 0.1 + 0.2
        records = self.read(f"&run_nml dtime = {value!r} /\n", tmp_path, workdir)
        assert scalars(records, "run_nml") == {"dtime": value}

    @pytest.mark.parametrize(
        "text",
        [
            "&run_nml nosuch = 1 /\n",
            "&run_nml nsteps = 3.0 /\n",
            "&run_nml nsteps = 3\n",
            "&run_nml num_lev = 11*1 /\n",
            "&run_nml modelTimeStep = PT1H /\n",
        ],
    )
    def test_what_gfortran_refuses(self, tmp_path: Path, workdir: Path, text: str) -> None:
        with pytest.raises(ReadbackError, match="&run_nml, copy 1:"):
            self.read(text, tmp_path, workdir)

    def test_from_registry(self) -> None:
        entry = {"type": "character", "len": 1024, "shape": [[0, 10], 3]}
        assert Declaration.from_registry(entry) == Declaration("character", 1024, ((0, 10), 3))
        with pytest.raises(ValueError, match="type 'complex'"):
            Declaration("complex")
