"""The threads of a task against the cores that it has."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.threads import NUM_THREADS, asks_for_gpus, cores_of_a_task
from nmlgen.findings import Finding, Severity
from nmlgen.rules.directives import directive
from nmlgen.rules.rule import Rule
from nmlgen.units.whole import decimal


class ThreadsUnlikeCores(Rule):
    """The threads of a task are more or fewer than its cores.

    ## What it does
    Compares `OMP_NUM_THREADS`, where it is set, with `cpus_per_task`: more threads than CPUs, or fewer than the cores
    that the task has (its share of the node, where Slurm counts two hardware threads of a core). A spec that does not
    set the variable gets as many threads as cores.

    ## Why it matters
    Threads that share a core wait for each other at every barrier; cores without a thread are paid for and idle.
    Whoever wants fewer tasks on a node for their memory suppresses the rule with that reason. Jobs on GPUs are left
    alone.

    ## Evidence
    Slurm manual: --cpus-per-task says how many CPUs a task may use, no variable of OpenMP follows from it. OpenMP
    starts as many threads as `OMP_NUM_THREADS` says.

    ## Example
    ```yaml bad
    job: {ntasks_per_node: 32, cpus_per_task: 4}
    environment: {OMP_NUM_THREADS: "8"}
    #                              ^
    ```
    ```yaml good
    job: {ntasks_per_node: 32, cpus_per_task: 4}
    environment: {OMP_NUM_THREADS: "4"}
    ```

    ## References
    Slurm manual, sbatch, --cpus-per-task; OpenMP 5.0, section 6.2.
    """

    code = "OMP001"
    name = "threads-unlike-cores"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        cpus, said = directive(experiment, "cpus-per-task"), experiment.environment.get(NUM_THREADS)
        threads = decimal(str(said.value)) if said is not None else None
        if cpus is None or said is None or not isinstance(cpus.value, int) or threads is None:
            return
        if asks_for_gpus(experiment.directives):
            return
        cores = cores_of_a_task(experiment.directives, experiment.machine)
        if threads > cpus.value:
            yield self.finding(
                said,
                f"{NUM_THREADS} is {threads}, and cpus_per_task gives a task {cpus.value}",
                f"expected: {cores}, or cpus_per_task {threads} with fewer tasks on a node",
            )
        elif threads < cores:
            yield self.finding(
                said,
                f"{NUM_THREADS} is {threads}: {cores - threads} of {cores} cores of each task do nothing",
                f"expected: {cores}, or more tasks on a node with cpus_per_task {threads}",
            )
