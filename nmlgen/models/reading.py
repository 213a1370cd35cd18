"""What a model finds in its namelist that looks for each of its groups from the beginning of the file.

The first group of a name is read, one that is not there keeps its defaults, and one of a name that the model does not
know is never looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from nmlgen.findings import nearest
from nmlgen.namelist.assignment import assign, declarations
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import Document, Group, SyntaxProblem
from nmlgen.source import Source, Span

Beside = Callable[[str], Source | None]
"""Gives a file in the directory of another one by its name; None if there is none. Raises InputError if it is there
and cannot be read."""

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
    what is read otherwise than it seems.
    """

    groups: Mapping[str, Group]
    values: Mapping[str, Sequence[Any]]
    written: Mapping[Cell, Written]
    problems: tuple[tuple[str, SyntaxProblem], ...]

    def span(self, name: str) -> Span | None:
        """Where a variable was first given a value; None where nobody did."""
        return next((given.span for (variable, _), given in self.written.items() if variable == name), None)

    def value(self, name: str, place: int = 1) -> Any:
        """The value of an element, counted from 1; None where it is not known."""
        return self.values[name][place - 1]


def read_settings(document: Document, registry: Registry, passed_over: Container[str] = ()) -> Read:
    """What a model reads of a document; what is wrong in groups that are `passed_over` it does not mind."""
    groups: dict[str, Group] = {}
    for group in document.groups:
        groups.setdefault(group.name, group)
    values: dict[str, list[Any]] = {}
    written: dict[Cell, Written] = {}
    problems: list[tuple[str, SyntaxProblem]] = []
    for name in registry.groups:
        for variable in registry.variables(name):
            values[variable] = _defaults(registry, name, variable)
        found = groups.get(name)
        if found is None:
            continue
        assignment = assign(found, declarations(registry, name))
        if name not in passed_over:
            problems += [(name, problem) for problem in (*found.errors, *assignment.problems)]
        for (variable, subscripts), assigned in assignment.elements.items():
            if variable in values:
                place = subscripts[0] if subscripts else 1
                is_array = len(values[variable]) > 1
                values[variable][place - 1] = assigned.value
                written[variable, place if is_array else 0] = Written(assigned.value, assigned.written.span)
        assigned_to = {variable for variable, _ in assignment.elements}
        for item in found.items:  # the runtime stops there, or a template has something else in its place
            meant = item.base if item.base in values else nearest(item.base, registry.variables(name)) or ""
            if meant in values and meant not in assigned_to and any(v.kind != "null" for v in item.values):
                values[meant] = [None] * len(values[meant])
    return Read(groups, values, written, tuple(problems))


def _defaults(registry: Registry, group: str, name: str) -> list[Any]:
    variable = registry.variable(group, name)
    assert variable is not None
    length = variable.shape[0] if variable.shape else 1
    assert isinstance(length, int)
    return [variable.default if variable.has_default else None] * length


def foreign_groups(read: Read, registry: Registry) -> Iterator[Group]:
    """The groups that the model never looks for."""
    return (group for name, group in read.groups.items() if not registry.has_group(name))
