"""What conditions are answered: elements by domain, what somebody gave, and the words that are no variables."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest
from grid_files import header

from nmlgen.experiment.component import Component
from nmlgen.models.icon.facts import ComponentFacts

Build = Callable[[str], Component]
SETTINGS = """namelists:
  run_nml: {num_lev: [30, 20], iforcing: 3}
  nwp_phy_nml: {inwp_turb: [1]}
  aes_phy_nml: {"aes_phy_config(2)%lamip": true}
  io_nml: {output_nml_dict: " ", lkeep_in_sync: false}
"""
EVEN = "{nonhydrostatic_nml: {ivctype: 2}, sleve_nml: {min_lay_thckn: 0.0, top_height: 4000.0}}"


def facts(build: Build, text: str, domain: int = 1, *, is_inherited: bool = False) -> ComponentFacts:
    return ComponentFacts(build(text), domain, frozenset({"temp"}), is_inherited)


@pytest.mark.parametrize(
    ("group", "name", "expected"),
    [
        ("run_nml", "num_lev", [30, 20, None]),
        ("run_nml", "iforcing", [3, 3, 3]),  # one for all domains
        ("nwp_phy_nml", "inwp_turb", [1, None, None]),
        ("unheard_nml", "unheard", [None, None, None]),
    ],
)
def test_the_element_of_a_domain(build: Build, group: str, name: str, expected: list[Any]) -> None:
    here = facts(build, SETTINGS)
    assert [here.at(domain).value(group, name) for domain in (1, 2, 3)] == expected


@pytest.mark.parametrize(("forcing", "expected"), [(2, [False, True, False]), (3, [False, False, False])])
def test_a_component_of_a_derived_type(build: Build, forcing: int, expected: list[bool]) -> None:
    """Where the group is read."""
    here = facts(build, SETTINGS.replace("iforcing: 3", f"iforcing: {forcing}"))
    assert [here.at(domain).value("aes_phy_nml", "aes_phy_config%lamip") for domain in (1, 2, 3)] == expected


def test_elements_that_are_inherited(build: Build) -> None:
    assert facts(build, SETTINGS, 2, is_inherited=True).value("nwp_phy_nml", "inwp_turb") == 1
    assert facts(build, SETTINGS, 2, is_inherited=True).value("run_nml", "num_lev") == 20
    assert facts(build, SETTINGS, 2, is_inherited=True).at(3).value("run_nml", "num_lev") == 30


@pytest.mark.parametrize(
    ("group", "name", "expected"),
    [
        ("run_nml", "num_lev", True),
        ("run_nml", "ntracer", False),
        ("les_nml", "smag_constant", False),  # nobody wrote the group
        ("io_nml", "output_nml_dict", False),  # a blank
        ("io_nml", "lkeep_in_sync", True),
        ("aes_phy_nml", "aes_phy_config%lamip", False),
    ],
)
def test_what_somebody_gave(build: Build, group: str, name: str, expected: bool) -> None:
    assert facts(build, SETTINGS).given(group, name) is expected


def test_a_component_of_another_domain_is_given_there(build: Build) -> None:
    assert facts(build, SETTINGS, 2).given("aes_phy_nml", "aes_phy_config%lamip") is True


def test_what_a_varlist_asks_for(build: Build) -> None:
    here = facts(build, "")
    assert (here.requested("temp"), here.requested("pres")) == (True, False)


def test_a_group_that_is_not_read_counts_as_absent(build: Build) -> None:
    text = "namelists: {run_nml: {iforcing: %d}, nwp_phy_nml: {inwp_gscp: 2}}\n"
    assert facts(build, text % 3).value("nwp_phy_nml", "inwp_gscp") == 2
    assert facts(build, text % 2).value("nwp_phy_nml", "inwp_gscp") != 2


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("domain", 1),
        ("domains", 1),
        ("tasks", 256),
        ("work", 252),
        ("io", 4),
        ("streams", 4),  # one of four partitions
        ("models", 1),
        ("couples", None),
        ("component", "atmosphere"),
        ("step", 600.0),
        ("checkpoint", 43200.0),
        ("restart", 864000.0),
        ("leg", 864000.0),
        ("torus", False),
        ("forced", False),
        ("weather", None),
    ],
)
def test_words(build: Build, word: str, expected: object) -> None:
    assert facts(build, "").symbol(word) == expected


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("restart: {checkpointTimeIntval: null, restartTimeIntval: null}", "checkpoint", 0),
        ("restart: {checkpointTimeIntval: null, restartTimeIntval: null}", "restart", 0),
        ("restart: {restartTimeIntval: P5D}", "leg", 432000.0),
        (f"grid: {{num_lev: 4}}\nnamelists: {EVEN}", "highest", 3500.0),
        (f"grid: {{num_lev: 4}}\nnamelists: {EVEN}", "second_lowest", 1500.0),
        (f"grid: {{num_lev: 2}}\nnamelists: {EVEN}", "second_lowest", 3000.0),
        (f"grid: {{num_lev: 1}}\nnamelists: {EVEN}", "second_lowest", inf),
        ("namelists: {transport_nml: {tracer_names: [qv, qc, o3, hus]}}", "waters", 3),
        ("model: {parts: {coupling: true}}", "couples", True),
        ("model: {parts: {coupling: false}}", "couples", False),
        ("grid: {name: null, file: a.nc}", "torus", None),
        ("grid: {name: null, file: iconR02B04.nc}", "torus", False),
        ("namelists: {grid_nml: {l_scm_mode: true}, scm_nml: {scm_sfc_temp: 1}}", "forced", True),
        ("namelists: {grid_nml: {l_scm_mode: true}, scm_nml: {scm_sfc_temp: 0}}", "forced", False),
        ("namelists: {scm_nml: {scm_sfc_temp: 1}}", "forced", False),
        ("namelists: {grid_nml: {dynamics_grid_filename: [a.nc, b.nc]}}", "domains", 2),
    ],
)
def test_words_of_other_runs(build: Build, text: str, word: str, expected: object) -> None:
    assert facts(build, f"{text}\n").symbol(word) == expected


@pytest.mark.parametrize(("geometry", "expected"), [(2, True), (1, False), (None, None)])
def test_a_grid_at_hand_says_whether_it_is_a_torus(
    build: Build, geometry: int | None, expected: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    attributes = {} if geometry is None else {"grid_geometry": geometry}
    (tmp_path / "plane.nc").write_bytes(header({"cell": 80}, attributes))
    here = facts(build, "model: {directory: null}\ngrid: {name: null, file: plane.nc}\n")
    assert here.symbol("torus") is expected
