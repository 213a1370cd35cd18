"""A check of PALM, and how most of them look."""

from __future__ import annotations

from collections.abc import Callable

from nmlgen.models.palm.settings import Settings
from nmlgen.values import frozen

Holds = Callable[[Settings], bool]


@frozen
class Check:
    """PALM stops with `code` where `fails`; `expected` is what it takes. One `of_build` fails only in a PALM that was
    built without something."""

    code: str
    fails: Holds
    expected: str
    of_build: bool = False


def one_of(code: str, name: str, *known: str, when: Holds | None = None) -> Check:
    """That a setting is one of some words, where it matters."""

    def fails(settings: Settings) -> bool:
        return (when is None or when(settings)) and settings.of(name) not in known

    return Check(code, fails, f"one of {', '.join(known)}")


def runs(group: str) -> Holds:
    """Whether the module of a group runs."""
    return lambda settings: settings.has(group)


def where(group: str, fails: Holds) -> Holds:
    """What is looked at only if the module of a group runs."""
    return lambda settings: settings.has(group) and fails(settings)


def is_open(settings: Settings) -> bool:
    """Whether the boundaries are not both cyclic."""
    return settings.is_open
