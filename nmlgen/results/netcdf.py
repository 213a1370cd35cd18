"""NetCDF classic files: their header, the length that follows from it, the times of their records, NaN in their fields.

Source: the NetCDF classic format specification (versions 1, 2 and 5).
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator
from math import isnan, prod
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from nmlgen.results.broken import BrokenFileError
from nmlgen.results.file import ResultFile
from nmlgen.results.times import positions
from nmlgen.units.calendar import Calendar

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}  # by the number of the type
_TEXT, _FLOATS = 2, {5: "f", 6: "d"}
_NUMBERS = {4: "i", 5: "f", 6: "d", 10: "q"}
_KEPT_TEXT = 256  # an attribute that is longer is one of ICON's namelists
_LONGEST_NAME = 65_536
_BLOCK = 4 * 2**20
_STREAMING = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)


@frozen
class _Variable:
    """`begin` is where its data begin, `count` its values in a record, or in all where it `has_records` not."""

    name: str
    type: int
    count: int
    begin: int
    has_records: bool
    attributes: dict[str, str]
    has_nan_for_nothing: bool

    @property
    def size(self) -> int:
        return self.count * _SIZES[self.type]

    @property
    def padded(self) -> int:
        return -(-self.size // 4) * 4


@frozen
class _Header:
    records: int
    attributes: dict[str, str]
    variables: tuple[_Variable, ...]

    @property
    def stride(self) -> int:
        """From one record to the next."""
        own = [variable for variable in self.variables if variable.has_records]
        return own[0].size if len(own) == 1 else sum(variable.padded for variable in own)

    def end(self, variable: _Variable) -> int:
        """Where its last value ends."""
        if not variable.has_records:
            return variable.begin + variable.size
        return variable.begin + (self.records - 1) * self.stride + variable.size if self.records else 0


class _Reader:
    """The fields of a header, one after the other."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._left = file, size
        self._count = 4

    def bytes(self, count: int) -> bytes:
        self._take(count)
        data = self._file.read(count)
        if len(data) < count:
            raise BrokenFileError("its header is not whole")
        return data

    def skip(self, count: int) -> None:
        self._take(count)
        self._file.seek(count, 1)

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise BrokenFileError("its header is not whole")

    def number(self, width: int = 4) -> int:
        return int.from_bytes(self.bytes(width), "big")

    def count(self) -> int:
        return self.number(self._count)

    def widen(self) -> None:
        """Counts have eight bytes from here on, as in CDF-5."""
        self._count = 8

    def name(self) -> str:
        length = self.count()
        if length > _LONGEST_NAME:
            raise BrokenFileError("its header makes no sense")
        text = self.bytes(-(-length // 4) * 4)[:length]
        return text.decode("utf-8", errors="replace")

    def list(self, tag: int) -> Iterator[int]:
        found, count = self.number(), self.count()
        if found not in (0, tag) or (found == 0 and count):
            raise BrokenFileError("its header makes no sense")
        return iter(range(count))


def _header(file: BinaryIO, size: int) -> _Header:
    reader = _Reader(file, size)
    version = reader.bytes(4)[3]
    if version not in (1, 2, 5):
        raise BrokenFileError(f"version {version} of the NetCDF classic format is not known")
    if version == 5:
        reader.widen()
    records = reader.count()
    lengths = []
    for _ in reader.list(_DIMENSIONS):
        reader.name()
        lengths.append(reader.count())
    attributes, _ = _attributes(reader)
    found = []
    for _ in reader.list(_VARIABLES):
        name, rank = reader.name(), reader.count()
        if rank > 1024:
            raise BrokenFileError("its header makes no sense")
        dimensions = [reader.count() for _ in range(rank)]
        own, has_nan = _attributes(reader)
        kind, _ = reader.number(), reader.count()
        begin = reader.number(4 if version == 1 else 8)
        if kind not in _SIZES or any(dimension >= len(lengths) for dimension in dimensions):
            raise BrokenFileError("its header makes no sense")
        shape = [lengths[dimension] for dimension in dimensions]
        has_records = bool(shape) and shape[0] == 0
        count = prod(shape[1:] if has_records else shape)
        found.append(_Variable(name, kind, count, begin, has_records, own, has_nan))
    header = _Header(records, attributes, tuple(found))
    if records in _STREAMING:  # whoever wrote it did not know how many there would be
        own_ones = [one for one in found if one.has_records]
        begin = min((one.begin for one in own_ones), default=size)
        header = _Header((size - begin) // header.stride if own_ones and header.stride else 0, attributes, tuple(found))
    return header


def _attributes(reader: _Reader) -> tuple[dict[str, str], bool]:
    """The short texts among the attributes, and whether the value that stands for nothing is NaN."""
    found, has_nan = {}, False
    for _ in reader.list(_ATTRIBUTES):
        name, kind, count = reader.name(), reader.number(), reader.count()
        if kind not in _SIZES:
            raise BrokenFileError("its header makes no sense")
        length = -(-count * _SIZES[kind] // 4) * 4
        if kind == _TEXT and count <= _KEPT_TEXT:
            found[name] = reader.bytes(length)[:count].decode("utf-8", errors="replace").rstrip("\0 ")
        elif kind in _FLOATS and count == 1 and name in ("_FillValue", "missing_value"):
            (value,) = struct.unpack(f">{_FLOATS[kind]}", reader.bytes(length))
            has_nan = has_nan or isnan(value)
        else:
            reader.skip(length)
    return found, has_nan


def read_classic(path: Path, calendar: Calendar) -> ResultFile:
    """Read a classic file. Errors as `nmlgen.results.file.read_file`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        header = _header(file, size)
        needed = max((header.end(variable) for variable in header.variables), default=0)
        time = next((one for one in header.variables if one.name == "time" and one.has_records), None)
        times = None
        if time is not None and time.count == 1 and time.type in _NUMBERS and needed <= size:
            values = _values(file, header, time)
            times = positions(values, time.attributes.get("units", ""), calendar)
    return ResultFile(
        "NetCDF classic",
        size,
        needed,
        records=header.records if any(one.has_records for one in header.variables) else None,
        times=times,
        time=header.attributes.get("tc_startdate"),
        unread=None if time is None or times is not None or needed > size else "its times are in no unit that is known",
    )


def _values(file: BinaryIO, header: _Header, variable: _Variable) -> list[float]:
    """The values of a variable with one in each record."""
    kind, found = struct.Struct(f">{_NUMBERS[variable.type]}"), []
    for record in range(header.records):
        file.seek(variable.begin + record * header.stride)
        found.append(float(kind.unpack(file.read(kind.size))[0]))
    return found


def nan_in_classic(path: Path) -> str:
    """The first variable with a NaN, "" without any. Errors as `nmlgen.results.file.read_file`."""
    with path.open("rb") as file:
        header = _header(file, path.stat().st_size)
        for variable in header.variables:
            if variable.type in _FLOATS and not variable.has_nan_for_nothing and _has_nan(file, header, variable):
                return variable.name
    return ""


def _has_nan(file: BinaryIO, header: _Header, variable: _Variable) -> bool:
    if not variable.size:
        return False
    for record in range(header.records if variable.has_records else 1):
        file.seek(variable.begin + record * header.stride)
        left = variable.size
        while left:
            data = file.read(min(left, _BLOCK))
            if not data:
                return False
            left -= len(data)
            values = array(_FLOATS[variable.type], data[: len(data) // _SIZES[variable.type] * _SIZES[variable.type]])
            if sys.byteorder == "little":
                values.byteswap()
            total = sum(values)  # NaN if one of them is; or if there are infinities of both signs
            if isnan(total) and any(map(isnan, values)):
                return True
    return False
