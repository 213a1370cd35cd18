"""The batch script: clean under shellcheck, and no text of a spec ever becomes a command."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import placements
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import rows
from ruamel.yaml import YAML
from specs import changed, load, refused, unchecked_build
from tools import require

from nmlgen import InputError, Spec, load_spec
from nmlgen.models.icon.chain import status_files
from nmlgen.render.shell import shell_word

SITE = """\
description: a site with everything
machine:
  scheduler: slurm
  file_system: lustre
  node_local: {odd: {type: beegfs, mount: "/mnt/my odd/%j/x", directory: "stripe one", constraint: ODD}}
  mpi:
    intel: {version: "2018", modules: [intel/18, "impi/a b"], environment: {I_MPI_FABRICS: "shm:ofi", Q: "it's $HOME"}}
  darshan: {library: "/opt/darshan 3/lib/libdarshan.so"}
"""
NASTY = "a 'b' \"c\" $(touch pwned) `touch pwned` $HOME ; touch pwned # \\ ! * ~ & | > pwned"

SPECS: dict[str, dict[str, Any]] = {
    "plain": {},
    "levante": {"site": "levante", "job": {"partition": "compute"}},
    "lustre": {
        "site": "levante",
        "lustre": {
            "output": {"stripe_count": 4, "stripe_size": "4MiB"},
            "restart": {"stripe_count": -1, "stripe_index": -1, "pool": "flash"},
            "input": {"stripe_count": 1},
        },
    },
    "intel-2018": {"site": "lise", "mpi": {"version": "2018.5"}, "run_directory": "/scratch/usr/run"},
    "intel-2021.5": {"site": "lise", "mpi": {"version": "2021.5"}, "modules": ["impi/2021.5"]},
    "intel-2021.12": {
        "site": "lise",
        "mpi": {"version": "2021.12", "hints": {"cb_nodes": 4, "cb_write": "enable"}},
        "modules": ["impi/2021.12"],
    },
    "openmpi-5": {"site": "lumi", "mpi": {"implementation": "openmpi", "version": "5.0.3"}},
    "horeka-beeond": {"site": "horeka", "node_local": {"file_system": "beeond"}},
    "horeka-beeond-striped": {
        "site": "horeka",
        "node_local": {"file_system": "beeond", "directory": "stripe_16", "constraint": "BEEOND_4MDS"},
        "job": {"constraint": "LSDF"},
        "restart": {"checkpoint_on_demand": True},
    },
    "darshan": {
        "darshan": {
            "library": "/opt/darshan/lib/libdarshan.so",
            "DARSHAN_MODMEM": 8,
            "DARSHAN_NAMEMEM": 2,
            "DARSHAN_MOD_ENABLE": "DXT_POSIX,DXT_MPIIO",
            "DARSHAN_MOD_DISABLE": "STDIO",
            "DARSHAN_EXCLUDE_DIRS": "/proc,/etc it's",
            "DARSHAN_LOGHINTS": "",
            "MAX_RECORDS": 4096,
        }
    },
    "local": {"site": "local", "job": {"ntasks": 2}, "launch": {"options": ["--oversubscribe", "-x", "A B"]}},
    "modules": {
        "modules": ["intel/2021.5", "netcdf c/4", "$(touch pwned)"],
        "shell": {"limits": {"stack": "unlimited"}},
    },
    "copies": {
        "input_files": {
            "a b.nc": {"source": "in/it's.nc", "method": "copy"},
            "-x": {"source": "/y", "method": "copy"},
        }
    },
    "patterns": {
        "input_files": {
            "rad_*.nc": {"directory": "in/it's", "subdirectories": True},
            "-d/a b*": {"directory": "/y", "method": "copy"},
        }
    },
    "on-demand": {"restart": {"checkpoint_on_demand": True}},
    "no-streams": {"output": {"atm": None}},
    "cpus": {"job": {"cpus_per_task": 4, "exclusive": True, "requeue": True, "mem": "0M"}},
    "nasty": {
        "model": {"directory": NASTY, "executable": NASTY},
        "grid": {"file": f"{NASTY}/{NASTY}"},
        "job": dict.fromkeys(("account", "partition", "qos", "constraint", "output", "comment", "gres"), NASTY),
        "launch": {"command": "mpirun", "options": [f"-{NASTY}", "-x"]},
        "modules": [NASTY],
        "environment": {"A": NASTY, "B": "", "C": "x\ry\tz"},
        "input_files": {NASTY: {"source": NASTY}},
        "run_directory": NASTY,
        "output": {"atm": {"output_filename": f"{NASTY}/{NASTY}"}},
        "darshan": {"library": f"/{NASTY}", "DARSHAN_EXCLUDE_DIRS": NASTY, "DARSHAN_LOGHINTS": NASTY},
        "mpi": {"implementation": "openmpi", "hints": {"a": "$(touch)'x"}},
        "lustre": {"output": {"stripe_count": 4}},
    },
    "own-site": {
        "site": "./site.yaml",
        "darshan": True,
        "node_local": {"file_system": "odd"},
        "mpi": {"implementation": "intel"},
    },
    "own-site-lustre": {"site": "./site.yaml", "darshan": True, "mpi": {"implementation": "intel"}},
}


@pytest.fixture
def spec_of(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.yaml").write_text(SITE)
    return lambda name: load(**SPECS[name])


def script_of(spec: Spec) -> str:
    return unchecked_build(spec).files[f"{spec.experiment.name}.sbatch"].decode()


@pytest.mark.parametrize(
    ("changes", "made"),
    [
        ({}, ["output"]),
        ({"namelists": {"run_nml": {"restart_filename": "r/<mtype>/<rsttime>.nc"}}}, ["output", "r/atm"]),
        (
            {
                "namelists": {"run_nml": {"restart_filename": "r/<idom>/<rsttime>.nc"}},
                "restart": {"restart_write_mode": "sync"},
            },
            ["output", "r/01"],
        ),
        ({"output": {"atm": {"filename_format": "d<physdom>/<levtype_l>/<datetime2>"}}}, ["d01/ml"]),
        (
            {"output": {"atm": {"filename_format": "out/<levtype>_<npartitions>_<ifile_partition>/<jfile>"}}},
            [f"out/ML_4_{number}" for number in range(1, 5)],
        ),
    ],
)
def test_the_job_makes_the_directories_that_icon_does_not(changes: dict[str, Any], made: list[str]) -> None:
    assert re.findall(r"(?m)^mkdir -p -- ([\w/]+)$", script_of(load(**changes))) == made


def run(*command: str, text: str | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, **options)


# --- What shellcheck and bash think of it ----------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        *("lustre", "intel-2021.12", "horeka-beeond-striped", "local", "copies", "patterns", "no-streams", "cpus"),
        *("nasty", "own-site"),
    ],
)
def test_clean_under_shellcheck(name, spec_of):
    """Those that together have every part of the script."""
    require("shellcheck")
    script = script_of(spec_of(name))
    found = run("shellcheck", "-S", "style", "-s", "bash", "-", text=script)
    assert found.stdout == ""
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("name", SPECS)
def test_bash_takes_it(name, spec_of, tmp_path):
    require("bash")
    found = run("bash", "-n", text=script_of(spec_of(name)), cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site.yaml"]


@pytest.mark.parametrize("name", SPECS)
def test_layout(name, spec_of):
    script = script_of(spec_of(name))
    assert script.startswith("#!/bin/bash\n")
    assert script.endswith("\n")
    assert not script.endswith("\n\n")
    for line in script.splitlines():
        assert line == line.rstrip() or NASTY in line, repr(line)
    assert "\n\n\n" not in script
    body = script.split("set -euo pipefail")[1]
    assert "#SBATCH" not in body


# --- Nothing is executed ---------------------------------------------------------------------------------

STUBS = ("srun", "mpirun", "lfs", "module", "squeue", "sbatch", "scontrol", "dsync")


@pytest.fixture
def stage(tmp_path) -> Path:
    """A directory of stand-ins that note their arguments, one a line, with an empty line after each call."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in STUBS:
        stub = programs / name
        extra = "echo OK >finish.status\n" if name in ("srun", "mpirun") else ""
        stub.write_text(f'#!/bin/bash\n{{ printf "%s\\n" {name} "$@"; echo; }} >>"$CALLS"\n{extra}')
        stub.chmod(0o755)
    return programs


def calls(tmp_path: Path) -> list[list[str]]:
    text = (tmp_path / "calls").read_text()
    return [call.split("\n") for call in text.split("\n\n") if call.strip()]


def execute(spec: Spec, tmp_path: Path, stage: Path, *arguments: str, **more: str):
    build = unchecked_build(spec)
    directory = tmp_path / "build"
    build.write(directory)
    environment = {
        "PATH": f"{stage}:/usr/bin:/bin",
        "CALLS": str(tmp_path / "calls"),
        "SLURM_JOB_ID": "7",
        "HOME": str(tmp_path),
        **more,
    }
    script = f"{spec.experiment.name}.sbatch"
    return run("bash", script, *arguments, cwd=directory, env=environment), directory


def prepare(directory: Path, *files: str) -> None:
    """Files that the script needs; the first one is the executable."""
    for number, name in enumerate(files):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/bash\n")
        path.chmod(0o755 if number == 0 else 0o644)


def test_texts_stay_texts(tmp_path, stage):
    require("bash")
    odd = "a 'b' \"c\" $(touch pwned) `touch pwned` $HOME ; touch pwned # \\ ! * ~ & |"
    spec = load(
        model={"directory": f"models {odd}", "executable": odd},
        grid={"file": f"grids {odd}.nc"},
        launch={"command": "mpirun", "options": [f"-{odd}", "-x"]},
        modules=[odd],
        environment={"ODD": odd},
        input_files={
            f"in {odd}": {"source": f"source {odd}"},
            "copied": {"source": "c", "method": "copy"},
            f"many {odd}/in {odd}*": {"directory": f"lot {odd}"},
        },
        run_directory=f"run {odd}",
        output={"atm": {"output_filename": f"out {odd}/file"}},
        mpi={"hints": {"a": "$(touch)'x`y`", "END_OF_HINTS": "$x"}},
        lustre={"output": {"stripe_count": 4, "stripe_size": "4M"}},
    )
    prepare(tmp_path / "build" / f"models {odd}", odd, f"grids {odd}.nc", f"source {odd}", "c")
    fitting = [f"in {odd} {number}".replace("\\", "") for number in (1, 2)]  # which a pattern quotes characters with
    prepare(tmp_path / "build" / f"models {odd}" / f"lot {odd}", "other", *fitting)
    done, directory = execute(spec, tmp_path, stage)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.rglob("pwned"))
    work = directory / f"run {odd}"
    assert (work / f"in {odd}").samefile(directory / f"models {odd}" / f"source {odd}")
    assert (work / f"grids {odd}.nc").is_symlink()
    assert sorted(path.name for path in (work / f"many {odd}").iterdir()) == fitting
    assert (work / "copied").is_file()
    assert not (work / "copied").is_symlink()
    assert (work / f"out {odd}").is_dir()
    assert (work / "romio_hints").read_text() == "a $(touch)'x`y`\nEND_OF_HINTS $x\n"
    seen = calls(tmp_path)
    assert ["module", "load", odd] in seen
    assert ["lfs", "setstripe", "--stripe-count=4", "--stripe-size=4M", f"out {odd}"] in seen
    assert ["mpirun", "-n", "64", f"-{odd}", "-x", str(directory / f"models {odd}" / odd)] in seen


def patterned(directory: Path, **more: Any) -> Spec:
    return load(
        model={"executable": "icon"},
        grid={"file": "grid.nc"},
        input_files={"rad_*.nc": {"directory": str(directory), **more}},
    )


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ["rad_1.nc", "rad_2.nc"]),
        ({"subdirectories": True, "method": "copy"}, ["rad_1.nc", "rad_2.nc", "rad_3.nc"]),
    ],
)
def test_files_by_a_pattern(more, expected, tmp_path, stage):
    """Whatever their names are; what is linked to is followed, and each is in the record of the leg."""
    require("bash")
    pool = tmp_path / "pool it's"
    prepare(tmp_path / "build", "icon", "grid.nc")
    prepare(pool, "other", "rad_1.nc", "below/rad_3.nc", "rad_1.nc.old", "elsewhere.nc")
    (pool / "rad_2.nc").symlink_to("elsewhere.nc")
    (pool / "rad_4.nc").symlink_to("nothing")
    (pool / "rad_5.nc").mkdir()
    done, directory = execute(patterned(pool, **more), tmp_path, stage)
    assert done.returncode == 0, done.stderr
    work = directory / "run"
    found = sorted(work.glob("rad_*"))
    assert [path.name for path in found] == expected
    assert all(path.is_symlink() == (not more) for path in found)
    (record,) = [path for path in work.rglob("1.*") if path.is_file()]
    lines = [line.rpartition("/")[2] for line in record.read_text().splitlines() if line.startswith("input ")]
    assert sorted(lines) == sorted(["grid.nc", "elsewhere.nc", *(name for name in expected if name != "rad_2.nc")])


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_a_pattern_that_nothing_fits(deep, there, tmp_path, stage):
    require("bash")
    pool = tmp_path / "pool"
    if there:
        prepare(pool, "rad_1.nc.old")
    prepare(tmp_path / "build", "icon", "grid.nc")
    done, directory = execute(patterned(pool, subdirectories=deep), tmp_path, stage)
    assert (done.returncode, done.stderr) == (66, f"wave: error: missing: {pool}/rad_*.nc\n")
    assert not (directory / "run" / "icon_master.namelist").exists()


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("a.nc", {"directory": "/b"}, '"a.nc" is the name of one file'),
        ("b/a.nc", {"directory": "/b"}, '"a.nc" is the name of one file'),
        ("a*", {"directory": "/b", "source": "/c"}, "a source and a directory"),
        ("a*", {"source": "/c", "subdirectories": True}, "subdirectories without directory"),
        ("a*", {}, "source is not set"),
    ],
)
def test_patterns_that_cannot_be(name, file, message):
    findings = refused(changed(input_files={name: file}))
    assert any(message in finding.message for finding in findings)


def test_patterns_beside_what_nmlgen_writes():
    load(input_files={"b/*": {"directory": "/b"}, "a[*].nc": {"source": "/b"}, "icon_*.nc": {"directory": "/b"}})


def test_all_that_lies_in_the_directory_of_another_run(tmp_path, stage):
    require("bash")
    old = tmp_path / "old"
    prepare(old, "icon_master.namelist", "nmlgen.legs", "ozone.nc", "land/soil.nc")
    prepare(tmp_path / "build", "icon/bin/icon", "grids/iconR02B05-grid.nc")
    done, directory = execute(load(input_files={"*": {"directory": str(old)}}), tmp_path, stage)
    assert (done.returncode, done.stderr) == (0, "")
    assert (directory / "run" / "ozone.nc").is_symlink()
    assert (directory / "run" / "land" / "soil.nc").exists()
    assert "lrestart" in (directory / "run" / "icon_master.namelist").read_text()
    assert "lrestart" not in (old / "icon_master.namelist").read_text()
    assert not (directory / "run" / "nmlgen.legs").is_symlink()


def test_a_run_to_its_end(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", "icon/bin/icon", "grids/iconR02B05-grid.nc")
    done, directory = execute(load(), tmp_path, stage)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "wave: leg 1 ended: OK"
    assert (directory / "run" / "nmlgen.legs").read_text() == "1 7 OK\n"
    assert "lrestart = .FALSE." in (directory / "run" / "icon_master.namelist").read_text()
    again, _ = execute(load(), tmp_path, stage)
    assert again.returncode == 1
    assert "the experiment has run to its end" in again.stderr


def test_whoever_asks_for_the_outcome_sees_to_the_next_leg(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", "icon/bin/icon", "grids/iconR02B05-grid.nc")
    model = (stage / "srun").read_text()
    checkpoint = "touch next; ln -sfn next multifile_restart_atm.mfr; echo RESTART >finish.status"
    (stage / "srun").write_text(model.replace("echo OK >finish.status", checkpoint))
    outcome = tmp_path / "outcome"
    assert execute(load(), tmp_path, stage, NMLGEN_OUTCOME=str(outcome))[0].returncode == 0
    assert outcome.read_text() == "RESTART\n"
    (stage / "srun").write_text(model)
    for _ in range(2):  # the second time there is nothing to run
        outcome.unlink()
        done, directory = execute(load(), tmp_path, stage, NMLGEN_OUTCOME=str(outcome))
        assert (done.returncode, outcome.read_text()) == (0, "OK\n")
    assert (directory / "run" / "nmlgen.legs").read_text() == "1 7 RESTART\n2 7 OK\n"
    assert "sbatch" not in {call[0] for call in calls(tmp_path)}


def test_the_script_knows_how_many_legs_there_are(tmp_path):
    chain = {"restart_write_mode": "sync", "checkpointTimeIntval": "P1D", "restartTimeIntval": "P4D"}
    assert "\nreadonly legs=3\n" in script_of(load(restart=chain))  # ten days


# --- One run directory, one job --------------------------------------------------------------------------

PREPARED = ("icon/bin/icon", "grids/iconR02B05-grid.nc")
LOCAL: dict[str, Any] = {"site": "local", "job": {"ntasks": 2}}


def claims(directory: Path) -> dict[str, str]:
    return {path.name: os.readlink(path) for path in (directory / "run" / "nmlgen.claims").iterdir()}


def claimed(tmp_path: Path, *links: str) -> Path:
    """A build with everything that it needs, of which others have claimed the run directory."""
    prepare(tmp_path / "build", *PREPARED)
    held = tmp_path / "build" / "run" / "nmlgen.claims"
    held.mkdir(parents=True)
    for number, link in enumerate(links, 1):
        (held / str(number)).symlink_to(link)
    return held


def squeue(stage: Path, text: str, code: int = 0) -> None:
    (stage / "squeue").write_text(f"#!/bin/bash\nprintf '%s\\n' {shell_word(text)}\nexit {code}\n")


@pytest.mark.parametrize(
    ("answer", "code", "is_gone"),
    [
        ("5 RUNNING\n7 RUNNING", 0, False),
        ("7 RUNNING\n5 COMPLETING", 0, False),
        ("5 SUSPENDED", 0, False),
        ("5 PENDING\n7 RUNNING", 0, False),  # it will come again
        ("5 COMPLETED\n7 RUNNING", 0, True),
        ("5 NODE_FAIL", 0, True),
        ("5 TIMEOUT", 0, True),
        ("7 RUNNING", 0, True),  # Slurm answers, and has forgotten the other
        ("slurm_load_jobs error: Invalid job id specified", 1, True),
        ("", 0, False),
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", 1, False),
        ("Welcome to the machine\n55 COMPLETED\n17 RUNNING", 0, False),
        ("x" * 5_000_000, 0, False),
    ],
)
def test_a_claim_is_taken_over_from_a_job_known_to_be_gone(answer, code, is_gone, tmp_path, stage):
    require("bash")
    claimed(tmp_path, "ended", "5|0|99999999|1|boot/pid:[1]||far")
    squeue(stage, answer, code)
    done, directory = execute(load(), tmp_path, stage)
    if is_gone:
        assert (done.returncode, claims(directory)) == (0, {"3": "ended"})
        return
    assert done.returncode == 1
    assert "is claimed by job 5" in done.stderr
    assert f"rm -r {directory}/run/nmlgen.claims" in done.stderr
    assert "srun" not in {call[0] for call in calls(tmp_path)} if (tmp_path / "calls").exists() else True


def test_the_claim_of_another_cluster_stands(tmp_path, stage):
    require("bash")
    claimed(tmp_path, "5|0|99999999|1|boot/pid:[1]|north|far")
    squeue(stage, "7 RUNNING")
    assert execute(load(), tmp_path, stage, SLURM_CLUSTER_NAME="south")[0].returncode == 1
    assert execute(load(), tmp_path, stage, SLURM_CLUSTER_NAME="north")[0].returncode == 0


def test_a_job_that_slurm_starts_again_has_its_own_claim(tmp_path, stage):
    require("bash")
    held = claimed(tmp_path, "7|0|99999999|1|boot/pid:[1]||far")
    assert execute(load(), tmp_path, stage)[0].returncode == 1  # another process of the same job, on another node
    assert execute(load(), tmp_path, stage, SLURM_RESTART_COUNT="1")[0].returncode == 0
    assert sorted(path.name for path in held.iterdir()) == ["2"]


@pytest.mark.parametrize(
    "link",
    [
        "||||||",
        "x",
        "a[$(touch pwned)]|1|2|3|4|5|6",
        "-5|0|1|1|||",
        "|0|1|1|||\x1b[31m",
        "7|a[$(touch pwned)]|1|2|3|4|5",
    ],
)
def test_a_claim_that_nobody_can_read_stands(link, tmp_path, stage):
    require("bash")
    claimed(tmp_path, link)
    done, _ = execute(load(), tmp_path, stage)
    assert done.returncode == 1
    assert "\x1b" not in done.stderr
    assert not list(tmp_path.rglob("pwned"))


def test_numbers_that_are_used_up(tmp_path, stage):
    require("bash")
    claimed(tmp_path).joinpath("999999999").symlink_to("ended")
    done, _ = execute(load(), tmp_path, stage)
    assert (done.returncode, "no number is left" in done.stderr) == (73, True)


def test_without_slurm_a_process_that_is_gone_leaves_its_claim(tmp_path, stage):
    require("bash")
    spec = load(**LOCAL)
    prepare(tmp_path / "build", *PREPARED)
    (stage / "mpirun").write_text("#!/bin/bash\nkill -KILL $PPID\n")  # the script is killed, and the model ends
    done, directory = execute(spec, tmp_path, stage)
    assert done.returncode == -9
    (left,) = claims(directory).values()
    assert left.startswith("|0|")
    (stage / "mpirun").write_text("#!/bin/bash\necho OK >finish.status\n")
    done, directory = execute(spec, tmp_path, stage)
    assert (done.returncode, done.stderr, claims(directory)) == (0, "", {"2": "ended"})


def test_a_model_that_outlives_its_script_keeps_the_claim(tmp_path, stage):
    require("bash", "mkfifo")
    os.mkfifo(tmp_path / "fifo")
    prepare(tmp_path / "build", *PREPARED)
    model = (
        '#!/bin/bash\nexec {stop}<>"$HOME/fifo" >"$HOME/model" 2>&1\necho up\nkill -KILL $PPID\nread -r -u "$stop"\n'
    )
    (stage / "mpirun").write_text(model)
    assert execute(load(**LOCAL), tmp_path, stage)[0].returncode == -9
    done, _ = execute(load(**LOCAL), tmp_path, stage)
    (tmp_path / "fifo").write_text("end\n")
    assert done.returncode == 1
    assert "or the model that it started" in done.stderr


@pytest.mark.parametrize("changes", [{}, LOCAL], ids=["slurm", "no-slurm"])
def test_of_two_jobs_at_once_one_runs(changes, tmp_path, stage):
    """The first is in its model while the second comes: no time is waited for, each tells the other by a file."""
    require("bash", "mkfifo")
    spec = load(**changes)
    build = unchecked_build(spec)
    build.write(tmp_path / "build")
    prepare(tmp_path / "build", *PREPARED)
    squeue(stage, "", 1)
    for fifo in ("started", "stop"):
        os.mkfifo(tmp_path / fifo)
    for name in ("srun", "mpirun"):
        (stage / name).write_text(
            "#!/bin/bash\necho ran >>~/ran; echo >~/started\nread -r _ <~/stop; echo OK >finish.status\n"
        )
    environment = {"PATH": f"{stage}:/usr/bin:/bin", "HOME": str(tmp_path), "CALLS": str(tmp_path / "calls")}
    first = subprocess.Popen(
        ["bash", "wave.sbatch"],
        cwd=tmp_path / "build",
        env={**environment, "SLURM_JOB_ID": "5"},
        stdout=subprocess.PIPE,
    )
    (tmp_path / "started").read_text()
    second = run("bash", "wave.sbatch", cwd=tmp_path / "build", env={**environment, "SLURM_JOB_ID": "6"})
    (tmp_path / "stop").write_text("\n")
    first.communicate()
    assert (first.returncode, second.returncode) == (0, 1)
    assert "is claimed by" in second.stderr
    assert (tmp_path / "ran").read_text() == "ran\n"


@pytest.mark.parametrize("changes", [{}, LOCAL], ids=["slurm", "no-slurm"])
def test_many_jobs_that_come_to_one_claim_at_once(changes, tmp_path, stage):
    """All find the same dead claim; whoever gets it, no two models are ever up: each would find the other's mark."""
    require("bash")
    spec = load(**changes)
    unchecked_build(spec).write(tmp_path / "build")
    claimed(tmp_path, "ended", "ended", "ended")
    squeue(stage, "", 1)
    for name in ("srun", "mpirun"):
        (stage / name).write_text(
            '#!/bin/bash\nmkdir "$HOME/up" || echo two >>"$HOME/wrong"\nrmdir "$HOME/up"\necho stopped >finish.status\n'
        )
    environment = {"PATH": f"{stage}:/usr/bin:/bin", "HOME": str(tmp_path), "CALLS": str(tmp_path / "calls")}
    jobs = [
        subprocess.Popen(
            ["bash", "wave.sbatch"],
            cwd=tmp_path / "build",
            env={**environment, "SLURM_JOB_ID": str(number)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for number in range(100, 108)
    ]
    codes = {job.wait() for job in jobs}
    assert not (tmp_path / "wrong").exists()
    assert codes <= {1, 70}
    assert 70 in codes
    assert set(claims(tmp_path / "build").values()) == {"ended"}


@pytest.mark.parametrize("word", ["OK", "RESTART"])
def test_another_job_ends_just_before_the_claim_is_made(word, tmp_path, stage):
    require("bash")
    claimed(tmp_path)
    (stage / "find").write_text(
        f'#!/bin/bash\n[[ -e run/nmlgen.legs ]] || echo "1 5 {word}" >run/nmlgen.legs\nexec /usr/bin/find "$@"\n'
    )
    (stage / "find").chmod(0o755)
    done, directory = execute(load(), tmp_path, stage)
    assert done.returncode == 1
    assert "another job has just ended" in done.stderr
    assert not list((directory / "run").glob("*.log"))


@pytest.mark.parametrize(("word", "code"), [("OK", 0), ("nothing", 70)])
def test_the_claim_is_given_back_when_the_next_job_can_know_how_this_one_ended(word, code, tmp_path, stage):
    require("bash")
    claimed(tmp_path)
    (stage / "srun").write_text(f"#!/bin/bash\necho {word} >finish.status\n")
    given_back = '#!/bin/bash\n[[ $1 != -fT ]] || cp nmlgen.legs "$CALLS.ledger" || true\nexec /usr/bin/mv "$@"\n'
    (stage / "mv").write_text(given_back)
    (stage / "mv").chmod(0o755)
    done, _ = execute(load(), tmp_path, stage)
    assert done.returncode == code
    ledger = tmp_path / "calls.ledger"
    assert (ledger.read_text() if ledger.exists() else "") == ("1 7 OK\n" if word == "OK" else "")


# --- What the log and the checkpoints say ----------------------------------------------------------------


def model(stage: Path, *commands: str) -> None:
    for name in ("srun", "mpirun"):
        (stage / name).write_text("\n".join(["#!/bin/bash", *commands, ""]))


@pytest.mark.parametrize(
    "value", ["NaN", "nan", "-nan", "NAN", "Infinity", "+Infinity", "Inf", "-inf", "************", "1.0 ****"]
)
def test_fields_that_are_no_numbers(value, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    model(stage, f"echo ' MAXABS VN, W  0.1E+01 {value}'", "echo OK >finish.status")
    done, _ = execute(load(), tmp_path, stage)
    assert done.returncode == 70
    assert "the fields hold NaN, Infinity" in done.stderr


@pytest.mark.parametrize("line", ["MAXABS VN, W  0.1E+01 0.2E-03", "the information of nan_check: ****"])
def test_fields_that_are_numbers(line, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    model(stage, f"echo ' {line}'", "echo OK >finish.status")
    assert execute(load(), tmp_path, stage)[0].returncode == 0


@pytest.mark.parametrize(
    ("commands", "is_good"),
    [
        (["mkdir c1", "ln -sfn c1 multifile_restart_atm.mfr"], True),
        (["ln -sfn c1 multifile_restart_atm.mfr"], False),  # it leads nowhere
        (["touch c1", "ln -sfn c1 restart_atm_DOM01.nc"], True),
        (["ln -sfn c1 restart_atm_DOM01.nc"], False),
        ([], False),
    ],
)
def test_a_checkpoint_to_go_on_from(commands, is_good, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    model(stage, *commands, "echo RESTART >finish.status")
    done, directory = execute(load(), tmp_path, stage)
    assert done.returncode == (0 if is_good else 70)
    assert (directory / "run" / "nmlgen.legs").exists() is is_good
    if not is_good:
        assert "finish.status says RESTART, but there is no new checkpoint" in done.stderr
        return
    model(stage, "echo RESTART >finish.status")
    done, directory = execute(load(), tmp_path, stage)  # the next leg makes none: the one before is there still
    assert done.returncode == 70


TWO_MODELS = {
    "models": {
        "atm": {
            "type": "atmo",
            "grid": {"file": "grids/iconR02B05-grid.nc", "num_lev": 30},
            "time": {"modelTimeStep": "PT2M"},
        },
        "oce": {
            "type": "ocean",
            "tasks": 16,
            "grid": {"file": "grids/iconR02B05-grid.nc"},
            "time": {"modelTimeStep": "PT10M"},
        },
    },
    "output": None,
    "grid": None,
    "time": {"modelTimeStep": None},
    "extends": None,
}


def checkpoint(component: str, time: str) -> str:
    name = f"grid_restart_{component}_{time}.nc"
    return f"touch {name}; ln -sfn {name} restart_{component}_DOM01.nc"


@pytest.mark.parametrize(
    ("commands", "reason"),
    [
        ([checkpoint("atm", "20000101T060000Z"), checkpoint("oce", "20000101T060000Z")], None),
        ([checkpoint("atm", "20000101T060000Z")], "there is no new checkpoint of oce"),
        ([checkpoint("oce", "20000101T060000Z")], "there is no new checkpoint of atm"),
        ([], "there is no new checkpoint of atm oce"),
        (
            [checkpoint("atm", "20000101T060000Z"), checkpoint("oce", "20000101T050000Z")],
            "the last checkpoint of atm is of 20000101T060000Z, that of oce of 20000101T050000Z",
        ),
    ],
)
def test_a_chain_goes_on_when_all_components_have_a_checkpoint_of_one_time(commands, reason, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    model(stage, *commands, "echo RESTART >finish.status")
    done, directory = execute(load(**TWO_MODELS), tmp_path, stage)
    assert done.returncode == (0 if reason is None else 70), done.stderr
    assert (directory / "run" / "nmlgen.legs").exists() is (reason is None)
    if reason is not None:
        assert f"finish.status says RESTART, but {reason}" in done.stderr


def test_what_components_exchange_is_of_the_build_and_lies_in_the_run(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    couple = {"src_component": "atm", "src_grid": "icon_atmos_grid", "tgt_component": "oce"}
    couple |= {"tgt_grid": "icon_ocean_grid", "coupling_period": "PT30M", "field": ["total_heat_flux"]}
    spec = load(**TWO_MODELS, coupling={"coupling": [{**couple, "interpolation": [{"nnn": {"n": 4}}]}]})
    model(stage, "echo OK >finish.status")
    done, directory = execute(spec, tmp_path, stage)
    assert done.returncode == 0, done.stderr
    assert "src_component: atm" in (directory / "run" / "coupling.yaml").read_text()
    (directory / "coupling.yaml").write_text("coupling: []\n")
    done = run("bash", "wave.sbatch", cwd=directory, env={"PATH": f"{stage}:/usr/bin:/bin", "SLURM_JOB_ID": "8"})
    assert done.returncode == 65
    assert "coupling.yaml is not of build" in done.stderr


def test_a_checkpoint_that_is_missing_stops_the_next_leg_before_the_model(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    both = [checkpoint(name, "20000101T060000Z") for name in ("atm", "oce")]
    model(stage, *both, "echo RESTART >finish.status")
    done, directory = execute(load(**TWO_MODELS), tmp_path, stage)
    assert done.returncode == 0
    (directory / "run" / "restart_oce_DOM01.nc").unlink()
    model(stage, "touch started")
    done, _ = execute(load(**TWO_MODELS), tmp_path, stage)
    assert done.returncode == 66
    assert "wave: error: cannot go on: there is no checkpoint of oce" in done.stderr
    assert not (directory / "run" / "started").exists()


@pytest.mark.parametrize(
    "words",
    [
        " FINISH PE:     3 mo_io_config:restartWritingParameters: unknown mode",
        "Fortran runtime error: Cannot match namelist object name num_io_proc",
        "forrtl: severe (19): invalid reference to variable in NAMELIST input, unit 4",
        "FIO-F-241/namelist read/unit=4/formatted/sequential   unrecognized NAMELIST name",
        "Program received signal SIGSEGV: Segmentation fault - invalid memory reference.",
    ],
)
def test_the_words_of_the_model_are_shown_and_not_the_launchers(words, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    model(stage, f"echo '{words}'", "for i in {1..40}; do echo a word of the launcher; done", "exit 1")
    done, _ = execute(load(), tmp_path, stage)
    assert done.returncode == 1
    assert words in done.stderr
    assert "launcher" not in done.stderr


def test_the_last_lines_of_a_log_without_such_words(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    model(stage, "for i in {1..40}; do echo line $i; done", "exit 1")
    done, _ = execute(load(), tmp_path, stage)
    assert "line 21\n" in done.stderr
    assert "line 20\n" not in done.stderr


def test_each_leg_keeps_its_log_without_slurm(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    again = "[[ -e c1 ]] && { touch c2; ln -sfn c2 restart_atm_DOM01.nc; echo OK >finish.status; exit; }"
    model(stage, again, "touch c1; ln -sfn c1 restart_atm_DOM01.nc", "echo RESTART >finish.status")
    done, directory = execute(load(site="local"), tmp_path, stage)
    assert done.returncode == 0, done.stderr
    assert (directory / "run" / "nmlgen.legs").read_text().split()[2::3] == ["RESTART", "OK"]
    assert [path.name.split(".")[-3] for path in sorted((directory / "run").glob("*.icon.log"))] == ["1", "2"]


@pytest.mark.parametrize(
    ("atmo", "ocean", "outcome"), [("OK", "OK", "OK"), ("OK", None, None), ("RESTART", "OK", None), (None, "OK", None)]
)
def test_coupled_components_of_2025_10_have_a_status_each(atmo, ocean, outcome, tmp_path, stage):
    require("bash")
    coupled = copy.deepcopy(TWO_MODELS)
    for name, other in (("atm", "coupled_to_ocean"), ("oce", "coupled_to_atmo")):
        coupled["models"][name]["namelists"] = {"coupling_mode_nml": {other: True}}
    spec = load(model={"release": "2025.10"}, **coupled)
    assert status_files(spec.experiment) == ("finish_atmo.status", "finish_ocean.status")
    prepare(tmp_path / "build", *PREPARED)
    said = {"finish_atmo.status": atmo, "finish_ocean.status": ocean}
    model(stage, *(f"echo {word} >{file}" for file, word in said.items() if word is not None))
    done, directory = execute(spec, tmp_path, stage)
    assert done.returncode == (0 if outcome else 70)
    if outcome is None:
        assert "ICON ended without a word in finish_atmo.status and finish_ocean.status" in done.stderr
    else:
        assert (directory / "run" / "nmlgen.legs").read_text().split()[-1] == outcome


PARENT = {"models": {"oce": "ocean"}}


def parent(directory: Path, time: str = "20080905T000000Z", *names: str) -> None:
    """The run directory of another experiment with a checkpoint of each of its models."""
    directory.mkdir()
    for name in names or ("atm", "ocean"):
        (directory / f"grid_restart_{name}_{time}.nc").write_text(time)
        (directory / f"restart_{name}_DOM01.nc").symlink_to(f"grid_restart_{name}_{time}.nc")


def test_a_branch_begins_with_the_checkpoints_of_another_experiment(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    parent(tmp_path / "spin up")
    model(stage, "cat restart_atm_DOM01.nc restart_oce_DOM01.nc >read", "echo OK >finish.status")
    spec = load(**TWO_MODELS, start_from={"directory": str(tmp_path / "spin up"), **PARENT})
    done, directory = execute(spec, tmp_path, stage)
    assert done.returncode == 0, done.stderr
    assert (directory / "run" / "read").read_text() == "20080905T000000Z" * 2
    assert "lrestart = .TRUE." in (directory / "run" / "icon_master.namelist").read_text()
    assert f"begins with the checkpoint in {tmp_path}/spin up" in done.stdout


def test_a_branch_from_an_earlier_checkpoint(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    parent(tmp_path / "other", "20080903T000000Z")
    for name in ("atm", "ocean"):
        link = tmp_path / "other" / f"restart_{name}_DOM01.nc"
        link.unlink()
        (tmp_path / "other" / f"grid_restart_{name}_20080905T000000Z.nc").write_text("later")
        link.symlink_to(f"grid_restart_{name}_20080905T000000Z.nc")
    model(stage, "cat restart_atm_DOM01.nc restart_oce_DOM01.nc >read", "echo OK >finish.status")
    begin = {"directory": str(tmp_path / "other"), "time": "2008-09-03T00:00:00Z", **PARENT}
    done, directory = execute(load(**TWO_MODELS, start_from=begin), tmp_path, stage)
    assert done.returncode == 0, done.stderr
    assert (directory / "run" / "read").read_text() == "20080903T000000Z" * 2


@pytest.mark.parametrize(
    ("time", "names", "start_from", "reason"),
    [
        ("20080905T000000Z", (), {}, "holds no checkpoint of oce"),
        ("20080905T000000Z", ("atm",), PARENT, "holds no checkpoint of ocean"),
        ("20070905T000000Z", (), PARENT, "is not of a time from 20080901T000000Z to 20080911T000000Z"),
        ("20080911T000000Z", (), PARENT, "is not of a time from"),
        ("20080905T000000Z", (), {**PARENT, "time": "2008-09-04T00:00:00Z"}, "20080904T000000Z.nc is not there"),
    ],
)
def test_what_a_branch_cannot_begin_with(time, names, start_from, reason, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    parent(tmp_path / "other", time, *names)
    model(stage, "touch started", "echo OK >finish.status")
    begin = {"directory": str(tmp_path / "other"), **start_from}
    done, directory = execute(load(**TWO_MODELS, start_from=begin), tmp_path, stage)
    assert done.returncode in (65, 66)
    assert reason in done.stderr
    assert not (directory / "run" / "started").exists()


def test_checkpoints_that_are_not_kept_are_removed(tmp_path, stage):
    """Six legs; the last two checkpoints stay, and the third of all."""
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    for day in range(2, 8):
        files = [checkpoint(name, f"200809{day:02d}T000000Z") for name in ("atm", "oce")]
        model(stage, *files, "echo RESTART >finish.status")
        spec = load(**TWO_MODELS, restart={"keep_last": 2, "keep_every": 3})
        done, directory = execute(spec, tmp_path, stage)
        assert done.returncode == 0, done.stderr
    for name in ("atm", "oce"):
        left = sorted(path.name for path in (directory / "run").glob(f"*_restart_{name}_*"))
        assert [file.split("_")[-1][:8] for file in left] == ["20080904", "20080906", "20080907"]


def test_all_checkpoints_are_kept_unless_it_is_said(tmp_path, stage):
    require("bash")
    assert "nmlgen.checkpoints" not in script_of(load(**TWO_MODELS))


def test_restart_by_hand(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", "icon/bin/icon", "grids/iconR02B05-grid.nc", "run/c1")
    (tmp_path / "build" / "run" / "restart_atm_DOM01.nc").symlink_to("c1")
    done, directory = execute(load(), tmp_path, stage, "restart")
    assert done.returncode == 0
    assert "lrestart = .TRUE." in (directory / "run" / "icon_master.namelist").read_text()


def test_everything_that_is_missing_is_named(tmp_path, stage):
    require("bash")
    done, directory = execute(load(), tmp_path, stage)
    assert done.returncode == 66
    assert done.stderr.splitlines() == [
        f"wave: error: missing: {directory}/icon/bin/icon",
        f"wave: error: missing: {directory}/grids/iconR02B05-grid.nc",
    ]
    assert not (tmp_path / "calls").exists()  # nothing ran, and nobody had to be asked where it lies


def test_files_of_two_builds_do_not_run(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", "icon/bin/icon", "grids/iconR02B05-grid.nc")
    unchecked_build(load(parallel={"nproma": 8})).write(tmp_path / "build")
    other = (tmp_path / "build" / "NAMELIST_wave").read_bytes()
    build = unchecked_build(load())
    build.write(tmp_path / "build")
    (tmp_path / "build" / "NAMELIST_wave").write_bytes(other)
    environment = {"PATH": f"{stage}:/usr/bin:/bin", "CALLS": str(tmp_path / "calls")}
    done = run("bash", "wave.sbatch", cwd=tmp_path / "build", env=environment)
    assert done.returncode == 65
    assert "NAMELIST_wave is not of build" in done.stderr


def test_the_model_says_nothing_at_its_end(tmp_path, stage):
    require("bash")
    (stage / "srun").write_text("#!/bin/bash\necho oh dear\nexit 0\n")
    prepare(tmp_path / "build", "icon/bin/icon", "grids/iconR02B05-grid.nc")
    done, directory = execute(load(), tmp_path, stage)
    assert done.returncode == 70
    assert "wave: error: ICON ended without a word in finish.status" in done.stderr
    assert "oh dear" in done.stderr
    assert claims(directory) == {"1": "ended"}


# --- What is refused before it could get that far --------------------------------------------------------


@rows(
    "path",
    [
        ("name",),
        ("run_directory",),
        ("model", "directory"),
        ("model", "executable"),
        ("grid", "file"),
        ("job", "account"),
        ("job", "comment"),
        ("job", "output"),
        ("site",),
        ("extends",),
        ("darshan", "library"),
        ("darshan", "DARSHAN_LOGHINTS"),
        ("environment", "A"),
        ("mpi", "hints", "a"),
        ("ignore", "RST001"),
        ("input_files", "a", "source"),
        ("output", "atm", "output_filename"),
        ("namelists", "run_nml", "restart_filename"),
    ],
)
@rows("value", ["x\ntouch pwned", "x\n", "\nx"])
def test_newlines_are_refused(path, value):
    change: Any = value
    for key in reversed(path):
        change = {key: change}
    (finding,) = refused(changed(**change))
    assert finding.code == "SPC004"
    assert ".".join(path) in finding.message


@pytest.mark.parametrize("value", ["x\ntouch pwned", "x\n"])
def test_newlines_in_lists_and_keys_are_refused(value):
    assert refused(changed(modules=[value]))
    assert refused(changed(launch={"options": [value]}))
    assert refused(changed(output={"atm": {"ml_varlist": ["u", value]}}))
    for section in ("environment", "output", "input_files", "namelists"):
        assert refused(changed(**{section: {value: {} if section in ("output", "namelists") else "x"}}))


# --- What is in it ---------------------------------------------------------------------------------------


def test_directives(spec_of):
    lines = [line for line in script_of(spec_of("cpus")).splitlines() if line.startswith("#SBATCH")]
    assert lines == [
        "#SBATCH --job-name=wave",
        "#SBATCH --account=bb1234",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=32",
        "#SBATCH --cpus-per-task=4",
        "#SBATCH --exclusive",
        lines[6],
        "#SBATCH --output=%x.%j.log",
        "#SBATCH --requeue",
        "#SBATCH --signal=B:USR1@120",
        "#SBATCH --time=00:40:00",
    ]
    assert lines[6].startswith("#SBATCH --mem=0")


def test_no_slurm_no_directives(spec_of):
    script = script_of(spec_of("local"))
    assert "#SBATCH" not in script
    assert "sbatch " not in script.replace("wave.sbatch", "")
    assert "launch=(mpirun -n 2 --oversubscribe -x 'A B')" in script


def test_two_features_are_one_constraint(spec_of):
    script = script_of(spec_of("horeka-beeond-striped"))
    assert "#SBATCH --constraint=LSDF&BEEOND_4MDS\n" in script
    assert 'mount=/mnt/odfs/"${job}"/stripe_16\n' in script


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("intel-2018", ["I_MPI_EXTRA_FILESYSTEM_LIST=lustre", "LD_LIBRARY_PATH"], ["_FORCE"]),
        ("intel-2021.5", ["I_MPI_EXTRA_FILESYSTEM_FORCE=lustre"], ["_LIST", "LD_LIBRARY_PATH"]),
        ("intel-2021.12", ["I_MPI_FILESYSTEM_FORCE=lustre", "ROMIO_HINTS"], ["I_MPI_EXTRA", "LD_LIBRARY_PATH"]),
        ("openmpi-5", ["OMPI_MCA_io=romio341"], ["I_MPI"]),
        ("horeka-beeond", ["dsync"], ["OMPI_MCA_io", "stat --file-system"]),
        ("darshan", ["LD_PRELOAD=/opt/darshan/lib/libdarshan.so", "MAX_RECORDS", "DARSHAN_LOGHINTS=''"], []),
        ("plain", [], ["LD_PRELOAD", "DARSHAN", "lfs setstripe", "ROMIO_HINTS", "module load", "stop_icon\n  "]),
        ("modules", ["module load 'netcdf c/4'", "ulimit -s unlimited"], []),
    ],
)
def test_parts(name, inside, outside, spec_of):
    script = script_of(spec_of(name))
    assert [word for word in inside if word not in script] == []
    assert [word for word in outside if word in script] == []


anything = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(value=anything)
def test_any_text_leaves_the_script_whole(value):
    require("bash")
    spec = load_spec(
        changed(
            model={"directory": value, "executable": value},
            job={"comment": value, "account": value},
            modules=[value],
            environment={"A": value},
            run_directory=value,
            launch={"options": [f"-{value}"]},
            darshan={"library": f"/{value}", "DARSHAN_EXCLUDE_DIRS": value},
        )
    )
    script = script_of(spec)
    found = run("bash", "-n", text=script)
    assert (found.returncode, found.stderr) == (0, "")
    assert re.sub(r"\s+", "", script.split("\n")[0]) == "#!/bin/bash"


def test_the_tools_are_the_real_ones():
    require("bash", "shellcheck")
    assert os.access(shutil.which("bash") or "", os.X_OK)


# --- Room for what a job writes --------------------------------------------------------------------------


def says(stage: Path, program: str, *lines: str) -> None:
    """A stand-in that prints these lines, whatever it is asked."""
    stub = stage / program
    stub.write_text("#!/bin/bash\ncat <<'END'\n" + "".join(f"{line}\n" for line in lines) + "END\n")
    stub.chmod(0o755)


@pytest.mark.parametrize(("less", "fits"), [(0, True), (1, False)])
@pytest.mark.parametrize("what", ["bytes", "files", "quota", "files of the quota"])
def test_room(what, less, fits, tmp_path, stage):
    """To the byte, and to the file: what lies in the run's directory counts as room, here nothing to speak of."""
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    size, files = needed_by(load())
    short_bytes, short_files = (less * 2**30 if what == "bytes" else 0), (less * 1000 if what == "files" else 0)
    says(stage, "df", "Avail IFree", f"{size - short_bytes} {files - short_files}")
    limit = -(-size // 1024) + 100 - (less * 2**20 if what == "quota" else 0)
    most = files + 7 - (less * 1000 if what == "files of the quota" else 0)
    says(stage, "lfs", f"  {tmp_path}/run", f"  100* 0 {limit} - 7 0 {most} -")
    done, _ = execute(load(), tmp_path, stage)
    assert (done.returncode == 0) == fits
    if not fits:
        assert done.returncode == 73
        assert f"no room: a job writes at least {files if 'files' in what else size} " in done.stderr
        assert "NMLGEN_ROOM=ignore" in done.stderr
        done, _ = execute(load(), tmp_path, stage, NMLGEN_ROOM="ignore")
        assert (done.returncode, "no room" in done.stdout) == (0, True)


def needed_by(spec: Spec) -> tuple[int, int]:
    manifest = json.loads(unchecked_build(spec).files["nmlgen-manifest.json"])
    return manifest["bytes_of_a_job"], manifest["files_of_a_job"]


@pytest.mark.parametrize(
    "text", ["", "no numbers at all", "  /x 1 0 0 - 1 0 0 -", "  /x 1 0", "  /x -1 0 -5 - x 0 y -"]
)
def test_a_quota_that_says_nothing(text, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    says(stage, "lfs", text)
    says(stage, "df", text)
    done, _ = execute(load(), tmp_path, stage)
    assert (done.returncode, done.stderr) == (0, "")


# --- After a job -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1])
def test_after_a_job(code, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    stub = stage / "nmlgen"
    stub.write_text(f'#!/bin/bash\n{{ printf "%s\\n" nmlgen "$@"; echo; }} >>"$CALLS"\nexit {code}\n')
    stub.chmod(0o755)
    done, directory = execute(load(after={"verify": True, "find_nan": True, "join": True}), tmp_path, stage)
    asked = [call for call in calls(tmp_path) if call[0] == "nmlgen"]
    assert asked[0] == ["nmlgen", "verify", str(directory), "--legs", "1", "--nan"]
    assert asked[1:] == ([["nmlgen", "join", str(directory), "--legs", "1"]] if code == 0 else [])
    assert done.returncode == (70 if code else 0)
    assert ("the chain stops here, after nmlgen verify" in done.stderr) == bool(code)


@pytest.mark.parametrize("name", ["a=b", "%j", "%", "!", "if", "time", "exit", "say", "eval", "-p", "a b", "~"])
def test_who_looks_at_the_results_is_a_program_whatever_the_name_is_to_a_shell(name, tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    (stage / name).write_text('#!/bin/bash\n{ printf "%s\\n" looks "$@"; echo; } >>"$CALLS"\n')
    (stage / name).chmod(0o755)
    done, directory = execute(load(after={"verify": True, "nmlgen": name}), tmp_path, stage)
    assert done.returncode == 0
    assert ["looks", "verify", str(directory), "--legs", "1"] in calls(tmp_path)


def test_who_looks_at_the_results_has_to_be_there(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    done, directory = execute(load(after={"verify": True, "nmlgen": '/no/such "one"/nmlgen'}), tmp_path, stage)
    assert done.returncode == 66
    assert 'there is no /no/such "one"/nmlgen, which is to look at the results' in done.stderr
    assert not (directory / "run" / "nmlgen.legs").exists()


@pytest.mark.parametrize("is_accepted", [True, False])
def test_a_job_after_each_leg(is_accepted, tmp_path, stage):
    """It waits for the end of this one, gets the run directory and the leg, and knows nothing of this point."""
    require("bash")
    prepare(tmp_path / "build", *PREPARED, "post it.sh")
    stub = stage / "sbatch"
    stub.write_text(
        '#!/bin/bash\n{ printf "%s\\n" sbatch "$@" "${NMLGEN_OUTCOME-none}"; echo; } >>"$CALLS"\n'
        f"exit {0 if is_accepted else 1}\n"
    )
    outcome = tmp_path / "outcome"
    spec = load(after={"submit": "post it.sh"})
    done, directory = execute(spec, tmp_path, stage, NMLGEN_OUTCOME=str(outcome))
    assert (done.returncode, outcome.read_text()) == (0, "OK\n"), done.stderr
    (call,) = (call for call in calls(tmp_path) if call[0] == "sbatch")
    run_directory = str(directory / "run")
    words = ["--dependency=afterok:7", "--kill-on-invalid-dep=yes", str(directory / "post it.sh"), run_directory, "1"]
    assert call[1:] == [*words, "none"]
    assert ("to do it by hand: sbatch" in done.stdout) != is_accepted


def test_the_script_of_a_job_after_each_leg_has_to_be_there(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    done, _ = execute(load(after={"submit": "/no/such/post.sh"}), tmp_path, stage)
    assert (done.returncode, "missing: /no/such/post.sh" in done.stderr) == (66, True)
    assert not (tmp_path / "calls").exists()


# --- A file system that ends with the job ------------------------------------------------------------------

NODE_LOCAL_SITE = """\
description: a site with disks
machine:
  scheduler: slurm
  file_system: gpfs
  node_local: {{disks: {{type: beegfs, mount: "{mount}/%j"}}}}
defaults: {{launch: {{command: srun}}}}
"""


def on_disks(tmp_path: Path, **keys: Any) -> Spec:
    """A spec that runs on disks of the nodes, which are there for job 7."""
    (tmp_path / "disks" / "7").mkdir(parents=True)
    (tmp_path / "site.yaml").write_text(NODE_LOCAL_SITE.format(mount=tmp_path / "disks"))
    return load(site=str(tmp_path / "site.yaml"), node_local={"file_system": "disks", **keys}, darshan=False)


def test_finished_files_leave_while_the_model_computes(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    (stage / "sleep").write_text("#!/bin/sh\nexec /bin/sleep 0.01\n")
    (stage / "sleep").chmod(0o755)
    # The second of four partitions lags behind: its first file, number 2, is still written.
    names = [f"wave_atm_DOM01_ML_{number:04d}.nc" for number in (1, 2, 3, 4, 5, 7, 8, 9)]
    gone, left = [names[0], names[2], names[3], names[4]], [names[1], *names[5:]]
    model = (
        f"cd output; touch other.txt; for file in {' '.join(names)}; do echo $file >$file; done\n"
        f"for file in {' '.join(gone)}; do until [ ! -e $file ]; do sleep 1; done; done\n"
        "ls >../seen; cd ..; echo OK >finish.status\n"
    )
    (stage / "srun").write_text(f'#!/bin/bash\ncase "$*" in *dsync*) exit 1;; esac\n{model}')
    done, directory = execute(on_disks(tmp_path, copy_while_running=True), tmp_path, stage)
    assert (done.returncode, done.stderr) == (0, "")
    output = directory / "run" / "output"
    assert sorted(path.name for path in output.iterdir()) == ["other.txt", *names]
    assert all((output / name).read_text() == f"{name}\n" for name in names)
    assert (directory / "run" / "seen").read_text().split() == ["other.txt", *left]


def test_the_specs_own_commands_run_before_stage_out(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    odd = 'printf "%s %s\\n" "it\'s leg $NMLGEN_LEG" "${PWD##*/}" >post.txt; ls finish.status >>post.txt'
    done, directory = execute(
        on_disks(tmp_path, before_stage_out=["false # refused", odd, 'test -d "$NMLGEN_RUN"']), tmp_path, stage
    )
    assert done.returncode == 0, done.stderr
    assert (directory / "run" / "post.txt").read_text() == "it's leg 1 wave\nfinish.status\n"
    assert "this failed, and the results are copied as they are: false # refused" in done.stdout


def test_nothing_is_run_before_stage_out_when_the_model_failed(tmp_path, stage):
    require("bash")
    prepare(tmp_path / "build", *PREPARED)
    (stage / "srun").write_text("#!/bin/bash\nexit 3\n")
    done, directory = execute(on_disks(tmp_path, before_stage_out=["touch post.txt"]), tmp_path, stage)
    assert done.returncode == 3
    assert not (directory / "run" / "post.txt").exists()


# --- What would stand in a script again and again -------------------------------------------------------------


def striped(_: Path) -> Spec:
    streams = {f"s{number}": {"output_filename": f"s{number}/x", "ml_varlist": ["temp"]} for number in range(20)}
    return load(output=streams, lustre={"output": {"ost": ",".join(map(str, range(100)))}})


def prepared(_: Path) -> Spec:
    text = (Path(__file__).parents[2] / "examples" / "wrf_b_wave.yaml").read_text(encoding="utf-8")
    before = {f"p{number}": {"executable": f"bin/p{number}", "ntasks": 1} for number in range(30)}
    options = [f"--exclude=l{number}" for number in range(30)]
    return load_spec({**YAML(typ="safe").load(text), "before": before, "launch": {"options": options}})


def in_parts(directory: Path) -> Spec:
    options = [f"--exclude=l{number}" for number in range(300)]
    return load_spec(placements.spec(directory, **placements.CASES["heterogeneous"], launch={"options": options}))


@pytest.mark.parametrize(
    ("spec_of", "what"),
    [
        (striped, "the stripes of lustre.output for each directory"),
        (prepared, "launch.options for each program of before"),
        (in_parts, "launch.options for each part of the job"),
    ],
)
def test_what_fills_a_script_is_refused(spec_of, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of(tmp_path)
    assert unchecked_build(spec).files
    monkeypatch.setattr("nmlgen.render.shell._MOST_REPEATED", 3000)
    with pytest.raises(InputError, match=f"{what} would fill more than"):
        unchecked_build(spec)
