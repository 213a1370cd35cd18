"""Giving variables, and elements of arrays, their values, as their attributes will have it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nmlgen.namelist.placeholders import is_stand_in
from nmlgen.script.assigned import ANY_END
from nmlgen.script.state import Variable, havoc
from nmlgen.script.syntax import Array, Assignment, Word
from nmlgen.script.values import ALWAYS, EMPTY, Place, Value, known, mapped, merged, restricted, unknown, within
from nmlgen.source import UNKNOWN
from nmlgen.units.whole import decimal

if TYPE_CHECKING:
    from nmlgen.script.evaluate import Interpreter

DYNAMIC = frozenset(
    ("RANDOM", "SRANDOM", "SECONDS", "LINENO", "BASHPID", "EPOCHSECONDS", "EPOCHREALTIME", "BASH_COMMAND", "PIPESTATUS")
)
"""Variables that the shell gives a new value whenever they are read."""


_WIDEST = 1_000  # characters that zeros fill up to


class Assignments:
    """Assigns in the state that an interpreter is in."""

    def __init__(self, shell: Interpreter) -> None:
        self.shell = shell

    def written(self, assignment: Assignment) -> None:
        """An assignment as it stands in a script."""
        shell = self.shell
        place = Place(shell.text, assignment.start, assignment.end)
        shell.give_up_if_too_much(place)
        if isinstance(assignment.value, Array):
            self.assign_array(assignment.name, assignment.value, place, appends=assignment.appends)
        else:
            value = shell.words.assigned(assignment.value)
            written = assignment.value.literal if assignment.value is not None else None
            if written and is_stand_in(written):
                value = unknown(shell.fresh())
            self.assign(assignment.name, assignment.subscript, value, place, appends=assignment.appends)

    def assign(self, name: str, subscript: Word | None, value: Value, place: Place, *, appends: bool = False) -> None:
        """Give a variable, or an element of an array, a value."""
        shell = self.shell
        if name in DYNAMIC:
            return
        old = shell.variable(name)
        attributes = old.attributes
        if attributes and not self._allows(attributes, place):
            return
        if subscript is not None or old.elements is not None:
            self._assign_element(name, subscript, old, value, place, appends)
            return
        if appends:
            value = self._appended(old.value, value, attributes, place)
        elif "i" in attributes:
            value = shell.words.calculated(value, place)
        if attributes and attributes != {"x"}:
            value = self.formatted(value, attributes)
        answer = shell.answers.get(name)
        if answer is not None and all(UNKNOWN in case.text for case in within(value, shell.guard)):
            value = known(answer)
        value = tuple(
            [
                case._replace(origin=place if case.origin is None or not case.symbols else case.origin, is_set=True)
                for case in value
            ]
        )
        if shell.state.options.get("allexport"):
            attributes |= {"x"}
        shell.state.variables[name] = Variable(value, None, attributes)

    def _allows(self, attributes: frozenset[str], place: Place) -> bool:
        """Whether a variable can be assigned at all; who tries to change a constant gets no further."""
        if "n" in attributes:  # another name for a variable, nobody knows which
            self.forget_everything()
            return False
        if "r" in attributes:
            self.shell.doubt(place)
            return False
        return True

    def _appended(self, old: Value, value: Value, attributes: frozenset[str], place: Place) -> Value:
        shell = self.shell
        if "i" in attributes:
            return shell.words.calculated(shell.joined([old, known("+("), value, known(")")]), place)
        return shell.joined([shell.look_at(within(old, shell.guard)), value])

    def _assign_element(
        self, name: str, subscript: Word | None, old: Variable, value: Value, place: Place, appends: bool
    ) -> None:
        shell = self.shell
        array = self._as_array(name, old)
        elements = dict(array.elements or {})
        shell.effort.spent += len(elements)
        keys = shell.words.subscripts(array, subscript) if subscript is not None else ((ALWAYS, "0"),)
        if keys is None:
            shell.state.variables[name] = havoc(name, array, shell.fresh())
            return
        for key in dict.fromkeys(key for _, key in keys):
            former = elements.get(key) or (shell.words.nothing_at(array, key, name))
            new = value
            if appends:
                new = self._appended(former, value, array.attributes, place)
            elif "i" in array.attributes:
                new = shell.words.calculated(value, place)
            new = _set(self.formatted(new, array.attributes), place)
            if len(keys) > 1:  # where it is another one, this stays as it is
                cases = [case for guard, at in keys for case in restricted(new if at == key else former, guard)]
                new = merged(cases, shell.fresh())
            elements[key] = new
        shell.state.variables[name] = Variable(EMPTY, elements, array.attributes, array.is_open)

    def _as_array(self, name: str, variable: Variable) -> Variable:
        """A variable as an array: what it held is the element 0."""
        if variable.elements is not None:
            return variable
        states = {case.is_set for case in variable.value}
        if states == {False} or "A" in variable.attributes or self.shell.is_foreign(name):
            return Variable(EMPTY, {}, variable.attributes, self.shell.is_fragment)
        if states == {True}:
            return Variable(EMPTY, {"0": variable.value}, variable.attributes)
        return havoc(name, Variable(EMPTY, {}, variable.attributes), self.shell.fresh())

    def assign_array(self, name: str, array: Array, place: Place, *, appends: bool) -> None:
        """`name=( ... )`."""
        shell = self.shell
        old = shell.variable(name)
        attributes = old.attributes
        if attributes and not self._allows(attributes, place):
            return
        if not array.elements and not appends and shell.is_ksh is not False:  # ksh makes a compound variable of it
            shell.state.variables[name] = Variable(EMPTY, {}, attributes, True)
            return
        elements: dict[str, Value] = {}
        is_open = False
        if appends:
            former = self._as_array(name, old)
            elements, is_open = dict(former.elements or {}), former.is_open
            shell.effort.spent += len(elements)
        index = max((number for number in map(decimal, elements) if number is not None), default=-1) + 1
        for element in array.elements:
            shell.give_up_if_too_much(place)
            if isinstance(element, Assignment):
                variable = Variable(EMPTY, elements, attributes)
                key = shell.words.subscript(variable, element.subscript) if element.subscript is not None else None
                if key is None or isinstance(element.value, Array) or element.appends:
                    is_open = True
                    continue
                elements[key] = self._element(shell.words.assigned(element.value), attributes, place)
                number = decimal(key)
                index = index if number is None else number + 1
                continue
            for item in shell.words.fields((element,)):
                is_open = is_open or item.is_vague
                elements[str(index)] = self._element(item.value, attributes, place)
                index += 1
        if "A" in attributes and any(not isinstance(element, Assignment) for element in array.elements):
            is_open = True  # bash takes keys and values in turn, ksh does not
        shell.state.variables[name] = Variable(EMPTY, {} if is_open else elements, attributes, is_open)

    def _element(self, value: Value, attributes: frozenset[str], place: Place) -> Value:
        if "i" in attributes:
            value = self.shell.words.calculated(value, place)
        return _set(self.formatted(value, attributes), place)

    def formatted(self, value: Value, attributes: frozenset[str]) -> Value:
        """What the attributes of typeset make of a value."""
        shell = self.shell
        for attribute in sorted(attributes):
            letter, width = attribute[0], attribute[1:]
            if letter == "u":
                value = mapped(value, _upper, shell.fresh())
            elif letter == "l":
                value = mapped(value, _lower, shell.fresh())
            elif letter == "Z" and (size := decimal(width)) is not None and size <= _WIDEST:
                value = mapped(value, lambda text, size=size: _zero_padded(text, size), shell.fresh())  # type: ignore[misc]
            elif letter in "LRZFEbX" or (letter == "i" and width):
                value = mapped(value, _nothing, shell.fresh())
        return value

    def forget(self, name: str) -> None:
        """A variable gets a value that nobody knows."""
        shell = self.shell
        if shell.current is not None:
            shell.effort.spent += 1
            shell.state.variables[name] = havoc(name, shell.state.variables.get(name), shell.fresh())

    def forget_all(self, names: Iterable[str]) -> None:
        """So do several; `a_*` are all whose names begin with `a_`."""
        for name in names:
            if name.endswith(ANY_END):
                self._forget_all_that_begin(name.removesuffix(ANY_END))
            else:
                self.forget(name)

    def _forget_all_that_begin(self, beginning: str) -> None:
        """So do those that have a value, and those that the script, or one that it sources, speaks of."""
        shell = self.shell
        shell.effort.on_copy(len(shell.state.variables))
        found = {name for name in shell.state.variables if name.startswith(beginning)}
        spoken = shell.words_of_scripts()
        for at in range(bisect_left(spoken, beginning), len(spoken)):
            if not spoken[at].startswith(beginning):
                break
            found.add(spoken[at])
        self.forget_all(sorted(found))

    def forget_everything(self) -> None:
        """Any variable may have any value."""
        shell = self.shell
        self.forget_all({*shell.state.variables, *shell.own_names()})
        shell.state.positional = None

    def fill_array(self, name: str, values: Sequence[Value], place: Place, *, keeps: bool = False) -> None:
        """A variable becomes an array of these elements; with `keeps`, what it has behind them stays."""
        shell = self.shell
        old = shell.variable(name)
        attributes = old.attributes - {"A"}
        if attributes and not self._allows(attributes, place):
            return
        former = self._as_array(name, old) if keeps else Variable(EMPTY, {}, attributes)
        if former.is_open or "A" in former.attributes:
            self.read_array(name)
            return
        shell.effort.spent += 2 * len(values)
        shell.effort.on_copy(len(former.elements or ()))
        elements = {str(number): self._element(value, attributes, place) for number, value in enumerate(values)}
        shell.state.variables[name] = Variable(EMPTY, {**(former.elements or {}), **elements}, attributes)

    def read_array(self, name: str) -> None:
        """A variable becomes an array of elements that nobody knows."""
        shell = self.shell
        attributes = shell.variable(name).attributes
        shell.state.variables[name] = havoc(name, Variable(EMPTY, {}, attributes), shell.fresh())


def _set(value: Value, place: Place) -> Value:
    return tuple([case._replace(origin=place, is_set=True) for case in value])


def _upper(text: str) -> str | None:
    return text.upper() if text.isascii() else None


def _lower(text: str) -> str | None:
    return text.lower() if text.isascii() else None


def _nothing(text: str) -> str | None:
    return None


def _zero_padded(text: str, width: int) -> str | None:
    if not text.isdigit():
        return None
    return text[-width:] if len(text) >= width else text.rjust(width, "0")
