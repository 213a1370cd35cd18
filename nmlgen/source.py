"""Positions: a text with a name, and a stretch of it that a message can point at."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable
from functools import cached_property
from itertools import accumulate

from nmlgen.values import field, frozen

UNKNOWN = "\ue000"
"""Stands in a text for a stretch that nobody can know before a script runs."""

_LINE_END = re.compile(r"\r\n|\r|\n")  # and not what str.splitlines takes for one, such as U+2028


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    return [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]


def encoded(text: str) -> bytes:
    """The bytes of a text: where it was read from bytes that are not UTF-8, those bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a text that never was bytes
        return text.encode("utf-8", "surrogatepass")


class Stretches:
    """Stretches of a text, each from an offset up to, not including, another; those that touch are one."""

    def __init__(self, stretches: Iterable[tuple[int, int]] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, offset: int) -> bool:
        return self.hold(offset, offset + 1)

    def hold(self, start: int, end: int) -> bool:
        """Whether all characters from `start` up to `end` lie in one of them."""
        number = bisect_right(self._starts, start) - 1
        return number >= 0 and end <= self._ends[number]


@frozen(slots=False, eq=False)
class Source:
    """A text that was read from somewhere: `name` is what a message calls it, `text` is the whole of it."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text without their ends, of which there is one more than there are line ends."""
        return _LINE_END.split(self.text) if "\r" in self.text else self.text.split("\n")

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets at which the lines start."""
        return _line_starts(self.text)

    def line(self, number: int) -> str:
        """Line `number`, counted from 1; empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def span(self, line: int, column: int, length: int = 1) -> Span:
        """The `length` characters that start at `line` and `column`, both counted from 1."""
        return Span(self, line, column, line, column + length)


@frozen
class Span:
    """The stretch of `source` from (line, column) up to, not including, (end_line, end_column), all from 1."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    @property
    def offsets(self) -> tuple[int, int]:
        """Where it starts in the text of its source, and where it ends."""
        starts = self.source.line_starts
        return starts[self.line - 1] + self.column - 1, starts[self.end_line - 1] + self.end_column - 1

    @property
    def text(self) -> str:
        """The characters that stand there."""
        start, end = self.offsets
        return self.source.text[start:end]


class Text:
    """The text of a source together with the places where its lines start.

    `text` is what is read in its place: the same characters at the same offsets, but for those that are UNKNOWN.
    """

    def __init__(self, source: Source, text: str | None = None) -> None:
        self.source = source
        self.text = source.text if text is None else text

    @cached_property
    def _starts(self) -> list[int]:
        if self.text is self.source.text:
            return self.source.line_starts
        return _line_starts(self.text)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def identity(self, start: int, end: int) -> Hashable:
        """What tells characters `start` up to `end` from others: where it is the same in two texts of one source, the
        characters are, and they stand in the same places."""
        return self.text[start:end], start

    def is_left_out(self, start: int, end: int) -> bool:
        """Whether there is nothing from `start` up to `end` because nothing sets what a script puts there."""
        return False

    def line_start(self, offset: int) -> int:
        """The offset at which the line of a character starts."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def span(self, start: int, end: int) -> Span:
        """The characters from `start` up to, not including, `end`."""
        starts = self._starts
        line = bisect_right(starts, start)
        begin = starts[line - 1] - 1
        if line == len(starts) or end < starts[line]:  # within one line, as usual
            return Span(self.source, line, start - begin, line, end - begin)
        return Span(self.source, line, start - begin, *self.position(end))
