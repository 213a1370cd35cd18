"""What a variable of a shell may hold: texts, each under the conditions that lead to it.

A value is a row of cases that between them cover every way the script may have gone. The text of a case may hold
stretches that nobody can know: the character `UNKNOWN` stands for each, and `symbols` tells them apart, so that the
same unknown thing is known to be the same. The conditions of a case are its guard: the answers to questions that only a
run of the script answers, under which the case holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Set
from itertools import product
from typing import NamedTuple, TypeAlias

from nmlgen.source import UNKNOWN, Text

_MOST_CASES = 16
_MOST_CHARACTERS = 1_000_000
_MOST_SYMBOLS = 200

Guard: TypeAlias = frozenset[int]
"""Answers to questions, all of which must hold: the number of a question, negative where the answer is no."""

ALWAYS: Guard = frozenset()
_NONE: frozenset[str] = frozenset()


class Place(NamedTuple):
    """Where something stands: the offset `start` up to `end` of a text."""

    text: Text
    start: int
    end: int


class Possibility(NamedTuple):
    """One text that a value may be, and when. `is_set` is false where the variable is not set, None where that is not
    known.

    `unset` are the variables that nothing sets and whose absence went into the text; `origin` is where the text
    was assigned.
    """

    guard: Guard
    text: str
    symbols: tuple[Hashable, ...] = ()
    is_set: bool | None = True
    unset: frozenset[str] = frozenset()
    origin: Place | None = None


Value: TypeAlias = tuple[Possibility, ...]

EMPTY: Value = (Possibility(ALWAYS, ""),)


def known(text: str) -> Value:
    """A value that is certainly `text`."""
    return (Possibility(ALWAYS, text if UNKNOWN not in text else text.replace(UNKNOWN, "?")),)


def unknown(symbol: Hashable) -> Value:
    """A value of which nothing is known; `symbol` tells it from others."""
    return (Possibility(ALWAYS, UNKNOWN, (symbol,)),)


def unset(name: str) -> Value:
    """The value of a variable that nothing sets: no text at all."""
    return (Possibility(ALWAYS, "", (), False, frozenset((name,))),)


def text_of(value: Value) -> str | None:
    """The text, if there is only one and all of it is known; None otherwise."""
    first = value[0]
    if first.symbols:
        return None
    if len(value) == 1:
        return first.text
    return first.text if all(case.text == first.text and not case.symbols for case in value) else None


def contradicts(guard: Set[int], other: Set[int]) -> bool:
    """Whether two guards cannot hold at once: they give opposite answers to a question."""
    if not guard or not other:
        return False
    if len(guard) > len(other):
        guard, other = other, guard
    for answer in guard:  # a generator would take twice the time  # noqa: SIM110
        if -answer in other:
            return True
    return False


def within(value: Value, guard: Guard) -> Value:
    """The cases of a value that are possible where `guard` holds."""
    if len(value) == 1 or not guard:
        return value
    return tuple(case for case in value if not contradicts(case.guard, guard)) or value


def under(value: Value, guard: Guard) -> Value:
    """A value whose cases hold only where `guard` does."""
    return tuple(case._replace(guard=case.guard | guard) for case in value) if guard else value


def restricted(value: Value, guard: Guard) -> Value:
    """What of a value is possible where `guard` holds, and holds only there; nothing where none of it is."""
    return tuple(case._replace(guard=case.guard | guard) for case in value if not contradicts(case.guard, guard))


def merged(cases: Iterable[Possibility], fallback: Hashable) -> Value:
    """The cases as a value: those that differ only in the answer to one question become one.

    Of too many cases only one remains, of which nothing is known; `fallback` is its symbol.
    """
    rest = list(cases)
    done: list[Possibility] = []
    while rest:
        case = rest.pop()
        for number, other in enumerate(done):
            if other[1:3] != case[1:3] or other.is_set != case.is_set:
                continue
            guard = _united(case.guard, other.guard)
            if guard is not None:
                del done[number]
                origin = case.origin if case.origin == other.origin else None
                rest.append(Possibility(guard, case.text, case.symbols, case.is_set, case.unset | other.unset, origin))
                break
        else:
            done.append(case)
    if len(done) <= _MOST_CASES:
        return tuple(reversed(done))
    texts = {case[1:4] for case in done}
    if len(texts) <= _MOST_CASES:  # the texts are few: forget what leads to them
        return tuple(Possibility(ALWAYS, *rest) for rest in dict.fromkeys(case[1:4] for case in done))
    return unknown(fallback)


def _united(guard: Guard, other: Guard) -> Guard | None:
    """The guard that holds where one of the two does, if there is one: equal but for an opposite answer, or one
    of them within the other."""
    if guard <= other:
        return guard
    if other <= guard:
        return other
    mine, others = guard - other, other - guard
    if len(mine) == len(others) == 1 and next(iter(mine)) == -next(iter(others)):
        return guard & other
    return None


def joined(values: list[Value], fallback: Hashable) -> Value:
    """The texts of several values, one after the other."""
    if len(values) == 1:
        return values[0]
    if all(len(value) == 1 for value in values):
        cases = [value[0] for value in values]
        if not any(case.guard for case in cases):
            return (_concatenated(cases, fallback),)
    return combined(values, lambda cases: _concatenated(cases, fallback), fallback)


def _concatenated(cases: Collection[Possibility], fallback: Hashable) -> Possibility:
    text = "".join([case.text for case in cases])
    symbols: tuple[Hashable, ...] = tuple([symbol for case in cases for symbol in case.symbols])
    missing = _NONE.union(*[case.unset for case in cases if case.unset])
    if len(symbols) > _MOST_SYMBOLS or len(text) > _MOST_CHARACTERS:
        text, symbols = UNKNOWN, (fallback,)
    return Possibility(ALWAYS, text, symbols, True, missing)


def combined(values: list[Value], make: Callable[[tuple[Possibility, ...]], Possibility], fallback: Hashable) -> Value:
    """What `make` gives for every choice of cases that are possible together; it need not care for guards."""
    count = 1
    for value in values:
        count *= len(value)
    if count > _MOST_CASES * _MOST_CASES:
        return unknown(fallback)
    found = []
    for choice in product(*values):
        guard: Guard = ALWAYS
        for case in choice:
            if contradicts(guard, case.guard):
                break
            guard |= case.guard
        else:
            made = make(choice)
            missing = made.unset.union(*(case.unset for case in choice))
            found.append(made._replace(guard=made.guard | guard, unset=missing))
    return merged(found, fallback) if found else unknown(fallback)


def mapped(value: Value, change: Callable[[str], str | None], symbol: Hashable) -> Value:
    """A value with its texts changed; what is not known or cannot be changed becomes unknown."""
    cases = []
    for case in value:
        text = None if case.symbols else change(case.text)
        if text is None:
            cases.append(case._replace(text=UNKNOWN, symbols=(symbol,)))
        else:
            cases.append(case._replace(text=text))
    return tuple(cases) if len(cases) == 1 else merged(cases, symbol)


def may_equal(text: str, other: str) -> bool:
    """Whether a text with unknown stretches may be a known one."""
    first, *rest = text.split(UNKNOWN)
    if not rest:
        return text == other
    *inner, last = rest
    if len(first) + len(last) > len(other) or not other.startswith(first) or not other.endswith(last):
        return False
    at, end = len(first), len(other) - len(last)
    for part in inner:  # the first place is as good as any: what follows has the most room there
        at = other.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True
