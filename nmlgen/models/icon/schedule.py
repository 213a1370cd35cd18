"""In which order a job writes: at which model time which I/O rank adds a record to which file.

Sources: ICON 2024.10 `src/io/shared/mo_name_list_output.f90:683-850` (at a step, each I/O rank serves its files in
the order of their numbers), `mo_name_list_output_init.f90:1283-1470` (numbers and ranks),
`mo_output_event_control.f90:149-355` (steps, ends of files, names), and the schedules that the model printed.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain, islice, pairwise, takewhile
from typing import Any

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list, integer
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.models.icon.clock import Clock, is_number, length_from, milliseconds
from nmlgen.models.icon.output import Window, times_in_force, windows
from nmlgen.models.icon.ranks import (
    MOST_IO_RANKS,
    MOST_PARTITIONS,
    OutputFile,
    PlacementError,
    level_types,
    partition_count,
    placement,
    split,
)
from nmlgen.models.icon.windows import in_turn, number_before
from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration
from nmlgen.values import field, frozen

_GRIB2 = 2
_EXTENSIONS = {_GRIB2: ".grb", 4: ".nc", 5: ".nc"}
MOST_DATES = 500_000
"""A bound on work: the output times that are gone through one by one, hourly output of 57 years."""
_MOST_LISTED = 50_000
"""The same of those of one sequence of files that are kept one by one, monthly output of 4166 years."""
_MOST_LISTED_OF_ALL = 2_000_000
"""The same of those of all models together, of which the partitions of a stream have each their own."""
_MOST_FILES = 100_000
"""A bound on work: the files of months, or of several windows, of all streams that are gone through one by one."""
_MANY = 1_000  # files without a record, each some months long, that are passed over at once
_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000


@frozen
class Write:
    """One record that an I/O rank adds to a file.

    `time` is the model time of the step, `date` the time asked for, both in milliseconds from the start of the
    experiment; `number` counts the files of one sequence and `record` the records of a file, from 1; `name` is
    the file's; `rank` counts from 0 within the I/O ranks.
    """

    time: int
    date: int
    rank: int
    file: OutputFile
    number: int
    record: int
    name: str


def writes(component: Component, clock: Clock) -> Iterator[Write]:
    """All that the first job writes, in ICON's order: by step, at a step by I/O rank, on a rank by the file's number.

    The ranks write at the same time; among them the order says which is named first in ICON's own schedule.
    Raises UndecidedError for settings that nobody can know, PlacementError where ICON refuses the placement.
    """
    sequences = (
        _keyed(number, sequence(component, file, rank, clock))
        for number, (file, rank) in enumerate(placement(component))
    )
    for *_, write in heapq.merge(*sequences):  # no two sequences have the same number: writes are not compared
        yield write


def first_writes(component: Component, clock: Clock, times: int) -> tuple[tuple[Write, ...], int | None]:
    """What the first job writes at its first so many output times, and how many output times it has in all: None where
    several sequences of files have too many to count those that they share.

    Errors as `writes`.
    """
    every = list(dict.fromkeys(_first_job(component, file, clock) for file, _ in placement(component)))
    step = clock.step
    firsts = {date // step * step for dates in every for date in islice(chain(*dates), times + 1)}
    shown = set(sorted(firsts)[:times])
    count: int | None = None
    if sum(len(regular) + len(last) for regular, last in every) <= MOST_DATES:
        count = len({date // step for dates in every for date in chain(*dates)})
    elif len(every) == 1:  # each regular one has a step of its own
        regular, last = every[0]
        count = len(regular) + sum(date // step != regular[-1] // step for date in last)
    return tuple(takewhile(lambda write: write.time in shown, writes(component, clock))), count


@frozen
class Duty:
    """One sequence of output files on an I/O rank: how many records and files it gets in the first job, the most
    records of one file, and the output time of the first record, None without any. `number` is that of the first file,
    and `opened` the time that it is named by, where behind a branch that is not the first record's."""

    file: OutputFile
    records: int
    files: int
    largest: int
    first: int | None
    names: Names = field(eq=False, repr=False)
    number: int = 1
    opened: int | None = None

    @property
    def first_name(self) -> str | None:
        """The name of the first file; None without any."""
        if self.first is None:
            return None
        return self.names.of(self.number, self.first if self.opened is None else self.opened)


def duties(component: Component, clock: Clock) -> tuple[tuple[Duty, ...], ...]:
    """For each I/O rank what it writes, in the order in which it writes at an output time.

    Without I/O ranks there is one entry, for the first work rank. Errors as `writes`.
    """
    ranks = split(component).io
    if ranks > MOST_IO_RANKS:
        raise PlacementError(f"it has room for {MOST_IO_RANKS} I/O ranks, there are {ranks}")
    found: list[list[Duty]] = [[] for _ in range(max(1, ranks))]
    for file, rank in placement(component):
        regular, last = _first_job(component, file, clock)
        if not regular:
            found[rank].append(Duty(file, 0, 0, 0, None, Names(component, file, clock)))
            continue
        if clock.branch is not None:
            found[rank].append(_duty_behind_branch(component, file, clock))
            continue
        files, largest = FileEnds(component, file, clock, regular[0]).files(regular, last[0] if last else None)
        names = _names_of_first_job(component, file, clock)
        found[rank].append(Duty(file, len(regular) + len(last), files, largest, regular[0], names))
    return tuple(tuple(row) for row in found)


def _duty_behind_branch(component: Component, file: OutputFile, clock: Clock) -> Duty:
    """The duty of a first job whose first file another experiment may have begun; it writes something."""
    _, last = _first_job(component, file, clock)
    planned, behind = _planned(component, file, clock)[0], len(_passed_at_branch(component, file, clock))
    begun = planned[number_before(planned, clock.begin) : number_before(planned, clock.end_of(1) + 1)]
    ends = FileEnds(component, file, clock, begun[0])
    files, held, most = ends.with_the_first(begun, last[0] if last else None)
    number, own = number_at_branch(component, file, clock), max(0, held - behind)  # what is written into the first file
    records, names = len(begun) + len(last) - min(behind, held), _names_of_first_job(component, file, clock)
    begins = in_turn(begun, last)[behind if own else held]
    opened = begun[0] if own and behind else None
    return Duty(file, records, files - (not own), max(own, most), begins, names, number + (not own), opened)


def _keyed(number: int, sequence: Iterator[Write]) -> Iterator[tuple[int, int, int, Write]]:
    return ((write.time, write.rank, number, write) for write in sequence)


def sequence(component: Component, file: OutputFile, rank: int, clock: Clock) -> Iterator[Write]:
    """What the first job writes into one sequence of files, in order; errors as `writes`."""
    regular, last = _first_job(component, file, clock)
    if not regular:
        return
    passed = _passed_at_branch(component, file, clock)  # the records that its first file has already
    dates = in_turn(passed, regular, last)
    name, behind = _names_of_first_job(component, file, clock), len(passed)
    files = FileEnds(component, file, clock, dates[0]).of_each(dates)
    for number, held in enumerate(files, start=number_at_branch(component, file, clock)):
        for record, date in enumerate(held[behind:], start=behind + 1):
            time = date // clock.step * clock.step
            yield Write(time, date, rank, file, number, record, name.of(number, held[0]))
        behind = 0


def _names_of_first_job(component: Component, file: OutputFile, clock: Clock) -> Names:
    return Names(component, file, clock, skipped_dates(component, file, clock, clock.begin, clock.end_of(1)))


def output_dates(component: Component, file: OutputFile, clock: Clock) -> Sequence[int]:
    """The output times of one sequence of files in the first job, in milliseconds from the start of the experiment.

    Several windows are merged, a time that two of them name counts once. Errors as `writes`; an interval shorter than
    a model step, at which ICON stops, counts as unknown.
    """
    return _together(component, file, *_first_job(component, file, clock))


def all_dates(component: Component, file: OutputFile, clock: Clock) -> Sequence[int]:
    """The output times of one sequence of files in the whole experiment, were it one job from the start on, whatever
    another experiment has computed of it. Errors as `writes`."""
    regular, last = _planned(component, file, clock)
    return _together(component, file, regular, () if last is None else (last,))


def _first_job(component: Component, file: OutputFile, clock: Clock) -> tuple[Sequence[int], tuple[int, ...]]:
    """The regular output times of the first job, and the one that include_last adds, if it falls into it."""
    regular, last = _whole_experiment(component, file, clock)
    end = clock.end_of(1)
    found = regular[: number_before(regular, end + 1)]
    return found, (last,) if last is not None and last <= end else ()


def _together(component: Component, file: OutputFile, regular: Sequence[int], last: tuple[int, ...]) -> Sequence[int]:
    """All output times. Raises UndecidedError for too many."""
    if not last:
        return regular
    if len(regular) > MOST_DATES:
        raise _too_many(component, file.stream, MOST_DATES)
    return in_turn(regular, last)


def _listed(component: Component, stream: Group, found: Sequence[int | None]) -> tuple[int, ...]:
    """Output times that the calendar makes, without those that are none. Raises UndecidedError for too many."""
    if len(found) > (most := _most_listed(component)):
        raise _too_many(component, stream, most)
    return tuple(date for date in found if date is not None)


def _too_many(component: Component, stream: Group, most: int) -> UndecidedError:
    setting = component.stream_setting(stream, "output_interval")
    return UndecidedError(setting, f"{setting.name} makes more than {most} output times")


def dates_by_job(
    component: Component, file: OutputFile, clock: Clock
) -> Callable[[int, int], tuple[Sequence[int], int | None]]:
    """What gives, for the begin and the end of a job, its output times of a sequence of files, and the one that
    include_last appends.

    ICON appends the end of the experiment (of a nest, its end_time) to those of every job that has one, whether or not
    the job comes so far (ICON 2024.10, `mo_output_event_handler.f90:500-870`). Errors as `output_dates`.
    """
    regular, _ = _planned(component, file, clock)
    last = appended_date(component, file, clock)

    def of_job(begin: int, end: int) -> tuple[Sequence[int], int | None]:
        found = regular[number_before(regular, begin) : number_before(regular, end + 1)]
        return found, last if last is not None and found and found[-1] < last else None

    return of_job


def appended_date(component: Component, file: OutputFile, clock: Clock) -> int | None:
    """The date that include_last appends to the output times of every job that has earlier ones; None for none.

    Errors as `output_dates`.
    """
    _, last = active_times(component, file.domain, clock)
    stops = windows(component, file.stream, clock)[-1].stop
    return last if _includes_last(component, file) and last <= stops else None


@remembered
def active_times(component: Component, domain: int, clock: Clock) -> tuple[int, int]:
    """From when to when a domain is computed and has output times, in milliseconds from the start of the experiment; a
    nest that ends before it begins never is. The first domain has no times of its own."""
    begin, end = (_of_domain(component["grid_nml", name], domain) for name in ("start_time", "end_time"))
    begin, end = max(0, begin or 0), clock.length if end is None else min(clock.length, end)
    return begin, end - (domain > 1 and end == begin)


def _of_domain(setting: Setting, domain: int) -> int | None:
    """The milliseconds that somebody wrote for a nest, None where nobody did."""
    found = as_list(setting.value) if domain > 1 and setting.is_written else []
    is_said = len(found) >= domain and is_number(found[domain - 1])
    return milliseconds(found[domain - 1]) if is_said else None


def skipped_dates(component: Component, file: OutputFile, clock: Clock, begin: int, end: int) -> int:
    """How many output times of a job come before its domain is active: with partitions ICON counts them among those by
    which it numbers the files (ICON 2024.10, `mo_output_event_control.f90:327`). Errors as `output_dates`."""
    starts, _ = active_times(component, file.domain, clock)
    if file.partitions == 1 or starts <= begin:
        return 0
    regular, _ = _regular(component, file.stream, file.partition, file.partitions, clock)
    return number_before(regular, min(starts, end + 1)) - number_before(regular, begin)


def output_steps(
    component: Component, stream: Group, clock: Clock, level_type: str | None = None, domain: int = 1
) -> int:
    """How often a stream writes one level type, its first unless said, of a domain in the whole experiment: all
    partitions together. Errors as `output_dates`."""
    level_type = level_type or next(iter(level_types(component, stream)), "ml")
    partitions = partition_count(component, stream, level_type)
    if partitions > MOST_PARTITIONS:  # counted as if all windows were apart, and a nest always there
        return sum(len(_dates(window, clock.length)) for window in windows(component, stream, clock))
    count = 0
    for partition in range(1, partitions + 1):
        file = OutputFile(stream, level_type, domain, partition, partitions)
        regular, last = _whole_experiment(component, file, clock)
        count += len(regular) + (last is not None)
    return count


def files_of_a_sequence(component: Component, stream: Group, level_type: str, clock: Clock, partition: int = 1) -> int:
    """How many files one partition of a stream, the first unless said, writes of the first domain in the whole
    experiment.

    No partition writes more than the first. Errors as `output_dates`.
    """
    return _files(component, stream, level_type, clock, partition)[0]


def largest_file(component: Component, stream: Group, level_type: str, clock: Clock) -> int:
    """The most records that one file of a stream's level type gets in the whole experiment. Errors as
    `output_dates`."""
    return _files(component, stream, level_type, clock, 1)[1]


def _files(component: Component, stream: Group, level_type: str, clock: Clock, partition: int) -> tuple[int, int]:
    """The files of one partition in the whole experiment, and the most records that one of them gets."""
    partitions = partition_count(component, stream, level_type)
    if partitions < 1:
        return 0, 0
    file = OutputFile(stream, level_type, 1, partition, partitions)
    regular, last = _whole_experiment(component, file, clock)
    ends = FileEnds(component, file, clock, regular[0] if regular else 0)
    return ends.files(regular, last) if regular else (0, 0)


def _whole_experiment(component: Component, file: OutputFile, clock: Clock) -> tuple[Sequence[int], int | None]:
    """What is written of `_planned`: behind a branch all but what is due at its own step, which ICON does not write
    again."""
    regular, last = _planned(component, file, clock)
    if clock.branch is None:
        return regular, last
    return regular[number_before(regular, _behind_branch(clock)) :], last


def _behind_branch(clock: Clock) -> int:
    """From when on output is written: that of the step of a branch was written by the job that wrote the checkpoint."""
    return (clock.begin // clock.step + 1) * clock.step


def _passed_at_branch(component: Component, file: OutputFile, clock: Clock) -> Sequence[int]:
    """What is due at the step of a branch: it counts for the first file, without being written."""
    if clock.branch is None:
        return ()
    regular, _ = _planned(component, file, clock)
    return regular[number_before(regular, clock.begin) : number_before(regular, _behind_branch(clock))]


_FORGETFUL = ("ocean", "hamocc")


def keeps_number(component: Component) -> bool:
    """Whether a component's checkpoints hold the numbers of the files that it is at; the ocean's do not."""
    return component.kind not in _FORGETFUL


def number_at_branch(component: Component, file: OutputFile, clock: Clock) -> int:
    """The number of the file that the first job begins with: 1, behind a branch the one that the checkpoint holds if
    the other experiment has had the same output from the same start on. Errors as `writes`."""
    regular = _planned(component, file, clock)[0] if clock.begin and keeps_number(component) else ()
    if not regular:
        return 1
    reached = regular[: number_before(regular, clock.begin) + 1]
    return FileEnds(component, file, clock, regular[0]).files(reached, None)[0]


@remembered
def _planned(component: Component, file: OutputFile, clock: Clock) -> tuple[Sequence[int], int | None]:
    """The regular output times of a sequence of files, ascending, while its domain is active; and the end of the
    experiment, or of a nest, where include_last adds it (`mo_output_event_handler.f90:623-790`). Those of one window of
    equal intervals are a range, however many there are."""
    regular, stop = _regular(component, file.stream, file.partition, file.partitions, clock)
    begin, end = active_times(component, file.domain, clock)
    regular = regular[number_before(regular, begin) : number_before(regular, end + 1)]
    is_added = _includes_last(component, file) and regular and regular[-1] < end <= stop
    return regular, end if is_added else None


@remembered
def _regular(
    component: Component, stream: Group, partition: int, partitions: int, clock: Clock
) -> tuple[Sequence[int], int]:
    """The output times that the stream asks for in the whole experiment, of one partition in each domain and of each
    level type, and when the last of its windows stops."""
    plain = windows(component, stream, clock)
    calendar_steps = _calendar_steps(component, stream, partitions, len(plain))
    found: list[Sequence[int]] = []
    for window, months in zip(plain, calendar_steps, strict=True):
        if window.interval < clock.step and window.steps(clock.length) > 1:
            raise UndecidedError(component.stream_setting(stream, "output_interval"))
        found.append(
            _listed(component, stream, _dates_by_calendar(clock, window, months, _most_listed(component)))
            if months
            else _dates(window.partition(partition, partitions), clock.length)
        )
    return found[0] if len(found) == 1 else _merged(component, stream, found), plain[-1].stop


def _merged(component: Component, stream: Group, found: list[Sequence[int]]) -> Sequence[int]:
    """The output times of several windows, which mostly lie one behind the other; others are listed. Raises
    UndecidedError for too many."""
    some = tuple(dates for dates in found if dates)
    if len(some) > 1 and sum(map(len, some)) > MOST_DATES:
        raise _too_many(component, stream, MOST_DATES)
    if all(before[-1] < after[0] for before, after in pairwise(some)):
        return in_turn(*some)
    if sum(map(len, some)) > (most := _most_listed(component)):
        raise _too_many(component, stream, most)
    return tuple(sorted(set().union(*some)))


@remembered
def _most_listed(component: Component) -> int:
    """How many output times of one sequence may be kept one by one."""
    sequences = 0
    for one in component.experiment.components:
        for stream in one.streams:
            with suppress(UndecidedError):
                counts = {partition_count(one, stream, level_type) for level_type in level_types(one, stream)}
                sequences += sum(max(1, count) for count in counts)
    return min(_MOST_LISTED, _MOST_LISTED_OF_ALL // max(1, sequences))


def _includes_last(component: Component, file: OutputFile) -> bool:
    return file.partitions == 1 and component.stream_setting(file.stream, "include_last").value is True


def _dates(window: Window, length: int) -> range:
    ends = window.ends(length)
    return range(ends[0], ends[1] + 1, window.interval) if ends else range(0)


def _calendar_steps(component: Component, stream: Group, partitions: int, count: int) -> list[Duration | None]:
    """The interval of each window that steps by months; partitions step by its length, fixed at the start
    (`mo_name_list_output_init.f90:1169`)."""
    if partitions > 1 or component.stream_setting(stream, "output_bounds").is_written:
        return [None] * count
    texts = times_in_force(component, stream, "output_interval")
    durations = [Duration.parse(str(text).rstrip()) for text in texts]
    return [None if duration.is_fixed else duration for duration in durations]


@lru_cache(maxsize=8)  # models and releases, for which all is worked out anew, have the same streams
def _dates_by_calendar(clock: Clock, window: Window, interval: Duration, most: int) -> tuple[int | None, ...]:
    """The output times of a window that steps by months, one more than are listed at the most; None for each that does
    not count."""
    return tuple(islice(_each_by_calendar(clock, window, interval), most + 1))


def _each_by_calendar(clock: Clock, window: Window, interval: Duration) -> Iterator[int | None]:
    if window.interval <= 0:
        return
    calendar, origin, last = clock.calendar, clock.calendar.position(clock.start), min(window.stop, clock.length)
    is_excluded = window.excludes_start
    for position in calendar.every(calendar.add(clock.start, Duration(0, window.start)), interval):
        date = position - origin
        if date > last:
            return
        yield None if date < 0 or is_excluded else date
        is_excluded = False


class FileEnds:
    """Where the files of a sequence end: by file_interval, else by the number of records."""

    def __init__(self, component: Component, file: OutputFile, clock: Clock, first: int) -> None:
        setting = self._setting = component.stream_setting(file.stream, "file_interval")
        self._most = _MOST_FILES // max(1, len(component.streams))
        self._clock = clock
        self._months: Duration | None = None
        self._interval = max(0, length_from(clock.calendar, clock.start, setting) or 0)
        self._end = first
        if self._interval:
            duration = Duration.parse(str(setting.value).rstrip())
            self._months = None if duration.is_fixed else duration
            self._size = 0
            self._end = self._after(first)
            return
        steps = integer(component.stream_setting(file.stream, "steps_per_file"))
        self._size = 1 if file.partitions > 1 else max(0, steps)
        self._longer = _first_file_is_longer(component, file, first)

    def files(self, regular: Sequence[int], last: int | None) -> tuple[int, int]:
        """How many files these output times make, and the most records of one; `last` comes behind the regular ones."""
        count = len(regular) + (last is not None)
        if not self._interval:
            if not self._size:
                return 1, count
            first = self._size + self._longer
            return 1 + -(-max(0, count - first) // self._size), min(count, first)
        if not isinstance(regular, range) or self._months is not None:
            return self._played(regular if last is None else in_turn(regular, (last,)))
        each = self._interval // regular.step if regular.step <= self._interval else 0
        number = (regular[-1] - regular[0]) // self._interval  # of the file of the last regular one
        files = number + 1 if each else len(regular)
        in_last = len(regular) - -(-number * self._interval // regular.step) if each else 1
        if last is not None:
            is_new = (last - regular[0]) // self._interval > number
            files, in_last = files + is_new, 1 if is_new else in_last + 1
        return files, max(min(len(regular), -(-self._interval // regular.step)), in_last)

    def with_the_first(self, regular: Sequence[int], last: int | None) -> tuple[int, int, int]:
        """How many files these output times make, how many records the first has, and the most of one of the others."""
        dates = regular if last is None else in_turn(regular, (last,))
        in_first, end = len(next(self.of_each(dates))), self._end
        rest = regular[in_first:]
        if not rest:  # but perhaps the last
            return 1 + (in_first < len(dates)), in_first, len(dates) - in_first
        if not self._interval:
            return self.files(regular, last)[0], in_first, min(len(dates) - in_first, self._size)
        if isinstance(rest, range) and self._months is None and not self._interval % rest.step:
            files, most = self.files(rest, last)  # which begin where a file does
            return files + 1, in_first, most
        self._end = end
        files, most = self._played(dates[in_first:])
        return files + 1, in_first, most

    def _played(self, dates: Sequence[int]) -> tuple[int, int]:
        files = most = 0
        for held in self.of_each(dates):
            files, most = files + 1, max(most, len(held))
            if files > self._most:
                raise UndecidedError(self._setting, f"{self._setting.name} makes more files than are gone through")
        return files, most

    def of_each(self, dates: Sequence[int]) -> Iterator[Sequence[int]]:
        """The output times in each file, one after the other."""
        at = 0
        while at < len(dates):
            if not self._interval:
                behind = at + (self._size + (self._longer and at == 0) if self._size else len(dates))
            else:
                self._pass(dates[at])
                behind = number_before(dates, self._end)
            yield dates[at:behind]
            at = behind

    def _pass(self, date: int) -> None:
        """Go on to the end of the file that a record of this date belongs into."""
        if date < self._end:
            return
        if self._months is None:
            self._end += ((date - self._end) // self._interval + 1) * self._interval
            return
        longest = max(1, 31 * _DAY * self._months.months + self._months.milliseconds)
        if (many := (date - self._end) // longest) > _MANY:
            self._end = self._after(self._end, many)
        while date >= self._end:
            self._end = self._after(self._end)

    def _after(self, date: int, times: int = 1) -> int:
        if self._months is None:
            return date + self._interval
        calendar, origin = self._clock.calendar, self._clock.calendar.position(self._clock.start)
        instant = calendar.add(self._clock.start, Duration(0, date))
        months = Duration(times * self._months.months, times * self._months.milliseconds)
        return max(date + 1, calendar.position(calendar.add(instant, months)) - origin)


def _first_file_is_longer(component: Component, file: OutputFile, first: int) -> bool:
    """Whether the record of the very start does not count among the steps_per_file; in GRIB2 it does."""
    inclusive = component.stream_setting(file.stream, "steps_per_file_inclfirst").value is True
    in_grib = component.stream_setting(file.stream, "filetype").value == _GRIB2
    return first == 0 and inclusive and not in_grib and file.partitions == 1


class Names:
    """The names of one sequence's files: filename_format with its keywords filled in. `output_filename` is filled in
    last, and filename_extn put behind it: keywords in them are text to ICON (`mo_output_event_control.f90:275-345`).
    Another text may stand for it. `skipped` are the `skipped_dates` of the job."""

    def __init__(
        self,
        component: Component,
        file: OutputFile,
        clock: Clock,
        skipped: int = 0,
        output_filename: str | None = None,
    ) -> None:
        self._component, self._file, self._clock, self._skipped = component, file, clock, skipped
        text = str(self._value(component, "filename_format")).strip()
        self._extension = str(self._value(component, "filename_extn")).strip()
        if self._extension.lower() == "default":
            self._extension = _EXTENSIONS.get(self._value(component, "filetype"), "")
        fixed = {
            "<levtype>": file.level_type.upper(),
            "<levtype_l>": file.level_type,
            "<physdom>": f"{file.domain:02d}",
            "<npartitions>": str(file.partitions),
            "<ifile_partition>": str(file.partition),
        }
        self._format = _replaced(text, fixed)
        self._output_filename = output_filename
        self._is_numbered = "<jfile>" in self._format or "<total_index>" in self._format
        self._dates = [keyword for keyword in (*_OF_INSTANT, *_OF_DATE) if keyword in self._format]
        self._last: tuple[int, int, str] = (0, 0, "")

    def of(self, number: int, date: int) -> str:
        """The name of the file of this number, whose first record has this date."""
        if self._last[:2] != (number, date):
            name = self._format
            if self._is_numbered:
                total = f"{self._file.partitions * (number - 1 + self._skipped) + self._file.partition:04d}"
                name = name.replace("<jfile>", total).replace("<total_index>", total)
            for keyword in self._dates:
                name = name.replace(keyword, self._dated(keyword, date))
            self._last = (number, date, name.replace("<output_filename>", self._prefix) + self._extension)
        return self._last[2]

    @property
    def is_dated(self) -> bool:
        """Whether the names bear dates."""
        return bool(self._dates)

    def _dated(self, keyword: str, date: int) -> str:
        if keyword in _OF_DATE:
            return _OF_DATE[keyword](date)
        return _OF_INSTANT[keyword](self._clock.calendar.at(self._start + date))

    @cached_property
    def _start(self) -> int:
        return self._clock.calendar.position(self._clock.start)

    @cached_property
    def _prefix(self) -> str:
        if self._output_filename is not None:
            return self._output_filename
        return str(self._value(self._component, "output_filename")).strip()

    @property
    def directory(self) -> str:
        """The directory in which the files lie; a keyword stands in it where it is another one by number or date."""
        return _replaced(self._format, {"<output_filename>": self._prefix}).rpartition("/")[0]

    @property
    def beginning(self) -> str:
        """What every name of these files begins with, as far as it is the same."""
        parts = _KEYWORD.split(self._format)
        changing = next((number for number, part in enumerate(parts) if part in _ANY), len(parts))
        return "".join(self._prefix if part == "<output_filename>" else part for part in parts[:changing])

    @property
    def pattern(self) -> re.Pattern[str]:
        """What every name of these files matches, whatever their number and dates."""
        text = "".join(
            _ANY.get(part) or re.escape(self._prefix if part == "<output_filename>" else part)
            for part in _KEYWORD.split(self._format)
        )
        return re.compile(text + re.escape(self._extension))

    def _value(self, component: Component, name: str) -> Any:
        return component.stream_setting(self._file.stream, name).value


_KEYWORD = re.compile(r"(<[a-z0-9_]+>)")
NUMBER = r"\d{4,9}"
"""What the number of a file matches in a pattern of names."""

_ANY = {
    **dict.fromkeys(("<jfile>", "<total_index>"), NUMBER),
    **dict.fromkeys(("<datetime>", "<datetime2>", "<datetime3>"), r"-?\d{4,6}[\d:.TZ-]{6,20}"),
    **dict.fromkeys(("<ddhhmmss>", "<dddhhmmss>", "<hhhmmss>"), r"\d{7,12}"),
}
"""What may stand in a name where ICON fills in a number or a date."""

CHANGING = tuple(_ANY)
"""The keywords of filename_format that differ from file to file of a sequence."""


def _clock_time(instant: Instant) -> tuple[int, int, int, int]:
    """Hour, minute, second and millisecond of an instant."""
    day = instant.milliseconds
    return day // _HOUR, day // _MINUTE % 60, day // _SECOND % 60, day % _SECOND


def _extended(instant: Instant) -> str:
    hour, minute, second, milli = _clock_time(instant)
    return f"{instant.year:04d}-{instant.month:02d}-{instant.day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{milli:03d}"


def _basic(instant: Instant) -> str:
    hour, minute, second, _ = _clock_time(instant)
    return f"{instant.year:04d}{instant.month:02d}{instant.day:02d}T{hour:02d}{minute:02d}{second:02d}"


_OF_INSTANT: dict[str, Callable[[Instant], str]] = {
    "<datetime>": _extended,
    "<datetime2>": lambda instant: f"{_basic(instant)}Z",
    "<datetime3>": lambda instant: f"{_basic(instant)}.{instant.milliseconds % _SECOND:03d}Z",
}


def _passed(date: int) -> str:
    return f"{date // _MINUTE % 60:02d}{date // _SECOND % 60:02d}"


_OF_DATE: dict[str, Callable[[int], str]] = {
    "<ddhhmmss>": lambda date: f"{date // _DAY:02d}{date // _HOUR % 24:02d}{_passed(date)}",
    "<dddhhmmss>": lambda date: f"{date // _DAY:03d}{date // _HOUR % 24:02d}{_passed(date)}",
    "<hhhmmss>": lambda date: f"{date // _HOUR:03d}{_passed(date)}",
}
"""What a keyword becomes of the milliseconds from the start of the experiment."""


def _replaced(text: str, words: dict[str, str]) -> str:
    for keyword, word in words.items():
        text = text.replace(keyword, word)
    return text
