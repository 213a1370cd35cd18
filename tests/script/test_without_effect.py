"""What a script says without effect."""

from __future__ import annotations

import pytest
from rows import rows

from nmlgen.script.parser import parse
from nmlgen.script.without_effect import without_effect
from nmlgen.source import Source

DEFAULT = 'set_default() { eval ": \\${$1:=$2}"; }\n'


def kinds(text: str) -> list[str]:
    return [problem.kind for problem in without_effect(parse(Source("exp.run", text)))]


@rows(
    ("text", "expected"),
    [
        ("a || ( echo no; exit 1 )\nb\n", ["exit-of-subshell"]),
        ("if a; then\n( exit 1 )\nfi\n", ["exit-of-subshell"]),
        ("f() { ( exit 1 ); b; }\n", ["exit-of-subshell"]),
        ("a || { echo no; exit 1; }\n", []),
        ("( exit 1 )\necho $?\n", []),
        ("( exit 0 )\n", []),
        ("a || { ( exit 1 ); exit; }\n( exit 2 ); exit 2\n", []),  # as configure has it, for its trap
        ("a || ( exit 1 )\nexit 0\n", ["exit-of-subshell"]),
        ("( exit )\n", []),
        ("set -eu\na || ( exit 1 )\n", []),
        ("#!/bin/bash -e\na || ( exit 1 )\n", []),
        ("( exit 1 ) || b\n", []),  # somebody asks
        ("( exit 1; b )\n", []),
        ("( exit 1 )\n( exit 2 )", ["exit-of-subshell"] * 2),
        ("", []),
        ("( )\nf() { }\nif a; then fi\n", []),  # nothing where commands should be
    ],
)
def test_exits(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@rows(
    ("text", "expected"),
    [
        ("nodes = 4\nsrun -N $nodes icon\n", ["blank-in-assignment"]),
        ("nodes =4\nsrun -N ${nodes} icon\n", ["blank-in-assignment"]),
        ("nodes= 4\nsrun -N $nodes icon\n", []),  # runs 4 with an empty variable, as in CC= make
        ("nodes = 4\n", []),  # nobody uses it: it may be a program
        ("nodes == 4\necho $nodes\n", []),
        ('nodes "= 4"\necho $nodes\n', []),
        ("f() { :; }\nf = 3\necho $f\n", []),
        ("[ $a = b ] && echo\n", []),
        ("for i in 1 2; do n = $i; done; echo $n\n", ["blank-in-assignment"]),
        ("case $x in a) n = 1;; esac; ( m = 2 ) | cat; echo $n $m\n", ["blank-in-assignment"] * 2),
        ("cat << EOF\nn = 1\nEOF\necho $n\n", []),
    ],
)
def test_blanks_in_assignments(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@rows(
    ("text", "expected"),
    [
        (": ${a:=1}\n: ${a:=2}\n", ["second-default"]),
        (": ${a:=1}\n: ${a:=1}\n", []),
        (": ${a:=1}\n: ${b:=2}\n", []),
        (": ${a:=1}\nunset a\n: ${a:=2}\n", []),
        (": ${a:=1}\na=\n: ${a:=2}\n", []),
        (": ${a:=}\n: ${a:=2}\n", []),
        (": ${a:=1}\nif b; then : ${a:=2}; fi\n", ["second-default"]),
        ("if b; then : ${a:=1}; fi\n: ${a:=2}\n", []),
        (": ${a:=1}\nf() { : ${a:=2}; }\n", []),  # who knows when it is called
        (f"{DEFAULT}set_default a 1\nset_default a 2\n", ["second-default"]),
        ("other a 1\nother a 2\n", []),
    ],
)
def test_defaults(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DEFAULT}set default a 1\n", ["set-for-function"]),
        (f"{DEFAULT}set other a 1\n", []),
        ("set default a 1\n", []),
    ],
)
def test_set(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_long_and_deep_texts() -> None:
    """A long chain of commands is no deep one for those who look through it."""
    chain = " && ".join(["a"] * 90)
    assert kinds(f": ${{a:=1}}\n{chain} || ( exit 1 )\n: ${{a:=2}}\n") == ["exit-of-subshell", "second-default"]
