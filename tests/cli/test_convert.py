"""nmlgen convert."""

from __future__ import annotations


def test_to_a_file(nmlgen, here):
    (here / "job.sh").write_text("#!/bin/bash\n#SBATCH --nodes=2 --qos=high\n./icon\n")
    done = nmlgen("convert", "job.sh", "--to", "pbs", "-o", "job.pbs")
    assert (done.code, done.out) == (1, "")
    assert "warning[CNV001] no-counterpart: --qos=high: Slurm alone has this option\n" in done.err
    assert done.err.endswith("job.sh from slurm to pbs: 1 warning\n")
    assert "#PBS -l select=2:ncpus=1:mpiprocs=1\n" in (here / "job.pbs").read_text()


def test_to_the_standard_output(nmlgen, here):
    (here / "job.sh").write_text("#!/bin/bash\n#PBS -V -j oe -l walltime=60\n./icon\n")
    done = nmlgen("convert", "job.sh", "--to", "slurm", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("#!/bin/bash\n#SBATCH --time=00:01:00\ncd # where")


def test_what_cannot_be(nmlgen, here):
    (here / "job.sh").write_text("true\n")
    assert nmlgen("convert", "job.sh", "--to", "pbs").err.startswith("nmlgen: error: job.sh has no #SBATCH line")
    assert nmlgen("convert", "missing.sh", "--to", "pbs").code == 2
    assert nmlgen("convert", "job.sh", "--to", "lsf").code == 2
    assert nmlgen("convert", ".", "--to", "pbs").code == 2
