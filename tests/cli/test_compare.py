"""nmlgen compare."""

from __future__ import annotations

import json

import pytest
from measured_sweep import run_sweep, write_sweep


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    found = write_sweep(tmp_path_factory.mktemp("compared"))
    run_sweep(found)
    return found


@pytest.fixture
def points(sweep, monkeypatch):
    monkeypatch.chdir(sweep / "points")


def test_text(nmlgen, points):
    done = nmlgen("compare", "n1-io0", "n1-io2")
    assert (done.code, done.err) == (1, "")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0] == "A n1-io0: finished"
    assert "run time 300.0 200.0 s −33.3 %" in lines
    assert "timer wrt_output, workers 7.00 7.00 s 0.0 % (noise)" in lines
    assert "+ stream_partitions_ml = 2" in lines


def test_json(nmlgen, points):
    done = nmlgen("compare", "n1-io0", "n1-io2", "--format", "json")
    document = json.loads(done.out)
    assert document["same"] is False
    assert document["runs"][1]["logs"] == ["n1-io2/run/n1-io2.17.icon.log"]
    assert document["measurements"][0]["b"] == 200.0
    assert {"name": "num_io_procs", "a": 0, "b": 2} in document["settings"]
    assert len(document["setup"]) == 2


@pytest.mark.parametrize(("other", "code"), [("n1-io4", 0), ("n1-io0", 1)])
def test_quiet(nmlgen, points, other, code):
    done = nmlgen("compare", "n1-io2", other, "-q")
    assert (done.code, done.out, done.err) == (code, "", "")


def test_what_is_not_there(nmlgen, points):
    done = nmlgen("compare", "n1-io2", "nowhere")
    assert done.code == 2
    assert "nowhere" in done.err
