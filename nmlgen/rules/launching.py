"""What the launcher is told, against what Slurm was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.rules.directives import directive
from nmlgen.rules.rule import Rule
from nmlgen.rules.slurm_resources import count_of, node_of

_TASKS = re.compile(r"(?:-n|-np|--ntasks|--np)[= ]?([1-9]\d{0,8})")
_SHARES = re.compile(r"-O|--overcommit|--overlap|--oversubscribe|--map-by.*oversubscribe.*", re.IGNORECASE)


class LaunchBeyondAllocation(Rule):
    """More tasks are started than the job has places for.

    ## What it does
    Finds a number of tasks that `srun` is told beyond the hardware threads of the job's nodes, and one that Open MPI's
    `mpirun` is told beyond the job's tasks. Options such as `--overcommit` and `--oversubscribe` allow it.

    ## Why it matters
    The model is not started; the job waited in the queue for nothing.

    ## Evidence
    Slurm 22.05, srun on two nodes: "Unable to create step for job: More processors requested than permitted". Open MPI
    4.1: "There are not enough slots available in the system".

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
        if told is None:
            return
        launcher = str(experiment.launch.command.value).rpartition("/")[2]
        mpi = experiment.mpi.implementation
        if launcher == "srun":
            places = _hardware_threads(experiment)
        elif mpi is not None and mpi.value == "openmpi":  # others put several tasks on one core
            places = _tasks(experiment)
        else:
            return
        if places is not None and told[1] > places[0]:
            yield self.finding(
                told[0],
                f"{launcher} is told to start {told[1]} tasks, the job has {places[1]}",
                f"expected: at most {places[0]}",
            )


def _told(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many tasks the launcher is told to start; None where it is told nothing, or may start more than fit."""
    launch = experiment.launch
    known = [option for option in launch.options if option.certainty is not Certainty.UNKNOWN]
    if len(known) < len(launch.options) or any(_SHARES.fullmatch(str(option.value)) for option in known):
        return None
    for option in reversed(known):  # the last one counts
        if match := _TASKS.fullmatch(str(option.value)):
            return option, int(match[1])
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
