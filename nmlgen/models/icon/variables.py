"""The variables that an ICON release can write: where they lie, how many levels they have, when they exist.

The data lie in `schemas/icon-variables/<release>.json`; `schemas/variables.schema.json` states the format. They are
loaded when a volume is asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.condition import evaluate
from nmlgen.models.icon.facts import ComponentFacts
from nmlgen.namelist.registry import Registry, catalogue_beside
from nmlgen.resources import directory
from nmlgen.units.whole import decimal
from nmlgen.values import frozen

_AXES = {"1": "surface", "nlev": "height full levels", "n_zlev": "ocean depth full levels"}
_ICE_CLASSES = 1  # whatever the namelist says (mo_ocean_model.f90:543)
_MOST_BYTES = 64 * 1024 * 1024
"""A bound on work: a catalogue of variables has some two million bytes."""

_SOIL_LEVELS = 8  # lnd_nml: zml_soil of mo_lnd_nwp_nml.f90


@frozen
class OutputVariable:
    """One variable as ICON registers it.

    `levels` is a number, an expression such as "nlev+1", or pairs of a condition and one of both; `location` is "cell",
    "edge", "vertex", "single" (one point), "zonal" or "lonlat_regular"; `type` "real", "integer" or "logical". A
    name with `{...}` stands for several: `pattern` matches them, `copies` says how many there are, if that is known.
    All `conditions` must hold for the variable to exist. `restart` is a condition or a truth; a checkpoint holds it
    at so many `time_levels`.
    """

    name: str
    component: str
    levels: Any
    location: str
    axis: str
    type: str
    is_constant: bool
    is_output: bool
    restart: bool | str
    groups: tuple[str, ...]
    interpolation: str
    conditions: tuple[str, ...]
    pattern: str | None
    copies: int | str | None
    time_levels: int = 1


class Catalogue:
    """The variables of one release; names are compared in lower case, as ICON does."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.release: str = document["release"]
        self.carried: Mapping[str, str] = document.get("carried", {})
        self._groups: list[str] = document["groups"]
        self._conditions: list[str] = document["conditions"]
        self._components: Mapping[str, list[dict[str, Any]]] = document["components"]
        self._found: dict[str, tuple[OutputVariable, ...]] = {}
        self._found_groups: dict[str, tuple[OutputVariable, ...]] = {}

    def find(self, name: str) -> tuple[OutputVariable, ...]:
        """All registrations that a name in a varlist may mean; empty if the release knows none."""
        name = name.lower()
        known = self._found.get(name)
        if known is None:
            items = self._by_name.get(name)
            if items is None:
                items = [item for item in self._beginning(name) if re.fullmatch(item[1]["pattern"], name)]
            known = self._found[name] = tuple(self._variable(*item) for item in items)
        return known

    @property
    def carried_from(self) -> str | None:
        """The earlier release whose variables these are, where this one's own sources of the atmosphere were not at
        hand; None where they were."""
        return self.carried.get("dynamics")

    def may_be_new(self, name: str) -> str | None:
        """The earlier release from which the part of the model is known that a name that is not may belong to."""
        return self._carried_with(name, self._first_words) or self.carried_from

    def may_be_new_group(self, name: str) -> str | None:
        """The same of the name of a group."""
        return self._carried_with(name, self._first_words_of_groups) or self.carried_from

    def _carried_with(self, name: str, first_words: Callable[[str], set[str]]) -> str | None:
        first = name.lower().partition("_")[0]
        return next((release for part, release in self.carried.items() if first in first_words(part)), None)

    def _first_words(self, part: str) -> set[str]:
        return {entry["name"].partition("_")[0] for entry in self._components[part]}

    def _first_words_of_groups(self, part: str) -> set[str]:
        numbers = {number for entry in self._components[part] for number in entry.get("groups", ())}
        return {self._groups[number].partition("_")[0] for number in numbers}

    def has_group(self, name: str) -> bool:
        """Whether `group:name` has members in this release."""
        return name.lower() in self._members or name.lower() == "all"

    def group(self, name: str) -> tuple[OutputVariable, ...]:
        """The members of `group:name` that can be written; empty for a group that the release does not know."""
        known = self._found_groups.get(name.lower())
        if known is None:
            items = self._members.get(name.lower(), ())
            if name.lower() == "all":
                items = [item for item in self._items() if item[1].get("output", True)]
            known = self._found_groups[name.lower()] = tuple(self._variable(*item) for item in items)
        return known

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables that can be written and have a name of their own."""
        return tuple(self._by_name)

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups that a varlist may name, in order."""
        return tuple(sorted({*self._members, "all"}))

    def outputs(self) -> Iterator[OutputVariable]:
        """Every variable that can be written and has a name of its own, one registration of each, by name."""
        return (self._variable(*items[0]) for _, items in sorted(self._by_name.items()))

    def restart_variables(
        self, is_asked: Callable[[str], bool], may_hold: Callable[[str], bool]
    ) -> Iterator[OutputVariable]:
        """The variables that may belong to a checkpoint, of the parts of the model that are asked for, as far as each
        of their conditions may hold."""
        for part, entries in self._restarted.items():
            held: dict[tuple[str, ...], bool] = {}
            for conditions, entry in entries if is_asked(part) else ():
                if conditions not in held:
                    held[conditions] = all(map(may_hold, conditions))
                if held[conditions]:
                    yield self._variable(part, entry)

    @cached_property
    def _restarted(self) -> dict[str, list[tuple[tuple[str, ...], dict[str, Any]]]]:
        """By part of the model what a checkpoint may hold, each with its conditions."""
        return {
            part: [
                (tuple(self._conditions[one] for one in entry.get("if", ())), entry)
                for entry in entries
                if entry.get("restart")
            ]
            for part, entries in self._components.items()
        }

    def _items(self) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((component, entry) for component, entries in self._components.items() for entry in entries)

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, dict[str, Any]]]]:
        names: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for component, entry in self._items():
            if "pattern" not in entry and entry.get("output", True):
                names.setdefault(entry["name"], []).append((component, entry))
        return names

    def _beginning(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The variables with a part in braces in their name that begin as this one."""
        beginnings = (name[:length] for length in self._lengths if length <= len(name))
        found = [numbered for beginning in beginnings for numbered in self._patterned.get(beginning, ())]
        return (item for _, item in sorted(found, key=itemgetter(0)))

    @cached_property
    def _lengths(self) -> tuple[int, ...]:
        return tuple({len(beginning) for beginning in self._patterned})

    @cached_property
    def _patterned(self) -> dict[str, list[tuple[int, tuple[str, dict[str, Any]]]]]:
        """The variables with a part in braces in their name, numbered, by what stands before it."""
        found: dict[str, list[tuple[int, tuple[str, dict[str, Any]]]]] = {}
        items = (item for item in self._items() if "pattern" in item[1] and item[1].get("output", True))
        for number, item in enumerate(items):
            found.setdefault(item[1]["name"].partition("{")[0], []).append((number, item))
        return found

    @cached_property
    def _members(self) -> dict[str, list[tuple[str, dict[str, Any]]]]:
        members: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for item in self._items():
            if item[1].get("output", True):
                for number in item[1].get("groups", ()):
                    members.setdefault(self._groups[number], []).append(item)
        return members

    def _variable(self, component: str, entry: dict[str, Any]) -> OutputVariable:
        return OutputVariable(
            name=entry["name"],
            component=component,
            levels=entry.get("levels", 1),
            location=entry.get("location", "cell"),
            axis=entry.get("axis") or _AXES.get(str(entry.get("levels", 1)), ""),
            type=entry.get("type", "real"),
            is_constant=entry.get("constant", False),
            is_output=entry.get("output", True),
            restart=entry.get("restart", False),
            groups=tuple(self._groups[number] for number in entry.get("groups", ())),
            interpolation=entry.get("interpolation", ""),
            conditions=tuple(self._conditions[number] for number in entry.get("if", ())),
            pattern=entry.get("pattern"),
            copies=entry.get("copies"),
            time_levels=entry.get("time_levels", 1),
        )


def catalogue_for(registry: Registry) -> Catalogue:
    """The catalogue that belongs to a registry: of one's own that beside its file, else that of its release."""
    own = None if registry.path is None else catalogue_beside(registry.path)
    if own is None or not disk.is_file(own):
        return load_catalogue(registry.release)
    status = disk.status(own)
    return _read(own, status.st_mtime_ns, status.st_size)


@cache
def _read(path: Path, _time: int, _size: int) -> Catalogue:
    try:
        return Catalogue(disk.parsed(disk.read_bytes(path, most=_MOST_BYTES)))
    except (ValueError, KeyError) as error:
        raise InputError(f"{path} holds no output variables: {error}") from None


@cache
def load_catalogue(release: str) -> Catalogue:
    """The catalogue of a release; of the next one, or else of the newest, where there is none for it."""
    paths = {path.stem: path for path in (directory("schemas") / "icon-variables").glob("*.json")}
    chosen = min((other for other in paths if other >= release), default=max(paths))
    return Catalogue(json.loads(paths[chosen].read_text(encoding="utf-8")))


class Circumstances:
    """What an experiment makes of conditions and of level counts, for one domain counted from 1.

    `requested` are the names in its varlists, in lower case: some variables exist only if they are asked for. What is
    given for the first domain only holds for the others.
    """

    def __init__(self, component: Component, domain: int, requested: frozenset[str]) -> None:
        self._facts = ComponentFacts(component, domain, requested, is_inherited=True)
        self._known: dict[str, bool | None] = {}
        self.present: dict[tuple[str, bool], tuple[OutputVariable, ...]] = {}  # what a name stands for, once known

    def holds(self, condition: bool | str) -> bool | None:
        """Whether a condition holds; None if that cannot be known from the settings."""
        if isinstance(condition, bool):
            return condition
        if condition not in self._known:
            value = evaluate(condition, self._facts)
            self._known[condition] = None if value is None else bool(value)
        return self._known[condition]

    def exists(self, variable: OutputVariable) -> bool | None:
        """Whether all conditions of a variable hold; None if one of them cannot be known."""
        holding = [self.holds(condition) for condition in variable.conditions]
        return False if False in holding else None if None in holding else True

    def levels(self, variable: OutputVariable) -> int | None:
        """The number of levels of a variable on its own axis; None if it cannot be known."""
        return self._count(variable.levels)

    def copies(self, variable: OutputVariable) -> int | None:
        """How many variables an entry stands for: one, or the tiles; None if that cannot be known."""
        return 1 if variable.pattern is None else self._count(variable.copies)

    def number(self, group: str, name: str) -> int | None:
        """The value of an integer variable for this domain; None if it is not known."""
        value = self._facts.value(group, name)
        return value if isinstance(value, int) else None

    def _count(self, levels: Any) -> int | None:
        if levels is None or isinstance(levels, int):
            return levels
        if isinstance(levels, list):
            return next((self._count(count) for condition, count in levels if self.holds(condition)), None)
        name, _, more = str(levels).replace(" ", "").partition("+")
        counts = [self._symbol(name), self._more(more)]
        return None if None in counts else sum(count for count in counts if count)

    def _more(self, text: str) -> int | None:
        number = decimal(text or "0")
        return self._symbol(text) if number is None else number

    def _symbol(self, name: str) -> int | None:
        source = {
            "nlev": ("run_nml", "num_lev"),
            "n_zlev": ("ocean_dynamics_nml", "n_zlev"),
            "nlev_snow": ("lnd_nml", "nlev_snow"),
            "ks": ("hamocc_nml", "ks"),
            "ntracer": ("run_nml", "ntracer"),
            "nfreqs": ("wave_nml", "nfreqs"),
            "ndirs": ("wave_nml", "ndirs"),
        }.get(name)
        if source is not None:
            return self.number(*source)
        if name == "i_no_ice_thick_class":
            return _ICE_CLASSES
        if name == "nlev_soil":
            heights = self._facts.values("lnd_nml", "zml_soil")
            return len(heights) if heights and len(heights) > 1 else _SOIL_LEVELS
        if name in ("n_wshear", "n_srh"):
            heights = self._facts.values("io_nml", "wshear_uv_heights" if name == "n_wshear" else "srh_heights")
            return None if heights is None else sum((height or 0) > 0 for height in heights)
        return self._tiles(name) if name.startswith("ntiles") else None

    def _tiles(self, name: str) -> int | None:
        """mo_lnd_nwp_nml.f90: several tiles bring three for water along, and twice as many with snow tiles."""
        tiles = self.number("lnd_nml", "ntiles")
        snow = self._facts.value("lnd_nml", "lsnowtile")
        if tiles is None or snow is None:
            return None
        if self.holds("nwp_phy_nml.inwp_surface == 0") or tiles == 1:
            return 1 if name == "ntiles_total" else 0
        return tiles * (2 if snow else 1) if name == "ntiles_total" else 3
