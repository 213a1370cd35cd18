"""Groups of settings as namelist text, and as the type by which other programs take namelists."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from nmlgen.experiment.experiment import Group
from nmlgen.namelist.writer import write_assignment

if TYPE_CHECKING:
    from f90nml import Namelist


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


def to_f90nml(groups: tuple[Group, ...]) -> Namelist:
    """The groups as an f90nml.Namelist; repeated groups become a list, as f90nml has it."""
    from f90nml import Namelist

    collected: OrderedDict[str, list[OrderedDict[str, object]]] = OrderedDict()  # f90nml sorts a plain dict
    for group in groups:
        values = OrderedDict((key, setting.origin.value) for key, setting in group.settings.items())
        collected.setdefault(group.name.lower(), []).append(values)
    return Namelist(OrderedDict((name, found if len(found) > 1 else found[0]) for name, found in collected.items()))
