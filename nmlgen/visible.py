"""Text of others, made fit to be shown: nothing in it moves a cursor, turns a line around or begins a new one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from nmlgen.pattern import pattern

_MARKS = (
    "[\x00-\x1f\x7f-\x9f"  # control characters, of which \x1b and \x9b begin a terminal's commands
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of what follows
    "\u2028\u2029"  # ends of lines and paragraphs
    "\ud800-\udfff"  # bytes that are not UTF-8
    "\U000e0000-\U000e007f]"  # tags, which nobody sees
)
_OBEYED = pattern(_MARKS)
_WITHOUT_TAB = pattern(_MARKS.replace("[\x00-\x1f", "[\x00-\x08\x0a-\x1f"))
_WITHOUT_SPACE = pattern(_MARKS.replace("[\x00-\x1f", "[\x00-\x08\x0b-\x1f"))


def visible(text: str) -> str:
    r"""The text with the number of each character that a terminal would obey in its place, as `\u001b`."""
    return _OBEYED.sub(_number, text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines: tabs and line ends stay."""
    return _WITHOUT_SPACE.sub(_number, text)


class Shown(str):
    """A text that is fit to be shown, and may have colours of ours: nothing in it is of others but what was made
    visible."""

    __slots__ = ()


def joined(separator: str, parts: Iterable[str]) -> Shown:
    """The parts, made visible where nobody has said that they are `Shown`."""
    return Shown(separator.join(part if isinstance(part, Shown) else visible_lines(part) for part in parts))


def pictured(line: str) -> str:
    """A line, as long as it is, with a picture for each character that a terminal would obey; tabs stay."""
    return _WITHOUT_TAB.sub(_picture, line)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 32 else "\ufffd"


def visible_json(text: str) -> str:
    """The text of a JSON document, the same to whoever reads it, with escapes for what a terminal would obey."""
    return _WITHOUT_SPACE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def csv_cell(text: str) -> str:
    """The text as a cell of CSV; one that a spreadsheet would take for a formula gets an apostrophe before it, and what
    a terminal would obey is its number."""
    text = f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
    return visible_lines(text)


_FORMULA = pattern(r"[=+\-@\t\r\n]")
_NUMBER = pattern(r"[-+](?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
