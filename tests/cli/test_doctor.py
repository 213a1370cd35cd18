"""nmlgen doctor: what of a machine is in order, with stand-ins for its programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from specs import TEXT

from nmlgen import examining
from nmlgen.examining import mounted
from nmlgen.spec.site import machine_of

TYPES = (
    r"""'MPI plugin types are...' '	pmix' '	none' '	pmi2' 'specific pmix plugin versions available: pmix_v4'"""
)
SLURM = {
    "sbatch": "echo slurm-wlm 22.05.8",
    "sinfo": "echo compute; echo shared; echo compute",
    "sacctmgr": "echo bb1234; echo ab0001",
    "srun": f"printf '%s\\n' {TYPES}",
    "scontrol": "echo 'MpiDefault              = pmix'",
    "mpirun": "echo 'mpirun (Open MPI) 4.1.2'; echo; echo Report bugs",
}


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine that has these programs and no others; say more, or say otherwise."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(programs))

    def having(**said: str | None) -> Path:
        for name, text in {**SLURM, **said}.items():
            if text is not None:
                (programs / name).write_text(f"#!/bin/sh\n{text}\n")
                (programs / name).chmod(0o755)
        return tmp_path

    return having


@pytest.fixture
def found(nmlgen):
    def run(*arguments, code):
        done = nmlgen("doctor", *arguments, "--format", "json")
        assert (code in (None, done.code), done.err) == (True, "")
        return {one["subject"]: (one["condition"], one["text"]) for one in json.loads(done.out)}

    return run


def test_all_in_order(machine, found):
    at = machine()
    (at / "libdarshan.so").touch()
    (at / "icon").touch(mode=0o755)
    (at / "grid.nc").touch()
    (at / "spec.yaml").write_text(TEXT)
    said = {
        "model.directory": at,
        "model.executable": "icon",
        "grid.file": f"{at}/grid.nc",
        "job.account": "bb1234",
        "job.partition": "shared",
        "darshan.library": f"{at}/libdarshan.so",
        "site": "levante",
    }
    overrides = [word for name, value in said.items() for word in ("--set", f"{name}={value}")]
    conditions = found("spec.yaml", *overrides, code=0)
    for subject in ("Slurm", "partition", "account", "launcher", "MPI", "Darshan", "executable", "input files"):
        assert conditions[subject][0] == "good", (subject, conditions[subject])
    assert conditions["MPI"][1] == "mpirun (Open MPI) 4.1.2"


@pytest.mark.parametrize(
    ("said", "subject", "expected"),
    [
        ({"sbatch": None}, "Slurm", ("wrong", "there is no sbatch here")),
        ({"sinfo": "echo a >&2; echo sinfo: cannot reach >&2; exit 1"}, "Slurm", ("wrong", "sinfo: cannot reach")),
        ({"sinfo": "echo normal"}, "partition", ("wrong", "normal: none of those of levante")),
        ({"sinfo": "echo normal; echo gpu"}, "partition", ("good", "normal, gpu")),
        (
            {"sacctmgr": "echo no accounting >&2; exit 1"},
            "account",
            ("open", "Slurm does not say which there are: no acc"),
        ),
        ({"sacctmgr": ":"}, "account", ("open", "Slurm knows none of yours")),
        ({}, "account", ("good", "bb1234, ab0001")),
        ({"mpirun": None}, "MPI", ("open", "no mpirun on PATH")),
        (
            {"mpirun": "echo 'mpirun (Open MPI) 4.1.20'"},
            "MPI",
            ("open", "mpirun (Open MPI) 4.1.20, which is not openmpi 4.1.2"),
        ),
        ({"mpirun": "exit 1"}, "MPI", ("open", "no mpirun")),
        ({"srun": None, "mpirun": None}, "launcher", ("open", "no srun or mpirun or mpiexec on PATH")),
    ],
)
def test_of_a_site(machine, found, said, subject, expected):
    machine(**said)
    condition, text = found("--site", "levante", code=1 if expected[0] == "wrong" else 0)[subject]
    assert condition == expected[0]
    assert text.startswith(expected[1])


HAS = "srun has pmix, none, pmi2, pmix_v4"


@pytest.mark.parametrize(
    ("said", "overrides", "expected"),
    [
        ({}, [], ("good", f"pmix; {HAS}")),
        ({"scontrol": "echo 'MpiDefault = none'"}, [], ("wrong", "there is no default: tasks do not find each other;")),
        (
            {"scontrol": "echo 'MpiDefault = none'"},
            ["mpi.implementation=parastation"],
            ("open", "there is no default:"),
        ),
        ({"scontrol": "echo 'MpiDefault = none'"}, ["environment.SLURM_MPI_TYPE=pmix_v4"], ("good", f"pmix_v4; {HAS}")),
        ({"scontrol": "echo 'MpiDefault = none'"}, ["launch.options=[--mpi=pmi2]"], ("good", f"pmi2; {HAS}")),
        ({}, ["launch.options=[--mpi=none]"], ("wrong", "it is none: tasks do not find each other;")),
        ({}, ["launch.options=[--mpi=pmix_v5]"], ("wrong", f"it is pmix_v5; {HAS}")),
        ({}, ["mpi.implementation=cray-mpich"], ("good", f"pmix; {HAS}")),
        (
            {"scontrol": "echo 'MpiDefault = cray_shasta'", "srun": ":"},
            [],
            ("open", "it is cray_shasta, and openmpi meets"),
        ),
        ({"scontrol": "exit 1"}, [], ("open", "Slurm does not say which types it has: scontrol: exit code 1")),
        ({"scontrol": ":"}, [], ("open", f"the default is not known; {HAS}")),
        ({}, ["launch.command=mpirun"], None),
        (
            {"srun": "for a in 'MPI types are...' none pmi2; do echo srun: $a >&2; done"},
            [],
            ("wrong", "it is pmix; srun has none, pmi2"),
        ),
    ],
)
def test_how_tasks_find_each_other(machine, found, said, overrides, expected):
    at = machine(**said)
    (at / "spec.yaml").write_text(TEXT)
    overrides = ["mpi.implementation=openmpi", "site=generic-slurm", *overrides]
    words = [word for override in overrides for word in ("--set", override)]
    one = found("spec.yaml", *words, code=None).get("srun --mpi")
    assert (one and (one[0], one[1][: len(expected[1])])) == expected


@pytest.mark.parametrize(
    ("there", "condition", "text"),
    [
        (["icon", "icon-cpu", "writer"], "good", "{at}/icon, {at}/icon-cpu, {at}/writer"),
        (["icon", "writer"], "wrong", "there is no program {at}/icon-cpu"),
        (["icon", "icon-cpu"], "wrong", "there is no program {at}/writer"),
    ],
)
def test_programs_of_a_placement(machine, found, there, condition, text):
    """The binary of each model is looked for, and programs that are no models."""
    at = machine()
    for name in there:
        (at / name).touch(mode=0o755)
    component = "grid: {file: grid.nc}, time: {modelTimeStep: PT10M}, parallel: {num_prefetch_proc: 0}"
    (at / "spec.yaml").write_text(
        f"""nmlgen: 1
name: placed
site: generic-slurm
model: {{release: "2024.10"}}
job: {{nodes: 1}}
time: {{start: "2000-01-01T00:00:00Z", stop: "2000-01-02T00:00:00Z"}}
models:
  atm: {{type: atmo, device: cpu, tasks: 2, executable: icon, {component}}}
  oce: {{type: ocean, tasks: 2, executable: icon-cpu, {component}}}
programs:
  output: {{command: {at}/writer one, tasks: 1}}
"""
    )
    said = found("spec.yaml", "--set", f"model.directory={at}", code=1)["executable"]
    assert said == (condition, text.format(at=at))


@pytest.mark.parametrize(
    ("override", "subject", "expected"),
    [
        ("job.partition=computer", "partition", ("wrong", 'there is no "computer" here')),
        ("job.account=cc1", "account", ("wrong", '"cc1" is none of yours')),
        ("darshan.library=/no/libdarshan.so", "Darshan", ("wrong", "there is no /no/libdarshan.so")),
        ("model.executable=/no/icon", "executable", ("wrong", "there is no program /no/icon")),
        ("model.directory=no", "executable", ("open", "no/icon/bin/icon is looked for from where the build lies")),
        ("grid.file=/no/grid.nc", "input files", ("wrong", "1 of 1 are missing: /no/grid.nc")),
    ],
)
def test_of_a_spec(machine, found, override, subject, expected):
    at = machine()
    (at / "spec.yaml").write_text(TEXT)
    code = 1 if expected[0] == "wrong" else 0
    condition, text = found("spec.yaml", "--set", "model.directory=/no", "--set", override, code=code)[subject]
    assert condition == expected[0]
    assert text.startswith(expected[1])


def test_of_a_pattern_one_file_must_be_there(machine, found):
    at = machine()
    (at / "spec.yaml").write_text(f'{TEXT}input_files: {{"a*.nc": {{directory: {at}}}}}\n')
    said = ("spec.yaml", "--set", "model.directory=/no", "--set", f"grid.file={at}/grid.nc")
    (at / "grid.nc").touch()
    assert found(*said, code=1)["input files"] == ("wrong", f"1 of 2 are missing: {at}/a*.nc")
    (at / "a1.nc").touch()
    assert found(*said, code=1)["input files"] == ("good", "all 2 are there")


def test_without_a_site_slurm_is_no_must(machine, found):
    machine(sbatch=None)
    conditions = found(code=0)
    assert conditions["Slurm"] == ("open", "there is no sbatch here")
    assert conditions["site"][0] == "open"


def test_text(machine, nmlgen):
    machine()
    done = nmlgen("doctor", "--site", "levante")
    assert "ok     Slurm         slurm-wlm 22.05.8\n" in done.out
    assert done.out.endswith("\n\nnothing is wrong\n")
    assert nmlgen("doctor", "--site", "levant").code == 1
    assert nmlgen("doctor", "nothing.yaml").code == 2
    assert nmlgen("doctor", "--set", "a=b").code == 2


def test_mounted(tmp_path):
    table = tmp_path / "mounts"
    lines = [
        "/dev/a / ext4 rw 0 0",
        rf"1.2.3.4:/w {tmp_path}/a\040b lustre rw",
        "not",
        f"tmpfs {tmp_path}/a tmpfs rw 0 0",
    ]
    table.write_text("\n".join(lines))
    assert mounted(tmp_path / "a b" / "run", table) == (f"{tmp_path}/a b", "lustre")
    assert mounted(tmp_path / "a" / "run", table) == (f"{tmp_path}/a", "tmpfs")
    assert mounted(tmp_path / "ab", table) == ("/", "ext4")
    assert mounted(tmp_path, tmp_path / "missing") is None


PBS = {
    "qstat": """case $1 in
-B) printf 'Server: pbshost\\n    state_count = Transit:0 Begun\\n\\t:0 \\n%s    pbs_version = 23.06.06\\n' "$HISTORY";;
-Q) printf 'Queue: workq\\n    queue_type = Execution\\n\\nQueue: long\\n';;
esac""",
}


def test_a_machine_with_pbs(machine, found, monkeypatch):
    at = machine(**PBS)
    (at / "site.yaml").write_text("description: x\nmachine: {scheduler: pbs, file_system: unknown}\n")
    (at / "spec.yaml").write_text(re.sub(r"site: \S+", "site: ./site.yaml", TEXT))
    told = found("spec.yaml", "--set", "job.partition=long", code=None)
    assert told["PBS"] == ("good", "23.06.06; it forgets jobs that have ended")
    assert told["partition"] == ("good", "long")
    monkeypatch.setenv("HISTORY", "    job_history_enable = True\n")
    told = found("spec.yaml", "--set", "job.partition=short", code=1)
    assert told["PBS"] == ("good", "23.06.06; it keeps a history of jobs")
    assert told["partition"] == ("wrong", 'there is no "short" here')
    machine(**{"qstat": None})
    (at / "bin" / "qstat").unlink()
    assert found("spec.yaml", code=1)["PBS"] == ("wrong", "there is no qstat here")


def test_partitions_of_a_site_are_looked_for_at_once():
    class Name(str):
        """One that is not compared with another."""

        __hash__ = str.__hash__

        def __eq__(self, other):
            raise AssertionError(other)

    facts = {"scheduler": "slurm", "file_system": "unknown", "partitions": {f"p{number}": {} for number in range(9)}}
    (one,) = examining._partitions(machine_of("ours", facts), None, tuple(map(Name, ("a", "b"))))
    assert one.text == "a, b: none of those of ours"
