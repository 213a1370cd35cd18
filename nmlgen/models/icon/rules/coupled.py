"""What is coupled: the switches of coupling_mode_nml, the couples of coupling.yaml and whom they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from nmlgen.experiment.component import Component
from nmlgen.experiment.coupling import COUPLING_FILE, COUPLING_GROUP, FIELDS, PARTNERS, Couple, Coupling, Side
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Setting, UndecidedError, unknown
from nmlgen.units.duration import Duration

CHECKED = ("ocean", "waves", "atmo", "hydrodisc", "output", "aero", "o3")
"""The ends of the switches that ICON 2024.10 holds against the kind of the component."""

_UNITS = {"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


def switch_to(component: Component, partner: str) -> Setting:
    """The switch `coupled_to_...`, such as that to the ocean."""
    return component[COUPLING_GROUP, f"coupled_to_{partner}"]


def partners_of(component: Component) -> list[str]:
    """What the release has switches for."""
    names = component.registry.variables(COUPLING_GROUP)
    return [name.removeprefix("coupled_to_") for name in names if name.startswith("coupled_to_")]


def is_coupled_to(component: Component, partner: str) -> bool:
    """Whether this switch is on. Raises UndecidedError where that is not known."""
    return partner in partners_of(component) and switch_to(component, partner).value is True


def is_coupled(component: Component) -> bool:
    """Whether any of its switches is on. Raises UndecidedError where that is not known."""
    found = [switch_to(component, partner) for partner in dict.fromkeys((*CHECKED, *partners_of(component)))]
    known = [setting for setting in found if setting.certainty is not setting.certainty.UNKNOWN]
    if any(setting.value is True for setting in known):
        return True
    if len(known) < len(found):
        raise UndecidedError(next(setting for setting in found if setting not in known))
    return False


def coupling_of_run(experiment: Experiment) -> Coupling | None:
    """The coupling.yaml that a run reads, None where no component is coupled; UndecidedError where nobody knows it."""
    coupling = experiment.coupling
    if coupling is None or not any(is_coupled(component) for component in experiment.components):
        return None
    if coupling.is_open and not coupling.problems:
        raise UndecidedError(unknown(COUPLING_FILE, coupling.span))
    return None if coupling.is_open else coupling


def component_of(experiment: Experiment, side: Side) -> Component | None:
    """The component of ICON that a side of a couple names, if it is one and no other has the name."""
    found = components_of(experiment, side)
    return found[0] if len(found) == 1 else None


def components_of(experiment: Experiment, side: Side) -> Sequence[Component]:
    """The components of ICON that have the name of a side of a couple."""
    return _by_name(experiment).get("" if side.component is None else str(side.component.value), ())


@remembered
def _by_name(experiment: Experiment) -> Mapping[str, Sequence[Component]]:
    """The components by the names under which couples know them."""
    found: dict[str, list[Component]] = {}
    for component in experiment.components:
        for name in {component.name, _offering(component)} - {None}:
            found.setdefault(str(name), []).append(component)
    return found


OUTPUT_APART_SINCE = "2024.10"
"""The release from which on a component offers its output under a name of its own."""


def _offering(component: Component) -> str | None:
    """The name under which a component that is coupled to output offers what it has (`mo_coupling_utils.f90:240`)."""
    if component.registry.release < OUTPUT_APART_SINCE:
        return None
    switch = switch_to(component, "output")
    is_on = switch.certainty is not switch.certainty.UNKNOWN and switch.value is True
    return f"{component.name}_output" if is_on else None


def couples_of_models(experiment: Experiment) -> Iterator[Couple]:
    """The couples between models that are coupled to each other, so that YAC works out their weights."""
    coupling = coupling_of_run(experiment)
    for couple in () if coupling is None or coupling.tolerates_missing else coupling.couples:
        source, target = (component_of(experiment, side) for side in (couple.source, couple.target))
        if source is None or target is None or (str(source.kind), str(target.kind)) not in FIELDS:
            continue
        if is_coupled_to(source, PARTNERS[str(target.kind)]) and is_coupled_to(target, PARTNERS[str(source.kind)]):
            yield couple


def period_milliseconds(coupling: Coupling, period: Setting) -> int | None:
    """The length of a period, None for one in months; UndecidedError where it cannot be read."""
    unit, text = str(coupling.settings["timestep_unit"].value), str(period.value)
    if unit == "ISO_format":
        try:
            duration = Duration.parse(text)
        except ValueError:
            raise UndecidedError(period) from None
        return duration.milliseconds if duration.is_fixed else None
    if unit not in _UNITS:
        return None
    if not re.fullmatch("[+-]?[0-9]{1,18}", text):
        raise UndecidedError(period)
    return int(text) * _UNITS[unit]
