"""Expressions over the values of a point: conditions, derived values, the braces of a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from nmlgen.expression import ExpressionError, Parser, Term
from nmlgen.values import frozen

Names = Callable[[str], Any]
"""Gives the value of a name; raises ExpressionError for one that nobody knows."""


@frozen(eq=False)
class Expression:
    """An expression that was read: the names in it, in the order of writing, and `value` of given names."""

    text: str
    names: tuple[str, ...]
    value: Callable[[Names], Any]

    def holds(self, names: Names) -> bool:
        """The value of a condition; raises ExpressionError for a value that is not true or false."""
        value = self.value(names)
        if not isinstance(value, bool):
            raise ExpressionError(f'"{self.text}" is {value!r}, and a condition is true or false')
        return value


@lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """Read an expression; raises ExpressionError."""
    parser = _OfPoints(text)
    value = parser.whole()
    return Expression(text, tuple(dict.fromkeys(parser.names)), value)


class _OfPoints(Parser):
    """Notes the names, whose values are asked for one by one."""

    def __init__(self, text: str) -> None:
        self.names: list[str] = []
        super().__init__(text)

    def name(self, name: str) -> Term:
        self.names.append(name)
        return lambda names: names(name)
