"""What is asked of Slurm, against what the site has: partition, time, nodes, tasks, memory, account."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Partition
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.pattern import pattern
from nmlgen.rules.directives import directive, option, text_of
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size, parse_size
from nmlgen.units.wall_time import format_wall_time, parse_wall_time, wall_time_form

_MOST_NAMED = 10
"""Partitions or features of one text that are told of: it may have hundreds of thousands."""
_FEATURE = pattern(r"(?<!\d)\d*[A-Za-z_][\w.:-]*")


_SHORTEST_LEAD = 60


def count_of(setting: Setting | None) -> int | None:
    """A setting's value if it is a whole number."""
    value = setting.value if setting is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(setting: Setting | None) -> int | None:
    """The seconds of a time limit; None where there is none that sbatch takes."""
    text = text_of(setting)
    try:
        return parse_wall_time(text) if text is not None else None
    except ValueError:
        return None


def _bytes(setting: Setting | None) -> int | None:
    text = text_of(setting)
    try:
        return parse_size(text) if text is not None else None
    except ValueError:
        return None


def _measured(
    experiment: Experiment, name: str, measure: Callable[[Setting | None], int | None]
) -> tuple[Setting, int] | None:
    """A directive and its measure; None where it has none."""
    setting = directive(experiment, name)
    found = measure(setting)
    return None if setting is None or found is None else (setting, found)


def _partition_names(experiment: Experiment) -> list[str]:
    text = text_of(directive(experiment, "partition"))
    return [name.strip() for name in text.split(",") if name.strip()] if text is not None else []


def _partitions(experiment: Experiment) -> list[Partition] | None:
    """The partitions that are asked for, one of which will take the job; None unless all of them are known."""
    known = experiment.machine.partitions
    names = _partition_names(experiment)
    return [known[name] for name in names] if names and all(name in known for name in names) else None


def node_of(experiment: Experiment) -> Partition:
    """What is known of the nodes the job will get: the partition's facts, without a partition the machine's."""
    machine = experiment.machine
    if directive(experiment, "partition") is None:
        return Partition(
            "",
            cores_per_node=machine.cores_per_node,
            threads_per_core=machine.threads_per_core,
            memory_per_node=machine.memory_per_node,
        )
    partitions = _partitions(experiment)
    return partitions[0] if partitions is not None and len(partitions) == 1 else Partition("")


def _where(node: Partition) -> str:
    return f"partition {node.name}" if node.name else "the machine"


def _tasks_on_a_node(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many tasks the fullest node has to hold, with the setting that says so."""
    per_node, ntasks, nodes = (_measured(experiment, name, count_of) for name in ("ntasks-per-node", "ntasks", "nodes"))
    if ntasks is not None and nodes is not None and nodes[1] > 0:
        share = -(-ntasks[1] // nodes[1])
        if per_node is None or share < per_node[1]:
            return ntasks[0], share
    return per_node


def _cpus_on_a_node(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many CPUs the tasks of the fullest node ask for, with the setting that says so."""
    found = _tasks_on_a_node(experiment)
    if found is None:
        return None
    cpus = directive(experiment, "cpus-per-task")
    width = 1 if cpus is None else count_of(cpus)
    return None if width is None else (found[0], found[1] * width)


class UnknownPartition(Rule):
    """The partition is not among those known at the site.

    ## What it does
    Finds a partition that the site's file does not list, where it lists any.

    ## Why it matters
    sbatch refuses a name that the machine does not have, and upper and lower case matter. The site's list may be
    incomplete: if the partition exists, add it there, and its limits are checked too.

    ## Evidence
    Slurm 22.05: "invalid partition specified", for a misspelt name, for `Compute`, and for one bad name among several.

    ## Example
    ```yaml bad
    job: {partition: computer}
    #                ^
    ```
    ```yaml good
    job: {partition: compute}
    ```

    ## References
    Slurm manual, sbatch, --partition.
    """

    code = "SLM001"
    name = "unknown-partition"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        known = experiment.machine.partitions
        names = dict.fromkeys(_partition_names(experiment)) if known else {}
        for name in islice((name for name in names if name not in known), _MOST_NAMED):
            yield self.finding(
                directive(experiment, "partition"),
                f'site {experiment.machine.name} lists no partition "{name}"',
                f"expected: one of {', '.join(known)}",
            )


class TimeBeyondPartition(Rule):
    """The time limit is longer than the partition allows.

    ## What it does
    Finds a `time` beyond the longest that any of the partitions asked for allows. `00:00:00` asks for no limit at all.

    ## Why it matters
    Slurm refuses the job, or keeps it pending for ever, as the site has it.

    ## Evidence
    Slurm 22.05: "Requested time limit is invalid", also for 08:00:01 where 08:00:00 is the longest, since limits are
    whole minutes rounded up, and for 00:00:00; where the site does not enforce limits at submission, the job pends
    with the reason PartitionTimeLimit.

    ## Example
    ```yaml bad
    job: {partition: compute, time: "12:00:00"}
    #                               ^
    ```
    ```yaml good
    job: {partition: compute, time: "08:00:00"}
    ```

    ## References
    Slurm manual, sbatch, --time; slurm.conf, EnforcePartLimits.
    """

    code = "SLM002"
    name = "time-beyond-partition"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        asked, partitions = _measured(experiment, "time", _seconds), _partitions(experiment)
        if asked is None or partitions is None:
            return
        time, seconds = asked
        limits = [partition.max_time for partition in partitions if partition.max_time is not None]
        if len(limits) == len(partitions) and (seconds == 0 or seconds > max(limits)):
            wish = "no limit" if seconds == 0 else format_wall_time(seconds)
            yield self.finding(
                time,
                f'time "{time.value}" asks for {wish}, partition {", ".join(_partition_names(experiment))} '
                f"allows {format_wall_time(max(limits))}",
                f"expected: at most {format_wall_time(max(limits))}; "
                "restartTimeIntval splits a longer run into a chain of jobs",
            )


class NodesBeyondPartition(Rule):
    """More nodes than a job may have in the partition.

    ## What it does
    Finds `nodes` beyond the largest number that any of the partitions asked for allows.

    ## Why it matters
    Slurm refuses the job, or keeps it pending for ever, as the site has it.

    ## Evidence
    Slurm 22.05: "Node count specification invalid"; where the site does not enforce limits at submission, the job
    pends with the reason PartitionNodeLimit.

    ## Example
    ```yaml bad
    job: {partition: compute, nodes: 600}
    #                                ^
    ```
    ```yaml good
    job: {partition: compute, nodes: 8}
    ```

    ## References
    Slurm manual, sbatch, --nodes; slurm.conf, MaxNodes.
    """

    code = "SLM003"
    name = "nodes-beyond-partition"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        asked, partitions = _measured(experiment, "nodes", count_of), _partitions(experiment)
        if asked is None or partitions is None:
            return
        nodes, count = asked
        limits = [partition.max_nodes for partition in partitions if partition.max_nodes is not None]
        if len(limits) == len(partitions) and count > max(limits):
            yield self.finding(
                nodes,
                f"{count} nodes are asked for, partition {', '.join(_partition_names(experiment))} "
                f"allows {max(limits)}",
                f"expected: at most {max(limits)}",
            )


class CpusBeyondNode(Rule):
    """The tasks of a node need more CPUs than a node has.

    ## What it does
    Finds tasks of a node times `cpus_per_task` beyond the hardware threads of a node, or beyond its cores where
    `hint: nomultithread` gives each CPU a core of its own.

    ## Why it matters
    Slurm refuses the job.

    ## Evidence
    Slurm 22.05 on nodes of 128 cores with two threads each takes 256 tasks and refuses 257, takes 128 tasks of 2 CPUs
    and refuses 3, and refuses 129 with `--hint=nomultithread`: "Requested node configuration is not available".

    ## Example
    ```yaml bad
    job: {partition: compute, ntasks_per_node: 128, cpus_per_task: 4}
    #                                          ^
    ```
    ```yaml good
    job: {partition: compute, ntasks_per_node: 32, cpus_per_task: 4}
    ```

    ## References
    Slurm manual, sbatch, --ntasks-per-node, --cpus-per-task and --hint.
    """

    code = "SLM004"
    name = "cpus-beyond-node"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found, node = _cpus_on_a_node(experiment), node_of(experiment)
        if found is None or node.cores_per_node is None:
            return
        own_core = text_of(directive(experiment, "hint")) == "nomultithread"
        threads = 1 if own_core else node.threads_per_core
        if threads is None:
            return
        most = node.cores_per_node * threads
        if found[1] > most:
            kind = "cores" if threads == 1 else "hardware threads"
            yield self.finding(
                found[0],
                f"the tasks of a node need {found[1]} CPUs, a node of {_where(node)} has {most} {kind}",
                f"expected: ntasks_per_node times cpus_per_task at most {most}; {node.cores_per_node} give each "
                "CPU a core of its own",
            )


class TasksBeyondCores(Rule):
    """The tasks of a node share cores.

    ## What it does
    Finds tasks of a node times `cpus_per_task` beyond the physical cores of a node, but within what Slurm accepts.

    ## Why it matters
    The run starts, and two tasks at a time share the arithmetic units and the cache of one core.

    ## Evidence
    Slurm 22.05 gives 256 tasks to a node of 128 cores with two threads each. ICON's own target for such nodes starts
    128 tasks (`run/create_target_header`).

    ## Example
    ```yaml bad
    job: {partition: compute, ntasks_per_node: 256}
    #                                          ^
    ```
    ```yaml good
    job: {partition: compute, ntasks_per_node: 128}
    ```

    ## References
    Slurm manual, sbatch, --ntasks-per-node.
    """

    code = "SLM005"
    name = "tasks-beyond-cores"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found, node = _cpus_on_a_node(experiment), node_of(experiment)
        if found is None or node.cores_per_node is None or found[1] <= node.cores_per_node:
            return
        refused = text_of(directive(experiment, "hint")) == "nomultithread" or (
            node.threads_per_core is not None and found[1] > node.cores_per_node * node.threads_per_core
        )
        if not refused:
            yield self.finding(
                found[0],
                f"the tasks of a node need {found[1]} CPUs, a node of {_where(node)} has {node.cores_per_node} cores",
                f"expected: ntasks_per_node times cpus_per_task at most {node.cores_per_node}",
            )


class MemoryBeyondNode(Rule):
    """More memory than a node has.

    ## What it does
    Finds `mem`, or `mem_per_cpu` times the CPUs that the tasks of a node need, beyond a node's memory. Where the site
    has a node feature named after a memory size that would do, such as 1024G, the rule is silent.

    ## Why it matters
    Slurm refuses the job.

    ## Evidence
    Slurm 22.05: "Requested node configuration is not available". A node offers somewhat less than its nominal memory:
    `--mem=256G` did not fit on one of 256 GB either.

    ## Example
    ```yaml bad
    job: {partition: compute, mem: 300G}
    #                              ^
    ```
    ```yaml good
    job: {partition: compute, mem: 200G}
    ```

    ## References
    Slurm manual, sbatch, --mem and --mem-per-cpu.
    """

    code = "SLM006"
    name = "memory-beyond-node"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        node = node_of(experiment)
        if node.memory_per_node is None:
            return
        sizes = [_feature_size(feature) for feature in experiment.machine.features]
        for setting, wanted in self._wishes(experiment):
            if wanted > max([node.memory_per_node, *sizes]):
                yield self.finding(
                    setting,
                    f"{option(setting)} {setting.value} asks for {format_size(wanted)} a node, a node of "
                    f"{_where(node)} has {format_size(node.memory_per_node)}",
                    f"expected: less than {format_size(node.memory_per_node)}",
                )

    def _wishes(self, experiment: Experiment) -> Iterator[tuple[Setting, int]]:
        mem, per_cpu = (_measured(experiment, name, _bytes) for name in ("mem", "mem-per-cpu"))
        if mem is not None:
            yield mem
        cpus = _cpus_on_a_node(experiment)
        if per_cpu is not None and cpus is not None:
            yield per_cpu[0], per_cpu[1] * cpus[1]


def _feature_size(feature: str) -> int:
    """The memory that a node feature is named after: 512G; 0 for other features."""
    try:
        return parse_size(feature)
    except ValueError:
        return 0


class AccountMissing(Rule):
    """The site takes no job without an account.

    ## What it does
    Finds a job without `account` where the site requires one.

    ## Why it matters
    sbatch refuses the job.

    ## Evidence
    Slurm 22.05 with a submit plugin as such sites have it refuses at once. ICON's own scripts always name one
    (`run/create_target_header`).

    ## Example
    ```yaml bad
    job: {account: null}
    ```
    ```yaml good
    job: {account: bb1234}
    ```

    ## References
    Slurm manual, sbatch, --account.
    """

    code = "SLM007"
    name = "account-missing"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        machine = experiment.machine
        if machine.scheduler == "slurm" and machine.account_required and "account" not in experiment.directives:
            yield self.finding(
                experiment.directives_span,
                f"the job names no account, site {machine.name} requires one",
                "expected: job.account, the project that is charged",
            )


class MinutesAndSeconds(Rule):
    """`8:00` is eight minutes.

    ## What it does
    Finds a `time` of two numbers with one colon.

    ## Why it matters
    sbatch reads it as minutes and seconds; most who write it mean hours and minutes. The job then ends early, and what
    it computed since its last checkpoint is lost.

    ## Evidence
    Slurm 22.05 makes 00:08:00 of `--time=8:00` and 00:30:00 of `--time=30:00`.

    ## Example
    ```yaml bad
    job: {time: "8:00"}
    #           ^
    ```
    ```yaml good
    job: {time: "08:00:00"}
    ```

    ## References
    Slurm manual, sbatch, --time.
    """

    code = "SLM008"
    name = "minutes-and-seconds"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        asked = _measured(experiment, "time", _seconds)
        if asked is not None and wall_time_form(asked[0].value) == "minutes:seconds":
            time, seconds = asked
            yield self.finding(
                time,
                f'time "{time.value}" is minutes and seconds: {format_wall_time(seconds)}',
                f'expected: hours:minutes:seconds, such as "{time.value}:00" or "{format_wall_time(seconds)}"',
            )


class MemoryAskedTwice(Rule):
    """`mem` and `mem_per_cpu` exclude each other.

    ## What it does
    Finds both.

    ## Why it matters
    sbatch refuses the job.

    ## Evidence
    Slurm 22.05: "--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive".

    ## Example
    ```yaml bad
    job: {mem: 100G, mem_per_cpu: 500M}
    #                             ^
    ```
    ```yaml good
    job: {mem_per_cpu: 500M}
    ```

    ## References
    Slurm manual, sbatch, --mem.
    """

    code = "SLM009"
    name = "memory-asked-twice"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        mem, per_cpu = directive(experiment, "mem"), directive(experiment, "mem-per-cpu")
        if mem is not None and per_cpu is not None:
            yield self.finding(
                per_cpu,
                f"mem {mem.value} and mem_per_cpu {per_cpu.value} exclude each other",
                "expected: one of the two; null takes away what a preset set",
            )


class FewerTasksThanNodes(Rule):
    """More nodes than tasks: Slurm takes fewer nodes.

    ## What it does
    Finds `ntasks` below `nodes`.

    ## Why it matters
    The job gets as many nodes as it has tasks.

    ## Evidence
    Slurm 22.05 with -N2 -n1: "can't run 1 processes on 2 nodes, setting nnodes to 1".

    ## Example
    ```yaml bad
    job: {nodes: 4, ntasks: 2, ntasks_per_node: null}
    #                       ^
    ```
    ```yaml good
    job: {nodes: 4, ntasks_per_node: 32}
    ```

    ## References
    Slurm manual, sbatch, --ntasks and --nodes.
    """

    code = "SLM017"
    name = "fewer-tasks-than-nodes"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        ntasks = directive(experiment, "ntasks")
        tasks, nodes = count_of(ntasks), count_of(directive(experiment, "nodes"))
        if tasks is not None and nodes is not None and tasks < nodes:
            yield self.finding(
                ntasks,
                f"{tasks} tasks cannot run on {nodes} nodes: Slurm takes {tasks}",
                "expected: ntasks at least nodes, or nodes and ntasks_per_node alone",
            )


def _places(experiment: Experiment) -> tuple[int, int, str] | None:
    """ntasks, and nodes times ntasks_per_node with its working; None unless all three are given."""
    tasks = count_of(directive(experiment, "ntasks"))
    nodes = count_of(directive(experiment, "nodes"))
    per_node = count_of(directive(experiment, "ntasks-per-node"))
    if tasks is None or nodes is None or per_node is None or tasks < nodes:
        return None
    return tasks, nodes * per_node, f"{nodes} nodes times {per_node} tasks are {nodes * per_node}"


class MoreTasksThanPlaces(Rule):
    """`ntasks` beyond `nodes` times `ntasks_per_node` fits nowhere.

    ## What it does
    Finds it, where all three are given.

    ## Why it matters
    With `ntasks` given, `ntasks_per_node` is the most that a node may hold: Slurm refuses the job.

    ## Evidence
    Slurm 22.05 with -N2 --ntasks-per-node=4 -n10: "Requested node configuration is not available".

    ## Example
    ```yaml bad
    job: {nodes: 2, ntasks_per_node: 128, ntasks: 300}
    #                                             ^
    ```
    ```yaml good
    job: {nodes: 2, ntasks_per_node: 128, ntasks: 256}
    ```

    ## References
    Slurm manual, sbatch, --ntasks-per-node.
    """

    code = "SLM018"
    name = "more-tasks-than-places"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found = _places(experiment)
        if found is not None and found[0] > found[1]:
            yield self.finding(
                directive(experiment, "ntasks"),
                f"ntasks is {found[0]}, {found[2]}",
                f"expected: {found[1]}, or no ntasks",
            )


class TasksContradictNodes(Rule):
    """`ntasks` below `nodes` times `ntasks_per_node` leaves places empty.

    ## What it does
    Finds it, where all three are given.

    ## Why it matters
    `ntasks` wins and `ntasks_per_node` is only the most that a node may hold: the job is charged for nodes that are
    partly idle, and ICON splits fewer ranks than the other two numbers say.

    ## Evidence
    Slurm 22.05 accepts -N4 --ntasks-per-node=128 -n100.

    ## Example
    ```yaml bad
    job: {nodes: 2, ntasks_per_node: 128, ntasks: 200}
    #                                             ^
    ```
    ```yaml good
    job: {nodes: 2, ntasks_per_node: 100}
    ```

    ## References
    Slurm manual, sbatch, --ntasks-per-node.
    """

    code = "SLM019"
    name = "tasks-contradict-nodes"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found = _places(experiment)
        if found is not None and found[0] < found[1]:
            yield self.finding(
                directive(experiment, "ntasks"),
                f"ntasks is {found[0]}, {found[2]}",
                f"expected: {found[1]}, or no ntasks",
            )


class NoTimeLimit(Rule):
    """A job without a time limit gets the partition's.

    ## What it does
    Finds a job without `time`.

    ## Why it matters
    The partition's default holds, which may be minutes, else its maximum, with which the job waits longest. And the
    script cannot save the run before a limit that nobody wrote.

    ## Evidence
    Slurm manual: the partition's default time limit, which is its maximum unless the site sets DefaultTime.

    ## Example
    ```yaml bad
    job: {time: null}
    ```
    ```yaml good
    job: {time: "01:00:00"}
    ```

    ## References
    Slurm manual, sbatch, --time; slurm.conf, DefaultTime.
    """

    code = "SLM020"
    name = "no-time-limit"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        if experiment.machine.scheduler == "slurm" and "time" not in experiment.directives:
            yield self.finding(
                experiment.directives_span,
                "the job has no time limit: the partition's default or maximum holds",
                'expected: job.time, such as "00:40:00"',
            )


class UnknownFeature(Rule):
    """The constraint names a node feature that is not known at the site.

    ## What it does
    Finds a feature in `constraint` that the site's file does not list, where it lists any.

    ## Why it matters
    sbatch refuses a feature that no node has, and upper and lower case matter. The site's list may be incomplete.

    ## Evidence
    Slurm 22.05: "Invalid feature specification" for an unknown feature and for `beeond` instead of `BEEOND`.

    ## Example
    ```yaml bad
    job: {constraint: "256G&beeond"}
    #                 ^
    ```
    ```yaml good
    job: {constraint: 256G}
    ```

    ## References
    Slurm manual, sbatch, --constraint.
    """

    code = "SLM021"
    name = "unknown-feature"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        constraint = directive(experiment, "constraint")
        text, machine = text_of(constraint), experiment.machine
        if text is None or not machine.features:
            return
        known = {*machine.features, *(name for kind in machine.node_local.values() for name in kind.constraints)}
        if experiment.node_local is not None and experiment.node_local.constraint is not None:
            known.add(experiment.node_local.constraint.value)  # judged by the rules on node-local runs
        names = dict.fromkeys(_FEATURE.findall(re.sub(r"\*\d+", "", text)))
        for name in islice((name for name in names if name not in known), _MOST_NAMED):
            yield self.finding(
                constraint,
                f'site {machine.name} lists no node feature "{name}"',
                f"expected: one or several of {', '.join(machine.features)}",
            )


def _lead(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many seconds before the time limit the signal is due."""
    signal = directive(experiment, "signal")
    if signal is None:
        return None
    match = re.fullmatch(r"(?:[RB]+:)?\w+@(\d{1,5})", text_of(signal) or "")
    return (signal, int(match[1])) if match else None


class SignalAtStart(Rule):
    """A signal due before the job begins comes when it begins.

    ## What it does
    Finds a `signal` whose seconds are not less than the time limit.

    ## Why it matters
    Slurm sends it at its first look at the job, seconds after the start. The script then stops the model, saves what is
    there, which is nothing, and the job ends.

    ## Evidence
    Slurm 22.05, one minute of time limit and B:USR1@300: the script got the signal after 10 s.

    ## Example
    ```yaml bad
    job: {time: "00:05:00", signal: "B:USR1@600"}
    #                               ^
    ```
    ```yaml good
    job: {time: "00:30:00", signal: "B:USR1@600"}
    ```

    ## References
    Slurm manual, sbatch, --signal.
    """

    code = "SLM022"
    name = "signal-at-start"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        time, lead = directive(experiment, "time"), _lead(experiment)
        seconds = _seconds(time)
        if lead is None or not seconds:
            return
        limit = -(-seconds // 60) * 60
        if lead[1] >= limit:
            yield self.finding(
                lead[0] if lead[0].span is not None else time,
                f"the signal is due {lead[1]} s before a time limit of {limit} s: it stops the model at its start",
                f"expected: a signal less than {limit} s before the end, or a longer time",
            )


class SignalTooLate(Rule):
    """Slurm looks for signals that are due every half minute to minute.

    ## What it does
    Finds a `signal` less than 60 seconds before the time limit.

    ## Why it matters
    It may come so late that the script has no time left to stop the model and to save its files.

    ## Evidence
    Slurm 22.05: USR1@50 with a limit of 60 s was due after 10 s and came after 28 s; USR1@20 and USR1@59 with a limit
    of 120 s came 30 and 21 s early. The manual allows for 60 s.

    ## Example
    ```yaml bad
    job: {signal: "B:USR1@30"}
    #             ^
    ```
    ```yaml good
    job: {signal: "B:USR1@180"}
    ```

    ## References
    Slurm manual, sbatch, --signal.
    """

    code = "SLM023"
    name = "signal-too-late"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        lead = _lead(experiment)
        if lead is not None and lead[1] < _SHORTEST_LEAD:
            yield self.finding(
                lead[0],
                f"the signal is due {lead[1]} s before the time limit, Slurm looks only every 30 to 60 s",
                "expected: 60 s or more, and what stopping and saving takes on top",
            )


class DistributionOverruled(Rule):
    """An option of srun is stronger than the job's `distribution`.

    ## What it does
    Finds a `distribution` of the job beside another one among the options of the launcher, which many sites set.

    ## Why it matters
    The job's one does nothing: tasks, and with them the I/O ranks, sit elsewhere than meant.

    ## Evidence
    Slurm manual: options on srun's command line override the environment, in which sbatch hands its own on.

    ## Example
    ```yaml bad
    job: {distribution: cyclic}
    #                   ^
    launch: {options: ["--distribution=block:block"]}
    ```
    ```yaml good
    job: {distribution: cyclic}
    ```

    ## References
    Slurm manual, srun, --distribution; sbatch, SLURM_DISTRIBUTION.
    """

    code = "SLM027"
    name = "distribution-overruled"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        given = directive(experiment, "distribution")
        if given is None or experiment.launch.command.value != "srun":
            return
        words = [str(option.value) for option in experiment.launch.options]
        said = [word.partition("=")[2] for word in words if word.startswith("--distribution=")]
        said += [after for word, after in pairwise(words) if word in ("-m", "--distribution")]
        if said and said[-1] != given.value:
            yield self.finding(
                given,
                f"distribution {given.value} does nothing: launch.options say {said[-1]}",
                f"expected: --distribution={given.value} in launch.options, or none there",
            )
