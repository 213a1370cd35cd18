"""The grids of a run, and other files that its settings name, where they lie on this machine."""

from __future__ import annotations

from pathlib import Path

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.experiment.grid_file import GridFile, read_grid
from nmlgen.experiment.group import as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError


def source_at_hand(experiment: Experiment, file: InputFile) -> Path | None:
    """Where the source of an input file lies, the directory of a pattern; None where nobody knows."""
    base = experiment.base_directory
    if Certainty.UNKNOWN in (file.source.certainty, None if base is None else base.certainty):
        return None
    return (Path() if base is None else Path(str(base.value))) / str(file.source.value)


def path_at_hand(component: Component, setting: Setting, name: str) -> Path | None:
    """Where a file of a run that `setting` names lies before the run: what is linked or copied under this name, else in
    the directory of the namelist that says it. None where this is no path of this machine; nothing is looked up."""
    experiment = component.experiment
    brought = next((file for file in experiment.inputs if file.fits(name)), None)
    if brought is not None:
        path = source_at_hand(experiment, brought)
        return path if path is None or not brought.is_pattern else None if brought.is_deep else path / Path(name).name
    if Path(name).is_absolute():
        return Path(name)
    span = setting.span
    return Path(span.source.name).parent / name if span is not None and not experiment.inputs else None


@remembered
def grids_at_hand(component: Component) -> tuple[GridFile | None, ...]:
    """What the files of the domains say, in their order; None for each that is not on this machine."""
    setting = component["grid_nml", "dynamics_grid_filename"]
    found: list[GridFile | None] = []
    for name in map(str, as_list(setting.value)):
        if not name.strip():
            break
        path = path_at_hand(component, setting, name.strip())
        found.append(None if path is None else read_grid(path))
    return tuple(found)


def radiation_grid_at_hand(component: Component) -> GridFile | None:
    """What the file of the grid of the radiation says; None where none is named, or it is not on this machine."""
    setting = component["grid_nml", "radiation_grid_filename"]
    name = str(setting.value).strip()
    path = path_at_hand(component, setting, name) if name else None
    return None if path is None else read_grid(path)


def grid_at_hand(component: Component, domain: int = 1) -> GridFile | None:
    """What the file of one domain says, counted from 1; None where it is not on this machine, or not known."""
    try:
        found = grids_at_hand(component)
    except UndecidedError:
        return None
    return found[domain - 1] if domain <= len(found) else None
