"""The namelist groups of an MPAS release, in the form of `nmlgen.namelist.registry`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from nmlgen.namelist.registry import Registry
from nmlgen.resources import shipped

RELEASE = "8.2.2"
"""The release by which a namelist is judged."""


@cache
def mpas_registry(core: str) -> Registry:
    """The groups of a core, "atmosphere" or "init_atmosphere"."""
    return Registry(RELEASE, _document(core)["groups"])


def immutable_streams(core: str) -> tuple[str, ...]:
    """The streams whose contents a core fixes."""
    return tuple(_document(core)["immutable_streams"])


def known_elsewhere(core: str, group: str, name: str) -> str | None:
    """Which other MPAS has a variable: "MPAS 8.3.0"; None if none that is known."""
    found = _document(core)["elsewhere"].get(group.lower(), {}).get(name.lower())
    return None if found is None else f"MPAS {found}"


@cache
def _document(core: str) -> Mapping[str, Any]:
    document: Mapping[str, Any] = shipped("mpas", f"{RELEASE}-{core}.json")
    return document
