"""Files of srun --multi-prog, as Slurm 22.05 takes and refuses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows

import nmlgen
from nmlgen.script.multi_prog import ranks_by_program, refused


@rows(
    ("text", "tasks", "expected"),
    [
        ("0-7 ./a\n8-11 ./b\n", 12, []),
        ("0,4,8-11 ./a\n1-3,5-7 ./b x y\n", 12, []),
        ("# ranks\n\n0 ./a\n* ./b %t\n", 12, []),
        ("0-7 ./a\n", None, []),
        ("0-7 ./a\n9-11 ./b\n", 12, ["rank 8 of 12 has no line"]),
        ("0-7 ./a\n7-11 ./b\n", 12, ["rank 7 has two lines"]),
        ("0-12 ./a\n", 12, ["rank 12 has a line, and there are 12 tasks"]),
        ("0-11 ./a\n", 12, []),
        ("0-11:2 ./a\n", 12, ['"0-11:2" is no list of ranks']),
        ("7-0 ./a\n", 8, ['"7-0" is no list of ranks']),
        ("* ./a\n0 ./b\n", 12, ['the line with "*" is not the last one']),
        ('0-11 "./a b"\n', 12, ['the double quotes of "./a b" belong to the name of the program']),
        ("0-11 './a b'\n", 12, []),
        ("0-11\n", 12, ['the line "0-11" names no program']),
        ("$first ./a\n", 12, []),
    ],
)
def test_grammar(text: str, tasks: int | None, expected: list[str]) -> None:
    assert [message for message, _ in refused(text, tasks)] == expected


@pytest.mark.parametrize(("last", "expected"), [(10, ["LCH001"]), (11, [])])
def test_in_a_script(tmp_path: Path, last: int, expected: list[str]) -> None:
    script = tmp_path / "exp.run"
    lines = [
        "#!/bin/bash",
        "#SBATCH --nodes=1 --ntasks=12",
        "cat >programs <<EOF",
        "0-7 ./icon",
        f"8-{last} ./ocean",
        "EOF",
    ]
    script.write_text("\n".join([*lines, "srun --ntasks=12 --multi-prog programs", ""]))
    found = [finding for finding in nmlgen.lint([script]).findings if finding.code.startswith("LCH")]
    assert [finding.code for finding in found] == expected


def test_ranks_are_counted_once_and_no_more_than_a_job_has():
    assert ranks_by_program(",".join(["0-9"] * 1_000) + " a\n", 10) == {"a": frozenset(range(10))}
    assert ranks_by_program("0-3 a\n4-7 b\n8 a\n* c\n", 12) == {
        "a": frozenset({0, 1, 2, 3, 8}),
        "b": frozenset({4, 5, 6, 7}),
        "c": frozenset({9, 10, 11}),
    }
    assert list(refused("0-9999999 a\n", 8)) == [("rank 9999999 has a line, and there are 8 tasks", "ranks below 8")]
    assert list(refused("0-9999999 a\n", None)) == []
    assert ranks_by_program("0-9999999 a\n", 10_000_000) is None


def test_of_lines_that_have_the_same_rank_one_is_told():
    assert [message for message, _ in refused("0-9 a\n" * 1_000, 10)] == ["rank 0 has two lines"]
