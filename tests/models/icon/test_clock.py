"""Model time of an experiment: its end, its jobs, its intervals, and what nobody can know."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.clock import clock, first_meeting
from nmlgen.units.calendar import Calendar

Build = Callable[[str], Component]
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def test_clock_of_the_example(build: Build) -> None:
    time = clock(build(""))
    assert time.calendar is Calendar.PROLEPTIC_GREGORIAN
    assert (time.length, time.step, time.checkpoint, time.restart) == (10 * DAY, 10 * MINUTE, 12 * HOUR, 10 * DAY)
    assert (time.leg, time.legs) == (10 * DAY, 1)


@pytest.mark.parametrize(
    ("fragment", "leg", "legs"),
    [
        ("restart: {restartTimeIntval: P1D}", DAY, 10),
        ("restart: {restartTimeIntval: P3D}", 3 * DAY, 4),
        ("restart: {restartTimeIntval: P20D}", 10 * DAY, 1),
        ("restart: {restartTimeIntval: null}", 10 * DAY, 1),
        ("restart: {restartTimeIntval: P1D, lrestart_write_last: false}", 10 * DAY, 1),
        ("namelists: {run_nml: {nsteps: 144}}", DAY, 10),
        ("namelists: {run_nml: {nsteps: 288}}\nrestart: {restartTimeIntval: P1D}", DAY, 10),
        ("namelists: {run_nml: {nsteps: -999}}", 10 * DAY, 1),
        ("namelists: {time_nml: {dt_restart: 86400.0}}\nrestart: {restartTimeIntval: null}", DAY, 10),
        ("time: {start: 2008-09-11T00:00:00Z}", 0, 1),
        ("time: {start: 2008-09-10T23:59:59Z, modelTimeStep: PT0.001S}\nnamelists: {run_nml: {nsteps: 1}}", 1, 1000),
    ],
)
def test_what_ends_a_job(build: Build, fragment: str, leg: int, legs: int) -> None:
    time = clock(build(fragment))
    assert (time.leg, time.legs, time.leg_at(time.length)) == (leg, legs, legs)
    assert len(list(time.jobs())) == (legs if leg else 0)


def test_a_limit_of_steps_ends_jobs_before_their_months(build: Build) -> None:
    time = clock(
        build(
            "time: {start: 2000-01-01T00:00:00Z, stop: 2000-05-01T00:00:00Z, modelTimeStep: PT10M}\n"
            "restart: {restartTimeIntval: P1M}\nnamelists: {run_nml: {nsteps: 4320}}\n"
        )
    )
    jobs = [(begin // DAY, end // DAY) for begin, end in time.jobs()]
    assert jobs == [(0, 30), (30, 59), (59, 88), (88, 118), (118, 121)]


@pytest.mark.parametrize("step", [".true.", "[10.0, 20.0]"])
def test_a_step_that_is_no_number(build: Build, step: str) -> None:
    with pytest.raises(UndecidedError):
        clock(build(f"time: {{modelTimeStep: null}}\nnamelists: {{run_nml: {{dtime: {step}}}}}\n"))


@pytest.mark.parametrize(
    ("calendar", "days"), [("proleptic gregorian", 29), ("365 day year", 28), ("360 day year", 30), ("julian", 29)]
)
def test_calendar_decides_the_length(build: Build, calendar: str, days: int) -> None:
    fragment = f"""
time: {{start: 2000-02-01T00:00:00Z, stop: 2000-03-01T00:00:00Z}}
namelists: {{master_time_control_nml: {{calendar: {calendar}}}}}
restart: {{restartTimeIntval: P1M}}
"""
    time = clock(build(fragment))
    assert time.length == days * DAY
    assert time.restart == days * DAY


@pytest.mark.parametrize(
    ("fragment", "ends"),
    [
        ("2000-05-01T00:00:00Z: P1M", [31, 60, 91, 121]),
        ("2000-04-15T00:00:00Z: P1M", [31, 60, 91, 105]),
        ("2004-01-01T00:00:00Z: P1Y", [366, 731, 1096, 1461]),
        ("2000-01-31T00:00:00Z: P10D", [10, 20, 30]),
        ("2000-03-01T00:00:00Z: P2M", [60]),
    ],
)
def test_each_job_counts_months_from_its_own_start(build: Build, fragment: str, ends: list[int]) -> None:
    stop, _, interval = fragment.partition(": ")
    time = clock(
        build(
            f"time: {{start: 2000-01-01T00:00:00Z, stop: {stop}, modelTimeStep: PT10M}}\n"
            f"restart: {{checkpointTimeIntval: {interval}, restartTimeIntval: {interval}}}"
        )
    )
    assert [(begin // DAY, end // DAY) for begin, end in time.jobs()] == list(zip([0, *ends], ends, strict=False))
    assert time.legs == len(ends)
    assert [time.end_of(number) // DAY for number in range(len(ends) + 1)] == [0, *ends]
    for number, end in enumerate(ends, start=1):
        assert (time.leg_at(end * DAY), time.leg_at(end * DAY - 1)) == (number, number)


def test_jobs_that_the_restart_interval_does_not_end(build: Build) -> None:
    time = clock(
        build(
            "time: {start: 2000-01-01T00:00:00Z, stop: 2001-01-01T00:00:00Z, modelTimeStep: PT10M}\n"
            "restart: {restartTimeIntval: P1M, lrestart_write_last: false}"
        )
    )
    assert (time.legs, list(time.jobs())) == (1, [(0, 366 * DAY)])


def test_lead_time_instead_of_a_stop_date(build: Build) -> None:
    fragment = "time: {stop: null}\nnamelists: {master_time_control_nml: {forecastLeadTime: P1M}}"
    assert clock(build(fragment)).length == 30 * DAY


@pytest.mark.parametrize(
    ("fragment", "step"),
    [
        ("time: {modelTimeStep: PT600.5S}", 600_500),
        ("time: {modelTimeStep: null}\nnamelists: {run_nml: {dtime: 120}}", 2 * MINUTE),
        ("time: {modelTimeStep: null}\nnamelists: {run_nml: {dtime: 600.5}}", 600_500),
    ],
)
def test_time_step(build: Build, fragment: str, step: int) -> None:
    assert clock(build(fragment)).step == step


@pytest.mark.parametrize(
    ("fragment", "checkpoint"),
    [
        ("restart: {checkpointTimeIntval: PT0S}", None),
        ("restart: {checkpointTimeIntval: -PT1H}", None),
        ("restart: {checkpointTimeIntval: null}", None),
        ("restart: {checkpointTimeIntval: null}\nnamelists: {io_nml: {dt_checkpoint: 1200.0}}", 20 * MINUTE),
        ("restart: {checkpointTimeIntval: null}\nnamelists: {io_nml: {dt_checkpoint: -1800.0}}", None),
    ],
)
def test_checkpoint_interval(build: Build, fragment: str, checkpoint: int | None) -> None:
    assert clock(build(fragment)).checkpoint == checkpoint


@pytest.mark.parametrize(
    "fragment",
    [
        "time: {stop: 2008-08-31T00:00:00Z}",
        "time: {modelTimeStep: PT0S}",
        "time: {modelTimeStep: -PT10M}",
        "time: {modelTimeStep: null}\nnamelists: {run_nml: {dtime: -600.0}}",
        "time: {modelTimeStep: null}\nnamelists: {run_nml: {dtime: ten}}",
        "time: {modelTimeStep: null}\nnamelists: {run_nml: {dtime: true}}",
        "restart: {restartTimeIntval: -P1D}",
        "restart: {restartTimeIntval: -P1M}",
    ],
)
def test_what_icon_refuses_is_undecided(build: Build, fragment: str) -> None:
    with pytest.raises(UndecidedError):
        clock(build(fragment))


def test_first_meeting() -> None:
    assert first_meeting(25 * MINUTE, 10 * MINUTE) == 50 * MINUTE
    assert first_meeting(30 * MINUTE, 10 * MINUTE) == 30 * MINUTE


@pytest.mark.parametrize(
    ("interval", "last"), [("PT0S", "true"), ("-P1D", "false"), ("-P1M", "false"), ("PT0S", "false")]
)
def test_an_interval_that_does_not_advance_ends_no_job(build: Build, interval: str, last: str) -> None:
    restart = f"restart: {{checkpointTimeIntval: P1D, restartTimeIntval: {interval}, lrestart_write_last: {last}}}"
    time = clock(build(restart))
    assert (time.restart, time.legs, time.leg_at(DAY), time.leg_at(5 * DAY)) == (None, 1, 1, 1)
    assert list(time.jobs()) == [(0, 10 * DAY)]


def test_a_job_of_one_month_is_the_whole_experiment(build: Build) -> None:
    times = "time: {start: 2000-01-01T00:00:00Z, stop: 2000-02-01T00:00:00Z, modelTimeStep: PT10M}\n"
    time = clock(build(f"{times}restart: {{checkpointTimeIntval: P1M, restartTimeIntval: P1M}}"))
    assert (time.legs, list(time.jobs())) == (1, [(0, 31 * DAY)])


BRANCH = "start_from: {directory: /work/before/run, time: 2008-09-03T00:00:00Z}\n"


@pytest.mark.parametrize(
    ("fragment", "begin", "leg", "ends"),
    [
        (BRANCH, 2, 8, [10]),
        (BRANCH + "restart: {restartTimeIntval: P3D}", 2, 3, [5, 8, 10]),
        (BRANCH + "namelists: {run_nml: {nsteps: 576}}", 2, 4, [6, 10]),
        (BRANCH.replace("03T", "01T") + "restart: {restartTimeIntval: P5D}", 0, 5, [5, 10]),
        (BRANCH.replace(", time: 2008-09-03T00:00:00Z", ""), 0, 10, [10]),
    ],
)
def test_jobs_of_a_branch_begin_at_the_checkpoint(
    build: Build, fragment: str, begin: int, leg: int, ends: list[int]
) -> None:
    time = clock(build(fragment))
    assert (time.branch, time.leg, time.legs) == (begin * DAY, leg * DAY, len(ends))
    assert [time.end_of(number) for number in range(len(ends) + 1)] == [day * DAY for day in (begin, *ends)]
    assert [end // DAY for _, end in time.jobs()] == ends
    assert [time.leg_at(day * DAY) for day in ends] == list(range(1, len(ends) + 1))


def test_months_behind_a_branch_are_those_of_the_calendar(build: Build) -> None:
    said = "time: {start: 2001-01-01T00:00:00Z, stop: 2001-05-01T00:00:00Z, modelTimeStep: PT10M}\n"
    branch = "start_from: {directory: /work/before/run, time: 2001-02-01T00:00:00Z}\n"
    time = clock(build(f"{said}{branch}restart: {{restartTimeIntval: P1M, checkpointTimeIntval: P1M}}"))
    assert (time.leg, list(time.jobs())) == (
        28 * DAY,
        [(31 * DAY, 59 * DAY), (59 * DAY, 90 * DAY), (90 * DAY, 120 * DAY)],
    )


@pytest.mark.parametrize("time", ["2008-08-31T00:00:00Z", "2008-09-11T00:00:00Z"])
def test_a_branch_outside_of_the_experiment_counts_as_its_start(build: Build, time: str) -> None:
    assert clock(build(f"start_from: {{directory: /work/before/run, time: {time}}}")).branch == 0
