"""Which components read a namelist group, and with which settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nmlgen.namelist.extract.blocks import Choice, Item, Repetition, blocks_of
from nmlgen.namelist.extract.evaluate import Evaluator, UnknownValueError
from nmlgen.namelist.extract.lines import Statement, split_list
from nmlgen.namelist.extract.tree import SourceTree
from nmlgen.namelist.extract.units import Unit

_HUB = re.compile(r"read_(atmo|ocean|wave|icon_output|testbed)_namelists$")
_COMPONENTS = {"atmo": "atmosphere", "wave": "waves"}
_CALL = re.compile(r"call\s+(\w+)")
_EXTERNALS = re.compile(r"externals/(jsbach|hd|ecrad)/")
_TOOL = re.compile(
    r"(scripts|support|utils?)/|externals/(?!jsbach|hd|ecrad|art|comin/src)|.*/(util|scripts|replay_tool)/"
)
_HIGHEST = 3  # procedures between the one that reads and the one that reads all of a component


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


class Readers:
    """Follows the calls of a reading procedure up to the procedure that reads all namelists of a component."""

    def __init__(self, tree: SourceTree, evaluator: Evaluator, groups: dict[str, str]) -> None:
        self._tree = tree
        self._evaluator = evaluator
        self._groups = groups  # of every variable that stands in one group only
        self._known: dict[int, dict[str, list[dict[str, Any] | None]]] = {}

    def is_called(self, procedure: Unit) -> bool:
        """Whether anything calls the procedure."""
        return next(self._tree.callers(procedure.name), None) is not None

    def components(self, procedure: Unit) -> dict[str, dict[str, Any] | None]:
        """The components that call it, each with the condition, as the registry writes it; None for none."""
        found: dict[str, dict[str, Any] | None] = {}
        for component, condition in self._above(procedure.name, None, 0, set()):
            if component not in found:
                found[component] = condition
            else:
                found[component] = _either(found[component], condition)
        return found

    def _above(
        self, name: str, condition: dict[str, Any] | None, level: int, done: set[tuple[str, str, int]]
    ) -> Iterator[tuple[str, dict[str, Any] | None]]:
        if (name, str(condition), level) in done:
            return
        done.add((name, str(condition), level))
        for caller in self._tree.callers(name):
            hub = _HUB.match(caller.name)
            external = _EXTERNALS.match(caller.file)
            for around in self._conditions(caller, name):
                if hub is not None:
                    yield _COMPONENTS.get(hub[1], hub[1]), around or condition
                elif external is not None:
                    yield external[1], around or condition
                elif level < _HIGHEST:
                    yield from self._above(caller.name, around or condition, level + 1, done)

    def _conditions(self, caller: Unit, name: str) -> list[dict[str, Any] | None]:
        """The conditions of the CALLs of a procedure, each once."""
        if id(caller) not in self._known:
            known = self._known[id(caller)] = dict[str, list[dict[str, Any] | None]]()
            for called, condition in self._calls(caller, blocks_of(caller), None):
                found = known.setdefault(called, [])
                if condition not in found:
                    found.append(condition)
        return self._known[id(caller)].get(name, [])

    def _calls(
        self, caller: Unit, items: list[Item], condition: dict[str, Any] | None
    ) -> Iterator[tuple[str, dict[str, Any] | None]]:
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

    def _condition(self, unit: Unit, choice: Choice, condition: str) -> dict[str, Any] | None:
        """A condition on one namelist variable; None for any other."""
        variable = condition if choice.selector is None else choice.selector
        values: list[Any] = [True]
        if choice.selector is not None:
            try:
                values = [self._evaluator.constant(unit, part) for part in split_list(condition)]
            except UnknownValueError:
                return None
        group = self._groups.get(variable.strip())
        return None if group is None else {"variable": f"{group}.{variable.strip()}", "one_of": values}


def _either(one: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any] | None:
    """The condition that holds where one of two does."""
    if one is None or other is None or one["variable"] != other["variable"]:
        return None
    return {"variable": one["variable"], "one_of": sorted({*one["one_of"], *other["one_of"]})}
