"""What goes to a terminal: our own colours, and nothing else that it would obey."""

from __future__ import annotations

import re
from typing import Any, TextIO

from nmlgen.visible import visible_lines

_COLOUR = re.compile(r"(\x1b\[[0-9;]{1,8}m)")


class Terminal:
    """A terminal that gets text of others only as it may be shown. `unfiltered` is the stream, for what draws on it."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write text with its colours."""
        pieces = _COLOUR.split(text)
        pieces[::2] = map(visible_lines, pieces[::2])
        self.unfiltered.write("".join(pieces))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def unfiltered(stream: Any) -> TextIO:
    """The stream to draw on: progress bars move the cursor."""
    found: TextIO = getattr(stream, "unfiltered", stream)
    return found
