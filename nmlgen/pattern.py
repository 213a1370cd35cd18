"""Patterns that are compiled at their first search: about what nobody wrote nothing is searched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:
        """`re.compile`, later."""

        def __init__(self, text: str, flags: int = 0) -> None:
            self._text = text
            self._flags = flags

        def __getattr__(self, name: str) -> Any:
            value = getattr(re.compile(self._text, self._flags), name)
            setattr(self, name, value)
            return value


__all__ = ["pattern"]
