"""The runs of one experiment that count: of a restart chain each leg, and of a leg that was run again the last."""

from __future__ import annotations

from collections.abc import Iterable

from nmlgen.logs.rows import LogRun


def chain_of(runs: Iterable[LogRun]) -> tuple[LogRun, ...]:
    """The legs that led to what the experiment is now, in the order of model time.

    A run replaces an earlier one that began at the same model time or later: it did that again. A run that never came
    to a model time counts only as the last word.
    """
    legs: list[LogRun] = []  # each began later than those before it; of the last that may not be known
    for run in sorted(runs, key=lambda run: (run.started or "", run.run_start or "", run.log, run.run)):
        while legs and _is_replaced(legs[-1], run):
            legs.pop()
        legs.append(run)
    return tuple(legs)


def _is_replaced(leg: LogRun, run: LogRun) -> bool:
    """Whether a later run did again what a leg did."""
    return leg.run_start is None or (run.run_start is not None and leg.run_start >= run.run_start)
