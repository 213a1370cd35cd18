"""Tuning on artificial laws of the run time, against random search: three laws, and two drawn by lot; all of them with
`python benchmarks/tuning_laws.py --drawn 40`."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from rows import rows

from nmlgen.tuning.candidates import candidates_of

PATH = Path(__file__).parents[2] / "benchmarks" / "tuning_laws.py"


def laws():
    spec = spec_from_file_location("tuning_laws", PATH)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


BENCHMARK = laws()
KINDS = ("added up, and contention", "no ranks are best", "a step at 8")
"""What is best lies inside, at an end, and behind a step."""


@pytest.fixture(scope="module")
def spec():
    """The spec of all laws, whose candidates are checked once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmlgen.tuning.tune.candidates_of", cache(candidates_of))
        yield BENCHMARK.the_spec()


@rows("name", KINDS)
def test_no_worse_than_by_lot(name, spec):
    found = BENCHMARK.find(BENCHMARK.LAWS[name], spec)
    assert found.regret <= found.by_lot
    assert found.regret <= 0.03
    assert found.runs < found.candidates / 2


@pytest.mark.parametrize(("number", "scatter"), [(9, 0.0), (102, 0.02)])
def test_laws_that_nobody_thought_of(number, scatter, spec):
    """Of number 9 the best lies across from the second best: I/O ranks and partitions have to change together."""
    found = BENCHMARK.find(BENCHMARK.drawn(number), spec, scatter)
    assert found.regret <= found.by_lot
    assert found.regret <= 0.03
    assert found.runs < found.candidates / 2


def test_runs_scatter_and_laws_do_not():
    """The same for the same point, by as much as it says; what is found is judged by the law."""
    machine = BENCHMARK.ByLaw(BENCHMARK.drawn(1), 0.02)
    points = [candidate.point for candidate in candidates_of(BENCHMARK.the_spec()).candidates]
    machine.start(points)
    ratios = [
        outcome.total_s / machine.seconds(point)
        for point, outcome in zip(points, machine.outcomes().values(), strict=True)
    ]
    assert 0.9 < min(ratios) < 1 < max(ratios) < 1.1
    assert len(set(ratios)) > 30
    assert [again.total_s for again in machine.outcomes().values()] == [
        outcome.total_s for outcome in machine.outcomes().values()
    ]


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
    assert BENCHMARK.by_lot([3.0, 1.0, 2.0], 3, [2.9, 2.2, 2.1]) == 2.0  # which was taken for the best
