"""Where a prediction leaves what was measured, and says so."""

from __future__ import annotations

from collections.abc import Callable
from math import log2

from attrs import frozen

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import Case

EXTRAPOLATION = 0.1
"""How much less sure a prediction is for each thing in which it goes to twice of what was measured: the standard
deviation of the logarithm of the time that it adds. A judgement, not a measurement."""

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


COVERED: dict[str, tuple[str, Callable[[Case], float]]] = {
    "n_cells": ("cells", _cells),
    "num_lev": ("levels", _levels),
    "nodes": ("nodes", _nodes),
    "tasks_per_node": ("tasks a node", _tasks),
    "cells_per_worker": ("cells a rank", _cells_a_rank),
    "num_io_procs": ("I/O ranks", _io_ranks),
    "num_restart_procs": ("restart ranks", _restart_ranks),
}
"""What a calibration says the range of, in words, and how to take it from a case."""


@frozen
class Outside:
    """One thing in which a case lies outside what was measured."""

    note: str
    distance: float = 1.0
    """How far: 1 for twice or half of what was measured, and for what was not measured at all."""


def outside(case: Case, calibration: Calibration) -> tuple[Outside, ...]:
    """In what the case lies outside what was measured."""
    found = []
    for name, (words, value_of) in COVERED.items():
        value, known = value_of(case), calibration.measured.get(name)
        if known is not None and value not in known:
            only = f"only {known.low:.6g} were measured"
            span = only if known.low == known.high else f"{known.low:.6g} to {known.high:.6g} were measured"
            limit = known.high if value > known.high else known.low
            distance = abs(log2(value / limit)) if value and limit else 1.0
            found.append(Outside(f"{value:.6g} {words}: {span}", min(1.0, distance)))
    if case.io_ranks and case.outputs and case.io_ranks != case.stream_partitions:
        found.append(
            Outside(
                f"{case.io_ranks} I/O ranks for {case.stream_partitions} partitions: only equal numbers were measured"
            )
        )
    if case.nodes >= _MANY_NODES and case.outputs > 2 and not case.io_ranks:
        found.append(Outside(f"synchronous output on {case.nodes} nodes: fewer than {_MANY_NODES} were measured"))
    if case.outputs > 2 and case.checkpoints:
        found.append(Outside("output and checkpoints in one run: they were measured apart"))
    return tuple(found)
