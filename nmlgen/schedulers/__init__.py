"""Batch systems: each reads what the directives of a script ask for, and writes directives that ask for the same.

Between them stands a `Request`, which names what a job wants in words of no scheduler. A package elsewhere adds one by
an entry point of the group `nmlgen.schedulers` that names a module or an object with what `Scheduler` has. With a
function `arrays`, which gives what `nmlgen.schedulers.arrays.Arrays` has, it runs sweeps, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from nmlgen.errors import InputError

if TYPE_CHECKING:
    from nmlgen.schedulers.arrays import Arrays
    from nmlgen.schedulers.request import Request, Written
    from nmlgen.source import Source

_OWN = ("nmlgen.schedulers.pbs.scheduler", "nmlgen.schedulers.slurm.scheduler")


class Scheduler(Protocol):
    """A batch system. All name facts and deeds alike, so that what `variables` and `programs` of one stand for is found
    in what another `says`."""

    name: str
    """What a site and the command line call it."""
    title: str
    """What messages call it."""
    prefix: str
    """How its directives begin."""
    variables: Mapping[str, str]
    """What the variables that it sets in a job say, by their names."""
    says: Mapping[str, str]
    """How a script comes by such a fact there, or does such a deed."""
    programs: Mapping[str, str]
    """What its programs do, by their names."""

    def is_spoken(self, source: Source) -> bool:
        """Whether a script has directives that it reads."""

    def read(self, source: Source, bodies: Iterable[tuple[int, int]]) -> Request:
        """What the directives of a script ask for; `bodies` are the stretches of the text that are here-documents."""

    def written(self, request: Request) -> Written:
        """The directives that ask for the same, and what they cannot ask for."""


@cache
def schedulers() -> Mapping[str, Scheduler]:
    """All schedulers that are installed, by name; those of other packages last."""
    from importlib.metadata import entry_points  # which is slow to load

    own = [cast(Scheduler, import_module(module)) for module in _OWN]
    return {one.name: one for one in (*own, *(point.load() for point in entry_points(group="nmlgen.schedulers")))}


def arrays_of(name: str) -> Arrays:
    """How the batch system of that name runs job arrays. Raises InputError for one of which nmlgen does not know it."""
    scheduler = schedulers().get(name)
    arrays = getattr(scheduler, "arrays", None)
    if scheduler is None or arrays is None:
        title = name if scheduler is None else scheduler.title
        raise InputError(f"nmlgen submits no sweeps to {title}; each point is submitted by itself, in its directory")
    return cast("Arrays", arrays())
