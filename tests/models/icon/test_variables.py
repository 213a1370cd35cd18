"""The catalogue of variables: its form, names known by heart, conditions and levels."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nmlgen.experiment.component import Component
from nmlgen.models.icon.variables import Circumstances, load_catalogue
from nmlgen.namelist.registry import load_registry

SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"
DOCUMENT: dict[str, Any] = json.loads((SCHEMAS / "icon-variables" / "2024.10.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((SCHEMAS / "variables.schema.json").read_text(encoding="utf-8"))
ENTRIES = [entry for entries in DOCUMENT["components"].values() for entry in entries]
CATALOGUE = load_catalogue("2024.10")


def test_form() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert not list(Draft202012Validator(SCHEMA).iter_errors(DOCUMENT))


def conditions() -> set[str]:
    levels = [entry["levels"] for entry in ENTRIES if isinstance(entry.get("levels"), list)]
    restarts = [entry["restart"] for entry in ENTRIES if isinstance(entry.get("restart"), str)]
    return {*DOCUMENT["conditions"], *restarts, *(pair[0] for pairs in levels for pair in pairs)}


def test_conditions_name_variables_of_the_release() -> None:
    registry = load_registry("2024.10")
    for condition in conditions():
        for node in ast.walk(ast.parse(condition, mode="eval")):
            if isinstance(node, ast.Attribute):
                assert isinstance(node.value, ast.Name)
                assert registry.variable(node.value.id, node.attr) is not None, condition
            if isinstance(node, ast.Call):
                assert isinstance(node.func, ast.Name)
                assert node.func.id == "requested"


def test_numbers_point_into_the_lists() -> None:
    assert all(number < len(DOCUMENT["groups"]) for entry in ENTRIES for number in entry.get("groups", ()))
    assert all(number < len(DOCUMENT["conditions"]) for entry in ENTRIES for number in entry.get("if", ()))


def test_patterns_compile() -> None:
    for entry in ENTRIES:
        assert ("pattern" in entry) == ("{" in entry["name"])
        re.compile(entry.get("pattern", ""))


@pytest.mark.parametrize(
    ("name", "location", "levels", "restart"),
    [
        ("temp", "cell", "nlev", False),
        ("W", "cell", "nlev+1", True),
        ("vn", "edge", "nlev", True),
        ("omega_z", "vertex", "nlev", False),
        ("pres_sfc", "cell", 1, False),
        ("t_g_t_3", "cell", 1, True),
    ],
)
def test_names_known_by_heart(name: str, location: str, levels: object, restart: bool) -> None:
    found = CATALOGUE.find(name)[0]
    assert (found.location, found.levels, bool(found.restart)) == (location, levels, restart)


def test_what_is_not_known() -> None:
    assert CATALOGUE.find("bogus") == ()
    assert CATALOGUE.group("bogus") == ()
    assert not CATALOGUE.has_group("bogus")
    assert CATALOGUE.has_group("ALL")


def test_groups() -> None:
    assert [variable.name for variable in CATALOGUE.group("nh_prog_vars")] == ["vn", "rho", "theta_v", "exner"]
    assert len(CATALOGUE.group("all")) > 3000


def test_newer_and_older_releases_take_the_nearest() -> None:
    assert load_catalogue("2024.01").release == "2024.10"
    assert load_catalogue("2030.04").release == "2025.10"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("run_nml.iforcing == 0", True),
        ("run_nml.iforcing in [2, 3]", False),
        ("not run_nml.iforcing == 0", False),
        ("run_nml.iforcing == 0 and unknown", None),
        ("run_nml.iforcing == 3 and unknown", False),
        ("run_nml.iforcing == 0 or unknown", True),
        ("run_nml.iforcing == 3 or unknown", None),
        ("not unknown", None),
        ("requested('temp')", True),
        ("requested('qv')", False),
        ("domain == 1", True),
        ("grid_nml.nosuch > 0", None),
        ("run_nml.output > 0", None),
        ("run_nml.iforcing > -1", True),
        (True, True),
    ],
)
def test_conditions(build: Callable[[str], Component], condition: bool | str, expected: bool | None) -> None:
    component = build("namelists: {run_nml: {iforcing: 0}}")
    assert Circumstances(component, 1, frozenset({"temp"})).holds(condition) is expected


def test_levels_of_soil_and_shear(build: Callable[[str], Component]) -> None:
    plain = Circumstances(build(""), 1, frozenset())
    soil = CATALOGUE.find("w_so_t_1")[0]
    assert plain.levels(soil) == 8
    deep = build("namelists: {lnd_nml: {zml_soil: [0.1, 0.3, 1.0]}, run_nml: {iforcing: 3, num_lev: [50, 40]}}")
    assert Circumstances(deep, 1, frozenset()).levels(soil) == 3
    temp = CATALOGUE.find("temp")[0]
    assert [Circumstances(deep, domain, frozenset()).levels(temp) for domain in (1, 2, 3)] == [50, 40, 50]


def test_levels_that_depend(build: Callable[[str], Component]) -> None:
    flux = CATALOGUE.find("lwflx_up")[0]
    component = build("grid: {num_lev: 30}")
    assert Circumstances(component, 1, frozenset()).levels(flux) == 1
    assert Circumstances(component, 1, frozenset({"lwflx_up"})).levels(flux) == 31


@pytest.mark.parametrize(
    ("namelists", "name", "count"),
    [
        ("io_nml: {wshear_uv_heights: [1000.0, 3000.0, 0.0, -999.0]}", "wshear_v", 2),
        ("io_nml: {wshear_uv_heights: [0.0]}", "wshear_v", 0),
        ("io_nml: {srh_heights: [1000.0, 3000.0]}", "srh", 2),
        ("run_nml: {iforcing: 3}, lnd_nml: {zml_soil: [0.1]}", "t_so", 9),  # one depth is none
        ("run_nml: {iforcing: 3}, lnd_nml: {zml_soil: [0.1, 0.2]}", "t_so", 3),
    ],
)
def test_levels_by_heights(build: Callable[[str], Component], namelists: str, name: str, count: int) -> None:
    here = Circumstances(build(f"namelists: {{{namelists}}}"), 1, frozenset())
    assert here.levels(CATALOGUE.find(name)[0]) == count


@pytest.mark.parametrize(
    ("land", "surface", "total", "with_water"),
    [
        ("ntiles: 1", 1, 1, 1),
        ("ntiles: 2", 1, 2, 5),
        ("ntiles: 3, lsnowtile: true", 1, 6, 9),
        ("ntiles: 3, lsnowtile: true", 0, 1, 1),
        ("ntiles: 1, lsnowtile: true", 1, 1, 1),
    ],
)
def test_tiles(build: Callable[[str], Component], land: str, surface: int, total: int, with_water: int) -> None:
    physics = f"run_nml: {{iforcing: 3, ltransport: true}}, nwp_phy_nml: {{inwp_surface: {surface}}}"
    here = Circumstances(build(f"namelists: {{{physics}, lnd_nml: {{{land}}}}}"), 1, frozenset())
    assert here.copies(CATALOGUE.find("plcov_t_1")[0]) == total
    assert here.copies(CATALOGUE.find("frac_t_1")[0]) == with_water
    assert here.copies(CATALOGUE.find("temp")[0]) == 1


@pytest.mark.parametrize(
    ("release", "name", "expected"),
    [
        ("2025.04", "hydro_bogus", "2024.10"),
        ("2025.04", "HYDRO_bogus", "2024.10"),
        ("2025.04", "bogus", None),
        ("2025.04", "bogus_hydro", None),
        ("2025.10", "bogus", "2025.04"),
        ("2024.10", "hydro_bogus", None),
    ],
)
def test_names_of_a_part_that_an_earlier_release_lent(release: str, name: str, expected: str | None) -> None:
    assert load_catalogue(release).may_be_new(name) == expected


@pytest.mark.parametrize(
    ("release", "name", "expected"),
    [("2025.04", "jsb_bogus", "2024.10"), ("2025.04", "ocean_bogus", None), ("2024.10", "jsb_bogus", None)],
)
def test_groups_of_a_part_that_an_earlier_release_lent(release: str, name: str, expected: str | None) -> None:
    assert load_catalogue(release).may_be_new_group(name) == expected


@pytest.mark.parametrize(
    ("release", "name", "is_there"),
    [("2024.10", "fl_001_001", True), ("2024.10", "fl_001", False), ("2025.04", "fl_001", True)],
)
def test_spectra_of_waves_by_frequency_alone_came_with_2025_04(release: str, name: str, is_there: bool) -> None:
    assert bool(load_catalogue(release).find(name)) is is_there


def test_vertical_integrals_of_hamocc_came_with_2025_10() -> None:
    new = [variable.name for variable in load_catalogue("2025.10").group("hamocc_vint")]
    assert len(new) == 10
    assert {"dic_i", "hamocc_npp_i"} <= set(new)
    assert not load_catalogue("2025.04").has_group("hamocc_vint")
