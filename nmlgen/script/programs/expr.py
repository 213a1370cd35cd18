"""GNU's `expr`: integers of any length, comparisons, and texts."""

from __future__ import annotations

import re

from nmlgen.script.effort import Effort
from nmlgen.script.posix_expressions import translate_bre
from nmlgen.script.programs.command import Command, Result, UndecidedCommand

_COMPARISONS = {"<", "<=", "=", "==", "!=", ">=", ">"}
_DEEPEST = 50


class _Failure(Exception):
    """expr prints a message and nothing else, and ends with 2."""


def expr(command: Command) -> Result:
    """`expr`: the value of the expression; the status is 1 where it is empty or 0, 2 for a mistake."""
    arguments = list(command.arguments)
    if len(arguments) == 1 and arguments[0] in ("--help", "--version"):
        raise UndecidedCommand(arguments[0])
    if arguments[:1] == ["--"]:
        arguments.pop(0)
    try:
        value = _Expression(arguments, command.effort or Effort()).value()
    except _Failure:
        return "", 2
    return f"{value}\n", int(_is_null(value))


def _is_null(value: str) -> bool:
    return re.fullmatch(r"|-?0+", value) is not None


class _Expression:
    """A row of words, read and evaluated from the left."""

    def __init__(self, words: list[str], effort: Effort) -> None:
        self._words = words
        self._effort = effort
        self._offset = 0
        self._depth = 0
        self._skipping = 0

    def value(self) -> str:
        """The value of all the words."""
        value = self._either()
        if self._offset < len(self._words):
            raise _Failure
        return value

    def _take(self, *words: str) -> str:
        if self._offset < len(self._words) and self._words[self._offset] in words:
            self._offset += 1
            return self._words[self._offset - 1]
        return ""

    def _next(self) -> str:
        if self._offset == len(self._words):
            raise _Failure
        self._offset += 1
        return self._words[self._offset - 1]

    def _either(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UndecidedCommand("an expression nested too deeply")
        left = self._both()
        while self._take("|"):
            is_settled = not _is_null(left)
            self._skipping += is_settled
            right = self._both()
            self._skipping -= is_settled
            if not is_settled:
                left = "0" if _is_null(right) else right
        self._depth -= 1
        return left

    def _both(self) -> str:
        left = self._comparison()
        while self._take("&"):
            is_settled = _is_null(left)
            self._skipping += is_settled
            right = self._comparison()
            self._skipping -= is_settled
            if is_settled or _is_null(right):
                left = "0"
        return left

    def _comparison(self) -> str:
        left = self._sum()
        while operator := self._take(*_COMPARISONS):
            right = self._sum()
            left = "0" if self._skipping else str(int(_compared(operator, left, right)))
        return left

    def _sum(self) -> str:
        left = self._product()
        while operator := self._take("+", "-"):
            left = self._calculated(operator, left, self._product())
        return left

    def _product(self) -> str:
        left = self._match()
        while operator := self._take("*", "/", "%"):
            left = self._calculated(operator, left, self._match())
        return left

    def _calculated(self, operator: str, left: str, right: str) -> str:
        if self._skipping:
            return "0"
        one, other = _integer(left), _integer(right)
        if one is None or other is None:
            raise _Failure
        if operator in ("/", "%"):
            if other == 0:
                raise _Failure
            quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
            return str(quotient if operator == "/" else one - quotient * other)
        return str({"+": one + other, "-": one - other, "*": one * other}[operator])

    def _match(self) -> str:
        left = self._operand()
        while self._take(":"):
            right = self._operand()
            left = "" if self._skipping else _matched(left, right, self._effort)
        return left

    def _operand(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UndecidedCommand("an expression nested too deeply")
        value = self._function()
        self._depth -= 1
        return value

    def _function(self) -> str:
        if self._take("+"):
            return self._next()
        if self._take("length"):
            return str(len(_characters(self._operand())))
        if self._take("match"):
            text, pattern = self._operand(), self._operand()
            return "" if self._skipping else _matched(text, pattern, self._effort)
        if self._take("index"):
            text, wanted = _characters(self._operand()), _characters(self._operand())
            return str(min((text.find(character) for character in wanted if character in text), default=-1) + 1)
        if self._take("substr"):
            text, first, length = _characters(self._operand()), _integer(self._operand()), _integer(self._operand())
            if first is None or length is None or first <= 0 or length <= 0:
                return ""
            return text[first - 1 : first - 1 + length]
        if self._take("("):
            value = self._either()
            if not self._take(")"):
                raise _Failure
            return value
        if self._take(")"):
            raise _Failure
        return self._next()


def _characters(text: str) -> str:
    if not text.isascii():
        raise UndecidedCommand("characters that are several bytes to some locales")
    return text


def _integer(text: str) -> int | None:
    if not re.fullmatch(r"-?[0-9]+", text):
        return None
    if len(text) > 1000:
        raise UndecidedCommand("an integer too long")
    return int(text)


def _compared(operator: str, left: str, right: str) -> bool:
    if operator in ("=", "==", "!="):
        one, other = _integer(left), _integer(right)
        is_equal = left == right if one is None or other is None else one == other
        return is_equal != (operator == "!=")
    one, other = _integer(left), _integer(right)
    if one is None or other is None:
        if left == right:
            return "=" in operator
        raise UndecidedCommand("an order of texts, which is the locale's")
    return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[operator]


def _matched(text: str, pattern: str, effort: Effort) -> str:
    """`text : pattern`: the group's text, or the length of what matches from the start on."""
    pattern = pattern.removeprefix("^")
    if not pattern or pattern[0] in "^*":
        raise UndecidedCommand("a pattern that is unusual")
    expression = translate_bre("\\(" + pattern + "\\)")
    if re.search(r"\\\|", pattern):
        raise UndecidedCommand("alternatives, of which the first might not begin at the start")
    anchored = translate_bre("^" + pattern)
    effort.spent += anchored.effort(text)
    match = anchored.search(text)
    if expression.pattern.groups > 1:
        return (match[1] or "") if match else ""
    return str(len(match[0]) if match else 0)


PROGRAMS = {"expr": expr}
