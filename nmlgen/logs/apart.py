"""What a library does that ends the whole process at some broken files: done in a process of its own."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from nmlgen.errors import InputError

if TYPE_CHECKING:  # loaded where a log is read
    from multiprocessing.connection import Connection

Send = Callable[[Any], None]


def apart(name: str, work: Callable[[Send], None]) -> Iterator[Any]:
    """What some work on a file of that name sends, which is done in another process. Raises what the work raises, and
    InputError where the process is ended by a signal."""
    from multiprocessing import get_context

    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_do, args=(work, sender), daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of numerical libraries, which do nothing now
        child.start()
    sender.close()
    try:
        while (told := _next(receiver)) is not None:
            item, error = told
            if error is not None:
                raise error
            yield item
        child.join()
        if child.exitcode:
            raise InputError(f"{name} cannot be read: the library for it has crashed")
    finally:
        child.kill()
        child.join()
        receiver.close()


def _next(receiver: Connection) -> tuple[Any, Exception | None] | None:
    try:
        told: tuple[Any, Exception | None] = receiver.recv()
    except (EOFError, OSError):  # it has come to its end, in whichever way
        return None
    return told


def _do(work: Callable[[Send], None], sender: Connection) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)  # what the library says of a log, with any bytes of it
    try:
        work(lambda item: sender.send((item, None)))
    except Exception as error:
        sender.send((None, error))
