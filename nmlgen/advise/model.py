"""The closed form: how long a run takes, and where the time goes.

Workers compute, one step after the other. At an output time they hand their fields to the I/O rank whose turn it
is and go on; they wait only if that rank has not finished its previous turn (a round-robin queue of depth one;
ICON 2024.10 mo_name_list_output.f90:683-850). So a run lasts as long as the slowest of three: the workers, the
writers of output, the writers of checkpoints. Where two of them need about as long, the steps and writes that take
longer than others make it longer than either; a power mean describes the measurements. Without ranks of its own,
output and checkpoints are gathered and written by rank 0 while all wait.
"""

from __future__ import annotations

from attrs import field, frozen

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

_EXPONENT = 3  # of the power mean: the measured runs fit best between 2.5 and 3.5
_CONGESTED = 10  # further nodes, beyond which gathering on one rank is no longer proportional to their number
_GIGABYTE = 1e9
_VALUE = 8  # bytes


def _constant(meaning: str) -> float:
    return field(metadata={"meaning": meaning})  # type: ignore[no-any-return]


@frozen
class Constants:
    """The constants of the closed form. All are positive; a GB is 1e9 bytes, a slice one level of one variable."""

    step: float = _constant("microseconds a rank needs for one cell and level in one time step, out of memory")
    writer: float = _constant("GB/s that an I/O rank receives and writes when it is alone")
    contention: float = _constant("part by which each I/O rank that is busy at the same time slows every one")
    cache: float = _constant("cells times levels a rank at which half of the computing is out of its cache")
    start_up: float = _constant("seconds a node, once")
    gather: float = _constant("seconds a GB that is gathered and written by rank 0")
    gather_slice: float = _constant("milliseconds a slice for each further node, gathered by rank 0")
    restart_async: float = _constant("GB/s of the one rank that writes asynchronous checkpoints")
    restart_idle: float = _constant("exponent: that rank is faster, the more idle restart ranks are beside it")
    restart_dedicated: float = _constant("GB/s of a dedicated restart rank when it is alone")
    restart_contention: float = _constant("part by which each further dedicated restart rank slows every one")
    restart_joint: float = _constant("GB/s of all workers together in joint checkpoints")
    restart_sync: float = _constant("seconds a synchronous checkpoint, whatever its size")
    restart_node: float = _constant("seconds a synchronous checkpoint for each further node")


def step_time(case: Case, constants: Constants, workers: int) -> float:
    """Seconds one model step takes when nobody writes."""
    points = case.n_cells * case.num_lev / workers
    return constants.step * 1e-6 * points * points**2 / (points**2 + constants.cache**2)


def run_time(case: Case, constants: Constants) -> tuple[float, ...]:
    """How long the run takes, in seconds, by where the time goes: one figure for each of PARTS."""
    c = constants
    alone = case.n_steps * step_time(case, c, case.ntasks)
    computing = case.n_steps * step_time(case, c, case.workers)
    synchronous, outputs, turn, writers = 0.0, case.outputs, 0.0, case.writers
    if outputs and not writers:
        slices = case.n_output_slices or case.output_bytes / _VALUE / case.n_cells
        synchronous = outputs * _gather_time(case, c, case.output_bytes, slices)
    restart, restart_writing = _checkpoint_time(case, c)
    busy = computing + synchronous + restart
    total, writing = _slowest(busy, 0.0, restart_writing), 0.0
    if outputs and writers:
        turn, total = _turn(case, c, busy, restart_writing)
        writing = outputs * turn / writers
    waiting = max(0.0, total - busy)
    share = writing**_EXPONENT / (writing**_EXPONENT + restart_writing**_EXPONENT) if writing else 0.0
    return (
        c.start_up * case.nodes,
        alone,
        computing - alone,
        synchronous,
        waiting * share + turn,  # the last turn begins when all is computed
        restart + waiting * (1 - share),
    )


def writer_turn(case: Case, constants: Constants) -> float:
    """Seconds an I/O rank needs to receive and write one output, the others being as busy as they are in the run.

    Raises ValueError without I/O ranks or output.
    """
    if not (case.outputs and case.writers):
        raise ValueError("no I/O rank writes output")
    computing = case.n_steps * step_time(case, constants, case.workers)
    restart, restart_writing = _checkpoint_time(case, constants)
    return _turn(case, constants, computing + restart, restart_writing)[0]


def writer_busy(case: Case, constants: Constants) -> float:
    """For which part of the run its I/O ranks are busy."""
    turns = case.outputs / case.writers * writer_turn(case, constants)
    return turns / sum(run_time(case, constants))


def _gather_time(case: Case, c: Constants, size: float, slices: float) -> float:
    others = case.nodes - 1
    congested = others * (1 + (others / _CONGESTED) ** 4)
    return c.gather * size / _GIGABYTE + c.gather_slice * 1e-3 * slices * congested


def _checkpoint_time(case: Case, c: Constants) -> tuple[float, float]:
    """Seconds of the workers, and seconds of the ranks that write beside them, for all checkpoints."""
    count, ranks, mode = case.checkpoints, case.restart_ranks, case.restart_mode
    size = case.checkpoint_bytes / _GIGABYTE
    if not count:
        return 0.0, 0.0
    if mode == JOINT:
        return count * size / c.restart_joint, 0.0
    if mode == ASYNC and ranks:
        return 0.0, count * size / (c.restart_async * ranks**c.restart_idle)
    if mode == DEDICATED and ranks:
        return 0.0, count * size / (c.restart_dedicated * ranks) * (1 + c.restart_contention * (ranks - 1))
    gathering = _gather_time(case, c, case.checkpoint_bytes, case.checkpoint_bytes / _VALUE / case.n_cells)
    return count * (c.restart_sync + c.restart_node * (case.nodes - 1) + gathering), 0.0


def _turn(case: Case, c: Constants, busy: float, beside: float) -> tuple[float, float]:
    """Seconds of one turn of a writer, and of the run: the more writers are busy at once, the slower each."""
    outputs, writers = case.outputs, case.writers
    alone = case.output_bytes / _GIGABYTE / c.writer
    turn, total = alone, busy
    for _ in range(60):
        total = _slowest(busy, outputs * turn / writers, beside)
        at_once = min(writers, max(1.0, outputs * turn / total))
        turn, before = alone * (1 + c.contention * (at_once - 1)), turn
        if abs(turn - before) < 1e-7 * turn:
            break
    return turn, total


def _slowest(workers: float, writers: float, restart: float) -> float:
    if not (writers or restart):
        return workers
    powers = workers * workers * workers + writers * writers * writers + restart * restart * restart
    return float(powers ** (1 / _EXPONENT))
