"""Files that a script collects by a pattern: `find DIRECTORY -name PATTERN`, `DIRECTORY/*.nc`.

Their names are known to a run alone. The symbol of such an unknown text says where they are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from nmlgen.script.values import ALWAYS, Possibility, Value
from nmlgen.source import UNKNOWN

WILDCARD = re.compile(r"[*?]|\[(?:[^\[\]]*[^\]]|\])\]")
"""What makes a text a pattern."""

_LINKS = frozenset(("-H", "-L", "-P"))
_ONE_LEVEL = ("-maxdepth", "1")
_FILES = ("-type", "f")
_BELOW = ("-mindepth", "1")
_NO_NOTES = ("!", "-name", "nmlgen*")
"""What the scripts that nmlgen writes leave out."""


class Listing(NamedTuple):
    """The symbol of the names of files, or of one in turn: those of a `directory` that fit a `pattern`, and of all
    directories below it where it `is_deep`. `number` tells one listing from others."""

    directory: Value
    pattern: str
    is_deep: bool
    number: int


class LastPart(NamedTuple):
    """The symbol of the last part of the path of a file in a listing."""

    listing: Listing


class Find(NamedTuple):
    """What a call of find says: the number of the word with its directory, the pattern, and the numbers of the words
    of the command that it runs with the files; none where it prints their names."""

    directory: int
    pattern: str
    is_deep: bool
    action: range


def read_find(words: Sequence[str | None]) -> Find | None:
    """What the words of a call of find say, None for each that is not known; None where it asks for more than a pattern
    of names in one directory."""
    directory = next((at for at, word in enumerate(words[1:], 1) if word not in _LINKS), len(words))
    at, pattern, is_deep = directory + 1, None, True
    while at + 1 < len(words):
        word, value = words[at], words[at + 1]
        if word == "-exec":
            break
        if tuple(words[at : at + 3]) == _NO_NOTES:
            at += 3
            continue
        if word == "-name" and pattern is None and value:
            pattern = value
        elif (word, value) == _ONE_LEVEL:
            is_deep = False
        elif (word, value) not in (_FILES, _BELOW):
            return None
        at += 2
    rest = words[at:]
    action = range(at + 1, len(words) - 1)
    if pattern is None or not (rest in ((), [], ["-print"]) or (rest[0] == "-exec" and rest[-1] in ("+", ";"))):
        return None
    return Find(directory, pattern, is_deep, action if len(rest) > 1 else range(0))


def expanded(path: Possibility, number: int) -> Listing | None:
    """What the shell looks for in place of a path with a pattern at its end; None where that is not known."""
    directory, slash, pattern = path.text.rpartition("/")
    if not slash or WILDCARD.search(directory) or UNKNOWN in pattern:
        return None
    return Listing((Possibility(ALWAYS, directory or "/", path.symbols),), pattern, False, number)


def listing_of(value: Value) -> Listing | None:
    """The listing of which a value is a name or all names, whatever it is where there are none; None of any other."""
    found = {symbol for case in value for symbol in case.symbols if isinstance(symbol, Listing)}
    listing = found.pop() if len(found) == 1 else None
    if listing is None or any(case.text != UNKNOWN for case in value if case.symbols == (listing,)):
        return None
    others = [case.text for case in value if case.symbols != (listing,)]
    return listing if all(text.rpartition("/")[2] == listing.pattern for text in others) else None


def last_part(value: Value) -> Value | None:
    """The last part of each path that a value is, if it is a name in a listing."""
    listing = listing_of(value)
    return None if listing is None else (Possibility(ALWAYS, UNKNOWN, (LastPart(listing),)),)


def named_alike(value: Value) -> tuple[Value, Listing | None]:
    """A path, and of one that is called like each file of a listing the directory, and that listing."""
    last = value[0].symbols[-1] if len(value) == 1 and value[0].symbols else None
    directory, slash, name = value[0].text.rpartition("/")
    if not isinstance(last, LastPart) or name != UNKNOWN:
        return value, None
    return (value[0]._replace(text=f"{directory}{slash}" or "./", symbols=value[0].symbols[:-1]),), last.listing
