"""Reading what a run wrote: whole files, cut ones, and bytes that are none of it."""

from __future__ import annotations

import contextlib
import itertools
import math
import struct
from pathlib import Path

import numpy
import pytest
from broken_libraries import crashing, endless, greedy
from hypothesis import given, settings
from hypothesis import strategies as st
from result_files import ABSOLUTE, classic, grib
from rows import rows

from nmlgen.errors import BrokenFileError
from nmlgen.experiment import grid_file
from nmlgen.results import hdf5
from nmlgen.results.file import first_nan, read_file
from nmlgen.results.times import positions
from nmlgen.units.calendar import Calendar, Instant

GREGORIAN = Calendar.PROLEPTIC_GREGORIAN
TIMES = (20000101.0, 20000101.5, 20000102.0)


def at(text: str, calendar: Calendar = GREGORIAN) -> int:
    return calendar.position(Instant.parse(text))


@pytest.mark.parametrize("version", [1, 2, 5])
def test_classic(tmp_path: Path, version: int) -> None:
    found = read_file(classic(tmp_path / "a.nc", TIMES, version=version), GREGORIAN)
    assert (found.format, found.records, found.unread) == ("NetCDF classic", 3, None)
    assert found.times == tuple(map(at, ("2000-01-01", "2000-01-01T12:00:00Z", "2000-01-02")))
    assert found.size == found.needed
    assert not found.is_cut


@pytest.mark.parametrize("version", [1, 2, 5])
def test_a_byte_less_is_cut(tmp_path: Path, version: int) -> None:
    path = classic(tmp_path / "a.nc", TIMES, version=version)
    path.write_bytes(path.read_bytes()[:-1])
    found = read_file(path, GREGORIAN)
    assert found.is_cut
    assert found.needed == found.size + 1


def test_the_library_sees_the_same(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    for version in (1, 2, 5):
        with netcdf.Dataset(classic(tmp_path / f"{version}.nc", TIMES, version=version)) as dataset:
            assert dataset["time"][:].tolist() == list(TIMES)
            assert dataset["temp"][:].tolist() == [[1.0, 1.0, 1.0, 1.5]] * 3


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"])
def test_what_the_library_writes(tmp_path: Path, form: str) -> None:
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w", format=form) as dataset:
        dataset.tc_startdate = "2000-01-01T00:30:00.000"
        dataset.createDimension("time")
        dataset.createDimension("cells", 5)
        dataset.createVariable("time", "f8", ("time",)).units = "minutes since 2000-1-1 00:00:00"
        dataset.createVariable("mask", "i1", ("time", "cells"))
        dataset.createVariable("temp", "f4", ("time", "cells"))
        for record in range(3):
            dataset["time"][record] = 30 * record
            dataset["mask"][record] = 1
            dataset["temp"][record] = math.nan if record == 2 else 1.0
    found = read_file(path, GREGORIAN)
    assert found.times == tuple(at(f"2000-01-01T{text}:00Z") for text in ("00:00", "00:30", "01:00"))
    assert (found.records, found.time, found.is_cut) == (3, "2000-01-01T00:30:00.000", False)
    assert first_nan(path) == "temp"
    path.write_bytes(path.read_bytes()[: found.size - 8])
    assert read_file(path, GREGORIAN).is_cut


def test_one_variable_with_records_has_no_padding(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w", format="NETCDF3_CLASSIC") as dataset:
        dataset.createDimension("time")
        dataset.createDimension("three", 3)
        dataset.createVariable("odd", "i1", ("time", "three"))[:] = [[1, 2, 3]] * 5
    found = read_file(path, GREGORIAN)
    assert found.needed is not None
    assert found.size - found.needed in range(4)
    assert (found.records, found.times) == (5, None)


def test_hdf5_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "attributes.nc"
    with netcdf.Dataset(path, "w") as dataset:
        dataset.tc_startdate = "2000-01-01T00:30:00.000"
    monkeypatch.setitem(__import__("sys").modules, "netCDF4", None)
    found = read_file(path, GREGORIAN)
    assert found.time == "2000-01-01T00:30:00.000"
    assert found.unread is not None
    assert "nmlgen[netcdf]" in found.unread
    assert first_nan(path) is None


def test_a_variable_that_begins_where_no_file_ends(tmp_path: Path) -> None:
    path = classic(tmp_path / "a.nc", TIMES, version=5)
    data = bytearray(path.read_bytes())
    data[252] = 128  # of the offset of a variable
    path.write_bytes(data)
    assert first_nan(path) == ""


def netcdf4(path: Path, records: int, fields: int = 1) -> Path:
    """A file in which nothing was ever written; it takes a kilobyte, whatever it says that it holds."""
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(path, "w") as dataset:
        dataset.createDimension("time", records)
        dataset.createDimension("cell", fields)
        dataset.createVariable("time", "f8", ("time",), chunksizes=(1024,), zlib=True).units = "day as %Y%m%d.%f"
        chunks = (1, min(fields, 1024))
        dataset.createVariable("temp", "f4", ("time", "cell"), chunksizes=chunks, zlib=True, fill_value=0.0)
    return path


def test_times_that_were_never_written(tmp_path: Path) -> None:
    found = read_file(netcdf4(tmp_path / "a.nc", 2000), GREGORIAN)
    assert (found.records, found.times, found.unread) == (2000, None, "its times are in no unit that is known")
    found = read_file(netcdf4(tmp_path / "b.nc", 1_000_000_000), GREGORIAN)
    assert (found.records, found.unread) == (None, "it has more than 500000 times")


def test_a_field_larger_than_memory_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = netcdf4(tmp_path / "a.nc", 1024, 150_000_000)
    monkeypatch.setattr(hdf5, "_ROOM_A_BYTE", 0)
    assert next(hdf5._parts((1024, 150_000_000))) == (0, slice(0, 2**23))
    monkeypatch.setattr(hdf5, "_parts", lambda shape, parts=hdf5._parts: itertools.islice(parts(shape), 3))
    assert first_nan(path) == ""


@given(st.lists(st.integers(0, 5), max_size=3), st.integers(1, 10))
def test_parts_are_all_of_a_field(shape: list[int], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hdf5, "_AT_ONCE", most)
        field = numpy.zeros(shape)
        for at_ in hdf5._parts(field.shape):
            field[at_] += 1
            assert field[at_].size <= most
        assert (field == 1).all()


def test_values_that_the_library_cannot_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file that it opens: a part of the values is broken."""
    path = netcdf4(tmp_path / "a.nc", 1024)
    monkeypatch.setattr(hdf5, "positions", lambda *_: (_ for _ in ()).throw(RuntimeError("NetCDF: HDF error")))
    with pytest.raises(BrokenFileError, match="it cannot be read: netcdf"):
        read_file(path, GREGORIAN)
    monkeypatch.setattr(hdf5, "_has_nan", lambda _: (_ for _ in ()).throw(RuntimeError("NetCDF: HDF error")))
    with pytest.raises(BrokenFileError, match="it cannot be read: netcdf"):
        first_nan(path)


@pytest.mark.parametrize(
    ("work", "why"), [(endless, "comes to no end"), (greedy, "too much memory"), (crashing, "crashed")]
)
def test_a_library_that_does_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work, why: str) -> None:
    """As HDF5 at files of which some bytes are others."""
    path = netcdf4(tmp_path / "a.nc", 1024)
    monkeypatch.setattr(hdf5, "_SECONDS", 1)
    monkeypatch.setattr(hdf5, "_opened", work)
    for action in (lambda: read_file(path, GREGORIAN), lambda: first_nan(path)):
        with pytest.raises(BrokenFileError, match=f"it cannot be read: .*{why}"):
            action()
    monkeypatch.setattr(grid_file, "_send_hdf", lambda *_: work())
    assert grid_file._read_hdf(str(path)) is None


def test_texts_hold_no_nan(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("n", 1)
        file.createVariable("names", str, ("n",))[0] = "x"
        file.createVariable("temp", "f4", ("n",))[0] = math.nan
    assert first_nan(tmp_path / "a.nc") == "temp"


def test_a_variable_without_an_end(tmp_path: Path) -> None:
    """Its number of values has more digits than Python prints."""

    def number(value: int) -> bytes:
        return struct.pack(">Q", value)

    dimension = struct.pack(">I", 10) + number(1) + number(1) + b"n\0\0\0" + number(2**62)
    none = bytes(12)
    variable = number(1) + b"v\0\0\0" + number(1000) + number(0) * 1000 + none + struct.pack(">I", 6) + bytes(16)
    data = b"CDF\x05" + number(0) + dimension + none + struct.pack(">I", 11) + number(1) + variable
    (tmp_path / "a.nc").write_bytes(data)
    with pytest.raises(BrokenFileError, match="its header makes no sense"):
        read_file(tmp_path / "a.nc", GREGORIAN)


def test_grib(tmp_path: Path) -> None:
    path = grib(tmp_path / "a.grb", (0, 20, 40))
    found = read_file(path, GREGORIAN)
    assert found.times == tuple(at(f"2000-01-01T00:{minute:02d}:00Z") for minute in (0, 20, 40))
    assert (found.records, found.is_cut, first_nan(path)) == (3, False, None)
    path.write_bytes(path.read_bytes()[:-1])
    assert read_file(path, GREGORIAN).is_cut
    path.write_bytes(path.read_bytes() + b"7" + b"something else")
    assert read_file(path, GREGORIAN).is_cut
    with pytest.raises(BrokenFileError, match="byte 0 has no end"):
        read_file(grib(path, (0,), end=b"777 "), GREGORIAN)


def test_nan(tmp_path: Path) -> None:
    assert first_nan(classic(tmp_path / "a.nc", TIMES)) == ""
    assert first_nan(classic(tmp_path / "a.nc", TIMES, value=math.inf)) == ""
    assert first_nan(classic(tmp_path / "a.nc", TIMES, value=math.nan)) == "temp"
    assert first_nan(classic(tmp_path / "a.nc", TIMES, value=math.nan, fill=math.nan)) == ""
    assert first_nan(classic(tmp_path / "a.nc", TIMES, value=math.nan, fill=-9e15)) == "temp"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"hello", "neither NetCDF nor GRIB2"),
        (b"CDF\x07" + b"\0" * 40, "version 7"),
        (b"CDF\x01\0\0", "header is not whole"),
        (b"CDF\x01\0\0\0\0\0\0\0\x0a\xff\xff\xff\xff", "header is not whole"),
        (b"CDF\x01\0\0\0\0\0\0\0\x63\0\0\0\1", "makes no sense"),
        (b"\x89HDF\r\n\x1a\n", "header is not whole"),
        (b"GRIB\0\0\0\1" + b"\0" * 20, "it is not GRIB2"),
        (b"GRIB\0\0\0\2" + b"\0" * 20, "makes no sense"),
    ],
)
def test_what_is_no_such_file(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "a.nc"
    path.write_bytes(data)
    with pytest.raises(BrokenFileError, match=why):
        read_file(path, GREGORIAN)


WHOLE = {}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bytes_have_an_end(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever is changed in a file, it is read or refused."""
    if not WHOLE:
        directory = tmp_path_factory.mktemp("whole")
        for version in (1, 2, 5):
            WHOLE[version] = classic(directory / f"{version}.nc", TIMES, version=version).read_bytes()
        WHOLE["grib"] = grib(directory / "a.grb", (0, 20)).read_bytes()
    path = tmp_path_factory.getbasetemp() / "changed"
    changed = bytearray(WHOLE[data.draw(st.sampled_from(sorted(WHOLE, key=str)))])
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.sampled_from([0, 1, 127, 128, 255]))
    path.write_bytes(changed[: data.draw(st.integers(0, len(changed)))])
    for read in (lambda: read_file(path, GREGORIAN), lambda: first_nan(path)):
        with contextlib.suppress(BrokenFileError):
            read()


@rows(
    ("units", "value", "calendar", "expected"),
    [
        (ABSOLUTE, 20000229.25, GREGORIAN, "2000-02-29T06:00:00Z"),
        (ABSOLUTE, 20000230.0, GREGORIAN, None),
        (ABSOLUTE, 20000230.0, Calendar.DAYS_360, "2000-02-30T00:00:00Z"),
        (ABSOLUTE, math.nan, GREGORIAN, None),
        ("days since 2000-1-1 00:00:00", 59.5, GREGORIAN, "2000-02-29T12:00:00Z"),
        ("days since 2000-1-1 00:00:00", 59.5, Calendar.DAYS_365, "2000-03-01T12:00:00Z"),
        ("seconds since 2000-01-01 06:00:00.5", 30, GREGORIAN, "2000-01-01T06:00:30.500Z"),
        ("hours since 2000-1-1", 1, GREGORIAN, "2000-01-01T01:00:00Z"),
        ("months since 2000-1-1", 1, GREGORIAN, None),
        ("days since 2000-13-1", 1, GREGORIAN, None),
        ("days since 2000-1-1 0:0:0", math.inf, GREGORIAN, None),
    ],
)
def test_times(units: str, value: float, calendar: Calendar, expected: str | None) -> None:
    found = positions((value,), units, calendar)
    assert found == (None if expected is None else (at(expected, calendar),))
