"""The tidy tables: one class a table, one field a column, units in the names.

`_s` is seconds, `_bytes` bytes, `_bytes_per_s` bytes a second; settings have ICON's names. None stands for what the
log does not say: no number is made up.
"""

from __future__ import annotations

from typing import Any, Literal

from nmlgen.values import AttrsInstance, field, fields, frozen

State = Literal["finished", "restarted", "crashed", "truncated"]
"""`finished`: the experiment's end was reached. `restarted`: this leg's end was reached, and a next one is to follow.
`crashed`: there is a reason for the end. `truncated`: the log ends without one; the run was killed, or it goes on."""


def column(about: str, default: Any = None) -> Any:
    """A field, and what it holds."""
    return field(default=default, metadata={"about": about})


@frozen(kw_only=True)
class LogRun:
    """One run of ICON: one leg of an experiment, as its log tells it."""

    log: str = column("the file", "")
    run: int = column("which run in the file, from 1", 1)
    line: int = column("where it begins in the file, from 1", 1)
    name: str | None = column("the experiment, from the manifest of a build beside the log")
    job: str | None = column("Slurm's job id, from the name of a log that nmlgen's script wrote")
    leg: int | None = column("which job of the chain, from the ledger beside the log")
    state: State = column("finished, restarted, crashed or truncated", "truncated")
    reason: str | None = column("why it is crashed or truncated, in ICON's own words where it has any")
    finish_status: str | None = column("the word in finish.status or in the ledger: OK or RESTART")
    release: str | None = column("of ICON")
    started: str | None = column("wall clock when ICON started, as its host has it, without a time zone")
    experiment_stop: str | None = column("model time at which the experiment ends")
    run_start: str | None = column("model time at which this run starts")
    run_stop: str | None = column("model time at which this run is to stop")
    last_model_time: str | None = column("model time of the last step that was logged")
    dtime_s: float | None = column("ICON's modelTimeStep")
    n_steps: int | None = column("steps of this run, from the first logged to the last")
    checkpoint_interval: str | None = column("checkpointTimeIntval")
    restart_interval: str | None = column("restartTimeIntval")
    nodes: int | None = column("from the batch script beside the log")
    ntasks: int | None = column("MPI ranks of all components")
    num_work_procs: int | None = column("ranks that compute")
    num_io_procs: int | None = column("ranks that write output")
    num_restart_procs: int | None = column("dedicated restart ranks; in joint mode the setting of the namelist")
    num_prefetch_proc: int | None = column("ranks that read boundary data ahead")
    num_test_procs: int | None = column("ranks of a parallel test run, p_test_run")
    nproma: int | None = column("block length")
    n_cells: int | None = column("cells of the first domain: the average over ranks, to two digits, times ranks")
    num_lev: int | None = column("levels of the first domain, from the namelist")
    restart_write_mode: str | None = column("the mode that ICON selected")
    restart_file_type: int | None = column("from the namelist")
    stream_partitions_ml: tuple[int, ...] = column("one for each output_nml, from the namelist", ())
    output_interval: tuple[str, ...] = column("one for each output_nml, from the namelist", ())
    file_interval: tuple[str, ...] = column("one for each output_nml, from the namelist", ())
    output_bytes_per_value: int | None = column("in the files: 4 or 8, as ICON says; None for packed GRIB")
    total_s: float | None = column("timer total: average over the workers")
    total_max_s: float | None = column("timer total: the slowest worker")
    integrate_nh_s: float | None = column("timer integrate_nh: average over the workers")
    model_init_s: float | None = column("timer model_init: average over the workers")
    exch_data_s: float | None = column("timer exch_data: average over the workers")
    wrt_output_work_s: float | None = column("timer wrt_output: average over the workers, who wait and copy")
    wrt_output_work_max_s: float | None = column("timer wrt_output: the slowest worker")
    wait_for_async_io_s: float | None = column("timer wait_for_async_io: average over the workers")
    wait_for_async_io_max_s: float | None = column("timer wait_for_async_io: the slowest worker")
    wrt_output_io_s: float | None = column("timer wrt_output: average over the I/O ranks, who are busy then")
    wrt_output_io_max_s: float | None = column("timer wrt_output: the busiest I/O rank")
    wrt_output_io_longest_s: float | None = column("timer wrt_output: the longest single call on an I/O rank")
    write_restart_work_s: float | None = column("timer write_restart: average over the workers")
    write_restart_work_max_s: float | None = column("timer write_restart: the slowest worker")
    write_restart_procs_s: float | None = column("timer write_restart: average over the dedicated restart ranks")
    write_restart_procs_max_s: float | None = column("timer write_restart: the busiest dedicated restart rank")
    write_restart_wait_procs_s: float | None = column("timer write_restart_wait: average over those: they were idle")
    write_restart_communication_procs_s: float | None = column("timer write_restart_communication: average over those")
    read_restart_files_s: float | None = column("timer read_restart_files: average over the workers")
    n_outputs: int | None = column("outputs logged: one file at one output step; None if ICON logged none at all")
    output_received_bytes: int | None = column("that the I/O ranks got from the workers")
    output_bytes: int | None = column("in the files: the values received, as wide as they are in the files")
    output_get_s: float | None = column("I/O ranks getting: sum over outputs")
    output_write_s: float | None = column("I/O ranks writing: sum over outputs")
    output_busy_s: float | None = column("between starting and done of an I/O rank: sum over outputs")
    output_get_bytes_per_s: float | None = column("output_received_bytes over output_get_s")
    output_write_bytes_per_s: float | None = column("output_bytes over output_write_s")
    n_checkpoints: int = column("checkpoints logged as written", 0)
    checkpoint_bytes: int | None = column("all checkpoints together")
    checkpoint_get_s: float | None = column("restart ranks getting (async): sum")
    checkpoint_write_s: float | None = column("writing: sum; in joint mode with its preparation")
    checkpoint_wait_s: float | None = column("the workers waiting for restart ranks: sum")
    checkpoint_write_bytes_per_s: float | None = column("checkpoint_bytes over checkpoint_write_s")
    n_warnings: int = column("lines that should have been understood and were not", 0)
    notes: tuple[str, ...] = column("corrections, what they rest on, what is uncertain", ())


@frozen(kw_only=True)
class OutputWrite:
    """One output: an I/O rank, or the first worker, writes one output step into one file."""

    log: str = column("the file", "")
    run: int = column("which run in the file, from 1", 1)
    line: int = column("where it was first mentioned", 0)
    model_time: str | None = column("of the output step")
    file: str | None = column("that it went into")
    rank: int | None = column("that wrote it, within the component")
    start: str | None = column("wall clock, hh:mm:ss.sss, without a date")
    busy_s: float | None = column("from starting to done, over midnight too")
    received_bytes: int | None = column("got from the workers")
    output_bytes: int | None = column("in the file, as far as that is known")
    get_s: float | None = column("getting the data from the workers")
    write_s: float | None = column("writing the file")
    copy_s: float | None = column("copying in memory")
    get_bytes_per_s: float | None = column("as logged")
    write_bytes_per_s: float | None = column("corrected: as many bytes a value as the file has")
    logged_write_bytes_per_s: float | None = column("as logged: always 4 bytes a value")
    certain: bool = column("False where the line with the speed may belong to another rank's output", True)


@frozen(kw_only=True)
class CheckpointWrite:
    """One checkpoint, or one domain's file of it."""

    log: str = column("the file", "")
    run: int = column("which run in the file, from 1", 1)
    line: int = column("where it says that it is done", 0)
    restart_write_mode: str = column("whose lines these are", "sync")
    model_time: str | None = column("of the checkpoint; with dedicated and joint ranks the last step logged before")
    bytes: int | None = column("written; ICON's GB of the multifile modes are GiB, its MB are 1e6 bytes")
    get_s: float | None = column("getting the data from the workers (async)")
    prepare_s: float | None = column("preparing (dedicated procs multifile)")
    write_s: float | None = column("writing; in joint mode with its preparation")
    wait_s: float | None = column("the workers waited for the restart ranks to be ready")
    get_bytes_per_s: float | None = column("as logged (async)")
    write_bytes_per_s: float | None = column("as logged, in bytes")


@frozen(kw_only=True)
class TimerTotal:
    """One timer of one group of ranks, as the timer report has it; or of one rank, with profiling_output 2."""

    log: str = column("the file", "")
    run: int = column("which run in the file, from 1", 1)
    line: int = column("where it stands", 0)
    group: str | None = column("work, io, restart or test: who these ranks are, by their numbers and timers")
    ranks: str | None = column("the list in the title")
    timer: str = column("its name", "")
    parent: str | None = column("the timer that it is a part of")
    calls: int | None = column("sum over the ranks")
    t_min_s: float | None = column("shortest call")
    t_avg_s: float | None = column("average call")
    t_max_s: float | None = column("longest call")
    total_min_s: float | None = column("the rank with the least")
    total_max_s: float | None = column("the rank with the most")
    total_avg_s: float | None = column("average over the ranks")
    n_ranks: int | None = column("that called it")


@frozen
class LogWarning:
    """What should have been understood and was not."""

    log: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.log}:{self.line}" if self.line else self.log  # an empty file has no line
        return f"{place}: {self.message}"


Row = LogRun | OutputWrite | CheckpointWrite | TimerTotal
"""What the reader finds."""


def columns(table: type[AttrsInstance]) -> dict[str, str]:
    """The columns of a table, each with what it holds."""
    return {one.name: one.metadata["about"] for one in fields(table)}
