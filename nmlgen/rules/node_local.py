"""Runs on a file system that is made of the nodes of a job and ends with it, such as BeeOND."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.clock import clock
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.machine import NodeLocal
from nmlgen.experiment.ranks import writes_output
from nmlgen.experiment.schedule import largest_file
from nmlgen.experiment.volume import points
from nmlgen.findings import Finding, Severity
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size

_SHORTEST_LEAD = 300
_NETCDF = (4, 5)
_FULL_FIELDS = {"u", "v", "w", "vn", "temp", "pres", "rho", "theta_v", "exner", "qv", "qc", "qi", "qr", "qs", "tke"}
"""Variables that ICON holds on every model level, of the cells or of the more numerous edges."""


def _facts(experiment: Experiment) -> NodeLocal | None:
    """What the site says of the node-local file system of the run."""
    if experiment.node_local is None:
        return None
    return experiment.machine.node_local.get(experiment.node_local.kind.value)


class UnknownNodeLocalDirectory(Rule):
    """The directory is not among those the site makes.

    ## What it does
    Finds a `directory` that the site does not list, where it lists any.

    ## Why it matters
    Each of these directories stands for a striping and is there when the job starts. Where the one that is named is
    not, the script ends before the model starts. The site's list may be incomplete.

    ## Evidence
    HoreKa's user documentation: stripe_1, stripe_default, stripe_8, stripe_16 and stripe_32.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond, directory: stripe_7}
    #                                            ^
    ```
    ```yaml good
    node_local: {file_system: beeond, directory: stripe_1}
    job: {signal: "B:USR1@600"}
    ```

    ## References
    NHR@KIT user documentation, BeeOND.
    """

    code = "LOC001"
    name = "unknown-node-local-directory"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        facts = _facts(experiment)
        directory = experiment.node_local.directory if experiment.node_local is not None else None
        if facts is None or directory is None or not facts.directories:
            return
        if directory.value not in facts.directories:
            yield self.finding(
                directory,
                f'{facts.name} has no directory "{directory.value}"',
                f"expected: one of {', '.join(facts.directories)}",
            )


class UnknownNodeLocalConstraint(Rule):
    """The constraint does not ask for the file system.

    ## What it does
    Finds a `constraint` that is none of the node features the site makes the file system for.

    ## Why it matters
    Slurm refuses a feature it does not know; with any other feature nobody makes the file system, and the script finds
    nothing where it means to run.

    ## Evidence
    HoreKa's user documentation: BEEOND, BEEOND_4MDS and BEEOND_MAXMDS. Slurm 22.05: "Invalid feature specification",
    also for `beeond`.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond, constraint: beeond}
    #                                             ^
    ```
    ```yaml good
    node_local: {file_system: beeond, constraint: BEEOND}
    job: {signal: "B:USR1@600"}
    ```

    ## References
    NHR@KIT user documentation, BeeOND.
    """

    code = "LOC002"
    name = "unknown-node-local-constraint"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        facts = _facts(experiment)
        constraint = experiment.node_local.constraint if experiment.node_local is not None else None
        if facts is None or constraint is None or not facts.constraints:
            return
        if constraint.value not in facts.constraints:
            yield self.finding(
                constraint,
                f'the node feature "{constraint.value}" does not ask for {facts.name}',
                f"expected: one of {', '.join(facts.constraints)}",
            )


class FileExceedsStripes(Rule):
    """An output file that its stripes cannot hold.

    ## What it does
    Finds an output stream whose files are certainly larger than the nodes they are striped over can take: the number in
    the directory's name, at most the nodes of the job, times what a node adds. Counted are only variables that are
    known to be on all levels, in uncompressed NetCDF on ICON's own grid.

    ## Why it matters
    ICON aborts when a write fails with "no space left on device", hours into the run.

    ## Evidence
    HoreKa's user documentation: a file larger than the stripe count times 750 GB does not fit, nor are there more
    stripes than nodes.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond, directory: stripe_1}
    #                                            ^
    grid: {name: R2B10}
    output: {atm: {file_interval: P10D}}
    ```
    ```yaml good
    node_local: {file_system: beeond, directory: stripe_1}
    job: {signal: "B:USR1@600"}
    output: {atm: {file_interval: P1D}}
    ```

    ## References
    NHR@KIT user documentation, BeeOND.
    """

    code = "LOC003"
    name = "file-exceeds-stripes"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        facts = _facts(experiment)
        directory = experiment.node_local.directory if experiment.node_local is not None else None
        if facts is None or directory is None or facts.capacity_per_node is None:
            return
        match, nodes = re.fullmatch(r"stripe_(\d{1,9})", str(directory.value)), experiment.directives.get("nodes")
        if match is None or nodes is None or not isinstance(nodes.value, int):
            return
        stripes = min(int(match[1]), nodes.value)
        room = stripes * facts.capacity_per_node
        written = [(component, stream) for component in experiment.components for stream in component.streams]
        for component, stream in written:
            size = _smallest_file(component, stream) if writes_output(component) else 0
            if size > room:
                yield self.finding(
                    directory,
                    f"a file of {stream.label or 'an output stream'} has at least {size // 10**9} GB, {stripes} "
                    f"{'stripe holds' if stripes == 1 else 'stripes hold'} {format_size(room)}",
                    "expected: a directory with more stripes, more nodes, or a shorter file_interval",
                )


def _smallest_file(component: Component, stream: Group) -> int:
    """A lower bound of the bytes in a full file of model levels; 0 where there is none."""
    if component.stream_setting(stream, "filetype").value not in _NETCDF:
        return 0
    if component.stream_setting(stream, "remap").value != 0:
        return 0
    time = clock(component)
    names = {str(name).lower() for name in as_list(component.stream_setting(stream, "ml_varlist").value)}
    levels = int(as_list(component["run_nml", "num_lev"].value)[0])
    full = len(names & _FULL_FIELDS)
    return full * levels * points(component)["cell"] * 4 * largest_file(component, stream, "ml", time)


class NoTimeToCopyBack(Rule):
    """What is not copied back before the job ends is gone.

    ## What it does
    Finds a `signal` less than 300 seconds before the time limit in a run on a node-local file system.

    ## Why it matters
    At the signal the script stops the model and copies the results to the run directory. Slurm ends the job at its
    limit, whether that is done or not, and the file system ends with the job.

    ## Evidence
    KIT's report on on-demand file systems: the data are erased at the end of the job and the user copies them back.
    About 700 MB/s a node are 210 GB a node in 300 s at best.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond}
    job: {signal: "B:USR1@120"}
    #             ^
    ```
    ```yaml good
    node_local: {file_system: beeond}
    job: {signal: "B:USR1@600"}
    ```

    ## References
    NHR@KIT user documentation, BeeOND. Slurm manual, sbatch, --signal.
    """

    code = "LOC004"
    name = "no-time-to-copy-back"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        signal = experiment.directives.get("signal")
        if experiment.node_local is None or signal is None or experiment.machine.scheduler != "slurm":
            return
        match = re.fullmatch(r"(?:[RB]+:)?\w+@(\d{1,5})", str(signal.value))
        if match is not None and int(match[1]) < _SHORTEST_LEAD:
            yield self.finding(
                signal if signal.span is not None else experiment.node_local.kind,
                f"{int(match[1])} s before the time limit the results are copied from a file system that ends with the "
                "job",
                f'expected: job.signal "B:USR1@{_SHORTEST_LEAD}" or earlier, by what the output needs',
            )


class NodeLocalNotExclusive(Rule):
    """The site makes the file system for jobs that have their nodes to themselves.

    ## What it does
    Finds `exclusive: false` in a run on a node-local file system for which the site demands exclusive nodes. In a
    partition that gives whole nodes anyway the rule is silent.

    ## Why it matters
    Slurm refuses the job, or nobody makes the file system.

    ## Evidence
    HoreKa's user documentation: exclusive nodes only.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond}
    job: {partition: shared, exclusive: false}
    #                                   ^
    ```
    ```yaml good
    node_local: {file_system: beeond}
    job: {exclusive: true, signal: "B:USR1@600"}
    ```

    ## References
    NHR@KIT user documentation, BeeOND.
    """

    code = "LOC005"
    name = "node-local-not-exclusive"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        facts, exclusive = _facts(experiment), experiment.directives.get("exclusive")
        if facts is None or not facts.exclusive or exclusive is None or exclusive.value is not False:
            return
        partition = experiment.directives.get("partition")
        known = experiment.machine.partitions.get(str(partition.value)) if partition is not None else None
        if known is None or not known.exclusive:
            yield self.finding(
                exclusive,
                f"site {experiment.machine.name} makes {facts.name} for jobs with whole nodes only",
                "expected: true, or no exclusive, which then follows from node_local",
            )
