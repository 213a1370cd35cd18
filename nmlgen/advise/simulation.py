"""A job played through: who computes, who writes and who waits, for any number of streams and checkpoints.

What ICON 2024.10 does (`src/io/shared/mo_name_list_output.f90:3575-3630`, `src/io/restart/mo_async_restart.f90:118`):
at an output step the workers wait until every I/O rank that is due has finished what it got before, hand the data
over and go on; a rank writes the files that are due one after the other. Then comes a checkpoint: with restart ranks
in the same way, else the workers write it themselves. I/O ranks that write at the same time slow each other down,
which makes the play agree with the closed form for a single stream (see `docs/explanation.md`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import lcm

from nmlgen.advise.rates import Rates
from nmlgen.advise.workload import Checkpoint, Steps, Stream, Workload
from nmlgen.values import frozen

_SAME = 1e-9  # relative: what counts as the same state of the writers
MOST_PLAYED = 10_000  # writings of times in which the same streams write: what comes behind them is multiplied out
_LEAST_PLAYED = 200  # of one such time, of however many
_MOST_LOOKED_AT = 50_000  # times in which the same streams write, for each that writes: of more there are too many


@frozen
class Writing:
    """A rank writes what was due after a step: it got `bytes` at `start_s` and had written them at `end_s`; the
    workers had come to the step at `due_s`. Seconds count from the first step."""

    rank: int
    step: int
    bytes: float
    due_s: float
    start_s: float
    end_s: float


@frozen
class Writer:
    """A rank that writes: how long it wrote, how many bytes, and how long the workers waited for it in particular:
    of several ranks for that which was ready last."""

    busy_s: float
    bytes: float
    awaited_s: float


@frozen
class Simulation:
    """Where the time of a job goes, in seconds, from the first step until everything is written.

    The workers compute (`computing_s`), wait for writers (`waiting_s`), write themselves (`stopped_s`), and after the
    last step the job lasts until the last writer has finished (`closing_s`). `writings` is empty unless asked for.
    """

    computing_s: float
    waiting_s: float
    stopped_s: float
    closing_s: float
    io_ranks: tuple[Writer, ...]
    restart_ranks: tuple[Writer, ...]
    writings: tuple[Writing, ...] = ()
    restart_writings: tuple[Writing, ...] = ()

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.computing_s + self.waiting_s + self.stopped_s + self.closing_s


def simulate(workload: Workload, *, step_s: float, rates: Rates, record: bool = False) -> Simulation:
    """Plays a job through whose workers need `step_s` seconds for a model step; with `record` every writing is kept.

    Where the streams come back to the same state again and again, the rest is multiplied out; where they do not, but
    write more than 10 000 times, the rest is taken to go on as the last part did. With `record` everything is played.
    Records after the last step are left out. Raises ValueError if a rate is missing or `step_s` is negative.
    """
    if step_s < 0:
        raise ValueError(f"step_s is {step_s}; expected 0 or more")
    timetables = Counter(_timetables(workload))  # partitions have the same
    edges = {0, workload.n_steps + 1}
    for one in timetables:
        edges.update(edge for edge in (one.first, one.last + 1) if edge <= workload.n_steps)
    if len(edges) * len(timetables) > _MOST_LOOKED_AT:
        edges = {0, workload.n_steps + 1}
    most = max(_LEAST_PLAYED, MOST_PLAYED // (len(edges) - 1))
    play = _Play(workload, step_s, rates, record, most)
    played = 0  # until this step; what lies between two times in which all repeats itself is played at once
    for begin, end in pairwise(sorted(edges)):
        if not record and (period := _period(timetables, begin, end, most)):
            _play_all(play, timetables, played, begin, record)
            play.run_periodically(begin, end, period)
            played = end
    _play_all(play, timetables, played, workload.n_steps + 1, record)
    return play.finish()


def _play_all(play: _Play, timetables: Counter[_Timetable], begin: int, end: int, record: bool) -> None:
    """All that is due, in whatever order, or if that is too much, a part that stands for it."""
    count = 0 if record else _count(timetables, begin, end)
    if count > play.most:
        play.run_in_part(begin, end, max(1, (end - begin) * play.most // (2 * count)))
    else:
        play.run(begin, end)


@frozen
class _Timetable:
    """When something writes: at these steps from the `first` to the `last`, and after so many of the model the same
    rank gets the same bytes again; None where it does not."""

    steps: Steps
    first: int
    last: int
    period: int | None

    @classmethod
    def of(cls, steps: Steps, turns: int) -> _Timetable:
        """That of steps at which so many ranks take turns."""
        period = None
        if not isinstance(steps, tuple):
            records, distance = (1, steps.step) if isinstance(steps, range) else steps.rhythm
            period = lcm(records, turns) // records * distance
        return cls(steps, steps[0], steps[-1], period)

    def count(self, begin: int, end: int) -> int:
        """How often it writes from one step to before another."""
        return bisect_left(self.steps, end) - bisect_left(self.steps, begin)


def _timetables(workload: Workload) -> list[_Timetable]:
    """Those of everything that writes at all."""
    found = [(stream.steps, max(1, len(stream.ranks))) for stream in workload.streams]
    found += [(workload.checkpoint.steps, 1)] if workload.checkpoint else []
    return [_Timetable.of(steps, turns) for steps, turns in found if steps]


def _period(timetables: Counter[_Timetable], begin: int, end: int, most: int) -> int | None:
    """After how many steps the same ranks get the same bytes again; None where that never happens in this time, or so
    much is written until then that it is not played."""
    going_on = [one for one in timetables if one.first < end and one.last >= begin]
    period = 1
    for each in {one.period for one in going_on}:
        period = lcm(period, each or 0)
    if not going_on or not 0 < 3 * period <= end - begin:
        return None
    return period if 2 * _count(timetables, begin, begin + period) <= most else None


def _count(timetables: Counter[_Timetable], begin: int, end: int) -> int:
    """How often all together write from one step to before another."""
    return sum(times * one.count(begin, end) for one, times in timetables.items())


class _Pool:
    """Writers that share what the file system gives.

    All that write at a time write equally fast. So it is enough to count `_written`, the bytes of a writer that has
    been writing all the time; the bytes at which each of the others will have finished lie in a heap.
    """

    def __init__(self, count: int, bytes_per_s: float, contention: float, record: bool) -> None:
        self.time = 0.0
        self.busy_s, self.bytes, self.awaited_s = [0.0] * count, [0.0] * count, [0.0] * count
        self.writings: list[Writing] | None = [] if record else None
        self._speeds = [0.0] + [bytes_per_s / (1 + contention * others) for others in range(count)]
        self._written = 0.0
        self._ends: list[tuple[float, int]] = []
        self._current: dict[int, tuple[int, float, float, float]] = {}  # by rank: step, bytes, due and start

    def advance(self, time: float) -> None:
        """Writes on until that time."""
        while self._ends:
            speed = self._speeds[len(self._ends)]
            if self.time + (self._ends[0][0] - self._written) / speed > time:
                self._written += (time - self.time) * speed
                break
            self._finish_next()
        self.time = time

    def hand_over(self, step: int, due: dict[int, float], time: float) -> float:
        """Gives each rank that is due its bytes, as soon as all of them have finished; the time when that is."""
        self.advance(time)
        last = -1
        for rank in due:
            while rank in self._current:
                last = self._finish_next()
        if last >= 0:
            self.awaited_s[last] += self.time - time
        for rank, count in due.items():
            self._current[rank] = (step, count, time, self.time)
            self.bytes[rank] += count
            heappush(self._ends, (self._written + count, rank))
        return self.time

    def finish(self) -> float:
        """Writes everything; the time when that is done."""
        while self._ends:
            self._finish_next()
        return self.time

    def _finish_next(self) -> int:
        end, rank = self._ends[0]
        self.time += (end - self._written) / self._speeds[len(self._ends)]
        heappop(self._ends)
        self._written = end if self._ends else 0.0
        step, count, due, start = self._current.pop(rank)
        self.busy_s[rank] += self.time - start
        if self.writings is not None:
            self.writings.append(Writing(rank, step, count, due, start, self.time))
        return rank

    def unfinished(self) -> dict[int, float]:
        """The bytes that each rank has still to write; counts them anew from here, so that no rounding piles up."""
        self._ends = [(end - self._written, rank) for end, rank in self._ends]
        self._written = 0.0
        return {rank: left for left, rank in self._ends}

    def sums(self) -> tuple[list[float], ...]:
        """What has been added up so far, for ranks that are writing until now."""
        busy_s = self.busy_s[:]
        for rank, (_, _, _, start) in self._current.items():
            busy_s[rank] += self.time - start
        return busy_s, self.bytes[:], self.awaited_s[:]

    def repeat(self, since: tuple[list[float], ...], times: int, seconds: float) -> None:
        """Lets what has been added up since then, and took so long, happen so many times more."""
        for kept, now, before in zip((self.busy_s, self.bytes, self.awaited_s), self.sums(), since, strict=True):
            kept[:] = [value + times * (new - old) for value, new, old in zip(kept, now, before, strict=True)]
        self.time += times * seconds
        self._current = {
            rank: (step, count, due + times * seconds, start + times * seconds)
            for rank, (step, count, due, start) in self._current.items()
        }

    def writers(self) -> tuple[Writer, ...]:
        """Each rank's part."""
        return tuple(map(Writer, self.busy_s, self.bytes, self.awaited_s))


@frozen
class _State:
    """What the play looks like after a period: the sums, and what decides how it goes on."""

    time: float
    stopped_s: float
    sums: tuple[tuple[list[float], ...], ...]
    unfinished: tuple[dict[int, float], ...]

    def goes_on_as(self, other: _State, size: float) -> bool:
        """Whether the writers have as much to write as there, to a tiny fraction of this many bytes."""
        return all(
            now.keys() == then.keys() and all(abs(now[rank] - then[rank]) <= _SAME * size for rank in now)
            for now, then in zip(self.unfinished, other.unfinished, strict=True)
        )


@frozen
class _Due:
    """What is due so many steps after the beginning of a time: by I/O rank the bytes that it gets, the seconds that the
    workers write themselves, and a checkpoint."""

    after: int
    bytes: dict[int, float]
    gathering_s: float | None
    has_checkpoint: bool


class _Play:
    """A job on its way: the workers' time, and the two pools of writers beside them. Of a time in which the same
    streams write it plays about so many writings at the `most`."""

    def __init__(self, workload: Workload, step_s: float, rates: Rates, record: bool, most: int) -> None:
        self.most = most
        self._workload, self._step_s, self._rates = workload, step_s, rates
        self._step, self._time, self._stopped_s = 0, 0.0, 0.0
        self._written = 0  # how often something was due
        speed = rates.known("output_bytes_per_s") if any(stream.ranks for stream in workload.streams) else 0.0
        self._output = _Pool(workload.num_io_procs, speed, rates.output_contention, record)
        checkpoint, writers, speed = workload.checkpoint, 0, 0.0
        if checkpoint and checkpoint.is_beside:
            writers, speed = checkpoint.writers, rates.known("checkpoint_bytes_per_s")
        self._restart = _Pool(writers, speed, rates.checkpoint_contention, record)
        sizes = [written.bytes for written in (*workload.streams, checkpoint) if written]
        self._largest = max(sizes, default=0.0)

    def run(self, begin: int, end: int) -> None:
        """All that is due after the steps from `begin` to before `end`."""
        self._play(begin, self._agenda(begin, end))

    def run_periodically(self, begin: int, end: int, period: int) -> None:
        """The same, where all that is due repeats itself after a period."""
        agenda = self._agenda(begin, begin + period)
        self._multiply_out(begin, end, period, lambda start: self._play(start, agenda), self.most)

    def run_in_part(self, begin: int, end: int, part: int) -> None:
        """The same, where too much is due to play all of it: a part, after which the writers have come to their pace,
        and another one, as which all others are taken to be."""
        self._multiply_out(begin, end, part, lambda start: self.run(start, start + part), 0)

    def _multiply_out(self, begin: int, end: int, part: int, run: Callable[[int], None], most: int) -> None:
        """Runs two parts and more until one ends as it began, or the most has been written: so are all that come."""
        before: _State | None = None
        first = self._written
        while begin + part <= end:
            run(begin)
            begin += part
            times = (end - begin) // part
            if times < 1:
                continue
            state = self._state()
            is_enough = self._written - first >= most
            if before is not None and (is_enough or state.goes_on_as(before, self._largest)):
                self._repeat(before, times, part)
                begin, before = begin + times * part, None
            else:
                before = state
        self.run(begin, end)

    def finish(self) -> Simulation:
        """The rest of the steps, and what is not written yet."""
        steps = self._workload.n_steps
        end = self._time + (steps - self._step) * self._step_s
        self._output.advance(end)
        self._restart.advance(end)
        computing = steps * self._step_s
        return Simulation(
            computing_s=computing,
            waiting_s=sum(self._output.awaited_s) + sum(self._restart.awaited_s),
            stopped_s=self._stopped_s,
            closing_s=max(self._output.finish(), self._restart.finish()) - end,
            io_ranks=self._output.writers(),
            restart_ranks=self._restart.writers(),
            writings=tuple(self._output.writings or ()),
            restart_writings=tuple(self._restart.writings or ()),
        )

    def _play(self, begin: int, agenda: Sequence[_Due]) -> None:
        for due in agenda:
            step = begin + due.after
            self._time += (step - self._step) * self._step_s
            self._step = step
            if due.bytes:
                self._written += len(due.bytes)
                self._time = self._output.hand_over(step, due.bytes, self._time)
            if due.gathering_s is not None:
                self._written += 1
                self._stop(due.gathering_s)
            if due.has_checkpoint and self._workload.checkpoint:
                self._written += 1
                self._write_checkpoint(self._workload.checkpoint)

    def _agenda(self, begin: int, end: int) -> list[_Due]:
        """What is due after the steps from `begin` to before `end`, in order."""
        due: dict[int, dict[int, float]] = {}
        gathered: dict[int, float] = {}
        for stream in self._workload.streams:
            first, steps = _within(stream, begin, end)
            if stream.ranks:
                turns = len(stream.ranks)
                for number, step in enumerate(steps, first):
                    ranks = due.setdefault(step, {})
                    rank = stream.ranks[number % turns]
                    ranks[rank] = ranks.get(rank, 0.0) + stream.bytes
            else:
                seconds = self._rates.gathering_s(stream.bytes)
                for step in steps:
                    gathered[step] = gathered.get(step, 0.0) + seconds
        checkpoint = self._workload.checkpoint
        checkpoints = set(_within(checkpoint, begin, end)[1]) if checkpoint else set()
        return [
            _Due(step - begin, due.get(step, {}), gathered.get(step), step in checkpoints)
            for step in sorted({*due, *gathered, *checkpoints})
        ]

    def _write_checkpoint(self, checkpoint: Checkpoint) -> None:
        if checkpoint.is_beside:
            due = dict.fromkeys(range(checkpoint.writers), checkpoint.bytes / checkpoint.writers)
            self._time = self._restart.hand_over(self._step, due, self._time)
        else:
            self._stop(self._rates.checkpointing_s(checkpoint.bytes))

    def _stop(self, seconds: float) -> None:
        self._time += seconds
        self._stopped_s += seconds

    def _state(self) -> _State:
        pools = (self._output, self._restart)
        for pool in pools:
            pool.advance(self._time)
        return _State(
            self._time,
            self._stopped_s,
            tuple(pool.sums() for pool in pools),
            tuple(pool.unfinished() for pool in pools),
        )

    def _repeat(self, since: _State, times: int, period: int) -> None:
        seconds = self._time - since.time
        for pool, sums in zip((self._output, self._restart), since.sums, strict=True):
            pool.repeat(sums, times, seconds)
        self._stopped_s += times * (self._stopped_s - since.stopped_s)
        self._time += times * seconds
        self._step += times * period


def _within(written: Stream | Checkpoint, begin: int, end: int) -> tuple[int, Steps]:
    """The steps from `begin` to before `end`, and which number the first of them has."""
    first = bisect_left(written.steps, begin)
    return first, written.steps[first : bisect_left(written.steps, end)]
