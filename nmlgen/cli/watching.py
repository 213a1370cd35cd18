"""Waiting until files change."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from time import sleep

_PAUSE = 0.3  # seconds


def changes(paths: Iterable[Path], also: Collection[Path] = ()) -> Iterator[None]:
    """Once at first, then whenever a file of these, or below these directories, is another one than it was; ends with
    Ctrl-C. `also` are further files, of which there may be others after each turn."""
    given = tuple(paths)
    seen = None
    try:
        while True:
            now = _state((*given, *also))
            if now != seen:
                yield
                seen = _state(also) | now  # what changed meanwhile is another one than it was
            sleep(_PAUSE)
    except KeyboardInterrupt:
        return


def _state(paths: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """When each file was changed, and its size."""
    found = {}
    for path in paths:
        names = (
            [path]
            if not os.path.isdir(path)
            else [Path(top) / name for top, _, files in os.walk(path) for name in files]
        )
        for name in names:
            try:
                status = name.stat()
            except OSError:
                continue
            found[str(name)] = (status.st_mtime_ns, status.st_size)
    return found
