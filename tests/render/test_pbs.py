"""Jobs for PBS: what is asked for, and the script beside stand-ins for qsub and qstat."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from specs import changed, load, refused, unchecked_build
from tools import require

import nmlgen
from nmlgen.experiment.setting import Certainty
from nmlgen.schedulers.job import pbs_as_job
from nmlgen.source import Source

SITE = """\
description: A machine with PBS
machine: {scheduler: pbs, file_system: unknown}
defaults: {launch: {command: mpirun}}
"""
RESTART = "echo RESTART >finish.status; touch a.mfr; ln -sfn a.mfr multifile_restart_atm.mfr"


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A directory with a site, and stand-ins that note their arguments; the model ends well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site.yaml").write_text(SITE)
    (tmp_path / "programs").mkdir()
    for name in ("qsub", "qstat", "mpirun"):
        stand_in(tmp_path, name, "echo OK >finish.status" if name == "mpirun" else "")
    return tmp_path


def stand_in(directory: Path, name: str, does: str) -> None:
    path = directory / "programs" / name
    path.write_text(f'#!/bin/bash\necho {name} "$@" >>"$CALLS"\n{does}\n')
    path.chmod(0o755)


def spec_of(**changes: Any):
    return load(site="./site.yaml", **changes)


def script_of(**changes: Any) -> str:
    return unchecked_build(spec_of(**changes)).files["wave.sbatch"].decode()


def directives(**changes: Any) -> list[str]:
    return [line[5:] for line in script_of(**changes).splitlines() if line.startswith("#PBS ")]


def job(directory: Path, *, is_copied: bool = True, **changes: Any):
    """Runs the script as PBS does: a copy of it, of which only the environment says where it was submitted."""
    variables = {name: changes.pop(name) for name in list(changes) if name.isupper()}
    unchecked_build(spec_of(**changes)).write(directory / "build")
    model = directory / "build" / "icon" / "bin" / "icon"
    model.parent.mkdir(parents=True, exist_ok=True)
    model.write_text("#!/bin/bash\n")
    model.chmod(0o755)
    (directory / "build" / "grids").mkdir(exist_ok=True)
    (directory / "build" / "grids" / "iconR02B05-grid.nc").touch()
    copy = directory / "7.SC"
    copy.write_text((directory / "build" / "wave.sbatch").read_text())
    environment = {
        "PATH": f"{directory}/programs:/usr/bin:/bin",
        "CALLS": str(directory / "calls"),
        "HOME": str(directory),
        "PBS_JOBID": "7.pbs",
        "PBS_O_WORKDIR": str(directory / "build"),
        **variables,
    }
    return subprocess.run(
        ["bash", str(copy if is_copied else directory / "build" / "wave.sbatch")],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def calls(directory: Path, *programs: str) -> list[str]:
    lines = (directory / "calls").read_text().splitlines() if (directory / "calls").exists() else []
    return [line for line in lines if line.split()[0] in programs]


def test_directives(here):
    assert directives(job={"partition": "work", "cpus_per_task": 2, "mail_user": "a@b.de", "mail_type": "END"}) == [
        "-S /bin/bash",
        "-N wave",
        "-A bb1234",
        "-q work",
        "-l select=2:ncpus=64:mpiprocs=32:ompthreads=2",
        "-l place=scatter",
        "-l walltime=00:40:00",
        "-j oe",
        "-m e",
        "-M a@b.de",
        "-r n",
        "-V",
    ]


def test_there_and_back(here):
    asked = {"partition": "work", "cpus_per_task": 2, "mem": "200G", "constraint": "node_type=rome", "exclusive": True}
    asked |= {"mail_user": "a@b.de", "mail_type": "BEGIN,END", "signal": "B:USR1@300", "time": "01:00:00"}
    unchecked_build(spec_of(job=asked)).write(here / "build")
    said = yaml.safe_load(nmlgen.import_spec(here / "build").text)
    assert said["site"] == "./site.yaml"
    assert said["job"] == changed(job=asked)["job"] | {"output": None}
    assert nmlgen.lint([here / "build"]).findings == nmlgen.check(spec_of(job=asked)).findings


@pytest.mark.parametrize(
    ("lines", "job"),
    [
        (["-l select=2:node_type=rome:ncpus=128:mpiprocs=64 -l walltime=01:30:00"],
         {"nodes": 2, "ntasks_per_node": 64, "cpus_per_task": 2, "constraint": "node_type=rome", "time": "01:30:00"}),
        (["-l select=10:ncpus=1:mpiprocs=1"], {"ntasks": 10}),
        (["-l select=4:ncpus=128", "-q work", "-P bb1"], {"nodes": 4, "partition": "work", "account": "bb1"}),
        (["-l nodes=2:ppn=24", "-N amip -e a.err"], {"nodes": 2, "ntasks_per_node": 24, "error": "a.err"}),
        (["-W umask=022", "-l walltime=$T", "-J 0-3"], {}),
        (["--venode=1", "-q sx"], None),  # NQSV's
    ],
)  # fmt: skip
def test_a_script_for_pbs(lines, job, here):
    source = Source("a.run", "#!/bin/bash\n" + "".join(f"#PBS {line}\n" for line in lines) + "true\n")
    found = pbs_as_job(source, ())
    assert (found.span is None) is (job is None)
    settings = {setting.name.removeprefix("job."): setting.value for setting in found.settings.values()}
    assert {name: settings.get(name) for name in job or {}} == (job or {})
    assert settings.keys() - {"job_name", "cpus_per_task"} <= (job or {}).keys()
    assert all(setting.span is not None for setting in found.settings.values())


@pytest.mark.parametrize("line", ["-l select=9999999999:ncpus=1", "-l select=2000000000:ncpus=8+2000000000:ncpus=8"])
def test_more_chunks_than_sbatch_takes_nodes_are_no_mistake(line):
    """qsub does not count them."""
    found = pbs_as_job(Source("a.run", f"#!/bin/bash\n#PBS {line}\ntrue\n"), ())
    assert [setting.certainty for name, setting in found.settings.items() if name in ("nodes", "ntasks")] == [
        Certainty.UNKNOWN
    ]


def test_what_chunks_have_besides(here):
    found = directives(job={"constraint": "node_type=rome:arch=x", "mem": "200G", "output": "logs/all"})
    assert "-l select=2:ncpus=32:mpiprocs=32:mem=200gb:node_type=rome:arch=x" in found
    assert "-o logs/all" in found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"qos": "high"}, "--qos=high: Slurm alone has this option"),
        ({"constraint": "gpu"}, "--constraint=gpu: features of nodes are Slurm's alone"),
        ({"job_name": "a b"}, "--job-name=a b: qsub refuses that name"),
        ({"output": "%j/log"}, "--output=%j/log: qsub puts no job id or user into the name of a directory"),
    ],
)
def test_what_cannot_be_said(wanted, message, here):
    (found,) = refused(changed(site="./site.yaml", job=wanted))
    assert (found.code, found.message) == ("SPC004", f"./site.yaml has PBS: {message}")


def test_the_script_is_in_order(here):
    require("shellcheck")
    script = script_of(after={"submit": "post.sh"}, darshan={"library": "/opt/libdarshan.so"})
    found = subprocess.run(
        ["shellcheck", "-S", "style", "-s", "bash", "-"], input=script, capture_output=True, text=True, check=False
    )
    assert found.stdout == ""
    assert "SLURM" not in script
    assert "DARSHAN_JOBID=PBS_JOBID\n" in script


def test_a_job(here):
    done = job(here)
    assert (done.returncode, done.stderr) == (0, "")
    assert calls(here, "mpirun", "qsub") == [f"mpirun -n 64 {here}/build/icon/bin/icon"]
    assert (here / "build" / "run" / "nmlgen.legs").read_text() == "1 7 OK\n"
    assert (here / "build" / "run" / "wave.7.icon.log").exists()


def test_a_chain_goes_on(here):
    stand_in(here, "mpirun", RESTART)
    stand_in(here, "qsub", 'echo "in $PWD ${NMLGEN_ARGUMENTS:-}" >>"$CALLS"')
    (here / "build").mkdir()
    (here / "build" / "post.sh").touch()
    done = job(here, after={"submit": "post.sh"})
    assert (done.returncode, done.stderr) == (0, "")
    assert calls(here, "qsub", "in") == [
        f"qsub -W depend=afterok:7.pbs -v NMLGEN_RUN,NMLGEN_LEG {here}/build/post.sh",
        f"in {here}/build/run ",
        "qsub wave.sbatch",
        f"in {here}/build ",
    ]


def test_a_job_that_is_not_accepted(here):
    stand_in(here, "mpirun", RESTART)
    stand_in(here, "qsub", "exit 1")
    done = job(here)
    assert done.returncode == 75
    assert "submit it again: qsub wave.sbatch" in done.stderr


def test_an_argument_comes_as_a_variable(here):
    stand_in(here, "mpirun", RESTART)
    stand_in(here, "qsub", 'echo "told ${NMLGEN_ARGUMENTS:-nothing}" >>"$CALLS"')
    done = job(here, NMLGEN_ARGUMENTS="restart")
    assert "cannot go on: there is no checkpoint of atm" in done.stderr
    run = here / "build" / "run"
    (run / "b.mfr").touch()
    (run / "multifile_restart_atm.mfr").symlink_to("b.mfr")
    done = job(here, NMLGEN_ARGUMENTS="restart")
    assert "lrestart .TRUE." in done.stdout
    assert calls(here, "told") == ["told nothing"]


def test_the_script_keeps_the_time_itself(here):
    stand_in(here, "mpirun", 'trap "exit 143" TERM; sleep 600 & wait')
    done = job(here, job={"time": "00:02:01"})  # of which 120 s are for what follows
    assert done.returncode == 143
    assert "stopped by time limit" in done.stderr
    assert "sleep 2280 &" in script_of()


def test_the_clock_ends_with_the_script(here):
    done = job(here)
    assert done.returncode == 0  # and not only when the clock lets go of what it was given


@pytest.mark.parametrize(
    ("answer", "is_gone"),
    [
        ("    job_state = R", False),
        ("    job_state = Q", False),
        ("    job_state = E", False),
        ("    job_state = F", True),
        ("qstat: Unknown Job Id 5.pbs", True),
        ("qstat: 5.pbs Job has finished, use -x or -H to obtain historical job information", True),
        ("Connection refused\nqstat: cannot connect to server pbs (errno=15010)", False),
        ("", False),
    ],
)
def test_a_claim_is_taken_over_from_a_job_known_to_be_gone(answer, is_gone, here):
    claims = here / "build" / "run" / "nmlgen.claims"
    claims.mkdir(parents=True)
    (claims / "1").symlink_to("5.pbs|1|99999999|1|boot/pid:[1]||far")
    stand_in(here, "qstat", f"[[ $2 != 5.pbs ]] || printf '%s\\n' '{answer}' >&2")
    done = job(here)
    assert done.returncode == (0 if is_gone else 1)
    assert ("is claimed by job 5.pbs" in done.stderr) is not is_gone


@pytest.mark.parametrize("link", ["-x|1|2|3|4|5|6", "a[$(touch pwned)]|1|2|3|4|5|6", "7.pbs|a[$(touch pwned)]|1|2|3|"])
def test_a_claim_that_nobody_can_read_stands(link, here):
    claims = here / "build" / "run" / "nmlgen.claims"
    claims.mkdir(parents=True)
    (claims / "1").symlink_to(link)
    assert job(here).returncode == 1
    assert not list(here.rglob("pwned"))
    assert not [line for line in calls(here, "qstat") if line != "qstat -f 7.pbs"]


def test_a_job_that_pbs_starts_again_has_its_own_claim(here):
    claims = here / "build" / "run" / "nmlgen.claims"
    claims.mkdir(parents=True)
    (claims / "1").symlink_to("7.pbs|1|99999999|1|boot/pid:[1]||far")
    stand_in(here, "qstat", "echo '    run_count = 1'")
    assert job(here).returncode == 1  # another process of the same job, on another node
    stand_in(here, "qstat", "echo '    run_count = 2'")
    assert job(here).returncode == 0
