"""Paths with wildcards, matched in one pass whatever the pattern: `*` and `?` stand for characters of one name, `**/`
for any directories, `**` for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_WILD = re.compile(r"\*\*/|\*\*|\*|\?")


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> PathPattern:
    return PathPattern(pattern)


def matches(pattern: str, path: str) -> bool:
    """Whether the whole path is one that the pattern stands for."""
    return _compiled(pattern).matches(path)


class PathPattern:
    """A pattern as the sets of its places at which one may be after each character: bit n is the place before its n-th
    part."""

    def __init__(self, pattern: str) -> None:
        self._literal: dict[str, int] = {}
        self._one = self._name = self._any = self._directories = 0
        parts = list(_parts(pattern))
        for number, part in enumerate(parts):
            bit = 1 << number
            if part == "?":
                self._one |= bit
            elif part == "*":
                self._name |= bit
            elif part == "**":
                self._any |= bit
            elif part == "**/":
                self._directories |= bit
            else:
                self._literal[part[1]] = self._literal.get(part[1], 0) | bit
        self._end = 1 << len(parts)

    def matches(self, path: str) -> bool:
        """Whether the whole path is one that the pattern stands for."""
        places, inside = self._with_empty(1), 0  # inside: within a directory's name that `**/` stands for
        for char in path:
            after = (places & self._literal.get(char, 0)) << 1 | places & self._any
            if char == "/":
                after |= inside
                inside = 0
            else:
                after |= (places & self._one) << 1 | places & self._name
                inside |= places & self._directories
            places = self._with_empty(after)
            if not places and not inside:
                return False
        return bool(places & self._end)

    def _with_empty(self, places: int) -> int:
        """The places, and those that are reached where a wildcard stands for nothing."""
        while True:
            reached = places | (places & (self._name | self._any | self._directories)) << 1
            if reached == places:
                return places
            places = reached


def _parts(pattern: str) -> Iterator[str]:
    """The wildcards of a pattern, and each other character behind a `=`. Wildcards that say nothing more are left
    out."""
    text, last, before = pattern.removeprefix("./"), 0, ""
    for match in _WILD.finditer(text):
        for char in text[last : match.start()]:
            yield f"={char}"
            before = ""
        if match[0] == "?" or match[0] != before:
            yield match[0]
        before, last = match[0], match.end()
    for char in text[last:]:
        yield f"={char}"
