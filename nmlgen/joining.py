"""The files of partitions, put together again: for each what a run without partitions would have written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from glob import escape
from pathlib import Path

from nmlgen.asking import answer
from nmlgen.errors import BrokenFileError, InputError
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.promised import PromisedFile, partition_groups, promised_output
from nmlgen.results.file import read_file
from nmlgen.schedulers.programs import complaint
from nmlgen.units.calendar import Calendar
from nmlgen.values import frozen
from nmlgen.verifying import ended_jobs, lacks_most, run_in

DIRECTORY = "joined"
"""Where a joined file lies: below the directory of those that it is made of."""

_AT_ONCE = 200  # files that cdo opens at once: a process may have 1024 open


@frozen
class Joined:
    """One file that was made, or could not be: its `name` relative to the run's directory, of how many files, with how
    many records, and why not; "" if it was made, or was there."""

    name: str
    parts: int
    records: int
    why_not: str = ""
    is_new: bool = True


def join(
    directory: str | Path,
    *,
    legs: int | None = None,
    cdo: str = "cdo",
    ntasks: int | None = None,
    icon_release: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Joined, ...]:
    """Put the files of partitions together with `cdo mergetime`, below `joined/` of their directory.

    A file gets the name that it would have without partitions. It is made only of whole files, with all records that
    the experiment promises, and takes its name when it has them all; one that is there whole is left alone. `legs` is
    the number of jobs that have ended, as for `verify`. Raises InputError if there is no experiment, no stream with
    partitions, or no `cdo`.
    """
    run, experiment = run_in(Path(directory), ntasks, icon_release)
    ended = ended_jobs(run, experiment, legs)
    program = shutil.which(cdo)
    found: list[Joined] = []
    groups = 0
    for component in experiment.components:
        try:
            if lack := lacks_most(run, component):
                raise InputError(f"{directory}: {component.title}: {lack}")
            promised = {file.name: file for file in promised_output(component, ended).files}
            whole = {file.name: file for file in promised_output(component).files}
            wanted = list(partition_groups(component))
            calendar = clock(component).calendar
        except UndecidedError as error:
            unknown = error.setting.name
            raise InputError(f"{directory}: which files belong together is not known: {unknown} is not") from None
        groups += len(wanted)
        for name, parts in wanted:
            if any(part not in promised or promised[part].times != whole[part].times for part in parts):
                continue  # a later job writes to it
            if program is None:
                raise InputError(f"there is no {cdo}, which puts files together; load its module, or say --cdo")
            if progress is not None:
                progress(name)
            found.append(_join(run, name, [promised[part] for part in parts], program, calendar))
    if not groups:
        raise InputError(f"{directory}: no stream has partitions: there is nothing to join")
    return tuple(found)


def _join(run: Path, name: str, parts: Sequence[PromisedFile], program: str, calendar: Calendar) -> Joined:
    """One group of files."""
    target = run / Path(name).parent / DIRECTORY / Path(name).name
    shown = str(target.relative_to(run))
    times = sorted(time for part in parts for time in part.times)
    if not _lacks(target, times, calendar):
        return Joined(shown, len(parts), len(times), is_new=False)
    paths = [run / part.name for part in parts]
    if os.path.realpath(target.parent) in {os.path.realpath(path.parent) for path in paths}:
        return Joined(
            shown, len(parts), 0, f"{DIRECTORY} leads to the directory of the partitions, which it would replace"
        )
    for part, path in zip(parts, paths, strict=True):
        if lack := _lacks(path, part.times, calendar):
            return Joined(shown, len(parts), 0, f"{part.name}: {lack}")
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        failed = _merged(program, paths, staged)
        if failed:
            return Joined(shown, len(parts), 0, failed)
        if lack := _lacks(staged, times, calendar):
            return Joined(shown, len(parts), 0, f"what cdo made of them is not whole: {lack}")
        staged.replace(target)
    finally:
        for left in target.parent.glob(f"{escape(staged.name)}*"):
            left.unlink()
    return Joined(shown, len(parts), len(times))


def _lacks(path: Path, times: Sequence[int], calendar: Calendar) -> str:
    """What a file lacks of these records; "" if it has them all and no other."""
    try:
        found = read_file(path, calendar)
    except FileNotFoundError:
        return "it is missing"
    except BrokenFileError as error:
        return str(error)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    if found.is_cut:
        return f"it has {found.size} bytes, by its header {found.needed}"
    if found.times is None:
        return found.unread or "its times cannot be read"
    there = sorted(found.times)
    if len(there) != len(times):
        return f"it has {len(there)} records instead of {len(times)}"
    if any(abs(a - b) >= 1000 for a, b in zip(there, times, strict=True)):
        return "its records are of other times"
    return ""


def _merged(program: str, paths: Sequence[Path], target: Path) -> str:
    """Merge files by time, a part of them after the other; why it failed, "" if it did not."""
    made = [Path(path) for path in paths]
    level = 0
    while len(made) > _AT_ONCE:
        level += 1
        merged = []
        for number, at in enumerate(range(0, len(made), _AT_ONCE)):
            merged.append(target.with_name(f"{target.name}.{level}.{number}"))
            if failed := _call(program, made[at : at + _AT_ONCE], merged[-1]):
                return failed
        made = merged
    return _call(program, made, target)


def _call(program: str, paths: Sequence[Path], target: Path) -> str:
    command = [program, "-s", "-O", "mergetime", *map(str, paths), str(target)]
    done = answer(command)
    if done.code == 0:
        return ""
    said = complaint(done.error).splitlines()
    return f"cdo ended with exit code {done.code}" + (f": {said[-1].strip()}" if said else "")
