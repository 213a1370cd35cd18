"""NetCDF-4 files, which are HDF5: their end by nmlgen's own reading, the rest with the package `netCDF4`.

HDF5 comes to no end at some broken files, and crashes at others; and a file of a kilobyte can say that it has fields of
terabytes, of which nothing was ever written. So it reads in a process of its own, and not all at once.

Source: the HDF5 file format specification, superblock of versions 0 to 3.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from math import isnan, prod
from pathlib import Path
from typing import Any

from nmlgen.apart import EnoughError, Send, apart
from nmlgen.errors import BrokenFileError, InputError
from nmlgen.results.file import ResultFile
from nmlgen.results.times import positions
from nmlgen.units.calendar import Calendar

_LIBRARY = "its records were not looked at; for them: pip install 'nmlgen[netcdf]'"
_ENOUGH = "its records were not looked at, as others took too much time or memory"
_CHECKPOINT_TIME = re.compile(rb"tc_startdate[^-]{1,64}?(-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?)")
_MOST_SEARCHED = 2**20
_MOST_TIMES = 500_000
_AT_ONCE = 2**23
"""Values that are in memory at once, where a field has more of them."""
_SECONDS, _ROOM, _ROOM_A_BYTE = 1, 2**28, 200
"""What may be taken to read a file: a second more for each megabyte of it, and bytes of memory for each byte."""


def read_hdf5(path: Path, calendar: Calendar) -> ResultFile:
    """Read a NetCDF-4 file. Errors as `nmlgen.results.file.read_file`."""
    size = path.stat().st_size
    needed = _end(path)
    if size < needed:
        return ResultFile("NetCDF-4", size, needed)
    if not _is_readable():
        return ResultFile("NetCDF-4", size, needed, time=_checkpoint_time(path), unread=_LIBRARY)
    try:
        found: ResultFile = _apart(path, partial(_send_records, path, calendar, size, needed))
    except EnoughError:
        return ResultFile("NetCDF-4", size, needed, time=_checkpoint_time(path), unread=_ENOUGH)
    return found


def _send_records(path: Path, calendar: Calendar, size: int, needed: int, send: Send) -> None:
    send(_records(path, calendar, size, needed))


def _records(path: Path, calendar: Calendar, size: int, needed: int) -> ResultFile:
    with _opened(path) as dataset:
        attributes = set(dataset.ncattrs())
        time = str(dataset.getncattr("tc_startdate")) if "tc_startdate" in attributes else None
        variable = dataset.variables.get("time")
        if variable is None or len(variable.dimensions) != 1:
            return ResultFile("NetCDF-4", size, needed, time=time)
        if variable.size > _MOST_TIMES:
            return ResultFile("NetCDF-4", size, needed, time=time, unread=f"it has more than {_MOST_TIMES} times")
        values = [float(value) for value in variable[:].tolist()]
        times = positions(values, str(getattr(variable, "units", "")), calendar)
        unread = None if times is not None else "its times are in no unit that is known"
        return ResultFile("NetCDF-4", size, needed, len(values), times, time, unread)


def _end(path: Path) -> int:
    """How many bytes the superblock says that the file has."""
    with path.open("rb") as file:
        head = file.read(96)
    try:
        version = head[8]
        width, at = (head[13], 24 if version == 0 else 28) if version < 2 else (head[9], 12)
        if version > 3 or width not in (2, 4, 8):
            raise BrokenFileError("its header makes no sense")
        field = head[at + 2 * width : at + 3 * width]
    except IndexError:
        field, width = b"", 8
    if len(field) < width:
        raise BrokenFileError("its header is not whole")
    return int.from_bytes(field, "little")


def _is_readable() -> bool:
    """Whether the package is there; it is loaded here, and not by each process that reads."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import netCDF4  # noqa: F401
    except ImportError:
        return False
    return True


def _apart(path: Path, work: Callable[[Send], None]) -> Any:
    size = path.stat().st_size
    try:
        (found,) = apart("it", work, _SECONDS + size // 10**6, _ROOM + _ROOM_A_BYTE * size)
    except (BrokenFileError, EnoughError):
        raise
    except InputError as error:
        raise BrokenFileError(str(error)) from None
    return found


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, whose values are those that stand there: one that was never written is the number that says so."""
    from netCDF4 import Dataset

    try:
        with Dataset(str(path)) as dataset:
            dataset.set_auto_mask(False)
            yield dataset
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise BrokenFileError(f"it cannot be read: {str(error).lower().partition(':')[0]}") from None


def _checkpoint_time(path: Path) -> str | None:
    """The time of a checkpoint: HDF5 keeps the value of an attribute behind its name."""
    with path.open("rb") as file:
        match = _CHECKPOINT_TIME.search(file.read(_MOST_SEARCHED))
    return match[1].decode() if match is not None else None


def nan_in_hdf5(path: Path) -> str | None:
    """The first variable with a NaN, "" without any; None without the package, or where nobody looked."""
    if not _is_readable():
        return None
    try:
        name: str = _apart(path, partial(_send_nan, path))
    except EnoughError:
        return None
    return name


def _send_nan(path: Path, send: Send) -> None:
    with _opened(path) as dataset:
        names = (name for name, variable in dataset.variables.items() if _is_float(variable))
        send(next((str(name) for name in names if _has_nan(dataset.variables[name])), ""))


def _is_float(variable: Any) -> bool:
    """Whether it has floats; the type of one with texts is `str`, which is none of numpy's."""
    return getattr(variable.dtype, "kind", None) == "f"


def _has_nan(variable: Any) -> bool:
    if isnan(float(getattr(variable, "_FillValue", 0.0))):
        return False
    parts = (variable[at] for at in _parts(variable.shape))
    return any(isnan(float(part.sum())) and bool((abs(part) >= 0).min() == 0) for part in parts)


def _parts(shape: tuple[int, ...]) -> Iterator[tuple[Any, ...]]:
    """The places of a field's parts: all of it, or as much of it as is read at once."""
    if prod(shape) <= _AT_ONCE:
        yield (...,)
    elif (inner := prod(shape[1:])) <= _AT_ONCE:
        step = max(1, _AT_ONCE // inner)
        yield from ((slice(at, at + step),) for at in range(0, shape[0], step))
    else:
        yield from ((at, *rest) for at in range(shape[0]) for rest in _parts(shape[1:]))
