"""What is asked of Slurm: limits of partitions and nodes, the job's logs, and what sbatch reads differently."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Partition
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size, parse_size
from nmlgen.units.wall_time import format_wall_time, parse_wall_time, wall_time_form

_LOGS = ("output", "error")
_TEXTS = ("job-name", "comment", "account")
_LONGEST_TEXT = 1024
_FILE_PATTERNS = "AajJNnstuxb"
_DEPENDENCIES = (
    "after",
    "afterany",
    "afterburstbuffer",
    "aftercorr",
    "afternotok",
    "afterok",
    "singleton",
)
_JOB_ID = re.compile(r"\d+(_\S+)?(\+\d+)?")
_FEATURE = re.compile(r"\d*[A-Za-z_][\w.:-]*")
_VARIABLE = re.compile(r"\$[A-Za-z_{(]|`")
_HOME = re.compile(r"~([A-Za-z_][\w-]*)?(/|$)")
_SHORTEST_LEAD = 60


def _directive(experiment: Experiment, name: str) -> Setting | None:
    """An option given to sbatch; None where it is not given, or no Slurm runs the script."""
    return experiment.directives.get(name) if experiment.machine.scheduler == "slurm" else None


def _count(setting: Setting | None) -> int | None:
    """A setting's value if it is a whole number."""
    value = setting.value if setting is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(setting: Setting | None) -> str | None:
    """A setting's value if it is a text."""
    value = setting.value if setting is not None else None
    return value if isinstance(value, str) else None


def _texts(experiment: Experiment, names: tuple[str, ...]) -> Iterator[tuple[Setting, str]]:
    """Those of the options that are given, each with its text."""
    for name in names:
        setting = _directive(experiment, name)
        text = _text(setting)
        if setting is not None and text is not None:
            yield setting, text


def _seconds(setting: Setting | None) -> int | None:
    """The seconds of a time limit; None where there is none that sbatch takes."""
    text = _text(setting)
    try:
        return parse_wall_time(text) if text is not None else None
    except ValueError:
        return None


def _bytes(setting: Setting | None) -> int | None:
    text = _text(setting)
    try:
        return parse_size(text) if text is not None else None
    except ValueError:
        return None


def _option(setting: Setting) -> str:
    """The key of the spec that sets an option, without its section."""
    return setting.name.rpartition(".")[2]


def _partition_names(experiment: Experiment) -> list[str]:
    text = _text(_directive(experiment, "partition"))
    return [name.strip() for name in text.split(",") if name.strip()] if text is not None else []


def _partitions(experiment: Experiment) -> list[Partition] | None:
    """The partitions that are asked for, one of which will take the job; None unless all of them are known."""
    known = experiment.machine.partitions
    names = _partition_names(experiment)
    return [known[name] for name in names] if names and all(name in known for name in names) else None


def _node(experiment: Experiment) -> Partition:
    """What is known of the nodes the job will get: the partition's facts, without a partition the machine's."""
    machine = experiment.machine
    if _directive(experiment, "partition") is None:
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
    per_node, ntasks = _directive(experiment, "ntasks-per-node"), _directive(experiment, "ntasks")
    most, tasks, nodes = _count(per_node), _count(ntasks), _count(_directive(experiment, "nodes"))
    if ntasks is not None and tasks is not None and nodes is not None and nodes > 0:
        share = -(-tasks // nodes)
        if per_node is None or most is None or share < most:
            return ntasks, share
    return (per_node, most) if per_node is not None and most is not None else None


def _cpus_on_a_node(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many CPUs the tasks of the fullest node ask for, with the setting that says so."""
    found = _tasks_on_a_node(experiment)
    if found is None:
        return None
    cpus = _directive(experiment, "cpus-per-task")
    width = _count(cpus) if cpus is not None else 1
    return (found[0], found[1] * width) if width is not None else None


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
        for name in _partition_names(experiment):
            if known and name not in known:
                yield self.finding(
                    _directive(experiment, "partition"),
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
        time = _directive(experiment, "time")
        seconds, partitions = _seconds(time), _partitions(experiment)
        if time is None or seconds is None or partitions is None:
            return
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
        nodes = _directive(experiment, "nodes")
        count, partitions = _count(nodes), _partitions(experiment)
        if count is None or partitions is None:
            return
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
        found, node = _cpus_on_a_node(experiment), _node(experiment)
        if found is None or node.cores_per_node is None:
            return
        own_core = _text(_directive(experiment, "hint")) == "nomultithread"
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
        found, node = _cpus_on_a_node(experiment), _node(experiment)
        if found is None or node.cores_per_node is None or found[1] <= node.cores_per_node:
            return
        refused = _text(_directive(experiment, "hint")) == "nomultithread" or (
            node.threads_per_core is not None and found[1] > node.cores_per_node * node.threads_per_core
        )
        if not refused:
            yield self.finding(
                found[0],
                f"the tasks of a node need {found[1]} CPUs, a node of {_where(node)} has "
                f"{node.cores_per_node} cores",
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
        node = _node(experiment)
        if node.memory_per_node is None:
            return
        sizes = [_feature_size(feature) for feature in experiment.machine.features]
        for setting, wanted in self._wishes(experiment):
            if wanted > max([node.memory_per_node, *sizes]):
                yield self.finding(
                    setting,
                    f"{_option(setting)} {setting.value} asks for {format_size(wanted)} a node, a node of "
                    f"{_where(node)} has {format_size(node.memory_per_node)}",
                    f"expected: less than {format_size(node.memory_per_node)}",
                )

    def _wishes(self, experiment: Experiment) -> Iterator[tuple[Setting, int]]:
        mem, per_cpu = _directive(experiment, "mem"), _directive(experiment, "mem-per-cpu")
        size = _bytes(mem)
        if mem is not None and size is not None:
            yield mem, size
        size, cpus = _bytes(per_cpu), _cpus_on_a_node(experiment)
        if per_cpu is not None and size is not None and cpus is not None:
            yield per_cpu, size * cpus[1]


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
                None,
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
        time = _directive(experiment, "time")
        seconds = _seconds(time)
        if time is not None and seconds is not None and wall_time_form(time.value) == "minutes:seconds":
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
        mem, per_cpu = _directive(experiment, "mem"), _directive(experiment, "mem-per-cpu")
        if mem is not None and per_cpu is not None:
            yield self.finding(
                per_cpu,
                f"mem {mem.value} and mem_per_cpu {per_cpu.value} exclude each other",
                "expected: one of the two; null takes away what a preset set",
            )


def _exported(experiment: Experiment) -> set[str] | None:
    """The names that --export lets through to the tasks of srun; None where everything is let through."""
    text = _text(_directive(experiment, "export"))
    if text is None or experiment.launch.command.value != "srun":
        return None
    if any(str(option.value).startswith("--export") for option in experiment.launch.options):
        return None
    names = {item.partition("=")[0].strip() for item in text.split(",")}
    return None if any(name.upper() == "ALL" for name in names) else names


class ExportWithoutPath(Rule):
    """With `export: NONE` or a list without ALL, srun starts the tasks without an environment.

    ## What it does
    Finds an `export` that lets neither ALL nor PATH through, where srun starts the model.

    ## Why it matters
    srun obeys the variable SLURM_EXPORT_ENV, which --export of sbatch sets: the tasks get neither PATH nor
    LD_LIBRARY_PATH nor anything else that the script exports. A program that is looked for in PATH, such as env, does
    not start, nor one that needs a module's libraries.

    ## Evidence
    Slurm 22.05, `srun env` in jobs with NONE, NIL, none and X=1: "execve(): env: No such file or directory", exit
    code 2. With ALL,X=1 it works.

    ## Example
    ```yaml bad
    job: {export: NONE}
    #             ^
    ```
    ```yaml good
    job: {export: "ALL,OMP_NUM_THREADS=1"}
    ```

    ## References
    Slurm manual, sbatch and srun, --export.
    """

    code = "SLM010"
    name = "export-without-path"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        names = _exported(experiment)
        if names is not None and "PATH" not in names:
            export = experiment.directives["export"]
            yield self.finding(
                export,
                f'export "{export.value}" leaves the tasks that srun starts without an environment',
                "expected: ALL, which is the default, alone or first in the list",
            )


class ExportWithoutAll(Rule):
    """A list in `export` without ALL keeps the script's own variables from the model.

    ## What it does
    Finds an `export` that lets PATH through but not ALL, where srun starts the model.

    ## Why it matters
    The tasks get the named variables only: what the script itself exports later, for MPI, OpenMP or the modules'
    libraries, does not reach them.

    ## Evidence
    Slurm 22.05: srun inherits the list through SLURM_EXPORT_ENV.

    ## Example
    ```yaml bad
    job: {export: "PATH,HOME"}
    #             ^
    ```
    ```yaml good
    job: {export: ALL}
    ```

    ## References
    Slurm manual, sbatch and srun, --export.
    """

    code = "SLM011"
    name = "export-without-all"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        names = _exported(experiment)
        if names is not None and "PATH" in names:
            export = experiment.directives["export"]
            yield self.finding(
                export,
                f'export "{export.value}" hands only these variables to the tasks that srun starts',
                "expected: ALL, which is the default, alone or first in the list",
            )


def _directory(path: str) -> str:
    """The directory part of a log's path; empty where it lies beside the script."""
    directory = path.rpartition("/")[0] + "/" if "/" in path else ""
    return "" if re.fullmatch(r"(\./+)*", directory) else directory


def _is_shell(text: str) -> bool:
    """Whether a shell would expand something in the text, which Slurm does not."""
    return bool(_VARIABLE.search(text) or _HOME.match(text))


class LogPathNotExpanded(Rule):
    """Slurm expands neither `$HOME` nor `~` in the path of a log.

    ## What it does
    Finds a variable, a command substitution or `~` in the directory of `output` or `error`.

    ## Why it matters
    Slurm looks for a directory of that very name below the working directory. There is none: the job fails when it
    starts, after its wait in the queue, and leaves no log that would say why.

    ## Evidence
    Slurm 22.05 makes `WORKDIR/$HOME/x.1` of `-o $HOME/x.%j`, and the job ends with JobLaunchFailure, as with `~/x.log`.

    ## Example
    ```yaml bad
    job: {output: "$HOME/logs/%x.%j.log"}
    #             ^
    ```
    ```yaml good
    job: {output: "%x.%j.log"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM012"
    name = "log-path-not-expanded"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, path in _texts(experiment, _LOGS):
            if _is_shell(_directory(path)):
                yield self.finding(
                    setting,
                    f'{_option(setting)} "{path}" is not expanded by Slurm: the job fails when it starts',
                    "expected: a path in full, with Slurm's own patterns, such as %u, %x and %j",
                )


class TextNotExpanded(Rule):
    """Slurm expands no shell variable in a directive.

    ## What it does
    Finds a variable, a command substitution or `~` in `job_name`, `comment`, or the file name of `output` or `error`.

    ## Why it matters
    The characters stay as they are: the job is called `$USER`.

    ## Evidence
    Slurm 22.05: `--job-name=$USER` and `--comment=$(date)` are taken literally, and so is a log `a$b.12.log`.

    ## Example
    ```yaml bad
    job: {comment: "run of $USER"}
    #              ^
    ```
    ```yaml good
    job: {comment: "run of the ocean group"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM013"
    name = "text-not-expanded"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        names = [(setting, path.rpartition("/")[2]) for setting, path in _texts(experiment, _LOGS)]
        for setting, text in (*_texts(experiment, ("job-name", "comment")), *names):
            if _is_shell(text):
                yield self.finding(
                    setting,
                    f'{_option(setting)} "{setting.value}" is not expanded by Slurm',
                    "expected: the text itself; a log's name takes Slurm's patterns, such as %u, %x and %j",
                )


class SlashInLogName(Rule):
    """A job name with a slash makes a directory of a log's name.

    ## What it does
    Finds `/` in the job name where `output` or `error` uses %x.

    ## Why it matters
    Slurm puts the name in as it is. The directory that comes of it does not exist: the job fails when it starts, after
    its wait in the queue, and leaves no log.

    ## Evidence
    Slurm 22.05: job name `a/b` and `-o %x.%j` give `a/b.44`; the job ends with JobLaunchFailure.

    ## Example
    ```yaml bad
    job: {job_name: tc/r2b5, output: "%x.%j.log"}
    #               ^
    ```
    ```yaml good
    job: {job_name: tc-r2b5, output: "%x.%j.log"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM014"
    name = "slash-in-log-name"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        job_name = _directive(experiment, "job-name")
        name = _text(job_name)
        logs = [_option(log) for log, path in _texts(experiment, _LOGS) if "x" in _patterns(path).values()]
        if name is not None and "/" in name and logs:
            yield self.finding(
                job_name,
                f'job_name "{name}" holds a slash and {" and ".join(logs)} %x: the job fails when it starts',
                "expected: a job name without /, or logs named without %x",
            )


class LogDirectoryMustExist(Rule):
    """The directory of a log must exist when the job starts.

    ## What it does
    Finds `output` or `error` in another directory than the one the job is submitted from.

    ## Why it matters
    Slurm opens the log before the script's first line and makes no directory. Where it is missing, the job fails when
    it starts, after its wait in the queue, and leaves no log.

    ## Evidence
    Slurm 22.05 accepts `--output=/nonexistent/x`; the job ends with JobLaunchFailure.

    ## Example
    ```yaml bad
    job: {output: "logs/%x.%j.log"}
    #             ^
    ```
    ```yaml good
    job: {output: "%x.%j.log"}
    ```

    ## References
    Slurm manual, sbatch, --output.
    """

    code = "SLM015"
    name = "log-directory-must-exist"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, path in _texts(experiment, _LOGS):
            directory = _directory(path)
            if directory and directory != "/dev/" and not _is_shell(directory):
                yield self.finding(
                    setting,
                    f'{_option(setting)} "{path}" needs the directory {directory} before the job starts',
                    "expected: a log beside the script; else make the directory before sbatch",
                )


def _patterns(path: str) -> dict[str, str]:
    """The % patterns of a log's path, each with its letter; none where a backslash switches them off."""
    if "\\" in path:
        return {}
    return {match[0]: match[1] for match in re.finditer(r"%%|%\d*(.?)", path) if match[0] != "%%"}


class UnknownFilePattern(Rule):
    """A % pattern that Slurm does not know stays in the log's name.

    ## What it does
    Finds a percent sign in `output` or `error` that is followed by none of Slurm's letters.

    ## Why it matters
    The log is called `%Z.log`, and every job writes over that of the one before.

    ## Evidence
    Slurm 22.05 replaces %A %a %J %j %N %n %s %t %u %x and %%, and leaves %Z, %U, %c, %w and %W alone; %b came later.

    ## Example
    ```yaml bad
    job: {output: "%x.%Z.log"}
    #             ^
    ```
    ```yaml good
    job: {output: "%x.%8j.log"}
    ```

    ## References
    Slurm manual, sbatch, filename pattern.
    """

    code = "SLM016"
    name = "unknown-file-pattern"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, path in _texts(experiment, _LOGS):
            unknown = [p for p, letter in _patterns(path).items() if letter not in tuple(_FILE_PATTERNS)]
            if unknown:
                yield self.finding(
                    setting,
                    f'{_option(setting)} "{path}" holds {", ".join(unknown)}, which Slurm does not replace',
                    "expected: %x job name, %j job id, %u user, %N host, %A and %a of an array, %% a percent sign",
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
        ntasks = _directive(experiment, "ntasks")
        tasks, nodes = _count(ntasks), _count(_directive(experiment, "nodes"))
        if tasks is not None and nodes is not None and tasks < nodes:
            yield self.finding(
                ntasks,
                f"{tasks} tasks cannot run on {nodes} nodes: Slurm takes {tasks}",
                "expected: ntasks at least nodes, or nodes and ntasks_per_node alone",
            )


def _places(experiment: Experiment) -> tuple[int, int, str] | None:
    """ntasks, and nodes times ntasks_per_node with its working; None unless all three are given."""
    tasks = _count(_directive(experiment, "ntasks"))
    nodes = _count(_directive(experiment, "nodes"))
    per_node = _count(_directive(experiment, "ntasks-per-node"))
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
                _directive(experiment, "ntasks"),
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
                _directive(experiment, "ntasks"),
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
                None,
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
        constraint = _directive(experiment, "constraint")
        text, machine = _text(constraint), experiment.machine
        if text is None or not machine.features:
            return
        known = {*machine.features, *(name for kind in machine.node_local.values() for name in kind.constraints)}
        if experiment.node_local is not None and experiment.node_local.constraint is not None:
            known.add(experiment.node_local.constraint.value)  # judged by the rules on node-local runs
        for name in _FEATURE.findall(re.sub(r"\*\d+", "", text)):
            if name not in known:
                yield self.finding(
                    constraint,
                    f'site {machine.name} lists no node feature "{name}"',
                    f"expected: one or several of {', '.join(machine.features)}",
                )


def _lead(experiment: Experiment) -> tuple[Setting, int] | None:
    """How many seconds before the time limit the signal is due."""
    signal = _directive(experiment, "signal")
    match = re.fullmatch(r"(?:[RB]+:)?\w+@(\d{1,5})", _text(signal) or "")
    return (signal, int(match[1])) if signal is not None and match else None


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
        time, lead = _directive(experiment, "time"), _lead(experiment)
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


class UnknownDependency(Rule):
    """A dependency that Slurm cannot read.

    ## What it does
    Finds a `dependency` whose type is unknown or whose job id is missing or no number.

    ## Why it matters
    sbatch refuses the job.

    ## Evidence
    Slurm 22.05: "Job dependency problem" for `foo:1`, `afterok`, `afterok:` and `afterok:x`; `expand:1` is no longer
    supported. Types may be in upper case.

    ## Example
    ```yaml bad
    job: {dependency: "afterdone:4711"}
    #                 ^
    ```
    ```yaml good
    job: {dependency: "afterok:4711"}
    ```

    ## References
    Slurm manual, sbatch, --dependency.
    """

    code = "SLM024"
    name = "unknown-dependency"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        dependency = _directive(experiment, "dependency")
        for item in re.split(r"[,?]", _text(dependency) or ""):
            kind, _, ids = item.strip().partition(":")
            if dependency is None or not item.strip():
                continue
            if kind.lower() not in _DEPENDENCIES:
                yield self.finding(
                    dependency,
                    f'Slurm knows no dependency "{kind}"',
                    f"expected: one of {', '.join(_DEPENDENCIES)}",
                )
            elif kind.lower() != "singleton" and not all(_JOB_ID.fullmatch(job) for job in ids.split(":")):
                yield self.finding(
                    dependency,
                    f'dependency "{item.strip()}" names no job',
                    f"expected: the number of a job, as in {kind}:4711",
                )


class TextTooLong(Rule):
    """A job name, comment or account of more than 1024 characters.

    ## What it does
    Finds it.

    ## Why it matters
    sbatch refuses the job, with a message that names none of them.

    ## Evidence
    Slurm 22.05 takes a comment of 1024 characters; with 1025, and so for the other two: "Pathname of a file, directory
    or other parameter too long".

    ## Example
    ```yaml bad
    job: {comment: a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-long-story-told-in-one-line-a-lon}
    #              ^
    ```
    ```yaml good
    job: {comment: the third of five members}
    ```

    ## References
    Slurm manual, sbatch, --comment.
    """  # noqa: E501

    code = "SLM025"
    name = "text-too-long"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting, text in _texts(experiment, _TEXTS):
            length = len(text.encode())
            if length > _LONGEST_TEXT:
                yield self.finding(
                    setting,
                    f"{_option(setting)} has {length} bytes",
                    f"expected: at most {_LONGEST_TEXT}",
                )
