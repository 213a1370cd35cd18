"""GRIB2 files: whether each message is whole, and the times that they are of.

Source: WMO Manual on Codes, FM 92 GRIB edition 2: sections 0, 1, 4 and 8.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from nmlgen.errors import BrokenFileError
from nmlgen.results.file import ResultFile
from nmlgen.units.calendar import Calendar, Instant

_FIXED, _END, _PRODUCT = 16, b"7777", 4
_UNITS = {0: 60_000, 1: 3_600_000, 2: 86_400_000, 10: 10_800_000, 11: 21_600_000, 12: 43_200_000, 13: 1000}
_INTERVAL_ENDS = {8: 34, 11: 37}  # template of a statistic over time: where in the section its end stands


def read_grib(path: Path, calendar: Calendar) -> ResultFile:
    """Read the heads of all messages. Errors as `nmlgen.results.file.read_file`."""
    size, at = path.stat().st_size, 0
    times: set[int] = set()
    with path.open("rb") as file:
        while at < size:
            file.seek(at)
            head = file.read(_FIXED)
            if head[:4] != b"GRIB" or len(head) < _FIXED or head[7] != 2:
                if at == 0:
                    raise BrokenFileError("it is not GRIB2")
                return ResultFile("GRIB2", size, size + 1)  # the last message was whole, and what follows is none
            length = int.from_bytes(head[8:], "big")
            if length < _FIXED + 4:
                raise BrokenFileError(f"the message at byte {at} makes no sense")
            if at + length > size:
                return ResultFile("GRIB2", size, at + length)
            time = _time(file, at + length - 4, calendar)
            file.seek(at + length - 4)
            if file.read(4) != _END:
                raise BrokenFileError(f"the message at byte {at} has no end")
            if time is not None:
                times.add(time)
            at += length
    return ResultFile("GRIB2", size, size, len(times), tuple(sorted(times)))


def _time(file: BinaryIO, end: int, calendar: Calendar) -> int | None:
    """The time that a message is valid at, in its place behind section 0; None where its section 4 does not say it."""
    reference = None
    while file.tell() + 5 <= end:
        begin, head = file.tell(), file.read(5)
        length, number = int.from_bytes(head[:4], "big"), head[4]
        if length < 5:
            raise BrokenFileError(f"the section at byte {begin} makes no sense")
        if number in (1, _PRODUCT):
            section = head + file.read(min(length, 256) - 5)
            if number == 1:
                reference = _instant(section[12:19], calendar)
            elif reference is not None:
                return _valid(section, reference, calendar)
        file.seek(begin + length)
    return None


def _valid(section: bytes, reference: int, calendar: Calendar) -> int | None:
    template = int.from_bytes(section[7:9], "big")
    if template in _INTERVAL_ENDS:
        at = _INTERVAL_ENDS[template]
        return _instant(section[at : at + 7], calendar)
    unit = _UNITS.get(section[17])
    return None if unit is None else reference + unit * int.from_bytes(section[18:22], "big")


def _instant(field: bytes, calendar: Calendar) -> int | None:
    if len(field) < 7:
        return None
    year = int.from_bytes(field[:2], "big")
    month, day, hour, minute, second = field[2:7]
    instant = Instant(year, month, day, ((hour * 60 + minute) * 60 + second) * 1000)
    if not (1 <= month <= 12 and day >= 1 and calendar.has(instant)):
        return None
    return calendar.position(instant)
