"""Fortran expressions as trees."""

from __future__ import annotations

import re
from typing import Any

from nmlgen.units.whole import whole_number
from nmlgen.values import frozen


@frozen
class Literal:
    """A number, text or logical value."""

    value: Any


@frozen
class Call:
    """A name with what follows it: `name`, `name(i)`, `name%part(j)`; the arguments of each part, None without
    parentheses. Whether it is an array or a function is not known here."""

    parts: tuple[tuple[str, tuple[Node, ...] | None], ...]


@frozen
class Unary:
    """An operator before an operand."""

    operator: str
    operand: Node


@frozen
class Binary:
    """An operator between two operands."""

    operator: str
    left: Node
    right: Node


@frozen
class Constructor:
    """An array constructor; an implied DO within it is a Loop."""

    items: tuple[Node, ...]


@frozen
class Loop:
    """An implied DO."""

    items: tuple[Node, ...]
    variable: str
    first: Node
    last: Node


@frozen
class Section:
    """The subscript `first:last`; None for an end that is left out."""

    first: Node | None
    last: Node | None


@frozen
class Keyword:
    """An argument given by its keyword."""

    name: str
    value: Node


Node = Literal | Call | Unary | Binary | Constructor | Loop | Section | Keyword

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
  | (?P<number>(?:\d+\.(?![a-z]+\.)\d*|\.\d+|\d+)(?:[ed][+-]?\d+)?)(?:_(?P<kind>\w+))?
  | (?P<word>\.[a-z]+\.(?:_\w+)?)
  | (?P<name>[a-z]\w*)
  | (?P<sign>\(/|/\)|\*\*|//|==|/=|<=|>=|=>|[-+*/()=<>,:%\[\]])
    )""",
    re.VERBOSE,
)
_WORDS = {
    ".eq.": "==",
    ".ne.": "/=",
    ".lt.": "<",
    ".le.": "<=",
    ".gt.": ">",
    ".ge.": ">=",
}
_POWERS = {
    ".eqv.": 1,
    ".neqv.": 1,
    ".or.": 2,
    ".and.": 3,
    "==": 5,
    "/=": 5,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "//": 6,
    "+": 7,
    "-": 7,
    "*": 8,
    "/": 8,
    "**": 10,
}
_NOT, _SIGN = 4, 8
_DEEPEST, _MOST_OPERATORS = 50, 100  # of a tree, which is gone through a call within a call


class UnreadableError(ValueError):
    """The text is no expression that is understood here."""


def parse(text: str) -> Node:
    """The tree of an expression in lower case; raises UnreadableError."""
    parser = _Parser(_tokens(text))
    tree = parser.expression(0)
    if parser.position < len(parser.tokens):
        raise UnreadableError(text)
    return tree


def _tokens(text: str) -> list[tuple[str, Any]]:
    tokens: list[tuple[str, Any]] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise UnreadableError(text)
        position = found.end()
        if found["text"] is not None:
            quote = found["text"][0]
            tokens.append(("value", found["text"][1:-1].replace(quote * 2, quote)))
        elif found["number"] is not None:
            tokens.append(("value", _number(found["number"])))
        elif found["word"] is not None:
            word = found["word"].partition("._")[0].strip(".")
            if word in ("true", "false"):
                tokens.append(("value", word == "true"))
            else:
                tokens.append(("sign", _WORDS.get(f".{word}.", f".{word}.")))
        elif found["name"] is not None:
            tokens.append(("name", found["name"]))
        else:
            tokens.append(("sign", found["sign"]))
    return tokens


def _number(text: str) -> float:
    return whole_number(text) if text.isdigit() else float(text.replace("d", "e"))


class _Parser:
    def __init__(self, tokens: list[tuple[str, Any]]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    def _sign(self, *signs: str) -> str | None:
        if self.position < len(self.tokens):
            kind, value = self.tokens[self.position]
            if kind == "sign" and value in signs:
                self.position += 1
                return str(value)
        return None

    def _expect(self, *signs: str) -> None:
        if self._sign(*signs) is None:
            raise UnreadableError(f"{' or '.join(signs)} is missing")

    def expression(self, least: int) -> Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise UnreadableError("too much stands within parentheses")
        left, operators = self._operand(), 0
        while self.position < len(self.tokens):
            kind, operator = self.tokens[self.position]
            power = _POWERS.get(operator, -1) if kind == "sign" else -1
            if power < least or power < 0:
                break
            operators += 1
            if operators > _MOST_OPERATORS:
                raise UnreadableError("too many operators stand in a row")
            self.position += 1
            right = self.expression(power if operator == "**" else power + 1)
            left = Binary(operator, left, right)
        self.depth -= 1
        return left

    def _operand(self) -> Node:
        if self._sign(".not."):
            return Unary(".not.", self.expression(_NOT))
        sign = self._sign("-", "+")
        if sign is not None:
            return Unary(sign, self.expression(_SIGN))
        opening = self._sign("(/", "[")
        if opening is not None:
            return self._constructor("/)" if opening == "(/" else "]")
        if self._sign("("):
            inner = self.expression(0)
            if self._sign(","):
                return self._loop([inner])
            self._expect(")")
            return inner
        if self.position >= len(self.tokens):
            raise UnreadableError("the expression ends too early")
        kind, value = self.tokens[self.position]
        self.position += 1
        if kind == "value":
            return Literal(value)
        if kind == "name":
            return self._reference(value)
        raise UnreadableError(f"{value} is out of place")

    def _constructor(self, end: str) -> Node:
        start = self.position
        while self.position < len(self.tokens):  # a type before two colons says nothing here
            if self.tokens[self.position] == ("sign", ":") == self._token(1):
                self.position += 2
                break
            if self.tokens[self.position] in (("sign", ","), ("sign", end)):
                self.position = start
                break
            self.position += 1
        items: list[Node] = []
        while not self._sign(end):
            items.append(self.expression(0))
            if not self._sign(","):
                self._expect(end)
                break
        return Constructor(tuple(items))

    def _token(self, ahead: int) -> tuple[str, Any] | None:
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def _loop(self, items: list[Node]) -> Node:
        while True:
            if self._token(1) == ("sign", "="):
                break
            items.append(self.expression(0))
            self._expect(",")
        kind, variable = self.tokens[self.position]
        if kind != "name":
            raise UnreadableError("an implied DO is not understood")
        self.position += 2
        first = self.expression(0)
        self._expect(",")
        last = self.expression(0)
        self._expect(")")
        return Loop(tuple(items), variable, first, last)

    def _reference(self, name: str) -> Node:
        parts: list[tuple[str, tuple[Node, ...] | None]] = []
        while True:
            arguments = self._arguments() if self._sign("(") else None
            parts.append((name, arguments))
            if not self._sign("%"):
                return Call(tuple(parts))
            kind, name = self.tokens[self.position] if self.position < len(self.tokens) else ("", "")
            if kind != "name":
                raise UnreadableError("a component is missing")
            self.position += 1

    def _arguments(self) -> tuple[Node, ...]:
        found: list[Node] = []
        if self._sign(")"):
            return ()
        while True:
            found.append(self._argument())
            if self._sign(")"):
                return tuple(found)
            self._expect(",")

    def _argument(self) -> Node:
        token = self._token(0)
        if token is not None and token[0] == "name" and self._token(1) == ("sign", "="):
            self.position += 2
            return Keyword(token[1], self.expression(0))
        first = None if self._token(0) == ("sign", ":") else self.expression(0)
        if not self._sign(":"):
            if first is None:
                raise UnreadableError("an argument is missing")
            return first
        ends = self._token(0) in (("sign", ","), ("sign", ")"), ("sign", ":"))
        last = None if ends else self.expression(0)
        if self._sign(":"):
            raise UnreadableError("sections with a stride are not understood")
        return Section(first, last)
