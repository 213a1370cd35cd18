"""`wc`, `cat` and `true`."""

from __future__ import annotations

import re

from nmlgen.script.programs.command import Command, Result, UndecidedCommand


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


def cat(command: Command) -> Result:
    """`cat` of its standard input."""
    _, operands = command.options("")
    command.refuse_files(operands)
    return command.text, 0


def true(_: Command) -> Result:
    """`true` and `:`."""
    return "", 0


def false(_: Command) -> Result:
    """`false`."""
    return "", 1


PROGRAMS = {
    "wc": wc,
    "cat": cat,
    "true": true,
    ":": true,
    "false": false,
}
