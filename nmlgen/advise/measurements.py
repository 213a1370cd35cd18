"""The measured runs that ship, and the calibration that follows from them: Levante's."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from math import log
from pathlib import Path

from nmlgen.advise.calibration import NAMES, Calibration, Estimate, Scatter
from nmlgen.advise.case import Case
from nmlgen.advise.fitting import Run, calibrate
from nmlgen.resources import directory

BEFORE_MEASURING = {
    "step": (10.0, 0.5),
    "writer": (0.5, 0.5),
    "contention": (0.2, 0.5),
    "cache": (3000.0, 0.5),
    "start_up": (2.0, 0.3),
    "gather": (1.3, 0.5),
    "gather_slice": (1.0, 0.7),
    "restart_async": (0.5, 0.5),
    "restart_idle": (0.1, 0.7),
    "restart_dedicated": (0.5, 0.5),
    "restart_contention": (0.2, 0.5),
    "restart_joint": (4.0, 0.5),
    "restart_sync": (2.0, 0.5),
    "restart_node": (1.0, 0.7),
}
"""Each constant as one would guess it before any run, and how far off the guess may be."""

SCATTER = Scatter(
    constants={
        "step": 0.07,
        "writer": 0.10,
        "restart_async": 0.08,
        "restart_dedicated": 0.08,
        "gather_slice": 0.15,
        "restart_joint": 0.2,
    },
    step_one_node=0.015,
    run=0.03,
    run_one_node=0.015,
)
"""From the runs on Levante: the report's author repeated some (0.5 to 2.6 % on one node, up to 5.6 % on several),
and families that differ in little beside the day they ran on differ by that much."""


def levante_runs() -> tuple[Run, ...]:
    """The runs on Levante that were measured by F. Ott (2025): `presets/calibrations/levante-runs.csv`."""
    return read_runs(directory("presets") / "calibrations" / "levante-runs.csv")


def read_runs(path: Path) -> tuple[Run, ...]:
    """Read a table of runs: a column for each field of `Case`, "none" for never, and total_s."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(_run(row) for row in rows)


def _run(row: dict[str, str]) -> Run:
    total = float(row.pop("total_s"))
    mode = row.pop("restart_write_mode")
    numbers = {key: None if value == "" else float(value) for key, value in row.items()}
    whole = {key: int(value) for key, value in numbers.items() if value is not None and not key.endswith("_s")}
    return Run(Case(**{**numbers, **whole, "restart_write_mode": mode}), total)  # type: ignore[arg-type]


def fit_levante(runs: Iterable[Run]) -> Calibration:
    """What these runs say of Levante, beginning with a guess. Families are left out: nobody runs them again."""
    size = len(NAMES)
    guess = Estimate(
        tuple(log(BEFORE_MEASURING[name][0]) for name in NAMES),
        tuple(
            tuple(BEFORE_MEASURING[name][1] ** 2 if i == j else 0.0 for j in range(size))
            for i, name in enumerate(NAMES)
        ),
    )
    found = calibrate(runs, prior=Calibration("guess", guess, SCATTER), name="levante")
    return Calibration(found.name, found.estimate, found.scatter, found.measured, SOURCES)


SOURCES = (
    "F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON, Universität Hamburg and DKRZ, 31.03.2025",
    "made from levante-runs.csv by: python benchmarks/advisor.py --calibration",
)
