"""Runs on a file system that is made of the nodes of a job and ends with it, such as BeeOND."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment, NodeLocalRun
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.machine import NodeLocal
from nmlgen.experiment.setting import UndecidedError
from nmlgen.experiment.shared_file import writers
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.job_volume import mean_job
from nmlgen.models.icon.ranks import PlacementError, writes_output
from nmlgen.models.icon.schedule import largest_file
from nmlgen.models.icon.volume import points
from nmlgen.rules.rule import Rule
from nmlgen.units.size import format_size

_SHORTEST_LEAD = 300
_MARGIN = 60  # to stop the model, compare and rename
_DEFAULT_STRIPES = 4  # HoreKa: stripe_default
_NETCDF = (4, 5)
_FULL_FIELDS = {"u", "v", "w", "vn", "temp", "pres", "rho", "theta_v", "exner", "qv", "qc", "qi", "qr", "qs", "tke"}
"""Variables that ICON holds on every model level, of the cells or of the more numerous edges."""


def _run(experiment: Experiment) -> tuple[NodeLocalRun, NodeLocal] | None:
    """The run on a node-local file system, and what the site says of that; None unless it is one, of which it does."""
    run = experiment.node_local
    facts = None if run is None else experiment.machine.node_local.get(run.kind.value)
    return None if run is None or facts is None else (run, facts)


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
        found = _run(experiment)
        if found is None:
            return
        directory, facts = found[0].directory, found[1]
        if directory is not None and facts.directories and directory.value not in facts.directories:
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
        found = _run(experiment)
        if found is None:
            return
        constraint, facts = found[0].constraint, found[1]
        if constraint is not None and facts.constraints and constraint.value not in facts.constraints:
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
    grid: {name: R2B10, file: iconR02B10-grid.nc}
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
        found, nodes = _run(experiment), _nodes(experiment)
        if found is None or nodes is None:
            return
        directory, capacity = found[0].directory, found[1].capacity_per_node
        match = None if directory is None else re.fullmatch(r"stripe_(\d{1,9})", str(directory.value))
        if match is None or capacity is None:
            return
        stripes = min(int(match[1]), nodes)
        room = stripes * capacity
        written = [(component, stream) for component in experiment.components for stream in component.streams]
        for component, stream in written:
            if not writes_output(component) or not _is_unpacked(component, stream):
                continue
            size = _smallest_file(component, stream)
            if size > room:
                yield self.finding(
                    directory,
                    f"a file of {stream.label or 'an output stream'} has at least {size // 10**9} GB, {stripes} "
                    f"{'stripe holds' if stripes == 1 else 'stripes hold'} {format_size(room)}",
                    "expected: a directory with more stripes, more nodes, or a shorter file_interval",
                )


def _is_unpacked(component: Component, stream: Group) -> bool:
    """Whether the numbers of a stream are written as they are, for each cell."""
    is_netcdf = component.stream_setting(stream, "filetype").value in _NETCDF
    return is_netcdf and component.stream_setting(stream, "remap").value == 0


def _smallest_file(component: Component, stream: Group) -> int:
    """A lower bound of the bytes in a full file of model levels."""
    time = clock(component)
    names = {str(name).lower() for name in as_list(component.stream_setting(stream, "ml_varlist").value)}
    levels = int(as_list(component["run_nml", "num_lev"].value)[0])
    full = len(names & _FULL_FIELDS)
    return full * levels * points(component)["cell"] * 4 * largest_file(component, stream, "ml", time)


class NoTimeToCopyBack(Rule):
    """What is not copied back before the job ends is gone.

    ## What it does
    Finds a `signal` in a run on a node-local file system that leaves less time before the limit than copying needs:
    what the job has written by then, at the site's bandwidth for each node, and a minute besides. Where the site says
    no bandwidth, or nobody can know the volume, 300 seconds.

    ## Why it matters
    At the signal the script stops the model and copies the results to the run directory. Slurm ends the job at its
    limit, whether that is done or not, and the file system ends with the job.

    ## Evidence
    KIT's report on on-demand file systems: the data are erased at the end of the job and the user copies them back.
    HoreKa's user documentation: about 700 MB/s a node. How fast the other side takes it is not known: it may be slower.

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
        run, signal = experiment.node_local, experiment.directives.get("signal")
        if run is None or signal is None or experiment.machine.scheduler != "slurm":
            return
        match = re.fullmatch(r"(?:[RB]+:)?\w+@(\d{1,5})", str(signal.value))
        if match is None:
            return
        lead, (seconds, volume) = int(match[1]), _copying(experiment)
        if lead >= seconds:
            return
        what = "the results are" if volume is None else f"about {amount(volume)} are"
        faster = "" if run.sends_off else "; or node_local.copy_while_running, so that little is left"
        yield self.finding(
            signal if signal.span is not None else run.kind,
            f"{lead} s before the time limit {what} copied from a file system that ends with the job",
            f'expected: job.signal "B:USR1@{seconds}" or earlier, by what the output needs{faster}',
        )


def _copying(experiment: Experiment) -> tuple[int, int | None]:
    """The seconds that copying back takes at least, and the bytes, None where they are not known."""
    found, nodes = _run(experiment), _nodes(experiment)
    if found is None or nodes is None or not experiment.components:
        return _SHORTEST_LEAD, None
    run, facts = found
    try:
        volume = mean_job(experiment, is_left=run.sends_off).best
    except (UndecidedError, PlacementError):
        return _SHORTEST_LEAD, None
    seconds = facts.copying_s(volume, nodes)
    return (_SHORTEST_LEAD, None) if seconds is None else (-(-(_MARGIN + seconds) // 60) * 60, volume)


def amount(volume: int) -> str:
    """A volume in three digits."""
    unit, factor = next(((u, f) for u, f in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)) if volume >= f), ("KB", 1e3))
    return f"{volume / factor:.3g} {unit}"


def _nodes(experiment: Experiment) -> int | None:
    nodes = experiment.directives.get("nodes")
    return nodes.value if nodes is not None and isinstance(nodes.value, int) else None


class VolumeExceedsNodes(Rule):
    """The disks of the nodes hold less than the job writes.

    ## What it does
    Finds a run on a node-local file system whose output and checkpoints of one job are certainly more than its nodes
    add. With `copy_while_running` only the last file of each sequence, and the checkpoints, have to fit.

    ## Why it matters
    ICON aborts when a write fails with "no space left on device", hours into the run.

    ## Evidence
    HoreKa's user documentation: 750 GB a node. Bytes as `nmlgen volume` counts them, at the lower bound; a chain's jobs
    taken as equal.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond}
    #                         ^
    grid: {name: R2B9, file: iconR02B09-grid.nc}
    job: {signal: "B:USR1@600"}
    ```
    ```yaml good
    node_local: {file_system: beeond, copy_while_running: true}
    grid: {name: R2B9, file: iconR02B09-grid.nc}
    restart: {checkpointTimeIntval: P10D}
    job: {signal: "B:USR1@600"}
    ```

    ## References
    NHR@KIT user documentation, BeeOND.
    """

    code = "LOC006"
    name = "volume-exceeds-nodes"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found, nodes = _run(experiment), _nodes(experiment)
        if found is None or nodes is None:
            return
        run, capacity = found[0], found[1].capacity_per_node
        if capacity is None:
            return
        room = nodes * capacity
        try:
            volume = mean_job(experiment, is_left=run.sends_off).low
        except PlacementError:  # ICON does not start; a rule says so
            return
        if volume > room:
            needed = -(-volume // capacity)
            faster = "" if run.sends_off else ", node_local.copy_while_running"
            yield self.finding(
                run.kind,
                f"one job writes at least {amount(volume)}, {nodes} {'node holds' if nodes == 1 else 'nodes hold'} "
                f"{format_size(room)}",
                f"expected: {needed} nodes or more, a shorter restartTimeIntval{faster}, or less output",
            )


class SharedFileOnFewNodes(Rule):
    """On a node-local file system, too, a file that all I/O ranks write wants stripes.

    ## What it does
    Finds `pio_type` 2 with a directory for fewer stripes than the job has nodes, where the site has a wider one.

    ## Why it matters
    All I/O ranks queue at the disks of a few nodes.

    ## Evidence
    KIT's report on on-demand file systems: EMAC with parallel NetCDF on 20 nodes was about twice as fast on BeeOND as
    on the global file system with 1 stripe, 4.5 times with 4, 6 times with 20. ICON with CDI-PIO was not measured.

    ## Example
    ```yaml bad
    node_local: {file_system: beeond, directory: stripe_1}
    #                                            ^
    parallel: {pio_type: 2}
    job: {signal: "B:USR1@600"}
    ```
    ```yaml good
    node_local: {file_system: beeond, directory: stripe_1}
    parallel: {pio_type: 1}
    job: {signal: "B:USR1@600"}
    ```

    ## References
    KIT (SCC), on-demand file systems for Earth system models.
    """

    code = "LOC007"
    name = "shared-file-on-few-nodes"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        found, nodes = _run(experiment), _nodes(experiment)
        if found is None or nodes is None or writers(experiment) is None:
            return
        run, facts = found
        chosen = run.directory.value if run.directory is not None else facts.directory
        stripes = {name: _stripes_of(name) for name in (*facts.directories, str(chosen))}
        mine, most = stripes[str(chosen)], max(stripes.values())
        if min(mine, nodes) < min(most, nodes):
            wide = min(
                (name for name in stripes if min(stripes[name], nodes) == min(most, nodes)), key=stripes.__getitem__
            )
            yield self.finding(
                run.directory or run.kind,
                f"pio_type 2 writes one file over {mine} {'node' if mine == 1 else 'nodes'}: EMAC was 2 times as fast "
                "as on the global file system with 1 stripe, 4.5 with 4, 6 with 20",
                f"expected: node_local.directory {wide}",
            )


def _stripes_of(directory: str) -> int:
    """Over how many nodes the files of a directory are spread, by its name; BeeOND's default is 4."""
    match = re.fullmatch(r"stripe_(\d{1,9})", directory)
    return int(match[1]) if match else _DEFAULT_STRIPES


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
        found, exclusive = _run(experiment), experiment.directives.get("exclusive")
        if found is None or not found[1].exclusive or exclusive is None or exclusive.value is not False:
            return
        partition = experiment.directives.get("partition")
        known = experiment.machine.partitions.get(str(partition.value)) if partition is not None else None
        if known is None or not known.exclusive:
            yield self.finding(
                exclusive,
                f"site {experiment.machine.name} makes {found[1].name} for jobs with whole nodes only",
                "expected: true, or no exclusive, which then follows from node_local",
            )
