"""What the page draws and lists of a run: each number with its title and unit."""

from __future__ import annotations

from nmlgen.report.sweep.run import PointRun
from nmlgen.values import frozen

_MEGABYTE = 1e6


@frozen
class Measure:
    """One number of a run. `title` is complete by itself, `short` stands where the figure's title says the rest."""

    key: str
    title: str
    short: str
    unit: str
    scale: float = 1.0

    def of(self, run: PointRun) -> float | None:
        """The number in the measure's unit; None if it is not known, or the run did not come to its end."""
        value: float | None = getattr(run.measured, self.key) if run.state == "finished" else None
        return None if value is None else value * self.scale


@frozen
class Figure:
    """Measures of one unit that are drawn together."""

    title: str
    measures: tuple[Measure, ...]

    @property
    def unit(self) -> str:
        """That of its measures."""
        return self.measures[0].unit


RUN_TIME = Measure("total_s", "run time", "measured", "s")
OUTPUT_WORK = Measure("wrt_output_work_s", "time in output, workers", "workers", "s")
OUTPUT_IO = Measure("wrt_output_io_s", "time in output, I/O ranks", "I/O ranks", "s")
OUTPUT_GET = Measure("output_get_bytes_per_s", "rate of getting output", "getting", "MB/s", 1 / _MEGABYTE)
OUTPUT_WRITE = Measure("output_write_bytes_per_s", "rate of writing output", "writing", "MB/s", 1 / _MEGABYTE)
RESTART_WORK = Measure("write_restart_work_s", "time in checkpoints, workers", "workers", "s")
RESTART_PROCS = Measure("write_restart_procs_s", "time in checkpoints, restart ranks", "restart ranks", "s")
CHECKPOINT_WRITE = Measure(
    "checkpoint_write_bytes_per_s", "rate of writing checkpoints", "writing", "MB/s", 1 / _MEGABYTE
)

MEASURES = (
    RUN_TIME,
    OUTPUT_WORK,
    OUTPUT_IO,
    OUTPUT_GET,
    OUTPUT_WRITE,
    RESTART_WORK,
    RESTART_PROCS,
    CHECKPOINT_WRITE,
)

_OUTPUT = (
    Figure("Time in output", (OUTPUT_WORK, OUTPUT_IO)),
    Figure("Rates of output", (OUTPUT_WRITE, OUTPUT_GET)),
)
_CHECKPOINTS = (
    Figure("Time in checkpoints", (RESTART_WORK, RESTART_PROCS)),
    Figure("Rate of checkpoints", (CHECKPOINT_WRITE,)),
)
_WORTH = 0.01  # of the run time


def figures(runs: tuple[PointRun, ...]) -> tuple[Figure, ...]:
    """The figures that runs deserve beside that of their run time: those on output and on checkpoints, each if some
    run spends one hundredth of its time in it."""
    return tuple(figure for group in (_OUTPUT, _CHECKPOINTS) if _is_worth(group[0], runs) for figure in group)


def _is_worth(figure: Figure, runs: tuple[PointRun, ...]) -> bool:
    for run in runs:
        if run.total_s is not None:
            times = (measure.of(run) for measure in figure.measures)
            if any(time is not None and time > _WORTH * run.total_s for time in times):
                return True
    return False
