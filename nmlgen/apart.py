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
_MOST_ENDLESS = 3.0
"""A bound on work: files at which so much is taken as may be, in one call of nmlgen, or more that take a part of it."""
_USUAL, _USUAL_PART = 0.2, 0.25
"""What any file may take uncounted, in seconds, and of what a large one may take beyond the first second."""


class EnoughError(InputError):
    """A file is not read, because others before took too much."""


_endless: ContextVar[list[float] | None] = ContextVar("endless", default=None)
"""Of the files that took more than is usual which part of what they may; None where nobody counts them."""


@contextmanager
def patience() -> Iterator[None]:
    """As long as this is entered, nothing more is read within limits once they were reached at a few files, or nearly
    so at some more."""
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
    if seconds is not None and endless is not None and sum(endless) >= _MOST_ENDLESS:
        raise EnoughError(f"{name} is not read, as {len(endless)} others took too much time or memory")

    context, before = get_context("fork"), _seconds_of_children()
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_do, args=(work, sender, seconds, room), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of numerical libraries, which do nothing now
        child.start()
    sender.close()
    is_endless = False
    try:
        while (told := _next(receiver)) is not None:
            item, error = told
            if isinstance(error, MemoryError):
                is_endless = True
                raise InputError(f"{name} cannot be read: it would take too much memory")
            if error is not None:
                raise error
            yield item
        child.join()
        if child.exitcode:
            is_endless = child.exitcode == -signal.SIGXCPU
            raise InputError(f"{name} cannot be read: the library for it has crashed, or comes to no end")
    finally:
        child.kill()
        child.join()
        receiver.close()
        if seconds is not None and endless is not None:
            endless += _counted(seconds, _seconds_of_children() - before, is_endless)


def _counted(seconds: int, taken: float, is_endless: bool) -> list[float]:
    """How a file counts that may take so many seconds: as the part that it took; not at all where that is usual."""
    beyond = taken - _USUAL - _USUAL_PART * (seconds - 1)
    return [1.0] if is_endless else [beyond / seconds] if beyond > 0 else []


def _seconds_of_children() -> float:
    """What the processes have taken of the processor that have ended."""
    import resource

    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


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
