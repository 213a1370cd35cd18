"""`rm` of a directory that the script has made, without the option that takes one away."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.events import Field, Ran
from nmlgen.script.redirections import FilePath
from nmlgen.script.values import Guard, text_of, within
from nmlgen.source import UNKNOWN

_TAKES_DIRECTORIES = frozenset("rRd")
_LONG = ("--recursive", "--dir")


def of_removals(programs: Iterable[Ran], guard: Guard) -> Iterator[SyntaxProblem]:
    """Such words of what runs where all answers of `guard` hold."""
    made = _Made()
    for event in programs:
        words = [text_of(within(item.value, guard)) for item in event.words]
        name = words[0] if words else None
        if name not in ("mkdir", "rm", "rmdir", "mv"):
            continue
        options = [word for word in words[1:] if word is not None and word.startswith("-")]
        pairs = zip(event.words[1:], words[1:], strict=True)
        operands = [(_path(item, event, guard), item) for item, word in pairs if word is None or word[:1] != "-"]
        paths = [path for path, _ in operands]
        if name == "mkdir":
            made.add(path for path in paths if path is not None)
        elif name == "rm" and not any(map(_is_for_directories, options)):
            for path, item in operands:
                if path is not None and made.has(path):
                    text = item.place.text.text[item.place.start : item.place.end]
                    message = (
                        f"{text} is a directory that the script has made: rm without -r leaves it there, and fails"
                    )
                    span = item.place.text.span(item.place.start, item.place.end)
                    yield SyntaxProblem("rm-of-directory", message, span, "rm -r, or rmdir if it is empty", stops=False)
        elif None in paths:
            made = _Made()
        else:
            made.remove(path for path in paths if path is not None)


class _Made:
    """The directories that a script has made by now. What goes is noted with its turn, and looked for when one is asked
    about: whatever goes may have thousands in it."""

    def __init__(self) -> None:
        self._turn = 0
        self._made: dict[FilePath, int] = {}
        self._gone: dict[FilePath, int] = {}
        self._texts: dict[str, int] = {}  # of what has gone
        self._lengths: list[int] = []  # of these, in ascending order

    def add(self, paths: Iterable[FilePath]) -> None:
        self._turn += 1
        self._made.update(dict.fromkeys(paths, self._turn))

    def remove(self, paths: Iterable[FilePath]) -> None:
        """Directories, and with them what lies in them."""
        self._turn += 1
        for path in paths:
            self._gone[path] = self._texts[path[0]] = self._turn
            place = bisect_left(self._lengths, len(path[0]))
            if self._lengths[place : place + 1] != [len(path[0])]:
                self._lengths.insert(place, len(path[0]))

    def has(self, path: FilePath) -> bool:
        since = self._made.get(path)
        return since is not None and self._gone.get(path, 0) < since and not self._has_gone_above(path[0], since)

    def _has_gone_above(self, text: str, since: int) -> bool:
        """Whether a directory that it lies in has gone meanwhile. Not every one above it is looked up: a path may have
        hundreds of thousands."""
        for length in self._lengths:
            if length >= len(text):
                break
            if text[length] == "/" and self._texts.get(text[:length], 0) > since:
                return True
        return False


def _is_for_directories(option: str) -> bool:
    return option in _LONG if option.startswith("--") else not _TAKES_DIRECTORIES.isdisjoint(option)


def _path(item: Field, event: Ran, guard: Guard) -> FilePath | None:
    """Where a word leads, and the symbols of what is not known of that; None if it is one of several."""
    cases, here = within(item.value, guard), within(event.directory, guard)
    if len(cases) != 1 or len(here) != 1 or not cases[0].text:
        return None
    case, start = cases[0], here[0]
    if case.text.startswith(("/", UNKNOWN)):
        return posixpath.normpath(case.text), case.symbols
    return posixpath.normpath(posixpath.join(start.text, case.text)), (*start.symbols, *case.symbols)
