"""Which files a run opens, and whether somebody brings them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from grid_files import GLOBAL, grid, header, write_grids
from jsonschema import Draft202012Validator
from rows import rows
from rules.experiments import BASE

import nmlgen
from nmlgen import disk
from nmlgen.experiment.component import Component
from nmlgen.experiment.condition import variables
from nmlgen.experiment.experiment import InputFile
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import unknown, written
from nmlgen.models.icon.inputs import (
    NeededFile,
    fruitless,
    inputs,
    is_file,
    may_share,
    missing_in,
    needed_files,
    unbrought,
)
from nmlgen.namelist.registry import load_registry
from nmlgen.resources import directory, schema
from nmlgen.spec.presets import names
from nmlgen.spec.spec import load_spec

Build = Callable[[str], Component]
NWP = "run_nml: {iforcing: 3, ltransport: true, ltestcase: false}, nwp_phy_nml: {inwp_surface: 1, inwp_radiation: %s}"

EDDIES = "run_nml: {iforcing: 3, ltransport: true, ltestcase: true}, nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 0}"


def test_table_is_as_its_schema_has_it() -> None:
    document = json.loads((directory("schemas") / "icon-inputs.json").read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema("icon-inputs")).iter_errors(document)) == []


def test_conditions_are_about_variables_that_icon_has() -> None:
    registry = load_registry("2024.10")
    for one in inputs():
        for group, name in variables(one.condition):
            assert registry.variable(group, name) is not None, (one.file, group, name)


def opened(component: Component) -> list[str]:
    return [file.pattern for file in needed_files(component)]


@pytest.mark.parametrize(
    ("fragment", "expected"),
    [
        ("", []),
        ("namelists: {io_nml: {output_nml_dict: dict.a}}", ["dict.a"]),
        ("namelists: {io_nml: {output_nml_dict: dict.a, netcdf_dict: dict.a}}", ["dict.a"]),
        ("namelists: {io_nml: {output_nml_dict: ' dict.a '}}", [" dict.a"]),
        (
            "namelists: {run_nml: {iforcing: 0}, extpar_nml: {itopo: 1}}",
            ["bc_land_sso.nc", "bc_land_frac.nc"],
        ),
        (
            f"namelists: {{{EDDIES}, ls_forcing_nml: {{is_geowind: true}}}}",
            ["ls_forcing.dat"],
        ),
        (
            f"namelists: {{{EDDIES}, ls_forcing_nml: {{is_nudging: true}}}}",
            ["ls_forcing.dat", "nudging.dat"],
        ),
        (
            f"namelists: {{{NWP % 0}, extpar_nml: {{itopo: 0}}, initicon_nml: {{init_mode: 2}}}}",
            ["ifs2icon_R*B*_DOM01.nc"],
        ),
        (
            f"namelists: {{{NWP % 0}, extpar_nml: {{itopo: 1}}, initicon_nml: {{init_mode: 7}}}}",
            ["extpar_iconR02B05-grid.nc", "dwdFG_R*B*_DOM01.nc"],
        ),
        (
            f"namelists: {{{NWP % 1}, extpar_nml: {{itopo: 0}}, initicon_nml: {{init_mode: 2}}, "
            "master_nml: {lrestart: true}}",
            ["rrtmg_lw.nc", "ECHAM6_CldOptProps.nc"],
        ),
    ],
)
def test_files_that_a_run_opens(build: Build, fragment: str, expected: list[str]) -> None:
    assert opened(build(fragment)) == ["iconR02B05-grid.nc", *expected]


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ("lhamocc: true", ["dust.nc", "nitrogen.nc"]),
        ("lhamocc: true, lsediment_only: true", ["particle_fluxes.nc"]),
        ("lsediment_only: true", []),
    ],
)
def test_biogeochemistry_of_an_ocean_opens_its_own(switches: str, expected: list[str], tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"models: {{oce: {{namelists: {{ocean_physics_nml: {{{switches}}}}}}}}}\n")
    site = BASE.with_name("example-site.yaml")
    experiment = load_spec(path, [f"extends={BASE.with_name('example-coupled.yaml')}", f"site={site}"]).experiment
    (ocean,) = (component for component in experiment.components if component.kind == "ocean")
    assert [file for file in opened(ocean) if file in ("dust.nc", "nitrogen.nc", "particle_fluxes.nc")] == expected


def test_nests_of_aes_have_their_own_orography(build: Build) -> None:
    nests = "grid_nml: {dynamics_grid_filename: [a.nc, b.nc]}, run_nml: {iforcing: 2}, extpar_nml: {itopo: 1}"
    found = opened(build(f"namelists: {{{nests}}}"))
    assert "bc_land_sso.nc" not in found
    assert {"bc_land_sso_DOM01.nc", "bc_land_sso_DOM02.nc", "bc_land_frac_DOM02.nc"} < set(found)


REAL = "run_nml: {iforcing: 2, ltestcase: false}, aes_phy_nml: {'aes_phy_config(1)%dt_vdf': PT10M"
IDEAL = REAL.replace("false", "true")
LAND = ["bc_land_frac.nc", "bc_land_phys.nc"]
SBM = "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: %d}"
SURFACE = "run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_turb: %d}, les_nml: {isrfc_type: %d}"
GASES = "run_nml: {iforcing: 2, ltestcase: %s}, aes_phy_nml: {'aes_phy_config(1)%%dt_rad': PT10M}, "
GASES += "aes_rad_nml: {'aes_rad_config(1)%%irad_%s': %d}"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (f"{REAL}}}", LAND),  # without JSBACH there is land, too
        (f"{REAL}, 'aes_phy_config(1)%ljsb': true}}", LAND),
        (f"{REAL}}}, nh_testcase_nml: {{nh_test_name: APEc}}", []),
        (
            f"{REAL}}}, grid_nml: {{dynamics_grid_filename: [a.nc, b.nc]}}",
            ["bc_land_frac_DOM01.nc", "bc_land_frac_DOM02.nc", "bc_land_phys_DOM01.nc"],  # the nest does not diffuse
        ),
        (f"{IDEAL}, 'aes_phy_config(1)%ljsb': true}}", []),
        (f"{REAL}, 'aes_phy_config(1)%lsstice': true}}", [*LAND, "sst-sic-runmean_G.nc"]),
        (SBM % 8, ["SBM_input_33/*"]),
        (SBM % 4, []),
        (SURFACE % (5, 6), ["sfc_forcing.dat"]),
        (SURFACE % (5, 1), []),
        (SURFACE % (1, 6), []),
        (GASES % ("false", "cfc11", 3), [*LAND, "bc_greenhouse_gases.nc"]),
        (GASES % ("false", "cfc11", 2), LAND),
        (GASES % ("true", "co2", 3), []),
    ],
)
def test_what_physics_read_when_they_begin(settings: str, expected: list[str], build: Build) -> None:
    words = ("bc_land_", "sst-sic", "SBM", "sfc_forcing", "bc_greenhouse")
    found = [name for name in opened(build(f"namelists: {{{settings}}}")) if name.startswith(words)]
    assert sorted(found) == sorted(expected)


def test_each_domain_has_its_own(build: Build) -> None:
    nests = "grid_nml: {dynamics_grid_filename: [a.nc, b.nc]}, extpar_nml: {itopo: 1}"
    found = opened(build(f"namelists: {{{NWP % 0}, {nests}}}"))
    assert found[:4] == ["a.nc", "b.nc", "extpar_a.nc", "extpar_b.nc"]


@pytest.mark.parametrize(
    ("pattern", "target", "expected"),
    [
        ("a.nc", "a.nc", True),
        ("./a.nc", "a.nc", True),
        ("a.nc", "b.nc", False),
        ("latbc/lbff*.nc", "latbc", True),
        ("latbc/lbff*.nc", "lat", False),
        ("bc_ozone_*.nc", "bc_ozone_1979.nc", True),
        ("bc_ozone_*.nc", "bc_ozone.nc", False),
    ],
)
def test_what_brings_a_file(pattern: str, target: str, expected: bool) -> None:
    assert NeededFile(pattern, "", None, "").matches(target) is expected


def test_paths_to_elsewhere_are_not_looked_for(build: Build) -> None:
    for name in ("/pool/dict", "../dict"):
        component = build(f"namelists: {{io_nml: {{output_nml_dict: {name}}}}}")
        assert name in opened(component)
        assert list(unbrought(component)) == []


def test_the_batch_script_looks_for_them(tmp_path: Path) -> None:
    text = (
        "nmlgen: 1\nextends: {}\nsite: {}\nnamelists: {{io_nml: {{output_nml_dict: 'a dict', netcdf_dict: brought}}}}\n"
    )
    rules = Path(__file__).resolve().parents[2] / "rules"
    path = tmp_path / "spec.yaml"
    path.write_text(
        text.format(rules / "example.yaml", rules / "example-site.yaml") + "input_files: {brought: {source: there}}\n"
    )
    nmlgen.build(path).write(tmp_path / "built")
    (script,) = (tmp_path / "built").glob("*.sbatch")
    needed = [line for line in script.read_text().splitlines() if line.startswith('need "$run"')]
    assert needed == ["need \"$run\"/'a dict'"]


@rows("name", [name for name in names() if name.startswith("icon/")])
def test_presets_bring_all_that_they_open(name: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(
        f"nmlgen: 1\nname: x\nextends: {name}\nsite: levante\n"
        "model: {release: '2024.10', executable: b, directory: /w}\njob: {account: a, nodes: 4, time: '01:00:00'}\n"
    )
    for given in (
        [],
        [
            "grid.file=a.nc",
            "grid.num_lev=30",
            "time.start=2008-09-01T00:00:00Z",
            "time.stop=2008-09-02T00:00:00Z",
            "time.modelTimeStep=PT2M",
        ],
    ):
        try:
            experiment = nmlgen.load_spec(path, given).experiment
            break
        except nmlgen.SpecError:
            continue
    assert [file.pattern for component in experiment.components for file in unbrought(component)] == []


OF_GRID = (
    "model: {{directory: null}}\nnamelists: {{run_nml: {{iforcing: 3, ltransport: true, ltestcase: false{run}}}, "
    "nwp_phy_nml: {{inwp_radiation: 0}}, extpar_nml: {{itopo: 0}}, initicon_nml: {{{ini}}}}}\n"
)


@pytest.mark.parametrize(
    ("run", "ini", "expected"),
    [
        ("", "init_mode: 2", [("ifs2icon_R2B05_DOM01.nc", "cells")]),
        ("", "init_mode: 7", [("dwdFG_R2B05_DOM01.nc", "uuid")]),
        ("", "init_mode: 7, dwdfg_filename: fg_<nroot0>_<jlev>", [("fg_02_05", "uuid")]),
        (", check_uuid_gracefully: true", "init_mode: 7", [("dwdFG_R2B05_DOM01.nc", None)]),
        ("", "init_mode: 7, lconsistency_checks: false", [("dwdFG_R2B05_DOM01.nc", None)]),
    ],
)
def test_what_must_be_of_the_grid(
    build: Build,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: str,
    ini: str,
    expected: list[tuple[str, str | None]],
) -> None:
    """The header of the grid says what root and level the names have."""
    monkeypatch.chdir(tmp_path)
    write_grids(tmp_path)
    _, *found = needed_files(build(OF_GRID.format(run=run, ini=ini)))
    assert [(file.pattern, file.grid) for file in found] == expected


@rows(
    ("one", "other", "expected"),
    [
        ("ilbff*_lbc.nc", "ilbff00*_lbc.nc", True),
        ("ilbff*_lbc.nc", "*.nc", True),
        ("ilbff*_lbc.nc", "*.grb", False),
        ("a*", "b*", False),
        ("a*c", "a?", True),
        ("a*c", "?", False),
        ("*", "", True),
        ("", "?", False),
        ("a?c", "ab[cd]", True),
        ("a", "a*b*", False),
        ("a", "**a**", True),
        ("*ab", "*ba", False),
        ("*ab*", "*ba*", True),
    ],
)
def test_names_that_fit_two_patterns(one: str, other: str, expected: bool) -> None:
    assert may_share(one, other) is may_share(other, one) is expected


@pytest.mark.parametrize(
    ("needed", "target", "expected"),
    [
        ("rad_1.nc", "rad_*.nc", True),
        ("./rad_1.nc", "rad_*.nc", True),
        ("rad_1.nc", "obs/rad_*.nc", False),
        ("obs/rad_1.nc", "obs/rad_*.nc", True),
        ("obs/rad_1.nc", "*", False),
        ("rad.nc", "rad_*.nc", False),
        ("rad_*", "rad_*.nc", True),
        ("rad_*.grb", "rad_*.nc", False),
    ],
)
def test_what_a_pattern_brings(needed: str, target: str, expected: bool) -> None:
    brought = InputFile(target, written("source", "/pool", "spec"), is_pattern=True)
    assert NeededFile(needed, "", None, "").may_be(brought) is expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("extpar_nml: {itopo: 0}", "ifs2icon_R2B05_DOM01.nc"),
        (
            "master_nml: {model_base_dir: '/base/ '}, "
            "extpar_nml: {itopo: 1, extpar_filename: '<path>/R<nroot0>B<jlev>/e_<idom>_<gridfile>'}",
            "/base/R02B05/e_01_g.nc",
        ),
        ("extpar_nml: {itopo: 1, extpar_filename: 'e_<unheard>_<gridfile>'}", "e_*_g.nc"),
    ],
)
def test_names_follow_the_grid_at_hand(
    build: Build, settings: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.nc").write_bytes(grid(81920, 5, GLOBAL))
    own = "model: {directory: null}\ngrid: {file: g.nc, num_lev: 30}\n"
    component = build(f"{own}namelists: {{{NWP % 0}, initicon_nml: {{init_mode: 2}}, {settings}}}")
    assert expected in opened(component)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"grid_root": 2, "grid_level": 5}, "ifs2icon_R2B05_DOM01.nc"),
        ({"grid_root": 2}, "ifs2icon_R*B*_DOM01.nc"),
        ({"grid_level": 5}, "ifs2icon_R*B*_DOM01.nc"),
    ],
)
def test_names_need_both_the_root_and_the_level(
    build: Build, attributes: dict[str, int], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.nc").write_bytes(header({"cell": 81920}, attributes))
    own = "model: {directory: null}\ngrid: {file: g.nc, num_lev: 30}\n"
    assert expected in opened(build(f"{own}namelists: {{{NWP % 0}, initicon_nml: {{init_mode: 2}}}}"))


@pytest.mark.parametrize(
    ("active", "expected"),
    [
        (None, ["soil.nc"]),
        (written("jsb_a_nml.active", True, ""), ["soil.nc"]),
        (written("jsb_a_nml.active", False, ""), []),
        (unknown("jsb_a_nml.active"), []),
    ],
)
def test_processes_of_the_land_read_where_they_are_active(active, expected, build: Build) -> None:
    component = build("")
    names = {"ic_filename": "soil.nc ", "bc_filename": " ", "usecase": "soil2.nc"}
    settings = {name: written(f"jsb_a_nml.{name}", value, "") for name, value in names.items()}
    settings["other_filename"] = unknown("jsb_a_nml.other_filename")
    group = Group("jsb_a_nml", {**settings, **({} if active is None else {"active": active})})
    (model,) = component.experiment.models
    with_land = evolve(component.experiment, models=(evolve(model, land=(group,)),)).components[0]
    found = [file for file in needed_files(with_land) if file.pattern.startswith("soil")]
    assert [file.pattern for file in found] == expected
    assert {file.domain for file in found} <= {1}


@pytest.mark.parametrize(
    ("since", "until", "is_opened"),
    [
        (None, None, True),
        ("2024.10", None, True),
        ("2025.04", None, False),
        (None, "2024.10", True),
        (None, "2024.07", False),
        ("2024.10", "2024.10", True),
        ("2025.04", "2024.07", False),
    ],
)
def test_a_file_is_opened_by_the_releases_that_have_it(since, until, is_opened) -> None:
    assert evolve(inputs()[0], since=since, until=until).is_opened_by("2024.10") is is_opened


def test_a_directory_that_nobody_knows_makes_only_names_unknown_that_it_is_in(build: Build) -> None:
    namelists = 'namelists: {run_nml: {iforcing: 3}, extpar_nml: {itopo: 1, extpar_filename: "%s"}}\n'
    for name, expected in (("<path>e.nc", []), ("e.nc", ["e.nc"])):
        experiment = build(namelists % name).experiment
        (group,) = (group for group in experiment.master if group.name == "master_nml")
        open_group = evolve(group, settings={**group.settings, "model_base_dir": unknown("model_base_dir")})
        changed = experiment.mapped(lambda one, own=group, new=open_group: new if one is own else one)
        assert [file for file in opened(changed.components[0]) if file.endswith("e.nc")] == expected


@pytest.mark.parametrize(
    ("pattern", "is_absent"),
    [
        ("far/a*.nc", False),  # nobody knows whether the directory will be there
        ("near/a*.nc", True),
        ("near/b*.nc", False),
        ("ne*/a.nc", False),
        ("near/a**", False),
        ("near/a.nc", True),
        ("near/b1.nc", False),
        ("far/a.nc", True),  # nor is its directory
    ],
)
def test_what_is_not_there(pattern: str, is_absent: bool, build: Build, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "b1.nc").touch()
    file = NeededFile(pattern, "a file", None, "")
    monkeypatch.setattr("nmlgen.models.icon.inputs.needed_files", lambda component: (file,))
    assert list(missing_in(tmp_path, build(""))) == [file] * is_absent
    assert is_file(tmp_path / pattern) is (pattern == "near/b1.nc")


@pytest.mark.parametrize(("compared", "looked_at", "is_known"), [(2, 3, True), (1, 3, False), (2, 2, False)])
def test_a_directory_is_looked_through_up_to_a_bound(compared, looked_at, is_known, tmp_path, monkeypatch) -> None:
    """Two names against a pattern, and a directory among them."""
    (tmp_path / "below").mkdir()
    for name in "ab":
        (tmp_path / name).touch()
    monkeypatch.setattr("nmlgen.models.icon.inputs._MOST_COMPARED", compared)
    monkeypatch.setattr("nmlgen.models.icon.inputs._MOST_LOOKED_AT", looked_at)
    searches = [(tmp_path, True, "c")]
    assert fruitless(searches) == (frozenset(searches) if is_known else frozenset())
    assert bool(fruitless([(tmp_path, False, "c")])) is (compared == 2)


@pytest.mark.parametrize("pattern", ["near/a.nc", "near/a*.nc"])
def test_nobody_knows_what_a_directory_holds_that_nobody_may_look_into(pattern, build: Build, tmp_path, monkeypatch):
    def refuse(*_: object) -> bool:
        raise PermissionError

    file = NeededFile(pattern, "a file", None, "")
    monkeypatch.setattr("nmlgen.models.icon.inputs.needed_files", lambda component: (file,))
    component = build("")
    for look in ("is_directory", "is_file", "names"):
        monkeypatch.setattr(disk, look, refuse)
    assert list(missing_in(tmp_path, component)) == []
    assert not is_file(tmp_path)
    assert fruitless([(tmp_path, True, "a")]) == frozenset()
