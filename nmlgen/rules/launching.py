"""What the launcher is told, against what Slurm was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.pattern import pattern
from nmlgen.rules.directives import directive
from nmlgen.rules.rule import Rule
from nmlgen.rules.slurm_resources import count_of, node_of
from nmlgen.values import evolve

_TASKS = pattern(r"(?:-n|-np|--ntasks|--np)[= ]?([1-9]\d{0,8})")
_NODES = pattern(r"(?:-N|--nodes)[= ]?([1-9]\d{0,8})(?:-\d+)?")
_CPUS = pattern(r"(?:-c|--cpus-per-task)[= ]?([1-9]\d{0,8})")
_SHARES = pattern(
    r"(?<!\S)(?:-O|--overcommit|--overlap|--oversubscribe|--map-by[= ]\S*oversubscribe\S*)(?!\S)", re.IGNORECASE
)


class LaunchBeyondAllocation(Rule):
    """More tasks are started than the job has places for.

    ## What it does
    Finds a number of tasks that `srun` is told, times the CPUs of each, beyond the hardware threads of the job's nodes,
    more nodes than the job has, and a number of tasks that Open MPI's `mpirun` is told beyond those of the job. Options
    such as `--overcommit` and `--oversubscribe` allow it. Where the machine is not known, more tasks than the
    directives ask CPUs for are a warning: nodes that are the job's alone may have room for them. So are, of a `mpirun`
    that puts several tasks on one core, more tasks than the nodes have hardware threads.

    ## Why it matters
    The model is not started; the job waited in the queue for nothing.

    ## Evidence
    Slurm 22.05, srun on two nodes: "Unable to create step for job: More processors requested than permitted", and "Only
    allocated 2 nodes asked for 4". Open MPI 4.1: "There are not enough slots available in the system".

    ## Example
    ```yaml bad
    launch: {options: ["--ntasks=600"]}
    #                 ^
    ```
    ```yaml good
    launch: {options: ["--ntasks=256"]}
    ```

    ## References
    Slurm manual, srun, --ntasks and --overcommit; Open MPI manual, mpirun, --oversubscribe.
    """

    code = "SLM030"
    name = "launch-beyond-allocation"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        told = _told(experiment)
        launcher = str(experiment.launch.command.value).rpartition("/")[2]
        if launcher == "srun":
            yield from self._nodes(experiment)
        if told is None:
            return
        mpi = experiment.mpi.implementation
        cpus = 1
        if launcher == "srun":
            places, cpus = _hardware_threads(experiment), _cpus(experiment)
        elif mpi is not None and mpi.value == "openmpi":  # others put several tasks on one core
            places = _tasks(experiment)
        else:
            places = None
        asked, given = _tasks(experiment), count_of(directive(experiment, "cpus-per-task"))
        if places is not None and told[1] * cpus > places[0]:
            each = f" with {cpus} CPUs each" if cpus > 1 else ""
            message = f"{launcher} is told to start {told[1]} tasks{each}, the job has {places[1]}"
            yield self.finding(told[0], message, f"expected: at most {places[0] // cpus}")
        elif (
            places is None
            and asked is not None
            and told[1] > asked[0] * (given or 1)
            and experiment.directives_span is not None
        ):
            message = f"{launcher} is told to start {told[1]} tasks, the directives ask for {asked[0]}"
            found = self.finding(told[0], message, f"expected: {asked[0]}, or as many in the directives")
            yield evolve(found, severity=Severity.WARNING)
        elif places is None and (room := _hardware_threads(experiment)) is not None and told[1] > room[0]:
            message = f"{launcher} is told to start {told[1]} tasks, the job has {room[1]}"
            found = self.finding(told[0], message, f"expected: at most {room[0]}")
            yield evolve(found, severity=Severity.WARNING)

    def _nodes(self, experiment: Experiment) -> Iterator[Finding]:
        allocated, told = count_of(directive(experiment, "nodes")), _option(experiment, _NODES)
        if allocated is not None and told is not None and told[1] > allocated:
            message = f"srun is told to use {told[1]} nodes, the job has {allocated}"
            yield self.finding(told[0], message, f"expected: at most {allocated}")


def _option(experiment: Experiment, pattern: re.Pattern[str]) -> tuple[Setting, int] | None:
    """The number that an option of the launcher has, the last of them; a short one may stand in two words."""
    options = experiment.launch.options
    if any(option.certainty is Certainty.UNKNOWN for option in options):
        return None
    texts = [str(option.value) for option in options]
    found: tuple[Setting, int] | None = None
    for number, option in enumerate(options):
        if match := pattern.fullmatch(texts[number]) or pattern.fullmatch(" ".join(texts[number : number + 2])):
            found = option, int(match[1])
    return found


def _cpus(experiment: Experiment) -> int:
    """The CPUs of each task that srun is told to bring; 1 where it is told nothing."""
    told = _option(experiment, _CPUS)
    return 1 if told is None else told[1]


def _told(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many tasks the launcher is told to start; None where it is told nothing, or may start more than fit."""
    launch = experiment.launch
    if any(option.certainty is Certainty.UNKNOWN for option in launch.options):
        return None
    if _SHARES.search(" ".join(str(option.value) for option in launch.options)):
        return None
    told = _option(experiment, _TASKS)
    if told is not None:
        return told
    tasks = None if launch.tasks is None else count_of(launch.tasks)
    return None if launch.tasks is None or tasks is None else (launch.tasks, tasks)


def _hardware_threads(experiment: Experiment) -> tuple[int, str] | None:
    """The hardware threads of the job's nodes, at most, and how that is said; None where it is not known."""
    nodes, node = count_of(directive(experiment, "nodes")), node_of(experiment)
    if nodes is None or node.cores_per_node is None:
        return None
    threads = node.threads_per_core or 2
    most = nodes * node.cores_per_node * threads
    return most, f"{nodes} nodes of {node.cores_per_node} cores with {threads} threads each: room for {most}"


def _tasks(experiment: Experiment) -> tuple[int, str] | None:
    """The tasks that the job asks for, and how that is said."""
    tasks = count_of(directive(experiment, "ntasks"))
    if tasks is None:
        nodes = count_of(directive(experiment, "nodes"))
        per_node = count_of(directive(experiment, "ntasks-per-node"))
        if nodes is None or per_node is None:
            return None
        tasks = nodes * per_node
    return tasks, f"{tasks} slots"
