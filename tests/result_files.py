"""Small files such as ICON leaves them, written byte by byte: NetCDF classic in its three versions, and GRIB2."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

ABSOLUTE = "day as %Y%m%d.%f"


def classic(
    path: Path,
    times: Sequence[float] = (),
    *,
    version: int = 2,
    cells: int = 4,
    value: float = 1.5,
    units: str = ABSOLUTE,
    attributes: Mapping[str, str] | None = None,
    fill: float | None = None,
) -> Path:
    """A file with `time(time)`, a constant `height(cells)` and a field `temp(time, cells)` of four bytes a value."""
    count = "Q" if version == 5 else "I"
    offset = "I" if version == 1 else "Q"

    def number(value: int) -> bytes:
        return struct.pack(f">{count}", value)

    def text(value: str) -> bytes:
        data = value.encode()
        return number(len(data)) + data + b"\0" * (-len(data) % 4)

    def attribute_list(found: Mapping[str, str | float]) -> bytes:
        if not found:
            return b"\0" * 4 + number(0)
        listed = b"".join(
            text(name) + (struct.pack(">I", 2) + text(one) if isinstance(one, str) else _float(one, number))
            for name, one in found.items()
        )
        return struct.pack(">I", 12) + number(len(found)) + listed

    def header(begins: Sequence[int]) -> bytes:
        fields = (("height", (1,), {}, 6, 8 * cells), ("time", (0,), {"units": units}, 6, 8))
        temp = ("temp", (0, 1), {} if fill is None else {"_FillValue": fill}, 5, 4 * cells)
        listed = b"".join(
            text(name)
            + number(len(dimensions))
            + b"".join(map(number, dimensions))
            + attribute_list(own)
            + struct.pack(">I", kind)
            + number(size)
            + struct.pack(f">{offset}", begin)
            for (name, dimensions, own, kind, size), begin in zip((*fields, temp), begins, strict=True)
        )
        dimensions = struct.pack(">I", 10) + number(2) + text("time") + number(0) + text("cells") + number(cells)
        return (
            (b"CDF" + bytes([version]) + number(len(times)) + dimensions + attribute_list(attributes or {}))
            + struct.pack(">I", 11)
            + number(3)
            + listed
        )

    start = len(header((0, 0, 0)))
    begins = (start, start + 8 * cells, start + 8 * cells + 8)
    data = header(begins) + struct.pack(f">{cells}d", *[0.0] * cells)
    for time in times:
        data += struct.pack(">d", time) + struct.pack(f">{cells}f", *[1.0] * (cells - 1), value)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _float(value: float, number) -> bytes:
    return struct.pack(">I", 5) + number(1) + struct.pack(">f", value)


def grib(path: Path, minutes: Sequence[int], *, messages: int = 2, end: bytes = b"7777") -> Path:
    """GRIB2 messages of 2000-01-01: so many at each of these minutes."""
    reference = struct.pack(">IBHHBBBHBBBBBBB", 21, 1, 78, 255, 4, 1, 1, 2000, 1, 1, 0, 0, 0, 0, 1)
    data = b""
    for minute in minutes:
        product = struct.pack(">IBHH", 34, 4, 0, 0) + b"\0\0\2\0\0" + b"\0\0\0" + bytes([0]) + struct.pack(">I", minute)
        body = reference + product + b"\0" * (34 - len(product)) + end
        data += (b"GRIB\0\0\0\2" + struct.pack(">Q", 16 + len(body)) + body) * messages
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
