"""The arithmetic of `$(( ))`, `(( ))` and `let`, as bash and ksh93 do it, without a shell.

bash (`expr.c` of 5.2) knows integers of 64 bits that wrap around. ksh93 (`streval.c` and `arith.c` of 93u+m) computes
in C's long double: its integers are whole numbers that become floats beyond 64 bits, and it has decimals. Where the
result depends on what cannot be known, the shell or the machine, the expression is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import TypeAlias

from nmlgen.values import frozen

Lookup: TypeAlias = Callable[[str, str | None], str]
Assign: TypeAlias = Callable[[str, str | None, str], None]


class UndecidedExpression(Exception):
    """The value cannot be known. What the expression assigns may or may not have been assigned."""


class ArithmeticMistake(Exception):
    """The shell stops with an error: a division by zero, the octal number 08, a syntax error."""


def calculate(
    expression: str,
    lookup: Lookup,
    assign: Assign,
    *,
    is_ksh: bool | None,
    has_names: Callable[[str], bool] | None = None,
) -> str:
    """The value of an arithmetic expression, in the shell's own text.

    `lookup(name, subscript)` gives a variable's text, "" where nothing sets it; that text is an expression again.
    `assign(name, subscript, text)` is called for every assignment, in the shell's order. A subscript is the text of
    a number, but for arrays that `has_names` calls associative, whose elements have names: it is the text that stands
    there. Assigning to them, and ksh's variables of `typeset -E` and `-F`, are for the callbacks to refuse, with
    UndecidedExpression. Of an unknown shell (`is_ksh` None) only what bash and ksh agree on is said.

    Raises UndecidedExpression, ArithmeticMistake, and what the callbacks raise.
    """
    calculation = _Calculation(lookup, assign, is_ksh, has_names or (lambda name: False))
    value = calculation.evaluate(expression)
    if isinstance(value, _Float):
        if value.is_zero and calculation.met_negative_zero:
            raise UndecidedExpression("a zero that may be written -0")
        return value.text()
    if is_ksh is not False and abs(value) > _LARGEST:
        raise UndecidedExpression("an integer of more than 64 bits")
    return str(value)


_LARGEST = 2**63 - 1
_LONGEST_EXPRESSION = 10_000
_MOST_TOKENS = 20_000
_DEEPEST = 40

_TOKEN = re.compile(
    r"""[ \t\n]*(?:
        (?P<number>  [0-9][0-9A-Za-z_#@]*(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|(?<=[eE])[-+][0-9]+)?
                   | \.[0-9]+(?:[eE][-+]?[0-9]+)? )
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<operator><<=|>>=|&&|\|\||\*\*|<<|>>|<=|>=|==|!=|\+\+|--|[-+*/%&^|]=|[-+*/%<>=&^|!~?:,()])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)
_NAME_OF_ELEMENT = re.compile(r"[\w.-]+")
_DECIMAL = re.compile(r"[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+")
_LITERAL = re.compile(
    r"0[xX](?P<hexadecimal>[0-9a-fA-F]+)|(?P<base>[0-9]+)#(?P<digits>[0-9A-Za-z@_]+)|(?P<plain>[0-9]+)"
)

_BINARY = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip
_ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="}
_COMPARISONS = {"==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge}
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_"

_Target: TypeAlias = "tuple[str, str | None]"


@frozen
class _Float:
    """A float of ksh, as a machine has it whose long double holds 64 bits (x86), and one where it holds 113 bits."""

    narrow: Fraction
    wide: Fraction

    @classmethod
    def of(cls, narrow: Fraction, wide: Fraction) -> _Float:
        return cls(_rounded(narrow, 64), _rounded(wide, 113))

    @property
    def is_zero(self) -> bool:
        if (self.narrow == 0) != (self.wide == 0):
            raise UndecidedExpression("a float that is zero on some machines")
        return self.narrow == 0

    def text(self) -> str:
        """As ksh writes it: 18 digits at the most, like `%.18Lg` of C; whole numbers as integers."""
        texts = {_float_text(self.narrow), _float_text(self.wide)}
        if len(texts) > 1:
            raise UndecidedExpression("a float whose last digit depends on the machine")
        return texts.pop()


_Number: TypeAlias = "int | _Float"


def _rounded(value: Fraction, bits: int) -> Fraction:
    """The nearest binary float with a significand of so many bits."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if abs(exponent) > 1000:
        raise UndecidedExpression("a float too large or too small")
    scale = Fraction(2) ** (bits - exponent)
    if abs(value * scale) >= 2**bits:
        scale /= 2
    return round(value * scale) / scale


def _float_text(value: Fraction) -> str:
    if value.denominator == 1 and abs(value) <= _LARGEST:
        return str(value.numerator)
    context = Context(prec=18)
    text = str(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context))
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    magnitude = len(digits) + exponent - 1
    if not -4 <= magnitude < 18:
        mantissa = "".join(map(str, digits))
        fraction = f".{mantissa[1:]}" if mantissa[1:] else ""
        return f"{'-' * sign}{mantissa[0]}{fraction}e{'-' if magnitude < 0 else '+'}{abs(magnitude):02d}"
    return f"{Decimal(text):f}"


class _Calculation:
    """One expression being evaluated, and the variables' texts that it leads to."""

    def __init__(self, lookup: Lookup, assign: Assign, is_ksh: bool | None, has_names: Callable[[str], bool]) -> None:
        self.has_names = has_names
        self._lookup = lookup
        self._assign = assign
        self._is_ksh = is_ksh
        self._depth = 0
        self._level = 0
        self._tokens = 0
        # ksh keeps the sign of a zero, and writes it where it assigns (`((x = -y))` with y=0 sets x to -0).
        self.met_negative_zero = False
        # After `?`, `,`, `&&` and `||` ksh mixes up which of its numbers are floats.
        self.met_branch = False
        self._met_float = False
        self._has_subscript: dict[str, bool] = {}

    def evaluate(self, text: str) -> _Number:
        """The value of an expression's text, whether the user's or a variable's."""
        if len(text) > _LONGEST_EXPRESSION:
            raise UndecidedExpression("an expression too long")
        return _Reader(self, text).expression()

    # --- What the reader asks for -------------------------------------------------------------------------------

    @property
    def is_bash(self) -> bool:
        return self._is_ksh is False

    @property
    def is_ksh(self) -> bool:
        return self._is_ksh is True

    @property
    def may_be_float(self) -> bool:
        """Whether ksh may take an integer for a float."""
        return self._met_float and self.met_branch

    def count_token(self) -> None:
        self._tokens += 1
        if self._tokens > _MOST_TOKENS:
            raise UndecidedExpression("an expression that leads too far")

    def descend(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UndecidedExpression("an expression nested too deeply")

    def ascend(self) -> None:
        self._depth -= 1

    def mistake(self, message: str, *, is_common: bool = False) -> Exception:
        """The error to raise for what bash refuses, and where `is_common`, every shell."""
        return ArithmeticMistake(message) if self.is_bash or is_common else UndecidedExpression(message)

    def check_subscripts(self, name: str, has_subscript: bool) -> None:
        """ksh takes `a` behind `a[1]` for the same element."""
        if self._has_subscript.setdefault(name, has_subscript) != has_subscript and not self.is_bash:
            raise UndecidedExpression(f"{name} with and without a subscript")

    def value_of(self, target: _Target) -> _Number:
        if not self.is_bash and target[0].lower() in ("inf", "nan"):
            raise UndecidedExpression("a name that is a number to ksh")
        text = self._lookup(*target)
        if not text.strip(" \t\n"):
            if self._level and not self.is_bash:
                raise UndecidedExpression("a variable without a value, which ksh refuses here")
            return 0
        self.descend()
        self._level += 1
        value = self.evaluate(text)
        self._level -= 1
        self.ascend()
        if isinstance(value, _Float) and value.narrow == value.wide and value.narrow.denominator == 1:
            value = int(value.narrow)  # ksh takes the type from the value here: `x=3.0; $((x/2))` is 1
        self._met_float |= isinstance(value, _Float)
        return value

    def store(self, target: _Target, value: _Number) -> None:
        text = value.text() if isinstance(value, _Float) else str(value)
        if not self.is_bash:
            if text == "0" and self.met_negative_zero:
                raise UndecidedExpression("a zero that ksh may write -0")
            if abs(_as_float(value).wide) >= 10**18:
                raise UndecidedExpression("an integer too large for ksh's variables")
        self._assign(*target, text)

    def literal(self, text: str) -> _Number:
        """The value of a number as it is written."""
        value = self._literal(text)
        self._met_float |= isinstance(value, _Float)
        return value

    def _literal(self, text: str) -> _Number:
        match = _LITERAL.fullmatch(text)
        if match is None:
            return self._decimal(text)
        if match["hexadecimal"]:
            value = int(match["hexadecimal"], 16)
        elif match["base"]:
            value = self._in_base(match["base"], match["digits"])
        else:
            digits = match["plain"]
            if digits.startswith("0") and digits.strip("0") and not self.is_ksh:
                if not self.is_bash:
                    raise UndecidedExpression(f"{digits}: octal to bash, decimal to ksh")
                if not set(digits) <= set("01234567"):
                    raise ArithmeticMistake(f"{digits}: no octal number")
                value = int(digits, 8)
            elif len(digits) > 40:
                raise UndecidedExpression("an integer of more than 64 bits")
            else:
                value = int(digits)
        if value > _LARGEST:
            raise UndecidedExpression("an integer of more than 64 bits")
        return value

    def _decimal(self, text: str) -> _Number:
        if self.is_bash:
            raise ArithmeticMistake(f"{text}: no integer")
        if not self.is_ksh or not _DECIMAL.fullmatch(text) or len(text) > 40:
            raise UndecidedExpression(f"{text}: no integer")
        decimal = Decimal(text)
        if abs(decimal.adjusted()) > 300:
            raise UndecidedExpression("a float too large or too small")
        value = Fraction(decimal)
        return _Float.of(value, value)

    def _in_base(self, base_text: str, digits: str) -> int:
        base = int(base_text) if len(base_text) < 5 else 0
        if base_text.startswith("0") or not 2 <= base <= 64:
            raise self.mistake(f"{base_text}#{digits}: no base from 2 to 64")
        if base != 10 and not self.is_bash:
            raise UndecidedExpression(
                f"{base_text}#{digits}, which ksh reads as decimal behind a zero"
            )  # `0|2#101`: 101
        value = 0
        for digit in digits.lower() if base <= 36 else digits:
            index = _DIGITS.index(digit)
            if index >= base:
                raise self.mistake(f"{base_text}#{digits}: no number of this base")
            value = min(value * base + index, _LARGEST + 1)
        return value

    # --- Operators ----------------------------------------------------------------------------------------------

    def negated(self, value: _Number) -> _Number:
        if isinstance(value, _Float):
            self.met_negative_zero |= value.is_zero
            return _Float(-value.narrow, -value.wide)
        self.met_negative_zero |= value == 0
        return self._integer(-value)

    def complement(self, value: _Number) -> int:
        if isinstance(value, _Float):
            raise UndecidedExpression("bits of a float")
        return ~value

    def combine(self, operator: str, left: _Number, right: _Number) -> _Number:
        """`left operator right`, for the operators that need both."""
        if self.may_be_float and operator not in (*_COMPARISONS, "+", "-", "*"):
            raise UndecidedExpression(f"{operator} of what ksh may take for a float")
        if isinstance(left, int) and isinstance(right, int):
            return self._combine_integers(operator, left, right)
        return self._combine_floats(operator, _as_float(left), _as_float(right), isinstance(left, _Float))

    def _combine_integers(self, operator: str, left: int, right: int) -> int:
        if operator in _COMPARISONS:
            return int(_compared(operator, left, right))
        if operator in ("/", "%"):
            if right == 0:
                raise ArithmeticMistake("division by zero")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return self._integer(quotient if operator == "/" else left - quotient * right)
        if operator == "**":
            return self._power(left, right)
        if operator in ("<<", ">>"):
            if not 0 <= right < 64:
                raise UndecidedExpression("a shift that depends on the machine")
            return _wrapped(left << right) if operator == "<<" else left >> right
        if operator == "*":
            self.met_negative_zero |= (left == 0 and right < 0) or (right == 0 and left < 0)
        results = {"+": left + right, "-": left - right, "*": left * right}
        if operator in results:
            return self._integer(results[operator])
        return {"&": left & right, "^": left ^ right, "|": left | right}[operator]

    def _power(self, base: int, exponent: int) -> int:
        if exponent < 0:
            raise self.mistake("an exponent below zero")
        if self.is_bash:
            return _wrapped(pow(base, exponent, 2**64))
        if exponent > 64 and abs(base) > 1:
            raise UndecidedExpression("a power too large")
        power = int(base ** (exponent if abs(base) > 1 else exponent % 2 or min(exponent, 2)))
        if abs(power) > 2**53:  # ksh calls C's pow, of doubles
            raise UndecidedExpression("a power too large")
        return power

    def _combine_floats(self, operator: str, left: _Float, right: _Float, is_left_float: bool) -> _Number:
        pairs = ((left.narrow, right.narrow), (left.wide, right.wide))
        if operator in _COMPARISONS:
            results = {_compared(operator, *pair) for pair in pairs}
            if len(results) > 1:
                raise UndecidedExpression("a comparison that depends on the machine")
            truth = Fraction(results.pop())
            return _Float(truth, truth) if is_left_float else int(truth)  # as the type is kept by ksh
        if operator in ("*", "/"):
            if operator == "/" and right.is_zero:
                raise UndecidedExpression("infinity")
            if left.is_zero or right.is_zero:
                self.met_negative_zero |= left.narrow < 0 or right.narrow < 0
            values = [a * b if operator == "*" else a / b for a, b in pairs]
        elif operator in ("+", "-"):
            values = [a + b if operator == "+" else a - b for a, b in pairs]
        else:
            raise UndecidedExpression(f"{operator} of floats")
        return _Float.of(*values)

    def _integer(self, value: int) -> int:
        if self.is_bash:
            return _wrapped(value)
        if not -_LARGEST <= value <= _LARGEST:
            raise UndecidedExpression("an integer of more than 64 bits")
        return value

    def call(self, function: str, argument: _Number) -> _Number:
        """ksh's functions of one number whose results are exact."""
        self._met_float = True
        value = _as_float(argument)
        functions: dict[str, Callable[[Fraction], int]] = {
            "int": int,
            "trunc": int,
            "floor": lambda number: number.__floor__(),
            "ceil": lambda number: number.__ceil__(),
            "round": lambda number: int(abs(number) + Fraction(1, 2)) * (1 if number > 0 else -1),
        }
        if function == "abs":
            return _Float(abs(value.narrow), abs(value.wide))
        if function == "float":
            return value
        if function not in functions:
            raise UndecidedExpression(f"the function {function}")
        narrow, wide = (Fraction(functions[function](number)) for number in (value.narrow, value.wide))
        self.met_negative_zero |= narrow == 0 and value.narrow < 0
        if abs(narrow) > _LARGEST:
            raise UndecidedExpression("an integer of more than 64 bits")
        return _Float(narrow, wide)


def _as_float(value: _Number) -> _Float:
    return value if isinstance(value, _Float) else _Float(Fraction(value), Fraction(value))


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _compared(operator: str, left: int | Fraction, right: int | Fraction) -> bool:
    return bool(_COMPARISONS[operator](left, right))


class _Reader:
    """Reads one expression's text and evaluates it on the way, as the shells do: C's grammar, with `**`."""

    def __init__(self, calculation: _Calculation, text: str) -> None:
        self._calculation = calculation
        self._text = text
        self._offset = 0
        self._skipping = 0  # above zero where C's rules say that a part is not evaluated
        self._kind = ""
        self._token = ""
        self._advance(after_operand=False)

    def expression(self) -> _Number:
        """The value of the whole text; of an empty one, 0."""
        if self._kind == "end":
            return 0
        value = self._comma()
        if self._kind != "end":
            raise self._unexpected()
        return value

    # --- Tokens -------------------------------------------------------------------------------------------------

    def _advance(self, *, after_operand: bool) -> None:
        """Read the next token. What `++` and `--` are depends on whether an operand stands before them."""
        calculation = self._calculation
        calculation.count_token()
        match = _TOKEN.match(self._text, self._offset)
        if match is None or match.lastgroup is None:
            if re.match(r"[ \t\n]*[\"'`$\\]", self._text[self._offset :]):
                raise UndecidedExpression("quotes and expansions, which are for the caller")
            raise calculation.mistake(f"a syntax error at {self._text[self._offset :][:20].strip()!r}")
        self._kind, self._token, self._offset = match.lastgroup, match[match.lastgroup], match.end()
        if self._token in ("++", "--") and not (after_operand and self._last_was_name) and not self._name_follows():
            if not calculation.is_bash:
                raise calculation.mistake(f"{self._token} where bash and ksh differ")
            self._token, self._offset = self._token[0], self._offset - 1  # as bash does: `5--3` is 5 - -3
        self._last_was_name = False

    _last_was_name = False

    def _name_follows(self) -> bool:
        match = _TOKEN.match(self._text, self._offset)
        return match is not None and match.lastgroup == "name"

    def _unexpected(self) -> Exception:
        return self._calculation.mistake(f"a syntax error at {self._token or 'the end'!r}")

    def _take(self, *operators: str) -> str:
        """The operator that stands here, if it is one of these; it is passed over."""
        if self._kind == "operator" and self._token in operators:
            operator = self._token
            self._advance(after_operand=False)
            return operator
        return ""

    # --- The grammar --------------------------------------------------------------------------------------------

    def _comma(self) -> _Number:
        value = self._assignment()
        while self._take(","):
            self._calculation.met_branch = True
            value = self._assignment()
        return value

    def _assignment(self) -> _Number:
        self._calculation.descend()
        value, target = self._conditional()
        if self._kind == "operator" and self._token in _ASSIGNMENTS:
            operator = self._token
            if target is None:
                raise self._calculation.mistake(f"{operator} after what is no variable")
            self._advance(after_operand=False)
            right = self._assignment()
            if not self._skipping:
                value = right if operator == "=" else self._calculation.combine(operator[:-1], value, right)
                self._calculation.store(target, value)
        self._calculation.ascend()
        return value

    def _conditional(self) -> tuple[_Number, _Target | None]:
        condition, target = self._binary(1)
        if not self._take("?"):
            return condition, target
        self._calculation.met_branch = True
        is_true = not self._skipping and _is_true(condition)
        self._skipping += not is_true
        first = self._comma()
        self._skipping -= not is_true
        if not self._take(":"):
            raise self._calculation.mistake("? without :")
        self._skipping += is_true
        self._calculation.descend()
        second, _ = self._conditional()
        self._calculation.ascend()
        self._skipping -= is_true
        return (first if is_true else second), None

    def _binary(self, lowest: int) -> tuple[_Number, _Target | None]:
        """Operators that bind at least as `lowest` does. The variable comes along where it is all there is."""
        left, target = self._unary()
        while self._kind == "operator" and _BINARY.get(self._token, 0) >= lowest:
            operator = self._token
            strength = _BINARY[operator]
            self._advance(after_operand=False)
            target = None
            if operator in ("&&", "||"):
                left = self._logical(operator, left, strength)
                continue
            self._calculation.descend()
            right, _ = self._binary(strength if operator == "**" else strength + 1)
            self._calculation.ascend()
            if self._skipping and operator == "**":
                raise UndecidedExpression("a power that is skipped, whose exponent bash checks")
            left = 0 if self._skipping else self._calculation.combine(operator, left, right)
        return left, target

    def _logical(self, operator: str, left: _Number, strength: int) -> int:
        self._calculation.met_branch = True
        is_left = not self._skipping and _is_true(left)
        is_settled = is_left == (operator == "||")
        self._skipping += is_settled
        right, _ = self._binary(strength + 1)
        self._skipping -= is_settled
        return int(is_left if is_settled else not self._skipping and _is_true(right))

    def _unary(self) -> tuple[_Number, _Target | None]:
        operator = self._take("!", "~", "-", "+")
        if operator:
            self._calculation.descend()
            value, _ = self._unary()
            self._calculation.ascend()
            return (0 if self._skipping else self._apply(operator, value)), None
        if operator := self._take("++", "--"):
            if self._kind != "name":
                raise self._unexpected()
            target = self._target()
            return self._step(target, operator, self._value(target)), None
        return self._operand()

    def _apply(self, operator: str, value: _Number) -> _Number:
        if operator == "+":
            return value
        if operator == "!":
            return int(not _is_true(value))
        return self._calculation.negated(value) if operator == "-" else self._calculation.complement(value)

    def _operand(self) -> tuple[_Number, _Target | None]:
        if self._take("("):
            value = self._comma()
            if not (self._kind == "operator" and self._token == ")"):
                raise self._calculation.mistake("( without )")
            self._advance(after_operand=True)
            return value, None
        if self._kind == "number":
            value = self._calculation.literal(self._token)
            self._advance(after_operand=True)
            return value, None
        if self._kind != "name":
            raise self._unexpected()
        if self._text.startswith("(", self._offset) and not self._calculation.is_bash:
            return self._call(), None
        target = self._target()
        if self._kind == "operator" and self._token == "=":
            return 0, target
        value = self._value(target)
        if operator := self._take("++", "--"):
            self._step(target, operator, value)
            return value, None
        return value, target

    def _call(self) -> _Number:
        if not self._calculation.is_ksh:
            raise UndecidedExpression("a function of ksh")
        function = self._token
        self._advance(after_operand=False)
        self._advance(after_operand=False)
        argument = self._comma()
        if not (self._kind == "operator" and self._token == ")"):
            raise self._calculation.mistake("( without )")
        self._advance(after_operand=True)
        return 0 if self._skipping else self._calculation.call(function, argument)

    def _target(self) -> _Target:
        """The variable that stands here, with its subscript; it is passed over."""
        name, subscript = self._token, None
        has_subscript = self._text.startswith("[", self._offset)
        self._calculation.check_subscripts(name, has_subscript)
        if has_subscript:
            subscript = self._subscript(name)
        self._last_was_name = True
        self._advance(after_operand=True)
        return name, subscript

    def _subscript(self, name: str) -> str | None:
        start, depth = self._offset + 1, 0
        for offset in range(self._offset, len(self._text)):
            depth += {"[": 1, "]": -1}.get(self._text[offset], 0)
            if depth == 0:
                self._offset = offset + 1
                break
        else:
            raise self._calculation.mistake("[ without ]")
        text = self._text[start : self._offset - 1]
        if self._skipping:
            return None
        if self._calculation.has_names(name):
            if not _NAME_OF_ELEMENT.fullmatch(text):
                raise UndecidedExpression(f"the subscript {text}")
            return text
        if not text.strip() or re.search(r"[@\"'$`\\]|\+\+|--|(?<![=!<>])=(?!=)", text):
            raise UndecidedExpression(f"the subscript {text}")
        self._calculation.descend()
        try:
            value = self._calculation.evaluate(text)
        except ArithmeticMistake as error:
            raise UndecidedExpression(f"the subscript {text}") from error
        self._calculation.ascend()
        if isinstance(value, _Float):
            raise UndecidedExpression(f"the subscript {text}")
        return str(value)

    def _value(self, target: _Target) -> _Number:
        return 0 if self._skipping else self._calculation.value_of(target)

    def _step(self, target: _Target, operator: str, value: _Number) -> _Number:
        if self._skipping:
            return 0
        if isinstance(value, _Float) or self._calculation.may_be_float:
            raise UndecidedExpression(f"{operator} of a float")
        stepped = self._calculation.combine(operator[0], value, 1)
        self._calculation.store(target, stepped)
        return stepped


def _is_true(value: _Number) -> bool:
    return not value.is_zero if isinstance(value, _Float) else value != 0
