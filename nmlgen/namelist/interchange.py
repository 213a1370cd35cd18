"""f90nml's Namelist as the type by which other programs take and give namelists."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from nmlgen.experiment.experiment import Group

if TYPE_CHECKING:
    from f90nml import Namelist


def to_f90nml(groups: tuple[Group, ...]) -> Namelist:
    """The groups as an f90nml.Namelist; repeated groups become a list, as f90nml has it."""
    from f90nml import Namelist

    collected: OrderedDict[str, list[OrderedDict[str, object]]] = OrderedDict()  # f90nml sorts a plain dict
    for group in groups:
        values = OrderedDict((key, setting.origin.value) for key, setting in group.settings.items())
        collected.setdefault(group.name.lower(), []).append(values)
    return Namelist(OrderedDict((name, copies if len(copies) > 1 else copies[0]) for name, copies in collected.items()))
