"""When output streams write, and when a file ends."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.output import Window, times_in_force
from nmlgen.models.icon.ranks import (
    level_types,
)
from nmlgen.models.icon.rules.streams import (
    is_blank,
    partitions_of,
    plural,
    possible_partitions_of,
    setting_of,
    short_name,
    stream_name,
    streams_read,
    windows_of,
    writes_within,
)
from nmlgen.models.icon.rules.timedeltas import by_parts
from nmlgen.rules.rule import ComponentRule
from nmlgen.units.duration import Duration
from nmlgen.units.timedelta import TimeDelta
from nmlgen.values import evolve


def _time_setting(component: Component, stream: Group, name: str) -> Setting:
    """The setting that says the output times: `name`, or output_bounds, which wins over it."""
    bounds = setting_of(component, stream, "output_bounds")
    return bounds if bounds.is_written else setting_of(component, stream, name)


class OneFileLength(ComponentRule):
    """A stream says once how long its files are: by `file_interval` or by `steps_per_file`.

    ## What it does
    Finds a stream with both of them, or with neither.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10: "Please specify either <steps_per_file> or <file_interval>!"
    (`mo_name_list_output_init.f90:484-487`).

    ## Example
    ```yaml bad
    output: {atm: {file_interval: P1D, steps_per_file: 6}}
    #                                                  ^
    ```
    ```yaml bad
    output: {atm: {file_interval: null}}
    #        ^
    ```
    ```yaml good
    output: {atm: {file_interval: P1D}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT005"
    name = "one-file-length"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            interval = setting_of(component, stream, "file_interval")
            steps = setting_of(component, stream, "steps_per_file")
            is_counted = steps.value != -1
            if is_counted and not is_blank(interval):
                message = f"steps_per_file {steps.value} and file_interval {interval.value} are both set"
                yield self.finding(steps, message, "expected: one of the two")
            if not is_counted and is_blank(interval):
                message = f"the stream {stream_name(stream)} sets neither file_interval nor steps_per_file"
                yield self.finding(stream.span, message, "expected: one of the two")


class StepsPerFileOverridden(ComponentRule):
    """A stream in partitions writes one step a file, whatever `steps_per_file` says.

    ## What it does
    Finds `steps_per_file` other than 1 in a stream with several partitions and no `file_interval`.

    ## Why it matters
    Many more files come out than were asked for.

    ## Evidence
    Seen with ICON 2024.10: 2 partitions and 2, 3, 6 or 100 steps_per_file all made files of one step
    (`mo_name_list_output_init.f90:1169-1172`). `file_interval` is obeyed.

    ## Example
    ```yaml bad
    output: {atm: {file_interval: null, steps_per_file: 24}}
    #                                                   ^
    ```
    ```yaml good
    output: {atm: {file_interval: P4D}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT006"
    name = "steps-per-file-overridden"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            steps = setting_of(component, stream, "steps_per_file")
            if steps.value in (-1, 1) or not is_blank(setting_of(component, stream, "file_interval")):
                continue
            for kind, number in partitions_of(component, stream).items():
                if number > 1:
                    yield self.finding(
                        steps,
                        f"stream_partitions_{kind} {number} overrides steps_per_file {steps.value}: each file "
                        "holds 1 step",
                        "expected: file_interval instead",
                    )
                    break


class UnevenFileInterval(ComponentRule):
    """A file should hold a whole number of the output steps that its partition writes.

    ## What it does
    Finds a `file_interval` that is shorter than, or no multiple of, the output interval times the number of
    partitions. A `file_interval` that equals the output interval asks for one step a file, and gets it.

    ## Why it matters
    Each partition writes only every n-th step, so its files hold fewer steps than `file_interval` seems to
    say, and files of unlike length where it does not divide.

    ## Evidence
    Seen with ICON 2024.10: an interval of 20 minutes and files of 30 hold 2, 1 and 1 steps; 15 minutes, 2
    partitions and files of 45 minutes hold 2, 2 and 1 (`mo_output_event_control.f90:195-251`).

    ## Example
    ```yaml bad
    output: {atm: {output_interval: PT1H, file_interval: PT6H}}
    #                                                    ^
    ```
    ```yaml good
    output: {atm: {output_interval: PT1H, file_interval: PT8H}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT007"
    name = "uneven-file-interval"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            setting = setting_of(component, stream, "file_interval")
            lengths = None if is_blank(setting) else _comparable(component, stream, setting)
            if lengths is None:
                continue
            whole, interval, shown = lengths
            for kind, number in possible_partitions_of(component, stream).items():
                step = interval * number
                if whole == interval or (whole >= step and whole % step == 0):
                    continue
                least = whole // step
                held = "1 step" if least == 0 else f"{least} or {least + 1} steps"
                relation = "shorter than" if least == 0 else "no multiple of"
                product = f"stream_partitions_{kind} {number} times the" if number > 1 else "the"
                yield self.finding(
                    setting,
                    f"file_interval {setting.value} is {relation} {product} output interval {shown}: a file holds "
                    f"{held}",
                    "expected: a multiple of the output interval times the partitions",
                )
                break


def _comparable(component: Component, stream: Group, setting: Setting) -> tuple[int, int, str] | None:
    """file_interval and the output interval in one unit, milliseconds or months, and the latter as text; None
    where they have no unit in common."""
    whole = _parsed(setting, setting.value)
    if setting_of(component, stream, "output_bounds").is_written:
        found = {window.interval for window in windows_of(component, stream, clock(component))}
        steps = {Duration(0, interval) for interval in found}
    else:
        interval = setting_of(component, stream, "output_interval")
        steps = {_parsed(interval, text) for text in times_in_force(component, stream, "output_interval")}
    if len(steps) != 1:
        return None
    step = steps.pop()
    if step.is_fixed and whole.is_fixed:
        lengths = whole.milliseconds, step.milliseconds
    elif step.milliseconds == 0 and whole.milliseconds == 0:
        lengths = whole.months, step.months
    else:
        return None
    return (*lengths, str(step)) if min(lengths) > 0 else None


def _parsed(setting: Setting, text: str) -> Duration:
    try:
        return Duration.parse(text.strip())
    except ValueError:
        raise UndecidedError(setting) from None


class OutputIntervalBelowStep(ComponentRule):
    """The model cannot write more often than it steps.

    ## What it does
    Finds an output interval shorter than the time step, unless the window is a single time, and one that ICON takes for
    shorter: it compares days, hours and minutes one by one, as each was written, so that PT24H is less than a step of a
    day, and PT60M less than one of an hour.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejects PT5M with a step of 10 minutes: "Output interval PT5M < dtime !", and zero and negative
    intervals likewise (`mo_name_list_output_init.f90:1146`; `compareTimeDelta` in `mtime_timedelta.c:210`). With
    output_start equal to output_end it accepts PT1M. 2025.04 has another mtime, which nobody tried: what only its
    spelling tells is a warning there.

    ## Example
    ```yaml bad
    output: {atm: {output_interval: PT5M, file_interval: P1D}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {output_interval: PT10M, file_interval: P1D}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT008"
    name = "output-interval-below-step"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            time = clock(component)
            short = [
                window
                for window in windows_of(component, stream, time)
                if window.start != window.stop and _is_below(window, time.step)
            ]
            if short:
                interval, step = Duration(0, short[0].interval), Duration(0, time.step)
                is_shorter = short[0].interval < time.step
                found = self.finding(
                    _time_setting(component, stream, "output_interval"),
                    f"the output interval {interval} is shorter than the time step {step}"
                    if is_shorter
                    else f"ICON takes the output interval for shorter than the time step {step}, part by part",
                    "expected: a multiple of the time step" + ("" if is_shorter else ", as P1D, PT1H or PT10M"),
                )
                yield by_parts(component, found, is_by_parts=not is_shorter)


def _is_below(window: Window, step: int) -> bool:
    """Whether ICON takes the interval for shorter than the step, which it knows in seconds."""
    if window.parts is None:
        return window.interval < step
    return window.parts.compare(TimeDelta.of_seconds(*divmod(step, 1000))) == -1


class OutputIntervalOffStep(ComponentRule):
    """Output times between two steps are moved to the step before.

    ## What it does
    Finds an output interval that is longer than the time step and no multiple of it.

    ## Why it matters
    The records do not lie where the interval says, and their distances differ.

    ## Evidence
    ICON 2024.10 accepts an interval of 25 minutes with a step of 10 and writes the step before
    (`mo_output_event_control.f90:149`).

    ## Example
    ```yaml bad
    output: {atm: {output_interval: PT25M, file_interval: PT200M}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {output_interval: PT20M, file_interval: PT160M}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT009"
    name = "output-interval-off-step"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            time = clock(component)
            found = windows_of(component, stream, time)
            setting = _time_setting(component, stream, "output_interval")
            if setting.name.endswith("output_interval"):
                texts = [str(text) for text in times_in_force(component, stream, "output_interval")]
                if not all(_parsed(setting, text).is_fixed for text in texts):
                    continue
            off = [w for w in found if w.interval > time.step and w.interval % time.step and w.stop > w.start]
            if off:
                yield self.finding(
                    setting,
                    f"the output interval {Duration(0, off[0].interval)} is no multiple of the time step "
                    f"{Duration(0, time.step)}: records carry the time of the step before",
                    "expected: a multiple of the time step",
                )


class OutputTimesMissing(ComponentRule):
    """A stream needs a start and an interval for each of its windows.

    ## What it does
    Finds a stream of any variables without `output_bounds` that lacks `output_start` or `output_interval`; one that has
    fewer intervals or fewer ends than starts, of which each triple of `output_bounds` replaces one; `output_bounds`
    that are not triples of start, end and interval, unless the last start is -1, which counts as none; and a stream for
    the coupler (`filetype` 999, `coupled_to_output` true) with more than one window. More intervals than starts are a
    warning.

    ## Why it matters
    ICON aborts when output is set up. It counts the starts, up to the first blank one, and never looks at intervals and
    ends behind them.

    ## Evidence
    ICON 2024.10: "Wrong output interval" (`mo_name_list_output_init.f90:1137`), and "date-time conversion error"
    without a start or an end (`mo_output_event_handler.f90:661`); "Output interval -PT01.000S < dtime !" for the bound
    -2 alone, and a hang for twice 5 (`mo_name_list_output_init.f90:1101`); "Must be exactly one output interval for
    yac-coupled output_nml" (`mo_output_coupling.f90:504`). A second interval of "abc" or PT0S beside one start made no
    difference (`mo_output_event_handler.f90:590`).

    ## Example
    ```yaml bad
    output: {atm: {output_interval: null}}
    #        ^
    ```
    ```yaml good
    output: {atm: {output_interval: PT2H}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT010"
    name = "output-times-missing"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            bounds = setting_of(component, stream, "output_bounds")
            values = as_list(bounds.value) if bounds.is_written else []
            number = len(values)
            if number % 3 and values[number - number % 3] != -1:
                message = f"output_bounds has {plural(number, 'value')}, which are no triples"
                yield self.finding(bounds, message, "expected: a start, an end and an interval for each window")
            replaced = number // 3
            start = setting_of(component, stream, "output_start")
            starts = _texts(start)[replaced:]
            if replaced + len(starts) > 1 and _goes_to_the_coupler(component, stream):
                yield self.finding(
                    start if starts else bounds,
                    f"the stream {stream_name(stream)} goes to the coupler, and has {replaced + len(starts)} windows",
                    "expected: one output_start, output_end and output_interval",
                )
            if not starts and (values or not level_types(component, stream)):  # or it has no file
                continue
            interval = setting_of(component, stream, "output_interval")
            intervals = _texts(interval)[replaced:]
            missing = [name for name, texts in (("output_start", starts), ("output_interval", intervals)) if not texts]
            behind = " behind output_bounds" if values else ""
            if missing:
                message = f"the stream {stream_name(stream)} sets no {' and no '.join(missing)}{behind}"
                instead = "no output_start behind output_bounds" if values else "output_bounds"
                yield self.finding(stream.span, message, f"expected: {' and '.join(missing)}, or {instead}")
            elif len(intervals) < len(starts):
                yield self.finding(
                    interval,
                    f"{plural(len(intervals), 'interval')} for {plural(len(starts), 'output_start')}{behind}",
                    "expected: one output_interval and one output_end for each output_start",
                )
                continue
            elif len(intervals) > len(starts):
                found = self.finding(
                    interval,
                    f"{plural(len(intervals), 'interval')} for {plural(len(starts), 'output_start')}{behind}: ICON "
                    f"looks at {len(starts)}",
                    "expected: one output_interval and one output_end for each output_start",
                )
                yield evolve(found, severity=Severity.WARNING)
            ends = _texts(setting_of(component, stream, "output_end"))[replaced:]
            if not missing and len(ends) < len(starts) and level_types(component, stream):
                yield self.finding(
                    setting_of(component, stream, "output_end") if ends else stream.span,
                    f"{plural(len(ends), 'output_end')} for {plural(len(starts), 'output_start')}{behind}",
                    "expected: one output_interval and one output_end for each output_start",
                )


def _goes_to_the_coupler(component: Component, stream: Group) -> bool:
    """Whether its variables are offered to another program, and no file is written."""
    is_offered = component["coupling_mode_nml", "coupled_to_output"].value is True
    return is_offered and setting_of(component, stream, "filetype").value == _TO_THE_COUPLER


_TO_THE_COUPLER = 999


def _texts(setting: Setting) -> list[str]:
    """The elements that are not blank."""
    return [text for text in as_list(setting.value) if text.strip()]


class NeverWrites(ComponentRule):
    """A stream whose window lies outside the run writes nothing.

    ## What it does
    Finds a stream that starts after the end of the experiment, ends before its start, or ends before it starts.

    ## Why it matters
    ICON accepts the stream and writes nothing. For a measurement without output this is what one wants: suppress the
    rule with that reason.

    ## Evidence
    ICON 2024.10 with output_start after output_end finished without a file; times outside the run are dropped
    (`mo_output_event_handler.f90:688-994`).

    ## Example
    ```yaml bad
    output: {atm: {output_start: 2010-01-01T00:00:00Z, output_end: 2010-02-01T00:00:00Z}}
    #                            ^
    ```
    ```yaml good
    output: {atm: {output_start: 2008-09-02T00:00:00Z, output_end: 2008-09-05T00:00:00Z}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT022"
    name = "never-writes"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            if not level_types(component, stream):
                continue
            time = clock(component)
            found = windows_of(component, stream, time)
            if time.length < 0 or writes_within(found, time.length):
                continue
            if found[0].start > time.length:
                name, reason = "output_start", "lies after the end of the experiment"
            elif found[0].stop < 0:
                name, reason = "output_end", "lies before the start of the experiment"
            else:
                name, reason = "output_end", "lies before output_start"
            setting = _time_setting(component, stream, name)
            shown = f"{name} {as_list(setting.value)[0]}"
            if short_name(setting) != name:
                shown = f"{name.removeprefix('output_')} of output_bounds"
            yield self.finding(
                setting,
                f"the stream {stream_name(stream)} never writes: the {shown} {reason}",
                "expected: a window that touches the experiment",
            )


class PartitionsLoseEnds(ComponentRule):
    """In partitions the `>` of `output_start` and `include_last` have no effect.

    ## What it does
    Finds, in a stream with several partitions, an `output_start` with `>`, and an `include_last: true` that somebody
    wrote for an experiment that does not end at an output time.

    ## Why it matters
    The start is written although it was excluded; the end is not written although it was asked for.

    ## Evidence
    ICON 2024.10 with 2 partitions, an interval of 40 minutes and include_last wrote last at 00:40 of an experiment
    that ends at 01:00; the `>` is lost in `mo_name_list_output_init.f90:1100-1230` (read, not tried).

    ## Example
    ```yaml bad
    output: {atm: {output_start: ">2008-09-01T00:00:00Z"}}
    #                            ^
    ```
    ```yaml bad
    output: {atm: {include_last: true, output_interval: PT7H, file_interval: PT28H}}
    #                            ^
    ```
    ```yaml good
    output: {atm: {output_start: 2008-09-01T01:00:00Z, include_last: true}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT023"
    name = "partitions-lose-ends"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            several = [kind for kind, number in partitions_of(component, stream).items() if number > 1]
            if not several:
                continue
            partitions = f"stream_partitions_{several[0]}"
            start = _time_setting(component, stream, "output_start")
            if any(isinstance(text, str) and text.startswith(">") for text in as_list(start.value)):
                yield self.finding(
                    start,
                    f'the ">" of output_start is lost with {partitions}: the start itself is written too',
                    "expected: an output_start one interval later, without the sign",
                )
            last = setting_of(component, stream, "include_last")
            if last.is_written and last.value and _misses_end(component, stream):
                yield self.finding(
                    last,
                    f"include_last is lost with {partitions}: the end of the experiment is not written",
                    "expected: an output interval that meets the end, or one partition",
                )


def _misses_end(component: Component, stream: Group) -> bool:
    """Whether the last window reaches the end of the experiment and has no output time there."""
    time = clock(component)
    window = windows_of(component, stream, time)[-1]
    if window.interval <= 0 or not window.start <= time.length <= window.stop:
        return False
    return (time.length - window.start) % window.interval != 0
