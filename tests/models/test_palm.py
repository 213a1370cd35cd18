"""PALM's PARIN and _p3d: what it does with groups, values, settings, tasks and the files beside."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import nmlgen
from nmlgen.models import palm
from nmlgen.models.palm.registry import key, known_elsewhere, palm_registry

NAMELIST = """\
&initialization_parameters
    nx = 39, ny = 39, nz = 40,
    dx = 50.0, dy = 50.0, dz = 50.0,
    dz_stretch_level = 1225.0,
    initializing_actions = 'set_constant_profiles',
    surface_heatflux = 0.1,
    bc_pt_b = 'neumann',
/
&runtime_parameters
    end_time = 3600.0,
    dt_data_output = 900.0,
    data_output = 'w_xy', 'theta_xz_av',
    data_output_pr = 'wtheta', '#theta', 'w"u"',
    section_xy = 2,
    section_xz = 20,
    averaging_interval = 300.0,
    dt_averaging_input = 10.0,
    restart_data_format = 'mpi',
/
"""
ENVPAR = "&envpar\n run_identifier = 'x', write_binary = {}\n/\n"


@pytest.fixture
def judged(tmp_path):
    """Lints the namelist after changes; `beside` are names of files, of which only ENVPAR has a text."""

    def lint(
        *changes: tuple[str, str], tasks: int | None = None, name: str = "PARIN", beside: dict[str, str] | None = None
    ) -> nmlgen.Report:
        text = NAMELIST
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        for other, content in (beside or {}).items():
            (tmp_path / other).write_text(content)
        (tmp_path / name).write_text(text)
        return nmlgen.lint([tmp_path / name], ntasks=tasks, is_isolated=True)

    return lint


def initial(*lines: str) -> tuple[str, str]:
    """More settings of the initial state."""
    return "&initialization_parameters\n", "&initialization_parameters\n" + "".join(f" {line},\n" for line in lines)


def running(*lines: str) -> tuple[str, str]:
    """More settings of the run."""
    return "&runtime_parameters\n", "&runtime_parameters\n" + "".join(f" {line},\n" for line in lines)


def module(name: str, *lines: str) -> tuple[str, str]:
    """A group of a module."""
    return "&runtime_parameters\n", f"&{name}\n" + "".join(f" {line},\n" for line in lines) + "/\n&runtime_parameters\n"


def codes(report: nmlgen.Report) -> list[str]:
    """The codes of PALM's messages that it would stop with; other errors by their own."""
    errors = [finding for finding in report.findings if finding.severity is nmlgen.Severity.ERROR]
    found = [re.match(r"PALM stops with (\w+): ", finding.message) for finding in errors]
    return sorted({match[1] if match else finding.code for match, finding in zip(found, errors, strict=True)})


def found(report: nmlgen.Report) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity.value) for finding in report.findings]


def test_what_palm_takes_draws_nothing(judged):
    assert found(judged()) == []
    assert found(judged(tasks=4)) == []
    assert found(judged(name="case_p3d")) == []


@pytest.mark.parametrize("name", ["PARIN", "PARIN_N02", "case_p3d", "case_p3dr", "case_p3d_N02", "mine.nml"])
def test_it_is_known_by_its_name_and_by_its_groups(judged, name):
    report = judged(("dt_data_output", "dt_data_outptu"), name=name)
    assert found(report) == [("PLM002", "error")]
    assert 'has no variable "dt_data_outptu"' in report.findings[0].message
    assert report.findings[0].fix is not None


def test_it_is_found_in_directories(tmp_path):
    for name in ("PARIN", "case_p3d", "case_p3d_N02", "notes_p3d.txt"):
        (tmp_path / name).write_text("&initialization_parameter\n/\n")
    report = nmlgen.lint([tmp_path], is_isolated=True)
    assert {Path(finding.span.source.name).name for finding in report.findings} == {"PARIN", "case_p3d", "case_p3d_N02"}


def test_groups_and_values(judged):
    assert found(judged(("&runtime_parameters", "&runtime_parameter"))) == [("PLM001", "warning")]
    assert found(judged(module("envpar", "nx = 3"))) == [("PLM001", "warning")]
    assert codes(judged(("end_time = 3600.0", "end_time = .true."))) == ["PLM002"]
    assert codes(judged(("section_xy = 2", "section_xy = 2.5"))) == ["PLM002"]
    assert codes(judged(("end_time = 3600.0", "end_time = 1.0, 2.0"))) == ["PLM002"]
    assert codes(judged(("dx = 50.0", "dx = 50.0, end_time = 3.0"))) == ["PLM002"]
    assert codes(judged(("&initialization_parameters", "&initialisation_parameters"))) == ["PAC0256"]


def test_the_last_group_without_its_slash(judged):
    tail = NAMELIST[NAMELIST.index("    restart_data_format") :]
    assert codes(judged((tail, "    restart_data_format = 'mpi',\n"))) == []
    of_run = NAMELIST[NAMELIST.index("/\n&runtime") :]
    assert codes(judged((of_run, ""))) == ["PLM002"]


def test_groups_may_have_variables_of_one_name(judged):
    assert key("slurb_parameters", "building_type") != key("urban_surface_parameters", "building_type")
    assert key("runtime_parameters", "dt") == key("initialization_parameters", "dt") == "dt"
    off = "switch_off_module = .true."
    assert codes(judged(module("ocean_parameters", off), module("bulk_cloud_parameters"))) == ["BCM0011"]
    assert codes(judged(module("ocean_parameters"), module("bulk_cloud_parameters", off)))[0].startswith("O")


def test_what_the_run_says_is_said_last(judged):
    formats = ("restart_data_format = 'mpi'", "restart_data_format = 'mpii'")
    assert codes(judged(formats)) == ["PAC0013"]
    assert codes(judged(initial("restart_data_format = 'mpii'"))) == []
    assert codes(judged(initial("surface_heatflux = 0.2"), ("bc_pt_b = 'neumann'", "neutral = .true."))) == [
        "PAC0085",
        "PAC0087",
    ]


@pytest.mark.parametrize(
    ("x", "y", "tasks", "expected"),
    [
        (2, 2, 4, []),
        (2, 2, 8, ["PAC0233"]),
        (2, 2, None, []),
        (2, -1, 2, ["PAC0234"]),
        (2, -1, None, []),
        (-1, -1, 169, []),  # 13 x 13: three columns each
        (-1, -1, 196, ["PAC0240"]),
        (13, 1, 13, []),
        (14, 1, 14, ["PAC0240"]),
        (1, 1, 1, []),
    ],
)
def test_tasks(judged, x, y, tasks, expected):
    assert codes(judged(running(f"npex = {x}", f"npey = {y}"), tasks=tasks)) == expected


def test_tasks_of_several_domains_are_not_those_of_one(judged):
    layouts = "domain_layouts = 'one', 1, -1, 4, 0.0, 0.0, 0.0, 'two', 2, 1, 4, 50.0, 50.0, 0.0"
    changes = running("npex = 2", "npey = 2"), module("nesting_parameters", layouts)
    assert codes(judged(*changes, tasks=8)) == []
    assert codes(judged(changes[0], tasks=8, name="case_p3d_N02")) == []
    assert codes(judged(module("nesting_parameters"))) == ["PMC0030"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("nx", 40, ["PAC0071", "PAC0317"]),
        ("ny", 40, ["PAC0072", "PAC0317"]),
        ("nx", 13, ["PAC0317"]),
        ("nx", 0, ["PAC0261"]),
        ("nz", 13, ["PAC0264"]),
        ("dz", -1.0, ["PAC0210"]),
        ("dz", 0.0, ["PAC0211"]),
        ("dz", "25.0, 50.0", ["PAC0212"]),
        ("dx", -1.0, ["PAC0365"]),
        ("psolver", "'nosolver'", ["PAC0030"]),
        ("fft_method", "'neumann'", ["PAC0032"]),
        ("bc_lr", "'dirichlet/radiation'", ["PAC0077"]),
        ("scalar_advec", "'bc-scheme'", ["PAC0038"]),
        ("timestep_scheme", "'runge-kutta-2'", ["PAC0036"]),
        ("bc_uv_b", "'neumann'", ["PAC0098"]),
        ("use_top_fluxes", ".true.", ["PAC0356"]),
        ("v_bulk", 7.5, ["PAC0172"]),
        ("spinup_time", 100.0, ["PAC0349"]),
        ("rayleigh_damping_height", 3000.0, ["PAC0102"]),
        ("rayleigh_damping_height", 2000.0, []),
        ("topography", "'single_building'", ["PAC0320"]),
        ("topography", "'single_street_canyon'", ["PAC0321"]),
        ("netcdf_precision", "'all'", ["NCI0001"]),
        ("netcdf_precision", "'all_NF90_REAL8'", []),
        ("initializing_actions", "''", ["PAC0044"]),
        ("initializing_actions", "'set_constant_profile'", ["PAC0046"]),
        ("initializing_actions", "'set_constant_profiles by_user'", ["PAC0049"]),
        ("roughness_length", 25.0, ["PAC0173"]),
        ("roughness_length", 24.9, []),
    ],
)
def test_settings_of_the_initial_state(judged, name, value, expected):
    written = f"{name} = {value}"
    lines = [line for line in NAMELIST.splitlines() if re.search(rf"\b{name} =", line)]
    old = re.search(rf"\b{name} = [^,\n]+", lines[0])[0] if lines else None
    assert codes(judged(initial(written) if old is None else (old, written))) == expected


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("averaging_interval", 900.0, []),
        ("averaging_interval", 900.1, ["PAC0105", "PAC0106"]),
        ("dt_averaging_input", 299.9, []),
        ("dt_averaging_input", 300.0, ["PAC0107", "PAC0108"]),
        ("section_xy", 41, []),
        ("section_xy", 42, ["PAC0138"]),
        ("section_xz", 40, ["PAC0139"]),
        ("section_xz", -9999, ["PAC0141"]),
        ("netcdf_data_format", 7, ["NCF0097"]),
        ("netcdf_data_format", 0, ["NCF0451"]),
        ("netcdf_data_format", 6, []),
        ("netcdf_compression_method", "'zip'", ["NCI0009"]),
        ("data_output", "'q'", ["PAC0123"]),
        ("data_output", "'shf*'", ["PAC0127"]),
        ("data_output", "'shf*_xy'", []),
        ("data_output", "'nonsense'", ["PAC0133"]),
        ("data_output", "'thetal_xy'", ["PAC0121"]),
        ("data_output_pr", "'wq'", ["PAC0110"]),
        ("data_output_pr", "'U'", ["PAC0118"]),
        ("data_output_pr", "'#wtheta'", ["PAC0118"]),
    ],
)
def test_settings_of_output(judged, name, value, expected):
    old = re.search(rf"\b{name} = [^\n]+", NAMELIST)
    written = f"{name} = {value}"
    assert codes(judged(running(written) if old is None else (old[0], f"{written},"))) == expected


def test_quantities_by_their_names_of_before_2019(judged):
    report = judged(("'theta_xz_av'", "'pt_xz_av'"), ("'wtheta', '#theta'", "'wpt', '#pt'"))
    assert {finding.severity.value for finding in report.findings} == {"warning"}
    assert [finding.notes[0].split('"')[1::2] for finding in report.findings] == [
        ["theta_xz_av"],
        ["wtheta"],
        ["#theta"],
    ]


def test_user_code_may_write_anything(judged):
    changes = ("'w_xy'", "'mine'"), ("'wtheta'", "'mine'")
    assert codes(judged(*changes)) == ["PAC0118", "PAC0133"]
    assert codes(judged(*changes, module("user_parameters"))) == []


def test_what_a_build_may_have_is_a_warning(judged):
    report = judged(running("netcdf_compression_method = 'deflate'"))
    assert found(report) == [("PLM003", "warning")]
    assert "NCI0010" in report.findings[0].message


@pytest.mark.parametrize(
    ("group", "lines", "expected"),
    [
        ("bulk_cloud_parameters", [], ["BCM0011"]),
        ("chemistry_parameters", [], ["CHM0050"]),
        ("det_parameters", [], ["DET0001"]),
        ("det_parameters", ["bc_dm_r = 'cyclic'"], []),
        ("radiation_parameters", [], ["RAD0011"]),
        ("salsa_parameters", [], ["SAL0001"]),
        ("stg_par", [], ["STG0005"]),
        ("turbulent_inflow_parameters", [], ["TUI0004", "TUI0006", "TUI0007"]),
        ("wind_turbine_parameters", [], ["WTM0003"]),
        ("wind_turbine_parameters", ["hub_x = 1.0", "hub_y = 1.0", "hub_z = 1.0"], []),
        ("spectra_parameters", [], []),
        ("spectra_parameters", ["dt_dosp = 100.0"], ["PAC0311"]),
        ("particle_parameters", ["bc_par_b = 'none'"], ["LPM0009"]),
        ("flow_control_parameters", [], []),
    ],
)
def test_modules(judged, group, lines, expected):
    assert codes(judged(module(group, *lines))) == expected


@pytest.mark.parametrize(
    ("changes", "ending", "beside", "code"),
    [
        ([initial("topography = 'read_from_file'")], "topo", "TOPOGRAPHY_DATA", "PAC0339"),
        ([module("virtual_measurement_parameters")], "vmeas", "PIDS_VM", "VME0001"),
        ([module("uv_radiation_parameters")], "uv", "PIDS_UV", "UVM0005"),
        ([("'set_constant_profiles'", "'read_from_file'")], "dynamic", "PIDS_DYNAMIC", "DRV0009"),
    ],
)
def test_files_that_must_be_there(judged, changes, ending, beside, code):
    assert codes(judged(*changes)) == [code]
    assert codes(judged(*changes, beside={beside: "x"})) == []
    assert codes(judged(*changes, name="case_p3d")) == []  # it may come from elsewhere
    assert codes(judged(*changes, name="case_p3d", beside={f"case_{ending}": "x"})) == []


def test_restart_files_need_palmrun(judged):
    change = running("dt_restart = 600.0")
    assert codes(judged(change)) == []
    assert codes(judged(change, beside={"ENVPAR": ENVPAR.format(".F.")})) == ["PAC0016"]
    assert codes(judged(change, beside={"ENVPAR": ENVPAR.format(".TRUE.")})) == []
    assert codes(judged(change, name="case_p3d")) == []


def test_a_restart_takes_its_settings_from_a_file(judged):
    restart = ("'set_constant_profiles'", "'read_restart_data'")
    assert codes(judged(("nx = 39", "nx = 40"), restart)) == []
    assert codes(judged(("averaging_interval = 300.0", "averaging_interval = 1.0"), restart)) == ["PAC0107"]


def test_shared_memory_is_not_used_for_a_small_domain(judged):
    change = ("'mpi'", "'mpi_shared_memory'")
    assert found(judged(change)) == [("PLM004", "warning")]
    assert found(judged(change, ("nx = 39, ny = 39", "nx = 63, ny = 79"))) == [("PLM004", "warning")]
    assert found(judged(change, ("nx = 39, ny = 39", "nx = 79, ny = 79"))) == []


@pytest.mark.parametrize(
    ("tasks", "restart", "write", "expected"),
    [
        (256, "fortran_binary", ".true.", [("PLM005", "advice")]),
        (256, "fortran_binary", None, [("PLM005", "advice")]),
        (256, "fortran_binary", ".false.", []),
        (255, "fortran_binary", ".true.", []),
        (256, "mpi", ".true.", []),
        (None, "fortran_binary", ".true.", []),
    ],
)
def test_restart_files_of_each_task(judged, tasks, restart, write, expected):
    grid = ("nx = 39, ny = 39", "nx = 1023, ny = 1023")
    beside = {} if write is None else {"ENVPAR": ENVPAR.format(write)}
    assert found(judged(grid, ("'mpi'", f"'{restart}'"), tasks=tasks, beside=beside)) == expected


@pytest.mark.parametrize(
    ("columns", "tasks", "form", "expected"),
    [
        (1600, 4, 2, [("PLM005", "advice")]),  # 2.6 million columns of 42 levels in three volumes: 1.2 GiB
        (1280, 4, 2, []),
        (1600, 1, 2, []),
        (1600, 4, 5, []),
    ],
)
def test_volumes_of_one_task(judged, columns, tasks, form, expected):
    changes = (
        ("nx = 39, ny = 39", f"nx = {columns - 1}, ny = {columns - 1}"),
        ("'w_xy', 'theta_xz_av'", "'u', 'v', 'theta_av', 'w_xy'"),
        running(f"netcdf_data_format = {form}"),
    )
    assert found(judged(*changes, tasks=tasks)) == expected


def test_a_namelist_of_another_release_is_not_refused(judged):
    assert known_elsewhere("inipar") == "PALM of 2018"
    assert known_elsewhere("runtime_parameters", "netcdf_deflate") == "PALM 23.10"
    assert known_elsewhere("runtime_parameters", "end_time") is None
    old = ("&initialization_parameters", "&inipar"), ("&runtime_parameters", "&d3par")
    assert found(judged(*old)) == [("PLM001", "warning"), ("PLM001", "warning")]
    assert judged(*old).findings[0].notes == ("PALM of 2018 has it",)
    report = judged(running("netcdf_deflate = 1"), ("nx = 39", "nx = 40"))
    assert {severity for _, severity in found(report)} == {"warning"}


def test_the_place_is_that_of_a_setting(judged):
    report = judged(("nx = 39", "nx = 40"))
    assert {(finding.span.line, finding.span.text) for finding in report.findings} == {(2, "40")}
    quantity = judged(("'theta_xz_av'", "'nonsense'")).findings[0]
    assert quantity.span.text == "'nonsense'"


def test_every_check_can_be_asked(judged):
    text = "&initialization_parameters\n/\n" + "".join(
        f"&{name}\n/\n" for name in palm_registry().groups if name != "initialization_parameters"
    )
    expected = {"BCM0011", "DET0001", "OCM0004", "PAC0210", "PMC0030", "SAL0001", "SDO0002", "USM0004", "WTM0003"}
    assert expected <= set(codes(judged((NAMELIST, text), tasks=4)))


@pytest.mark.parametrize("value", ["0.0", "-1.0", "1e308", "1e400", "nan", "-inf", "9" * 400, "''", ".true.", "", "3*"])
def test_values_that_nobody_can_compute_with(judged, value):
    names = [
        "nx",
        "ny",
        "nz",
        "dx",
        "dy",
        "dz",
        "dz_stretch_level",
        "dz_stretch_factor",
        "building_length_x",
        "recycling_width",
        "n_turbines",
    ]
    groups = "".join(f"&{name}\n/\n" for name in ("wind_turbine_parameters", "turbulent_inflow_parameters"))
    lines = "".join(f" {name} = {value},\n" for name in (*names, "topography = 'single_building',\n npex"))
    text = f"&initialization_parameters\n{lines}/\n{groups}"
    for tasks in (None, 1, 4, 10**18):
        judged((NAMELIST, text), tasks=tasks)


def test_a_module_that_may_be_off_is_not_judged(judged):
    assert codes(judged(module("nesting_offl_parameters", "switch_off_module = maybe"))) == ["PLM002"]
    assert codes(judged(module("nesting_offl_parameters", "switch_off_module = .true."), ("nx = 39", "nx = 40")))
    assert "PAC0071" not in codes(judged(module("nesting_offl_parameters"), ("nx = 39", "nx = 40")))


def test_the_registry_holds_what_palm_reads():
    registry = palm_registry()
    assert len(registry.groups) == 34
    assert registry.variable("initialization_parameters", "dz").shape == (10,)
    assert registry.variable("runtime_parameters", "data_output").length == 30
    assert registry.variable("initialization_parameters", "wall_heatflux").shape == ((0, 5),)
    document = json.loads((Path(nmlgen.__file__).parent.parent / "schemas/palm/25.10.1.json").read_text())
    assert len(document["groups"]) == 37


def test_what_lies_beside_and_is_no_file_is_there(judged, tmp_path):
    (tmp_path / "PIDS_VM").mkdir()
    assert codes(judged(module("virtual_measurement_parameters"))) == []


@pytest.mark.parametrize("code", palm.problems)
def test_the_examples_of_the_pages_are_true(tmp_path, code):
    bad, good = re.findall(r"```fortran\n(.*?)```", palm.problems[code][1], re.DOTALL)
    path = tmp_path / "PARIN"
    path.write_text(bad)
    assert code in {finding.code for finding in nmlgen.lint([path], ntasks=64, is_isolated=True).findings}
    path.write_text(good)
    assert nmlgen.lint([path], ntasks=64, is_isolated=True).findings == ()
