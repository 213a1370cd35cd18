"""Programs in the place of Slurm's, for what a real one cannot be made to say: limits of an accounting, a queue of
another user, what sacct remembers. What Slurm really does is tested in tests/real."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

CONFIGURATION = "MaxArraySize  = {array_size}\nMaxJobCount   = 10000\nPrivateData   = {private}\n"

_PROGRAM = """\
#!/bin/bash
here={here}/{name}
printf '%s\\n' "$*" >>"$here.calls"
cat "$here.err" >&2
cat "$here.out"
exit "$(<"$here.code")"
"""
_SBATCH = """\
#!/bin/bash
here={here}/sbatch
printf '%s\\n' "$*" >>"$here.calls"
for word in "$@"; do if [[ $word == --array=* ]]; then tasks=${{word#*=}}; fi; done
tasks=${{tasks%%%*}} size=$(( ${{tasks#0-}} + 1 )) taken=0
if [[ -f $here.taken ]]; then taken=$(<"$here.taken"); fi
if (( taken + size > {room} )); then
  echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2
  echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size \\
and/or time limits)" >&2
  exit 1
fi
echo $(( taken + size )) >"$here.taken"
echo $(( 100 + taken ))
"""


class SlurmStandIn:
    """Slurm's programs, first in the PATH; each says what it was told to say."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        directory.mkdir()
        monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
        self.configure()
        self.says("squeue")
        self.says("scancel")
        self.says("sacct", error="Slurm accounting storage is disabled", code=1)
        self.says("sbatch", "7")

    def configure(self, array_size: int = 1001, private: str = "none") -> None:
        """What `scontrol show config` says."""
        self.says("scontrol", CONFIGURATION.format(array_size=array_size, private=private))

    def says(self, program: str, out: str = "", error: str = "", code: int = 0) -> None:
        """Let a program say something and end."""
        for ending, text in (("out", out), ("err", error), ("code", str(code))):
            (self.directory / f"{program}.{ending}").write_text(f"{text}\n" if text else "")
        self.replace(program, _PROGRAM.format(here=self.directory, name=program))

    def queues(self, lines: Sequence[str]) -> None:
        """What squeue lists: NAME|ARRAY|INDEX|JOB|STATE|NODES|REASON."""
        self.says("squeue", "\n".join(lines))

    def knows_every_name(self, array: int) -> None:
        """Let squeue list the first task of an array of whatever name it is asked for."""
        lines = f'for word in "$@"; do [[ $word == --name=* ]] && echo "${{word#*=}}|{array}|0|{array}|PENDING||"; done'
        self.replace("squeue", f"#!/bin/bash\n{lines}\nexit 0\n")

    def has_room_for(self, tasks: int) -> None:
        """Let sbatch take so many tasks of arrays and no more."""
        self.replace("sbatch", _SBATCH.format(here=self.directory, room=tasks))

    def calls(self, program: str) -> list[str]:
        """The arguments of each call of a program."""
        path = self.directory / f"{program}.calls"
        return path.read_text().splitlines() if path.exists() else []

    def replace(self, program: str, text: str) -> None:
        """Put a program in the place of another."""
        path = self.directory / program
        path.write_text(text)
        path.chmod(0o755)
