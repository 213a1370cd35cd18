"""The one way to write a file that somebody named: afterwards it is the old one or the new one, whatever happens.

The new contents are written beside it and moved into its place in one step. The file keeps its permissions and, where
that is allowed, its owner; a new one has those that the umask leaves. A symbolic link stays, and what it leads to is
replaced; one that somebody else has planted in a directory for all is refused. A device or a pipe is written to, and
stays what it is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nmlgen.errors import WriteError


def utf_8(text: str) -> bytes:
    """The bytes of a text that nmlgen makes: what names of files have in it that is no UTF-8 stands there as an
    escape."""
    return text.encode("utf-8", "backslashreplace")


def write_whole(path: Path, data: bytes, *, is_new: bool = False, is_ours: bool = False) -> None:
    """Write a file whole or not at all. Raises WriteError if it cannot be written, or is there although it `is_new`; if
    its name `is_ours`, and nobody's who might want a pipe or a device there, also if it is no regular file."""
    with whole_file(path, is_new=is_new, is_ours=is_ours) as file:
        file.write(data)


@contextlib.contextmanager
def whole_file(path: Path, *, is_new: bool = False, is_ours: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which has its name when all is written. Errors are those of `write_whole`; whatever ends the
    writing before, nothing is left of it."""
    try:
        target = _target(path)
        before = _status(target)
        if before is not None and not stat.S_ISREG(before.st_mode):
            if is_new:
                raise WriteError(f"{path} exists")
            if is_ours:  # a pipe would wait for ever for somebody who reads it
                raise WriteError(f"{path} is no regular file")
            with open(_opened(target), "wb") as file:
                yield file
            return
        if is_new and before is not None:
            raise WriteError(f"{path} exists")
        with _staged(target, before, is_new) as file:
            yield file
    except FileExistsError:
        raise WriteError(f"{path} exists") from None
    except OSError as error:
        raise WriteError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a NUL in the name
        raise WriteError(f"{str(path)!r} is not the name of a file: {error}") from None


@contextlib.contextmanager
def _staged(target: Path, before: os.stat_result | None, is_new: bool) -> Iterator[BinaryIO]:
    """A file beside the target that takes its place in the end."""
    staged = target.with_name(f".{target.name[:100]}.{os.urandom(6).hex()}")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            if before is not None:
                _keep(descriptor, before)
            os.fsync(descriptor)
        if is_new:
            os.link(staged, target)  # fails if somebody else has made it meanwhile
        else:
            os.replace(staged, target)
        synchronise(target.parent)
    finally:
        staged.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    """Where the contents go: the end of a chain of links, none of which is a stranger's in a directory for all."""
    target = path
    for _ in range(40):  # as many as Linux follows
        if not target.is_symlink():
            return target
        directory, link = os.stat(target.parent), os.lstat(target)
        is_for_all = directory.st_mode & stat.S_ISVTX and directory.st_mode & stat.S_IWOTH
        if is_for_all and link.st_uid not in (os.geteuid(), directory.st_uid):
            raise WriteError(f"{path}: {target} is a link that somebody else has made in a directory for all")
        target = target.parent / os.readlink(target)
    raise WriteError(f"{path}: too many symbolic links")


def _opened(target: Path) -> int:
    """A device or a pipe, open for writing. What has become a link or a file meanwhile is refused: somebody else makes
    it lead elsewhere."""
    descriptor = os.open(target, os.O_WRONLY | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WriteError(f"{target} has become another file; nothing was written")
    return descriptor


def _status(path: Path) -> os.stat_result | None:
    """What is there, of a link that has come meanwhile itself."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise WriteError(f"{path} is a directory; a file is expected")
    return found


def _keep(descriptor: int, before: os.stat_result) -> None:
    """Give a file the owner, as far as one may, and the permissions that another has."""
    now = os.fstat(descriptor)
    for uid, gid in ((before.st_uid, before.st_gid), (-1, before.st_gid)):
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, uid, gid)
                break
    mode = stat.S_IMODE(before.st_mode)
    if os.fstat(descriptor).st_uid != before.st_uid:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)  # it was to be run as somebody else
    os.fchmod(descriptor, mode)


def opened_lock(path: Path) -> int:
    """A file that is there to be locked, made if need be with the permissions that the umask gives. Raises WriteError
    if it cannot be had, and for a link or another thing in its place, which somebody else may have made to lead
    elsewhere."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise WriteError(f"{path} is a symbolic link; a file of nmlgen's own is expected") from None
        raise WriteError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise WriteError(f"{path} is no ordinary file; a file of nmlgen's own is expected")
    return descriptor


def synchronise(directory: Path) -> None:
    """Wait until the disk has the names in a directory."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
