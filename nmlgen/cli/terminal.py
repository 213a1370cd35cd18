"""What goes to a terminal, or to a log that somebody looks at later: our own colours, and nothing else that a terminal
or a CI service would obey."""

from __future__ import annotations

import re
import sys
from typing import Any, TextIO

import click

from nmlgen.errors import NmlgenError
from nmlgen.visible import Shown, visible, visible_lines

_COLOUR = re.compile(r"(\x1b\[(?!(?:[0-9;]*;)?8[;m])[0-9;]{1,8}m)")  # all but what hides the text behind it
_COMMAND = re.compile(r"(?<![^\S\n])([^\S\n]*)([:#])(?=:|#(?:vso)?\[)")
"""How a line begins that is a command to GitHub or Azure, which pass over blanks: `::error`, `##[error]`."""
_LATER_COMMAND = re.compile(rf"(?<=\n){_COMMAND.pattern}")


def error_line(error: NmlgenError | OSError) -> str:
    """What is said of an error that ends a command; no line of it begins as somebody else wants."""
    if isinstance(error, NmlgenError):
        return "nmlgen: error: " + "\n  ".join(visible_lines(str(error)).splitlines())
    where = f"{visible(str(error.filename))}: " if error.filename else ""
    return f"nmlgen: error: {where}{(error.strerror or str(error)).lower()}"


class Terminal:
    """A stream that gets text of others only as it may be shown. `unfiltered` is the stream itself, for what draws on
    it, for commands to a CI service that are meant, and for contents of files."""

    def __init__(self, stream: TextIO) -> None:
        self.unfiltered = stream
        self._has_colours = stream.isatty()
        self._begins_line = True

    def write(self, text: str) -> int:
        """Write text as it may be shown: its colours are those of others."""
        return self._write([text], len(text))

    def write_coloured(self, text: str) -> int:
        """Write text of ours with its colours, which a terminal alone has; what is of others in it has none."""
        return self._write(_COLOUR.split(text) if self._has_colours else [text], len(text))

    def _write(self, pieces: list[str], length: int) -> int:
        pieces[::2] = map(visible_lines, pieces[::2])
        shown = "".join(pieces)
        if self._begins_line:
            shown = _COMMAND.sub(_number, shown, count=1) if _COMMAND.match(shown) else shown
        self.unfiltered.write(_LATER_COMMAND.sub(_number, shown))
        self._begins_line = shown.endswith("\n") if shown else self._begins_line
        return length

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unfiltered, name)


def _number(match: re.Match[str]) -> str:
    return f"{match[1]}\\u{ord(match[2]):04x}"


def unfiltered(stream: Any) -> TextIO:
    """The stream to draw on: progress bars move the cursor."""
    found: TextIO = getattr(stream, "unfiltered", stream)
    return found


def show_coloured(text: str, stream: TextIO | None = None) -> None:
    """Print lines: those that are `Shown` with the colours that they have."""
    stream = sys.stdout if stream is None else stream
    write = getattr(stream, "write_coloured", stream.write) if isinstance(text, Shown) else stream.write
    write(text + "\n")
    stream.flush()


def show_content(text: str) -> None:
    """Print the contents of a file: byte for byte, but on a terminal as they may be shown."""
    from nmlgen.files import encode

    click.echo(text if sys.stdout.isatty() else encode(text), nl=False)
