"""The files that are judged, as they lie on the disk or as they would be once mended."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from nmlgen.errors import InputError
from nmlgen.source import Source

STANDARD_INPUT = Path("-")
"""The path that stands for the standard input."""


class Files:
    """Files by their paths. Each is read once, so that all that is said of a file is said of one Source.

    `texts` replaces the text of some of them, by the paths that `sources` has.
    """

    def __init__(self, texts: Mapping[Path, str] | None = None) -> None:
        self._texts = texts or {}
        self.sources: dict[Path, Source] = {}
        """What was read, by the resolved path."""

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


def _bytes(path: Path) -> bytes:
    if path != STANDARD_INPUT:
        return path.read_bytes()
    return sys.stdin.buffer.read() if sys.stdin is not None else b""


def decode(data: bytes) -> str:
    """The text of a file; `encode` makes the same bytes of it again."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """The bytes of a text that `decode` has made."""
    return text.encode("utf-8", "surrogateescape")
