"""The namelist groups of a WRF release, in the form of `nmlgen.namelist.registry`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from nmlgen.namelist.registry import Registry
from nmlgen.resources import shipped

RELEASE = "4.7.1"
"""The release by which a namelist is judged."""
_FIRST = "3.9.1.1"
"""The first of the older releases that are known."""


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
def lacking() -> Mapping[str, str]:
    """The last older release that lacks a variable, by name; one that is not here was in all that are known."""
    found: Mapping[str, str] = _older()["variables"]
    return found


def taken_up_to(source: str, defaults: Iterable[str]) -> str | None:
    """The last older release that takes what the check at a place of the source refuses, as it lacks the check or has
    other `defaults` for these variables; None if none is known."""
    older = _older()
    found = [older["checks"].get(source), *map(older["defaults"].get, defaults)]
    return latest(release for release in found if release is not None)


def may_take(release: str, taken: str | None) -> bool:
    """Whether a release may take what later ones refuse. `taken` is the last known one that takes it; what those before
    the first known one refuse, nobody knows."""
    return latest((release, taken or _FIRST)) != release or release == taken


def latest(releases: Iterable[str]) -> str | None:
    """The latest of some releases; None without one."""
    return max(releases, key=lambda release: [int(part) for part in release.split(".")], default=None)


@cache
def _older() -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("wrf", f"{RELEASE}-older.json")
    return document


@cache
def _document() -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("wrf", f"{RELEASE}.json")
    return document
