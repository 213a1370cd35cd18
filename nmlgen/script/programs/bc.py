"""`bc`: decimals of any length, with the scales that POSIX gives to their results."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isqrt

from nmlgen.script.programs.command import Command, Result, UndecidedCommand
from nmlgen.values import frozen

_TOKEN = re.compile(
    r"[ \t]*(?:(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)|(?P<name>[a-z][a-z0-9_]*|\.(?![0-9]))"
    r"|(?P<operator>\+\+|--|[-+*/%^]=|==|!=|<=|>=|[-+*/%^()=<>;\n])|(?P<end>\Z))"
)
_LARGEST_SCALE = 200
_MOST_DIGITS = 2_000
_DEEPEST = 40
_LONGEST_LINE = 68


@frozen
class _Number:
    """`digits` / 10**`scale`."""

    digits: int
    scale: int

    def to_scale(self, scale: int) -> int:
        """The digits at another scale, cut off."""
        if scale >= self.scale:
            return int(self.digits * 10 ** (scale - self.scale))
        return _quotient(self.digits, 10 ** (self.scale - scale))

    def text(self) -> str:
        """As bc prints it: without a zero before the point."""
        whole, fraction = divmod(abs(self.digits), 10**self.scale)
        sign = "-" if self.digits < 0 else ""
        if not self.digits:
            return "0"
        return f"{sign}{whole or ''}" + (f".{fraction:0{self.scale}d}" if self.scale else "")


_ZERO = _Number(0, 0)


def _quotient(dividend: int, divisor: int) -> int:
    """Of whole numbers, cut off towards zero."""
    return abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)


def bc(command: Command) -> Result:
    """`bc`, and `bc -l` where no function is called: the statements of its standard input."""
    pairs, operands = command.options("lqs", "", {"mathlib": "l", "quiet": "q", "standard": "s"})
    if operands:
        raise UndecidedCommand("a file")
    text = re.sub(r"#[^\n]*|/\*.*?(?:\*/|\Z)", "", command.text.replace("\\\n", ""), flags=re.DOTALL)
    if len(text) > 20_000:
        raise UndecidedCommand("an input too long")
    is_library = any(letter == "l" for letter, _ in pairs)
    if text and not text.endswith("\n"):
        raise UndecidedCommand("a last line without an end")
    return _Calculator(text, 20 if is_library else 0).run(), 0


class _Calculator:
    """Reads statements and evaluates them on the way."""

    def __init__(self, text: str, scale: int) -> None:
        self._text = text
        self._offset = 0
        self._kind = ""
        self._token = ""
        self._depth = 0
        self._variables = {"scale": _Number(scale, 0)}
        self._last = _ZERO
        self._advance()

    def run(self) -> str:
        """All that is printed."""
        lines: list[str] = []
        while self._kind != "end":
            if self._take(";", "\n"):
                continue
            if self._kind == "name" and self._token in ("quit", "halt"):
                if self._text[: self._offset].rpartition("\n")[2].strip() != self._token:
                    raise UndecidedCommand("quit within a line, which ends bc before the line is done")
                break
            value, is_printed = self._statement()
            if is_printed:
                self._last = value
                lines.append(value.text() + "\n")
                if len(lines[-1]) > _LONGEST_LINE:
                    raise UndecidedCommand("a number of several lines")
            if self._kind != "end" and not (self._kind == "operator" and self._token in ";\n"):
                raise UndecidedCommand("a statement that goes on")
        return "".join(lines)

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._offset)
        if match is None or match.lastgroup is None:
            raise UndecidedCommand("a statement of another kind")
        self._kind, self._token, self._offset = match.lastgroup, match[match.lastgroup], match.end()

    def _take(self, *operators: str) -> str:
        if self._kind == "operator" and self._token in operators:
            operator = self._token
            self._advance()
            return operator
        return ""

    def _statement(self) -> tuple[_Number, bool]:
        """A statement's value, and whether it is printed: an assignment is not."""
        start = (self._kind, self._token, self._offset)
        if self._kind == "name":
            name = self._token
            self._advance()
            if operator := self._take("=", "+=", "-=", "*=", "/=", "%=", "^="):
                value, is_printed = self._statement()
                if not is_printed and operator != "=":
                    raise UndecidedCommand("an assignment within another")
                return self._assign(name, operator, value), False
            self._kind, self._token, self._offset = start
        return self._comparison(), True

    def _assign(self, name: str, operator: str, value: _Number) -> _Number:
        if name in ("ibase", "obase", "last", "."):
            raise UndecidedCommand(f"{name} = ")
        if operator != "=":
            value = self._combined(operator[0], self._value(name), value)
        if name == "scale":
            value = _Number(value.to_scale(0), 0)
            if not 0 <= value.digits <= _LARGEST_SCALE:
                raise UndecidedCommand("a scale too large")
        self._variables[name] = value
        return value

    def _value(self, name: str) -> _Number:
        return self._last if name in ("last", ".") else self._variables.get(name, _ZERO)

    def _comparison(self) -> _Number:
        left = self._sum()
        if operator := self._take("==", "!=", "<=", ">=", "<", ">"):
            right = self._sum()
            one, other = (Fraction(number.digits, 10**number.scale) for number in (left, right))
            results = {"==": one == other, "!=": one != other, "<": one < other, ">": one > other}
            results |= {"<=": one <= other, ">=": one >= other}
            return _Number(int(results[operator]), 0)
        return left

    def _sum(self) -> _Number:
        left = self._product()
        while operator := self._take("+", "-"):
            left = self._combined(operator, left, self._product())
        return left

    def _product(self) -> _Number:
        left = self._power()
        while operator := self._take("*", "/", "%"):
            left = self._combined(operator, left, self._power())
        return left

    def _power(self) -> _Number:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UndecidedCommand("an expression nested too deeply")
        base = self._negation()
        if self._take("^"):
            base = self._combined("^", base, self._power())
        self._depth -= 1
        return base

    def _negation(self) -> _Number:
        if self._take("-"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise UndecidedCommand("an expression nested too deeply")
            value = self._negation()
            self._depth -= 1
            return _Number(-value.digits, value.scale)
        return self._operand()

    def _operand(self) -> _Number:
        if self._take("("):
            value = self._comparison()
            if not self._take(")"):
                raise UndecidedCommand("( without )")
            return value
        kind, token = self._kind, self._token
        if kind == "number":
            self._advance()
            whole, _, fraction = token.partition(".")
            if len(token) > 500:
                raise UndecidedCommand("a number too long")
            return _Number(int(whole + fraction), len(fraction))
        if kind != "name":
            raise UndecidedCommand("a statement of another kind")
        self._advance()
        if self._take("("):
            value = self._function(token, self._comparison())
            if not self._take(")"):
                raise UndecidedCommand("( without )")
            return value
        return self._value(token)

    def _function(self, name: str, value: _Number) -> _Number:
        if name == "scale":
            return _Number(value.scale, 0)
        if name == "length":
            return _Number(max(len(str(abs(value.digits))), value.scale), 0)
        if name == "sqrt" and value.digits >= 0:
            if value.to_scale(value.scale) in (0, 10**value.scale):
                return _Number(value.to_scale(0), 0)
            scale = max(self._scale, value.scale)
            return _Number(isqrt(value.to_scale(2 * scale)), scale)
        raise UndecidedCommand(f"the function {name}")

    @property
    def _scale(self) -> int:
        return self._variables["scale"].digits

    def _combined(self, operator: str, left: _Number, right: _Number) -> _Number:
        if operator in "+-":
            scale = max(left.scale, right.scale)
            one, other = left.to_scale(scale), right.to_scale(scale)
            result = _Number(one + other if operator == "+" else one - other, scale)
        elif operator == "*":
            result = self._product_of(left, right)
        elif operator == "^":
            result = self._power_of(left, right)
        else:
            if not right.digits:
                raise UndecidedCommand("a division by zero")
            quotient = self._quotient_of(left, right)
            if operator == "/":
                result = quotient
            else:
                product = _Number(quotient.digits * right.digits, quotient.scale + right.scale)
                scale = max(self._scale + right.scale, left.scale)
                result = _Number(
                    left.to_scale(product.scale + scale) - product.to_scale(product.scale + scale),
                    product.scale + scale,
                )
                result = _Number(result.to_scale(scale), scale)
        if result.digits.bit_length() > 4 * _MOST_DIGITS or result.scale > _MOST_DIGITS:
            raise UndecidedCommand("a number too long")
        return result

    def _product_of(self, left: _Number, right: _Number) -> _Number:
        full = _Number(left.digits * right.digits, left.scale + right.scale)
        scale = min(full.scale, max(self._scale, left.scale, right.scale))
        return _Number(full.to_scale(scale), scale)

    def _quotient_of(self, left: _Number, right: _Number) -> _Number:
        scale = self._scale
        dividend = left.digits * 10 ** (scale + right.scale)
        return _Number(_quotient(dividend, right.digits * 10**left.scale), scale)

    def _power_of(self, base: _Number, exponent: _Number) -> _Number:
        times = exponent.digits
        if exponent.scale or abs(times) > 1000 or base.digits.bit_length() * abs(times) > 4 * _MOST_DIGITS:
            raise UndecidedCommand("a power that is unusual")
        if times < 0:
            if not base.digits:
                raise UndecidedCommand("a division by zero")
            power = _Number(base.digits**-times, base.scale * -times)
            return self._quotient_of(_Number(1, 0), power)
        scale = min(base.scale * times, max(self._scale, base.scale))
        return _Number(_Number(base.digits**times, base.scale * times).to_scale(scale), scale)


PROGRAMS = {"bc": bc}
