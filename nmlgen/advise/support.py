"""Where a prediction leaves what was measured, and says so."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import NamedTuple

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import Case
from nmlgen.advise.experiment import Situation
from nmlgen.values import evolve

EXTRAPOLATION = 0.1
"""How much less sure a prediction is for each thing in which it goes to twice of what was measured: the standard
deviation of the logarithm of the time that it adds. It grows with each further doubling. A judgement, not a
measurement."""

FAR = 2.0
"""Doublings beyond what was measured from which on no time is told but a range."""

_MANY_NODES = 16


def _cells(case: Case) -> float:
    return case.n_cells


def _levels(case: Case) -> float:
    return case.num_lev


def _nodes(case: Case) -> float:
    return case.nodes


def _tasks(case: Case) -> float:
    return case.undivided * case.cores_per_task / case.nodes


def _cells_a_rank(case: Case) -> float:
    return case.n_cells / (case.workers * case.cores_per_task)


def _io_ranks(case: Case) -> float:
    return case.io_ranks


def _restart_ranks(case: Case) -> float:
    return case.restart_ranks


COVERED: dict[str, tuple[str, Callable[[Case], float]]] = {
    "n_cells": ("cells", _cells),
    "num_lev": ("levels", _levels),
    "nodes": ("nodes", _nodes),
    "tasks_per_node": ("cores a node", _tasks),
    "cells_per_worker": ("cells a core", _cells_a_rank),
    "num_io_procs": ("I/O ranks", _io_ranks),
    "num_restart_procs": ("restart ranks", _restart_ranks),
}
"""What a calibration says the range of, in words, and how to take it from a case."""


SIZES: dict[str, tuple[str, Callable[[Case], float]]] = {
    "output_gb": ("GB an output", lambda case: case.output_bytes / 1e9 if case.outputs else 0.0),
    "checkpoint_gb": ("GB a checkpoint", lambda case: case.checkpoint_bytes / 1e9 if case.checkpoints else 0.0),
}
"""The same of what follows from the others: only what is far beyond counts, as the time is about proportional to it."""


class Outside(NamedTuple):
    """One thing in which a case lies outside what was measured."""

    note: str
    distance: float = 1.0
    """How far, in doublings: 1 for twice or half of what was measured, and for what was not measured at all."""

    @property
    def is_far(self) -> bool:
        """Whether it is more than four times, or less than a quarter, of what was measured."""
        return self.distance > FAR


def outside(case: Case, calibration: Calibration) -> tuple[Outside, ...]:
    """In what the case lies outside what was measured."""
    found = []
    for name, (in_words, value_of) in COVERED.items():
        value, known = value_of(case), calibration.measured.get(name)
        words = in_words if case.gpus is None else in_words.replace("core", "GPU")
        if known is not None and value not in known:
            only = f"only {known.low:.6g} were measured"
            span = only if known.low == known.high else f"{known.low:.6g} to {known.high:.6g} were measured"
            limit = known.high if value > known.high else known.low
            distance = abs(log2(value) - log2(limit)) if value and limit else 1.0
            found.append(Outside(f"{value:.6g} {words}: {span}", distance))
    for name, (words, value_of) in SIZES.items():
        value, known = value_of(case), calibration.measured.get(name)
        if known is not None and value > known.high * 2**FAR:
            distance = log2(value) - log2(known.high) if known.high else 1.0
            measured = f"up to {known.high:.3g} were measured" if known.high else "none were measured"
            found.append(Outside(f"{value:.3g} {words}: {measured}", distance))
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


def is_like_the_measured(situation: Situation) -> bool:
    """Whether nothing but the numbers of the case tells an experiment from those that were measured."""
    return not situation.unlike and len(situation.outputs) <= 1


def is_covered(case: Case, calibration: Calibration) -> bool:
    """Whether both halves of a case are like runs that were measured: output and checkpoints were measured apart."""
    halves = evolve(case, checkpoint_bytes=0), evolve(case, output_bytes=0)
    return not any(outside(half, calibration) for half in halves)
