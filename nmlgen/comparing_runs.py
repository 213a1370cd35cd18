"""Comparing two runs: what their logs say they took, and what differs in their set-up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nmlgen.advise.prediction import NOISE
from nmlgen.comparing import Comparison
from nmlgen.errors import InputError, NmlgenError
from nmlgen.experiment.difference import PARTS, differences
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import Certainty, Setting, written
from nmlgen.lift.loading import load
from nmlgen.logs.chain import chain_of
from nmlgen.logs.record import Ran, ran_otherwise, records_of
from nmlgen.logs.rows import LogRun
from nmlgen.models.icon.logs.reader import read_logs
from nmlgen.values import evolve, frozen

_SUMS = {
    "total_s": "run time",
    "model_init_s": "timer model_init",
    "integrate_nh_s": "timer integrate_nh",
    "exch_data_s": "timer exch_data",
    "wrt_output_work_s": "timer wrt_output, workers",
    "wait_for_async_io_s": "timer wait_for_async_io, workers",
    "wrt_output_io_s": "timer wrt_output, I/O ranks",
    "write_restart_work_s": "timer write_restart, workers",
    "write_restart_procs_s": "timer write_restart, restart ranks",
    "write_restart_wait_procs_s": "timer write_restart_wait, restart ranks",
    "read_restart_files_s": "timer read_restart_files",
    "output_get_s": "getting output, all I/O ranks",
    "output_write_s": "writing output, all I/O ranks",
    "checkpoint_write_s": "writing checkpoints",
    "output_bytes": "output",
    "checkpoint_bytes": "checkpoints",
}
_RATES = {
    "getting output": ("output_received_bytes", "output_get_s"),
    "writing output": ("output_bytes", "output_write_s"),
    "writing checkpoints": ("checkpoint_bytes", "checkpoint_write_s"),
}
_SETTINGS = (
    "release",
    "nodes",
    "ntasks",
    "num_work_procs",
    "num_io_procs",
    "num_restart_procs",
    "num_prefetch_proc",
    "nproma",
    "n_cells",
    "num_lev",
    "dtime_s",
    "experiment_stop",
    "restart_write_mode",
    "checkpoint_interval",
    "stream_partitions_ml",
    "output_interval",
    "file_interval",
    "output_bytes_per_value",
)
_MEGABYTE = 1e6
_NAME = "{name}"
_MANIFEST, _MASTER = "nmlgen-manifest.json", "icon_master.namelist"


@frozen
class Measurement:
    """One number of both runs in its `unit`, None where a log does not say it.

    `difference` is the second over the first, minus one. `is_noise`: it is smaller than what repeated runs differ by,
    of itself, or, for a time, of the run time.
    """

    name: str
    unit: str
    old: float | None
    new: float | None
    difference: float | None
    is_noise: bool


@frozen(eq=False)
class RunComparison:
    """How two runs stand to each other.

    `old` and `new` are the legs of each that count, in the order of model time. `settings` are those that the logs say
    otherwise, with both values; `ran` what the records of their legs say was otherwise, such as another executable;
    `setup` is the comparison of the experiments, where both lie beside their logs. `remarks` say what could not be
    compared.
    """

    old: tuple[LogRun, ...]
    new: tuple[LogRun, ...]
    measurements: tuple[Measurement, ...]
    settings: tuple[tuple[str, Any, Any], ...]
    setup: Comparison | None
    remarks: tuple[str, ...] = ()
    ran: tuple[Ran, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether both came to their end, as fast as each other within the noise."""
        time = self.measurements[0]
        have_ended = self.old[-1].state == self.new[-1].state == "finished"
        return have_ended and time.difference is not None and time.is_noise


def compare_runs(old: str | Path, new: str | Path) -> RunComparison:
    """Compare two runs, each the path of a log of ICON, of the directory of a run with its logs, or of a build or point
    of a sweep in which it ran. The legs of a restart chain are added up; of a leg that was run again the last counts.

    Raises InputError if a path cannot be read or holds no log of ICON.
    """
    left, right = _chain(Path(old)), _chain(Path(new))
    setup, remarks = _setup(Path(old), Path(new))
    ran = ran_otherwise(records_of(Path(old)), records_of(Path(new)))
    return RunComparison(
        left, right, tuple(_measurements(left, right)), tuple(_settings(left, right)), setup, remarks, ran
    )


def _chain(path: Path) -> tuple[LogRun, ...]:
    chain = chain_of(read_logs(path).runs)
    if not chain:
        raise InputError(f"{path}: there is no run of ICON in it; expected a log with its first lines")
    return chain


def _measurements(old: tuple[LogRun, ...], new: tuple[LogRun, ...]) -> Iterator[Measurement]:
    """The run time first; those that neither side has are left out."""
    times = [total for total in (_sum(old, "total_s"), _sum(new, "total_s")) if total is not None]
    lost = NOISE * min(times, default=0.0)
    for column, name in _SUMS.items():
        is_time = column.endswith("_s")
        scale = 1.0 if is_time else 1 / _MEGABYTE
        pair = [None if (total := _sum(legs, column)) is None else scale * total for legs in (old, new)]
        if column == "total_s" or pair != [None, None]:
            yield _measurement(name, "s" if is_time else "MB", *pair, lost=lost if is_time else 0.0)
    for name, (amount, seconds) in _RATES.items():
        pair = [_rate(legs, amount, seconds) for legs in (old, new)]
        if pair != [None, None]:
            yield _measurement(name, "MB/s", *pair)


def _measurement(name: str, unit: str, old: float | None, new: float | None, *, lost: float = 0.0) -> Measurement:
    if old is None or new is None:
        return Measurement(name, unit, old, new, None, False)
    difference = new / old - 1 if old else None
    is_small = abs(new - old) <= max(NOISE * min(abs(old), abs(new)), lost if name != _SUMS["total_s"] else 0.0)
    return Measurement(name, unit, old, new, difference, is_small)


def _sum(legs: tuple[LogRun, ...], column: str) -> float | None:
    values = [getattr(leg, column) for leg in legs]
    return None if None in values else sum(values)


def _rate(legs: tuple[LogRun, ...], amount: str, seconds: str) -> float | None:
    total, time = _sum(legs, amount), _sum(legs, seconds)
    return total / time / _MEGABYTE if total is not None and time else None


def _settings(old: tuple[LogRun, ...], new: tuple[LogRun, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Those of the last leg that differ."""
    for column in _SETTINGS:
        before, after = getattr(old[-1], column), getattr(new[-1], column)
        if before != after:
            yield column, before, after


def _setup(old: Path, new: Path) -> tuple[Comparison | None, tuple[str, ...]]:
    """The comparison of the experiments beside two runs, or why there is none."""
    places = [_experiment_beside(path) for path in (old, new)]
    without = [str(path) for path, place in zip((old, new), places, strict=True) if place is None]
    if without:
        return None, (f"no build or {_MASTER} beside {' and '.join(without)}: set-ups compared by the logs only",)
    try:
        left, right = (load(place) for place in places if place is not None)
    except NmlgenError as error:
        return None, (f"set-ups compared by the logs only: {error}",)
    parts = tuple(part for part in PARTS if part in left.parts and part in right.parts)
    found = differences(_nameless(left.experiment), _nameless(right.experiment), parts)
    return Comparison(found, parts, tuple(dict.fromkeys((*left.remarks, *right.remarks)))), ()


def _nameless(experiment: Experiment) -> Experiment:
    """The experiment with a placeholder for its name wherever that is part of a value: points of a sweep differ in it,
    and the output streams of both belong together all the same."""
    name = experiment.name

    def plain(setting: Setting) -> Setting:
        if setting.certainty is Certainty.UNKNOWN:
            return setting
        value = setting.value
        if not isinstance(value, str) or name not in value:
            return setting
        return written(setting.name, value.replace(name, _NAME), setting.origin.layer, setting.span)

    def group(found: Group) -> Group:
        return evolve(found, settings={key: plain(value) for key, value in found.settings.items()})

    if not name:
        return experiment
    return evolve(
        experiment.mapped(group),
        name=_NAME,
        directives={key: plain(value) for key, value in experiment.directives.items()},
        run_directory=plain(experiment.run_directory),
    )


def _experiment_beside(path: Path) -> Path | None:
    """The directory with the build of a run: its own, or one above, as the job of a build runs in a directory below."""
    own = path if path.is_dir() else path.absolute().parent
    around = (own, own.absolute().parent)
    for file in (_MANIFEST, _MASTER):
        found = next((directory for directory in around if (directory / file).is_file()), None)
        if found is not None:
            return found
    return None
