"""One file of results, whatever its format: whether it is whole, and which model times it holds.

NetCDF classic (also with 64-bit offsets and CDF-5) and GRIB2 are read by nmlgen itself. Of NetCDF-4, which is HDF5,
nmlgen reads the end that the file says it has; its records need the package `netCDF4`.
"""

from __future__ import annotations

from pathlib import Path

from nmlgen.disk import open_regular
from nmlgen.errors import BrokenFileError
from nmlgen.units.calendar import Calendar
from nmlgen.values import frozen

_HDF5 = b"\x89HDF\r\n\x1a\n"


@frozen
class ResultFile:
    """What was read of a file.

    `format` is "NetCDF classic", "NetCDF-4" or "GRIB2". `size` is in bytes; `needed` how many the file says it has,
    None where it does not say. `times` are the model times of its records, as positions of the calendar in
    milliseconds, None where they cannot be told; `records` how many there are, None likewise. `time` is the model time
    of a checkpoint. `unread` says what could not be looked at, and why.
    """

    format: str
    size: int
    needed: int | None = None
    records: int | None = None
    times: tuple[int, ...] | None = None
    time: str | None = None
    unread: str | None = None

    @property
    def is_cut(self) -> bool:
        """Whether bytes are missing at its end."""
        return self.needed is not None and self.size < self.needed


def read_file(path: Path, calendar: Calendar) -> ResultFile:
    """Read a file's header and the times of its records.

    Raises BrokenFileError for a file of another format, or with a header that is not whole; OSError if it cannot be
    read.
    """
    with open_regular(path) as file:
        magic = file.read(8)
    if magic[:3] == b"CDF":
        from nmlgen.results.netcdf import read_classic

        return read_classic(path, calendar)
    if magic == _HDF5:
        from nmlgen.results.hdf5 import read_hdf5

        return read_hdf5(path, calendar)
    if magic[:4] == b"GRIB":
        from nmlgen.results.grib import read_grib

        return read_grib(path, calendar)
    if not magic:
        raise BrokenFileError("it is empty")
    raise BrokenFileError("it is neither NetCDF nor GRIB2")


def first_nan(path: Path) -> str | None:
    """The first variable of a file that holds a NaN, "" if there is none; None where nobody looked.

    GRIB2 packs numbers that are none into no file that ICON writes; NetCDF-4 needs the package `netCDF4`. Errors as
    `read_file`.
    """
    with open_regular(path) as file:
        magic = file.read(8)
    if magic[:3] == b"CDF":
        from nmlgen.results.netcdf import nan_in_classic

        return nan_in_classic(path)
    if magic == _HDF5:
        from nmlgen.results.hdf5 import nan_in_hdf5

        return nan_in_hdf5(path)
    return None
