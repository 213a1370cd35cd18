"""#SBATCH lines given to the real sbatch: what it refuses, and what becomes of the values."""

from __future__ import annotations

from pathlib import Path

import pytest
from script.directive_cases import TAKEN, WRONG

from nmlgen.experiment.setting import Certainty
from nmlgen.schedulers.slurm.directives import Directives, read_directives
from nmlgen.source import Source
from nmlgen.units.wall_time import format_wall_time, parse_wall_time

from .cluster import Cluster, Job

LINES = [*(line for line, _ in TAKEN), *(lines for lines, _, _ in WRONG)]
OF_THE_CLUSTER = ("--gpus-per-node=", "--time=UNLIMITED", "--nodes=1k")
"""Lines that sbatch takes on another cluster, one with GPUs, without limits or with more nodes."""

FAILING = ("#SBATCH --error=", "#SBATCH --output=")
"""Lines that sbatch takes, and with which the job fails."""

SCRIPTS = (
    "#SBATCH -N 2\ntrue\n",
    "\ufeff#!/bin/bash\n#SBATCH -N 2\n",
    "#!/bin/bash\r\n#SBATCH -N 2\r\n",
    "#!/bin/bash\n#SBATCH -N 2",
    "#!/bin/bash\n#SBATCH -J a\n#SBATCH -J b\n",
    "#!/bin/bash\n#SBATCH --job-name\n#SBATCH --nodes=2\n",
    "#!/bin/bash\n#SBATCH --job-name # x\n\n# y\n#SBATCH foo -N2\n",
    "#!/bin/bash\n#SBATCH --mail-user=x --mail-type=BEGIN\n#SBATCH --mail-type=END\n",
    "#!/bin/bash\n\n \t\n  # words\n#SBATCH -N 2\n: # x\n#SBATCH -N 3\n",
    "#!/bin/bash\n#SBATCH foo\n#SBATCH -N 2\n",
)


def submitted(cluster: Cluster, script: str, directory: Path) -> Job | str:
    """The held job, or what sbatch says."""
    path = directory / "job.sh"
    path.write_text(script, encoding="utf-8", newline="")
    try:
        job = cluster.job(cluster.submit(path, directory, "--hold"))
    except RuntimeError as error:
        return str(error)
    cluster.run("scancel", str(job.id))
    return job


def compare(read: Directives, job: Job, directory: Path) -> None:
    """Hold what was read against what Slurm made of it."""
    expected = {
        "job-name": lambda name: {"JobName": name or job.details["JobName"]},
        "comment": lambda text: {"Comment": text},
        "nodes": lambda nodes: {"NumNodes": f"{nodes}-{nodes}" if isinstance(nodes, int) else nodes},
        "ntasks": lambda tasks: {"NumTasks": str(tasks)},
        "ntasks-per-node": lambda tasks: {"NumTasks": str(tasks)},
        "time": lambda limit: {"TimeLimit": format_wall_time(-(-parse_wall_time(limit) // 60) * 60)},
        "mem": lambda size: {"MinMemoryNode": size},
        "requeue": lambda requeue: {"Requeue": str(int(requeue))},
        "exclusive": lambda value: {"OverSubscribe": "NO" if value is True else str(value).upper()},
        "output": lambda path: {"StdOut": f"{directory}/{path.replace('%j', str(job.id))}"},
        "mail-type": lambda types: {"MailType": types},
    }
    for name, setting in read.settings.items():
        if name in expected and setting.certainty is not Certainty.UNKNOWN:
            for key, value in expected[name](setting.value).items():
                assert job.details[key].partition(" CPUs/Task=")[0].rstrip() == value
    if "job-name" not in read.settings:
        assert job.details["JobName"] == "job.sh"


def judge(cluster: Cluster, script: str, directory: Path) -> None:
    read = read_directives(Source("job.sh", script))
    found = submitted(cluster, script, directory)
    refused = [problem.message for problem in read.problems if problem.stops]
    assert bool(refused) == isinstance(found, str), (refused, found)
    if isinstance(found, Job):
        compare(read, found, directory)


@pytest.mark.parametrize(
    "lines",
    [line for line in LINES if line not in FAILING and not any(option in line for option in OF_THE_CLUSTER)],
)
def test_lines(cluster: Cluster, tmp_path: Path, lines: str) -> None:
    judge(cluster, f"#!/bin/bash\n{lines}\nn=2\n", tmp_path)  # else what makes the script may put a value for $n in


@pytest.mark.parametrize("line", FAILING)
def test_a_job_fails(cluster: Cluster, tmp_path: Path, line: str) -> None:
    path = tmp_path / "job.sh"
    path.write_text(f"#!/bin/bash\n{line}\ntouch began\n", encoding="utf-8")
    assert any(problem.stops for problem in read_directives(Source("job.sh", path.read_text())).problems)
    job = cluster.submit(path, tmp_path)
    cluster.wait(job)
    assert cluster.state(job).name == "FAILED"
    assert not (tmp_path / "began").exists()


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts(cluster: Cluster, tmp_path: Path, script: str) -> None:
    judge(cluster, script, tmp_path)


def test_other_batch_systems(cluster: Cluster, tmp_path: Path) -> None:
    """Their lines have the last word, even in a here-document behind commands."""
    script = "#!/bin/bash\n#SBATCH -J a\ncat <<END\n#PBS -N x\nEND\n"
    found = submitted(cluster, script, tmp_path)
    assert isinstance(found, Job)
    assert found.name == "x"
    assert read_directives(Source("job.sh", script)).settings["job-name"].certainty is Certainty.UNKNOWN
