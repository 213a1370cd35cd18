"""Whether the disk has room for what the points of a sweep write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen.asking import answer
from nmlgen.render.write import MANIFEST
from nmlgen.sweep.directory import read_table
from nmlgen.units.whole import decimal
from nmlgen.values import frozen

_BLOCK = 1024  # bytes of what `lfs quota` counts in
_LARGEST = 2**63


@frozen
class _Room:
    """What is left of the bytes and files that may be written, None where there is no limit, and who says so."""

    source: str
    bytes: int | None
    files: int | None


def lack_of_room(sweep: Path, points: Collection[str]) -> str | None:
    """What is missing for the first jobs of these points, in words; None if there is room, or nothing is known of it.

    Asks the file system, and on Lustre the quotas of the user, of the directory's group, and of its project.
    """
    named = set(points)
    sizes = [_sizes(sweep / row["directory"] / MANIFEST) for row in read_table(sweep) if row["name"] in named]
    needed_bytes, needed_files = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
    for room in _rooms(sweep) if needed_bytes or needed_files else ():
        if room.bytes is not None and needed_bytes > room.bytes:
            return (
                f"these points write at least {needed_bytes / 1e9:.1f} GB in a job each, and {room.bytes / 1e9:.1f} GB "
                f"are left{room.source}"
            )
        if room.files is not None and needed_files > room.files:
            left = f"there is room for {room.files}{room.source}"
            return f"these points write {needed_files} files in a job each, and {left}"
    return None


def _rooms(directory: Path) -> Iterator[_Room]:
    try:
        disk, group = os.statvfs(directory), directory.stat().st_gid
    except OSError:
        return
    yield _Room("", disk.f_bavail * disk.f_frsize, disk.f_favail if disk.f_files else None)
    if shutil.which("lfs") is None:
        return
    whose = [("-u", str(os.getuid())), ("-g", str(group))]
    project = _lfs("project", "-d", str(directory))[:1]
    if project and decimal(project[0]) is not None:
        whose.append(("-p", project[0]))
    for option, name in whose:
        words = [word.rstrip("*") for word in _lfs("quota", "-q", option, name, str(directory))]
        kilobytes, files = _left(words[1:4]), _left(words[5:8])
        yield _Room(f" (lfs quota {option} {name})", None if kilobytes is None else kilobytes * _BLOCK, files)


def _left(words: list[str]) -> int | None:
    """What a quota leaves, by what is used, the soft limit and the hard one; None where there is none."""
    used, most = (decimal(word) for word in (words[0], words[2])) if len(words) > 2 else (None, None)
    return None if used is None or not most else max(0, most - used)


def _lfs(*words: str) -> list[str]:
    """What lfs answers, word by word; nothing where it has none."""
    try:
        return answer(["lfs", *words]).out.split()
    except OSError:
        return []


def _sizes(manifest: Path) -> tuple[int, int]:
    try:
        known = disk.parsed(disk.content(manifest))
        return _size(known.get("bytes_of_a_job")), _size(known.get("files_of_a_job"))
    except (OSError, ValueError, AttributeError):
        return 0, 0


def _size(value: Any) -> int:
    """A number that a build may have written; 0 for what somebody made of it."""
    return value if isinstance(value, int) and 0 < value < _LARGEST else 0
