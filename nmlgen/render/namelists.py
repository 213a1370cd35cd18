"""Groups of settings as namelist text."""

from __future__ import annotations

from functools import lru_cache

from nmlgen.experiment.group import Group
from nmlgen.namelist.writer import write_assignment


def write_groups(groups: tuple[Group, ...], heading: tuple[str, ...] = ()) -> str:
    """The text of a namelist file: comment lines, then the groups in the given order.

    It ends with a newline after the last "/", without which some Fortran runtimes report an end of file.
    """
    return "\n".join((*(f"! {line}".rstrip() for line in heading), *map(_group_text, groups))) + "\n"


@lru_cache(maxsize=1024)
def _group_text(group: Group) -> str:
    """One group with an empty line before it; experiments that share the group share its text.

    Beside a value that the advisor decided stands why.
    """
    lines = ["", f"&{group.name}"] if group.label is None else ["", f"! output stream: {group.label}", f"&{group.name}"]
    width = max((len(group.spelling(key)) for key in group.settings), default=0)
    for key, setting in group.settings.items():
        lines += write_assignment(group.spelling(key).ljust(width), setting.origin.value)
        if setting.origin.reason is not None:
            lines[-1] += f"  ! auto: {setting.origin.reason}"
    return "\n".join((*lines, "/"))
