"""Namelist groups as text that a Fortran runtime reads back to the same values.

What gfortran's runtime makes of each form was tried with gfortran 12; a file ends with a newline after the
last "/", without which some runtimes report an end of file.
"""

from __future__ import annotations

from typing import Any

from nmlgen.experiment.experiment import Group, as_list

_WIDTH = 100
_INDENT = " "


def write_groups(groups: tuple[Group, ...], heading: tuple[str, ...] = ()) -> str:
    """The text of a namelist file: comment lines, then the groups in the given order."""
    lines = [f"! {line}".rstrip() for line in heading]
    for group in groups:
        lines.append("")
        if group.label is not None:
            lines.append(f"! output stream: {group.label}")
        lines.append(f"&{group.name}")
        width = max((len(group.spelling(key)) for key in group.settings), default=0)
        for key, setting in group.settings.items():
            lines += write_assignment(group.spelling(key).ljust(width), setting.origin.value)
        lines.append("/")
    return "\n".join(lines) + "\n"


def write_assignment(name: str, value: Any) -> list[str]:
    """The lines of `name = value`; long lists go on under their first element."""
    start = f"{_INDENT}{name} = "
    lines, line = [], start
    elements = [write_value(element) for element in as_list(value)]
    for number, element in enumerate(elements, start=1):
        text = element if number == len(elements) else f"{element},"
        if line.strip() != start.strip() and len(line) + len(text) + 1 > _WIDTH and line.strip():
            lines.append(line.rstrip())
            line = " " * len(start)
        line += text if line in (start, " " * len(start)) else f" {text}"
    return [*lines, line]


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
    if isinstance(value, str) and not any(ord(char) < 32 or ord(char) == 127 for char in value):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    raise ValueError(f"{value!r} cannot be written to a namelist")
