"""What a model brings into a build: its namelists, its part of the batch script, and where its ranks sit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.seats import Seat
from nmlgen.models.restarting import Restarting
from nmlgen.values import frozen


@frozen
class NamelistFile:
    """A namelist file of the run directory: its name, what its first line says of it, and its groups."""

    name: str
    title: str
    groups: tuple[Group, ...]


@frozen
class Start:
    """The checkpoint of another experiment that a chain of jobs begins with: in `directory`, of the `time` or the last
    one. `models` are the names in the links to it, each with the name there; the experiment runs from `begin` to
    `end`. Times are basic instants of ISO 8601."""

    directory: str
    time: str
    models: Sequence[tuple[str, str]]
    begin: str
    end: str


@frozen(kw_only=True)
class JobPart:
    """What the batch script does for a model, by its `program`'s name and its `title` with the release.

    `checkpoints` are the names in the links to the checkpoints, `status_files` those in which the model says how it
    ended, `own_log` the file in which it says why; `needed` are patterns of files that must be there. The script makes
    `directories`; `output_names` are what names of output files begin with, and `finished` tells which of them no rank
    writes any more, a line each: how many sequences share a pattern, and the pattern as an extended regular expression
    of POSIX. `legs` is how many jobs follow each other, None where nobody can know. A run that `has_land` says in the
    master namelist, too, whether JSBACH goes on; with `checkpoint_on_demand` a model that is asked to stop writes a
    checkpoint.
    """

    program: str
    title: str
    legs: int | None
    checkpoints: Sequence[str] = ()
    status_files: Sequence[str] = ()
    own_log: str | None = None
    start: Start | None = None
    restarting: Restarting | None = None
    needed: Sequence[str] = ()
    directories: Sequence[str] = ()
    output_names: Sequence[str] = ()
    finished: Sequence[str] = ()
    has_land: bool = False
    checkpoint_on_demand: bool = False


class Building(Protocol):
    """What a build asks a model. Errors as those who work these things out have them."""

    def namelists(self, experiment: Experiment) -> Iterator[NamelistFile]:
        """The namelist files; the first one is that by which the script knows its directory."""

    def job_part(self, experiment: Experiment) -> JobPart:
        """What the batch script does for it."""

    def seats(self, experiment: Experiment) -> Sequence[Seat]:
        """The seat of each rank where programs are placed."""

    def room(self, experiment: Experiment) -> dict[str, int]:
        """What a job needs of the disk at least, by the manifest's keys; nothing where that is not known."""

    def end(self, experiment: Experiment) -> dict[str, Any]:
        """When the experiment ends, and whether it can go on beyond, by the manifest's keys; nothing where that is not
        known."""
