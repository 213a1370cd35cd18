"""Scripts for another batch system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rows import rows

from nmlgen import InputError, convert

SLURM = """#!/bin/bash
#SBATCH --job-name=amip
# what it is
#SBATCH --nodes=2 --qos=high

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
#SBATCH --time=10
# srun is named below
if true; then srun -n $SLURM_NTASKS ./icon; fi
echo my_SLURM_x mysrun.sh $SLURM_NTASKS
"""
PBS = """#PBS -N amip
#PBS -l select=2:ncpus=4 \\
 -j oe
#PBS -V
cd $PBS_O_WORKDIR
mpirun -np $(wc -l <$PBS_NODEFILE) ./icon
  #PBS -q late
cat <<END
#PBS -q other
END
qsub next.sh
"""
TOY = """
from nmlgen.schedulers.request import Asked, Request, Written
name, title, prefix = "toy", "Toy", "#TOY"
variables, says, programs = {}, {"the number of tasks": "TOY_TASKS"}, {}


def is_spoken(source):
    return prefix in source.text


def read(source, bodies):
    return Request({}, lines=((2, 2),))


def written(request):
    asked = Asked(request)
    directives = (f"nodes {asked.take('nodes')}",)
    return Written(directives, tuple(asked.rest(title)))
"""


def test_to_pbs(tmp_path):
    path = tmp_path / "job.sh"
    path.write_text(SLURM)
    found = convert(path, "pbs")
    assert (
        found.text
        == """#!/bin/bash
#PBS -S /bin/bash
#PBS -N amip
#PBS -l select=2:ncpus=1:mpiprocs=1
#PBS -l place=scatter
#PBS -j oe
#PBS -V
# not converted: --qos=high
cd "$PBS_O_WORKDIR" || exit # PBS begins in the home directory
# what it is

export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
# #SBATCH --time=10
# srun is named below
if true; then srun -n $SLURM_NTASKS ./icon; fi
echo my_SLURM_x mysrun.sh $SLURM_NTASKS
"""
    )
    told = [(one.code, one.line, one.span.text) for one in found.report.findings]
    assert told == [
        ("CNV001", 4, "--qos"),
        ("CNV003", 6, "SLURM_CPUS_PER_TASK"),
        ("CNV001", 7, "#SBATCH --time=10"),
        ("CNV003", 9, "srun"),
        ("CNV003", 9, "SLURM_NTASKS"),
    ]
    assert (found.old, found.new, found.is_whole) == ("slurm", "pbs", False)


def test_to_slurm(tmp_path):
    path = tmp_path / "job.sh"
    path.write_text(PBS)
    found = convert(path, "slurm")
    assert (
        found.text
        == """#!/bin/bash
#SBATCH --job-name=amip
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=4
cd $PBS_O_WORKDIR
mpirun -np $(wc -l <$PBS_NODEFILE) ./icon
#   #PBS -q late
cat <<END
#PBS -q other
END
qsub next.sh
"""
    )
    told = [(one.code, one.line, one.span.text) for one in found.report.findings]
    assert told == [
        ("CNV002", 2, "select=2:ncpus=4"),
        ("CNV003", 5, "PBS_O_WORKDIR"),
        ("CNV003", 6, "PBS_NODEFILE"),
        ("CNV001", 7, "#PBS -q late"),
        ("CNV003", 11, "qsub"),
    ]


def test_a_time_that_says_none(tmp_path):
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/bash\n#PBS -l walltime=\n./icon\n")
    done = convert(path, to="slurm")
    assert "# not converted: -l walltime=" in done.text
    assert any("-l walltime=: it says no time" in finding.message for finding in done.report.findings)


def test_nothing_is_left(tmp_path):
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/bash\n#SBATCH -N 1 -t 10\n./icon\n")
    assert convert(path, "pbs").is_whole
    path.write_text(convert(path, "pbs").text)
    back = convert(path, "slurm")
    assert (
        "#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n#SBATCH --cpus-per-task=1\n#SBATCH --time=00:10:00\n"
        in back.text
    )


def test_what_is_no_blank_to_sbatch_ends_the_directives(tmp_path):
    path = tmp_path / "job.sh"
    path.write_text("#!/bin/bash\n#SBATCH -N 1\n\u00a0\n#SBATCH -J late\nsrun ./icon\n", encoding="utf-8")
    text = convert(path, "pbs").text
    assert "# #SBATCH -J late" in text
    assert "#PBS -N" not in text


@rows(
    ("text", "to", "message"),
    [
        ("", "pbs", "job.sh is empty: a run script is expected"),
        ("\0\1\2#SBATCH -N 1\n", "pbs", "job.sh is binary: a run script is expected"),
        ("true\n", "pbs", "has no #SBATCH line before its first command"),
        ("#!/bin/bash\ntrue\n#SBATCH -N 1\n", "pbs", "has no #SBATCH line before its first command"),
        ("#PBS -N a\n", "pbs", "is for PBS already"),
        ("#!/bin/bash\n#SBATCH -N 1\n", "slurm", "is for Slurm already"),
        ("#!/bin/bash\n#SBATCH -N 1\n#PBS -N a\n", "pbs", "has #PBS and #SBATCH lines: which of them hold?"),
        ("#!/bin/bash\r\n#SBATCH -N 1\r\n", "pbs", "has DOS line ends"),
        ("\ufeff#!/bin/bash\n#SBATCH -N 1\n", "pbs", "begins with a byte order mark"),
        ("#PBS --venode=1\n", "slurm", "has lines for NQSV"),
        ("#PBS -N a\n", "lsf", 'there is no batch system "lsf"; expected: pbs or slurm'),
    ],
)
def test_what_cannot_be(tmp_path, text, to, message):
    (tmp_path / "job.sh").write_bytes(text.encode())
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        convert(tmp_path / "job.sh", to)


def test_a_package_adds_a_scheduler(tmp_path):
    package = tmp_path / "package"
    (package / "toy-1.0.dist-info").mkdir(parents=True)
    (package / "toy-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (package / "toy-1.0.dist-info" / "entry_points.txt").write_text("[nmlgen.schedulers]\ntoy = toy_scheduler\n")
    (package / "toy_scheduler.py").write_text(TOY)
    script = tmp_path / "job.sh"
    script.write_text(SLURM)
    root = str(Path(__file__).parent.parent)
    path = os.pathsep.join([str(package), root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    done = subprocess.run(
        [sys.executable, "-m", "nmlgen", "convert", "--to", "toy", str(script)],
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "#TOY nodes 2\n# not converted: " in done.stdout
    assert "expected: TOY_TASKS" in done.stderr
