"""The lines about output: which file is written for which model time, when an I/O rank starts and ends, how fast.

Lines of several I/O ranks mix. The line with the speed names neither file nor rank: without labels it is taken for that
of the rank which has just said that it is done. Its rate of writing counts 4 bytes a value whatever the file holds
(mo_name_list_output.f90:3407-3424).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nmlgen.values import define

MEGABYTE = 1_000_000  # ICON's MB
COUNTED_BYTES = 4  # a value, in ICON's rate of writing
_NUMBER = rb"\s*([*]+|[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[EeDd][-+]?\d+)?|NaN|[-+]?Inf\w*)\s*"
_OUTPUT = re.compile(rb"Output to (\S+) at simulation time (\S+?)(?: by PE +(\d{1,9}))?(?=\s|$)")
_RANK = re.compile(rb"I/O PE +(\d{1,9}) (starting I/O|done) at (\d\d)(\d\d)(\d\d\.\d+)")
_SPEED = re.compile(
    rb"Got%sMB, time get:%ss \[%sMB/s\], time write:%ss \[%sMB/s\](?:, times copy:%ss)?" % ((_NUMBER,) * 6)
)
_LIKE_OUTPUT = re.compile(rb"Output to \S+ at sim")
_LIKE_RANK = re.compile(rb"I/O PE +\d+ (?:start|done)")
_LIKE_SPEED = re.compile(rb"Got +[\d.*]+ MB")
_DAY = 86400.0
_LARGEST = 1e15  # no number of theirs has as many digits
_MOST_OPEN = 1_000  # ranks, of which each speed is looked for among all; ICON has room for 256 that write, of a model
_UNKNOWN = -1


Columns = dict[str, Any]
"""The columns of one OutputWrite, as far as they are known."""


@define
class _Open:
    """An output that is going on, or whose speed is still to be told."""

    columns: Columns
    started_s: float | None = None
    is_done: bool = False


class OutputLines:
    """What is written by whom, from the lines of one run.

    `emit` takes the columns of each output when it is complete. What reads a line, from the offset `at` to `end`,
    returns False if it should have understood it and does not.
    """

    def __init__(self, emit: Callable[[Columns], None]) -> None:
        self._emit = emit
        self._open: dict[int, _Open] = {}

    def read_output(self, text: bytes, at: int, end: int, number: int) -> bool:
        """`Output to F at simulation time T by PE n`."""
        found = _OUTPUT.match(text, at, end)
        if found is None:
            return _LIKE_OUTPUT.match(text, at, end) is None
        file, time, pe = found.groups()
        rank = int(pe) if pe is not None else _UNKNOWN
        columns = {"line": number, "file": _text(file), "model_time": _text(time), "rank": rank if pe else None}
        self._begin(rank, columns)
        return True

    def read_rank(self, text: bytes, at: int, end: int, number: int) -> bool:
        """`I/O PE n starting I/O at hhmmss.sss`, or `done at`."""
        found = _RANK.match(text, at, end)
        if found is None:
            return _LIKE_RANK.match(text, at, end) is None
        rank = int(found[1])
        clock = int(found[3]) * 3600 + int(found[4]) * 60 + float(found[5])
        current = self._open.get(rank)
        if found[2] == b"starting I/O":
            if current is None or current.started_s is not None:
                current = self._begin(rank, {"line": number, "rank": rank})
            current.started_s = clock
            current.columns["start"] = f"{found[3].decode()}:{found[4].decode()}:{found[5].decode()}"
        elif current is not None and current.started_s is not None:
            current.columns["busy_s"] = round((clock - current.started_s) % _DAY, 3)
            current.is_done = True
        return True

    def read_speed(self, text: bytes, at: int, end: int, number: int, label: int | None) -> bool:
        """` Got x MB, time get: ...`, by the rank `label` if the lines have labels."""
        found = _SPEED.match(text, at, end)
        if found is None:
            return _LIKE_SPEED.match(text, at, end) is None
        megabytes, get_s, get_rate, write_s, write_rate, copy_s = map(number_of, found.groups())
        waiting = [rank for rank, current in self._open.items() if current.is_done]
        if label is not None and label in waiting:
            waiting = [label]
        spent = (get_s or 0.0) + (write_s or 0.0) + (copy_s or 0.0)
        rank = min(waiting, key=lambda one: abs(self._open[one].columns["busy_s"] - spent), default=None)
        columns: Columns = self._open.pop(rank).columns if rank is not None else {"line": number}
        columns["received_bytes"] = round(megabytes * MEGABYTE) if megabytes is not None else None
        columns["get_s"], columns["write_s"], columns["copy_s"] = get_s, write_s, copy_s
        columns["get_bytes_per_s"] = get_rate * MEGABYTE if get_rate is not None else None
        columns["logged_write_bytes_per_s"] = write_rate * MEGABYTE if write_rate is not None else None
        columns["certain"] = len(waiting) == 1
        self._emit(columns)
        return True

    def finish(self) -> None:
        """The run is over."""
        for current in self._open.values():
            self._emit(current.columns)
        self._open.clear()

    def _begin(self, rank: int, columns: Columns) -> _Open:
        """A rank goes on to another output; what it did before is complete."""
        before = self._open.pop(rank, None)
        if before is not None:
            self._emit(before.columns)
        elif len(self._open) >= _MOST_OPEN:
            self.finish()
        current = self._open[rank] = _Open(columns)
        return current


def number_of(text: bytes | None) -> float | None:
    """A number of a Fortran field; None where it was too long for it, or is none."""
    if text is None or not text[-1:].isdigit():
        return None
    value = float(text.replace(b"D", b"E").replace(b"d", b"e"))
    return value if abs(value) < _LARGEST else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
