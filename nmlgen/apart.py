"""What a library does that, at some broken files, ends the whole process or comes to no end: done in a process of its
own."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from nmlgen.errors import InputError

if TYPE_CHECKING:  # loaded where a log is read
    from multiprocessing.connection import Connection

Send = Callable[[Any], None]
_MOST_ENDLESS = 3
"""A bound on work: files at which so much is taken as may be, in one call of nmlgen."""


class EnoughError(InputError):
    """A file is not read, because no end was found in others before."""


_endless: ContextVar[list[str] | None] = ContextVar("endless", default=None)
"""The files that came to no end; None where nobody counts them."""


@contextmanager
def patience() -> Iterator[None]:
    """As long as this is entered, nothing more is read within limits once they were reached at a few files."""
    token = _endless.set([])
    try:
        yield
    finally:
        _endless.reset(token)


def apart(
    name: str, work: Callable[[Send], None], seconds: int | None = None, room: int | None = None
) -> Iterator[Any]:
    """What some work on a file of that name sends, which is done in another process, in so many seconds of its
    processor and bytes of memory. Raises what the work raises, InputError where the process is ended by a signal or has
    not enough memory, and EnoughError where it is not begun; see `patience`."""
    from multiprocessing import get_context

    endless = _endless.get()
    if seconds is not None and endless is not None and len(endless) >= _MOST_ENDLESS:
        raise EnoughError(f"{name} is not read, as no end was found in {len(endless)} others")

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_do, args=(work, sender, seconds, room), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of numerical libraries, which do nothing now
        child.start()
    sender.close()
    try:
        while (told := _next(receiver)) is not None:
            item, error = told
            if isinstance(error, MemoryError):
                _count(endless, name)
                raise InputError(f"{name} cannot be read: it would take too much memory")
            if error is not None:
                raise error
            yield item
        child.join()
        if child.exitcode:
            if child.exitcode == -signal.SIGXCPU:
                _count(endless, name)
            raise InputError(f"{name} cannot be read: the library for it has crashed, or comes to no end")
    finally:
        child.kill()
        child.join()
        receiver.close()


def _count(endless: list[str] | None, name: str) -> None:
    if endless is not None:
        endless.append(name)


def _next(receiver: Connection) -> tuple[Any, Exception | None] | None:
    try:
        told: tuple[Any, Exception | None] = receiver.recv()
    except (EOFError, OSError):  # it has come to its end, in whichever way
        return None
    return told


def _do(work: Callable[[Send], None], sender: Connection, seconds: int | None, room: int | None) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)  # what the library says of a log, with any bytes of it
    _bound(seconds, None if room is None else _taken() + room)
    try:
        work(lambda item: sender.send((item, None)))
    except Exception as error:
        sender.send((None, error))


def _bound(seconds: int | None, memory: int | None) -> None:
    """Set the limits of this process, where none is below them."""
    import resource  # which is not there in a browser, where nothing is read apart

    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory)):
        if most is not None:
            soft, hard = resource.getrlimit(kind)
            if soft == resource.RLIM_INFINITY or most < soft:
                resource.setrlimit(kind, (most, hard))


def _taken() -> int:
    """The memory that this process has for itself already, where the system tells it."""
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 2**40
