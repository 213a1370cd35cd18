"""Conditions on settings, as the data of a model state them: `run_nml.iforcing == 3 and nwp_phy_nml.inwp_satad == 0`.

A condition is written with the words `and`, `or`, `not` and `in`, comparisons, sums, products, numbers, "texts" and
lists. `group.variable` is the element of a variable for the domain at hand, `group.base%component` that of a derived
type. In `any(...)` and `all(...)` it is each element in turn that somebody gave. `given(group.variable)` tells whether
a value that is not blank was written, `blank` whether the value in force is blank, `names` counts the elements before
the first blank one, `first` is the first of all, `here` the one at hand and `next` the one behind it, each at its
default where the array is given in part, `rises` tells whether positive elements ascend, `seconds` is the length of a
duration, `dated` tells whether a text is an instant, `suffix` what stands behind the last dot of a name;
`requested("name")` tells whether a name stands in a varlist. Texts are compared without case and blanks at their ends.

What is not known is None, and so is all that depends on it: `unknown or true` is true, `unknown and true` is unknown.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

from nmlgen.units.calendar import Instant
from nmlgen.units.duration import Duration

Term = Callable[["Facts"], Any]

_TEXTS = re.compile(r""""[^"]*"|'[^']*'""")
_VARIABLES = re.compile(r"(?<!\w)([A-Za-z_]\w*)\.([A-Za-z_]\w*(?:%[A-Za-z_]\w*)?)")


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
    return _compiled(condition)(facts)


@lru_cache(maxsize=4096)
def variables(condition: str) -> tuple[tuple[str, str], ...]:
    """The group and the name of each variable in a condition, in the order of writing."""
    return tuple(dict.fromkeys(_VARIABLES.findall(_TEXTS.sub("", condition))))


def _variable(node: ast.AST) -> tuple[str, str] | None:
    """`group.variable`, or `group.base%component`, which Python takes for a remainder."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Name):
        base = _variable(node.left)
        return None if base is None else (base[0], f"{base[1]}%{node.right.id}")
    return None


@lru_cache(maxsize=4096)
def _compiled(condition: str) -> Term:
    return _term(ast.parse(condition, mode="eval").body)


def _term(node: ast.AST) -> Term:
    variable = _variable(node)
    if variable is not None:
        group, name = variable
        return lambda facts: facts.value(group, name)
    kind = type(node).__name__
    if kind not in _TERMS:
        raise ValueError(f"a condition has no {kind}")
    return _TERMS[kind](node)


def _constant(node: Any) -> Term:
    value = node.value.lower().strip() if isinstance(node.value, str) else node.value
    return lambda facts: value


def _name(node: Any) -> Term:
    name: str = node.id
    if name in _WORDS:
        return lambda facts: _WORDS[name]
    return lambda facts: facts.symbol(name)


def _list(node: Any) -> Term:
    terms = [_term(element) for element in node.elts]
    return lambda facts: [term(facts) for term in terms]


def _both(node: Any) -> Term:
    terms = [_term(value) for value in node.values]
    decides = isinstance(node.op, ast.Or)

    def both(facts: Facts) -> bool | None:
        is_known = True
        for term in terms:
            value = term(facts)
            if value is None:
                is_known = False
            elif bool(value) is decides:
                return decides
        return not decides if is_known else None

    return both


def _unary(node: Any) -> Term:
    term = _term(node.operand)
    change = _UNARY[type(node.op)]
    return lambda facts: None if (value := term(facts)) is None else change(value)


def _binary(node: Any) -> Term:
    left, right, join = _term(node.left), _term(node.right), _ARITHMETIC[type(node.op)]
    return lambda facts: _joined(join, left(facts), right(facts))


def _compare(node: Any) -> Term:
    terms = [_term(part) for part in (node.left, *node.comparators)]
    joins = [_COMPARISONS[type(part)] for part in node.ops]
    if len(joins) == 1:
        (left, right), join = terms, joins[0]
        if isinstance(node.comparators[0], ast.Constant):
            value = _folded(node.comparators[0].value)
            return lambda facts: _joined(join, _folded(left(facts)), value)
        return lambda facts: _joined(join, _folded(left(facts)), _folded(right(facts)))

    def compared(facts: Facts) -> bool | None:
        values = [_folded(term(facts)) for term in terms]
        return _all(_joined(join, *pair) for join, pair in zip(joins, pairwise(values), strict=True))

    return compared


def _joined(join: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if left is None or right is None or (isinstance(right, list) and None in right):
        return None
    try:
        return join(left, right)
    except (TypeError, ArithmeticError):  # a text beside a number: ICON will say so
        return None


def _folded(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _call(node: Any) -> Term:
    called: str = node.func.id
    argument = node.args[0]
    if called == "requested":
        name = argument.value
        return lambda facts: facts.requested(name)
    if called in _OVER_ELEMENTS:
        return _over_elements(argument, _OVER_ELEMENTS[called])
    found = _variable(argument)
    if found is None or called not in _OF_VARIABLES:
        raise ValueError(f"a condition has no {called}() of this")
    group, variable = found
    if called == "given":
        return lambda facts: facts.given(group, variable)
    if called in _AHEAD:
        ahead = _AHEAD[called]
        return lambda facts: facts.element(group, variable, ahead)
    work_out = _OF_VARIABLES[called]
    return lambda facts: None if (values := facts.values(group, variable)) is None else work_out(values)


def _over_elements(argument: ast.AST, join: Callable[[Iterator[Any]], bool | None]) -> Term:
    term, inside, filled = _term(argument), _variables_in(argument), _filled_in(argument)

    def joined(facts: Facts) -> bool | None:
        count = _count(facts, inside, filled)
        return None if count is None else join(term(facts.at(place)) for place in range(1, count + 1))

    return joined


def _variables_in(node: ast.AST) -> tuple[tuple[str, str], ...]:
    return variables(ast.unparse(node).replace(" % ", "%"))


def _filled_in(node: ast.AST) -> tuple[tuple[str, str], ...]:
    """The variables of which the elements that nobody gave count, too."""
    found = (
        _variable(call.args[0])
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _AHEAD
    )
    return tuple(one for one in found if one is not None)


def _count(facts: Facts, inside: Iterable[tuple[str, str]], filled: Iterable[tuple[str, str]]) -> int | None:
    """How many elements are looked at; None where they are not known."""
    lists = [facts.values(*variable) for variable in inside]
    if None in lists:
        return None
    given = max((len(values) for values in lists if values), default=0)
    return max([given, *(facts.places(*variable) for variable in filled)])


def at_fault(condition: str, facts: Facts, variable: tuple[str, str]) -> int | None:
    """The first element, counted from 1, for which an `any(...)` holds that names a variable; None if there is none."""
    for node in ast.walk(ast.parse(condition, mode="eval")):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "any"):
            continue
        inside = _variables_in(node.args[0])
        count = _count(facts, inside, ()) if variable in inside else None
        term = _term(node.args[0])
        found = next((place for place in range(1, (count or 0) + 1) if term(facts.at(place))), None)
        if found is not None:
            return found
    return None


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


_WORDS = {"true": True, "false": False}
_TERMS: Mapping[str, Callable[[Any], Term]] = {
    "Constant": _constant,
    "Name": _name,
    "List": _list,
    "BoolOp": _both,
    "UnaryOp": _unary,
    "BinOp": _binary,
    "Compare": _compare,
    "Call": _call,
}
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
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.Not: operator.not_, ast.USub: operator.neg}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, among: value in among,
    ast.NotIn: lambda value, among: value not in among,
}


def _all(values: Iterator[Any]) -> bool | None:
    """The and of truths that may be unknown."""
    unknown = False
    for value in values:
        if value is None:
            unknown = True
        elif not value:
            return False
    return None if unknown else True


def _any(values: Iterator[Any]) -> bool | None:
    """The or of truths that may be unknown."""
    unknown = False
    for value in values:
        if value is None:
            unknown = True
        elif value:
            return True
    return None if unknown else False


_OVER_ELEMENTS = {"any": _any, "all": _all}
