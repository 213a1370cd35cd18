"""What one batch system asks for, said to another."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.schedulers import schedulers
from nmlgen.schedulers.pbs.directives import read_pbs_directives
from nmlgen.schedulers.slurm.directives import read_directives
from nmlgen.source import Source

TO_PBS = [
    (
        "--nodes=4 --ntasks-per-node=32 --cpus-per-task=4",
        "-l select=4:ncpus=128:mpiprocs=32:ompthreads=4|-l place=scatter",
    ),
    ("-N 2 -n 10 --mem=200G", "-l select=2:ncpus=5:mpiprocs=5:mem=200gb|-l place=scatter"),
    ("-N 2 -n 11", "-l select=1:ncpus=6:mpiprocs=6+1:ncpus=5:mpiprocs=5|-l place=scatter"),
    ("-n 10", "-l select=10:ncpus=1:mpiprocs=1"),
    ("-n 10 --exclusive", "-l select=10:ncpus=1:mpiprocs=1|-l place=excl"),
    ("-n 10 --ntasks-per-node=4", "-l select=1:ncpus=4:mpiprocs=4+2:ncpus=3:mpiprocs=3|-l place=scatter"),
    ("-n 1 -c 8 --mem-per-cpu=1500", "-l select=1:ncpus=8:mpiprocs=1:ompthreads=8:mem=12000mb"),
    ("--exclusive", "-l place=excl"),
    ("-N 1 --exclusive", "-l select=1:ncpus=1:mpiprocs=1|-l place=excl"),
    ("-t 1-02:03:04", "-l walltime=26:03:04"),
    ("-t 8:00", "-l walltime=00:08:00"),
    ("-J amip -A bb1 -p compute", "-N amip|-A bb1|-q compute"),
    ("--mail-type=BEGIN,END --mail-user=a@b.de", "-m be|-M a@b.de"),
    ("--mail-type=NONE", "-m n"),
    ("--mail-user=a@b.de", "-m n|-M a@b.de"),
    ("--array=0-9:3%2", "-J 0-9:3%2"),
    ("--begin=2026-01-31T08:00", "-a 202601310800.00"),
    ("--begin=08:00", "-a 0800"),
    ("--hold --no-requeue", "-h|-r n"),
    ("--export=A=1,ALL", "-V|-v A=1"),
    ("--chdir=/a/b", ""),
    ("--kill-on-invalid-dep=yes", ""),
]
LOST_TO_PBS = [
    "--qos=high",
    "--constraint=gpu",
    "--signal=B:USR1@300",
    "--mem=0",
    "--nodes=2-4",
    "--array=1,3,5",
    "--array=4",
    "--time=UNLIMITED",
    "--dependency=singleton",
    "--dependency=afterok:1?afterany:2",
    "--begin=now+1hour",
    "--exclusive=user",
    "--mail-type=REQUEUE",
    "--output=%j/log",
    "--output=log.%N",
    "--gres=nvme:1",
    "--kill-on-invalid-dep=no",
    "--job-name='a b'",
    "--nodes=%NODES%",
    "--nodes=two",
    "--nosuch=1",
    "--output=",
    "--account=",
    "--partition=",
    "--mail-user=",
    "--chdir=",
    "--export=",
]
TO_SLURM = [
    ("-l select=4:ncpus=128:mpiprocs=32:ompthreads=4:mem=200gb -l place=scatter:excl",
     "--nodes=4|--ntasks-per-node=32|--cpus-per-task=4|--mem=200G|--exclusive"),
    ("-l select=1:ncpus=4+2:ncpus=4", "--nodes=3|--ntasks-per-node=1|--cpus-per-task=4"),
    ("-l select=1:ncpus=6:mpiprocs=6+1:ncpus=5:mpiprocs=5", "--nodes=2|--ntasks=11|--cpus-per-task=1"),
    ("-l select=4:ncpus=2:mpiprocs=2:mem=1gb -l place=pack", "--nodes=1|--ntasks=8|--cpus-per-task=1|--mem=4G"),
    ("-l nodes=2:ppn=24", "--nodes=2|--ntasks-per-node=24"),
    ("-l ncpus=4,mem=1024kb", "--nodes=1|--ntasks-per-node=1|--cpus-per-task=4|--mem=1M"),
    ("-l select=1:ngpus=2", "--nodes=1|--ntasks-per-node=1|--gpus-per-node=2"),
    ("-l walltime=26:03:00", "--time=1-02:03:00"),
    ("-l walltime=90", "--time=00:02:00"),
    ("-N amip -A bb1 -q compute", "--job-name=amip|--account=bb1|--partition=compute"),
    ("-P bb1", "--account=bb1"),
    ("-m abe -M a@b.de", "--mail-user=a@b.de|--mail-type=BEGIN,END,FAIL"),
    ("-M a@b.de", "--mail-user=a@b.de|--mail-type=FAIL"),
    ("-J 0-9:3%2", "--array=0-9:3%2"),
    ("-a 202601310800", "--begin=2026-01-31T08:00:00"),
    ("-a 0800", "--begin=08:00"),
    ("-h -r n", "--hold|--no-requeue"),
    ("-W depend=afterok:1.pbs:2.pbs,afterany:3", "--dependency=afterok:1:2,afterany:3|--kill-on-invalid-dep=yes"),
    ("-v A=1,B", "--export=ALL,A=1,B"),
]  # fmt: skip
LOST_TO_SLURM = [
    "-p 100",
    "-l select=1:ncpus=4:model=ivy",
    "-l select=1:ncpus=4+1:ncpus=8",
    "-l nodes=node1",
    "-l filesystems=home",
    "-l place=group=rack",
    "-l walltime=1:99:99:99",
    "-l walltime=$T",
    "-W umask=022",
    "-W depend=beforeok:1",
    "-c s",
    "-m aj",
    "-a 31080000",
    "-A $GROUP",
    "-o $HOME/log",
    "-I",
    "-Q",
    "-N",
    "word",
]


def translated(to, *words):
    old = next(scheduler for name, scheduler in schedulers().items() if name != to)
    text = "#!/bin/bash\n" + "".join(f"{old.prefix} {line}\n" for line in words) + "true\n"
    request = old.read(Source("job.sh", text), ())
    written = schedulers()[to].written(request)
    found = Source(
        "job.sh", "#!/bin/bash\n" + "".join(f"{schedulers()[to].prefix} {line}\n" for line in written.directives)
    )
    assert read_pbs_directives(found) == ()
    assert read_directives(found).problems == ()
    return request, written


def to_pbs(*words):
    return translated("pbs", *words)


def to_slurm(*words):
    return translated("slurm", *words)


@rows(("written", "expected"), TO_PBS)
def test_to_pbs(written, expected):
    request, found = to_pbs(written)
    usual = {"-S /bin/bash", "-j oe", "-V"} - set(expected.split("|"))
    assert "|".join(line for line in found.directives if line not in usual) == expected
    assert [remark.loss for remark in (*request.remarks, *found.remarks) if remark.loss] == []


@rows("written", LOST_TO_PBS)
def test_lost_to_pbs(written):
    request, found = to_pbs(written)
    assert [remark.span.line for remark in (*request.remarks, *found.remarks) if remark.loss] == [2]
    assert found.directives == ("-S /bin/bash", "-j oe", "-V")


@rows(("written", "expected"), TO_SLURM)
def test_to_slurm(written, expected):
    request, found = to_slurm("-V -j oe", written)
    assert "|".join(found.directives) == expected
    assert [remark.loss for remark in (*request.remarks, *found.remarks) if remark.loss] == []


@rows("written", LOST_TO_SLURM)
def test_lost_to_slurm(written):
    request, found = to_slurm("-V -j oe", written)
    losses = [remark for remark in (*request.remarks, *found.remarks) if remark.loss]
    assert [loss.span.line for loss in losses] == [3]
    assert not [line for line in found.directives if not line.startswith(("--nodes", "--ntasks", "--cpus"))]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("--output=a/b.log", ("-o a/b.log", "-j oe")),
        ("-J x --output=a/%x.log", ("-o a/x.log", "-j oe")),
        ("--output=a/%a.log --error=b.log", ("-o a/^array_index^.log", "-e b.log")),
        ("--output=a/%j.log", ("-o a/", "-j oe")),
        ("--output=%x.%j", ("-j oe",)),
        ("--output=100%%", ("-o 100%", "-j oe")),
        ("--error=", ()),
    ],
)
def test_files_to_pbs(written, expected):
    _, found = to_pbs(written)
    assert tuple(line for line in found.directives if line[:2] in ("-o", "-e", "-j")) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("-j oe -o a/b.log", ("--output=a/b.log",)),
        ("-j oe", ()),
        ("-k n", ("--output=%x.o%j", "--error=%x.e%j")),
        ("-J 0-9", ("--output=%x.o%A.%a", "--error=%x.e%A.%a")),
        ("-o a/^array_index^.log -e host:/b/", ("--output=a/%a.log", "--error=/b/%x.e%j")),
        ("-o 100%", ("--output=100%%", "--error=%x.e%j")),
        ("-j oe -o a -e b", ("--output=a",)),
    ],
)
def test_files_to_slurm(written, expected):
    _, found = to_slurm(written)
    assert tuple(line for line in found.directives if line.startswith(("--output", "--error"))) == expected


def test_what_differs():
    _, found = to_pbs("--output=%j.log --mail-type=FAIL --dependency=afterok:1 --gres=gpu:a100:4 -N 1")
    assert [remark.span.line for remark in found.remarks] == [2] * 4
    assert not any(remark.loss for remark in found.remarks)
    request, found = to_slurm("-l select=2:ncpus=4", "-W depend=afterok:1.pbs")
    assert len(request.remarks) == 1  # chunks may share a node
    assert len(found.remarks) == 2  # ids, and the environment


def test_a_heterogeneous_job():
    request, found = to_pbs("-N 1", "hetjob", "-N 2")
    assert [remark.loss for remark in request.remarks] == ["a heterogeneous job"]
    assert found.directives == ("-S /bin/bash", "-j oe", "-V")


def test_where_a_job_begins():
    assert to_pbs("-N 1")[1].before == ('cd "$PBS_O_WORKDIR" || exit # PBS begins in the home directory',)
    assert to_pbs("-D /a/b")[1].before == ("cd '/a/b' || exit",)
    assert to_pbs("-D b")[1].before == ("cd \"$PBS_O_WORKDIR\"/'b' || exit",)
    assert to_slurm("-N a")[1].before[0].startswith("cd #")


def test_continued_lines():
    request, found = to_slurm("-l select=2:ncpus=4,\\", "walltime=60")
    assert request.lines == ((2, 3),)
    assert "--time=00:01:00" not in found.directives  # qsub reads the second #PBS as a word
