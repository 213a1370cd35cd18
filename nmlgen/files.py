"""The files that are judged, as they lie on the disk or as they would be once mended."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nmlgen import disk
from nmlgen.disk import LONGEST_PATH, MOST_BYTES, TOO_LARGE, Answer, Question, read_bytes
from nmlgen.errors import InputError
from nmlgen.source import Source, encoded

STANDARD_INPUT = Path("-")
"""The path that stands for the standard input."""
_Made = TypeVar("_Made")
_MOST_MADE = 4  # a bound on memory: a master, the namelists of an atmosphere and an ocean, and a coupling beside it


def _place(path: Path) -> Path:
    """Where a file lies, all links followed. Raises OSError for a path that no system opens, and that takes long to
    follow; RuntimeError for links that lead to each other."""
    if len(str(path)) > LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    return path.resolve()


class Files:
    """Files by their paths. Each is read once, so that all that is said of a file is said of one Source.

    `texts` replaces the text of some of them, by the paths that `sources` has.
    """

    def __init__(self, texts: Mapping[Path, str] | None = None) -> None:
        self._texts = texts or {}
        self.sources: dict[Path, Source] = {}
        """What was read, by the resolved path."""
        self._known: dict[Path, Source] = {}  # the same, and what others have read that are the same files
        self._made: list[tuple[Source, object, Any]] = []

    @property
    def is_mended(self) -> bool:
        """Whether any file has another text than on the disk."""
        return bool(self._texts)

    def unread(self) -> Files:
        """The same files, of which none counts as read: each is the same Source here and there."""
        files = Files(self._texts)
        files._known, files._made = self._known, self._made
        return files

    def share(self, other: Files) -> None:
        """Let what is the same Source there be so here, and what was made of it: the texts are the same."""
        self._known = {**other._known, **self._known}
        self._made = (self._made + other._made)[:_MOST_MADE]

    def made(self, source: Source, make: Callable[[Source], _Made]) -> _Made:
        """What is made of a source, once if it is asked for again before many others."""
        known = next((one for one in self._made if one[0] is source and one[1] is make), None)
        if known is None:
            known = source, make, make(source)
            self._made[:] = [known, *self._made][:_MOST_MADE]  # those that count none of it as read have it, too
        found: _Made = known[2]
        return found

    def is_file(self, path: Path) -> bool:
        """Whether a file is there."""
        try:
            return disk.is_file(path) or disk.resolved(path) in self._texts
        except (OSError, RuntimeError, ValueError):  # nobody may look; links that lead to each other; a NUL in the name
            return False

    def data(self, path: Path, name: str) -> bytes:
        """The bytes of a file, which messages call `name`; raises what `read_bytes` does."""
        try:
            key = _place(path)
        except RuntimeError:  # links that lead to each other, before Python 3.13
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
        data = encoded(self._texts[key]) if key in self._texts else read_bytes(path, name)
        self.sources.setdefault(key, Source(name, decode(data)))
        disk.note(("data", str(path), name), lambda: disk.digest(data))
        return data

    def read(self, path: Path, name: str | None = None) -> Source:
        """The text of a file, or of the standard input, which messages call `name`: its path, if that is not given.

        A byte that is not UTF-8 becomes a lone surrogate, and a line end stays as it is, so that encoding the text
        again gives the file's bytes. Raises InputError if the file cannot be read.
        """
        try:
            source = self._read(path, name or ("<stdin>" if path == STANDARD_INPUT else str(path)))
        except InputError as error:
            refused = disk.refusal(error)
            disk.note(("read", str(path), name), lambda: refused)
            raise
        disk.note(("read", str(path), name), lambda: _told(source))
        return source

    def _read(self, path: Path, shown: str) -> Source:
        try:
            key = _place(path)
            if key not in self._known:
                text = self._texts[key] if key in self._texts else decode(_bytes(path))
                self._known[key] = self.sources.get(key) or Source(shown, text)
            return self.sources.setdefault(key, self._known[key])
        except IsADirectoryError:
            raise InputError(f"{shown} is a directory; a file is expected") from None
        except FileNotFoundError:
            raise InputError(f"{shown}: there is no such file") from None
        except (OSError, RuntimeError) as error:
            if isinstance(error, OSError):
                disk.require_missing(error, shown)
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{shown}: {reason.lower()}") from None
        except ValueError:
            raise InputError(f"{shown!r} cannot be the name of a file") from None

    def beside(self, path: Path, name: str) -> Source | None:
        """A file in the directory of another one, by its name; None if there is none. Raises as `read` does."""
        there = path.parent / name
        return self.read(there) if self.is_file(there) or disk.is_there(there) else None

    def again(self, question: Question) -> Answer:
        """What is seen now where that was asked, here or of the disk; see `disk.again`."""
        if question[0] == "data":
            try:
                return disk.digest(self.data(Path(question[1]), question[2]))
            except (OSError, ValueError, InputError) as error:
                return disk.refusal(error)
        if question[0] == "read":
            try:
                return _told(self.read(Path(question[1]), question[2]))
            except InputError as error:
                return disk.refusal(error)
        return disk.again(question)


def _told(source: Source) -> Answer:
    return [source.name, disk.digest(encoded(source.text))]


class GivenFiles(Files):
    """Texts by the names of files that need not be on any disk; there are no others."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__({Path(name).resolve(): text for name, text in texts.items()})

    def is_given(self, path: Path) -> bool:
        """Whether a file is one of them."""
        try:
            return path.resolve() in self._texts
        except (RuntimeError, ValueError):  # links that lead to each other, before Python 3.13; a NUL in the name
            return False

    def read(self, path: Path, name: str | None = None) -> Source:
        """The text of one of them. Raises InputError for any other."""
        if not self.is_given(path):
            raise InputError(f"{name or path} is not among the files that were given")
        return super().read(path, name)

    def beside(self, path: Path, name: str) -> Source | None:
        """One of them in the directory of another; None if it is not among them."""
        there = path.parent / name
        return self.read(there) if self.is_given(there) else None


def _bytes(path: Path) -> bytes:
    if path != STANDARD_INPUT:
        return read_bytes(path)
    data = (sys.stdin.buffer.read(MOST_BYTES + 1) if sys.stdin is not None else b"") or b""  # None: nothing yet
    if len(data) > MOST_BYTES:
        raise InputError(f"<stdin> {TOO_LARGE}")
    return data


def decode(data: bytes) -> str:
    """The text of a file; `encode` makes the same bytes of it again."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text that `decode` has made."""
    return text.encode("utf-8", "surrogateescape")
