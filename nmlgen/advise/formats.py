"""What a file format costs: bytes, and the time of the run where anything is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Situation, situation_on_any_device
from nmlgen.advise.layout import present_layout
from nmlgen.advise.play import played
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.advise.unlike import widened
from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import written
from nmlgen.values import evolve, frozen

_GRIB2, _CLASSIC, _NETCDF4 = 2, 4, 5
_FORMATS = (
    ("NetCDF, 64 bits a value", _CLASSIC, True),
    ("NetCDF, 32 bits a value", _CLASSIC, False),
    ("NetCDF-4, 32 bits a value", _NETCDF4, False),
    ("GRIB2, 16 bits a value", _GRIB2, False),
)
_LAYER = "what if"
_WIDTH, _PACKED = ("io_nml", "lnetcdf_flt64_output"), ("gribout_nml", "lgribout_compress_ccsds")
_FILETYPE = ("output_nml", "filetype")

IN_GRIB2 = {_FILETYPE: _GRIB2, _PACKED: True}
"""What writes GRIB2, packed by CCSDS without further loss; how much that takes off depends on the fields, and no number
here counts on it."""

IN_SINGLE = {_WIDTH: False}
"""What writes NetCDF in 32 bits a value."""

Variables = Mapping[tuple[str, str], Any]
"""Values by group and name."""


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

    Raises UndecidedError as `situation_on_any_device`.
    """
    return tuple(_cost(situation, calibration, *one) for one in _FORMATS) if situation.outputs else ()


def _cost(situation: Situation, calibration: Calibration, name: str, filetype: int, is_double: bool) -> FormatCost:
    component = situation.component
    variables = IN_GRIB2 if filetype == _GRIB2 else {_FILETYPE: filetype, _WIDTH: is_double}
    now = {component.stream_setting(output.stream, "filetype").value for output in situation.outputs}
    is_now_double = bool(component["io_nml", "lnetcdf_flt64_output"].value)
    with_it = situation_on_any_device(changed(component, variables))
    prediction = played(with_it, present_layout(with_it), predict(with_it.case, calibration), calibration)
    return FormatCost(
        name,
        _spelt(variables),
        with_it.case.output_bytes,
        sum(output.run_bytes for output in with_it.outputs),
        widened(prediction, with_it.unlike),
        now == {filetype} and (filetype == _GRIB2 or is_double == is_now_double),
    )


def _spelt(variables: Variables) -> str:
    """As namelists have it."""
    words = {True: ".true.", False: ".false."}
    return ", ".join(
        f"{'' if group == 'output_nml' else f'{group}: '}{name} = {words[value] if isinstance(value, bool) else value}"
        for (group, name), value in variables.items()
    )


def changed(component: Component, variables: Variables, stream: Group | None = None) -> Component:
    """The component with other values; those of output_nml in all its streams, or in one alone."""
    names = {group.name for group in component.namelist}
    missing = {group for group, _ in variables if group != "output_nml"} - names
    groups = [*component.namelist, *(Group(name, {}) for name in sorted(missing))]
    model = evolve(component.model, namelist=tuple(_with(group, variables, stream) for group in groups))
    models = list(component.experiment.models)
    models[component.number] = model
    return evolve(component.experiment, models=tuple(models)).components[component.number]


def _with(group: Group, variables: Variables, stream: Group | None) -> Group:
    own = {name: value for (of, name), value in variables.items() if of == group.name}
    if not own or (group.name == "output_nml" and stream is not None and group is not stream):
        return group
    settings = {name: written(f"{group.name}.{name}", value, _LAYER) for name, value in own.items()}
    return evolve(group, settings={**group.settings, **settings})
