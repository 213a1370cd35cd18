"""How the tasks of a job find each other: the process management interface (PMI) between Slurm and the MPI library.

Tried with Slurm 22.05 and Intel MPI 2018.0.3, 2019.4, 2021.10 and 2021.18, two nodes, no I_MPI_PMI_LIBRARY: with
`srun --mpi=pmi2`, or SLURM_MPI_TYPE=pmi2, the tasks of all four meet. With `--mpi=none`, which is what Slurm does where
its configuration names no other, those of 2021 are rank 0 of 1 each and end with exit code 0, those of 2018 and 2019
start a launcher of their own each. With `--mpi=pmix` 2021.18 meets, the older ones do not. A libpmi2 in
I_MPI_PMI_LIBRARY meets with `--mpi=pmi2` only (2021.10 and 2021.18), and ends in MPI_Init without.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nmlgen.pattern import pattern

PMI_LIBRARY = "I_MPI_PMI_LIBRARY"
"""The variable of Intel MPI that names Slurm's library."""

PMI_TYPE = "SLURM_MPI_TYPE"
"""The variable of srun that says what its option --mpi does."""

_OPTION = pattern(r"--mpi[= ]?(\w*)")
_TYPE = "pmi2"


def pmi_option(options: Sequence[str]) -> str | None:
    """What `--mpi` of srun says, the last one; None without."""
    said = [match[1] for option in options if (match := _OPTION.fullmatch(option.strip()))]
    return said[-1] if said else None


def meeting_variables(
    implementation: str, launcher: str, options: Sequence[str], said: Collection[str]
) -> dict[str, str]:
    """The variables that let the tasks of an MPI library meet under a launcher, beside those that are `said`."""
    is_srun = launcher.rpartition("/")[2] == "srun"
    if implementation != "intel" or not is_srun or PMI_LIBRARY in said or PMI_TYPE in said:
        return {}
    return {} if pmi_option(options) is not None else {PMI_TYPE: _TYPE}
