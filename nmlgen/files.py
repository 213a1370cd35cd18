"""The files that are judged, as they lie on the disk or as they would be once mended."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from nmlgen.errors import InputError
from nmlgen.source import Source, encoded

STANDARD_INPUT = Path("-")
"""The path that stands for the standard input."""
MOST_BYTES = 4 * 1024 * 1024
"""The size of the largest file that is read whole: no spec, no run script and no namelist comes near."""
_TOO_LARGE = f"is larger than {MOST_BYTES // 1024**2} MiB: no spec, no script and no namelist"


class Files:
    """Files by their paths. Each is read once, so that all that is said of a file is said of one Source.

    `texts` replaces the text of some of them, by the paths that `sources` has.
    """

    def __init__(self, texts: Mapping[Path, str] | None = None) -> None:
        self._texts = texts or {}
        self.sources: dict[Path, Source] = {}
        """What was read, by the resolved path."""

    def is_file(self, path: Path) -> bool:
        """Whether a file is there."""
        try:
            return os.path.isfile(path) or Path(os.path.realpath(path)) in self._texts
        except ValueError:  # a NUL in the name
            return False

    def data(self, path: Path, name: str) -> bytes:
        """The bytes of a file, which messages call `name`; raises what `read_bytes` does."""
        try:
            key = path.resolve()
        except RuntimeError:  # links that lead to each other, before Python 3.13
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
        data = encoded(self._texts[key]) if key in self._texts else read_bytes(path, name)
        self.sources.setdefault(key, Source(name, decode(data)))
        return data

    def read(self, path: Path, name: str | None = None) -> Source:
        """The text of a file, or of the standard input, which messages call `name`: its path, if that is not given.

        A byte that is not UTF-8 becomes a lone surrogate, and a line end stays as it is, so that encoding the text
        again gives the file's bytes. Raises InputError if the file cannot be read.
        """
        shown = name or ("<stdin>" if path == STANDARD_INPUT else str(path))
        try:
            key = path.resolve()
            if key not in self.sources:
                text = self._texts[key] if key in self._texts else decode(_bytes(path))
                self.sources[key] = Source(shown, text)
            return self.sources[key]
        except IsADirectoryError:
            raise InputError(f"{shown} is a directory; a file is expected") from None
        except FileNotFoundError:
            raise InputError(f"{shown}: there is no such file") from None
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{shown}: {reason.lower()}") from None
        except ValueError:
            raise InputError(f"{shown!r} cannot be the name of a file") from None

    def beside(self, path: Path, name: str) -> Source | None:
        """A file in the directory of another one, by its name; None if there is none. Raises as `read` does."""
        there = path.parent / name
        return self.read(there) if self.is_file(there) or os.path.lexists(there) else None


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
    data = sys.stdin.buffer.read(MOST_BYTES + 1) if sys.stdin is not None else b""
    if len(data) > MOST_BYTES:
        raise InputError(f"<stdin> {_TOO_LARGE}")
    return data


def read_bytes(path: Path, name: str | None = None, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file, which messages call `name`, or its path.

    Raises OSError if the file cannot be read, and InputError for what `open_regular` refuses and for a file of more
    than `most` bytes.
    """
    try:
        with open_regular(path) as file:
            data = file.read(most + 1)
    except IrregularFileError as error:
        raise InputError(f"{name or path} {error.strerror}") from None
    if len(data) > most:
        raise InputError(f"{name or path} {_TOO_LARGE if most == MOST_BYTES else f'is larger than {most} bytes'}")
    return data


class IrregularFileError(OSError):
    """A device, a pipe or a socket, which may have no end."""


def open_regular(path: Path) -> BinaryIO:
    """A regular file, open for reading, or a pipe that was open before, as in `nmlgen check <(program)`.

    Raises OSError if the file cannot be opened; for devices, other pipes and sockets that is IrregularFileError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # else a pipe waits for one who writes
    file = open(descriptor, "rb")  # noqa: SIM115
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if stat.S_ISFIFO(mode) and str(path).startswith(_OPEN_ALREADY):
            os.set_blocking(descriptor, True)
        elif not stat.S_ISREG(mode):
            raise IrregularFileError(errno.EINVAL, f"is {_kind(mode)}; a regular file is expected", str(path))
    except BaseException:
        file.close()
        raise
    return file


_OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def decode(data: bytes) -> str:
    """The text of a file; `encode` makes the same bytes of it again."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text that `decode` has made."""
    return text.encode("utf-8", "surrogateescape")
