"""Where a prediction leaves what was measured, and says so."""

from __future__ import annotations

from collections.abc import Callable

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import Case

EXTRAPOLATION = 0.1
"""How much less sure a prediction is for each thing in which it leaves what was measured: the standard deviation
of the logarithm of the time that it adds. A judgement, not a measurement."""

_MANY_NODES = 16


def _cells(case: Case) -> float:
    return case.n_cells


def _levels(case: Case) -> float:
    return case.num_lev


def _nodes(case: Case) -> float:
    return case.nodes


def _tasks(case: Case) -> float:
    return case.ntasks / case.nodes


def _cells_a_rank(case: Case) -> float:
    return case.n_cells / case.workers


def _io_ranks(case: Case) -> float:
    return case.io_ranks


def _restart_ranks(case: Case) -> float:
    return case.restart_ranks


COVERED: dict[str, tuple[str, Callable[[Case], float | None]]] = {
    "n_cells": ("cells", _cells),
    "num_lev": ("levels", _levels),
    "nodes": ("nodes", _nodes),
    "tasks_per_node": ("tasks a node", _tasks),
    "cells_per_worker": ("cells a rank", _cells_a_rank),
    "num_io_procs": ("I/O ranks", _io_ranks),
    "num_restart_procs": ("restart ranks", _restart_ranks),
}
"""What a calibration says the range of, in words, and how to take it from a case."""


def notes(case: Case, calibration: Calibration) -> tuple[str, ...]:
    """In what the case lies outside what was measured, a sentence each."""
    found = []
    for name, (words, value_of) in COVERED.items():
        value, known = value_of(case), calibration.measured.get(name)
        if value is not None and known is not None and value not in known:
            if known.low == known.high:
                found.append(f"{value:.6g} {words}: only {known.low:.6g} were measured")
            else:
                found.append(f"{value:.6g} {words}: {known.low:.6g} to {known.high:.6g} were measured")
    if case.io_ranks and case.outputs and case.io_ranks != case.stream_partitions:
        found.append(
            f"{case.io_ranks} I/O ranks for {case.stream_partitions} partitions: only equal numbers were measured"
        )
    if case.nodes >= _MANY_NODES and case.outputs > 2 and not case.io_ranks:
        found.append(f"synchronous output on {case.nodes} nodes: fewer than {_MANY_NODES} were measured")
    if case.outputs > 2 and case.checkpoints:
        found.append("output and checkpoints in one run: they were measured apart")
    return tuple(found)
