"""One way to write a file: the old one or the new one, and nothing else is touched."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from nmlgen import writing
from nmlgen.errors import WriteError
from nmlgen.writing import whole_file, write_whole


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o002])
def test_a_new_file_has_what_the_umask_leaves(umask, tmp_path):
    before = os.umask(umask)
    try:
        write_whole(tmp_path / "a", b"x")
        write_whole(tmp_path / "b", b"x", is_new=True)
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"} == {0o666 & ~umask}
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o400])
def test_a_file_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_whole(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", mode)


def test_a_file_keeps_its_owner(tmp_path):
    if os.geteuid():
        pytest.skip("only root may give files away")
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    write_whole(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_a_link_stays(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("there/file")
    (tmp_path / "dangling").symlink_to("there/other")
    for name in ("link", "dangling"):
        write_whole(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink()
    assert [(tmp_path / "there" / name).read_bytes() for name in names(tmp_path / "there")] == [b"new", b"new"]


def test_a_planted_link_is_refused(tmp_path):
    if os.geteuid():
        pytest.skip("only root may make a link for somebody else")
    (tmp_path / "mine").write_bytes(b"old")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "out").symlink_to(tmp_path / "mine")
    os.chown(shared / "out", 1234, 1234, follow_symlinks=False)
    with pytest.raises(WriteError, match="somebody else"):
        write_whole(shared / "out", b"new")
    assert (tmp_path / "mine").read_bytes() == b"old"


@pytest.mark.parametrize("plant", [Path.symlink_to, Path.hardlink_to])
def test_a_pipe_that_becomes_the_file_of_another_is_not_written_to(plant, tmp_path, monkeypatch):
    path, other, status = tmp_path / "a", tmp_path / "other", writing._status
    other.write_bytes(b"theirs")
    os.mkfifo(path)

    def swapped(target):
        found = status(target)
        path.unlink()
        plant(path, other)
        return found

    monkeypatch.setattr(writing, "_status", swapped)
    with pytest.raises(WriteError):
        write_whole(path, b"ours")
    assert other.read_bytes() == b"theirs"


def test_what_was_to_run_as_its_owner_does_not_run_as_another(tmp_path, monkeypatch):
    if os.geteuid():
        pytest.skip("only root may give files away")
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    path.chmod(0o4755)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_loop_of_links(tmp_path):
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(WriteError):
        write_whole(tmp_path / "a", b"x")


def test_a_device_and_a_pipe_stay(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "fifo", b"text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    write_whole(Path(os.devnull), b"text")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    with pytest.raises(WriteError, match="no space left"):
        write_whole(Path("/dev/full"), b"text")


def test_what_is_there_is_not_new(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    for path in (tmp_path / "a", Path(os.devnull)):
        with pytest.raises(WriteError, match="exists"):
            write_whole(path, b"new", is_new=True)
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(WriteError, match="is a directory"):
        write_whole(tmp_path, b"x")
    with pytest.raises(WriteError, match="no such file"):
        write_whole(tmp_path / "a" / "b", b"x")
    with pytest.raises(WriteError, match="is not the name of a file"):
        write_whole(tmp_path / "a\0b", b"x")


@pytest.mark.parametrize("name", ["fsync", "replace", "fchmod"])
def test_a_full_disk_leaves_the_old_file_and_nothing_beside(name, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing.os, name, full)
    with pytest.raises(WriteError, match="no space left"):
        write_whole(tmp_path / "a", b"new")
    assert (names(tmp_path), (tmp_path / "a").read_bytes()) == (["a"], b"old")


def test_whatever_ends_the_writing_leaves_nothing(tmp_path):
    def interrupted() -> None:
        with whole_file(tmp_path / "a") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == []


COMMANDS = {
    "init": ["init", "--preset", "icon/jabw", "--site", "local", "--force", "-o"],
    "import": ["import", "{here}/made", "--force", "-o"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_write_in_this_way(command, tmp_path):
    call = [sys.executable, "-m", "nmlgen"]
    subprocess.run([*call, *COMMANDS["init"], tmp_path / "first.yaml"], check=True, capture_output=True)
    subprocess.run([*call, "build", tmp_path / "first.yaml", "-o", tmp_path / "made"], check=True, capture_output=True)
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    words = [word.replace("{here}", str(tmp_path)) for word in COMMANDS[command]]
    for output in (tmp_path / "link", Path(os.devnull)):
        done = subprocess.run([*call, *words, output], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
    assert (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert (tmp_path / "file").read_text().startswith(("nmlgen: 1", "#"))
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
