"""Calibration from logs: which runs count, as which cases, and what is said of the others."""

from __future__ import annotations

from collections import Counter

import icon_logs
import pytest
from attrs import evolve

import nmlgen
from nmlgen.advise import Calibration, Case, predict
from nmlgen.advise.document import read
from nmlgen.advise.experiment import situation_of
from nmlgen.advise.fitting import Run
from nmlgen.calibrating import _Around, _parted, run_of
from nmlgen.cli import main
from nmlgen.errors import InputError
from nmlgen.logs.rows import LogRun
from nmlgen.logs.table import read_runs

WORK, IO = 127, 1
SPEC = {
    "nmlgen": 1,
    "name": "wave",
    "extends": "icon/jabw",
    "site": "levante",
    "model": {"release": "2024.10", "executable": "/icon/bin/icon"},
    "grid": {"file": "iconR02B04_icosahedral.nc", "name": "R2B4", "num_lev": 20},
    "time": {"start": "2000-01-01T00:00:00Z", "stop": "2000-01-01T02:00:00Z", "modelTimeStep": "PT10M"},
    "job": {"account": "xy0001", "nodes": 1, "ntasks_per_node": WORK + IO, "time": "00:10:00"},
    "parallel": {"num_io_procs": IO},
    "restart": {"restart_write_mode": "sync", "checkpointTimeIntval": "PT1H", "restartTimeIntval": "PT2H"},
    "output": {"atm": {"output_interval": "PT1H", "file_interval": "PT1H", "ml_varlist": ["u", "v", "temp"]}},
}


def log(lines=None):
    return icon_logs.text(lines or icon_logs.log(WORK, IO))


@pytest.fixture
def built(tmp_path):
    """A build, and the log of its run where the batch script leaves it."""
    nmlgen.build(SPEC).write(tmp_path)
    run = tmp_path / "run"
    run.mkdir()
    (run / "wave.7.icon.log").write_bytes(log())
    for name in ("icon_master.namelist", "NAMELIST_wave"):
        (run / name).write_bytes((tmp_path / name).read_bytes())
    return tmp_path


def test_a_run_of_a_build(built):
    (row,) = nmlgen.read_logs([built]).runs
    run = run_of(row)
    planned = situation_of(nmlgen.load_spec(SPEC).experiment.components[0]).case
    assert run.total_s == 100.0
    assert (run.case.nodes, run.case.n_cells, run.case.n_steps) == (1, 20480, 12)
    assert run.case.output_bytes == 800e6  # what the log says, not what the spec lets expect
    assert run.case == evolve(planned, output_bytes=800e6)
    assert run.timers["wrt_output_worker_avg_s"] == row.wrt_output_work_s == 7.0
    assert run.timers["wrt_output_io_avg_s"] == row.wrt_output_io_s == 24.0


def test_a_log_alone(tmp_path):
    path = tmp_path / "LOG.wave.run"
    path.write_bytes(log())
    (row,) = nmlgen.read_logs([path]).runs
    with pytest.raises(InputError, match="num_lev is not known; expected: --num-lev"):
        run_of(row)
    with pytest.raises(InputError, match="how often is not known"):
        run_of(row, {"nodes": 1, "num_lev": 20})
    row = evolve(row, output_interval=("PT1H",), stream_partitions_ml=(1,))
    assert run_of(row, {"nodes": 1, "num_lev": 20}).case == Case(
        n_cells=20480,
        num_lev=20,
        nodes=1,
        ntasks=128,
        dtime_s=600,
        n_steps=12,
        output_bytes=800e6,
        output_interval_s=3600,
        num_io_procs=1,
        restart_write_mode="sync",
        checkpoint_interval_s=3600,
    )


def test_a_log_beside_several_models(built):
    ocean = "&master_model_nml\n model_type = 2\n model_name = 'oce'\n model_namelist_filename = 'NAMELIST_oce'\n/\n"
    for script in built.glob("*.sbatch"):
        script.unlink()
    for directory in (built, built / "run"):
        with (directory / "icon_master.namelist").open("a") as master:
            master.write(ocean)
        (directory / "NAMELIST_oce").write_text("&run_nml\n/\n")
    (row,) = nmlgen.read_logs([built]).runs
    with pytest.raises(InputError, match="nodes is not known"):
        run_of(row)


def test_what_the_calibration_says(built):
    found = nmlgen.calibrate_logs([built], name="here")
    ((row, run),) = found.runs
    before, after = (abs(predict(run.case, known).total_s - run.total_s) for known in (None, found.calibration))
    assert after < before
    assert found.calibration.name == "here"
    assert found.calibration.undetermined
    assert row.name == "wave"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (icon_logs.head(WORK, IO), "truncated"),
        ([*icon_logs.head(WORK, IO), *icon_logs.steps([WORK], "sync"), *icon_logs.end()], "no timer report"),
    ],
)
def test_runs_that_do_not_count(built, lines, reason):
    (built / "run" / "wave.8.icon.log").write_bytes(log(lines))
    found = nmlgen.calibrate_logs([built])
    assert len(found.runs) == 1
    ((row, said),) = found.left_out
    assert row.log.endswith("wave.8.icon.log")
    assert reason in said
    (built / "run" / "wave.7.icon.log").unlink()
    with pytest.raises(InputError, match=reason):
        nmlgen.calibrate_logs([built])


def test_streams_of_several_intervals_do_not_count(built):
    (row,) = nmlgen.read_logs([built]).runs
    with pytest.raises(InputError, match="several streams"):
        run_of(evolve(row, output_interval=("PT1H", "PT2H")))


def test_points_of_a_sweep(tmp_path):
    nmlgen.write_sweep(nmlgen.expand(SPEC, grid={"parallel.num_io_procs": [1]}, name="io{num_io_procs}"), tmp_path)
    run = tmp_path / "points" / "io1" / "run"
    run.mkdir()
    (run / "io1.7.icon.log").write_bytes(log())
    ((row, known),) = nmlgen.calibrate_logs([tmp_path]).runs
    assert (row.nodes, known.case.nodes) == (1, 1)


def test_set_up_of_the_points_of_a_sweep(tmp_path):
    """The time from the start to the end of a job that is not the model's, the middle one of three points."""
    for minute, seconds in ((2, "30"), (3, "00"), (5, "00")):
        point = tmp_path / f"p{minute}"
        nmlgen.build(SPEC).write(point)
        (point / "run").mkdir()
        (point / "run" / "wave.7.icon.log").write_bytes(log())
        for name in ("icon_master.namelist", "NAMELIST_wave"):
            (point / "run" / name).write_bytes((point / name).read_bytes())
        (point / "nmlgen.jobs").mkdir()
        (point / "nmlgen.jobs" / "1.start").write_text("job=7 time=2026-01-01T00:00:00Z\n")
        (point / "nmlgen.jobs" / "1.end").write_text(f"code=0 outcome=OK time=2026-01-01T00:0{minute}:{seconds}Z\n")
    found = nmlgen.calibrate_logs([tmp_path])
    assert found.set_up_s == 80  # 180 s, of which the model says 100
    (tmp_path / "p3" / "nmlgen.jobs" / "1.end").unlink()
    assert nmlgen.calibrate_logs([tmp_path]).set_up_s == 125  # between 50 and 200


def test_the_file_comes_back(built, tmp_path):
    calibration = nmlgen.calibrate_logs([built]).calibration
    path = tmp_path / "here.yaml"
    path.write_text(calibration.dump())
    assert Calibration.load(path).dump() == calibration.dump()


@pytest.mark.parametrize(("state", "rows"), [("done", 10_000_000), ("d" * 1000, 100_000)])
def test_a_table_that_is_larger_than_its_file_is_not_read(tmp_path, state, rows):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = tmp_path / "t.parquet"
    parquet.write_table(
        pyarrow.table({"state": pyarrow.repeat(state, rows), "ntasks": pyarrow.repeat(4, rows)}),
        table,
        compression="zstd",
        use_dictionary=rows > 1_000_000,
    )
    assert table.stat().st_size < 2**20
    with pytest.raises(nmlgen.InputError, match=rf"t\.parquet is no table of runs: {rows} rows of "):
        read_runs(table)


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_a_table_of_runs(built, tmp_path, suffix):
    """What `nmlgen logs -o` wrote counts as the logs that it was made of."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    table = tmp_path / f"runs.{suffix}"
    assert main(["logs", str(built / "run"), "-o", str(table)]) == 0
    assert read_runs(table) == nmlgen.read_logs([built / "run"]).runs
    by_table, by_log = (nmlgen.calibrate_logs([path], name="x") for path in (table, built / "run"))
    assert [run for _, run in by_table.runs] == [run for _, run in by_log.runs]
    assert by_table.calibration.dump() == by_log.calibration.dump()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "", "there is no run of ICON"),
        ("a.csv", "log,state\nx,finished\n", "is no table of runs"),
        ("a.csv", "state,ntasks\nfinished,many\n", "a.csv:2: a cell is not what its column holds"),
        ("a.csv", "state,ntasks\nfinished,1.5\n", "a.csv:2: a cell"),
        ("a.csv", "state,ntasks\nfinished,inf\n", "a.csv:2: a cell"),
        ("a.csv", "state,ntasks\nfinished,1e999\n", "a.csv:2: a cell"),
        ("a.json", "{}", "expected a list"),
        ("a.json", "[1]", "is no table of runs"),
        ("a.json", '[{"state": "finished", "ntasks": [1]}]', "row 1: a cell"),
        ("a.json", "no JSON", "is no table of runs: Expecting value"),
    ],
)
def test_what_is_no_table(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        nmlgen.calibrate_logs([path])


def test_bytes_by_a_darshan_log_of_the_job(built, monkeypatch):
    (row,) = nmlgen.read_logs([built]).runs
    silent = evolve(row, output_bytes=None, job="7", n_checkpoints=1, checkpoint_bytes=10**8)
    (built / "run" / "wave.7.darshan").write_bytes(b"")
    (built / "run" / "wave.8.darshan").write_bytes(b"")
    found = {"partial": False}

    def scan(paths):
        assert [path.name for path in paths] == ["wave.7.darshan"]
        yield nmlgen.DarshanLog(written_bytes=31 * 10**8, **found)

    monkeypatch.setattr("nmlgen.logs.darshan.scan_darshan", scan)
    assert run_of(silent).case.output_bytes == 10**9  # three outputs, at the start and every hour
    found["partial"] = True
    planned = run_of(silent).case.output_bytes
    assert planned not in (None, 10**9)
    assert run_of(evolve(silent, checkpoint_bytes=None)).case.output_bytes == planned


def runs_of(families: int, number: int) -> list[tuple[LogRun, Run]]:
    case = Case(n_cells=20480, num_lev=90, nodes=1, ntasks=128, dtime_s=300.0, n_steps=100)
    cases = [evolve(case, n_cells=20480 + at) for at in range(families)]
    return [(LogRun(log="l", run=at), Run(cases[at % families], 50.0)) for at in range(number)]


@pytest.mark.parametrize(("families", "number", "taken"), [(3, 200, 200), (3, 900, 200), (60, 180, 150), (1, 1, 1)])
def test_very_many_runs(families, number, taken):
    """Of each family as many are taken as of others."""
    used, left_out = _parted(runs_of(families, number))
    assert (len(used), len(used) + len(left_out)) == (taken, number)
    assert [log.run for log, _ in used] == sorted(log.run for log, _ in used)
    counts = Counter(run.case.n_cells for _, run in used).values()
    assert len(counts) <= 50
    assert max(counts) - min(counts) <= 1
    assert {reason for _, reason in left_out} <= {"200 runs of 50 grids and layouts of nodes are fitted at the most"}


def test_what_lies_beside_many_runs_is_read_once(monkeypatch):
    read: list[int | None] = []
    monkeypatch.setattr("nmlgen.calibrating._beside", lambda log: read.append(log.ntasks))
    around = _Around()
    for ntasks in (1, 1, 2, 1):
        around.planned(LogRun(log="d/l", ntasks=ntasks))
    assert read == [1, 2]
    for ntasks in range(3, 9):
        around.planned(LogRun(log="d/l", ntasks=ntasks))
    with pytest.raises(InputError, match="read for 8 other numbers of tasks"):
        around.planned(LogRun(log="d/l", ntasks=9))


TIMED = {
    "log": "LOG",
    "run": "1",
    "state": "finished",
    "total_s": "100",
    "nodes": "2",
    "ntasks": "128",
    "n_cells": "20480",
    "num_lev": "30",
    "dtime_s": "600",
    "n_steps": "12",
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, ""),
        ({"n_steps": "0", "wrt_output_work_s": "7", "output_bytes": "8e9", "n_outputs": "2"}, ""),
        ({"wrt_output_io_s": "inf", "model_init_s": "-2", "write_restart_procs_s": "nan"}, ""),
        ({"total_s": "inf"}, "total_s is inf; expected more than 0"),
        ({"total_s": "0"}, "total_s is 0.0; expected more than 0"),
        ({"dtime_s": "1e300"}, "dtime_s is 1e.300; expected more than 0 and between 1e-50 and 1e"),
    ],
)
def test_numbers_of_a_table_that_nobody_measured(tmp_path, changes, message):
    row = {"output_interval": "PT30M", "num_io_procs": "1", **TIMED, **changes}
    path = tmp_path / "runs.csv"
    path.write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    if message:
        with pytest.raises(InputError, match=message):
            nmlgen.calibrate_logs([path])
    else:
        assert read(nmlgen.calibrate_logs([path]).calibration.dump())
