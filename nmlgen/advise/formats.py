"""What a file format costs: bytes, and the time of the run where anything is known of it."""

from __future__ import annotations

from typing import Any

from attrs import evolve, frozen

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Situation, situation_of
from nmlgen.advise.layout import present_layout
from nmlgen.advise.play import played
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.advise.unlike import widened
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import written

_GRIB2, _CLASSIC, _NETCDF4 = 2, 4, 5
_FORMATS = (
    ("NetCDF, 64 bits a value", _CLASSIC, True),
    ("NetCDF, 32 bits a value", _CLASSIC, False),
    ("NetCDF-4, 32 bits a value", _NETCDF4, False),
    ("GRIB2, 16 bits a value", _GRIB2, False),
)
_LAYER = "the question"


@frozen
class FormatCost:
    """All output in one format: how it is called and what `sets` it, the bytes of one output time and of the whole
    experiment, and what the run is expected to take with the present layout. `is_present` says that it is so now."""

    name: str
    sets: str
    step_bytes: float
    run_bytes: int
    prediction: Prediction
    is_present: bool


def format_costs(situation: Situation, calibration: Calibration) -> tuple[FormatCost, ...]:
    """What the output of an experiment costs in each format that ICON writes; empty without output.

    Raises UndecidedError as `situation_of`.
    """
    return tuple(_cost(situation, calibration, *one) for one in _FORMATS) if situation.outputs else ()


def _cost(situation: Situation, calibration: Calibration, name: str, filetype: int, is_double: bool) -> FormatCost:
    component = situation.component
    now = {component.stream_setting(output.stream, "filetype").value for output in situation.outputs}
    is_now_double = bool(component["io_nml", "lnetcdf_flt64_output"].value)
    with_it = situation_of(_changed(component, filetype, is_double))
    prediction = played(with_it, present_layout(with_it), predict(with_it.case, calibration), calibration)
    width = "" if filetype == _GRIB2 else f", io_nml: lnetcdf_flt64_output = {'.true.' if is_double else '.false.'}"
    return FormatCost(
        name,
        f"filetype = {filetype}{width}",
        with_it.case.output_bytes,
        sum(output.run_bytes for output in with_it.outputs),
        widened(prediction, with_it.unlike),
        now == {filetype} and (filetype == _GRIB2 or is_double == is_now_double),
    )


def _changed(component: Component, filetype: int, is_double: bool) -> Component:
    """The component with all its streams in one format."""
    names = {group.name for group in component.namelist}
    groups = [*component.namelist, *([] if "io_nml" in names else [Group("io_nml", {})])]
    own: dict[str, dict[str, Any]] = {
        "output_nml": {"filetype": filetype},
        "io_nml": {"lnetcdf_flt64_output": is_double},
    }
    model = evolve(component.model, namelist=tuple(_with(group, own.get(group.name, {})) for group in groups))
    models = list(component.experiment.models)
    models[component.number] = model
    return evolve(component.experiment, models=tuple(models)).components[component.number]


def _with(group: Group, values: dict[str, Any]) -> Group:
    if not values:
        return group
    changed = {name: written(f"{group.name}.{name}", value, _LAYER) for name, value in values.items()}
    return evolve(group, settings={**group.settings, **changed})
