"""Truths that may depend on what only a run of the script tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias

from nmlgen.script.effort import Effort
from nmlgen.script.values import ALWAYS, Guard, Possibility, Value, contradicts, known, may_equal, merged
from nmlgen.source import UNKNOWN

Truth: TypeAlias = tuple[tuple[Guard, bool], ...]
"""Every way a question may be answered: the answer, and the guard under which it is that."""

TRUE: Truth = ((ALWAYS, True),)
FALSE: Truth = ((ALWAYS, False),)

SUCCESS = known("0")
FAILURE = known("1")
_NONZERO = ("nonzero",)
NONZERO: Value = (Possibility(ALWAYS, UNKNOWN, _NONZERO),)
"""The exit status of a command that fails in one of several ways."""


def truth(is_true: bool) -> Truth:
    """A question that is answered."""
    return TRUE if is_true else FALSE


def negation(asked: Truth) -> Truth:
    """The opposite."""
    return tuple((guard, not answer) for guard, answer in asked)


def conjunction(first: Truth, second: Callable[[], Truth]) -> Truth:
    """Both; the second is asked only where the first is true."""
    if all(not answer for _, answer in first):
        return first
    other = second()
    found: list[tuple[Guard, bool]] = []
    for guard, answer in first:
        if not answer:
            found.append((guard, False))
            continue
        found += [(guard | more, truth) for more, truth in other if not contradicts(guard, more)]
    return tuple(found)


def disjunction(first: Truth, second: Callable[[], Truth]) -> Truth:
    """One of the two; the second is asked only where the first is false."""
    return negation(conjunction(negation(first), lambda: negation(second())))


def status_of(asked: Truth, failure: Value = FAILURE) -> Value:
    """The exit status of a command that answers a question; `failure` is what it is where the answer is no."""
    if len(asked) == 1:
        return SUCCESS if asked[0][1] else failure
    cases = [(SUCCESS if answer else failure)[0]._replace(guard=guard) for guard, answer in asked]
    return merged(cases, object())


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_OPPOSITES = {"-ne": "-eq", "-ge": "-lt", "-gt": "-le"}
COMPARISONS = frozenset(_COMPARISONS)
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*\Z")
_MOST_RIVALS = 50
_MOST_CHOICES = 256
_MOST_ANSWERS = 64  # of several questions together, each in its own way


class Questions:
    """The questions that only a run of the script answers, each under its number.

    `unlikely` are answers that a run gives only if something unusual happens. `is_empty` tells what is taken for
    granted of something unknown that is asked whether it is empty: that it is, or, if None, that it rather is. `files`
    are the paths of those that are asked of files.
    """

    def __init__(
        self, is_empty: Callable[[Hashable], bool | None] = lambda symbol: False, effort: Effort | None = None
    ) -> None:
        self.effort = effort or Effort()
        self._numbers: dict[Hashable, int] = {}
        self._rivals: dict[Hashable, list[int]] = {}
        self._places: dict[int, int] = {}  # of each number among its rivals
        self._unique: set[int] = set()
        self._fresh = 0
        self.unlikely: set[int] = set()
        self.files: dict[int, Value] = {}
        self._is_empty = is_empty

    def fresh(self) -> int:
        """A symbol for something unknown that is like nothing else."""
        self._fresh += 1
        return self._fresh

    def ask(self, question: Hashable = None, rivals: Hashable = None) -> Truth:
        """A question that only a run answers; None for one that is never asked again.

        Of questions with the same `rivals` at most one is answered with yes.
        """
        number = len(self._numbers) + 1 if question is None else self._numbers.get(question, len(self._numbers) + 1)
        if number > len(self._numbers):
            self._numbers[number if question is None else question] = number
            if question is None:
                self._unique.add(number)
        if rivals is None:
            return (frozenset((number,)), True), (frozenset((-number,)), False)
        others = self._rivals.setdefault(rivals, [])
        if number not in self._places:
            self._places[number] = len(others)
            others.append(number)
        place = self._places[number]
        earlier = others[max(0, place - _MOST_RIVALS) : place]
        return (frozenset((number, *(-other for other in earlier))), True), (frozenset((-number,)), False)

    def ask_of_file(self, path: Value) -> Truth:
        """A question about what is at a path."""
        asked = self.ask()
        self.files[next(iter(asked[0][0]))] = path
        return asked

    def ask_unlikely(self, question: Hashable = None) -> Truth:
        """A question that is answered with yes only if something goes wrong."""
        asked = self.ask(question)
        self.unlikely |= asked[0][0]
        return asked

    def told_apart(self, value: Value) -> Value:
        """A value whose cases exclude one another: where their guards do not say so, questions are made that do."""
        if len(value) == 1:
            return value
        found: list[Possibility] = []
        before: Guard = ALWAYS
        for number, case in enumerate(value):
            guard = case.guard
            if any(not contradicts(guard, other.guard) for other in value if other is not case):
                guard |= before
                if number < len(value) - 1:
                    yes, no = self.ask()
                    guard |= yes[0]
                    before |= no[0]
            found.append(case._replace(guard=guard))
        return tuple(found)

    def is_fresh(self, answer: int) -> bool:
        """Whether an answer is to a question that is never asked again."""
        return abs(answer) in self._unique

    def truth_of(self, status: Value) -> Truth:
        """Whether a command succeeded, by its exit status."""
        if len(status) == 1 and not status[0].symbols and not status[0].guard:
            return TRUE if status[0].text == "0" else FALSE
        found: list[tuple[Guard, bool]] = []
        for case in status:
            if not case.symbols:
                found.append((case.guard, case.text == "0"))
            elif case.symbols == _NONZERO:
                found.append((case.guard, False))
            else:
                asked = self.ask(("succeeds", case.symbols))
                found += [(case.guard | more, answer) for more, answer in asked if not contradicts(case.guard, more)]
        return tuple(found)

    def equal(self, one: Possibility, two: Possibility) -> Truth:
        """Whether two texts are the same."""
        if not one.symbols and not two.symbols:
            return truth(one.text == two.text)
        if one[1:3] == two[1:3]:
            return TRUE
        if one.symbols and two.symbols:
            return self.ask(("same", frozenset((one[1:3], two[1:3]))))
        if two.symbols:
            one, two = two, one
        if not may_equal(one.text, two.text):
            return FALSE
        head, tail = one.text.index(UNKNOWN), len(one.text) - one.text.rindex(UNKNOWN) - 1
        inner = one.text[head : len(one.text) - tail]
        other = two.text[head : len(two.text) - tail]
        is_empty = self._is_empty(one.symbols[0]) if inner == UNKNOWN and not other else False
        if is_empty:
            return TRUE
        unknown = (one.symbols, inner)
        asked = self.ask(("==", *unknown, other), rivals=unknown)
        if is_empty is None:
            self.unlikely |= asked[1][0]
        return asked

    def is_empty(self, one: Possibility) -> Truth:
        """Whether a text is empty."""
        return self.equal(one, Possibility(ALWAYS, ""))

    def is_rather_empty(self, value: Value) -> bool:
        """Whether there is nothing but blanks in a text unless the surroundings set what nothing speaks for."""
        return all(
            not case.text.replace(UNKNOWN, "").strip()
            and all(self._is_empty(symbol) is not False for symbol in case.symbols)
            for case in value
        )

    def compare(self, operator: str, one: Possibility, two: Possibility) -> Truth:
        """`one -lt two` and the like. What is no number makes the command fail, or is an expression: nobody knows."""
        if not one.symbols and not two.symbols:
            if _INTEGER.match(one.text) and _INTEGER.match(two.text):
                return truth(_COMPARISONS[operator](int(one.text), int(two.text)))
            return self.ask()
        if operator in _OPPOSITES:
            return negation(self.compare(_OPPOSITES[operator], one, two))
        return self.ask((operator, one[1:3], two[1:3]))

    def every_way(self, values: list[Value], decide: Callable[[tuple[Possibility, ...]], Truth]) -> Truth:
        """A question about several values, asked for every choice of cases that are possible together."""
        if all(len(value) == 1 and not value[0].guard for value in values):
            return decide(tuple(value[0] for value in values))
        self.effort.on_choices(values)
        choices: list[tuple[Guard, tuple[Possibility, ...]]] = [(ALWAYS, ())]
        for value in values:
            choices = [
                (guard | case.guard, (*chosen, case))
                for guard, chosen in choices
                for case in value
                if not contradicts(guard, case.guard)
            ]
            if len(choices) > _MOST_CHOICES:
                return self.ask()
        found: list[tuple[Guard, bool]] = []
        for guard, chosen in choices:
            found += [(guard | more, answer) for more, answer in decide(chosen) if not contradicts(guard, more)]
        return self._simplified(found)

    def both(self, first: Truth, second: Callable[[], Truth]) -> Truth:
        """Both of two; the second is asked only where the first is true."""
        return self._bounded(conjunction(first, second))

    def one_of(self, first: Truth, second: Callable[[], Truth]) -> Truth:
        """One of two; the second is asked only where the first is false."""
        return self._bounded(disjunction(first, second))

    def _bounded(self, asked: Truth) -> Truth:
        """The answers, which are more with each question; of too many nothing is known."""
        self.effort.spent += len(asked)
        return asked if len(asked) <= _MOST_ANSWERS else self.ask()

    def either(self, one: Truth, two: Truth) -> Truth:
        """Whether one of two is true."""
        return self._simplified(disjunction(one, lambda: two))

    def _simplified(self, asked: Iterable[tuple[Guard, bool]]) -> Truth:
        cases = merged([Possibility(guard, "0" if answer else "1") for guard, answer in asked], None)
        if any(case.symbols for case in cases):
            return self.ask()
        return tuple((case.guard, case.text == "0") for case in cases)
