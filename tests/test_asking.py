"""What other programs answer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from nmlgen import asking
from nmlgen.asking import Said, TooMuchError, answer, heard


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def started(text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(python(text), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_both_streams_and_the_exit_code_are_kept():
    program = "import sys; print('one\\r'); sys.stderr.buffer.write(b'\\xff\\n'); sys.exit(3)"
    assert answer(python(program)) == Said("one\n", "\ufffd\n", 3)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_says_no_end_is_ended(stream, monkeypatch):
    monkeypatch.setattr(asking, "_MOST", 100_000)
    with pytest.raises(TooMuchError, match="says more than"):
        answer(python(f"import sys\nwhile True: sys.{stream}.write('yes ' * 1000)"))


def test_a_long_text_is_told_while_the_answer_is_heard():
    text = "word " * 100_000
    with started("import sys; print('a' * 200_000, flush=True); print(len(sys.stdin.read()))") as process:
        assert heard(process, text).out.split()[1] == str(len(text))


def test_nobody_has_to_listen():
    with started("import sys; sys.stdin.close(); print('no')") as process:
        assert heard(process, "word " * 100_000).out == "no\n"


def test_a_program_that_waits_is_not_waited_for():
    with started("import time\nwhile True: time.sleep(60)") as process, pytest.raises(subprocess.TimeoutExpired):
        heard(process, seconds=0)
    assert process.returncode == -9


def test_what_it_complains_of_may_end_it():
    program = "import sys, time\nprint('again', file=sys.stderr, flush=True)\nwhile True: time.sleep(60)"
    with started(program) as process:
        assert heard(process, is_over=lambda said: b"again" in said) == Said("", "again\n", -9)
