"""NetCDF classic files of a run: the length that follows from the header, the times of records, NaN in fields."""

from __future__ import annotations

import struct
import sys
from array import array
from math import isnan
from pathlib import Path
from typing import BinaryIO

from nmlgen.netcdf import SIZES, Header, Variable, read_header
from nmlgen.results.file import ResultFile
from nmlgen.results.times import positions
from nmlgen.units.calendar import Calendar

_FLOATS = {5: "f", 6: "d"}
_NUMBERS = {4: "i", 5: "f", 6: "d", 10: "q"}
_BLOCK = 4 * 2**20


def read_classic(path: Path, calendar: Calendar) -> ResultFile:
    """Read a classic file. Errors as `nmlgen.results.file.read_file`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        header = read_header(file, size)
        needed = max((header.end(variable) for variable in header.variables), default=0)
        time = next((one for one in header.variables if one.name == "time" and one.has_records), None)
        times = None
        if time is not None and time.count == 1 and time.type in _NUMBERS and needed <= size:
            values = _values(file, header, time)
            times = positions(values, str(time.attributes.get("units", "")), calendar)
    return ResultFile(
        "NetCDF classic",
        size,
        needed,
        records=header.records if any(one.has_records for one in header.variables) else None,
        times=times,
        time=_text(header, "tc_startdate"),
        unread=None if time is None or times is not None or needed > size else "its times are in no unit that is known",
    )


def _text(header: Header, name: str) -> str | None:
    value = header.attributes.get(name)
    return value if isinstance(value, str) else None


def _values(file: BinaryIO, header: Header, variable: Variable) -> list[float]:
    """The values of a variable with one in each record."""
    kind, found = struct.Struct(f">{_NUMBERS[variable.type]}"), []
    for record in range(header.records):
        file.seek(variable.begin + record * header.stride)
        found.append(float(kind.unpack(file.read(kind.size))[0]))
    return found


def nan_in_classic(path: Path) -> str:
    """The first variable with a NaN, "" without any. Errors as `nmlgen.results.file.read_file`."""
    with path.open("rb") as file:
        size = path.stat().st_size
        header = read_header(file, size)
        for variable in header.variables:
            if variable.type in _FLOATS and not _means_nothing(variable) and _has_nan(file, size, header, variable):
                return variable.name
    return ""


def _means_nothing(variable: Variable) -> bool:
    """Whether NaN is the value that stands for nothing."""
    values = [variable.attributes.get(name) for name in ("_FillValue", "missing_value")]
    return any(isinstance(value, float) and isnan(value) for value in values)


def _has_nan(file: BinaryIO, size: int, header: Header, variable: Variable) -> bool:
    if not variable.size:
        return False
    for record in range(header.records if variable.has_records else 1):
        at = variable.begin + record * header.stride
        if at > size:  # beyond what a file can have, too
            break
        file.seek(at)
        left = variable.size
        while left:
            data = file.read(min(left, _BLOCK))
            if not data:
                return False
            left -= len(data)
            values = array(_FLOATS[variable.type], data[: len(data) // SIZES[variable.type] * SIZES[variable.type]])
            if sys.byteorder == "little":
                values.byteswap()
            total = sum(values)  # NaN if one of them is; or if there are infinities of both signs
            if isnan(total) and any(map(isnan, values)):
                return True
    return False
