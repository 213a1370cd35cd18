"""The lines about output: which file is written for which model time, when an I/O rank starts and ends, how fast.

Lines of several I/O ranks mix. The line with the speed names neither file nor rank: without labels it is taken for that
of the rank which has just said that it is done. Its rate of writing counts 4 bytes a value whatever the file holds
(mo_name_list_output.f90:3407-3424).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import define, evolve

from nmlgen.logs.rows import OutputWrite

MEGABYTE = 1_000_000  # ICON's MB
COUNTED_BYTES = 4  # a value, in ICON's rate of writing
_NUMBER = rb"\s*([*]+|[-+]?\d*\.?\d+(?:[EeDd][-+]?\d+)?|NaN|[-+]?Inf\w*)\s*"
_OUTPUT = re.compile(rb"Output to (\S+) at simulation time (\S+?)(?: by PE +(\d+))?(?=\s|$)")
_START = re.compile(rb"I/O PE +(\d+) starting I/O at (\d\d)(\d\d)(\d\d\.\d+)")
_DONE = re.compile(rb"I/O PE +(\d+) done at (\d\d)(\d\d)(\d\d\.\d+)")
_SPEED = re.compile(
    rb"Got%sMB, time get:%ss \[%sMB/s\], time write:%ss \[%sMB/s\](?:, times copy:%ss)?" % ((_NUMBER,) * 6)
)
_LIKE_OUTPUT = re.compile(rb"Output to \S+ at sim")
_LIKE_RANK = re.compile(rb"I/O PE +\d+ (?:start|done)")
_LIKE_SPEED = re.compile(rb"Got +[\d.*]+ MB")
_DAY = 86400.0
_MOST_OPEN = 100_000


@define
class _Open:
    """An output that is going on, or whose speed is still to be told."""

    write: OutputWrite
    started_s: float | None = None
    is_done: bool = False


class OutputLines:
    """What is written by whom, from the lines of one run.

    `emit` takes each output when it is complete. What reads a line returns False if it should have understood it and
    does not.
    """

    def __init__(self, emit: Callable[[OutputWrite], None]) -> None:
        self._emit = emit
        self._open: dict[int, _Open] = {}

    def read_output(self, line: bytes, at: int, number: int) -> bool:
        """`Output to F at simulation time T by PE n`."""
        found = _OUTPUT.match(line, at)
        if found is None:
            return _LIKE_OUTPUT.match(line, at) is None
        rank = int(found[3]) if found[3] is not None else -1
        self._close(rank)
        if len(self._open) < _MOST_OPEN:
            write = OutputWrite(line=number, file=_text(found[1]), model_time=_text(found[2]), rank=max(rank, 0))
            self._open[rank] = _Open(write if rank >= 0 else evolve(write, rank=None))
        return True

    def read_rank(self, line: bytes, at: int, number: int) -> bool:
        """`I/O PE n starting I/O at hhmmss.sss`, or `done at`."""
        if found := _START.match(line, at):
            rank = int(found[1])
            current = self._open.get(rank)
            if current is None or current.started_s is not None:
                self._close(rank)
                if len(self._open) >= _MOST_OPEN:
                    return True
                current = self._open[rank] = _Open(OutputWrite(line=number, rank=rank))
            current.started_s = _clock(found)
            start = b"%s:%s:%s" % (found[2], found[3], found[4])
            current.write = evolve(current.write, start=start.decode())
        elif found := _DONE.match(line, at):
            current = self._open.get(int(found[1]))
            if current is not None and current.started_s is not None:
                busy = (_clock(found) - current.started_s) % _DAY
                current.write = evolve(current.write, busy_s=round(busy, 3))
                current.is_done = True
        else:
            return _LIKE_RANK.match(line, at) is None
        return True

    def read_speed(self, line: bytes, at: int, number: int, label: int | None) -> bool:
        """` Got x MB, time get: ...`, by the rank `label` if the lines have labels."""
        found = _SPEED.match(line, at)
        if found is None:
            return _LIKE_SPEED.match(line, at) is None
        megabytes, get_s, get_rate, write_s, write_rate, copy_s = (_number(text) for text in found.groups())
        waiting = [rank for rank, current in self._open.items() if current.is_done]
        if label is not None and label in waiting:
            waiting = [label]
        spent = (get_s or 0.0) + (write_s or 0.0) + (copy_s or 0.0)
        rank = min(waiting, key=lambda one: abs((self._open[one].write.busy_s or 0.0) - spent), default=None)
        write = self._open.pop(rank).write if rank is not None else OutputWrite(line=number)
        self._emit(
            evolve(
                write,
                received_bytes=round(megabytes * MEGABYTE) if megabytes is not None else None,
                get_s=get_s,
                write_s=write_s,
                copy_s=copy_s,
                get_bytes_per_s=get_rate * MEGABYTE if get_rate is not None else None,
                logged_write_bytes_per_s=write_rate * MEGABYTE if write_rate is not None else None,
                certain=len(waiting) == 1,
            )
        )
        return True

    def finish(self) -> None:
        """The run is over."""
        for rank in list(self._open):
            self._close(rank)

    def _close(self, rank: int) -> None:
        current = self._open.pop(rank, None)
        if current is not None:
            self._emit(current.write)


def _clock(found: re.Match[bytes]) -> float:
    return int(found[2]) * 3600 + int(found[3]) * 60 + float(found[4])


def _number(text: bytes | None) -> float | None:
    """A number of a Fortran field; None where it was too long for it, or is none."""
    if text is None or not text[-1:].isdigit():
        return None
    return float(text.replace(b"D", b"E").replace(b"d", b"e"))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
