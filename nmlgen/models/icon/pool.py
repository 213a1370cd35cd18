"""Where grids and what is made for them lie below the pool of a site: `schemas/icon-pool.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from nmlgen.models.icon.inputs import NeededFile
from nmlgen.pattern import pattern
from nmlgen.resources import shipped

POOL = "<pool>"
"""What stands for `model.pool` at the beginning of the path of a grid or an input file."""

_NAME = pattern(r"R0*(\d{1,4})B0*(\d{1,2})(?!\d)", re.IGNORECASE)


def files_of_grid(name: str) -> tuple[str, ...]:
    """The files that ICON's own experiments have of a grid, relative to a pool: of the whole sphere (G), of the ocean
    (O), for radiation (R), nests (N02) and limited areas (L). None of a name that is not known."""
    found = _NAME.fullmatch(name)
    return () if found is None else tuple(_data()["grids"].get(f"R{found[1]}B{found[2]}", ()))


def files_for_grid(needed: NeededFile, grid: str) -> tuple[str, ...]:
    """The files that ICON's own experiments bring as the one that is needed, relative to a pool: those made for the
    grid at the path `grid`, and those that go with every grid. `<year>` stands for a year."""
    return tuple(_files_for_grid(needed, grid))


def _files_for_grid(needed: NeededFile, grid: str) -> Iterator[str]:
    for made_for, files in _data()["files"].items():
        if made_for in grid:
            for target, sources in files.items():
                if target == needed.what or needed.matches(target):
                    yield from sources


def downloads() -> str:
    """From where the same files can be had, below the same paths."""
    return str(_data()["downloads"])


@cache
def _data() -> Any:
    return shipped("icon-pool.json")
