"""`cut`: the columns of a text."""

from __future__ import annotations

import re

from nmlgen.script.programs.command import Command, Result, UndecidedCommand, joined, lines_of


def cut(command: Command) -> Result:
    """`cut` of fields or characters."""
    names = {
        "bytes": "b", "characters": "c", "fields": "f", "delimiter": "d", "only-delimited": "s", "complement": "C",
        "output-delimiter": "o",
    }  # fmt: skip
    pairs, operands = command.options("sn", "bcfdo", names) if "-o" not in command.arguments else ([], ["-o"])
    command.refuse_files(operands)
    options = dict(pairs)
    kinds = [letter for letter, _ in pairs if letter in "bcf"]
    if len(kinds) != 1:
        raise UndecidedCommand("a cut without one list")
    ranges = _ranges(options[kinds[0]])
    if kinds[0] != "f":
        if not options.keys() <= {"b", "c", "n", "C"}:
            raise UndecidedCommand("a delimiter of characters")
        return joined(["".join(_chosen(list(line), ranges, options)) for line in lines_of(command.ascii_text)]), 0
    delimiter = options.get("d", "\t")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter == "\n":
        raise UndecidedCommand("a delimiter that is no character")
    between = options.get("o", delimiter)
    lines = []
    for line in lines_of(command.text):
        if delimiter in line:
            lines.append(between.join(_chosen(line.split(delimiter), ranges, options)))
        elif "s" not in options:
            lines.append(line)
    return joined(lines), 0


def _ranges(text: str) -> list[tuple[int, int | None]]:
    """The ranges of a list such as `1,3-5,7-`, from 1 on; None has no end."""
    ranges: list[tuple[int, int | None]] = []
    for item in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})|([0-9]{0,9})-([0-9]{0,9})", item)
        if match is None or item == "-":
            raise UndecidedCommand(f"the list {text}")
        first = int(match[1] or match[2] or "1")
        last = int(match[1]) if match[1] else int(match[3]) if match[3] else None
        if first == 0 or (last is not None and last < first):
            raise UndecidedCommand(f"the list {text}")
        ranges.append((first, last))
    return ranges


def _chosen(parts: list[str], ranges: list[tuple[int, int | None]], options: dict[str, str]) -> list[str]:
    is_complement = "C" in options
    return [
        part
        for number, part in enumerate(parts, 1)
        if any(first <= number and (last is None or number <= last) for first, last in ranges) != is_complement
    ]


PROGRAMS = {"cut": cut}
