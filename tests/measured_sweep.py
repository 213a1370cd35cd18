"""Sweeps to report on: that of the runs on Levante that ship, and sweeps on the disk with made-up logs."""

from __future__ import annotations

import random
from pathlib import Path

import icon_logs
from attrs import evolve
from specs import TEXT

import nmlgen
from nmlgen.advise import predict
from nmlgen.advise.measurements import TABLES, levante_runs
from nmlgen.report.sweep.run import Measured, PointRun, Predicted, SweepRuns

SWEEP = """\
sweep:
  grid: {job.nodes: [1, 2], parallel.num_io_procs: [0, 2, 4]}
  derive: {output.atm.stream_partitions_ml: "max(1, num_io_procs)"}
  name: n{nodes}-io{num_io_procs}
"""
SECONDS = {(1, 0): 300.0, (1, 2): 200.0, (1, 4): 202.0, (2, 0): 250.0, (2, 2): 150.0, (2, 4): 120.0}
"""Run time by nodes and I/O ranks."""


def output_sweep() -> SweepRuns:
    """The measured runs with output: six families of seven layouts."""
    return SweepRuns(
        name="levante-output",
        runs=tuple(run for run in _measured() if "output_interval" in " ".join(run.values)),
        version="1.2.3",
        present={"parallel.num_io_procs": 1, "output.atm.stream_partitions_ml": 1},
        inputs=(("spec.yaml", "0123abcd"),),
        calibration="levante",
    )


def checkpoint_sweep() -> SweepRuns:
    """The measured runs with checkpoints: modes with restart ranks."""
    runs = tuple(run for run in _measured() if "output_interval" not in " ".join(run.values))
    return SweepRuns(name="levante-checkpoints", runs=runs, version="1.2.3", calibration="levante")


def _measured() -> list[PointRun]:
    found = []
    for measured in levante_runs(TABLES[:1]):
        case, prediction = measured.case, predict(measured.case)
        grid = {81920: "R2B5", 327680: "R2B6"}[case.n_cells]
        values = {"grid.name": grid, "grid.file": f"grids/icon{grid}-grid.nc", "job.nodes": str(case.nodes)}
        if case.outputs > 2:
            values["output.atm.output_interval"] = f"PT{case.output_interval_s / 60:.0f}M"
            values["parallel.num_io_procs"] = str(case.num_io_procs)
            values["output.atm.stream_partitions_ml"] = str(case.stream_partitions)
        else:
            values["restart.checkpointTimeIntval"] = f"PT{case.checkpoint_interval_s / 60:.0f}M"
            values["restart.restart_write_mode"] = case.restart_mode
            values["restart.num_restart_procs"] = str(case.num_restart_procs)
        found.append(
            PointRun(
                name="-".join(value for key, value in values.items() if key != "grid.file").replace(" ", "_"),
                values=values,
                state="finished",
                nodes=case.nodes,
                cores=case.ntasks,
                measured=Measured(total_s=measured.total_s),
                predicted=Predicted(
                    total_s=prediction.total_s,
                    low_s=prediction.low_s,
                    high_s=prediction.high_s,
                    notes=prediction.notes,
                ),
            )
        )
    return found


def with_output_times(sweep: SweepRuns) -> SweepRuns:
    """The sweep with made-up times and rates of output."""
    dice = random.Random(1)
    runs = []
    for run in sweep.runs:
        ranks = int(run.values["parallel.num_io_procs"])
        times = Measured(
            total_s=run.measured.total_s,
            wrt_output_work_s=1200.0 / (ranks + 1) ** 1.5,
            wrt_output_io_s=2000.0 / ranks if ranks else None,
            output_get_bytes_per_s=dice.uniform(2e9, 4e9) if ranks else None,
            output_write_bytes_per_s=dice.uniform(5e8, 1e9) if ranks else None,
        )
        runs.append(evolve(run, measured=times))
    return evolve(sweep, runs=tuple(runs))


def finished_log(seconds: float, io: int = 2, work: int = 4) -> bytes:
    """The log of a run that took so long."""
    total = icon_logs.row("total", work, 1, 100.0)
    lines = icon_logs.log(work=work, io=io)
    return icon_logs.text(icon_logs.row("total", work, 1, seconds) if line == total else line for line in lines)


def write_log(sweep: Path, point: str, log: bytes, job: int = 17) -> Path:
    """Lay a log where the job of a point leaves it."""
    run = sweep / "points" / point / "run"
    run.mkdir(exist_ok=True)
    path = run / f"{point}.{job}.icon.log"
    path.write_bytes(log)
    return path


def write_sweep(directory: Path, sweep: str = SWEEP) -> Path:
    """The sweep on the disk, before any run."""
    spec = directory / "spec.yaml"
    spec.write_text(TEXT + sweep)
    nmlgen.write_sweep(nmlgen.expand(spec), directory / "sweep")
    return directory / "sweep"


def run_sweep(sweep: Path) -> None:
    """Let all points have run."""
    for (nodes, ranks), seconds in SECONDS.items():
        write_log(sweep, f"n{nodes}-io{ranks}", finished_log(seconds, io=ranks))
