"""What the tasks of a model that is not ICON do, of a spec or of its namelist."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.grid_file import read_grid
from nmlgen.experiment.setting import UndecidedError
from nmlgen.files import Files
from nmlgen.models import Model, model_named, model_of, models, workload_by
from nmlgen.models.surroundings import Surroundings
from nmlgen.models.workload import UnknownWorkloadError, Workload
from nmlgen.namelist.reader import read
from nmlgen.render.namelists import write_groups
from nmlgen.source import Source


def workload_of_spec(experiment: Experiment, said: Mapping[str, int] | None = None) -> Workload:
    """What the tasks of a spec's job do, and which files they write; `said` is what no namelist says, see
    `nmlgen.models.surroundings`. Raises UnknownWorkloadError."""
    other = experiment.other
    model = None if other is None else model_named(other.name)
    if other is None or model is None:
        raise UnknownWorkloadError("nobody has described the model")
    try:
        tasks = int(str(experiment.tasks.value))
    except UndecidedError as error:
        raise UnknownWorkloadError(error.reason) from None
    sources = {name: Source(name, write_groups(groups)) for name, groups in other.files.items()}
    if model.namelist not in sources:
        raise UnknownWorkloadError(f"the spec has no {model.namelist}")

    def beside(name: str) -> Source | None:
        path = None if name in sources else _brought(experiment, name)
        return sources.get(name) if path is None else Files().read(path)

    around = Surroundings(beside, lambda name: _lengths(_brought(experiment, name)), said or {})
    return workload_by(model, read(sources[model.namelist]), tasks, around)


def _brought(experiment: Experiment, name: str) -> Path | None:
    """An input file of a spec, where it is there and its place does not depend on that of the build."""
    base = str(experiment.base_directory.value) if experiment.base_directory is not None else ""
    for file in experiment.inputs:
        if file.target == name:
            path = Path(base, str(file.source.value))
            return path if path.is_absolute() and Files().is_file(path) else None
    return None


def _lengths(path: Path | None) -> Mapping[str, int]:
    """The lengths of the dimensions of a file of NetCDF; none of what is not there or cannot be read."""
    found = None if path is None else read_grid(path)
    return {} if found is None else found.dimensions


def namelist_of_other(path: Path, files: Files) -> tuple[Path, Model] | None:
    """The namelist file of a model other than ICON that a path is, or a directory has, and the model; None for a spec,
    for ICON and for what nobody knows."""
    if path.is_dir():
        namelists = [path / model.namelist for model in models() if (path / model.namelist).is_file()]
    else:
        namelists = [] if path.suffix in (".yaml", ".yml", ".json") else [path]
    known = ((namelist, model_of(namelist, files.read(namelist).text)) for namelist in namelists)
    return next(((namelist, model) for namelist, model in known if model is not None), None)


def workload_of_namelist(
    path: Path, files: Files, model: Model, tasks: int, said: Mapping[str, int] | None = None
) -> Workload:
    """What so many tasks do with a namelist file of a model; `said` as for a spec. Raises UnknownWorkloadError."""
    around = Surroundings(partial(files.beside, path), lambda name: _lengths(path.parent / name), said or {})
    return workload_by(model, read(files.read(path)), tasks, around)
