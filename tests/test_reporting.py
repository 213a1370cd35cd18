"""Reports of sweeps that lie on the disk: points, logs, predictions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import icon_logs
import pytest
from attrs import evolve
from measured_sweep import SECONDS, finished_log, run_sweep, write_log, write_sweep
from specs import TEXT

import nmlgen
from nmlgen.advise import predict
from nmlgen.advise.calibration import levante
from nmlgen.advise.experiment import situation_of
from nmlgen.lift.loading import load
from nmlgen.reporting import read_sweep_runs
from nmlgen.sweep.state import State, Submission


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_sweep(tmp_path_factory.mktemp("written"))


@pytest.fixture
def sweep(written, tmp_path):
    return shutil.copytree(written, tmp_path / "sweep", symlinks=True)


def runs(sweep, **options):
    return {run.name: run for run in read_sweep_runs(sweep, **options).runs}


def test_what_the_logs_say(sweep):
    run_sweep(sweep)
    found = runs(sweep)
    assert {run.name: run.total_s for run in found.values()} == {f"n{n}-io{r}": s for (n, r), s in SECONDS.items()}
    run = found["n2-io4"]
    assert (run.state, run.nodes, run.cores) == ("finished", 2, 64)
    assert run.measured.wrt_output_work_s == 7.0
    assert run.measured.wrt_output_io_s == 24.0
    assert run.measured.output_write_bytes_per_s == pytest.approx(400e6)  # the log's 200 MB/s count half of the bytes
    assert any("rate of writing doubled" in note for note in run.notes)
    details = dict(run.details)
    assert details["log"] == "points/n2-io4/run/n2-io4.17.icon.log"
    assert details["jobs"] == "17"


def test_the_page(sweep):
    run_sweep(sweep)
    page = nmlgen.report_sweep(sweep)
    assert "Best: num_io_procs 2, 3 min 20 s (0.056 node-hours, 1.78 core-hours)." in page
    assert "Equal to it within 2 %: num_io_procs 4." in page
    assert "The spec&#39;s own layout, num_io_procs 4, is equal to the best (+1.0 %)." in page
    assert str(sweep) not in page
    assert nmlgen.report_sweep(sweep) == page


def test_predictions_are_those_of_each_point(sweep):
    found = runs(sweep)
    for name, run in found.items():
        experiment = load(sweep / "points" / name).experiment
        assert run.predicted.total_s == pytest.approx(predict(situation_of(experiment.components[0]).case).total_s)


def test_predictions_of_points_that_share_a_script(tmp_path):
    sweep = write_sweep(
        tmp_path, "sweep: {grid: {output.atm.output_interval: [PT30M, PT1H, PT2H], parallel.num_io_procs: [1, 4]}}\n"
    )
    assert len(list((sweep / "shared").iterdir())) == 1
    found = runs(sweep)
    for name, run in found.items():
        experiment = load(sweep / "points" / name).experiment
        assert run.predicted.total_s == pytest.approx(predict(situation_of(experiment.components[0]).case).total_s)
    assert len({run.predicted.total_s for run in found.values()}) == 6


def test_predictions_do_not_depend_on_the_length_of_blocks(tmp_path):
    sweep = write_sweep(tmp_path, "sweep: {grid: {parallel.nproma: [8, 16], grid.num_lev: [30, 60]}}\n")
    found = runs(sweep)
    for name, run in found.items():
        experiment = load(sweep / "points" / name).experiment
        assert run.predicted.total_s == pytest.approx(predict(situation_of(experiment.components[0]).case).total_s)
    assert len({run.predicted.total_s for run in found.values()}) == 2


def test_a_calibration_of_ones_own(sweep):
    report = read_sweep_runs(sweep, calibration=evolve(levante(), name="mine"))
    assert report.calibration == "mine"


def test_the_present_layout_is_that_of_the_spec_without_its_sweep(written):
    assert read_sweep_runs(written).present == {
        "job.nodes": 2,
        "parallel.num_io_procs": 4,
        "output.atm.stream_partitions_ml": 4,
    }


def test_states_and_reasons(sweep):
    write_log(sweep, "n1-io2", icon_logs.text([*icon_logs.head(4, 2), *icon_logs.steps([4, 5], "sync")]))
    crash = ["FINISH PE:     0 mo_output: no more space"]
    write_log(sweep, "n1-io4", icon_logs.text([*icon_logs.head(4, 4), *crash]))
    no_timers = [line for line in icon_logs.log(4, 0) if line not in set(icon_logs.reports(4))]
    write_log(sweep, "n2-io0", icon_logs.text(no_timers))
    found = runs(sweep)
    assert found["n1-io0"].state == "missing"
    assert "there is no log of ICON" in found["n1-io0"].reason
    assert found["n1-io2"].state == "unfinished"
    assert "without a word why" in found["n1-io2"].reason
    assert (found["n1-io4"].state, found["n1-io4"].total_s) == ("failed", None)
    assert "no more space" in found["n1-io4"].reason
    assert (found["n2-io0"].state, found["n2-io0"].total_s) == ("finished", None)
    assert "its timers were off" in found["n2-io0"].reason


def test_a_script_that_gave_up_says_why(sweep):
    point = sweep / "points" / "n1-io2"
    (point / "n1-io2.7.log").write_text("n1-io2: leg 1\nn1-io2: error: missing: /grid.nc\nslurmstepd: end\n")
    run = runs(sweep)["n1-io2"]
    assert (run.state, run.reason) == ("failed", "missing: /grid.nc")
    write_log(sweep, "n1-io2", finished_log(60.0))
    assert runs(sweep)["n1-io2"].state == "finished"


def test_the_legs_of_a_chain_add_up(sweep):
    hour, end = icon_logs.date(6), icon_logs.date(icon_logs.STEPS)
    first = finished_log(60.0).replace(
        f"Stop date of this run:  {end}".encode(), f"Stop date of this run:  {hour}".encode()
    )
    second = finished_log(50.0).replace(
        f"Start date of this run: {icon_logs.date(0)}".encode(), f"Start date of this run: {hour}".encode()
    )
    write_log(sweep, "n1-io2", first, job=1)
    run = runs(sweep)["n1-io2"]
    assert (run.state, run.reason) == ("unfinished", "leg 1 of the chain has ended; there is no log of the next one")
    write_log(sweep, "n1-io2", second, job=2)
    run = runs(sweep)["n1-io2"]
    assert (run.state, run.total_s, run.measured.wrt_output_io_s) == ("finished", 110.0, 48.0)
    assert dict(run.details)["jobs"] == "1, 2"


def test_a_run_that_was_repeated_counts_once(sweep):
    write_log(sweep, "n1-io2", finished_log(60.0), job=1)
    write_log(sweep, "n1-io2", finished_log(50.0).replace(b"date: 20260102", b"date: 20260103"), job=2)
    assert runs(sweep)["n1-io2"].total_s == 50.0


def test_points_that_could_not_be_built(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(TEXT + "sweep: {grid: {parallel.num_io_procs: [2, 64]}}\n")
    nmlgen.write_sweep(nmlgen.expand(spec), tmp_path / "sweep", invalid="skip")
    found = list(runs(tmp_path / "sweep").values())
    assert [run.state for run in found] == ["missing", "invalid"]
    assert found[1].reason.startswith("PAR")


def test_progress(sweep):
    told = []
    nmlgen.report_sweep(sweep, progress=lambda done, total: told.append((done, total)))
    assert told == [(number, 6) for number in range(1, 7)]


def test_what_is_no_sweep(tmp_path, sweep):
    with pytest.raises(nmlgen.InputError, match=r"holds no sweep: nmlgen-sweep.json is not there"):
        nmlgen.report_sweep(tmp_path)
    (sweep / "nmlgen-sweep.json").write_text("{")
    with pytest.raises(nmlgen.InputError, match="not legible as JSON"):
        nmlgen.report_sweep(sweep)
    (sweep / "nmlgen-sweep.json").write_text("[]")
    with pytest.raises(nmlgen.InputError, match="expected a mapping"):
        nmlgen.report_sweep(sweep)
    for text in ('{"base": null}', '{"base": [1]}', '{"inputs": {}}', '{"inputs": [1]}', '{"overrides": 3}'):
        (sweep / "nmlgen-sweep.json").write_text(text)
        with pytest.raises(nmlgen.InputError, match="is not what nmlgen sweep writes there"):
            nmlgen.report_sweep(sweep)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "there is no column id"),
        ("id,name,directory,state,reason,x\n", "there are no points"),
        ("id,name,directory,state,reason,x\n1,a\n", "points.csv:2: expected as many cells"),
        ("id,name,state,reason\n", "points.csv:1: there is no column directory"),
    ],
)
def test_a_table_that_is_none(sweep, table, message):
    (sweep / "points.csv").write_text(table)
    with pytest.raises(nmlgen.InputError, match=message):
        nmlgen.report_sweep(sweep)


def test_a_sweep_without_its_table(sweep):
    (sweep / "points.csv").unlink()
    with pytest.raises(nmlgen.InputError, match=r"points.csv: there is no such file"):
        nmlgen.report_sweep(sweep)


def test_a_manifest_of_before(sweep):
    manifest = json.loads((sweep / "nmlgen-sweep.json").read_text())
    del manifest["base"]
    (sweep / "nmlgen-sweep.json").write_text(json.dumps(manifest))
    assert read_sweep_runs(sweep).present == {}


def test_a_point_whose_files_are_gone(sweep):
    shutil.rmtree(sweep / "points" / "n1-io2")
    run = runs(sweep)["n1-io2"]
    assert run.state == "missing"


def test_what_the_records_of_its_jobs_say(sweep, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # where there is no Slurm to ask
    (sweep / "shared").mkdir(exist_ok=True)
    state = State(sweep)
    state.create()
    names = ("n1-io0", "n1-io2", "n1-io4", "n2-io0")
    points = tuple(f"points/{name}" for name in names)
    state.intend(Submission("0123abcd", "sweep", 1, "me", None, (17,), points))
    start = "token=0123abcd leg=1 name=sweep.0123abcd.1 task={} array=17 job=2{} node=n1 time=2026-01-01T00:00:00Z\n"
    ends = (
        None,
        "code=3 outcome=FAILED time=2026-01-01T00:00:01Z\n",
        "code=1 outcome=LOST time=2026-01-01T00:00:01Z\n",
    )
    for task, (point, end) in enumerate(zip(points, ends, strict=False)):
        records = sweep / point / "nmlgen.jobs"
        records.mkdir()
        (records / "1.start").write_text(start.format(task, task))
        if end is not None:
            (records / "1.end").write_text(end)
    state.note_fates({("sweep.0123abcd.1", 3): "CANCELLED"})
    found = {name: (run.state, run.reason) for name, run in runs(sweep).items()}
    assert found["n1-io0"] == ("unfinished", "it is running as job 20")
    assert found["n1-io2"] == ("failed", "exit code 3")
    assert found["n1-io4"][0] == "failed"
    assert found["n1-io4"][1].startswith("lost")
    assert found["n2-io0"] == ("missing", "it was cancelled")
    assert "it has not begun" in found["n2-io2"][1]
