"""Job arrays: what is handed to a batch system, and what it tells of their tasks, in words that all of them share.

The states of tasks are called as Slurm calls them, whatever the batch system: PENDING, RUNNING, COMPLETED, FAILED,
CANCELLED, TIMEOUT, NODE_FAIL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from nmlgen.errors import SchedulerError
from nmlgen.source import Source
from nmlgen.values import frozen

JobId = int | str
"""What a batch system calls a job: a number, or a text such as 123[].server."""


def age(job: JobId) -> int:
    """A number that is the smaller, the earlier a job was submitted."""
    found = re.match(r"[0-9]{1,18}", str(job))
    return int(found[0]) if found else 0


def is_id(job: JobId) -> bool:
    """Whether this is what a batch system calls a job, and not the number of none."""
    return isinstance(job, str) or job > 0


WAITING = frozenset({"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"})
"""The states of a task that is to start, the first time or again."""

RUNNING = frozenset(
    {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED"}
)
"""The states of a task that has nodes."""

ENDED = "ENDED"
"""The state of a task that has ended, where nobody tells how, or whether it had begun."""

NO_INDEX = -1
"""In the place of a task's index: an array that was cancelled before any of its tasks had started has none left."""


class RefusedError(SchedulerError):
    """The batch system does not take an array."""


class LimitError(RefusedError):
    """The batch system takes no more jobs for now: a limit on submitted jobs is reached."""


@frozen
class Limits:
    """How many tasks an array may have, and whether users see each other's jobs."""

    array_size: int
    is_private: bool


@frozen
class Mail:
    """To whom the batch system writes: when a job has failed, and if `at_end` also when it is over."""

    address: str
    at_end: bool


@frozen
class Task:
    """One task of a job array as the batch system knows it.

    `array` is the id of the whole array, `job` that of the task alone. `state` is a word such as RUNNING or NODE_FAIL,
    and `reason` what the batch system says beside it.
    """

    name: str
    array: JobId
    index: int
    job: JobId
    state: str
    nodes: str = ""
    reason: str = ""

    @property
    def is_waiting(self) -> bool:
        """Whether it is to start."""
        return self.state in WAITING

    @property
    def is_active(self) -> bool:
        """Whether it is to start, or has nodes."""
        return self.state in WAITING or self.state in RUNNING


@frozen
class Order:
    """An array that is to be submitted: `tasks` tasks, of which `at_once` run at a time, None where all may.

    The `script` lies in a directory of its own, below which the links points/0, points/1 ... lead to the points; it is
    the `leg` of a chain, and each task runs `pack` points. Its tasks begin when the arrays `after` are over, however
    they ended, and when those of the array `follows`, the leg before, are; `dependency` is what the points wait for by
    themselves. `arguments` are for the scripts of the points.
    """

    script: Path
    name: str
    tasks: int
    leg: int = 1
    at_once: int | None = None
    pack: int = 1
    arguments: tuple[str, ...] = ()
    after: tuple[JobId, ...] = ()
    follows: JobId | None = None
    dependency: str | None = None
    mail: Mail | None = None


class JobScript(Protocol):
    """What the batch script of a point asks for."""

    @property
    def directives(self) -> tuple[str, ...]:
        """What an array with this point asks for, as the text after the prefix. Points that ask for the same share an
        array."""

    @property
    def dependency(self) -> str | None:
        """What the point waits for by itself, as the batch system says it."""

    @property
    def is_restarted(self) -> bool:
        """Whether the batch system may run the point again by itself where its node fails."""

    @property
    def size(self) -> Mapping[str, int]:
        """How many `nodes` and `ntasks` it asks for, as far as it says so."""

    @property
    def limit_s(self) -> float | None:
        """The time limit of a job in seconds, None where it says none."""

    def packed(self, pack: int) -> tuple[str, ...]:
        """What an array asks for whose tasks run so many points side by side, each on nodes of its own. Raises
        InputError for a point that cannot be packed."""

    def blamed(self, refusal: str) -> str | None:
        """The place of the directive that a refusal speaks of, as PATH:LINE: DIRECTIVE, if that can be told."""


class Arrays(Protocol):
    """How a batch system runs job arrays."""

    in_job: Mapping[str, str]
    """What the script of an array says, in shell: `task`, `array`, `job`, `name` and `node` are words for these facts,
    `restarts` one for how often the job was started again, `leg` one for the leg, `key` one that tells the job from
    others in a file's name. `usage` says how the script is submitted; `begin`, if there, is what it does first, and
    `log` the name of the file in the point's directory to which it writes, where the batch system sees to none."""
    takes_arguments: bool
    """Whether the script of an array gets arguments: the leg, and those of the points' scripts."""
    shares_slots: bool
    """Whether `share_slots` does anything: arrays of a throttled sweep get the slots that others do not need."""

    def read_script(self, path: Path, source: Source) -> JobScript:
        """What the batch script of a point asks for. Raises InputError if it would be refused."""

    def check_place(self, sweep: Path) -> None:
        """Raises InputError for a directory in which no job can write its log."""

    def limits(self) -> Limits:
        """The limits of the cluster."""

    def submit(self, order: Order, lock: int) -> tuple[JobId, str]:
        """Submit an array; returns its id, and what was said beside it.

        The program that submits inherits the descriptor `lock`: whoever waits for that lock waits for it, too, even if
        this process dies. Raises RefusedError if the array is not taken, LimitError if no more are for now, and
        SchedulerError if nobody can know whether it was.
        """

    def trial(self, script: str, tasks: int, at_once: int | None) -> str:
        """What would be done with an array, "" where the batch system does not tell; raises as `submit` does."""

    def queue(self, arrays: Mapping[str, JobId | None]) -> Sequence[Task]:
        """The tasks that are known of the arrays of these names, with their ids, None where one is not known; some of
        those that have ended included. Raises SchedulerError where that cannot be asked or understood."""

    def accounting(self, arrays: Mapping[str, JobId | None]) -> Sequence[Task]:
        """The same from what does not forget; nothing where there is no such thing. Raises SchedulerError where there
        is, and does not answer."""

    def cancel(self, tasks: Iterable[Task]) -> None:
        """Cancel tasks; those that have ended meanwhile are no error."""

    def share_slots(self, script: Path) -> None:
        """Let the arrays of a throttled sweep have the slots that others do not need."""
