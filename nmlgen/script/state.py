"""What a shell remembers between two commands, and what is left of that where two ways of a script meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from nmlgen.script.values import ALWAYS, EMPTY, Guard, Possibility, Value, known, merged, under, unknown, unset

if TYPE_CHECKING:
    from nmlgen.script.syntax import Function
    from nmlgen.source import Text

NO_ATTRIBUTES: frozenset[str] = frozenset()


class Variable(NamedTuple):
    """A variable: its value, or the elements of an array by index or key.

    `attributes` are the letters that `typeset` takes, such as "i", and "x" for an exported one; a width stands
    behind its letter ("Z2"). `is_open` tells that an array may have elements that are not known.
    """

    value: Value
    elements: Mapping[str, Value] | None = None
    attributes: frozenset[str] = NO_ATTRIBUTES
    is_open: bool = False


class State:
    """The variables, functions and positional parameters at one moment, under the `guard` that leads there.

    `positional` is None where the number of them is not known. `scopes` remember what `local` hides, one mapping a
    function that is being called.
    """

    __slots__ = ("directory", "functions", "guard", "options", "positional", "scopes", "status", "variables")

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, tuple[Function, Text] | None] = {}
        self.positional: tuple[Value, ...] | None = ()
        self.guard: Guard = ALWAYS
        self.directory: Value = EMPTY
        self.status: Value = known("0")
        self.options: frozenset[str] = frozenset()
        self.scopes: tuple[dict[str, Variable | None], ...] = ()

    def copy(self, guard: Guard | None = None) -> State:
        """An independent copy, under another guard if one is given."""
        other = State.__new__(State)
        other.variables = dict(self.variables)
        other.functions = dict(self.functions)
        other.positional = self.positional
        other.guard = self.guard if guard is None else guard
        other.directory = self.directory
        other.status = self.status
        other.options = self.options
        other.scopes = tuple(dict(scope) for scope in self.scopes)
        return other


def join(first: State | None, second: State | None) -> State | None:
    """The state after either of two: a variable that differs has the cases of both, each under its guard."""
    if first is None or second is None:
        return first or second
    shared = first.guard & second.guard
    mine, other = first.guard - shared, second.guard - shared
    for name in first.variables.keys() | second.variables.keys():
        one, two = first.variables.get(name), second.variables.get(name)
        if one is not two:
            first.variables[name] = _joined_variable(name, one, two, mine, other)
    for name, function in second.functions.items():
        if first.functions.setdefault(name, function) is not function:
            first.functions[name] = None  # which of the two is called is not known
    if first.positional != second.positional:
        first.positional = _joined_positional(first.positional, second.positional, mine, other)
    if first.directory is not second.directory:
        first.directory = joined_value(first.directory, second.directory, mine, other, "directory")
    if first.status is not second.status:
        first.status = joined_value(first.status, second.status, mine, other, "status")
    first.options &= second.options
    for scope, rival in zip(first.scopes, second.scopes, strict=False):
        for name, hidden in rival.items():
            scope.setdefault(name, hidden)
    first.guard = shared
    return first


def joined_value(one: Value, two: Value, mine: Guard, other: Guard, name: str) -> Value:
    """The cases of two values, each under its guard."""
    if one is two:
        return one
    if len(one) == len(two) == 1 and one[0][1:3] == two[0][1:3] and one[0].is_set == two[0].is_set:
        return one if one[0].guard == two[0].guard else (one[0]._replace(guard=ALWAYS),)
    return merged((*under(one, mine), *under(two, other)), ("joined", name, mine, other))


def _joined_variable(name: str, one: Variable | None, two: Variable | None, mine: Guard, other: Guard) -> Variable:
    one, two = one or Variable(unset(name)), two or Variable(unset(name))
    attributes = one.attributes | two.attributes
    value = joined_value(one.value, two.value, mine, other, name)
    if one.elements is None and two.elements is None:
        return Variable(value, None, attributes)
    first, second = one.elements or {}, two.elements or {}
    if first is second:
        return Variable(value, first, attributes, one.is_open or two.is_open)
    missing = (Possibility(ALWAYS, "", (), False),)
    elements = {
        key: joined_value(first.get(key, missing), second.get(key, missing), mine, other, f"{name}[{key}]")
        for key in (*first, *(key for key in second if key not in first))
    }
    return Variable(value, elements, attributes, one.is_open or two.is_open)


def _joined_positional(
    one: tuple[Value, ...] | None, two: tuple[Value, ...] | None, mine: Guard, other: Guard
) -> tuple[Value, ...] | None:
    if one is None or two is None or len(one) != len(two):
        return None
    return tuple(
        joined_value(a, b, mine, other, str(number)) for number, (a, b) in enumerate(zip(one, two, strict=True))
    )


def havoc(name: str, variable: Variable | None, symbol: object) -> Variable:
    """The variable after commands that may have given it any value."""
    attributes = variable.attributes if variable is not None else NO_ATTRIBUTES
    if variable is not None and variable.elements is not None:
        return Variable(unknown((name, symbol)), {}, attributes, True)
    return Variable((unknown((name, symbol))[0]._replace(is_set=None),), None, attributes)
