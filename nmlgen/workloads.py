"""What the tasks of a model that is not ICON do, of a spec or of its namelist."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.files import Files
from nmlgen.models import Model, model_named, model_of, models, workload_by
from nmlgen.models.workload import UnknownWorkloadError, Workload
from nmlgen.namelist.reader import read
from nmlgen.render.namelists import write_groups
from nmlgen.source import Source


def workload_of_spec(experiment: Experiment) -> Workload:
    """What the tasks of a spec's job do, and which files they write. Raises UnknownWorkloadError."""
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
        return sources.get(name) or _brought(experiment, name)

    return workload_by(model, read(sources[model.namelist]), tasks, beside)


def _brought(experiment: Experiment, name: str) -> Source | None:
    """An input file of a spec, where its place does not depend on that of the build."""
    base = str(experiment.base_directory.value) if experiment.base_directory is not None else ""
    for file in experiment.inputs:
        if file.target == name:
            path = Path(base, str(file.source.value))
            files = Files()
            return files.read(path) if path.is_absolute() and files.is_file(path) else None
    return None


def namelist_of_other(path: Path, files: Files) -> tuple[Path, Model] | None:
    """The namelist file of a model other than ICON that a path is, or a directory has, and the model; None for a spec,
    for ICON and for what nobody knows."""
    if path.is_dir():
        namelists = [path / model.namelist for model in models() if (path / model.namelist).is_file()]
    else:
        namelists = [] if path.suffix in (".yaml", ".yml", ".json") else [path]
    known = ((namelist, model_of(namelist, files.read(namelist).text)) for namelist in namelists)
    return next(((namelist, model) for namelist, model in known if model is not None), None)


def workload_of_namelist(path: Path, files: Files, model: Model, tasks: int) -> Workload:
    """What so many tasks do with a namelist file of a model. Raises UnknownWorkloadError."""
    return workload_by(model, read(files.read(path)), tasks, partial(files.beside, path))
