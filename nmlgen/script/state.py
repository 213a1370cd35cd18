"""What a shell remembers between two commands, and what is left of that where two ways of a script meet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from nmlgen.script.values import (
    ALWAYS,
    EMPTY,
    Guard,
    Possibility,
    Value,
    contradicts,
    known,
    merged,
    under,
    unknown,
    unset,
)
from nmlgen.source import UNKNOWN
from nmlgen.values import define

if TYPE_CHECKING:
    from nmlgen.script.conditions import Questions
    from nmlgen.script.effort import Effort
    from nmlgen.script.events import Piece
    from nmlgen.script.syntax import Function
    from nmlgen.source import Text

NO_ATTRIBUTES: frozenset[str] = frozenset()

_MOST_DEFINITIONS = 8
_MOST_ELEMENTS = 1_000  # of two arrays that are joined
_Item = TypeVar("_Item")

Definitions: TypeAlias = "tuple[tuple[Guard, tuple[Function, Text] | None], ...]"
"""What a name is as a function, each with the guard under which; None where it is none. Nobody knows if there is none
of them."""


@define(eq=False)
class Sink:
    """Where output goes: into a file (`path`), or into `caught`, each piece with the guard under which.

    Without either it goes where no file of the script is.
    """

    path: Value | None = None
    caught: list[tuple[Guard, tuple[Piece, ...]]] | None = None


NOWHERE = Sink()
SOMEWHERE = Sink()
"""One of several sinks, nobody knows which."""


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
    function that is being called. `options` are those of `set -o` and `shopt`, None where that is not known; `traps`
    are texts by signal, None where they are not known. `input` is what is left of the standard input, None where that
    is not known; `outputs` say where each descriptor leads.
    """

    __slots__ = (
        "aliases",
        "directory",
        "functions",
        "guard",
        "input",
        "options",
        "outputs",
        "positional",
        "scopes",
        "status",
        "traps",
        "variables",
    )

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.functions: dict[str, Definitions] = {}
        self.positional: tuple[Value, ...] | None = ()
        self.guard: Guard = ALWAYS
        self.directory: Value = EMPTY
        self.status: Value = known("0")
        self.options: Mapping[str, bool | None] = {}
        self.traps: Mapping[str, str | None] = {}
        self.aliases: frozenset[str] = frozenset()
        self.input: tuple[Piece, ...] | None = None
        self.outputs: Mapping[str, Sink] = {}
        self.scopes: tuple[dict[str, Variable | None], ...] = ()

    @property
    def size(self) -> int:
        """How much a copy takes along."""
        return len(self.variables) + len(self.functions) + len(self.aliases) + sum(map(len, self.scopes))

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
        other.traps = self.traps
        other.aliases = self.aliases
        other.input = self.input
        other.outputs = self.outputs
        other.scopes = tuple(dict(scope) for scope in self.scopes)
        return other


def join(first: State | None, second: State | None, questions: Questions) -> State | None:
    """The state after either of two: a variable that differs has the cases of both, each under its guard."""
    if first is None or second is None:
        return first or second
    shared = first.guard & second.guard
    mine, other = first.guard - shared, second.guard - shared
    if not contradicts(mine, other):  # what leads to each does not tell them apart: one more question does
        yes, no = questions.ask()
        mine, other = mine | yes[0], other | no[0]
    questions.effort.on_copy(second.size - len(second.variables))
    _join_variables(first.variables, second.variables, mine, other, questions.effort)
    _join_functions(first, second, mine, other)
    if first.positional is not second.positional:
        first.positional = _joined_positional(first.positional, second.positional, mine, other)
    if first.directory is not second.directory:
        first.directory = joined_value(first.directory, second.directory, mine, other)
    if first.status is not second.status:
        first.status = joined_value(first.status, second.status, mine, other)
    if first.options is not second.options:
        questions.effort.on_elements(len(second.options))
    if first.outputs is not second.outputs:
        questions.effort.on_elements(len(second.outputs))
    if first.positional is not second.positional and second.positional is not None:
        questions.effort.on_elements(len(second.positional))
    first.options = _agreed(first.options, second.options, False)
    first.traps = _agreed(first.traps, second.traps, "")
    first.aliases |= second.aliases
    if first.input is not second.input:
        first.input = None
    _join_outputs(first, second)
    for scope, rival in zip(first.scopes, second.scopes, strict=False):
        for name, hidden in rival.items():
            scope.setdefault(name, hidden)
    first.guard = shared
    return first


def _join_variables(
    variables: dict[str, Variable], rivals: Mapping[str, Variable], mine: Guard, other: Guard, effort: Effort
) -> None:
    effort.on_copy(len(rivals))
    left = [name for name in variables if name not in rivals] if len(variables) > len(rivals) else []
    for name in (*rivals, *left):
        one, two = variables.get(name), rivals.get(name)
        if one is two:
            continue
        if effort.is_too_much:
            variables[name] = havoc(name, one or two, object())
            continue
        variables[name] = joined_variable(name, one, two, mine, other)
        effort.spent += 1 + sum(len(each.value) for each in (one, two) if each is not None) ** 2 // 4


def _join_outputs(first: State, second: State) -> None:
    if first.outputs is second.outputs:
        return
    outputs: dict[str, Sink] = {}
    for name in {**first.outputs, **second.outputs}:
        sink = first.outputs.get(name, NOWHERE)
        outputs[name] = sink if sink is second.outputs.get(name, NOWHERE) else SOMEWHERE
    first.outputs = outputs


def _agreed(
    first: Mapping[str, _Item | None], second: Mapping[str, _Item | None], absent: _Item
) -> Mapping[str, _Item | None]:
    """What two mappings have in common; None for what differs."""
    if first is second:
        return first
    return {
        name: one if (one := first.get(name, absent)) == second.get(name, absent) else None
        for name in {**first, **second}
    }


def _join_functions(first: State, second: State, mine: Guard, other: Guard) -> None:
    nothing: Definitions = ((ALWAYS, None),)
    for name in {**first.functions, **second.functions}:
        one, two = first.functions.get(name, nothing), second.functions.get(name, nothing)
        if one is not two:
            cases = [
                *((guard | mine, found) for guard, found in one),
                *((guard | other, found) for guard, found in two),
            ]
            is_clear = one and two and len(cases) <= _MOST_DEFINITIONS
            first.functions[name] = tuple(cases) if is_clear else ()


def joined_value(one: Value, two: Value, mine: Guard, other: Guard) -> Value:
    """The cases of two values, each under its guard."""
    if one is two:
        return one
    if len(one) == len(two) == 1:
        first, second = one[0], two[0]
        if first[1:5] == second[1:5]:
            origin = first.origin if first.origin == second.origin else None
            if first.guard == second.guard:
                return one if origin is first.origin else (first._replace(origin=origin),)
            return (first._replace(guard=ALWAYS, origin=origin),)
    return merged((*under(one, mine), *under(two, other)), object())


def joined_variable(name: str, one: Variable | None, two: Variable | None, mine: Guard, other: Guard) -> Variable:
    """One variable of two states; None for one that nothing set there."""
    one, two = one or Variable(unset(name)), two or Variable(unset(name))
    attributes = one.attributes | two.attributes
    value = joined_value(one.value, two.value, mine, other)
    is_open = one.is_open or two.is_open
    if one.elements is None and two.elements is None:
        return Variable(value, None, attributes, is_open)
    if one.elements is two.elements:
        return Variable(value, one.elements, attributes, is_open)
    first, second = _elements(one), _elements(two)
    if len(first) + len(second) > _MOST_ELEMENTS:
        return Variable(value, {}, attributes, True)
    missing = (Possibility(ALWAYS, "", (), False),)
    elements = {
        key: joined_value(first.get(key, missing), second.get(key, missing), mine, other)
        for key in (*first, *(key for key in second if key not in first))
    }
    return Variable(value, elements, attributes, is_open)


def in_order(variable: Variable) -> list[str]:
    """The subscripts of an array in order; the names of an associative one as they were given."""
    elements = variable.elements or {}
    if "A" in variable.attributes or not all(map(str.isdecimal, elements)):
        return list(elements)
    return sorted(elements, key=int)


def _elements(variable: Variable) -> Mapping[str, Value]:
    """The elements of an array; a variable that is none has one."""
    if variable.elements is not None:
        return variable.elements
    return {} if variable.value[0].is_set is False else {"0": variable.value}


def _joined_positional(
    one: tuple[Value, ...] | None, two: tuple[Value, ...] | None, mine: Guard, other: Guard
) -> tuple[Value, ...] | None:
    if one is None or two is None or len(one) != len(two):
        return None
    return tuple(joined_value(a, b, mine, other) for a, b in zip(one, two, strict=True))


def havoc(name: str, variable: Variable | None, symbol: object) -> Variable:
    """The variable after commands that may have given it any value, or may have unset it."""
    attributes = variable.attributes if variable is not None else NO_ATTRIBUTES
    if variable is not None and variable.elements is not None:
        return Variable(unknown((name, symbol)), {}, attributes, True)
    return Variable((Possibility(ALWAYS, UNKNOWN, ((name, symbol),), None),), None, attributes)


def nothing_left() -> dict[str, list[tuple[int, State]]]:
    """The states in which ways have left what is being run, by how they did: none yet."""
    return {"return": [], "break": [], "continue": [], "exit": []}
