"""Programs in the place of those of PBS, which say what OpenPBS 23.06 said: of jobs, where they failed, of a server
with a history and of one without."""

from __future__ import annotations

from pathlib import Path

import pytest
from stand_in import StandIn

SERVER = """\
Server: pbshost
    server_state = Active
    total_jobs = 0
    state_count = Transit:0 Queued:0 Held:0 Waiting:0 Running:0 Exiting:0 Begun
\t:0 
    query_other_jobs = {others}
    max_array_size = {array_size}
    pbs_version = 23.06.06
"""  # noqa: W291
_QSUB = """\
#!/bin/bash
here={here}/qsub
printf '%s\\n' "$*" >>"$here.calls"
number=$(wc -l <"$here.calls")
if [[ " $* " == *" -J "* ]]; then number+="[]"; fi
echo "$number.pbshost"
"""
_QSTAT = """\
#!/bin/bash
here={here}/qstat
printf '%s\\n' "$*" >>"$here.calls"
if [[ $1 == -B ]]; then cat "{here}/server"; exit; fi
if [[ $1 == -x && -e {here}/forgets ]]; then
  for id in "${{@:4}}"; do echo "qstat: PBS is not configured to maintain job history $id" >&2; done
  exit 0
fi
code=0
for id in "$@"; do
  [[ $id != -* ]] || continue
  if [[ -s {here}/jobs/${{id%%[.[]*}} ]]; then
    cat "{here}/jobs/${{id%%[.[]*}}"
  else
    echo "qstat: Unknown Job Id $id" >&2
    code=153
  fi
done
exit "$code"
"""


def job(identifier: str, name: str, **said: str) -> str:
    """What `qstat -f` says of a job."""
    lines = [f"    {key} = {value}" for key, value in {"Job_Name": name, "Job_Owner": "ada@pbshost", **said}.items()]
    variables = "    Variable_List = PBS_O_HOME=/home/ada,PBS_O_LANG=C.UTF-8,\n\tWORDS=job_state = R"
    return "\n".join([f"Job Id: {identifier}.pbshost", *lines, variables, "", ""])


class PbsStandIn(StandIn):
    """PBS's programs, first in the PATH. qsub numbers its jobs from 1 on."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(directory, monkeypatch)
        (directory / "jobs").mkdir()
        self.configure()
        self.replace("qsub", _QSUB.format(here=directory))
        self.replace("qstat", _QSTAT.format(here=directory))
        self.says("qselect")
        self.says("qdel")

    def configure(self, array_size: int = 10_000, others: str = "True") -> None:
        """What `qstat -B -f` says."""
        (self.directory / "server").write_text(SERVER.format(array_size=array_size, others=others))

    def forgets(self) -> None:
        """Have no history."""
        (self.directory / "forgets").touch()

    def lists(self, number: int, *jobs: str) -> None:
        """What qstat says of the job or the array of a number, nothing where PBS does not know it."""
        (self.directory / "jobs" / str(number)).write_text("".join(jobs))
