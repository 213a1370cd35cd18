"""What is looked at is told, and no room that judges looks past the door."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from rows import rows

import nmlgen
from nmlgen import disk
from nmlgen.errors import InputError

PACKAGE = Path(nmlgen.__file__).parent
JUDGING = ("advise", "experiment", "lift", "models", "namelist", "rules", "script", "spec")
FILES = ("checking.py", "configuration.py", "files.py", "linting.py", "reviewing.py", "suppression.py")
LOOKS_OF_PATHS = {
    *("exists", "is_dir", "is_file", "is_symlink", "is_mount", "glob", "iterdir", "rglob", "lstat", "stat", "owner"),
    *("open", "read_bytes", "read_text", "readlink", "resolve", "samefile", "expanduser", "absolute"),
}
LOOKS_OF_OS = {
    *("access", "listdir", "lstat", "open", "readlink", "scandir", "stat", "walk", "getenv", "environ", "getcwd"),
    *("exists", "lexists", "getmtime", "getsize", "isdir", "isfile", "islink", "realpath", "samefile", "expanduser"),
}
NO_PATHS = ("disk", "os", "self", "circumstances", "self._circumstances")
ALLOWED = {
    ("advise/measurements.py", "read_runs"): "tables that ship with nmlgen, and those that a program calls for",
    ("configuration.py", "find_configuration"): "before anything is kept: each time anew",
    ("configuration.py", "_lying_in"): "before anything is kept: each time anew",
    ("configuration.py", "cache_directory"): "before anything is kept: each time anew",
    ("experiment/grid_file.py", "_read"): "keyed by the status of the file",
    ("files.py", "__init__"): "of texts that are given: nothing of them is kept",
    ("files.py", "_place"): "noted by whoever calls it, with what is read",
    ("files.py", "is_given"): "of texts that are given: nothing of them is kept",
    ("lift/releases.py", "of_tree"): "no more than the current directory, which is part of the question",
    ("lift/built.py", "_of_point"): "no more than the current directory, which is part of the question",
    ("lift/targets.py", "_files"): "before anything is kept: each time anew",
    ("lift/targets.py", "targets"): "before anything is kept: each time anew",
    ("linting.py", "lint"): "before anything is kept: each time anew",
    ("models/icon/variables.py", "load_catalogue"): "ships with nmlgen",
    ("models/palm/palmrun.py", "job_of"): "of import, which keeps nothing",
    ("namelist/registry.py", "releases"): "ships with nmlgen",
    ("spec/kept.py", "kept_node"): "ships with nmlgen",
    ("spec/presets.py", "names"): "ships with nmlgen",
    ("spec/presets.py", "text"): "ships with nmlgen",
    ("spec/spec.py", "_preset_layers"): "of specs, which lint does not read",
}
"""Functions that look at the disk themselves, and why that is right."""
JUDGE_NOTHING = {"extract", "logs"}


def judging() -> Iterator[Path]:
    for room in JUDGING:
        files = sorted((PACKAGE / room).rglob("*.py"))
        yield from (path for path in files if JUDGE_NOTHING.isdisjoint(path.relative_to(PACKAGE).parts))
    yield from (PACKAGE / name for name in FILES)


def looks(tree: ast.AST, function: str = "") -> Iterator[tuple[str, int, str]]:
    """The functions that look at the disk, each with the line and the name of the look."""
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else function
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if (owner in ("os", "os.path") and node.attr in LOOKS_OF_OS) or (
                node.attr in LOOKS_OF_PATHS and owner not in ("disk", "os", "self") and "ircumstances" not in owner
            ):
                yield function, node.lineno, f"{owner}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id == "open":
            yield function, node.lineno, "open"
        yield from looks(node, inner)


def test_nobody_looks_past_the_door():
    found = [
        (str(path.relative_to(PACKAGE)), function, line, look)
        for path in judging()
        for function, line, look in looks(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert [at for at in found if at[:2] not in ALLOWED] == []
    assert ALLOWED.keys() == {at[:2] for at in found}


@rows(
    ("look", "change"),
    [
        (lambda at: disk.is_file(at / "new"), lambda at: (at / "new").touch()),
        (lambda at: disk.exists(at / "new"), lambda at: (at / "new").touch()),
        (lambda at: disk.is_directory(at / "new"), lambda at: (at / "new").mkdir()),
        (lambda at: disk.is_link(at / "new"), lambda at: (at / "new").symlink_to(at / "old")),
        (lambda at: disk.resolved(at / "link"), lambda at: relink(at / "link", at / "other")),
        (lambda at: disk.size(at / "old"), lambda at: (at / "old").write_text("longer than before")),
        (disk.names, lambda at: (at / "new").touch()),
        (lambda at: disk.head(at / "old", 3), lambda at: (at / "old").write_text("OLD text")),
        (lambda at: disk.read_bytes(at / "old"), lambda at: (at / "old").write_text("new text")),
        (lambda at: disk.status(at / "old"), lambda at: os.utime(at / "old", (1, 1))),
        (lambda at: list(disk.walk(at)), lambda at: (at / "below" / "new").touch()),
    ],
)
def test_a_look_is_told_and_seen_again(look, change, tmp_path):
    (tmp_path / "old").write_text("old text")
    (tmp_path / "other").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "below")
    with disk.recorded() as looks:
        look(tmp_path)
    assert looks.seen
    assert all(disk.again(question) == answer for question, answer in looks.seen.items())
    change(tmp_path)
    assert not all(disk.again(question) == answer for question, answer in looks.seen.items())


def relink(link: Path, target: Path) -> None:
    link.unlink()
    link.symlink_to(target)


def test_what_cannot_be_seen_is_told_too(tmp_path):
    (tmp_path / "long").write_text("long")
    with disk.recorded() as looks:
        for look in (disk.read_bytes, disk.size, disk.names):
            with pytest.raises(FileNotFoundError):
                look(tmp_path / "missing")
        with pytest.raises(InputError, match="is larger than 3 bytes"):
            disk.read_bytes(tmp_path / "long", most=3)
    assert len(looks.seen) == 4
    assert all(disk.again(question) == answer for question, answer in looks.seen.items())
    (tmp_path / "missing").mkdir()
    assert [disk.again(question) == answer for question, answer in looks.seen.items()] == [False, False, False, True]


def test_nothing_is_told_where_nobody_asks(tmp_path):
    with disk.recorded() as outer, disk.recorded() as inner:
        disk.exists(tmp_path)
    disk.exists(tmp_path)
    assert (len(inner.seen), len(outer.seen)) == (1, 0)


def test_a_disk_that_changes_meanwhile_is_not_seen_again(tmp_path):
    with disk.recorded() as looks:
        disk.exists(tmp_path / "new")
        assert looks.repeatable
        (tmp_path / "new").touch()
        disk.exists(tmp_path / "new")
    assert not looks.repeatable


def test_the_status_of_a_file_that_was_changed_just_now_says_too_little(tmp_path):
    (tmp_path / "new").touch()
    with disk.recorded() as looks:
        disk.status(tmp_path / "new")
    assert not looks.repeatable


def test_walk_goes_as_os_does(tmp_path):
    for name in ("b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").touch()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "e")
    for follows in (True, False):
        found = {top: (names, files) for top, names, files in disk.walk(tmp_path, follows=follows)}
        expected = {top: (sorted(names), sorted(files)) for top, names, files in os.walk(tmp_path, followlinks=follows)}
        assert found == expected


def test_walk_tells_of_what_it_cannot_enter(tmp_path):
    errors: list[OSError] = []
    assert list(disk.walk(tmp_path / "missing", errors.append)) == []
    assert [error.filename for error in errors] == [str(tmp_path / "missing")]


@pytest.mark.parametrize("held", [b"", b"ab", b"abc", b"abd", b"abcd"])
def test_what_a_file_holds(held, tmp_path):
    path = tmp_path / "file"
    assert not disk.holds(path, b"abc")
    assert not disk.holds(path / "below", b"abc")
    path.write_bytes(held)
    assert disk.holds(path, b"abc") == (held == b"abc")
    with pytest.raises(IsADirectoryError):
        disk.holds(tmp_path, b"abc")


def test_what_nmlgen_wrote_is_not_as_large_as_this(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"abc")
    assert disk.content(path) == b"abc"
    os.truncate(path, 2**26 + 1)
    with pytest.raises(OSError, match="too large") as caught:
        disk.content(path)
    assert caught.value.filename == str(path)


def test_what_is_nested_too_deep_is_no_json():
    assert disk.parsed('{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="nested too deep"):
        disk.parsed("[" * 100_000 + "]" * 100_000)


def test_a_pipe_in_the_place_of_a_text_is_not_waited_for(tmp_path):
    (tmp_path / "text").write_text("one\n")
    with disk.open_text(tmp_path / "text") as file:
        assert file.read() == "one\n"
    os.mkfifo(tmp_path / "points.csv")
    with pytest.raises(OSError, match="a regular file is expected"):
        disk.open_text(tmp_path / "points.csv")
    with pytest.raises(InputError, match="a regular file is expected"):
        nmlgen.status(tmp_path)
