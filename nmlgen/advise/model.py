"""The closed form: how long a run takes, and where the time goes.

Workers compute, one step after the other. At an output time they hand their fields to the I/O rank whose turn it
is and go on; they wait only if that rank has not finished its previous turn (a round-robin queue of depth one;
ICON 2024.10 mo_name_list_output.f90:683-850). So a run lasts as long as the slowest of three: the workers, the
writers of output, the writers of checkpoints. Where two of them need about as long, the steps and writes that take
longer than others make it longer than either; a power mean describes the measurements. Ranks that write are slowed
by those that compute beside them, and are faster while these wait. Without ranks of its own, output and checkpoints
are gathered and written by rank 0 while all wait.
"""

from __future__ import annotations

from math import log, log2

from attrs import field, frozen

from nmlgen.advise.case import ASYNC, JOINT, Case

PARTS = (
    "start-up",
    "computing",
    "ranks taken away",
    "synchronous writes",
    "waiting for writers",
    "checkpoints",
)
"""Where the time goes. "Ranks taken away" is what computing takes longer because some ranks write."""

_EXPONENT = 3  # of the power mean of workers and writers of output: the measured runs fit best near 3
_CHECKPOINT_EXPONENT = 6  # of that with checkpoints, which vary less: all restart ranks write each of them; 5 to 8
_NEIGHBOURS = 7  # ranks that share a cache with one: the processors of Levante have 8 cores to a cache
_CONGESTED = 10  # further nodes, beyond which gathering on one rank is no longer proportional to their number
_GIGABYTE = 1e9
_VALUE = 8  # bytes
_CLOSE = 1e-8  # relative
_SHORTEST = 1e-9  # seconds


def _constant(meaning: str) -> float:
    return field(metadata={"meaning": meaning})  # type: ignore[no-any-return]


@frozen
class Constants:
    """The constants of the closed form. All are positive; a GB is 1e9 bytes, a slice one level of one variable."""

    step: float = _constant("microseconds a rank needs for one cell and level in one time step, out of memory")
    writer: float = _constant("GB/s that an I/O rank receives and writes when it is alone and nobody computes")
    contention: float = _constant("part by which each other rank that writes at the same time slows every one")
    beside: float = _constant("part by which ranks that compute all the time slow those that write beside them")
    cache: float = _constant("cells times levels a rank at which half of the computing is out of its cache")
    start_up: float = _constant("seconds a node, once")
    gather: float = _constant("seconds a GB that is gathered and written by rank 0")
    gather_slice: float = _constant("milliseconds a slice for each further node, gathered by rank 0")
    restart_async: float = _constant("GB/s of the one rank that writes asynchronous checkpoints, while nobody computes")
    restart_dedicated: float = _constant("GB/s of a dedicated restart rank when it is alone and nobody computes")
    restart_joint: float = _constant("GB/s of all workers together in joint checkpoints")
    restart_sync: float = _constant("seconds a synchronous checkpoint, whatever its size")
    restart_node: float = _constant("seconds a synchronous checkpoint for each doubling of the nodes")


def step_time(case: Case, constants: Constants, workers: int) -> float:
    """Seconds one model step takes when nobody writes."""
    points = case.n_cells * case.num_lev / workers
    return constants.step * 1e-6 * points * points**2 / (points**2 + constants.cache**2)


def run_time(case: Case, constants: Constants) -> tuple[float, ...]:
    """How long the run takes, in seconds, by where the time goes: one figure for each of PARTS."""
    c = constants
    alone = case.n_steps * step_time(case, c, case.ntasks)
    computing = case.n_steps * step_time(case, c, case.workers)
    synchronous = _output_by_all(case, c)
    restart = _checkpoints_by_all(case, c)
    busy = computing + synchronous + restart
    total, turn = _settled(case, c, computing, busy)
    with_output = _slower(busy, case.outputs * turn / case.writers, _EXPONENT) if turn else busy
    return (
        c.start_up * case.nodes,
        alone,
        computing - alone,
        synchronous,
        with_output - busy + turn,  # the last turn begins when all is computed
        restart + total - with_output,
    )


def writer_turn(case: Case, constants: Constants) -> float:
    """Seconds an I/O rank needs to receive and write one output, the others being as busy as they are in the run.

    Raises ValueError without I/O ranks or output.
    """
    if not (case.outputs and case.writers):
        raise ValueError("no I/O rank writes output")
    computing = case.n_steps * step_time(case, constants, case.workers)
    return _settled(case, constants, computing, computing + _checkpoints_by_all(case, constants))[1]


def writer_busy(case: Case, constants: Constants) -> float:
    """For which part of the run its I/O ranks are busy."""
    turns = case.outputs / case.writers * writer_turn(case, constants)
    return turns / sum(run_time(case, constants))


def slowed(case: Case, constants: Constants) -> tuple[float, float]:
    """By how much ranks that compute slow the I/O ranks and the restart ranks, in the mean over the run: factors."""
    computing = case.n_steps * step_time(case, constants, case.workers)
    busy = computing + _output_by_all(case, constants) + _checkpoints_by_all(case, constants)
    total, _ = _settled(case, constants, computing, busy)
    part = constants.beside * computing / total if total else 0.0
    return 1 + part, 1 + part * _neighbours(case)


def _gather_time(case: Case, c: Constants, size: float, slices: float) -> float:
    others = case.nodes - 1
    congested = others * (1 + (others / _CONGESTED) ** 4)
    return c.gather * size / _GIGABYTE + c.gather_slice * 1e-3 * slices * congested


def _output_by_all(case: Case, c: Constants) -> float:
    """Seconds in which all wait for rank 0 to write output."""
    if not case.outputs or case.writers:
        return 0.0
    slices = case.n_output_slices or case.output_bytes / _VALUE / case.n_cells
    return case.outputs * _gather_time(case, c, case.output_bytes, slices)


def _checkpoints_by_all(case: Case, c: Constants) -> float:
    """Seconds in which all write checkpoints, or wait for rank 0 to write them."""
    if not case.checkpoints or case.restart_ranks:
        return 0.0
    size = case.checkpoint_bytes
    if case.restart_mode == JOINT:
        return case.checkpoints * size / _GIGABYTE / c.restart_joint
    gathering = _gather_time(case, c, size, size / _VALUE / case.n_cells)
    return case.checkpoints * (c.restart_sync + c.restart_node * log2(case.nodes) + gathering)


def _neighbours(case: Case) -> float:
    """Which part of the neighbours of a restart rank computes: in async mode the other restart ranks idle."""
    return max(0, _NEIGHBOURS + 1 - case.restart_ranks) / _NEIGHBOURS if case.restart_mode == ASYNC else 1.0


def _restart_alone(case: Case, c: Constants) -> float:
    """Seconds that restart ranks write if nobody computes beside them."""
    ranks, size = case.restart_ranks, case.checkpoint_bytes / _GIGABYTE
    if not (case.checkpoints and ranks):
        return 0.0
    if case.restart_mode == ASYNC:
        return case.checkpoints * size / c.restart_async
    return case.checkpoints * size / (c.restart_dedicated * ranks) * (1 + c.contention * (ranks - 1))


def _settled(case: Case, c: Constants, computing: float, busy: float) -> tuple[float, float]:
    """Seconds of the run, and of one turn of a writer of output.

    The more writers are busy at once, the slower each; the longer the workers wait for them, the faster. So what a run
    of some length would take falls with that length: the run lies between two bounds, which are drawn together by the
    method of false position (Illinois), in logarithms, in which it is nearly straight.
    """
    outputs = case.outputs if case.writers else 0
    writers, alone = case.writers, case.output_bytes / _GIGABYTE / c.writer
    restart, restart_beside = _restart_alone(case, c), c.beside * _neighbours(case)
    contention, beside = c.contention, c.beside

    def if_it_took(total: float) -> tuple[float, float]:
        """The same if the writers were as busy and as much slowed as in a run of this length."""
        part, turn, result = computing / total, 0.0, busy
        if outputs:
            turn = alone * (1 + beside * part)
            load = outputs * turn / total  # how many write at once if they do not slow each other
            if load > 1:
                slow = load * contention
                at_once = min(writers, (load - slow) / (1 - slow)) if slow < 1 else writers
                turn *= 1 + contention * (at_once - 1)
            result = _slower(busy, outputs * turn / writers, _EXPONENT)
        return _slower(result, restart * (1 + restart_beside * part), _CHECKPOINT_EXPONENT), turn

    low = max(busy, _SHORTEST)
    total, turn = if_it_took(low)
    if total <= low * (1 + _CLOSE):
        return total, turn
    high, above = total, log(total / low)
    total, turn = if_it_took(high)
    below, side = log(total / high), 0
    while below < -_CLOSE:
        middle = high * (low / high) ** (below / (below - above))
        total, turn = if_it_took(middle)
        off = log(total / middle)
        if abs(off) <= _CLOSE:
            return middle, turn
        if off > 0:
            low, above = middle, off
            below, side = (below / 2 if side > 0 else below), 1
        else:
            high, below = middle, off
            above, side = (above / 2 if side < 0 else above), -1
    return high, turn


def _slower(workers: float, writers: float, exponent: int) -> float:
    if not writers:
        return workers
    return float((workers**exponent + writers**exponent) ** (1 / exponent))
