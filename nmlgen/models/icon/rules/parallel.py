"""How the tasks are divided: enough to compute, none wasted, and blocks of a sensible length."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.parts import GPU, has_part, parts
from nmlgen.models.icon.ranks import MOST_IO_RANKS, RankSplit, RestartMode, restart_mode, split, writes_output
from nmlgen.rules.rule import ComponentRule

_SETTING_OF_RANKS = {
    "test": "p_test_run",
    "I/O": "num_io_procs",
    "restart": "num_restart_procs",
    "prefetch": "num_prefetch_proc",
    "radar": "num_io_procs_radar",
}
_BLOCK_LENGTHS = ("nproma", "nblocks_c", "nblocks_e")


def _parts(count: RankSplit) -> dict[str, int]:
    """The ranks that do not compute, by what they do, as far as there are any."""
    parts = {
        "test": count.test,
        "I/O": count.io,
        "restart": count.restart,
        "prefetch": count.prefetch,
        "radar": count.radar,
    }
    return {name: number for name, number in parts.items() if number}


def _largest(component: Component, parts: dict[str, int]) -> Setting:
    """The setting that takes most ranks."""
    return component["parallel_nml", _SETTING_OF_RANKS[max(parts, key=lambda name: parts[name])]]


def _listed(parts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in parts.items())


class NoWorkRanks(ComponentRule):
    """The ranks for I/O, restart and the rest must leave at least one to compute.

    ## What it does
    Subtracts `num_io_procs`, `num_restart_procs` (in the modes that set restart ranks apart), the prefetch,
    radar and test ranks from the tasks, and finds a job in which no work rank is left.

    ## Why it matters
    ICON aborts at once, after the job has waited in the queue.

    ## Evidence
    ICON 2024.10 rejects it: "not enough processors for given values of
    p_test_run/num_io_procs/num_restart_procs" (`mo_mpi.f90:1582-1599`), as with 2 tasks and 3 I/O ranks, or 2
    tasks, 1 I/O and 1 restart rank.

    ## Example
    ```yaml bad
    job: {nodes: 1, ntasks_per_node: 4}
    parallel: {num_io_procs: 4}
    #                        ^
    ```
    ```yaml good
    job: {nodes: 1, ntasks_per_node: 128}
    parallel: {num_io_procs: 4}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR001"
    name = "no-work-ranks"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        count = split(component)
        parts = _parts(count)
        if count.work >= 1 or not parts or count.io > MOST_IO_RANKS or count.prefetch > 1:
            return
        taken = "".join(f" - {number} {name}" for name, number in parts.items())
        yield self.finding(
            _largest(component, parts),
            f"{component.tasks.value} tasks{taken} = {count.work}: no work rank is left",
            "expected: at least 1 work rank, by fewer ranks set apart or more tasks",
        )


class SingleTaskRestartRanks(ComponentRule):
    """A single task cannot set a restart rank apart, and ICON does not notice.

    ## What it does
    Finds `num_restart_procs` greater than zero in a job of one task, where the mode in effect is async or
    dedicated procs multifile. Without a mode ICON chooses async.

    ## Why it matters
    With one task ICON makes no restart ranks, yet prepares to speak to them: MPI stops the job.

    ## Evidence
    ICON 2024.10 with one task crashes in all of these modes: "MPI_ERR_COMM: invalid communicator". The mode
    joint procs multifile, which sets no ranks apart, runs.

    ## Example
    ```yaml bad
    job: {nodes: 1, ntasks_per_node: 1}
    parallel: {num_io_procs: 0}
    restart: {restart_write_mode: async, num_restart_procs: 1}
    #                                                       ^
    ```
    ```yaml good
    job: {nodes: 1, ntasks_per_node: 1, time: "08:00:00"}
    parallel: {num_io_procs: 0}
    restart: {restart_write_mode: sync, num_restart_procs: 0}
    ```

    ## References
    ICON namelist overview, parallel_nml and io_nml.
    """

    code = "PAR002"
    name = "single-task-restart-ranks"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component.tasks.value > 1:
            return
        procs = component["parallel_nml", "num_restart_procs"]
        if procs.value > 0 and restart_mode(component) in (RestartMode.ASYNC, RestartMode.DEDICATED):
            yield self.finding(
                procs,
                f"num_restart_procs is {procs.value} and the job has one task: MPI stops it",
                "expected: num_restart_procs 0, or more tasks",
            )


class SingleTaskResets(ComponentRule):
    """A single task does everything itself: I/O ranks and the test run are taken back.

    ## What it does
    Finds `num_io_procs` greater than zero, or `p_test_run`, in a job of one task.

    ## Why it matters
    ICON sets them to zero with a message and runs on: output is synchronous, nothing is tested.

    ## Evidence
    ICON 2024.10, `mo_mpi.f90:1521-1551`; with one task and 1, 2 or 4 I/O ranks it ran with none.

    ## Example
    ```yaml bad
    job: {nodes: 1, ntasks_per_node: 1}
    parallel: {num_io_procs: 2}
    #                        ^
    ```
    ```yaml good
    job: {nodes: 1, ntasks_per_node: 1, time: "08:00:00"}
    parallel: {num_io_procs: 0}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR003"
    name = "single-task-resets"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        if component.tasks.value > 1:
            return
        procs = component["parallel_nml", "num_io_procs"]
        if 0 < procs.value <= MOST_IO_RANKS:
            yield self.finding(
                procs,
                f"num_io_procs {procs.value} becomes 0: the job has one task",
                "expected: num_io_procs 0, or more tasks",
            )
        test = component["parallel_nml", "p_test_run"]
        if test.value:
            yield self.finding(
                test,
                "p_test_run is switched off: the job has one task",
                "expected: p_test_run false, or at least 3 tasks",
            )


class LargeDedicatedShare(ComponentRule):
    """Ranks set apart for I/O and restart are ranks that do not compute.

    ## What it does
    Finds a job in which more than a quarter of the tasks are set apart for I/O, restart, prefetch or radar. Where the
    advisor can tell what that costs, the message says it, and below 2 %, which is noise, there is none.

    ## Why it matters
    Beyond what the output needs, every further rank makes the run longer.

    ## Evidence
    Measured on Levante, R2B5, 128 tasks: with output every 4 minutes 32 I/O ranks (a quarter) take 1893 s
    where 4 take 1504 s; with output every 12 minutes 1849 s against 1428 s.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 96}
    #                        ^
    output: {atm: {stream_partitions_ml: 96, file_interval: P4D}}
    ```
    ```yaml good
    parallel: {num_io_procs: 8}
    output: {atm: {stream_partitions_ml: 8, file_interval: P1D}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.1.
    """

    code = "PAR004"
    name = "large-dedicated-share"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        count = split(component)
        tasks = component.tasks.value
        if count.work >= 1 and 4 * count.taken > tasks and has_part(component, GPU) is not True:
            from nmlgen.advise.cost import if_known, output_cost

            parts = {name: number for name, number in _parts(count).items() if name != "test"}
            percent = f"{100 * count.taken / tasks:.3g} %"
            share = f"{count.taken} of {tasks} tasks ({percent}) do not compute: {_listed(parts)}"
            expected = f"expected: at most a quarter of the tasks, {tasks // 4}"
            cost = if_known(output_cost, component)
            if cost is None:
                yield self.finding(_largest(component, parts), share, expected)
            elif not cost.is_noise:
                best = f"the best number of I/O ranks is {cost.better.layout.num_io_procs}"
                yield self.finding(_largest(component, parts), f"{share}; it {cost}", expected, best, *cost.notes)


class IoProcsBeyondLimit(ComponentRule):
    """ICON has room for 256 I/O ranks.

    ## What it does
    Finds `num_io_procs` greater than 256.

    ## Why it matters
    ICON aborts while it reads its namelist, whatever the number of tasks.

    ## Evidence
    ICON 2024.10 rejects 1000: "Namelist parameter num_io_procs chosen too large ( > 256)!"
    (`mo_parallel_config.f90:280`).

    ## Example
    ```yaml bad
    job: {nodes: 16}
    parallel: {num_io_procs: 300}
    #                        ^
    ```
    ```yaml good
    job: {nodes: 16}
    parallel: {num_io_procs: 256}
    output: {atm: {stream_partitions_ml: 256, file_interval: PT256H}}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR005"
    name = "io-procs-beyond-limit"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        procs = component["parallel_nml", "num_io_procs"]
        if procs.value > MOST_IO_RANKS:
            yield self.finding(
                procs,
                f"num_io_procs {procs.value} is more than ICON has room for",
                f"expected: at most {MOST_IO_RANKS}",
            )


class NegativeRankCount(ComponentRule):
    """A negative number of ranks silently means none.

    ## What it does
    Finds `num_io_procs`, `num_restart_procs`, `num_prefetch_proc` or `num_io_procs_radar` below zero.

    ## Why it matters
    ICON sets it to zero and says nothing: -1 does not mean "as many as needed".

    ## Evidence
    ICON 2024.10 ran with no I/O, restart or prefetch rank (`mo_parallel_config.f90:278-284`).

    ## Example
    ```yaml bad
    parallel: {num_io_procs: -1}
    #                        ^
    ```
    ```yaml good
    parallel: {num_io_procs: 4}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR006"
    name = "negative-rank-count"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for name in ("num_io_procs", "num_restart_procs", "num_prefetch_proc", "num_io_procs_radar"):
            procs = component["parallel_nml", name]
            if procs.certainty is Certainty.WRITTEN and procs.value < 0:
                yield self.finding(procs, f"{name} {procs.value} silently becomes 0", "expected: 0 or more")


class TestRunNeedsWorkRanks(ComponentRule):
    """A test run compares one rank with several: a single work rank leaves nothing to compare.

    ## What it does
    Finds `p_test_run` where one work rank is left beside the test rank.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 with 2 tasks: "running p_test_run with only 1 work processor does not make sense"
    (`mo_mpi.f90:1606`; builds for GPUs do not check it).

    ## Example
    ```yaml bad
    job: {nodes: 1, ntasks_per_node: 2}
    parallel: {num_io_procs: 0, p_test_run: true}
    #                                       ^
    restart: {checkpointTimeIntval: null, restartTimeIntval: null}
    ```
    ```yaml good
    job: {nodes: 1, ntasks_per_node: 3}
    parallel: {num_io_procs: 0, p_test_run: true}
    restart: {checkpointTimeIntval: null, restartTimeIntval: null}
    output: {atm: {output_interval: PT12H, file_interval: P4D}}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR007"
    name = "test-run-needs-work-ranks"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        test = component["parallel_nml", "p_test_run"]
        if not test.value:
            return
        count = split(component)
        if count.test and count.work == 1:
            yield self.finding(
                test,
                f"p_test_run leaves 1 work rank of {component.tasks.value} tasks: nothing can be compared",
                "expected: at least 2 work ranks beside the test rank",
            )


class TestRunWithCheckpoints(ComponentRule):
    """A test run cannot write checkpoints, nor keep ranks for them.

    ## What it does
    Finds `p_test_run` in an experiment that writes a checkpoint before its end, or sets restart ranks apart.

    ## Why it matters
    ICON aborts or crashes, at the first checkpoint at the latest.

    ## Evidence
    ICON 2024.10 with 3 to 5 tasks ended in its time loop in each of the four restart modes: "NetCDF: Invalid
    dimension size" or a segmentation fault. Without checkpoints the same runs finished, except with a restart
    rank.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 4, p_test_run: true}
    #                                       ^
    ```
    ```yaml good
    parallel: {num_io_procs: 4, p_test_run: true}
    restart: {checkpointTimeIntval: null, restartTimeIntval: null}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR008"
    name = "test-run-with-checkpoints"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        test = component["parallel_nml", "p_test_run"]
        if not test.value:
            return
        count = split(component)
        if count.test == 0 or count.work < 2:
            return
        if count.restart:
            outcome = f"num_restart_procs {count.restart}"
        elif _writes_checkpoint(component):
            outcome = "checkpoints"
        else:
            return
        yield self.finding(
            test,
            f"p_test_run does not go with {outcome}: ICON ends in its time loop",
            "expected: p_test_run without checkpointTimeIntval, restartTimeIntval and restart ranks",
        )


def _writes_checkpoint(component: Component) -> bool:
    """Whether a checkpoint falls into the run; there is none without any output."""
    keywords = component["run_nml", "output"].value
    if all(str(word).strip().lower() in ("", "none") for word in as_list(keywords)):
        return False
    time = clock(component)
    intervals = (time.checkpoint, time.restart)
    return any(interval is not None and 0 < interval < time.length for interval in intervals)


class PrefetchProcsBeyondLimit(ComponentRule):
    """Boundary data are prefetched by one rank or by none.

    ## What it does
    Finds `num_prefetch_proc` greater than one.

    ## Why it matters
    ICON aborts while it reads its namelist, even where nothing is to be prefetched.

    ## Evidence
    ICON 2024.10 rejects 2: "The no of prefetch processor can be zero or one, but should not be set more than
    one!" (`mo_parallel_config.f90:285`).

    ## Example
    ```yaml bad
    parallel: {num_prefetch_proc: 2}
    #                             ^
    ```
    ```yaml good
    parallel: {num_prefetch_proc: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR009"
    name = "prefetch-procs-beyond-limit"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        procs = component["parallel_nml", "num_prefetch_proc"]
        if procs.value > 1:
            yield self.finding(procs, f"num_prefetch_proc is {procs.value}", "expected: 0 or 1")


class SeveralBlockLengths(ComponentRule):
    """The block length is given once: by `nproma`, or by the number of blocks of cells or of edges.

    ## What it does
    Finds more than one of `nproma`, `nblocks_c` and `nblocks_e` greater than zero, from release 2024.07 on.

    ## Why it matters
    ICON aborts while it reads its namelist. Release 2024.01 took `nblocks_c` and said nothing.

    ## Evidence
    ICON 2024.10: "More than one of (nproma, nblocks_c, nblocks_e) is specified (>0)"
    (`mo_parallel_config.f90:315-325`).

    ## Example
    ```yaml bad
    parallel: {nproma: 16, nblocks_c: 1}
    #                                 ^
    ```
    ```yaml good
    parallel: {nproma: 0, nblocks_c: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR010"
    name = "several-block-lengths"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component.registry.variable("parallel_nml", "nblocks_e") is None:  # a release before 2024.07
            return
        settings = {name: component["parallel_nml", name] for name in _BLOCK_LENGTHS}
        given = [(name, setting) for name, setting in settings.items() if setting.value > 0]
        if len(given) > 1:
            values = ", ".join(f"{name} {setting.value}" for name, setting in given)
            yield self.finding(
                given[-1][1],
                f"the block length is given {len(given)} times: {values}",
                "expected: only one of nproma, nblocks_c and nblocks_e greater than 0",
            )


class NoBlockLength(ComponentRule):
    """Without a block length ICON computes cell by cell.

    ## What it does
    Finds an experiment that sets none of `nproma`, `nblocks_c` and `nblocks_e` to more than zero.

    ## Why it matters
    `nproma` becomes 1: nothing is vectorised and the run is very slow.

    ## Evidence
    ICON 2024.10 runs and says so: "Setting nproma = 1" (`mo_parallel_config.f90:339`). In 2024.01 the default
    of nproma is 1.

    ## Example
    ```yaml bad
    parallel: {nproma: 0}
    #                  ^
    ```
    ```yaml good
    parallel: {nproma: 16}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR011"
    name = "no-block-length"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        known = [name for name in _BLOCK_LENGTHS if component.registry.variable("parallel_nml", name)]
        settings = [component["parallel_nml", name] for name in known]
        if settings and not any(setting.is_written and setting.value > 0 for setting in settings):
            nproma = settings[0]
            state = f"nproma is {nproma.value}" if nproma.is_written else "nproma is not set"
            yield self.finding(
                nproma,
                f"{state}: ICON computes with blocks of one cell",
                f"expected: one of {', '.join(known)} greater than 0, such as nproma 16 on CPUs",
            )


class CdiPioWithoutIoProcs(ComponentRule):
    """CDI-PIO writes through I/O ranks; without any it has nobody to speak to.

    ## What it does
    Finds `pio_type` 2 without I/O ranks in a job of several tasks that writes output.

    ## Why it matters
    ICON crashes when output is initialised.

    ## Evidence
    ICON 2024.10 with 2 tasks: "MPI_ERR_RANK: invalid rank" (`mo_icon_output_tools.f90:62-157`).

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 0, pio_type: 2}
    #                                     ^
    ```
    ```yaml good
    parallel: {num_io_procs: 4, pio_type: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR012"
    name = "cdi-pio-without-io-procs"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        kind = component["parallel_nml", "pio_type"]
        if kind.value == 2 and lacks_io_ranks(component) and writes_streams(component):
            yield self.finding(
                kind,
                "pio_type 2 (CDI-PIO) without I/O ranks crashes when output is initialised",
                "expected: pio_type 1, or num_io_procs greater than 0",
            )


class ExperimentalCdiPio(ComponentRule):
    """CDI-PIO is experimental, and most builds of ICON lack it.

    ## What it does
    Finds `pio_type` 2.

    ## Why it matters
    A build without CDI-PIO aborts at once. With it, output is written in parallel by a part of ICON that few
    use.

    ## Evidence
    ICON 2024.10, built without it: "ICON was compiled without CDI-PIO" (`mo_mpi.f90:1808`). KIT's report on on-demand
    file systems: EMAC with parallel NetCDF on 20 nodes was 20 % slower on the global file system than with serial
    output, most of its accesses being a few KB; on BeeOND it was 2 to 6 times as fast, by stripe count. ICON with
    CDI-PIO was not measured.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 4, pio_type: 2}
    #                                     ^
    ```
    ```yaml good
    parallel: {num_io_procs: 4, pio_type: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml. F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON
    (2025), section 4.3. KIT (SCC), on-demand file systems for Earth system models.
    """

    code = "PAR013"
    name = "experimental-cdi-pio"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        kind = component["parallel_nml", "pio_type"]
        crashes = lacks_io_ranks(component) and writes_streams(component)
        if kind.value == 2 and not crashes and parts(component.experiment).get("cdi-pio") is not False:
            slower = "; parallel NetCDF of EMAC was 20 % slower than serial on a global file system"
            yield self.finding(
                kind,
                "pio_type 2 (CDI-PIO) is experimental, and a build without it aborts"
                + (slower if component.experiment.node_local is None else ""),
                "expected: pio_type 1",
            )


class UnknownPioType(ComponentRule):
    """Another `pio_type` than 1 and 2 means serial output, and sends the I/O ranks home.

    ## What it does
    Finds `pio_type` neither 1 nor 2 where I/O ranks are set apart.

    ## Why it matters
    Work rank 0 writes everything while all others wait; the I/O ranks stop at once and are lost for
    computing.

    ## Evidence
    ICON 2024.10 ran so with pio_type 0 and one I/O rank of two tasks (`mo_icon_output_tools.f90:62-157`).

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 4, pio_type: 0}
    #                                     ^
    ```
    ```yaml good
    parallel: {num_io_procs: 4, pio_type: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR014"
    name = "unknown-pio-type"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        kind = component["parallel_nml", "pio_type"]
        if kind.value in (1, 2):
            return
        count = split(component)
        if count.io > 0 and count.work >= 1:
            yield self.finding(
                kind,
                f"pio_type {kind.value} makes output serial and wastes the {count.io} I/O ranks",
                "expected: pio_type 1",
            )


class IoProcsWithoutOutput(ComponentRule):
    """I/O ranks write output streams and nothing else.

    ## What it does
    Finds I/O ranks in an experiment without output streams, or whose `run_nml: output` has no `nml`. Streams
    that are not read because `nml` is missing are another rule's business.

    ## Why it matters
    The ranks stop at once and are lost for computing.

    ## Evidence
    ICON 2024.10 ran with two I/O ranks and no output_nml, and finished (`mo_icon_output_tools.f90:62-157`).

    ## Example
    ```yaml bad
    namelists: {run_nml: {output: [totint]}}
    parallel: {num_io_procs: 4}
    #                        ^
    output: {atm: null}
    ```
    ```yaml good
    namelists: {run_nml: {output: [totint]}}
    parallel: {num_io_procs: 0}
    output: {atm: null}
    ```

    ## References
    ICON namelist overview, parallel_nml and run_nml.
    """

    code = "PAR015"
    name = "io-procs-without-output"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        count = split(component)
        if count.io > 0 and count.work >= 1 and not component.streams:
            reason = "there is no output stream"
            if not writes_output(component):
                reason = 'run_nml: output has no "nml"'
            yield self.finding(
                component["parallel_nml", "num_io_procs"],
                f"{count.io} I/O ranks have nothing to write: {reason}",
                "expected: num_io_procs 0, or output streams",
            )


class NoGhostRows(ComponentRule):
    """Each work rank needs at least one row of its neighbours' cells.

    ## What it does
    Finds `n_ghost_rows` below one.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10 rejects 0 and -1: "n_ghost_rows<1 in parallel_nml namelist is not allowed"
    (`mo_parallel_config.f90:272`).

    ## Example
    ```yaml bad
    parallel: {n_ghost_rows: 0}
    #                        ^
    ```
    ```yaml good
    parallel: {n_ghost_rows: 1}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR016"
    name = "no-ghost-rows"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        rows = component["parallel_nml", "n_ghost_rows"]
        if rows.value < 1:
            yield self.finding(rows, f"n_ghost_rows is {rows.value}", "expected: 1 or more; 1 is the default")


class NegativeProc0Shift(ComponentRule):
    """`proc0_shift` counts work ranks that only print, so it cannot be negative.

    ## What it does
    Finds `proc0_shift` below zero.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10 rejects -1: '"proc0_shift" currently must be 0 (disable) or a positive number'
    (`mo_parallel_config.f90:217`).

    ## Example
    ```yaml bad
    parallel: {proc0_shift: -1}
    #                       ^
    ```
    ```yaml good
    parallel: {proc0_shift: 0}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "PAR017"
    name = "negative-proc0-shift"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        shift = component["parallel_nml", "proc0_shift"]
        if shift.value < 0:
            yield self.finding(shift, f"proc0_shift is {shift.value}", "expected: 0 or more")


def lacks_io_ranks(component: Component) -> bool:
    """Whether several tasks run without a rank for output."""
    return component.tasks.value > 1 and split(component).io == 0


def writes_streams(component: Component) -> bool:
    """Whether there are output streams and ICON reads them."""
    return bool(component.streams) and writes_output(component)
