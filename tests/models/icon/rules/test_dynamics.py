"""Rules about the dynamics, where the examples do not reach."""

from __future__ import annotations

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules import dynamics
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.__module__ == dynamics.__name__]


def codes(namelists, tmp_path, release="2024.10"):
    text = f'model: {{release: "{release}"}}\nnamelists: {{{namelists}}}\n'
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


@rows(
    ("namelists", "expected"),
    [
        ("nonhydrostatic_nml: {itime_scheme: 1}, run_nml: {ltransport: true}", []),
        ("nonhydrostatic_nml: {ivctype: 1}, sleve_nml: {itype_laydistr: 3}", []),
        ("nonhydrostatic_nml: {ivctype: 1}, grid_nml: {vct_filename: atm_hyb_sz_30}", []),
        ("nonhydrostatic_nml: {ivctype: 1}, sleve_nml: {itype_laydistr: 2}", ["DYN002"]),
        ("nonhydrostatic_nml: {ivctype: 1}, nh_testcase_nml: {layer_thickness: 0.0}", []),
        ("nonhydrostatic_nml: {ivctype: 0}", ["DYN003"]),
        ("sleve_nml: {itype_laydistr: 0, min_lay_thckn: 0.0}", []),
        ("sleve_nml: {itype_laydistr: 0}, grid_nml: {vct_filename: table}", []),
        ("sleve_nml: {flat_height: -1.0}", ["DYN004"]),
        ("sleve_nml: {flat_height: 0.0}", ["DYN004"]),
        ("sleve_nml: {flat_height: 1.0}", []),
        ("sleve_nml: {flat_height: -1.0, itype_laydistr: 2, max_lay_thckn: 0.0}", ["DYN004"]),
        ("sleve_nml: {flat_height: -1.0, min_lay_thckn: 0.0}", ["DYN004"]),
        ("sleve_nml: {flat_height: -1.0}, grid_nml: {vct_filename: table}", []),
        ("sleve_nml: {flat_height: -1.0}, grid_nml: {vertical_grid_filename: heights.nc}", []),
        ("sleve_nml: {stretch_fac: -1.0}", ["DYN004"]),
        ("sleve_nml: {stretch_fac: 0.0}", ["DYN004"]),
        ("sleve_nml: {stretch_fac: 0.1}", []),
        ("sleve_nml: {top_height: -1.0}", []),  # the uppermost comes out below flat_height
        ("sleve_nml: {top_height: 299.0, min_lay_thckn: 300.0}", []),
        ("sleve_nml: {top_height: 17000.0, min_lay_thckn: 17001.0}", ["DYN004"]),
    ],
)
def test_vertical_coordinate_and_time_scheme(namelists, expected, tmp_path):
    assert codes(namelists, tmp_path) == expected


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("bogus", "", ["DYN005"]),
        ("''", "", ["DYN005"]),
        ("HS_nh", "", []),
        ("' jabw'", "", ["DYN005"]),
        ("'jabw  '", "", []),
        ("bogus", ", run_nml: {ltestcase: false}", []),
        ("bogus", ", grid_nml: {l_scm_mode: true}", []),
    ],
)
def test_test_cases(name, more, expected, tmp_path):
    assert codes(f"nh_testcase_nml: {{nh_test_name: {name}}}{more}", tmp_path) == expected


def test_a_test_case_that_went_with_a_release(tmp_path):
    assert codes("nh_testcase_nml: {nh_test_name: dcmip_tc_51}", tmp_path, "2024.01") == []
    assert codes("nh_testcase_nml: {nh_test_name: dcmip_tc_51}", tmp_path) == ["DYN005"]


@rows(
    ("namelists", "expected"),
    [
        ("nonhydrostatic_nml: {divdamp_z: 40000.0}", ["DYN006"]),
        ("nonhydrostatic_nml: {divdamp_z: 39999.0}", []),
        ("nonhydrostatic_nml: {divdamp_z2: 80000.0}", ["DYN006"]),
        ("nonhydrostatic_nml: {divdamp_z3: 40000.0}", ["DYN006"]),
        ("nonhydrostatic_nml: {divdamp_z3: 90000.0}", []),
        ("nonhydrostatic_nml: {divdamp_z3: 80000.0}, diffusion_nml: {hdiff_smag_z: 90000.0}", ["DYN006", "DYN006"]),
        ("sleve_nml: {lread_smt: true}", ["DYN010"]),
        ("sleve_nml: {lread_smt: true}, nonhydrostatic_nml: {ivctype: 1}", ["DYN002"]),
        ("sleve_nml: {lread_smt: true}, grid_nml: {vertical_grid_filename: heights.nc}", []),
        ("sleve_nml: {lread_smt: false}", []),
        ("dynamics_nml: {ldeepatmo: true}, run_nml: {ltestcase: false}", []),
        ("dynamics_nml: {ldeepatmo: true}, run_nml: {ltestcase: false, iforcing: 2}", []),
        ("dynamics_nml: {ldeepatmo: true}, run_nml: {ltestcase: false, iforcing: 3}", []),
        ("dynamics_nml: {ldeepatmo: true}, run_nml: {ltestcase: false, iforcing: 1}", ["DYN008"]),
        ("dynamics_nml: {ldeepatmo: true}, run_nml: {ltestcase: false}, grid_nml: {is_plane_torus: true}", ["DYN008"]),
    ],
)
def test_heights_and_deep_atmosphere(namelists, expected, tmp_path):
    assert codes(namelists, tmp_path) == expected
