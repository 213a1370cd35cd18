"""Changes to a namelist file that touch only what they are about: comments, layout and all else stay."""

from __future__ import annotations

from typing import Any

from nmlgen.errors import InputError
from nmlgen.namelist.reader import read
from nmlgen.namelist.syntax import Document, Group, Item, Value, trivia
from nmlgen.namelist.writer import write_assignment, write_value
from nmlgen.source import Source


def set_value(document: Document, group: str, name: str, value: Any, copy: int = 1) -> Document:
    """The document with a variable set to a value, or to a list of values.

    `name` is a variable or a designator such as `pa(2)%a`, in any case; `copy` counts the groups of that name from
    1. Where the designator is assigned to more than once, the last assignment is changed, because that one counts.
    A value that stands there already keeps its spelling. A variable that is not set yet is added at the end of the
    group. Raises InputError if there is no such group, ValueError for a value that no namelist can hold.
    """
    found = [item for item in _group(document, group, copy).items if item.name == _plain(name)]
    if not found:
        return add(document, group, name, value, copy)
    item = found[-1]
    words = _words(name, value)
    if not item.values:
        return _replaced(document, item.end, item.end, f" {', '.join(words)}")
    elements = value if isinstance(value, (list, tuple)) else [value]
    pieces: list[str] = []
    at = item.values[0].start
    kept = item.values[: len(words)]
    for written, word, element in zip(kept, words, elements, strict=False):
        pieces += [document.source.text[at : written.start], _piece(written, word, element)]
        at = written.end
    if len(words) > len(kept):
        pieces += [f", {word}" for word in words[len(kept) :]]
    else:
        pieces.append(_without_values(item, at, item.end))
    return _replaced(document, item.values[0].start, item.end, "".join(pieces))


def add(document: Document, group: str, name: str, value: Any, copy: int = 1) -> Document:
    """The document with an assignment more, at the end of a group.

    Raises InputError if there is no such group or if it is not closed, ValueError for a value that no namelist can
    hold.
    """
    found = _group(document, group, copy)
    if found.terminator is None:
        raise InputError(f"&{found.name} is not closed: there is no place to add {name}")
    text = document.source.text
    end = found.terminator.start
    line_start = found.origin.line_start(end)
    words = _words(name, value)
    if text[line_start:end].strip(" \t") or line_start <= found.start:
        blank = "" if text[end - 1] in " \t\r\n" else " "
        return _replaced(document, end, end, f"{blank}{name} = {', '.join(words)} ")
    line_end = "\r\n" if text[:line_start].endswith("\r\n") else "\n"
    indent = _indent(found, text)
    lines = write_assignment(name, value)
    shift = len(indent) - 1  # write_assignment indents by one blank
    moved = [indent + lines[0][1:], *(" " * shift + line for line in lines[1:])]
    return _replaced(document, line_start, line_start, "".join(f"{line}{line_end}" for line in moved))


def remove(document: Document, group: str, name: str, copy: int = 1) -> Document:
    """The document without the assignments to a variable, or to exactly the designator given: `pa(2)%a`.

    A line that holds nothing else goes with them; comments stay. Raises InputError if there is no such group or
    assignment.
    """
    found = _group(document, group, copy).named(name)
    if not found:
        raise InputError(f"&{group} does not set {name}")
    for item in reversed(found):
        document = _without(document, item)
    return document


def _without(document: Document, item: Item) -> Document:
    text = document.source.text
    start, end = item.start, item.end
    rest = _without_values(item, item.equals + 1, end) if item.values else ""
    while end < len(text) and text[end] in " \t":
        end += 1
    if end < len(text) and text[end] in ",;":
        end += 1
    line_start = item.origin.line_start(start)
    if rest.strip():
        return _replaced(document, start, end, rest.lstrip(" \t"))
    after = end
    while after < len(text) and text[after] in " \t\r":
        after += 1
    if not text[line_start:start].strip(" \t") and text.startswith("\n", after):
        return _replaced(document, line_start, after + 1, "")
    blank = "" if start and text[start - 1] in " \t\r\n" else " "
    return _replaced(document, start, end, blank)


def _without_values(item: Item, start: int, end: int) -> str:
    """What is left of a list of values without them: comments, and the line ends that close them."""
    pieces = []
    gaps = [start]
    for value in item.values:
        if value.start >= start:
            gaps += [value.start, value.end]
    gaps.append(end)
    commented = False
    for low, high in zip(gaps[::2], gaps[1::2], strict=True):
        for token in trivia(item.origin, low, high):
            if token.kind == "comment":
                pieces.append(f" {token.text}")
                commented = True
            elif token.kind == "blank" and commented and "\n" in token.text:
                pieces.append(token.text)
                commented = False
    return "".join(pieces)


def _piece(written: Value, word: str, element: Any) -> str:
    """The text of one value: as it was if it means the same."""
    if written.is_comment:
        return f"{word} "
    same = type(written.value) is type(element) and written.value == element and written.kind not in ("null", "word")
    return written.text if same and written.repeat == 1 and str(element) == str(written.value) else word


def _words(name: str, value: Any) -> list[str]:
    elements = list(value) if isinstance(value, (list, tuple)) else [value]
    if not elements:
        raise ValueError(f"{name} is an empty list, and a namelist cannot say so")
    return [write_value(element) for element in elements]


def _group(document: Document, name: str, copy: int) -> Group:
    found = document.group(name, copy)
    if found is None:
        number = len(document.copies(name))
        there = f"there are {number}" if number else "there is none"
        raise InputError(f"{document.source.name} has no group &{name.lower()} number {copy}: {there}")
    return found


def _indent(group: Group, text: str) -> str:
    """The blanks before the last item that starts its line."""
    for item in reversed(group.items):
        before = text[group.origin.line_start(item.start) : item.start]
        if not before.strip(" \t"):
            return before
    return "  "


def _plain(name: str) -> str:
    return "".join(name.split()).lower()


def _replaced(document: Document, start: int, end: int, text: str) -> Document:
    whole = document.source.text
    return read(Source(document.source.name, whole[:start] + text + whole[end:]))
