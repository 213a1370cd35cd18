"""The model far from what was measured: the sweep of the benchmark."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).parents[2]


def benchmark():
    spec = spec_from_file_location("advisor_sweep", ROOT / "benchmarks" / "advisor_sweep.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SWEEP = benchmark()


def test_it_reaches_far():
    assert (SWEEP.NODES[0], SWEEP.NODES[-1]) == (1, 1000)
    assert list(SWEEP.GRIDS) == [f"R2B{number}" for number in range(4, 11)]
    assert (SWEEP.IO_RANKS[0], SWEEP.IO_RANKS[-1]) == (0, 64)


def test_nothing_is_wrong():
    assert list(SWEEP.wrong()) == []


def test_it_would_be_found(monkeypatch):
    """A model that waits longer for more writers, and is slower than one of them alone."""
    monkeypatch.setattr(SWEEP, "run_time", lambda case, _: (1, 1, 0, 0, 1e9 * (1 + case.num_io_procs), 0))
    found = "\n".join(SWEEP.wrong((1, 1000)))
    assert "waiting grows with the I/O ranks" in found
    assert "if one rank wrote all at the slowest rate" in found


def test_the_plot_is_that_of_the_program():
    assert (ROOT / "docs" / "advisor-sweep.svg").read_text(encoding="utf-8") == SWEEP.plot()


def test_the_plot_is_shown():
    assert "advisor-sweep.svg" in (ROOT / "docs" / "advisor.md").read_text(encoding="utf-8")
