"""Which tasks of WRF write which file, and when (`share/set_timekeeping.F`, `share/mediation_integrate.F`,
`frame/module_io_quilt_old.F`).

Measured with 4.7.1: with the serial netCDF task 0 writes, or the last task of a group of writing tasks, and the groups
take turns, file by file; with a file for each task (`io_form` from 100 on) the computing tasks write, with writing
tasks or without. A time between two steps becomes the later one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from nmlgen.models.reading import Read, read_settings
from nmlgen.models.workload import Clock, OutputFile, Role, Tally, UnknownWorkloadError, Workload
from nmlgen.models.wrf.fields import HISTORY, RESTART, UnknownSizeError, bytes_at_a_time
from nmlgen.models.wrf.judging import PASSED_OVER
from nmlgen.models.wrf.quilting import ImpossibleLayoutError, Layout, layout
from nmlgen.models.wrf.registry import RELEASE, wrf_registry
from nmlgen.models.wrf.steps import MOST_DOMAINS, Decisions, decide
from nmlgen.namelist.syntax import Document
from nmlgen.units.calendar import Calendar, Instant
from nmlgen.values import frozen

_PARALLEL = (4, 11, 13, 14)
"""HDF5, PnetCDF, parallel netCDF-4 and ADIOS2: all tasks write (`Registry/registry.io_boilerplate`)."""
_SPLIT = 100
"""From this `io_form` on each task has a file of its own."""
_STREAMS = ("history", *(f"auxhist{number}" for number in range(1, 25)))
_DAY = 86400
_UNITS = (("d", _DAY), ("h", 3600), ("m", 60), ("s", 1))
_PARTS = ("year", "month", "day", "hour", "minute", "second")


@frozen
class _Opened:
    """A file as it is opened: its domain, what it holds, its form and its times."""

    domain: int
    stream: str
    form: int
    name: str
    times: tuple[float, ...]


def work_out(document: Document, tasks: int) -> Workload:
    """What so many tasks do with a namelist.input. Raises UnknownWorkloadError."""
    return _Run(read_settings(document, wrf_registry(), PASSED_OVER).finite, tasks).workload()


class _Run:
    def __init__(self, read: Read, tasks: int) -> None:
        self.read = read
        self.count = max(1, min(MOST_DOMAINS, self.number("max_dom")))
        if any(self.number("comm_start", domain) for domain in range(1, self.count + 1)):
            raise UnknownWorkloadError("domains on tasks of their own (comm_start) are not followed")
        names = ("nio_tasks_per_group", "nio_groups", "nproc_x", "nproc_y")
        try:
            self.layout: Layout = layout(tasks, *(self.number(name) for name in names))
        except ImpossibleLayoutError as error:
            raise UnknownWorkloadError(f"WRF stops: {error}") from None
        if min(self.layout.mesh) < 1:
            x, y = self.layout.mesh
            raise UnknownWorkloadError(f"{x} x {y} patches (nproc_x, nproc_y) are none that tasks could compute")
        self.clocks = self._clocks()
        self.sizes: dict[tuple[str, int], int | None] = {}

    def value(self, name: str, domain: int = 1) -> Any:
        found = self.read.value(name, min(domain, len(self.read.values[name])))
        if found is None:
            raise UnknownWorkloadError(f"{name} is not known")
        return found

    def number(self, name: str, domain: int = 1) -> int:
        return int(self.value(name, domain))

    def workload(self) -> Workload:
        turn, files = 0, []
        for file in sorted(self.opened(), key=self.order):
            quilted = self.layout.servers > 0 and file.form < _SPLIT
            files.append(self.file(file, self.writers(file.form, turn % self.layout.groups)))
            turn += quilted
        return Workload(self.layout.tasks, tuple(self.roles()), tuple(files), tuple(self.unknown()))

    def unknown(self) -> Iterator[str]:
        if self.value("restart"):
            yield "when output is next due after a restart: the restart file says it"
        if self.value("use_adaptive_time_step"):
            yield "the time step, which WRF adapts: a time of output may be up to a step later"
        if self.value("iofields_filename") != "NONE_SPECIFIED":
            yield f"what {self.value('iofields_filename').strip()} adds to streams or takes away"

        forms = {self.number(f"io_form_{stream}") for stream in ("history", "restart")}
        if self.layout.servers and forms & {*_PARALLEL}:
            yield "whether WRF was built to write so by its writing tasks (PnetCDF: PNETCDF_QUILT)"

    # --- Tasks ---

    def roles(self) -> Iterator[Role]:
        found = self.layout
        patches = found.mesh[0] * found.mesh[1]
        yield Role(f"compute, {found.mesh[0]} x {found.mesh[1]} patches", range(min(patches, found.computing)))
        if found.without_patch:
            yield Role("idle", range(patches, found.computing))
        for group in range(found.groups if found.servers else 0):
            yield Role(f"write, group {group + 1}", self.group(group))

    def group(self, number: int) -> range:
        first = self.layout.computing + number * self.layout.servers
        return range(first, first + self.layout.servers)

    def writers(self, form: int, group: int) -> Sequence[int]:
        computing = range(min(self.layout.mesh[0] * self.layout.mesh[1], self.layout.computing))
        if form >= _SPLIT:
            return computing
        if self.layout.servers:
            return self.group(group) if form in _PARALLEL else self.group(group)[-1:]
        return computing if form in _PARALLEL else computing[:1]

    # --- Times ---

    def _clocks(self) -> list[Clock]:
        clocks: list[Clock] = []
        step = float(self.number("time_step"))
        step += self.number("time_step_fract_num") / max(1, self.number("time_step_fract_den"))
        if step <= 0:
            raise UnknownWorkloadError(f"time_step is {step:g}")
        for domain in range(1, self.count + 1):
            start, end = self.instant("start", domain), self.instant("end", domain)
            length = (_position(end) - _position(start)) / 1000
            run = sum(self.number(f"run_{unit}") * size for unit, size in _LENGTHS) if domain == 1 else 0
            if domain > 1:
                parent = clocks[min(len(clocks), max(1, self.number("parent_id", domain))) - 1]
                step = parent.step / max(1, self.number("parent_time_step_ratio", domain))
                length = min(length, parent.end - (_position(start) - _position(parent.start)) / 1000)
            clocks.append(Clock(start, float(run or length), step))
        return clocks

    def instant(self, which: str, domain: int) -> Instant:
        year, month, day, hour, minute, second = (self.number(f"{which}_{part}", domain) for part in _PARTS)
        if not (0 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31):
            raise UnknownWorkloadError(f"{which}_year, {which}_month and {which}_day are no date")
        return Instant(year, month, day, ((hour * 60 + minute) * 60 + second) * 1000)

    def span(self, what: str, domain: int) -> int | None:
        """An interval, begin or end in seconds; the minutes are said in two ways. None where nobody says one."""
        minutes = self.number(f"{what}_m", domain) or self.number(what, domain)
        own = {"m": minutes}
        parts = [(own.get(unit, 0) if unit in own else self.number(f"{what}_{unit}", domain)) for unit, _ in _UNITS]
        if max(parts) <= 0:
            return None
        return sum(part * size for part, (_, size) in zip(parts, _UNITS, strict=True))

    def order(self, file: _Opened) -> tuple[float, int, int, int]:
        """What is opened first: by time, restart files last among the first domain's and nests after it; at the end of
        the run nests are first."""
        time = file.times[0] + (_position(self.clocks[file.domain - 1].start) - _position(self.clocks[0].start)) / 1000
        is_restart = file.stream == "restart"
        is_end = time >= self.clocks[0].end
        owner = 1 if is_restart else file.domain
        number = len(_STREAMS) if is_restart else _STREAMS.index(file.stream)
        return time, -owner if is_end else owner, number, file.domain

    # --- Files ---

    def opened(self) -> Iterator[_Opened]:
        tally = Tally()
        for domain in range(1, self.count + 1):
            clock = self.clocks[domain - 1]
            if clock.end <= 0:
                continue
            for stream in _STREAMS:
                frames = self.number("frames_per_outfile" if stream == "history" else f"frames_per_{stream}", domain)
                form = self.number(f"io_form_{stream}")
                times = self.times(stream, domain) if form else ()
                tally.add(len(times))
                frames = max(1, frames)
                for first in range(0, len(times), frames):
                    some = times[first : first + frames]
                    yield _Opened(domain, stream, form, self.name(f"{stream}_outname", domain, some[0]), some)
            for checkpoint in self.checkpoints(domain):
                tally.add(1)
                yield checkpoint

    def times(self, stream: str, domain: int) -> tuple[float, ...]:
        clock, interval = self.clocks[domain - 1], self.span(f"{stream}_interval", domain)
        if interval is None or interval <= 0:
            return ()
        begin, end = self.span(f"{stream}_begin", domain) or 0, self.span(f"{stream}_end", domain)
        found = clock.times(begin, interval, clock.end if end is None else end)
        is_left_out = self.value("restart") and stream == "history" and not self.value("write_hist_at_0h_rst")
        return tuple(time for time in found if time > 0) if is_left_out else found

    def checkpoints(self, domain: int) -> Iterator[_Opened]:
        """The restart files of a domain: the first one's alarm rings for all."""
        interval, first, own = self.span("restart_interval", 1), self.clocks[0], self.clocks[domain - 1]
        ahead = (_position(own.start) - _position(first.start)) / 1000
        form = self.number("io_form_restart")
        for time in first.times(0, interval, first.end) if interval is not None and interval > 0 and form else ():
            if time > 0 and 0 <= time - ahead <= own.end:
                name = self.name("rst_outname", domain, time - ahead)
                yield _Opened(domain, "restart", form, name, (time - ahead,))

    def name(self, setting: str, domain: int, time: float) -> str:
        pattern = str(self.value(setting)).strip()
        named = pattern.replace("<domain>", f"{domain:02d}").replace("<date>", self.clocks[domain - 1].date(time))
        return named.replace(":", "_") if self.value("nocolons") else named

    def file(self, file: _Opened, writers: Sequence[int]) -> OutputFile:
        clock = self.clocks[file.domain - 1]
        stream = f"{file.stream} d{file.domain:02d}" if self.count > 1 else file.stream
        ending = "_{:04d}" if file.form >= _SPLIT else ""
        size = self.size(file.stream, file.domain)
        return OutputFile(stream, file.name, tuple(map(clock.date, file.times)), writers, ending, size)

    @cached_property
    def decisions(self) -> Decisions:
        """What WRF puts in place of settings, and derives from them."""
        return decide(RELEASE, self.read.values, self.layout.mesh)

    def size(self, stream: str, domain: int) -> int | None:
        """The bytes of a time of a stream; None where they are not known."""
        if (stream, domain) not in self.sizes:
            try:
                found: int | None = bytes_at_a_time(_name_of(stream), partial(self.in_force, domain))
            except UnknownSizeError:
                found = None
            self.sizes[stream, domain] = found
        return self.sizes[stream, domain]

    def in_force(self, domain: int, name: str) -> Any:
        """A setting of a domain as it is in the end; None where there is no such. Raises UnknownSizeError."""
        decided = self.decisions.set.get((name, domain)) or self.decisions.set.get((name, 0))
        if decided is not None:
            found = decided.value
        elif name in self.decisions.own:
            found = self.decisions.own[name]
        elif name in self.read.values:
            found = self.read.value(name, min(domain, len(self.read.values[name])))
        else:
            return None
        if found is None:
            raise UnknownSizeError(f"{name} is not known")
        return found


def _name_of(stream: str) -> str:
    """What the fields call a stream."""
    return _STREAM_OF.get(stream, stream.removeprefix("auxhist"))


_STREAM_OF = {"history": HISTORY, "restart": RESTART}
_LENGTHS = (("days", _DAY), ("hours", 3600), ("minutes", 60), ("seconds", 1))


def _position(instant: Instant) -> int:
    return Calendar.PROLEPTIC_GREGORIAN.position(instant)
