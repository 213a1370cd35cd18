"""Namelist files lifted to experiments: what ICON would see, and what it would not."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen
from nmlgen import InputError, build
from nmlgen.experiment.setting import Certainty
from nmlgen.lift.namelists import lift_document, lift_master, lift_model, read_namelist
from nmlgen.namelist.reader import read
from nmlgen.namelist.registry import load_registry
from nmlgen.source import Source

REGISTRY = load_registry("2024.10")
EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
MASTER = """&master_nml
 lrestart = .FALSE.
/
&master_time_control_nml
 experimentStartDate = '2000-01-01T00:00:00Z'
 experimentStopDate = '2000-01-02T00:00:00Z'
/
&master_model_nml
 model_type = 1
 model_name = 'atm'
 model_namelist_filename = 'NAMELIST_atm'
/
"""


def lifted(text: str, *, is_master: bool = False):
    return lift_document(read(Source("NAMELIST", text)), REGISTRY, is_master=is_master)


def values(text: str, group: str) -> dict[str, object]:
    (found,) = [g for g in lifted(text).groups if g.name == group]
    return {name: setting.value for name, setting in found.settings.items()}


def test_values_are_those_of_a_read():
    text = "&run_nml\n num_lev = 2*30, dtime = 120 ltestcase = t\n output = 'nml' 'totint'\n dtime = 60.0\n/\n"
    assert values(text, "run_nml") == {
        "num_lev": [30, 30],
        "dtime": 60.0,
        "ltestcase": True,
        "output": ["nml", "totint"],
    }


def test_elements_between_are_the_defaults():
    text = "&run_nml\n num_lev(3) = 20\n/\n"
    assert values(text, "run_nml") == {"num_lev": [31, 31, 20]}


def test_a_structure_may_be_given_with_all_components_at_once():
    text = "&meteogram_output_nml\n stationlist_tot = 50.0, 8.6, 'Frankfurt', 52.2, 14.1, 'Lindenberg'\n/\n"
    assert values(text, "meteogram_output_nml") == {
        "stationlist_tot": [50.0, 8.6, "Frankfurt", 52.2, 14.1, "Lindenberg"],
    }


def test_long_text_is_cut_as_icon_cuts_it():
    text = f"&run_nml\n modelTimeStep = '{'P' * 40}'\n/\n"
    assert values(text, "run_nml") == {"modeltimestep": "P" * 32}


def test_values_keep_their_places():
    (group,) = lifted("&io_nml\n  restart_file_type  =  5 ! NetCDF-4\n/\n").groups
    span = group.settings["restart_file_type"].span
    assert (span.line, span.column, span.end_column) == (2, 25, 26)
    assert (group.span.line, group.span.column) == (1, 1)


def test_the_first_copy_counts_but_for_repeated_groups():
    file = lifted("&io_nml\n/\n&output_nml\n/\n&io_nml\n lkeep_in_sync = T\n/\n&output_nml\n/\n")
    assert [group.name for group in file.groups] == ["io_nml", "output_nml", "output_nml"]
    assert [problem.kind for problem in file.overlooked] == ["second-copy"]


def test_a_group_that_icon_does_not_find_is_overlooked():
    file = lifted("$io_nml\n lkeep_in_sync = T\n$end\n ! &run_nml\n&run_nml\n/\n")
    assert "io_nml" not in [group.name for group in file.groups]
    assert [problem.kind for problem in file.overlooked] == ["dollar-header"]


def test_names_that_nobody_knows_stay():
    assert values("&io_nml\n bogus = 3\n/\n", "io_nml") == {"bogus": 3}
    assert values("&bogus_nml\n a = 1, 2\n/\n", "bogus_nml") == {"a": [1, 2]}


def test_what_the_runtime_stops_at_is_kept_beside_the_group():
    (group,) = lifted("&io_nml\n restart_file_type = five\n lkeep_in_sync = T\n/\n").groups
    assert [problem.stops for problem in group.problems] == [True]
    assert group.settings["restart_file_type"].certainty is Certainty.UNKNOWN


def test_a_master_names_its_models(tmp_path):
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n num_lev = 20\n/\n")
    experiment, files = lift_master(tmp_path / "icon_master.namelist", REGISTRY, 4)
    assert experiment.models[0].missing_file is None
    assert len(files) == 2
    assert experiment.components[0]["run_nml", "num_lev"].value == [20]
    assert experiment.tasks.value == 4


def test_of_more_models_than_icon_starts_none_is_kept(tmp_path):
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n num_lev = 5\n/\n")
    master = tmp_path / "icon_master.namelist"
    more = "".join(MASTER[MASTER.index("&master_model_nml") :].replace("'atm'", f"'m{number}'") for number in range(40))
    master.write_text(MASTER + more)
    experiment, _ = lift_master(master, REGISTRY, None)
    assert len(experiment.models) == 16
    groups = [group for group in experiment.components[0].all_groups() if group.name == "master_model_nml"]
    assert len(groups) == 1  # its own
    found = [finding for finding in nmlgen.lint([master]).errors if finding.code == "MST001"]
    assert [finding.message for finding in found] == ["ICON starts at most 15 models, and this is one more"]


def test_models_behind_very_many_groups_are_not_read(tmp_path, monkeypatch):
    """Each of them might read a file of many groups, the same one."""
    monkeypatch.setattr("nmlgen.lift.namelists._MOST_GROUPS", 2)
    (tmp_path / "icon_master.namelist").write_text(MASTER + MASTER[MASTER.index("&master_model_nml") :] * 2)
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n num_lev = 20\n/\n&io_nml\n/\n")
    experiment, files = lift_master(tmp_path / "icon_master.namelist", REGISTRY, 4)
    assert [(len(model.namelist), model.is_open) for model in experiment.models] == [(2, False), (2, False), (0, True)]
    (told,) = files[0].overlooked
    assert (told.kind, told.span.line, told.stops) == ("too-much", experiment.models[2].entry.span.line, False)
    assert told.message == "the models before this one read more than 2 groups: what it reads is not looked at"


def test_a_model_without_its_file(tmp_path):
    (tmp_path / "icon_master.namelist").write_text(MASTER)
    experiment, _ = lift_master(tmp_path / "icon_master.namelist", REGISTRY, None)
    assert experiment.models[0].missing_file.value == "NAMELIST_atm"
    assert experiment.tasks.certainty is Certainty.UNKNOWN


def test_a_namelist_by_itself_knows_no_master(tmp_path):
    (tmp_path / "NAMELIST_atm").write_text("&run_nml\n num_lev = 20\n/\n")
    experiment, _ = lift_model(tmp_path / "NAMELIST_atm", REGISTRY, None)
    assert experiment.components[0]["master_time_control_nml", "experimentStartDate"].certainty is Certainty.UNKNOWN


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(InputError):
            read_namelist(path, REGISTRY, is_master=False)


def test_bytes_that_are_not_utf8_are_read(tmp_path):
    (tmp_path / "NAMELIST").write_bytes(b"! Pr\xfcfung\n&run_nml\n num_lev = 20\n/\n")
    file = read_namelist(tmp_path / "NAMELIST", REGISTRY, is_master=False)
    assert file.groups[0].settings["num_lev"].value == [20]


def test_what_nmlgen_writes_is_read_as_it_was_meant(tmp_path):
    from nmlgen import load_spec

    spec = load_spec(EXAMPLE)
    build(spec).write(tmp_path)
    experiment, files = lift_master(tmp_path / "icon_master.namelist", REGISTRY, 256)
    assert all(not file.overlooked for file in files)
    meant = [*spec.experiment.master, *spec.experiment.components[0].namelist]
    found = [*experiment.master, *experiment.components[0].namelist]
    assert [group.name for group in found] == [group.name for group in meant]
    for one, other in zip(found, meant, strict=True):
        assert one.problems == ()
        assert set(one.settings) == set(other.settings)
        for name, setting in one.settings.items():
            value = other.settings[name].value
            read_value = setting.value
            if isinstance(read_value, list) and not isinstance(value, list):
                value = [value]
            assert read_value == value, name


def test_endless_values_of_a_variable_that_nobody_knows_are_not_counted_out(tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_text("&run_nml\n seed = 199999999*1\n/\n&bogus\n a = 199999999*1\n/\n")
    found = {finding.code for finding in nmlgen.lint([path], is_isolated=True).findings}
    assert found >= {"NML001", "NML002"}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("NAMELIST_x", "&run_nml\n num_lev = 20\n/\n&nonhydrostatic_nml\n/\n", "atmosphere"),
        ("NAMELIST_x", "&run_nml\n/\n&sea_ice_nml\n/\n&ocean_dynamics_nml\n n_zlev = 3\n/\n", "ocean"),
        ("NAMELIST_x", "&run_nml\n num_lev = 1\n/\n&wave_nml\n/\n", "waves"),
        ("NAMELIST_x", "&jsb_model_nml\n usecase = 'jsbach_lite'\n/\n", "jsbach"),
        ("NAMELIST_x", "&ocean_dynamics_nml\n/\n&nwp_phy_nml\n/\n&nonhydrostatic_nml\n/\n", "atmosphere"),
        ("NAMELIST_oce", "&run_nml\n/\n", "ocean"),
        ("NAMELIST_oce", "&nonhydrostatic_nml\n/\n", "atmosphere"),
        ("NAMELIST_land_jsbach", "&run_nml\n num_lev = 1\n/\n", "jsbach"),
        ("NAMELIST", "&run_nml\n/\n", "atmosphere"),
    ],
)
def test_the_groups_of_a_namelist_by_itself_tell_whose_it_is(name, text, kind, tmp_path):
    (tmp_path / name).write_text(text)
    experiment, _ = lift_model(tmp_path / name, REGISTRY, None)
    assert experiment.components[0].kind == kind


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        ("cinhoml", "cinhoml_cfl and "),
        ("cinhoms", "no such component: ICON 2025.10 no longer has it"),
        ("cinhomx", "cinhomi"),
    ],
)
def test_a_component_that_is_gone_is_told_as_such(component: str, expected: str) -> None:
    """And not what its name is like."""
    document = read(Source("NAMELIST", f"&aes_cop_nml\n aes_cop_config(1)%{component} = 0.8\n/\n"))
    (group,) = lift_document(document, load_registry("2025.10"), is_master=False).groups
    (problem,) = group.problems
    assert expected in problem.expected
    assert ("no longer has it" in problem.expected) == (component != "cinhomx")
