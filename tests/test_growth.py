"""Work grows with an input and not faster: calls are counted, of inputs in which an element comes ever more often;
`benchmarks/growth.py` tries as many as one likes."""

from __future__ import annotations

import pytest
from fuzzing import KINDS, growth
from fuzzing.growth import grown, too_fast

CASES = 3
INPUTS = [
    *("mated-specs", "crossed-sites", "crossed-configurations", "sweeps", "calibrations", "slurm", "kept"),
    *("spliced-scripts", "woven-scripts", "spliced-namelists", "woven-models", "woven-documents", "spliced-logs"),
]


@pytest.mark.parametrize("kind", INPUTS)
def test_no_function_is_called_more_than_an_input_grows(kind, tmp_path):
    assert [found.functions for found in grown(KINDS[kind], f"{kind} tests", CASES, tmp_path / "work")] == []


def test_a_function_that_is_called_too_often_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(growth, "_MANY", 100)
    monkeypatch.setattr(growth, "_LINEAR", 1)
    found = next(grown(KINDS["spliced-scripts"], "tests", 6, tmp_path / "work"))
    assert all(calls is None or calls > 100 for calls in found.functions.values())
    assert any("nmlgen/" in function for function in found.functions)


def test_what_grows_too_fast():
    counts = [{"squares": times * times, "goes through": 50 * times, "starts": 7} for times in (60, 120, 240)]
    assert list(too_fast(counts, 100)) == ["squares"]
    assert not list(too_fast(counts, 5))  # not often enough to take long
