"""Tuning on artificial laws of the run time, against random search."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "tuning_laws.py"


def laws():
    spec = spec_from_file_location("tuning_laws", PATH)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BENCHMARK = laws()


@pytest.mark.parametrize("name", BENCHMARK.LAWS)
def test_no_worse_than_by_lot(name):
    found = BENCHMARK.find(BENCHMARK.LAWS[name])
    assert found.regret <= found.by_lot
    assert found.regret <= 0.03
    assert found.runs < found.candidates / 2


def test_laws_drawn_by_lot():
    """The same for the same seed, and each a time."""
    one, same, other = BENCHMARK.drawn(1), BENCHMARK.drawn(1), BENCHMARK.drawn(2)
    layouts = [(ranks, parts) for ranks in (0, 1, 8, 64) for parts in (1, 8, 60)]
    times = [one(*layout) for layout in layouts]
    assert times == [same(*layout) for layout in layouts]
    assert times != [other(*layout) for layout in layouts]
    assert all(0 < seconds < 1e6 for seconds in times)


def test_what_runs_drawn_by_lot_find():
    assert BENCHMARK.by_lot([3.0, 1.0, 2.0], 1) == pytest.approx(2.0)
    assert BENCHMARK.by_lot([3.0, 1.0, 2.0], 2) == pytest.approx(4 / 3)
    assert BENCHMARK.by_lot([3.0, 1.0, 2.0], 3) == 1.0
