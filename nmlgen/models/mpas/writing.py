"""Which tasks of MPAS write which file, and when (`src/framework/mpas_stream_manager.F`, `src/external/SMIOL/smiol.c`).

Tasks 0, s, 2s, ... write, n of them, with s and n of `config_pio_stride` and `config_pio_num_iotasks`; each opens every
file. A time between two steps becomes the later one. A file holds what falls into its `filename_interval`, counted from
`reference_time`, and is called after the beginning of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from nmlgen.errors import InputError
from nmlgen.models.mpas.fields import Fields, Size, UnknownSizeError
from nmlgen.models.mpas.judging import iotasks
from nmlgen.models.mpas.registry import mpas_registry
from nmlgen.models.mpas.streams import ONLY, Stream, packages_of, streams_of
from nmlgen.models.reading import Beside, Read, read_settings
from nmlgen.models.surroundings import CELLS, LEVELS, Surroundings, surroundings
from nmlgen.models.workload import Clock, OutputFile, Role, Tally, UnknownWorkloadError, Workload
from nmlgen.namelist.reader import read
from nmlgen.namelist.syntax import Document
from nmlgen.source import Source
from nmlgen.units.calendar import Calendar, Instant

_STREAMS = "streams.atmosphere"
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})(?:_(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}))?)?")
_INTERVAL = re.compile(r"(?:(?:0+-){0,2}(\d{1,6})_)?(?:(?:(\d{1,6}):)?(\d{1,6}):)?(\d{1,9})")
_OF_ANOTHER = re.compile(r"stream:([^:]+):((?:in|out)put_interval)")
_LINKS = 10
_LONGEST_STEP = 1e11
"""Seconds: more than a run has of which the days have six digits."""
_LONGEST_NAME = 512
"""The characters of the name of a file: `StrKIND` of MPAS (`mpas_kind_types.F`)."""
_NOT_AT_START = "restart"
_NOT_AT_RESTART = ("output", "diagnostics")
"""Streams that MPAS does not write at the start of a run, or of one that goes on (`mpas_atm_core.F`)."""


def work_out(document: Document, tasks: int, beside: Beside) -> Workload:
    """What so many tasks do with a namelist.atmosphere and the streams beside it. Raises UnknownWorkloadError."""
    settings = read_settings(document, mpas_registry("atmosphere")).finite
    return _Run(settings, tasks, surroundings(beside)).workload()


class _Run:
    def __init__(self, settings: Read, tasks: int, beside: Surroundings) -> None:
        self.read = settings
        self.tasks = tasks
        self.beside = beside
        self.unknown: dict[str, None] = {}
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
        return Workload(self.tasks, tuple(roles), tuple(files), tuple(self.unknown))

    def _clock(self) -> Clock:
        start = _instant(self.value("config_start_time"))
        step, length = float(self.value("config_dt")), self.value("config_run_duration")
        if start is None:
            raise UnknownWorkloadError(f"config_start_time is {self.value('config_start_time')!r}")
        if step <= 0:
            raise UnknownWorkloadError(f"config_dt is {step:g}: the run never ends")
        if step > _LONGEST_STEP:
            raise UnknownWorkloadError(f"config_dt is {step:g}: a step is longer than any run")
        end = _seconds(length)
        if length == "none":
            stop = _instant(self.value("config_stop_time"))
            end = None if stop is None else _between(start, stop)
        if end is None:
            raise UnknownWorkloadError("config_run_duration and config_stop_time do not say when the run ends")
        return Clock(start, -(-end // step) * step, step)

    def files(self, writers: range) -> Iterator[OutputFile]:
        tally = Tally()
        for stream in self.streams.values():
            times = self.times(stream)
            if not times:
                continue
            tally.add(len(times))
            if max(len(stream.name), len(stream.attributes.get("filename_template", ""))) > _LONGEST_NAME:
                message = f"the name or the filename_template of a stream has more than {_LONGEST_NAME} characters"
                raise UnknownWorkloadError(message)
            named: dict[str, list[float]] = {}
            for time in times:
                named.setdefault(self.name(stream, time), []).append(time)
            size = self.size(stream)
            for name, some in named.items():
                dates = tuple(map(self.clock.date, some))
                has, once = (None, 0) if size is None else (size.a_time, size.once)
                yield OutputFile(stream.name, name, dates, writers, size=has, once=once)

    @cached_property
    def fields(self) -> Fields:
        """The fields of all streams."""
        return Fields(self.read, self.streams, self.beside, self.lengths())

    @cached_property
    def missing(self) -> str:
        """What of the mesh nobody says; "" where somebody says all that is needed."""
        missing = [what for name, what in _SAID if name not in self.fields.lengths]
        if not missing:
            return ""
        files = " nor ".join(dict.fromkeys(name for name in self._mesh_files() if name))
        what = " and ".join(missing)
        return f"how many {what} the mesh has: {files or 'its file'} is not there, or does not say it"

    def size(self, stream: Stream) -> Size | None:
        """The bytes of a stream; None where they are not known, of which `unknown` tells."""
        if self.missing:
            self.unknown[self.missing] = None
            return None
        try:
            return self.fields.size(stream)
        except UnknownSizeError as error:
            self.unknown[f'the bytes of stream "{stream.name}": {error}'] = None
            return None

    def times(self, stream: Stream) -> tuple[float, ...]:
        """When something is written to a stream."""
        if "output" not in stream.attributes.get("type", "") or not self.is_active(stream):
            return ()
        interval = self.interval(stream, "output_interval")
        if interval in ONLY:
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

    def is_active(self, stream: Stream) -> bool:
        """Whether a package that a stream needs is active (`mpas_stream_manager.F:3107`)."""
        packages = packages_of(stream.attributes)
        try:
            return not packages or Fields(self.read, self.streams, self.beside, {}).is_active(packages)
        except UnknownSizeError as error:
            raise UnknownWorkloadError(str(error)) from None

    def interval(self, stream: Stream, attribute: str) -> str:
        """An interval of a stream, which may be that of another one."""
        found = stream.attributes.get(attribute, "none").strip()
        for _ in range(_LINKS):
            link = _OF_ANOTHER.fullmatch(found)
            if link is None or link[1] not in self.streams:
                return found
            found = self.streams[link[1]].attributes.get(link[2], "none").strip()
        return found

    def filename_interval(self, stream: Stream) -> str:
        """How long a file is written to: without a word as often as is read, else as is written
        (`xml_stream_parser.c:1141`)."""
        said, kind = stream.attributes.get("filename_interval"), stream.attributes.get("type", "")
        reading, writing = self.interval(stream, "input_interval"), self.interval(stream, "output_interval")
        if said is None:
            return reading if "input" in kind and reading not in ONLY else writing
        if "input_interval" in said:
            return reading
        return writing if "output_interval" in said else said

    def name(self, stream: Stream, time: float) -> str:
        """The file that a time falls into."""
        said = self.filename_interval(stream)
        reference = _instant(stream.attributes.get("reference_time", "")) or self.clock.start
        ahead, length = _between(self.clock.start, reference), _seconds(said)
        begin = time if not length else ahead + max(0, (time - ahead) // length) * length
        return _expanded(stream.attributes.get("filename_template", ""), self.clock.at(begin if length else 0.0))

    def lengths(self) -> Mapping[str, int]:
        """The lengths of the dimensions of the mesh: those of the files that MPAS reads it from, else of what makes
        these, and what somebody said."""
        found: dict[str, int] = {}
        cells, levels = self.beside.said.get(CELLS), self.beside.said.get(LEVELS)
        if cells is not None:
            if self.value("config_apply_lbcs"):
                self.unknown["how many edges and vertices a region has, which are counted as a sphere's"] = None
            found |= _MESH | {"nCells": cells, "nEdges": max(0, 3 * cells - 6), "nVertices": max(0, 2 * cells - 4)}
        else:
            for name in self._mesh_files():
                found |= {key: length for key, length in self.beside.lengths(name).items() if key not in found}
        if levels is None and "nVertLevels" not in found:
            levels = self._levels_of_init()
        if levels is not None:
            found["nVertLevels"] = levels
        return found

    def _mesh_files(self) -> Iterator[str]:
        """The files that a run reads first, and what the one that it begins with is made of."""
        names = ("restart", "invariant", "input") if self.value("config_do_restart") else ("invariant", "input")
        for name in names:
            if name in self.streams:
                yield self.name(self.streams[name], 0)
        source = self._source_of("streams.init_atmosphere")
        for stream in () if source is None else streams_of(source):
            if stream.name == "input":
                yield stream.attributes.get("filename_template", "")

    def _levels_of_init(self) -> int | None:
        source = self._source_of("namelist.init_atmosphere")
        if source is None:
            return None
        found = read_settings(read(source), mpas_registry("init_atmosphere")).value("config_nvertlevels")
        return int(found) if isinstance(found, int) and found > 0 else None

    def _source_of(self, name: str) -> Source | None:
        try:
            return self.beside(name)
        except InputError:
            return None


_SAID = (("nCells", CELLS), ("nVertLevels", LEVELS))
_MESH = {"maxEdges": 10, "maxEdges2": 20, "vertexDegree": 3}
"""What meshes of MPAS have in common."""


def _expanded(template: str, time: Instant) -> str:
    """A template with a time in it (`mpas_timekeeping.F`, `mpas_expand_string`)."""
    number = _between(Instant(time.year, 1, 1), Instant(time.year, time.month, time.day)) // 86400 + 1
    seconds = time.milliseconds // 1000
    words = {"Y": f"{time.year:04d}", "M": f"{time.month:02d}", "D": f"{time.day:02d}", "d": f"{number:03.0f}"}
    words |= {"h": f"{seconds // 3600:02d}", "m": f"{seconds // 60 % 60:02d}", "s": f"{seconds % 60:02d}"}
    for letter, word in words.items():
        template = template.replace(f"${letter}", word)
    return template


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
