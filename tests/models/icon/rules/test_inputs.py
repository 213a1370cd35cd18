"""Files that are at hand: the sources of a spec's input files, and what lies in a run directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from grid_files import write_grids
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen import disk
from nmlgen.experiment.experiment import InputFile
from nmlgen.experiment.setting import written
from nmlgen.lift.namelists import MASTER_FILE, lift_master
from nmlgen.models.icon import inputs
from nmlgen.models.icon.rules.inputs import MissingInRunDirectory, SourceMissing
from nmlgen.namelist.registry import load_registry

MASTER = '&master_model_nml\n model_type = 1\n model_name = "atm"\n model_namelist_filename = "NAMELIST"\n/\n'


def of_spec(text: str, tmp_path: Path) -> list[str]:
    return [finding.message for finding in judge(experiment_of(text, tmp_path), [SourceMissing])]


def of_directory(namelist: str, tmp_path: Path, master: str = MASTER) -> list[str]:
    (tmp_path / MASTER_FILE).write_text(master)
    (tmp_path / "NAMELIST").write_text(namelist)
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    return [finding.message.split('"')[1] for finding in judge(experiment, [MissingInRunDirectory])]


@pytest.mark.parametrize("name", ["there.nc", "missing.nc"])
def test_the_source_of_an_input_file_is_looked_for(name, tmp_path):
    (tmp_path / "there.nc").touch()
    expected = [] if name == "there.nc" else [f"there is no {tmp_path}/{name} on this machine"]
    assert of_spec(f"input_files: {{a.nc: {{source: {tmp_path}/{name}}}}}\n", tmp_path) == expected
    below = of_spec(f"model: {{directory: {tmp_path}}}\ninput_files: {{a.nc: {{source: {name}}}}}\n", tmp_path)
    assert [message for message in below if name in message] == expected


@pytest.mark.parametrize(("deep", "there"), [(False, "a.nc"), (True, "a.nc"), (True, "below/deeper/a.nc")])
def test_one_file_that_fits_a_pattern_is_enough(deep, there, tmp_path):
    pool = tmp_path / "pool"
    (pool / there).parent.mkdir(parents=True)
    text = f'input_files: {{"b/*.nc": {{directory: {pool}, subdirectories: {str(deep).lower()}}}}}\n'
    (pool / "a.nc.old").touch()
    below = " and below it" if deep else ""
    assert of_spec(text, tmp_path) == [f'no file in {pool}{below} on this machine fits "*.nc"']
    (pool / there).touch()
    assert of_spec(text, tmp_path) == []


def test_a_directory_is_looked_through_once_for_all_patterns(tmp_path, monkeypatch):
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "a.nc").touch()
    walk, walked = disk.walk, []
    monkeypatch.setattr(disk, "walk", lambda *given: walked.append(given) or walk(*given))
    files = ", ".join(f'"{name}*.nc": {{directory: {tmp_path}/pool}}' for name in "abcd")
    assert len(of_spec(f"input_files: {{{files}}}\n", tmp_path)) == 3
    assert len(walked) == 1


def test_a_directory_of_too_many_files_is_not_known(tmp_path, monkeypatch):
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "a.nc").touch()
    text = f'input_files: {{"b*.nc": {{directory: {tmp_path}/pool}}, "c*.nc": {{directory: {tmp_path}/pool}}}}\n'
    monkeypatch.setattr(inputs, "_MOST_COMPARED", 2)
    assert len(of_spec(text, tmp_path)) == 2
    monkeypatch.setattr(inputs, "_MOST_COMPARED", 1)
    assert of_spec(text, tmp_path) == []


def test_without_subdirectories_what_lies_below_does_not_fit(tmp_path):
    (tmp_path / "pool" / "below").mkdir(parents=True)
    (tmp_path / "pool" / "below" / "a.nc").touch()
    assert len(of_spec(f'input_files: {{"*.nc": {{directory: {tmp_path}/pool}}}}\n', tmp_path)) == 1
    assert len(of_spec(f'input_files: {{"*.nc": {{directory: {tmp_path}/none}}}}\n', tmp_path)) == 1
    assert of_spec(f'input_files: {{"*.nc": {{directory: {tmp_path}/none/none}}}}\n', tmp_path) == []


def test_where_the_directory_is_not_here_nothing_is_said(tmp_path):
    assert of_spec(f"input_files: {{a.nc: {{source: {tmp_path}/elsewhere/a.nc}}}}\n", tmp_path) == []
    assert of_spec("model: {directory: null}\ninput_files: {a.nc: {source: a.nc}}\n", tmp_path) == []


def test_a_directory_is_a_source(tmp_path):
    assert of_spec(f"input_files: {{a: {{source: {tmp_path}}}}}\n", tmp_path) == []


@pytest.mark.parametrize(("name", "count"), [("dict", 0), ("none", 1)])
def test_paths_out_of_the_run_directory_are_looked_for(name, count, tmp_path):
    (tmp_path / "dict").touch()
    found = of_spec(f"namelists: {{io_nml: {{output_nml_dict: {tmp_path}/{name}}}}}\n", tmp_path)
    assert len(found) == count


PHYSICS = (
    "&run_nml\n iforcing = 3\n ltestcase = .true.\n/\n&extpar_nml\n itopo = 0\n/\n"
    "&nwp_phy_nml\n inwp_radiation = 0\n/\n"
)
DIVISION = '&parallel_nml\n division_method = {}\n division_file_name = "owners.nc"\n/\n'
AMIP = (
    '&run_nml\n iforcing = 2\n ltestcase = .true.\n/\n&nh_testcase_nml\n nh_test_name = "APE_aes"\n/\n'
    "&aes_phy_nml\n aes_phy_config(1)%lamip = .{}.\n aes_phy_config(1)%dt_vdf = 'PT10M'\n/\n"
)
GRID = '&grid_nml\n dynamics_grid_filename = "iconR02B05-grid.nc"\n/\n'


@rows(
    ("namelist", "expected"),
    [
        (GRID, []),
        (GRID + '&io_nml\n output_nml_dict = "dict"\n/\n', ["dict"]),
        (GRID + '&io_nml\n output_nml_dict = "extpar.nc"\n/\n', []),
        (GRID + '&io_nml\n output_nml_dict = "no/where/dict"\n/\n', ["no/where/dict"]),  # nor the directory
        (GRID + '&io_nml\n output_nml_dict = "../dict"\n/\n', []),
        (GRID.replace('nc"', 'nc", "nest.nc"'), []),
        (GRID.replace('nc"', 'nc", "no-nest.nc"'), ["no-nest.nc"]),
        (GRID.replace('"icon', '"none.nc", "icon'), ["none.nc"]),  # one of the grids is there
        (GRID.replace("R02B05", "R02B06") + '&io_nml\n output_nml_dict = "dict"\n/\n', []),  # nothing lies here
        (GRID.replace('"icon', '"./icon') + '&io_nml\n output_nml_dict = "dict"\n/\n', []),
        (GRID + PHYSICS + "&radiation_nml\n irad_co2 = 4\n/\n", ["bc_greenhouse_gases.nc"]),
        (GRID + PHYSICS + "&radiation_nml\n irad_co2 = 2\n/\n", []),
        (GRID + "&run_nml\n ltestcase = .false.\n iforcing = 0\n/\n", ["ifs2icon_R2B05_DOM01.nc"]),
        (GRID + "&run_nml\n ltestcase = .true.\n iforcing = 0\n/\n", []),
        (GRID + DIVISION.format(201), ["owners.nc"]),
        (GRID + DIVISION.format(1), []),
        (GRID + "&parallel_nml\n division_method = 201\n/\n", ["iconR02B05-grid_*_cell_owner.nc"]),
        (GRID + AMIP.format("true"), ["bc_sst.nc", "bc_sic.nc"]),
        (GRID + AMIP.format("false"), []),
    ],
)
def test_what_is_not_beside_the_grid_is_missing(namelist, expected, tmp_path):
    write_grids(tmp_path)
    assert of_directory(namelist, tmp_path) == expected


@pytest.mark.parametrize(("brings", "knows"), [(False, False), (True, False), (False, True)])
def test_a_grid_that_is_brought_makes_no_run_directory(brings: bool, knows: bool, tmp_path: Path) -> None:
    write_grids(tmp_path)
    name = "iconR02B05-grid.nc"
    files = (InputFile(name, written("inputs", f"{tmp_path}/{name}", "")),) if brings else ()
    (tmp_path / "NAMELIST").write_text(GRID)
    (tmp_path / MASTER_FILE).write_text(MASTER)
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    (component,) = evolve(experiment, inputs=files, knows_inputs=knows).components
    assert inputs.run_directory(component) == (None if brings or knows else tmp_path)


@pytest.mark.parametrize(("grid", "expected"), [("iconR02B05-grid.nc", ["oce.nc"]), ("atm.nc", [])])
def test_the_grid_of_another_component_makes_a_run_directory(grid: str, expected: list[str], tmp_path: Path) -> None:
    write_grids(tmp_path)
    ocean = MASTER.replace("= 1", "= 2").replace("atm", "oce").replace("NAMELIST", "NAMELIST_o")
    (tmp_path / MASTER_FILE).write_text(MASTER + ocean)
    (tmp_path / "NAMELIST").write_text(f'&grid_nml\n dynamics_grid_filename = "{grid}"\n/\n')
    (tmp_path / "NAMELIST_o").write_text('&grid_nml\n dynamics_grid_filename = "oce.nc"\n/\n')
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    assert [finding.message.split('"')[1] for finding in judge(experiment, [MissingInRunDirectory])] == expected


WEIGHTS = """\
timestep_unit: ISO_format
coupling:
  - src_component: atm
    src_grid: icon_atmos_grid
    tgt_component: oce
    tgt_grid: icon_ocean_grid
    coupling_period: PT20M
    field: [total_heat_flux]
    interpolation: [%s]
"""


@pytest.mark.parametrize(
    ("methods", "is_coupled", "expected"),
    [
        ("{user_file: {filename: w.nc}}", "true", ["w.nc"]),
        ("{user_file: {filename: extpar.nc}}", "true", []),
        ("{user_file: {filename: w.nc, on_missing_file: continue}}", "true", []),
        ("{nnn: {n: 1}}, {user_file: {filename: w.nc}}", "true", []),  # nothing may be left to do
        ("{user_file: {filename: w.nc}}", "false", []),
    ],
)
def test_weights_of_the_coupling_are_looked_for(methods, is_coupled, expected, tmp_path):
    write_grids(tmp_path)
    ocean = MASTER.replace("= 1", "= 2").replace("atm", "oce").replace("NAMELIST", "NAMELIST_o")
    (tmp_path / "NAMELIST_o").write_text(GRID + "&coupling_mode_nml\n coupled_to_atmo = .true.\n/\n")
    (tmp_path / "coupling.yaml").write_text(WEIGHTS % methods)
    named = GRID + f"&coupling_mode_nml\n coupled_to_ocean = .{is_coupled}.\n/\n"
    assert of_directory(named, tmp_path, MASTER + ocean) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [((), ["bc_ozone_*.nc"]), (("bc_ozone_1850.nc",), []), (("bc_ozone.nc",), ["bc_ozone_*.nc"])],
)
def test_of_a_name_with_dates_one_file_is_enough(files, expected, tmp_path):
    write_grids(tmp_path)
    for file in (
        *("coefficients_lw.nc", "coefficients_sw.nc", "rrtmgp-cloud-optics-coeffs-lw.nc"),
        *("rrtmgp-cloud-optics-coeffs-sw.nc", *files),
    ):
        (tmp_path / file).touch()
    aes = "&run_nml\n iforcing = 2\n ltestcase = .true.\n/\n&aes_phy_nml\n aes_phy_config(1)%dt_rad = 'PT1H'\n/\n"
    radiation = (
        "&aes_rad_nml\n aes_rad_config(1)%irad_o3 = 5\n aes_rad_config(1)%irad_aero = 0\n"
        " aes_rad_config(1)%irad_co2 = 2\n aes_rad_config(1)%irad_ch4 = 2\n aes_rad_config(1)%irad_n2o = 2\n/\n"
    )
    assert of_directory(GRID + aes + radiation, tmp_path) == expected


@pytest.mark.parametrize(
    ("link", "master", "count"),
    [
        (None, "lrestart = .true.", 1),
        (None, "lrestart = .false.", 0),
        ("restart_atm_DOM01.nc", "lrestart = .true.", 0),
        ("multifile_restart_atm.mfr", "lrestart = .true.", 0),
        ("restart_ocean_DOM01.nc", "lrestart = .true.", 1),
    ],
)
def test_a_run_that_begins_with_a_checkpoint_needs_it(link, master, count, tmp_path):
    write_grids(tmp_path)
    if link is not None:
        (tmp_path / link).touch()
    (tmp_path / MASTER_FILE).write_text(f"&master_nml\n {master}\n/\n{MASTER}")
    (tmp_path / "NAMELIST").write_text(GRID)
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    assert len(list(judge(experiment, [MissingInRunDirectory]))) == count


@pytest.mark.parametrize(
    ("made", "setting", "count"),
    [
        (None, "initialize_fromRestart = .true.", 1),
        (None, "initialize_fromRestart = .false.", 0),
        ("multifile_restart_oce.mfr", "initialize_fromRestart = .true.", 0),
    ],
)
def test_an_ocean_may_begin_with_a_checkpoint_without_a_restart(
    made: str | None, setting: str, count: int, tmp_path: Path
) -> None:
    write_grids(tmp_path)
    if made is not None:
        (tmp_path / made).touch()
    entry = "&master_model_nml\n model_type = 2\n model_name = 'oce'\n model_namelist_filename = 'NAMELIST'\n/\n"
    (tmp_path / MASTER_FILE).write_text(f"&master_nml\n lrestart = .false.\n/\n{entry}")
    ocean = "&grid_nml\n dynamics_grid_filename = 'iconR02B05-ocean.nc'\n/\n"
    (tmp_path / "NAMELIST").write_text(f"{ocean}&ocean_initialConditions_nml\n {setting}\n/\n")
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    found = [finding.message for finding in judge(experiment, [MissingInRunDirectory])]
    assert len([message for message in found if "begins with a checkpoint" in message]) == count


@pytest.mark.parametrize(("made", "count"), [(None, 1), ("r/oce", 0)])
def test_directories_of_checkpoints(made: str | None, count: int, tmp_path: Path) -> None:
    write_grids(tmp_path)
    if made is not None:
        (tmp_path / made).mkdir(parents=True)
    times = TIMES.replace("/\n", " checkpointTimeIntval = 'PT12H'\n/\n")
    (tmp_path / MASTER_FILE).write_text(f"&master_nml\n lrestart = .false.\n/\n{times}{MASTER}")
    (tmp_path / "NAMELIST").write_text(
        f"{GRID}&run_nml modelTimeStep = 'PT2M', restart_filename = 'r/oce/<rsttime>.nc' /\n"
    )
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    found = [finding.message for finding in judge(experiment, [MissingInRunDirectory])]
    assert len([message for message in found if '"r/oce" of a checkpoint' in message]) == count


STREAM = (
    '&output_nml\n output_filename = "{}"\n output_start = "2000-01-01T00:00:00Z"\n output_interval = "PT1H"\n'
    ' output_end = "2000-01-02T00:00:00Z"\n file_interval = "P1D"\n ml_varlist = "u"\n/\n'
)
TIMES = (
    '&master_time_control_nml\n experimentStartDate = "2000-01-01T00:00:00Z"\n'
    ' experimentStopDate = "2000-01-02T00:00:00Z"\n/\n'
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("out/atm", ["out"]),
        ("here/atm", []),
        ("atm", []),
        ("/no/such/atm", []),
        ("../atm", []),
        ("here/below/atm", ["here/below"]),
    ],
)
def test_directories_of_output_are_not_made_by_icon(name, expected, tmp_path):
    write_grids(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / MASTER_FILE).write_text(TIMES + MASTER)
    (tmp_path / "NAMELIST").write_text(GRID + '&run_nml\n modelTimeStep = "PT10M"\n/\n' + 2 * STREAM.format(name))
    experiment, _ = lift_master(tmp_path / MASTER_FILE, load_registry("2024.10"), 4)
    found = [finding.message.split('"')[1] for finding in judge(experiment, [MissingInRunDirectory])]
    assert found == expected


def test_a_link_that_leads_nowhere_may_be_a_directory_of_another_machine(tmp_path):
    write_grids(tmp_path)
    (tmp_path / "elsewhere").symlink_to(tmp_path / "of" / "another" / "machine")
    assert of_directory(GRID + '&io_nml\n output_nml_dict = "elsewhere/dict"\n/\n', tmp_path) == []


def test_waves_and_oceans_look_for_the_grid_of_the_radiation_too(tmp_path):
    write_grids(tmp_path)
    named = GRID.replace("\n/", '\n radiation_grid_filename = "coarse.nc"\n/')
    for kind in (2, 98):
        assert "coarse.nc" in of_directory(named, tmp_path, MASTER.replace("= 1", f"= {kind}"))


def test_names_of_grids_and_heights_stand_as_they_are(tmp_path):
    write_grids(tmp_path)
    named = GRID.replace("\n/", '\n vertical_grid_filename = "<path>heights.nc"\n/')
    assert of_directory(named, tmp_path) == ["<path>heights.nc"]


def test_scripts_and_specs_say_what_they_bring(tmp_path):
    write_grids(tmp_path)
    experiment = experiment_of("namelists: {io_nml: {output_nml_dict: dict}}\n", tmp_path)
    assert judge(experiment, [MissingInRunDirectory]) == []
