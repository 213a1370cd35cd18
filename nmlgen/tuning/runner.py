"""Who runs the points: anything that starts them and says how they ended. On Slurm or PBS a sweep in a directory does.

There is no state beside the sweep's own: what was started stands in its table, how far it is in the points' records
and in the batch system, and how long it took in ICON's logs.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

from nmlgen import disk
from nmlgen.errors import InputError, WriteError
from nmlgen.logs.rows import LogRun
from nmlgen.models.icon.logs.reader import read_logs
from nmlgen.schedulers.arrays import JobId
from nmlgen.spec.spec import Spec
from nmlgen.sweep.directory import MANIFEST, TABLE, write_sweep
from nmlgen.sweep.point import Point
from nmlgen.sweep.records import elapsed_s
from nmlgen.sweep.status import PointState, PointStatus, status
from nmlgen.sweep.submission import submit
from nmlgen.values import evolve, field, frozen
from nmlgen.writing import opened_lock

LOCK = "nmlgen-tune.lock"

OutcomeState = Literal["planned", "waiting", "running", "done", "failed"]

_STATES: Mapping[PointState, OutcomeState] = {
    "not submitted": "planned",
    "waiting": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "lost": "failed",
    "cancelled": "failed",
}
"""Of points; one that is stale is refused."""

_TIMERS = {
    "wrt_output_worker_avg_s": "wrt_output_work_s",
    "wrt_output_io_avg_s": "wrt_output_io_s",
    "write_restart_worker_avg_s": "write_restart_work_s",
    "model_init_worker_avg_s": "model_init_s",
}
_SHORTEST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds


@frozen
class Outcome:
    """How far a point is. `planned` is to be started, `done` and `failed` are over.

    `total_s` is how long the model ran, with its `timers` as `nmlgen.advise.Run` has them; None unless it is done.
    `elapsed_s` is how long nodes were taken, None where that is not known. `started` and `ended` are instants that sort
    by time, empty where there was none yet. `reason` says why it waits or failed.
    """

    state: OutcomeState
    total_s: float | None = None
    timers: Mapping[str, float | None] = field(factory=dict)
    elapsed_s: float | None = None
    started: str = ""
    ended: str = ""
    job: JobId | None = None
    reason: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.state in ("done", "failed")


class Runner(Protocol):
    """Runs points."""

    def start(self, points: Sequence[Point]) -> None:
        """See to it that each of these runs, once, however often it is asked for: all so far, and new ones after."""

    def outcomes(self) -> Mapping[str, Outcome]:
        """How far each point is that was ever asked for, by its identifier, in the order of asking."""

    def wait(self) -> None:
        """Wait until something may have changed."""


class AsSweep:
    """Runs points as those of a sweep in a directory, on Slurm or PBS; `base` is the spec that they are made from.

    Raises InputError if the directory holds points of another spec.
    """

    def __init__(self, directory: Path, base: Spec) -> None:
        self._directory = directory
        self._pause = _SHORTEST_PAUSE
        self._read: dict[tuple[str, str], Outcome] = {}
        _check_origin(directory, base)

    def start(self, points: Sequence[Point]) -> None:
        """Add the new points to the sweep, and submit what is not submitted yet."""
        if write_sweep(points, self._directory).changed:
            self._pause = _SHORTEST_PAUSE
        submit(self._directory)

    def outcomes(self) -> Mapping[str, Outcome]:
        """What status and logs say. Raises InputError if the results of a point are of another build, as after nmlgen
        itself has changed: nothing more would happen to it."""
        if not (self._directory / TABLE).exists():
            return {}
        points = status(self._directory).points
        stale = next((point for point in points if point.state == "stale"), None)
        if stale is not None:
            again = f"nmlgen resubmit --stale {shlex.quote(str(self._directory))} lets it run anew"
            raise InputError(f"{self._directory / stale.directory}: {stale.reason}; {again}")
        return {point.id: self._outcome(point) for point in points}

    def wait(self) -> None:
        """Wait, longer every time: short runs are seen to end soon, and long ones trouble nobody."""
        time.sleep(self._pause)
        self._pause = min(_LONGEST_PAUSE, 1.5 * self._pause)

    def _outcome(self, point: PointStatus) -> Outcome:
        key = (point.id, point.ended)
        if key in self._read:
            return self._read[key]
        directory = self._directory / point.directory
        found = Outcome(
            _STATES[point.state],
            elapsed_s=elapsed_s(directory),
            started=point.started,
            ended=point.ended,
            job=point.job,
            reason=_reason(point),
        )
        if found.state == "done":
            found = self._read[key] = _measured(directory, found)
        return found


def _reason(point: PointStatus) -> str:
    code = f"exit code {point.exit_code}" if point.exit_code else ""
    word = point.state if point.state in ("lost", "cancelled") else ""
    return ", ".join(dict.fromkeys(filter(None, (word, code, point.reason))))


def _measured(directory: Path, outcome: Outcome) -> Outcome:
    """A job that ended well, with what ICON's logs say of it: it may have failed all the same."""
    try:
        runs = read_logs(directory).runs
    except InputError:
        return evolve(outcome, state="failed", reason=f"there is no log of ICON in {directory}")
    if runs and runs[-1].state in ("crashed", "truncated"):
        return evolve(outcome, state="failed", reason=f"ICON {runs[-1].state}: {runs[-1].reason or 'no reason given'}")
    legs = {(run.leg, run.run_start): run for run in runs if run.state in ("finished", "restarted")}
    totals = [run.total_s for run in legs.values()]
    if not totals or None in totals:
        return evolve(outcome, total_s=outcome.elapsed_s, reason="no timer `total`: by the job's own time")
    timers = {name: _sum(column, list(legs.values())) for name, column in _TIMERS.items()}
    return evolve(outcome, total_s=sum(filter(None, totals)), timers=timers)


def _sum(column: str, legs: Sequence[LogRun]) -> float | None:
    values = [getattr(leg, column) for leg in legs]
    return None if None in values else sum(values)


def _check_origin(directory: Path, base: Spec) -> None:
    """The sweep in a directory, if there is one, must have been made from this spec."""
    try:
        document = disk.parsed(disk.content(directory / MANIFEST))
        origin = [entry["sha256"] for entry in document["inputs"]], document["overrides"]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{directory / MANIFEST} cannot be read as nmlgen wrote it") from None
    if origin != ([document.sha256 for document in base.documents], list(base.overrides)):
        raise InputError(
            f"{directory} holds the tuning of another spec: this one, its presets or what --set says have changed "
            "since; choose another directory"
        )


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Be the only one who tunes in a directory, which is made if need be. Raises InputError if somebody else does."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if (directory / TABLE).exists() and not (directory / LOCK).exists():
            raise InputError(f"{directory} holds a sweep that `nmlgen tune` did not begin; choose another directory")
    except OSError as error:
        raise WriteError(f"{error.filename or directory}: {(error.strerror or str(error)).lower()}") from error
    descriptor = opened_lock(directory / LOCK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{directory}: another `nmlgen tune` is at work here") from None
        yield
    finally:
        os.close(descriptor)
