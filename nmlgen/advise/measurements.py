"""The measured runs that ship, and the calibration that follows from them: Levante's."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from math import log
from pathlib import Path
from typing import Any

from attrs import evolve

from nmlgen.advise.calibration import NAMES, Calibration, Estimate, Scatter
from nmlgen.advise.case import Case
from nmlgen.advise.fitting import TIMERS, Run, calibrate
from nmlgen.resources import directory

BEFORE_MEASURING = {
    "step": (10.0, 0.5),
    "writer": (0.5, 0.5),
    "contention": (0.2, 0.5),
    "beside": (0.5, 0.5),
    "cache": (3000.0, 0.5),
    "start_up": (2.0, 0.3),
    "gather": (1.3, 0.5),
    "gather_slice": (1.0, 0.7),
    "restart_async": (0.5, 0.5),
    "restart_dedicated": (0.5, 0.5),
    "restart_joint": (4.0, 0.5),
    "restart_sync": (2.0, 0.5),
    "restart_node": (1.0, 0.7),
}
"""Each constant as one would guess it before any run, and how far off the guess may be."""

SCATTER = Scatter(
    constants={
        "step": 0.07,
        "writer": 0.05,
        "restart_async": 0.05,
        "restart_dedicated": 0.05,
        "gather_slice": 0.08,
        "restart_joint": 0.2,
    },
    step_one_node=0.015,
    run=0.04,
    run_one_node=0.015,
)
"""From the runs on Levante: the report's author repeated some (0.5 to 2.6 % on one node, up to 5.6 % on several),
and families that differ in little beside the day they ran on differ by that much."""


def levante_runs() -> tuple[Run, ...]:
    """The runs on Levante that were measured by F. Ott (2025): `presets/calibrations/levante-runs.csv`."""
    return read_runs(directory("presets") / "calibrations" / "levante-runs.csv")


def read_runs(path: Path) -> tuple[Run, ...]:
    """Read a table of runs: a column for each field of `Case`, total_s, and timers as `Run` names them."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(_run(row) for row in rows)


def _run(row: dict[str, str]) -> Run:
    mode = row.pop("restart_write_mode")
    numbers = {name: float(text) for name, text in row.items() if text}
    timers = {name: numbers.pop(name) for name in row if name in TIMERS and name in numbers}
    total = numbers.pop("total_s")
    given: dict[str, Any] = {name: n if name.endswith("_s") else int(n) for name, n in numbers.items()}
    return Run(Case(restart_write_mode=mode, **given), total, timers)


def fit_levante(runs: Iterable[Run]) -> Calibration:
    """What the total times of these runs say of Levante, beginning with a guess.

    Their other timers are left out: on several nodes part of the waiting hides in that of communication. So are
    the families: nobody runs them again.
    """
    size = range(len(NAMES))
    spread = [BEFORE_MEASURING[name][1] for name in NAMES]
    guess = Estimate(
        tuple(log(BEFORE_MEASURING[name][0]) for name in NAMES),
        tuple(tuple(spread[i] ** 2 if i == j else 0.0 for j in size) for i in size),
    )
    totals = [Run(run.case, run.total_s) for run in runs]
    found = calibrate(totals, Calibration("guess", guess, SCATTER), name="levante")
    return evolve(found, sources=SOURCES, families={}, undetermined=())


SOURCES = (
    "F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON, Universität Hamburg and DKRZ, 31.03.2025",
    "made from levante-runs.csv by: python benchmarks/advisor.py --calibration",
)
