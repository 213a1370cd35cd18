"""The language of expressions: conditions and derived values of a sweep, and what the data of a model say of settings.

    num_io_procs > 0 and nodes in [1, 2]
    min(job.nodes * job.ntasks_per_node // 16, 32)
    run_nml.iforcing == 3 and any(domain > 1 and nwp_phy_nml.inwp_gscp == 4)

Numbers, quoted text, true, false, null, lists; names; + - * / // %, comparisons, `in`, `not in`, `and`, `or`, `not`,
`a if condition else b`, min and max. Nothing else can be said, and nothing is executed. What names stand for, which
functions there are beside and what becomes of a value that is not known is told where the language is spoken, by a
`Parser` of its own: `nmlgen.sweep.expression` and `nmlgen.experiment.condition`.
"""

from __future__ import annotations

import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf, isfinite
from typing import Any

Term = Callable[[Any], Any]
"""The value of a part of an expression, by what its names stand for."""

_MAXIMUM_LENGTH = 1000
_MAXIMUM_DEPTH = 50
_MAXIMUM_DIGITS = 40  # of a whole number, as in a spec
_TOO_LARGE = 10**_MAXIMUM_DIGITS
_MAXIMUM_TEXT = 10_000  # characters of a text
_MAXIMUM_LIST = 1000  # values in a list, those of lists within it among them
_CONSTANTS = {"true": True, "false": False, "null": None}
_WORDS = {"and", "or", "not", "in", "if", "else"}
_NAME = r"[A-Za-z_]\w*(?:\.\w+)*"


class ExpressionError(ValueError):
    """An expression that cannot be read, or has no value; `column` counts from 1 in its text."""

    def __init__(self, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.column = column


def tokens(name: str = _NAME) -> re.Pattern[str]:
    """What one token is where names are written so."""
    return re.compile(
        rf"\s*(?:(?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)|(?P<name>{name})"
        r"|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>//|<=|>=|==|!=|[-+*/%<>()\[\],]))",
        re.ASCII,
    )


class Parser(ABC):
    """Reads an expression by recursive descent; each method makes a function of what the names stand for."""

    token_pattern = tokens()

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = self.token = ""
        self.column = 1
        self._offset = self._depth = 0
        if len(text) > _MAXIMUM_LENGTH:
            raise ExpressionError(f"an expression has at most {_MAXIMUM_LENGTH} characters")
        self.advance()

    @abstractmethod
    def name(self, name: str) -> Term:
        """What a name stands for; the token behind it is the next one."""

    def call(self, name: str) -> Term | None:
        """The value of a function, behind its name and the bracket; None where there is none of that name."""
        return None

    def literal(self, text: str) -> Any:
        """The value of a quoted text."""
        return text

    @staticmethod
    def truth(value: Any) -> bool | None:
        """Whether a value is true; None where that is not known."""
        if not isinstance(value, bool):
            raise ExpressionError(f"{value!r} is neither true nor false")
        return value

    @staticmethod
    def apply(function: Callable[..., Any], *values: Any) -> Any:
        """What a sign or a function makes of values."""
        return function(*values)

    def whole(self) -> Term:
        """All of the text; raises ExpressionError."""
        value = self.choice()
        if self.kind != "end":
            raise self.unexpected()
        return value

    def unexpected(self) -> ExpressionError:
        """What to say of a token that cannot stand where it stands."""
        if self.kind == "end":
            return ExpressionError(f'"{self.text}" ends too early', self.column)
        return ExpressionError(f'"{self.token}" is not understood in "{self.text}"', self.column)

    def choice(self) -> Term:
        """`a if condition else b`, or what binds more closely."""
        self._depth += 1
        if self._depth > _MAXIMUM_DEPTH:
            raise ExpressionError("an expression of that many brackets is not read", self.column)
        value = self._junction("or", self._both)
        if self.take("if"):
            condition = self._junction("or", self._both)
            self.expect("else")
            value = self._chosen(condition, value, self.choice())
        self._depth -= 1
        return value

    def _chosen(self, condition: Term, then: Term, otherwise: Term) -> Term:
        truth = self.truth

        def chosen(given: Any) -> Any:
            holds = truth(condition(given))
            return None if holds is None else then(given) if holds else otherwise(given)

        return chosen

    def _both(self) -> Term:
        return self._junction("and", self._negation)

    def _junction(self, word: str, part: Callable[[], Term]) -> Term:
        """Parts joined by `and`, or by `or`: the first that decides it, whatever is not known of those before."""
        first = part()
        if self.token != word or self.kind != "name":  # as a rule
            return first
        parts = [first]
        while self.take(word):
            parts.append(part())
        truth, decides = self.truth, word == "or"

        def junction(given: Any) -> bool | None:
            is_known = True
            for one in parts:
                value = truth(one(given))
                if value is None:
                    is_known = False
                elif value is decides:
                    return decides
            return not decides if is_known else None

        return junction

    def _negation(self) -> Term:
        negative = False
        while self.take("not"):
            negative = not negative
        part, truth = self._comparison(), self.truth
        return (lambda given: None if (value := truth(part(given))) is None else not value) if negative else part

    def _comparison(self) -> Term:
        left = self._sum()
        if self.kind == "name":
            if self.take("in"):
                return self._joined(_is_in, left, self._sum())
            if self.take("not"):
                self.expect("in")
                return self._joined(_is_not_in, left, self._sum())
            return left
        compared: list[tuple[Callable[[Any, Any], Any], Term]] = []
        while self.kind == "sign" and self.token in _COMPARISONS:
            compared.append((_COMPARISONS[self.advance()], self._sum()))
        if not compared:
            return left
        if len(compared) == 1:
            ((join, right),) = compared
            return self._joined(join, left, right)
        apply = self.apply

        def truths(given: Any) -> Iterator[bool | None]:
            before = left(given)
            for join, right in compared:
                value = right(given)  # once, though two comparisons ask for it: within brackets they would double
                yield apply(join, before, value)
                before = value

        return lambda given: conjunction(truths(given))

    def _sum(self) -> Term:
        value = self._signed()
        if self.kind != "sign" or self.token not in _CALCULATIONS:  # as a rule
            return value
        return self._chain(_SUMS, self._product, self._chain(_PRODUCTS, self._signed, value))

    def _product(self) -> Term:
        return self._chain(_PRODUCTS, self._signed, self._signed())

    def _chain(self, signs: Mapping[str, Callable[[Any, Any], Any]], part: Callable[[], Term], value: Term) -> Term:
        while self.kind == "sign" and self.token in signs:
            value = self._joined(signs[self.advance()], value, part())
        return value

    def _joined(self, join: Callable[[Any, Any], Any], left: Term, right: Term) -> Term:
        apply = self.apply
        return lambda given: apply(join, left(given), right(given))

    def _signed(self) -> Term:
        negative = False
        while self.token in ("-", "+") and self.kind == "sign":
            negative ^= self.advance() == "-"
        value, apply = self._atom(), self.apply
        return (lambda given: apply(_negated, value(given))) if negative else value

    def _atom(self) -> Term:
        kind, token = self.kind, self.token
        if kind == "number":
            self.advance()
            number = _held(int(token) if token.isdecimal() else float(token), token[:_MAXIMUM_DIGITS])
            return lambda _: number
        if kind == "text":
            self.advance()
            text = self.literal(token[1:-1])
            return lambda _: text
        if kind == "name" and token not in _WORDS:
            self.advance()
            return self._named(token)
        if self.take("("):
            value = self.choice()
            self.expect(")")
            return value
        if self.take("["):
            elements = self._list("]")
            return lambda given: _held([element(given) for element in elements], "[...]")
        raise self.unexpected()

    def _named(self, name: str) -> Term:
        if name in _CONSTANTS:
            constant = _CONSTANTS[name]
            return lambda _: constant
        if self.token != "(" or self.kind != "sign":
            return self.name(name)
        if name in _FUNCTIONS:
            self.advance()
            arguments, function, apply = self._list(")"), _FUNCTIONS[name], self.apply
            if not arguments:
                raise ExpressionError(f"{name}() has no arguments", self.column)
            return lambda given: apply(function, *(argument(given) for argument in arguments))
        return self.call(name) or self.name(name)

    def _list(self, end: str) -> list[Term]:
        elements: list[Term] = []
        while not self.take(end):
            if elements:
                self.expect(",")
            elements.append(self.choice())
        return elements

    def take(self, token: str) -> bool:
        """Go on if this is the next word or sign."""
        if self.token != token or self.kind not in ("name", "sign"):
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Go on behind this word or sign; raises ExpressionError if another one is next."""
        if not self.take(token):
            raise self.unexpected()

    def advance(self) -> str:
        """Go to the next token; returns the one that was left."""
        left = self.token
        match = self.token_pattern.match(self.text, self._offset)
        if match is not None:
            self.kind = kind = match.lastgroup or ""
            self.token = match[kind]
            self.column = match.start(kind) + 1
            self._offset = match.end()
        elif not (rest := self.text[self._offset :]).strip():
            self.kind, self.token, self.column = "end", "", len(self.text) + 1
        else:
            self.column = len(self.text) - len(rest.lstrip()) + 1
            raise ExpressionError(f'"{rest.strip()[0]}" is not understood in "{self.text}"', self.column)
        return left


def conjunction(truths: Iterable[bool | None]) -> bool | None:
    """The `and` of truths that may be unknown."""
    return _decided(truths, decides=False)


def disjunction(truths: Iterable[bool | None]) -> bool | None:
    """The `or` of truths that may be unknown."""
    return _decided(truths, decides=True)


def _decided(truths: Iterable[bool | None], *, decides: bool) -> bool | None:
    is_known = True
    for truth in truths:
        if truth is None:
            is_known = False
        elif truth is decides:
            return decides
    return not decides if is_known else None


def _comparison(sign: str, compare: Callable[[Any, Any], Any], *, differs: bool = False) -> Callable[[Any, Any], bool]:
    """Compares as a reader would: a boolean is no number, and null equals null only."""

    def compared(one: Any, other: Any) -> bool:
        if (type(one) is bool) is not (type(other) is bool):
            return differs
        try:
            return bool(compare(one, other))
        except TypeError:
            raise ExpressionError(f"{one!r} {sign} {other!r} compares values of two kinds") from None

    return compared


def _is_in(value: Any, container: Any) -> bool:
    if isinstance(container, str) and isinstance(value, str):
        return value in container
    if not isinstance(container, list):
        raise ExpressionError(f"{container!r} is not a list, and `in` looks into lists")
    return any(_COMPARISONS["=="](value, element) for element in container)


def _is_not_in(value: Any, container: Any) -> bool:
    return not _is_in(value, container)


def _arithmetic(sign: str, operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def value(one: Any, other: Any) -> Any:
        if sign == "+" and (isinstance(one, str) or isinstance(other, str)):
            return _held(text_of(one) + text_of(other), "... + ...")
        _number(one, sign)
        _number(other, sign)
        try:
            result = operate(one, other)
        except ZeroDivisionError:
            raise ExpressionError(f"{one} {sign} {other} divides by zero") from None
        except OverflowError:
            result = inf
        return _held(result, f"{one} {sign} {other}")

    return value


def _number(value: Any, sign: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ExpressionError(f"{value!r} is not a number, and {sign} takes numbers")
    return value


def _negated(value: Any) -> Any:
    return -_number(value, "-")


def _held(value: Any, said: str) -> Any:
    """The value of what was `said`, if a setting could hold it: what is doubled again and again ends here."""
    if isinstance(value, float) and not isfinite(value):
        raise ExpressionError(f"{said} is larger than any number")
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
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


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": _comparison("==", operator.eq),
    "!=": _comparison("!=", operator.ne, differs=True),
    "<": _comparison("<", operator.lt),
    "<=": _comparison("<=", operator.le),
    ">": _comparison(">", operator.gt),
    ">=": _comparison(">=", operator.ge),
}
_SUMS = {"+": _arithmetic("+", operator.add), "-": _arithmetic("-", operator.sub)}
_PRODUCTS = {
    "*": _arithmetic("*", operator.mul),
    "/": _arithmetic("/", operator.truediv),
    "//": _arithmetic("//", operator.floordiv),
    "%": _arithmetic("%", operator.mod),
}
_CALCULATIONS = {*_SUMS, *_PRODUCTS}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": lambda *values: min(_number(value, "min") for value in values),
    "max": lambda *values: max(_number(value, "max") for value in values),
}
