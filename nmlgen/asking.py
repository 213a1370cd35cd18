"""What another program answers: no more of it than anybody reads, and no longer than anybody waits."""

from __future__ import annotations

import os
import select
import selectors
import subprocess
import time
from collections.abc import Callable, Sequence

from nmlgen.values import frozen

_MOST = 16_000_000  # bytes: what a hundred thousand tasks of arrays are listed in
_PIECE = 65_536


@frozen
class Said:
    """What a program said, and its exit code."""

    out: str
    error: str
    code: int


class TooMuchError(OSError):
    """A program says more than anybody reads."""


def answer(command: Sequence[str], seconds: float | None = None) -> Said:
    """What a program says that is asked nothing else. Errors are those of starting it and of `heard`."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        return heard(process, seconds=seconds)


def heard(
    process: subprocess.Popen[bytes],
    text: str = "",
    seconds: float | None = None,
    is_over: Callable[[bytearray], bool] | None = None,
) -> Said:
    """What a program says to a text, each of whose streams is a pipe. It is killed where that `is_over` by the lines
    that it complains in; and where it takes longer than some seconds (subprocess.TimeoutExpired) or says too much
    (TooMuchError)."""
    end = None if seconds is None else time.monotonic() + seconds
    left = memoryview(text.encode("utf-8", "replace"))
    said: dict[int, bytearray] = {}
    with selectors.DefaultSelector() as open_ones:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                said[stream.fileno()] = bytearray()
                open_ones.register(stream, selectors.EVENT_READ)
        if process.stdin is not None:
            open_ones.register(process.stdin, selectors.EVENT_WRITE)
        try:
            while open_ones.get_map():
                for key, _ in open_ones.select(_until(end, process)):
                    if key.fileobj is process.stdin:
                        left = _told(key.fd, left)
                        if not left:
                            open_ones.unregister(key.fileobj)
                            process.stdin.close()
                        continue
                    piece = os.read(key.fd, _PIECE)
                    said[key.fd] += piece
                    if not piece:
                        open_ones.unregister(key.fileobj)
                    elif len(said[key.fd]) > _MOST:
                        raise TooMuchError(f"{_name(process)} says more than {_MOST // 1_000_000} MB")
                    elif is_over is not None and key.fileobj is process.stderr and is_over(_lines(said[key.fd])):
                        process.kill()
            process.wait(_until(end, process))
        except BaseException:
            process.kill()
            raise
    out, error = (
        "" if stream is None else _decoded(said[stream.fileno()]) for stream in (process.stdout, process.stderr)
    )
    return Said(out, error, process.returncode)


def _until(end: float | None, process: subprocess.Popen[bytes]) -> float | None:
    """The seconds that are left."""
    if end is None:
        return None
    if (left := end - time.monotonic()) <= 0:
        raise subprocess.TimeoutExpired(process.args, left)
    return left


def _told(fd: int, text: memoryview) -> memoryview:
    """What is still to be told of a text; nothing where nobody listens."""
    try:
        return text[os.write(fd, text[: select.PIPE_BUF]) :] if text else text
    except BrokenPipeError:
        return text[:0]


def _lines(said: bytearray) -> bytearray:
    """The last whole lines."""
    return said[-2 * _PIECE : said.rfind(b"\n") + 1]


def _name(process: subprocess.Popen[bytes]) -> str:
    return str(process.args[0]) if isinstance(process.args, (list, tuple)) else str(process.args)


def _decoded(text: bytearray) -> str:
    """As a pipe of text gives it."""
    return text.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
