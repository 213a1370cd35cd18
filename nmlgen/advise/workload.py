"""What one job hands to its writers: at which steps, how many bytes, to which rank.

Plain numbers, so that it can be made by hand as well as from an experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import gcd
from operator import ge
from typing import Any, overload

from attrs import validators

from nmlgen.advise.experiment import Situation
from nmlgen.advise.layout import Layout, case_with, output_placement
from nmlgen.experiment.component import Component
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.checkpoints import checkpoint_dates
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.ranks import (
    OutputFile,
    RestartMode,
    domains,
    placement,
    restart_mode,
    split,
)
from nmlgen.models.icon.schedule import output_dates
from nmlgen.models.icon.volume import checkpoint_volume, step_volume, stream_volumes
from nmlgen.models.icon.windows import Windows
from nmlgen.values import Attribute, evolve, field, frozen

_ASYNCHRONOUS = 1  # parallel_nml: pio_type
_CDI_PIO = 2


@frozen
class EvenDates(Sequence[int]):
    """The model steps at which equidistant `dates` fall that are no multiples of a `step`, both in milliseconds: never
    listed, however many they are. The dates are further apart than a step, so that no two fall on the same one."""

    dates: range
    step: int

    @property
    def rhythm(self) -> tuple[int, int]:
        """After so many records they fall on so many steps later again."""
        common = gcd(self.dates.step, self.step)
        return self.step // common, self.dates.step // common

    def __len__(self) -> int:
        return len(self.dates)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> EvenDates: ...
    def __getitem__(self, index: int | slice) -> int | EvenDates:
        if isinstance(index, slice):
            return EvenDates(self.dates[index], self.step)
        return self.dates[index] // self.step


Steps = range | EvenDates | tuple[int, ...]
"""Model steps in order, each once."""


def _is_increasing(_: object, attribute: Attribute[Any], steps: Steps) -> None:
    regular = (isinstance(steps, range) and steps.step > 0) or isinstance(steps, EvenDates)
    if not regular and any(map(ge, steps, steps[1:])):
        raise ValueError(f"{attribute.name} must increase")
    if steps and steps[0] < 0:
        raise ValueError(f"{attribute.name} count from 0")


@frozen
class Stream:
    """Records of so many `bytes` each, written after these model `steps` by the I/O `ranks` in turn.

    Step 0 is the initial state; ranks count from 0 within the I/O ranks. Without ranks the workers gather and write
    each record themselves.
    """

    bytes: float = field(validator=validators.ge(0))
    steps: Steps = field(validator=_is_increasing)
    ranks: tuple[int, ...] = ()


@frozen
class Checkpoint:
    """Checkpoints of so many `bytes` each after these model `steps`.

    In the modes async and dedicated procs multifile so many `writers` beside the workers take equal shares; in sync
    and joint procs multifile the workers stand still.
    """

    bytes: float = field(validator=validators.ge(0))
    steps: Steps = field(validator=_is_increasing)
    mode: RestartMode
    writers: int = field(default=1, validator=validators.ge(1))

    @property
    def is_beside(self) -> bool:
        """Whether ranks of their own write it while the workers go on."""
        return self.mode in (RestartMode.ASYNC, RestartMode.DEDICATED)


@frozen
class Workload:
    """What a job of `n_steps` model steps writes with its `num_io_procs` I/O ranks."""

    n_steps: int = field(validator=validators.ge(0))
    streams: tuple[Stream, ...]
    num_io_procs: int = field(default=0, validator=validators.ge(0))
    checkpoint: Checkpoint | None = None

    def __attrs_post_init__(self) -> None:
        """Raises ValueError for a rank that does not exist."""
        named = {rank for stream in self.streams for rank in stream.ranks}
        if named and not 0 <= min(named) <= max(named) < self.num_io_procs:
            wrong = min(named) if min(named) < 0 else max(named)
            raise ValueError(f"a stream names I/O rank {wrong}, there are {self.num_io_procs}, counted from 0")


def workload_of(component: Component, bytes_of: Callable[[OutputFile], float] | None = None) -> Workload:
    """What the first job of an experiment writes, with the placement that ICON makes: a stream for each sequence of
    files, thus for each output_nml, domain, level type and partition, and one for the record that include_last adds.

    `bytes_of` says what a record takes where that is known otherwise, for instance for nests, whose size no grid name
    tells; else it is the mean over the whole experiment, the constant part of the files included.
    Raises UndecidedError for settings that nobody can know, PlacementError where ICON refuses the placement.
    """
    time = clock(component)
    sizes = _record_sizes(component) if bytes_of is None else bytes_of
    streams = _streams(component, placement(component), split(component).io, time, sizes)
    return Workload(time.leg // time.step, streams, split(component).io, _checkpoint(component, time))


def workload_with(situation: Situation, layout: Layout) -> Workload:
    """What the whole experiment of a situation writes with another layout, all its jobs together.

    Errors as `workload_of`.
    """
    component, case = situation.component, case_with(situation, layout)
    time = clock(component)
    whole = evolve(time, restart=None, steps_of_a_leg=None)
    sizes = {(id(output.stream), output.level_type): output for output in situation.outputs}

    def bytes_of(file: OutputFile) -> float:
        output = sizes.get((id(file.stream), file.level_type))
        if output is None or len(output.domains) == 1:
            return 0.0 if output is None else float(output.step_bytes)
        return step_volume(component, file.stream, file.level_type, file.domain).best

    files = output_placement(situation, layout)
    steps = _checkpoint_steps(component, time, time.length)
    checkpoint = None
    if steps and case.checkpoint_bytes:
        mode = RestartMode(case.restart_mode)
        checkpoint = Checkpoint(case.checkpoint_bytes, steps, mode, _writers(component, mode, case.restart_ranks))
    streams = _streams(component, files, case.io_ranks, whole, bytes_of)
    return Workload(case.n_steps, streams, case.io_ranks, checkpoint)


def _streams(
    component: Component,
    files: Iterable[tuple[OutputFile, int]],
    io_ranks: int,
    time: Clock,
    bytes_of: Callable[[OutputFile], float],
) -> tuple[Stream, ...]:
    """Each sequence of files that is written at all."""
    beside = _writes_asynchronously(component, io_ranks)
    found = []
    for file, rank in files:
        steps = _output_steps(component, file, time)
        found += [Stream(bytes_of(file), each, (rank,) if beside else ()) for each in steps]
    return tuple(found)


@remembered
def _output_steps(component: Component, file: OutputFile, time: Clock) -> tuple[Steps, ...]:
    """After which steps a sequence of files gets its records: worked out once for all layouts that have it."""
    dates = output_dates(component, file, time)
    return tuple(_steps(part, time) for part in (dates.parts if isinstance(dates, Windows) else (dates,)) if part)


def _writes_asynchronously(component: Component, io_ranks: int) -> bool:
    """Whether the I/O ranks write: else they stop at once and the first work rank does
    (`mo_icon_output_tools.f90:62-157`). Nobody has measured CDI-PIO, so what it costs is undecided."""
    if io_ranks == 0:
        return False
    kind = component["parallel_nml", "pio_type"]
    if kind.value == _CDI_PIO:
        raise UndecidedError(kind)
    return bool(kind.value == _ASYNCHRONOUS)


def _record_sizes(component: Component) -> Callable[[OutputFile], float]:
    volumes = {(id(v.stream), v.level_type, v.domain): v for v in stream_volumes(component)}

    def size(file: OutputFile) -> float:
        volume = volumes[id(file.stream), file.level_type, file.domain]
        return volume.run.best / volume.records

    return size


def _checkpoint(component: Component, time: Clock) -> Checkpoint | None:
    steps, mode = _checkpoint_steps(component, time, time.end_of(1)), restart_mode(component)
    if not steps or mode is None:
        return None
    writers = split(component).restart
    if not writers and mode in (RestartMode.ASYNC, RestartMode.DEDICATED):  # a single task does everything itself
        mode = RestartMode.SYNC
    size = checkpoint_volume(component).best
    return Checkpoint(size, steps, mode, _writers(component, mode, writers))


def _writers(component: Component, mode: RestartMode, ranks: int) -> int:
    """How many restart ranks write: in async mode one for each domain (`mo_restart_descriptor.f90:254`)."""
    return max(1, min(ranks, domains(component)) if mode is RestartMode.ASYNC else ranks)


@remembered
def _checkpoint_steps(component: Component, time: Clock, until: int) -> Steps:
    """After which steps until then a checkpoint is written."""
    return _steps(checkpoint_dates(component, time, until), time)


def _steps(dates: Sequence[int], time: Clock) -> Steps:
    """The steps at which these dates fall, counted from the begin of the first job, each once, as a range where they
    are equidistant."""
    step = time.step
    if time.begin:
        dates = _earlier(dates, time.begin)
    if isinstance(dates, range) and len(dates) > 1:
        if dates.step <= step:
            return range(dates[0] // step, dates[-1] // step + 1)
        if dates.step % step:
            return EvenDates(dates, step)
        return range(dates[0] // step, dates[-1] // step + 1, dates.step // step)
    listed = tuple(dict.fromkeys(date // step for date in dates))
    if len(listed) < 2:
        return range(listed[0], listed[0] + 1) if listed else ()
    even = range(listed[0], listed[-1] + 1, listed[1] - listed[0])
    return even if listed == tuple(even) else listed


def _earlier(dates: Sequence[int], by: int) -> Sequence[int]:
    if isinstance(dates, range):
        return range(dates.start - by, dates.stop - by, dates.step)
    return tuple(date - by for date in dates)
