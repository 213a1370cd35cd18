"""Which components read a namelist group, and with which settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from nmlgen.namelist.extract.blocks import Choice, Item, Repetition, blocks_of
from nmlgen.namelist.extract.evaluate import Evaluator, UnknownValueError
from nmlgen.namelist.extract.lines import Statement, split_list
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.units import Unit
from nmlgen.values import frozen

_HUB = re.compile(r"read_(atmo|ocean|wave|icon_output|testbed)_namelists$")
_COMPONENTS = {"atmo": "atmosphere", "wave": "waves"}
_CALL = re.compile(r"call\s+(\w+)")
_EXTERNALS = re.compile(r"externals/(jsbach|hd|ecrad)/")
_TOOL = re.compile(
    r"(scripts|support|utils?)/|externals/(?!jsbach|hd|ecrad|art|comin/src)|.*/(util|scripts|replay_tool)/"
)
_HIGHEST = 3  # procedures between the one that reads and the one that reads all of a component
_MOST_VALUES = 100  # of a condition; ICON 2025.10 has three

Condition = dict[str, Any] | None
"""A condition as the registry writes it; None where there is none, or none that one variable decides."""


def home(file: str) -> tuple[str, str]:
    """Whose group it is that a file of the source tree reads, and from which file of a run it is read."""
    if _TOOL.match(file):
        return "tool", "program"
    for start, component, read_from in (
        ("externals/jsbach/", "jsbach", "jsbach"),
        ("externals/hd/", "hd", "program"),
        ("externals/ecrad/", "ecrad", "program"),
        ("externals/art/", "art", "model"),
        ("externals/comin/", "comin", "model"),
        ("src/ocean/", "ocean", "model"),
        ("src/hamocc/", "ocean", "model"),
        ("src/waves/", "waves", "model"),
        ("src/testbed/", "testbed", "model"),
        ("src/io/icon_output_model/", "icon_output", "model"),
    ):
        if file.startswith(start):
            return component, read_from
    return "atmosphere", "model"


@frozen
class _Calls:
    """How a procedure is called: the condition on which it is wherever there is one, as the only element of a tuple
    that is else empty, and whether it is called without, too: then what it calls keeps its own."""

    conditions: tuple[Condition, ...]
    is_plain: bool

    def after(self, inner: _Calls) -> _Calls:
        """How something is called that the procedure calls like `inner`."""
        below = inner.conditions if self.is_plain else ()
        return _Calls(_joined((*self.conditions, *below)), self.is_plain and inner.is_plain)

    def beside(self, other: _Calls) -> _Calls:
        """How it is called where it is in both of two ways."""
        return _Calls(_joined((*self.conditions, *other.conditions)), self.is_plain or other.is_plain)


class Readers:
    """Follows the calls of a reading procedure up to the procedure that reads all namelists of a component."""

    def __init__(self, tree: SourceTree, evaluator: Evaluator, groups: dict[str, str]) -> None:
        self._tree = tree
        self._evaluator = evaluator
        self._groups = groups  # of every variable that stands in one group only

    def is_called(self, procedure: Unit) -> bool:
        """Whether anything calls the procedure."""
        return next(self._tree.callers(procedure.name), None) is not None

    def components(self, procedure: Unit) -> dict[str, Condition]:
        """The components that call it, each with the condition."""
        return {
            component: None if calls.is_plain else calls.conditions[0]
            for component, calls in self._above(procedure.name, 0).items()
        }

    @cache  # noqa: B019 - they live as long as the command
    def _above(self, name: str, level: int) -> dict[str, _Calls]:
        """The components that call a procedure, directly or through others."""
        found: dict[str, _Calls] = {}
        for caller in self._tree.callers(name):
            here = self._called(caller).get(name)
            if here is None:
                continue
            hub = _HUB.match(caller.name)
            external = _EXTERNALS.match(caller.file)
            above = dict[str, _Calls]()
            if hub is not None:
                above = {_COMPONENTS.get(hub[1], hub[1]): here}
            elif external is not None:
                above = {external[1]: here}
            elif level < _HIGHEST:
                beyond = self._above(caller.name, level + 1)
                above = {component: calls.after(here) for component, calls in beyond.items()}
            for component, calls in above.items():
                found[component] = calls.beside(found[component]) if component in found else calls
        return found

    @cache  # noqa: B019
    def _called(self, caller: Unit) -> dict[str, _Calls]:
        """How a unit calls what it does."""
        found: dict[str, list[Condition]] = {}
        for called, condition in self._calls(caller, blocks_of(caller), None):
            found.setdefault(called, []).append(condition)
        return {
            called: _Calls(_joined(one for one in conditions if one is not None), None in conditions)
            for called, conditions in found.items()
        }

    def _calls(self, caller: Unit, items: list[Item], condition: Condition) -> Iterator[tuple[str, Condition]]:
        """What is called, with its condition."""
        for item in items:
            if isinstance(item, Statement):
                if call := _CALL.match(item.text):
                    yield call[1], condition
            elif isinstance(item, Repetition):
                yield from self._calls(caller, item.body, condition)
            else:
                for branch in item.branches:
                    own = None if branch.condition is None else self._condition(caller, item, branch.condition)
                    yield from self._calls(caller, branch.body, own or condition)

    def _condition(self, unit: Unit, choice: Choice, condition: str) -> Condition:
        """A condition on one namelist variable; None for any other."""
        variable = condition if choice.selector is None else choice.selector
        values: list[Any] = [True]
        if choice.selector is not None:
            try:
                values = [self._evaluator.constant(unit, part) for part in split_list(condition)]
            except UnknownValueError:
                return None
        group = self._groups.get(variable.strip())
        if len(values) > _MOST_VALUES or any(isinstance(value, list) for value in values):
            return None
        return None if group is None else {"variable": f"{group}.{variable.strip()}", "one_of": values}


def _joined(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The condition that holds where one of some does, as a tuple; an empty one of none."""
    each = tuple({id(one): one for one in conditions}.values())
    if len(each) < 2:
        return each
    first = each[0]
    if first is None or any(one is None or one["variable"] != first["variable"] for one in each):
        return (None,)
    values = {value for one in each if one is not None for value in one["one_of"]}
    if len(values) > _MOST_VALUES:
        return (None,)
    return ({"variable": first["variable"], "one_of": sorted(values, key=lambda one: (isinstance(one, str), one))},)
