"""The closed form: how long a run takes, and where the time goes.

Workers compute, one step after the other. At an output time they hand their fields to the I/O rank whose turn it
is and go on; they wait only if that rank has not finished its previous turn (a round-robin queue of depth one;
ICON 2024.10 mo_name_list_output.f90:683-850). So a run lasts as long as the slowest of three: the workers, the
writers of output, the writers of checkpoints. Where two of them need about as long, chance makes it longer than
either; a power mean of exponent 4 describes the measurements. Without writers of its own, rank 0 gathers and
writes while all wait.
"""

from __future__ import annotations

from attrs import frozen

from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, Case

PARTS = (
    "start-up",
    "computing",
    "ranks taken away",
    "synchronous writes",
    "waiting for writers",
    "checkpoints",
)
"""Where the time goes. "Ranks taken away" is what computing takes longer because some ranks write."""

_EXPONENT = 4
_GIGABYTE = 1e9


@frozen
class Constants:
    """The constants of the closed form: times in seconds, volumes in GB (1e9 bytes); all are positive."""

    start_up: float
    """Seconds a node, once: reading the grid, decomposing, connecting."""
    step: float
    """Microseconds to compute one cell and level for one time step on one rank."""
    cache: float
    """Exponent: how much slower a cell becomes as a rank has more of them, and its cache holds fewer."""
    gather: float
    """Seconds a GB of synchronous output."""
    gather_node: float
    """Seconds for each further node, once a synchronous output or checkpoint."""
    writer: float
    """GB/s of an I/O rank that writes alone."""
    contention: float
    """By how much each further I/O rank that writes at the same time slows all of them."""
    restart_sync: float
    """Seconds a GB of synchronous checkpoint."""
    restart_sync_node: float
    """Seconds for each further node, once a synchronous checkpoint."""
    restart_async: float
    """GB/s of the one rank that writes asynchronous checkpoints."""
    restart_dedicated: float
    """GB/s of a dedicated restart rank that writes alone."""
    restart_contention: float
    """By how much each further restart rank that writes at the same time slows all of them."""
    restart_joint: float
    """GB/s of all workers together when each writes its part of the checkpoint."""


def step_time(case: Case, constants: Constants, workers: int) -> float:
    """Seconds one model step takes when nobody writes."""
    cells = case.n_cells / workers
    return constants.step * 1e-6 * case.num_lev * cells * (cells / 640) ** constants.cache


def run_time(case: Case, constants: Constants) -> tuple[float, ...]:
    """How long the run takes, in seconds, by where the time goes: one figure for each of PARTS."""
    c = constants
    start_up = c.start_up * case.nodes
    alone = case.n_steps * step_time(case, c, case.ntasks)
    computing = case.n_steps * step_time(case, c, case.workers)
    outputs, checkpoints = case.outputs, case.checkpoints
    volume, state = case.output_bytes / _GIGABYTE, case.checkpoint_bytes / _GIGABYTE
    others = case.nodes - 1

    synchronous, writing, turn = 0.0, 0.0, 0.0
    writers = case.writers
    if outputs and not writers:
        synchronous = outputs * (c.gather * volume + c.gather_node * others)
    restart, restart_writing = _checkpoints(case, c, checkpoints, state, others)

    busy = computing + synchronous + restart
    total = busy
    if outputs and writers:
        alone_s = volume / c.writer
        turn, total = _contended(alone_s, outputs, writers, busy, restart_writing, c.contention)
        writing = outputs * turn / writers
    elif restart_writing:
        total = _slowest(busy, restart_writing)
    waiting = total - busy
    share = writing**_EXPONENT / (writing**_EXPONENT + restart_writing**_EXPONENT) if writing else 0.0
    return (
        start_up,
        alone,
        computing - alone,
        synchronous,
        waiting * share + turn,  # the last turn, after the last step, has nothing to hide behind
        restart + waiting * (1 - share),
    )


def _checkpoints(case: Case, c: Constants, checkpoints: int, state: float, others: int) -> tuple[float, float]:
    """Seconds of the workers, and seconds of the ranks that write beside them."""
    mode, ranks = case.restart_mode, case.restart_ranks
    if not checkpoints:
        return 0.0, 0.0
    if mode == JOINT:
        return checkpoints * state / c.restart_joint, 0.0
    if mode == ASYNC and ranks:
        return 0.0, checkpoints * state / c.restart_async
    if mode == DEDICATED and ranks:
        return 0.0, checkpoints * state / (c.restart_dedicated * ranks) * (1 + c.restart_contention * (ranks - 1))
    return checkpoints * (c.restart_sync * state + c.restart_sync_node * others), 0.0


def _contended(
    alone: float, outputs: int, writers: float, busy: float, beside: float, contention: float
) -> tuple[float, float]:
    """Seconds of one turn of a writer, and of the run: the more writers at once, the slower each of them."""
    turn, total = alone, busy
    for _ in range(8):
        total = _slowest(busy, outputs * turn / writers, beside)
        at_once = min(writers, max(1.0, outputs * turn / total))
        turn = alone * (1 + contention * (at_once - 1))
    return turn, total


def _slowest(*times: float) -> float:
    return float(sum(time**_EXPONENT for time in times)) ** (1 / _EXPONENT)
