"""What names in a varlist mean: both sides of each condition."""

from __future__ import annotations

import pytest
from attrs import evolve
from rules.experiments import experiment_of, with_setting, written

from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.rules.varlists import (
    catalogue_of,
    domains_of,
    entries,
    names_in,
    own_catalogue,
    tracers,
    varlists,
)


def component(text, tmp_path):
    return experiment_of(text, tmp_path).components[0]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("temp", ["temp"]),
        (["U", "temp  "], ["u", "temp"]),
        (["u", " ", "temp"], ["u"]),  # a blank one ends the list
        ("", []),
    ],
)
def test_names_end_at_the_first_blank_one(value, names):
    assert names_in(written("output_nml", "ml_varlist", value)) == names


@pytest.mark.parametrize(
    ("namelists", "expected"),
    [
        ("transport_nml: null", set()),
        ("transport_nml: {ivadv_tracer: 3}", set()),  # the defaults are nobody's names
        ("transport_nml: {tracer_names: [Dust, 'salt ']}", {"dust", "salt"}),
    ],
)
def test_tracers_that_the_user_named(namelists, expected, tmp_path):
    assert tracers(component(f"namelists: {{{namelists}}}\n", tmp_path)) == expected


@pytest.mark.parametrize(
    ("dom", "expected"),
    [
        ("-1", [1, 2]),
        ("1", [1]),
        ("[2, -1, 1]", [2]),  # one below zero ends the list
        ("[1, 2]", [1, 2]),
        ("[0, 1]", [1]),
        ("[2, 3]", [2]),
    ],
)
def test_domains_of_a_stream(dom, expected, tmp_path):
    text = "namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}\n"
    found = component(f"{text}output: {{atm: {{dom: {dom}}}}}\n", tmp_path)
    assert domains_of(found, found.streams[0]) == expected


@pytest.mark.parametrize(
    ("namelists", "is_known", "is_own"),
    [
        ("io_nml: {output_nml_dict: ''}", True, True),
        ("io_nml: {output_nml_dict: dict.txt}", False, True),
        ("run_nml: {lart: true}", False, False),
        ("run_nml: {lart: false}", True, True),
        ("comin_nml: {'plugin_list(1)%name': x}", False, False),
    ],
)
def test_where_there_may_be_other_names(namelists, is_known, is_own, tmp_path):
    found = component(f"namelists: {{{namelists}}}\n", tmp_path)
    for look, is_sure in ((catalogue_of, is_known), (own_catalogue, is_own)):
        if is_sure:
            assert look(found).release == "2024.10"
        else:
            with pytest.raises(UndecidedError):
                look(found)


def test_level_types_with_a_list(tmp_path):
    text = "output: {atm: {ml_varlist: [U, w], pl_varlist: [temp], p_levels: [50000.0], hl_varlist: ''}}\n"
    found = [(kind, names_in(setting)) for _, kind, setting in varlists(component(text, tmp_path))]
    assert found == [("ml", ["u", "w"]), ("pl", ["temp"])]


@pytest.mark.parametrize(
    ("name", "more", "present", "requirement"),
    [
        ("temp", "", True, None),
        ("qc", "run_nml: {iforcing: 0, ltransport: false}", False, "run_nml.iforcing"),
        ("qc", "run_nml: {iforcing: 3, ltransport: true}, nwp_phy_nml: {inwp_surface: 0}", True, None),
        ("zos", "", False, "a run with ocean"),
    ],
)
def test_what_a_run_does_not_have(name, more, present, requirement, tmp_path):
    found = component(f"output: {{atm: {{ml_varlist: [{name}]}}}}\nnamelists: {{{more}}}\n", tmp_path)
    (entry,) = entries(found)
    assert bool(entry.present) is present
    if requirement is not None:
        assert requirement in entry.requirement()


@pytest.mark.parametrize(("remap", "is_regular"), [(1, True), (0, False)])
def test_members_of_a_group_on_a_regular_grid_are_those_in_cells(remap, is_regular, tmp_path):
    text = f"output: {{atm: {{ml_varlist: ['group:nh_prog_vars'], remap: {remap}}}}}\n"
    (entry,) = entries(component(text, tmp_path))
    assert entry.is_group
    assert entry.is_regular is is_regular
    assert any(variable.location != "cell" for variable in entry.variables)
    assert all(variable.location == "cell" for variable in entry.present) is is_regular


def test_what_a_group_has_is_worked_out_once_for_all_streams(tmp_path):
    streams = ", ".join(f"s{number}: {{output_interval: PT1H, ml_varlist: ['group:all', u]}}" for number in range(3))
    found = [entry for entry in entries(component(f"output: {{{streams}}}\n", tmp_path)) if entry.is_group]
    assert len({id(entry.present) for entry in found}) == 1 < len(found)


@pytest.mark.parametrize(
    ("kind", "name", "present"),
    [(1, "temp", True), (1, "to", False), (2, "temp", False), (2, "to", True), (2, "concsum", True)],
)
def test_what_is_of_another_model(kind, name, present, tmp_path):
    text = f"output: {{atm: {{ml_varlist: [{name}]}}}}\nnamelists: {{master_model_nml: {{model_type: {kind}}}}}\n"
    (entry,) = entries(component(text, tmp_path))
    assert bool(entry.present) is present


def test_names_of_tracers_are_no_entries(tmp_path):
    text = "output: {atm: {ml_varlist: [dust, temp]}}\nnamelists: {transport_nml: {tracer_names: [dust]}}\n"
    assert [entry.name for entry in entries(component(text, tmp_path))] == ["temp"]
    assert [entry.name for entry in entries(component(text.replace("[dust]}", "[salt]}"), tmp_path))] == [
        "dust",
        "temp",
    ]


def test_tiles_have_names_of_their_own(tmp_path):
    experiment = experiment_of("output: {atm: {ml_varlist: ['tiles:t_g']}}\n", tmp_path)
    (entry,) = entries(experiment.components[0])
    assert entry.is_group
    assert entry.variables
    other = with_setting(experiment, "io_nml", "output_nml_dict", written("io_nml", "output_nml_dict", " "))
    assert [one.name for one in entries(other.components[0])] == ["tiles:t_g"]


@pytest.mark.parametrize(
    ("settings", "present"),
    [
        ("ocean_physics_nml: {lhamocc: false}", False),
        ("ocean_physics_nml: {lhamocc: true}", True),
        ("ocean_dynamics_nml: {n_zlev: 5}", False),  # by default there is none
    ],
)
def test_an_ocean_has_biogeochemistry_where_it_is_on(settings, present, tmp_path):
    """Whatever else such a variable asks for."""
    text = f"output: {{atm: {{ml_varlist: [dusty]}}}}\nnamelists: {{master_model_nml: {{model_type: 2}}, {settings}}}\n"
    (entry,) = entries(component(text, tmp_path))
    (variable,) = entry.variables
    assert variable.component == "HAMOCC"
    assert entry.is_absent(evolve(variable, conditions=())) is not present
