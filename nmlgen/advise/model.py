"""The closed form: how long a run takes, and where the time goes.

Workers compute, one step after the other. At an output time they hand their fields to the I/O rank whose turn it
is and go on; they wait only if that rank has not finished its previous turn (a round-robin queue of depth one;
ICON 2024.10 mo_name_list_output.f90:683-850). So a run lasts as long as the slowest of three: the workers, the
writers of output, the writers of checkpoints. Where two of them need about as long, the steps and writes that take
longer than others make it longer than either; a power mean describes the measurements.

A turn of a writer is receiving and writing. It fetches every slice from every worker, so that receiving has a part
by bytes and one by slices and workers on other nodes. Ranks that write are slowed by those that compute beside them,
and are faster while these wait. The node that holds all I/O ranks keeps what it writes in memory; now and then it
writes back, and nobody on it gets on for some seconds: these stalls are waited for unless the turn comes later.
Without ranks of its own, output and checkpoints are gathered and written by rank 0 while all wait.

What no run tells is bounded: a record is never slower than at the slowest rate that was measured.
"""

from __future__ import annotations

from math import log, log2
from typing import NamedTuple

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

SLOWEST_OUTPUT = 0.2425e9
"""Bytes a second of the slowest output measured: R2B6 on 8 nodes, gathered and written by rank 0 (F. Ott, 2025)."""

SLOWEST_CHECKPOINT = 31.5e6
"""Bytes a second of the slowest checkpoint measured: R2B6 on 16 nodes, gathered and written by rank 0."""

_NEIGHBOURS = 7  # ranks that share a cache with one: the processors of Levante have 8 cores to a cache
_UNSTALLED = 30e9  # bytes: within the first 30 GB of a run none of 217 files had a write of more than 3 s
_WITHIN = 0.9  # of the time at the slowest rate: the last turn and stalls come on top
_CONNECTING = 0.25  # part of the start-up that each doubling of the nodes adds
_GIGABYTE = 1e9
_TERABYTE = 1e12
_VALUE = 8  # bytes
_ALL_IN_CACHE = 1e20  # times as large: more of it makes no difference
_CLOSE = 1e-8  # relative
_SHORTEST = 1e-9  # seconds


class Constants(NamedTuple):
    """The constants of the closed form, as `MEANINGS` says. All are positive; a GB is 1e9 bytes, a slice one level of
    one variable."""

    step: float
    cached: float
    cache: float
    cache_power: float
    floor: float
    start_up: float
    writer: float
    receive: float
    receive_rank: float
    contention: float
    beside: float
    overlap: float
    stalls: float
    stall: float
    gather: float
    gather_rank: float
    gather_power: float
    restart_async: float
    restart_dedicated: float
    restart_rank: float
    restart_fetch: float
    restart_overlap: float
    restart_joint: float
    restart_power: float
    restart_open: float
    restart_sync: float


MEANINGS = {
    "step": "microseconds a rank needs for one cell and level in one time step, out of its cache",
    "cached": "part of that which is left where all of it is in the cache",
    "cache": "cells times levels a rank at which half of the computing is out of its cache",
    "cache_power": "how sharply computing leaves the cache: the power of cells times levels a rank",
    "floor": "milliseconds of a time step that no further rank makes shorter",
    "start_up": "seconds of a start on one node, once",
    "writer": "GB/s that an I/O rank writes when it is alone and nobody computes",
    "receive": "seconds a GB that an I/O rank receives",
    "receive_rank": "microseconds a slice for each worker on another node, received by an I/O rank",
    "contention": "part by which each other rank that writes at the same time slows every one",
    "beside": "part by which ranks that compute all the time slow those that write beside them",
    "overlap": "power of the mean of the workers' time and that of writers of output",
    "stalls": "stalls of the writers' node for each TB that it writes",
    "stall": "seconds of a stall",
    "gather": "seconds a GB that is gathered and written by rank 0",
    "gather_rank": "microseconds a slice for each worker on another node, gathered by rank 0",
    "gather_power": "power of the number of workers on other nodes with which gathering grows",
    "restart_async": "GB/s of the one rank that writes asynchronous checkpoints, while nobody computes",
    "restart_dedicated": "GB/s of a dedicated restart rank when it is alone and nobody computes",
    "restart_rank": "microseconds a slice for each worker on another node, received by dedicated ranks",
    "restart_fetch": "microseconds a slice for each worker on another node, received in async mode",
    "restart_overlap": "power of the mean of all that with the time of writers of checkpoints",
    "restart_joint": "GB/s of all workers together in joint checkpoints, on one node",
    "restart_power": "power of the number of nodes with which that grows",
    "restart_open": "seconds a joint checkpoint, whatever its size",
    "restart_sync": "seconds a synchronous checkpoint, whatever its size",
}
"""What each of the constants is, in their order."""


def step_time(case: Case, constants: Constants, workers: int) -> float:
    """Seconds one model step takes when nobody writes: it is cores that compute, and the threads of a task have one
    each."""
    c = constants
    points = case.n_cells * case.num_lev / (workers * case.cores_per_task)
    out = 1 / (1 + float(min(c.cache / points, _ALL_IN_CACHE) ** c.cache_power))
    return c.step * 1e-6 * points * (c.cached + (1 - c.cached) * out) + c.floor * 1e-3


def run_time(case: Case, constants: Constants) -> tuple[float, ...]:
    """How long the run takes, in seconds, by where the time goes: one figure for each of PARTS."""
    return run_and_writers(case, constants)[0]


def run_and_writers(case: Case, constants: Constants) -> tuple[tuple[float, ...], float, float]:
    """The same, the seconds of one turn of a writer of output, and those in which a restart rank is busy; 0 without."""
    c = constants
    alone = case.n_steps * step_time(case, c, case.undivided)
    computing = case.n_steps * step_time(case, c, case.workers)
    synchronous = _output_by_all(case, c)
    restart = _checkpoints_by_all(case, c)
    busy = computing + synchronous + restart
    writing, turn = _with_output(case, c, computing, computing + synchronous)
    with_output = _slower(busy, writing, c.overlap)
    total, _, restarting = _settled(case, c, computing, with_output, is_output=False)
    stalled = _stalled(case, c, _slower(computing + synchronous, writing, c.overlap), turn) if turn else 0.0
    parts = (
        c.start_up * (1 + _CONNECTING * log2(case.nodes)),
        alone,
        computing - alone,
        synchronous,
        with_output - busy + turn + stalled,  # the last turn begins when all is computed
        restart + total - with_output,
    )
    return parts, turn, restarting


def writer_turn(case: Case, constants: Constants) -> float:
    """Seconds an I/O rank needs to receive and write one output, the others being as busy as they are in the run.

    Raises ValueError without I/O ranks or output.
    """
    if not (case.outputs and case.writers):
        raise ValueError("no I/O rank writes output")
    computing = case.n_steps * step_time(case, constants, case.workers)
    return _with_output(case, constants, computing, computing)[1]


def writer_busy(case: Case, constants: Constants) -> float:
    """For which part of the run its I/O ranks are busy."""
    turns = case.outputs / case.writers * writer_turn(case, constants)
    return turns / sum(run_time(case, constants))


def receiving_time(case: Case, constants: Constants) -> float:
    """Seconds an I/O rank needs to receive one output."""
    return constants.receive * case.output_bytes / _GIGABYTE + (
        constants.receive_rank * 1e-6 * _output_slices(case) * _remote(case)
    )


def slowed(case: Case, constants: Constants) -> tuple[float, float]:
    """By how much ranks that compute slow the I/O ranks and the restart ranks, in the mean over the run: factors."""
    computing = case.n_steps * step_time(case, constants, case.workers)
    busy = computing + _output_by_all(case, constants)
    writing, _ = _with_output(case, constants, computing, busy)
    with_output = _slower(busy + _checkpoints_by_all(case, constants), writing, constants.overlap)
    total, _, _ = _settled(case, constants, computing, with_output, is_output=False)
    part = constants.beside * computing / total if total else 0.0
    return 1 + part, 1 + part * _neighbours(case)


def _output_slices(case: Case) -> float:
    return case.n_output_slices or case.output_bytes / _VALUE / case.n_cells


def _checkpoint_slices(case: Case) -> float:
    return case.checkpoint_bytes / _VALUE / case.n_cells


def _remote(case: Case) -> float:
    """The workers on other nodes than the one whose rank gathers or writes."""
    return case.workers * (case.nodes - 1) / case.nodes


def _gather_time(case: Case, c: Constants, size: float, slices: float, slowest: float) -> float:
    others = c.gather_rank * 1e-6 * slices * float(_remote(case) ** c.gather_power)
    return min(c.gather * size / _GIGABYTE + others, max(c.gather / _GIGABYTE, 1 / slowest) * size)


def _output_by_all(case: Case, c: Constants) -> float:
    """Seconds in which all wait for rank 0 to write output."""
    if not case.outputs or case.writers:
        return 0.0
    return case.outputs * _gather_time(case, c, case.output_bytes, _output_slices(case), SLOWEST_OUTPUT)


def _checkpoints_by_all(case: Case, c: Constants) -> float:
    """Seconds in which all write checkpoints, or wait for rank 0 to write them."""
    if not case.checkpoints or case.restart_ranks:
        return 0.0
    size = case.checkpoint_bytes
    if case.restart_mode == JOINT:
        rate = c.restart_joint * float(case.nodes**c.restart_power)
        once = c.restart_open + size / _GIGABYTE / rate
    else:
        once = c.restart_sync + _gather_time(case, c, size, _checkpoint_slices(case), SLOWEST_CHECKPOINT)
    return case.checkpoints * min(once, size / SLOWEST_CHECKPOINT)


def _neighbours(case: Case) -> float:
    """Which part of the neighbours of a restart rank computes: in async mode the other restart ranks idle."""
    return max(0, _NEIGHBOURS + 1 - case.restart_ranks) / _NEIGHBOURS if case.restart_mode == ASYNC else 1.0


def restart_time(case: Case, c: Constants) -> tuple[float, float]:
    """Seconds that restart ranks receive and write if nobody computes beside them: all checkpoints together."""
    ranks, size = case.restart_ranks, case.checkpoint_bytes / _GIGABYTE
    if not (case.checkpoints and ranks):
        return 0.0, 0.0
    asked = case.checkpoints * 1e-6 * _checkpoint_slices(case) * _remote(case)
    if case.restart_mode == ASYNC:
        receiving, writing = c.restart_fetch * asked, case.checkpoints * size / c.restart_async
    else:
        contended = (1 + c.contention * (ranks - 1)) / ranks
        receiving = c.restart_rank * asked * contended
        writing = case.checkpoints * size / c.restart_dedicated * contended
    slowest = case.checkpoints * case.checkpoint_bytes / SLOWEST_CHECKPOINT
    return min(receiving, max(0.0, slowest - writing * (1 + c.beside))), writing


def _stalled(case: Case, c: Constants, total: float, turn: float) -> float:
    """Seconds that workers wait for a writers' node that writes back: what is left of a stall when the turn of the
    stalled writer comes again."""
    written = case.outputs * case.output_bytes - _UNSTALLED
    if written <= 0:
        return 0.0
    slack = case.writers * total / case.outputs - turn
    return c.stalls * written / _TERABYTE * max(0.0, c.stall - max(0.0, slack))


def _with_output(case: Case, c: Constants, computing: float, busy: float) -> tuple[float, float]:
    """Seconds that the writers of output need for all of it, side by side, and of one turn of one of them. What
    checkpoints take besides gives them time, but makes no turn shorter: nobody has measured both at once."""
    if not (case.outputs and case.writers):
        return 0.0, 0.0
    _, turn, _ = _settled(case, c, computing, busy, is_output=True)
    return case.outputs * turn / case.writers, turn


def _settled(case: Case, c: Constants, computing: float, busy: float, is_output: bool) -> tuple[float, float, float]:
    """Seconds of a run that writes output, or checkpoints, only: of all of it, of one turn of a writer of output, and
    of all that a restart rank writes.

    The more writers are busy at once, the slower each; the longer the workers wait for them, the faster. So what a run
    of some length would take falls with that length: the run lies between two bounds, which are drawn together by the
    method of false position (Illinois), in logarithms, in which it is nearly straight.
    """
    outputs = case.outputs if is_output else 0
    writers, alone = case.writers, case.output_bytes / _GIGABYTE / c.writer
    slowest = _WITHIN * case.output_bytes / SLOWEST_OUTPUT
    receiving = min(receiving_time(case, c), max(0.0, slowest - alone * (1 + c.beside))) if outputs else 0.0
    restart_receiving, restart_writing = (0.0, 0.0) if is_output else restart_time(case, c)
    if not (outputs or restart_receiving or restart_writing):
        return busy, 0.0, 0.0
    restart_beside = c.beside * _neighbours(case)
    contention, beside = c.contention, c.beside

    def if_it_took(total: float) -> tuple[float, float, float]:
        """The same if the writers were as busy and as much slowed as in a run of this length."""
        part, turn, result = computing / total, 0.0, busy
        if outputs:
            turn = receiving + alone * (1 + beside * part)
            load = outputs * turn / total  # how many write at once if they do not slow each other
            if load > 1:
                slow = load * contention
                at_once = min(writers, (load - slow) / (1 - slow)) if slow < 1 else writers
                turn *= 1 + contention * (at_once - 1)
            result = _slower(busy, outputs * turn / writers, c.overlap)
        restart = restart_receiving + restart_writing * (1 + restart_beside * part)
        return _slower(result, restart, c.restart_overlap), turn, restart

    low = max(busy, _SHORTEST)
    total, turn, restart = if_it_took(low)
    if total <= low * (1 + _CLOSE):
        return total, turn, restart
    high, above = total, log(total / low)
    total, turn, restart = if_it_took(high)
    below, side = log(total / high), 0
    while below < -_CLOSE and high > low * (1 + _CLOSE):  # a step between the two bounds ends it, too
        middle = high * (low / high) ** (below / (below - above))
        total, turn, restart = if_it_took(middle)
        off = log(total / middle)
        if abs(off) <= _CLOSE:
            return middle, turn, restart
        if off > 0:
            low, above = middle, off
            below, side = (below / 2 if side > 0 else below), 1
        else:
            high, below = middle, off
            above, side = (above / 2 if side < 0 else above), -1
    return high, turn, restart


def _slower(workers: float, writers: float, exponent: float) -> float:
    if not writers:
        return workers
    if not workers:
        return writers
    longer, shorter = max(workers, writers), min(workers, writers)
    return float(longer * (1 + (shorter / longer) ** exponent) ** (1 / exponent))
