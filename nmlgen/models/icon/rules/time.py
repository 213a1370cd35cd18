"""Model time: dates, steps and intervals, and the older variables that say the same again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import (
    calendar_of,
    checkpoint_interval,
    clock,
    is_number,
    legacy_seconds,
    milliseconds,
    read_timedelta,
    reads_time_nml,
    start_of,
    stop_of,
)
from nmlgen.models.icon.output import times_in_force
from nmlgen.models.icon.ranks import writes_output
from nmlgen.models.icon.rules.streams import streams_read
from nmlgen.models.icon.rules.timedeltas import by_parts
from nmlgen.rules.rule import ComponentRule
from nmlgen.source import Span
from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration
from nmlgen.units.timedelta import TimeDelta
from nmlgen.values import evolve

_TIME = "master_time_control_nml"
_REFERENCE = "experimentReferenceDate"
_DAY = 86_400_000
_JULIAN = "julian gregorian"
_NUMBERED_CALENDARS = {0: _JULIAN, 1: "proleptic gregorian", 2: "360 day year"}
"""time_nml: calendar and its name in master_time_control_nml (`mo_time_config.f90:250-257`)."""
_AES, _NWP = 2, 3
_ACCUMULATIONS = (
    *("precip_interval", "totprec_d_interval", "runoff_interval"),
    *("sunshine_interval", "melt_interval", "maxt_interval"),
)
"""The durations of io_nml that events are made of (ICON 2024.10, `mo_io_nml.f90:116`, `mo_action.f90:182`)."""

_NOTHING, _SPIN_UP, _SHORTEST = TimeDelta.parse("PT0S"), TimeDelta.parse("PT2H30M"), 9_000_000
_CALENDARS = ", ".join(f'"{calendar.value}"' for calendar in Calendar)


def _fixed_milliseconds(setting: Setting) -> int | None:
    """The length of a duration; None where nothing readable is set or months make it depend on the calendar."""
    try:
        duration = Duration.parse(str(setting.value).rstrip())
    except ValueError:
        return None
    return duration.milliseconds if duration.is_fixed else None


def _in_parts(component: Component, seconds: float) -> TimeDelta | None:
    """What mtime makes of seconds (`getPTStringFromMS`); None where it cannot be told."""
    return TimeDelta.of_milliseconds(milliseconds(seconds), calendar_of(component))


def _expected(is_same_length: bool, alone: str) -> str:
    """What to write in place of two durations."""
    if is_same_length:
        return f"expected: {alone}; ICON compares days, hours and minutes one by one, and PT90M is not PT1H30M to it"
    return f"expected: {alone}, or the same length"


def _months(setting: Setting) -> int:
    """The months of a duration; 0 where nothing readable is set."""
    try:
        return Duration.parse(str(setting.value).rstrip()).months
    except ValueError:
        return 0


def _end(component: Component) -> Setting:
    """The setting that says when the experiment stops."""
    stop = component[_TIME, "experimentStopDate"]
    return stop if stop.value else component[_TIME, "forecastLeadTime"]


class StopBeforeStart(ComponentRule):
    """Model time runs forward.

    ## What it does
    Finds a stop date before the start date, and a lead time or a restart interval below zero, which put the
    end of the run there.

    ## Why it matters
    ICON aborts when it works out its dates.

    ## Evidence
    ICON 2024.10 rejected both: "The end date and time must not be before the current date and time"
    (`mo_time_management.f90:809`).

    ## Example
    ```yaml bad
    time: {stop: 2008-08-31T00:00:00Z}
    #            ^
    ```
    ```yaml good
    time: {stop: 2008-09-21T00:00:00Z}
    output: {atm: {filename_format: "<output_filename>_<datetime2>"}}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM001"
    name = "stop-before-start"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        calendar = calendar_of(component)
        start, stop = start_of(component), stop_of(component)
        if calendar.position(stop) < calendar.position(start):
            yield self.finding(
                _end(component),
                f"the experiment stops at {stop}, before it starts",
                f"expected: later than {start}",
            )
        restart = component[_TIME, "restartTimeIntval"]
        in_force = component["master_nml", "lrestart_write_last"].value is not False
        length = _fixed_milliseconds(restart)
        if in_force and length is not None and length < 0:
            yield self.finding(
                restart,
                f"restartTimeIntval {restart.value} ends the first job before it starts",
                "expected: a duration above zero",
            )


class StepNotPositive(ComponentRule):
    """A time step takes some time.

    ## What it does
    Finds a `modelTimeStep` of zero or less; without one, a `dtime` of zero or less, and none at all. A step of months
    is a warning: P8M are eight months, PT8M eight minutes. Where a stream is written from a date on, that and any step
    of more than a day is an error.

    ## Why it matters
    ICON aborts. With a step of months nothing is computed that means anything.

    ## Evidence
    ICON 2024.10 rejected `modelTimeStep = "-PT10M"` ('"dtime" must be positive',
    `mo_time_management.f90:171`), `dtime = -600.` and a run without either ("dtime must be set"). Each stream with a
    date of its start ends a step of more than a day: "Internal error: dtime > 1 day!"
    (`mo_name_list_output_init.f90:1142`).

    ## Example
    ```yaml bad
    time: {modelTimeStep: PT0S}
    #                     ^
    ```
    ```yaml good
    time: {modelTimeStep: PT10M}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "TIM002"
    name = "step-not-positive"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "modelTimeStep"]
        if setting.value:
            step, months = _fixed_milliseconds(setting), _months(setting)
        else:
            setting, months = component["run_nml", "dtime"], 0
            step = milliseconds(setting.value) if is_number(setting.value) else None
        name = setting.name.rpartition(".")[2]
        if step is not None and step <= 0:
            message = f"{name} is {setting.value}" if setting.is_written else "no time step is set"
            yield self.finding(setting, message, "expected: a duration above zero, such as PT10M")
        elif months or (step is not None and step > _DAY):
            what = f"{months} month{'s' if months > 1 else ''}" if months else "more than a day"
            found = self.finding(setting, f"{name} {setting.value} is {what}", "expected: PT for minutes")
            if months < 0 or any(_has_start(component, stream) for stream in streams_read(component)):
                yield found
            elif months:
                yield evolve(found, severity=Severity.WARNING)


def _has_start(component: Component, stream: Group) -> bool:
    """Whether a stream says when it begins, as a date or, by its bounds, as a time."""
    start, bounds = (component.stream_setting(stream, name) for name in ("output_start", "output_bounds"))
    return bounds.is_written or any(str(text).strip() for text in as_list(start.value))


class NoSuchDay(ComponentRule):
    """A date should exist in the calendar of the run.

    ## What it does
    Finds a start, stop or reference date with a day that its month does not have, such as 30 February in the
    proleptic Gregorian calendar or the 31st of any month in the 360 day year.

    ## Why it matters
    ICON does not check the day and counts on from it: the run covers another time than its author wrote.

    ## Evidence
    ICON 2024.10 ran from 2000-02-30, and from 2000-01-31 in the 360 day year.

    ## Example
    ```yaml bad
    time: {stop: 2008-09-31T00:00:00Z}
    #            ^
    ```
    ```yaml good
    time: {stop: 2008-10-01T00:00:00Z}
    output: {atm: {filename_format: "<output_filename>_<datetime2>"}}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM003"
    name = "no-such-day"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        calendar = calendar_of(component)
        for name in ("experimentStartDate", "experimentStopDate", "experimentReferenceDate"):
            setting = component[_TIME, name]
            try:
                instant = Instant.parse(str(setting.value).rstrip())
            except ValueError:
                continue
            if not calendar.has(instant):
                yield self.finding(
                    setting,
                    f'{setting.value} is no day of the calendar "{calendar.value}"',
                    "expected: a day that its month has",
                )


class TwoTimeSteps(ComponentRule):
    """`dtime` and `modelTimeStep` are two names for the time step.

    ## What it does
    Finds both set, to different lengths, and to the same length written in a way that ICON takes for another: it turns
    `dtime` into days, hours, minutes and seconds (a month from 31 days on) and compares these one by one with those of
    `modelTimeStep`, so that PT90M or PT24H agrees with no `dtime`, and PT5400S does.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10: "Two inconsistent time steps have been specified!" (`mo_time_management.f90:134`; `compareTimeDelta`
    in `mtime_timedelta.c:210`). It ran with both where they agree. 2025.04 has another mtime, which nobody tried: of
    the same length it is a warning there.

    ## Example
    ```yaml bad
    time: {modelTimeStep: PT10M}
    namelists:
      run_nml: {dtime: 300.0}
    #                  ^
    ```
    ```yaml good
    time: {modelTimeStep: PT10M}
    namelists:
      run_nml: {dtime: 600.0}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "TIM004"
    name = "two-time-steps"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        seconds, written = component["run_nml", "dtime"], component["run_nml", "modelTimeStep"]
        if not is_number(seconds.value) or seconds.value <= 0:
            return
        step, other = read_timedelta(written), _in_parts(component, seconds.value)
        if step is not None and other is not None and step.compare(other) != 0:
            is_same = _fixed_milliseconds(written) == milliseconds(seconds.value)
            message = f"dtime {seconds.value} s contradicts modelTimeStep {written.value}"
            found = self.finding(seconds, message, _expected(is_same, "one of the two"))
            yield by_parts(component, found, is_by_parts=is_same)


class TwoCheckpointIntervals(ComponentRule):
    """`io_nml: dt_checkpoint` is the older name of `checkpointTimeIntval`.

    ## What it does
    Finds both set, to different lengths, and to the same length written in a way that ICON takes for another: it
    compares days, hours and minutes one by one, so that PT90M or PT24H agrees with no `dt_checkpoint`. ICON takes whole
    seconds of `dt_checkpoint` and ignores one that is not above zero. Months it cannot compare with a minute or
    more: `dt_checkpoint` then holds, without a word, which is a warning.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejected PT30M with 1200 s: "Inconsistent setting of checkpoint interval"
    (`mo_time_management.f90:309`; `compareTimeDelta` in `mtime_timedelta.c:210`). It ran where they agree and with
    `dt_checkpoint = -1800.` 2025.04 has another mtime, which nobody tried: of the same length it is a warning there.

    ## Example
    ```yaml bad
    restart: {checkpointTimeIntval: PT12H}
    namelists:
      io_nml: {dt_checkpoint: 86400.0}
    #                         ^
    ```
    ```yaml good
    restart: {checkpointTimeIntval: PT12H}
    namelists:
      io_nml: {dt_checkpoint: 43200.0}
    ```

    ## References
    ICON namelist overview, io_nml and master_time_control_nml.
    """

    code = "TIM005"
    name = "two-checkpoint-intervals"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        interval = component[_TIME, "checkpointTimeIntval"]
        seconds = legacy_seconds(component, "io_nml", "dt_checkpoint")
        length = read_timedelta(interval)
        if seconds is None or length is None:
            return
        compared = length.compare(TimeDelta.of_seconds(int(seconds)))
        older, alone = component["io_nml", "dt_checkpoint"], "checkpointTimeIntval alone"
        if compared is None:
            message = f"dt_checkpoint {seconds} s holds, and not checkpointTimeIntval {interval.value}"
            yield evolve(self.finding(older, message, f"expected: {alone}"), severity=Severity.WARNING)
        elif compared != 0:
            is_same = _fixed_milliseconds(interval) == int(seconds) * 1000
            message = f"dt_checkpoint {seconds} s contradicts checkpointTimeIntval {interval.value}"
            found = self.finding(older, message, _expected(is_same, alone))
            yield by_parts(component, found, is_by_parts=is_same)


class TwoRestartIntervals(ComponentRule):
    """`time_nml: dt_restart` is the older name of `restartTimeIntval`.

    ## What it does
    Finds both set, to different lengths, where `lrestart_write_last` does not take them out of force, and to the same
    length written in a way that ICON takes for another: it turns `dt_restart` into days, hours, minutes and seconds
    (a month from 31 days on) and compares these one by one, so that PT24H or P31D agrees with no `dt_restart`. ICON
    reads `time_nml` from icon_master.namelist.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejected PT1H with 1800 s: "Inconsistent setting of restart interval"
    (`mo_time_management.f90:263`; `compareTimeDelta` in `mtime_timedelta.c:210`). It ran where they agree. 2025.04 has
    another mtime, which nobody tried: of the same length it is a warning there.

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: P10D}
    namelists:
      time_nml: {dt_restart: 86400.0}
    #                        ^
    ```
    ```yaml good
    restart: {restartTimeIntval: P10D}
    namelists:
      time_nml: {dt_restart: 864000.0}
    ```

    ## References
    ICON namelist overview, time_nml and master_time_control_nml.
    """

    code = "TIM006"
    name = "two-restart-intervals"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component["master_nml", "lrestart_write_last"].value is False:
            return
        interval = component[_TIME, "restartTimeIntval"]
        seconds = legacy_seconds(component, "time_nml", "dt_restart")
        length = read_timedelta(interval)
        other = None if seconds is None else _in_parts(component, seconds)
        if seconds is not None and length is not None and other is not None and length.compare(other) != 0:
            is_same = _fixed_milliseconds(interval) == milliseconds(seconds)
            message = f"dt_restart {seconds} s contradicts restartTimeIntval {interval.value}"
            older = component["time_nml", "dt_restart"]
            found = self.finding(older, message, _expected(is_same, "restartTimeIntval alone"))
            yield by_parts(component, found, is_by_parts=is_same)


class StopAndLeadTime(ComponentRule):
    """The stop date wins over the lead time.

    ## What it does
    Finds `experimentStopDate` and `forecastLeadTime` both set, to different ends.

    ## Why it matters
    ICON ignores `forecastLeadTime` and says nothing.

    ## Evidence
    ICON 2024.10 ran for one hour with a stop date after one hour and a lead time of two
    (`mo_master_nml.f90:231-246`).

    ## Example
    ```yaml bad
    namelists:
      master_time_control_nml: {forecastLeadTime: P20D}
    #                                             ^
    ```
    ```yaml good
    time: {stop: null}
    namelists:
      master_time_control_nml: {forecastLeadTime: P20D}
    output:
      atm: {output_end: 2008-09-21T00:00:00Z, filename_format: "<output_filename>_<datetime2>"}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM007"
    name = "stop-and-lead-time"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        stop, lead = component[_TIME, "experimentStopDate"], component[_TIME, "forecastLeadTime"]
        try:
            duration = Duration.parse(str(lead.value).rstrip())
        except ValueError:
            return
        calendar, start = calendar_of(component), start_of(component)
        if calendar.position(calendar.add(start, duration)) != calendar.position(stop_of(component)):
            yield self.finding(
                lead,
                f"forecastLeadTime {lead.value} is ignored: the stop date {stop.value} holds",
                "expected: one of the two",
            )


class RunOffStep(ComponentRule):
    """The run should end with a step.

    ## What it does
    Finds an experiment whose length is no multiple of the time step.

    ## Why it matters
    ICON stops with the first step at or after the stop date, so the run is longer than written. What should
    happen at the stop date itself, such as the last checkpoint, does not.

    ## Evidence
    ICON 2024.10 ran for one hour with steps of 7 minutes and said nothing
    (`mo_nh_stepping.f90:1616-1635,1773`).

    ## Example
    ```yaml bad
    time: {stop: 2008-09-10T23:55:00Z}
    #            ^
    ```
    ```yaml good
    time: {stop: 2008-09-10T23:50:00Z}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM008"
    name = "run-off-step"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        time = clock(component)
        if time.length % time.step:
            length, step = Duration(0, time.length), Duration(0, time.step)
            yield self.finding(
                _end(component),
                f"the run of {length} is no multiple of the time step {step}",
                "expected: a multiple of the time step",
            )


class UnknownCalendar(ComponentRule):
    """ICON has three calendars and replaces any other by the proleptic Gregorian one.

    ## What it does
    Finds another `calendar` than proleptic gregorian, 365 day year and 360 day year.

    ## Why it matters
    Years get other lengths than meant. ICON says so in one line of its log and goes on.

    ## Evidence
    ICON 2024.10 ran with `calendar = "julian"` (`mo_master_nml.f90:216-226`).

    ## Example
    ```yaml bad
    namelists:
      master_time_control_nml: {calendar: 360 days}
    #                                     ^
    ```
    ```yaml good
    namelists:
      master_time_control_nml: {calendar: 360 day year}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM009"
    name = "unknown-calendar"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component[_TIME, "calendar"]
        name = setting.value
        known = [*(calendar.value for calendar in Calendar), _JULIAN]  # another rule's
        if isinstance(name, str) and name.strip() and name.strip().lower() not in known:
            yield self.finding(
                setting,
                f'ICON has no calendar "{name}" and takes the proleptic Gregorian one',
                f"expected: one of {_CALENDARS}",
            )


class CheckpointDuringDamping(ComponentRule):
    """With `divdamp_order = 24` the first hours are damped more, and a checkpoint within them is refused.

    ## What it does
    Finds a checkpoint interval of less than two and a half hours with this `divdamp_order`. ICON compares days, hours
    and minutes one by one: PT200M has no hours, and is less to it.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejected PT30M and ran with PT3H (`mo_time_management.f90:366`; `compareTimeDelta` in
    `mtime_timedelta.c:210`). 2025.04 has another mtime, which nobody tried: of an interval that is long enough, and
    spelt so, it is a warning there.

    ## Example
    ```yaml bad
    restart: {checkpointTimeIntval: PT2H}
    #                               ^
    namelists:
      nonhydrostatic_nml: {divdamp_order: 24}
    ```
    ```yaml good
    restart: {checkpointTimeIntval: PT3H}
    namelists:
      nonhydrostatic_nml: {divdamp_order: 24}
    ```

    ## References
    ICON namelist overview, nonhydrostatic_nml.
    """

    code = "TIM010"
    name = "checkpoint-during-damping"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component["nonhydrostatic_nml", "divdamp_order"].value != 24:
            return
        if component["master_nml", "lrestart"].value is not False:
            return
        setting, interval = checkpoint_interval(component)
        if interval is not None and interval.compare(_NOTHING) != 0 and interval.compare(_SPIN_UP) == -1:
            how_often = f"{setting.value} s" if setting.name.endswith("dt_checkpoint") else setting.value
            message = f"checkpoints every {how_often} are refused with divdamp_order 24"
            found = self.finding(setting, message, "expected: PT2H30M or longer")
            is_by_parts = (_fixed_milliseconds(setting) or 0) >= _SHORTEST
            yield by_parts(component, found, is_by_parts=is_by_parts)


class NoModelTime(ComponentRule):
    """A run that stops where it starts computes nothing.

    ## What it does
    Finds a stop date that equals the start date, and `nsteps` zero.

    ## Why it matters
    The job initialises the model, writes the first output and ends.

    ## Evidence
    ICON 2024.10 refuses only a stop before the start (`mo_time_management.f90:809`).

    ## Example
    ```yaml bad
    namelists:
      run_nml: {nsteps: 0}
    #                   ^
    ```
    ```yaml good
    namelists:
      run_nml: {nsteps: 1440}
    ```

    ## References
    ICON namelist overview, master_time_control_nml and run_nml.
    """

    code = "TIM011"
    name = "no-model-time"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        time = clock(component)
        if time.length == 0:
            yield self.finding(_end(component), "the experiment stops when it starts", "expected: a later stop")
        elif time.steps_of_a_leg == 0:
            nsteps = component["run_nml", "nsteps"]
            yield self.finding(nsteps, "nsteps 0 ends every job before its first step", "expected: 1 or more")


class UnreadableTime(ComponentRule):
    """ICON's time library takes a narrower ISO 8601 than people write.

    ## What it does
    Finds a date or a duration that mtime refuses: in icon_master.namelist, the time step, and the times and intervals
    of output streams. In a spec most of them are refused before any rule looks (SPC004). Intervals over which a run
    with NWP physics adds up or takes extremes (`precip_interval`, `maxt_interval`), and those at which a run with AES
    physics calls its processes (`aes_phy_config(1)%dt_rad`), are a warning, and so is `experimentReferenceDate` beside
    a start date.

    ## Why it matters
    ICON aborts or crashes, some of it hours later, when the first checkpoint is due.

    ## Evidence
    ICON 2024.10 rejected 33 such texts, among them PT0.5H, P13M, P2W, PT30, "PT 30M", 2000-13-01 and noon. It ran with
    an `experimentReferenceDate` of "abc" beside a start date. Of AES what is read was looked at
    (`mo_aes_phy_config.f90:393`), not tried.

    ## Example
    ```yaml bad
    namelists:
      time_nml: {ini_datetime_string: 1 September 2008}
    #                                 ^
    ```
    ```yaml good
    namelists:
      time_nml: {ini_datetime_string: 2008-09-01T00:00:00Z}
    ```

    ## References
    ICON namelist overview, master_time_control_nml, time_nml, run_nml and output_nml.
    """

    code = "TIM012"
    name = "unreadable-time"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for setting in _intervals_of_physics(component):
            if setting.certainty is Certainty.UNKNOWN:
                continue
            if (found := _unreadable(setting, Duration.parse)) is not None:
                yield evolve(self.finding(*found), severity=Severity.WARNING)
        of_run = ((setting, parse, None) for setting, parse in _times(component))
        times = [*of_run, *_times_of_streams(component)]
        for setting, parse, number in sorted(times, key=lambda of: of[0].certainty is Certainty.UNKNOWN):
            if (found := _unreadable(setting, parse, number)) is not None:
                is_idle = setting is component[_TIME, _REFERENCE] and _is_set(component[_TIME, "experimentStartDate"])
                severity = Severity.WARNING if is_idle else self.severity
                yield evolve(self.finding(*found), severity=severity)


class TwoDates(ComponentRule):
    """`time_nml` has older names for the start and the stop of the experiment.

    ## What it does
    Finds `ini_datetime_string` that differs from `experimentStartDate`, and `end_datetime_string` that differs from
    `experimentStopDate`.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejected both: "Inconsistent setting of experiment start date", "... stop date"
    (`mo_time_management.f90:540,579`).

    ## Example
    ```yaml bad
    namelists:
      time_nml: {end_datetime_string: 2008-09-10T00:00:00Z}
    #                                 ^
    ```
    ```yaml good
    namelists:
      time_nml: {end_datetime_string: 2008-09-11T00:00:00Z}
    ```

    ## References
    ICON namelist overview, time_nml and master_time_control_nml.
    """

    code = "TIM013"
    name = "two-dates"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if not reads_time_nml(component):
            return
        calendar = calendar_of(component)
        for older, name in (
            ("ini_datetime_string", "experimentStartDate"),
            ("end_datetime_string", "experimentStopDate"),
        ):
            setting, date = component["time_nml", older], component[_TIME, name]
            try:
                positions = {calendar.position(Instant.parse(str(s.value).rstrip())) for s in (setting, date)}
            except ValueError:
                continue
            if len(positions) > 1:
                yield self.finding(
                    setting,
                    f"{older} {setting.value} contradicts {name} {date.value}",
                    f"expected: {name} alone, or the same date",
                )


class NoStartDate(ComponentRule):
    """An experiment has a start date.

    ## What it does
    Finds `experimentStartDate` empty or not set, and neither `experimentReferenceDate` nor `ini_datetime_string` of
    `time_nml` in its place.

    ## Why it matters
    ICON aborts once it has read all its namelists.

    ## Evidence
    ICON 2024.10: "No experiment start date has been set!" (`mo_time_management.f90:530-555`).

    ## Example
    ```yaml bad
    namelists:
      master_time_control_nml: {experimentStartDate: ""}
    #                                                ^
    ```
    ```yaml good
    namelists:
      master_time_control_nml: {experimentStartDate: 2008-09-01T00:00:00Z}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM014"
    name = "no-start-date"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if not any(_is_set(setting) for setting in _starts(component)):
            yield self.finding(
                _place(component, "experimentStartDate"),
                "the experiment has no start date",
                "expected: experimentStartDate, such as 2008-09-01T00:00:00Z",
            )


class NoStopDate(ComponentRule):
    """An experiment ends at a date or after a lead time; `nsteps` ends a job, not an experiment.

    ## What it does
    Finds `experimentStartDate` with neither `experimentStopDate` nor `forecastLeadTime`. Where the start comes from
    `experimentReferenceDate` or `time_nml`, the stop date, `end_datetime_string` of `time_nml` or `nsteps` will do,
    and a lead time will not.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejected a run with a start date and `nsteps` alone: "Need forecastLeadTime AND experimentStartDate
    set" (`mo_master_nml.f90:231-246`, `mo_time_management.f90:741-790`).

    ## Example
    ```yaml bad
    namelists:
      master_time_control_nml: {experimentStopDate: ""}
    #                                               ^
      run_nml: {nsteps: 1440}
    ```
    ```yaml good
    namelists:
      master_time_control_nml: {experimentStopDate: "", forecastLeadTime: P10D}
    output: {atm: {output_end: 2008-09-11T00:00:00Z}}
    ```

    ## References
    ICON namelist overview, master_time_control_nml.
    """

    code = "TIM015"
    name = "no-stop-date"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if not any(_is_set(setting) for setting in _starts(component)):
            return
        stop = component[_TIME, "experimentStopDate"]
        if _is_set(stop):
            return
        if _is_set(component[_TIME, "experimentStartDate"]):
            stops, expected = _is_set(component[_TIME, "forecastLeadTime"]), "experimentStopDate or forecastLeadTime"
        else:
            nsteps = component["run_nml", "nsteps"].value
            older = reads_time_nml(component) and _is_set(component["time_nml", "end_datetime_string"])
            stops, expected = older or nsteps >= 0, "experimentStopDate"
        if not stops:
            where = _place(component, "experimentStopDate")
            yield self.finding(where, "the experiment has no stop date", f"expected: {expected}")


class TwoCalendars(ComponentRule):
    """`time_nml` has an older number for the calendar, and the Julian one is gone.

    ## What it does
    Finds `calendar` of `time_nml` that is another than `calendar` of `master_time_control_nml`, where both are set,
    and the Julian-Gregorian calendar in either. 0 is Julian-Gregorian, 1 proleptic Gregorian, 2 the 360 day year;
    other numbers say nothing.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10, reading of `mo_time_management.f90:461-481`: "Inconsistent setting of calendar" and
    "Julian-Gregorian calendar unsupported by mtime library!".

    ## Example
    ```yaml bad
    namelists:
      master_time_control_nml: {calendar: proleptic gregorian}
      time_nml: {calendar: 2}
    #                      ^
    ```
    ```yaml bad
    namelists:
      master_time_control_nml: {calendar: julian gregorian}
    #                                     ^
    ```
    ```yaml good
    namelists:
      master_time_control_nml: {calendar: proleptic gregorian}
      time_nml: {calendar: 1}
    ```

    ## References
    ICON namelist overview, time_nml and master_time_control_nml.
    """

    code = "TIM016"
    name = "two-calendars"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component[_TIME, "calendar"]
        name = str(setting.value).rstrip().lower()
        if reads_time_nml(component):
            number = component["time_nml", "calendar"]
            older = _NUMBERED_CALENDARS.get(number.value, "")
            if older and name and older != name:
                yield self.finding(
                    number,
                    f'calendar {number.value} of time_nml, "{older}", contradicts calendar "{setting.value}"',
                    "expected: the calendar of master_time_control_nml alone, or the same one",
                )
                return
            if not name:
                setting, name = number, older
        if name == _JULIAN:
            yield self.finding(
                setting, "ICON no longer has the Julian-Gregorian calendar", f"expected: one of {_CALENDARS}"
            )


def _unreadable(
    setting: Setting, parse: Callable[[str], object], number: int | None = None
) -> tuple[Span | None, str, str] | None:
    """The first text of a setting, among so many, that is none for mtime, with a message and what was expected."""
    for position, text in enumerate(as_list(setting.value)[:number]):
        if not isinstance(text, str) or not text.strip():
            continue
        try:
            parse(text.rstrip().lstrip("<>") if setting.name.startswith("output_nml.") else text.rstrip())
        except ValueError as error:
            name = setting.name.rpartition(".")[2]
            return setting.element(position), f'{name} is "{text}"', str(error)
    return None


def _starts(component: Component) -> Iterator[Setting]:
    """The settings that may say when the experiment starts."""
    yield component[_TIME, "experimentStartDate"]
    yield component[_TIME, "experimentReferenceDate"]
    if reads_time_nml(component):
        yield component["time_nml", "ini_datetime_string"]


def _place(component: Component, name: str) -> Setting | Span | None:
    """Where a variable of master_time_control_nml was written, else its group, else the first of the file."""
    setting = component[_TIME, name]
    if setting.is_written:
        return setting
    group = component.group(_TIME) or next(iter(component.experiment.master), None)
    return group.span if group is not None else None


def _is_set(setting: Setting) -> bool:
    return bool(str(setting.value).strip())


def _intervals_of_physics(component: Component) -> Iterator[Setting]:
    """The intervals that the physics of this run reads."""
    forcing = component["run_nml", "iforcing"]
    if forcing.certainty is Certainty.UNKNOWN:
        return
    if forcing.value == _NWP:
        yield from (component["io_nml", name] for name in _ACCUMULATIONS)
    group = component.group("aes_phy_nml") if forcing.value == _AES else None
    for name, setting in group.settings.items() if group is not None else ():
        if name.rpartition("%")[2].startswith("dt_"):
            yield setting


def _times(component: Component) -> Iterator[tuple[Setting, Callable[[str], object]]]:
    """The settings that mtime reads and that are in force, with what reads them here."""
    for name in ("experimentStartDate", "experimentStopDate", "experimentReferenceDate"):
        yield component[_TIME, name], Instant.parse
    for name in ("checkpointTimeIntval", "restartTimeIntval"):
        yield component[_TIME, name], Duration.parse
    stop = component[_TIME, "experimentStopDate"]
    if stop.certainty is not Certainty.UNKNOWN and not stop.value:
        yield component[_TIME, "forecastLeadTime"], Duration.parse
    if reads_time_nml(component):
        for name in ("ini_datetime_string", "end_datetime_string"):
            yield component["time_nml", name], Instant.parse
    yield component["run_nml", "modelTimeStep"], Duration.parse


def _times_of_streams(component: Component) -> Iterator[tuple[Setting, Callable[[str], object], int | None]]:
    """The settings of output streams that mtime reads, with what reads them here, and of how many elements."""
    for stream in component.streams if writes_output(component) else ():
        yield component.stream_setting(stream, "file_interval"), Duration.parse, None
        if "output_bounds" not in stream.settings:
            start = component.stream_setting(stream, "output_start")
            is_known = start.certainty is not Certainty.UNKNOWN
            number = max(1, len(times_in_force(component, stream, "output_start"))) if is_known else 1
            yield start, Instant.parse, number
            yield component.stream_setting(stream, "output_end"), Instant.parse, number
            yield component.stream_setting(stream, "output_interval"), Duration.parse, number
