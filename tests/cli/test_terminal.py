"""On a terminal nothing of others is obeyed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

ODD = "a\x1b]0;title\x07b\u202ec\x9b2J"


@pytest.mark.parametrize(
    "arguments",
    [["check", ODD], ["lint", ODD], ["explain", ODD], ["status", ODD], [ODD]],
)
def test_names_that_a_terminal_would_obey(arguments, tmp_path):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(
        [sys.executable, "-m", "nmlgen", *arguments],
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # so Linux says that the other end is closed
        pass
    os.close(ours)
    text = shown.decode()
    assert "\\u202e" in text or "\\u001b" in text, text
    assert not {"\x1b]", "\x07", "\u202e", "\x9b"} & {text[i : i + n] for i in range(len(text)) for n in (1, 2)}
