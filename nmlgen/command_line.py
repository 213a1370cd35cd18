"""The words of a command line."""

from __future__ import annotations

import re

_PLAIN, _QUOTED = r"(?P<plain>[^ \t\r\n'\"\\{}]+)", r"'(?P<single>[^']*)'|\"(?P<double>[^\"\\]*(?:\\.[^\"\\]*)*)\""
_ESCAPED, _BETWEEN = r"\\(?P<escaped>.)", r"(?P<between>[ \t\r\n]+)"
_PART = re.compile("|".join((_PLAIN.format(""), _QUOTED, _ESCAPED, _BETWEEN)), re.DOTALL)
_PART_OR_COMMENT = re.compile(
    "|".join((_PLAIN.format("#"), _QUOTED, _ESCAPED, _BETWEEN, r"(?P<comment>#[^\n]*)")), re.DOTALL
)
_IN_QUOTES = re.compile(r"\\([\"\\])")


def command_words(text: str, *, comments: bool = False) -> list[str]:
    """The words of a text as `shlex.split` finds them, whose work grows with the square of the longest word.

    Raises ValueError for a quote that is not closed, and for a backslash at the end.

    >>> command_words("a 'b c'd \\\\  ''")
    ['a', 'b cd', ' ', '']
    """
    pattern = _PART_OR_COMMENT if comments else _PART
    words: list[str] = []
    word: list[str] | None = None
    at = 0
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            raise ValueError("No escaped character" if text[at] == "\\" else "No closing quotation")
        at, kind = found.end(), found.lastgroup
        if kind in ("between", "comment"):
            if word is not None:
                words.append("".join(word))
            word = None
            continue
        part = found[kind] if kind is not None else ""
        word = [] if word is None else word
        word.append(_IN_QUOTES.sub(r"\1", part) if kind == "double" else part)
    if word is not None:
        words.append("".join(word))
    return words
