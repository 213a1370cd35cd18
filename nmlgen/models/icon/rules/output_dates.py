"""Dates and calendars of output streams."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import level_types
from nmlgen.models.icon.rules.streams import partitions_of, setting_of, stream_name, streams_read
from nmlgen.rules.rule import ComponentRule
from nmlgen.units.calendar import Calendar

_FORECAST = 1


class BlankInStart(ComponentRule):
    """With partitions, ICON takes the blanks out of `output_start` before it reads it.

    ## What it does
    Finds an `output_start` with a blank between date and time in a stream of several partitions. Elsewhere a blank is
    as good as a T.

    ## Why it matters
    What is left is no date, and ICON aborts when output is set up.

    ## Evidence
    ICON 2024.10 with "2000-06-30 12:00:00" and two partitions: "date-time conversion error: <null>"
    (`mo_name_list_output_init.f90:1736,3262-3268`).

    ## Example
    ```yaml bad
    output: {atm: {output_start: "2008-09-01 00:00:00"}}
    #                            ^
    ```
    ```yaml good
    output: {atm: {output_start: "2008-09-01T00:00:00"}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT036"
    name = "blank-in-start"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            if all(number == 1 for number in partitions_of(component, stream).values()):
                continue
            start = setting_of(component, stream, "output_start")
            if setting_of(component, stream, "output_bounds").is_written:
                continue
            for text in as_list(start.value):
                if " " in str(text).strip().lstrip(">").strip():
                    yield self.finding(
                        start,
                        f'output_start "{text}" of the stream {stream_name(stream)} has a blank, and partitions',
                        "expected: a T between date and time",
                    )
                    break


class CalendarOfForecast(ComponentRule):
    """Time in forecast mode is counted in two calendars.

    ## What it does
    Finds a stream with `mode: 1` in a run with the calendar "365 day year".

    ## Why it matters
    ICON aborts when output is set up.

    ## Evidence
    ICON 2024.10: "Unsupported calendar!" (`mo_name_list_output_init.f90:2748-2755`; read, not tried).

    ## Example
    ```yaml bad
    namelists: {master_time_control_nml: {calendar: 365 day year}}
    output: {atm: {mode: 1}}
    #                    ^
    ```
    ```yaml good
    namelists: {master_time_control_nml: {calendar: 365 day year}}
    output: {atm: {mode: 2}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT037"
    name = "calendar-of-forecast"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            mode = setting_of(component, stream, "mode")
            if mode.value != _FORECAST or not level_types(component, stream):
                continue
            if clock(component).calendar is Calendar.DAYS_365:
                yield self.finding(mode, "mode 1 with the calendar of 365 days", "expected: mode 2")
