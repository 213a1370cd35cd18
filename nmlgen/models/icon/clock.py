"""Model time: when the experiment and its legs begin and end, and how long a step takes.

Sources: ICON 2024.10 `src/shared/mo_time_management.f90` (the stop of a leg is the earliest of experiment
stop, start + restart interval and start + nsteps * step) and the runs of the real model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache
from math import inf, isfinite, lcm

from nmlgen.experiment.chain import START_DIRECTORY, START_TIME
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration
from nmlgen.units.timedelta import TimeDelta
from nmlgen.values import evolve, frozen

_TIME = "master_time_control_nml"


@frozen
class Clock:
    """Model time of an experiment; lengths in milliseconds, None where nothing above zero is set.

    Intervals in months have been turned into the time from the start of the experiment; `months` are those of the
    restart interval, which each job counts from its own start. `steps_of_a_leg` is `nsteps`; `restart_ends_leg` is
    false where `lrestart_write_last` takes the restart interval out of force. `branch` is the time of the other
    experiment's checkpoint that the first job begins with, from the start of the experiment; None where it begins with
    initial data.
    """

    calendar: Calendar
    start: Instant
    stop: Instant
    step: int
    checkpoint: int | None
    restart: int | None
    steps_of_a_leg: int | None
    restart_ends_leg: bool
    months: int
    branch: int | None

    def __hash__(self) -> int:
        """Of what tells clocks apart: what is worked out of each output file is looked up by its clock."""
        return hash((self.step, self.length, self.checkpoint, self.restart, self.branch))

    @property
    def begin(self) -> int:
        """When the first job begins, from the start of the experiment."""
        return self.branch or 0

    @property
    def computed(self) -> int:
        """How much of the experiment its jobs compute, in milliseconds: all but what lies before the branch."""
        return self.length - self.begin

    @cached_property
    def length(self) -> int:
        """The length of the experiment in milliseconds."""
        return self.calendar.position(self.stop) - self.calendar.position(self.start)

    @cached_property
    def leg(self) -> int:
        """The length of the first leg: the experiment's end, the first step at or beyond the restart interval, or
        nsteps ends it."""
        ends = [self.computed]
        if self.restart and self.restart_ends_leg:
            ends.append(-(-self._of_first_job(self.restart) // self.step) * self.step)
        if self.steps_of_a_leg is not None:
            ends.append(self.steps_of_a_leg * self.step)
        return min(ends)

    def _of_first_job(self, restart: int) -> int:
        """The restart interval of the first job: months behind a branch are not as long as those behind the start."""
        if not self.months:
            return restart
        here = self.calendar.add(self.start, Duration(0, self.begin))
        return self.calendar.position(self.calendar.add(here, Duration(self.months, 0))) - self.calendar.position(here)

    def shortened(self, length: int) -> Clock:
        """The same with an experiment of so many milliseconds."""
        return evolve(self, stop=self.calendar.add(self.start, Duration(0, length)))

    @property
    def legs(self) -> int:
        """How many jobs the experiment takes."""
        if self._counts_months:
            return len(_ends(self))
        return -(-self.computed // self.leg) if self.leg > 0 else 1

    def end_of(self, leg: int) -> int:
        """Where so many jobs have ended, from the start of the experiment."""
        if leg < 1:
            return self.begin
        if self._counts_months:
            ends = _ends(self)
            return ends[min(leg, len(ends)) - 1]
        return min(self.begin + leg * self.leg, self.length)

    def leg_at(self, time: int) -> int:
        """How many jobs it takes to come to a time from the start of the experiment."""
        if self._counts_months:
            return bisect_left(_ends(self), time) + 1
        return max(1, -(-(time - self.begin) // self.leg)) if self.leg > 0 else 1

    def jobs(self) -> Iterator[tuple[int, int]]:
        """Begin and end of each job; none of jobs without a step."""
        begin = self.begin
        while begin < self.length and self.leg > 0:
            end = self.end_of(self.leg_at(begin + 1))
            yield begin, end
            begin = end

    @cached_property
    def _counts_months(self) -> bool:
        """Whether jobs are of different length: those beyond a hundred thousand count as the first one."""
        return self.restart_ends_leg and self.months > 0 and 0 < self.leg < self.computed <= self.leg * _MOST_LEGS


_MOST_LEGS = 100_000
"""A bound on work: the jobs of a longer chain count as equally long."""


@lru_cache(maxsize=64)
def _ends(clock: Clock) -> tuple[int, ...]:
    """Where each job ends: each counts the months from its own start (`mo_time_management.f90:735`)."""
    start, ends, begin = clock.calendar.position(clock.start), list[int](), clock.begin
    interval = Duration(clock.months, 0)
    while begin < clock.length:
        here = clock.calendar.add(clock.start, Duration(0, begin))
        end = clock.calendar.position(clock.calendar.add(here, interval)) - start
        end = begin - (begin - end) // clock.step * clock.step
        if clock.steps_of_a_leg is not None:
            end = min(end, begin + clock.steps_of_a_leg * clock.step)
        begin = max(min(end, clock.length), begin + 1)
        ends.append(begin)
    return tuple(ends)


@remembered
def clock(component: Component) -> Clock:
    """The clock of an experiment; raises UndecidedError for a date or an interval that nobody can know, and
    where ICON refuses to start: a step that is not positive, a stop before the start, a restart interval below zero. So
    does a start on a day that the calendar does not have."""
    calendar = calendar_of(component)
    start, stop = start_of(component), stop_of(component)
    if not calendar.has(start):
        raise UndecidedError(component[_TIME, "experimentStartDate"])
    if calendar.position(stop) < calendar.position(start):
        raise UndecidedError(component[_TIME, "experimentStopDate"])
    nsteps = component["run_nml", "nsteps"].value
    return Clock(
        calendar=calendar,
        start=start,
        stop=stop,
        step=time_step(component),
        checkpoint=_checkpoint(component, calendar, start),
        restart=_restart(component, calendar, start),
        steps_of_a_leg=nsteps if isinstance(nsteps, int) and nsteps >= 0 else None,
        restart_ends_leg=component["master_nml", "lrestart_write_last"].value is not False,
        months=_months(component[_TIME, "restartTimeIntval"]),
        branch=_branch(component.experiment, calendar, start, stop),
    )


def _branch(experiment: Experiment, calendar: Calendar, start: Instant, stop: Instant) -> int | None:
    """When the chain begins with another experiment's checkpoint: at the start, unless a time within the experiment is
    said."""
    if START_DIRECTORY not in experiment.chain:
        return None
    said = experiment.chain.get(START_TIME)
    if said is None:
        return 0
    branch = calendar.position(Instant.parse(str(said.value))) - calendar.position(start)
    return branch if branch in range(calendar.position(stop) - calendar.position(start)) else 0


def start_of(component: Component) -> Instant:
    """When the experiment starts."""
    return _instant(component[_TIME, "experimentStartDate"])


def stop_of(component: Component) -> Instant:
    """When the experiment stops: the date, else the lead time after the start."""
    stop = component[_TIME, "experimentStopDate"]
    if stop.value:
        return _instant(stop)
    lead = _duration(component[_TIME, "forecastLeadTime"])
    return calendar_of(component).add(start_of(component), lead)


def calendar_of(component: Component) -> Calendar:
    """The calendar of the master namelist; ICON takes the proleptic Gregorian one for any other name."""
    name = str(component[_TIME, "calendar"].value).lower()
    try:
        return Calendar(name)
    except ValueError:
        return Calendar.PROLEPTIC_GREGORIAN


def time_step(component: Component) -> int:
    """The model time step in milliseconds: `modelTimeStep`, else `dtime`; UndecidedError unless positive."""
    written = component["run_nml", "modelTimeStep"]
    if written.value:
        step = _duration(written).milliseconds
    else:
        written = component["run_nml", "dtime"]
        step = milliseconds(written.value) if is_number(written.value) else 0
    if step <= 0:
        raise UndecidedError(written)
    return step


def is_number(value: object) -> bool:
    """Whether a value is a finite number; to Python a boolean is one, to Fortran it is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -inf < value < inf


def milliseconds(seconds: float) -> int:
    """A finite number of seconds in whole milliseconds."""
    scaled = seconds * 1000
    return round(scaled) if isfinite(scaled) else round(seconds) * 1000


def length_from(calendar: Calendar, start: Instant, setting: Setting) -> int | None:
    """An interval in milliseconds, counted from `start`; None when it is not set."""
    return length_of(calendar, start, setting, str(setting.value)) if setting.value else None


def length_of(calendar: Calendar, start: Instant, setting: Setting, text: str) -> int:
    """The milliseconds from `start` that the duration `text`, one value of `setting`, spans."""
    try:
        duration = Duration.parse(text.rstrip())
    except ValueError:
        raise UndecidedError(setting) from None
    return calendar.position(calendar.add(start, duration)) - calendar.position(start)


def first_meeting(interval: int, step: int) -> int:
    """When a multiple of `interval` first falls on a multiple of `step`, in the unit of both."""
    return lcm(interval, step)


def reads_time_nml(component: Component) -> bool:
    """Whether time_nml was written where ICON looks for it: in icon_master.namelist."""
    return any(group.name.lower() == "time_nml" for group in component.experiment.master)


def legacy_seconds(component: Component, group: str, name: str) -> float | None:
    """An interval in seconds as ICON's older variables set it; None where it is not in force."""
    if group == "time_nml" and not reads_time_nml(component):
        return None
    seconds = component[group, name].value
    return seconds if is_number(seconds) and seconds > 0 else None


def read_timedelta(setting: Setting) -> TimeDelta | None:
    """A duration as mtime compares it; None where nothing readable is set."""
    try:
        return TimeDelta.parse(str(setting.value).rstrip())
    except ValueError:
        return None


def checkpoint_interval(component: Component) -> tuple[Setting, TimeDelta | None]:
    """Which of the two intervals of checkpoints holds, and how long it is: `dt_checkpoint` where it stands alone, and
    where ICON cannot compare it with months (`mo_time_management.f90:299-308`)."""
    setting = component[_TIME, "checkpointTimeIntval"]
    interval = read_timedelta(setting)
    seconds = legacy_seconds(component, "io_nml", "dt_checkpoint")
    if seconds is not None:
        older = TimeDelta.of_seconds(int(seconds))
        if not setting.value or (interval is not None and interval.compare(older) is None):
            return component["io_nml", "dt_checkpoint"], older
    return setting, interval


def _checkpoint(component: Component, calendar: Calendar, start: Instant) -> int | None:
    setting, _ = checkpoint_interval(component)
    if setting.name.endswith("dt_checkpoint"):
        return int(setting.value) * 1000 or None
    return _above_zero(length_from(calendar, start, setting))


def _restart(component: Component, calendar: Calendar, start: Instant) -> int | None:
    setting = component[_TIME, "restartTimeIntval"]
    if setting.value:
        length = length_from(calendar, start, setting)
        if length is not None and length < 0 and component["master_nml", "lrestart_write_last"].value is not False:
            raise UndecidedError(setting)
        return _above_zero(length)
    seconds = legacy_seconds(component, "time_nml", "dt_restart")
    return None if seconds is None else int(seconds) * 1000 or None


def _above_zero(length: int | None) -> int | None:
    """An interval; none at all where it is zero or less."""
    return length if length is not None and length > 0 else None


def _months(setting: Setting) -> int:
    """The months of an interval that has no fixed length, 0 of any other."""
    return Duration.parse(str(setting.value).rstrip()).months if setting.value else 0


def _instant(setting: Setting) -> Instant:
    try:
        return Instant.parse(str(setting.value).rstrip())
    except ValueError:
        raise UndecidedError(setting) from None


def _duration(setting: Setting) -> Duration:
    try:
        return Duration.parse(str(setting.value).rstrip())
    except ValueError:
        raise UndecidedError(setting) from None
