"""Bytes of output and checkpoints, against files that ICON 2024.10 wrote: on R2B5 and R2B6 (F. Ott, 2025; measured by
Darshan) and on R2B2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import with_setting

from nmlgen import load_spec
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import InputFile
from nmlgen.experiment.setting import UndecidedError, unknown, written
from nmlgen.models.icon import volume as volumes
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.schedule import duties
from nmlgen.models.icon.volume import (
    StreamVolume,
    Volume,
    _axis,
    checkpoint_files,
    checkpoint_parts,
    checkpoint_volume,
    most_checkpoint_bytes,
    named_cells,
    other_grid,
    points,
    rank_bytes,
    rank_volumes,
    read_dictionary,
    said_cells,
    step_volume,
    stream_volumes,
    unknown_names,
)

MEASURED = {"R2B5": 254_280_168, "R2B6": 1_017_119_208}
COORDINATES = {"R2B5": 9_830_624, "R2B6": 39_321_824}
Z_MC = {"R2B5": 30 * 81_920 * 8, "R2B6": 30 * 327_680 * 8}
HEADER = 21_240


def cyclone(grid: str = "R2B5", *overrides: str) -> Component:
    """The measured experiment."""
    spec: dict[str, Any] = {
        "nmlgen": 1,
        "name": "cyclone",
        "extends": "icon/nh_dcmip_tc_52",
        "site": "generic-slurm",
        "model": {"name": "icon", "release": "2024.10", "executable": "icon/bin/icon"},
        "grid": {"file": "grid.nc", "name": grid},
        "job": {"account": "bb1234", "nodes": 1, "ntasks_per_node": 128, "time": "00:40:00"},
        "parallel": {"num_io_procs": 8},
        "restart": {"restart_write_mode": "sync"},
        "output": {"atm": {"output_grid": True, "stream_partitions_ml": 8}},
    }
    return load_spec(spec, overrides).experiment.components[0]


def wave(*overrides: str) -> Component:
    """The dry wave on R2B2 with 20 levels, six hours long."""
    spec: dict[str, Any] = {
        "nmlgen": 1,
        "name": "wave",
        "extends": "icon/jabw",
        "site": "generic-slurm",
        "model": {"name": "icon", "release": "2024.10", "executable": "icon/bin/icon"},
        "grid": {"file": "grid.nc", "name": "R2B2", "num_lev": 20},
        "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T06:00:00Z", "modelTimeStep": "PT10M"},
        "job": {"account": "bb1234", "nodes": 1, "ntasks_per_node": 4, "time": "00:40:00"},
        "restart": {"restart_write_mode": "sync"},
        "output": {
            "atm": {
                "output_interval": "PT1H",
                "file_interval": "PT3H",
                "ml_varlist": ["u", "v", "w", "temp", "pres", "pres_sfc", "vn", "div", "vor"],
            }
        },
    }
    return load_spec(spec, overrides).experiment.components[0]


def only(component: Component) -> StreamVolume:
    (found,) = stream_volumes(component)
    return found


@pytest.mark.parametrize("grid", MEASURED)
def test_step_is_that_of_the_measured_files(grid: str) -> None:
    found = only(cyclone(grid))
    assert found.step == Volume.exactly(MEASURED[grid])
    assert found.variables == 54 + 1  # z_mc, once in a file
    assert found.records == 1201
    assert step_volume(cyclone(grid), cyclone(grid).streams[0], "ml") == found.step


@pytest.mark.parametrize("grid", MEASURED)
def test_file_is_steps_and_constants_and_header(grid: str) -> None:
    found = only(cyclone(grid))
    assert found.constant.best == Z_MC[grid] + COORDINATES[grid] + HEADER
    assert found.files == 81
    assert found.largest == 15
    assert found.file.best == 15 * MEASURED[grid] + Z_MC[grid] + COORDINATES[grid] + HEADER
    assert found.file.sureness == "within 0.01 %"
    assert found.run.best == 1201 * MEASURED[grid] + 81 * (Z_MC[grid] + COORDINATES[grid] + HEADER)


def test_checkpoint_is_that_of_the_measured_file() -> None:
    found = checkpoint_volume(cyclone())
    assert found.best == pytest.approx(893.6e6, rel=0.005)
    assert found.low <= 893.6e6 <= found.high
    assert checkpoint_files(cyclone()) == 1


def test_single_precision_halves_the_values() -> None:
    found = only(cyclone("R2B5", "namelists.io_nml.lnetcdf_flt64_output=false"))
    assert found.step.best == (MEASURED["R2B5"] - 8) // 2 + 8
    assert checkpoint_volume(cyclone()) == checkpoint_volume(
        cyclone("R2B5", "namelists.io_nml.lnetcdf_flt64_output=false")
    )


# settings, level type, then bytes of a step and of the first file with three steps
SMALL = [
    ([], "ml", 880_648, 2_646_400),
    (["output.atm.filetype=2"], "ml", 465_762, 1_397_286),
    (
        [
            "output.atm.ml_varlist=[u, v, temp]",
            "output.atm.remap=1",
            "output.atm.reg_lon_def=[-180.0, 10.0, 170.0]",
            "output.atm.reg_lat_def=[-85.0, 10.0, 85.0]",
        ],
        "ml",
        24_008,
        74_632,
    ),
    (
        [
            "output.atm.ml_varlist=null",
            "output.atm.pl_varlist=[temp]",
            "output.atm.p_levels=[50000.0, 85000.0]",
            "output.atm.remap=1",
            "output.atm.reg_lon_def=[-180.0, 10.0, 170.0]",
            "output.atm.reg_lat_def=[-85.0, 10.0, 85.0]",
        ],
        "pl",
        808,
        4_064,
    ),
]


@pytest.mark.parametrize(("overrides", "level_type", "step", "file"), SMALL)
def test_small_files(overrides: list[str], level_type: str, step: int, file: int) -> None:
    found = only(wave(*overrides))
    assert found.level_type == level_type
    assert found.step.best == pytest.approx(step, rel=1e-4)
    assert found.largest == 3
    assert found.file.low <= file <= found.file.high
    assert found.file.best == pytest.approx(file, rel=0.015)


def test_what_is_estimated_says_so() -> None:
    grib, regular, pressure = (only(wave(*overrides)).step for overrides, *_ in SMALL[1:])
    assert grib.sureness == "-50 % to +2 %"
    assert any("16 bits" in reason for reason in grib.reasons)
    assert any("reg_lon_def" in reason for reason in regular.reasons)
    assert any("p_levels" in reason for reason in pressure.reasons)
    packed = only(wave("output.atm.filetype=2", "namelists.gribout_nml.lgribout_24bit=true")).step
    assert packed.high > grib.high
    chunked = only(wave("output.atm.filetype=5")).step
    assert chunked.best == 880_648 < chunked.high


def test_small_checkpoints() -> None:
    assert checkpoint_volume(wave()).best == pytest.approx(2_417_668, rel=1e-5)
    joint = wave("restart.restart_write_mode=joint procs multifile")
    assert checkpoint_files(joint) == 4 + 1  # attributes.nc
    values_and_indices = 2_391_048
    assert checkpoint_volume(joint).low > values_and_indices * 0.995
    dedicated = ["restart.restart_write_mode=dedicated procs multifile", "restart.num_restart_procs=2"]
    assert checkpoint_files(wave(*dedicated, "restart.nrestart_streams=2")) == 4 + 1


LEVELS = 20 * 1280 * 4


@rows(
    ("varlist", "best"),
    [
        ("[temp]", LEVELS),
        ("[TEMP]", LEVELS),
        ("[temp, temp]", LEVELS),
        ("[temp, u, -u]", LEVELS),
        ("[temp, -bogus]", LEVELS),
        ("['group:nosuchgroup', temp]", LEVELS),
        ("[w]", 21 * 1280 * 4),
        ("[vn]", 20 * 1920 * 4),
        ("[omega_z]", 20 * 642 * 4),
        ("['group:nh_prog_vars']", 20 * 1920 * 4 + 3 * LEVELS),
        ("['group:nh_prog_vars', -vn]", 3 * LEVELS),
    ],
)
def test_varlists(varlist: str, best: int) -> None:
    assert only(wave(f"output.atm.ml_varlist={varlist}")).step == Volume.exactly(best + 8)


def test_tiles() -> None:
    surface = ["output.atm.ml_varlist=['tiles:t_g']", "output.atm.stream_partitions_ml=1"]
    one = only(cyclone("R2B5", *surface)).step
    assert one == Volume.exactly(81_920 * 8 + 8)
    several = ["namelists.nwp_phy_nml.inwp_surface=1", "namelists.lnd_nml.ntiles=3"]
    assert only(cyclone("R2B5", *surface, *several)).step == Volume.exactly(6 * 81_920 * 8 + 8)


def test_groups_follow_the_physics() -> None:
    rain = "output.atm.ml_varlist=['group:precip_vars']"
    without = only(cyclone("R2B5", rain)).step
    graupel = only(cyclone("R2B5", rain, "namelists.nwp_phy_nml.inwp_gscp=2")).step
    assert without.is_exact
    assert graupel.best - without.best == 81_920 * 8


def test_groups_on_pressure_levels_are_empty() -> None:
    found = stream_volumes(wave("output.atm.pl_varlist=['group:nh_prog_vars', temp]", "output.atm.p_levels=[50000.0]"))
    assert found[1].step.best == 1280 * 4 + 8


def test_unknown_variable_widens() -> None:
    component = wave("output.atm.ml_varlist=[temp, bogus]")
    found = only(component).step
    assert found.low == LEVELS + 1280 * 4 + 8
    assert found.best == 2 * LEVELS + 8
    assert found.high == LEVELS + 21 * 1920 * 4 + 8
    assert "bogus" in found.reasons[0]
    assert unknown_names(component, component.streams[0], "ml") == ("bogus",)


def test_unknown_names() -> None:
    component = wave("output.atm.ml_varlist=[Temp, -nix, 'group:nope', 'tiles:t_g', 'group:all', t_g_t_3]")
    assert unknown_names(component, component.streams[0], "ml") == ("-nix", "group:nope")


def test_dictionary(tmp_path: Path) -> None:
    (tmp_path / "dict").write_text("# ours  theirs\n't_air' temp\nbroken\n")
    component = wave("output.atm.ml_varlist=[t_air]", "namelists.io_nml.output_nml_dict=dict")
    inputs = (InputFile("dict", written("inputs", str(tmp_path / "dict"), "spec")),)
    there = evolve(component.experiment, inputs=inputs).components[0]
    assert read_dictionary(there) == {"t_air": "temp"}
    assert only(there).step == Volume.exactly(LEVELS + 8)
    assert unknown_names(there, there.streams[0], "ml") == ()
    assert read_dictionary(component) is None
    assert "output_nml_dict" in only(component).step.reasons[0]
    inverted = wave("namelists.io_nml={output_nml_dict: dict, linvert_dict: true}")
    swapped = evolve(inverted.experiment, inputs=inputs).components[0]
    assert read_dictionary(swapped) == {"temp": "t_air"}


def test_what_a_stream_writes_is_worked_out_once_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[int] = []
    recorded = volumes._recorded.__wrapped__
    monkeypatch.setattr(volumes, "_recorded", lambda one: worked_out.append(one.domain) or recorded(one))
    component = wave("output.atm.ml_varlist=[temp]")
    first = stream_volumes(component)
    assert (first, rank_bytes(component), stream_volumes(component)) == (first, rank_bytes(component), first)
    assert worked_out == [1]


def test_what_all_streams_share_is_hashed_once_and_compared_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = volumes._shared(wave("output.atm.ml_varlist=[temp]"))
    assert volumes._shared(wave("output.atm.ml_varlist=[temp]")) is shared
    assert volumes._shared(wave("output.atm.ml_varlist=[u]")) != shared
    hashed: list[int] = []

    class Counted:
        def __hash__(self) -> int:
            hashed.append(1)
            return 1

    one = evolve(shared, values=((Counted(),),))
    assert hash(one) == hash(one)
    assert len(hashed) == 1


def test_a_dictionary_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    (tmp_path / "dict").write_text("t_air temp\n")
    monkeypatch.setattr(volumes, "read_bytes", lambda path: read.append(path) or path.read_bytes())
    component = wave("output.atm.ml_varlist=[t_air]", "namelists.io_nml.output_nml_dict=dict")
    inputs = (InputFile("dict", written("inputs", str(tmp_path / "dict"), "spec")),)
    there = evolve(component.experiment, inputs=inputs).components[0]
    assert only(there).step == Volume.exactly(LEVELS + 8)
    assert unknown_names(there, there.streams[0], "ml") == ()
    assert len(read) == 1


@pytest.mark.parametrize(
    ("selection", "levels"),
    [
        ("1", 1),
        ("1,3,5...10", 8),
        ("nlev", 1),
        ("nlev-1...nlev", 2),
        ("nlev-20...2", 2),
        ("(1...20)", 20),
        ("", 20),
        ("1...nlev+1", 20),
    ],
)
def test_selected_levels(selection: str, levels: int) -> None:
    found = only(wave("output.atm.ml_varlist=[temp, pres_sfc]", f"output.atm.m_levels='{selection}'"))
    assert found.step == Volume.exactly((levels + 1) * 1280 * 4 + 8)


def test_levels_that_cannot_be_read_widen() -> None:
    found = only(wave("output.atm.ml_varlist=[temp]", "output.atm.m_levels='upper'")).step
    assert (found.low, found.high) == (1280 * 4 + 8, 21 * 1280 * 4 + 8)


def test_one_level_where_nobody_knows_how_many() -> None:
    component = wave("output.atm.ml_varlist=[temp]")
    unsaid = with_setting(component.experiment, "run_nml", "num_lev", unknown("run_nml.num_lev"))
    found = only(unsaid.components[0]).step
    assert (found.low, found.high) == (1280 * 4 + 8, 2 * 1280 * 4 + 8)


@pytest.mark.parametrize(
    ("longitudes", "latitudes", "count"),
    [
        ("[-180.0, 1.0, 179.0]", "[-90.0, 1.0, 90.0]", 360 * 181),
        ("[0.0, 1.0, 360.0]", "[-90.0, 0.5, 90.0]", 360 * 361),
        ("[0.0, 100.0, 360.0]", "[-90.0, 50.0, 90.0]", 100 * 50),
        ("[3.0, 1.0, 3.0]", "[1.0, 1.0, 2147483647.0]", 2147483647),  # as many as an integer counts
    ],
)
def test_regular_grids(longitudes: str, latitudes: str, count: int) -> None:
    regular = [f"output.atm.reg_lon_def={longitudes}", f"output.atm.reg_lat_def={latitudes}", "output.atm.remap=1"]
    assert only(wave("output.atm.ml_varlist=[temp]", *regular)).step.best == 20 * count * 4 + 8


@pytest.mark.parametrize(
    ("longitudes", "latitudes"),
    [
        ("[0.0, 1.0, 1e300]", "[0.0, 1.0, 2.0]"),
        ("[0.0, 1.0, 2.0]", "[-1e308, 1e-5, 1e308]"),
        ("[0.0, 2147483647.0, 2.0]", "[0.0, 1.0, 2.0]"),
        ("[0.0, 65536.0, 360.0]", "[0.0, 32768.0, 90.0]"),
        ("[3.0, 1.0, 3.0]", "[1.0, 1.0, 2147483648.0]"),
    ],
)
def test_more_points_than_can_be_counted(longitudes: str, latitudes: str) -> None:
    regular = [f"output.atm.reg_lon_def={longitudes}", f"output.atm.reg_lat_def={latitudes}", "output.atm.remap=1"]
    with pytest.raises(UndecidedError) as caught:
        stream_volumes(wave("output.atm.ml_varlist=[temp]", *regular))
    assert "than ICON can count" in caught.value.reason


@pytest.mark.parametrize(
    ("selected", "count"),
    [
        ("1...999999999", 999_999_999),
        ("1...900000000, 900000000, 5, 900000001...999999999", 999_999_999),
        ("7...5, 3", 1),
        ("3, 1, 2...4, 3...6", 6),
    ],
)
def test_levels_that_are_selected_are_counted_not_listed(selected: str, count: int) -> None:
    overrides = ["grid.num_lev=2000000000", f"output.atm.m_levels='{selected}'", "output.atm.ml_varlist=[temp]"]
    assert only(wave(*overrides)).step.best == 1280 * count * 4 + 8


def test_points() -> None:
    assert points(wave()) == {"cell": 1280, "edge": 1920, "vertex": 642}


@pytest.mark.parametrize("override", ["namelists.grid_nml.l_limited_area=true"])
def test_grids_that_cannot_be_known(override: str) -> None:
    with pytest.raises(UndecidedError):
        stream_volumes(wave(override))
    with pytest.raises(UndecidedError):
        checkpoint_volume(wave(override))


def test_other_releases_borrow_the_variables() -> None:
    found = only(wave("model.release='2024.07'")).step
    assert found.best == 880_648
    assert any("2024.10" in reason for reason in found.reasons)


def test_sum_and_multiple() -> None:
    sum_ = Volume(1, 2, 4, ("a",)) + Volume(1, 1, 1, ("a", "b"))
    assert sum_ == Volume(2, 3, 5, ("a", "b"))
    assert sum_.times(2) == Volume(4, 6, 10, ("a", "b"))
    assert Volume(100, 100, 100).widened(0.9, 1.001, "c") == Volume(90, 100, 101, ("c",))


@pytest.mark.parametrize(
    ("volume", "words"),
    [
        (Volume(5, 5, 5), "exact"),
        (Volume(0, 0, 5), "uncertain"),
        (Volume(98, 100, 101), "within 2 %"),
        (Volume(50, 100, 175), "-50 % to +75 %"),
        (Volume(10**7 - 1, 10**7, 10**7), "within 0.01 %"),
        (Volume(99_995, 100_000, 100_000), "within 0.005 %"),
        (Volume(100, 100, 110), "-0 % to +10 %"),
    ],
)
def test_sureness(volume: Volume, words: str) -> None:
    assert volume.sureness == words


def test_nothing_is_written_without_output() -> None:
    assert stream_volumes(wave("namelists.run_nml.output=[none]")) == ()
    never = only(wave("output.atm.output_start=2001-01-01T00:00:00Z", "output.atm.output_end=2002-01-01T00:00:00Z"))
    assert never.file.best == never.run.best == 0


def test_callable_for_every_level_type(build: Callable[[str], Component]) -> None:
    component = build(
        "output:\n  atm: {pl_varlist: [temp], p_levels: [1.0], hl_varlist: [u], h_levels: [1.0, 2.0], "
        "il_varlist: [gh], i_levels: [300.0]}\n"
    )
    assert [found.level_type for found in stream_volumes(component)] == ["ml", "pl", "hl", "il"]


def ocean(*overrides: str) -> Component:
    """The preset of an ocean on R2B2 with five levels."""
    spec: dict[str, Any] = {
        "nmlgen": 1,
        "name": "ocean",
        "extends": "icon/omip",
        "site": "generic-slurm",
        "model": {"name": "icon", "release": "2024.10", "executable": "icon/bin/icon", "pool": "pool"},
        "job": {"account": "bb1234", "nodes": 1, "ntasks_per_node": 8, "time": "00:40:00"},
        "models": {
            "oce": {
                "grid": {"file": "grid.nc", "name": "R2B2"},
                "namelists": {"ocean_dynamics_nml": {"n_zlev": 5, "dzlev_m": [50.0, 150.0, 500.0, 1300.0, 2500.0]}},
            }
        },
    }
    return load_spec(spec, overrides).experiment.components[0]


def test_an_ocean_as_it_was_measured() -> None:
    """The bytes that a second record adds to a file, and those of a checkpoint."""
    component = ocean()
    monthly, monitor, moc, *_ = (volume.step for volume in stream_volumes(component))
    assert monthly.best == pytest.approx(719_414, rel=1e-3)
    assert monitor.is_exact
    assert moc.best == 44_788 - 25_332 - 8  # 180 latitudes; the file with one record less has a shorter head
    assert checkpoint_volume(component).best == pytest.approx(860_807, rel=0.01)


@pytest.mark.parametrize(
    ("switch", "more"),
    [
        ("ocean_physics_nml.lhamocc=true", 1_000_000),
        ("ocean_diagnostics_nml.diagnose_age=true", 2 * 5 * 1280 * 8),
        ("sea_ice_nml.i_ice_therm=2", 4 * 1280 * 8),
    ],
)
def test_what_is_switched_on_is_in_the_checkpoint(switch: str, more: int) -> None:
    plain, switched = (checkpoint_volume(ocean(*given)).best for given in ([], [f"models.oce.namelists.{switch}"]))
    assert switched - plain >= more


def test_waves_have_a_tracer_for_each_frequency_and_direction() -> None:
    """Measured: 696 793 bytes with 24 of them on two ranks."""
    spec: dict[str, Any] = {
        "nmlgen": 1,
        "name": "waves",
        "extends": "icon/waves",
        "site": "generic-slurm",
        "model": {"name": "icon", "release": "2024.10", "executable": "icon/bin/icon", "pool": "pool"},
        "job": {"account": "bb1234", "nodes": 1, "ntasks_per_node": 3, "time": "00:40:00"},
        "models": {
            "wave": {
                "grid": {"file": "grid.nc", "name": "R2B2"},
                "namelists": {"wave_nml": {"ndirs": 4, "nfreqs": 6}, "run_nml": {"ntracer": 24}},
            }
        },
    }
    component = load_spec(spec).experiment.components[0]
    volume = checkpoint_volume(component)
    assert volume.low <= 696_793 <= volume.high
    assert volume.best == pytest.approx(696_793, rel=0.06)  # attributes.nc is shorter than an atmosphere's
    assert checkpoint_files(component) == 2 + 1


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("torus_triangles_4x5_1000m.nc", 40),  # rows of rhombs, two triangles each
        ("torus_triangles_4x0_1000m.nc", None),
        ("R2B4", 20_480),
        ("R02B03", 5_120),
        ("R3B2", 2_880),
        ("R0B4", None),
        ("some-grid.nc", None),
    ],
)
def test_cells_by_the_name_of_a_grid(name: str, cells: int | None) -> None:
    component = wave(f"grid.file={name}", "grid.name=null")
    assert (named_cells(component, 1), named_cells(component, 2)) == (cells, None)
    assert named_cells(wave(f"grid.file={name}", "namelists.grid_nml.l_limited_area=true"), 1) is None


def test_a_name_of_its_own_counts_before_that_of_the_file() -> None:
    assert named_cells(wave("grid.file=torus_triangles_4x5_1000m.nc"), 1) == 1280
    assert named_cells(wave("grid.file=R2B4.nc", "grid.name=R2B3"), 1) == 5_120


def test_cells_that_are_said() -> None:
    assert [said_cells(wave("grid.cells=[100, 200]"), domain) for domain in (1, 2, 3)] == [100, 200, None]
    assert points(wave("grid.cells=100")) == {"cell": 100, "edge": 150, "vertex": 52}


def test_what_each_rank_writes() -> None:
    """A stream of two partitions on both ranks, seven times in six hours; another, four times on the first."""
    two = "output.b={output_interval: PT2H, file_interval: PT6H, ml_varlist: [u]}"
    component = wave("parallel.num_io_procs=2", "output.atm.stream_partitions_ml=2", two)
    first, second = stream_volumes(component)
    assert (first.step.best, first.records, first.files, first.largest) == (880_648, 7, 5, 2)
    assert (second.step.best, second.records, second.files, second.largest) == (102_408, 4, 2, 3)
    assert rank_bytes(component) == (7 * 880_648 / 2 + 4 * 102_408, 7 * 880_648 / 2)
    volumes = rank_volumes(component, duties(component, clock(component)))
    assert sum(volume.best for volume in volumes) == first.run.best + second.run.best
    assert volumes[1].best == 3 * 880_648 + 2 * first.constant.best
    assert rank_bytes(wave()) == (7 * 880_648,)


@pytest.mark.parametrize(
    ("settings", "step", "constant"),
    [
        ([], (880_648, 880_648, 880_648), (4_005, 4_450, 4_895)),
        (["output.atm.filetype=5"], (880_648, 880_648, 889_455), (4_005, 4_450, 4_895)),
        (["output.atm.output_grid=true"], (880_648, 880_648, 880_648), (239_525, 239_970, 240_415)),
        (["output.atm.filetype=2"], (232_877, 465_754, 475_070), (0, 0, 0)),
        (
            ["output.atm.filetype=2", "namelists.gribout_nml.lgribout_compress_ccsds=true"],
            (58_219, 465_754, 475_070),
            (0, 0, 0),
        ),
        (
            ["output.atm.filetype=2", "namelists.gribout_nml.lgribout_24bit=true"],
            (232_877, 465_754, 698_631),
            (0, 0, 0),
        ),
        (
            ["output.atm.filetype=2", "output.atm.output_grid=true"],
            (232_877, 465_754, 475_070),
            (8_155, 16_310, 16_637),
        ),
        (["model.release='2024.07'"], (880_648, 880_648, 880_648), (4_005, 4_450, 4_895)),
    ],
)
def test_bounds_of_a_step_and_of_what_every_file_holds(
    settings: list[str], step: tuple[int, ...], constant: tuple[int, ...]
) -> None:
    found = only(wave(*settings))
    assert (found.step.low, found.step.best, found.step.high) == step
    assert (found.constant.low, found.constant.best, found.constant.high) == constant


@pytest.mark.parametrize(
    ("mode", "parts", "bounds"),
    [
        ([], 1, (2_405_581, 2_417_670, 2_429_759)),
        (["joint procs multifile"], 4, (2_423_230, 2_485_981, 2_553_111)),
        (["dedicated procs multifile", "restart.num_restart_procs=2"], 2, (2_408_624, 2_471_301, 2_538_357)),
    ],
)
def test_bounds_of_a_checkpoint(mode: list[str], parts: int, bounds: tuple[int, ...]) -> None:
    component = wave(*(f"restart.restart_write_mode={mode[0]}", *mode[1:]) if mode else ())
    found = checkpoint_volume(component)
    assert (checkpoint_parts(component), (found.low, found.best, found.high)) == (parts, bounds)
    assert found.high < most_checkpoint_bytes(component) == 100 * 1.5 * 1280 * 21 * 8


@pytest.mark.parametrize(
    ("selection", "levels"),
    [("2...1", 0), ("1...nlev-5", 15), ("(3)", 1), ("3...3", 1), ("21", 20), ("20", 1), ("nlev+1", 20), ("1,1", 1)],
)
def test_levels_of_one_variable(selection: str, levels: int) -> None:
    found = only(wave("output.atm.ml_varlist=[temp]", f"output.atm.m_levels='{selection}'"))
    assert found.step == Volume.exactly(levels * 1280 * 4 + 8)


@rows(
    ("longitudes", "latitudes", "count"),
    [
        ("[0.0, 1.0]", "[0.0, 1.0, 2.0]", 3),
        ("[0.0, 0.0, 5.0]", "[0.0, 1.0, 2.0]", 3),
        ("[0.0, 5.0, 10.0]", "[0.0, 6.0, 2.0]", 3 * 6),  # a step up to 5, a number above
        ("[0.0, 4.0, 360.0]", "[90.0, -1.0, -90.0]", 90 * 181),  # a circle ends where it begins
        ("[0.0, 90.0, 360.0]", "[90.0, -1.0, -90.0]", 90 * 181),
        ("[0.0, 1.0, 360.0]", "[-90.0, 1.0, 270.0]", 360 * 361),
        ("[0.0, 5.001, 360.0]", "[0.0, 1.0, 2.0]", 5 * 3),  # a number, which a circle does not shorten
        ("[0.0, 5.0, 360.0]", "[0.0, 1.0, 2.0]", 72 * 3),
        ("[0.0, 0.000002, 0.00001]", "[0.0, 1.0, 2.0]", 6 * 3),
        ("[0.0, 0.0000001, 0.00001]", "[0.0, 1.0, 2.0]", 3),  # no step
        ("[0.0, 0.3, 0.9]", "[0.0, 1.0, 2.0]", 4 * 3),
        ("[3.0, 4.0, 3.0]", "[7.0, 1.0, 7.0]", 1),
        ("[0.0, 1.0, 359.0]", "[7.0, 1.0, 7.0]", 360),
        ("[360.0, -1.0, 0.0]", "[7.0, 1.0, 7.0]", 360),
    ],
)
def test_points_of_regular_grids(longitudes: str, latitudes: str, count: int) -> None:
    regular = [f"output.atm.reg_lon_def={longitudes}", f"output.atm.reg_lat_def={latitudes}", "output.atm.remap=1"]
    assert only(wave("output.atm.ml_varlist=[temp]", *regular)).step.best == 20 * count * 4 + 8


@pytest.mark.parametrize(
    ("definition", "period", "values"),
    [
        ([0.0, 1.0, 10.0], None, 11),
        ([10.0, -1.0, 0.0], None, 11),
        ([0.0, 5.0, 10.0], None, 3),  # up to five it is the step
        ([0.0, 5.5, 10.0], None, 5),  # and above that their number
        ([0.0, 6.0, 10.0], None, 6),
        ([0.0, 0.0, 10.0], None, 1),
        ([0.0, 1e-6, 1e-5], None, 11),
        ([0.0, 0.9e-6, 1e-5], None, 1),
        ([0.0, 1.0], None, 1),
        ([-180.0, 0.5, 180.0], 360, 720),  # 180 degrees are -180
        ([-180.0, 0.5, 180.0], None, 721),
        ([-180.0, 0.5, 179.5], 360, 720),
        ([-180.0, 360.0, 180.0], 360, 360),
        ([0.0, 5.0, 0.0], 360, 1),
    ],
)
def test_values_of_an_axis(definition, period, values):
    assert _axis(written("output_nml.reg_lon_def", definition, "test", None), period) == values


@pytest.mark.parametrize(("count", "is_known"), [(2.0**31 - 2, True), (2.0**31 - 1, False)])
def test_an_axis_has_no_more_values_than_icon_can_count(count, is_known):
    definition = written("output_nml.reg_lon_def", [0.0, count, count], "test", None)
    if is_known:
        assert _axis(definition, None) == count
        return
    with pytest.raises(UndecidedError):
        _axis(definition, None)


def test_runs_on_grids_of_other_sizes_share_no_sizes() -> None:
    steps = [only(wave(f"grid.cells={cells}", "output.atm.ml_varlist=[temp]")).step.best for cells in (1000, 2000)]
    assert steps == [20 * 1000 * 4 + 8, 20 * 2000 * 4 + 8]


@pytest.mark.parametrize(
    ("named", "file", "limited", "other"),
    [
        ("R2B5", "iconR02B05-grid.nc", "false", None),
        ("R2B5", "iconR02B06-grid.nc", "false", "R2B6"),
        ("R2B5", "iconR03B05-grid.nc", "false", "R3B5"),
        ("R2B5", "iconR02B06-grid.nc", "true", None),
        ("R2B5", "R03B07_of_R02B05.nc", "false", None),
        ("R2B5", "R03B07_of_R02B06.nc", "false", "R3B7"),
        ("R2B5", "grid.nc", "false", None),
        ("null", "iconR02B06-grid.nc", "false", None),
    ],
)
def test_a_file_that_is_called_by_another_grid(named: str, file: str, limited: str, other: str | None) -> None:
    component = wave(f"grid.name={named}", f"grid.file={file}", f"namelists.grid_nml.l_limited_area={limited}")
    assert other_grid(component) == other


def test_streams_that_differ_in_their_times_only_are_worked_out_once(tmp_path: Path, monkeypatch) -> None:
    """Where names are translated by a dictionary, too."""
    (tmp_path / "dict").write_text("t_air temp\n")
    streams = [f"output.s{number}={{output_interval: PT{number}M, ml_varlist: [t_air]}}" for number in range(1, 9)]
    component = wave(*streams, "namelists.io_nml.output_nml_dict=dict")
    inputs = (InputFile("dict", written("inputs", str(tmp_path / "dict"), "spec")),)
    there = evolve(component.experiment, inputs=inputs).components[0]
    made = []
    contents = volumes._Contents
    monkeypatch.setattr(volumes, "_Contents", lambda *args: made.append(args) or contents(*args))
    sizes = {volumes.step_volume(there, stream, "ml").best for stream in there.streams[-8:]}
    assert (len(made), sizes) == (1, {LEVELS + 8})


def test_levels_of_hundreds_of_variables_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counted:
        looks = 0

        def fullmatch(self, text: str) -> Any:
            Counted.looks += 1
            return matching.fullmatch(text)

    matching = volumes._MODEL_LEVEL
    monkeypatch.setattr(volumes, "_MODEL_LEVEL", Counted())
    only(wave("output.atm.ml_varlist=[temp, u, v, pres, rho, theta_v]", "output.atm.m_levels='1,2,3'"))
    assert Counted.looks <= 2 * 3
