"""Grids by their names: where the pools have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmlgen import SpecError, load_spec
from nmlgen.experiment.volume import _GRID
from nmlgen.spec.known_grids import _data, files_of_grid


def test_files_are_called_like_their_grids() -> None:
    for name, files in _data()["grids"].items():
        for file in files:
            found = _GRID.search(file)
            assert found is not None
            assert f"R{found[1]}B{found[2]}" == name


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
