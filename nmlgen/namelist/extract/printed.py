"""The defaults that ICON itself prints.

Each run writes its namelists to `nml.atmo.log` and its kin, with the default of whatever the user changed
(`mo_nml_annotate.f90:14-33`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nmlgen.values import frozen

_GROUP = re.compile(r"NAMELIST\s+(\w+)\s*$")
_VALUE = re.compile(r"\s+([A-Z]\S*)\s+(\S.*)$")
_DEFAULT = re.compile(r"\s+>> DEFAULT:(.*)$")
_ITEM = re.compile(r"(?:(\d+)\*)?('(?:[^']|'')*'(?: \(truncated\))?|[^,\s]+)")
_CUT = re.compile(r"\[\.\.\.\]' \(truncated\)$")
_SUBSCRIPT = re.compile(r"\((\d+)\)")
_DIGITS = 18  # of a count
_CLOSE = 1e-6  # of what it is, as reals of four bytes are printed


@frozen
class Contradiction:
    """A default that ICON prints otherwise than its source was understood."""

    group: str
    variable: str
    printed: str
    read: Any


def read_printed(text: str) -> dict[str, dict[str, str]]:
    """The defaults in a log by group and variable, in lower case, as they are printed: "10*1", "'P1D   '", "T"."""
    groups: dict[str, dict[str, str]] = {}
    group: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if header := _GROUP.match(line):
            group = groups.setdefault(header[1].lower(), {})
        elif default := _DEFAULT.match(line):
            group[name] = default[1].strip()
        elif value := _VALUE.match(line.rstrip()):
            name = value[1].lower()
            group[name] = value[2]
    return groups


def contradictions(document: Mapping[str, Any], printed: Mapping[str, Mapping[str, str]]) -> Iterator[Contradiction]:
    """Where a log does not agree with the registry of its release."""
    known: dict[int, dict[int, Any]] = {}  # the elements of defaults that are not all alike
    for group, variables in printed.items():
        entry = document["groups"].get(group, {"variables": {}})
        for name, text in variables.items():
            variable = entry["variables"].get(re.sub(r"\([^()]*\)", "", name))
            if variable is None or "default" not in variable:
                continue
            first = _SUBSCRIPT.search(name)
            default = variable["default"]
            if isinstance(default, dict):
                if id(default) not in known:
                    known[id(default)] = {int(key): one for key, one in default["set"].items() if key.isdecimal()}
                agree = _agree_each(_elements(text), default, known[id(default)], _number(first[1]) if first else 1)
            else:
                agree = all(_same(one, default) for one, _ in _elements(text))
            if not agree:
                yield Contradiction(group, name, text, variable["default"])


def _elements(text: str) -> Iterator[tuple[str, int]]:
    """The values of a list, each with how many times it stands there."""
    for found in _ITEM.finditer(text):
        yield found[2], _number(found[1]) if found[1] else 1


def _number(digits: str) -> int:
    return int(digits[:_DIGITS])


def _agree_each(printed: Iterable[tuple[str, int]], default: Any, chosen: Mapping[int, Any], number: int) -> bool:
    """Whether the elements from a number on are those of a default that differ."""
    if len(chosen) < len(default["set"]):
        return True  # of several dimensions
    last = max(chosen, default=0)
    for text, count in printed:
        end = number + count
        for one in range(number, min(end, max(number, last + 1) + 1)):  # behind the last one all are alike
            value = chosen.get(one, default.get("fill"))
            if value is not None and not _same(text, value):
                return False
        number = end
    return True


def _same(text: str, value: Any) -> bool:
    if isinstance(value, bool):
        return text == ("T" if value else "F")
    if isinstance(value, str):
        shown = _CUT.sub("", text) if _CUT.search(text) else text.rstrip("'")
        return value.startswith(shown[1:].rstrip()) if _CUT.search(text) else shown[1:].rstrip() == value.rstrip()
    try:
        number = float(text)
    except ValueError:
        return False
    return bool(abs(number - value) <= _CLOSE * max(abs(number), abs(value)))
