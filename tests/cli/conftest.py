"""The command line, called as users call it or inside this process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from specs import TEXT

from nmlgen.cli import main

BAD = TEXT.replace("joint procs multifile", "sync").replace("restartTimeIntval: P10D}", "num_restart_procs: 2}")
"""RST001, an error, is found in it."""

WARNED = TEXT + "ignore: {RST002: nothing}\n"
"""SPC009, a warning, is found in it."""

WRONG = TEXT.replace("nodes: 2", "nodes: two")
"""It is no spec."""


@frozen
class Done:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def nmlgen(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs a command in this process; whatever the user did, there is no traceback."""

    def run(*arguments: object) -> Done:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(code, out, err)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with specs of every kind."""
    for name, text in (("spec", TEXT), ("bad", BAD), ("warned", WARNED), ("wrong", WRONG)):
        (tmp_path / f"{name}.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def process(*arguments: str, shell: str | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command as a process of its own, or a line of bash in which `nmlgen` stands for it."""
    command = [sys.executable, "-m", "nmlgen", *arguments]
    if shell is not None:
        command = ["bash", "-c", f'nmlgen() {{ "{sys.executable}" -m nmlgen "$@"; }}\n{shell}']
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **options)
