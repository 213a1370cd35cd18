"""Which tasks of MPAS write which file, and when (`src/framework/mpas_stream_manager.F`, `src/external/SMIOL/smiol.c`).

Tasks 0, s, 2s, ... write, n of them, with s and n of `config_pio_stride` and `config_pio_num_iotasks`; each opens every
file. A time between two steps becomes the later one. A file holds what falls into its `filename_interval`, counted from
`reference_time`, and is called after the beginning of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nmlgen.models.mpas.judging import iotasks
from nmlgen.models.mpas.registry import mpas_registry
from nmlgen.models.mpas.streams import Stream, streams_of
from nmlgen.models.reading import Beside, Read, read_settings
from nmlgen.models.workload import Clock, OutputFile, Role, UnknownWorkloadError, Workload
from nmlgen.namelist.syntax import Document
from nmlgen.units.calendar import Calendar, Instant

_STREAMS = "streams.atmosphere"
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})(?:_(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}))?)?")
_INTERVAL = re.compile(r"(?:(\d{1,6})_)?(?:(?:(\d{1,6}):)?(\d{1,6}):)?(\d{1,9})")
_OF_ANOTHER = re.compile(r"stream:([^:]+):(output_interval)")
_LINKS = 10
_NOT_AT_START = "restart"
_NOT_AT_RESTART = ("output", "diagnostics")
"""Streams that MPAS does not write at the start of a run, or of one that goes on (`mpas_atm_core.F`)."""


def work_out(document: Document, tasks: int, beside: Beside) -> Workload:
    """What so many tasks do with a namelist.atmosphere and the streams beside it. Raises UnknownWorkloadError."""
    return _Run(read_settings(document, mpas_registry("atmosphere")), tasks, beside).workload()


class _Run:
    def __init__(self, read: Read, tasks: int, beside: Beside) -> None:
        self.read = read
        self.tasks = tasks
        source = beside(_STREAMS)
        if source is None:
            raise UnknownWorkloadError(f"{_STREAMS}, which names the files, is not there")
        self.streams: Mapping[str, Stream] = {stream.name: stream for stream in streams_of(source)}
        self.clock = self._clock()

    def value(self, name: str) -> Any:
        found = self.read.value(name)
        if found is None:
            raise UnknownWorkloadError(f"{name} is not known")
        return found.strip() if isinstance(found, str) else found

    def workload(self) -> Workload:
        count, stride = iotasks(self.tasks, self.value("config_pio_num_iotasks"), self.value("config_pio_stride"))
        if count * stride > self.tasks or min(count, stride) < 1:
            raise UnknownWorkloadError(f"MPAS stops: {count} tasks that write, each {stride} from the next")
        writers = range(0, count * stride, stride)
        files = sorted(self.files(writers), key=lambda file: file.times[0])
        roles = [Role("compute", range(self.tasks)), Role("write, too", writers)]
        return Workload(self.tasks, tuple(roles), tuple(files))

    def _clock(self) -> Clock:
        start = _instant(self.value("config_start_time"))
        step, length = float(self.value("config_dt")), self.value("config_run_duration")
        if start is None:
            raise UnknownWorkloadError(f"config_start_time is {self.value('config_start_time')!r}")
        if step <= 0:
            raise UnknownWorkloadError(f"config_dt is {step:g}: the run never ends")
        end = _seconds(length)
        if length == "none":
            stop = _instant(self.value("config_stop_time"))
            end = None if stop is None else _between(start, stop)
        if end is None:
            raise UnknownWorkloadError("config_run_duration and config_stop_time do not say when the run ends")
        return Clock(start, -(-end // step) * step, step)

    def files(self, writers: range) -> Iterator[OutputFile]:
        for stream in self.streams.values():
            times = self.times(stream)
            named: dict[str, list[float]] = {}
            for time in times:
                named.setdefault(self.name(stream, time), []).append(time)
            for name, some in named.items():
                yield OutputFile(stream.name, name, tuple(map(self.clock.date, some)), writers)

    def times(self, stream: Stream) -> tuple[float, ...]:
        """When something is written to a stream."""
        if "output" not in stream.attributes.get("type", ""):
            return ()
        interval = self.interval(stream, "output_interval")
        if interval in ("none", "initial_only", "final_only"):
            only = {"none": (), "initial_only": (0.0,), "final_only": (self.clock.end,)}
            times: tuple[float, ...] = only[interval]
        else:
            seconds = _seconds(interval)
            if not seconds:
                raise UnknownWorkloadError(f'the output_interval of stream "{stream.name}" is {interval!r}')
            times = self.clock.times(0, seconds, self.clock.end)
        of_restart = self.value("config_do_restart") and stream.name in _NOT_AT_RESTART
        is_left_out = stream.name == _NOT_AT_START or of_restart
        return tuple(time for time in times if time > 0 or not is_left_out)

    def interval(self, stream: Stream, attribute: str) -> str:
        """An interval of a stream, which may be that of another one."""
        found = stream.attributes.get(attribute, "none").strip()
        for _ in range(_LINKS):
            link = _OF_ANOTHER.fullmatch(found)
            if link is None or link[1] not in self.streams:
                return found
            found = self.streams[link[1]].attributes.get(link[2], "none").strip()
        return found

    def name(self, stream: Stream, time: float) -> str:
        """The file that a time falls into."""
        said = stream.attributes.get("filename_interval")
        if said is None or said == "output_interval":
            said = self.interval(stream, "output_interval")
        reference = _instant(stream.attributes.get("reference_time", "")) or self.clock.start
        ahead, length = _between(self.clock.start, reference), _seconds(said)
        begin = time if not length else ahead + max(0, (time - ahead) // length) * length
        return _expanded(stream.attributes.get("filename_template", ""), self.clock.at(begin if length else 0.0))


def _expanded(template: str, time: Instant) -> str:
    """A template with a time in it (`mpas_timekeeping.F`, `mpas_expand_string`)."""
    number = _between(Instant(time.year, 1, 1), Instant(time.year, time.month, time.day)) // 86400 + 1
    seconds = time.milliseconds // 1000
    words = {"Y": f"{time.year:04d}", "M": f"{time.month:02d}", "D": f"{time.day:02d}", "d": f"{number:03.0f}"}
    words |= {"h": f"{seconds // 3600:02d}", "m": f"{seconds // 60 % 60:02d}", "s": f"{seconds % 60:02d}"}
    return re.sub(r"\$([YMDdhms])", lambda match: words[match[1]], template)


def _instant(text: str) -> Instant | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Instant(year, month, day, ((hour * 60 + minute) * 60 + second) * 1000)


def _seconds(text: str) -> float | None:
    found = _INTERVAL.fullmatch(text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _between(one: Instant, other: Instant) -> float:
    calendar = Calendar.PROLEPTIC_GREGORIAN
    return (calendar.position(other) - calendar.position(one)) / 1000
