"""What variables of ICON are for, in a sentence each.

The sentences lie in `schemas/icon-descriptions.json`, by group and variable, in nmlgen's own words; they hold for every
release that has the variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from nmlgen.resources import shipped


def description(group: str, variable: str) -> str | None:
    """What a variable is for; None where nothing is written of it."""
    return _descriptions().get(group.lower(), {}).get(variable.lower())


@cache
def _descriptions() -> Mapping[str, Mapping[str, str]]:
    found: Mapping[str, Mapping[str, str]] = shipped("icon-descriptions.json")
    return found
