"""The measured runs that ship, and the calibration that follows from them: Levante's."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import cache
from math import log
from pathlib import Path
from typing import Any

from nmlgen.advise.calibration import NAMES, Calibration, Estimate, Scatter
from nmlgen.advise.case import Case
from nmlgen.advise.fitting import TIMERS, Run, calibrate
from nmlgen.resources import directory
from nmlgen.values import evolve

BEFORE_MEASURING = {
    "step": (10.0, 0.3),
    "cached": (0.6, 0.3),
    "cache": (3000.0, 0.5),
    "cache_power": (2.0, 0.4),
    "floor": (3.0, 0.7),
    "start_up": (5.0, 0.5),
    "writer": (0.7, 0.5),
    "receive": (0.27, 0.3),
    "receive_rank": (1.3, 0.5),
    "contention": (0.15, 0.5),
    "beside": (0.5, 0.5),
    "overlap": (3.0, 0.3),
    "stalls": (7.0, 0.5),
    "stall": (8.0, 0.25),
    "gather": (1.3, 0.3),
    "gather_rank": (7.0, 0.5),
    "gather_power": (1.0, 0.1),
    "restart_async": (0.7, 0.5),
    "restart_dedicated": (0.8, 0.5),
    "restart_rank": (0.4, 0.7),
    "restart_fetch": (0.22, 0.2),
    "restart_overlap": (6.0, 0.3),
    "restart_joint": (10.0, 0.7),
    "restart_power": (0.5, 0.3),
    "restart_open": (0.2, 0.5),
    "restart_sync": (2.0, 0.5),
}
"""Each constant as one would guess it before any run, and how far off the guess may be."""

_NONE, _ONE, _FIXED = (1e-6, 1e-3), (1.0, 1e-3), 1e-3

SCATTER = Scatter(
    constants={
        "step": 0.07,
        "writer": 0.05,
        "receive_rank": 0.2,
        "restart_async": 0.05,
        "restart_dedicated": 0.05,
        "gather_rank": 0.25,
        "restart_open": 0.2,
        "start_up": 0.4,
    },
    step_one_node=0.015,
    run=0.04,
    run_one_node=0.015,
)
"""From the runs on Levante: the report's author repeated some (0.5 to 2.6 % on one node, up to 5.6 % on several),
and families that differ in little beside the day they ran on differ by that much."""


TABLES = ("levante-runs.csv", "levante-runs-2.csv")
"""The runs on Levante that were measured by F. Ott (2025), in `presets/calibrations`. The structure of the model was
made with those of the first table; those of the second were predicted from them first."""


@cache
def levante_runs(tables: tuple[str, ...] = TABLES) -> tuple[Run, ...]:
    """The runs of these tables."""
    return tuple(run for table in tables for run in read_runs(directory("presets") / "calibrations" / table))


def read_runs(path: Path) -> tuple[Run, ...]:
    """Read a table of runs: a column for each field of `Case`, total_s, and timers as `Run` names them."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(_run(row) for row in rows)


def _run(row: dict[str, str]) -> Run:
    mode, day = row.pop("restart_write_mode"), row.pop("day", "")
    numbers = {name: float(text) for name, text in row.items() if text}
    timers = {name: numbers.pop(name) for name in row if name in TIMERS and name in numbers}
    total = numbers.pop("total_s")
    given: dict[str, Any] = {name: n if name.endswith("_s") else int(n) for name, n in numbers.items()}
    return Run(Case(restart_write_mode=mode, **given), total, timers, day)


STRUCTURES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "all terms": {},
    "receiving by bytes alone": {"receive_rank": _NONE},
    "no stalls": {"stalls": _NONE},
    "neither": {"receive_rank": _NONE, "stalls": _NONE},
    "no cache": {"cached": _ONE},
    "all in cache": {"cached": _NONE, "cache_power": (2.0, _FIXED), "floor": _NONE},
    "powers by hand": {"overlap": (3.0, _FIXED), "restart_overlap": (6.0, _FIXED), "gather_power": (1.0, _FIXED)},
    "gathering with any power": {"gather_power": (1.5, 0.5)},
}
"""What the model might be without: other guesses for some of the constants. Which of them is right is for the runs to
say, see `benchmarks/advisor.py`."""


def fit_levante(
    runs: Iterable[Run], structure: Mapping[str, tuple[float, float]] | None = None, near: Calibration | None = None
) -> Calibration:
    """What these runs say of Levante, beginning with a guess; `structure` replaces some of it, `near` is where to begin
    to search. The families are left out: nobody runs them again."""
    found = calibrate(runs, guess(structure), "levante", near)
    return evolve(found, sources=SOURCES, families={}, undetermined=())


def guess(structure: Mapping[str, tuple[float, float]] | None = None) -> Calibration:
    """What is known before any run; `structure` replaces some of it."""
    before = {**BEFORE_MEASURING, **(structure or {})}
    size = range(len(NAMES))
    spread = [before[name][1] for name in NAMES]
    estimate = Estimate(
        tuple(log(before[name][0]) for name in NAMES),
        tuple(tuple(spread[i] ** 2 if i == j else 0.0 for j in size) for i in size),
    )
    return Calibration("guess", estimate, SCATTER)


SOURCES = (
    "F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON, Universität Hamburg and DKRZ, 31.03.2025",
    "made from levante-runs.csv and levante-runs-2.csv by: python benchmarks/advisor.py --calibration",
)
