"""`rm` of a directory that the script has made, without the option that takes one away."""

from __future__ import annotations

import posixpath
from collections.abc import Hashable, Iterable, Iterator

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.events import Field, Ran
from nmlgen.script.values import Guard, text_of, within
from nmlgen.source import UNKNOWN

_TAKES_DIRECTORIES = frozenset("rRd")
_LONG = ("--recursive", "--dir")


def of_removals(programs: Iterable[Ran], guard: Guard) -> Iterator[SyntaxProblem]:
    """Such words of what runs where all answers of `guard` hold."""
    made: set[tuple[str, tuple[Hashable, ...]]] = set()
    for event in programs:
        words = [text_of(within(item.value, guard)) for item in event.words]
        name = words[0] if words else None
        if name not in ("mkdir", "rm", "rmdir", "mv"):
            continue
        options = [word for word in words[1:] if word is not None and word.startswith("-")]
        pairs = zip(event.words[1:], words[1:], strict=True)
        operands = [(_path(item, event, guard), item) for item, word in pairs if word is None or word[:1] != "-"]
        if name == "mkdir":
            made.update(path for path, _ in operands if path is not None)
        elif name == "rm" and not any(map(_is_for_directories, options)):
            for path, item in operands:
                if path in made:
                    text = item.place.text.text[item.place.start : item.place.end]
                    message = (
                        f"{text} is a directory that the script has made: rm without -r leaves it there, and fails"
                    )
                    span = item.place.text.span(item.place.start, item.place.end)
                    yield SyntaxProblem("rm-of-directory", message, span, "rm -r, or rmdir if it is empty", stops=False)
        elif None in [path for path, _ in operands]:
            made.clear()
        else:
            gone = {path for path, _ in operands if path is not None}
            above = {path[0] for path in gone}
            lengths = sorted({len(path) for path in above})
            made = {there for there in made if there not in gone and not _lies_in(there[0], above, lengths)}


def _is_for_directories(option: str) -> bool:
    return option in _LONG if option.startswith("--") else not _TAKES_DIRECTORIES.isdisjoint(option)


def _lies_in(path: str, directories: set[str], lengths: Iterable[int]) -> bool:
    """Whether a path lies in one of the directories, whose names have these lengths. Not every directory above it is
    looked up: a path may have hundreds of thousands."""
    return any(path[length : length + 1] == "/" and path[:length] in directories for length in lengths)


def _path(item: Field, event: Ran, guard: Guard) -> tuple[str, tuple[Hashable, ...]] | None:
    """Where a word leads, and the symbols of what is not known of that; None if it is one of several."""
    cases, here = within(item.value, guard), within(event.directory, guard)
    if len(cases) != 1 or len(here) != 1 or not cases[0].text:
        return None
    case, start = cases[0], here[0]
    if case.text.startswith(("/", UNKNOWN)):
        return posixpath.normpath(case.text), case.symbols
    return posixpath.normpath(posixpath.join(start.text, case.text)), (*start.symbols, *case.symbols)
