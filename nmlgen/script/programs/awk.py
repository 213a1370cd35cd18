"""Simple `awk` programs: rules of `print`, `printf` and assignments, without control flow, arrays and files."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from attrs import define, field, frozen

from nmlgen.script.posix_expressions import Expression, translate_ere
from nmlgen.script.programs.command import Command, Result, UndecidedCommand, lines_of

_Value: TypeAlias = "str | float | _Input"


@frozen
class _Input:
    """A text from the input: a number where it looks like one."""

    text: str


_Term: TypeAlias = "Callable[[_State], _Value]"

_NUMBER = re.compile(r"[ \t\n]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)[ \t\n]*")
_LEADING = re.compile(r"[ \t\n]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")
_TOKEN = re.compile(
    r"[ \t]*(?:\\\n[ \t]*)?(?:\#[^\n]*)?(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|\"(?P<text>(?:[^\"\\\n]|\\.)*)\"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<operator>\+\+|--|[-+*/%^]=|&&|\|\||==|!=|<=|>=|!~|[-+*/%^!<>=?:~$(){},;\n|])|(?P<end>\Z))"
)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "/": "/", "r": "\r"}
_READ_ONLY = {"NF", "NR", "FNR", "RS", "OFMT", "CONVFMT", "SUBSEP", "FILENAME", "RSTART", "RLENGTH", "ENVIRON", "ARGC"}
_LARGEST_INTEGER = 2**31 - 1
_DEEPEST = 30


@define
class _State:
    """The variables, and the record with its fields."""

    variables: dict[str, _Value]
    record: str = ""
    fields: list[str] = field(factory=list)
    output: list[str] = field(factory=list)

    def read(self, record: str, number: int) -> None:
        """Take in a record."""
        self.record = record
        self.fields = _split(record, _text(self.variables["FS"]))
        self.variables["NR"] = self.variables["FNR"] = float(number)
        self.variables["NF"] = float(len(self.fields))

    def field(self, number: float) -> _Value:
        if not 0 <= number < 10_000:
            raise UndecidedCommand("a field that cannot be")
        index = int(number)
        if index == 0:
            return _Input(self.record)
        return _Input(self.fields[index - 1]) if index <= len(self.fields) else ""


def _split(record: str, separator: str) -> list[str]:
    if separator == " ":
        return record.split()
    if not record:
        return []
    if len(separator) == 1 and separator != "\\":
        return record.split(separator)
    expression = _expression(separator)
    parts, start = [], 0
    while match := expression.search(record, start):
        if not match[0]:
            raise UndecidedCommand("a separator that may be empty")
        parts.append(record[start : match.start()])
        start = match.end()
    return [*parts, record[start:]]


def _expression(text: str) -> Expression:
    """An extended expression without what only some awks know: intervals, and escapes such as `\\w`."""
    if re.search(r"\{|\\[A-Za-z<>]", text):
        raise UndecidedCommand("an expression that awks take differently")
    return translate_ere(text)


def _number(value: _Value) -> float:
    if isinstance(value, float):
        return value
    text = value.text if isinstance(value, _Input) else value
    match = _LEADING.match(text)
    if re.match(r"[ \t\n]*[-+]?(?:0[xX]|inf|nan)", text, re.IGNORECASE):
        raise UndecidedCommand("a number that awks take differently")
    return float(match[1]) if match else 0.0


def _text(value: _Value) -> str:
    if isinstance(value, float):
        if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
            raise UndecidedCommand("a number that awks print differently")
        if value == int(value):
            if abs(value) > _LARGEST_INTEGER:
                raise UndecidedCommand("an integer that awks print differently")
            return str(int(value))
        return f"{value:.6g}"
    return value.text if isinstance(value, _Input) else value


def _looks_numeric(value: _Value) -> bool:
    return isinstance(value, float) or (isinstance(value, _Input) and _NUMBER.fullmatch(value.text) is not None)


def _is_true(value: _Value) -> bool:
    if _looks_numeric(value):
        return _number(value) != 0
    return _text(value) != ""


def awk(command: Command) -> Result:
    """`awk` with `-F` and `-v`."""
    arguments = list(command.arguments)
    variables: dict[str, _Value] = {"FS": " ", "OFS": " ", "ORS": "\n", "NR": 0.0, "FNR": 0.0, "NF": 0.0}
    while arguments and arguments[0].startswith("-") and arguments[0] != "-":
        option = arguments.pop(0)
        if option == "--":
            break
        letter, value = option[1], option[2:]
        if letter not in "Fv" or (not value and not arguments):
            raise UndecidedCommand(f"the option {option}")
        value = value or arguments.pop(0)
        if letter == "F":
            if value == "t" or not value:
                raise UndecidedCommand("a separator that awks take differently")
            variables["FS"] = _separator(value)
        else:
            name, equals, text = value.partition("=")
            if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) or not equals or name in _READ_ONLY:
                raise UndecidedCommand(f"the variable {name}")
            variables[name] = _Input(_unescaped(text)) if name not in ("FS", "OFS", "ORS") else _unescaped(text)
    if not arguments:
        raise UndecidedCommand("no program")
    program = arguments.pop(0)
    command.refuse_files(arguments)
    if len(program) > 5_000 or not program.isascii():
        raise UndecidedCommand("a program too long")
    return _run(_Reader(program).rules(), _State(variables), command), 0


def _separator(text: str) -> str:
    if re.search(r"\\[^.|+*?()\[\]\\$^{}t/-]|\\\Z", text) and len(text) > 1:
        raise UndecidedCommand(f"the separator {text}")
    return text.replace("\\t", "\t")


def _run(rules: list[_Rule], state: _State, command: Command) -> str:
    def perform(kind: str) -> None:
        for rule in rules:
            if rule.kind == kind and (rule.condition is None or _is_true(rule.condition(state))):
                for action in rule.actions:
                    action(state)

    perform("BEGIN")
    if any(rule.kind != "BEGIN" for rule in rules):
        for number, line in enumerate(lines_of(command.ascii_text), 1):
            state.read(line, number)
            perform("")
        perform("END")
    return "".join(state.output)


@frozen
class _Rule:
    """A rule: "BEGIN", "END" or "", its condition, and what it does."""

    kind: str
    condition: _Term | None
    actions: tuple[Callable[[_State], None], ...]


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise UndecidedCommand(f"the escape {match[0]}")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.?)", character, text, flags=re.DOTALL)


class _Reader:
    """Reads a program into rules of Python functions."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._offset = 0
        self._kind = ""
        self._token = ""
        self._start = 0
        self._depth = 0
        self._prints = False
        self._advance()

    def rules(self) -> list[_Rule]:
        """All rules of the program."""
        rules = []
        self._skip_ends()
        while self._kind != "end":
            rules.append(self._rule())
            self._skip_ends()
        return rules

    def _advance(self) -> None:
        match = _TOKEN.match(self._program, self._offset)
        if match is None or match.lastgroup is None:
            raise UndecidedCommand("a program of another kind")
        self._kind, self._token = match.lastgroup, match[match.lastgroup]
        self._start, self._offset = match.start(match.lastgroup), match.end()

    def _is_at(self, *operators: str) -> bool:
        return self._kind == "operator" and self._token in operators

    def _take(self, *operators: str) -> str:
        if self._is_at(*operators):
            operator = self._token
            self._advance()
            return operator
        return ""

    def _require(self, operator: str) -> None:
        if not self._take(operator):
            raise UndecidedCommand(f"a program without {operator}")

    def _skip_ends(self) -> None:
        while self._take(";", "\n"):
            pass

    def _rule(self) -> _Rule:
        kind, condition = "", None
        if self._kind == "name" and self._token in ("BEGIN", "END"):
            kind = self._token
            self._advance()
            if not self._is_at("{"):
                raise UndecidedCommand("BEGIN without {")
        elif not self._is_at("{"):
            condition = self._expression()
            if self._is_at(","):
                raise UndecidedCommand("a range of records")
        if not self._take("{"):
            return _Rule(kind, condition, (lambda state: _print(state, [_Input(state.record)]),))
        actions = []
        self._skip_ends()
        while not self._is_at("}"):
            actions.append(self._statement())
            if not self._is_at(";", "\n", "}"):
                raise UndecidedCommand("a statement that goes on")
            self._skip_ends()
        self._advance()
        return _Rule(kind, condition, tuple(actions))

    def _statement(self) -> Callable[[_State], None]:
        if self._kind == "name" and self._token in ("print", "printf"):
            is_formatted = self._token == "printf"
            self._advance()
            terms = self._printed()
            if is_formatted:
                if not terms:
                    raise UndecidedCommand("printf without a format")
                return lambda state: state.output.append(_formatted([term(state) for term in terms]))
            return lambda state: _print(state, [term(state) for term in terms] or [_Input(state.record)])
        return self._assignment()

    def _printed(self) -> list[_Term]:
        """The expressions behind `print`; `>` and `|` would be files and programs."""
        if self._is_at(";", "\n", "}"):
            return []
        start = self._start
        if self._take("("):
            terms = [self._expression()]
            while self._take(","):
                terms.append(self._expression())
            self._require(")")
            if self._is_at(";", "\n", "}"):
                return terms
            if len(terms) > 1:
                raise UndecidedCommand("a print to a file")
            self._offset = start
            self._advance()
        self._prints = True
        terms = [self._expression()]
        while self._take(","):
            terms.append(self._expression())
        self._prints = False
        return terms

    def _assignment(self) -> Callable[[_State], None]:
        if self._kind != "name":
            raise UndecidedCommand("a statement of another kind")
        name = self._token
        self._advance()
        if name in _READ_ONLY:
            raise UndecidedCommand(f"an assignment to {name}")
        if sign := self._take("++", "--"):
            one = 1.0 if sign == "++" else -1.0
            return lambda state: _assign(state, name, _number(state.variables.get(name, "")) + one)
        sign = self._take("=", "+=", "-=", "*=", "/=", "%=", "^=")
        if not sign:
            raise UndecidedCommand("a statement of another kind")
        term = self._expression()
        if sign == "=":
            return lambda state: _assign(state, name, term(state))
        return lambda state: _assign(
            state, name, _calculated(sign[0], _number(state.variables.get(name, "")), _number(term(state)))
        )

    # --- Expressions --------------------------------------------------------------------------------------------

    def _expression(self) -> _Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UndecidedCommand("an expression nested too deeply")
        condition = self._either()
        if self._take("?"):
            first = self._expression()
            self._require(":")
            second = self._expression()
            self._depth -= 1
            return lambda state: first(state) if _is_true(condition(state)) else second(state)
        self._depth -= 1
        return condition

    def _either(self) -> _Term:
        left = self._both()
        while self._take("||"):
            left = _logical(left, self._both(), is_either=True)
        return left

    def _both(self) -> _Term:
        left = self._match()
        while self._take("&&"):
            left = _logical(left, self._match(), is_either=False)
        return left

    def _match(self) -> _Term:
        left = self._comparison()
        while sign := self._take("~", "!~"):
            if not self._is_at("/"):
                raise UndecidedCommand("an expression that is computed")
            left = _matching(left, self._regular_expression(), sign == "~")
        return left

    def _comparison(self) -> _Term:
        left = self._concatenation()
        operators = ("==", "!=", "<", "<=", ">=") if self._prints else ("==", "!=", "<", "<=", ">=", ">")
        if sign := self._take(*operators):
            right = self._concatenation()
            if self._is_at(*operators):
                raise UndecidedCommand("a comparison of a comparison")
            return lambda state: float(_compared(sign, left(state), right(state)))
        return left

    def _concatenation(self) -> _Term:
        terms = [self._sum()]
        while self._kind in ("number", "text", "name") or self._is_at("$", "("):
            if self._kind == "name" and self._token in ("in", "getline"):
                raise UndecidedCommand(self._token)
            terms.append(self._sum())
        if len(terms) == 1:
            return terms[0]
        return lambda state: "".join(_text(term(state)) for term in terms)

    def _sum(self) -> _Term:
        is_text = self._kind == "text"
        left = self._product()
        while sign := self._take("+", "-"):
            if is_text:
                raise UndecidedCommand("a sign behind a text")
            left = _arithmetic(sign, left, self._product())
        return left

    def _product(self) -> _Term:
        left = self._unary()
        while sign := self._take("*", "/", "%"):
            left = _arithmetic(sign, left, self._unary())
        return left

    def _unary(self) -> _Term:
        if sign := self._take("-", "+", "!"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise UndecidedCommand("an expression nested too deeply")
            operand = self._unary()
            self._depth -= 1
            if sign == "!":
                return lambda state: float(not _is_true(operand(state)))
            return lambda state: _number(operand(state)) * (-1.0 if sign == "-" else 1.0)
        base = self._operand()
        if self._take("^"):
            self._depth += 1
            if self._depth > _DEEPEST:
                raise UndecidedCommand("an expression nested too deeply")
            exponent = self._unary()
            self._depth -= 1
            return _arithmetic("^", base, exponent)
        return base

    def _operand(self) -> _Term:
        kind, token = self._kind, self._token
        if self._is_at("/"):
            expression = self._regular_expression()
            return lambda state: float(expression.is_found(state.record))
        self._advance()
        if kind == "number":
            number = float(token)
            return lambda _: number
        if kind == "text":
            text = _unescaped(token)
            return lambda _: text
        if kind == "name":
            return self._call(token) if self._is_at("(") or token == "length" else self._variable(token)
        if token == "(":
            was_printing, self._prints = self._prints, False
            inner = self._expression()
            self._prints = was_printing
            self._require(")")
            return inner
        if token == "$":
            number_term = self._operand()
            if self._is_at("=", "++", "--", "+=", "-="):
                raise UndecidedCommand("an assignment to a field")
            return lambda state: state.field(_number(number_term(state)))
        raise UndecidedCommand("an expression of another kind")

    def _variable(self, name: str) -> _Term:
        if self._is_at("++", "--", "=", "+=", "-=", "*=", "/=", "%=", "^=") or name in _READ_ONLY - {"NF", "NR", "FNR"}:
            raise UndecidedCommand(f"the variable {name}")
        if name in _KEYWORDS:
            raise UndecidedCommand(name)
        return lambda state: state.variables.get(name, "")

    def _call(self, name: str) -> _Term:
        arguments: list[_Term] = []
        if self._take("("):
            was_printing, self._prints = self._prints, False
            while not self._is_at(")"):
                arguments.append(self._expression())
                if not self._take(","):
                    break
            self._prints = was_printing
            self._require(")")
        counts = _FUNCTIONS.get(name)
        if counts is None or len(arguments) not in counts:
            raise UndecidedCommand(f"the function {name}")
        if name == "length" and not arguments:
            return lambda state: float(len(state.record))
        return lambda state: _called(name, [argument(state) for argument in arguments])

    def _regular_expression(self) -> Expression:
        match = re.compile(r"((?:[^/\\\n\[]|\\.|\[\^?[^][/\\]+\])+)/").match(self._program, self._start + 1)
        if match is None:
            raise UndecidedCommand("an expression without its end")
        self._offset = match.end()
        self._advance()
        return _expression(match[1].replace("\\/", "/").replace("\\t", "\t"))


_KEYWORDS = {
    "if",
    "else",
    "while",
    "for",
    "do",
    "next",
    "exit",
    "delete",
    "getline",
    "function",
    "func",
    "in",
    "return",
}
_FUNCTIONS: dict[str, Collection[int]] = {
    "length": (0, 1),
    "substr": (2, 3),
    "index": (2,),
    "int": (1,),
    "toupper": (1,),
    "tolower": (1,),
    "sprintf": range(1, 50),
}
_OPERATORS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": math.fmod,
    "^": operator.pow,
}


def _called(name: str, values: list[_Value]) -> _Value:
    if name == "int":
        return float(math.trunc(_number(values[0])))
    if name == "sprintf":
        return _formatted(values)
    text = _text(values[0])
    if name == "length":
        return float(len(text))
    if name == "index":
        return float(text.find(_text(values[1])) + 1)
    if name == "substr":
        first = _number(values[1])
        length = _number(values[2]) if len(values) > 2 else float(len(text))
        if first != int(first) or length != int(length) or first < 1 or length < 0:
            raise UndecidedCommand("a substr that awks take differently")
        return text[int(first) - 1 : int(first) - 1 + int(length)]
    return text.upper() if name == "toupper" else text.lower()


def _assign(state: _State, name: str, value: _Value) -> None:
    if name in ("FS", "OFS", "ORS") and not isinstance(value, str):
        raise UndecidedCommand(f"an assignment to {name}")
    state.variables[name] = _separator(value) if name == "FS" and isinstance(value, str) else value


def _print(state: _State, values: list[_Value]) -> None:
    separator, end = _text(state.variables["OFS"]), _text(state.variables["ORS"])
    state.output.append(separator.join(map(_text, values)) + end)


def _logical(left: _Term, right: _Term, *, is_either: bool) -> _Term:
    if is_either:
        return lambda state: float(_is_true(left(state)) or _is_true(right(state)))
    return lambda state: float(_is_true(left(state)) and _is_true(right(state)))


def _matching(left: _Term, expression: Expression, wanted: bool) -> _Term:
    return lambda state: float(expression.is_found(_text(left(state))) == wanted)


def _arithmetic(sign: str, left: _Term, right: _Term) -> _Term:
    return lambda state: _calculated(sign, _number(left(state)), _number(right(state)))


def _calculated(sign: str, left: float, right: float) -> float:
    try:
        result = _OPERATORS[sign](left, right)
    except (ArithmeticError, ValueError) as error:
        raise UndecidedCommand("a number that cannot be") from error
    if not isinstance(result, float) or not math.isfinite(result):
        raise UndecidedCommand("a number that cannot be")
    return result


def _compared(sign: str, left: _Value, right: _Value) -> bool:
    if _looks_numeric(left) and _looks_numeric(right):
        one, other = _number(left), _number(right)
        results = {"==": one == other, "!=": one != other, "<": one < other, ">": one > other}
        return results.get(sign, one <= other if sign == "<=" else one >= other)
    if sign not in ("==", "!="):
        raise UndecidedCommand("an order of texts")
    return (_text(left) == _text(right)) == (sign == "==")


_DIRECTIVE = re.compile(r"%([-+ 0]*)([0-9]{0,3})((?:\.[0-9]{0,2})?)([diouxXeEfgGsc%])|([^%]+)")


def _formatted(values: list[_Value]) -> str:
    template, remaining = _text(values[0]), iter(values[1:])
    result, offset = [], 0
    while offset < len(template):
        match = _DIRECTIVE.match(template, offset)
        if match is None:
            raise UndecidedCommand("a format that awks take differently")
        offset = match.end()
        result.append(match[5] or _directive(match, remaining))
    return "".join(result)


def _directive(match: re.Match[str], values: Iterator[_Value]) -> str:
    flags, width, precision, kind = match[1], match[2], match[3], match[4]
    if kind == "%":
        if match[0] != "%%":
            raise UndecidedCommand("a width of %")
        return "%"
    value = next(values, None)
    if value is None:
        raise UndecidedCommand("a format without its value")
    specification = f"%{flags}{width}{precision}"
    if kind == "s":
        if flags.strip("-"):
            raise UndecidedCommand("flags of a text")
        return f"{specification}s" % _text(value)
    number = _number(value)
    if kind in "diouxX":
        if abs(number) > _LARGEST_INTEGER or (number < 0 and kind not in "di") or (precision and "0" in flags):
            raise UndecidedCommand("an integer that awks print differently")
        return f"{specification}{kind}" % int(number)
    if kind == "c" or (number == 0 and math.copysign(1, number) < 0):
        raise UndecidedCommand("a format that awks take differently")
    return f"{specification}{kind}" % number


PROGRAMS = {"awk": awk, "gawk": awk, "mawk": awk}
