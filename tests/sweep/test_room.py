"""Room for a sweep: what the points' manifests say, against what the disk has."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from nmlgen.sweep.room import lack_of_room


@pytest.mark.parametrize(
    ("free", "files", "expected"),
    [
        (3000, 30, None),
        (2999, 30, "at least 0.0 GB in a job each"),
        (3000, 29, "write 30 files in a job each, and there is room for 29"),
        (3000, 0, None),  # a file system that counts none
    ],
)
def test_room(free: int, files: int, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three_points(tmp_path)
    disk = SimpleNamespace(f_bavail=free, f_frsize=1, f_files=files and 100, f_favail=files)
    monkeypatch.setattr(os, "statvfs", lambda path: disk)
    monkeypatch.setenv("PATH", str(tmp_path / "no-lfs"))
    found = lack_of_room(tmp_path, ["p1", "p2"])
    assert found is None if expected is None else found is not None and expected in found


def three_points(tmp_path: Path) -> None:
    """The first two points write 3000 bytes in 30 files."""
    lines = ["name,id,directory,state,reason"]
    for number in (1, 2, 3):
        lines.append(f"p{number},i{number},p{number},built,")
        (tmp_path / f"p{number}").mkdir()
        text = f'{{"bytes_of_a_job": {1000 * number}, "files_of_a_job": {10 * number}}}'
        (tmp_path / f"p{number}" / "nmlgen-manifest.json").write_text(text)
    (tmp_path / "points.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("size", ["Infinity", "NaN", "1e999", "1" + 4000 * "0", "-5", '"5"', "[5]", "null"])
def test_what_is_no_size_counts_as_nothing(size: str, tmp_path: Path) -> None:
    three_points(tmp_path)
    for number in (1, 2):
        text = f'{{"bytes_of_a_job": {size}, "files_of_a_job": 1}}'
        (tmp_path / f"p{number}" / "nmlgen-manifest.json").write_text(text)
    assert lack_of_room(tmp_path, ["p1", "p2"]) is None


@pytest.mark.parametrize(
    ("answer", "whose", "expected"),
    [
        ("{} 10 0 13 - 5 0 35 -", "-u", None),
        ("{} 10 0 12 - 5 0 35 -", "-u", "and 0.0 GB are left (lfs quota -u"),
        ("{}\n 14* 12 13 6d 5 0 35 -", "-g", "and 0.0 GB are left (lfs quota -g"),
        ("{} 10 0 13 - 6 0 35 -", "-p", "room for 29 (lfs quota -p 4711)"),
        ("{} 10 0 0 - 6 0 0 -", "-p", None),  # no limits
        ("Permission denied.", "-u", None),
        ("", "-p", None),
    ],
)
def test_quotas(answer: str, whose: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `lfs quota -q` writes them, which breaks the line behind a long path and marks what is beyond with a star."""
    three_points(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "lfs").write_text(
        "#!/bin/sh\n"
        'if [ "$1" = project ]; then echo " 4711 P $3"; exit; fi\n'
        f'if [ "$3" = {whose} ]; then printf "%s\\n" "{answer.format("/lustre")}"; '
        'else echo "/lustre 0 0 0 - 0 0 0 -"; fi\n'
    )
    (tools / "lfs").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    found = lack_of_room(tmp_path, ["p1", "p2"])
    assert found is None if expected is None else found is not None and expected in found


def test_points_of_which_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("name,id,directory,state,reason\np1,i1,p1,built,\np2,i2,p2,built,\n")
    (tmp_path / "p1").mkdir()
    (tmp_path / "p1" / "nmlgen-manifest.json").write_text("[no JSON")
    assert lack_of_room(tmp_path, ["p1", "p2"]) is None
    assert lack_of_room(tmp_path, []) is None
