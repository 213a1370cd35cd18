"""The models: each knows its own namelists by what they are called and hold, and judges them as it reads them; ICON has
a spec, rules and much else of its own.

A package elsewhere adds one by an entry point of the group `nmlgen.models` that names a module or an object with what
`Model` has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from nmlgen import disk
from nmlgen.findings import Report
from nmlgen.models.restarting import Restarting
from nmlgen.models.workload import UnknownWorkloadError, Workload
from nmlgen.source import Source

if TYPE_CHECKING:
    from nmlgen.experiment.experiment import Experiment
    from nmlgen.files import Files
    from nmlgen.models.building import Building
    from nmlgen.models.job import ModelJob
    from nmlgen.namelist.syntax import Document

_OWN = ("nmlgen.models.mpas", "nmlgen.models.palm", "nmlgen.models.wrf")


class Model(Protocol):
    """A model whose namelists can be judged."""

    name: str
    """What messages call it, and in lower case what a spec does."""
    namelist: str
    """The file that it reads its namelist from, which a spec's `namelists` are written to."""
    problems: dict[str, tuple[str, str]]
    """The name and the page of each of its codes."""

    def recognises(self, path: Path, text: str) -> bool:
        """Whether a namelist file is one of this model."""

    def lint(self, document: Document, tasks: int | None, beside: Callable[[str], Source | None]) -> Report:
        """Judge a namelist file for a job of so many MPI tasks, None where nobody says how many; `beside` gives a file
        of its directory by name, None if there is none."""


def model_of(path: Path, text: str) -> Model | None:
    """The model that a namelist file is for; None for ICON and for what nobody knows."""
    if len(models()) > len(_OWN):
        disk.unrepeatable()  # who knows what they look at, and which version they are
    return next((model for model in models() if model.recognises(path, text)), None)


def model_named(name: str) -> Model | None:
    """The model that a spec calls so; None for ICON, and for one that nobody described."""
    return next((model for model in models() if model.name.lower() == name), None)


def restarting_of(name: str) -> Restarting | None:
    """How the model that a spec calls so goes on from a checkpoint: its `restarting`; None where it says nothing."""
    return getattr(model_named(name), "restarting", None)


def log_of(name: str) -> str | None:
    """The file in which the model that a spec calls so says why it ended: its `log`; None where it says nothing."""
    return getattr(model_named(name), "log", None)


def job_of(path: Path, files: Files) -> ModelJob | None:
    """The job whose directory a path is, as the program keeps it that starts a model: its `job_of`; None where no model
    knows it."""
    found = (job(path, files) for model in models() if (job := getattr(model, "job_of", None)) is not None)
    return next((job for job in found if job is not None), None)


def building_of(experiment: Experiment) -> Building:
    """What a build asks the model of an experiment."""
    name = "nmlgen.models.icon.building" if experiment.other is None else "nmlgen.models.others"
    return cast("Building", import_module(name))


_MOST_TASKS = 100_000  # each may write files of its own


def workload_by(model: Model, document: Document, tasks: int, beside: Callable[[str], Source | None]) -> Workload:
    """What so many tasks do with a namelist of a model: its `workload`. Raises UnknownWorkloadError, where it says
    nothing, too."""
    worked_out = getattr(model, "workload", None)
    if worked_out is None:
        raise UnknownWorkloadError(f"{model.name} does not say what its tasks do")
    if tasks > _MOST_TASKS:
        raise UnknownWorkloadError(f"{tasks} tasks are more than are followed ({_MOST_TASKS})")
    return cast(Workload, worked_out(document, tasks, beside))


def asks_for(model: Model | None) -> tuple[str, ...]:
    """What the `workload` of a model asks for that no namelist says, see `nmlgen.models.surroundings`: its `asks`."""
    return getattr(model, "asks", ())


def own_models() -> Iterator[Model]:
    """The models that come with nmlgen."""
    for module in _OWN:
        yield cast(Model, import_module(module))


@cache
def models() -> tuple[Model, ...]:
    """All models that are installed, those of other packages last."""
    from importlib.metadata import entry_points  # which is slow to load

    return (*own_models(), *(point.load() for point in entry_points(group="nmlgen.models")))
