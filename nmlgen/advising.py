"""Advice on an experiment, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attrs import evolve

from nmlgen.advise.advice import Advice, advise, calibration_of
from nmlgen.advise.calibration import Calibration
from nmlgen.advise.decision import stripes_of
from nmlgen.advise.experiment import situation_of
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.spec.spec import Spec, load_spec

_SPEC_SUFFIXES = (".yaml", ".yml")
_GRID = "grid_nml.dynamics_grid_filename"


def advice(
    source: str | Path | Spec,
    *,
    overrides: Iterable[str] = (),
    calibration: Calibration | None = None,
    ntasks: int | None = None,
    icon_release: str | None = None,
) -> Advice:
    """What the layout of an experiment costs and what would be better: of a loaded spec, or of the path of a spec, of a
    run script, of a directory with a build or an icon_master.namelist, or of such a file.

    The figures are those of a `calibration`, by default the site's, else Levante's. `ntasks` is the number of MPI tasks
    and `icon_release` the release of what does not say them. Raises InputError if a file cannot be read or something
    is not known that the prediction needs, SpecError if a spec cannot be understood.
    """
    if isinstance(source, Spec):
        experiment = source.experiment
    elif Path(source).suffix in _SPEC_SUFFIXES:
        experiment = load_spec(source, overrides).experiment
    else:
        experiment = _lifted(source, tuple(overrides), ntasks, icon_release)
    try:
        situation = situation_of(_only(experiment))
    except UndecidedError as error:
        raise InputError(_missing(source, error.setting)) from None
    found = advise(situation, calibration or calibration_of(situation))
    return evolve(found, stripes=tuple(stripes_of(experiment)))


def _lifted(source: str | Path, overrides: tuple[str, ...], ntasks: int | None, icon_release: str | None) -> Experiment:
    from nmlgen.lift.loading import load  # how scripts are read is needed for scripts only

    return load(source, overrides=overrides, ntasks=ntasks, icon_release=icon_release).experiment


def _only(experiment: Experiment) -> Component:
    if len(experiment.components) > 1:
        names = ", ".join(component.title for component in experiment.components)
        raise InputError(f"the experiment starts {names}; the run time of one model alone is predicted")
    return experiment.components[0]


def _missing(source: str | Path | Spec, setting: Setting) -> str:
    where = f"{setting.span}: " if setting.span is not None else "" if isinstance(source, Spec) else f"{source}: "
    if setting.name == _GRID:
        return (
            f"{where}the size of the grid is not known, and no run time without it; expected: the name of a "
            "global grid such as R2B5, in grid.name or in the name of the grid file"
        )
    if setting.name == "job.gpus":
        return f"{where}the job asks for GPUs: no run on any was measured, so no run time is known"
    if setting.name == "ntasks":
        return f"{where}the number of MPI tasks is not known, and no run time without it; expected: --ntasks"
    return f"{where}{setting.name} is not known, and no run time without it; expected: a value that ICON can use"
