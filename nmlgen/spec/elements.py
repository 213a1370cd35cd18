"""Elements of arrays that a spec sets by their subscripts, as namelists do: `num_lev(2): 40`.

They become one list with the values that are set without a subscript, so that rules see what ICON will.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.setting import Origin, Setting
from nmlgen.namelist.registry import Registry, bounds_of

_ELEMENT = re.compile(r"(?P<name>[^()]+)\((?P<place>[1-9][0-9]{0,4})\)", re.ASCII)


def with_elements(group: Group, registry: Registry) -> Group:
    """The group with the elements of its arrays in lists. Those before which one is not set stay as they are written:
    ICON has a default there, or nothing."""
    found = sorted(_elements(group, registry))
    if not found:
        return group
    order = {key: number for number, key in enumerate(group.settings)}
    made: dict[str, Setting] = {}
    taken = set()
    for name, elements in groupby(found, key=itemgetter(0)):
        array = _Array(group.settings.get(name) or Setting(f"{group.name}.{name}", ()))
        last = order.get(name, -1)
        taken |= {key for _, place, key in elements if array.take(place, group.settings[key], order[key] < last)}
        if array.last is not None:
            made[name] = array.setting(array.last)
    settings: dict[str, Setting] = {}
    for key, setting in group.settings.items():
        if key not in taken:
            settings[key] = made.get(key, setting)
        elif (name := key.partition("(")[0]) not in group.settings:
            settings[name] = made[name]
    return Group(group.name, settings, group.label, group.span)


class _Array:
    """An array whose elements are set one by one."""

    def __init__(self, whole: Setting) -> None:
        self.name = whole.name
        self.history = [*whole.history]
        self.last: Origin | None = None
        self.values: list[Any] = as_list(whole.origin.value) if whole.history else []
        origins = whole.origin.elements if whole.history else ()
        self.origins = [*origins] if len(origins) == len(self.values) else self.history[-1:] * len(self.values)
        self._of_whole = len(self.values)

    def take(self, place: int, element: Setting, is_before: bool) -> bool:
        """Set one element, or those from it on; not where one before is not set. What stands before the whole array
        does not replace what that sets: so Fortran reads it, and so a spec goes over its presets."""
        if place > len(self.values) + 1 or not element.history:
            return False
        own = as_list(element.origin.value)
        if is_before:
            own = own[max(0, self._of_whole + 1 - place) :]
            place = max(place, self._of_whole + 1)
        if not own:
            return True
        self.values[place - 1 : place - 1 + len(own)] = own
        self.origins[place - 1 : place - 1 + len(own)] = [element.origin] * len(own)
        self.history += element.history[:-1]
        self.last = element.origin
        return True

    def setting(self, last: Origin) -> Setting:
        """All of it, as the layer says it that set the last element."""
        said = Origin(last.layer, self.values, last.span, elements=tuple(self.origins))
        return Setting(self.name, (*self.history, said))


def _elements(group: Group, registry: Registry) -> Iterator[tuple[str, int, str]]:
    """The name, the place and the key of elements with one subscript, of arrays whose one dimension begins with 1."""
    for key in group.settings:
        match = _ELEMENT.fullmatch(key)
        variable = registry.variable(group.name, match["name"]) if match is not None else None
        if match is None or variable is None or variable.shape is None or len(variable.shape) != 1:
            continue
        if bounds_of(variable.shape[0])[0] == 1:
            yield match["name"], int(match["place"]), key
