"""Two runs side by side."""

from __future__ import annotations

import re
import shutil

import icon_logs
import pytest
from measured_sweep import finished_log, run_sweep, write_log, write_sweep

import nmlgen


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    sweep = write_sweep(tmp_path_factory.mktemp("ran"))
    run_sweep(sweep)
    return sweep


def numbers(comparison):
    return {(one.name, one.unit): one for one in comparison.measurements}


def test_points_of_a_sweep(ran):
    found = nmlgen.compare_runs(ran / "points" / "n1-io0", ran / "points" / "n1-io2")
    time = found.measurements[0]
    assert (time.name, time.old, time.new, time.is_noise) == ("run time", 300.0, 200.0, False)
    assert time.difference == pytest.approx(-1 / 3)
    assert not found.is_same
    assert ("num_io_procs", 0, 2) in found.settings
    names = {difference.name for difference in found.setup.differences}
    assert names == {"num_io_procs", "stream_partitions_ml"}
    assert numbers(found)["timer wrt_output, I/O ranks", "s"].old is None


def test_what_only_a_run_knows_is_undecided(ran, tmp_path):
    for name in ("a", "b"):
        shutil.copytree(ran / "points" / "n1-io2", tmp_path / name)
        for path in (tmp_path / name).rglob("NAMELIST_*"):
            path.write_text(re.sub(r"nproma( *)= *\d+", r"nproma\1= $nproma", path.read_text()))
    found = nmlgen.compare_runs(tmp_path / "a", tmp_path / "b")
    assert [difference.name for difference in found.setup.differences] == ["nproma"]


def test_within_the_noise(ran):
    found = nmlgen.compare_runs(ran / "points" / "n1-io2", ran / "points" / "n1-io4")
    assert found.measurements[0].is_noise
    assert found.is_same


def test_a_timer_that_hardly_takes_time_is_noise(tmp_path):
    old, new = (tmp_path / name for name in ("a.log", "b.log"))
    old.write_bytes(finished_log(1000.0))
    row = icon_logs.row("wrt_output", 4, 7, 1.0).encode()
    assert row in finished_log(1000.0)
    new.write_bytes(finished_log(1000.0).replace(row, icon_logs.row("wrt_output", 4, 7, 2.0).encode()))
    one = numbers(nmlgen.compare_runs(old, new))["timer wrt_output, workers", "s"]
    assert (one.difference, one.is_noise) == (1.0, True)


def test_logs_alone(tmp_path):
    old, new = (tmp_path / name for name in ("a.log", "b.log"))
    old.write_bytes(finished_log(100.0))
    new.write_bytes(finished_log(110.0, io=1))
    found = nmlgen.compare_runs(old, new)
    assert found.setup is None
    assert "set-ups compared by the logs only" in found.remarks[0]
    assert ("num_io_procs", 2, 1) in found.settings
    assert numbers(found)["writing output", "MB/s"].old == pytest.approx(400.0)


def test_a_log_within_a_point(ran):
    log = ran / "points" / "n2-io2" / "run" / "n2-io2.17.icon.log"
    found = nmlgen.compare_runs(log, ran / "points" / "n2-io2" / "run")
    assert found.is_same
    assert found.setup.is_same
    assert found.settings == ()


def test_a_run_that_failed(ran, tmp_path):
    sweep = shutil.copytree(ran, tmp_path / "sweep", symlinks=True)
    crash = [*icon_logs.head(4, 2), "FINISH PE:     0 mo_output: no more space"]
    write_log(sweep, "n1-io2", icon_logs.text(crash))
    found = nmlgen.compare_runs(sweep / "points" / "n1-io0", sweep / "points" / "n1-io2")
    assert not found.is_same
    assert (found.measurements[0].old, found.measurements[0].new) == (300.0, None)
    assert found.new[-1].state == "crashed"


def test_what_is_no_run(tmp_path):
    (tmp_path / "a.log").write_text("nothing\n")
    with pytest.raises(nmlgen.InputError, match="there is no run of ICON in it"):
        nmlgen.compare_runs(tmp_path / "a.log", tmp_path / "a.log")
    with pytest.raises(nmlgen.InputError, match=r"b.log"):
        nmlgen.compare_runs(tmp_path / "b.log", tmp_path / "a.log")
