"""Whether the model fits into the memory of its nodes: what is certain, what is likely, and where the I/O ranks sit."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import as_list
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.nodes import BASE_BYTES, nodes
from nmlgen.models.icon.ranks import split
from nmlgen.models.icon.volume import checkpoint_volume, most_checkpoint_bytes, points
from nmlgen.pattern import pattern
from nmlgen.rules.directives import directive, text_of
from nmlgen.rules.rule import ComponentRule, Rule
from nmlgen.units.size import format_bytes, parse_size

_HELD = 0.75
"""The part of a checkpoint's bytes that its variables take in memory at least: those of kind vp take half where ICON is
built with mixed precision (`mo_kind.f90:47-52`), and they are the fewest."""

_AMPLE = 256
"""A bound on work: by far more bytes than an I/O rank holds of each value of one level. What all of them hold is worked
out only where so much would fill a node."""

_SIZE = pattern(r"(?<!\d)\d{1,15}[KMGTP]")
_ALL = "0"
"""The --mem that asks for all the memory of a node."""


def _nodes(experiment: Experiment) -> int | None:
    """The nodes that are asked for."""
    nodes = directive(experiment, "nodes")
    return nodes.value if nodes is not None and isinstance(nodes.value, int) and nodes.value > 0 else None


def _memory(experiment: Experiment) -> tuple[int | None, int | None]:
    """The memory that a node of the job is known to have, and that of the largest it may get; None where not known."""
    machine, partition = experiment.machine, directive(experiment, "partition")
    known = machine.partitions.get(str(partition.value)) if partition is not None else None
    usual = machine.memory_per_node if known is None or known.memory_per_node is None else known.memory_per_node
    words = _SIZE.findall(text_of(directive(experiment, "constraint")) or "")
    asked = [size for word in words if (size := parse_size(word))]
    if asked:
        return max(asked), max(asked)
    mem = directive(experiment, "mem")
    if machine.all_memory_by_request and (mem is None or str(mem.value).strip("KMGTP") != _ALL):
        more = parse_size(str(mem.value)) if mem is not None and _SIZE.fullmatch(str(mem.value)) else 0
        return usual, None if usual is None else max(usual, more)
    sizes = [parse_size(feature) for feature in machine.features if _SIZE.fullmatch(feature)]
    return usual, max([usual, *sizes]) if usual is not None and sizes else None


def _is_atmosphere(component: Component) -> bool:
    return component.kind in (None, "atmosphere")


class StateBeyondMemory(Rule):
    """The fields of the model alone are more than all nodes have.

    ## What it does
    Adds up the variables that ICON keeps for its restart, which it holds in memory all the time, takes three quarters
    of it as certain (a build with mixed precision halves a few of them), and compares it with the memory of all nodes,
    the largest that the site is known to have.

    ## Why it matters
    The model is killed while it allocates its fields.

    ## Evidence
    The sizes are those that nmlgen expects of a checkpoint; they agree with measured ones to 0.1 %. In memory there is
    more: coefficients, tendencies, halos, 0.25 GB a rank for MPI and the program.

    ## Example
    ```yaml bad
    grid: {file: iconR02B10-grid.nc, name: R2B10, num_lev: 90}
    job: {nodes: 1, ntasks_per_node: 128, constraint: 256G}
    #            ^
    ```
    ```yaml good
    grid: {file: iconR02B06-grid.nc, name: R2B6, num_lev: 90}
    job: {nodes: 2, ntasks_per_node: 128, constraint: 256G}
    ```

    ## References
    ICON 2024.10, `mo_kind.f90`, and the variables registered for restart.
    """

    code = "MEM001"
    name = "state-beyond-memory"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        count, (_, largest) = _nodes(experiment), _memory(experiment)
        if count is None or not largest:
            return
        components = [component for component in experiment.components if _is_atmosphere(component)]
        if all(most_checkpoint_bytes(component) < count * largest for component in components):
            return
        held = round(_HELD * sum(checkpoint_volume(component).low for component in components))
        if held > count * largest:
            yield self.finding(
                directive(experiment, "nodes"),
                f"the model's fields take at least {format_bytes(held)}, {_all(count)} "
                f"{format_bytes(count * largest)} at most",
                f"expected: at least {-(-held // largest)} nodes, and more for what ICON holds besides",
            )


class MemoryShort(ComponentRule):
    """What the model takes on a node is probably more than it has.

    ## What it does
    Adds up, by node, the variables that ICON keeps for its restart, the part of every output that the workers hold for
    the I/O ranks, and 0.25 GB for each rank, and compares the sum with the memory of a usual node of the partition, or
    with `mem` where the job asks for less. Coefficients and tendencies are left out: there is more.

    ## Why it matters
    Slurm kills the job, at its start or when the first output is prepared.

    ## Evidence
    Measured on Levante were 32 GB on nodes of 128 ranks, for R2B5 and R2B6 and whatever the layout (ClusterCockpit in
    the report below); the rest is read from ICON's source (`mo_name_list_output_init.f90:3106-3217`).

    ## Example
    ```yaml bad
    job: {mem: 8G}
    #          ^
    ```
    ```yaml good
    job: {mem: 200G}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.2.
    """

    code = "MEM002"
    name = "memory-short"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        experiment = component.experiment
        count, (usual, largest) = _nodes(experiment), _memory(experiment)
        mem = directive(experiment, "mem")
        asked = parse_size(str(mem.value)) if mem is not None and _SIZE.fullmatch(str(mem.value)) else 0
        memory = min(usual or asked, asked or usual or 0)
        if count is None or not memory or not _is_atmosphere(component):
            return
        ranks = split(component)
        base = ranks.total / count * BASE_BYTES
        if base < memory / 2 and most_checkpoint_bytes(component) < count * memory / 4:
            return
        state = checkpoint_volume(component).best
        if largest is not None and _HELD * state > count * largest:
            return  # MEM001 says it
        held = base + state / count + _window(component) / count
        if held > memory:
            yield self.finding(
                mem if memory == asked else directive(experiment, "nodes"),
                f"a node of the job holds at least {format_bytes(round(held))}, it has {format_bytes(memory)}",
                f"{format_bytes(round(state / count))} of fields, {format_bytes(round(_window(component) / count))} of "
                f"output, and {format_bytes(round(base))} for {ranks.total // count} ranks",
                "expected: more nodes, fewer tasks on each, or nodes with more memory",
            )


class IoRanksOnOneNode(ComponentRule):
    """The I/O ranks are the last ones of the job, and sit together on the last node: too many for its memory.

    ## What it does
    Finds the I/O ranks that Slurm places on one node, by `distribution`, `nodes` and `ntasks_per_node`, adds up what
    they and the workers beside them hold, and compares it with the memory of a node, where the same ranks on different
    nodes would fit.

    ## Why it matters
    An I/O rank holds all levels of one variable of the whole grid, in the order of their arrival and of the file. On
    large grids some of them fill a node, and Slurm kills the job at its first output.

    ## Evidence
    ICON 2024.10, `mo_name_list_output.f90:3057-3077`, and its ranks in the heat maps of the report below: all I/O ranks
    on the last node. That spreading them makes writing faster as well is likely, but nobody has measured it.

    ## Example
    ```yaml bad
    grid: {file: iconR02B09-grid.nc, name: R2B9, num_lev: 90}
    job: {nodes: 64, ntasks_per_node: 128, constraint: 256G}
    parallel: {num_io_procs: 32}
    #                        ^
    output: {atm: {stream_partitions_ml: 32, output_interval: PT6H, file_interval: P8D}}
    ```
    ```yaml good
    grid: {file: iconR02B09-grid.nc, name: R2B9, num_lev: 90}
    job: {nodes: 64, ntasks_per_node: 128, constraint: 256G, distribution: cyclic}
    parallel: {num_io_procs: 32}
    output: {atm: {stream_partitions_ml: 32, output_interval: PT6H, file_interval: P8D}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), sections 5.2.1 and 6.2. Slurm manual,
    srun, --distribution.
    """

    code = "MEM003"
    name = "io-ranks-on-one-node"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        experiment = component.experiment
        (memory, _), count = _memory(experiment), _nodes(experiment)
        if memory is None or count is None or not _is_atmosphere(component):
            return
        ranks = split(component)
        if ranks.io < 2 or ranks.work < 1:
            return
        levels = max(as_list(component["run_nml", "num_lev"].value))
        if ranks.io * levels * points(component)["cell"] * _AMPLE < memory:
            return
        from nmlgen.advise.memory import io_rank_bytes

        together = max(node.crew.get((component.number, "io"), 0) for node in nodes(experiment))
        held = io_rank_bytes(component)[0]
        beside = checkpoint_volume(component).best / count + ranks.total / count * BASE_BYTES
        apart = -(-ranks.io // count)
        if together * held + beside > memory > apart * held + beside:
            yield self.finding(
                component["parallel_nml", "num_io_procs"],
                f"{together} of {ranks.io} I/O ranks sit on one node and hold {format_bytes(round(together * held))} "
                f"there, besides {format_bytes(round(beside))} of others; it has {format_bytes(memory)}",
                f"an I/O rank holds {format_bytes(round(held))}: all levels of one variable of the whole grid",
                "expected: --distribution=cyclic for srun, which spreads them (io_process_stride is about ranks that "
                f"read), or parallel_nml: io_proc_chunk_size {max(1, levels // 4)}, so many levels at a time",
            )


def _window(component: Component) -> float:
    """What all workers together keep of the output for the I/O ranks to fetch; 0 where nobody can know."""
    from nmlgen.advise.memory import window_bytes

    return window_bytes(component) if split(component).io else 0.0


def _all(nodes: int) -> str:
    return "the node of the job has" if nodes == 1 else f"the {nodes} nodes of the job have"
