"""Grid files at hand: how deep their boundaries are."""

from __future__ import annotations

from pathlib import Path

import pytest
from grid_files import GLOBAL, NEST, grid, header
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.experiment.grid_file import read_grid
from nmlgen.models.icon.rules.grid_files import AnotherGrid, NarrowBoundary, NestOfAnotherGrid
from nmlgen.rules import all_rules
from nmlgen.spec.spec import load_spec

EXAMPLE = Path(__file__).parents[3] / "rules" / "example.yaml"


@pytest.mark.parametrize(
    ("cells", "depth", "rows"), [(81920, None, 0), (81920, 14, 0), (81919, 14, 14), (81919, None, None)]
)
def test_a_whole_sphere_has_no_boundary(cells: int, depth: int | None, rows: int | None, tmp_path: Path) -> None:
    (tmp_path / "grid.nc").write_bytes(grid(cells, 5, GLOBAL, depth=depth))
    found = read_grid(tmp_path / "grid.nc")
    assert found is not None
    assert found.boundary_depth == rows


@pytest.mark.parametrize(
    ("cells", "depth", "is_limited", "width", "count"),
    [
        (5000, 14, "true", 10, 0),
        (5000, 14, "true", 11, 1),
        (5000, 14, "false", 11, 0),
        (5000, None, "true", 11, 0),  # it does not say
        (81920, None, "true", 10, 1),
        (81920, None, "false", 10, 0),
        (5000, 4, "true", 1, 1),
    ],
)
def test_the_nudging_zone_lies_within_the_boundary(cells, depth, is_limited, width, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "area.nc").write_bytes(grid(cells, 5, NEST, GLOBAL, depth))
    text = "model: {directory: null}\ngrid: {file: area.nc, name: null, num_lev: 30}\n"
    text += f"namelists: {{grid_nml: {{l_limited_area: {is_limited}}}, interpol_nml: {{nudge_zone_width: {width}}}}}\n"
    findings = judge(experiment_of(text, tmp_path), [NarrowBoundary])
    assert len(findings) == count
    if count:
        assert ("l_limited_area false" in findings[0].notes[0]) is (depth is None or depth <= 4)


@pytest.mark.parametrize(
    ("geometry", "is_torus", "name", "codes"),
    [
        (1, "true", "null", ["DYN009"]),
        (2, "true", "null", []),
        (2, "true", "R2B5", []),  # the file knows better than a name
        (None, "true", "null", []),
        (None, "true", "R2B5", ["DYN009"]),
        (1, "false", "null", []),
    ],
)
def test_the_grid_of_a_sphere_is_no_torus(geometry, is_torus, name, codes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    attributes = {} if geometry is None else {"grid_geometry": geometry}
    (tmp_path / "area.nc").write_bytes(header({"cell": 5000}, attributes))
    text = f"model: {{directory: null}}\ngrid: {{file: area.nc, name: {name}, num_lev: 30}}\n"
    text += f"namelists: {{grid_nml: {{is_plane_torus: {is_torus}}}}}\n"
    rules = [rule for rule in all_rules() if rule.code == "DYN009"]
    assert [finding.code for finding in judge(experiment_of(text, tmp_path), rules)] == codes


@pytest.mark.parametrize(("root", "level", "count"), [(2, 4, 0), (2, 5, 1), (2, 3, 1), (3, 4, 1)])
def test_the_grid_of_the_radiation_is_one_level_coarser(root, level, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fine.nc").write_bytes(header({"cell": 5000}, {"grid_root": 2, "grid_level": 5}))
    (tmp_path / "coarse.nc").write_bytes(header({"cell": 1250}, {"grid_root": root, "grid_level": level}))
    text = "model: {directory: null}\ngrid: {file: fine.nc, name: null, num_lev: 30}\n"
    text += (
        "namelists: {grid_nml: {radiation_grid_filename: coarse.nc}}\ninput_files: {coarse.nc: {source: coarse.nc}}\n"
    )
    assert len(judge(experiment_of(text, tmp_path), [NestOfAnotherGrid])) == count


@rows(("geometry", "codes"), [(1, ["DYN009"]), (2, []), (3, ["DYN009"])])
@rows("case", ["CBL", "2D_BUBBLE", "RICO", "RCE"])
def test_some_test_cases_are_for_a_torus(case, geometry, codes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "area.nc").write_bytes(header({"cell": 5000}, {"grid_geometry": geometry}))
    text = "model: {directory: null}\ngrid: {file: area.nc, name: null, num_lev: 30}\n"
    text += f"namelists: {{nh_testcase_nml: {{nh_test_name: {case}}}}}\n"
    rules = [rule for rule in all_rules() if rule.code == "DYN009"]
    assert [finding.code for finding in judge(experiment_of(text, tmp_path), rules)] == codes


@pytest.mark.parametrize(
    ("grid", "count"),
    [
        ("{name: R2B5, file: iconR02B05-grid.nc}", 0),
        ("{name: R2B9, file: iconR02B05-grid.nc}", 1),
        ("{name: R02B05, file: grids/icon_grid_0019_R02B05_G.nc}", 0),
        ("{name: R3B5, file: icon_grid_0019_R02B05_G.nc}", 1),
        ("{name: R2B6, file: R2B5_to_R2B6.nc}", 0),
        ("{name: R2B9, file: grid.nc}", 0),
        ("{name: null, file: iconR02B05-grid.nc}", 0),
        ("{name: R2B9, file: iconR02B05-grid.nc}\nnamelists: {grid_nml: {l_limited_area: true}}", 0),
    ],
)
def test_the_name_of_a_grid_is_that_of_its_file(grid, count, tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(f"nmlgen: 1\ngrid: {grid}\n", encoding="utf-8")
    given = [f"extends={EXAMPLE}", f"site={EXAMPLE.with_name('example-site.yaml')}"]
    assert len(judge(load_spec(path, given).experiment, [AnotherGrid])) == count


@pytest.mark.parametrize(
    ("grid", "where"),
    [
        ("{name: R2B5, file: a.nc}", "R2B5"),
        ("{name: null, file: R02B05.nc}", "R02B05.nc"),
        ("{name: null, file: a.nc, cells: 99}", "99"),
    ],
)
def test_a_grid_of_another_size_is_told_where_somebody_said_its_size(grid, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.nc", "R02B05.nc"):
        (tmp_path / name).write_bytes(header({"cell": 80}, {}))
    path = tmp_path / "spec.yaml"
    path.write_text(f"nmlgen: 1\nmodel: {{directory: null}}\ngrid: {grid}\n", encoding="utf-8")
    given = [f"extends={EXAMPLE}", f"site={EXAMPLE.with_name('example-site.yaml')}"]
    (finding,) = judge(load_spec(path, given).experiment, [AnotherGrid])
    assert finding.span is not None
    assert finding.span.text == where
