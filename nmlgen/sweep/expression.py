"""Expressions over the values of a point: conditions, derived values, the braces of a name.

    num_io_procs > 0 and nodes in [1, 2]
    min(job.nodes * job.ntasks_per_node // 16, 32)
    'P' + days + 'D'

Numbers, quoted text, true, false, null, lists; names; + - * / // %, comparisons, `in`, `not in`, `and`, `or`, `not`,
`a if condition else b`, min and max. Nothing else can be said, and nothing is executed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache
from math import inf, isfinite
from typing import Any

from nmlgen.values import frozen

Names = Callable[[str], Any]
"""Gives the value of a name; raises ExpressionError for one that nobody knows."""

_MAXIMUM_LENGTH = 1000
_MAXIMUM_DEPTH = 50
_MAXIMUM_DIGITS = 40  # of a whole number, as in a spec
_MAXIMUM_TEXT = 10_000  # characters of a text
_MAXIMUM_LIST = 1000  # values in a list, those of lists within it among them
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|(?P<name>[A-Za-z_]\w*(?:\.\w+)*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>//|<=|>=|==|!=|[-+*/%<>()\[\],]))",
    re.ASCII,
)
_CONSTANTS = {"true": True, "false": False, "null": None}
_WORDS = {"and", "or", "not", "in", "if", "else"}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SUMS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub}
_PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": min, "max": max}


class ExpressionError(ValueError):
    """An expression that cannot be read, or has no value; `column` counts from 1 in its text."""

    def __init__(self, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.column = column


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
    if len(text) > _MAXIMUM_LENGTH:
        raise ExpressionError(f"an expression has at most {_MAXIMUM_LENGTH} characters")
    parser = _Parser(text)
    value = parser.choice()
    if parser.kind != "end":
        raise parser.unexpected()
    return Expression(text, tuple(dict.fromkeys(parser.names)), value)


class _Parser:
    """Recursive descent; each method makes a function of the names."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[str] = []
        self._offset = self._depth = 0
        self._advance()

    def unexpected(self) -> ExpressionError:
        """What to say of a token that cannot stand where it stands."""
        if self.kind == "end":
            return ExpressionError(f'"{self.text}" ends too early', self.column)
        return ExpressionError(f'"{self.token}" is not understood in "{self.text}"', self.column)

    def choice(self) -> Callable[[Names], Any]:
        """`a if condition else b`, or what binds more closely."""
        self._depth += 1
        if self._depth > _MAXIMUM_DEPTH:
            raise ExpressionError("an expression of that many brackets is not read", self.column)
        value = self._either()
        if self._take("if"):
            condition = self._either()
            self._expect("else")
            then, otherwise = value, self.choice()
            value = lambda names: then(names) if _truth(condition(names)) else otherwise(names)  # noqa: E731
        self._depth -= 1
        return value

    def _either(self) -> Callable[[Names], Any]:
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda names: any(_truth(part(names)) for part in parts)

    def _both(self) -> Callable[[Names], Any]:
        parts = [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else lambda names: all(_truth(part(names)) for part in parts)

    def _negation(self) -> Callable[[Names], Any]:
        negative = False
        while self._take("not"):
            negative = not negative
        part = self._comparison()
        return (lambda names: not _truth(part(names))) if negative else part

    def _comparison(self) -> Callable[[Names], Any]:
        left = self._sum()
        if self._take("in"):
            right = self._sum()
            return lambda names: _is_in(left(names), right(names))
        if self._take("not"):
            self._expect("in")
            right = self._sum()
            return lambda names: not _is_in(left(names), right(names))
        pairs = []
        while self.token in _COMPARISONS and self.kind == "sign":
            sign = self._advance()
            right = self._sum()
            pairs.append((sign, left, right))
            left = right
        if not pairs:
            return left
        return lambda names: all(_compared(sign, one(names), other(names)) for sign, one, other in pairs)

    def _sum(self) -> Callable[[Names], Any]:
        return self._chain(_SUMS, self._product)

    def _product(self) -> Callable[[Names], Any]:
        return self._chain(_PRODUCTS, self._signed)

    def _chain(
        self, signs: dict[str, Callable[[Any, Any], Any]], part: Callable[[], Callable[[Names], Any]]
    ) -> Callable[[Names], Any]:
        value = part()
        while self.kind == "sign" and self.token in signs:
            value = _joined(self._advance(), signs, value, part())
        return value

    def _signed(self) -> Callable[[Names], Any]:
        negative = False
        while self.token in ("-", "+") and self.kind == "sign":
            negative ^= self._advance() == "-"
        value = self._atom()
        return (lambda names: -_number(value(names), "-")) if negative else value

    def _atom(self) -> Callable[[Names], Any]:
        kind, token = self.kind, self.token
        if kind == "number":
            self._advance()
            number = _held(float(token) if re.search(r"[.eE]", token) else int(token), token[:_MAXIMUM_DIGITS])
            return lambda _: number
        if kind == "text":
            self._advance()
            return lambda _: token[1:-1]
        if kind == "name" and token not in _WORDS:
            self._advance()
            return self._name(token)
        if self._take("("):
            value = self.choice()
            self._expect(")")
            return value
        if self._take("["):
            elements = self._list("]")
            return lambda names: _held([element(names) for element in elements], "[...]")
        raise self.unexpected()

    def _name(self, name: str) -> Callable[[Names], Any]:
        if name in _CONSTANTS:
            return lambda _: _CONSTANTS[name]
        if name in _FUNCTIONS and self._take("("):
            arguments = self._list(")")
            if not arguments:
                raise ExpressionError(f"{name}() has no arguments", self.column)
            return lambda names: _FUNCTIONS[name](_number(argument(names), name) for argument in arguments)
        self.names.append(name)
        return lambda names: names(name)

    def _list(self, end: str) -> list[Callable[[Names], Any]]:
        elements: list[Callable[[Names], Any]] = []
        while not self._take(end):
            if elements:
                self._expect(",")
            elements.append(self.choice())
        return elements

    def _take(self, token: str) -> bool:
        if self.token != token or self.kind not in ("name", "sign"):
            return False
        self._advance()
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self.unexpected()

    def _advance(self) -> str:
        """Go to the next token; returns the one that was left."""
        left = getattr(self, "token", "")
        match = _TOKEN.match(self.text, self._offset)
        rest = self.text[self._offset :]
        if match is not None:
            self.kind, self.token = str(match.lastgroup), str(match[str(match.lastgroup)])
            self.column = match.start(str(match.lastgroup)) + 1
            self._offset = match.end()
        elif not rest.strip():
            self.kind, self.token, self.column = "end", "", len(self.text) + 1
        else:
            self.column = len(self.text) - len(rest.lstrip()) + 1
            raise ExpressionError(f'"{rest.strip()[0]}" is not understood in "{self.text}"', self.column)
        return left


def _joined(
    sign: str,
    signs: dict[str, Callable[[Any, Any], Any]],
    left: Callable[[Names], Any],
    right: Callable[[Names], Any],
) -> Callable[[Names], Any]:
    apply = signs[sign]

    def value(names: Names) -> Any:
        one, other = left(names), right(names)
        if sign == "+" and isinstance(one, str) != isinstance(other, str):
            one, other = text_of(one), text_of(other)  # each is short
        elif not (sign == "+" and isinstance(one, str)):
            _number(one, sign)
            _number(other, sign)
        try:
            result = apply(one, other)
        except ZeroDivisionError:
            raise ExpressionError(f"{one} {sign} {other} divides by zero") from None
        except OverflowError:
            result = inf
        return _held(result, f"{one} {sign} {other}" if not isinstance(result, str) else f"... {sign} ...")

    return value


def _held(value: Any, said: str) -> Any:
    """The value of what was `said`, if a setting could hold it: what is doubled again and again ends here."""
    if isinstance(value, float) and not isfinite(value):
        raise ExpressionError(f"{said} is larger than any number")
    if isinstance(value, int) and abs(value) >= 10**_MAXIMUM_DIGITS:
        raise ExpressionError(f"{said[:_MAXIMUM_DIGITS]} has more than {_MAXIMUM_DIGITS} digits")
    if isinstance(value, str) and len(value) > _MAXIMUM_TEXT:
        raise ExpressionError(f"{said} has more than {_MAXIMUM_TEXT} characters")
    if isinstance(value, list) and _count(value) > _MAXIMUM_LIST:
        raise ExpressionError(f"{said} has more than {_MAXIMUM_LIST} values")
    return value


def _count(value: Any) -> int:
    return sum(1 + _count(element) for element in value) if isinstance(value, list) else 0


def text_of(value: Any) -> str:
    """A value as it stands in a text: true rather than True."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "-".join(map(text_of, value))
    return "null" if value is None else str(value)


def _number(value: Any, sign: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ExpressionError(f"{value!r} is not a number, and {sign} takes numbers")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ExpressionError(f"{value!r} is neither true nor false")
    return value


def _is_in(value: Any, container: Any) -> bool:
    if isinstance(container, str) and isinstance(value, str):
        return value in container
    if not isinstance(container, list):
        raise ExpressionError(f"{container!r} is not a list, and `in` looks into lists")
    return any(_compared("==", value, element) for element in container)


def _compared(sign: str, one: Any, other: Any) -> bool:
    """Compared as a reader would: a boolean is no number, and null equals null only."""
    if isinstance(one, bool) != isinstance(other, bool):
        return sign == "!="
    try:
        return bool(_COMPARISONS[sign](one, other))
    except TypeError:
        raise ExpressionError(f"{one!r} {sign} {other!r} compares values of two kinds") from None
