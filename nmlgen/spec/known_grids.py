"""Where grids lie below the pool of a site, by their names RnBk: `schemas/icon-grids.json`."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from nmlgen.resources import directory

_NAME = re.compile(r"R0*(\d{1,4})B0*(\d{1,2})(?!\d)", re.IGNORECASE)


def files_of_grid(name: str) -> tuple[str, ...]:
    """The files that ICON's own experiments have of a grid, relative to a pool: of the whole sphere (G), of the ocean
    (O), for radiation (R), nests (N02) and limited areas (L). None of a name that is not known."""
    found = _NAME.fullmatch(name)
    return () if found is None else tuple(_data()["grids"].get(f"R{found[1]}B{found[2]}", ()))


def downloads() -> str:
    """From where the same files can be had, below the same paths."""
    return str(_data()["downloads"])


@cache
def _data() -> Any:
    return json.loads((directory("schemas") / "icon-grids.json").read_text(encoding="utf-8"))
