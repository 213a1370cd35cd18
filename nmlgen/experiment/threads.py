"""The threads of a task: how many cores it has, and which variables of OpenMP say so."""

from __future__ import annotations

from collections.abc import Mapping

from nmlgen.experiment.machine import Machine
from nmlgen.experiment.setting import Setting

NUM_THREADS = "OMP_NUM_THREADS"
STACK = "OMP_STACKSIZE"
PLACES = "OMP_PLACES"
BINDING = ("OMP_PROC_BIND", PLACES, "KMP_AFFINITY", "GOMP_CPU_AFFINITY")
"""Each of them says where threads sit; with two of them the runtime chooses."""


def asks_for_gpus(directives: Mapping[str, Setting]) -> bool:
    """Whether the job asks for GPUs: there the cores of a task wait for them, and one thread is enough.

    Raises UndecidedError where only a run knows.
    """
    return any(
        name.startswith("gpu")
        or (name in ("gres", "tres-per-task", "tres-per-node") and "gpu" in str(setting.value).lower())
        for name, setting in directives.items()
    )


def cores_of_a_task(directives: Mapping[str, Setting], machine: Machine) -> int:
    """The cores on which the threads of one task may compute: those of --cpus-per-task, no more than its share of the
    node, as Slurm counts two threads of a core where they are on.

    Raises UndecidedError where only a run knows.
    """
    given = directives.get("cpus-per-task")
    if given is None or not isinstance(given.value, int):
        return 1
    cores, on_a_node = given.value, directives.get("ntasks-per-node")
    if machine.cores_per_node and on_a_node is not None and isinstance(on_a_node.value, int) and on_a_node.value > 0:
        cores = min(cores, machine.cores_per_node // on_a_node.value)
    return max(1, cores)


def openmp_variables(cores: int, said: Mapping[str, object]) -> dict[str, str]:
    """The variables that give a task of so many cores as many threads, each on a core of its own, beside those that are
    `said` already: the stack as ICON's own run scripts have it (2024.10, `run/create_target_header`)."""
    if cores < 2:
        return {}
    found = {NUM_THREADS: str(cores), STACK: "200M"}
    if not any(name in said for name in BINDING):
        found |= {"OMP_PROC_BIND": "close", PLACES: "cores"}
    return {name: value for name, value in found.items() if name not in said}
