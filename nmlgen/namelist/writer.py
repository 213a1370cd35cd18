"""Values and assignments as text that a Fortran runtime reads back to the same values.

What gfortran's runtime makes of each form was tried with gfortran 12.
"""

from __future__ import annotations

import re
from typing import Any

_WIDTH = 100
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def write_assignment(name: str, value: Any) -> list[str]:
    """The lines of `name = value`; a long list goes on below its first element."""
    start = f" {name} = "
    elements = [write_value(element) for element in (value if isinstance(value, (list, tuple)) else [value])]
    if not elements:
        raise ValueError(f"{name.strip()} is an empty list, and a namelist cannot say so")
    words = [f"{element}," for element in elements[:-1]] + elements[-1:]
    lines = [start + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= _WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(" " * len(start) + word)
    return lines


def write_value(value: Any) -> str:
    """One scalar as Fortran reads it: .TRUE., 3, 0.25, 'text'.

    Raises ValueError for what no namelist can hold: control characters, NaN, other types.
    """
    if isinstance(value, bool):
        return ".TRUE." if value else ".FALSE."
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and value - value == 0:
        return repr(value)
    if isinstance(value, str) and not _CONTROL.search(value):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    raise ValueError(f"{value!r} cannot be written to a namelist")
