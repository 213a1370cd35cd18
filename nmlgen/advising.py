"""Advice on an experiment, whatever it is written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nmlgen.advise.advice import Advice, ComponentAdvice, advise
from nmlgen.advise.calibration import Calibration
from nmlgen.advise.decision import stripes_of
from nmlgen.advise.experiment import Situation, situation_on_any_device
from nmlgen.advise.figures import calibration_of
from nmlgen.advise.io_cost import io_cost
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting, UndecidedError, written
from nmlgen.spec.spec import Spec, load_spec
from nmlgen.units.whole import decimal
from nmlgen.values import evolve

_SPEC_SUFFIXES = (".yaml", ".yml")
_MOST_CELLS = 10**12
_GRID = "grid_nml.dynamics_grid_filename"


def advice(
    source: str | Path | Spec,
    *,
    overrides: Iterable[str] = (),
    calibration: Calibration | None = None,
    ntasks: int | None = None,
    icon_release: str | None = None,
    n_cells: Iterable[str] = (),
    component: str | None = None,
) -> Advice:
    """What the layout of an experiment costs and what would be better: of a loaded spec, or of the path of a spec, of a
    run script, of a directory with a build or an icon_master.namelist, or of such a file.

    The figures are those of a `calibration`, by default the site's, else Levante's. `ntasks` is the number of MPI tasks
    and `icon_release` the release of what does not say them; `n_cells` says how many cells a grid has: "81920", for a
    grid with nests "81920,20480", for one of several models "ocean=81920". Of an experiment with several models
    `component` names one. Raises InputError if a file cannot be read or something is not known that the prediction
    needs, SpecError if a spec cannot be understood.
    """
    experiment = _experiment(source, overrides, ntasks, icon_release, n_cells)
    names = [one.title for one in experiment.components]
    if component is None and len(names) > 1:
        raise InputError(f"the experiment starts {', '.join(names)}; expected: the name of one of them as component")
    if component is not None and component not in names:
        raise InputError(f'there is no model "{component}"; expected: {", ".join(names)}')
    chosen = experiment.components[0 if component is None else names.index(component)]
    try:
        situation, known = _asked(chosen, calibration)
        if not known.knows_steps_of(situation.case):
            raise InputError(_no_steps(source, chosen, situation, known))
        return _of_component(situation, known)
    except UndecidedError as error:
        raise InputError(_missing(source, error.setting)) from None


def advices(
    source: str | Path | Spec,
    *,
    overrides: Iterable[str] = (),
    calibration: Calibration | None = None,
    ntasks: int | None = None,
    icon_release: str | None = None,
    n_cells: Iterable[str] = (),
) -> tuple[ComponentAdvice, ...]:
    """The same for each component of an experiment, by its own share of the tasks.

    Raises InputError if a file cannot be read, or if of no component enough is known; SpecError if a spec cannot be
    understood.
    """
    experiment = _experiment(source, overrides, ntasks, icon_release, n_cells)
    found = []
    for component in experiment.components:
        try:
            situation, known = _asked(component, calibration)
            if known.knows_steps_of(situation.case):
                found.append(ComponentAdvice(component.title, _of_component(situation, known)))
                continue
            missing = _no_steps(source, component, situation, known)
            io = io_cost(situation, known) if situation.case.gpus else None
            found.append(ComponentAdvice(component.title, None, missing, io))
        except UndecidedError as error:
            found.append(ComponentAdvice(component.title, None, _missing(source, error.setting)))
    if not any(one.advice or one.io for one in found):
        raise InputError("; ".join(dict.fromkeys(one.missing for one in found)))
    return tuple(found)


def _experiment(
    source: str | Path | Spec,
    overrides: Iterable[str],
    ntasks: int | None,
    icon_release: str | None,
    n_cells: Iterable[str],
) -> Experiment:
    if isinstance(source, Spec):
        experiment = source.experiment
    elif Path(source).suffix in _SPEC_SUFFIXES:
        experiment = load_spec(source, overrides).experiment
    else:
        from nmlgen.lift.loading import load  # how scripts are read is needed for scripts only

        experiment = load(source, overrides=overrides, ntasks=ntasks, icon_release=icon_release).experiment
    experiment.require_icon("advice")
    cells = dict(_cells(experiment, tuple(n_cells)))
    if not cells:
        return experiment
    models = [evolve(model, cells=cells.get(number, model.cells)) for number, model in enumerate(experiment.models)]
    return evolve(experiment, models=tuple(models))


def _cells(experiment: Experiment, given: Sequence[str]) -> Iterator[tuple[int, Setting]]:
    """The numbers of cells by the number of the model."""
    names = [component.title for component in experiment.components]
    for text in given:
        name, equals, numbers = str(text).rpartition("=")
        if equals and name not in names:
            raise InputError(f'--n-cells {text}: there is no model "{name}"; expected: {", ".join(names)}')
        if not equals and len(names) > 1:
            raise InputError(f"--n-cells {text}: expected the name of a model before it, such as {names[0]}={text}")
        words = numbers.split(",")
        counts = [decimal(word.strip()) or 0 for word in words]
        if not all(0 < count < _MOST_CELLS for count in counts):
            raise InputError(f"--n-cells {text}: expected numbers of cells, by domain, such as 81920,20480")
        yield (
            names.index(name) if equals else 0,
            written("grid.cells", counts, "--n-cells"),
        )


def _asked(component: Component, calibration: Calibration | None) -> tuple[Situation, Calibration]:
    situation = situation_on_any_device(component)
    return situation, calibration or calibration_of(situation)


def _of_component(situation: Situation, calibration: Calibration) -> Advice:
    found = advise(situation, calibration)
    return evolve(found, stripes=tuple(stripes_of(situation.component.experiment)))


def _no_steps(source: str | Path | Spec, component: Component, situation: Situation, calibration: Calibration) -> str:
    """Why no run time is known: GPUs are no cores, nor the other way round."""
    where = "" if isinstance(source, Spec) else f"{source}: "
    if situation.case.gpus is None:
        return f"{where}{component.title} computes on cores, and calibration {calibration.name} knows GPUs only"
    return (
        f"{where}{component.title} computes on GPUs: how long a model step takes there only runs of your own say; "
        "expected: a calibration by nmlgen calibrate from logs of such runs"
    )


def _missing(source: str | Path | Spec, setting: Setting) -> str:
    where = f"{setting.span}: " if setting.span is not None else "" if isinstance(source, Spec) else f"{source}: "
    if setting.name == _GRID:
        return (
            f"{where}the size of the grid is not known, and no run time without it; expected: the name of a "
            "global grid such as R2B5, in grid.name or in the name of the grid file; or the number of cells, of each "
            "domain, in grid.cells or by --n-cells; or the grid file where it is named"
        )
    if setting.name == "ntasks":
        return f"{where}the number of MPI tasks is not known, and no run time without it; expected: --ntasks"
    return f"{where}{setting.name} is not known, and no run time without it; expected: a value that ICON can use"
