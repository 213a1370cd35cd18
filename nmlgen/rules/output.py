"""Output streams: who writes which file, when a file ends, and what is lost without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from math import isfinite

from nmlgen.experiment.clock import Clock
from nmlgen.experiment.experiment import Experiment, Group, as_list
from nmlgen.experiment.output import Window, files_of_a_sequence, output_steps, windows
from nmlgen.experiment.ranks import (
    LEVEL_TYPES,
    OutputFile,
    PlacementError,
    domains,
    level_types,
    output_files,
    partition_count,
    placement,
)
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.rules.parallel import (
    MOST_IO_RANKS,
    is_well_typed,
    lacks_io_ranks,
    model_clock,
    rank_split,
    task_count,
    well_typed,
    writes_streams,
)
from nmlgen.rules.rule import Rule
from nmlgen.units.duration import Duration

_MOST_PARTITIONS = 256
_MANY_STEPS = 100
_MOST_FILES = 9999
_OPERATIONS = ("mean", "max", "min", "square", "acc")
_KEYWORDS = ("none", "nml", "totint", "maxwinds", "default")
_COUNTERS = ("<jfile>", "<total_index>")
_DATES = ("<datetime>", "<datetime2>", "<datetime3>", "<ddhhmmss>", "<dddhhmmss>", "<hhhmmss>")
_EXTENSIONS = {2: ".grb", 4: ".nc", 5: ".nc"}
_UNITS = {"pl": "Pa", "hl": "m", "il": "K"}
_SHOWN = 4


def _streams(experiment: Experiment) -> Iterator[Group]:
    """The streams that ICON reads, as far as their values have the types of their variables."""
    if writes_streams(experiment):
        yield from (stream for stream in experiment.streams if _is_sound(experiment, stream))


def _is_sound(experiment: Experiment, stream: Group) -> bool:
    return _ill_typed(experiment, stream) is None


def _ill_typed(experiment: Experiment, stream: Group) -> Setting | None:
    """The first setting of a stream whose value has another type than its variable."""
    wrong = (setting for setting in stream.settings.values() if not is_well_typed(experiment, setting))
    return next(wrong, None)


def _of(experiment: Experiment, stream: Group, name: str) -> Setting:
    return experiment.stream_setting(stream, name)


def _partitions(experiment: Experiment, stream: Group) -> dict[str, int]:
    """The partitions of each level type that the stream writes."""
    return {kind: partition_count(experiment, stream, kind) for kind in level_types(experiment, stream)}


def _possible_partitions(experiment: Experiment, stream: Group) -> dict[str, int]:
    """The partitions of each level type as far as ICON can work with their number."""
    found = _partitions(experiment, stream).items()
    return {kind: number for kind, number in found if 0 < number <= _MOST_PARTITIONS}


def _is_blank(setting: Setting) -> bool:
    """Whether no text was given, or only blanks."""
    return not str(setting.value).strip()


def _called(stream: Group) -> str:
    """What a message calls a stream."""
    if stream.label:
        return stream.label
    name = stream.settings.get("output_filename")
    return str(name.value) if name is not None and name.certainty is Certainty.WRITTEN else "without a name"


def _windows(experiment: Experiment, stream: Group, time: Clock) -> tuple[Window, ...]:
    """The output windows of a stream that is sound; raises UndecidedError if there is none."""
    bounds = _of(experiment, stream, "output_bounds")
    if bounds.is_written and not all(isfinite(value * 1e12) for value in as_list(bounds.value)):
        raise UndecidedError(bounds)
    found = windows(experiment, stream, time)
    if not found:
        raise UndecidedError(bounds)
    return found


def _time_setting(experiment: Experiment, stream: Group, name: str) -> Setting:
    """The setting that says the output times: `name`, or output_bounds, which wins over it."""
    bounds = _of(experiment, stream, "output_bounds")
    return bounds if bounds.is_written else _of(experiment, stream, name)


def _writes(found: tuple[Window, ...], length: int) -> bool:
    """Whether an output time may fall into a run of this length."""
    return any(max(window.start, 0) <= min(window.stop, length) for window in found)


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _numbers(ranks: list[int]) -> str:
    """Rank numbers in a list that stays short."""
    shown = ", ".join(str(rank) for rank in ranks[:_SHOWN])
    more = f" and {len(ranks) - _SHOWN} more" if len(ranks) > _SHOWN else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {shown}{more}"


def _load(experiment: Experiment) -> tuple[list[OutputFile], ...]:
    """What each I/O rank writes; empty where none is set apart, nothing is written, or ICON refuses to start."""
    count = rank_split(experiment)
    kind = well_typed(experiment, "parallel_nml", "pio_type").value
    if not 0 < count.io <= MOST_IO_RANKS or count.work < 1 or kind != 1 or not writes_streams(experiment):
        return ()
    for stream in experiment.streams:
        if (wrong := _ill_typed(experiment, stream)) is not None:
            raise UndecidedError(wrong)
        if not all(0 < number <= _MOST_PARTITIONS for number in _partitions(experiment, stream).values()):
            return ()
    load: tuple[list[OutputFile], ...] = tuple([] for _ in range(count.io))
    try:
        for file, rank in placement(experiment):
            load[rank].append(file)
    except PlacementError:
        return ()
    return load if any(load) else ()


def _only_sequence(load: tuple[list[OutputFile], ...]) -> OutputFile | None:
    """A file of the one stream, level type and domain that is written, if there is but one; else None."""
    files = [file for files in load for file in files]
    kinds = {(file.stream, file.level_type, file.domain) for file in files}
    return files[0] if len(kinds) == 1 else None


def _differs(load: tuple[list[OutputFile], ...]) -> bool:
    """Whether there is but one sequence of files, split into another number than there are I/O ranks."""
    only = _only_sequence(load)
    return only is not None and only.partitions != len(load)


class PartitionsUnlikeIoRanks(Rule):
    """A single output stream is best split into as many partitions as there are I/O ranks.

    ## What it does
    Finds an experiment with one output stream of one level type and one domain whose `stream_partitions`
    differ from the number of I/O ranks.

    ## Why it matters
    One file is written by one rank. With fewer partitions than ranks some ranks idle; with more, a rank
    writes several files one after the other.

    ## Evidence
    Seen with ICON 2024.10: three I/O ranks and one file leave two ranks without work. In all 36 asynchronous
    output runs measured on Levante the two numbers were equal, after trials had shown that they should be.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 4}
    output: {atm: {stream_partitions_ml: 2}}
    #                                    ^
    ```
    ```yaml good
    parallel: {num_io_procs: 8}
    output: {atm: {stream_partitions_ml: 8}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), sections 5.2.1 and 6.2.
    """

    code = "OUT001"
    name = "partitions-unlike-io-ranks"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        load = _load(experiment)
        only = _only_sequence(load)
        if only is None or not _differs(load):
            return
        ranks, name = len(load), f"stream_partitions_{only.level_type}"
        setting = _of(experiment, only.stream, name)
        idle = sum(1 for files in load if not files)
        outcome = f"{_plural(idle, 'rank')} without a file" if idle else "ranks with several files"
        advice = f"expected: {name} {ranks}, or num_io_procs {only.partitions}"
        if _of(experiment, only.stream, "operation").value in _OPERATIONS:
            advice = "expected: num_io_procs 1, for a stream with an operation cannot be partitioned"
        yield self.finding(
            setting if setting.is_written else experiment["parallel_nml", "num_io_procs"],
            f"the only output stream has {_plural(only.partitions, 'partition')} for {_plural(ranks, 'I/O rank')}: "
            f"{outcome}",
            advice,
        )


class IdleIoRanks(Rule):
    """An I/O rank without a file has nothing to do.

    ## What it does
    Counts the files of all streams, level types, domains and partitions, gives them to the I/O ranks as ICON
    does, and finds ranks that get none.

    ## Why it matters
    The idle ranks are lost for computing.

    ## Evidence
    ICON 2024.10 gives files with `pe_placement` to the rank named and all others round robin to the remaining
    ranks (`mo_name_list_output_init.f90:1376-1470`); 34 runs of the real model were compared rank by rank.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 6}
    #                        ^
    output: {atm: {stream_partitions_pl: 1, pl_varlist: [temp], p_levels: [50000.0]}}
    ```
    ```yaml good
    parallel: {num_io_procs: 5}
    output: {atm: {stream_partitions_pl: 1, pl_varlist: [temp], p_levels: [50000.0]}}
    ```

    ## References
    ICON namelist overview, output_nml and parallel_nml.
    """

    code = "OUT002"
    name = "idle-io-ranks"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        load = _load(experiment)
        idle = [rank for rank, files in enumerate(load) if not files]
        if idle and not _differs(load):
            files = sum(len(files) for files in load)
            yield self.finding(
                experiment["parallel_nml", "num_io_procs"],
                f"{len(idle)} of {_plural(len(load), 'I/O rank')} write nothing, counted from 0: {_numbers(idle)}",
                f"expected: num_io_procs {len(load) - len(idle)}, or more stream_partitions; the streams make "
                f"{_plural(files, 'file')} at a time",
            )


class UnevenIoRanks(Rule):
    """An I/O rank with more files than the others is the one that everybody waits for.

    ## What it does
    Gives the files of all streams, level types, domains and partitions to the I/O ranks as ICON does, and
    finds ranks that get more files than others. Where ranks idle, that is reported instead.

    ## Why it matters
    A rank writes its files one after the other; at the next output step of one of them the work ranks wait
    until it is done.

    ## Evidence
    ICON 2024.10, `mo_name_list_output_init.f90:1376-1470` (placement; compared with 34 runs of the real
    model) and `mo_name_list_output.f90:3575-3630` (waiting). The size of the files plays no part in the
    placement.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 4}
    #                        ^
    output: {atm: {pl_varlist: [temp], p_levels: [50000.0]}}
    ```
    ```yaml good
    parallel: {num_io_procs: 5}
    output: {atm: {pl_varlist: [temp], p_levels: [50000.0]}}
    ```

    ## References
    ICON namelist overview, output_nml and parallel_nml.
    """

    code = "OUT003"
    name = "uneven-io-ranks"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        load = _load(experiment)
        sizes = Counter(len(files) for files in load)
        if len(sizes) < 2 or 0 in sizes or _differs(load):
            return
        most, least = max(sizes), min(sizes)
        busy = [rank for rank, files in enumerate(load) if len(files) == most]
        served = ", ".join(f"{_called(file.stream)} ({file.level_type})" for file in load[busy[0]][:_SHOWN])
        total = sum(len(files) for files in load)
        yield self.finding(
            experiment["parallel_nml", "num_io_procs"],
            f"{total} files on {len(load)} I/O ranks: {_numbers(busy)} (counted from 0) "
            f"{'writes' if len(busy) == 1 else 'write'} {most} files, others {least}",
            f"I/O rank {busy[0]} writes {served}",
            f"expected: num_io_procs {total}, or stream_partitions that come out even",
        )


class SynchronousOutput(Rule):
    """Without I/O ranks every output step stops the whole model.

    ## What it does
    Finds `num_io_procs` 0 in a job of several tasks that has at least 100 output steps.

    ## Why it matters
    Work rank 0 gathers and writes every field while all others wait.

    ## Evidence
    Measured on Levante over 10 days with output every 4 minutes, R2B5: 2636 s without I/O ranks and 1504 s
    with 4 on one node, 3107 s and 727 s (with 16) on two nodes. With output every 12 minutes 1818 s and 1427
    s, 1541 s and 741 s. In each of six families of seven runs the one without I/O ranks was the slowest or
    the second slowest.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 0}
    #                        ^
    ```
    ```yaml good
    parallel: {num_io_procs: 0}
    output: {atm: {output_interval: P1D, file_interval: P4D}}
    ```

    ## References
    F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON (2025), section 5.2.1.
    """

    code = "OUT004"
    name = "synchronous-output"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        procs = well_typed(experiment, "parallel_nml", "num_io_procs")
        pio_type = well_typed(experiment, "parallel_nml", "pio_type")
        if procs.value != 0 or pio_type.value == 2 or not lacks_io_ranks(experiment):
            return
        steps = 0
        for stream in _streams(experiment):
            if level_types(experiment, stream):
                time = model_clock(experiment)
                _windows(experiment, stream, time)
                steps += output_steps(experiment, stream, time)
        if steps >= _MANY_STEPS:
            yield self.finding(
                procs,
                f"all {task_count(experiment)} tasks wait at each of {steps} output steps, for there is no I/O rank",
                "expected: num_io_procs 1 or more",
            )


class OneFileLength(Rule):
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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            interval = _of(experiment, stream, "file_interval")
            steps = _of(experiment, stream, "steps_per_file")
            is_counted = steps.value != -1
            if is_counted and not _is_blank(interval):
                message = f"steps_per_file {steps.value} and file_interval {interval.value} are both set"
                yield self.finding(steps, message, "expected: one of the two")
            if not is_counted and _is_blank(interval):
                message = f"the stream {_called(stream)} sets neither file_interval nor steps_per_file"
                yield self.finding(stream.span, message, "expected: one of the two")


class StepsPerFileOverridden(Rule):
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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            steps = _of(experiment, stream, "steps_per_file")
            if steps.value in (-1, 1) or not _is_blank(_of(experiment, stream, "file_interval")):
                continue
            for kind, number in _partitions(experiment, stream).items():
                if number > 1:
                    yield self.finding(
                        steps,
                        f"stream_partitions_{kind} {number} overrides steps_per_file {steps.value}: each file "
                        "holds 1 step",
                        "expected: file_interval instead",
                    )
                    break


class UnevenFileInterval(Rule):
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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            setting = _of(experiment, stream, "file_interval")
            lengths = None if _is_blank(setting) else _comparable(experiment, stream, setting)
            if lengths is None:
                continue
            whole, interval, shown = lengths
            for kind, number in _possible_partitions(experiment, stream).items():
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


def _comparable(experiment: Experiment, stream: Group, setting: Setting) -> tuple[int, int, str] | None:
    """file_interval and the output interval in one unit, milliseconds or months, and the latter as text; None
    where they have no unit in common."""
    whole = _parsed(setting, setting.value)
    if _of(experiment, stream, "output_bounds").is_written:
        found = {window.interval for window in _windows(experiment, stream, model_clock(experiment))}
        steps = {Duration(0, interval) for interval in found}
    else:
        interval = _of(experiment, stream, "output_interval")
        steps = {_parsed(interval, text) for text in as_list(interval.value)}
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


class OutputIntervalBelowStep(Rule):
    """The model cannot write more often than it steps.

    ## What it does
    Finds an output interval shorter than the time step, unless the window is a single time.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejects PT5M with a step of 10 minutes: "Output interval PT5M < dtime !", and zero and negative
    intervals likewise (`mo_name_list_output_init.f90:1146`). With output_start equal to output_end it accepts PT1M.

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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            time = model_clock(experiment)
            short = [
                window
                for window in _windows(experiment, stream, time)
                if window.interval < time.step and window.start != window.stop
            ]
            if short:
                yield self.finding(
                    _time_setting(experiment, stream, "output_interval"),
                    f"the output interval {Duration(0, short[0].interval)} is shorter than the time step "
                    f"{Duration(0, time.step)}",
                    "expected: a multiple of the time step",
                )


class OutputIntervalOffStep(Rule):
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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            time = model_clock(experiment)
            found = _windows(experiment, stream, time)
            setting = _time_setting(experiment, stream, "output_interval")
            if setting.name.endswith("output_interval"):
                texts = [str(text) for text in as_list(setting.value)]
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


class OutputTimesMissing(Rule):
    """A stream needs a start and an interval for each of its windows.

    ## What it does
    Finds a stream without `output_bounds` that lacks `output_start` or `output_interval`, or has fewer
    intervals than starts, and `output_bounds` that are not triples of start, end and interval.

    ## Why it matters
    ICON aborts when output is set up.

    ## Evidence
    ICON 2024.10: "Wrong output interval" (`mo_name_list_output_init.f90:1137`), and "date-time conversion error"
    without a start.

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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            bounds = _of(experiment, stream, "output_bounds")
            if bounds.is_written:
                number = len(as_list(bounds.value))
                if number % 3 and as_list(bounds.value)[number - number % 3] > -1:
                    message = f"output_bounds has {_plural(number, 'value')}, which are no triples"
                    yield self.finding(bounds, message, "expected: a start, an end and an interval for each window")
                continue
            starts = _texts(_of(experiment, stream, "output_start"))
            interval = _of(experiment, stream, "output_interval")
            missing = [
                name
                for name, texts in (("output_start", starts), ("output_interval", _texts(interval)))
                if not texts
            ]
            if missing:
                message = f"the stream {_called(stream)} sets no {' and no '.join(missing)}"
                yield self.finding(stream.span, message, f"expected: {' and '.join(missing)}, or output_bounds")
            elif len(_texts(interval)) < len(starts):
                yield self.finding(
                    interval,
                    f"{_plural(len(_texts(interval)), 'interval')} for {_plural(len(starts), 'output_start')}",
                    "expected: one output_interval and one output_end for each output_start",
                )


def _texts(setting: Setting) -> list[str]:
    """The elements that are not blank."""
    return [text for text in as_list(setting.value) if text.strip()]


class SameFileName(Rule):
    """Two streams must not write into the same file.

    ## What it does
    Finds two sequences of files of different streams, level types or domains whose names come out the same. With a
    date in `filename_format` both must begin at the same time; other keywords are compared as they stand.

    ## Why it matters
    ICON aborts when output is initialised; between streams with different `ready_file` it does not notice, and one
    overwrites the other.

    ## Evidence
    ICON 2024.10: "Ambiguous output file name: 'atm_ml_DOM01_ML_0001.nc'" (`mo_output_event_handler.f90:1348`). One
    name with two level types is accepted, for the default `filename_format` tells them apart.

    ## Example
    ```yaml bad
    output:
      atm: {output_filename: output/run, stream_partitions_ml: 2}
      sea: {output_filename: output/run, output_interval: PT1H, file_interval: P1D, ml_varlist: [temp],
    #                        ^
            stream_partitions_ml: 2}
    ```
    ```yaml good
    output:
      atm: {output_filename: output/run, stream_partitions_ml: 2}
      sea: {output_filename: output/sea, output_interval: PT1H, file_interval: P1D, ml_varlist: [temp],
            stream_partitions_ml: 2}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT011"
    name = "same-file-name"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        sequences: dict[tuple[str, object], OutputFile] = {}
        reported: list[Group] = []
        for file in _sequences(experiment):
            key = _identity(experiment, file)
            if key is None or file.stream in reported:
                continue
            first = sequences.setdefault(key, file)
            same = (first.stream, first.level_type, first.domain) == (file.stream, file.level_type, file.domain)
            if first is file or same:
                continue
            reported.append(file.stream)
            name = "output_filename" if first.stream is not file.stream else "filename_format"
            other = f"the stream {_called(first.stream)}"
            if first.stream is file.stream:
                other = f"its level type {first.level_type}, domain {first.domain}"
            yield self.finding(
                _of(experiment, file.stream, name),
                f"the stream {_called(file.stream)} ({file.level_type}) writes into the files of {other}: {key[0]}",
                f"expected: another {name}",
            )


def _sequences(experiment: Experiment) -> Iterator[OutputFile]:
    """The first partition of every sequence of files of the sound streams."""
    sound = list(_streams(experiment))
    well_typed(experiment, "grid_nml", "dynamics_grid_filename")
    numbers = [number for stream in sound for number in _partitions(experiment, stream).values()]
    if len(sound) == len(experiment.streams) and all(number <= _MOST_PARTITIONS for number in numbers):
        yield from (file for file in output_files(experiment) if file.partition == 1)


def _name_of(experiment: Experiment, file: OutputFile) -> str:
    """The files' name with what is fixed for a sequence filled in."""
    stream = file.stream
    known = {
        "<output_filename>": str(_of(experiment, stream, "output_filename").value).strip(),
        "<levtype>": file.level_type.upper(),
        "<levtype_l>": file.level_type,
        "<physdom>": f"{file.domain:02d}",
        "<npartitions>": str(file.partitions),
    }
    name = str(_of(experiment, stream, "filename_format").value).strip()
    for keyword, text in known.items():
        name = name.replace(keyword, text)
    extension = str(_of(experiment, stream, "filename_extn").value).strip()
    if extension.lower() == "default":
        extension = _EXTENSIONS.get(_of(experiment, stream, "filetype").value, "")
    return name + extension


def _identity(experiment: Experiment, file: OutputFile) -> tuple[str, object] | None:
    """The name and, where a date is part of it, the first time; None if nothing is written or none is certain."""
    time = model_clock(experiment)
    found = _windows(experiment, file.stream, time)
    if not _writes(found, time.length):
        return None
    name = _name_of(experiment, file)
    if not any(keyword in name for keyword in _DATES):
        return name, None
    starts = as_list(_of(experiment, file.stream, "output_start").value)
    if found[0].start < 0 or any(str(text).startswith(">") for text in starts):
        return None
    return name, found[0].start


class ConstantFileName(Rule):
    """Several files need names that differ.

    ## What it does
    Finds a `filename_format` with neither a counter nor a date in a stream that writes several files.

    ## Why it matters
    ICON aborts when output is initialised.

    ## Evidence
    ICON 2024.10: "Ambiguous output file name: 'always.nc'" (`mo_output_event_control.f90:355`).

    ## Example
    ```yaml bad
    output: {atm: {filename_format: <output_filename>_<levtype>}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {filename_format: <output_filename>_<levtype>_<datetime2>}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT012"
    name = "constant-file-name"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            form = _of(experiment, stream, "filename_format")
            if any(keyword in form.value for keyword in (*_COUNTERS, *_DATES)):
                continue
            for kind, number in _possible_partitions(experiment, stream).items():
                files = _files(experiment, stream, kind)
                if files > 1 or (files == 1 and number > 1 and "<ifile_partition>" not in form.value):
                    yield self.finding(
                        form,
                        f'filename_format "{form.value}" gives the {kind} files of the stream {_called(stream)} '
                        "one and the same name",
                        f"expected: a counter or a date in it, such as {_COUNTERS[0]} or {_DATES[1]}",
                    )
                    break


def _files(experiment: Experiment, stream: Group, level_type: str) -> int:
    """How many files one partition of a stream writes in the whole experiment; 0 where ICON would not start."""
    time = model_clock(experiment)
    if any(window.interval <= 0 for window in _windows(experiment, stream, time)):
        return 0
    return files_of_a_sequence(experiment, stream, level_type, time)


class NoPartitions(Rule):
    """A stream in no partition is not written.

    ## What it does
    Finds `stream_partitions` of zero or less for a level type that the stream writes.

    ## Why it matters
    ICON accepts it and writes nothing: the output is lost.

    ## Evidence
    ICON 2024.10 with 0 and with -1 finished without a file and without a message.

    ## Example
    ```yaml bad
    output: {atm: {stream_partitions_ml: 0}}
    #                                    ^
    ```
    ```yaml good
    output: {atm: {stream_partitions_ml: 4}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT013"
    name = "no-partitions"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            for kind, number in _partitions(experiment, stream).items():
                if number < 1:
                    yield self.finding(
                        _of(experiment, stream, f"stream_partitions_{kind}"),
                        f"stream_partitions_{kind} is {number}: the {kind} output of the stream "
                        f"{_called(stream)} is not written",
                        "expected: 1 or more",
                    )


class PartitionsBeyondLimit(Rule):
    """ICON has room for 256 partitions of a stream.

    ## What it does
    Finds `stream_partitions` above 256 for a level type that the stream writes.

    ## Why it matters
    ICON does not check it and reads beyond the end of an array.

    ## Evidence
    ICON 2024.10, `mo_name_list_output_init.f90:1169-1172`; `pe_placement_ml` and its like have 256 elements.

    ## Example
    ```yaml bad
    output: {atm: {stream_partitions_ml: 300}}
    #                                    ^
    ```
    ```yaml good
    output: {atm: {stream_partitions_ml: 4}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT014"
    name = "partitions-beyond-limit"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            for kind, number in _partitions(experiment, stream).items():
                if number > _MOST_PARTITIONS:
                    yield self.finding(
                        _of(experiment, stream, f"stream_partitions_{kind}"),
                        f"stream_partitions_{kind} {number} is more than ICON has room for",
                        f"expected: at most {_MOST_PARTITIONS}",
                    )


class ImpossiblePlacement(Rule):
    """`pe_placement` names I/O ranks, counted from 0, and must leave one for the files it does not name.

    ## What it does
    Finds a `pe_placement` below -1 or beyond the last I/O rank (without I/O ranks only 0 is one), and placements that
    take every rank while other files remain.

    ## Why it matters
    ICON aborts when output is initialised; a rank too high by one crashes in MPI.

    ## Evidence
    ICON 2024.10: "Invalid explicit placement of IO rank!", "No I/O proc left after explicit placement!", and
    "MPI_ERR_RANK: invalid rank" for 1 with one I/O rank (`mo_name_list_output_init.f90:1376-1470`).

    ## Example
    ```yaml bad
    output: {atm: {pe_placement_ml: [0, 1, 2, 4]}}
    #                               ^
    ```
    ```yaml good
    output: {atm: {pe_placement_ml: [0, 1, 2, 3]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT015"
    name = "impossible-placement"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        count = rank_split(experiment)
        if count.work < 1 or count.io > MOST_IO_RANKS:
            return
        ranks = max(1, count.io)
        placements = list(_placements(experiment))
        are = f"there {'is' if ranks == 1 else 'are'} {ranks}"
        wrong = False
        for setting, named in placements:
            for rank in [rank for rank in named if rank < -1 or rank >= ranks][:1]:
                wrong = True
                yield self.finding(
                    setting,
                    f"{_short_name(setting)} names I/O rank {rank}, {are}",
                    f"expected: {'0' if ranks == 1 else f'0 to {ranks - 1}'}, or -1 for ICON's own choice",
                )
        taken = {rank for _, named in placements for rank in named if rank >= 0}
        if not wrong and len(taken) == ranks and any(-1 in named for _, named in placements):
            setting = next(setting for setting, named in placements if any(rank >= 0 for rank in named))
            yield self.finding(
                setting,
                f"the explicit placement takes {'the only I/O rank' if ranks == 1 else f'all {ranks} I/O ranks'} "
                "and leaves none for the other files",
                "expected: a pe_placement for every file, or more I/O ranks",
            )


def _placements(experiment: Experiment) -> Iterator[tuple[Setting, list[int]]]:
    """Each pe_placement that counts, with the rank it names for each partition; -1 where it names none."""
    for stream in _streams(experiment):
        for kind, number in _possible_partitions(experiment, stream).items():
            setting = _of(experiment, stream, f"pe_placement_{kind}")
            named = as_list(setting.value)[:number]
            yield setting, named + [-1] * (number - len(named))


def _short_name(setting: Setting) -> str:
    return setting.name.rpartition(".")[2]


class OperationWithPartitions(Rule):
    """A statistic over time cannot be written in partitions.

    ## What it does
    Finds a stream with an `operation` and a `stream_partitions` above 1, of whatever level type.

    ## Why it matters
    ICON aborts when output is initialised.

    ## Evidence
    ICON 2024.10: "only supported on global domain 1 and without stream partitioning"
    (`mo_derived_variable_handling.f90:139-142`; read, not tried).

    ## Example
    ```yaml bad
    output: {atm: {operation: mean, stream_partitions_ml: 4}}
    #                                                     ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    output: {atm: {operation: mean, stream_partitions_ml: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT016"
    name = "operation-with-partitions"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            operation = _of(experiment, stream, "operation").value.rstrip()
            if operation not in _OPERATIONS:
                continue
            for kind in LEVEL_TYPES:
                setting = _of(experiment, stream, f"stream_partitions_{kind}")
                if setting.value > 1:
                    yield self.finding(
                        setting,
                        f'operation "{operation}" does not go with {_short_name(setting)} {setting.value}',
                        "expected: one partition, or no operation",
                    )
                    break


class UnknownOperation(Rule):
    """ICON knows five operations, in lower case only.

    ## What it does
    Finds an `operation` other than mean, max, min, square and acc.

    ## Why it matters
    ICON says nothing and writes instantaneous values.

    ## Evidence
    ICON 2024.10 accepted "median" and ran (`mo_derived_variable_handling.f90:78,101`).

    ## Example
    ```yaml bad
    output: {atm: {operation: MEAN}}
    #                         ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    output: {atm: {operation: mean, stream_partitions_ml: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT017"
    name = "unknown-operation"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            setting = _of(experiment, stream, "operation")
            if setting.value.strip() and setting.value.rstrip() not in _OPERATIONS:
                yield self.finding(
                    setting,
                    f'ICON has no operation "{setting.value}" and writes instantaneous values',
                    f"expected: one of {', '.join(_OPERATIONS)}",
                )


class LevelsMissing(Rule):
    """Output on pressure, height or isentropic levels needs the levels.

    ## What it does
    Finds `pl_varlist`, `hl_varlist` or `il_varlist` without `p_levels`, `h_levels` or `i_levels`.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10: "Input from output_nml: requested height interpolation without specifying levels!"
    (`mo_name_list_output_init.f90:755`).

    ## Example
    ```yaml bad
    output: {atm: {stream_partitions_ml: 3, pl_varlist: [temp]}}
    #                                                   ^
    ```
    ```yaml good
    output: {atm: {stream_partitions_ml: 3, pl_varlist: [temp], p_levels: [85000.0, 50000.0]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT018"
    name = "levels-missing"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            for kind in level_types(experiment, stream):
                if kind == "ml":
                    continue
                name = f"{kind[0]}_levels"
                if all(level < 0 for level in as_list(_of(experiment, stream, name).value)):
                    yield self.finding(
                        _of(experiment, stream, f"{kind}_varlist"),
                        f"the stream {_called(stream)} sets {kind}_varlist and no {name}",
                        f"expected: {name} in {_UNITS[kind]}",
                    )


class OutputNotEnabled(Rule):
    """Output streams are read only if `run_nml: output` contains `nml`.

    ## What it does
    Finds output streams in an experiment whose `run_nml: output` has no `nml`.

    ## Why it matters
    ICON does not even read the streams: nothing is written, and nothing is said.

    ## Evidence
    ICON 2024.10 with "totint" or an empty text finished without any of the stream's files; without `output` it writes
    them, as with "nml" in upper or lower case (`mo_run_nml.f90:316-358`).

    ## Example
    ```yaml bad
    namelists: {run_nml: {output: [totint]}}
    #                             ^
    ```
    ```yaml good
    namelists: {run_nml: {output: [nml, totint]}}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "OUT019"
    name = "output-not-enabled"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        setting = well_typed(experiment, "run_nml", "output")
        words = _words(setting)
        aborts = ("none" in words and len(words) > 1) or any(word not in _KEYWORDS for word in words)
        if experiment.streams and not aborts and not writes_streams(experiment):
            number = _plural(len(experiment.streams), "output stream")
            yield self.finding(
                setting,
                f'run_nml: output has no "nml": nothing is written of {number}',
                'expected: "nml" among the keywords',
            )


class OutputKeywords(Rule):
    """In `run_nml: output` the keyword `none` stands alone.

    ## What it does
    Finds `none` beside another keyword, and, for releases whose registry does not list the keywords, any other than
    none, nml, totint, maxwinds and default.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10: "Syntax error when setting output to 'none'." and "Syntax error: unknown output mode."
    (`mo_run_nml.f90:316-358`).

    ## Example
    ```yaml bad
    namelists: {run_nml: {output: [none, nml]}}
    #                             ^
    ```
    ```yaml good
    namelists: {run_nml: {output: [nml, totint]}}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "OUT020"
    name = "output-keywords"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        setting = well_typed(experiment, "run_nml", "output")
        expected = f"expected: none, or any of {', '.join(_KEYWORDS[1:])}"
        words = _words(setting)
        unknown = [word for word in words if word not in _KEYWORDS]
        variable = experiment.registry.variable("run_nml", "output")
        if unknown and variable is not None and variable.allowed is None:
            yield self.finding(setting, f'run_nml: output knows no keyword "{unknown[0]}"', expected)
        elif "none" in words and len(words) > 1 and not unknown:
            yield self.finding(setting, 'run_nml: output has "none" beside other keywords', expected)


def _words(setting: Setting) -> list[str]:
    """The keywords of run_nml: output as ICON compares them."""
    return [word.strip().lower() for word in as_list(setting.value) if word.strip()]


class NoVariables(Rule):
    """A stream without variables writes no file.

    ## What it does
    Finds a stream with none of `ml_varlist`, `pl_varlist`, `hl_varlist` and `il_varlist`, or only such whose first
    name is blank.

    ## Why it matters
    ICON accepts the stream and writes nothing.

    ## Evidence
    ICON 2024.10, `mo_name_list_output_init.f90:1283-1370`: a level type counts if its list has a first name.

    ## Example
    ```yaml bad
    output: {atm: {ml_varlist: null}}
    #        ^
    ```
    ```yaml good
    output: {atm: {ml_varlist: [temp]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT021"
    name = "no-variables"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            if not level_types(experiment, stream):
                yield self.finding(
                    stream.span,
                    f"the stream {_called(stream)} names no variables and writes nothing",
                    f"expected: {', '.join(f'{kind}_varlist' for kind in LEVEL_TYPES[:-1])} or il_varlist, the "
                    "first name not blank",
                )


class NeverWrites(Rule):
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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            if not level_types(experiment, stream):
                continue
            time = model_clock(experiment)
            found = _windows(experiment, stream, time)
            if time.length < 0 or _writes(found, time.length):
                continue
            if found[0].start > time.length:
                name, reason = "output_start", "lies after the end of the experiment"
            elif found[0].stop < 0:
                name, reason = "output_end", "lies before the start of the experiment"
            else:
                name, reason = "output_end", "lies before output_start"
            setting = _time_setting(experiment, stream, name)
            shown = f"{name} {as_list(setting.value)[0]}"
            if _short_name(setting) != name:
                shown = f"{name.removeprefix('output_')} of output_bounds"
            yield self.finding(
                setting,
                f"the stream {_called(stream)} never writes: the {shown} {reason}",
                "expected: a window that touches the experiment",
            )


class PartitionsLoseEnds(Rule):
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

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            several = [kind for kind, number in _partitions(experiment, stream).items() if number > 1]
            if not several:
                continue
            partitions = f"stream_partitions_{several[0]}"
            start = _time_setting(experiment, stream, "output_start")
            if any(isinstance(text, str) and text.startswith(">") for text in as_list(start.value)):
                yield self.finding(
                    start,
                    f'the ">" of output_start is lost with {partitions}: the start itself is written too',
                    "expected: an output_start one interval later, without the sign",
                )
            last = _of(experiment, stream, "include_last")
            if last.is_written and last.value and _misses_end(experiment, stream):
                yield self.finding(
                    last,
                    f"include_last is lost with {partitions}: the end of the experiment is not written",
                    "expected: an output interval that meets the end, or one partition",
                )


def _misses_end(experiment: Experiment, stream: Group) -> bool:
    """Whether the last window reaches the end of the experiment and has no output time there."""
    time = model_clock(experiment)
    window = _windows(experiment, stream, time)[-1]
    if window.interval <= 0 or not window.start <= time.length <= window.stop:
        return False
    return (time.length - window.start) % window.interval != 0


class TooManyFiles(Rule):
    """The counter in a file's name has four digits.

    ## What it does
    Finds a sequence of more than 9999 files whose names are told apart by `<jfile>` or `<total_index>` alone.

    ## Why it matters
    From the ten thousandth file on the counter does not fit: the names are no longer different.

    ## Evidence
    ICON 2024.10: both keywords are written with four digits (`mo_output_event_control.f90:195-355`; read, not tried).

    ## Example
    ```yaml bad
    time: {modelTimeStep: PT1M}
    output: {atm: {output_interval: PT1M, file_interval: PT1M}}
    #                                                    ^
    ```
    ```yaml good
    time: {modelTimeStep: PT1M}
    output: {atm: {output_interval: PT1M, file_interval: PT4H}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT024"
    name = "too-many-files"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            form = _of(experiment, stream, "filename_format").value
            if any(word in form for word in _DATES) or not any(word in form for word in _COUNTERS):
                continue
            for kind, number in _possible_partitions(experiment, stream).items():
                files = _files(experiment, stream, kind) * number
                if files > _MOST_FILES:
                    interval = _of(experiment, stream, "file_interval")
                    yield self.finding(
                        _of(experiment, stream, "steps_per_file") if _is_blank(interval) else interval,
                        f"about {files} {kind} files of the stream {_called(stream)} and a counter of four digits",
                        f"expected: longer files, or {_DATES[1]} in filename_format",
                    )
                    break


class NoSuchDomain(Rule):
    """A stream is written for the domains in `dom`, and they count from 1.

    ## What it does
    Finds `dom` with a 0, or with nothing but domains that the experiment does not have.

    ## Why it matters
    With 0 ICON reads outside an array and aborts. A domain that is not there is ignored in silence: nothing is
    written.

    ## Evidence
    ICON 2024.10 aborts with 0: "Output name list variable not found: u, patch 8"; with 2 and a single grid it finished
    without a file (`mo_name_list_output_init.f90:594,1164`).

    ## Example
    ```yaml bad
    output: {atm: {dom: 2}}
    #                   ^
    ```
    ```yaml good
    output: {atm: {dom: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT025"
    name = "no-such-domain"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for stream in _streams(experiment):
            setting = _of(experiment, stream, "dom")
            listed = list(takewhile(lambda domain: domain >= 0, as_list(setting.value)))
            well_typed(experiment, "grid_nml", "dynamics_grid_filename")
            count = domains(experiment)
            if listed and (0 in listed or min(listed) > count):
                outcome = "ICON aborts" if 0 in listed else "nothing is written"
                yield self.finding(
                    setting,
                    f"dom of the stream {_called(stream)} is {', '.join(map(str, listed))}, and the experiment has "
                    f"{_plural(count, 'domain')}: {outcome}",
                    f"expected: {'1' if count == 1 else f'1 to {count}'}, or -1 for all",
                )
