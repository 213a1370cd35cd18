"""Reading files: what has no end is refused by its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nmlgen.disk import MOST_BYTES, read_bytes
from nmlgen.errors import InputError
from nmlgen.files import Files, GivenFiles
from nmlgen.spec.document import read_file


@pytest.mark.parametrize("read", [read_bytes, Files().read, read_file])
def test_what_is_no_regular_file(read, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path, kind in (("/dev/zero", "a device"), (tmp_path / "fifo", "a pipe")):
        with pytest.raises(InputError, match=f"{path} is {kind}; a regular file is expected"):
            read(type(tmp_path)(path))


def test_what_holds_nothing_yet(tmp_path, monkeypatch):
    """As `/proc/kmsg`, a regular file by its kind."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with open(reading, "rb") as file:
        monkeypatch.setattr("nmlgen.disk.open_regular", lambda path: file)
        assert read_bytes(tmp_path / "a") == b""
    os.close(writing)


@pytest.mark.parametrize("read", [read_bytes, Files().read, read_file])
def test_a_file_that_is_too_large(read, tmp_path):
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, MOST_BYTES + 1)
    with pytest.raises(InputError, match="is larger than 4 MiB"):
        read(path)


def test_the_largest_file(tmp_path):
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, MOST_BYTES)
    assert len(read_bytes(path)) == MOST_BYTES
    with pytest.raises(InputError, match="is larger than 10 bytes"):
        read_bytes(path, most=10)


def test_a_file_beside_another_is_read_refused_or_not_there(tmp_path):
    (tmp_path / "b").write_text("text")
    (tmp_path / "c").mkdir()
    (tmp_path / "d").symlink_to(tmp_path / "d")
    files = Files()
    assert files.beside(tmp_path / "a", "b").text == "text"
    assert files.beside(tmp_path / "a", "e") is None
    assert files.beside(tmp_path / "a", "e\0") is None
    for name in ("c", "d"):
        with pytest.raises(InputError):
            files.beside(tmp_path / "a", name)


def test_beside_given_files_are_given_ones_alone(tmp_path):
    (tmp_path / "b").mkdir()
    files = GivenFiles({str(tmp_path / "a"): "a", str(tmp_path / "c"): "c"})
    assert files.beside(tmp_path / "a", "b") is None
    assert files.beside(tmp_path / "a", "c").text == "c"


def test_what_is_made_of_a_few_files_is_made_once(tmp_path):
    """The ways of a script look at what lies beside it in turn."""
    for name in "abc":
        (tmp_path / name).write_text(name)
    files, made = Files(), []
    make = made.append
    for name in "abcabc":
        files.made(files.read(tmp_path / name), make)
    assert [source.text for source in made] == ["a", "b", "c"]


def test_what_is_made_of_a_file_serves_those_of_which_none_is_read(tmp_path):
    """A directory is judged by several releases, and what lies beside a master is the same for all of them."""
    (tmp_path / "a").write_text("a")
    files, made = Files(), []
    make = made.append
    for one in (files.unread(), files.unread(), files):
        one.made(one.read(tmp_path / "a"), make)
    assert len(made) == 1


def test_a_file_is_the_same_to_those_of_which_none_is_read(tmp_path):
    (tmp_path / "a").write_text("a")
    files = Files()
    first = files.unread().read(tmp_path / "a")
    other = Files()
    other.share(files)
    assert files.unread().read(tmp_path / "a") is first
    assert other.read(tmp_path / "a") is first
    assert not files.sources


def test_a_path_that_no_system_opens_is_not_followed(monkeypatch):
    monkeypatch.setattr(Path, "resolve", lambda path: pytest.fail("it is followed"))
    path = Path("a/" * 3_000 + "b")
    with pytest.raises(InputError, match=r"file name too long"):
        Files().read(path)
    with pytest.raises(OSError, match=r"File name too long"):
        Files().data(path, "b")
