"""What srun makes of launches in jobs of several parts, of several programs, and with files of hosts."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from rows import rows

import nmlgen
from nmlgen.lift import launches
from nmlgen.lift.launches import _is_comment, _numbers_of, of_text
from nmlgen.schedulers.slurm.directives import Directives
from nmlgen.source import Source, Text

HETJOB = "#!/bin/bash\n#SBATCH --ntasks=4\n#SBATCH hetjob\n#SBATCH --ntasks=12\n"
EACH = "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=8\n"


def codes(text: str, directory: Path) -> list[str]:
    path = directory / "exp.run"
    path.write_text(text)
    found = nmlgen.lint([path], is_isolated=True, is_fragment=False, select=["LCH", "SBA", "SHL"]).findings
    return [finding.code for finding in found]


@rows(
    ("commands", "expected"),
    [
        ("srun bin/icon", ["LCH003"]),
        ("srun $OPTIONS bin/icon", []),  # nobody knows what stands there
        ("srun --het-group=0,1 bin/icon", []),
        ("srun --het-group 0 bin/icon : --het-group 1 bin/icon", []),
        ("srun bin/icon : bin/icon", []),
        ("srun --pack-group=0-1 bin/icon", []),
        ("srun --het-group=0,1 --multi-prog bin/icon.conf", ["LCH001"]),
        ("srun --het-group=0 --multi-prog bin/icon.conf", ["LCH003"]),  # the other part is idle
        ("mpirun -n 16 bin/icon", []),
        ("n=$SLURM_NTASKS\nsrun --het-group=0,1 bin/icon", ["LCH005"]),
        ("n=$SLURM_NTASKS_HET_GROUP_0\nsrun --het-group=0,1 bin/icon", []),
        ("# n=$SLURM_NTASKS\nsrun --het-group=0,1 bin/icon", []),
    ],
)
def test_heterogeneous_jobs(commands: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(f"{HETJOB}{commands}\n", tmp_path) == expected


def master(first: str, second: str, size: int) -> str:
    """A master namelist of two models, the first of which has so many of 16 ranks."""
    kinds = {"atm": 1, "oce": 2}
    entries = [
        f"&master_model_nml\n model_name = '{name}'\n model_namelist_filename = 'NAMELIST_{name}'\n"
        f" model_type = {kinds[name]}\n model_min_rank = {start}\n model_max_rank = {end}\n/\n"
        for name, start, end in ((first, 0, size - 1), (second, size, 15))
    ]
    return f"cat >icon_master.namelist <<EOF\n{''.join(entries)}EOF\n"


@pytest.mark.parametrize(
    ("size", "launch", "expected"),
    [
        (12, "srun --het-group=1 bin/ocean : --het-group=0 bin/icon", ["LCH004"]),
        (4, "srun --het-group=1 bin/ocean : --het-group=0 bin/icon", []),  # as the parts are
        (12, "srun --het-group=0 bin/ocean : --het-group=1 bin/icon", []),
        (6, "srun --het-group=1 bin/ocean : --het-group=0 bin/icon", []),  # of neither order
    ],
)
def test_the_order_of_parts(size: int, launch: str, expected: list[str], tmp_path: Path) -> None:
    text = f"{HETJOB}{master('oce', 'atm', size)}{launch}\n"
    assert [code for code in codes(text, tmp_path) if code.startswith("LCH")] == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("0-7 bin/icon\n8-15 bin/ocean", []),
        ("0-6 bin/icon\n7-15 bin/ocean", ["LCH011"]),
        ("0-7 bin/icon\n* bin/ocean", []),
        ("0-7 bin/icon\n8-11 bin/ocean\n12-15 bin/ocean", []),
        ("0-6 bin/icon\n7 bin/writer\n8-15 bin/ocean", []),  # which model a program is, nobody knows
        ("0-6 bin/icon\n8-15 bin/ocean", ["LCH001"]),
    ],
)
def test_programs_and_models(lines: str, expected: list[str], tmp_path: Path) -> None:
    text = f"{master('atm', 'oce', 8)}cat >programs <<EOF\n{lines}\nEOF\nsrun -n 16 --multi-prog programs\n"
    assert [code for code in codes(text, tmp_path) if code.startswith("LCH")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n=$((2 * SLURM_TASKS_PER_NODE))\n", ["LCH006"]),
        ("n=$SLURM_TASKS_PER_NODE\n((m = n * 2))\n", ["LCH006"]),
        ("n=${SLURM_TASKS_PER_NODE%%(*}\n((m = n * 2))\n", []),
        ("n=$SLURM_TASKS_PER_NODE\n", []),
        ("p=${SLURM_NODELIST%%[*}\n", ["LCH007"]),
        ("p=$(echo $SLURM_JOB_NODELIST | sed 's/x/y/')\n", ["LCH007"]),
        ('p=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)\n', []),
        ('p="${SLURM_JOB_NODELIST:-none}"\n', []),
    ],
)
def test_variables_of_slurm(text: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(f"{text}srun bin/icon\n", tmp_path) == expected


@pytest.mark.parametrize(
    ("hosts", "behind", "expected"),
    [
        (2, "", []),
        (1, "", ["LCH001"]),
        (3, "", ["LCH009"]),
        (2, "sbatch post.sh", ["LCH008"]),
        (2, "sbatch --export=NONE post.sh", []),
        (2, "unset SLURM_HOSTFILE\nsbatch post.sh", []),
        (2, "srun -n 1 cdo", ["LCH008"]),
        (2, "srun --distribution=arbitrary -n 1 cdo", []),
    ],
)
def test_hosts(hosts: int, behind: str, expected: list[str], tmp_path: Path) -> None:
    names = "\n".join(f"n{number}" for number in range(hosts))
    text = f"cat >hosts <<EOF\n{names}\nEOF\nexport SLURM_HOSTFILE=hosts\nsrun -m arbitrary -n 2 bin/icon\n{behind}\n"
    assert codes(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("asked", "launch", "expected"),
    [
        ("--cpus-per-task=2", "srun bin/icon", ["LCH010"]),
        ("--cpus-per-task=1", "srun bin/icon", []),
        ("--cpus-per-task=2", "srun -c 2 bin/icon", []),
        ("--cpus-per-task=2", "SRUN_CPUS_PER_TASK=2 srun bin/icon", []),
        ("--cpus-per-task=2", "export SRUN_CPUS_PER_TASK=2\nsrun bin/icon", []),
        ("--cpus-per-task=2", "mpirun bin/icon", []),
        ("--gpus-per-node=4", "srun --gpus-per-node=5 bin/icon", ["LCH001"]),
        ("--gpus-per-node=4", "srun --gpus-per-node=4 bin/icon", []),
        ("--gpus-per-node=a100:4", "srun --gpus-per-node 5 bin/icon", ["LCH001"]),
    ],
)
def test_cores_and_gpus_of_a_step(asked: str, launch: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(f"#!/bin/bash\n{EACH}#SBATCH {asked}\n{launch}\n", tmp_path) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("#SBATCH --partition=a\n#SBATCH hetjob\n#SBATCH --nodes=2\n", ["SBA013"]),
        ("#SBATCH --partition=a\n#SBATCH hetjob\n#SBATCH --partition=b\n", []),
        ("#SBATCH --nodes=1\n#SBATCH hetjob\n#SBATCH --partition=b\n", []),
        ("#SBATCH --constraint=a\n#SBATCH hetjob\n#SBATCH --nodes=2\n", ["SBA013"]),
        ("#SBATCH hetjob\n#SBATCH --nodes=2\n", ["SBA014"]),
        ("#SBATCH --nodes=2\n#SBATCH hetjob\n", ["SBA014"]),
        ("#SBATCH --nodes=2\ndate\n#SBATCH hetjob\n", ["SBA002"]),
    ],
)
def test_parts(head: str, expected: list[str], tmp_path: Path) -> None:
    assert codes(f"#!/bin/bash\n{head}srun --het-group=0,1 bin/icon\n", tmp_path) == expected


def test_parts_are_named_once_however_often_they_are():
    assert _numbers_of(["1,0", "0-2"], 0) == [1, 0, 2]
    assert _numbers_of([",".join(["0-999"] * 1_000)], 0) == list(range(1_000))
    assert _numbers_of(["5-2,0-1000"], 0) == []
    assert _numbers_of([], 3) == [3]


def test_remarks_are_found_once_in_a_line(monkeypatch):
    looks = []

    class Remark:
        def match(self, *arguments, own=launches._REMARK):
            looks.append(1)
            return own.match(*arguments)

    monkeypatch.setattr(launches, "_REMARK", Remark())
    count = 50
    text = f"#!/bin/bash\n# SLURM_ $((SLURM_TASKS_PER_NODE))\necho {'$((SLURM_TASKS_PER_NODE)) ' * count}\n"
    found = list(of_text(Text(Source("a.run", text)), Directives({})))
    assert [problem.kind for problem in found] == ["list-as-number"] * count
    assert len(looks) == 2
    for line, is_remark in (("  # x", True), ("a #x", True), ("a#x", False), ("'a #x", False), ("a 'b' #x", False)):
        script = Text(Source("a.run", f"#!/bin/bash\n{line}"))
        assert _is_comment(script, len(script.text)) is is_remark


def test_names_in_arithmetic_are_gathered_once(monkeypatch):
    monkeypatch.setattr(launches, "re", None)  # what looks for each name by itself
    names = "".join(f"a{number}=$SLURM_TASKS_PER_NODE\n" for number in range(50))
    text = Text(Source("a.run", f"#!/bin/bash\n{names}echo $((2 * a7)) $((a8))\n# a9 ((\n"))
    assert [problem.span.line for problem in of_text(text, Directives({}))] == [9, 10]


def test_a_file_of_hosts_is_read_once_for_all_launches(tmp_path, monkeypatch):
    reads = []
    own = launches._hosts_in.__wrapped__
    monkeypatch.setattr(launches, "_hosts_in", lru_cache(lambda text: reads.append(text) or own(text)))
    namelist = "cat >NAMELIST_atm <<E\n&run_nml\n/\nE\n"
    hosts = "cat >hosts <<E\nn1\nn1\nn2\nE\nexport SLURM_HOSTFILE=hosts\n"
    found = codes(f"#!/bin/bash\n#SBATCH -n 2\n{namelist}{hosts}" + "srun -n 2 bin/icon\n" * 30, tmp_path)
    assert found.count("LCH009") == 30
    assert len(reads) == 1


def test_of_many_parts_that_start_the_same_few_are_told(tmp_path):
    parts = "#SBATCH hetjob\n#SBATCH -n 1 -c 2 -G 1\n" * 20 + "#SBATCH hetjob\n#SBATCH -n 1 -c 2\n" * 30
    namelist = "cat >NAMELIST_atm <<E\n&run_nml\n/\nE\n"
    found = codes(f"#!/bin/bash\n#SBATCH -n 1\n{parts}{namelist}srun --het-group=0-50 bin/icon\n", tmp_path)
    assert (found.count("LCH010"), found.count("SBA013")) == (1, 10)
