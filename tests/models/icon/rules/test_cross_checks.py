"""What ICON refuses of several settings at once: the table, and both sides of its conditions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve
from jsonschema import Draft202012Validator
from rows import rows
from rules.experiments import experiment_of, judge, with_setting
from yaml import safe_dump, safe_load

from nmlgen.experiment.condition import evaluate
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import UndecidedError, unknown
from nmlgen.findings import Severity
from nmlgen.models.icon.checks import Check, breaches, checks
from nmlgen.models.icon.rules import cross_checks
from nmlgen.namelist.registry import load_registry, releases
from nmlgen.resources import directory, schema, shipped
from nmlgen.rules import all_rules
from nmlgen.spec.spec import load_spec

RULES = [rule for rule in all_rules() if rule.__module__ == cross_checks.__name__]
NWP = "run_nml: {iforcing: 3, ltransport: true}, "
SEA = "nwp_phy_nml: {inwp_surface: 0}, lnd_nml: {sstice_mode"
GRAVITY = "nh_testcase_nml: {nh_test_name: dcmip_gw_32, gw_u0: 0"
MOVED = "run_nml: {ntracer: 1, ltransport: true}"
STILL = "dynamics_nml: {lcoriolis: false}"
TRACER = "nh_testcase_nml: {nh_test_name: jabw, tracer_inidist_list: ["


LIMITED = "grid_nml: {l_limited_area: true}, dynamics_nml: {lcoriolis: false}, run_nml: {ntracer: 1}, "
LIMITED += "nh_testcase_nml: {nh_test_name: g_lim_area, "
POLYTROPIC = LIMITED + "itype_atmo_ana: 2, "
TEN = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
COLUMN = "grid_nml: {l_scm_mode: true}, nwp_phy_nml: {inwp_surface: 0}, scm_nml: {i_scm_netcdf: 1, scm_sfc_"
ICE = (
    "run_nml: {iforcing: 2}, nh_testcase_nml: {nh_test_name: %s}, sea_ice_nml: {i_ice_therm: %d}, "
    "aes_phy_nml: {'aes_phy_config(1)%%lice': %s, 'aes_phy_config(1)%%dt_vdf': %s}"
)
CARBON = "run_nml: {iforcing: 2, ntracer: 4, ltransport: true}, ccycle_nml: {'ccycle_config(1)%iccycle': "
DIFFUSED = "aes_phy_nml: {'aes_phy_config(1)%dt_vdf': PT10M}"
GASES = "run_nml: {iforcing: 2, ntracer: 3, ltransport: true}, aes_phy_nml: {'aes_phy_config(1)%dt_rad': PT10M}, "
GASES += "transport_nml: {tracer_names: "
GRAUPEL = "run_nml: {iforcing: 2, ntracer: 7, ltransport: true}, aes_phy_nml: {'aes_phy_config(1)%dt_mig': PT10M}"
NUDGED = (
    NWP + "nwp_phy_nml: {inwp_surface: 0}, grid_nml: {l_limited_area: true}, limarea_nml: {nudge_hydro_pres: false}, "
)
NUDGED += "nudging_nml: {nudge_type: 1"
GLOBAL = NWP + "nwp_phy_nml: {inwp_surface: 0}, limarea_nml: {latbc_varnames_map_file: a, itype_latbc: 1, "
GLOBAL += "dtime_latbc: 3600.0}, nudging_nml: {nudge_type: 2"


def codes(namelists, tmp_path, more="", release="2024.10"):
    text = f'model: {{release: "{release}"}}\n{more}\nnamelists: {{{namelists}}}\n'
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


def test_table_is_as_its_schema_has_it():
    document = json.loads((directory("schemas") / "icon-checks.json").read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema("icon-checks")).iter_errors(document)) == []


@rows("check", checks(), ids=lambda check: f"{check.rule}-{check.name}")
def test_conditions_are_about_variables_that_icon_has(check: Check):
    registry = load_registry(check.since or "2024.10")
    for group, name in ((check.group, check.name), *check.variables):
        whole = registry.variable(group, name.partition("%")[0])
        is_of_external = whole is not None and whole.type == "derived"  # whose components stand in no source of ICON
        assert is_of_external or registry.variable(group, name) is not None, (group, name)


class AtItsDefault:
    """A variable at its default, where nothing else is known."""

    def __init__(self, registry, variable):
        self.variable = variable
        self.known = registry.variable(*variable)

    def values(self, group, name):
        is_known = (group, name) == self.variable and self.known is not None and self.known.has_default
        return as_list(self.known.default) if is_known and not isinstance(self.known.default, dict) else None

    def value(self, group, name):
        values = self.values(group, name)
        return None if values is None or self.known.is_array else values[0]

    def given(self, group, name):
        return False if (group, name) == self.variable else None

    def at(self, _):
        return self

    def places(self, *_):
        return 0

    def element(self, *_):
        return None

    def symbol(self, _):
        return None

    def requested(self, _):
        return None


@rows("check", checks(), ids=lambda check: f"{check.rule}-{check.name}")
def test_what_a_check_needs_is_what_at_its_default_is_enough_for_it_not_to_hold(check: Check):
    registries = [load_registry(release) for release in releases() if check.is_made_by(release)]
    needed = {
        variable
        for variable in check.variables
        if "%" not in variable[1]
        if all(evaluate(check.condition, AtItsDefault(registry, variable)) is False for registry in registries)
    }
    assert check.needs == needed, f'"needs": {json.dumps([".".join(variable) for variable in sorted(needed)])}'


def test_with_a_registry_of_ones_own_no_default_is_taken_for_granted(tmp_path):
    document = shipped("icon", "2024.10.json")
    document["groups"]["grid_nml"]["variables"]["l_scm_mode"]["default"] = True
    own = tmp_path / "own.json"
    own.write_text(json.dumps(document), encoding="utf-8")
    text = f"namelists: {{{NWP}nwp_phy_nml: {{inwp_surface: 0}}, scm_nml: {{i_scm_netcdf: 3}}}}"
    release, registry = 'model: {release: "2024.10"}\n', f"model: {{registry: {own}}}\n"
    assert judge(experiment_of(release + text, tmp_path), RULES) == []
    assert {finding.code for finding in judge(experiment_of(registry + text, tmp_path), RULES)} == {"DYN009"}


def test_every_check_has_its_rule_and_every_rule_its_checks():
    assert {check.rule for check in checks()} == {rule.code for rule in RULES}


def test_places_where_icon_ends_are_found_by_rules_that_there_are():
    document = json.loads((directory("schemas") / "icon-finish.json").read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema("icon-finish")).iter_errors(document)) == []
    codes = {rule.code for rule in all_rules()}
    verdicts = {verdict for lines in document["sites"].values() for verdict in lines.values()}
    verdicts |= {entry["found"] for entry in document["later"]}
    assert {code for verdict in verdicts - set(document["reasons"]) for code in verdict.split(",")} <= codes
    assert set(document["reasons"]) <= verdicts


def test_checks_stand_at_places_where_icon_ends():
    document = json.loads((directory("schemas") / "icon-finish.json").read_text(encoding="utf-8"))
    for check in checks():
        for place in check.source.split() if check.since is None and check.kind == "atmosphere" else ():
            file, line = place.split(":")
            if file in document["sites"]:
                assert check.rule in document["sites"][file].get(line, "").split(","), (check.name, place)


def test_what_a_later_release_refuses_besides_stands_in_the_table():
    document = json.loads((directory("schemas") / "icon-finish.json").read_text(encoding="utf-8"))
    later = {(entry["release"], code) for entry in document["later"] for code in entry["found"].split(",")}
    assert {(check.since, check.rule) for check in checks() if check.since == "2025.10"} <= later


@pytest.mark.parametrize(("coupler", "expected"), [("true", ["LND001"]), ("false", []), ("null", [])])
@pytest.mark.parametrize("whom", ["ocean", "waves"])
def test_a_single_model_is_coupled_where_its_executable_has_the_coupler(coupler, expected, whom, tmp_path):
    text = f'model: {{release: "2024.10", parts: {{coupling: {coupler}}}}}\n'
    coupled = f"coupling_mode_nml: {{coupled_to_{whom}: true}}, lnd_nml: {{ntiles: %d, sstice_mode: 1}}"
    namelists = f"namelists: {{{NWP}nwp_phy_nml: {{inwp_surface: 1}}, {coupled}}}\n"
    rule = [one for one in RULES if one.code == "LND001"]
    assert [one.code for one in judge(experiment_of(text + namelists % 1, tmp_path), rule)] == expected
    assert judge(experiment_of(text + namelists % 3, tmp_path), rule) == []


PARALLEL = "initicon_nml: {parallel_grib_decoding: true, ana_varnames_map_file: a, init_mode: 1, "
LATBC = "grid_nml: {l_limited_area: true}, limarea_nml: {itype_latbc: 1, "


@pytest.mark.parametrize(
    ("namelists", "expected"),
    [
        (PARALLEL + "lread_ana: false, dwdfg_filename: fg.grb}", []),
        (PARALLEL + "lread_ana: false, dwdfg_filename: fg.nc}", ["INI001"]),
        (PARALLEL + "lread_ana: false}", ["INI001"]),
        (PARALLEL + "lread_ana: true, dwdfg_filename: fg.grib, dwdana_filename: a.grb2}", []),
        (PARALLEL + "lread_ana: true, dwdfg_filename: fg.grib, dwdana_filename: grb2.nc}", ["INI001"]),
        ("initicon_nml: {dwdfg_filename: fg.nc}", []),
        (LATBC + "dtime_latbc: [3600.0]}", []),
        (LATBC + "dtime_latbc: [3600.0, 7200.0]}", ["LBC001"]),
        (LATBC + "dtime_latbc: [3600.0, 7200.0], bcintv_endtime: [86400.0]}", []),
    ],
)
def test_what_the_newest_release_refuses(namelists, expected, tmp_path):
    assert codes(namelists, tmp_path, release="2025.10") == expected


@pytest.mark.parametrize(
    ("coupled", "radiation", "expected"),
    [
        ("coupled_to_aero: true", "irad_aero: 13", []),
        ("coupled_to_aero: true", "irad_aero: 19", []),
        ("coupled_to_aero: true", "irad_aero: 12", ["PHY002"]),
        ("coupled_to_aero: false", "irad_aero: 12", []),
        ("coupled_to_o3: true", "irad_o3: 5", []),
        ("coupled_to_o3: true", "irad_o3: 7", ["PHY002"]),
        ("coupled_to_o3: false", "irad_o3: 7", []),
    ],
)
def test_what_the_coupler_brings_is_taken_by_the_radiation(coupled, radiation, expected, tmp_path):
    rule = [one for one in RULES if one.code == "PHY002"]
    for release, coupler, found in (("2025.10", "true", expected), ("2025.10", "false", []), ("2025.04", "true", [])):
        namelists = f"run_nml: {{iforcing: 3}}, nwp_phy_nml: {{inwp_radiation: 4}}, radiation_nml: {{{radiation}}}"
        text = f'model: {{release: "{release}", parts: {{coupling: {coupler}}}}}\n'
        text += f"namelists: {{coupling_mode_nml: {{{coupled}}}, {namelists}}}\n"
        assert [finding.code for finding in judge(experiment_of(text, tmp_path), rule)] == found


@rows(
    ("shape", "is_refused"),
    [
        ("nu_r: -900.0", False),
        ("nu_r: -899.0", True),
        ("nu_r: -1.0", True),
        ("nu_r: -0.9", False),
        ("nu_r: 126.0", False),
        ("nu_r: 127.0", True),
        ("nu_g: -1.0", True),
        ("nu_g: 127.0", False),
        ("nu_g: 128.0", True),
        ("nu_g: 127.0, mu_g: 0.1", True),
        ("nu_g: -1.5, mu_g: -0.3", False),
        ("nu_g: -0.5, mu_g: -0.3", True),
        ("mu_g: 0.007", True),
        ("mu_g: 0.008", False),
        ("mu_g: -0.3", True),
        ("mu_g: -900.0", False),
        ("nu_h: -1.0", True),
        ("nu_h: 128.0", False),
        ("nu_h: 129.0", True),
        ("nu_h: 129.0, mu_h: 1.0", False),
        ("nu_h: 10.0, mu_h: 0.02", True),
        ("mu_h: 0.005", True),
        ("mu_h: 0.006", False),
        ("nu_i: -1.5", False),
        ("nu_s: 200.0", False),
    ],
)
def test_shapes_of_particles_have_gamma_functions(shape, is_refused, tmp_path):
    for scheme, expected in ((3, False), (4, is_refused), (7, is_refused), (8, False)):
        namelists = f"run_nml: {{iforcing: 3}}, nwp_phy_nml: {{inwp_gscp: {scheme}}}, twomom_mcrph_nml: {{{shape}}}"
        found = judge(experiment_of(f"namelists: {{{namelists}}}\n", tmp_path), RULES)
        assert any("gamma" in one.message for one in found) is expected


@pytest.mark.parametrize(
    ("forcing", "surface", "seed", "restart", "is_refused"),
    [
        (3, 0, 1, "false", True),
        (3, 0, -1, "false", True),
        (3, 0, 0, "false", False),
        (3, 1, 1, "false", False),
        (3, 0, 1, "true", False),
        (2, 0, 1, "false", False),
        (0, 0, 1, "false", False),
    ],
)
def test_noise_needs_a_soil(forcing, surface, seed, restart, is_refused, tmp_path):
    namelists = f"initicon_nml: {{pinit_seed: {seed}}}, nwp_phy_nml: {{inwp_surface: {surface}}}, "
    namelists += f"run_nml: {{iforcing: {forcing}}}, master_nml: {{lrestart: {restart}}}"
    found = judge(experiment_of(f"namelists: {{{namelists}}}\n", tmp_path), RULES)
    assert any("noise" in one.message for one in found) is is_refused


@pytest.mark.parametrize(
    ("fortran", "expected"),
    [
        ((), Severity.WARNING),
        (("gfortran",), Severity.ERROR),
        (("nvhpc",), Severity.WARNING),
        (("gfortran", "nvhpc"), Severity.WARNING),
    ],
)
def test_what_one_runtime_stops_at_is_an_error_where_it_is_the_sites(fortran, expected, tmp_path):
    """ICON's own exp.exclaim_ape_R02B04 has this seed; it is for GPUs, and compiled by another than gfortran."""
    text = "namelists: {initicon_nml: {pinit_seed: -1}, nwp_phy_nml: {inwp_surface: 0}, run_nml: {iforcing: 3}}\n"
    experiment = experiment_of(text, tmp_path)
    found = judge(evolve(experiment, machine=evolve(experiment.machine, fortran=fortran)), RULES)
    (noise,) = (one for one in found if "noise" in one.message)
    assert noise.severity is expected
    assert any("gfortran" in note for note in noise.notes) is (expected is Severity.WARNING)


@pytest.mark.parametrize(
    ("settings", "is_refused"),
    [
        ("'aes_vdf_config(1)%turb': 0", True),
        ("'aes_vdf_config(1)%turb': 1", False),
        ("'aes_vdf_config(1)%turb': 2", False),
        ("'aes_vdf_config(1)%turb': 3", True),
        ("'aes_vdf_config(1)%turb': 3, 'aes_vdf_config(1)%use_tmx': true", False),
    ],
)
def test_turbulence_without_coefficients(settings, is_refused, tmp_path):
    for interval, expected in (("PT10M", is_refused), ("PT0S", False)):
        mixing = f"aes_phy_nml: {{'aes_phy_config(1)%dt_vdf': {interval}}}, aes_vdf_nml: {{{settings}}}"
        text = f"namelists: {{run_nml: {{iforcing: 2}}, {mixing}}}\n"
        found = judge(experiment_of(text, tmp_path), RULES)
        assert any("no such turbulence" in one.message for one in found) is expected


@rows(
    ("levels", "lower", "upper", "expected"),
    [
        (3, 1001, 1001, []),
        (3, 999, 1001, ["minwmo"]),
        (3, 1001, 999, ["maxwmo"]),
        (3, 999, 999, ["maxwmo"]),
        (2, 1499, 1501, ["minwmo"]),
        (2, 1501, 1501, []),
        (1, 99999, 99999, ["maxwmo"]),
    ],
)
@rows("forcing", [2, 3])
def test_the_tropopause_is_looked_for_above_the_two_lowest_levels(levels, lower, upper, expected, forcing, tmp_path):
    # three levels of 2000/3 m each: the second lowest is 1000 m high; of two, 1500 m
    namelists = (
        f"run_nml: {{iforcing: {forcing}, num_lev: {levels}}}, sleve_nml: {{min_lay_thckn: 0, top_height: 2000.0}}, "
    )
    heights = f"'aes_wmo_config(1)%zminwmo': {lower}.0, 'aes_wmo_config(1)%zmaxwmo': {upper}.0"
    text = f"namelists: {{{namelists}aes_wmo_nml: {{{heights}}}}}\n"
    found = judge(experiment_of(text, tmp_path), RULES)
    named = ["maxwmo" if "%zmaxwmo" in one.message else "minwmo" for one in found if "tropopause" in one.message]
    assert named == (expected if forcing == 2 else [])


@rows("variable", ["dust", "seas", "anthro", "fire"])
@rows(("turbulence", "is_refused"), [(1, False), (3, False), (4, True), (5, True), (6, False)])
def test_prognostic_aerosol_does_not_go_with_eddies(variable, turbulence, is_refused, tmp_path):
    physics = "".join(f"i2daero_{one}: 1, " for one in sorted({"anthro", variable})) + f"inwp_turb: {turbulence}"
    text = f"run_nml: {{iforcing: 3}}, radiation_nml: {{irad_aero: 6}}, nwp_phy_nml: {{{physics}}}"
    rule = [one for one in RULES if one.code == "PHY001"]
    model = f'model: {{release: "2025.10"}}\nnamelists: {{{text}}}\n'
    found = [finding.message for finding in judge(experiment_of(model, tmp_path), rule)]
    assert any(f"i2daero_{variable}" in one and "LES" in one for one in found) is is_refused


@pytest.mark.parametrize("forcing", [0, 1, 2, 3])
def test_defaults_pass(forcing, tmp_path):
    surface = ", nwp_phy_nml: {inwp_surface: 0}"
    assert codes(f"run_nml: {{iforcing: {forcing}, ntracer: 3, ltransport: true}}{surface}", tmp_path) == []


@rows(
    ("namelists", "expected"),
    [
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_satad: 0}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_satad: 0, inwp_gscp: 8}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_satad: 0, inwp_gscp: 0, inwp_convection: 0}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_satad: 0, inwp_gscp: 0, inwp_convection: 1}", ["PHY001"]),
        ("nwp_phy_nml: {inwp_satad: 0}", []),  # not read
        *[(f"{NWP}{SEA}: {mode}}}", ["LND001"]) for mode in (0, 5, 7)],
        *[(f"{NWP}{SEA}: {mode}}}", []) for mode in (1, 2, 4, 6)],
        (f"{SEA}: 5}}", []),  # not read
        (f"{NWP}{SEA}: 3}}, extpar_nml: {{itopo: 0}}", ["LND001"]),
        (f"{NWP}{SEA}: 3}}, extpar_nml: {{itopo: 0}}, radiation_nml: {{irad_o3: 2}}", []),
        (f"{NWP}{SEA}: 3}}, extpar_nml: {{itopo: 1}}", []),
        *[(f"extpar_nml: {{itopo: {itopo}}}", codes) for itopo, codes in ((0, []), (1, []), (2, ["DYN009"]))],
        *[(f"{GRAVITY}.{tenths}}}, {STILL}", codes) for tenths, codes in ((0, []), (5, ["DYN009"]))],
        (f"{GRAVITY}.5}}", []),
        *[
            (f"{TRACER}{kind}]}}, {MOVED}", codes)
            for kind, codes in ((1, []), (4, []), (0, ["DYN009"]), (5, ["DYN009"]))
        ],
        (f"{TRACER.replace('jabw', 'pa')}5]}}, {MOVED}", []),
        (f"{TRACER}5]}}, {MOVED.replace('1', '0')}", []),
        (f"{TRACER}5]}}", []),
        *[
            (f"{LIMITED}{layers}}}", codes)
            for layers, codes in (
                ("nlayers_nconst: 3", []),
                ("nlayers_nconst: 4", ["DYN009"]),  # the height of the fourth is 1 m
                ("nlayers_nconst: 4, h_nconst: [0, 1, 2]", ["DYN009"]),
                ("nlayers_nconst: 4, h_nconst: [0, 1, 2, 2]", []),
                (f"nlayers_nconst: 10, h_nconst: {TEN}", []),
                (f"nlayers_nconst: 11, h_nconst: {TEN}", ["DYN009"] * 2),
                ("n_nconst: [0.01, 0.0]", ["DYN009"]),
                ("n_nconst: [0.01, 0.001]", []),
                ("nlayers_linwind: 0", ["DYN009"]),
                ("nlayers_linwind: 1", []),
                ("nlayers_linwind: 0, itype_anaprof_uv: 2", []),
                ("h_linwind: [35000.0, 40000.0]", []),  # as high as the preset's model
                ("h_linwind: [35000.1, 40000.0]", ["DYN009"]),
                ("h_linwind: [35000.1, 40000.0], itype_anaprof_uv: 2", []),
            )
        ],
        (f"{LIMITED}itype_atmo_ana: 1}}".replace("ntracer: 1", "ntracer: 0"), ["DYN009"]),
        (f"{POLYTROPIC}n_nconst: 0.0}}".replace("ntracer: 1", "ntracer: 0"), []),
        *[
            (f"{POLYTROPIC}{layers}}}", codes)
            for layers, codes in (
                ("nlayers_poly: 2", []),
                ("nlayers_poly: 3", ["DYN009"]),
                (f"nlayers_poly: 10, h_poly: {TEN}", []),
                (f"nlayers_poly: 11, h_poly: {TEN}", ["DYN009"] * 2),
                ("h_poly: [0, 32000]", []),
                ("h_poly: [0, 32001]", ["DYN009"]),
                ("h_poly: [0, 32001], tgr_poly: 0.0", []),
                ("h_poly: [0, 32001], nlayers_poly: 1", ["DYN009"]),  # below the top at 35 km it is as cold
                ("h_poly: [0, 32001], nlayers_poly: 1, tgr_poly: 0.008", []),
                ("h_poly: 0, nlayers_poly: 3", ["DYN009"]),  # the default of the third height is 1 m
                ("h_poly: 12001", ["DYN009"]),
                ("h_poly: 12000", []),
                ("tgr_poly: 0.010", []),
                ("tgr_poly: [0.009, 0.010]", ["DYN009"]),  # 12000 m + 213 K / 0.010 K/m
                ("tgr_poly: [0.009, 0.010], nlayers_poly: 1", ["DYN009"]),  # 288 K / 0.009 K/m
                ("tgr_poly: [0.008, 0.010], nlayers_poly: 1", []),
                ("tgr_poly: [0.009, 0.0]", []),
                ("tgr_poly: [0.009, -0.010]", []),
            )
        ],
        *[
            (f"{POLYTROPIC}tgr_poly: [0.009, 0.010]}}, sleve_nml: {{min_lay_thckn: 0.0, top_height: {top}}}", codes)
            for top, codes in (
                (33860.0, []),  # the highest of 30 levels is a sixtieth lower
                (33870.0, ["DYN009"]),
            )
        ],
        *[
            (f"{NWP}{COLUMN}{surface}}}", codes)
            for surface, codes in (
                *[(f"temp: {value}", []) for value in (1, 2, 4, 5)],
                *[(f"temp: {value}", ["DYN009"]) for value in (3, 6)],
                *[(f"qv: {value}", []) for value in (1, 3, 5)],
                ("qv: 6", ["DYN009"]),
                ("mom: 1", []),  # nobody looks
                ("mom: 1, scm_sfc_qv: 2", ["DYN009"]),
                *[(f"mom: {value}", []) for value in (2, 4, 5)],
                *[(f"mom: {value}", ["DYN009"]) for value in (3, 6)],
            )
        ],
        (ICE % ("APEc_nh", 3, "true", "PT10M"), ["PHY003"]),
        (ICE % ("APEc_nh", 1, "true", "PT10M"), []),
        (ICE % ("APEc_nh", 3, "false", "PT10M"), []),
        (ICE % ("APE_aes", 3, "true", "PT10M"), []),  # water alone
        (ICE % ("APEc_nh", 3, "true", "''"), []),
        (f"{CARBON}1}}, {DIFFUSED}", ["PHY003"]),
        (f"{CARBON}0}}, {DIFFUSED}", []),
        (f"{CARBON}1}}", []),
        (f"{CARBON}1}}, {DIFFUSED}, aes_vdf_nml: {{'aes_vdf_config(1)%use_tmx': true}}", []),
        (f"{CARBON}1}}, {DIFFUSED}, transport_nml: {{tracer_names: [hus, clw, cli, co2]}}", []),
        (f"{CARBON}1}}, {DIFFUSED}, transport_nml: {{tracer_names: [hus, clw, co2, cli]}}", ["PHY003"]),
        (f"{CARBON}1}}, {DIFFUSED}, transport_nml: {{tracer_names: [hus, o3, co2, cli]}}", []),
        (f"{CARBON}1}}, {DIFFUSED}, transport_nml: {{tracer_names: [hus, o3, co2, ch4]}}", []),
        *[
            (f"{GASES}[{names}]}}, aes_rad_nml: {{'aes_rad_config(1)%irad_{gas}': 1}}", codes)
            for gas, names, codes in (
                ("co2", "hus, clw, co2", []),
                ("co2", "hus, co2, clw", ["PHY003"]),
                ("o3", "hus, clw, o3", []),
                ("o3", "hus, o3, clw", ["PHY003"]),
                ("o3", "o3, co2, ch4", []),
            )
        ],
        *[
            (f"{GRAUPEL}, transport_nml: {{tracer_names: [{names}]}}", codes)
            for names, codes in (
                ("hus, qc, qi, qr, qs, qg, o3", []),
                ("hus, qc, qi, qr, qs, o3, qg", ["PHY003"]),
                ("hus, qc, qi, qr, qs, o3, co2", ["PHY003"]),
            )
        ],
        *[
            (f"{NUDGED}{start}}}, sleve_nml: {{top_height: {top}.0}}", codes)
            for start, top, codes in (
                ("", 12000, []),
                ("", 11999, ["LBC001"]),
                (", nudge_start_height: 11999.0", 11999, []),
                (", nudge_start_height: 12001.0", 12000, ["LBC001"]),
            )
        ],
        *[
            (f"{GLOBAL}{heights}}}, sleve_nml: {{top_height: {top}.0}}", codes)
            for heights, top, codes in (
                ("", 60000, []),
                (", nudge_start_height: 1000.0, nudge_end_height: 1000.0", 60000, []),
                (", nudge_start_height: 1001.0, nudge_end_height: 1000.0", 60000, ["LBC001"]),
                (", nudge_start_height: 1.0, nudge_end_height: 0.0", 60000, ["LBC001"]),
                (", nudge_start_height: 1.0, nudge_end_height: -1.0", 60000, []),  # then it ends at the top
                (", nudge_start_height: 1001.0, nudge_end_height: 999.0", 1000, []),  # then it begins at the ground
                (", nudge_start_height: 40000.0", 60000, []),
                (", nudge_start_height: 40001.0", 60000, ["LBC001"]),
                (", nudge_start_height: 40001.0", 40000, []),
                (", nudge_end_height: 2000.0", 60000, []),
                (", nudge_end_height: 1999.0", 60000, ["LBC001"]),
                (", nudge_end_height: 1999.0", 2000, ["LBC001"]),
                (", nudge_end_height: 1998.0", 1999, []),
            )
        ],
        (NWP + "nwp_phy_nml: {inwp_surface: 0, mu_rain: 5.0}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, mu_rain: 5.1}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, mu_rain: -0.1}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 3}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 0}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, turbdiff_nml: {rlam_heat: 2.5}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, turbdiff_nml: {rlam_heat: 2.4}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, turbdiff_nml: {rlam_heat: 18.75}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, turbdiff_nml: {rlam_heat: 18.8}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 1}, nh_testcase_nml: {nh_test_name: APE_nwp}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, nh_testcase_nml: {nh_test_name: APE_nwp}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, radiation_nml: {irad_aero: 9}", ["PHY002"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 0}, radiation_nml: {irad_o3: 8}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 1}, radiation_nml: {irad_o3: 8}", ["PHY002"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, lnd_nml: {zml_soil: [0.1, 0.3, 0.2]}", ["LND001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0}, lnd_nml: {zml_soil: [0.1, 0.2, 0.3]}", []),
        ("transport_nml: {ihadv_tracer: [2, 53]}", ["TRP001"]),
        ("transport_nml: {ihadv_tracer: [2, 52]}", []),
        ("transport_nml: {ihadv_tracer: 21}", []),  # only the schemes of tracers that there are
        ("run_nml: {ntracer: 1}, transport_nml: {ihadv_tracer: 21}", ["TRP001"]),
        ("transport_nml: {beta_fct: 2.0}", ["TRP001"]),
        ("transport_nml: {beta_fct: 1.0}", []),
        ('run_nml: {ntracer: 1}, transport_nml: {tracer_names: ["qv", "qc"]}', ["TRP001"]),
        ('run_nml: {ntracer: 2}, transport_nml: {tracer_names: ["qv", "qc"]}', []),
        ("initicon_nml: {init_mode: 8}", ["INI001"]),
        ("initicon_nml: {init_mode: 7}", []),
        ("initicon_nml: {icpl_da_snowalb: 1, icpl_da_sfcevap: 3}", []),
        ("initicon_nml: {icpl_da_snowalb: 1, icpl_da_sfcevap: 2}", ["INI001"]),
        ("nudging_nml: {nudge_type: 1}", []),  # without boundaries it is off
        ("nudging_nml: {nudge_type: 1}, grid_nml: {l_limited_area: true}", ["LBC001"]),
        ("limarea_nml: {itype_latbc: 1}", ["LBC001"]),
        ("limarea_nml: {itype_latbc: 1, dtime_latbc: 10800.0}", []),
        ("upatmo_nml: {solvar_type: 3}", []),
        ("upatmo_nml: {solvar_type: 4}", ["PHY004"]),
        (
            "nh_testcase_nml: {nh_test_name: CBL}, grid_nml: {is_plane_torus: true, dynamics_grid_filename: torus.nc}",
            ["DYN009"],  # grid.name says R2B5
        ),
        ("nh_testcase_nml: {nh_test_name: CBL}, run_nml: {ltestcase: false}", []),
        ("nh_testcase_nml: {nh_test_name: wk82}, run_nml: {ntracer: 0, ltransport: false}", ["DYN009"]),
        ("nh_testcase_nml: {nh_test_name: wk82}, run_nml: {ntracer: 1, ltransport: true}", []),
        ("nh_testcase_nml: {nh_test_name: wk82}, run_nml: {ntracer: 0, ltestcase: false, ltransport: false}", []),
        ("nh_testcase_nml: {nh_test_name: HS_nh}, run_nml: {ntracer: 0, ltransport: false}", []),
        ("nh_testcase_nml: {nh_test_name: PA, tracer_inidist_list: [1, 8]}, run_nml: {ntracer: 2}", []),
        ("nh_testcase_nml: {nh_test_name: PA, tracer_inidist_list: [3, 9]}, run_nml: {ntracer: 2}", ["DYN009"]),
        ("nh_testcase_nml: {nh_test_name: PA}, run_nml: {ntracer: 2}", ["DYN009"]),
        ("nh_testcase_nml: {nh_test_name: PA, tracer_inidist_list: 4}, run_nml: {ntracer: 0}", ["DYN009"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 1, icalc_reff: 1}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 1, icalc_reff: 2}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 2, icalc_reff: 2}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 2, icalc_reff: 4}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 4, icalc_reff: 4}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 1, icalc_reff: 8}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_gscp: 1, icalc_reff: 100}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 9}", ["PHY001"]),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 10}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 12}", []),
        (NWP + "nwp_phy_nml: {inwp_surface: 0, inwp_turb: 13}", ["PHY001"]),
        ("diffusion_nml: {lhdiff_q: true}, run_nml: {iforcing: 0, ntracer: 0}", ["TRP001"]),
        ("diffusion_nml: {lhdiff_q: true}, run_nml: {iforcing: 1, ntracer: 0}", ["TRP001"]),
        ("diffusion_nml: {lhdiff_q: true}, run_nml: {iforcing: 0, ntracer: 1}", []),
        ("diffusion_nml: {lhdiff_q: true}, run_nml: {iforcing: 2, ntracer: 0}", []),
        ("diffusion_nml: {lhdiff_q: false}, run_nml: {iforcing: 0, ntracer: 0}", []),
        ("run_nml: {num_lev: 1}", ["DYN009"]),
        ("run_nml: {num_lev: 2}", []),
        ("run_nml: {num_lev: 1}, sleve_nml: {itype_laydistr: 2}", []),
        ("meteogram_output_nml: {lmeteogram_enabled: true}, run_nml: {output: [totint]}", ["RUN007"]),
        ("meteogram_output_nml: {lmeteogram_enabled: true}, run_nml: {output: [totint, nml], ltestcase: false}", []),
        ("meteogram_output_nml: {lmeteogram_enabled: true}, run_nml: {output: nml, ltestcase: true}", ["RUN007"]),
    ],
)
def test_both_sides(namelists, expected, tmp_path):
    assert codes(namelists, tmp_path) == expected


@pytest.mark.parametrize(
    ("namelists", "said", "shown"),
    [
        ("transport_nml: {ihadv_tracer: [2, 53]}", "ihadv_tracer 53", "53"),
        ("transport_nml: {ihadv_tracer: 54}, run_nml: {ntracer: 1}", "ihadv_tracer 54", "54"),
        (f"{POLYTROPIC}h_poly: [0, 2, 1], nlayers_poly: 3}}", "h_poly 2", "2"),
        (f"{POLYTROPIC}nlayers_poly: 3}}", "h_poly 12000", "3"),
    ],
)
def test_a_finding_names_the_element_that_is_wrong(namelists, said, shown, tmp_path):
    text = f'model: {{release: "2024.10"}}\nnamelists: {{{namelists}}}\n'
    (finding,) = judge(experiment_of(text, tmp_path), RULES)
    assert finding.message.startswith(f"{said}: ")
    assert finding.span.text == shown


@pytest.mark.parametrize(("shift", "expected"), [(0, []), (6, []), (7, ["RUN007"]), (8, ["RUN007"])])
def test_one_rank_is_not_left_alone(shift, expected, tmp_path):
    job = "job: {nodes: 1, ntasks_per_node: 8}\nparallel: {num_io_procs: 0, nproma: 16}"
    output = "output: {atm: {stream_partitions_ml: 1}}"
    assert codes(f"parallel_nml: {{proc0_shift: {shift}}}", tmp_path, f"{job}\n{output}") == expected


@pytest.mark.parametrize(("tasks", "expected"), [(1, []), (2, ["RUN007"])])
def test_one_rank_exchanges_nothing(tasks, expected, tmp_path):
    job = f"job: {{nodes: 1, ntasks_per_node: {tasks}}}\nparallel: {{num_io_procs: 0, nproma: 16}}"
    assert codes("parallel_nml: {iorder_sendrecv: 4}", tmp_path, job) == expected


def ocean(groups, tmp_path, ranks=1, output="zos", rules=RULES, checkpoint="PT12H", prefetching=0):
    """An ocean alone, without forcing, with these of its groups changed."""
    document = safe_load((Path(__file__).parents[3] / "rules" / "example-coupled.yaml").read_text(encoding="utf-8"))
    del document["models"]["atm"], document["coupling"]
    component = document["models"]["oce"]
    del component["tasks"], component["namelists"]["coupling_mode_nml"]
    document["site"] = str(Path(__file__).parents[3] / "rules" / "example-site.yaml")
    document["time"] = {"start": "2008-09-01T00:00:00Z", "stop": "2008-09-11T00:00:00Z"}
    document["restart"] = {"checkpointTimeIntval": checkpoint, "restartTimeIntval": "P20D"}
    component["output"]["ml"]["ml_varlist"] = [output]
    component["parallel"] |= {"num_io_procs": ranks, "num_prefetch_proc": prefetching}
    for group, values in {"ocean_forcing_nml": {"iforc_oce": 10}, **groups}.items():
        component["namelists"].setdefault(group, {}).update(values)
    path = tmp_path / "ocean.yaml"
    path.write_text(safe_dump(document), encoding="utf-8")
    return [finding.code for finding in judge(load_spec(path).experiment, rules)]


def ocean_codes(namelists, tmp_path, output="zos", rules=RULES):
    """What is found in an ocean alone; of a group the part of its name that tells is enough."""
    groups = {f"ocean_{group}_nml": values for group, values in safe_load(f"{{{namelists}}}").items()}
    return ocean(groups, tmp_path, output=output, rules=rules)


@rows(
    ("namelists", "accepted"),
    [
        ("forcing: {iforc_oce: 10}", True),
        ("forcing: {iforc_oce: 13}", False),
        ("vertical_diffusion: {ppscheme_type: 3}", True),
        ("vertical_diffusion: {ppscheme_type: 2}", False),
        ("vertical_diffusion: {ppscheme_type: 2, vert_mix_type: 2}", True),
        ("vertical_diffusion: {vert_mix_type: 3}", False),
        ("vertical_diffusion: {vert_mix_type: 2, c_k: 1.5}", True),
        ("vertical_diffusion: {vert_mix_type: 2, c_k: 1.6}", False),
        ("vertical_diffusion: {c_k: 1.6}", True),
        ("vertical_diffusion: {vert_mix_type: 2, mxl_min: 1.0e-12}", True),
        ("vertical_diffusion: {vert_mix_type: 2, mxl_min: 1.0e-13}", False),
        ("tracer_transport: {flux_calculation_horz: 1}", True),
        ("tracer_transport: {flux_calculation_horz: 2}", False),
        ("tracer_transport: {fct_limiter_horz: 101}", False),
        ("tracer_transport: {fct_limiter_horz: 101, flux_calculation_horz: 1}", True),
        ("tracer_transport: {fct_low_order_flux: 4}", False),
        ("tracer_transport: {no_tracer: 5}", False),
        ("tracer_transport: {no_tracer: 3}", False),
        ("tracer_transport: {no_tracer: 4}, diagnostics: {diagnose_age: true}", False),
        ("tracer_transport: {no_tracer: 4}, diagnostics: {diagnose_age: true, diagnose_green: true}", True),
        ("tracer_transport: {no_tracer: 3}, diagnostics: {diagnose_age: true}", True),
        ("tracer_transport: {no_tracer: 2}, diagnostics: {diagnose_age: true}", False),
        ("tracer_transport: {no_tracer: 3}, diagnostics: {diagnose_age: true, diagnose_green: true}", False),
        ("horizontal_diffusion: {velocitydiffusion_order: 2}", True),
        ("horizontal_diffusion: {velocitydiffusion_order: 3}", False),
        ("horizontal_diffusion: {harmonicviscosity_scaling: 11}", False),
        ("horizontal_diffusion: {biharmonicviscosity_scaling: 11}", True),
        ("dynamics: {vert_cor_type: 1, select_lhs: 1}", True),
        ("dynamics: {vert_cor_type: 1, select_lhs: 2}", False),
        ("dynamics: {select_lhs: 2}", True),
        ("dynamics: {vert_cor_type: 1, l_lhs_direct: true}", False),
        ("dynamics: {l_lhs_direct: true}", True),
        ("dynamics: {l_lhs_direct: true, select_transfer: 2}", False),
        ("dynamics: {select_transfer: 2}", True),
        ("dynamics: {l_lhs_direct: true, select_solver: 9}", False),
        ("dynamics: {select_solver: 9}", True),
        ("dynamics: {select_solver: 7, select_transfer: -2}", False),
        ("dynamics: {select_solver: 7}", True),
        ("gentmcwilliamsredi: {gmredi_configuration: 1, tapering_scheme: 3}", False),
        ("gentmcwilliamsredi: {gmredi_configuration: 1, tapering_scheme: 2}", True),
        ("gentmcwilliamsredi: {tapering_scheme: 3}", True),
        ("dynamics: {kineticenergy_type: 201}", True),
        ("dynamics: {kineticenergy_type: 1}", False),
        ("initialconditions: {initial_temperature_type: 213}", True),
        ("initialconditions: {initial_temperature_type: 214}", False),
        ("initialconditions: {initial_salinity_type: 401}", True),
        ("initialconditions: {initial_salinity_type: 400}", False),
        ("forcing: {iforc_oce: 10, use_tides: true, tides_mod: 2}", False),
        ("forcing: {iforc_oce: 10, tides_mod: 2}", True),
        ("forcing: {iforc_oce: 10}, physics: {i_sea_ice: 0}", True),
        ("forcing: {iforc_oce: 11}, physics: {i_sea_ice: 0}", False),
        ("forcing: {iforc_oce: 11}, physics: {i_sea_ice: 1}", True),
        ("forcing: {iforc_oce: 11, heatflux_forcing_on_sst: false}, physics: {i_sea_ice: 0}", True),
        ("forcing: {iforc_oce: 11}, physics: {i_sea_ice: 0}, dynamics: {vert_cor_type: 1}", True),
        ("forcing: {iforc_oce: 12}", False),
        ("forcing: {iforc_oce: 12, forcing_fluxes_type: 1}", True),
        ("forcing: {iforc_oce: 12, forcing_windstress_u_type: 1}", False),
        ("forcing: {iforc_oce: 12, forcing_windstress_u_type: 1, forcing_windstress_v_type: 1}", True),
        ("dynamics: {n_zlev: 1}", False),
        ("dynamics: {n_zlev: 1, iswm_oce: 1}", True),
        ("dynamics: {n_zlev: 2}", True),
        ("dynamics: {n_zlev: 1, iswm_oce: 1, dzlev_m: [0.0]}", True),
        ("dynamics: {n_zlev: 2, dzlev_m: [0.0, 10.0]}", False),
        ("tracer_transport: {no_tracer: 0}", False),
        ("tracer_transport: {no_tracer: 1}", True),
        ("tracer_transport: {no_tracer: 0}, physics: {eos_type: 4}", False),
        ("tracer_transport: {no_tracer: 0}, dynamics: {n_zlev: 1, iswm_oce: 1}", False),
        ("tracer_transport: {no_tracer: 0}, physics: {eos_type: 4}, dynamics: {n_zlev: 1, iswm_oce: 1}", True),
        ("tracer_transport: {no_tracer: 1}, physics: {eos_type: 10}", False),
        ("tracer_transport: {no_tracer: 1}, physics: {eos_type: 3}", True),
        ("tracer_transport: {no_tracer: 2}, physics: {eos_type: 10}", True),
    ],
)
def test_both_sides_of_the_ocean(namelists, accepted, tmp_path):
    assert ocean_codes(namelists, tmp_path) == ([] if accepted else ["OCE001"])


@pytest.mark.parametrize(
    ("name", "switch"),
    [
        ("age_tracer", "diagnostics: {diagnose_age: true}, tracer_transport: {no_tracer: 3}"),
        ("k_tracer_h_green_tracer", "diagnostics: {diagnose_green: true}, tracer_transport: {no_tracer: 3}"),
        ("dic", "physics: {lhamocc: true}"),
    ],
)
def test_what_an_ocean_has_only_if_it_is_switched_on(name, switch, tmp_path):
    rules = [rule for rule in all_rules() if rule.code == "OUT027"]
    assert ocean_codes(switch, tmp_path, name, rules) == []
    assert ocean_codes("", tmp_path, name, rules) == ["OUT027"]


@pytest.mark.parametrize(
    ("ice", "moves", "checkpoint", "expected"),
    [
        (0, 1, "P1D", ["OCE001"]),
        (0, 1, "P10D", ["OCE001"]),
        (0, 1, "P11D", []),  # the experiment ends before, and nothing is written
        (0, 0, "P1D", []),
        (1, 1, "P1D", []),
    ],
)
def test_ice_moves_where_there_is_ice(ice, moves, checkpoint, expected, tmp_path):
    groups = {"ocean_physics_nml": {"i_sea_ice": ice}, "sea_ice_nml": {"i_ice_dyn": moves}}
    assert ocean(groups, tmp_path, checkpoint=checkpoint) == expected


@pytest.mark.parametrize(("shift", "operators", "expected"), [(1, 1, ["OCE001"]), (1, 2, []), (0, 1, [])])
def test_a_rank_without_cells_has_no_operators(shift, operators, expected, tmp_path):
    solver = {"select_solver": 4, "select_lhs": operators}
    assert ocean({"parallel_nml": {"proc0_shift": shift}, "ocean_dynamics_nml": solver}, tmp_path) == expected


@pytest.mark.parametrize(("checkpoint", "expected"), [("P10D", ["OCE001"]), ("P11D", [])])
def test_a_tracer_without_a_name_fails_in_the_checkpoint(checkpoint, expected, tmp_path):
    assert ocean({"ocean_tracer_transport_nml": {"no_tracer": 3}}, tmp_path, checkpoint=checkpoint) == expected


@pytest.mark.parametrize(
    ("prefetching", "checkpoint", "test", "expected"),
    [
        (1, "P10D", 0, ["OCE001"]),
        (1, "P11D", 0, ["OCE002"]),  # the experiment ends before, and ICON takes it
        (1, "P10D", 1, ["OCE002"]),  # a test of the ocean, which may write none
        (0, "P10D", 0, []),
        (0, "P11D", 0, []),
    ],
)
def test_a_rank_that_prefetches_for_an_ocean_fails_in_its_checkpoint(prefetching, checkpoint, test, expected, tmp_path):
    groups = {"run_nml": {"test_mode": test}}
    assert ocean(groups, tmp_path, checkpoint=checkpoint, prefetching=prefetching) == expected


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"gribout_nml": {"preset": "deterministic", "typeofgeneratingprocess": 3}}, ["RUN007"]),
        ({"gribout_nml": {"preset": "deterministic", "typeofgeneratingprocess": 2}}, []),
        ({"parallel_nml": {"proc0_shift": 253}, "ocean_dynamics_nml": {"select_lhs": 2}}, []),
        ({"parallel_nml": {"proc0_shift": 254}, "ocean_dynamics_nml": {"select_lhs": 2}}, ["RUN007"]),
    ],
)
def test_an_ocean_reads_what_all_models_read(groups, expected, tmp_path):
    """Of its 256 ranks one writes."""
    assert ocean({"ocean_dynamics_nml": {}} | groups, tmp_path) == expected


@pytest.mark.parametrize(("levels", "expected"), [("1", ["WAV001"]), ("[1, 1]", []), ("[1, 2]", ["WAV001"])])
def test_waves_have_one_level_in_every_domain(levels, expected, tmp_path):
    groups = {
        "master_model_nml": "{model_type: 98}",
        "grid_nml": "{dynamics_grid_filename: [a.nc, b.nc]}",
        "run_nml": f"{{num_lev: {levels}, ntracer: 24, ltestcase: true}}",
        "wave_nml": "{nfreqs: 4, ndirs: 6}",
        "nonhydrostatic_nml": "null",
        "nh_testcase_nml": "null",
        "sleve_nml": "null",
    }
    namelists = ", ".join(f"{group}: {values}" for group, values in groups.items())
    more = "parallel: {num_prefetch_proc: 0, num_io_procs: 0}\noutput: null"
    assert codes(namelists, tmp_path, more) == expected


def test_the_boundary_is_masked_by_io_ranks_in_every_model(tmp_path):
    masked = {"io_nml": {"lmask_boundary": True}}
    assert ocean(masked, tmp_path, ranks=0) == ["RUN007"]
    assert ocean(masked, tmp_path, ranks=1) == []


@pytest.mark.parametrize(("release", "expected"), [("2024.10", ["PHY002"]), ("2025.04", [])])
def test_checks_belong_to_releases(release, expected):
    found = [c for c in checks() if c.name == "irad_aero" and c.is_made_by(release) and " 3," not in c.condition]
    assert bool([c for c in found if "[0, 2, 6, 7, 8, 9," in c.condition]) == bool(expected)


@pytest.mark.parametrize(
    ("built_in", "kind", "expected"),
    [
        ("true", 2, ["PHY001"]),
        ("true", 1, []),
        ("true", 6, []),
        ("true", 7, ["PHY001"]),
        ("false", 2, []),
        ("null", 2, []),
    ],
)
def test_ways_to_compute_reflectivity_are_looked_at_where_the_radar_operator_is_built_in(
    built_in, kind, expected, tmp_path
):
    text = f'model: {{release: "2024.10", parts: {{emvorado: {built_in}}}}}\n'
    text += f'namelists: {{synradar_nml: {{"synradar_meta%itype_refl": {kind}}}}}\n'
    assert [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)] == expected


@pytest.mark.parametrize(
    ("gscp", "ice", "aerosol", "expected"),
    [(1, 1, 2, ["PHY001"]), (2, 1, 9, ["PHY001"]), (1, 1, 6, []), (1, 1, 8, []), (1, 0, 2, []), (4, 1, 2, [])],
)
def test_ice_nuclei_need_dust_without_radiation_too(gscp, ice, aerosol, expected, tmp_path):
    schemes = f"inwp_radiation: 0, inwp_surface: 0, inwp_gscp: {gscp}, icpl_aero_ice: {ice}"
    namelists = f"{NWP} nwp_phy_nml: {{{schemes}}}, radiation_nml: {{irad_aero: {aerosol}}}"
    found = judge(experiment_of(f'model: {{release: "2024.10"}}\nnamelists: {{{namelists}}}\n', tmp_path), RULES)
    assert [finding.code for finding in found if "icpl_aero_ice" in finding.message] == expected


@pytest.mark.parametrize(
    ("forcing", "name", "temperatures", "test", "count"),
    [
        (3, "APE_nwp", "sst9", "true", 1),
        (3, "APE_nwp", "sst4", "true", 0),
        (3, "APE_nwp", "sst_qobs", "true", 0),
        (3, "APE_nwp", "sst9", "false", 0),
        (3, "jabw", "sst9", "true", 0),
        (2, "APEc_nh", "sst9", "true", 1),
        (2, "APEc_nh", "sst_const", "true", 0),
        (2, "APE_nwp", "sst9", "true", 0),
        (0, "APE_nwp", "sst9", "true", 0),
    ],
)
def test_names_of_distributions_of_sea_surface_temperatures(forcing, name, temperatures, test, count, tmp_path):
    text = f"run_nml: {{iforcing: {forcing}, ltransport: true, ltestcase: {test}}}, nwp_phy_nml: {{inwp_surface: 0}}, "
    text += f"nh_testcase_nml: {{nh_test_name: {name}, ape_sst_case: {temperatures}}}"
    found = judge(experiment_of(f'model: {{release: "2024.10"}}\nnamelists: {{{text}}}\n', tmp_path), RULES)
    assert sum("ape_sst_case" in finding.message for finding in found) == count


AMIP = "run_nml: {{iforcing: 2, ltransport: true, ntracer: 3, ltestcase: {test}}}, "
AMIP += "nh_testcase_nml: {{nh_test_name: {name}}}, "
AMIP += 'aes_phy_nml: {{"aes_phy_config(1)%lamip": true, "aes_phy_config(1)%lsstice": {hourly}, '
AMIP += '"aes_phy_config(1)%dt_vdf": {step}}}'


@pytest.mark.parametrize(
    ("test", "name", "hourly", "step", "release", "expected"),
    [
        ("true", "APE_aes", "true", "PT10M", "2024.10", ["PHY003"]),
        ("true", "APE_aes", "true", "PT10M", "2025.04", ["PHY003"]),
        ("true", "APE_aes", "true", "PT10M", "2025.10", []),
        ("true", "APE_aes", "false", "PT10M", "2024.10", []),
        ("false", "APE_aes", "true", "PT10M", "2024.10", []),
        ("true", "aes_bubble_land", "true", "PT10M", "2024.10", []),
        ("true", "APE_aes", "true", '""', "2024.10", []),
    ],
)
def test_a_test_case_opens_no_hourly_temperatures_of_the_sea(test, name, hourly, step, release, expected, tmp_path):
    namelists = AMIP.format(test=test, name=name, hourly=hourly, step=step)
    assert codes(namelists, tmp_path, release=release) == expected


@pytest.mark.parametrize(
    ("gridref", "more", "release", "expected"),
    [
        ("grf_intmethod_c: 1", "", "2024.10", ["GRD006"]),
        ("grf_intmethod_c: 2", "", "2024.10", []),
        ("grf_intmethod_ct: 1", "run_nml: {ltransport: true, iforcing: 2, ntracer: 3}", "2024.10", ["GRD006"]),
        ("grf_intmethod_ct: 1", "run_nml: {ltransport: false, iforcing: 0}", "2024.10", []),
        ("grf_intmethod_c: 1", "", "2025.04", []),  # nobody has looked
    ],
)
def test_nothing_is_copied_into_a_nest(gridref, more, release, expected, tmp_path):
    nest = "grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}"
    given = ", ".join(part for part in (nest, f"gridref_nml: {{{gridref}}}", more) if part)
    assert [code for code in codes(given, tmp_path, release=release) if code == "GRD006"] == expected
    alone = ", ".join(part for part in (f"gridref_nml: {{{gridref}}}", more) if part)
    assert "GRD006" not in codes(alone, tmp_path, release=release)


@pytest.mark.parametrize(
    ("grid", "more", "expected"),
    [
        ("ifeedback_type: 1", "run_nml: {iforcing: 0}", ["GRD006"]),
        ("ifeedback_type: 1, lfeedback: [true]", "run_nml: {iforcing: 2, ltransport: true}", ["GRD006"]),
        ("ifeedback_type: 1", "run_nml: {iforcing: 3, ltransport: true}", []),
        ("ifeedback_type: 2", "run_nml: {iforcing: 0}", []),
        ("ifeedback_type: 1, lfeedback: [false]", "run_nml: {iforcing: 0}", []),
        ("ifeedback_type: 1, start_time: [0, 1.e9]", "run_nml: {iforcing: 0}", []),
    ],
)
def test_feedback_by_increments_needs_the_ground(grid, more, expected, tmp_path):
    given = f"grid_nml: {{dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc], {grid}}}, {more}"
    assert [code for code in codes(given, tmp_path) if code == "GRD006"] == expected
    assert "GRD006" not in codes(f"grid_nml: {{{grid}}}, {more}", tmp_path)


@pytest.mark.parametrize(("is_written", "named"), [(True, "grid_nml.l_scm_mode"), (False, None)])
def test_what_somebody_wrote_and_nobody_knows_leaves_checks_undecided(is_written, named, tmp_path):
    text = "namelists: {grid_nml: {l_scm_mode: true}, run_nml: {iforcing: 3}, scm_nml: {scm_sfc_temp: 1}}\n"
    experiment = experiment_of(text, tmp_path)
    span = experiment.components[0]["grid_nml", "l_scm_mode"].span if is_written else None
    setting = unknown("grid_nml.l_scm_mode", span)
    (component,) = with_setting(experiment, "grid_nml", "l_scm_mode", setting).components
    if named is None:
        assert list(breaches(component, "DYN009")) == []
        return
    with pytest.raises(UndecidedError) as raised:
        list(breaches(component, "DYN009"))
    assert raised.value.setting.name == named


def test_a_finding_on_a_default_stands_at_what_was_written_beside_it(tmp_path):
    text = f'model: {{release: "2024.10"}}\nnamelists: {{{NWP}turbdiff_nml: {{rat_sea: 7.0}}}}\n'
    (finding,) = (one for one in judge(experiment_of(text, tmp_path), RULES) if "rat_sea" in one.message)
    assert finding.message.startswith("rlam_heat 10")
    assert finding.span is not None
    assert finding.span.text == "7.0"


UPPER = "nwp_phy_nml: {{inwp_surface: 0, inwp_turb: 1, inwp_radiation: 1, lupatmo_phy: {on}}}"
NESTED = "grid_nml: {{dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc], start_time: [0.0, {begin}]}}"


@rows(
    ("upper", "on", "forcing", "expected"),
    [
        ("%t_start: soon", "true", 3, ["PHY004"]),
        ("%t_start: '2008-09-01T00:00:00Z'", "true", 3, []),
        ("%t_start: ''", "true", 3, []),
        ("%t_start: soon", "false", 3, []),
        ("%t_start: soon", "true", 2, []),
        ("%t_start: soon, nwp_grp_imf%imode: 0", "true", 3, ["PHY004"]),  # the other processes run
        ("%t_start: soon, nwp_grp_imf%imode: 0, nwp_grp_rad%imode: 0", "true", 3, []),
        ("%t_start: soon, nwp_grp_imf%imode: 2, nwp_grp_rad%imode: 0", "true", 3, ["PHY004"]),
        ("%t_end: soon", "true", 3, ["PHY004"]),
        ("%t_end: soon, nwp_grp_imf%imode: 0", "true", 3, []),
        ("%t_end: soon, nwp_grp_imf%start_height: 90000.0", "true", 3, []),  # perhaps above the top
    ],
)
def test_processes_of_the_upper_atmosphere_begin_and_end_at_dates(upper, on, forcing, expected, tmp_path):
    given = ", ".join(f'"{key}": {value}' for key, value in (pair.split(": ") for pair in upper.split(", ")))
    given = given.replace('"%', '"nwp_grp_imf%')
    text = f"run_nml: {{iforcing: {forcing}, ltransport: true}}, {UPPER.format(on=on)}, upatmo_nml: {{{given}}}"
    found = judge(experiment_of(f'model: {{release: "2024.10"}}\nnamelists: {{{text}}}\n', tmp_path), RULES)
    assert [finding.code for finding in found if "date" in finding.message] == expected


@pytest.mark.parametrize(
    ("gases", "count"),
    [
        ({"o2": 0.905}, 0),  # of the same mass as the air
        ({"o2": 0.906}, 1),
        ({"o2": 0.45, "co2": 0.33}, 0),
        ({"o2": 0.45, "co2": 0.34}, 1),
        ({"o3": 0.61}, 1),
        ({"o": 1.8}, 0),
        ({"no": 0.97}, 1),
    ],
)
def test_gases_are_not_heavier_than_the_air(gases, count, tmp_path):
    given = ", ".join(f"nwp_gas_{gas}%vmr: {ratio}" for gas, ratio in gases.items())
    assert codes(f"upatmo_nml: {{{given}}}", tmp_path) == ["PHY004"] * count


@pytest.mark.parametrize(
    ("begin", "on", "upper", "expected"),
    [
        ("1800.0", "[true, true]", "", []),
        ("1801.0", "[true, true]", "", ["PHY004"]),
        ("1801.0", "[true, false]", "", []),
        ("0.0", "[true, true]", "", []),
        ("1801.0", "[true, true]", '"nwp_grp_imf%imode": [1, 0], "nwp_grp_rad%imode": [1, 0]', []),
        ("1801.0", "[true, true]", '"nwp_grp_imf%imode": [1, 0]', ["PHY004"]),
    ],
)
def test_nests_with_an_upper_atmosphere_begin_at_a_step(begin, on, upper, expected, tmp_path):
    text = f"{NWP}{UPPER.format(on=on)}, {NESTED.format(begin=begin)}, upatmo_nml: {{{upper}}}"
    found = judge(experiment_of(f'model: {{release: "2024.10"}}\nnamelists: {{{text}}}\n', tmp_path), RULES)
    assert [finding.code for finding in found if "begins" in finding.message] == expected


@pytest.mark.parametrize(
    ("forcing", "kind", "names", "expected"),
    [
        (3, 2, "dursun", ["RUN007"]),
        (3, 1, "dursun", []),
        (3, -1, "dursun", ["RUN007"]),
        (3, 2, "dursun_m", []),
        (2, 2, "dursun", []),
    ],
)
def test_sunshine_that_is_written_has_a_definition(forcing, kind, names, expected, tmp_path):
    text = f"run_nml: {{iforcing: {forcing}, ltransport: true}}, nwp_phy_nml: {{inwp_surface: 0}}, "
    more = f"output: {{atm: {{ml_varlist: [{names}]}}}}"
    found = codes(f"{text}io_nml: {{itype_dursun: {kind}}}", tmp_path, more)
    assert [code for code in found if code == "RUN007"] == expected
