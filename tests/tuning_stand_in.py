"""A stand-in for the cluster on which points are tried: a function says how long each takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specs import changed

import nmlgen
from nmlgen.tuning.runner import Outcome, OutcomeState

RANKS = "parallel.num_io_procs"
TASKS = 64
COMPUTING, WRITING = 2500.0, 9000.0
"""Seconds of the whole run on all tasks, and of one I/O rank: four times what it would take on Levante."""


def spec(**changes: Any) -> dict[str, Any]:
    return changed(output={"atm": {"output_interval": "PT2M"}}, **changes)


def computing(ranks: int) -> float:
    return COMPUTING * TASKS / (TASKS - ranks)


def cost(point: nmlgen.Point) -> float:
    """Seconds: more I/O ranks write faster and compute slower; who takes longer than the other makes him wait."""
    ranks = point.values[RANKS]
    return (computing(ranks) ** 4 + (WRITING / ranks) ** 4) ** 0.25 if ranks else COMPUTING + 2 * WRITING


class Killed(Exception):
    """Whoever tunes is gone."""


class StandIn:
    """Runs points without a cluster: each takes what `measure` says, None for one that fails, and has ended after
    two waits. It holds what a directory would, and raises Killed at the moments at which it `dies`."""

    def __init__(self, measure: Callable[[nmlgen.Point], float | None], timers: bool = True) -> None:
        self.measure = measure
        self.timers = timers
        self.asked: list[nmlgen.Point] = []
        self.begun: dict[str, int] = {}
        self.ran: list[str] = []
        self.clock = 0
        self.most = 0
        self.dies: Callable[[str], bool] = lambda _: False

    def start(self, points: Sequence[nmlgen.Point]) -> None:
        self._die("before asking")
        assert [point.id for point in points[: len(self.asked)]] == [point.id for point in self.asked]
        self.asked = list(points)
        self._die("after asking")
        for point in points:
            if point.id not in self.begun:
                self.begun[point.id] = self.clock
                self.ran.append(point.name)
                self._die("after starting")
        self.most = max(self.most, sum(not self.outcome(point).is_over for point in self.asked))

    def outcomes(self) -> Mapping[str, Outcome]:
        return {point.id: self.outcome(point) for point in self.asked}

    def wait(self) -> None:
        self.clock += 1
        self._die("while waiting")

    def outcome(self, point: nmlgen.Point) -> Outcome:
        if point.id not in self.begun:
            return Outcome("planned")
        begun = self.begun[point.id]
        if self.clock < begun + 2:
            return Outcome("running", started=f"{begun:06d}")
        seconds = self.measure(point)
        state: OutcomeState = "failed" if seconds is None else "done"
        timers = {} if seconds is None or not self.timers else self._timers(point, seconds)
        elapsed = 600.0 if seconds is None else seconds
        reason = "exit code 3" if seconds is None else ""
        return Outcome(state, seconds, timers, elapsed, f"{begun:06d}", f"{begun + 2:06d}", reason=reason)

    def _timers(self, point: nmlgen.Point, seconds: float) -> dict[str, float | None]:
        ranks = point.values[RANKS]
        writing = {"wrt_output_io_avg_s": WRITING / ranks} if ranks else {}
        return {"wrt_output_worker_avg_s": seconds - computing(ranks), **writing}

    def _die(self, moment: str) -> None:
        if self.dies(moment):
            raise Killed
