"""Rules about what a stream writes, where the examples do not reach."""

from __future__ import annotations

import pytest
from rows import rows
from rules.experiments import experiment_of, judge, with_setting, written

from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.rules import output_content, varlists
from nmlgen.models.icon.rules.output_content import level_fault
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.__module__ == output_content.__name__]


def findings(stream, tmp_path, more=""):
    return judge(experiment_of(f"output: {{atm: {{{stream}}}}}\n{more}", tmp_path), RULES)


def codes(stream, tmp_path, more=""):
    return [finding.code for finding in findings(stream, tmp_path, more)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("U, Temp", []),
        ("u, '', bogus", []),  # ICON reads up to the first blank
        ("'group:all', '-bogus', 'tiles:bogus', 'grid:clon'", []),
        ("' u'", ["OUT026"]),
        ("bogus, fantasy", ["OUT026", "OUT026"]),
        ("'GROUP:bogus'", ["OUT026"]),
        ("to", ["OUT027"]),  # the ocean's
        ("aw", []),  # of a grid of longitudes and latitudes
        ("t_2m", ["OUT027"]),
    ],
)
def test_names_of_variables(names, expected, tmp_path):
    assert codes(f"ml_varlist: [{names}]", tmp_path) == expected


@pytest.mark.parametrize(("name", "near"), [("tempp", '"temp"'), ("h", None), ("u_acc", None)])
def test_names_that_are_hardly_like_it_are_not_asked_for(name, near, tmp_path):
    notes = [note for finding in findings(f"ml_varlist: [{name}]", tmp_path) for note in finding.notes]
    asked = [note for note in notes if note.startswith("did you mean")]
    assert asked == ([f"did you mean {near}?"] if near else [])


@pytest.mark.parametrize(
    ("physics", "names", "absent"),
    [
        ("run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 0}", "qv, qr, qs, tqr, tqs, qg", ["qg"]),
        ("run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 1}", "qr, qh, qni, tqg", ["qh", "qni", "tqg"]),
        ("run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 2}", "qg, tqg, qh", ["qh"]),
        ("run_nml: {iforcing: 3}, nwp_phy_nml: {inwp_gscp: 8}", "qg, qh, tqg, tqh, qni, qnc, ninact", []),
        ("run_nml: {iforcing: 2}, transport_nml: {tracer_names: [hus, qr]}", "qr, tqr, tqg", ["tqg"]),
        ("run_nml: {iforcing: 0}", "tqr", ["tqr"]),
    ],
)
def test_tracers_of_water_follow_from_the_physics(physics, names, absent, tmp_path):
    """NWP physics has five whatever inwp_gscp is (`mo_advection_utils.f90:344`)."""
    found = findings(f"ml_varlist: [{names}]", tmp_path, f"namelists: {{{physics}}}\n")
    assert [finding.message.split('"')[1] for finding in found if finding.code == "OUT027"] == absent


def test_of_very_many_unknown_names_the_first_are_told(tmp_path):
    found = findings(f"ml_varlist: [{', '.join(f'bogus{number}' for number in range(300))}]", tmp_path)
    assert [finding.code for finding in found] == ["OUT026"] * 201
    assert found[200].message == "from here on no more names are told that ICON does not know"
    assert found[200].column > found[199].column


@rows(
    ("stream", "code"),
    [
        ("ml_varlist: [t_2m]", "OUT027"),
        ("ml_varlist: [vn], remap: 1, reg_lon_def: [0, 1, 359], reg_lat_def: [-90, 1, 90]", "OUT028"),
        ("pl_varlist: [vn], p_levels: [50000]", "OUT033"),
        ("ml_varlist: [t_seasfc_x, wap], remap: 1, reg_lon_def: [0, 1, 359], reg_lat_def: [-90, 1, 90]", "OUT026"),
    ],
)
def test_of_very_many_names_that_are_wrong_the_first_are_told(stream, code, tmp_path):
    """Each once for all domains."""
    nests = ", ".join(f"n{number}: {{file: grids/n{number}.nc}}" for number in range(3))
    streams = ", ".join(f"s{number}: {{output_interval: PT1H, {stream}}}" for number in range(250))
    rules = [rule for rule in all_rules() if rule.code == code]
    found = judge(experiment_of(f"domains: {{{nests}}}\noutput: {{{streams}}}\n", tmp_path), rules)
    assert len(found) == len(set(found)) == 201
    assert found[200].message.startswith("from here on")


@pytest.mark.parametrize(("more", "is_known"), [(0, True), (1, False)])
def test_names_in_all_domains_are_looked_at_up_to_a_bound(more, is_known, tmp_path, monkeypatch):
    """Three names of a preset's stream and these in two domains."""
    text = "domains: {n: {file: grids/n.nc}}\noutput: {atm: {ml_varlist: [u, v, w]}, other: {output_interval: PT1H, "
    experiment = experiment_of(f"{text}ml_varlist: [{', '.join('u' * (2 + more))}]}}}}\n", tmp_path)
    monkeypatch.setattr(varlists, "_MOST_NAMES", 10)
    (component,) = experiment.components
    if is_known:
        assert len(list(varlists.entries(component))) == 10
    else:
        with pytest.raises(UndecidedError) as caught:
            list(varlists.entries(component))
        assert caught.value.reason == "output_nml.ml_varlist makes more than 10 names in all domains"


@pytest.mark.parametrize("code", ["OUT030", "OUT045"])
def test_many_streams_take_no_more_than_each_by_itself(code, tmp_path, monkeypatch):
    """Counted in variables that are held against the run, and in entries that are made."""
    asked: list[str] = []
    is_absent, made = varlists.Entry.is_absent, varlists.Entry.__init__
    monkeypatch.setattr(varlists.Entry, "is_absent", lambda *given: asked.append("") or is_absent(*given))
    monkeypatch.setattr(varlists.Entry, "__init__", lambda *given: asked.append("") or made(*given))
    counts = []
    for streams in (10, 20):
        stream = "{output_interval: PT1H, operation: mean, m_levels: '31', ml_varlist: ['group:all', u]}"
        text = f"output: {{{', '.join(f's{number}: {stream}' for number in range(streams))}}}\n"
        experiment = experiment_of(text, tmp_path)
        asked.clear()
        judge(experiment, [rule for rule in all_rules() if rule.code == code])
        counts.append(len(asked))
    assert 0 < counts[1] <= 2 * counts[0]


def test_a_list_of_levels_is_read_once_for_all_domains(tmp_path, monkeypatch):
    read: list[str] = []
    value = output_content._evaluate
    monkeypatch.setattr(output_content, "_evaluate", lambda *given: read.append(given[0]) or value(*given))
    nests = ", ".join(f"n{number}: {{file: grids/n{number}.nc, num_lev: {20 + number}}}" for number in range(3))
    levels = "1,2...5,(nlev-7)...nlev-3"
    text = f"domains: {{{nests}}}\noutput: {{atm: {{ml_varlist: [temp], m_levels: '{levels}'}}}}\n"
    found = judge(experiment_of(text, tmp_path), [output_content.ImpossibleLevels])
    assert (found, read) == ([], ["1", "2", "5", "(nlev-7)", "nlev-3"])


def test_names_on_a_regular_grid(tmp_path):
    grid = "remap: 1, reg_lon_def: [0.0, 1.0, 359.0], reg_lat_def: [-90.0, 1.0, 90.0]"
    assert codes(f"ml_varlist: [aw, u, bogus], {grid}", tmp_path) == ["OUT026"]


@pytest.mark.parametrize(("levels", "expected"), [(0, []), (1, ["OUT030"])])
def test_of_no_levels_none_is_impossible(levels, expected, tmp_path):
    experiment = experiment_of("output: {atm: {ml_varlist: [pres_sfc], m_levels: '4'}}\n", tmp_path)
    experiment = with_setting(experiment, "run_nml", "num_lev", written("run_nml", "num_lev", levels))
    assert [finding.code for finding in judge(experiment, RULES)] == expected


@rows(("group", "code"), [("group:bogus", "OUT026"), ("group:precip_vars", "OUT027"), ("tiles:t_g", "OUT027")])
@rows(
    ("names", "severity"),
    [
        ("GROUP", "ERROR"),
        ("u, GROUP", "WARNING"),
        ("u, GROUP, v", "WARNING"),
        ("'group:nh_prog_vars', GROUP", "WARNING"),
        ("GROUP, u", "WARNING"),
        ("GROUP, u, v", "ERROR"),
    ],
)
def test_a_group_without_members(group, code, names, severity, tmp_path):
    (finding,) = findings(f"ml_varlist: [{names.replace('GROUP', repr(group))}]", tmp_path)
    assert (finding.code, finding.severity.name) == (code, severity)


def test_of_several_groups_without_members_none_is_left_out(tmp_path):
    found = findings("ml_varlist: ['group:bogus', 'group:nothing']", tmp_path)
    assert [(finding.code, finding.severity.name) for finding in found] == [("OUT026", "ERROR"), ("OUT026", "ERROR")]
    (one,) = findings("ml_varlist: [u], pl_varlist: [u, 'group:nh_prog_vars'], p_levels: [50000.0]", tmp_path)
    assert (one.code, one.severity.name) == ("OUT027", "WARNING")


def test_a_missing_comma_is_suspected(tmp_path):
    (finding,) = findings("ml_varlist: ['u\"v']", tmp_path)
    assert finding.message == 'ICON 2024.10 has no output variable "u"v"'
    assert "is a comma missing between two names?" in finding.notes


@pytest.mark.parametrize(
    "more",
    [
        "namelists: {io_nml: {output_nml_dict: names.txt}}\n",
        "namelists: {run_nml: {lart: true}}\n",
        'model: {release: "2024.07"}\n',
        "namelists: {run_nml: {output: [totint]}}\n",
    ],
)
def test_other_names_may_be_known(more, tmp_path):
    assert codes("ml_varlist: [bogus]", tmp_path, more) == []


def test_tracers_may_have_names_of_their_own(tmp_path):
    more = "namelists: {run_nml: {ltransport: true, ntracer: 1}, transport_nml: {tracer_names: [Dye]}}\n"
    assert codes("ml_varlist: [dye]", tmp_path, more) == []


def test_physics_brings_its_variables(tmp_path):
    assert codes("ml_varlist: [t_2m]", tmp_path, "namelists: {run_nml: {iforcing: 3}}\n") == []


def test_catalogue_is_not_loaded_without_variables(tmp_path, monkeypatch):
    def load(release):
        raise AssertionError("loaded")

    monkeypatch.setattr(output_content, "load_catalogue", load)
    assert codes("ml_varlist: null", tmp_path) == []


@rows(
    ("stream", "expected"),
    [
        ("reg_lon_def: [-180, 0, 150]", ["OUT029"]),  # without remap, as the model did
        ("remap: 1", ["OUT029"]),
        ("remap: 1, reg_lon_def: [150, 30, -180], reg_lat_def: [-75, 15, 75]", ["OUT029"]),
        ("remap: 1, reg_lon_def: [-180, 30, 150], reg_lat_def: [-75, 0, 75]", ["OUT029"]),
        ("remap: 1, reg_lon_def: [-180, 30, 150], reg_lat_def: [75, -15, -75]", []),
        ("remap: 1, reg_lon_def: [0, 1.0e-320, 359], reg_lat_def: [-90, 1.0e-320, 90]", []),
        ("remap: 1, reg_lon_def: [0, 1.0e-320, 359], reg_lat_def: [90, 1.0e-320, -90]", ["OUT029"]),
        ("remap: 1, reg_lon_def: [0, 1, 359], reg_lat_def: [1.0e+308, 1, -1.0e+308]", ["OUT029"]),
        ("remap: 1, reg_lon_def: [-180, 12, 180], reg_lat_def: [-90, 12, 90], reg_def_mode: 2", []),
        ("remap: 1, reg_lon_def: [10, 0, 10], reg_lat_def: [-90, 12, 90], reg_def_mode: 1", ["OUT029"]),
        ("remap: 1, reg_lon_def: [0, 30, 330], reg_lat_def: [5, 0, 5], reg_def_mode: 1", ["OUT029"]),
        ("reg_lon_def: [10, 0, 10]", []),
        *[
            (f"remap: 1, reg_lon_def: [{longitudes}], reg_lat_def: [-90, 12, 90]", codes)
            for longitudes, codes in (
                ("10, 1, 10", ["OUT029"]),
                ("10, 5, 10", ["OUT029"]),
                ("10, 5.1, 10", []),  # the number of points
                ("10, 1, 10.5", []),
                ("0, 5, 360", []),
                ("350, 5, 360", []),
                ("360, 5, 360", ["OUT029"]),
                ("0, 400, 0", []),
            )
        ],
        ("remap: 1, reg_lon_def: [10, 1, 10], reg_lat_def: [5, 1, 5], reg_def_mode: 2", []),
        ("remap: 1, reg_lon_def: [10, 6, 10], reg_lat_def: [5, 1, 5], reg_def_mode: 1", ["OUT029"]),
        ("remap: 1, reg_lon_def: [10, 1, 11], reg_lat_def: [5, 1, 5]", []),
    ],
)
def test_longitudes_and_latitudes(stream, expected, tmp_path):
    assert codes(stream, tmp_path) == expected


@rows(
    "text",
    [
        "1",
        "1,2 , 3;4",
        "1...10",
        "nlev",
        "N-2 ... n",
        "nlev+1",
        "16-(3+11)",
        "2...(nlev-4)",
        "10+2",
        "(1+9)+2",
        "14-(1+1)",
        "(1)...(nlev)",
        ",,1",
        "1 2",
    ],
)
def test_levels_that_the_model_reads(text):
    assert level_fault(text, 10) is None


@rows(
    ("text", "fault"),
    [
        ("0", '"0" cannot be read'),
        ("1..5", '"..5" cannot be read'),
        ("1:5", '":5" cannot be read'),
        ("NLEV", '"LEV" cannot be read'),
        ("1,bottom", '"bottom" cannot be read'),
        ("5...1", "the range from 5 to 1 is empty"),
        ("1...50", "there is no level 50 of 10"),
        ("nlev+(1+2)", "there is no level 13 of 10"),
        ("10+3", "there is no level 13 of 10"),
        ("14-(2-1)", "there is no level 13 of 10"),
        ("((1))", '"((1))" cannot be read'),
        ("9" * 900, "there is no level 999999999 of 10"),  # there numbers end
    ],
)
def test_levels_that_it_does_not_read(text, fault):
    assert level_fault(text, 10) == fault


@pytest.mark.parametrize(
    ("names", "levels", "expected"),
    [
        ("[u]", "31", ["OUT030"]),
        ("[u]", "nlev+1", ["OUT030"]),
        ("[u]", "30, 31", []),
        ("[w]", "31", []),
        ("[pres_sfc]", "31", []),
        ("[w, u]", "31", ["OUT030"]),
    ],
)
def test_each_variable_has_one_of_the_levels(names, levels, expected, tmp_path):
    assert codes(f"ml_varlist: {names}, m_levels: '{levels}'", tmp_path) == expected


def test_levels_of_another_level_type_are_not_looked_at(tmp_path):
    stream = "ml_varlist: null, pl_varlist: [temp], p_levels: [50000.0], m_levels: '1:5'"
    assert codes(stream, tmp_path) == []


@pytest.mark.parametrize(("interval", "expected"), [("PT0S", ["OUT031"]), ("-P1M", ["OUT031"]), ("P1M", [])])
def test_length_of_a_file(interval, expected, tmp_path):
    assert codes(f"file_interval: {interval}", tmp_path) == expected


@pytest.mark.parametrize(
    ("levels", "is_vertical", "domain", "chosen", "expected"),
    [
        ("[20]", True, 1, 31, ["OUT030"]),
        ("[20]", True, 2, 31, []),  # which has 31, as nobody says it
        ("[20]", True, 2, 33, []),
        ("[20]", True, 2, 34, ["OUT030"]),
        ("[20, 22]", True, 2, 31, ["OUT030"]),
        ("[20, 29]", True, 2, 31, []),
        ("[20]", False, 2, 22, []),  # all domains have 20
        ("[20]", False, 2, 23, ["OUT030"]),
        ("[90]", False, 2, 90, []),
        ("[20, 29]", False, 2, 31, ["OUT030"]),
    ],
)
def test_levels_of_a_nest(levels, is_vertical, domain, chosen, expected, tmp_path):
    """Up to two more than the domain has."""
    nest = f"grid: {{num_lev: {levels}}}\nnamelists:\n  grid_nml: {{dynamics_grid_filename: [a.nc, b.nc]}}\n"
    nest += f"  run_nml: {{lvert_nest: {str(is_vertical).lower()}}}\n"
    found = codes(f"dom: [{domain}], ml_varlist: [pres_sfc], m_levels: '{chosen}'", tmp_path, nest)
    assert [code for code in found if code == "OUT030"] == expected
