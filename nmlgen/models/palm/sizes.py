"""How many bytes a time of PALM's netCDF output has (`netcdf_interface_mod.f90`).

Bytes are those of the values as they are, the time among them: netCDF-4 may compress them. A file with quantities that
a module writes on levels of its own (soil, canopies, walls) is not counted.
"""

from __future__ import annotations

from nmlgen.models.palm.output import is_at_surface, is_on_levels
from nmlgen.models.palm.settings import NO_LEVEL, Settings, UnknownError

_TIME = 8
_SINGLE, _DOUBLE = 4, 8
_NO_SECTION = -9999
_TWO = ("xy", "xz", "yz")


def bytes_of_quantities(settings: Settings, plane: str, names: list[str]) -> int:
    """A time of quantities in a plane, "xy", "xz" or "yz", or "" for volumes. Raises UnknownError where that is not
    known."""
    columns, rows, levels = settings.nx + 1, settings.ny + 1, settings.nz + 2
    if min(columns, rows, levels) < 1:
        raise UnknownError("nx, ny and nz")  # PALM stops there
    sections = _sections(settings, plane) if plane else 0
    shapes = {"xy": columns * rows * sections, "xz": columns * levels * sections, "yz": rows * levels * sections}
    upper = settings.nz_do3d
    values = 0
    for name in names:
        if plane == "xy" and is_at_surface(name):
            values += columns * rows
        elif not is_on_levels(settings, name):
            raise UnknownError(name)
        else:
            values += shapes[plane] if plane else columns * rows * (levels if upper == _NO_SECTION else upper + 1)
    return _TIME + values * _precision(settings, plane or "3d")


def bytes_of_profiles(settings: Settings) -> int:
    """A time of all profiles, of each statistic region. Raises UnknownError where that is not known."""
    profiles = len(settings.until("data_output_pr", ""))
    regions = settings.statistic_regions + 1
    return int(_TIME + profiles * regions * (settings.nz + 2) * _precision(settings, "pr"))


def _sections(settings: Settings, plane: str) -> int:
    metres = settings.of(f"section_{plane}_m")
    if any(place != NO_LEVEL for place in metres):
        raise UnknownError(f"section_{plane}_m")  # two of them may fall on one index
    found = len(settings.until(f"section_{plane}", _NO_SECTION))
    if not found:
        raise UnknownError(f"section_{plane}")  # PALM stops there
    return found


def _precision(settings: Settings, kind: str) -> int:
    """The bytes of a value of a kind of output: 4, unless the last of `netcdf_precision` about it says otherwise."""
    found = _SINGLE
    for said in settings.until("netcdf_precision", ""):
        what, _, precision = said.partition("_")
        if what in (kind, "all") or (what == "2d" and kind in _TWO):
            found = _DOUBLE if precision == "NF90_REAL8" else _SINGLE
    return found
