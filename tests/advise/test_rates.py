"""The simulation and the closed form, with the same constants."""

from __future__ import annotations

import pytest
from attrs import evolve
from rows import rows

from nmlgen.advise.calibration import levante
from nmlgen.advise.case import Case
from nmlgen.advise.model import run_time, step_time
from nmlgen.advise.rates import Rates
from nmlgen.advise.simulation import simulate
from nmlgen.advise.workload import Checkpoint, Stream, Workload
from nmlgen.models.icon.ranks import RestartMode

CONSTANTS = levante().estimate.constants
CASE = Case(n_cells=81920, num_lev=30, nodes=2, ntasks=256, dtime_s=120, n_steps=7200)
ROUNDED_KNEE = 2 ** (1 / 3)  # by how much the closed form exceeds the sharp maximum where two of its terms are equal


def simulated(case: Case) -> float:
    """The run time without the start-up."""
    mode = RestartMode(case.restart_mode)
    streams: tuple[Stream, ...] = ()
    checkpoint = None
    if case.output_interval_s:
        every = round(case.output_interval_s / case.dtime_s)
        turns = tuple(partition % case.num_io_procs for partition in range(case.stream_partitions) if case.num_io_procs)
        streams = (Stream(case.output_bytes, range(0, case.n_steps + 1, every), turns),)
    if case.checkpoint_interval_s:
        every = round(case.checkpoint_interval_s / case.dtime_s)
        writers = max(1, case.restart_ranks)
        checkpoint = Checkpoint(case.checkpoint_bytes, range(every, case.n_steps + 1, every), mode, writers)
    workload = Workload(case.n_steps, streams, case.num_io_procs, checkpoint)
    rates = Rates.of(case, CONSTANTS)
    return simulate(workload, step_s=step_time(case, CONSTANTS, case.workers), rates=rates).total_s


def predicted(case: Case) -> float:
    """The same by the closed form."""
    return sum(run_time(case, CONSTANTS)[1:])


@rows("interval", [240, 720, 3600])
@rows("n_cells", [81920, 327680])
@rows(("ranks", "partitions"), [(1, 1), (2, 2), (4, 4), (16, 16), (32, 32), (2, 3), (4, 6), (4, 1)])
def test_output_by_io_ranks(ranks: int, partitions: int, n_cells: int, interval: float) -> None:
    case = evolve(
        CASE,
        n_cells=n_cells,
        output_bytes=n_cells * 3104.0,
        output_interval_s=interval,
        num_io_procs=ranks,
        stream_partitions=partitions,
    )
    assert 0.995 <= predicted(case) / simulated(case) <= ROUNDED_KNEE + 0.005


@pytest.mark.parametrize("interval", [240, 720])
def test_output_by_the_workers(interval: float) -> None:
    case = evolve(CASE, output_bytes=0.254e9, output_interval_s=interval)
    assert simulated(case) == pytest.approx(predicted(case), rel=1e-9)


@rows("interval", [720, 43200])
@rows(("mode", "ranks"), [("sync", 0), ("joint", 0), ("async", 1), ("dedicated", 1), ("dedicated", 8)])
def test_checkpoints(mode: str, ranks: int, interval: float) -> None:
    """Of the checkpoints beside the workers the last one ends after the run, which the closed form leaves out."""
    case = evolve(
        CASE,
        restart_write_mode=mode,
        num_restart_procs=ranks,
        checkpoint_bytes=0.894e9,
        checkpoint_interval_s=interval,
    )
    if ranks:
        assert 0.99 <= predicted(case) / simulated(case) <= ROUNDED_KNEE
    else:
        assert simulated(case) == pytest.approx(predicted(case), rel=1e-9)


def test_a_writer_is_faster_while_the_workers_wait_for_it() -> None:
    seldom, often = (evolve(CASE, output_bytes=0.254e9, output_interval_s=s, num_io_procs=1) for s in (3600, 240))
    speeds = [Rates.of(case, CONSTANTS).known("output_bytes_per_s") for case in (seldom, often)]
    assert speeds[0] < 0.9 * speeds[1]


def test_idle_neighbours_do_not_slow_the_writer_of_checkpoints() -> None:
    case = evolve(CASE, restart_write_mode="async", checkpoint_bytes=0.894e9, checkpoint_interval_s=720)
    speeds = [
        Rates.of(evolve(case, num_restart_procs=ranks), CONSTANTS).known("checkpoint_bytes_per_s")
        for ranks in (1, 4, 8, 9)
    ]
    assert speeds[0] < speeds[1] < speeds[2] == pytest.approx(speeds[3], rel=1e-3)  # less to fetch from fewer workers
    writing_s, receiving_s = (0.894 / CONSTANTS.restart_async, 0.894e9 / speeds[3] - 0.894 / CONSTANTS.restart_async)
    assert 0 < receiving_s < 0.1 * writing_s
