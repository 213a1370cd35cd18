"""Text for the shell and for #SBATCH lines, quoted so that what a spec says stays text.

Each place of a script has its own quoting here, and a template prints nothing that did not come through one of them
(`nmlgen.render.templates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from nmlgen.errors import InputError, WriteError
from nmlgen.schedulers.slurm.quoting import option_text
from nmlgen.visible import visible

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:=@%+-]+")
_NAME = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_.+@-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MOST_REPEATED = 10_000_000  # characters
_SPECIAL = re.compile(r'[\\$`"]')


class Quoted(str):
    """Text that was quoted for the place where it goes."""

    __slots__ = ()


def require_room(what: str, times: int, words: Iterable[str]) -> None:
    """Raise InputError for words that stand in a script so many times that they fill it."""
    if times * sum(len(word) + 1 for word in words) > _MOST_REPEATED:
        raise InputError(f"{what} would fill more than {_MOST_REPEATED // 1_000_000} MB of the batch script")


def shell_word(value: Any) -> Quoted:
    """One shell word that expands to exactly the value. Raises WriteError for a NUL, which no word can hold."""
    return _word(str(value))


@lru_cache(maxsize=4096)
def _word(text: str) -> Quoted:
    if _PLAIN_WORD.fullmatch(text):
        return Quoted(text)
    if "\0" in text:
        raise WriteError(f"{text!r} cannot be a word of a shell")
    return Quoted("'" + text.replace("'", "'\\''") + "'")


def shell_path(value: str, base: str) -> Quoted:
    """A shell word for a path; a relative one starts from the directory in the shell variable `base`."""
    return shell_word(value) if value.startswith("/") else Quoted(f'"${base}"/{shell_word(value)}')


def in_double_quotes(value: Any) -> Quoted:
    """The value as a part of a word in double quotes, for messages. Raises WriteError for control characters."""
    return Quoted(_SPECIAL.sub(r"\\\g<0>", one_line(value)))


def plain(value: Any) -> Quoted:
    """A value that is a name and needs no quotes anywhere. Raises WriteError if it would need some."""
    text = str(value)
    if not _NAME.fullmatch(text):
        raise WriteError(f"{text!r} is no plain name")
    return Quoted(text)


def one_line(value: Any) -> Quoted:
    """A part of a line that nothing expands: one of a here-document with a quoted end. Raises WriteError for control
    characters."""
    text = str(value)
    if _CONTROL.search(text):
        raise WriteError(f"{text!r} is not text on one line")
    return Quoted(text)


def comment(value: Any) -> Quoted:
    """A part of a comment line: control characters, which could end it, are spelled out."""
    return Quoted(visible(str(value)))


def joined(parts: Iterable[Quoted], separator: str = " ") -> Quoted:
    """Quoted texts with a separator between them. Raises TypeError if one is not quoted."""
    found = list(parts)
    for part in found:
        if not isinstance(part, Quoted):
            raise TypeError(f"{part!r} is not quoted")
    return Quoted(separator.join(found))


def directive(option: str, value: Any) -> Quoted | None:
    """The text after #SBATCH for an option; None for a switch that is off. Nothing quotes a line break: raises
    WriteError for control characters."""
    text = option_text(plain(option), value if isinstance(value, bool) else one_line(value))
    return None if text is None else Quoted(text)
