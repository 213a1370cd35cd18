"""What a script does to the world outside: files it writes, programs it starts, each with the guard under which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from nmlgen.script.state import Variable
from nmlgen.script.values import Guard, Place, Value, contradicts


class Piece(NamedTuple):
    """A stretch of text that is written, and where it comes from.

    An expansion's place is that of the whole `${...}`; a literal's characters are those of its place, one by one,
    where the lengths agree.
    """

    place: Place
    value: Value
    is_expansion: bool


class Field(NamedTuple):
    """One word of a command after all expansions.

    `is_vague` where it may be no word at all, or several; `pieces` are what it is made of.
    """

    value: Value
    place: Place
    pieces: tuple[Piece, ...]
    is_vague: bool = False


class Opened(NamedTuple):
    """A file is made empty."""

    path: Value
    guard: Guard
    place: Place


class Written(NamedTuple):
    """Text goes to the end of a file."""

    path: Value
    guard: Guard
    place: Place
    pieces: tuple[Piece, ...]


class Copied(NamedTuple):
    """A file's text goes to another: to its end if it `appends`. The source is gone if it `moves`."""

    source: Value
    path: Value
    guard: Guard
    place: Place
    appends: bool = False
    moves: bool = False


class Altered(NamedTuple):
    """A file is changed in place (`sed -i`): `program` is what sed is told, None where that is not known."""

    path: Value
    guard: Guard
    place: Place
    program: str | None


class Removed(NamedTuple):
    """A file is deleted; all whose names match, if the path `is_pattern`."""

    path: Value
    guard: Guard
    place: Place
    is_pattern: bool = False


class Ended(NamedTuple):
    """The script ends here; if it is `lost`, nobody knows what it does instead of going on."""

    guard: Guard
    place: Place
    lost: bool = False


class Ran(NamedTuple):
    """A program is started with these words; `environment` are the variables that are exported to it."""

    words: tuple[Field, ...]
    guard: Guard
    place: Place
    environment: Mapping[str, Variable]
    directory: Value


Event: TypeAlias = Opened | Written | Copied | Altered | Removed | Ended | Ran


def single_paths(events: Iterable[Event], *, last_first: bool = False) -> list[Event]:
    """The events with one path each: what has one of several becomes several, each under its guard; with `last_first`
    beginning with the last, which is what a script does unless something is special."""
    found: list[Event] = []
    for event in events:
        if isinstance(event, (Ran, Ended)) or len(event.path) == 1:
            found.append(event)
            continue
        make: Callable[[Iterable[Any]], Event] = type(event)._make  # `_replace` takes three times as long
        place = event._fields.index("path")  # the guard comes next
        before, behind = event[:place], event[place + 2 :]
        for case in reversed(event.path) if last_first else event.path:
            if not contradicts(case.guard, event.guard):
                found.append(make((*before, (case,), event.guard | case.guard, *behind)))
    return found
