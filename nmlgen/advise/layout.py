"""What can be chosen of how a job writes, and which I/O rank writes which file then."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from nmlgen.advise.case import ASYNC, DEDICATED, Case
from nmlgen.advise.experiment import Output, Situation, most_files_on_a_rank
from nmlgen.models.icon.ranks import OutputFile, PlacementError, explicit_rank, output_files, placed
from nmlgen.values import evolve


class Layout(NamedTuple):
    """How a job writes; `stream_partitions` are those of each output of the situation, in its order.

    With `is_spread` no file is where `pe_placement_ml` (`_pl`, `_hl`, `_il`) puts it: all go to the ranks in turn.
    """

    num_io_procs: int
    stream_partitions: tuple[int, ...]
    restart_write_mode: str
    num_restart_procs: int
    is_spread: bool = False


def present_layout(situation: Situation) -> Layout:
    """The layout that an experiment has."""
    case = situation.case
    partitions = tuple(output.partitions for output in situation.outputs)
    return Layout(case.num_io_procs, partitions, case.restart_mode, case.num_restart_procs)


def output_placement(situation: Situation, layout: Layout) -> tuple[tuple[OutputFile, int], ...]:
    """The files of a layout in ICON's order, each with the I/O rank that writes it.

    Raises PlacementError where ICON aborts: a rank that is named does not exist, or none is left for other files.
    """
    partitions = {
        (id(output.stream), output.level_type): number
        for output, number in zip(situation.outputs, layout.stream_partitions, strict=True)
    }
    files = []
    for first in output_files(situation.component):
        if first.partition == 1:
            count = partitions.get((id(first.stream), first.level_type), first.partitions)
            sequence = first.stream, first.level_type, first.domain
            files += [OutputFile(*sequence, number, count) for number in range(1, count + 1)]
    ranks = [-1 if layout.is_spread else explicit_rank(situation.component, file) for file in files]
    return placed(list(zip(files, ranks, strict=True)), layout.num_io_procs)


def files_of(outputs: Iterable[Output], partitions: Iterable[int]) -> int:
    """How many files are written at an output time with so many partitions of each output, all domains together."""
    return sum(number * len(output.domains) for output, number in zip(outputs, partitions, strict=True))


def works(situation: Situation, layout: Layout) -> bool:
    """Whether ICON starts with a layout: a rank is left for computing, and the I/O ranks that are named exist. On GPUs
    ranks that write come on top."""
    beside = layout.num_restart_procs if layout.restart_write_mode in (ASYNC, DEDICATED) else 0
    if situation.case.gpus is None and layout.num_io_procs + beside >= situation.case.ntasks:
        return False
    if situation.is_placed and not layout.is_spread:
        try:
            output_placement(situation, layout)
        except PlacementError:
            return False
    return True


def case_with(situation: Situation, layout: Layout) -> Case:
    """The case of a situation with another layout."""
    most = None
    if situation.is_placed and not layout.is_spread and layout.num_io_procs:
        with suppress(PlacementError):  # ICON does not start: `works` says so
            most = most_files_on_a_rank(situation.outputs, output_placement(situation, layout))
    return evolve(
        situation.case,
        num_io_procs=layout.num_io_procs,
        stream_partitions=max(1, files_of(situation.outputs, layout.stream_partitions)),
        files_on_a_rank=most,
        restart_write_mode=layout.restart_write_mode,
        num_restart_procs=layout.num_restart_procs,
    )
