"""From the logs of a user's own runs to the figures of a site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path
from statistics import median
from typing import Any

from nmlgen.advise.calibration import Calibration, Family
from nmlgen.advise.case import Case
from nmlgen.advise.experiment import situation_on_any_device
from nmlgen.advise.fitting import Run, calibrate
from nmlgen.advise.hindsight import NOISE, hindsight
from nmlgen.advise.prediction import predict
from nmlgen.advise.recommendation import recommend
from nmlgen.errors import InputError, NmlgenError
from nmlgen.experiment.setting import UndecidedError
from nmlgen.lift.loading import load
from nmlgen.logs.darshan import DarshanLog, darshan_of
from nmlgen.logs.record import executable_of
from nmlgen.logs.rows import LogRun, LogWarning
from nmlgen.logs.table import TABLES, read_runs
from nmlgen.models.icon.logs.reader import scan_logs
from nmlgen.sweep.records import RECORDS, elapsed_s
from nmlgen.units.duration import Duration
from nmlgen.values import evolve, field, frozen

_MASTER = "icon_master.namelist"
_ENDED = ("finished", "restarted")
_TIMERS = {  # as calibration calls them: as the table of logs does
    "wrt_output_worker_avg_s": "wrt_output_work_s",
    "write_restart_worker_avg_s": "write_restart_work_s",
    "model_init_worker_avg_s": "model_init_s",
    "wrt_output_io_avg_s": "wrt_output_io_s",
    "write_restart_procs_avg_s": "write_restart_procs_s",
}
_MOST_RUNS, _MOST_FAMILIES = 200, 50
_MOST_READ = 8  # times that one directory is read, for as many numbers of tasks
_GIVEN = ("nodes", "num_lev", "n_cells")


@frozen(eq=False)
class Calibrated:
    """The `calibration` that follows from logs; the runs it rests on, each with its place; and those that were left
    out (`left_out`), each with the reason."""

    calibration: Calibration
    runs: tuple[tuple[LogRun, Run], ...] = field(repr=False)
    left_out: tuple[tuple[LogRun, str], ...] = ()
    warnings: tuple[LogWarning, ...] = ()

    @property
    def executables(self) -> dict[str, int]:
        """How many of the runs were made by which executable, by the records beside their logs, the most first. Runs
        without a record are not counted."""
        asked = dict.fromkeys((Path(log.log), log.leg) for log, _ in self.runs)  # a table has many runs of one log
        known = {one: executable_of(*one) for one in asked}
        used = [known[Path(log.log), log.leg] for log, _ in self.runs]
        return dict(Counter(str(one) for one in used if one is not None).most_common())

    @property
    def set_up_s(self) -> int | None:
        """The seconds of a job that the model's own timers do not see, the median over the points of sweeps among the
        runs: `set_up_time` of a site. None where nobody noted when the jobs began and ended."""
        points: dict[Path, list[float]] = {}
        for log, run in self.runs:
            points.setdefault(Path(log.log).parent, []).append(run.total_s)
        found = []
        for directory, totals in points.items():
            point = next((path for path in (directory, directory.parent) if (path / RECORDS).is_dir()), None)
            elapsed = None if point is None else elapsed_s(point)
            if point is None or elapsed is None or len(totals) != len(list((point / RECORDS).glob("*.start"))):
                continue
            found.append(max(0.0, elapsed - sum(totals)) / len(totals))
        return round(median(found)) if found else None


def calibrate_logs(
    paths: Iterable[str | Path],
    prior: Calibration | None = None,
    *,
    name: str = "calibrated",
    given: Mapping[str, int] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Calibrated:
    """Fit the I/O model to the runs whose logs lie at these paths or below, beginning with `prior`, else with Levante.

    A path may also be a table of runs that `nmlgen logs -o` wrote. What a log does not say is looked for in the
    namelists and the batch script beside it, how many bytes were written in the Darshan log of the same job; `given`
    says what is nowhere: `nodes`, `num_lev` or `n_cells`. Runs that did not come to an end, or of which too little is
    known, are left out with the reason. `progress` is called with the bytes that were read. Raises InputError if a
    path cannot be read or no run can be used.
    """
    paths = tuple(paths)
    tables = [Path(path) for path in paths if Path(path).suffix in TABLES and Path(path).is_file()]
    logs = [path for path in paths if Path(path) not in tables]
    rows: list[Any] = [run for table in tables for run in read_runs(table)]
    rows += scan_logs(logs, events=False, progress=progress)
    used: list[tuple[LogRun, Run]] = []
    left_out: list[tuple[LogRun, str]] = []
    around = _Around()
    for row in rows:
        if isinstance(row, LogRun):
            try:
                used.append((row, _learnt(row, given, around)))
            except InputError as error:
                left_out.append((row, str(error)))
    if not used and not left_out:
        raise InputError(
            f"there is no run of ICON in {', '.join(map(str, paths))}; expected logs with their first lines"
        )
    if not used:
        reasons = [f"\n  {_place(run)}: {reason}" for run, reason in left_out]
        raise InputError(f"no run of {len(left_out)} can be used{''.join(reasons)}")
    used, more = _parted(used)
    left_out += more
    try:
        calibration = calibrate([run for _, run in used], prior, name)
    except ValueError as error:
        raise InputError(str(error)) from None
    warnings = tuple(row for row in rows if isinstance(row, LogWarning))
    return Calibrated(calibration, tuple(used), tuple(left_out), warnings)


def _parted(used: list[tuple[LogRun, Run]]) -> tuple[list[tuple[LogRun, Run]], list[tuple[LogRun, str]]]:
    """The runs that are fitted, and those that are left out as there are very many: each iteration goes through all
    runs, and solves equations of all families. Of each family as many are taken as of others."""
    families: dict[Family, list[int]] = {}
    for place, (_, run) in enumerate(used):
        families.setdefault(Family.of(run.case), []).append(place)
    largest = sorted(families.values(), key=len, reverse=True)[:_MOST_FAMILIES]
    turns = (place for turn in zip_longest(*largest) for place in turn if place is not None)
    taken = frozenset(islice(turns, _MOST_RUNS))
    reason = f"{_MOST_RUNS} runs of {_MOST_FAMILIES} grids and layouts of nodes are fitted at the most"
    more = [(log, reason) for place, (log, _) in enumerate(used) if place not in taken]
    return [one for place, one in enumerate(used) if place in taken], more


class _Around:
    """What lies beside logs, each thing read once: a table has many runs of one log, and a log may have many itself."""

    def __init__(self) -> None:
        self._planned: dict[Path, dict[int | None, Case | None]] = {}
        self._darshan: dict[tuple[Path, str | None], DarshanLog | None] = {}

    def planned(self, log: LogRun) -> Case | None:
        """What the experiment beside a log says. Raises InputError where it was read for too many numbers of tasks."""
        known = self._planned.setdefault(Path(log.log).parent, {})
        if log.ntasks not in known:
            if len(known) >= _MOST_READ:
                raise InputError(f"what lies beside it was read for {_MOST_READ} other numbers of tasks already")
            known[log.ntasks] = _beside(log)
        return known[log.ntasks]

    def darshan(self, log: LogRun) -> DarshanLog | None:
        """The Darshan log of its job."""
        key = (Path(log.log).parent, log.job)
        if key not in self._darshan:
            self._darshan[key] = darshan_of(log)
        return self._darshan[key]


def run_of(log: LogRun, given: Mapping[str, int] | None = None, around: _Around | None = None) -> Run:
    """A run of a log as calibration takes it; one leg of a restart chain is a run of its own.

    Raises InputError, with the reason, if it did not come to an end or too little is known of it.
    """
    total_s = _ended(log)
    if _has_several_intervals(log):
        raise InputError("several streams with different intervals: no run of that kind was measured")
    return _run(_case(log, around or _Around(), given or {}), total_s, _timers(log))


def _run(case: Case, total_s: float, timers: Mapping[str, float | None]) -> Run:
    """A run; raises InputError where its time is none."""
    try:
        return Run(case, total_s, timers)
    except ValueError as error:
        raise InputError(str(error)) from None


def _has_several_intervals(log: LogRun) -> bool:
    return len(set(log.output_interval)) > 1


def _timers(log: LogRun) -> dict[str, float | None]:
    return {known: getattr(log, column) for known, column in _TIMERS.items()}


def _ended(log: LogRun) -> float:
    """What the run took in all; raises InputError if it did not come to its end, or nobody knows."""
    if log.state not in _ENDED:
        raise InputError(f"{log.state}: {log.reason or 'it did not come to its end'}")
    if log.total_s is None:
        raise InputError("there is no timer report; expected: run_nml.ltimer = .true.")
    return log.total_s


def _learnt(log: LogRun, given: Mapping[str, int] | None, around: _Around) -> Run:
    """What a calibration learns of a run: all that is known of it, or where its streams have different intervals, of
    which the model of one stream learns nothing, what its workers computed, as a run that writes nothing."""
    if not _has_several_intervals(log):
        return run_of(log, given, around)
    total_s, case = _ended(log), _case(log, around, given or {})
    if log.wrt_output_work_s is None:
        raise InputError("several streams with different intervals, and no timer wrt_output says what they cost")
    writing_s = log.wrt_output_work_s + (log.write_restart_work_s or 0.0)
    if writing_s >= total_s:
        raise InputError("several streams with different intervals, and by its timers it computed nothing")
    alone = evolve(case, output_bytes=0.0, checkpoint_bytes=0.0)
    return _run(alone, total_s - writing_s, {"model_init_worker_avg_s": log.model_init_s})


def _case(log: LogRun, around: _Around, given: Mapping[str, int]) -> Case:
    """The run as a case: what the log says, else what is given, else what the experiment beside it plans."""
    planned = around.planned(log)
    n_checkpoints = log.n_checkpoints or 0
    output_bytes = log.output_bytes / log.n_outputs if log.output_bytes and log.n_outputs else None
    if output_bytes is None and planned is not None:
        output_bytes = _by_darshan(log, planned, around)
    said: dict[str, Any] = {
        "n_cells": planned.n_cells if planned else log.n_cells,  # in the log it is rounded
        "num_lev": log.num_lev,
        "nodes": log.nodes,
        "ntasks": log.ntasks,
        "dtime_s": log.dtime_s,
        "n_steps": log.n_steps,
        "num_io_procs": log.num_io_procs,
        "stream_partitions": sum(log.stream_partitions_ml) or None,
        "restart_write_mode": log.restart_write_mode,
        "num_restart_procs": log.num_restart_procs,
        "output_bytes": output_bytes,
        "output_interval_s": _seconds(log.output_interval[0]) if log.output_interval else None,
        "checkpoint_bytes": log.checkpoint_bytes / n_checkpoints if log.checkpoint_bytes and n_checkpoints else None,
        "checkpoint_interval_s": _seconds(log.checkpoint_interval),
    }
    known = {**given, **{name: value for name, value in said.items() if value is not None}}
    for name in ("n_cells", "num_lev", "nodes", "ntasks", "dtime_s", "n_steps"):
        if name not in known and planned is None:
            hint = f"; expected: --{name.replace('_', '-')}" if name in _GIVEN else ""
            raise InputError(f"{name} is not known{hint}")
    if planned is None and log.wrt_output_work_s and not {"output_bytes", "output_interval_s"} <= known.keys():
        raise InputError("how much is written how often is not known; expected: the run's namelists beside the log")
    try:
        return Case(**known) if planned is None else evolve(planned, **known)
    except ValueError as error:
        raise InputError(str(error)) from None


def _beside(log: LogRun) -> Case | None:
    """What the experiment says whose files lie beside the log, or above it, where nmlgen's build puts them."""
    home = Path(log.log).parent
    for directory in (home.parent, home):
        if any(directory.glob("*.sbatch")) or (directory / _MASTER).is_file():
            with suppress(NmlgenError, UndecidedError):
                components = load(directory, ntasks=log.ntasks).experiment.components
                if len(components) == 1:
                    return situation_on_any_device(components[0]).case
    return None


def _by_darshan(log: LogRun, planned: Case, around: _Around) -> float | None:
    """Bytes of an output, by the Darshan log of the same job beside the log; None without one that is whole."""
    outputs = round(planned.outputs)
    if outputs < 1 or (log.n_checkpoints and not log.checkpoint_bytes):
        return None
    row = around.darshan(log)
    if row is None or row.partial:
        return None
    written = row.written_bytes - (log.checkpoint_bytes or 0)
    return written / outputs if written > 0 else None


def looked_back(log: LogRun, *, with_model: bool = False) -> tuple[str, ...]:
    """Why a run waited and how it wrote, a sentence each (see `nmlgen.advise.hindsight`), by its timers and the Darshan
    log of its job beside it; `with_model`: also what the I/O model makes of it. Nothing without timers."""
    found = hindsight(log, darshan_of(log))
    sentences = found.sentences if found is not None else ()
    if not with_model:
        return sentences
    try:
        case = run_of(log).case
    except InputError as error:
        return (*sentences, f"What another layout would take is not known: {error}.")
    if case.gpus is not None:
        return (*sentences, "What another layout would take on GPUs only a calibration by such runs says.")
    chosen, now = recommend(case), predict(case)
    gain = 1 - chosen.prediction.total_s / now.total_s
    if chosen.num_io_procs == case.num_io_procs or gain < NOISE:
        return (*sentences, "By the model of `nmlgen advise` no other number of I/O ranks would be faster.")
    return (
        *sentences,
        f"By the model of `nmlgen advise`, num_io_procs {chosen.num_io_procs} with as many partitions would take "
        f"{100 * gain:.0f} % less: {chosen.reason}",
    )


def _seconds(interval: str | None) -> float | None:
    if not interval:
        return None
    with suppress(ValueError):
        return Duration.parse(interval).seconds
    return None


def _place(run: LogRun) -> str:
    return f"{run.log}:{run.line}"
