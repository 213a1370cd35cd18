"""`grep` of its standard input."""

from __future__ import annotations

import re

from nmlgen.script.posix_expressions import Expression, translate_bre, translate_ere
from nmlgen.script.programs.command import Command, Result, UndecidedCommand, joined, lines_of

_NAMES = {
    "count": "c", "invert-match": "v", "ignore-case": "i", "only-matching": "o", "extended-regexp": "E",
    "fixed-strings": "F", "word-regexp": "w", "line-regexp": "x", "quiet": "q", "silent": "q", "regexp": "e",
    "max-count": "m", "no-messages": "s", "no-filename": "h", "line-number": "n",
}  # fmt: skip


def grep(command: Command) -> Result:
    """`grep` with `-c -v -i -o -n -q -w -x -m`, its pattern basic, `-E` or `-F`; 1 where it finds nothing."""
    pairs, operands = command.options("cvioEFGwxqshn", "em", _NAMES)
    options = dict(pairs)
    patterns = [value for letter, value in pairs if letter == "e"]
    if not patterns:
        if not operands:
            return "", 2
        patterns = [operands.pop(0)]
    command.refuse_files(operands)
    if not all("\n" not in pattern for pattern in patterns) or len(options.keys() & {"E", "F", "G"}) > 1:
        raise UndecidedCommand("patterns of several lines or kinds")
    lines = lines_of(command.ascii_text)
    limit = options.get("m", "")
    if re.search(r"[\0-\x08\x0e-\x1f]", command.text) or (limit and not re.fullmatch("[0-9]{1,9}", limit)):
        raise UndecidedCommand("an input that may be binary")
    if "o" in options:
        return _only_matching(patterns, options, lines)
    matching = [_is_found(patterns, options, line) != ("v" in options) for line in lines]
    numbered = [(number, line) for number, (line, found) in enumerate(zip(lines, matching, strict=True), 1) if found]
    chosen = numbered[: int(limit)] if limit else numbered
    status = 0 if chosen else 1
    if "q" in options:
        return "", status
    if "c" in options:
        return f"{len(chosen)}\n", status
    return joined([f"{number}:{line}" if "n" in options else line for number, line in chosen]), status


def _is_found(patterns: list[str], options: dict[str, str], line: str) -> bool:
    return any(_is_match(pattern, options, line) for pattern in patterns)


def _is_match(pattern: str, options: dict[str, str], line: str) -> bool:
    if not pattern:
        if options.keys() & {"w", "x", "v"}:
            raise UndecidedCommand("an empty pattern")
        return True
    if "x" in options and "F" in options and "i" not in options:
        return pattern == line
    if not options.keys() & {"w", "x"}:
        return _expression(pattern, options).is_found(line)
    if "x" in options and "w" in options:
        raise UndecidedCommand("-w and -x")
    expression = _expression(pattern, options)
    if expression.loops > 2:
        raise UndecidedCommand("a word pattern that may take too long")
    expression.is_found(line)  # whether the text is one to search in
    source = expression.pattern.pattern
    around = (r"(?<![A-Za-z0-9_])(?:", r")(?![A-Za-z0-9_])") if "w" in options else (r"\A(?:", r")\Z")
    found = re.search(f"{around[0]}{source}{around[1]}", line, expression.pattern.flags)
    if found and not found[0]:
        raise UndecidedCommand("an empty word")
    return found is not None


def _expression(pattern: str, options: dict[str, str]) -> Expression:
    ignore_case = "i" in options
    if "F" in options:
        return translate_ere([(pattern, True)], ignore_case=ignore_case)
    return (translate_ere if "E" in options else translate_bre)(pattern, ignore_case=ignore_case)


def _only_matching(patterns: list[str], options: dict[str, str], lines: list[str]) -> Result:
    if len(patterns) > 1 or not patterns[0] or options.keys() & set("vwxcqmn"):
        raise UndecidedCommand("-o with other options")
    expression = _expression(patterns[0], options)
    found = []
    for line in lines:
        start = 0
        while match := expression.search(line, start):
            if not match[0]:
                raise UndecidedCommand("an empty match")
            found.append(match[0])
            start = match.end()
    return joined(found), 0 if found else 1


def egrep(command: Command) -> Result:
    """`grep -E`."""
    return grep(Command(("-E", *command.arguments), command.stdin))


def fgrep(command: Command) -> Result:
    """`grep -F`."""
    return grep(Command(("-F", *command.arguments), command.stdin))


PROGRAMS = {"grep": grep, "egrep": egrep, "fgrep": fgrep}
