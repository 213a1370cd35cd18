"""nmlgen logs, called as users call it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from icon_logs import head, log, step, text


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a run that has finished and one that has not."""
    monkeypatch.chdir(tmp_path)
    for name, lines in (("a", log()), ("b", [*head(4), *step(1), "    FINISH PE:     0 mo_x: no good"])):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "LOG").write_bytes(text(lines))
    return tmp_path


def test_table(nmlgen: Callable[..., Any], runs: Path) -> None:
    done = nmlgen("logs", "runs")
    assert (done.code, done.err) == (0, "")
    assert "finished" in done.out
    assert "400.0" in done.out  # MB/s, corrected
    assert "runs/b/LOG: crashed: FINISH PE: 0 mo_x: no good" in done.out
    assert "\x1b" not in done.out


def test_csv(nmlgen: Callable[..., Any], runs: Path) -> None:
    done = nmlgen("logs", "runs", "--format", "csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert [row["state"] for row in rows] == ["finished", "crashed"]
    assert rows[0]["total_s"] == "100.0"
    assert rows[1]["total_s"] == ""


def test_json(nmlgen: Callable[..., Any], runs: Path) -> None:
    rows = json.loads(nmlgen("logs", "runs", "--format", "json").out)
    assert rows[0]["output_write_bytes_per_s"] == 400e6
    assert json.loads(nmlgen("logs", "runs/b", "--format", "json", "--what", "outputs").out) == []


@pytest.mark.parametrize(("what", "count"), [("outputs", 2), ("checkpoints", 2), ("timers", 8)])
def test_other_tables(nmlgen: Callable[..., Any], runs: Path, what: str, count: int) -> None:
    assert len(json.loads(nmlgen("logs", "runs", "--what", what, "--format", "json").out)) == count
    assert len(nmlgen("logs", "runs", "--what", what).out.splitlines()) == count + 1


def test_file_by_its_name(nmlgen: Callable[..., Any], runs: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for name in ("t.csv", "t.json", "t.parquet"):
        assert nmlgen("logs", "runs", "-o", name).out == ""
    frame = pandas.read_parquet("t.parquet")
    assert list(frame["state"]) == ["finished", "crashed"]
    assert frame["total_s"][0] == 100.0
    assert json.loads(Path("t.json").read_text())[0]["run"] == 1
    assert Path("t.csv").read_text().startswith("log,run,line,")


def test_warnings_and_quiet(nmlgen: Callable[..., Any], runs: Path) -> None:
    Path("LOG").write_bytes(text([*head(4), *step(1), " Got   1.000 MB, time get:  x"]))
    line = len(head(4)) + 4
    assert nmlgen("logs", "LOG").err == f'warning: LOG:{line}: a line with "Got" that is not legible\n'
    assert nmlgen("logs", "LOG", "--quiet").err == ""


def test_mistakes(nmlgen: Callable[..., Any], runs: Path) -> None:
    for arguments, message in (
        (("missing",), "there is no such file"),
        (("runs", "--format", "parquet"), "needs -o FILE"),
        (("runs", "--what", "darshan"), "no Darshan log"),
        (("runs", "-o", "no/such/file.csv"), "no such file"),
    ):
        done = nmlgen("logs", *arguments)
        assert done.code == 2
        assert message in done.err


def test_why_a_run_waited(nmlgen: Callable[..., Any]) -> None:
    path = Path(__file__).parents[2] / "examples" / "logs" / "LOG.two_io_ranks.run"
    done = nmlgen("logs", path)
    assert f"{path}:2\n  The workers spent 7.0 s of 100.0 s (7.0 %) on output" in done.out
    assert "What another layout would take" not in done.out
    done = nmlgen("logs", path, "--why")
    assert "What another layout would take is not known: num_lev is not known" in done.out
    assert "The workers" not in nmlgen("logs", path, "--format", "csv").out
    many = nmlgen("logs", *[path] * 6)
    assert (many.code, "The workers" in many.out) == (0, False)


def test_an_empty_log_has_no_line(nmlgen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "LOG.a").touch()
    assert "warning: LOG.a: there is no run of ICON in it\n" in nmlgen("logs", "LOG.a").err
