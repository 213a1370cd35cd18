"""`sed` of its standard input: `s`, `y`, `d`, `p` and `q`, with addresses."""

from __future__ import annotations

import re
from typing import TypeAlias

from nmlgen.script.posix_expressions import Expression, translate_bre, translate_ere
from nmlgen.script.programs.command import Command, Result, UndecidedCommand, lines_of
from nmlgen.units.whole import decimal
from nmlgen.values import define, frozen

_Address: TypeAlias = "int | str | Expression"
"""A line's number, "$" for the last one, or what the line must match."""

_ESCAPES = {"n": "\n", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "r": "\r"}


@define
class _Step:
    """One command of a script, the lines it is for, and whether a range of them is under way."""

    first: _Address | None
    last: _Address | None
    is_negated: bool
    action: str
    substitution: _Substitution | None = None
    table: dict[str, str] | None = None
    is_within: bool = False
    has_met_first: bool = False


@frozen
class _Substitution:
    """`s/expression/replacement/`: the replacement is texts, and numbers of groups."""

    expression: Expression
    replacement: tuple[str | int, ...]
    number: int
    is_global: bool
    prints: bool

    def apply(self, line: str) -> str | None:
        """The new line, or None where nothing was replaced."""
        result: list[str] = []
        start = copied = count = 0
        last_end = -1
        while start <= len(line) and (match := self.expression.search(line, start)):
            is_empty_behind_match = match.end() == match.start() == last_end
            if not is_empty_behind_match:
                count += 1
                last_end = match.end()
                if count >= self.number:
                    result += [line[copied : match.start()], self._text(match)]
                    copied = match.end()
                    if not self.is_global:
                        break
            start = match.end() + (match.end() == match.start())
        return "".join(result) + line[copied:] if result else None

    def _text(self, match: re.Match[str]) -> str:
        return "".join(part if isinstance(part, str) else match[part] or "" for part in self.replacement)


def sed(command: Command) -> Result:
    """`sed` with `-n`, `-e`, `-E` or `-r`."""
    names = {"quiet": "n", "silent": "n", "regexp-extended": "E", "expression": "e"}
    pairs, operands = command.options("nErsu", "e", names)
    letters = {letter for letter, _ in pairs}
    scripts = [value for letter, value in pairs if letter == "e"]
    if not scripts:
        if not operands:
            raise UndecidedCommand("no script")
        scripts = [operands.pop(0)]
    command.refuse_files(operands)
    script = "\n".join(scripts)
    if script.startswith("#n") or not script.isascii():
        raise UndecidedCommand("a script that begins with #n")
    steps = _Reader(script, bool(letters & {"E", "r"})).steps()
    return _run(steps, command.text, is_quiet="n" in letters)


def _run(steps: list[_Step], text: str, *, is_quiet: bool) -> Result:
    lines = lines_of(text)
    result: list[str] = []
    for number, original in enumerate(lines, 1):
        is_last = number == len(lines)
        end = "" if is_last and not text.endswith("\n") else "\n"
        printed, quits = _edited(steps, original, number, is_last, is_quiet)
        if printed:
            result += ["\n".join(printed), end]
        if quits:
            if not end:
                raise UndecidedCommand("q at a last line without an end")
            break
    return "".join(result), 0


def _edited(steps: list[_Step], line: str, number: int, is_last: bool, is_quiet: bool) -> tuple[list[str], bool]:
    """What is printed for a line, and whether sed ends with it."""
    printed: list[str] = []
    for step in steps:
        if not _applies(step, line, number, is_last):
            continue
        if step.action == "d":
            return printed, False
        if step.action == "q":
            return printed if is_quiet else [*printed, line], True
        if step.action == "p":
            printed.append(line)
        elif step.table is not None:
            line = "".join(step.table.get(character, character) for character in line)
        elif step.substitution is not None:
            changed = step.substitution.apply(line)
            if changed is not None:
                line = changed
                printed += [line] * step.substitution.prints
    return printed if is_quiet else [*printed, line], False


def _applies(step: _Step, line: str, number: int, is_last: bool) -> bool:
    return _is_addressed(step, line, number, is_last) != step.is_negated


def _is_addressed(step: _Step, line: str, number: int, is_last: bool) -> bool:
    if step.first is None:
        return True
    if step.last is None:
        return _is_at(step.first, line, number, is_last)
    if step.is_within:
        step.is_within = not (
            _is_at(step.last, line, number, is_last) or (isinstance(step.last, int) and number >= step.last)
        )
        return not isinstance(step.last, int) or number <= step.last
    if isinstance(step.first, int):
        step.has_met_first |= number == step.first
        if number > step.first and not step.has_met_first:
            raise UndecidedCommand("a range whose first line was deleted")
    if not _is_at(step.first, line, number, is_last):
        return False
    step.is_within = not (isinstance(step.last, int) and step.last <= number) and not (step.last == "$" and is_last)
    return True


def _is_at(address: _Address, line: str, number: int, is_last: bool) -> bool:
    if isinstance(address, Expression):
        return address.is_found(line)
    return is_last if address == "$" else number == address


class _Reader:
    """Reads a script."""

    def __init__(self, script: str, is_extended: bool) -> None:
        self._script = script
        self._translate = translate_ere if is_extended else translate_bre
        self._offset = 0

    def steps(self) -> list[_Step]:
        """All commands of the script."""
        steps = []
        self._skip(" \t\n;")
        while self._offset < len(self._script):
            steps.append(self._step())
            self._skip(" \t")
            if self._offset < len(self._script) and self._script[self._offset] not in ";\n":
                raise UndecidedCommand("a script that goes on")
            self._skip(" \t\n;")
        return steps

    def _skip(self, characters: str) -> None:
        while self._offset < len(self._script) and self._script[self._offset] in characters:
            self._offset += 1

    def _next(self) -> str:
        self._offset += 1
        return self._script[self._offset - 1 : self._offset]

    def _step(self) -> _Step:
        first = self._address()
        last = None
        self._skip(" \t")
        if first is not None and self._script.startswith(",", self._offset):
            self._offset += 1
            self._skip(" \t")
            last = self._address()
            if last is None:
                raise UndecidedCommand("a range without an end")
        self._skip(" \t")
        is_negated = self._script.startswith("!", self._offset)
        self._offset += is_negated
        self._skip(" \t")
        action = self._next()
        if action in ("d", "p", "q"):
            if action == "q" and last is not None:
                raise UndecidedCommand("q of a range")
            return _Step(first, last, is_negated, action)
        if action == "s":
            return _Step(first, last, is_negated, action, substitution=self._substitution())
        if action == "y":
            return _Step(first, last, is_negated, action, table=self._table())
        raise UndecidedCommand(f"the command {action}")

    def _address(self) -> _Address | None:
        match = re.compile(r"[0-9]{1,9}").match(self._script, self._offset)
        if match:
            self._offset = match.end()
            if int(match[0]) == 0 or self._script.startswith("~", self._offset):
                raise UndecidedCommand("an address of GNU")
            return int(match[0])
        if self._script.startswith("$", self._offset):
            self._offset += 1
            return "$"
        if self._script.startswith("/", self._offset):
            self._offset += 1
            expression = self._expression("/")
            ignores_case = self._script.startswith("I", self._offset)
            self._offset += ignores_case
            return self._translate(expression, ignore_case=ignores_case)
        if self._script.startswith("\\", self._offset):
            raise UndecidedCommand("an address of another delimiter")
        return None

    def _part(self, delimiter: str) -> str:
        """The text up to the next delimiter without a backslash, which is passed over; backslashes are kept."""
        start = self._offset
        while self._offset < len(self._script):
            character = self._next()
            if character == delimiter:
                return self._script[start : self._offset - 1]
            if character == "\\":
                self._offset += 1
        raise UndecidedCommand("a command without its end")

    def _expression(self, delimiter: str) -> str:
        """A regular expression, in which `\\n` is the end of a line and the delimiter needs no backslash any more."""
        text = self._part(delimiter)
        if "\n" in text or not text:
            raise UndecidedCommand("an expression that is empty, or of several lines")
        result, in_brackets, offset = "", False, 0
        for match in re.finditer(r"\\(.)|\[\^?\]?(?:\[:[a-z]+:\]|\[|[^][])*(?:\]|\Z)|.", text):
            escaped = match[1]
            offset = match.end()
            if escaped == delimiter and delimiter in "/,:;#@=_-~!%\"'&<> ":
                result += delimiter
            elif escaped == delimiter or (not escaped and len(match[0]) > 1 and "\\" in match[0]):
                raise UndecidedCommand("a delimiter or a backslash between brackets")
            elif escaped and escaped in _ESCAPES:
                result += _ESCAPES[escaped]
            else:
                result += match[0]
        if in_brackets or offset != len(text):
            raise UndecidedCommand("an expression that ends in a backslash")
        return result

    def _delimiter(self) -> str:
        delimiter = self._next()
        if delimiter in ("", "\n", "\\"):
            raise UndecidedCommand("a command without a delimiter")
        return delimiter

    def _substitution(self) -> _Substitution:
        delimiter = self._delimiter()
        source = self._expression(delimiter)
        replacement = self._replacement(self._part(delimiter), delimiter)
        match = re.compile(r"[gpiI0-9]*").match(self._script, self._offset)
        flags = match[0] if match else ""
        self._offset += len(flags)
        numbers = re.findall("[0-9]+", flags)
        number = decimal(numbers[0]) if numbers else 1
        if len(numbers) > 1 or number is None or not 0 < number < 10_000 or flags.count("p") > 1:
            raise UndecidedCommand("flags that are unusual")
        expression = self._translate(source, ignore_case="i" in flags.lower())
        if any(isinstance(part, int) and part > expression.pattern.groups for part in replacement):
            raise UndecidedCommand("a group that is not there")
        return _Substitution(expression, replacement, number, "g" in flags, "p" in flags)

    @staticmethod
    def _replacement(text: str, delimiter: str) -> tuple[str | int, ...]:
        parts: list[str | int] = []
        for match in re.finditer(r"\\(.)|.", text, re.DOTALL):
            escaped = match[1]
            if match[0] == "&":
                parts.append(0)
            elif not escaped:
                parts.append(match[0])
            elif (group := decimal(escaped)) is not None:
                parts.append(group)
            elif escaped == "&" == delimiter:
                raise UndecidedCommand("& as a delimiter")
            elif escaped in _ESCAPES:
                parts.append(_ESCAPES[escaped])
            elif escaped.isalpha():
                raise UndecidedCommand(f"the escape \\{escaped}")
            else:
                parts.append(escaped)
        return tuple(parts)

    def _table(self) -> dict[str, str]:
        delimiter = self._delimiter()
        sets = []
        for text in (self._part(delimiter), self._part(delimiter)):
            matches = re.findall(r"\\(.)|(.)", text, re.DOTALL)
            if any(escaped and escaped not in (delimiter, "\\", "n") for escaped, _ in matches):
                raise UndecidedCommand("a backslash in y")
            sets.append([("\n" if escaped == "n" else escaped) or plain for escaped, plain in matches])
        if len(sets[0]) != len(sets[1]) or len(set(sets[0])) != len(sets[0]):
            raise UndecidedCommand("y of sets of different length")
        return dict(zip(sets[0], sets[1], strict=True))


PROGRAMS = {"sed": sed}
