"""Grid files for the tests: headers of NetCDF as ICON's grids have them, without the data."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

DEPTHS = ("cell_elevation", "cell_sea_land_mask", "edge_elevation", "edge_sea_land_mask")
GLOBAL, OCEAN, NEST = (f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2, 3))


def header(
    dimensions: Mapping[str, int],
    attributes: Mapping[str, str | int],
    variables: tuple[str, ...] = (),
    version: int = 1,
) -> bytes:
    """The header of a classic file; each variable has the first dimension."""
    count, offset = (">q", ">q") if version == 5 else (">i", ">i" if version == 1 else ">q")

    def number(value: int) -> bytes:
        return struct.pack(count, value)

    def padded(data: bytes) -> bytes:
        return data + b"\0" * (-len(data) % 4)

    def name(text: str) -> bytes:
        return number(len(text.encode())) + padded(text.encode())

    def attribute(key: str, value: str | int) -> bytes:
        if isinstance(value, str):
            return name(key) + struct.pack(">i", 2) + name(value)
        return name(key) + struct.pack(">i", 4) + number(1) + struct.pack(">i", value)

    def listed(tag: int, items: list[bytes]) -> bytes:
        return struct.pack(">i", tag if items else 0) + number(len(items)) + b"".join(items)

    made = [
        name(variable)
        + number(1)
        + number(0)
        + listed(12, [])
        + struct.pack(">i", 6)
        + number(8)
        + struct.pack(offset, 0)
        for variable in variables
    ]
    return (
        b"CDF"
        + bytes([version])
        + number(0)
        + listed(10, [name(key) + number(length) for key, length in dimensions.items()])
        + listed(12, [attribute(key, value) for key, value in attributes.items()])
        + listed(11, made)
    )


def grid(
    cells: int,
    level: int,
    uuid: str,
    parent: str = "",
    depth: int | None = None,
    variables: tuple[str, ...] = (),
    version: int = 1,
) -> bytes:
    """The header of a grid R2B<level>."""
    points = {"cell": cells, "edge": cells * 3 // 2, "vertex": cells // 2 + 2}
    attributes: dict[str, str | int] = {"uuidOfHGrid": uuid, "uuidOfParHGrid": parent}
    attributes |= {"grid_root": 2, "grid_level": level}
    attributes |= {"boundary_depth_index": depth} if depth is not None else {}
    return header(points, attributes, ("clon", *variables), version)


def first_guess(cells: int, uuid: str, template: int = 101) -> bytes:
    """The first sections of a GRIB2 message about values on the cells of a grid."""
    identification = struct.pack(">IB", 21, 1) + bytes(16)
    described = struct.pack(">IBBIBBH", 35, 3, 0, cells, 0, 0, template) + bytes(5)
    sections = identification + described + bytes.fromhex(uuid.replace("-", ""))
    return b"GRIB" + bytes([0, 0, 0, 2]) + struct.pack(">Q", 16 + len(sections) + 4) + sections + b"7777"


def write_grids(directory: Path) -> None:
    """The grids that the examples of rules speak of: a global one, its nest, one of another grid, an ocean's, and
    external parameters and first guesses of the first and of another one."""
    files = {
        "iconR02B05-grid.nc": grid(81920, 5, GLOBAL),
        "iconR02B05-ocean.nc": grid(81920, 5, OCEAN, variables=DEPTHS),
        "nest.nc": grid(5000, 6, NEST, GLOBAL, 14),
        "another-nest.nc": grid(5000, 6, NEST, OCEAN, 14),
        "extpar.nc": header({"cell": 81920}, {"uuidOfHGrid": GLOBAL}),
        "another-extpar.nc": header({"cell": 81920}, {"uuidOfHGrid": OCEAN}),
        "first-guess.grb": first_guess(81920, GLOBAL),
        "another-first-guess.grb": first_guess(81920, OCEAN),
    }
    for name, data in files.items():
        (directory / name).write_bytes(data)
