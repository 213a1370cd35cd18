"""When output streams write, how many files that makes, and how large they can get.

Sources: ICON 2024.10 `src/io/shared/mo_name_list_output_init.f90:343-700,1100-1230` (time specification and
partitions) and `mo_output_event_control.f90:195-251` (when a file ends).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

from nmlgen.experiment.clock import Clock, is_number, length_from, length_of
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.ranks import integer, level_types, partition_count
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.units.calendar import Instant

_UNIT_SECONDS = {1: 1, 2: 60, 3: 3600, 4: 86400, 5: 86400 * 30, 6: 86400 * 365}


_GRIB2 = 2


@frozen
class Window:
    """Output from `start` to `stop`, both counted from the start of the experiment, every `interval` (ms).

    `excludes_start` is the modifier `>` before output_start; `<` before output_end has been taken into `stop`.
    """

    start: int
    stop: int
    interval: int
    excludes_start: bool = False

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


def windows(component: Component, stream: Group, clock: Clock) -> tuple[Window, ...]:
    """The output windows of a stream; output_bounds, when set, wins over start, end and interval."""
    bounds = component.stream_setting(stream, "output_bounds")
    if bounds.is_written:
        return _windows_of_bounds(component, stream, bounds)
    starts = as_list(component.stream_setting(stream, "output_start").value)
    stops = as_list(component.stream_setting(stream, "output_end").value)
    interval = component.stream_setting(stream, "output_interval")
    lengths = [length_of(clock.calendar, clock.start, interval, str(text)) for text in as_list(interval.value)]
    if not len(starts) == len(stops) == len(lengths):
        raise UndecidedError(interval)
    return tuple(
        Window(
            _offset(clock, start, interval),
            _offset(clock, stop, interval) - str(stop).startswith("<"),
            length,
            str(start).startswith(">"),
        )
        for start, stop, length in zip(starts, stops, lengths, strict=True)
    )


def output_steps(component: Component, stream: Group, clock: Clock, level_type: str | None = None) -> int:
    """How often a stream writes one level type, its first unless said, in the whole experiment: all partitions
    together."""
    level_type = level_type or next(iter(level_types(component, stream)), "ml")
    found = windows(component, stream, clock)
    if partition_count(component, stream, level_type) > 1:
        found = tuple(Window(window.start, window.stop, window.interval) for window in found)
    steps = sum(window.steps(clock.length) for window in found)
    return steps + _appends_end(component, stream, level_type, found, clock)


def steps_in_a_file(component: Component, stream: Group, level_type: str, clock: Clock) -> int | None:
    """The most output steps that one file holds; None when one file holds them all.

    Partitioned streams without file_interval get one step a file, whatever steps_per_file says; without
    partitions the first file may hold one more than steps_per_file.
    """
    partitions = partition_count(component, stream, level_type)
    interval = windows(component, stream, clock)[0].interval
    if interval <= 0:
        raise UndecidedError(component.stream_setting(stream, "output_interval"))
    file_interval = length_from(clock.calendar, clock.start, component.stream_setting(stream, "file_interval"))
    if file_interval and file_interval > 0:
        return -(-file_interval // (interval * max(1, partitions)))
    if partitions > 1:
        return 1
    steps = integer(component.stream_setting(stream, "steps_per_file"))
    return steps if steps > 0 else None


def files_of_a_sequence(component: Component, stream: Group, level_type: str, clock: Clock, partition: int = 1) -> int:
    """How many files one partition of a stream, the first unless said, writes in the whole experiment.

    No partition writes more than the first.
    """
    partitions = partition_count(component, stream, level_type)
    if partitions < 1:
        return 0
    found = tuple(window.partition(partition, partitions) for window in windows(component, stream, clock))
    steps = sum(window.steps(clock.length) for window in found)
    appended = _appends_end(component, stream, level_type, found, clock)
    if not steps + appended:
        return 0
    file_interval = length_from(clock.calendar, clock.start, component.stream_setting(stream, "file_interval"))
    if file_interval and file_interval > 0:
        return _file_windows(found, clock.length, file_interval, appended)
    size = steps_in_a_file(component, stream, level_type, clock)
    if size is None:
        return 1
    if partitions == 1 and _first_file_is_longer(component, stream, found):
        steps = max(1, steps - 1)
    return -(-(steps + appended) // size)


def _file_windows(found: tuple[Window, ...], length: int, file_interval: int, appended: bool) -> int:
    """How many stretches of file_interval, counted from the first output time, hold an output time."""
    spans = [ends for window in found if (ends := window.ends(length))]
    spans += [(length, length)] if appended else []
    begin = spans[0][0]
    intervals = [window.interval for window in found if window.ends(length)] + [length or 1]
    count, last = 0, -1
    for (first, end), interval in zip(spans, intervals, strict=False):
        low, high = (first - begin) // file_interval, (end - begin) // file_interval
        count += (end - first) // interval + 1 if interval >= file_interval else high - low + 1
        count -= low == last
        last = high
    return count


def _appends_end(component: Component, stream: Group, level_type: str, found: tuple[Window, ...], clock: Clock) -> bool:
    """Whether include_last adds the end of the experiment: not with partitions, and only up to output_end."""
    if partition_count(component, stream, level_type) > 1 or not found:
        return False
    if component.stream_setting(stream, "include_last").value is not True:
        return False
    times = [ends[1] for window in found if (ends := window.ends(clock.length))]
    return bool(times) and times[-1] < clock.length <= found[-1].stop


def _first_file_is_longer(component: Component, stream: Group, found: tuple[Window, ...]) -> bool:
    """Whether output at the very start does not count among the steps_per_file; in GRIB2 it does."""
    at_start = found[0].start == 0 and not found[0].excludes_start
    in_grib = component.stream_setting(stream, "filetype").value == _GRIB2
    inclusive = component.stream_setting(stream, "steps_per_file_inclfirst").value is True
    return at_start and inclusive and not in_grib


def output_directories(groups: Iterable[Group]) -> tuple[str, ...]:
    """The directories that the output_nml among the groups write to, relative to the run directory, each once."""
    names = [
        str(group.settings["output_filename"].value)
        for group in groups
        if group.name.lower() == "output_nml" and "output_filename" in group.settings
    ]
    return tuple(dict.fromkeys(name.rpartition("/")[0] or "." for name in names))


def cells(component: Component) -> int:
    """Cells of the first domain's grid, from its name RnBk: 20 n^2 4^k; raises UndecidedError without one."""
    for setting in (component.grid_name, component["grid_nml", "dynamics_grid_filename"]):
        if setting is None:
            continue
        name = str(as_list(setting.value)[0])
        if match := re.search(r"R0*(\d+)B0*(\d+)", name, re.IGNORECASE):
            return int(20 * int(match[1]) ** 2 * 4 ** int(match[2]))
    raise UndecidedError(component["grid_nml", "dynamics_grid_filename"])


def largest_step(component: Component, stream: Group, level_type: str) -> int:
    """Bytes that one output step of a stream has at most: every variable taken as one on all model levels.

    Raises UndecidedError where a `group:` hides how many variables there are.
    """
    varlist = component.stream_setting(stream, f"{level_type}_varlist")
    names = [str(name) for name in as_list(varlist.value) if str(name).strip()]
    if any(":" in name for name in names):
        raise UndecidedError(varlist)
    levels = integer(component["run_nml", "num_lev"]) + 1
    if level_type != "ml":
        letter = level_type[0]
        levels = len(as_list(component.stream_setting(stream, f"{letter}_levels").value))
    width = 8 if component["io_nml", "lnetcdf_flt64_output"].value else 4
    return len(names) * levels * cells(component) * width


def _windows_of_bounds(component: Component, stream: Group, bounds: Setting) -> tuple[Window, ...]:
    unit = _UNIT_SECONDS.get(component.stream_setting(stream, "output_time_unit").value)
    values = as_list(bounds.value)
    if unit is None or len(values) % 3:
        raise UndecidedError(bounds)
    if not all(is_number(value) for value in values):
        raise UndecidedError(bounds)
    scaled = [round(value * unit * 1000) for value in values]
    return tuple(Window(*scaled[i : i + 3]) for i in range(0, len(scaled), 3))


def _offset(clock: Clock, text: object, setting: Setting) -> int:
    try:
        instant = Instant.parse(str(text).lstrip("<>"))
    except ValueError:
        raise UndecidedError(setting) from None
    return clock.calendar.position(instant) - clock.calendar.position(clock.start)
