"""Which layouts there are to choose from: those that ICON takes without a rank that idles."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC
from nmlgen.advise.experiment import Output, Situation
from nmlgen.advise.layout import Layout, case_with, files_of, works
from nmlgen.advise.model import run_time

IO_RANKS = (0, 1, 2, 4, 8, 16, 32)
RESTART_RANKS = (1, 2, 4, 8)
_MOST_IO_RANKS = 256


class Choice(NamedTuple):
    """What may be chosen: the rest stays as it is. `stream_partitions` says it of each output."""

    num_io_procs: bool
    stream_partitions: tuple[bool, ...]
    restart_write_mode: bool
    num_restart_procs: bool
    placement: bool = False
    """Whether files may be taken from the I/O ranks that pe_placement names."""


def layouts(situation: Situation, layout: Layout, choice: Choice) -> tuple[Layout, ...]:
    """Those of the possible layouts with which ICON starts."""
    return tuple(item for item in possible(situation, layout, choice) if works(situation, item))


def possible(situation: Situation, layout: Layout, choice: Choice) -> list[Layout]:
    """The layouts that differ from the given one in what may be chosen."""
    restart = restart_choices(layout, choice)
    if not situation.case.checkpoints:
        del restart[1:]  # nobody is to be set apart for checkpoints that are not written
    if choice.restart_write_mode:
        restart = [(mode, ranks) for mode, ranks in restart if mode != ASYNC]  # it is obsolete
    spread = (layout.is_spread, True) if choice.placement and situation.is_placed else (layout.is_spread,)
    return [
        Layout(*io, *beside, is_spread)
        for io, beside, is_spread in product(output_choices(situation, layout, choice), restart, spread)
    ]


def output_choices(situation: Situation, layout: Layout, choice: Choice) -> list[tuple[int, tuple[int, ...]]]:
    """The numbers of I/O ranks to choose from, each with the partitions of all outputs."""
    outputs = situation.outputs
    if not choice.num_io_procs:
        number = layout.num_io_procs
        return [(number, _shared(outputs, layout, choice, number, exactly=True))]
    if not outputs:
        return [(0, ())]
    found = [(0, _shared(outputs, layout, choice, 0))]
    for number in IO_RANKS:
        partitions = _shared(outputs, layout, choice, number)
        files = files_of(outputs, partitions)
        found += [(count, partitions) for count in (number, files) if 0 < count <= files and files % count == 0]
    return list(dict.fromkeys(found))


def _shared(
    outputs: tuple[Output, ...], layout: Layout, choice: Choice, ranks: int, exactly: bool = False
) -> tuple[int, ...]:
    """The partitions of each output for so many I/O ranks: those that may be chosen share the ranks by their bytes.

    Unless `exactly` so many are to write, the next number is taken that fits the files of the output.
    """
    is_free = [free and not output.is_whole for output, free in zip(outputs, choice.stream_partitions, strict=True)]
    partitions = [
        1 if free or whole_free else given
        for free, whole_free, given in zip(is_free, choice.stream_partitions, layout.stream_partitions, strict=True)
    ]
    free = [number for number, may in enumerate(is_free) if may]
    while free and files_of(outputs, partitions) < min(ranks, _MOST_IO_RANKS):
        most = max(free, key=lambda number: outputs[number].run_bytes / partitions[number])
        partitions[most] += 1
    if not exactly:
        for number in free:
            partitions[number] = _fitting(outputs[number], partitions[number])
    return tuple(partitions)


def _fitting(output: Output, partitions: int) -> int:
    """The nearest number of partitions that fits the output's files."""
    fitting = [number for number in range(1, 2 * partitions) if output.fits(number)]
    return min(fitting, key=lambda number: (abs(number - partitions), number), default=partitions)


def restart_choices(layout: Layout, choice: Choice) -> list[tuple[str, int]]:
    """The restart modes and their ranks to choose from."""
    mode, ranks = layout.restart_write_mode, layout.num_restart_procs
    if not choice.restart_write_mode and not choice.num_restart_procs:
        return [(mode, ranks)]
    every = [(SYNC, 0), (JOINT, 0), (ASYNC, 1), *((DEDICATED, count) for count in RESTART_RANKS)]
    if choice.restart_write_mode and choice.num_restart_procs:
        return every
    if choice.num_restart_procs:
        return [(name, count) for name, count in every if name == mode]
    return [(name, ranks) for name in (SYNC, JOINT) if not ranks] + [(JOINT, ranks), (DEDICATED, ranks)] * bool(ranks)


def rough(situation: Situation, layouts: Iterable[Layout], calibration: Calibration) -> dict[Layout, float]:
    """What those of some layouts that work take by the likeliest constants, in seconds."""
    constants = calibration.estimate.constants
    return {item: sum(run_time(case_with(situation, item), constants)) for item in layouts if works(situation, item)}
