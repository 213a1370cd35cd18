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
    """Which other WRF has a variable: "WRF 3.5 to 4.4.2"; None if none from 3.0 on has it."""
    found = _document()["elsewhere"].get(group.lower(), {}).get(name.lower())
    if found is None:
        return None
    first, last, *built = found
    releases = first if first == last else f"{first} to {last}"
    return f"WRF {releases}" + (" with chemistry" if built else "")


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("wrf", f"{RELEASE}.json")
    return document
