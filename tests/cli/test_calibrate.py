"""nmlgen calibrate."""

from __future__ import annotations

import json
import os

import icon_logs
import pytest
from test_calibrating import SPEC

from nmlgen import build
from nmlgen.advise import Calibration


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """A build that has run, in the current directory."""
    monkeypatch.chdir(tmp_path)
    build(SPEC).write("wave")
    (tmp_path / "wave" / "run").mkdir()
    (tmp_path / "wave" / "run" / "wave.7.icon.log").write_bytes(icon_logs.text(icon_logs.log(127, 1)))
    for name in ("icon_master.namelist", "NAMELIST_wave"):
        (tmp_path / "wave" / "run" / name).write_bytes((tmp_path / "wave" / name).read_bytes())
    return tmp_path


def test_calibrate(nmlgen, ran):
    done = nmlgen("calibrate", "wave", "-o", "here.yaml")
    assert (done.code, done.err) == (0, "")
    first, *others, last = done.out.splitlines()
    assert first.startswith("wave/run/wave.7.icon.log:1: 1 min 40 s measured, ")
    assert all(line.startswith("not determined: ") for line in others)
    assert others
    assert last == "wrote here.yaml; next: nmlgen advise SPEC --calibration here.yaml"
    assert Calibration.load("here.yaml").name == "here"
    again = nmlgen("calibrate", "wave", "--prior", "here.yaml", "--name", "again", "-q")
    assert (again.code, again.err) == (0, "")
    assert '"name": "again"' in again.out


def test_names_that_are_no_utf_8(nmlgen, ran):
    name = os.fsdecode(b"\xff.yaml")
    assert nmlgen("calibrate", "wave", "-o", name).code == 0
    assert Calibration.load(name).name == os.fsdecode(b"\xff")
    (ran / "wave").rename(ran / os.fsdecode(b"\xff"))
    for table in ("runs.csv", "runs.json"):
        assert nmlgen("logs", os.fsdecode(b"\xff"), "-o", table).code == 0
        assert nmlgen("logs", table).code == 0


def test_the_file_is_of_use(nmlgen, ran):
    (ran / "spec.yaml").write_text(json.dumps(SPEC))
    nmlgen("calibrate", "wave", "-o", "here.yaml", "-q")
    before, after = nmlgen("advise", "spec.yaml"), nmlgen("advise", "spec.yaml", "--calibration", "here.yaml")
    assert before.code == after.code == 0
    assert before.out != after.out


def test_runs_that_do_not_count(nmlgen, ran):
    (ran / "wave" / "run" / "wave.8.icon.log").write_bytes(icon_logs.text(icon_logs.head(127, 1)))
    done = nmlgen("calibrate", "wave")
    assert done.code == 0
    assert "wave/run/wave.8.icon.log:1: left out: truncated" in done.err
    done = nmlgen("calibrate", "wave/run/wave.8.icon.log")
    assert (done.code, done.out) == (2, "")
    assert "no run of 1 can be used" in done.err


def test_mistakes(nmlgen, ran):
    assert nmlgen("calibrate").code == 2
    assert "there is no such file" in nmlgen("calibrate", "nowhere").err
    assert "/dev/null is a device; a regular file is expected" in nmlgen("calibrate", "/dev/null").err
    assert "here.yaml" in nmlgen("calibrate", "wave", "--prior", "here.yaml").err
