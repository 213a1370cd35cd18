"""Model time: when the experiment and its legs begin and end, and how long a step takes.

Sources: ICON 2024.10 `src/shared/mo_time_management.f90` (the stop of a leg is the earliest of experiment stop,
start + restart interval and start + nsteps * step) and the runs of the real model.
"""

from __future__ import annotations

from math import lcm

from attrs import frozen

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration

_TIME = "master_time_control_nml"


@frozen
class Clock:
    """Model time of an experiment; lengths in milliseconds, None where nothing is set.

    Intervals in months have been turned into the time from the start of the experiment.
    """

    calendar: Calendar
    start: Instant
    stop: Instant
    step: int
    checkpoint: int | None
    restart: int | None

    @property
    def length(self) -> int:
        """The length of the experiment in milliseconds."""
        return self.calendar.position(self.stop) - self.calendar.position(self.start)

    @property
    def leg(self) -> int:
        """The length of the first leg: the restart interval ends it, or the experiment does."""
        return min(self.length, self.restart) if self.restart else self.length

    @property
    def legs(self) -> int:
        """How many jobs the experiment takes."""
        return -(-self.length // self.leg) if self.leg > 0 else 1


def clock(experiment: Experiment) -> Clock:
    """The clock of an experiment; raises UndecidedError for a date or an interval that nobody can know."""
    calendar = calendar_of(experiment)
    start = _instant(experiment[_TIME, "experimentStartDate"])
    stop_setting = experiment[_TIME, "experimentStopDate"]
    if stop_setting.value:
        stop = _instant(stop_setting)
    else:
        stop = calendar.add(start, _duration(experiment[_TIME, "forecastLeadTime"]))
    return Clock(
        calendar=calendar,
        start=start,
        stop=stop,
        step=time_step(experiment),
        checkpoint=length_from(calendar, start, experiment[_TIME, "checkpointTimeIntval"]),
        restart=length_from(calendar, start, experiment[_TIME, "restartTimeIntval"]),
    )


def calendar_of(experiment: Experiment) -> Calendar:
    """The calendar of the master namelist; ICON takes the proleptic Gregorian one for any other name."""
    name = str(experiment[_TIME, "calendar"].value).lower()
    try:
        return Calendar(name)
    except ValueError:
        return Calendar.PROLEPTIC_GREGORIAN


def time_step(experiment: Experiment) -> int:
    """The model time step in milliseconds: `modelTimeStep`, else `dtime`."""
    written = experiment["run_nml", "modelTimeStep"]
    if written.value:
        return _duration(written).milliseconds
    seconds = experiment["run_nml", "dtime"]
    if not isinstance(seconds.value, (int, float)) or seconds.value <= 0:
        raise UndecidedError(seconds)
    return round(seconds.value * 1000)


def length_from(calendar: Calendar, start: Instant, setting: Setting) -> int | None:
    """An interval in milliseconds, counted from `start`; None when it is not set."""
    return length_of(calendar, start, setting, setting.value) if setting.value else None


def length_of(calendar: Calendar, start: Instant, setting: Setting, text: str) -> int:
    """The milliseconds from `start` that the duration `text`, one value of `setting`, spans."""
    try:
        duration = Duration.parse(text)
    except ValueError:
        raise UndecidedError(setting) from None
    return calendar.position(calendar.add(start, duration)) - calendar.position(start)


def first_meeting(interval: int, step: int) -> int:
    """When a multiple of `interval` first falls on a multiple of `step`, in the unit of both."""
    return lcm(interval, step)


def _instant(setting: Setting) -> Instant:
    try:
        return Instant.parse(str(setting.value))
    except ValueError:
        raise UndecidedError(setting) from None


def _duration(setting: Setting) -> Duration:
    try:
        return Duration.parse(str(setting.value))
    except ValueError:
        raise UndecidedError(setting) from None
