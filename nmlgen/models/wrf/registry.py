"""The namelist groups of a WRF release, in the form of `nmlgen.namelist.registry`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from nmlgen.namelist.registry import Registry
from nmlgen.resources import shipped

RELEASE = "4.7.1"
"""The release by which a namelist is judged."""


@cache
def wrf_registry() -> Registry:
    """The groups that WRF reads from namelist.input: those of its own registry (ARW core), and those that other parts
    read by themselves."""
    return Registry(RELEASE, _document()["groups"])


def known_elsewhere(group: str, name: str) -> str | None:
    """Which other WRF has a variable: "WRF 3.5 to 4.4.2", "WRF 3.3.1 to 4.1 with the NMM core"; None if none that is
    known."""
    found = _document()["elsewhere"].get(group.lower(), {}).get(name.lower())
    if found is None:
        return None
    first, last, *built = found
    releases = first if first == last else f"{first} to {last}"
    return f"WRF {releases}" + (f" with {built[0]}" if built else "")


def has_elsewhere(group: str) -> bool:
    """Whether a WRF built otherwise, or of another release, has variables in a group."""
    return group.lower() in _document()["elsewhere"]


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("wrf", f"{RELEASE}.json")
    return document
