"""What a model finds in its namelist that looks for each of its groups from the beginning of the file.

The first group of a name is read, one that is not there keeps its defaults, and one of a name that the model does not
know is never looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from nmlgen.findings import nearest
from nmlgen.namelist.assignment import assign, declarations
from nmlgen.namelist.registry import Registry, Variable, bounds_of
from nmlgen.namelist.syntax import Document, Group, SyntaxProblem
from nmlgen.source import Source, Span
from nmlgen.values import evolve, frozen

Beside = Callable[[str], Source | None]
"""Gives a file in the directory of another one by its name; None if there is none. Raises InputError if it is there
and cannot be read."""

_MOST_MEANINGS = 1_000
"""A bound on work: what has more names that the model does not know is the namelist of another one."""
Cell = tuple[str, int]
"""An element of a variable counted from 1, in the place 0 where it has only one."""


@frozen
class Written:
    """A value as somebody wrote it."""

    value: Any
    span: Span


@frozen
class Read:
    """A namelist as a model reads it.

    `groups` are those that it finds, by name; `values` what each variable holds then, by domain or element, None where
    that is not known; `written` what somebody wrote, by variable and element. `problems` are where reading stops, and
    what is read otherwise than it seems. `meanings` tell of a group and a name that it does not have which variable was
    meant.
    """

    groups: Mapping[str, Group]
    values: Mapping[str, Sequence[Any]]
    written: Mapping[Cell, Written]
    problems: tuple[tuple[str, SyntaxProblem], ...]
    meanings: Mapping[tuple[str, str], str | None]

    def span(self, name: str) -> Span | None:
        """Where a variable was first given a value; None where nobody did."""
        return next((given.span for (variable, _), given in self.written.items() if variable == name), None)

    def value(self, name: str, place: int = 1) -> Any:
        """The value of an element, counted from 1; None where it is not known."""
        return self.values[name][place - 1]

    @property
    def finite(self) -> Read:
        """The same with what is infinite, or no number, not known: nothing can be worked out of it."""
        values = {name: [value if _is_finite(value) else None for value in held] for name, held in self.values.items()}
        return evolve(self, values=values)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)


class Meanings(dict[tuple[str, str], str | None]):
    """The variable that was meant by a name that its group does not have, as far as one can tell."""

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self._registry = registry

    def __missing__(self, asked: tuple[str, str]) -> str | None:
        if len(self) >= _MOST_MEANINGS:
            return None
        group, name = asked
        self[asked] = nearest(name, self._registry.variables(group))
        return self[asked]


def by_name(_group: str, name: str) -> str:
    """How most models hold their variables: by name alone."""
    return name


def read_settings(
    document: Document,
    registry: Registry,
    passed_over: Container[str] = (),
    key: Callable[[str, str], str] = by_name,
) -> Read:
    """What a model reads of a document; what is wrong in groups that are `passed_over` it does not mind. `key` gives
    for a group and a name by what a variable is known: groups may share one, or have others of one name."""
    groups: dict[str, Group] = {}
    for group in document.groups:
        groups.setdefault(group.name, group)
    values: dict[str, list[Any]] = {}
    written: dict[Cell, Written] = {}
    problems: list[tuple[str, SyntaxProblem]] = []
    meanings = Meanings(registry)
    for name in registry.groups:
        for variable in registry.variables(name):
            values.setdefault(key(name, variable), _defaults(registry, name, variable))
    for name in registry.groups:
        found = groups.get(name)
        if found is None:
            continue
        assignment = assign(found, declarations(registry, name))
        if name not in passed_over:
            problems += [(name, problem) for problem in (*found.errors, *assignment.problems)]
        for (variable, subscripts), assigned in assignment.elements.items():
            known = registry.variable(name, variable)
            if known is not None:
                place = _place(known, subscripts)
                held = values[key(name, variable)]
                written[key(name, variable), place if len(held) > 1 else 0] = Written(
                    assigned.value, assigned.written.span
                )
                if len(subscripts) > 1:
                    held[:] = [None] * len(held)
                elif place <= len(held):
                    held[place - 1] = assigned.value
        assigned_to = {variable for variable, _ in assignment.elements}
        names = registry.variables(name)
        for item in found.items:  # the runtime stops there, or a template has something else in its place
            meant = item.base if item.base in names else meanings[name, item.base]
            if meant is not None and meant not in assigned_to and any(v.kind != "null" for v in item.values):
                held = values[key(name, meant)]
                held[:] = [None] * len(held)
    return Read(groups, values, written, tuple(problems), meanings)


def _place(variable: Variable, subscripts: Sequence[int]) -> int:
    """The place of an element along the first dimension, counted from 1."""
    if not subscripts:
        return 1
    return subscripts[0] - bounds_of(variable.shape[0])[0] + 1 if variable.shape else subscripts[0]


def _defaults(registry: Registry, group: str, name: str) -> list[Any]:
    variable = registry.variable(group, name)
    assert variable is not None
    low, high = bounds_of(variable.shape[0]) if variable.shape else (1, 1)
    default = variable.default if variable.has_default else None
    if not isinstance(default, dict):
        return [default] * (high - low + 1)
    given = default["set"]  # some elements differ
    return [given.get(str(place), default.get("fill")) for place in range(low, high + 1)]


def foreign_groups(read: Read, registry: Registry) -> Iterator[Group]:
    """The groups that the model never looks for."""
    return (group for name, group in read.groups.items() if not registry.has_group(name))
