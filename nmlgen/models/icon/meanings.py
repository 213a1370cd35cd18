"""What output variables of ICON mean, in a few words, and their units.

The data lie in `schemas/icon-output-meanings.json`: by name the meaning and the unit, each null where it is not known.
They are those of ICON 2024.10 (`add_var` of its variable lists) and hold for other releases that have the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from nmlgen.resources import shipped


def meaning(name: str) -> str | None:
    """What a variable means, with its unit: "temperature at 2 m [K]"; None where nothing is known."""
    said, unit = _meanings().get(name.lower(), (None, None))
    shown = None if unit is None else f"[{unit}]"
    return " ".join(part for part in (said, shown) if part) or None


@cache
def _meanings() -> Mapping[str, tuple[str | None, str | None]]:
    found = shipped("icon-output-meanings.json")
    return {name: (said, unit) for name, (said, unit) in found.items()}
