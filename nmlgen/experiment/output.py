"""When output streams write, how many files that makes, and how large they can get.

Sources: ICON 2024.10 `src/io/shared/mo_name_list_output_init.f90:343-700,1100-1230` (time specification and
partitions) and `mo_output_event_control.f90:195-251` (when a file ends).
"""

from __future__ import annotations

import re

from attrs import frozen

from nmlgen.experiment.clock import Clock, length_from, length_of
from nmlgen.experiment.experiment import Experiment, Group, as_list
from nmlgen.experiment.ranks import partition_count
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.units.calendar import Instant

_UNIT_SECONDS = {1: 1, 2: 60, 3: 3600, 4: 86400, 5: 86400 * 30, 6: 86400 * 365}


@frozen
class Window:
    """Output from `start` to `stop`, both counted from the start of the experiment, every `interval` (ms)."""

    start: int
    stop: int
    interval: int

    def steps(self, length: int) -> int:
        """The output times that fall into an experiment of this length."""
        first = max(self.start, 0)
        last = min(self.stop, length)
        return (last - first) // self.interval + 1 if last >= first and self.interval > 0 else 0


def windows(experiment: Experiment, stream: Group, clock: Clock) -> tuple[Window, ...]:
    """The output windows of a stream; output_bounds, when set, wins over start, end and interval."""
    bounds = experiment.stream_setting(stream, "output_bounds")
    if bounds.is_written:
        return _windows_of_bounds(experiment, stream, bounds)
    starts = as_list(experiment.stream_setting(stream, "output_start").value)
    stops = as_list(experiment.stream_setting(stream, "output_end").value)
    interval = experiment.stream_setting(stream, "output_interval")
    lengths = [length_of(clock.calendar, clock.start, interval, str(text)) for text in as_list(interval.value)]
    if not len(starts) == len(stops) == len(lengths):
        raise UndecidedError(interval)
    return tuple(
        Window(_offset(clock, start, interval), _offset(clock, stop, interval), length)
        for start, stop, length in zip(starts, stops, lengths, strict=True)
    )


def output_steps(experiment: Experiment, stream: Group, clock: Clock) -> int:
    """How often the stream writes in the whole experiment."""
    return sum(window.steps(clock.length) for window in windows(experiment, stream, clock))


def steps_in_a_file(experiment: Experiment, stream: Group, level_type: str, clock: Clock) -> int | None:
    """Output steps that one file holds; None when one file holds them all.

    Partitioned streams without file_interval get one step a file, whatever steps_per_file says.
    """
    partitions = partition_count(experiment, stream, level_type)
    interval = windows(experiment, stream, clock)[0].interval
    file_interval = length_from(clock.calendar, clock.start, experiment.stream_setting(stream, "file_interval"))
    if file_interval:
        return max(1, file_interval // (interval * max(1, partitions)))
    if partitions > 1:
        return 1
    steps = int(experiment.stream_setting(stream, "steps_per_file").value)
    return steps if steps > 0 else None


def files_of_a_sequence(experiment: Experiment, stream: Group, level_type: str, clock: Clock) -> int:
    """How many files one partition of a stream writes in the whole experiment."""
    partitions = max(1, partition_count(experiment, stream, level_type))
    steps = -(-output_steps(experiment, stream, clock) // partitions)
    size = steps_in_a_file(experiment, stream, level_type, clock)
    return -(-steps // size) if size else min(1, steps)


def cells(experiment: Experiment) -> int:
    """Cells of the first domain's grid, from its name RnBk: 20 n^2 4^k; raises UndecidedError without one."""
    for setting in (experiment.grid_name, experiment["grid_nml", "dynamics_grid_filename"]):
        if setting is None:
            continue
        name = str(as_list(setting.value)[0])
        if match := re.search(r"R0*(\d+)B0*(\d+)", name, re.IGNORECASE):
            return 20 * int(match[1]) ** 2 * 4 ** int(match[2])
    raise UndecidedError(experiment["grid_nml", "dynamics_grid_filename"])


def largest_step(experiment: Experiment, stream: Group, level_type: str) -> int:
    """Bytes that one output step of a stream has at most: every variable taken as one on all model levels.

    Raises UndecidedError where a `group:` hides how many variables there are.
    """
    varlist = experiment.stream_setting(stream, f"{level_type}_varlist")
    names = [str(name) for name in as_list(varlist.value) if str(name).strip()]
    if any(":" in name for name in names):
        raise UndecidedError(varlist)
    levels = int(as_list(experiment["run_nml", "num_lev"].value)[0]) + 1
    if level_type != "ml":
        letter = level_type[0]
        levels = len(as_list(experiment.stream_setting(stream, f"{letter}_levels").value))
    width = 8 if experiment["io_nml", "lnetcdf_flt64_output"].value else 4
    return len(names) * levels * cells(experiment) * width


def _windows_of_bounds(experiment: Experiment, stream: Group, bounds: Setting) -> tuple[Window, ...]:
    unit = _UNIT_SECONDS.get(experiment.stream_setting(stream, "output_time_unit").value)
    values = as_list(bounds.value)
    if unit is None or len(values) % 3:
        raise UndecidedError(bounds)
    scaled = [round(value * unit * 1000) for value in values]
    return tuple(Window(*scaled[i : i + 3]) for i in range(0, len(scaled), 3))


def _offset(clock: Clock, text: object, setting: Setting) -> int:
    try:
        instant = Instant.parse(str(text).lstrip("<>"))
    except ValueError:
        raise UndecidedError(setting) from None
    return clock.calendar.position(instant) - clock.calendar.position(clock.start)
