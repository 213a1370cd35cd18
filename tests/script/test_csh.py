"""Texts of csh below a first line that names another shell."""

import pytest

import nmlgen
from nmlgen.script.csh import text_of_csh
from nmlgen.script.parser import parse
from nmlgen.source import Source

REFUSED = "set day = 1\nforeach file (a b)\n  if ( $day == 1 ) then\n    echo $file\n  endif\nend\n"
TAKEN = "# a remark\nset day = 1\nsetenv THREADS 4\necho $day\n"


def told(text: str) -> bool | None:
    """Whether a text is told to be one of csh at which the shell stops; None where it is not told."""
    problem = text_of_csh(parse(Source("a.sh", text)))
    return None if problem is None else problem.stops


@pytest.mark.parametrize(
    "first", ["#!/bin/sh", "#!/usr/bin/sh", "#!/bin/bash -l", "#! /bin/ksh", "#!/usr/bin/env bash"]
)
def test_what_another_shell_is_told_to_read(first):
    assert told(f"{first}\n{REFUSED}") is True
    assert told(f"{first}\n{TAKEN}") is False


def test_csh_and_no_shell_in_particular():
    for first in ("#!/bin/csh -f\n", "#!/bin/tcsh\n", ""):
        assert told(first + REFUSED) is None


@pytest.mark.parametrize(
    "text",
    [
        "if ( $day == 1 ) then\n  echo a\nfi\n",  # a slip
        "set day = 1\nfor file in a b; do\n  echo $file\n",
        "set day = 1\nsetenv A b\nif [ -f a ]; then\n",
        f"cat >job.csh <<'END'\n{REFUSED}END\nif true\n",
        "day=1\nif ( $day == 1 ) then\n  setenv A b\nendif\n",
        "ncl -n -Q 'if (day) then\nset a = 1\nendif'\n",  # between quotes, and nothing wrong
        "cat <<E\nif (a) then\nE\nsetenv A b\nif true\ncat <<E\nendif\nE\n",
    ],
)
def test_one_that_is_no_text_of_csh(text):
    assert told(f"#!/bin/sh\n{text}") is None


def test_it_is_one_finding_at_the_first_line_beside_those_of_directives(tmp_path):
    script = tmp_path / "a.sh"
    script.write_text(f"#!/bin/sh\n#SBATCH --nodse=2\n{REFUSED}\nset x = (a b\n@ y = 1 +\n")
    found = [(one.code, one.severity.value, one.span.line) for one in nmlgen.lint([script]).findings]
    assert found == [("SHL001", "error", 1), ("SBA004", "error", 2)]
    script.write_text(f"#!/bin/sh\n{TAKEN}")
    found = [(one.code, one.severity.value, one.span.line) for one in nmlgen.lint([script]).findings]
    assert found == [("SHL001", "warning", 1)]
