"""How the language server is started, and where it is not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NO_PYGLS = """
import sys
sys.modules["pygls"] = sys.modules["lsprotocol"] = None
from nmlgen.cli import main
sys.argv = ["nmlgen", "lsp"]
sys.exit(main())
"""
AT_A_TERMINAL = """
import os, pty, sys
pid, descriptor = pty.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, "-m", "nmlgen", "lsp"])
said = b""
while True:
    try:
        piece = os.read(descriptor, 1000)
    except OSError:
        break
    if not piece:
        break
    said += piece
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode())
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def test_without_pygls_it_says_what_to_install():
    done = python(NO_PYGLS)
    assert done.returncode == 2
    assert done.stderr == "nmlgen: error: the language server needs pygls: pip install 'nmlgen[lsp]'\n"


def test_at_a_terminal_it_says_who_starts_it():
    said = python(AT_A_TERMINAL).stdout
    assert said.startswith("2 nmlgen: error: ")
    assert "editor" in said or "pygls" in said


def test_nothing_of_it_is_loaded_before():
    code = "import sys, nmlgen.cli.lsp; print(*(name for name in sys.modules if name in ('pygls', 'lsprotocol')))"
    assert python(code).stdout.strip() == ""


def test_it_ends_without_a_word_when_it_is_told_to():
    pytest.importorskip("pygls")
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    said = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    done = subprocess.run(
        [sys.executable, "-m", "nmlgen", "lsp"],
        input="".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in said).encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
