"""Programs in the place of Slurm's, for what a real one cannot be made to say: limits of an accounting, a queue of
another user, what sacct remembers. What Slurm really does is tested in tests/real."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from stand_in import StandIn

CONFIGURATION = "MaxArraySize  = {array_size}\nMaxJobCount   = 10000\nPrivateData   = {private}\n"

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


class SlurmStandIn(StandIn):
    """Slurm's programs, first in the PATH; each says what it was told to say."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(directory, monkeypatch)
        self.configure()
        self.says("squeue")
        self.says("scancel")
        self.says("sacct", error="Slurm accounting storage is disabled", code=1)
        self.says("sbatch", "7")

    def configure(self, array_size: int = 1001, private: str = "none") -> None:
        """What `scontrol show config` says."""
        self.says("scontrol", CONFIGURATION.format(array_size=array_size, private=private))

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
