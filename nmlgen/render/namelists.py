"""Groups of settings as namelist text."""

from __future__ import annotations

from nmlgen.experiment.experiment import Group
from nmlgen.namelist.writer import write_assignment


def write_groups(groups: tuple[Group, ...], heading: tuple[str, ...] = ()) -> str:
    """The text of a namelist file: comment lines, then the groups in the given order.

    It ends with a newline after the last "/", without which some Fortran runtimes report an end of file.
    """
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
