"""nmlgen report."""

from __future__ import annotations

import pytest
from measured_sweep import run_sweep, write_sweep


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_sweep(tmp_path)


def test_report(nmlgen, sweep):
    run_sweep(sweep)
    done = nmlgen("report", "sweep")
    assert (done.code, done.out, done.err) == (0, "sweep/report.html\n", "")
    page = (sweep / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert nmlgen("report", "sweep", "-o", "other.html", "-q").out == ""
    assert (sweep.parent / "other.html").read_text(encoding="utf-8") == page


def test_stamp(nmlgen, sweep):
    nmlgen("report", "sweep", "--stamp", "2 January")
    assert ", 2 January</dd>" in (sweep / "report.html").read_text(encoding="utf-8")


def test_calibration(nmlgen, sweep):
    done = nmlgen("report", "sweep", "--calibration", "none.yaml")
    assert done.code == 2
    assert "none.yaml" in done.err


def test_what_is_no_sweep(nmlgen, tmp_path):
    done = nmlgen("report", tmp_path)
    assert done.code == 2
    assert "holds no sweep" in done.err


def test_a_place_where_nothing_can_be_written(nmlgen, sweep):
    done = nmlgen("report", "sweep", "-o", "there/is/no/page.html")
    assert done.code == 2
    assert "no such file or directory" in done.err
