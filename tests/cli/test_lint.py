"""nmlgen lint: formats, exit codes, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import nmlgen
from nmlgen.cli.application import application

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def run(*arguments: str):
    return CliRunner().invoke(application, ["lint", *arguments], standalone_mode=False)


@pytest.fixture
def directory(tmp_path) -> Path:
    nmlgen.build(EXAMPLE).write(tmp_path)
    return tmp_path


@pytest.fixture
def wrong(directory) -> Path:
    path = next(directory.glob("NAMELIST_*"))
    path.write_text(path.read_text().replace("num_io_procs = 8", "num_io_proc = 8"))
    return directory


def test_clean(directory):
    done = run(str(directory), "--ntasks", "256")
    assert done.return_value == 0
    assert done.output.startswith("no findings")


def test_text(wrong):
    done = run(str(wrong), "--ntasks", "256")
    assert done.return_value == 1
    assert "error[NML002] unknown-variable" in done.output
    assert "5 |  num_io_proc = 8" in done.output
    assert 'did you mean "num_io_procs"?' in done.output


def test_json_sarif_and_github(wrong):
    found = json.loads(run(str(wrong), "--ntasks", "256", "--format", "json").output)
    assert [finding["code"] for finding in found["findings"] if finding["severity"] == "error"] == ["NML002"]
    sarif = json.loads(run(str(wrong), "--ntasks", "256", "--format", "sarif").output)
    assert "NML002" in [result["ruleId"] for result in sarif["runs"][0]["results"]]
    github = run(str(wrong), "--ntasks", "256", "--format", "github").output
    assert github.startswith("::")


def test_strict_and_undecided(directory):
    path = next(directory.glob("NAMELIST_*"))
    path.write_text(path.read_text() + "&bogus_nml\n/\n")
    assert run(str(directory), "--ntasks", "256").return_value == 0
    assert run(str(directory), "--ntasks", "256", "--strict").return_value == 1
    assert "not applied: PAR001, because ntasks is not known" in run(str(directory), "--show-undecided").output


def test_explained():
    done = CliRunner().invoke(application, ["explain", "NML013"], standalone_mode=False)
    assert "second-copy" in done.output
