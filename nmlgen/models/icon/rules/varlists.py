"""What the names in a varlist mean in a run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from nmlgen.experiment.component import KINDS, Component
from nmlgen.experiment.condition import variables
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.ranks import domains, level_types
from nmlgen.models.icon.rules.streams import is_blank, setting_of, streams_read
from nmlgen.models.icon.variables import Catalogue, Circumstances, OutputVariable, catalogue_for
from nmlgen.source import Span
from nmlgen.values import evolve, frozen

GROUP, TILES, LESS = "group:", "tiles:", "-"
_LATLON = 1
_MOST_TOLD = 200
_NO_MORE = "from here on this rule tells no more names"
_MOST_NAMES = 200_000
"""A bound on work: names of all models, each in all domains that its stream is written for. What more of them mean in
the run is not asked."""
_OF_OTHERS = {"atmosphere": ("ocean", "HAMOCC", "waves", "sea ice")}
_OWN = {"ocean": ("ocean", "sea ice"), "waves": ("waves",), "icon_output": ()}
"""The parts of the catalogue that a kind of component does not have, and those of the kinds that have few."""

_ONLY = {"icon_output": frozenset({"out_var"})}
"""What is in no catalogue: the one variable of the component for output (`mo_icon_output_variables.f90:115`)."""

_BIOGEOCHEMISTRY = "ocean_physics_nml.lhamocc"
_REQUESTED = re.compile(r"\brequested\b")
_UNKNOWN = re.compile(r"\bunknown\b")
_CHANGED = {
    ("run_nml", "ntracer"),
    ("lnd_nml", "ntiles"),
    ("lnd_nml", "llake"),
    ("nwp_phy_nml", "lscale_cdnc"),
    ("nwp_phy_nml", "lstoch_sde"),
    ("nwp_phy_nml", "lstoch_expl"),
    ("nwp_phy_nml", "lstoch_deep"),
    ("nwp_phy_nml", "lupatmo_phy"),
    ("nwp_phy_nml", "iprog_aero"),
    ("turbdiff_nml", "ltkeshs"),
    ("turbdiff_nml", "itype_sher"),
}
"""Settings that ICON changes before it asks for them: what is written does not decide (`mo_nml_crosscheck.f90:540-566`,
`mo_atm_phy_nwp_config.f90:364-376`, `mo_advection_utils.f90:355-545`)."""


def names_in(setting: Setting) -> list[str]:
    """The names of a varlist that ICON reads, in lower case: those before the first blank one."""
    names: list[str] = []
    for name in as_list(setting.value):
        if not str(name).strip():
            break
        names.append(str(name).rstrip().lower())
    return names


def varlists(component: Component) -> Iterator[tuple[Group, str, Setting]]:
    """Each stream with the level types that it writes, and the varlist of each."""
    for stream in streams_read(component):
        for kind in level_types(component, stream):
            yield stream, kind, setting_of(component, stream, f"{kind}_varlist")


def catalogue_of(component: Component) -> Catalogue:
    """The variables of the release; raises UndecidedError where names may be others than those of the release."""
    names = component["io_nml", "output_nml_dict"]
    if not is_blank(names):
        raise UndecidedError(names)
    return own_catalogue(component)


def own_catalogue(component: Component) -> Catalogue:
    """The variables of the release by ICON's own names, whatever a dictionary makes of them; raises UndecidedError if
    there may be more than those of the release."""
    names = component["io_nml", "output_nml_dict"]
    if component["run_nml", "lart"].value is not False or component.group("comin_nml"):
        raise UndecidedError(names)
    catalogue = catalogue_for(component.registry)
    if catalogue.release != component.registry.release:
        raise UndecidedError(names)
    return catalogue


def first_told(found: Iterable[Finding], message: str = _NO_MORE) -> Iterator[Finding]:
    """The first findings on names, each once for however many domains; then, with that `message`, that there are more.
    Very many of them are another run's, another release's, or no names at all."""
    told: set[Finding] = set()
    for finding in found:
        if finding in told:
            continue
        if len(told) == _MOST_TOLD:
            yield evolve(finding, message=message, notes=())
            return
        told.add(finding)
        yield finding


def softened(finding: Finding, component: Component) -> Finding:
    """A finding about output variables: a warning where those of the release are known from an earlier one only."""
    known = catalogue_for(component.registry).carried_from
    return finding if known is None else as_warning(finding, known)


def as_warning(finding: Finding, known: str) -> Finding:
    """A finding about what is known from an earlier release only."""
    note = f"the output variables are those of ICON {known}: the sources of this release were not at hand"
    return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note))


class EmptyGroups:
    """The groups without members in a list of names: what ICON makes of each.

    Behind another name ICON leaves it out. At the head of the list it remains if nothing else is there, and is not
    found; else the last name takes the place of all (`mo_util_string.F90:716-786` of fortran-support; read, and seen
    in ICON 2024.10).
    """

    def __init__(self, names: Sequence[str], empty: Collection[str]) -> None:
        self._different = list(dict.fromkeys(names))
        self._positions = {name: position for position, name in enumerate(self._different)}
        full = (position for position, name in enumerate(self._different) if name not in empty)
        self._first_full = next(full, len(self._different))

    def told(self, finding: Finding, name: str) -> Finding:
        """The finding about one of them."""
        behind = len(self._different) - self._positions[name] - 1
        severity = Severity.ERROR
        if self._first_full < self._positions[name]:
            severity, note = Severity.WARNING, "behind another name ICON leaves it out without a word"
        elif self._first_full == len(self._different):
            note = "ICON finds no variable of this name, and aborts"
        elif behind == 1:
            severity = Severity.WARNING
            note = f'at the head of the list it has ICON write "{self._different[-1]}" twice'
        else:
            note = f'at the head of the list it has ICON write "{self._different[-1]}" in place of the others'
        return evolve(finding, severity=severity, notes=(*finding.notes, note))


def tracers(component: Component) -> frozenset[str]:
    """The names that the user gave to tracers, and those of what water is in a column: `tqr` of `qr`."""
    group = component.group("transport_nml")
    if group is None or "tracer_names" not in group.settings:
        return frozenset()
    names = [str(name).strip().lower() for name in as_list(component["transport_nml", "tracer_names"].value)]
    return frozenset((*names, *(f"t{name}" for name in names if name in _WATER)))


_WATER = ("qv", "qc", "qi", "qr", "qs", "qg", "qh")


def domains_of(component: Component, stream: Group) -> list[int]:
    """The domains, counted from 1, that a stream is written for."""
    count = domains(component)
    chosen = []
    for domain in as_list(setting_of(component, stream, "dom").value):
        if domain < 0:
            break
        chosen.append(domain)
    return [domain for domain in chosen if 1 <= domain <= count] if chosen else list(range(1, count + 1))


@frozen
class Entry:
    """One name in a varlist of a stream, for one `domain`: the level type `kind`, the setting it stands in and its
    position there, and the variables it may mean; of a group those that are members. `is_regular` tells of a grid of
    longitudes and latitudes, `model` is the kind of the component, None where nobody says it.
    """

    name: str
    kind: str
    domain: int
    setting: Setting
    position: int
    variables: tuple[OutputVariable, ...]
    is_regular: bool
    is_group: bool
    model: str | None
    here: Circumstances

    @property
    def place(self) -> Span | None:
        """Where the name was written."""
        return self.setting.element(self.position)

    def is_absent(self, variable: OutputVariable) -> bool:
        """Whether a variable cannot exist in this run. Settings that ICON changes itself do not tell."""
        if self._is_of_another(variable):
            return True
        if self.is_group and self.is_regular and variable.location != "cell":
            return True
        return any(self.here.holds(condition) is False for condition in _telling(variable))

    def _is_of_another(self, variable: OutputVariable) -> bool:
        """Whether a variable belongs to another model."""
        if self.model == "ocean" and variable.component == "HAMOCC":
            return self.here.holds(_BIOGEOCHEMISTRY) is False
        if self.model in _OWN:
            return variable.component not in _OWN[self.model]
        return variable.component in _OF_OTHERS.get(self.model or "", ())

    @property
    def present(self) -> tuple[OutputVariable, ...]:
        """The variables that may exist; of a name that stands in many streams they are worked out once."""
        known = self.here.present.get((self.name, self.is_regular))
        if known is None:
            known = tuple(variable for variable in self.variables if not self.is_absent(variable))
            self.here.present[self.name, self.is_regular] = known
        return known

    @property
    def is_missing(self) -> bool:
        """Whether none of them can exist; there are no groups but those of model levels."""
        return not self.present or (self.is_group and self.kind != "ml")

    def requirement(self) -> str:
        """Where the first of the variables would exist."""
        first = self.variables[0]
        conditions = [condition for condition in _telling(first) if self.here.holds(condition) is False]
        shown = [condition for condition in conditions if not _REQUESTED.search(condition)]
        if shown:
            return " and ".join(shown)
        if conditions:
            return "the names of the variables"
        return f"a run with {first.component}" if self.model == "atmosphere" else "a variable of this model"


def _telling(variable: OutputVariable) -> list[str]:
    """The conditions of a variable that ask for nothing that ICON changes."""
    return [condition for condition in variable.conditions if _CHANGED.isdisjoint(variables(condition))]


def entries(component: Component) -> Iterator[Entry]:
    """All names in the varlists that ICON reads but those of coordinates; errors as `catalogue_of`, and UndecidedError
    for more than anybody could look at."""
    lists = [(*varlist, names_in(varlist[2]), domains_of(component, varlist[0])) for varlist in varlists(component)]
    if not lists:
        return
    most = _MOST_NAMES // len(component.experiment.components)
    for (_, _, setting, _, _), count in zip(lists, accumulate(len(one[3]) * len(one[4]) for one in lists), strict=True):
        if count > most:
            raise UndecidedError(setting, f"{setting.name} makes more than {most} names in all domains")
    model = KINDS.get(component["master_model_nml", "model_type"].value)
    catalogue, own_names = catalogue_of(component), tracers(component) | _ONLY.get(model or "", frozenset())
    requested = frozenset(name for _, _, _, names, _ in lists for name in names)
    circumstances: dict[int, Circumstances] = {}
    for stream, kind, setting, names, listed in lists:
        is_regular = setting_of(component, stream, "remap").value == _LATLON
        for domain in listed:
            here = circumstances.setdefault(domain, Circumstances(component, domain, requested))
            for position, name in enumerate(names):
                if name in own_names:
                    continue
                is_group = GROUP in name or TILES in name
                found = _members(catalogue, name) if is_group else catalogue.find(name)
                yield Entry(name, kind, domain, setting, position, found, is_regular, is_group, model, here)


def by_list(found: Iterable[Entry]) -> dict[tuple[int, int], list[Entry]]:
    """Entries by the `id` of the setting that they stand in, and the domain."""
    lists: dict[tuple[int, int], list[Entry]] = {}
    for entry in found:
        lists.setdefault((id(entry.setting), entry.domain), []).append(entry)
    return lists


def _members(catalogue: Catalogue, name: str) -> tuple[OutputVariable, ...]:
    """ICON looks for the prefix anywhere and takes the name from behind its length
    (`mo_name_list_output_init.f90:829-850`)."""
    return catalogue.group(f"{name[len(TILES) :]}_t" if TILES in name else name[len(GROUP) :])
