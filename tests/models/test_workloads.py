"""Which tasks of WRF, PALM and MPAS write which files: held against what the models themselves did."""

from __future__ import annotations

from unittest import mock

import pytest

import nmlgen
from nmlgen.models import mpas, palm, workload_by, wrf
from nmlgen.models.surroundings import Surroundings
from nmlgen.models.workload import OutputFile, UnknownWorkloadError, Workload
from nmlgen.models.wrf.fields import RESTART, UnknownSizeError, bytes_at_a_time
from nmlgen.namelist.reader import read_namelist
from nmlgen.source import Source
from nmlgen.workloads import workload_of_spec


def lines(found: Workload) -> list[str]:
    return [f"{file.name} {len(file.times)} {','.join(map(str, file.tasks))}" for file in found.files]


# --- WRF 4.7.1 (gfortran, Open MPI, serial netCDF-4): em_b_wave with a step of 10 minutes, traced by strace ---------

WRF = {
    "time_control": {
        "run_hours": 1,
        "start_year": 1,
        "start_month": 1,
        "start_day": 1,
        "start_hour": 0,
        "history_interval": 20,
        "frames_per_outfile": 2,
        "restart_interval": 20,
        "io_form_history": 2,
        "io_form_restart": 2,
    },
    "domains": {"time_step": 600, "max_dom": 1, "e_we": 41, "e_sn": 81, "e_vert": 65},
    "namelist_quilt": {"nio_tasks_per_group": 0, "nio_groups": 1},
}


def wrf_workload(tasks: int, **changes: object) -> Workload:
    groups = {name: dict(settings) for name, settings in WRF.items()}
    for name, value in changes.items():
        other = "domains" if name.startswith(("nproc", "parent")) else "time_control"
        home = next((group for group, settings in groups.items() if name in settings), other)
        groups[home][name] = value
    text = "".join(
        f"&{group}\n" + "".join(f" {name} = {value}\n" for name, value in settings.items()) + "/\n"
        for group, settings in groups.items()
    )
    return wrf.workload(read_namelist(text), tasks, lambda _name: None)


OUT = ["wrfout_d01_0001-01-01_00:00:00 2", "wrfout_d01_0001-01-01_00:40:00 2"]
RESTARTS = [f"wrfrst_d01_0001-01-01_{time}:00 1" for time in ("00:20", "00:40", "01:00")]


@pytest.mark.parametrize(
    ("tasks", "changes", "writers"),
    [
        (4, {}, "0"),
        (6, {"nio_tasks_per_group": 2}, "5"),
        (4, {"io_form_history": 102, "io_form_restart": 102}, "0,1,2,3"),
        (6, {"io_form_history": 102, "io_form_restart": 102, "nio_tasks_per_group": 2}, "0,1,2,3"),
    ],
)
def test_who_writes_in_wrf(tasks, changes, writers):
    found = wrf_workload(tasks, **changes)
    assert sorted(lines(found)) == sorted(f"{file} {writers}" for file in (*OUT, *RESTARTS))
    assert found.unknown == ()


def test_groups_of_writing_tasks_take_turns():
    assert lines(wrf_workload(6, nio_tasks_per_group=1, nio_groups=2, frames_per_outfile=1)) == [
        "wrfout_d01_0001-01-01_00:00:00 1 4",
        "wrfout_d01_0001-01-01_00:20:00 1 5",
        "wrfrst_d01_0001-01-01_00:20:00 1 4",
        "wrfout_d01_0001-01-01_00:40:00 1 5",
        "wrfrst_d01_0001-01-01_00:40:00 1 4",
        "wrfout_d01_0001-01-01_01:00:00 1 5",
        "wrfrst_d01_0001-01-01_01:00:00 1 4",
    ]


B_WAVE = {"nmlgen": 1, "name": "a", "extends": "wrf/b_wave", "site": "local", "job": {"ntasks_per_node": 4}}
PHYSICS = {
    "domains": {"e_vert": 41, "time_step": 300},
    "physics": {"mp_physics": 6, "sf_sfclay_physics": 1, "bl_pbl_physics": 1, "cu_physics": 1, "cudt": 0.0},
    "dynamics": {"km_opt": 4, "tracer_opt": 2},
}


@pytest.mark.parametrize(
    ("namelists", "sizes"),
    [
        ({}, {"history": 11_250_567, "restart": 71_986_747}),
        (PHYSICS, {"history": 14_207_111, "restart": 62_745_691}),
    ],
)
def test_the_bytes_of_a_time_of_wrf(namelists, sizes):
    """Those of all variables in the files of WRF 4.7.1."""
    parts = {**namelists, "time_control": {"restart_interval": 720}}
    found = workload_of_spec(nmlgen.load_spec({**B_WAVE, "namelists": parts}).experiment)
    assert {file.stream: file.size for file in found.files} == sizes


def test_bytes_that_hang_on_what_is_not_known():
    def value(name):
        return {"e_we": 41, "e_sn": 81}.get(name)

    with pytest.raises(UnknownSizeError, match="e_vert is not known"):
        bytes_at_a_time(RESTART, value)
    assert wrf_workload(4, auxhist2_interval=20, io_form_auxhist2=2, e_vert="'x'").files[0].size is None


def test_a_nest_that_begins_later():
    times = {"start_minute": "0, 20", "end_hour": "1, 1", "history_interval": "20, 10", "frames_per_outfile": "2, 3"}
    dates = {f"{which}_{part}": "1, 1" for which in ("start", "end") for part in ("year", "month", "day")}
    nest = {"max_dom": 2, "parent_id": "0, 1", "parent_time_step_ratio": "1, 3", "start_hour": "0, 0"}
    found = wrf_workload(6, **times, **dates, **nest, nio_tasks_per_group=1, nio_groups=2)
    assert lines(found) == [
        "wrfout_d01_0001-01-01_00:00:00 2 4",
        "wrfrst_d01_0001-01-01_00:20:00 1 5",
        "wrfrst_d02_0001-01-01_00:20:00 1 4",
        "wrfout_d02_0001-01-01_00:20:00 3 5",
        "wrfout_d01_0001-01-01_00:40:00 2 4",
        "wrfrst_d01_0001-01-01_00:40:00 1 5",
        "wrfrst_d02_0001-01-01_00:40:00 1 4",
        "wrfout_d02_0001-01-01_00:50:00 2 5",
        "wrfrst_d01_0001-01-01_01:00:00 1 4",
        "wrfrst_d02_0001-01-01_01:00:00 1 5",
    ]


def test_a_time_between_two_steps_becomes_the_later_one():
    history = {"history_interval": 25, "history_begin": 20, "history_end": 100}
    aux = {"auxhist2_interval": 30, "io_form_auxhist2": 2, "frames_per_auxhist2": 3}
    found = wrf_workload(4, run_hours=2, restart_interval=45, **history, **aux)
    assert {file.name: [time[11:16] for time in file.times] for file in found.files} == {
        "auxhist2_d01_0001-01-01_00:00:00": ["00:00", "00:30", "01:00"],
        "wrfout_d01_0001-01-01_00:20:00": ["00:20", "00:50"],
        "wrfrst_d01_0001-01-01_00:50:00": ["00:50"],
        "wrfout_d01_0001-01-01_01:10:00": ["01:10", "01:40"],
        "auxhist2_d01_0001-01-01_01:30:00": ["01:30", "02:00"],
        "wrfrst_d01_0001-01-01_01:30:00": ["01:30"],
    }


def test_a_restarted_wrf_writes_nothing_at_its_start():
    later = {"run_hours": 12, "start_hour": 12, "history_interval": 360, "restart_interval": 720, "restart": ".true."}
    found = wrf_workload(4, **later)
    assert lines(found) == ["wrfout_d01_0001-01-01_18:00:00 2 0", "wrfrst_d01_0001-01-02_00:00:00 1 0"]
    assert found.unknown == ("when output is next due after a restart: the restart file says it",)
    first = wrf_workload(4, **later, write_hist_at_0h_rst=".true.").files[0]
    assert first.name == "wrfout_d01_0001-01-01_12:00:00"


def test_names_of_files_of_wrf():
    found = wrf_workload(4, nocolons=".true.", history_outname="'out/<domain>.<date>.nc'")
    assert found.files[0].name == "out/01.0001-01-01_00_00_00.nc"
    split = OutputFile("history", "a", ("t",), range(2), "_{:04d}")
    assert split.names == ("a_0000", "a_0001")


def test_parallel_forms_are_written_by_all():
    assert {tuple(file.tasks) for file in wrf_workload(4, io_form_history=11, io_form_restart=11).files} == {
        (0, 1, 2, 3)
    }
    of_group = wrf_workload(6, io_form_history=11, io_form_restart=2, nio_tasks_per_group=2)
    assert {(file.stream, tuple(file.tasks)) for file in of_group.files} == {("history", (4, 5)), ("restart", (5,))}
    assert of_group.unknown == ("whether WRF was built to write so by its writing tasks (PnetCDF: PNETCDF_QUILT)",)


def test_what_the_tasks_of_wrf_do():
    found = wrf_workload(8, nio_tasks_per_group=1, nio_groups=2)
    assert [(role.what, list(role.tasks)) for role in found.roles] == [
        ("compute, 2 x 3 patches", [0, 1, 2, 3, 4, 5]),
        ("write, group 1", [6]),
        ("write, group 2", [7]),
    ]
    idle = wrf_workload(4, nproc_x=1, nproc_y=3)
    assert [(role.what, list(role.tasks)) for role in idle.roles] == [
        ("compute, 1 x 3 patches", [0, 1, 2]),
        ("idle", [3]),
    ]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"nio_tasks_per_group": 4}, "WRF stops: of 4 tasks none is left to compute"),
        ({"start_month": 13}, "start_year, start_month and start_day are no date"),
        ({"run_hours": 100000, "history_interval_s": 1}, "it writes more than 100000 times"),
        ({"time_step": 0}, "time_step is 0"),
        ({"nproc_x": 0, "nproc_y": 5}, "0 x 5 patches"),
        ({"nproc_x": -5, "nproc_y": 7}, "-5 x 7 patches"),
    ],
)
def test_what_is_not_known_of_wrf(changes, why):
    with pytest.raises(UnknownWorkloadError, match=why):
        wrf_workload(4, **changes)


def test_times_of_all_streams_and_domains_of_wrf_together_are_bounded(monkeypatch):
    monkeypatch.setattr("nmlgen.models.workload.MOST_TIMES", 8)
    each = {"auxhist3_interval": 20, "io_form_auxhist3": 2}  # four times, as history has, beside three checkpoints
    assert len(wrf_workload(4).files) == 5
    with pytest.raises(UnknownWorkloadError, match="its streams together are written more than 8 times"):
        wrf_workload(4, **each)
    with pytest.raises(UnknownWorkloadError, match="its streams together are written more than 8 times"):
        wrf_workload(4, restart_interval=10)


def test_a_length_below_nothing_is_not_counted():
    assert {file.size for file in wrf_workload(4, e_we=-41).files} == {None}
    assert all((file.size or 0) >= 0 for file in palm_workload(nx=-41, ny=-41).files)
    said, levels = {"cells": 1}, "&dimensions\n config_nvertlevels = -55\n/\n"
    found, unknown = sizes_of_mpas(KESSLER, said=said, **{"namelist.init_atmosphere": levels})
    assert unknown[0].startswith("how many levels the mesh has")
    found, _ = sizes_of_mpas(KESSLER, said={"cells": 1, "levels": 55})
    assert min(min(sizes) for sizes in found.values()) >= 0


# --- MPAS-A 8.2.2 (SMIOL, PnetCDF): the supercell with a step of 18 s ------------------------------------------------

MPAS = """\
&nhyd_model
 config_dt = 18.0
 config_start_time = '0000-01-01_00:00:00'
 config_run_duration = '00:01:48'
/
&io
 config_pio_num_iotasks = {count}
 config_pio_stride = {stride}
/
&restart
 config_do_restart = {restart}
/
"""
STREAMS = """\
<streams>
<immutable_stream name="input" type="input" filename_template="init.nc" input_interval="initial_only"/>
<immutable_stream name="restart" type="input;output" filename_template="restart.$Y-$M-$D_$h.$m.$s.nc"
 input_interval="initial_only" output_interval="0_00:00:54"/>
<stream name="output" type="output" filename_template="history.$Y-$M-$D_$h.$m.$s.nc" {}/>
<stream name="diagnostics" type="output" filename_template="diag.$Y-$d_$h.$m.$s.nc" output_interval="00:00:54"/>
</streams>
"""
HISTORY = 'output_interval="00:00:36" filename_interval="00:01:12"'


def mpas_workload(tasks: int = 1, streams: str | None = None, history: str = HISTORY, **changes: object) -> Workload:
    text = MPAS.format(**{"count": 0, "stride": 1, "restart": ".false.", **changes})
    beside = {"streams.atmosphere": Source("streams.atmosphere", streams or STREAMS.format(history))}
    return mpas.workload(read_namelist(text, "namelist.atmosphere"), tasks, beside.get)


def history_of(found: Workload) -> dict[str, list[str]]:
    return {file.name: [time[14:] for time in file.times] for file in found.files if file.stream == "output"}


def test_the_files_of_mpas():
    assert sorted(f"{file.name} {len(file.times)}" for file in mpas_workload().files) == [
        "diag.0000-001_00.00.00.nc 1",
        "diag.0000-001_00.00.54.nc 1",
        "diag.0000-001_00.01.48.nc 1",
        "history.0000-01-01_00.00.00.nc 2",
        "history.0000-01-01_00.01.12.nc 2",
        "restart.0000-01-01_00.00.54.nc 1",
        "restart.0000-01-01_00.01.48.nc 1",
    ]


@pytest.mark.parametrize(
    ("count", "stride", "writers"), [(0, 1, (0, 1, 2, 3)), (2, 2, (0, 2)), (0, 4, (0,)), (2, 0, (0, 2)), (1, 1, (0,))]
)
def test_who_writes_in_mpas(count, stride, writers):
    found = mpas_workload(4, count=count, stride=stride)
    assert {tuple(file.tasks) for file in found.files} == {writers}


@pytest.mark.parametrize(
    ("history", "files"),
    [
        (
            'output_interval="00:00:30"',
            {"00.00": ["00:00"], "00.30": ["00:36"], "01.00": ["01:12"], "01.30": ["01:30"]},
        ),
        ('output_interval="initial_only"', {"00.00": ["00:00"]}),
        ('output_interval="final_only"', {"00.00": ["01:48"]}),
        ('output_interval="none"', {}),
        ('output_interval="54" filename_interval="none"', {"00.00": ["00:00", "00:54", "01:48"]}),
        (
            'output_interval="stream:restart:output_interval" filename_interval="1:00:00"',
            {"00.00": ["00:00", "00:54", "01:48"]},
        ),
        (
            'output_interval="36" filename_interval="01:12" reference_time="0000-01-01_00:00:09"',
            {"00.09": ["00:00", "00:36", "01:12"], "01.21": ["01:48"]},
        ),
    ],
)
def test_files_of_a_stream(history, files):
    found = history_of(mpas_workload(history=history))
    assert found == {f"history.0000-01-01_00.{at}.nc": times for at, times in files.items()}


def test_files_of_a_stream_that_is_read_too_last_as_long_as_it_is_read():
    own = STREAMS.format('input_interval="00:01:12" output_interval="00:00:36"')
    found = history_of(mpas_workload(streams=own.replace('name="output" type="', 'name="output" type="input;')))
    assert found == {
        "history.0000-01-01_00.00.00.nc": ["00:00", "00:36"],
        "history.0000-01-01_00.01.12.nc": ["01:12", "01:48"],
    }


def test_a_run_of_mpas_that_goes_on():
    assert history_of(mpas_workload(restart=".true.")) == {
        "history.0000-01-01_00.00.00.nc": ["00:36"],
        "history.0000-01-01_00.01.12.nc": ["01:12", "01:48"],
    }


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"count": 4, "stride": 2}, "MPAS stops: 4 tasks that write, each 2 from the next"),
        ({"history": 'output_interval="soon"'}, "the output_interval of stream \"output\" is 'soon'"),
        ({"history": 'output_interval="0"'}, "the output_interval of stream"),
    ],
)
def test_what_is_not_known_of_mpas(changes, why):
    with pytest.raises(UnknownWorkloadError, match=why):
        mpas_workload(4, **changes)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("18.0", "0.0", "the run never ends"),
        ("'00:01:48'", "'-1'", "do not say when the run ends"),
        ("'0000-01-01_00:00:00'", "'file'", "config_start_time is 'file'"),
        ("'0000-01-01_00:00:00'", "'0000-13-01'", "config_start_time is '0000-13-01'"),
    ],
)
def test_times_that_are_not_known_of_mpas(old, new, why):
    text = MPAS.format(count=0, stride=1, restart=".false.").replace(old, new)
    beside = {"streams.atmosphere": Source("streams.atmosphere", STREAMS.format(HISTORY))}
    with pytest.raises(UnknownWorkloadError, match=why):
        mpas.workload(read_namelist(text), 1, beside.get)
    with pytest.raises(UnknownWorkloadError, match="is not there"):
        mpas.workload(read_namelist(text), 1, lambda _name: None)


MESH = {"nCells": 672, "nEdges": 2016, "nVertices": 1344, "maxEdges": 6, "maxEdges2": 12, "vertexDegree": 3}
SIZED = """\
<streams>
<immutable_stream name="invariant" type="input" filename_template="init.nc" input_interval="{invariant}"/>
<immutable_stream name="input" type="input" filename_template="init.nc" input_interval="initial_only"/>
<immutable_stream name="restart" type="output" filename_template="r.nc" output_interval="54" filename_interval="none"/>
<immutable_stream name="da_state" type="output" filename_template="a.nc" output_interval="54" packages="jedi_da"/>
<stream name="first" type="output" precision="double" filename_template="d.nc" output_interval="initial_only">
<stream name="output"/><var_array name="scalars" packages="mp_kessler_in"/><var name="ozmixm"/><var name="mminlu"/>
</stream>
<stream name="output" type="output" filename_template="h.nc" output_interval="initial_only">
<var name="xtime"/><var name="u"/><var name="latCell"/><var name="re_cloud" packages="mp_wsm6_in"/>
<var name="qv_init"/><var name="tend_u" packages="mp_thompson_in;mp_wsm6_in"/><file name="list"/>
</stream>
<stream name="structs" type="output" precision="single" filename_template="s.nc" output_interval="initial_only">
<var_struct name="mesh"/><var_struct name="diag_physics"/><var_struct name="tend"/><stream name="output"/>
</stream>
<stream name="fixed" type="output" filename_template="i.nc" output_interval="initial_only">
<stream name="restart"/><stream name="neither"/>
</stream>
<stream name="assimilated" type="output" filename_template="m.nc" output_interval="54" packages="mp_wsm6_in;iau">
<stream name="da_state"/>
</stream>
</streams>
"""


def sizes_of_mpas(
    physics: str, invariant: str = "initial_only", said: dict[str, int] | None = None, more: str = "", **beside: str
) -> tuple[dict[str, tuple[int | None, int]], tuple[str, ...]]:
    """Of each stream the bytes of a time and those of a file; what is not known of them."""
    text = MPAS.format(count=0, stride=1, restart=".false.")
    texts = {"streams.atmosphere": SIZED.format(invariant=invariant), "list": "zgrid\n  w\trho\n", **beside}
    around = Surroundings(
        lambda name: Source(name, texts[name]) if name in texts else None,
        lambda name: {} if name != "init.nc" or said else {**MESH, "nVertLevels": 40},
        said or {},
    )
    read = read_namelist(
        f"{text}{more}&physics\n config_physics_suite = 'none'\n {physics}\n/\n", "namelist.atmosphere"
    )
    found = mpas.workload(read, 1, around)
    return {file.stream: (file.size, file.once) for file in found.files}, found.unknown


KESSLER, WSM6 = "config_microp_scheme = 'mp_kessler'", "config_microp_scheme = 'mp_wsm6'"
MYNN = f"{KESSLER}\n config_convection_scheme = 'cu_tiedtke'\n config_pbl_scheme = 'bl_mynn'"


@pytest.mark.parametrize(
    ("physics", "invariant", "sizes"),
    [
        (
            KESSLER,
            "initial_only",
            {
                "restart": (5_139_524, 108_064),
                "first": (1_935_424, 3_811_968),
                "output": (540_352, 113_056),
                "structs": (9_133_824, 4_850_448),
                "fixed": (5_139_524, 3_052_312),
            },
        ),
        (
            WSM6,
            "initial_only",
            {
                "restart": (6_765_764, 108_064),
                "first": (1_505_344, 3_811_968),
                "output": (970_432, 113_056),
                "fixed": (6_765_764, 3_052_312),
                "assimilated": (2_585_920, 2_760),
            },
        ),
        (MYNN, "none", {"restart": (9_870_404, 3_052_312)}),
    ],
)
def test_the_bytes_of_a_time_of_mpas(physics, invariant, sizes):
    """Those of the variables of files that a supercell of 672 cells has left (8.2.2, built in single precision)."""
    found, unknown = sizes_of_mpas(physics, invariant)
    assert {stream: found[stream] for stream in sizes} == sizes
    assert ("assimilated" in found, "da_state" in found) == (physics == WSM6, False)
    assert unknown == ()


def test_a_mesh_of_mpas_that_somebody_tells():
    found, unknown = sizes_of_mpas(KESSLER, said={"cells": 40_962, "levels": 55})
    assert found["output"] == (64 + 4 * (122_880 * 55 + 40_962 * (56 + 55)), 4 * (40_962 * (1 + 56) + 55))
    assert unknown == ()
    region = "&limited_area\n config_apply_lbcs = true\n/\n"
    _, unknown = sizes_of_mpas(KESSLER, said={"cells": 40_962, "levels": 55}, more=region)
    assert unknown == ("how many edges and vertices a region has, which are counted as a sphere's",)


def test_the_levels_of_a_mesh_of_mpas_that_is_made_yet():
    init = {"namelist.init_atmosphere": "&dimensions\n config_nvertlevels = 55\n/\n"}
    assert sizes_of_mpas(KESSLER, said={"cells": 40_962}, **init) == sizes_of_mpas(
        KESSLER, said={"cells": 40_962, "levels": 55}
    )


@pytest.mark.parametrize(
    ("said", "beside", "unknown"),
    [
        ({"levels": 55}, {}, "how many cells the mesh has: init.nc is not there, or does not say it"),
        ({"cells": 672}, {}, "how many levels the mesh has: init.nc is not there, or does not say it"),
        ({}, {"list": "u theta_of_mine"}, 'the bytes of stream "output": MPAS 8.2.2 has no field "theta_of_mine"'),
    ],
)
def test_sizes_that_are_not_known_of_mpas(said, beside, unknown):
    found, told = sizes_of_mpas(KESSLER, said=said, **beside)
    assert told == (unknown,)
    assert found["output"] == (None, 0)


# --- PALM 25.10.1: example_cbl for 20 s ---------------------------------------------------------------------------

PALM = {
    "initialization_parameters": {"nx": 39, "ny": 39, "nz": 40, "dx": 50.0, "dy": 50.0, "dz": 50.0},
    "runtime_parameters": {
        "end_time": 20.0,
        "data_output_2d_on_each_pe": ".FALSE.",
        "netcdf_data_format": 2,
        "restart_data_format": "'fortran_binary'",
        "dt_data_output": 10.0,
        "dt_data_output_av": 20.0,
        "dt_dopr": 10.0,
        "data_output": "'w_xy', 'w_xz', 'w_xz_av', 'theta_xy'",
        "data_output_pr": "'wtheta'",
    },
}


def palm_workload(tasks: int = 2, write_binary: bool | None = False, more: str = "", **changes: object) -> Workload:
    groups = {name: dict(settings) for name, settings in PALM.items()}
    groups["runtime_parameters"] |= changes
    text = "".join(
        f"&{group}\n" + "".join(f" {name} = {value}\n" for name, value in settings.items()) + "/\n"
        for group, settings in groups.items()
    )
    beside = {"ENVPAR": Source("ENVPAR", f"&envpar write_binary = {'.T.' if write_binary else '.F.'} /\n")}
    return palm.workload(read_namelist(text + more, "PARIN"), tasks, ({} if write_binary is None else beside).get)


BASE = [
    "DATA_2D_XY_NETCDF 2 0",
    "DATA_2D_XZ_NETCDF 2 0",
    "DATA_2D_XZ_AV_NETCDF 1 0",
    "DATA_1D_PR_NETCDF 2 0",
    "DATA_1D_TS_NETCDF 0 0",
]


def test_the_files_of_palm():
    found = palm_workload()
    assert lines(found) == BASE
    assert found.unknown == ()
    assert found.files[2].times == ("20 s",)


@pytest.mark.parametrize(
    ("form", "names"),
    [("'fortran_binary'", ("BINOUT/_000000", "BINOUT/_000001")), ("'mpi'", ("BINOUT",))],
)
def test_restart_files_of_palm(form, names):
    found = palm_workload(write_binary=True, restart_data_format=form)
    (file,) = [file for file in found.files if file.stream == "restart"]
    assert (file.names, list(file.tasks), file.times) == (names, [0, 1], ("20 s",))


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"skip_time_data_output_av": 1e5}, {"DATA_2D_XZ_AV_NETCDF"}),
        ({"dt_dots": 30.0}, {"DATA_1D_TS_NETCDF"}),
        ({"data_output_pr": "''"}, {"DATA_1D_PR_NETCDF"}),
        ({"dt_do2d_xy": 50.0}, {"DATA_2D_XY_NETCDF"}),
        ({"end_time": 0.0}, {line.partition(" ")[0] for line in BASE}),
    ],
)
def test_files_that_palm_does_not_write(changes, missing):
    there = {file.name for file in palm_workload(**changes).files}
    assert {line.partition(" ")[0] for line in BASE} - there == missing


def test_profiles_of_the_start_are_a_time_more():
    def times(**changes: object) -> tuple[str, ...]:
        (file,) = [file for file in palm_workload(**changes).files if file.stream == "profiles"]
        return file.times

    assert times() == ("10 s", "20 s")
    assert times(data_output_pr="'wtheta', '#theta'") == ("0 s", "10 s", "20 s")
    assert times(data_output_pr="'#theta'", skip_time_dopr=20.0) == ("0 s", "20 s")
    assert times(data_output_pr="'#theta'", dt_dopr=0.0) == ()
    goes_on = PALM["initialization_parameters"] | {"initializing_actions": "'read_restart_data'"}
    with mock.patch.dict(PALM, initialization_parameters=goes_on):
        said = {"data_output": "''", "skip_time_dopr": 0.0, "dt_max": 20.0, "dt_dots": 5.0}
        assert times(data_output_pr="'#theta'", **said) == ("10 s", "20 s")


SECTIONS: dict[str, object] = {"section_xy": 2, "section_xz": 20}


@pytest.mark.parametrize(
    ("changes", "sizes"),
    [
        (SECTIONS, {"2d xy": 12_808, "2d xz": 6_728, "2d xz mean": 6_728, "profiles": 176}),
        ({"data_output": "'theta_yz'"}, {"2d yz": None}),
        ({"data_output": "'theta', 'w'"}, {"3d": 8 + 2 * 40 * 40 * 42 * 4}),
        ({"data_output": "'theta', 'w'", "nz_do3d": 9}, {"3d": 8 + 2 * 40 * 40 * 10 * 4}),
        ({"data_output": "'us*_xy', 'theta_xy'", "section_xy": "2, 10, -1"}, {"2d xy": 8 + 4 * 1600 * 4}),
        ({"data_output": "'theta', 'm_soil'"}, {"3d": None}),
        ({"section_xy": -9999, "section_xy_m": 30.0}, {"2d xy": None}),
    ],
)
def test_the_bytes_of_a_time_of_palm(changes, sizes):
    found = {file.stream: file.size for file in palm_workload(**changes).files}
    assert {stream: found[stream] for stream in sizes} == sizes


def test_the_precision_of_palm_is_that_of_a_kind_of_output():
    precise = PALM["initialization_parameters"] | {"netcdf_precision": "'all_NF90_REAL8', '2d_NF90_REAL4'"}
    with mock.patch.dict(PALM, initialization_parameters=precise):
        found = {file.stream: file.size for file in palm_workload(**SECTIONS).files}
    assert (found["2d xy"], found["profiles"]) == (12_808, 344)


def test_the_state_at_the_start_of_palm_is_a_time_more():
    found = palm_workload(do2d_at_begin=".T.")
    assert {file.stream: file.times[:1] for file in found.files if file.stream.startswith("2d")} == {
        "2d xy": ("0 s",),
        "2d xz": ("0 s",),
        "2d xz mean": ("20 s",),
    }


def test_volumes_of_palm_are_written_by_all_with_parallel_netcdf():
    found = palm_workload(data_output="'theta', 'e_av'", netcdf_data_format=5)
    assert {file.name: list(file.tasks) for file in found.files if file.name.startswith("DATA_3D")} == {
        "DATA_3D_NETCDF": [0, 1],
        "DATA_3D_AV_NETCDF": [0, 1],
    }
    each_step = palm_workload(data_output="'theta'", dt_do3d=0.0).files[0]
    assert (each_step.name, each_step.times) == ("DATA_3D_NETCDF", ())


@pytest.mark.parametrize(
    ("changes", "unknown"),
    [
        ({"more": "&particle_parameters\n/\n"}, "the files of &particle_parameters"),
        ({"data_output_2d_on_each_pe": ".TRUE."}, "the files in which each task leaves its part of sections"),
        ({"write_binary": None}, "whether restart files are kept"),
        ({"end_time": 7.5}, "whether the last step, which may go beyond end_time, reaches what is due soon after it"),
        ({"data_output_masks": "'w'"}, "the files of masks"),
    ],
)
def test_what_is_not_known_of_palm(changes, unknown):
    (told,) = palm_workload(**changes).unknown
    assert told.startswith(unknown)


def test_times_that_are_not_known_of_palm():
    with pytest.raises(UnknownWorkloadError, match="end_time is not known"):
        palm_workload(dt_coupling=7.5)
    with pytest.raises(UnknownWorkloadError, match="it writes more than 100000 times"):
        palm_workload(end_time=1e9, dt_data_output=1.0)


def test_times_of_all_streams_of_mpas_together_are_bounded(monkeypatch):
    monkeypatch.setattr("nmlgen.models.workload.MOST_TIMES", 10)
    stream = '<stream name="s{}" type="output" filename_template="s{}.nc" output_interval="00:00:18"/>'
    streams = [stream.format(number, number) for number in range(6)]
    assert mpas_workload(streams=f"<streams>{streams[0]}</streams>").files
    with pytest.raises(UnknownWorkloadError, match="its streams together are written more than 10 times"):
        mpas_workload(streams=f"<streams>{''.join(streams)}</streams>")


def test_times_of_all_streams_of_wrf_and_palm_together_are_bounded(monkeypatch):
    most, together = "nmlgen.models.workload.MOST_TIMES", "its streams together are written more than"
    changes = {"run_hours": 9, "history_interval": 60, "auxhist3_interval": 60, "restart_interval": 60}
    count = sum(len(file.times) for file in wrf_workload(4, **changes).files)
    monkeypatch.setattr(most, count)
    assert wrf_workload(4, **changes).files
    monkeypatch.setattr(most, count - 1)
    with pytest.raises(UnknownWorkloadError, match=together):
        wrf_workload(4, **changes)
    monkeypatch.setattr(most, 5)
    with pytest.raises(UnknownWorkloadError, match=together):
        palm_workload(data_output="'theta', 'e', 'theta_av', 'w_xy'", end_time=60.0, dt_data_output=20.0)


def test_a_step_of_mpas_is_no_longer_than_any_run():
    text = MPAS.format(count=0, stride=1, restart=".false.").replace("18.0", "1e308")
    with pytest.raises(UnknownWorkloadError, match="a step is longer than any run"):
        mpas.workload(read_namelist(text, "namelist.atmosphere"), 1, {"streams.atmosphere": Source("", STREAMS)}.get)


def test_a_name_of_mpas_is_no_longer_than_it_can_be():
    """Else a template of half a megabyte stands for each time."""
    stream = '<streams><stream name="s" type="output" filename_template="{}" output_interval="00:00:18"/></streams>'
    assert len(mpas_workload(streams=stream.format("$Y" * 256)).files[0].name) == 4 * 256
    with pytest.raises(UnknownWorkloadError, match="of a stream has more than 512 characters"):
        mpas_workload(streams=stream.format("$Y" * 257))


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_nothing_is_worked_out_of_what_is_no_number(value):
    with pytest.raises(UnknownWorkloadError, match="dt_data_output is not known"):
        palm_workload(dt_data_output=value)
    text = MPAS.format(count=0, stride=1, restart=".false.").replace("18.0", value)
    with pytest.raises(UnknownWorkloadError, match="config_dt is not known"):
        mpas.workload(read_namelist(text, "namelist.atmosphere"), 1, {"streams.atmosphere": Source("", STREAMS)}.get)


@pytest.mark.parametrize("which", ["name", "filename_template"])
def test_a_name_of_mpas_is_no_longer_than_its_texts(which):
    streams = STREAMS.format(HISTORY).replace(f'{which}="', f'{which}="{"o" * 600}')
    with pytest.raises(UnknownWorkloadError, match="of a stream has more than 512 characters"):
        mpas_workload(streams=streams)


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
@pytest.mark.parametrize("name", ["end_time", "dt_data_output", "dt_dopr", "skip_time_data_output", "skip_time_dopr"])
def test_times_of_palm_that_are_no_numbers(name, number):
    with pytest.raises(UnknownWorkloadError, match="is not known"):
        palm_workload(**{name: number})


def test_more_tasks_than_anybody_has_are_not_followed():
    with pytest.raises(UnknownWorkloadError, match="4294967296 tasks are more than are followed"):
        workload_by(wrf, read_namelist("&domains\n/\n"), 2**32, lambda _name: None)
    file = OutputFile("history", "out", (), range(2**40), "_{:04d}")
    assert file.count == 2**40
