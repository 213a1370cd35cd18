"""NetCDF-4 files, which are HDF5: their end by nmlgen's own reading, the rest with the package `netCDF4`.

Source: the HDF5 file format specification, superblock of versions 0 to 3.
"""

from __future__ import annotations

import re
import warnings
from math import isnan
from pathlib import Path
from typing import Any

from nmlgen.errors import BrokenFileError
from nmlgen.results.file import ResultFile
from nmlgen.results.times import positions
from nmlgen.units.calendar import Calendar

_LIBRARY = "its records were not looked at; for them: pip install 'nmlgen[netcdf]'"
_CHECKPOINT_TIME = re.compile(rb"tc_startdate[^-]{1,64}?(-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?)")
_MOST_SEARCHED = 2**20


def read_hdf5(path: Path, calendar: Calendar) -> ResultFile:
    """Read a NetCDF-4 file. Errors as `nmlgen.results.file.read_file`."""
    size = path.stat().st_size
    needed = _end(path)
    if size < needed:
        return ResultFile("NetCDF-4", size, needed)
    dataset = _opened(path)
    if dataset is None:
        return ResultFile("NetCDF-4", size, needed, time=_checkpoint_time(path), unread=_LIBRARY)
    with dataset:
        attributes = set(dataset.ncattrs())
        time = str(dataset.getncattr("tc_startdate")) if "tc_startdate" in attributes else None
        variable = dataset.variables.get("time")
        if variable is None or len(variable.dimensions) != 1:
            return ResultFile("NetCDF-4", size, needed, time=time)
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


def _opened(path: Path) -> Any:
    """The file, opened by the package; None without it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from netCDF4 import Dataset
    except ImportError:
        return None
    try:
        return Dataset(str(path))
    except (OSError, RuntimeError, ValueError) as error:
        raise BrokenFileError(f"it cannot be read: {str(error).lower().partition(':')[0]}") from None


def _checkpoint_time(path: Path) -> str | None:
    """The time of a checkpoint: HDF5 keeps the value of an attribute behind its name."""
    with path.open("rb") as file:
        match = _CHECKPOINT_TIME.search(file.read(_MOST_SEARCHED))
    return match[1].decode() if match is not None else None


def nan_in_hdf5(path: Path) -> str | None:
    """The first variable with a NaN, "" without any; None without the package."""
    dataset = _opened(path)
    if dataset is None:
        return None
    with dataset:
        dataset.set_auto_mask(False)
        for name, variable in dataset.variables.items():
            if variable.dtype.kind == "f" and _has_nan(variable):
                return str(name)
    return ""


def _has_nan(variable: Any) -> bool:
    if isnan(float(getattr(variable, "_FillValue", 0.0))):
        return False
    parts = [variable[...]] if not variable.ndim else (variable[at] for at in range(variable.shape[0]))
    return any(isnan(float(part.sum())) and bool((abs(part) >= 0).min() == 0) for part in parts)
