"""Whole or not at all, whatever happens on the way; and never over what somebody changed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from specs import load, unchecked_build

from nmlgen import WriteError
from nmlgen.render import write
from nmlgen.render.write import changed_files, write_files

OLD = unchecked_build(load()).files
NEW = unchecked_build(load(parallel={"nproma": 8})).files
RENAMED = unchecked_build(load(name="other")).files
MANIFEST = "nmlgen-manifest.json"


def content(directory: Path) -> dict[str, bytes]:
    """All files of a directory; leftovers of a write that was cut short count, too."""
    if not directory.is_dir():
        return {}
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# --- When nothing happens --------------------------------------------------------------------------------


def test_new_directory(tmp_path):
    target = tmp_path / "a" / "b" / "run"
    assert write_files(OLD, target) == tuple(sorted(OLD))
    assert content(target) == OLD
    assert names(target.parent) == ["run"]


def test_existing_directory_keeps_what_is_there(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "run").mkdir()
    write_files(OLD, tmp_path)
    assert content(tmp_path) == {**OLD, "mine.txt": b"mine"}
    assert (tmp_path / "run").is_dir()


def test_a_second_time_nothing_changes(tmp_path):
    write_files(OLD, tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert write_files(OLD, tmp_path) == ()
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_another_build(tmp_path):
    write_files(OLD, tmp_path)
    assert changed_files(NEW, tmp_path) == tuple(sorted(NEW))
    assert write_files(NEW, tmp_path) == tuple(sorted(NEW))
    assert content(tmp_path) == NEW


def test_only_the_manifest_differs(tmp_path):
    write_files(OLD, tmp_path)
    stamped = {**OLD, MANIFEST: OLD[MANIFEST].replace(b'"format": 1', b'"format":  1')}
    assert write_files(stamped, tmp_path) == (MANIFEST,)
    assert content(tmp_path) == stamped


def test_stale_files_go(tmp_path):
    write_files(OLD, tmp_path)
    write_files(RENAMED, tmp_path)
    assert content(tmp_path) == RENAMED


def test_stale_files_that_somebody_changed_stay(tmp_path):
    write_files(OLD, tmp_path)
    (tmp_path / "wave.sbatch").write_text("mine")
    write_files(RENAMED, tmp_path)
    assert content(tmp_path) == {**RENAMED, "wave.sbatch": b"mine"}


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002, 0o000])
def test_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        write_files(OLD, tmp_path / "run")
    finally:
        os.umask(before)
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o777 & ~mask
    for path in (tmp_path / "run").iterdir():
        assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_link_to_a_directory(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "run").symlink_to("real")
    write_files(OLD, tmp_path / "run")
    assert content(tmp_path / "real") == OLD
    assert (tmp_path / "run").is_symlink()


# --- Files that are not ours -----------------------------------------------------------------------------


def test_changed_files_are_refused(tmp_path):
    write_files(OLD, tmp_path)
    (tmp_path / "NAMELIST_wave").write_text("mine")
    before = content(tmp_path)
    with pytest.raises(WriteError, match=r"^NAMELIST_wave in .* is not as nmlgen wrote it; --force overwrites"):
        write_files(NEW, tmp_path)
    assert content(tmp_path) == before
    (tmp_path / "wave.sbatch").write_text("mine")
    with pytest.raises(WriteError, match=r"^NAMELIST_wave, wave\.sbatch in .* are not as nmlgen wrote them"):
        write_files(NEW, tmp_path)
    write_files(NEW, tmp_path, force=True)
    assert content(tmp_path) == NEW


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "icon_master.namelist").write_text("mine")
    with pytest.raises(WriteError):
        write_files(OLD, tmp_path)
    assert content(tmp_path) == {"icon_master.namelist": b"mine"}


def test_a_file_that_happens_to_be_right_is_no_obstacle(tmp_path):
    (tmp_path / "wave.sbatch").write_bytes(OLD["wave.sbatch"])
    write_files(OLD, tmp_path)
    assert content(tmp_path) == OLD


@pytest.mark.parametrize(
    "manifest", [b"", b"{", b"[]", b"null", b'{"outputs": []}', b'{"outputs": {"../x": "0", "a": 5}}', b"\xff\xfe"]
)
def test_a_broken_manifest_proves_nothing(tmp_path, manifest):
    write_files(OLD, tmp_path)
    (tmp_path / MANIFEST).write_bytes(manifest)
    (tmp_path.parent / "x").write_text("")
    with pytest.raises(WriteError):
        write_files(NEW, tmp_path)
    assert write_files(NEW, tmp_path, force=True)
    assert content(tmp_path) == NEW
    assert (tmp_path.parent / "x").exists()


def test_target_is_a_file(tmp_path):
    (tmp_path / "run").write_text("mine")
    with pytest.raises(WriteError, match="is a file; a directory is expected"):
        write_files(OLD, tmp_path / "run")
    with pytest.raises(WriteError):
        write_files(OLD, tmp_path / "run" / "below")
    assert content(tmp_path) == {"run": b"mine"}


def test_a_directory_is_where_a_file_belongs(tmp_path):
    (tmp_path / "wave.sbatch").mkdir()
    for force in (False, True):
        with pytest.raises(WriteError, match="directory"):
            write_files(OLD, tmp_path, force)
    assert names(tmp_path) == ["wave.sbatch"]


def test_a_dangling_link(tmp_path):
    (tmp_path / "run").symlink_to("nowhere")
    with pytest.raises(WriteError):
        write_files(OLD, tmp_path / "run")
    assert names(tmp_path) == ["run"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_directory(tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(WriteError, match="permission denied"):
            write_files(OLD, tmp_path)
        with pytest.raises(WriteError, match="permission denied"):
            write_files(OLD, tmp_path / "run")
    finally:
        tmp_path.chmod(0o755)
    assert names(tmp_path) == []


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(WriteError, match="file name too long"):
        write_files(OLD, tmp_path / ("x" * 300))


# --- When the disk refuses -------------------------------------------------------------------------------

CALLS = [
    (Path, "mkdir"),
    (Path, "rename"),
    (Path, "replace"),
    (Path, "open"),
    (Path, "rmdir"),
    (Path, "unlink"),
    (Path, "read_bytes"),
    (Path, "iterdir"),
    (os, "fsync"),
    (os, "open"),
]


class Fault:
    """Makes the nth of all watched calls fail; counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, act: Callable[[], None]) -> None:
        self.count = 0
        self.failed = ""
        for owner, name in CALLS:
            monkeypatch.setattr(owner, name, self._watched(getattr(owner, name), name, number, act))

    def _watched(self, function, name, number, act):
        def call(*arguments, **options):
            self.count += 1
            if self.count == number:
                self.failed = name
                act()
            return function(*arguments, **options)

        return call


def refuse() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "there")


def interrupt() -> None:
    raise KeyboardInterrupt


def start_old(target: Path) -> None:
    write_files(OLD, target)


def start_nothing(target: Path) -> None:
    assert not target.exists()


def calls_of_a_write(tmp_path: Path, start: Callable[[Path], None], files) -> int:
    target = tmp_path / "counted"
    start(target)
    with pytest.MonkeyPatch.context() as patch:
        fault = Fault(patch, -1, refuse)
        write_files(files, target)
    return fault.count


@pytest.mark.parametrize("act", [refuse, interrupt])
@pytest.mark.parametrize("files", [NEW, RENAMED], ids=["new", "renamed"])
@pytest.mark.parametrize("start", [start_old, start_nothing])
def test_every_call_may_fail(tmp_path, start, files, act):
    number = calls_of_a_write(tmp_path, start, files)
    assert number > 10
    outcomes = set()
    for failing in range(1, number + 1):
        target = tmp_path / f"{failing}" / "run"
        target.parent.mkdir()
        start(target)
        before = content(target)
        with pytest.MonkeyPatch.context() as patch:
            fault = Fault(patch, failing, act)
            try:
                write_files(files, target)
            except (WriteError, KeyboardInterrupt) as error:
                outcomes.add(str(error))
        committed = (target / ".nmlgen-commit").exists()
        after = {name: data for name, data in content(target).items() if not name.startswith(".nmlgen-")}
        if not committed:
            assert after in (before, files), fault.failed
        write_files(files, target)
        assert content(target) == files, fault.failed
        assert [name for name in names(target.parent) if not name.startswith(".nmlgen-staging-")] == ["run"]
    assert outcomes == {"there: no space left on device" if act is refuse else ""}


def test_leftovers_of_the_killed_are_cleared_after_an_hour(tmp_path):
    fresh, stale = (tmp_path / f".nmlgen-staging-{name}" for name in ("fresh", "stale"))
    for directory in (fresh, stale):
        directory.mkdir()
    long_ago = time.time() - 2 * write._LEFTOVER_SECONDS
    os.utime(stale, (long_ago, long_ago))
    write_files(OLD, tmp_path)
    assert fresh.exists()
    assert not stale.exists()


# --- When it is killed -----------------------------------------------------------------------------------

PREPARE = """\
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from specs import load, unchecked_build
from nmlgen.render import write
builds = [unchecked_build(load(**change)).files for change in ({}, {"parallel": {"nproma": 8}}, {"name": "other"})]
target = Path(sys.argv[2])
write._PATIENCE_SECONDS = float("inf")
"""
WRITE = """
while True:
    for files in builds:
        write.write_files(files, target)
    print("written", flush=True)
"""
KILL = """
left = 0

def count_down(event, arguments):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

for moment in map(int, sys.argv[3:]):
    if os.fork() == 0:
        left = moment
        sys.addaudithook(count_down)
        while True:
            for files in builds:
                write.write_files(files, target / str(moment))
    assert os.waitstatus_to_exitcode(os.wait()[1]) == -signal.SIGKILL
"""
BUILDS = (OLD, NEW, RENAMED)
MOMENTS = range(1, 190, 4)  # of the 190 calls in two rounds: into no directory, over what is there


def writer(program: str, *arguments: object) -> list[str]:
    """A process that writes three builds, one after the other, without end."""
    tests = Path(__file__).resolve().parents[1]
    return [sys.executable, "-c", PREPARE + program, str(tests), *map(str, arguments)]


@contextmanager
def running_writer(target: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that writes one build after the other until it is killed."""
    with subprocess.Popen(writer(WRITE, target), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def test_killed_at_any_moment(tmp_path):
    """Before many of the things that Python asks of the system."""
    subprocess.run(writer(KILL, tmp_path, *MOMENTS), check=True)
    for moment in MOMENTS:
        target = tmp_path / f"{moment}"
        committed = target / ".nmlgen-commit"
        if not committed.exists():
            found = {name: data for name, data in content(target).items() if not name.startswith(".")}
            assert found in ({}, *BUILDS)
        write_files(NEW, target)
        assert {name: data for name, data in content(target).items() if not name.startswith(".")} == NEW
        assert not committed.exists()


def test_killed_between_commit_and_move(tmp_path):
    """All states that a kill can leave behind once the commit counts."""
    for moved in range(len(RENAMED) + 1):
        target = tmp_path / f"{moved}"
        write_files(OLD, target)
        commit = target / ".nmlgen-commit"
        commit.mkdir()
        order = sorted(RENAMED, key=lambda name: name == MANIFEST)
        for name in order[moved:]:
            (commit / name).write_bytes(RENAMED[name])
        for name in order[:moved]:
            (target / name).write_bytes(RENAMED[name])
        if moved == len(RENAMED):
            for name in OLD.keys() - RENAMED.keys():
                (target / name).unlink()
        write_files(RENAMED, target)
        assert content(target) == RENAMED
        assert not commit.exists()


def test_a_committed_build_is_finished_before_another_is_judged(tmp_path):
    write_files(OLD, tmp_path)
    commit = tmp_path / ".nmlgen-commit"
    commit.mkdir()
    for name, data in NEW.items():
        (commit / name).write_bytes(data)
    write_files(RENAMED, tmp_path)
    assert content(tmp_path) == RENAMED


# --- When there are two ----------------------------------------------------------------------------------


def test_two_writers(tmp_path):
    """Both go on writing three builds; whenever they stop, the directory holds one of them."""
    target = tmp_path / "run"
    with running_writer(target) as first, running_writer(target) as second:
        for running in (first, second, first, second):
            assert running.stdout.readline() == "written\n", running.stderr.read()
    write_files(NEW, target)
    assert {name: data for name, data in content(target).items() if not name.startswith(".")} == NEW


def test_another_build_completes_what_was_committed(tmp_path, monkeypatch):
    """Between the looks of this one."""
    write_files(OLD, tmp_path)
    commit = tmp_path / ".nmlgen-commit"
    commit.mkdir()
    looked = write._outputs

    def outputs(directory: Path) -> dict[str, str]:
        if commit.is_dir() and not names(commit):  # not what this one commits
            commit.rmdir()
        return looked(directory)

    monkeypatch.setattr(write, "_outputs", outputs)
    write_files(NEW, tmp_path)
    assert content(tmp_path) == NEW


def test_another_build_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "_PATIENCE_SECONDS", 0)
    with write._locked(tmp_path), pytest.raises(WriteError, match="another build has been writing"):
        write_files(OLD, tmp_path)


def test_file_systems_without_locks(tmp_path, monkeypatch):
    def refuse_lock(descriptor, operation):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(write.fcntl, "flock", refuse_lock)
    write_files(OLD, tmp_path)
    assert content(tmp_path) == OLD


def test_another_build_came_between(tmp_path, monkeypatch):
    """Another build is committed just before ours: the last one is whole in the end."""
    target = tmp_path / "run"
    write_files(OLD, target)
    rename = Path.rename

    def first_the_other(path: Path, to: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        commit = target / ".nmlgen-commit"
        commit.mkdir()
        for name, data in RENAMED.items():
            (commit / name).write_bytes(data)
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", first_the_other)
    write_files(NEW, target)
    assert content(target) == NEW


def test_the_directory_appears_meanwhile(tmp_path, monkeypatch):
    target = tmp_path / "run"
    rename = Path.rename

    def first_the_other(path: Path, to: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        target.mkdir()
        for name, data in OLD.items():
            (target / name).write_bytes(data)
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", first_the_other)
    write_files(NEW, target)
    assert content(target) == NEW
    assert json.loads(content(target)[MANIFEST])["name"] == "wave"


def test_a_device_in_the_place_of_a_file_is_not_read(tmp_path):
    (tmp_path / MANIFEST).symlink_to("/dev/null")  # /dev/zero would have no end
    with pytest.raises(WriteError, match="is a device"):
        write_files({"a": b"x"}, tmp_path)
