"""`cut`: the columns of a text."""

from __future__ import annotations

import re

from nmlgen.script.programs.command import Command, Result, UndecidedCommand, joined, lines_of, refuse_length


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
    refuse_length(command.text.count(delimiter) * len(between))
    for line in lines_of(command.text):
        if delimiter in line:
            lines.append(between.join(_chosen(line.split(delimiter), ranges, options)))
        elif "s" not in options:
            lines.append(line)
    return joined(lines), 0


_END = 10**9  # of a range that has none: beyond all columns that a list can name


def _ranges(text: str) -> list[tuple[int, int]]:
    """What a list such as `1,3-5,7-` takes, from 1 on: ranges that do not meet, in ascending order."""
    given: list[tuple[int, int]] = []
    for item in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})|([0-9]{0,9})-([0-9]{0,9})", item)
        if match is None or item == "-":
            raise UndecidedCommand(f"the list {text}")
        first = int(match[1] or match[2] or "1")
        last = int(match[1] or match[3] or _END)
        if first == 0 or last < first:
            raise UndecidedCommand(f"the list {text}")
        given.append((first, last))
    ranges: list[tuple[int, int]] = []
    for first, last in sorted(given):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return ranges


def _chosen(parts: list[str], ranges: list[tuple[int, int]], options: dict[str, str]) -> list[str]:
    """The parts of a line that are taken. No more ranges are looked at than it has parts, however long the list is."""
    is_complement = "C" in options
    chosen: list[str] = []
    behind = 0
    for first, last in ranges:
        if first > len(parts):
            break
        chosen += parts[behind : first - 1] if is_complement else parts[first - 1 : last]
        behind = last
    return chosen + parts[behind:] if is_complement else chosen


PROGRAMS = {"cut": cut}
