"""Time limits against what a job takes."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen
from nmlgen import SpecError, load_spec
from nmlgen.advise.first_look import is_surely_enough
from nmlgen.advise.job_time import JobTime, job_time
from nmlgen.units.wall_time import parse_wall_time

SLOW = ("parallel.num_io_procs=1", "output.atm.stream_partitions_ml=1", "output.atm.output_interval=PT4M")
SYNC = ("restart.restart_write_mode=sync", "restart.checkpointTimeIntval=PT12M", "parallel.num_io_procs=0")
EXAMPLE = Path(__file__).parents[2] / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def codes(*overrides: str) -> list[str]:
    return [finding.code for finding in nmlgen.check(EXAMPLE, overrides=overrides).findings]


@pytest.mark.parametrize(
    ("overrides", "is_short"),
    [
        (("job.time=00:05:00",), True),
        (("job.time=00:07:30",), True),  # the model fits, the two minutes before it do not
        (("job.time=00:10:00",), False),
        (("job.time=00:10:00", "restart.restartTimeIntval=P10D"), True),  # one job instead of two
        (("job.time=00:05:00", "namelists.io_nml.checkpoint_on_demand=true"), False),
    ],
)
def test_a_leg_with_its_set_up(overrides, is_short):
    assert ("SLM026" in codes(*overrides)) is is_short


@pytest.mark.parametrize(("time", "is_short"), [("00:08:00", False), ("00:07:59", True)])
def test_a_limit_that_is_just_enough(time, is_short, monkeypatch):
    monkeypatch.setattr("nmlgen.advise.first_look.is_surely_enough", lambda component, limit: False)
    monkeypatch.setattr("nmlgen.advise.job_time.slowest", lambda experiment: JobTime(360.0, 300.0, 420.0, 120, True))
    assert ("SLM026" in codes(f"job.time={time}")) is is_short


def test_far_from_all_measurements_only_what_is_certain():
    far = ("job.nodes=64", "grid={file: iconR02B09-grid.nc, name: R2B9}", "parallel.num_io_procs=8")
    assert "SLM026" in codes(*far, "job.time=00:05:00")
    found = job_time(load_spec(EXAMPLE, far).experiment.components[0])
    assert not found.is_sure
    between = int((found.low_s + found.expected_s) / 2) + found.set_up_s
    overrides = (*far, f"job.time={between // 3600:02d}:{between // 60 % 60:02d}:00")
    report = nmlgen.check(EXAMPLE, overrides=overrides)
    assert "SLM026" not in [finding.code for finding in report.findings]
    assert "SLM026" in [item.code for item in report.undecided]


def test_auto_leaves_a_margin():
    experiment = load_spec(EXAMPLE, ["job.time=auto"]).experiment
    found = job_time(experiment.components[0])
    limit = parse_wall_time(experiment.directives["time"].value)
    assert limit == found.limit_s
    assert limit >= found.set_up_s + 1.25 * found.high_s
    assert limit % 300 == 0
    assert "one run in ten takes more than" in experiment.directives["time"].origin.reason
    assert codes("job.time=auto") == []


def test_auto_obeys_the_partition():
    long = ("job.time=auto", "restart.restartTimeIntval=P10D", "grid={file: iconR02B08-grid.nc, name: R2B8}")
    assert load_spec(EXAMPLE, long).experiment.directives["time"].value == "08:00:00"


def test_auto_needs_a_grid():
    with pytest.raises(SpecError, match="time is auto, and the size of the grid is not known"):
        load_spec(EXAMPLE, ["job.time=auto", "namelists.grid_nml.l_limited_area=true"])


@pytest.mark.parametrize("settings", [(), ("job.nodes=1",), ("job.nodes=8",), ("grid.name=R2B7",), SLOW, SYNC])
def test_a_first_look_is_on_the_safe_side(settings):
    """Where it finds a limit enough, the model does, too; and some it does."""
    component = load_spec(EXAMPLE, settings).experiment.components[0]
    found = job_time(component)
    enough = [limit for limit in range(600, 100_000, 300) if is_surely_enough(component, limit)]
    assert enough
    assert enough[0] > found.set_up_s + found.high_s


@pytest.mark.parametrize(("time", "is_short"), [("00:05:00", True), ("08:00:00", False)])
def test_several_models_take_no_less_than_the_slowest(time, is_short, tmp_path):
    """Whether they take more nobody can know."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "nmlgen: 1\nname: coupled\nextends: icon/coupled\nsite: levante\n"
        "model: {name: icon, release: '2024.10', executable: bin/icon}\n"
        f"job: {{account: bb1234, nodes: 4, time: '{time}'}}\n"
    )
    report = nmlgen.check(spec)
    assert ("SLM026" in [finding.code for finding in report.findings]) is is_short
    assert ("SLM026" in [item.code for item in report.undecided]) is not is_short
