"""Grids by their names and what is made for them: where the pools have them."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from nmlgen import SpecError, check, load_spec
from nmlgen.models.icon.inputs import NeededFile
from nmlgen.models.icon.pool import _data, files_for_grid, files_of_grid
from nmlgen.models.icon.volume import _GRID


def test_files_are_called_like_their_grids() -> None:
    for name, files in _data()["grids"].items():
        for file in files:
            found = _GRID.search(file)
            assert found is not None
            assert f"R{found[1]}B{found[2]}" == name


def test_files_lie_below_what_they_are_made_for() -> None:
    known = {PurePosixPath(file).stem for files in _data()["grids"].values() for file in files}
    for made_for, kinds in _data()["files"].items():
        assert made_for in known or not made_for.startswith("icon_grid_") or made_for.endswith("_O")
        for kind, sources in kinds.items():
            assert all(("<year>" in kind) == ("<year>" in source) for source in sources)


@pytest.mark.parametrize(
    ("pattern", "what", "grid", "expected"),
    [
        ("bc_sst.nc", "", "/pool/mpim/0043/icon_grid_0043_R02B04_G.nc", ["bc_sst_1979_2016.nc"]),
        ("bc_ozone_*.nc", "", "icon_grid_0043_R02B04_G.nc", ["bc_ozone_historical_<year>.nc"]),
        (
            "extpar.nc",
            "external parameters",
            "icon_grid_0024_R02B06_G.nc",
            ["icon_extpar_0024_R02B06_G_20150805_tiles.nc"],
        ),
        ("ocean-flux.nc", "", "oes/input/r0004/icon_grid_0036_R02B04_O/R2B4_ocean-grid.nc", ["R2B4_ocean-flux.nc"]),
        ("cariolle_coeff.nc", "", "mine.nc", ["bc_ozone_cariolle.nc"]),
        ("bc_sst.nc", "", "mine.nc", []),
    ],
)
def test_what_is_made_for_a_grid(pattern: str, what: str, grid: str, expected: list[str]) -> None:
    needed = NeededFile(pattern, what, None, "mo_x.f90:1")
    assert [PurePosixPath(path).name for path in files_for_grid(needed, grid)] == expected


def test_who_misses_a_file_hears_where_icons_experiments_have_it(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        "nmlgen: 1\nname: x\nextends: icon/aquaplanet\nsite: levante\njob: {account: x, nodes: 1}\n"
        "model: {directory: /icon, executable: bin/icon}\ninput_files: {bc_ozone.nc: null}\n",
        encoding="utf-8",
    )
    (finding,) = [one for one in check(path).findings if one.code == "INP001"]
    assert "<pool>/grids/public/mpim/0013/ozone/r0002/bc_ozone_ape.nc" in finding.notes[-1]


@pytest.mark.parametrize(("name", "count"), [("R2B9", 2), ("r02b09", 2), ("R2B99", 0), ("icon_R2B9", 0), ("", 0)])
def test_names_are_written_in_several_ways(name: str, count: int) -> None:
    assert len(files_of_grid(name)) == count


@pytest.mark.parametrize(
    ("given", "notes"),
    [
        (["grid.name=R2B8"], ("<pool>/grids/public/mpim/0033/icon_grid_0033_R02B08_G.nc", "<pool> is model.pool")),
        (["grid.name=R2B8", "model.pool=/pool"], ("grids/public/mpim/0033", "<pool> is /pool; http://icon-downloads")),
        (["grid.name=R2B1"], ("set grid.file in the spec",)),
    ],
)
def test_who_names_a_grid_only_hears_where_it_is(given: list[str], notes: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("nmlgen: 1\nname: x\nsite: generic-slurm\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_spec(path, given)
    (finding,) = [one for one in caught.value.findings if one.message == "grid.file is not set"]
    said = "\n".join(finding.notes)
    assert all(note in said for note in notes)
    assert ("of R2B" in said) is (len(notes) > 1)
