"""Writing to the disk: whole or not at all, and never over what somebody changed.

The new files of a build are first written beside the old ones, in a directory that is then renamed to `.nmlgen-commit`:
that rename is the moment from which the build counts. Moving the files out of it can be interrupted; whoever
comes next finishes it. Until then the batch script notices files of two builds and refuses to run.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from nmlgen import disk
from nmlgen.errors import WriteError
from nmlgen.writing import synchronise, write_whole

MANIFEST = "nmlgen-manifest.json"
_COMMIT = ".nmlgen-commit"
STAGING = ".nmlgen-staging-"
_LEFTOVER_SECONDS = 3600
_PATIENCE_SECONDS = 10
_NONE: Mapping[str, str] = MappingProxyType({})


def write_files(
    files: Mapping[str, bytes], directory: Path, force: bool = False, links: Mapping[str, str] = _NONE
) -> tuple[str, ...]:
    """Write a build; returns the names of the files that are new or different, sorted.

    Those in `links` become symbolic links to the file there that has the same contents, relative to the directory.

    Raises WriteError if a file that is not nmlgen's, or was changed since nmlgen wrote it, is in the way and
    `force` is not given, or if the disk refuses. Files of the build before that this one no longer has go.
    """
    try:
        for path in (directory, *directory.parents):
            if path.exists() and not path.is_dir():
                raise WriteError(f"{path} is a file; a directory is expected")
        directory.parent.mkdir(parents=True, exist_ok=True)
        with _locked(directory if directory.is_dir() else directory.parent):
            return _write(files, directory, force, links)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise WriteError(f"{error.filename2 or error.filename or directory}: {reason}") from error


def replace_files(files: Mapping[Path, tuple[bytes, bytes]]) -> None:
    """Give files new contents; of each, what it holds now and what it is to hold is given.

    Each is replaced in one step and keeps its permissions. Raises WriteError, before anything is written, if one does
    not hold what was said, and if the disk refuses.
    """
    for path, (before, _) in files.items():
        if not disk.holds(path, before):
            raise WriteError(f"{path} was changed by someone else; nothing was written")
    for path, (_, after) in files.items():
        write_whole(path, after)


def changed_files(files: Mapping[str, bytes], directory: Path, links: Mapping[str, str] = _NONE) -> tuple[str, ...]:
    """The names of the files that are missing or different in the directory, sorted."""
    return tuple(
        sorted(
            name
            for name, data in files.items()
            if not disk.holds(directory / name, data)
            or (name in links and not _is_link_to(directory / name, links[name]))
        )
    )


def built_files(directory: Path) -> frozenset[str]:
    """The names of the files of the build in a directory, the manifest among them."""
    return frozenset((MANIFEST, *_outputs(directory)))


def stage_files(
    files: Mapping[str, bytes], directory: Path, links: Mapping[str, str] = _NONE, *, is_synchronised: bool = False
) -> None:
    """Write files and links to a directory that nobody else looks at yet; wait for the disk if it is synchronised."""
    for name, data in files.items():
        path = directory / name
        if name in links:
            path.symlink_to(links[name])
        elif is_synchronised:
            _write_through(path, data)
        else:
            path.write_bytes(data)


def _is_link_to(path: Path, target: str) -> bool:
    try:
        return os.readlink(path) == target
    except OSError:
        return False


def _write(files: Mapping[str, bytes], directory: Path, force: bool, links: Mapping[str, str]) -> tuple[str, ...]:
    _finish(directory)
    before = _outputs(directory)
    if not force:
        _refuse_foreign(files, directory, before)
    changed = changed_files(files, directory, links)
    if changed:
        _commit(files, directory, links)
    return changed


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Let one build at a time write here, where the file system has locks; else the renames have to do."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        end = time.monotonic() + _PATIENCE_SECONDS
        while not _lock(descriptor):
            if time.monotonic() > end:
                raise WriteError(f"another build has been writing to {directory} for {_PATIENCE_SECONDS} seconds")
            time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Whether the lock is ours, or there are no locks here."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _commit(files: Mapping[str, bytes], directory: Path, links: Mapping[str, str]) -> None:
    """Write all files, also those that are there already: of two builds at once, one is whole in the end."""
    existed = directory.is_dir()
    holder = directory if existed else directory.parent
    clear_leftovers(holder)
    staging = holder / f"{STAGING}{os.urandom(8).hex()}"
    staging.mkdir()
    try:
        stage_files(files, staging, links, is_synchronised=True)
        synchronise(staging)
        if not existed and _renamed(staging, directory):
            synchronise(holder)
            return
        while not _renamed(staging, directory / _COMMIT):
            _finish(directory)  # that of another build at the same time
        _finish(directory)
        synchronise(directory)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _renamed(staging: Path, target: Path) -> bool:
    """Rename a directory; False if there is one of that name that is not empty."""
    try:
        staging.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _finish(directory: Path) -> None:
    """Complete a build that was committed and not yet moved into place: the manifest last.

    Another build may be doing the same at the same time; what it has done is not there any more.
    """
    commit = directory / _COMMIT
    if not commit.is_dir():
        return
    before, after = _outputs(directory), _outputs(commit)
    try:
        left = sorted(commit.iterdir(), key=lambda path: path.name == MANIFEST)
    except FileNotFoundError:  # all is done
        return
    for path in left:
        if path.name == MANIFEST and after:
            _remove_stale({name: digest for name, digest in before.items() if name not in after}, directory)
        with contextlib.suppress(FileNotFoundError):
            path.replace(directory / path.name)
    with contextlib.suppress(OSError):
        commit.rmdir()


def _remove_stale(stale: Mapping[str, str], directory: Path) -> None:
    """Remove the files of the build before that this one does not have, unless somebody changed them."""
    for name in stale:
        if _is_ours(directory, name, stale):
            (directory / name).unlink(missing_ok=True)


def clear_leftovers(holder: Path) -> None:
    """Remove what builds or sweeps that were killed before their end left behind an hour ago or more."""
    for leftover in holder.glob(f"{STAGING}*"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
                shutil.rmtree(leftover)


def _refuse_foreign(files: Mapping[str, bytes], directory: Path, before: Mapping[str, str]) -> None:
    foreign = [
        name
        for name, data in files.items()
        if name != MANIFEST
        and (directory / name).exists()
        and not disk.holds(directory / name, data)
        and not _is_ours(directory, name, before)
    ]
    if foreign:
        what = "is not as nmlgen wrote it" if len(foreign) == 1 else "are not as nmlgen wrote them"
        raise WriteError(f"{', '.join(sorted(foreign))} in {directory} {what}; --force overwrites, --diff shows")


def _is_ours(directory: Path, name: str, before: Mapping[str, str]) -> bool:
    data = _read(directory / name)
    return data is not None and hashlib.sha256(data).hexdigest() == before.get(name)


def _outputs(directory: Path) -> dict[str, str]:
    data = _read(directory / MANIFEST)
    if data is None:
        return {}
    with contextlib.suppress(ValueError, AttributeError):
        outputs = disk.parsed(data).get("outputs", {})
        if isinstance(outputs, dict):
            return {name: value for name, value in outputs.items() if _is_file_name(name)}
    return {}


def _is_file_name(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name


def _read(path: Path) -> bytes | None:
    try:
        return disk.content(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _write_through(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
