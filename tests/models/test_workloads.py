"""Which tasks of WRF, PALM and MPAS write which files: held against what the models themselves did."""

from __future__ import annotations

import pytest

from nmlgen.models import wrf
from nmlgen.models.workload import OutputFile, UnknownWorkloadError, Workload
from nmlgen.namelist.reader import read_namelist


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
    ],
)
def test_what_is_not_known_of_wrf(changes, why):
    with pytest.raises(UnknownWorkloadError, match=why):
        wrf_workload(4, **changes)
