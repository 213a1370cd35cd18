"""Finding what runs left below a directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

_DARSHAN = ".darshan"


def darshan_logs_below(paths: Iterable[str | Path]) -> Iterator[Path]:
    """The Darshan logs among the paths, and below the directories."""
    for path in map(Path, paths):
        if path.is_dir():
            yield from files_below(path, lambda name: name.endswith(_DARSHAN))
        elif path.suffix == _DARSHAN:
            yield path


def files_below(directory: Path, is_wanted: Callable[[str], bool]) -> Iterator[Path]:
    """The files below a directory whose names are wanted, in their order; checkpoints' directories are left alone."""
    for parent, directories, names in os.walk(directory):
        directories[:] = sorted(name for name in directories if not name.endswith(".mfr"))
        for name in sorted(filter(is_wanted, names)):
            yield Path(parent, name)
