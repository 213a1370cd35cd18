"""Finding the logs of ICON below a directory: of a run, or of a sweep's points."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmlgen.disk import open_regular, unreadable
from nmlgen.errors import InputError
from nmlgen.logs.finding import files_below
from nmlgen.models.icon.logs.anchors import RUN_BEGINS

_NAMES = re.compile(r"LOG(?:[._-].*)?|.*\.(?:log|out|err|[oe]\d+|txt|run\.\d+\.o)(?:\.\d+)?(?:\.gz)?", re.IGNORECASE)
_NO_LOGS = re.compile(r"nml\.\w+\.log|output_schedule.*|slurm-prolog.*")
_ENOUGH = 256 * 1024  # bytes in which ICON says that it starts; a job's own output may hold the end of a log


def logs_below(paths: Iterable[str | Path]) -> Iterator[Path]:
    """The files among the paths as they are, and the logs below the directories, by name, with those that cannot be
    read.

    Raises InputError if there is no such path, or no log in a directory.
    """
    for path in map(Path, paths):
        if not path.is_dir():
            yield path
            continue
        found = False
        for file in files_below(path, _may_be_log):
            if _is_log(file):
                found = True
                yield file
        if not found:
            raise InputError(
                f"{path}: there is no log of ICON in it; expected names such as LOG.*, *.log, *.out, *.o123"
            )


def _may_be_log(name: str) -> bool:
    return _NAMES.fullmatch(name) is not None and _NO_LOGS.fullmatch(name) is None


def _is_log(file: Path) -> bool:
    try:
        with open_regular(file) as raw, gzip.open(raw) if file.suffix == ".gz" else raw as stream:
            return RUN_BEGINS.search(stream.read(_ENOUGH)) is not None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return False
    except OSError as error:
        return unreadable(error, str(file)) is not None  # whoever reads it says so
