"""What becomes of output files along a chain of jobs that each begin from the checkpoint of the one before.

ICON keeps in a checkpoint the number of the file that each sequence is at (`output_jfile_NN`): that of the record due
at the checkpoint, else that of the next one in this job, else that of the last. The next job counts from that number
on, from its own first output time, which is the checkpoint's own where a record was due there; that one is not written
again. A file that is opened in its middle, or with the number 1, is appended to where it exists; any other is written
anew, and what an earlier job left in it is lost.

The ocean keeps no number: each of its jobs counts from 1 again, from its own first output time on. So it appends to the
first file and writes over the others.

Sources: ICON 2024.10 `mo_nh_stepping.f90:1064-1068`, `mo_wave_stepping.f90:114-126`,
`mo_output_event_handler.f90:1652-1675,2390-2460`, `mo_name_list_output_init.f90:1690-1700`,
`mo_output_event_control.f90:195-251`, `mo_name_list_output.f90:296-320`, and chains of two jobs of the real model: of
an atmosphere with one step a file and two partitions 12 of 13 records were left, of an ocean with one step a file 4 of
7, of waves all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.clock import Clock
from nmlgen.models.icon.ranks import OutputFile, output_files
from nmlgen.models.icon.schedule import (
    FileEnds,
    Names,
    all_dates,
    appended_date,
    keeps_number,
    number_at_branch,
    skipped_dates,
)
from nmlgen.models.icon.windows import in_turn, number_before
from nmlgen.values import frozen


@frozen
class Loss:
    """Records of earlier jobs that the job `leg`, counted from 1, overwrites in the file `name`."""

    leg: int
    name: str
    records: int


@frozen
class Fate:
    """What a chain leaves of one sequence of files: the output times in each file, by its name; what was lost on the
    way; and the first record that lies in another file than in one job, with the names of both: files that bear dates
    are not compared."""

    files: dict[str, tuple[int, ...]]
    losses: tuple[Loss, ...]
    moved: tuple[int, str, str] | None

    @property
    def records(self) -> int:
        """The records on disk in the end."""
        return sum(map(len, self.files.values()))


class _Opened(NamedTuple):
    """What one job writes into a file, by output times: whether the file is opened for it, to be appended to or
    anew."""

    dates: Sequence[int]
    name: str
    is_opened: bool
    is_appended: bool


class _Numbered(NamedTuple):
    """A file of one job with its number, and the output times in it."""

    number: int
    name: str
    dates: Sequence[int]


_MOST_JOBS = 100_000
"""A bound on work: jobs that are gone through for all sequences of files together."""


def fate(
    component: Component,
    file: OutputFile,
    clock: Clock,
    legs: int | None = None,
    output_filename: str | None = None,
) -> Fate:
    """What the chain of jobs leaves of one sequence, its first so many `legs` if it is said. The files are named as if
    their `output_filename` were another, if one is given. Raises UndecidedError for settings that nobody can know."""
    if min(clock.legs, legs or clock.legs) * len(output_files(component)) > _MOST_JOBS:
        setting = component["master_time_control_nml", "restartTimeIntval"]
        raise UndecidedError(setting, "the chain has more jobs than are gone through")
    dates, appended = all_dates(component, file, clock), appended_date(component, file, clock)
    number = number_at_branch(component, file, clock)
    chain = _Chain(component, file, clock, output_filename, keeps_number(component), [number])
    files: dict[str, list[int]] = {}
    losses: list[Loss] = []
    where: dict[int, str] = {}
    is_dated = Names(component, file, clock).is_dated
    for leg, (begin, end) in enumerate(islice(_legs(clock), legs), start=1):
        own = dates[number_before(dates, begin) : number_before(dates, end + 1)]
        if appended is not None and own and own[-1] < appended:  # it counts for the number, in whichever job it falls
            own = in_turn(own, (appended,))
        for opened in chain.job(own, begin, end):
            if opened.is_opened and not opened.is_appended and files.get(opened.name):
                losses.append(Loss(leg, opened.name, len(files[opened.name])))
                files[opened.name] = []
            files.setdefault(opened.name, []).extend(opened.dates)
            if not is_dated:
                where.update(dict.fromkeys(opened.dates, opened.name))
    whole: list[_Opened] = []
    if not is_dated:
        in_one_job = _Chain(component, file, clock, output_filename, keeps_number(component), [number])
        whole = in_one_job.job(dates[number_before(dates, clock.begin) :], clock.begin, clock.length)
    in_one = ((date, opened.name) for opened in whole for date in opened.dates)
    other = ((date, where[date], name) for date, name in in_one if where.get(date, name) != name)
    return Fate({name: tuple(held) for name, held in files.items()}, tuple(losses), next(other, None))


def _legs(clock: Clock) -> Iterator[tuple[int, int]]:
    """Begin and end of each job."""
    yield from clock.jobs()
    if not clock.length:
        yield clock.begin, clock.length


@frozen
class _Chain:
    """The jobs of one sequence, one after the other; `offset` is the number of the file that the next
    one begins with."""

    component: Component
    file: OutputFile
    clock: Clock
    output_filename: str | None
    keeps_number: bool
    offset: list[int]

    def job(self, dates: Sequence[int], begin: int, end: int) -> list[_Opened]:
        """What a job writes. Its output times include both its ends, and one behind it that ICON knows."""
        numbered = self._numbered(dates, skipped_dates(self.component, self.file, self.clock, begin, end))
        written: list[_Opened] = []
        is_restart = bool(begin) or self.clock.branch is not None
        for number, name, held in numbered:
            first = 0
            while is_restart and first < len(held) and self._step_of(held[first]) <= begin:
                first += 1  # written by the job before
            own = held[first : number_before(held, end + 1)]
            if own:
                is_first = not written
                is_appended = is_first and bool(begin) and (bool(first) or number == 1)
                written.append(_Opened(own, name, is_first or first == 0, is_appended))
        if not self.keeps_number:
            return written
        reached = (file.number for file in numbered if self._step_of(file.dates[-1]) >= end)
        self.offset[0] = next(reached, numbered[-1].number if numbered else 1)
        return written

    def _step_of(self, date: int) -> int:
        """The time of the step that writes what is due at an output time."""
        return date // self.clock.step * self.clock.step

    def _numbered(self, dates: Sequence[int], skipped: int) -> list[_Numbered]:
        """The files of a job."""
        found: list[_Numbered] = []
        if not dates:
            return found
        ends = FileEnds(self.component, self.file, self.clock, dates[0])
        names = Names(self.component, self.file, self.clock, skipped, self.output_filename)
        for number, held in enumerate(ends.of_each(dates), start=self.offset[0]):
            found.append(_Numbered(number, names.of(number, held[0]), held))
        return found
