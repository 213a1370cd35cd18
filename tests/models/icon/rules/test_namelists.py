"""How the rules about namelists judge what their documentation does not show."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import experiment_of, judge, written
from rules.test_examples import check
from specs import changed, with_namelist

import nmlgen
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import Origin, Setting
from nmlgen.findings import Finding
from nmlgen.models.icon.rules.namelists import _JUDGES as JUDGES
from nmlgen.models.icon.rules.namelists import _is_plainly_right as is_plainly_right
from nmlgen.models.icon.rules.namelists import _parse as written_in
from nmlgen.namelist.registry import load_registry
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("NML")]
NO_SPEC = "nmlgen: 1\n"
VALUES = (0, 1, -1, 2**31, 1.5, 1e300, True, False, "", "a", "x" * 500, [0], [1.5, 2.5], [True, "a"])


def found(text: str, tmp_path: Path) -> list[Finding]:
    return [finding for finding in check(text, tmp_path).findings if finding.code.startswith("NML")]


def codes(text: str, tmp_path: Path) -> list[str]:
    return [finding.code for finding in found(text, tmp_path)]


def with_groups(experiment: Experiment, file: str, **groups: dict[str, object]) -> Experiment:
    """The experiment with groups added to one of its files: "master" or "namelist"."""
    added = tuple(
        Group(name, {key.lower(): written(name, key, value) for key, value in settings.items()})
        for name, settings in groups.items()
    )
    if file == "master":
        return evolve(experiment, master=(*experiment.master, *added))
    return with_namelist(experiment, (*experiment.components[0].namelist, *added))


@pytest.mark.parametrize(
    ("release", "group", "name", "notes"),
    [
        (
            "2024.10",
            "parallel_nml",
            "use_sp_output",
            (
                "ICON 2024.01 no longer has it; removed on 2013-08-14; with the opposite meaning",
                "expected: parallel_nml: use_dp_mpi2io",
            ),
        ),
        ("2024.10", "parallel_nml", "itype_comm", ("ICON 2024.01 no longer has it; removed on 2023-07-25",)),
        (
            "2024.10",
            "diffusion_nml",
            "k2_pres_max",
            ("ICON 2024.01 no longer has it; removed on 2021-04-16",),
        ),
        (
            "2024.07",
            "radiation_nml",
            "cams_clim_filename",
            (
                "ICON 2024.07 no longer has it",
                "expected: radiation_nml: cams_aero_filename",
                "ICON 2024.01 has it",
            ),
        ),
    ],
)
def test_variable_that_is_gone(release, group, name, notes, tmp_path):
    text = f'model: {{release: "{release}"}}\nnamelists: {{run_nml: {{iforcing: 3}}, {group}: {{{name}: 1}}}}\n'
    if group == "parallel_nml":
        text = f'model: {{release: "{release}"}}\nparallel: {{{name}: 1}}\n'
    (finding,) = [finding for finding in found(text, tmp_path) if finding.code == "NML002"]
    assert finding.message == f'{group} of ICON {release} has no variable "{name}"'
    assert finding.notes == notes


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("aes_phy_nml: {'aes_phy_config(2)%dt_rad'", "PT1H", []),
        ("run_nml: {'modelTimeStep(1:3)'", "PT1", []),  # a part of a text
        ("run_nml: {'msg_level(1:3)'", "1", ["NML006"]),
        ("run_nml: {'num_lev(2:3)'", "[20, 30]", []),
        ("run_nml: {'num_lev(2:3)'", "[20, 30, 40]", ["NML004"]),
        ("run_nml: {'num_lev(2:2)'", "[20, 30]", ["NML004"]),
        ("run_nml: {'num_lev(3:2)'", "[20]", ["NML004"]),
        ("run_nml: {'num_lev(10)'", "[20]", []),
        ("run_nml: {'num_lev(9)'", "[20, 30]", []),
        ("run_nml: {'num_lev(9)'", "[20, 30, 40]", ["NML004"]),
        ("io_nml: {restart_file_type", "4", []),
        ("run_nml: {'num_lev(10)'", "[20, 30]", ["NML004"]),
    ],
)
def test_subscripts_of_one_value(name, value, expected, tmp_path):
    text = f"model: {{release: '2024.10'}}\nnamelists: {{{name}: {value}}}}}\n"
    assert [code for code in codes(text, tmp_path) if code != "NML008"] == expected


def test_variable_that_is_still_there(tmp_path):
    text = 'model: {release: "2024.01"}\nnamelists: {run_nml: {iforcing: 3}, lnd_nml: {lurbahf: true}}\n'
    assert codes(text, tmp_path) == []


def test_group_that_is_gone(tmp_path):
    (finding,) = found("namelists: {echam_phy_nml: {x: 1}}\n", tmp_path)
    assert (finding.code, finding.notes) == (
        "NML001",
        ("ICON 2024.01 no longer has it", "expected: aes_phy_nml"),
    )


@rows(
    ("text", "expected"),
    [
        ("&JSB_veg_nml\n active = T\n/\n", ["&lnd_veg_nml"]),
        ("& jsb_veg_nml\n active = T\n/\n", []),
        ("&jsb_veg_nml\n bogus = T\n/\n", []),
        ("&jsb_veg_nml\n active = T\n bogus = T\n/\n", []),  # which lnd_veg_nml does not have
        ("&jsb_veg_nml\n active = T\n/\n&LND_veg_nml\n/\n", []),
        ("&jsb_veg_nml\n active = T\n/\n&LND_phenology_nml\n/\n", ["&lnd_veg_nml"]),
        ("&gw_hines_nml\n/\n", []),
        ("&bogus_nml\n/\n", []),
    ],
)
def test_a_group_that_has_another_name_now_is_renamed(text, expected, tmp_path):
    (tmp_path / "NAMELIST_lnd").write_text(text)
    report = nmlgen.lint([tmp_path / "NAMELIST_lnd"], select=["NML001"], icon_release="2025.10")
    fixes = [finding.fix for finding in report.findings if finding.fix is not None]
    assert [edit.replacement for fix in fixes for edit in fix.edits] == expected


@pytest.mark.parametrize(("group", "expected"), [("jsb_sep_nml", ["&jsb_seb_nml"]), ("jsb_sb_nml", [])])
def test_a_group_of_another_release_is_no_slip(group, expected, tmp_path):
    """2024.07 has jsb_sb_nml."""
    (tmp_path / "NAMELIST_lnd").write_text(f"&{group}\n/\n")
    report = nmlgen.lint([tmp_path / "NAMELIST_lnd"], select=["NML001"], icon_release="2024.01")
    fixes = [finding.fix for finding in report.findings if finding.fix is not None]
    assert [edit.replacement for fix in fixes for edit in fix.edits] == expected


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("ion_ml", ["NML001"]),
        ("bg_sensor", []),
        ("bogus_nml", ["NML001"]),
        ("mec_obs", []),
        ("wave_nml", ["NML007"]),
    ],
)
def test_groups_of_dace(group, expected, tmp_path):
    spec = f'model: {{release: "2024.10"}}\nnamelists: {{assimilation_nml: {{dace_debug: 1}}, {group}: {{x: 1}}}}\n'
    assert codes(spec, tmp_path) == expected


@rows("release", ["2024.01", "2024.07", "2024.10"])
@rows(
    ("settings", "expected"),
    [
        ("nonhydrostatic_nml: {ndyn_substeps: 0}", ["NML009"]),
        ("nonhydrostatic_nml: {divdamp_fac: -0.1}", ["NML009"]),
        ("nonhydrostatic_nml: {divdamp_fac: 0.0}", []),
        ("diffusion_nml: {hdiff_order: 3}", ["NML009"]),
        ("run_nml: {output: netcdf}", ["NML009"]),
        ("run_nml: {profiling_output: 9}", ["NML009"]),
        ("run_nml: {profiling_output: 9, ltimer: false}", []),
        ("run_nml: {nsteps: -5}", ["NML009"]),
        ("run_nml: {nsteps: -999}", []),
        ("time_nml: {calendar: 0}", ["NML009"]),
        ("time_nml: {calendar: 5}", []),
        ("io_nml: {itype_pres_msl: 9}", []),
        ("limarea_nml: {itype_latbc: 7}", []),  # looked at in some runs only
        ("limarea_nml: {dtime_latbc: 90000.0}", ["NML009"]),
        ("ccycle_nml: {}", ["NML008"]),
        ("transport_nml: {beta_fct: 2.0}", ["NML009"]),
        ("nwp_phy_nml: {inwp_gscp: 10}, run_nml: {iforcing: 3}", ["NML009"]),
        ("nwp_phy_nml: {inwp_gscp: -1}, run_nml: {iforcing: 3}", []),
        ("nwp_phy_nml: {inwp_gscp: 10}", ["NML008"]),
        ("aes_bubble_nml: {}", ["NML008"]),
        ("aes_bubble_nml: {}, nh_testcase_nml: {nh_test_name: aes_bubble}", []),
        ("sea_ice_nml: {kice: 2}, run_nml: {iforcing: 2}", ["NML009"]),
    ],
)
def test_values(release, settings, expected, tmp_path):
    assert codes(f'model: {{release: "{release}"}}\nnamelists: {{{settings}}}\n', tmp_path) == expected


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("filetype: 3", ["NML009"]),
        ("filetype: 3, filename_extn: nc", []),
        ("output_time_unit: 9", []),
        ("output_time_unit: 9, output_bounds: [0.0, 864000.0, 3600.0]", ["NML009"]),
        ("output_time_unit: 9, output_bounds: [-1.0]", []),
        ("remap: 2", ["NML009"]),
        ("operation: median", []),  # OUT017 says it
        ("mode: 3", []),
    ],
)
def test_values_of_a_stream(stream, expected, tmp_path):
    assert codes(f"output: {{atm: {{{stream}}}}}\n", tmp_path) == expected


@pytest.mark.parametrize(("release", "expected"), [("2024.01", ["NML009"]), ("2024.07", []), ("2024.10", [])])
def test_values_that_came_later(release, expected, tmp_path):
    text = f'model: {{release: "{release}"}}\noutput: {{atm: {{filetype: 999}}}}\n'
    assert codes(text, tmp_path) == expected


def test_two_groups_of_one_name(tmp_path):
    """jsb_model_nml of icon_master.namelist has other variables than that of JSBACH's own file."""
    experiment = experiment_of(NO_SPEC, tmp_path)
    right = with_groups(experiment, "master", jsb_model_nml={"model_id": 1}, jsb_control_nml={"is_standalone": False})
    assert judge(right, RULES) == []
    wrong = with_groups(experiment, "master", jsb_model_nml={"usecase": "jsbach_lite"})
    assert [(finding.code, finding.message) for finding in judge(wrong, RULES)] == [
        ("NML002", 'jsb_model_nml of ICON 2024.10 has no variable "usecase"')
    ]
    elsewhere = with_groups(experiment, "namelist", jsb_model_nml={"usecase": "jsbach_lite"})
    assert [finding.code for finding in judge(elsewhere, RULES)] == ["NML007"]


@pytest.mark.parametrize(
    ("model_type", "groups", "expected"),
    [
        (1, {"sea_ice_nml": {"kice": 1}}, ["NML008"]),
        (2, {"sea_ice_nml": {"kice": 1}}, []),
        (2, {"ocean_dynamics_nml": {"n_zlev": 64}}, []),
        (2, {"ocean_dynamics_nml": {"n_zlev": 0}}, ["NML009"]),
        (2, {"hamocc_nml": {}}, ["NML008"]),
        (2, {"hamocc_nml": {}, "ocean_physics_nml": {"lhamocc": True}}, []),
        (98, {"wave_nml": {}}, []),
        (1, {"wave_nml": {}, "time_nml": {}}, ["NML007", "NML007"]),
        (4, {"wave_nml": {}, "ocean_dynamics_nml": {}}, []),  # not known here which groups it reads
    ],
)
def test_components(model_type, groups, expected, tmp_path):
    experiment = experiment_of(f"namelists: {{master_model_nml: {{model_type: {model_type}}}}}\n", tmp_path)
    groups_of_atmosphere = () if model_type != 1 else experiment.components[0].namelist
    alone = with_namelist(experiment, groups_of_atmosphere)
    assert [finding.code for finding in judge(with_groups(alone, "namelist", **groups), RULES)] == expected


@pytest.mark.parametrize(("length", "expected"), [(1024, []), (1025, ["NML005"])])
def test_a_text_fills_its_variable(length, expected, tmp_path):
    text = f"model: {{release: '2024.10'}}\nnamelists: {{io_nml: {{output_nml_dict: {'x' * length}}}}}\n"
    assert codes(text, tmp_path) == expected


def test_of_a_value_that_is_not_looked_at_closely_no_judge_has_anything_to_tell():
    registry = load_registry("2025.10")
    variables = [
        (group, registry.variable(group, name)) for group in registry.groups for name in registry.variables(group)
    ]
    right = 0
    for group, variable in variables:
        for value in VALUES:
            setting = Setting(f"{group}.{variable.name}", (Origin("spec", value),))
            one = written_in(Group(group, {variable.name: setting}), variable.name, setting)
            if is_plainly_right(one, variable):
                right += 1
                assert [told for judge in JUDGES for told in judge(one, variable)] == [], (group, variable.name, value)
    assert right > len(variables)


def test_very_many_groups_that_icon_does_not_have_are_not_told_one_by_one():
    namelists = {f"bogus{number}_nml": {"a": 1} for number in range(600)}
    found = [one for one in nmlgen.check(changed(namelists=namelists)).findings if one.code == "NML001"]
    assert len(found) == 501
    assert found[-1].message.startswith('from "bogus')
    assert found[-1].message.endswith("on no more groups are told that ICON 2024.10 does not have")
