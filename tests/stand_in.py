"""Programs in the place of those of a batch system, each of which says what it was told to say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_PROGRAM = """\
#!/bin/bash
here={here}/{name}
printf '%s\\n' "$*" >>"$here.calls"
cat "$here.err" >&2
cat "$here.out"
exit "$(<"$here.code")"
"""


class StandIn:
    """Programs in a directory of their own, first in the PATH; what each was called with is kept."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        directory.mkdir()
        monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")

    def says(self, program: str, out: str = "", error: str = "", code: int = 0) -> None:
        """Let a program say something and end."""
        for ending, text in (("out", out), ("err", error), ("code", str(code))):
            (self.directory / f"{program}.{ending}").write_text(f"{text}\n" if text else "")
        self.replace(program, _PROGRAM.format(here=self.directory, name=program))

    def calls(self, program: str) -> list[str]:
        """The arguments of each call of a program."""
        path = self.directory / f"{program}.calls"
        return path.read_text().splitlines() if path.exists() else []

    def replace(self, program: str, text: str) -> None:
        """Put a program in the place of another."""
        path = self.directory / program
        path.write_text(text)
        path.chmod(0o755)
