"""What an experiment answers to the conditions that a model's data state."""

from __future__ import annotations

import re
from math import inf
from typing import Any

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list, default_element, effective
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.grids import grids_at_hand
from nmlgen.models.icon.heights import half_levels
from nmlgen.models.icon.parts import parts
from nmlgen.models.icon.ranks import domains, output_files, split
from nmlgen.models.icon.reading import condition_of
from nmlgen.namelist.registry import Registry
from nmlgen.pattern import pattern
from nmlgen.values import frozen

_OF_A_SPHERE = pattern(r"R\d+B\d+", re.IGNORECASE)
_FORCED = ("is_subsidence_moment", "is_subsidence_heat", "is_advection", "is_geowind", "is_rad_forcing", "is_nudging")
_WATERS = frozenset({"qv", "hus", "qc", "clw", "qi", "cli", "qr", "qs", "qg", "qh"})


@frozen
class ComponentFacts:
    """The settings of an experiment as ICON sees them, for one domain counted from 1.

    `requested_names` are the names in its varlists, in lower case. Beyond the elements that are given a value is
    unknown, or that of the first where it `is_inherited`. A group that ICON does not read counts as absent.
    """

    component: Component
    domain: int
    requested_names: frozenset[str]
    is_inherited: bool = False

    def setting(self, group: str, name: str) -> Setting:
        """The setting in force: what is written if ICON reads the group, else the release's default."""
        return _in_force(self.component, group, name, self.domain if "%" in name else 0)

    def values(self, group: str, name: str) -> list[Any] | None:
        """The elements of a variable from the first on; None if they are not known."""
        return _elements(self.component, group, name, self.domain if "%" in name else 0)

    def value(self, group: str, name: str) -> Any:
        """The element of a variable for this domain; None if it is not known."""
        return _value(self.component, group, name, self.domain, self.is_inherited)

    def at(self, place: int) -> ComponentFacts:
        """The same for another domain, or for another element."""
        return ComponentFacts(self.component, place, self.requested_names, self.is_inherited)

    def element(self, group: str, name: str, ahead: int) -> Any:
        """The element at hand or so many ahead of it: where an array is given in part, the rest is at its default."""
        values, place = self.values(group, name), self.domain + ahead
        if values is None or len(values) >= place:
            return None if values is None else values[place - 1]
        return default_element(self.component.registry.variable(group, name), place)

    def places(self, group: str, name: str) -> int:
        """How many elements somebody gave, or have defaults of their own."""
        default = effective(self.component.registry, None, group, name)
        lists = (self.values(group, name), default.value if default.certainty is Certainty.DEFAULT else None)
        return max(len(as_list(values)) for values in lists)

    def given(self, group: str, name: str) -> bool | None:
        """Whether somebody wrote a value that is not blank."""
        found = self.component.group(group)
        if found is None or _element(found, name, self.domain) not in found.settings:
            return None if self.component.is_open or (found is not None and found.is_open) else False
        values = self.values(group, name)
        return None if values is None else any(str(value).strip() for value in values)

    def requested(self, name: str) -> bool:
        """Whether a varlist asks for a variable."""
        return name in self.requested_names

    def symbol(self, name: str) -> Any:
        """The number of the `domain`, how many `domains`, `models` and `tasks` there are, the ranks that `work` and for
        `io`, `streams` of output, the `component` ("atmosphere"); whether it `couples`, as a job of several models
        does, and one of a single model whose executable has the coupler; `step`, `checkpoint` and `restart` in seconds,
        0 where there is none, and the `leg` that the first job runs; `forced`: whether large-scale forcing is on
        (`mo_ls_forcing_nml.f90:132`, `mo_nml_crosscheck.f90:259`); `torus`: whether the grid is a plane one,
        where its file lies on this machine; one named RnBk is none; `highest`: the height in metres of the highest full
        level (`mo_nh_lim_area_testcases.f90:212`), `second_lowest` that of the one
        above the lowest, infinite where there is none; `waters`: how many of the tracer_names are masses of water
        (`mo_aes_phy_init.f90:325-397`). None for other names."""
        try:
            return self._symbol(name)
        except UndecidedError:
            return None

    def _symbol(self, name: str) -> Any:
        if name == "domain":
            return self.domain
        if name == "domains":
            return domains(self.component)
        if name == "tasks":
            return self.component.tasks.value
        if name in ("step", "checkpoint", "restart", "leg"):
            length = getattr(clock(self.component), name)
            return 0 if length is None else length / 1000
        if name in ("work", "io"):
            return getattr(split(self.component), name)
        if name == "streams":
            return len(output_files(self.component))
        if name == "models":
            return len(self.component.experiment.models)
        if name == "couples":
            return len(self.component.experiment.models) > 1 or parts(self.component.experiment).get("coupling")
        if name == "component":
            return self.component.kind
        return self._of_atmosphere(name)

    def _of_atmosphere(self, name: str) -> Any:
        if name == "highest":
            upper, lower = half_levels(self.component)[:2]
            return (upper + lower) / 2
        if name == "second_lowest":
            *_, upper, lower, _ground = (inf, *half_levels(self.component))
            return (upper + lower) / 2
        if name == "waters":
            names = [str(tracer).strip() for tracer in as_list(self.setting("transport_nml", "tracer_names").value)]
            return sum(tracer in _WATERS for tracer in names)
        if name == "torus":
            file = next(iter(grids_at_hand(self.component)), None)
            if file is not None and file.is_torus is not None:
                return file.is_torus
            files = as_list(self.setting("grid_nml", "dynamics_grid_filename").value)
            is_named = self.component.grid_name is not None or any(_OF_A_SPHERE.search(str(file)) for file in files)
            return False if is_named else None
        if name == "forced":
            switches = [self.setting("ls_forcing_nml", switch).value for switch in (*_FORCED, "is_sim_rad")]
            surface = [self.setting("scm_nml", f"scm_sfc_{what}").value for what in ("temp", "qv", "mom")]
            is_column = self.component["grid_nml", "l_scm_mode"].value
            return any(switches) or (is_column and any(number >= 1 for number in surface))
        return None


@remembered
def _elements(component: Component, group: str, name: str, domain: int) -> list[Any] | None:
    """The elements of the setting in force, None if they or whether the group is read are not known; the domain counts
    where it is in the name."""
    try:
        return as_list(_in_force(component, group, name, domain).value)
    except UndecidedError:
        return None


@remembered
def _value(component: Component, group: str, name: str, domain: int, is_inherited: bool) -> Any:
    """The element for a domain, None if it is not known."""
    values = _elements(component, group, name, domain if "%" in name else 0)
    if not values:
        return None
    if "%" in name and len(values) == 1:
        return values[0]
    if len(values) >= domain:
        return values[domain - 1]
    return values[0] if is_inherited or _is_scalar(component.registry, group, name) else None


def _is_scalar(registry: Registry, group: str, name: str) -> bool:
    variable = registry.variable(group, name)
    return variable is not None and not variable.is_array


@remembered
def _in_force(component: Component, group: str, name: str, domain: int) -> Setting:
    found = component.group(group)
    condition = None if found is None else condition_of(component, found)
    if condition is not None and not condition.holds(component[condition.group, condition.variable].value):
        return effective(component.registry, None, group, name)
    return component[group, name if found is None else _element(found, name, domain)]


def _element(group: Group, name: str, domain: int) -> str:
    """The name under which the component of a derived type is written for a domain: `base(2)%component`."""
    base, is_component, rest = name.partition("%")
    element = f"{base}({domain})%{rest}"
    return element if is_component and element in group.settings else name
