"""What Slurm says of itself: sinfo, sacctmgr, scontrol and srun.

All answers were observed with Slurm 22.05.
"""

from __future__ import annotations

import re

from nmlgen.schedulers.programs import Programs

_FILTERS = re.compile(r"(SQUEUE|SACCT|SCANCEL)_")  # variables that would narrow down what is asked
_WHOLE = {"SLURM_BITSTR_LEN": "0"}  # else long lists of tasks end in dots
_MPI_TYPE = re.compile(r"(?:srun:|\t) *(\w+)")

slurm = Programs("Slurm", _FILTERS, _WHOLE)


def version() -> str:
    """The version of Slurm, as sbatch says it: slurm-wlm 22.05.8."""
    return slurm.run(["sbatch", "--version"]).strip()


def partitions() -> tuple[str, ...]:
    """The names of the partitions that the user sees."""
    return tuple(dict.fromkeys(slurm.run(["sinfo", "--noheader", "--format=%R"]).split()))


def accounts(user: str) -> tuple[str, ...]:
    """The accounts that may be charged by a user; raises SchedulerError where there is no accounting."""
    options = ["--noheader", "--parsable2", "show", "associations", f"user={user}", "format=Account"]
    return tuple(dict.fromkeys(slurm.run(["sacctmgr", *options]).split()))


def mpi_types() -> tuple[str, ...]:
    """What `--mpi` of srun may be on this machine; old versions say it on standard error."""
    ask = ["srun", "--mpi=list"]
    found = []
    for line in (slurm.run(ask) or slurm.run(ask, from_stderr=True)).splitlines():
        if (kind := _MPI_TYPE.fullmatch(line)) is not None:
            found.append(kind[1])
        elif " versions available: " in line:  # specific pmix plugin versions available: pmix_v3,pmix_v4
            found += line.rpartition(": ")[2].split(",")
    return tuple(found)


def default_mpi_type() -> str | None:
    """What `--mpi` of srun is where nobody says it; None if Slurm does not say."""
    return configuration().get("MpiDefault")


def configuration() -> dict[str, str]:
    """The settings of the cluster."""
    text = slurm.run(["scontrol", "show", "config"])
    return {name: value.strip() for name, value in re.findall(r"^(\w+)[ \t]*=(.*)$", text, re.MULTILINE)}
