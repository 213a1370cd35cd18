"""Nests: from a spec to the lists that ICON reads, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen
from nmlgen.importing import import_spec
from nmlgen.source import Source
from nmlgen.spec.document import read_text
from nmlgen.spec.domains import domains_of
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).parent.parent / "rules" / "example.yaml"
SITE = f"site={BASE.with_name('example-site.yaml')}"
NESTS = """\
extends: %s
domains:
  europe: {file: /pool/nest_2.nc, num_lev: 25, start: PT6H, lfeedback: false}
  alps: {file: /pool/nest_3.nc, parent: europe, end: P2D}
  asia: {file: nest_4.nc}
"""


def spec_of(text: str, tmp_path: Path, *overrides: str):
    path = tmp_path / "spec.yaml"
    path.write_text(text % BASE)
    return load_spec(path, [SITE, *overrides])


def values(experiment) -> dict:
    (component,) = experiment.components
    names = ("dynamics_grid_filename", "dynamics_parent_grid_id", "start_time", "end_time", "lfeedback")
    found = {name: component["grid_nml", name].value for name in names}
    return found | {name: component["run_nml", name].value for name in ("num_lev", "lvert_nest")}


EXPECTED = {
    "dynamics_grid_filename": ["iconR02B05-grid.nc", "nest_2.nc", "nest_3.nc", "nest_4.nc"],
    "dynamics_parent_grid_id": [0, 1, 2, 1],
    "start_time": [0.0, 21600.0, 0.0, 0.0],
    "end_time": [1e30, 1e30, 172800.0, 1e30],
    "lfeedback": [True, False, True, True],
    "num_lev": [30, 25, 25, 30],
    "lvert_nest": True,
}


def test_nests_become_lists_by_domain(tmp_path):
    experiment = spec_of(NESTS, tmp_path).experiment
    assert values(experiment) == EXPECTED
    assert [(file.target, file.source.value) for file in experiment.inputs] == [
        ("iconR02B05-grid.nc", "iconR02B05-grid.nc"),
        ("nest_2.nc", "/pool/nest_2.nc"),
        ("nest_3.nc", "/pool/nest_3.nc"),
        ("nest_4.nc", "nest_4.nc"),
    ]


def test_only_what_is_said_is_written(tmp_path):
    (component,) = spec_of("extends: %s\ndomains: {a: {file: a.nc}}\n", tmp_path).experiment.components
    grid = component.group("grid_nml")
    assert grid is not None
    assert set(grid.settings) >= {"dynamics_grid_filename", "dynamics_parent_grid_id"}
    assert not {"start_time", "end_time", "lfeedback"} & set(grid.settings)
    assert component["run_nml", "num_lev"].value == 30


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("domains.alps.parent=asia", 'domains.alps.parent is "asia"'),
        ("domains.alps.file=null", "domains.alps.file is not set"),
        ("domains.alps.start=P1M", 'domains.alps.start is "P1M"'),
        ("namelists.grid_nml.lfeedback=true", "grid_nml.lfeedback is set, and so are domains"),
        ("domains.alps.levels=3", 'there is no key "levels" in domains.alps'),
    ],
)
def test_mistakes_are_found(override, message, tmp_path):
    with pytest.raises(nmlgen.SpecError) as caught:
        spec_of(NESTS, tmp_path, override)
    assert message in [finding.message for finding in caught.value.findings]


def test_no_nests_are_no_nests(tmp_path):
    experiment = spec_of(NESTS, tmp_path, "domains=null").experiment
    assert experiment.components[0]["grid_nml", "dynamics_grid_filename"].value == "iconR02B05-grid.nc"


def test_import_raises_them_again(tmp_path):
    nmlgen.build(spec_of(NESTS, tmp_path)).write(tmp_path / "built")
    imported = import_spec(tmp_path / "built")
    document = read_text(Source("spec", imported.text)).plain()
    assert document["domains"] == {
        "dom02": {"file": "/pool/nest_2.nc", "num_lev": 25, "start": "PT21600S", "lfeedback": False},
        "dom03": {
            "file": "/pool/nest_3.nc",
            "parent": "dom02",
            "num_lev": 25,
            "end": "PT172800S",
            "lfeedback": True,
        },
        "dom04": {"file": "/work/bb1234/icon/nest_4.nc", "num_lev": 30, "lfeedback": True},
    }
    assert "grid_nml" not in document.get("namelists", {})
    (tmp_path / "again.yaml").write_text(imported.text)
    assert values(load_spec(tmp_path / "again.yaml", [SITE]).experiment) == EXPECTED


def test_a_nest_may_begin_before_the_experiment(tmp_path):
    text = NESTS.replace("start: PT6H", "start: -PT90M")
    assert text != NESTS
    nmlgen.build(spec_of(text, tmp_path)).write(tmp_path / "built")
    document = read_text(Source("spec", import_spec(tmp_path / "built").text)).plain()
    assert document["domains"]["dom02"]["start"] == "-PT5400S"


def test_numbers_of_cells_come_back(tmp_path):
    for cells in ([81920, 6000, 5000, 4000], 81920):
        spec = spec_of(NESTS, tmp_path, f"grid.cells={cells}")
        nmlgen.build(spec).write(tmp_path / "built")
        imported = read_text(Source("spec", import_spec(tmp_path / "built").text)).plain()
        assert imported["grid"]["cells"] == cells
        assert spec.experiment.models[0].cells.value == cells


@pytest.mark.parametrize(
    ("name", "value"),
    [("dynamics_parent_grid_id", [0, 2]), ("start_time", [3600.0, 0.0]), ("end_time", [1.0e30, 0.5])],
)
def test_what_no_nests_say_is_none_of_theirs(name, value):
    grids = {("grid_nml", "dynamics_grid_filename"): ["a.nc", "b.nc"], ("grid_nml", "dynamics_parent_grid_id"): [0, 1]}
    assert domains_of(grids) == {"dom02": {"file": "b.nc"}}
    assert domains_of(grids | {("grid_nml", name): value}) == {}


def test_of_very_many_nests_few_are_named(tmp_path: Path) -> None:
    nests = "".join(f"  n{number}: {{file: n.nc, parent: '?'}}\n" for number in range(200))
    with pytest.raises(nmlgen.SpecError) as caught:
        spec_of(f"extends: %s\ndomains:\n{nests}", tmp_path)
    assert {finding.code for finding in caught.value.findings} == {"SPC004"}
    assert max(len(" ".join(finding.notes)) for finding in caught.value.findings) < 300


def test_very_many_nests_are_refused(tmp_path: Path) -> None:
    nests = "".join(f"  n{number}: {{file: n.nc}}\n" for number in range(1_001))
    with pytest.raises(nmlgen.SpecError) as caught:
        spec_of(f"extends: %s\ndomains:\n{nests}", tmp_path)
    assert [finding.message for finding in caught.value.findings] == ["more than 1000 nests of one model"]
