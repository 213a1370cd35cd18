"""When coupled components meet: the periods of couples, and the dates that coupling.yaml says."""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

from nmlgen.experiment.coupling import Couple, Coupling
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import Clock, calendar_of, clock
from nmlgen.models.icon.rules.coupled import component_of, coupling_of_run, is_coupled, period_milliseconds
from nmlgen.rules.rule import Rule
from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration

_SHORTEST_MONTH = 28 * 86_400_000  # milliseconds
_STARTS, _ENDS = ("start_date", "start_datetime"), ("end_date", "end_datetime")
"""The keys of the run's dates; those with `_datetime` are of later versions of YAC."""
_CALENDARS = {
    Calendar.PROLEPTIC_GREGORIAN: "proleptic-gregorian",
    Calendar.DAYS_365: "365d",
    Calendar.DAYS_360: "360d",
}


class CouplingPeriod(Rule):
    """The coupling period is at least a time step of both sides, and both come to the same exchanges.

    ## What it does
    Finds a `coupling_period` that is shorter than the time step of its source or its target, and one of which source
    and target meet a different number of multiples in a job, counted in steps of their own from their lags on.

    ## Why it matters
    YAC aborts at a period that is too short. Where one side exchanges more often than the other, it waits for ever for
    what the other never sends; `finish.status` may say OK before that.

    ## Evidence
    ICON 2024.10 with YAC 3.4: "model timestep is bigger than coupling timestep". With steps of 15 and of 10 minutes
    and a period of 20 the run did not end: one side meets it three times an hour, the other once. Periods of 15 minutes
    with two steps of 10, and of 45 with steps of 30 and 10, were accepted (`event.c`).

    ## Example
    ```yaml bad
    models: {atm: {time: {modelTimeStep: PT15M}}, oce: {time: {modelTimeStep: PT10M}}}
    coupling:
      coupling:
        - src_component: atm
          src_grid: icon_atmos_grid
          tgt_component: oce
          tgt_grid: icon_ocean_grid
          coupling_period: PT20M
    #                      ^
          field: [total_heat_flux]
          interpolation: [{fixed: {user_value: 0.0}}]
    ```
    ```yaml good
    models: {atm: {time: {modelTimeStep: PT15M}}, oce: {time: {modelTimeStep: PT10M}}}
    coupling:
      coupling:
        - src_component: atm
          src_grid: icon_atmos_grid
          tgt_component: oce
          tgt_grid: icon_ocean_grid
          coupling_period: PT30M
          field: [total_heat_flux]
          interpolation: [{fixed: {user_value: 0.0}}]
    ```

    ## References
    YAC 3.4, `src/mci/event.c`.
    """

    code = "CPL006"
    name = "coupling-period"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = coupling_of_run(experiment)
        if coupling is None:
            return
        for couple in coupling.couples:
            length = None if couple.period is None else period_milliseconds(coupling, couple.period)
            ends = [(side, component_of(experiment, side)) for side in (couple.source, couple.target)]
            clocks = [(side, found, clock(found)) for side, found in ends if found is not None]
            if length is None or couple.period is None:
                continue
            short = [(found, time) for _, found, time in clocks if time.step > length]
            for found, time in short[:1]:
                yield self.finding(
                    couple.period,
                    f'coupling_period {couple.period.value} is shorter than the time step of "{found.title}", '
                    f"{time.step / 1000:g} s",
                    "expected: a multiple of the time steps of both sides",
                )
            if short or len(clocks) < 2:
                continue
            counts = [_exchanges(time, length, side.lag) for side, _, time in clocks]
            if None not in counts and counts[0] != counts[1]:
                names = [found.title for _, found, _ in clocks]
                yield self.finding(
                    couple.period,
                    f'of coupling_period {couple.period.value} "{names[0]}" meets {counts[0]} multiples in a job and '
                    f'"{names[1]}" {counts[1]}: one waits for ever',
                    "expected: a multiple of the time steps of both sides",
                )


def _exchanges(time: Clock, period: int, lag: Setting | None) -> int | None:
    """How many exchanges a side comes to in the first job: the dates of its steps, its lag added, that are multiples of
    the period. None where the lag looks back."""
    steps = 0 if lag is None else int(lag.value)
    if steps < 0:
        return None
    meeting = lcm(time.step, period)
    first, last = steps * time.step, min((steps + time.leg // time.step - 1) * time.step, time.leg)
    return max(0, last // meeting - -(-first // meeting) + 1)


class IrregularCoupling(Rule):
    """A coupling period is a multiple of both time steps and divides a job.

    ## What it does
    Finds a `coupling_period` that no time step of a side divides, one that is longer than a job, and a restart interval
    or a checkpoint interval that is no multiple of it. Of one in months or years finds that it is longer than a job.

    ## Why it matters
    Fields are exchanged less often than the period says, or not at all, and what was averaged when a job ends is lost.

    ## Evidence
    ICON 2024.10 accepted periods of 45 minutes with steps of 30, of two hours in a run of one, and checkpoints between
    two exchanges. What is exchanged when follows from `event.c`: at common multiples of step and period.

    ## Example
    ```yaml bad
    coupling:
      coupling:
        - src_component: atm
          src_grid: icon_atmos_grid
          tgt_component: oce
          tgt_grid: icon_ocean_grid
          coupling_period: PT45M
    #                      ^
          field: [total_heat_flux]
          interpolation: [{fixed: {user_value: 0.0}}]
    ```
    ```yaml good
    coupling:
      coupling:
        - src_component: atm
          src_grid: icon_atmos_grid
          tgt_component: oce
          tgt_grid: icon_ocean_grid
          coupling_period: PT1H
          field: [total_heat_flux]
          interpolation: [{fixed: {user_value: 0.0}}]
    ```

    ## References
    YAC 3.4, `src/mci/event.c`.
    """

    code = "CPL007"
    name = "irregular-coupling"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = coupling_of_run(experiment)
        if coupling is None:
            return
        seen: set[int] = set()
        for couple in coupling.couples:
            if couple.period is None:
                continue
            fixed = period_milliseconds(coupling, couple.period)
            length = fixed if fixed is not None else _at_least(coupling, couple.period)
            if length <= 0 or length in seen:
                continue
            seen.add(length)
            found = (
                self._reasons(experiment, couple, length) if fixed is not None else _longer(experiment, couple, length)
            )
            reason = next(found, None)
            if reason is not None:
                yield self.finding(
                    couple.period,
                    f"coupling_period {couple.period.value} {reason}",
                    "expected: a multiple of both time steps that divides the intervals of checkpoints and restarts",
                )

    def _reasons(self, experiment: Experiment, couple: Couple, length: int) -> Iterator[str]:
        for side in (couple.source, couple.target):
            component = component_of(experiment, side)
            if component is None:
                continue
            time = clock(component)
            steps, rest = divmod(length, time.step)
            if steps and rest:
                yield f'is no multiple of the time step of "{component.title}", {time.step / 1000:g} s'
            yield from _longer(experiment, couple, length)
            if time.legs > 1 and time.leg % length:
                yield "does not divide the restart interval"
            if time.checkpoint and time.checkpoint % length:
                yield "does not divide the checkpoint interval"


def _longer(experiment: Experiment, couple: Couple, length: int) -> Iterator[str]:
    components = [component_of(experiment, side) for side in (couple.source, couple.target)]
    if any(length > clock(component).leg > 0 for component in components if component is not None):
        yield "is longer than a job: nothing is exchanged"


def _at_least(coupling: Coupling, period: Setting) -> int:
    """The milliseconds that a period in months or years has at least; 0 for one that is none."""
    if coupling.settings["timestep_unit"].value != "ISO_format":
        return 0
    duration = Duration.parse(str(period.value))
    return duration.months * _SHORTEST_MONTH + duration.milliseconds


def _end(time: Clock) -> int:
    """When a job ends, at least, without being rounded to a step: so ICON tells YAC (`mo_time_management.f90:762`)."""
    ends = [time.computed]
    if time.restart:
        ends.append(time.restart)
    if time.steps_of_a_leg is not None:
        ends.append(time.steps_of_a_leg * time.step)
    return min(ends)


class CouplingDates(Rule):
    """Calendar and dates of coupling.yaml are those of the run, and all coupled models end at one time.

    ## What it does
    Finds a `calendar` that is not the one of `master_time_control_nml`, and a `start_date` or an `end_date` that is not
    that of the job; a chain of several jobs has several, so that it takes none. Finds `nsteps` that make one of the
    models end before another.

    ## Why it matters
    YAC aborts.

    ## Evidence
    ICON 2024.10 with YAC 3.4: "inconsistent calendar definition", "inconsistent start datetime"; without these keys it
    takes what ICON says (`mo_coupling_utils.f90:229-234`). With `nsteps: 0` of the ocean alone: "inconsistent
    end_datetime definition" (`mo_time_management.f90:766`).

    ## Example
    ```yaml bad
    coupling: {calendar: 365d}
    #                    ^
    ```
    ```yaml good
    coupling: {calendar: proleptic-gregorian}
    ```

    ## References
    YAC's documentation, "YAML configuration file".
    """

    code = "CPL008"
    name = "coupling-dates"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = coupling_of_run(experiment)
        if coupling is None:
            return
        first = experiment.components[0]
        calendar = coupling.settings.get("calendar")
        own = calendar_of(first)
        if calendar is not None and calendar.value != _CALENDARS[own]:
            yield self.finding(
                calendar,
                f'calendar is "{calendar.value}", that of the experiment is "{own.value}"',
                f"expected: {_CALENDARS[own]}",
            )
            return
        yield from self._ends(experiment)
        dates = [coupling.settings[key] for key in (*_STARTS, *_ENDS) if key in coupling.settings]
        if not dates:
            return
        time = clock(first)
        begin = own.position(time.start) + time.begin
        expected = dict.fromkeys(_STARTS, begin) | dict.fromkeys(_ENDS, begin + time.leg)
        for setting in dates:
            key = setting.name.rpartition(".")[2]
            try:
                given = own.position(Instant.parse(str(setting.value)))
            except ValueError:
                yield self.finding(setting, f'{key} is "{setting.value}"', "expected: an ISO 8601 date and time")
                continue
            if given != expected[key] or time.legs > 1:
                reason = "is not that of the run" if time.legs <= 1 else "cannot be that of every job of the chain"
                yield self.finding(setting, f"{key} {setting.value} {reason}", "expected: no such key")

    def _ends(self, experiment: Experiment) -> Iterator[Finding]:
        coupled = [component for component in experiment.components if is_coupled(component)]
        limited = [one for one in coupled if clock(one).steps_of_a_leg is not None]
        for component in limited:
            time = clock(component)
            own = int(time.steps_of_a_leg or 0) * time.step
            if any(own < _end(clock(other)) for other in coupled if other is not component):
                steps = component["run_nml", "nsteps"]
                yield self.finding(
                    steps,
                    f'nsteps {steps.value} ends "{component.title}" before the models that it is coupled to',
                    "expected: all coupled models end at one time, best by experimentStopDate alone",
                )
                return
