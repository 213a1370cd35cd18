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
_VALUE = re.compile(r"\s+([A-Z]\w*\S*)\s+(\S.*?)\s*$")
_DEFAULT = re.compile(r"\s+>> DEFAULT:(.*)$")
_ITEM = re.compile(r"(?:(\d+)\*)?('(?:[^']|'')*'(?: \(truncated\))?|[^,\s]+)")
_CUT = re.compile(r"\[\.\.\.\]' \(truncated\)$")
_SUBSCRIPT = re.compile(r"\((\d+)\)")
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
        elif value := _VALUE.match(line):
            name = value[1].lower()
            group[name] = value[2]
    return groups


def contradictions(document: Mapping[str, Any], printed: Mapping[str, Mapping[str, str]]) -> Iterator[Contradiction]:
    """Where a log does not agree with the registry of its release."""
    for group, variables in printed.items():
        entry = document["groups"].get(group, {"variables": {}})
        for name, text in variables.items():
            variable = entry["variables"].get(re.sub(r"\([^()]*\)", "", name))
            if variable is None or "default" not in variable:
                continue
            first = _SUBSCRIPT.search(name)
            if not _agree(_elements(text), variable["default"], int(first[1]) if first else 1):
                yield Contradiction(group, name, text, variable["default"])


def _elements(text: str) -> Iterator[str]:
    for found in _ITEM.finditer(text):
        yield from [found[2]] * int(found[1] or 1)


def _agree(printed: Iterable[str], default: Any, first: int) -> bool:
    if not isinstance(default, dict):
        return all(_same(text, default) for text in printed)
    chosen = {int(key): value for key, value in default["set"].items() if key.isdecimal()}
    if len(chosen) < len(default["set"]):
        return True  # of several dimensions
    for number, text in enumerate(printed, start=first):
        value = chosen.get(number, default.get("fill"))
        if value is not None and not _same(text, value):
            return False
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
