"""What a model that is not ICON does with its tasks: which of them compute, and which write which file when."""

from __future__ import annotations

from collections.abc import Sequence

from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration
from nmlgen.values import define, frozen

MOST_TIMES = 100_000
"""More times of output nobody wants to see."""


class UnknownWorkloadError(Exception):
    """Who writes what is not known, or cannot be: the message says why."""


@define
class Tally:
    """How many times of output were found, in all streams together."""

    count: int = 0

    def add(self, times: int) -> None:
        """Count those of one more stream. Raises UnknownWorkloadError for too many of them all."""
        self.count += times
        if self.count > MOST_TIMES:
            raise UnknownWorkloadError(f"its streams together are written more than {MOST_TIMES} times")


@frozen
class Role:
    """What some of the tasks do."""

    what: str
    tasks: range


@frozen
class OutputFile:
    """A file of a run: what it holds, the times at which something is written to it, none where they are not known, and
    the tasks that write to it.

    With `ending` each of these tasks has a file of its own, whose name ends with the task's number in that form. `size`
    is how many bytes a time has in all of them, without compression; None where that is not known. `once` are those
    that do not hang on the times.
    """

    stream: str
    name: str
    times: tuple[str, ...]
    tasks: Sequence[int]
    ending: str = ""
    size: int | None = None
    once: int = 0

    @property
    def bytes(self) -> int | None:
        """How much it has in the end, in all files; None where that is not known."""
        return None if self.size is None or not self.times else self.size * len(self.times) + self.once

    @property
    def count(self) -> int:
        """How many files these are."""
        return len(self.tasks) if self.ending else 1

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all files that these are."""
        return tuple(f"{self.name}{self.ending.format(task)}" for task in self.tasks) if self.ending else (self.name,)


@frozen
class Workload:
    """The tasks of a job by what they do, its files in the order in which they are begun, and what is not known of
    them."""

    tasks: int
    roles: tuple[Role, ...]
    files: tuple[OutputFile, ...]
    unknown: tuple[str, ...] = ()


@frozen
class Clock:
    """The time of a run in seconds from its start: its step, and when it ends."""

    start: Instant
    end: float
    step: float

    def date(self, seconds: float) -> str:
        """A time as models write it: 2000-01-01_06:00:00."""
        return str(self.at(seconds)).removesuffix("Z").partition(".")[0].replace("T", "_")

    def at(self, seconds: float) -> Instant:
        """The instant so long after the start."""
        return Calendar.PROLEPTIC_GREGORIAN.add(self.start, Duration.of_seconds(seconds))

    def times(self, begin: float, interval: float, end: float) -> tuple[float, ...]:
        """The steps at which something is due that is due at `begin` and then each so many seconds, up to `end`.

        Raises UnknownWorkloadError for too many of them.
        """
        last = min(end, self.end)
        if (last - begin) / interval > MOST_TIMES:
            raise UnknownWorkloadError(f"it writes more than {MOST_TIMES} times")
        due = (begin + interval * number for number in range(int((last - begin) // interval) + 1))
        steps = dict.fromkeys(self._step_at(time) for time in due)
        return tuple(time for time in steps if time <= self.end)

    def _step_at(self, seconds: float) -> float:
        steps = -(-seconds // self.step)
        return steps * self.step
