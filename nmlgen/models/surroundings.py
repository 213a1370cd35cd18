"""What lies beside a namelist, and what somebody says that no namelist does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nmlgen.models.reading import Beside
from nmlgen.source import Source
from nmlgen.values import field, frozen

CELLS, LEVELS = "cells", "levels"
"""What somebody may say: how many cells a mesh has, and how many levels."""


def _no_lengths(_name: str) -> Mapping[str, int]:
    return {}


@frozen
class Surroundings:
    """Files of the directory of a namelist: their text, and the lengths of the dimensions of those of NetCDF, none of
    what is not there; and what somebody `said`."""

    text: Beside
    lengths: Callable[[str], Mapping[str, int]] = _no_lengths
    said: Mapping[str, int] = field(factory=dict)

    def __call__(self, name: str) -> Source | None:
        """A file by its name; None if there is none. Raises InputError if it cannot be read."""
        return self.text(name)


def surroundings(beside: Beside) -> Surroundings:
    """The same, where no more than texts are given, too."""
    return beside if isinstance(beside, Surroundings) else Surroundings(beside)
