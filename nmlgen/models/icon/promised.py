"""Which files a run leaves, after so many of its jobs: every output file with its records, and the checkpoint.

What a chain overwrites on its way is not among them (see `output_fate`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import groupby, islice

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.chain import restart_name, writes_checkpoints
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.output_fate import fate
from nmlgen.models.icon.ranks import (
    OutputFile,
    PlacementError,
    RestartMode,
    domains,
    files_of,
    output_files,
    restart_mode,
)
from nmlgen.models.icon.schedule import Names, all_dates
from nmlgen.models.icon.volume import StreamVolume, Volume, stream_volumes
from nmlgen.values import frozen


@frozen
class PromisedFile:
    """One output file: its name as ICON opens it, the model times of its records as positions of the calendar in
    milliseconds, and its size, None where that is not known. `is_last` where all its records are of the last job."""

    name: str
    times: tuple[int, ...]
    size: Volume | None
    is_last: bool


@frozen
class Promise:
    """What one component leaves. `patterns` are those of its names, each with the text that they begin with: a file
    that matches one and is not among `names`, those of the whole experiment, is none of this experiment's."""

    files: tuple[PromisedFile, ...]
    names: frozenset[str]
    patterns: tuple[tuple[str, re.Pattern[str]], ...]


def promised_output(component: Component, legs: int | None = None) -> Promise:
    """The output files of the first so many jobs, of all unless it is said.

    Raises UndecidedError for settings that nobody can know.
    """
    time = clock(component)
    start = time.calendar.position(time.start)
    sizes = _sizes(component)
    files: list[PromisedFile] = []
    names: set[str] = set()
    patterns: dict[str, tuple[str, re.Pattern[str]]] = {}
    before = time.end_of((legs or time.legs) - 1)
    for sequence in output_files(component):
        left = fate(component, sequence, time, legs)
        whole = left if legs is None or legs >= time.legs else fate(component, sequence, time)
        names |= set(whole.files) | set(left.files)
        same = Names(component, sequence, time)
        pattern = same.pattern
        patterns[pattern.pattern] = same.beginning, pattern
        volume = sizes.get((id(sequence.stream), sequence.level_type, sequence.domain))
        for name, dates in left.files.items():
            if dates:
                size = volume.step.times(len(dates)) + volume.constant if volume is not None else None
                times = tuple(start + date for date in dates)
                files.append(PromisedFile(name, times, size, before == time.begin or dates[0] > before))
    return Promise(tuple(files), frozenset(names), tuple(patterns.values()))


def promised_records(component: Component) -> int:
    """How many records the whole experiment has, were it one job; errors as `promised_output`."""
    time = clock(component)
    return sum(len(all_dates(component, sequence, time)) for sequence in output_files(component))


def _sizes(component: Component) -> dict[tuple[int, str, int], StreamVolume]:
    try:
        return {(id(one.stream), one.level_type, one.domain): one for one in stream_volumes(component)}
    except (UndecidedError, PlacementError):
        return {}


def checkpoint_links(component: Component) -> tuple[str, ...]:
    """The links by which the next job finds the last checkpoint: one, or one for each domain."""
    name = restart_name(component)
    if restart_mode(component) in (RestartMode.JOINT, RestartMode.DEDICATED):
        return (f"multifile_restart_{name}.mfr",)
    return tuple(f"restart_{name}_DOM{domain:02d}.nc" for domain in range(1, domains(component) + 1))


def checkpoint_patterns(component: Component) -> tuple[str, ...]:
    """What the names of its checkpoints match, as fnmatch has it: one for each domain, or one for the directory of a
    multifile mode, whose `<gridfile>` is "multifile" (`mo_restart_util.f90`, `run_nml: restart_filename`)."""
    template = str(component["run_nml", "restart_filename"].value).strip()
    words = {"<mtype>": restart_name(component), "<rsttime>": "*"}
    if restart_mode(component) in (RestartMode.JOINT, RestartMode.DEDICATED):
        return (_filled(template, words | {"<gridfile>": "multifile", "<idom>": "*", "<extension>": "mfr"}),)
    grids = as_list(component["grid_nml", "dynamics_grid_filename"].value)
    patterns = [
        words | {"<gridfile>": _without_extension(str(grid)), "<idom>": f"{domain:02d}", "<extension>": "nc"}
        for domain, grid in enumerate(grids[: domains(component)], start=1)
    ]
    return tuple(_filled(template, each) for each in patterns)


def stream_directories(component: Component, *, only_first: bool = False) -> Iterator[tuple[OutputFile, str]]:
    """The directory of each sequence of output files whose name says one, of each stream the `only_first`; a keyword of
    `CHANGING` stands in it where each file has its own. Where partitions share one, the first stands for all. Raises
    UndecidedError for settings that nobody can know."""
    for stream in component.streams:
        if not _says_directory(component, stream):
            continue
        time = clock(component)
        is_by_partition = "<ifile_partition>" in str(component.stream_setting(stream, "filename_format").value)
        files = (file for file in files_of(component, stream) if file.partition == 1 or is_by_partition)
        for file in islice(files, 1 if only_first else None):
            if directory := Names(component, file, time).directory:
                yield file, directory


def _says_directory(component: Component, stream: Group) -> bool:
    names = ("output_filename", "filename_format")
    return any("/" in str(component.stream_setting(stream, name).value) for name in names)


def checkpoint_directories(component: Component) -> tuple[str, ...]:
    """The directories that `restart_filename` names, if the experiment comes to a checkpoint; `*` stands where each
    time has its own. Raises UndecidedError for settings that nobody can know."""
    if "/" not in str(component["run_nml", "restart_filename"].value) or not writes_checkpoints(component):
        return ()
    time = clock(component)
    intervals = [interval for interval in (time.checkpoint, time.restart) if interval]
    if not intervals or min(intervals) > time.length:
        return ()
    found = (posixpath.dirname(pattern) for pattern in checkpoint_patterns(component))
    return tuple(dict.fromkeys(directory for directory in found if directory not in ("", ".")))


def _filled(template: str, words: dict[str, str]) -> str:
    for keyword, word in words.items():
        template = template.replace(keyword, word)
    return template


def _without_extension(name: str) -> str:
    name = name.strip().rpartition("/")[2]
    return name.rpartition(".")[0] or name


def files_of_stream(component: Component, stream: Group) -> tuple[str, ...]:
    """The names of the files that one stream writes over the whole experiment, each once, sequence by sequence.

    Raises UndecidedError for settings that nobody can know.
    """
    time = clock(component)
    sequences = files_of(component, stream)
    return tuple(dict.fromkeys(name for file in sequences for name in fate(component, file, time).files))


def partition_groups(component: Component) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each stream with partitions the files that belong together: the name that the file would have without
    partitions, and the names of those that its records lie in, in the order of their times.

    With file_interval these are the files of one number, without it those of so many records as steps_per_file says,
    or all. Raises UndecidedError for settings that nobody can know.
    """
    time = clock(component)
    sequences = (file for file in output_files(component) if file.partitions > 1)
    for _, own in groupby(sequences, lambda file: (id(file.stream), file.domain, file.level_type)):
        yield from _groups(component, list(own), time)


def _groups(component: Component, sequences: list[OutputFile], time: Clock) -> Iterator[tuple[str, tuple[str, ...]]]:
    first = sequences[0]
    alone = OutputFile(first.stream, first.level_type, first.domain, 1, 1)
    names = Names(component, alone, time)
    found = [list(fate(component, file, time).files.items()) for file in sequences]
    if component.stream_setting(first.stream, "file_interval").value:
        groups = [
            [part for files in found for part in files[number : number + 1]] for number in range(max(map(len, found)))
        ]
    else:
        parts = sorted((part for files in found for part in files), key=lambda part: part[1])
        steps = component.stream_setting(first.stream, "steps_per_file").value
        size = steps if isinstance(steps, int) and steps > 1 else max(1, len(parts))
        groups = [parts[at : at + size] for at in range(0, len(parts), size)]
    for number, group in enumerate(groups, start=1):
        ordered = sorted(group, key=lambda part: part[1])
        if ordered:
            yield names.of(number, ordered[0][1][0]), tuple(name for name, _ in ordered)
