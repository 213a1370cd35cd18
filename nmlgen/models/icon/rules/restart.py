"""Checkpoints and the chain of jobs: who writes, when, and whether it comes out even."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock, first_meeting
from nmlgen.models.icon.ranks import RestartMode, domains, restart_mode, split
from nmlgen.rules.rule import ComponentRule
from nmlgen.units.duration import Duration

_MODES = ", ".join(f'"{mode.value}"' for mode in RestartMode)


def _mode(component: Component) -> Setting:
    return component["io_nml", "restart_write_mode"]


def _interval(component: Component, name: str, older: tuple[str, str]) -> Setting:
    """What sets an interval: where it is empty, ICON's older variable."""
    setting = component["master_time_control_nml", name]
    return setting if setting.value else component[older]


def _said(setting: Setting) -> str:
    return f"{setting.name.rpartition('.')[2]} {setting.value}"


def _procs(component: Component) -> Setting:
    return component["parallel_nml", "num_restart_procs"]


class SyncWithRestartProcs(ComponentRule):
    """`sync` has work rank 0 write the checkpoint, so it refuses ranks set apart for restart.

    ## What it does
    Finds `restart_write_mode = "sync"` together with `num_restart_procs` greater than zero.

    ## Why it matters
    ICON aborts in its cross-check, after the job has waited in the queue.

    ## Evidence
    ICON 2024.10 rejects it with any number of tasks: "num_restart_procs must be zero OR unset for the given
    restart_write_mode" (`mo_io_config.f90:579`).

    ## Example
    ```yaml bad
    restart: {restart_write_mode: sync, num_restart_procs: 2}
    #                                                      ^
    ```
    ```yaml good
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 1}
    ```

    ## References
    ICON namelist overview, io_nml and parallel_nml. F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell
    ICON (2025), section 4.2.
    """

    code = "RST001"
    name = "sync-with-restart-procs"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        written = str(_mode(component).value).rstrip().lower()
        procs = _procs(component)
        if written == RestartMode.SYNC.value and procs.value > 0:
            yield self.finding(
                procs,
                f'restart_write_mode "sync" takes no restart ranks, num_restart_procs is {procs.value}',
                "expected: num_restart_procs 0, or the mode async or dedicated procs multifile",
            )


class NoRestartProcs(ComponentRule):
    """`async` and `dedicated procs multifile` need ranks set apart for restart.

    ## What it does
    Finds one of these modes with `num_restart_procs` zero or not set.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10 rejects it (`mo_io_config.f90:590` and `:617`).

    ## Example
    ```yaml bad
    restart: {restart_write_mode: dedicated procs multifile}
    #                             ^
    ```
    ```yaml good
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 4}
    ```

    ## References
    ICON namelist overview, io_nml and parallel_nml.
    """

    code = "RST002"
    name = "no-restart-procs"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        mode = _mode(component)
        written = str(mode.value).rstrip().lower()
        if written in (RestartMode.ASYNC.value, RestartMode.DEDICATED.value) and _procs(component).value <= 0:
            yield self.finding(
                mode,
                f'restart_write_mode "{written}" needs restart ranks, num_restart_procs is {_procs(component).value}',
                "expected: num_restart_procs 1 or more; the mode joint procs multifile needs none",
            )


class UnknownRestartMode(ComponentRule):
    """ICON knows four restart modes, and their spelling must be exact.

    ## What it does
    Finds a `restart_write_mode` that is none of sync, async, joint procs multifile and dedicated procs multifile.
    Upper and lower case do not matter, nor do blanks at the end; blanks before or within the name do.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10, `mo_io_config.f90:627`; it rejected every misspelling that was tried, " sync" among them, and ran with
    "sync ".

    ## Example
    ```yaml bad
    restart: {restart_write_mode: joint procs multi-file}
    #                             ^
    ```
    ```yaml bad
    restart: {restart_write_mode: " sync"}
    #                             ^
    ```
    ```yaml good
    restart: {restart_write_mode: joint procs multifile}
    ```

    ## References
    ICON namelist overview, io_nml.
    """

    code = "RST003"
    name = "unknown-restart-mode"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        mode = _mode(component)
        if restart_mode(component) is None:
            yield self.finding(mode, f'ICON has no restart_write_mode "{mode.value}"', f"expected: one of {_MODES}")


class JointProcsBeyondWork(ComponentRule):
    """The joint mode cannot have more writers than there are work ranks.

    ## What it does
    Finds `joint procs multifile` with more `num_restart_procs` than work ranks. In this mode the number does not set
    ranks apart: 0 lets every work rank write, n lets n of them write.

    ## Why it matters
    ICON does not check it; fewer files than announced are written.

    ## Evidence
    ICON 2024.10, reading of `mo_multifile_restart.f90`.

    ## Example
    ```yaml bad
    restart: {restart_write_mode: joint procs multifile, num_restart_procs: 300}
    #                                                                       ^
    ```
    ```yaml good
    restart: {restart_write_mode: joint procs multifile, num_restart_procs: 0}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "RST004"
    name = "joint-procs-beyond-work"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        procs = _procs(component)
        if restart_mode(component) is RestartMode.JOINT:
            work = split(component).work
            if 0 < work < procs.value:
                yield self.finding(
                    procs,
                    f"num_restart_procs {procs.value} asks for more writers than the {work} work ranks",
                    f"expected: 0, which lets all of them write, or at most {work}",
                )


class IdleAsyncRanks(ComponentRule):
    """The mode async writes one file a domain, each by one rank, so further restart ranks idle.

    ## What it does
    Finds more `num_restart_procs` than domains where the mode in effect is async. Without a mode ICON chooses async
    as soon as `num_restart_procs` is greater than zero.

    ## Why it matters
    The idle ranks are taken from computing. Several writers need the mode dedicated procs multifile.

    ## Evidence
    ICON 2024.10, `mo_restart_descriptor.f90:254`. Measured on Levante: with checkpoints of an R2B5 grid every 12
    minutes on one node one to eight async ranks all leave one writer at work (heat maps in the report below).

    ## Example
    ```yaml bad
    restart: {restart_write_mode: async, num_restart_procs: 4}
    #                                                       ^
    ```
    ```yaml good
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 4}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.2.
    """

    code = "RST005"
    name = "idle-async-restart-ranks"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        procs = _procs(component)
        count = domains(component)
        if restart_mode(component) is RestartMode.ASYNC and procs.value > count:
            from nmlgen.advise.cost import idle_restart_cost, if_known

            idle, cost = procs.value - count, if_known(idle_restart_cost, component)
            yield self.finding(
                procs,
                f"the mode async writes {count} file{'s' * (count > 1)} from as many ranks, so {idle} of "
                f"{procs.value} restart ranks idle",
                f"expected: num_restart_procs {count}, or restart_write_mode dedicated procs multifile",
                *(() if cost is None else (f"it {cost}",)),
            )


class CheckpointOffStep(ComponentRule):
    """A checkpoint is written only when the model stands exactly at its time.

    ## What it does
    Finds a `checkpointTimeIntval` that is no multiple of the time step.

    ## Why it matters
    ICON's events fire when a step's time equals the event's time. Checkpoints whose time falls between two steps are
    not written, and nothing is said.

    ## Evidence
    ICON 2024.10, `mo_nh_stepping.f90:1616-1635`: no check and no rounding.

    ## Example
    ```yaml bad
    restart: {checkpointTimeIntval: PT25M, restartTimeIntval: P1D}
    #                               ^
    ```
    ```yaml good
    restart: {checkpointTimeIntval: PT6H, restartTimeIntval: P1D}
    output: {atm: {filename_format: "<output_filename>_<datetime2>"}}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "RST006"
    name = "checkpoint-off-step"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        setting = _interval(component, "checkpointTimeIntval", ("io_nml", "dt_checkpoint"))
        time = clock(component)
        if time.checkpoint and time.checkpoint % time.step:
            meeting = first_meeting(time.checkpoint, time.step)
            every = Duration(0, meeting)
            outcome = f"are written every {every} only" if meeting <= time.length else "are never written"
            yield self.finding(
                setting,
                f"{_said(setting)} is no multiple of the time step {Duration(0, time.step)}: checkpoints {outcome}",
                "expected: a multiple of the time step",
            )


class RestartOffStep(ComponentRule):
    """A job of the chain can write its last checkpoint only at the time of a step.

    ## What it does
    Finds a `restartTimeIntval` that is no multiple of the time step, where it ends a job before the experiment's end
    and no other checkpoint falls into the job.

    ## Why it matters
    The job stops at the first step after the interval, and the checkpoint that the next job needs is not written: the
    chain breaks, and finish.status says RESTART all the same.

    ## Evidence
    ICON 2024.10, `mo_nh_stepping.f90:1616-1635,1773` and `mo_time_management.f90`. Real chains of 25 minutes with steps
    of 10 broke with checkpoints every 25 minutes; with checkpoints every 30 they went on, a job ending at the step.

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: PT1H25M, checkpointTimeIntval: PT1H25M}
    #                            ^
    ```
    ```yaml good
    restart: {restartTimeIntval: P1D, checkpointTimeIntval: PT6H}
    output: {atm: {filename_format: "<output_filename>_<datetime2>"}}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "RST007"
    name = "restart-off-step"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = _interval(component, "restartTimeIntval", ("time_nml", "dt_restart"))
        time = clock(component)
        if not time.restart or time.restart >= time.length or time.restart % time.step == 0:
            return
        end = -(-time.restart // time.step) * time.step
        if time.checkpoint is None or first_meeting(time.checkpoint, time.step) > end:
            yield self.finding(
                setting,
                f"{_said(setting)} is no multiple of the time step {Duration(0, time.step)}: the next job finds no "
                "checkpoint",
                "expected: a multiple of the time step",
            )


class NoCheckpoint(ComponentRule):
    """Intervals longer than the run write no checkpoint at all.

    ## What it does
    Finds an experiment in which neither the checkpoint interval nor the restart interval ends within the run.

    ## Why it matters
    Whatever ends the job, a time limit or a failed node, loses the whole run. For a measurement without checkpoints
    this is what one wants: suppress the rule with that reason.

    ## Evidence
    ICON 2024.10, `mo_nh_stepping.f90:1616-1635`: a checkpoint is written at an event of either interval.

    ## Example
    ```yaml bad
    restart: {checkpointTimeIntval: P12D, restartTimeIntval: P20D}
    #                               ^
    ```
    ```yaml good
    restart: {checkpointTimeIntval: PT12H, restartTimeIntval: P20D}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "RST008"
    name = "no-checkpoint"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        checkpoint = _interval(component, "checkpointTimeIntval", ("io_nml", "dt_checkpoint"))
        restart = _interval(component, "restartTimeIntval", ("time_nml", "dt_restart"))
        if not (checkpoint.is_written or restart.is_written):
            return
        time = clock(component)
        intervals = [interval for interval in (time.checkpoint, time.restart) if interval]
        if intervals and min(intervals) > time.length:
            where = checkpoint if time.checkpoint else restart
            yield self.finding(
                where,
                f"{_said(where)} is longer than the run of {Duration(0, time.length)}: no checkpoint is written",
                "expected: an interval within the run",
            )


class RestartStreamsIgnored(ComponentRule):
    """`nrestart_streams` means something in the dedicated mode only, and there it must be at least 1.

    ## What it does
    Finds `nrestart_streams` written in another mode than dedicated procs multifile.

    ## Why it matters
    ICON ignores it; the files come out as if it were not there.

    ## Evidence
    ICON 2024.10, `mo_io_config.f90:563-624`.

    ## Example
    ```yaml bad
    restart: {restart_write_mode: joint procs multifile, nrestart_streams: 4}
    #                                                                      ^
    ```
    ```yaml good
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 2, nrestart_streams: 4}
    ```

    ## References
    ICON namelist overview, io_nml.
    """

    code = "RST009"
    name = "restart-streams-ignored"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        streams = component["io_nml", "nrestart_streams"]
        mode = restart_mode(component)
        if streams.is_written and mode not in (RestartMode.DEDICATED, None) and streams.value > 1:
            assert mode is not None
            yield self.finding(
                streams,
                f'nrestart_streams {streams.value} is ignored in the mode "{mode.value}"',
                "expected: restart_write_mode dedicated procs multifile, or no nrestart_streams",
            )


class RestartStreamsOutOfRange(ComponentRule):
    """No stream at all divides by zero; more streams than ranks are refused.

    ## What it does
    Finds `nrestart_streams` below zero or above the number of the model's tasks in any mode, and zero or more than the
    number of work ranks in the dedicated mode.

    ## Why it matters
    ICON aborts, or crashes at its first checkpoint.

    ## Evidence
    ICON 2024.10 rejected 3 with 2 work ranks in the dedicated mode, "more horizontal multifile chunks than worker ranks
    requested!", and took 2 with one work rank and one restart rank in the mode async: it compares before the split
    (`mo_io_nml.f90:363`, `mo_multifile_restart.f90:249-254`).

    ## Example
    ```yaml bad
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 2, nrestart_streams: 0}
    #                                                                                                ^
    ```
    ```yaml good
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 2, nrestart_streams: 1}
    ```

    ## References
    ICON namelist overview, io_nml.
    """

    code = "RST010"
    name = "restart-streams-out-of-range"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        streams = component["io_nml", "nrestart_streams"]
        if not streams.is_written:
            return
        ranks = split(component)
        is_dedicated = restart_mode(component) is RestartMode.DEDICATED
        least, most = (1, ranks.work) if is_dedicated else (0, ranks.total)
        if not least <= streams.value <= max(most, least):
            yield self.finding(
                streams,
                f"nrestart_streams is {streams.value}",
                f"expected: {least} to {most}, the number of {'work ranks' if is_dedicated else 'tasks'}",
            )


class RestartFileType(ComponentRule):
    """A checkpoint written as one file is NetCDF: type 4 or 5.

    ## What it does
    Finds another `restart_file_type` where the mode in effect is sync or async. The multifile modes always write
    NetCDF-4 and ignore it.

    ## Why it matters
    ICON aborts at the first checkpoint, hours into the run.

    ## Evidence
    ICON 2024.10 rejects 1, 3, 6 and 99 in its time loop: "file format for restart variables must be NetCDF"
    (`mo_restart_descriptor.f90:290-298`).

    ## Example
    ```yaml bad
    restart: {restart_write_mode: sync, restart_file_type: 2}
    #                                                      ^
    ```
    ```yaml good
    restart: {restart_write_mode: sync, restart_file_type: 5, checkpointTimeIntval: P5D}
    ```

    ## References
    ICON namelist overview, io_nml.
    """

    code = "RST011"
    name = "restart-file-type"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        file_type = component["io_nml", "restart_file_type"]
        if restart_mode(component) in (RestartMode.SYNC, RestartMode.ASYNC) and file_type.value not in (4, 5):
            yield self.finding(
                file_type,
                f"restart_file_type {file_type.value} is no NetCDF: ICON stops at its first checkpoint",
                "expected: 4 (NetCDF-2) or 5 (NetCDF-4)",
            )


class NoLastRestart(ComponentRule):
    """A chain of jobs needs the checkpoint at the end of each.

    ## What it does
    Finds `lrestart_write_last: false` with a restart interval that ends a job before the experiment's end.

    ## Why it matters
    ICON then sets the restart interval to zero: the first job does not stop there, runs into its time limit, and no
    job follows.

    ## Evidence
    ICON 2024.10, `mo_time_management.f90:246`; the real model ran on and wrote finish.status OK.

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: P1D, checkpointTimeIntval: PT12H, lrestart_write_last: false}
    #                                                                                   ^
    ```
    ```yaml good
    restart: {restartTimeIntval: P1D, checkpointTimeIntval: PT12H}
    output: {atm: {filename_format: "<output_filename>_<datetime2>"}}
    ```

    ## References
    ICON namelist overview, master_nml.
    """

    code = "RST012"
    name = "no-last-restart"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        last = component["master_nml", "lrestart_write_last"]
        time = clock(component)
        if last.value is False and time.restart and time.restart < time.length:
            yield self.finding(
                last,
                "lrestart_write_last false takes restartTimeIntval out of force: the chain has one job",
                "expected: true, which is the default, or no restartTimeIntval",
            )


def _has_slow_checkpoints(component: Component) -> bool:
    """Whether another way to write checkpoints is better by so much that RST013 says so."""
    from nmlgen.advise.cost import restart_cost
    from nmlgen.advise.first_look import WORTH_SAYING

    cost = restart_cost(component)
    return cost is not None and cost.exceeds(WORTH_SAYING)


class SlowCheckpoints(ComponentRule):
    """Another way to write checkpoints would make the run shorter by so much that it can be told.

    ## What it does
    Predicts the run time with the present restart mode and number of restart ranks and with others. Finds a mode that
    costs 5 % or more, which is what a prediction is wrong by in the mean for experiments like those that were measured:
    a global grid, NWP physics. Outside of that it speaks where the answer does not depend on how far computing and
    writing lie off, with the range of the cost; where it does, `--show-undecided` names it.

    ## Why it matters
    In the mode sync all ranks wait while one gathers and writes; async has one writer, whatever the number of ranks.

    ## Evidence
    Measured on Levante, R2B5 on two nodes for ten days with a checkpoint every 12 minutes: sync 6961 s, async 1767 s,
    joint procs multifile 1052 s, dedicated procs multifile with 8 ranks 699 s. With a checkpoint every 12 hours: sync
    693 s, async 628 s.

    ## Example
    ```yaml bad
    restart: {restart_write_mode: sync, checkpointTimeIntval: PT10M}
    #                             ^
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}}
    ```
    ```yaml good
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 8, checkpointTimeIntval: PT2H}
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.2.
    """

    code = "RST013"
    name = "slow-checkpoints"
    severity = Severity.ADVICE

    def check(self, component: Component) -> Iterator[Finding]:
        from nmlgen.advise.first_look import WORTH_SAYING, has_good_restart

        is_refused = _procs(component).value > 0 if restart_mode(component) is RestartMode.SYNC else False
        if is_refused or has_good_restart(component):
            return
        from nmlgen.advise.cost import restart_cost

        cost = restart_cost(component)
        if cost is None or not cost.exceeds(WORTH_SAYING):
            return
        mode, ranks = cost.better.layout.restart_write_mode, cost.better.layout.num_restart_procs
        time = f", {cost.better.prediction} in all" if cost.is_timed else ""
        yield self.finding(
            _mode(component),
            f'restart_write_mode "{cost.present.layout.restart_write_mode}" {cost}',
            f"expected: {mode}, num_restart_procs {ranks}{time}",
            *cost.notes,
        )


class BusyRestartRanks(ComponentRule):
    """Dedicated restart ranks write for so much of the run that a slow write is waited for, and more cost nothing.

    ## What it does
    Predicts for which part of the run dedicated restart ranks receive and write. Finds ranks that are busy for more
    than half of it, where the next number of them (2, 4, 8) makes the run no longer by more than noise, 2 %. Speaks for
    experiments like those that were measured only, and where [RST013](RST013.md) does not.

    ## Why it matters
    The others wait for a checkpoint that is not written when the next is due. Files are not written equally fast: a
    rank that is busy for half of the time in the mean is late when a write takes twice as long, and some do. A
    prediction is one of the mean, and sees nothing of it.

    ## Evidence
    Measured on Levante: of all layouts with dedicated restart ranks nine were so busy and had one with twice as many
    beside them. All nine were slower than that, by 1 to 63 %. R2B6 on 16 nodes with a checkpoint every 12 hours: one
    rank, busy for 52 % of the run, 388 s; two ranks 334 s; four 342 s; eight 336 s. The model expects 1 % of it.

    ## Example
    ```yaml bad
    job: {nodes: 16}
    grid: {name: R2B6, file: iconR02B06-grid.nc}
    time: {modelTimeStep: PT2M}
    parallel: {nproma: 16, num_io_procs: 1}
    output: {atm: {output_interval: P1D, stream_partitions_ml: 1}}
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 1, checkpointTimeIntval: PT12H}
    #                                                                           ^
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}}
    ```
    ```yaml good
    job: {nodes: 16}
    grid: {name: R2B6, file: iconR02B06-grid.nc}
    time: {modelTimeStep: PT2M}
    parallel: {nproma: 16, num_io_procs: 1}
    output: {atm: {output_interval: P1D, stream_partitions_ml: 1}}
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 2, checkpointTimeIntval: PT12H}
    namelists: {run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.2.
    """

    code = "RST034"
    name = "busy-restart-ranks"
    severity = Severity.ADVICE

    def check(self, component: Component) -> Iterator[Finding]:
        if restart_mode(component) is not RestartMode.DEDICATED or not split(component).restart:
            return
        from nmlgen.advise.busy_ranks import busy_restart_ranks

        found = busy_restart_ranks(component)
        if found is None or _has_slow_checkpoints(component):
            return
        ranks = "1 restart rank writes" if found.ranks == 1 else f"{found.ranks} restart ranks write"
        yield self.finding(
            _procs(component),
            f"{ranks} for {100 * found.share:.0f} % of the run, and the others wait for a checkpoint that takes longer",
            f"expected: num_restart_procs {found.more}, busy for {100 * found.more_share:.0f} % of it, which make the "
            "run no longer; or joint procs multifile, which needs none of them",
        )
