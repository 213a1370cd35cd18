"""What a grid file says of itself, where it lies on this machine: how many cells, which grid, of which parent.

ICON's grids are NetCDF. A file of NetCDF-4 needs the package netCDF4, and says nothing without it. Data on a grid may
be GRIB2, whose first message says of which grid it is (template 3.101 of WMO's FM 92, edition 2).
"""

from __future__ import annotations

import math
import stat
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from nmlgen import disk
from nmlgen.apart import EnoughError, Send, apart
from nmlgen.errors import BrokenFileError, InputError
from nmlgen.values import frozen

_TORUS = 2
_SECONDS, _ROOM = 1, 2**28
"""What HDF5 may take of the processor, and of memory in bytes, for the header of a file."""
_HEADER = 4 * 2**20
"""A bound on work: bytes of a file that are read at most; the header of a grid has some kilobytes."""
_MOST_BISECTIONS = 31
"""A bound on work: the finest grid whose cells are counted; no file has room for those of a finer one."""


@frozen
class GridFile:
    """What a file of a grid says: the lengths of its dimensions, the names of its `variables`, its global attributes.

    `uuid` is that of the grid itself or, in a file about a grid, of that one; "" where it says none.
    """

    dimensions: Mapping[str, int]
    variables: frozenset[str]
    attributes: Mapping[str, Any]

    @property
    def cells(self) -> int | None:
        """The number of cells."""
        return self.dimensions.get("cell", self.dimensions.get("ncells"))

    @property
    def uuid(self) -> str:
        """`uuidOfHGrid`, in lower case."""
        return str(self.attributes.get("uuidOfHGrid", "")).strip().lower()

    @property
    def parent(self) -> str:
        """`uuidOfParHGrid`, in lower case."""
        return str(self.attributes.get("uuidOfParHGrid", "")).strip().lower()

    @property
    def name(self) -> str | None:
        """The name RnBk of the grid, by its root and its level."""
        root, level = self.number("grid_root"), self.number("grid_level")
        return None if root is None or level is None else f"R{root}B{level}"

    @property
    def boundary_depth(self) -> int | None:
        """How many rows of cells are counted from its boundary: none of a whole sphere; None where it does not say."""
        root, level = self.number("grid_root"), self.number("grid_level")
        if (
            root is not None
            and level is not None
            and 0 <= level <= _MOST_BISECTIONS
            and self.cells == 20 * root**2 * 4**level
        ):
            return 0
        return self.number("boundary_depth_index")

    @property
    def is_torus(self) -> bool | None:
        """Whether it is a plane torus; None where it does not say (`mo_lib_grid_geometry_info.f90:38`)."""
        geometry = self.number("grid_geometry")
        return None if geometry is None else geometry == _TORUS

    def number(self, name: str) -> int | None:
        """A global attribute that is a whole number."""
        value = self.attributes.get(name)
        return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def read_grid(path: Path) -> GridFile | None:
    """What a file says; None where it is no regular file, none of NetCDF, or cannot be read here."""
    try:
        status = disk.status(path)
    except (OSError, ValueError):
        return None
    try:
        return _read(str(path), status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None
    except EnoughError:
        disk.unrepeatable()  # by itself it may be read
        return None


@lru_cache(maxsize=64)
def _read(path: str, _time: int, size: int) -> GridFile | None:
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
            if magic == b"\x89HDF":
                return _read_hdf(path)
            if magic == b"GRIB":
                return _read_grib(file)
            if magic[:3] != b"CDF":
                return None
            file.seek(0)
            from nmlgen.netcdf import read_header  # only where a file is at hand

            header = read_header(file, min(size, _HEADER))
    except (OSError, BrokenFileError):
        return None
    return GridFile(header.dimensions, frozenset(one.name for one in header.variables), header.attributes)


def _read_hdf(path: str) -> GridFile | None:
    """In a process of its own, in a second: HDF5 comes to no end at some broken files, and crashes at others."""
    try:
        import netCDF4  # noqa: F401 (loaded here, and not by each process that reads)
    except ImportError:
        return None
    try:
        (found,) = apart(path, partial(_send_hdf, path), _SECONDS, _ROOM)
    except EnoughError:
        raise
    except (OSError, RuntimeError, ValueError, InputError):
        return None
    read: GridFile = found
    return read


def _send_hdf(path: str, send: Send) -> None:
    from netCDF4 import Dataset

    with Dataset(path) as file:
        dimensions = {name: len(dimension) for name, dimension in file.dimensions.items()}
        attributes = {name: _plain(file.getncattr(name)) for name in file.ncattrs()}
        send(GridFile(dimensions, frozenset(file.variables), attributes))


def _read_grib(file: BinaryIO) -> GridFile | None:
    """What the first message says, `file` standing behind its magic; None where it is of no unstructured grid."""
    if file.read(12)[3:4] != b"\x02":
        return None
    for _ in range(_SECTIONS_BEFORE):
        head = file.read(5)
        length = int.from_bytes(head[:4], "big")
        if len(head) < 5 or length < 5:
            return None
        section = head + file.read(min(length, _HEADER) - 5)
        if head[4] == _GRID_SECTION:
            if len(section) < _UUID.stop or int.from_bytes(section[12:14], "big") != _UNSTRUCTURED:
                return None
            digits = section[_UUID].hex()
            uuid = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
            return GridFile({"cell": int.from_bytes(section[6:10], "big")}, frozenset(), {"uuidOfHGrid": uuid})
    return None


_SECTIONS_BEFORE, _GRID_SECTION, _UNSTRUCTURED, _UUID = 3, 3, 101, slice(19, 35)


def _plain(value: Any) -> Any:
    return value.item() if getattr(value, "shape", None) == () else value
