"""Programs that count, choose and order lines: `wc`, `head`, `tail`, `sort`, `uniq`, `cat`, `tac`; and `true`."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import groupby

from nmlgen.script.programs.command import Command, Result, UndecidedCommand, joined, lines_of


def wc(command: Command) -> Result:
    """`wc` with one of `-l`, `-w`, `-c` and `-m`: of several, the columns depend on what the input is."""
    pairs, operands = command.options("lwcm", "", {"lines": "l", "words": "w", "bytes": "c", "chars": "m"})
    letters = {letter for letter, _ in pairs}
    if operands or len(letters) != 1:
        raise UndecidedCommand("a file, or several counts")
    text = command.text
    if "l" in letters:
        return f"{text.count(chr(10))}\n", 0
    if re.search(r"[^\t-\r -~]", text):
        raise UndecidedCommand("characters that locales take differently")
    return f"{len(text.split()) if 'w' in letters else len(text)}\n", 0


def _count_of(command: Command) -> tuple[str, str]:
    """The unit, `n` or `c`, and the text of the number of `head` and `tail`."""
    arguments = list(command.arguments)
    if arguments and re.fullmatch(r"-[0-9]+", arguments[0]):
        arguments[0:1] = ["-n", arguments[0][1:]]
    pairs, operands = Command(tuple(arguments), None).options("q", "nc", {"lines": "n", "bytes": "c", "quiet": "q"})
    command.refuse_files(operands)
    counts = [pair for pair in pairs if pair[0] in "nc"] or [("n", "10")]
    if len(counts) > 1 or not re.fullmatch(r"[-+]?[0-9]{1,9}", counts[0][1]):
        raise UndecidedCommand("a count that is unusual")
    return counts[0]


def head(command: Command) -> Result:
    """`head -n N`, `-N`, `-c N`, and `-n -N`: all but the last N."""
    unit, number = _count_of(command)
    if number.startswith("+"):
        raise UndecidedCommand("a count that is unusual")
    items = list(command.ascii_text) if unit == "c" else command.text.splitlines(keepends=True)
    _refuse_other_line_ends(command.text)
    count = int(number)
    if number.startswith("-"):
        return "".join(items[: max(len(items) + count, 0)]), 0
    return "".join(items[:count]), 0


def tail(command: Command) -> Result:
    """`tail -n N`, `-N`, `-c N`, and `-n +N`: from the Nth on."""
    unit, number = _count_of(command)
    items = list(command.ascii_text) if unit == "c" else command.text.splitlines(keepends=True)
    _refuse_other_line_ends(command.text)
    count = abs(int(number))
    if number.startswith("+"):
        return "".join(items[max(count - 1, 0) :]), 0
    return "".join(items[-count:] if count else []), 0


def _refuse_other_line_ends(text: str) -> None:
    if len(text.splitlines()) != len(lines_of(text)):
        raise UndecidedCommand("characters that only Python takes for the ends of lines")


def sort(command: Command) -> Result:
    """`sort`, `-n`, `-r` and `-u`, of lines that all locales order alike."""
    pairs, operands = command.options("nru", "", {"numeric-sort": "n", "reverse": "r", "unique": "u"})
    command.refuse_files(operands)
    letters = {letter for letter, _ in pairs}
    lines = lines_of(command.ascii_text)
    if "n" in letters:
        values = [_leading_number(line) for line in lines]
        if len(set(values)) != len(set(lines)):
            raise UndecidedCommand("lines of the same number, whose order is the locale's")
        lines = [line for _, line in sorted(zip(values, lines, strict=True))]
    else:
        _refuse_mixed(lines)
        lines.sort()
    if "r" in letters:
        lines.reverse()
    return joined(list(dict.fromkeys(lines)) if "u" in letters else lines), 0


def _leading_number(line: str) -> Decimal:
    match = re.match(r"[ \t]*(-?[0-9]{0,30}(?:\.[0-9]{0,30})?)(.*)", line)
    if match is None or re.match(r"[0-9.,]", match[2]):
        raise UndecidedCommand("a number that is unusual")
    digits = match[1] if re.search(r"[0-9]", match[1]) else "0"
    return Decimal(digits)


def _refuse_mixed(lines: list[str]) -> None:
    """Refuse lines unless the locale cannot matter: of digits and small letters; or alike in all but such."""
    if all(re.fullmatch(r"[0-9a-z]*", line) for line in lines) or len(set(lines)) == 1:
        return
    kinds = ("[0-9]", "[a-z]", "[A-Z]")
    if len({len(line) for line in lines}) == 1:
        columns = [set(column) for column in zip(*lines, strict=True)]
        if all(
            len(column) == 1 or any(all(re.fullmatch(kind, character) for character in column) for kind in kinds)
            for column in columns
        ):
            return
    raise UndecidedCommand("an order of lines, which is the locale's")


def uniq(command: Command) -> Result:
    """`uniq`, and with `-c`, `-d` or `-u`."""
    pairs, operands = command.options("cdu", "", {"count": "c", "repeated": "d", "unique": "u"})
    command.refuse_files(operands)
    letters = {letter for letter, _ in pairs}
    groups = [(line, len(list(group))) for line, group in groupby(lines_of(command.text))]
    if "d" in letters:
        groups = [(line, count) for line, count in groups if count > 1]
    if "u" in letters:
        groups = [(line, count) for line, count in groups if count == 1]
    return joined([f"{count:7d} {line}" if "c" in letters else line for line, count in groups]), 0


def cat(command: Command) -> Result:
    """`cat` of its standard input."""
    _, operands = command.options("")
    command.refuse_files(operands)
    return command.text, 0


def tac(command: Command) -> Result:
    """`tac`: the lines from the last to the first."""
    _, operands = command.options("")
    command.refuse_files(operands)
    if command.text and not command.text.endswith("\n"):
        raise UndecidedCommand("a last line without an end")
    return joined(lines_of(command.text)[::-1]), 0


def true(_: Command) -> Result:
    """`true` and `:`."""
    return "", 0


def false(_: Command) -> Result:
    """`false`."""
    return "", 1


PROGRAMS = {
    "wc": wc,
    "head": head,
    "tail": tail,
    "sort": sort,
    "uniq": uniq,
    "cat": cat,
    "tac": tac,
    "true": true,
    ":": true,
    "false": false,
}
