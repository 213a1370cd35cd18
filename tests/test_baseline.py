"""A baseline: old findings stay known when lines move, new ones are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

import nmlgen
from nmlgen.baseline import beyond, read_baseline, write_baseline
from nmlgen.errors import InputError

TEXT = "&run_nml\n modelTimeStep = 'PT1M'\n num_lev = 3.\n nsteps = 2.\n/\n"


@pytest.fixture
def path(tmp_path) -> Path:
    (tmp_path / "NAMELIST_atm").write_text(TEXT)
    return tmp_path / "NAMELIST_atm"


def lines(report: nmlgen.Report) -> list[int | None]:
    return [finding.line for finding in report.findings]


def test_what_is_known_is_not_reported_again(path):
    baseline = path.with_name("baseline.json")
    report = nmlgen.lint([path])
    assert write_baseline(baseline, report) == len(report.findings) == 2
    known = read_baseline(baseline)
    assert beyond(report, known, baseline.parent).findings == ()
    path.write_text(TEXT.replace("&run_nml\n", "! a line more\n&run_nml\n ltimer = 3\n"))
    again = nmlgen.lint([path])
    assert lines(again) == [3, 5, 6]
    assert lines(beyond(again, known, baseline.parent)) == [3]


def test_the_directory_from_which_lint_is_called_does_not_count(path, monkeypatch):
    baseline = path.with_name("baseline.json")
    write_baseline(baseline, nmlgen.lint([path]))
    monkeypatch.chdir(path.parent)
    report = nmlgen.lint(["NAMELIST_atm"])
    assert report.findings
    assert beyond(report, read_baseline(baseline), Path("baseline.json").parent).findings == ()


def test_the_same_baseline_has_the_same_bytes(path):
    one, two = path.with_name("one.json"), path.with_name("two.json")
    write_baseline(one, nmlgen.lint([path]))
    write_baseline(two, nmlgen.lint([path]))
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"nmlgen_baseline": 2}', '{"nmlgen_baseline": 1, "findings": []}'])
def test_something_else_is_refused(tmp_path, text):
    (tmp_path / "b").write_text(text)
    with pytest.raises(InputError, match="is no baseline"):
        read_baseline(tmp_path / "b")


def test_without_a_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_baseline(tmp_path / "b")
