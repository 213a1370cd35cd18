"""Conditions on settings, as the data of a model state them: `run_nml.iforcing == 3 and nwp_phy_nml.inwp_satad == 0`.

The language is that of `nmlgen.expression`. `group.variable` is the element of a variable for the domain at hand,
`group.base%component` that of a derived
type. In `any(...)` and `all(...)` it is each element in turn that somebody gave. `given(group.variable)` tells whether
a value that is not blank was written, `blank` whether the value in force is blank, `names` counts the elements before
the first blank one, `first` is the first of all, `here` the one at hand and `next` the one behind it, each at its
default where the array is given in part, `rises` tells whether positive elements ascend, `seconds` is the length of a
duration, `dated` tells whether a text is an instant, `suffix` what stands behind the last dot of a name;
`requested("name")` tells whether a name stands in a varlist. Texts are compared without case and blanks at their ends.

What is not known is None, and so is all that depends on it: `unknown or true` is true, `unknown and true` is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

from nmlgen.expression import ExpressionError, Parser, Term, conjunction, disjunction, tokens
from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration
from nmlgen.values import frozen

Name = tuple[str, str]
"""A group and a variable of it."""

_TEXTS = re.compile(r""""[^"]*"|'[^']*'""")
_VARIABLES = re.compile(r"(?<!\w)([A-Za-z_]\w*)\.([A-Za-z_]\w*(?:%[A-Za-z_]\w*)?)")
_NUMBERS = frozenset((int, float, bool))


class Facts(Protocol):
    """What a condition is asked of."""

    def value(self, group: str, name: str) -> Any:
        """The element of a variable for the domain or the place at hand; None if it is not known."""

    def values(self, group: str, name: str) -> list[Any] | None:
        """The elements of a variable from the first on; None if they are not known."""

    def at(self, place: int) -> Facts:
        """The same at another element, counted from 1."""

    def element(self, group: str, name: str, ahead: int) -> Any:
        """The element at hand or so many ahead of it, its default where the array is given in part; None if it is not
        known."""

    def places(self, group: str, name: str) -> int:
        """How many elements somebody gave, or have defaults of their own."""

    def given(self, group: str, name: str) -> bool | None:
        """Whether somebody wrote a value that is not blank."""

    def symbol(self, name: str) -> Any:
        """What a bare name stands for, such as `domain`; None if it is not known."""

    def requested(self, name: str) -> bool | None:
        """Whether a name stands in a varlist."""


def evaluate(condition: str, facts: Facts) -> Any:
    """The value of a condition; None if it is not known."""
    return _read(condition).value(facts)


@lru_cache(maxsize=4096)
def variables(condition: str) -> tuple[Name, ...]:
    """The group and the name of each variable in a condition, in the order of writing."""
    return tuple(dict.fromkeys(_VARIABLES.findall(_TEXTS.sub("", condition))))


def at_fault(condition: str, facts: Facts, variable: Name) -> int | None:
    """The first element, counted from 1, for which an `any(...)` holds that names a variable; None if there is none."""
    looks = (look for look in _read(condition).looks if variable in look.inside)
    found = (next((place for place, truth in look.truths(facts) or () if truth), None) for look in looks)
    return next((place for place in found if place is not None), None)


_MOST_PLACES = 1_000
"""A bound on work: what is asked of each element may look at all others."""


@frozen(eq=False)
class _Look:
    """What is asked of each element in turn, of the variables `inside`; of those that are `filled` the elements that
    nobody gave count, too."""

    truth: Callable[[Facts], bool | None]
    inside: tuple[Name, ...]
    filled: tuple[Name, ...]

    def truths(self, facts: Facts) -> Iterable[tuple[int, bool | None]] | None:
        """What holds of each place; None where it is not known how many there are."""
        lists = [facts.values(*variable) for variable in self.inside]
        if None in lists:
            return None
        given = max((len(values) for values in lists if values), default=0)
        count = min(_MOST_PLACES, max([given, *(facts.places(*variable) for variable in self.filled)]))
        return ((place, self.truth(facts.at(place))) for place in range(1, count + 1))


@frozen(eq=False)
class _Condition:
    """A condition that was read, and what it looks for with `any(...)`."""

    value: Term
    looks: tuple[_Look, ...]


@lru_cache(maxsize=4096)
def _read(condition: str) -> _Condition:
    parser = _OfSettings(condition)
    return _Condition(parser.whole(), tuple(parser.looks))


class _OfSettings(Parser):
    """A name is a variable, or a word of the model; what is not known, or cannot be worked out, is None."""

    token_pattern = tokens(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*(?:%[A-Za-z_]\w*)?)?")

    def __init__(self, text: str) -> None:
        self.looks: list[_Look] = []
        self._inside: list[Name] = []
        self._filled: list[Name] = []
        super().__init__(text)

    def name(self, name: str) -> Term:
        if "." not in name:
            return lambda facts: facts.symbol(name)
        variable = self._variable(name)
        return lambda facts: facts.value(*variable)

    def call(self, name: str) -> Term | None:
        self.expect("(")
        if name in _OVER_ELEMENTS:
            term = self._over_elements(name)
        elif name == "requested" and self.kind == "text":
            wanted = self.advance()[1:-1]
            term = lambda facts: facts.requested(wanted)  # noqa: E731
        elif name in _OF_VARIABLES and self.kind == "name" and "." in self.token:
            term = self._of_variable(name, *self._variable(self.advance()))
        else:
            raise self.unexpected()
        self.expect(")")
        return term

    def literal(self, text: str) -> str:
        return text.strip().lower()

    @staticmethod
    def truth(value: Any) -> bool | None:
        return None if value is None else bool(value)

    @staticmethod
    def apply(function: Callable[..., Any], *values: Any) -> Any:
        for value in values:
            if value is None or (isinstance(value, list) and None in value):
                return None
        try:
            return function(*map(_folded, values))
        except ExpressionError:  # a text beside a number: ICON will say so
            return None

    def _joined(self, join: Callable[[Any, Any], Any], left: Term, right: Term) -> Term:
        apply = self.apply

        def value(facts: Facts) -> Any:
            one = left(facts)
            if one is None:
                return None
            other = right(facts)
            if type(one) not in _NUMBERS or type(other) not in _NUMBERS:
                return apply(join, one, other)
            try:
                return join(one, other)  # as a rule: nothing to fold
            except ExpressionError:
                return None

        return value

    def _variable(self, name: str) -> Name:
        group, _, variable = name.partition(".")
        self._inside.append((group, variable))
        return group, variable

    def _over_elements(self, name: str) -> Term:
        outer, self._inside, self._filled = (self._inside, self._filled), [], []
        term, truth = self.choice(), self.truth
        look = _Look(lambda facts: truth(term(facts)), tuple(self._inside), tuple(self._filled))
        self._inside, self._filled = [*outer[0], *look.inside], [*outer[1], *look.filled]
        if name == "any":
            self.looks.append(look)
        join = _OVER_ELEMENTS[name]
        return lambda facts: None if (found := look.truths(facts)) is None else join(truth for _, truth in found)

    def _of_variable(self, name: str, group: str, variable: str) -> Term:
        if name == "given":
            return lambda facts: facts.given(group, variable)
        if name in _AHEAD:
            self._filled.append((group, variable))
            ahead = _AHEAD[name]
            return lambda facts: facts.element(group, variable, ahead)
        return _of_list(_OF_VARIABLES[name], group, variable)


def _of_list(work_out: Callable[[list[Any]], Any], group: str, variable: str) -> Term:
    """What is worked out of a whole list. Asked again of the same list, as for each element of another one, it is not
    worked out anew."""
    last: tuple[list[Any] | None, Any] = None, None

    def value(facts: Facts) -> Any:
        nonlocal last
        values = facts.values(group, variable)
        if values is None:
            return None
        if last[0] is not values:
            last = values, work_out(values)
        return last[1]

    return value


def _folded(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _is_blank(values: list[Any]) -> bool:
    return not any(str(value).strip() for value in values)


def _names(values: list[Any]) -> int:
    """How many come before the first that is blank."""
    return next((number for number, value in enumerate(values) if not str(value).strip()), len(values))


def _rises(values: list[Any]) -> bool:
    """Whether the positive ones come in ascending order."""
    positive = [value for value in values if value > 0]
    return all(one < next_one for one, next_one in pairwise(positive))


def _seconds(values: list[Any]) -> float | None:
    """The length of a duration such as PT30M; none for a blank text."""
    text = str(values[0]).strip()
    try:
        return Duration.parse(text).seconds if text else 0.0
    except ValueError:
        return None


def _dated(values: list[Any]) -> bool:
    """Whether a text is an instant such as 2008-09-01T00:00:00Z."""
    try:
        Instant.parse(str(values[0]).rstrip() if values else "")
    except ValueError:
        return False
    return True


def _suffix(values: list[Any]) -> str:
    """What stands behind the last dot of a name, in lower case; the name where there is no dot."""
    return str(values[0]).strip().lower().rpartition(".")[2] if values else ""


_OF_VARIABLES: Mapping[str, Callable[[list[Any]], Any]] = {
    "given": _is_blank,  # asked of the facts instead
    "here": _is_blank,
    "next": _is_blank,
    "blank": _is_blank,
    "first": lambda values: _folded(values[0]) if values else None,
    "names": _names,
    "rises": _rises,
    "seconds": _seconds,
    "dated": _dated,
    "suffix": _suffix,
}
_AHEAD = {"here": 0, "next": 1}
_OVER_ELEMENTS = {"any": disjunction, "all": conjunction}
