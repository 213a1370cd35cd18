"""A setting: a value, how sure we are of it, and everyone who had a say in it."""

from __future__ import annotations

from enum import Enum
from typing import Any

from nmlgen.source import Span
from nmlgen.values import field, frozen

ADVISOR = "advisor"
"""The layer that decides what a spec leaves to it with the word `auto`."""

ASSUMED = "assumed"
"""The layer of what no file says: that a namelist without its master is an ocean's, since it has groups of an ocean."""


class Certainty(Enum):
    """How a value is known: somebody wrote it, the model release assumes it, or only a running shell knows."""

    WRITTEN = "written"
    DEFAULT = "default"
    UNKNOWN = "unknown"


class UndecidedError(Exception):
    """Raised when a value is asked for that is not known; it silences the rule that asked.

    `reason` says so for people, unless the value is known and only what follows from it is not.
    """

    def __init__(self, setting: Setting, reason: str | None = None) -> None:
        super().__init__(setting.name)
        self.setting = setting
        self.reason = reason or f"{setting.name} is not known"


@frozen
class Origin:
    """One say in a setting: the layer that spoke ("spec", "site levante"), where, and what it said.

    `reason` is why, where the layer is the advisor, which decides the word `auto` of a spec. `elements` are what each
    element of a list was read from, where that is known; each has a `span`.
    """

    layer: str
    value: Any
    span: Span | None = None
    reason: str | None = None
    elements: tuple[Any, ...] = field(default=(), eq=False, repr=False)


@frozen
class Setting:
    """One value of an experiment.

    `name` is what its manual calls it ("parallel_nml.num_io_procs"); `history` lists who set it, the last one
    in force. Ask for `value` where the value matters: it raises UndecidedError when nobody can know it.
    `name_span` is where a spec wrote the name.
    """

    name: str
    history: tuple[Origin, ...]
    certainty: Certainty = Certainty.WRITTEN
    name_span: Span | None = None

    @property
    def value(self) -> Any:
        """The effective value."""
        if self.certainty is Certainty.UNKNOWN:
            raise UndecidedError(self)
        return self.history[-1].value

    @property
    def is_written(self) -> bool:
        """Whether a spec, preset or script says it, rather than the release's default."""
        return self.certainty is not Certainty.DEFAULT

    @property
    def origin(self) -> Origin:
        """The say that is in force."""
        return self.history[-1]

    @property
    def span(self) -> Span | None:
        """Where the value in force was written; None for a default."""
        return self.history[-1].span if self.history else None

    def element(self, position: int) -> Span | None:
        """Where an element of its list was written, counted from 0; where the list begins, if that is not known."""
        elements = self.origin.elements if self.history else ()
        span: Span | None = elements[position].span if position < len(elements) else self.span
        return span


def unknown(name: str, span: Span | None = None) -> Setting:
    """A setting whose value cannot be known from the text."""
    return Setting(name, (Origin("unknown", None, span),), Certainty.UNKNOWN)


def written(name: str, value: Any, layer: str, span: Span | None = None) -> Setting:
    """A setting that one layer wrote."""
    return Setting(name, (Origin(layer, value, span),))
