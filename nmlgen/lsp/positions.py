"""Places in the words of the Language Server Protocol: lines from 0, and columns counted in units of an encoding."""

from __future__ import annotations

from bisect import bisect_right

from lsprotocol import types

from nmlgen.source import Source, Span

_UNIT_BYTES = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


class Positions:
    """The places of one text. `encoding` is the one whose units columns count: "utf-16" unless agreed otherwise.

    Lines end as the protocol has it, with `\\n`, `\\r\\n` or `\\r`, which is how a Source counts them, too.
    """

    def __init__(self, source: Source, encoding: str = "utf-16") -> None:
        self.source = source
        self.encoding = encoding if encoding in _UNIT_BYTES else "utf-16"

    def range(self, span: Span) -> types.Range:
        """Where a stretch of the text stands."""
        return types.Range(self.at(span.line, span.column), self.at(span.end_line, span.end_column))

    def between(self, start: int, end: int) -> types.Range:
        """Where the characters from offset `start` up to `end` stand."""
        return types.Range(self.position(start), self.position(end))

    def at(self, line: int, column: int) -> types.Position:
        """The place at a line and a column, both counted from 1; the nearest one there is."""
        number = min(max(line, 1), len(self.source.lines))
        return types.Position(number - 1, self._units(self.source.line(number)[: max(column, 1) - 1]))

    def position(self, offset: int) -> types.Position:
        """The place of the character at an offset."""
        starts = self.source.line_starts
        line = bisect_right(starts, offset)
        return self.at(line, offset - starts[line - 1] + 1)

    def offset(self, position: types.Position) -> int:
        """The offset of the character at a place; of the nearest one, for a place that is not in the text."""
        if position.line < 0:
            return 0
        if position.line >= len(self.source.lines):
            return len(self.source.text)
        line = self.source.lines[position.line]
        return self.source.line_starts[position.line] + self._characters(line, position.character)

    def _units(self, text: str) -> int:
        if text.isascii() or self.encoding == "utf-32":
            return len(text)
        return len(text.encode(_codec(self.encoding), "surrogatepass")) // _UNIT_BYTES[self.encoding]

    def _characters(self, line: str, units: int) -> int:
        """How many characters of a line so many units are; one of which only a part is meant does not count."""
        if line.isascii() or self.encoding == "utf-32":
            return min(max(units, 0), len(line))
        taken = 0
        for number, character in enumerate(line):
            taken += self._units(character)
            if taken > units:
                return number
        return len(line)


def _codec(encoding: str) -> str:
    return "utf-16-le" if encoding == "utf-16" else encoding
