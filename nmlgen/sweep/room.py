"""Whether the disk has room for what the points of a sweep write."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path

from nmlgen.render.write import MANIFEST
from nmlgen.sweep.directory import read_table


def lack_of_room(sweep: Path, points: Collection[str]) -> str | None:
    """What is missing for the first jobs of these points, in words; None if there is room, or nothing is known of it.

    Quotas are not asked here; each point's script asks them for itself.
    """
    named = set(points)
    sizes = [_sizes(sweep / row["directory"] / MANIFEST) for row in read_table(sweep) if row["name"] in named]
    needed_bytes, needed_files = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
    try:
        disk = os.statvfs(sweep)
    except OSError:
        return None
    free = disk.f_bavail * disk.f_frsize
    if needed_bytes > free:
        return (
            f"these points write at least {needed_bytes / 1e9:.1f} GB in a job each, and {free / 1e9:.1f} GB are left"
        )
    if disk.f_files and needed_files > disk.f_favail:
        return f"these points write {needed_files} files in a job each, and there is room for {disk.f_favail}"
    return None


def _sizes(manifest: Path) -> tuple[int, int]:
    try:
        known = json.loads(manifest.read_text(encoding="utf-8"))
        return int(known.get("bytes_of_a_job", 0)), int(known.get("files_of_a_job", 0))
    except (OSError, ValueError, TypeError, AttributeError):
        return 0, 0
