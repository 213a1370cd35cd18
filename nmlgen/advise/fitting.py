"""Calibration: what measured runs say of the constants.

The unknowns are the logarithms of the constants of the site, and for each family of runs the deviations of those
constants that differ from family to family. Both have a normal distribution before anything is measured, and the
logarithm of a measured time has one around what the model says. What is most probable is found by Gauss-Newton
steps; its spread is that of the parabola there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, isfinite, log

from attrs import field, frozen

from nmlgen.advise.calibration import NAMES, Calibration, Estimate, Family, Range, Scatter, levante
from nmlgen.advise.case import JOINT, Case
from nmlgen.advise.model import Constants, run_time, step_time, writer_turn
from nmlgen.advise.normal import cholesky, inverse, solve
from nmlgen.advise.support import COVERED
from nmlgen.advise.undetermined import undetermined

SITE_SPREAD = 0.15
"""How far the constants of another site are expected from the ones known, beyond their own spread. Not a limit:
runs that say otherwise are believed."""

TIMERS = (
    "wrt_output_worker_avg_s",
    "write_restart_worker_avg_s",
    "model_init_worker_avg_s",
    "wrt_output_io_avg_s",
)
"""The timers that calibration uses: of the workers waiting and copying, checkpoints, starting; of I/O ranks writing."""

_WAITING, _WRITING = TIMERS[:3], TIMERS[3]
_TIMER_NOISE = 1.5  # that of computing by the timers, in units of that of the total: part of the waiting hides in it
_WRITING_NOISE = 0.25  # that of one turn of an I/O rank by its timer: its speed changes with what its neighbours do
_IDLE = 0.2  # I/O ranks that are busy for less of the run have idle neighbours, and look too fast
_ITERATIONS = 60
_DIFFERENCE = 1e-4


def _positive(instance: object, attribute: object, value: float) -> None:
    if not isfinite(value) or value <= 0:
        raise ValueError(f"total_s is {value!r}; expected more than 0")


@frozen
class Run:
    """A measured run."""

    case: Case
    total_s: float = field(validator=_positive)
    """ICON's timer `total`, mean over the workers."""
    timers: Mapping[str, float | None] = field(factory=dict)
    """Those of `TIMERS` that are known, in seconds; others are ignored."""

    @property
    def computing_s(self) -> float | None:
        """What the workers computed, if the timers tell: not where they write themselves, and wait for each other."""
        if self.case.checkpoints and self.case.restart_mode == JOINT:
            return None
        waiting = [self.timers.get(name) for name in _WAITING]
        if waiting[0] is None:
            return None
        rest = self.total_s - sum(value or 0.0 for value in waiting)
        return rest if rest > 0 else None

    @property
    def writer_turn_s(self) -> float | None:
        """What an I/O rank needed for one output, if the timers tell and it was not idle for most of the run."""
        busy = self.timers.get(_WRITING)
        if busy is None or busy < _IDLE * self.total_s or not (self.case.outputs and self.case.writers):
            return None
        return busy * self.case.writers / self.case.outputs


def calibrate(runs: Iterable[Run], prior: Calibration | None = None, name: str = "calibrated") -> Calibration:
    """What the runs say of a site, beginning with what `prior` says.

    Without a prior it begins with Levante, and takes every constant to be less sure than it is there.
    """
    measured = tuple(runs)
    start = prior.estimate if prior else levante().estimate.widened(dict.fromkeys(NAMES, SITE_SPREAD))
    known = prior or levante()
    if not measured:
        return known
    fit = _Fit(measured, start, known.scatter)
    site, families = fit.solve()
    before = start.widened(known.scatter.constants)
    return Calibration(
        name=name,
        estimate=site,
        scatter=known.scatter,
        measured=_covered(measured, known.measured),
        sources=(*known.sources, f"{len(measured)} run{'s' * (len(measured) > 1)}"),
        families={**known.families, **families},
        undetermined=undetermined([run.case for run in measured], before, families.values()),
    )


def _covered(runs: Sequence[Run], before: Mapping[str, Range]) -> dict[str, Range]:
    result = dict(before)
    for name, (_, value_of) in COVERED.items():
        values = [value_of(run.case) for run in runs]
        if name in before:
            values += [before[name].low, before[name].high]
        result[name] = Range(min(values), max(values))
    return result


class _Fit:
    """The unknowns, what is known of them before, and the runs."""

    def __init__(self, runs: Sequence[Run], start: Estimate, scatter: Scatter) -> None:
        self.runs, self.start, self.scatter = runs, start, scatter
        self.families = tuple(dict.fromkeys(Family.of(run.case) for run in runs))
        self.deviations = [
            (family, name)
            for family in self.families
            for name in scatter.between_families(family.nodes)
            if any(self._matters(run, name) for run in runs if Family.of(run.case) == family)
        ]
        self.prior_spread = [scatter.between_families(family.nodes)[name] for family, name in self.deviations]
        size = len(NAMES)
        self.precision = inverse(cholesky(start.covariance), size)
        self.places = [  # for each run: where its deviations are among the unknowns, and which constant they shift
            [
                (size + place, NAMES.index(name))
                for place, (family, name) in enumerate(self.deviations)
                if family == Family.of(run.case)
            ]
            for run in runs
        ]

    def solve(self) -> tuple[Estimate, dict[Family, Estimate]]:
        """The most probable constants and their spread, of the site and of each family."""
        size = len(NAMES)
        unknowns = [*self.start.mean, *(0.0 for _ in self.deviations)]
        cost, damping = self._cost(unknowns), 0.0
        for _ in range(_ITERATIONS):
            hessian, gradient = self._parabola(unknowns)
            while True:
                damped = [
                    [entry * (1 + damping * (i == j)) for j, entry in enumerate(row)] for i, row in enumerate(hessian)
                ]
                step = solve(cholesky(damped), gradient)
                nearer = [value - change for value, change in zip(unknowns, step, strict=True)]
                reached = self._cost(nearer)
                if reached <= cost or damping > 1e6:
                    break
                damping = max(1e-3, 10 * damping)
            if reached > cost:
                break
            unknowns, gain, cost, damping = nearer, cost - reached, reached, damping / 10
            if gain < 1e-10 * (1 + cost):
                break
        hessian, _ = self._parabola(unknowns)
        covariance = inverse(cholesky(hessian), len(unknowns))
        site = Estimate(tuple(unknowns[:size]), tuple(tuple(row[:size]) for row in covariance[:size]))
        return site, {family: self._of_family(family, unknowns, covariance) for family in self.families}

    def _of_family(self, family: Family, unknowns: Sequence[float], covariance: Sequence[Sequence[float]]) -> Estimate:
        """The constants in one family: those of the site plus its deviations, and their spread."""
        size = len(NAMES)
        members = [[place] for place in range(size)]
        extra = dict(self.scatter.between_families(family.nodes))
        for place, (of, name) in enumerate(self.deviations, start=size):
            if of == family:
                members[NAMES.index(name)].append(place)
                del extra[name]
        mean = tuple(sum(unknowns[place] for place in places) for places in members)
        matrix = tuple(
            tuple(sum(covariance[i][j] for i in rows for j in columns) for columns in members) for rows in members
        )
        return Estimate(mean, matrix).widened(extra)

    def _matters(self, run: Run, name: str) -> bool:
        constants = dict(zip(NAMES, map(exp, self.start.mean), strict=True))
        before = sum(run_time(run.case, Constants(**constants)))
        constants[name] *= 1.1
        return abs(sum(run_time(run.case, Constants(**constants))) - before) > 1e-6 * before

    def _cost(self, unknowns: Sequence[float]) -> float:
        size = len(NAMES)
        shift = [value - middle for value, middle in zip(unknowns[:size], self.start.mean, strict=True)]
        cost = sum(
            a * b * p for a, row in zip(shift, self.precision, strict=True) for b, p in zip(shift, row, strict=True)
        )
        cost += sum((value / spread) ** 2 for value, spread in zip(unknowns[size:], self.prior_spread, strict=True))
        for run, places in zip(self.runs, self.places, strict=True):
            cost += sum(miss * miss for miss in self._misses(run, self._logs(unknowns, places)))
        return cost

    def _parabola(self, unknowns: Sequence[float]) -> tuple[list[list[float]], list[float]]:
        """Half the second derivatives of the cost, and half the first."""
        size, count = len(NAMES), len(unknowns)
        hessian = [[0.0] * count for _ in range(count)]
        gradient = [0.0] * count
        for i in range(size):
            for j in range(size):
                hessian[i][j] = self.precision[i][j]
                gradient[i] += self.precision[i][j] * (unknowns[j] - self.start.mean[j])
        for place, spread in enumerate(self.prior_spread, start=size):
            hessian[place][place] = spread**-2
            gradient[place] = unknowns[place] * spread**-2
        for run, places in zip(self.runs, self.places, strict=True):
            logs = self._logs(unknowns, places)
            misses = self._misses(run, logs)
            by_constant = [
                [(moved - miss) / _DIFFERENCE for moved, miss in zip(self._misses(run, shifted), misses, strict=True)]
                for shifted in ([*logs[:i], logs[i] + _DIFFERENCE, *logs[i + 1 :]] for i in range(size))
            ]
            slopes = [(i, slope) for i, slope in enumerate(by_constant) if any(slope)]
            slopes += [(place, by_constant[constant]) for place, constant in places]
            for i, first in slopes:
                gradient[i] += sum(map(float.__mul__, first, misses))
                row = hessian[i]
                for j, second in slopes:
                    row[j] += sum(map(float.__mul__, first, second))
        return hessian, gradient

    def _logs(self, unknowns: Sequence[float], places: Sequence[tuple[int, int]]) -> list[float]:
        logs = list(unknowns[: len(NAMES)])
        for place, constant in places:
            logs[constant] += unknowns[place]
        return logs

    def _misses(self, run: Run, logs: Sequence[float]) -> list[float]:
        """By how much the model misses what was measured, in standard deviations."""
        constants = Constants(*map(exp, logs))
        noise = self.scatter.between_runs(run.case.nodes)
        misses = [log(sum(run_time(run.case, constants)) / run.total_s) / noise]
        if run.computing_s:
            computing = run.case.n_steps * step_time(run.case, constants, run.case.workers)
            misses.append(log(computing / run.computing_s) / (noise * _TIMER_NOISE))
        if run.writer_turn_s:
            misses.append(log(writer_turn(run.case, constants) / run.writer_turn_s) / _WRITING_NOISE)
        return misses
