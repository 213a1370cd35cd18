"""How MPI ranks split, and which I/O rank writes which output file.

Sources: ICON 2024.10 `src/parallel_infrastructure/mo_mpi.f90:1375-2169` (the split),
`src/configure_model/mo_io_config.f90:536-645` (restart modes),
`src/io/shared/mo_name_list_output_init.f90:1283-1470` (files and their placement), and runs of the real model.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import groupby, islice
from typing import Any, NamedTuple

from nmlgen.experiment.component import MOST_TASKS, Component
from nmlgen.experiment.group import Group, as_list, integer
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.values import evolve, frozen

LEVEL_TYPES = ("ml", "pl", "hl", "il")
MOST_IO_RANKS = 256
"""More are refused (ICON 2024.10, `mo_parallel_config.f90:280`)."""
MOST_PARTITIONS = 256
"""ICON has room for no more of a level type of a stream (`mo_name_list_output_init.f90:1169-1172`)."""
_MOST_DOMAINS = 100
"""A bound on work: ICON has room for ten."""
_MOST_FILES = 5_000
"""A bound on work, of all models together: ICON has room for far fewer partitions; files of more are not listed."""

KINDS = ("test", "work", "io", "restart", "prefetch", "radar")
"""What a task of a component does, in the order in which ICON counts them."""

OVERLOADED = 1.5
"""An I/O rank that writes more than so many times the mean of those that write is one that others wait for."""


class RestartMode(Enum):
    """The ways ICON writes checkpoints, spelt as `restart_write_mode` takes them."""

    SYNC = "sync"
    ASYNC = "async"
    JOINT = "joint procs multifile"
    DEDICATED = "dedicated procs multifile"


@frozen
class RankSplit:
    """The tasks of the model by what they do, in ICON's order: test, work, I/O, restart, prefetch, radar."""

    test: int
    work: int
    io: int
    restart: int
    prefetch: int
    radar: int

    @property
    def total(self) -> int:
        """All tasks."""
        return self.test + self.work + self.taken

    @property
    def taken(self) -> int:
        """The tasks that do not compute."""
        return self.io + self.restart + self.prefetch + self.radar


def restart_mode(component: Component) -> RestartMode | None:
    """The mode in effect: without one, async if ranks are set apart for restart, else sync; None if unknown
    to ICON. To Fortran blanks behind a name do not matter, blanks before it do."""
    name = str(component["io_nml", "restart_write_mode"].value).rstrip().lower()
    if not name:
        return RestartMode.ASYNC if _count(component, "num_restart_procs") > 0 else RestartMode.SYNC
    try:
        return RestartMode(name)
    except ValueError:
        return None


@remembered
def split(component: Component) -> RankSplit:
    """The split that ICON will make; `work` is zero or negative where ICON refuses to start.

    Several models of a job split the tasks that the master gives to each. Raises UndecidedError where nobody can know
    how many these are, and for more than are counted.
    """
    tasks = integer(component.tasks)
    if tasks > MOST_TASKS:
        raise UndecidedError(component.tasks)
    if tasks < 2:  # one task does everything itself: mo_mpi.f90:1521-1551
        return RankSplit(test=0, work=tasks, io=0, restart=0, prefetch=0, radar=0)
    apart = set_apart(component)
    return evolve(apart, work=tasks - apart.total)


def set_apart(component: Component) -> RankSplit:
    """The tasks that the component sets apart, however many it has; `work` is 0."""
    test = 0
    if component["parallel_nml", "p_test_run"].value:
        test = max(1, integer(component["parallel_nml", "num_test_pe"]))
    dedicated = restart_mode(component) in (RestartMode.ASYNC, RestartMode.DEDICATED)
    io = _count(component, "num_io_procs")
    restart = _count(component, "num_restart_procs") if dedicated else 0
    prefetch = _count(component, "num_prefetch_proc") if reads_boundaries(component) else 0
    radar_used = any(as_list(component["run_nml", "luse_radarfwo"].value))
    radar = _count(component, "num_io_procs_radar") if radar_used else 0
    return RankSplit(test, 0, io, restart, prefetch, radar)


def numbers_in_job(component: Component) -> tuple[int, ...] | None:
    """The numbers that the component's tasks have among those of the job; None where it has them all."""
    if len(component.experiment.models) < 2:
        return None
    return tuple(sorted(component.experiment.shares[component.number]))


def rank_numbers(split: RankSplit, in_job: tuple[int, ...] | None = None) -> dict[str, Sequence[int]]:
    """The numbers of the tasks of each kind, in ICON's order; `in_job` are those of all of them in the job."""
    numbers: dict[str, Sequence[int]] = {}
    start = 0
    for kind in KINDS:
        count = max(0, getattr(split, kind))
        own = range(start, start + count)
        numbers[kind] = own if in_job is None else [in_job[number] for number in own]
        start += count
    return numbers


def reads_boundaries(component: Component) -> bool:
    """Whether a prefetch rank has work: lateral boundaries, or global nudging, with itype_latbc > 0."""
    nudged = integer(component["nudging_nml", "nudge_type"]) == 2
    limited = component["grid_nml", "l_limited_area"].value
    return bool(limited or nudged) and integer(component["limarea_nml", "itype_latbc"]) > 0


def domains(component: Component) -> int:
    """The number of model domains: the grids named by dynamics_grid_filename, as far as they are followed."""
    names = as_list(component["grid_nml", "dynamics_grid_filename"].value)
    return min(_MOST_DOMAINS, max(1, sum(1 for name in names if str(name).strip())))


class OutputFile(NamedTuple):
    """One sequence of output files, written by one rank: a stream's level type, domain and partition.

    `partition` counts from 1 to `partitions`.
    """

    stream: Group
    level_type: str
    domain: int
    partition: int
    partitions: int


@remembered
def writes_output(component: Component) -> bool:
    """Whether output_nml groups are read: `run_nml: output` contains 'nml', or is left at its default."""
    keywords = [str(word).strip().lower() for word in as_list(component["run_nml", "output"].value)]
    return any(word in ("nml", "default") for word in keywords)


@remembered
def output_files(component: Component) -> tuple[OutputFile, ...]:
    """All output files in ICON's order: streams, their domains, level types, partitions. Raises UndecidedError for more
    than anybody could look at."""
    if not writes_output(component):
        return ()
    count, most = 0, _MOST_FILES // len(component.experiment.components)
    for stream in component.streams:
        for level_type in level_types(component, stream):
            partitions = partition_count(component, stream, level_type)
            count += max(0, partitions) * len(_stream_domains(component, stream))
            if count > most:
                setting = component.stream_setting(stream, f"stream_partitions_{level_type}")
                reason = f"{setting.name} is larger than {_MOST_FILES}"
                if partitions <= _MOST_FILES:
                    reason = f"{setting.name} makes more than {most} sequences of files with those before it"
                raise UndecidedError(setting, reason)
    return tuple(
        OutputFile(stream, level_type, domain, partition, partitions)
        for stream in component.streams
        for domain in _stream_domains(component, stream)
        for level_type in level_types(component, stream)
        for partitions in (partition_count(component, stream, level_type),)
        for partition in range(1, partitions + 1)
    )


def files_of(component: Component, stream: Group) -> tuple[OutputFile, ...]:
    """Those of one stream."""
    return _by_stream(component).get(id(stream), ())


@remembered
def _by_stream(component: Component) -> dict[int, tuple[OutputFile, ...]]:
    by_stream = groupby(output_files(component), lambda file: id(file.stream))
    return {stream: tuple(files) for stream, files in by_stream}


@remembered
def level_types(component: Component, stream: Group) -> tuple[str, ...]:
    """The level types a stream writes: those whose varlist has a first name."""
    return tuple(
        level_type
        for level_type in LEVEL_TYPES
        if str(_first(component.stream_setting(stream, f"{level_type}_varlist"))).strip()
    )


def partition_count(component: Component, stream: Group, level_type: str) -> int:
    """The effective stream_partitions of one level type of a stream."""
    return integer(component.stream_setting(stream, f"stream_partitions_{level_type}"))


class PlacementError(ValueError):
    """ICON refuses the explicit placement: a rank that does not exist, or none left for other files."""


@remembered
def placement(component: Component) -> tuple[tuple[OutputFile, int], ...]:
    """Each output file with the I/O rank that writes it, counted from 0 within the I/O ranks.

    Files with pe_placement go where it says; the others round robin over the ranks that hold no such file. Without I/O
    ranks the first work rank writes all. Raises PlacementError where ICON aborts.
    """
    files = output_files(component)
    return placed([(file, explicit_rank(component, file)) for file in files], split(component).io)


def placed(files: Sequence[tuple[OutputFile, int]], io_ranks: int) -> tuple[tuple[OutputFile, int], ...]:
    """Files in ICON's order, each with the rank that pe_placement names (-1 for none), on so many I/O ranks: each with
    the rank that writes it.

    Without I/O ranks the first work rank writes all. Raises PlacementError where ICON aborts.
    """
    ranks = max(1, io_ranks)
    taken = {rank for _, rank in files if rank >= 0}
    if any(rank >= ranks for rank in taken):
        raise PlacementError(f"pe_placement names I/O rank {max(taken)}, there are {ranks}, counted from 0")
    left = (rank for rank in range(ranks) if not io_ranks or rank not in taken)
    free = list(islice(left, len(files)))  # no more than there are files, however many ranks there are
    if not free and any(rank < 0 for _, rank in files):
        raise PlacementError("explicit placement leaves no I/O rank for the other files")
    result, turn = [], 0
    for file, rank in files:
        if rank >= 0:
            result.append((file, rank))
            continue
        result.append((file, free[turn % len(free)]))
        turn += 1
    return tuple(result)


def explicit_rank(component: Component, file: OutputFile) -> int:
    """The I/O rank that pe_placement names for a file, -1 for none."""
    ranks = _named_ranks(component, file.stream, file.level_type)
    return ranks[file.partition - 1] if file.partition <= len(ranks) else -1


@remembered
def _named_ranks(component: Component, stream: Group, level_type: str) -> list[int]:
    setting = component.stream_setting(stream, f"pe_placement_{level_type}")
    ranks = as_list(setting.value)
    if not all(isinstance(rank, int) for rank in ranks):
        raise UndecidedError(setting)
    return ranks


def _stream_domains(component: Component, stream: Group) -> list[int]:
    setting = component.stream_setting(stream, "dom")
    listed = as_list(setting.value)
    if not listed or not all(isinstance(domain, int) for domain in listed):
        raise UndecidedError(setting)
    count = domains(component)
    if listed[0] < 0:
        return list(range(1, count + 1))
    chosen = listed[: next((i for i, domain in enumerate(listed) if domain < 0), len(listed))]
    return [domain for domain in chosen if 1 <= domain <= count]


def _count(component: Component, name: str) -> int:
    return max(0, integer(component["parallel_nml", name]))


def _first(setting: Setting) -> Any:
    values = as_list(setting.value)
    return values[0] if values else ""
