"""The headers of grid files, and what follows from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from grid_files import GLOBAL, first_guess, grid, header

from nmlgen.experiment.component import Component
from nmlgen.experiment.grid_file import read_grid
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.grids import path_at_hand
from nmlgen.models.icon.volume import points


@pytest.mark.parametrize("version", [1, 2, 5])
def test_header(tmp_path: Path, version: int) -> None:
    path = tmp_path / "grid.nc"
    path.write_bytes(grid(80, 0, "ABC ", "def", 14, ("cell_elevation",), version) + b"\0" * 100)
    found = read_grid(path)
    assert found is not None
    assert (found.cells, found.name, found.uuid, found.parent) == (80, "R2B0", "abc", "def")
    assert found.dimensions == {"cell": 80, "edge": 120, "vertex": 42}
    assert found.variables == {"clon", "cell_elevation"}
    assert (found.number("boundary_depth_index"), found.number("centre")) == (14, None)


def test_every_cut_and_every_byte(tmp_path: Path) -> None:
    """Whatever a file holds, there is an answer or none, and no error."""
    data = grid(80, 0, "abc", "def", 14)
    path = tmp_path / "grid.nc"
    for length in range(len(data) - 4):  # behind it stands where the last variable's data begin
        path.write_bytes(data[:length])
        assert read_grid(path) is None
    for place in range(len(data)):
        path.write_bytes(data[:place] + b"\xff" + data[place + 1 :])
        read_grid(path)


def test_what_is_no_grid(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("CDF of a kind")
    os.mkfifo(tmp_path / "pipe")
    for name in ("text", "pipe", ".", "none", "a\0b"):
        assert read_grid(tmp_path / name) is None


def test_netcdf_4(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "grid.nc", "w") as file:
        file.createDimension("cell", 320)
        file.createVariable("clon", "f8", ("cell",))
        file.grid_root, file.grid_level, file.uuidOfHGrid = 2, 1, "abc"
    found = read_grid(tmp_path / "grid.nc")
    assert found is not None
    assert (found.cells, found.name, found.uuid, found.variables) == (320, "R2B1", "abc", {"clon"})
    (tmp_path / "cut.nc").write_bytes((tmp_path / "grid.nc").read_bytes()[:600])
    assert read_grid(tmp_path / "cut.nc") is None


LIMITED = (
    "model: {{directory: null}}\ngrid: {{file: area.nc, name: null{}}}\n"
    "namelists: {{grid_nml: {{l_limited_area: true}}}}\n"
)


def test_cells_of_a_limited_area(
    build: Callable[[str], Component], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UndecidedError):
        points(build(LIMITED.format("")))
    (tmp_path / "area.nc").write_bytes(header({"cell": 1000, "edge": 1550, "vertex": 551}, {}))
    assert points(build(LIMITED.format(""))) == {"cell": 1000, "edge": 1550, "vertex": 551}
    assert points(build(LIMITED.format(", cells: 2000")))["cell"] == 2000


def test_cells_of_nests(build: Callable[[str], Component], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "model: {directory: null}\nnamelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}\n"
        "input_files: {nest.nc: {source: far/nest.nc}}\n"
    )
    with pytest.raises(UndecidedError):
        points(build(text), 2)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "nest.nc").write_bytes(grid(5000, 6, "nest", GLOBAL))
    assert points(build(text), 2)["cell"] == 5000
    assert points(build(f"{text}grid: {{cells: [81920, 6000]}}\n"), 2)["cell"] == 6000


def test_grib_says_its_grid(tmp_path: Path) -> None:
    data = first_guess(81920, GLOBAL)
    path = tmp_path / "guess.grb"
    path.write_bytes(data)
    found = read_grid(path)
    assert found is not None
    assert (found.cells, found.uuid) == (81920, GLOBAL)
    path.write_bytes(first_guess(81920, GLOBAL, template=0))
    assert read_grid(path) is None
    for length in range(len(data) - len("7777")):
        path.write_bytes(data[:length])
        assert read_grid(path) is None
    for place in range(len(data)):
        path.write_bytes(data[:place] + b"\xff" + data[place + 1 :])
        read_grid(path)


def test_beside_a_spec_that_brings_files_nothing_is_looked_for(build: Callable[[str], Component]) -> None:
    component = build("namelists: {io_nml: {output_nml_dict: dict}}\n")
    setting = component["io_nml", "output_nml_dict"]
    assert component.experiment.inputs
    assert setting.span is not None
    assert path_at_hand(component, setting, "dict") is None
    assert path_at_hand(component, setting, "/dict") == Path("/dict")


@pytest.mark.parametrize(("more", "expected"), [("", Path("/pool/a1.nc")), (", subdirectories: true", None)])
def test_a_file_that_a_pattern_brings_lies_in_its_directory(
    build: Callable[[str], Component], more: str, expected: Path | None
) -> None:
    files = f'input_files: {{"b/a*.nc": {{directory: /pool{more}}}}}'
    component = build(f"{files}\nnamelists: {{io_nml: {{output_nml_dict: b/a1.nc}}}}\n")
    setting = component["io_nml", "output_nml_dict"]
    assert path_at_hand(component, setting, "b/a1.nc") == expected
    assert path_at_hand(component, setting, "a1.nc") is None


@pytest.mark.parametrize(("size", "cells"), [(5, 9), (6, 9), (4, None)])
def test_a_section_has_five_bytes_at_least(size: int, cells: int | None, tmp_path: Path) -> None:
    local = size.to_bytes(4, "big") + b"\2" + bytes(max(0, size - 5))
    (tmp_path / "fg").write_bytes(b"GRIB\0\0\0\2" + bytes(8) + local + first_guess(9, GLOBAL)[16:])
    found = read_grid(tmp_path / "fg")
    assert (found and found.cells) == cells


@pytest.mark.parametrize(("count", "cells"), [(0, 9), (1, 9), (2, None)])
def test_the_grid_is_the_third_section_at_last(count: int, cells: int | None, tmp_path: Path) -> None:
    head, sections = (first_guess(9, GLOBAL)[part] for part in (slice(16), slice(16, None)))
    (tmp_path / "fg").write_bytes(head + count * (b"\0\0\0\5\2") + sections)
    found = read_grid(tmp_path / "fg")
    assert (found and found.cells) == cells


@pytest.mark.parametrize(
    ("cells", "level", "depth"),
    [(80, 0, 0), (320, 1, 0), (320, 0, 14), (80, -1, 14), (79, 0, 14)],
)
def test_a_whole_sphere_has_no_boundary(cells: int, level: int, depth: int, tmp_path: Path) -> None:
    attributes = {"grid_root": 2, "grid_level": level, "boundary_depth_index": 14}
    path = tmp_path / "grid.nc"
    path.write_bytes(header({"cell": cells}, attributes))
    found = read_grid(path)
    assert found is not None
    assert found.boundary_depth == depth


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"grid_root": 2, "grid_level": 5}, "R2B5"),
        ({"grid_root": 2}, None),
        ({"grid_level": 5}, None),
        ({}, None),
    ],
)
def test_a_grid_is_named_by_both_its_root_and_its_level(attributes, name, tmp_path: Path) -> None:
    (tmp_path / "grid.nc").write_bytes(header({"cell": 80}, attributes))
    found = read_grid(tmp_path / "grid.nc")
    assert found is not None
    assert found.name == name
