"""Cases and runs that the tests of the advisor share."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from nmlgen.advise import Case, Run
from nmlgen.advise.measurements import levante_runs

ROOT = Path(__file__).parent.parent
PLAIN: dict[str, Any] = {"n_cells": 81920, "num_lev": 30, "nodes": 1, "ntasks": 128, "dtime_s": 120.0, "n_steps": 7200}
OUTPUT: dict[str, Any] = {"output_bytes": 254279680.0, "output_interval_s": 720.0}
CHECKPOINTS: dict[str, Any] = {"checkpoint_bytes": 894566400.0, "checkpoint_interval_s": 720.0}


def case(**settings: Any) -> Case:
    """A case on R2B5 with a node of 128 ranks, which writes nothing unless told to."""
    return Case(**{**PLAIN, **settings})


def measured(nodes: int, interval: float, ranks: int, n_cells: int = 81920) -> Run:
    """The run on Levante with these nodes, this output interval and so many I/O ranks."""
    return next(
        run
        for run in levante_runs()
        if (run.case.nodes, run.case.output_interval_s, run.case.num_io_procs, run.case.n_cells)
        == (nodes, interval, ranks, n_cells)
    )


@cache
def benchmark(name: str = "advisor") -> ModuleType:
    """One of the programs that measure: the one that writes the page on accuracy, unless another is named."""
    spec = spec_from_file_location(f"{name}_benchmark", ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
