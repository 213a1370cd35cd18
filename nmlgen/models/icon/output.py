"""In which windows output streams write, and how large a record can get.

Sources: ICON 2024.10 `src/io/shared/mo_name_list_output_init.f90:343-700,1100-1230` (time specification and
partitions) and `mo_output_event_control.f90:195-251` (when a file ends).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.models.icon.clock import Clock, is_number, length_of, milliseconds
from nmlgen.units.calendar import Instant
from nmlgen.units.timedelta import TimeDelta
from nmlgen.values import field, frozen

_MOST_WINDOWS = 100
"""A bound on work: ICON has room for ten."""
_UNIT_SECONDS = {1: 1, 2: 60, 3: 3600, 4: 86400, 5: 86400 * 30, 6: 86400 * 365}


@frozen
class Window:
    """Output from `start` to `stop`, both counted from the start of the experiment, every `interval` (ms).

    `excludes_start` is the modifier `>` before output_start; `<` before output_end has been taken into `stop`. `parts`
    is the interval as it was written.
    """

    start: int
    stop: int
    interval: int
    excludes_start: bool = False
    parts: TimeDelta | None = field(default=None, eq=False, repr=False)

    def steps(self, length: int) -> int:
        """The output times that fall into an experiment of this length."""
        return max(0, self._last(length) - self._first + 1) if self.interval > 0 else 0

    @property
    def _first(self) -> int:
        return max(-(self.start // self.interval), 1 if self.excludes_start else 0)

    def _last(self, length: int) -> int:
        return (min(self.stop, length) - self.start) // self.interval

    def ends(self, length: int) -> tuple[int, int] | None:
        """The first and the last output time; None without any."""
        if not self.steps(length):
            return None
        return self.start + self._first * self.interval, self.start + self._last(length) * self.interval

    def partition(self, number: int, partitions: int) -> Window:
        """What one of so many stream partitions writes, counted from 1; the modifier `>` gets lost on the way."""
        if partitions == 1:
            return self
        return Window(self.start + (number - 1) * self.interval, self.stop, self.interval * partitions)


@remembered
def windows(component: Component, stream: Group, clock: Clock) -> tuple[Window, ...]:
    """The output windows of a stream: each triple of output_bounds, and behind those as many as there are starts, of
    which the triples replace the first ones (`mo_name_list_output_init.f90:1098-1122`)."""
    bounds = component.stream_setting(stream, "output_bounds")
    found = _windows_of_bounds(component, stream, bounds) if bounds.is_written else ()
    start = component.stream_setting(stream, "output_start")
    starts = _until_blank(as_list(start.value)[len(found) :])
    if len(found) + len(starts) > _MOST_WINDOWS:
        setting = start if starts else bounds
        raise UndecidedError(setting, f"{setting.name} makes more than {_MOST_WINDOWS} windows")
    if found and not starts:
        return found
    stops = as_list(component.stream_setting(stream, "output_end").value)[len(found) :][: len(starts)]
    interval = component.stream_setting(stream, "output_interval")
    texts = as_list(interval.value)[len(found) :][: len(starts)]
    lengths = [length_of(clock.calendar, clock.start, interval, str(text)) for text in texts]
    if not (starts and len(starts) == len(stops) == len(lengths)):
        raise UndecidedError(interval)
    dated = (
        Window(
            _offset(clock, start, interval),
            _offset(clock, stop, interval) - str(stop).startswith("<"),
            length,
            str(start).startswith(">"),
            TimeDelta.parse(str(text).rstrip()),
        )
        for start, stop, length, text in zip(starts, stops, lengths, texts, strict=True)
    )
    return (*found, *dated)


def times_in_force(component: Component, stream: Group, name: str) -> list[Any]:
    """The elements of output_start, output_end or output_interval that ICON looks at: as many as there are starts. It
    counts those up to the first blank one (`mo_output_event_handler.f90:590`)."""
    starts = _until_blank(as_list(component.stream_setting(stream, "output_start").value))
    return as_list(component.stream_setting(stream, name).value)[: len(starts)]


def _until_blank(texts: Iterable[Any]) -> list[Any]:
    return list(takewhile(lambda text: str(text).strip(), texts))


def output_directories(groups: Iterable[Group]) -> tuple[str, ...]:
    """The directories that the output_nml among the groups write to, below the run directory, each once; not those
    of whose names filename_format makes many, by a keyword."""
    streams = (group.settings for group in groups if group.name.lower() == "output_nml")
    found = (name.rpartition("/")[0] or "." for stream in streams for name in _written_name(stream))
    return tuple(dict.fromkeys(directory for directory in found if "<" not in directory))


def _written_name(stream: Mapping[str, Setting]) -> Iterator[str]:
    """The name of a stream's files as it is written, if it is: filename_format with output_filename in it."""
    name, form = (stream.get(key) for key in ("output_filename", "filename_format"))
    text = "" if name is None else str(name.value)
    if form is not None:
        yield str(form.value).strip().replace("<output_filename>", text)
    elif name is not None:
        yield text


def _windows_of_bounds(component: Component, stream: Group, bounds: Setting) -> tuple[Window, ...]:
    unit = _UNIT_SECONDS.get(component.stream_setting(stream, "output_time_unit").value)
    values = as_list(bounds.value)
    if unit is None or len(values) % 3:
        raise UndecidedError(bounds)
    if not all(is_number(value) and is_number(value * unit) for value in values):
        raise UndecidedError(bounds)
    if -1 in values[::3] or (min(values) < 0 and unit != 1):  # a start of -1 is none, and negative ones have no unit
        raise UndecidedError(bounds)
    scaled = [milliseconds(value * unit) for value in values]
    return tuple(Window(scaled[i], scaled[i + 1], scaled[i + 2]) for i in range(0, len(scaled), 3))


def _offset(clock: Clock, text: object, setting: Setting) -> int:
    try:
        instant = Instant.parse(str(text).lstrip("<>"))
    except ValueError:
        raise UndecidedError(setting) from None
    return clock.calendar.position(instant) - clock.calendar.position(clock.start)
