"""How output comes to its end: records that are never written, and what waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.output import windows
from nmlgen.models.icon.ranks import (
    MOST_PARTITIONS,
    OutputFile,
    PlacementError,
    level_types,
    partition_count,
    placement,
    split,
    writes_output,
)
from nmlgen.models.icon.rules.streams import stream_name
from nmlgen.models.icon.schedule import appended_date, dates_by_job, output_dates
from nmlgen.models.icon.windows import neighbours
from nmlgen.rules.rule import ComponentRule
from nmlgen.units.duration import Duration
from nmlgen.values import frozen

_ASYNCHRONOUS = 1  # pio_type: ICON's own I/O ranks
_MOST_JOBS = 2000
"""A bound on work: of a longer chain the first so many jobs are looked at."""
_MOST_PLACED = 20_000
"""The same of sequences of files in all these jobs, of which there are two at least."""


@frozen
class _InJob:
    """One sequence of files on an I/O rank in one job: whether it gets a record, and why one is never written."""

    file: OutputFile
    rank: int
    writes: bool
    reason: str


class RankWaitsForEver(ComponentRule):
    """The first I/O rank, done with its own files, waits for records of others that no job writes.

    ## What it does
    Goes through the jobs of the chain as ICON does. Finds one in which all files of the first I/O rank are finished,
    while a file of another rank has an output time that the job never comes to: the end of the experiment, which
    include_last appends to the times of every stream without partitions that is written in the job and whose output_end
    is not before it.

    ## Why it matters
    The job writes its checkpoint and then waits until its time limit: no message, no `finish.status`, no next job.

    ## Evidence
    ICON 2024.10: after its last record the first I/O rank waits for the records of all files
    (`mo_name_list_output.f90:2854-2873`), among them the one that `mo_output_event_handler.f90:794` has appended, and
    the other ranks wait for it (`:3678-3713`). Seen with the atmosphere, the ocean, waves and nests, in two restart
    modes: 40 runs hung or ended as this rule says.

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: P1D}
    parallel: {num_io_procs: 2}
    output:
      atm: {stream_partitions_ml: 1, include_last: false}
      sea: {output_interval: PT1H, file_interval: P1D, ml_varlist: [pres_sfc]}
    # ^^^
    ```
    ```yaml good
    restart: {restartTimeIntval: P1D}
    parallel: {num_io_procs: 2}
    output:
      atm: {stream_partitions_ml: 1, include_last: false}
      sea: {output_interval: PT1H, file_interval: P1D, ml_varlist: [pres_sfc], include_last: false}
    ```

    ## References
    ICON namelist overview, output_nml: include_last, output_end.
    """

    code = "OUT040"
    name = "rank-waits-for-ever"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if not writes_output(component) or component["parallel_nml", "pio_type"].value != _ASYNCHRONOUS:
            return
        if split(component).io < 2:
            return
        placed = _placed(component)
        if placed is None:
            return
        time = clock(component)
        ordered = [_Placed(component, file, rank, time) for file, rank in placed]
        for begin, end in _jobs(time, max(2, min(_MOST_JOBS, _MOST_PLACED // max(1, len(ordered))))):
            waited = _waited_for(ordered, begin, end)
            if waited is None:
                continue
            setting = waited.file.stream.settings.get("include_last")
            number = "" if time.legs < 2 else f" of job {time.leg_at(begin + 1)}"
            yield self.finding(
                setting if setting is not None and setting.history else waited.file.stream.span,
                f"I/O rank 0 waits for ever at the end{number}: {waited.reason} of the stream "
                f"{stream_name(waited.file.stream)}, on I/O rank {waited.rank}",
                "expected: include_last false, or output_end before the end of the experiment, or the files of this "
                "stream on I/O rank 0 (pe_placement)",
            )
            return


def _placed(component: Component) -> tuple[tuple[OutputFile, int], ...] | None:
    """Each output file with its I/O rank; None where ICON refuses that, which other rules say."""
    counts = [
        partition_count(component, stream, kind)
        for stream in component.streams
        for kind in level_types(component, stream)
    ]
    if max(counts, default=0) > MOST_PARTITIONS:
        return None
    try:
        return placement(component)
    except PlacementError:
        return None


def _jobs(time: Clock, most: int) -> Iterator[tuple[int, int]]:
    """The begin and the end of each job, so many at the most, in milliseconds from the start of the experiment."""
    for number in range(min(time.legs, most)):
        yield time.end_of(number), time.end_of(number + 1)


@frozen
class _Placed:
    """A sequence of output files on an I/O rank, whose output times are worked out once for all jobs."""

    component: Component
    file: OutputFile
    rank: int
    time: Clock

    @cached_property
    def dates(self) -> Callable[[int, int], tuple[Sequence[int], int | None]]:
        return dates_by_job(self.component, self.file, self.time)

    @cached_property
    def may_wait(self) -> bool:
        """Whether a record may never be written in some job: not where one interval makes all output times."""
        times, _ = self.dates(0, self.time.length)
        return not isinstance(times, range) or appended_date(self.component, self.file, self.time) is not None


def _waited_for(placed: Sequence[_Placed], begin: int, end: int) -> _InJob | None:
    """What the first I/O rank waits for in a job, after all of its own; None if it ends."""
    waiting = (_in_job(one, begin, end) for one in placed if one.rank > 0 and one.may_wait)
    waited = next((one for one in waiting if one.reason), None)
    if waited is None:
        return None
    own = [_in_job(one, begin, end) for one in placed if one.rank == 0]
    return waited if any(one.writes for one in own) and not any(one.reason for one in own) else None


def _in_job(placed: _Placed, begin: int, end: int) -> _InJob:
    file, rank, time = placed.file, placed.rank, placed.time
    regular, last = placed.dates(begin, end)
    is_first = begin == 0
    writes = bool(regular) and (is_first or regular[-1] > begin)
    reason = ""
    if last is not None and last > end:
        reason = f"the end of the experiment, {_length(last)} after its start, is an output time"
    elif last is not None and regular and _step(last, begin, time) == _step(regular[-1], begin, time):
        reason = "the end of the experiment falls into the step of the last output time"
    elif (twice := _twice_in_a_step(regular, begin, time)) is not None:
        reason = f"two output times fall into the step at {_length(twice)}"
    return _InJob(file, rank, writes, reason)


def _step(date: int, begin: int, time: Clock) -> int:
    """The model step of an output time: rounded down (`mo_output_event_control.f90:125-157`)."""
    return (date - begin) // time.step


def _twice_in_a_step(dates: Sequence[int], begin: int, time: Clock) -> int | None:
    """The second of two output times in one model step; None if each has its own. No interval is shorter than a
    step."""
    pairs = neighbours(dates)
    return next((two for one, two in pairs if _step(one, begin, time) == _step(two, begin, time)), None)


def _length(milliseconds: int) -> str:
    return str(Duration.of_seconds(milliseconds / 1000))


class TwoTimesInAStep(ComponentRule):
    """A stream whose next output time is of a step that is over never writes again.

    ## What it does
    Finds two output times of one stream, of different windows, that fall into the same model step.

    ## Why it matters
    ICON writes the first. The second becomes the next one when its step is over, and nothing behind it is ever written:
    the run ends with exit code 0 and OK.

    ## Evidence
    ICON 2024.10, `mo_output_event_handler.f90:1503`: the step of the next time has to be the present one. With steps of
    10 minutes and windows every 10 and, from the 15th minute on, every 30 minutes, two of nine records were written.

    ## Example
    ```yaml bad
    time: {modelTimeStep: PT10M}
    parallel: {num_io_procs: 1}
    output:
      atm:
        output_start: [2008-09-01T00:00:00Z, 2008-09-01T00:15:00Z]
        output_end: [2008-09-01T01:00:00Z, 2008-09-01T01:00:00Z]
        output_interval: [PT10M, PT30M]
    #                    ^
        stream_partitions_ml: 1
    ```
    ```yaml good
    time: {modelTimeStep: PT10M}
    parallel: {num_io_procs: 1}
    output:
      atm:
        output_start: [2008-09-01T00:00:00Z, 2008-09-01T00:20:00Z]
        output_end: [2008-09-01T01:00:00Z, 2008-09-01T01:00:00Z]
        output_interval: [PT10M, PT30M]
        stream_partitions_ml: 1
    ```

    ## References
    ICON namelist overview, output_nml: output_start, output_interval.
    """

    code = "OUT043"
    name = "two-times-in-a-step"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if not writes_output(component):
            return
        time, seen = clock(component), set[int]()  # streams of which it was said
        for file, _ in _placed(component) or ():
            stream = file.stream
            if id(stream) in seen or len(windows(component, stream, time)) < 2:
                continue
            second = _twice_in_a_step(output_dates(component, file, time), 0, time)
            if second is not None:
                seen.add(id(stream))
                bounds = component.stream_setting(stream, "output_bounds")
                yield self.finding(
                    bounds if bounds.is_written else component.stream_setting(stream, "output_interval"),
                    f"two output times of the stream {stream_name(stream)} fall into the model step at "
                    f"{_length(second // time.step * time.step)}: nothing is written after the first of them",
                    f"expected: output times that are multiples of the time step, {_length(time.step)}",
                )
