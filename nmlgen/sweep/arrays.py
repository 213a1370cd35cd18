"""Which points can share a job array, and the script of such an array: `templates/array.sbatch.j2`,
and that which shares the slots of a throttle among several: `templates/slots.sh.j2`.

Points whose scripts have the same directives, but for the names of job and log, share one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from nmlgen._version import __version__
from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.render.shell import Quoted, joined, shell_word
from nmlgen.render.templates import template
from nmlgen.schedulers import arrays_of, schedulers
from nmlgen.schedulers.arrays import JobScript
from nmlgen.source import Source
from nmlgen.sweep.directory import read_table
from nmlgen.values import field, frozen

_LEGS = re.compile(r"^readonly legs=(\d{1,9})$", re.MULTILINE)


@frozen
class SweepPoint:
    """A row of the table of a sweep: a point that was built. `directory` is relative to the sweep's."""

    id: str
    name: str
    directory: str


@frozen(eq=False)
class PointScript:
    """The batch script of a point: for which batch system it is, what it asks for, and how many jobs its restart chain
    takes."""

    point: SweepPoint
    path: Path
    scheduler: str
    job: JobScript = field(repr=False)
    legs: int


def read_points(sweep: Path) -> tuple[SweepPoint, ...]:
    """The points of a sweep that were built. Raises InputError if there is no sweep."""
    rows = read_table(sweep)
    return tuple(SweepPoint(row["id"], row["name"], row["directory"]) for row in rows if row["state"] == "built")


def _script_of(sweep: Path, point: SweepPoint) -> tuple[Path, Source]:
    scripts = sorted((sweep / point.directory).glob("*.sbatch"))
    if len(scripts) != 1:
        found = ", ".join(path.name for path in scripts) or "none"
        raise InputError(f"{sweep / point.directory}: one file *.sbatch is expected, there is {found}")
    (path,) = scripts
    return path, Files().read(path)


def scheduler_of(sweep: Path, point: SweepPoint) -> str:
    """The batch system for which a point was built. Raises InputError if its script says several, or is not there."""
    return _scheduler_in(*_script_of(sweep, point))


def _scheduler_in(path: Path, source: Source) -> str:
    found = _spoken(source.text)
    if len(found) > 1:
        titles = " and ".join(sorted(schedulers()[name].title for name in found))
        raise InputError(f"{path} has lines for {titles}: which of them hold?")
    return found[0] if found else "slurm"


@lru_cache(maxsize=8)  # the points of a sweep have few scripts
def _spoken(text: str) -> tuple[str, ...]:
    source = Source("script", text)
    return tuple(name for name, one in schedulers().items() if one.is_spoken(source))


def read_script(sweep: Path, point: SweepPoint, scheduler: str | None = None) -> PointScript:
    """The batch script of a point. Raises InputError if there is none, if it would be refused, or if it is for another
    batch system than `scheduler`."""
    path, source = _script_of(sweep, point)
    own = _scheduler_in(path, source)
    if scheduler is not None and own != scheduler:
        titles = [schedulers()[name].title for name in (own, scheduler)]
        raise InputError(f"{path} is for {titles[0]}, and this sweep for {titles[1]}")
    legs = _LEGS.search(source.text)
    return PointScript(point, path, own, arrays_of(own).read_script(path, source), max(1, int(legs[1])) if legs else 1)


def packs(members: Sequence[PointScript], pack: int) -> list[tuple[int, list[PointScript]]]:
    """Points in parts whose tasks each run so many side by side; what is left over makes a smaller pack."""
    full = len(members) - len(members) % pack
    parts = ((pack, members[:full]), (len(members) - full, members[full:]))
    return [(size, list(part)) for size, part in parts if part]


def group(scripts: Iterable[tuple[PointScript, int, int]]) -> list[tuple[int, int, list[PointScript]]]:
    """Points that can share arrays: given with the number of the next run and of the legs that are left."""
    found: dict[tuple[int, int, bool, tuple[str, ...]], list[PointScript]] = {}
    for script, first, legs in scripts:
        found.setdefault((first, legs, script.job.is_restarted, script.job.directives), []).append(script)
    return [(first, legs, members) for (first, legs, *_), members in found.items()]


def array_script(
    token: str,
    first: int,
    directives: tuple[str, ...],
    throttle: int | None = None,
    *,
    pack: int = 1,
    legs: int = 1,
    size: Mapping[str, int] = MappingProxyType({}),
    scheduler: str = "slurm",
    is_restarted: bool = True,
    arguments: Sequence[str] = (),
) -> str:
    """The text of the script of a submission's arrays, one for each of `legs`; each task runs `pack` points of this
    `size` side by side."""
    arrays = arrays_of(scheduler)
    own = () if arrays.takes_arguments else arguments  # of the first leg
    values = {"token": token, "first": first, "directives": directives, "pack": pack, "legs": legs}
    values |= {"throttle": throttle if arrays.shares_slots else None, "is_restarted": is_restarted}
    values |= {"nodes": size.get("nodes"), "ntasks": size.get("ntasks"), "scheduler": scheduler}
    values |= {"arguments": joined(map(shell_word, own))}
    values |= {"prefix": Quoted(schedulers()[scheduler].prefix), "title": Quoted(schedulers()[scheduler].title)}
    values |= {"begin": None, "log": None}
    values |= {name: Quoted(text) for name, text in arrays.in_job.items()}
    return str(template("array.sbatch.j2").render(values, version=__version__))


def slots_script() -> str:
    """The text of the script that shares the slots of a throttled sweep among its arrays."""
    return str(template("slots.sh.j2").render(version=__version__))
