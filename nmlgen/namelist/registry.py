"""What an ICON release knows: its namelist groups, their variables, types and defaults.

The data lie in `schemas/icon/<release>.json`, one file a release; `schemas/registry.schema.json` states the
format. A new release is one new file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import frozen

from nmlgen.errors import InputError
from nmlgen.resources import directory

_LARGEST_INTEGER = 2**31 - 1
_LARGEST_REAL = 1.7976931348623157e308
_WIDE_INTEGERS = {("initicon_nml", "pinit_seed")}  # INTEGER(i8), mo_initicon_nml.f90:230


@frozen
class Variable:
    """One namelist variable.

    `type` is "integer", "real", "logical", "character", "derived" or "unknown"; `length` the LEN of a character
    variable; `shape` its dimensions, an int n for 1:n or a pair for other bounds, None when not known; `default`
    what the release assigns before it reads, broadcast over an array, meaningful only if `has_default`. Of a
    component such as `echotop_meta%nechotop`, `base_shapes` holds the dimensions of each part before the last.
    """

    group: str
    name: str
    type: str
    shape: tuple[int | tuple[int, int], ...] | None
    length: int | None
    default: Any
    has_default: bool
    allowed: tuple[Any, ...] | None
    base_shapes: tuple[tuple[int | tuple[int, int], ...], ...] = ()

    @property
    def is_array(self) -> bool:
        """Whether it holds more than one value, or may."""
        return self.shape is None or len(self.shape) > 0

    def accepts(self, value: Any) -> bool:
        """Whether the Fortran variable can hold a value, or a list of values, of this type."""
        if isinstance(value, (list, tuple)):
            return self.is_array and len(value) > 0 and all(self._accepts_element(element) for element in value)
        return self._accepts_element(value)

    def _accepts_element(self, value: Any) -> bool:
        if self.type in ("derived", "unknown"):
            return True
        if isinstance(value, bool) or self.type == "logical":
            return isinstance(value, bool) and self.type == "logical"
        if self.type == "character":
            return isinstance(value, str)
        if self.type == "real":
            return isinstance(value, (int, float)) and -_LARGEST_REAL <= value <= _LARGEST_REAL
        wide = (self.group, self.name) in _WIDE_INTEGERS
        return isinstance(value, int) and (wide or -_LARGEST_INTEGER - 1 <= value <= _LARGEST_INTEGER)


class Registry:
    """The namelist groups of one release; names are compared in lower case, as Fortran does."""

    def __init__(self, release: str, groups: Mapping[str, Any]) -> None:
        self.release = release
        self._groups = groups

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of all groups, in lower case and sorted."""
        return tuple(self._groups)

    def has_group(self, group: str) -> bool:
        """Whether the release knows the group at all."""
        return group.lower() in self._groups

    def is_read(self, group: str) -> bool:
        """Whether any part of the release reads the group."""
        return bool(self._groups[group.lower()].get("read", True))

    def component(self, group: str) -> str:
        """The component whose group it is: "atmosphere", "ocean", "master", ..."""
        return str(self._groups[group.lower()]["component"])

    def is_repeatable(self, group: str) -> bool:
        """Whether ICON reads every copy of the group, not only the first."""
        return bool(self._groups.get(group.lower(), {}).get("repeatable", False))

    def variables(self, group: str) -> tuple[str, ...]:
        """The names of the variables of a group, in the order of ICON's NAMELIST statement."""
        return tuple(self._groups[group.lower()]["variables"])

    def variable(self, group: str, name: str) -> Variable | None:
        """The variable, without subscripts in its name; None if the release does not know it."""
        entry = self._groups.get(group.lower(), {}).get("variables", {}).get(name.lower())
        if entry is None:
            return None
        shape = entry.get("shape", [])
        allowed = entry.get("allowed")
        return Variable(
            group=group.lower(),
            name=name.lower(),
            type=entry["type"],
            shape=None if shape is None else _dimensions(shape),
            length=entry.get("length"),
            default=entry.get("default"),
            has_default="default" in entry,
            allowed=None if allowed is None else tuple(allowed),
            base_shapes=tuple(_dimensions(part["shape"]) for part in entry.get("base_shape", [])),
        )


def _dimensions(shape: list[Any]) -> tuple[int | tuple[int, int], ...]:
    return tuple(extent if isinstance(extent, int) else (extent[0], extent[1]) for extent in shape)


def releases() -> tuple[str, ...]:
    """The ICON releases that nmlgen knows, oldest first."""
    return tuple(sorted(path.stem for path in (directory("schemas") / "icon").glob("*.json")))


@cache
def load_registry(release: str) -> Registry:
    """The registry of a release such as "2024.10"; raises InputError naming the known ones."""
    path = directory("schemas") / "icon" / f"{release}.json"
    if release not in releases():
        raise InputError(f"ICON release {release!r} is not known; known are {', '.join(releases())}")
    return Registry(release, json.loads(path.read_text(encoding="utf-8"))["groups"])
