"""Several outputs at once: a layout played through, where the closed form sees one output only."""

from __future__ import annotations

from math import inf

from attrs import evolve

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import ASYNC, JOINT, SYNC, Case
from nmlgen.advise.experiment import Situation
from nmlgen.advise.model import PARTS, Constants, run_time, step_time
from nmlgen.advise.prediction import Prediction
from nmlgen.advise.rates import Rates
from nmlgen.advise.simulation import simulate
from nmlgen.advise.workload import Checkpoint, Stream, Workload
from nmlgen.experiment.ranks import RestartMode

_LEAST_S = 1e-9


def played(
    situation: Situation, case: Case, partitions: tuple[int, ...], closed: Prediction, calibration: Calibration
) -> Prediction:
    """The prediction of the closed form, which takes all outputs for one, put right by a play with the likeliest
    constants; `partitions` are those of each output.

    What the play takes longer, or less long, is waiting for the ranks that write.
    """
    constants = calibration.estimate.constants
    step_s = step_time(case, constants, case.workers)
    play = simulate(_workload(situation, case, partitions), step_s=step_s, rates=_rates(case, constants))
    start_up, *rest = run_time(case, constants)
    factor = (start_up + play.total_s) / (start_up + sum(rest))
    total = closed.total_s * factor
    parts = dict(closed.parts)
    waiting = "waiting for writers" if case.io_ranks else "synchronous writes"
    parts[waiting] = max(0.0, parts[waiting] + total - closed.total_s)
    return evolve(closed, total_s=total, low_s=closed.low_s * factor, high_s=closed.high_s * factor, parts=parts)


def _workload(situation: Situation, case: Case, partitions: tuple[int, ...]) -> Workload:
    """What the whole experiment writes with these partitions; files go to the I/O ranks in turn, in ICON's order."""
    streams, turn = [], 0
    for output, parts in sorted(zip(situation.outputs, partitions, strict=True), key=lambda pair: pair[0].number):
        every = max(1, round(output.interval_s / case.dtime_s))
        for partition in range(parts):
            ranks = (turn % case.io_ranks,) if case.io_ranks else ()
            steps = range(partition * every, case.n_steps + 1, every * parts)
            streams.append(Stream(output.step_bytes, steps, ranks))
            turn += 1
    return Workload(case.n_steps, tuple(streams), case.io_ranks, _checkpoint(case))


def _rates(case: Case, constants: Constants) -> Rates:
    """How fast the writers of a case are: as the closed form has it."""
    alone = dict(zip(PARTS, run_time(evolve(case, num_io_procs=0), constants), strict=True))
    gathering = case.output_bytes * case.outputs / max(alone["synchronous writes"], _LEAST_S)
    stopping = 0.0
    writer, contention = constants.restart_dedicated, constants.restart_contention
    if case.restart_mode == ASYNC:
        writer, contention = constants.restart_async * max(1, case.restart_ranks) ** constants.restart_idle, 0.0
    if case.restart_mode in (SYNC, JOINT) and case.checkpoints:
        quiet = dict(zip(PARTS, run_time(evolve(case, output_bytes=0), constants), strict=True))
        stopping, writer = quiet["checkpoints"] / case.checkpoints, inf
    return Rates(
        output_bytes_per_s=constants.writer * 1e9,
        output_contention=constants.contention,
        gather_bytes_per_s=gathering,
        checkpoint_bytes_per_s=writer * 1e9,
        checkpoint_contention=contention,
        checkpoint_overhead_s=stopping,
    )


def _checkpoint(case: Case) -> Checkpoint | None:
    if not case.checkpoints or case.checkpoint_interval_s is None:
        return None
    every = max(1, round(case.checkpoint_interval_s / case.dtime_s))
    writers = 1 if case.restart_mode == ASYNC else max(1, case.restart_ranks)
    steps = range(every, case.n_steps + 1, every)
    return Checkpoint(case.checkpoint_bytes, steps, RestartMode(case.restart_mode), writers)
