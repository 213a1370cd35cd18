"""The fields that WRF writes to a stream, and their bytes at a time of output (`Registry/Registry.EM` and what it
includes).

Bytes are those of the fields as they are: netCDF-4 may compress them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from math import prod
from typing import Any

from nmlgen.models.wrf.registry import RELEASE
from nmlgen.resources import shipped

HISTORY, RESTART = "0", "r"
_DATE = 19
"""Characters of a date, of which each time has one."""
_SIDES = {"i": "e_we", "j": "e_sn", "k": "e_vert"}
_LENGTHS = {"seed_dim": 8}
"""What is no setting: the numbers of gfortran's and Intel's random seed are 8 and 2."""


class UnknownSizeError(Exception):
    """A length that no setting says."""


def bytes_at_a_time(stream: str, value: Callable[[str], Any]) -> int:
    """The bytes of a time of a stream: "r" of restarts, "0" of the history, else the number of an auxiliary one.

    `value` gives a setting by its name, None where there is no such. Raises UnknownSizeError.
    """
    return _DATE + sum(
        int(field["bytes"]) * prod(_length(side, value) for side in field["dimensions"]) * _levels(field, stream)
        for field in _fields()
        if stream in field["streams"] and _is_there(field, value)
    )


def _levels(field: Mapping[str, Any], stream: str) -> int:
    """How many times of its own a field has: restarts have both."""
    return int(field.get("levels", 1)) if stream == RESTART else 1


def _is_there(field: Mapping[str, Any], value: Callable[[str], Any]) -> bool:
    return "if" not in field or any(_holds(condition, value) for condition in field["if"])


def _holds(condition: str, value: Callable[[str], Any]) -> bool:
    for part in condition.split(".and."):
        name, _, expected = part.partition("==")
        found = value(name.strip())
        if found is None:
            return False
        if isinstance(found, bool):
            found = int(found)
        if str(found).strip().lower() != expected.strip().strip("'\""):
            return False
    return True


def _length(side: int | str, value: Callable[[str], Any]) -> int:
    if isinstance(side, int):
        return side
    if side.startswith("*"):  # the mesh of fires, which is finer
        name = _SIDES[side[1]]
        return _number(name, value) * _number("sr_x" if side[1] == "i" else "sr_y", value)
    if side.removesuffix("s") in _SIDES:
        return _number(_SIDES[side[0]], value) - (0 if side.endswith("s") else 1)
    return _LENGTHS[side] if side in _LENGTHS else _number(side, value)


def _number(name: str, value: Callable[[str], Any]) -> int:
    found = value(name)
    if found is None:
        raise UnknownSizeError(f"{name} is not known")
    if int(found) < 0:
        raise UnknownSizeError(f"{name} is {found}")
    return int(found)


@cache
def _fields() -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = shipped("wrf", f"{RELEASE}-fields.json")["fields"]
    return found
