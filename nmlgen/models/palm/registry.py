"""The namelist groups of a PALM release, in the form of `nmlgen.namelist.registry`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

from nmlgen.namelist.registry import Registry
from nmlgen.resources import shipped

RELEASE = "25.10.1"
"""The release by which a namelist is judged."""

_ELSEWHERE = ("envpar", "global", "rahmen")
"""Groups of the file ENVPAR, and those that PALM writes for plots."""
_OF_RUN = ("initialization_parameters", "runtime_parameters")


@cache
def palm_registry() -> Registry:
    """The groups that PALM reads from PARIN."""
    groups = _document()["groups"]
    return Registry(RELEASE, {name: group for name, group in groups.items() if name not in _ELSEWHERE})


def key(group: str, name: str) -> str:
    """By what a variable is known: its name, or "group.name" where other groups have others of that name. The two
    groups of the run share theirs."""
    return f"{group}.{name}" if name in _ambiguous() and group not in _OF_RUN else name


def known_elsewhere(group: str, name: str = "") -> str | None:
    """Which other PALM has a group, or a variable of it: "PALM 23.10", "PALM of 2018"; None if none that is known."""
    known = _document()["elsewhere"].get(group.lower())
    releases = None if known is None else known.get(name.lower())
    if releases is None:
        return None
    return f"PALM {releases[0]}" if "." in releases[0] else f"PALM of {releases[0]}"


@cache
def _ambiguous() -> frozenset[str]:
    count = Counter(name for group in _document()["groups"].values() for name in group["variables"])
    return frozenset(name for name, number in count.items() if number > 1)


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("palm", f"{RELEASE}.json")
    return document
