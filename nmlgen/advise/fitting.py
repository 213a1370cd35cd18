"""Calibration: what measured runs say of the constants.

The unknowns are the logarithms of the constants of the site, and for each family of runs the deviations of those
constants that differ from family to family. Both have a normal distribution before anything is measured, and the
logarithm of a measured time has one around what the model says. What is most probable is found by Gauss-Newton
steps; its spread is that of the parabola there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from math import log, log1p, sqrt
from operator import mul
from typing import NamedTuple

from nmlgen.advise.calibration import (
    NAMES,
    Calibration,
    Estimate,
    Family,
    Range,
    Scatter,
    constant_of,
    constants_of,
    levante,
)
from nmlgen.advise.case import JOINT, Case, is_countable
from nmlgen.advise.model import PARTS, Constants, receiving_time, run_and_writers, step_time
from nmlgen.advise.normal import Matrix, cholesky, inverse, solve
from nmlgen.advise.support import COVERED, SIZES
from nmlgen.advise.undetermined import undetermined
from nmlgen.values import evolve, field, frozen

SITE_SPREAD = 0.15
"""How far the constants of another site are expected from the ones known, beyond their own spread. Not a limit:
runs that say otherwise are believed."""

TIMERS = (
    "wrt_output_worker_avg_s",
    "write_restart_worker_avg_s",
    "model_init_worker_avg_s",
    "wrt_output_io_avg_s",
    "output_receive_s",
    "write_restart_procs_avg_s",
)
"""The timers that calibration uses: of the workers waiting and copying, checkpoints, starting; of I/O ranks all that
they do, and receiving one output; of restart ranks writing."""

_WAITING, _WRITING, _RECEIVING, _RESTARTING = TIMERS[:3], TIMERS[3], TIMERS[4], TIMERS[5]
_TIMER_NOISE = 1.5  # that of computing by the timers, in units of that of the total: part of the waiting hides in it
_WRITING_NOISE = 0.25  # that of one turn of an I/O rank by its timer: its speed changes with what its neighbours do
_RECEIVING_NOISE = 0.3  # that of receiving one output: it takes longer where several ranks receive at once
_GATHERING_NOISE = 0.1  # that of gathering and writing output by its timer
_STARTING_NOISE = 0.5  # that of the start by its timer, which does not see all of it
_SYNCHRONOUS = PARTS.index("synchronous writes")
_RESTARTING_NOISE = 0.3  # that of all that a restart rank did
_FEW_OUTPUTS = 2
_IDLE = 0.2  # I/O ranks that are busy for less of the run have idle neighbours, and look too fast
_TAIL = 4.0  # degrees of freedom of Student's distribution, by which many runs are judged: a bad day is no law
_MANY = 20  # runs: of fewer each is believed
_ITERATIONS = 60
_SETTLED = 1e-7  # part of the cost
_DIFFERENCE = 1e-4
_ON_GPUS = {
    "step": (0.05, 2.0),
    "cached": (1.0, 0.01),
    "cache": (1e4, 0.01),
    "cache_power": (1.0, 0.01),
    "floor": (10.0, 1.0),
    "start_up": (10.0, 1.0),
}
"""The constants of computing on GPUs before any run, with their spread: a judgement, and as wide as one."""


def _positive(instance: object, attribute: object, value: float) -> None:
    if not is_countable(value) or value <= 0:
        raise ValueError(f"total_s is {value!r}; expected more than 0")


def _usable(timers: Mapping[str, float | None]) -> Mapping[str, float | None]:
    """Timers without those that are no times."""
    return {
        name: value if value is not None and value >= 0 and is_countable(value) else None
        for name, value in timers.items()
    }


@frozen
class Run:
    """A measured run."""

    case: Case
    total_s: float = field(validator=_positive)
    """ICON's timer `total`, mean over the workers."""
    timers: Mapping[str, float | None] = field(factory=dict, converter=_usable)
    """Those of `TIMERS` that are known, in seconds; others are ignored."""
    day: str = ""
    """When it ran: runs of a day and a family are alike in what differs from day to day; empty if that is not known."""

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

    @property
    def receiving_s(self) -> float | None:
        """What an I/O rank needed to receive one output, if that is known."""
        known = self.timers.get(_RECEIVING)
        return known if known and self.case.outputs and self.case.writers else None

    @property
    def gathering_s(self) -> float | None:
        """What all stood still for output that the first of them wrote, if that is known; the first output takes
        longer, so a few tell nothing."""
        known = self.timers.get(_WAITING[0])
        return known if known and self.case.outputs > _FEW_OUTPUTS and not self.case.writers else None

    @property
    def restarting_s(self) -> float | None:
        """For how long a restart rank was busy, if that is known."""
        known = self.timers.get(_RESTARTING)
        return known if known and self.case.checkpoints and self.case.restart_ranks else None

    @property
    def start_s(self) -> float | None:
        """What the start took, if that is known."""
        return self.timers.get(_WAITING[2]) or None


Group = tuple[Family, str]
"""What runs have in common that differ in nothing but who writes: the family and the day."""


def _group(run: Run) -> Group:
    return Family.of(run.case), run.day


def calibrate(
    runs: Iterable[Run],
    prior: Calibration | None = None,
    name: str = "calibrated",
    near: Calibration | None = None,
) -> Calibration:
    """What the runs say of a site, beginning with what `prior` says. `near` is where to begin to search, and for the
    families that it knows, too: what almost the same runs say is found in a few steps.

    Without a prior it begins with Levante, and takes every constant to be less sure than it is there; of runs on GPUs
    nothing is taken from there of how long a step takes. Raises ValueError for runs on GPUs and on cores at once, or
    with a prior of the other kind.
    """
    measured = tuple(runs)
    if not measured:
        return prior or levante()
    on_gpus = measured[0].case.gpus is not None
    if any((run.case.gpus is not None) != on_gpus for run in measured):
        raise ValueError("some of the runs computed on GPUs and some on cores; expected: a calibration of either kind")
    if prior is not None and prior.on_gpus != on_gpus:
        kinds = ("GPUs", "cores") if on_gpus else ("cores", "GPUs")
        raise ValueError(f"the runs computed on {kinds[0]}, and what is known before is of {kinds[1]}")
    known = prior or (before_any_gpu(levante()) if on_gpus else levante())
    start = prior.estimate if prior else known.estimate.widened(dict.fromkeys(NAMES, SITE_SPREAD))
    fit = _Fit(measured, start, known.scatter)
    site, families = fit.solve(near)
    before = start.widened(known.scatter.constants)
    return Calibration(
        name=name,
        estimate=site,
        scatter=known.scatter,
        measured=_covered(measured, known.measured),
        sources=(*known.sources, f"{len(measured)} run{'s' * (len(measured) > 1)}"),
        families={**known.families, **families},
        undetermined=undetermined([run.case for run in measured], before, families.values()),
        on_gpus=on_gpus,
    )


def before_any_gpu(calibration: Calibration) -> Calibration:
    """What a calibration of cores says of a machine with GPUs: how it writes, and nothing of how it computes. A GPU has
    no cache that a smaller part of the grid fits into, and a time step takes the longer of what it computes and what it
    takes to start so many kernels: the floor."""
    places = [NAMES.index(name) for name in _ON_GPUS]
    covariance = tuple(
        tuple(0.0 if i in places or j in places else entry for j, entry in enumerate(row))
        for i, row in enumerate(calibration.estimate.covariance)
    )
    mean = tuple(
        log(_ON_GPUS[name][0]) if name in _ON_GPUS else value
        for name, value in zip(NAMES, calibration.estimate.mean, strict=True)
    )
    estimate = Estimate(mean, covariance).widened({name: spread for name, (_, spread) in _ON_GPUS.items()})
    return evolve(calibration, estimate=estimate, measured={}, families={}, on_gpus=True)


def without_each_family(runs: Sequence[Run], prior: Calibration, near: Calibration) -> dict[Family, Constants]:
    """For each family of runs what is most probable without it, beginning with a `prior`: a step from what all say."""
    fit = _Fit(runs, prior.estimate, prior.scatter)
    fit.solve(near)
    return {family: fit.without(family) for family in dict.fromkeys(Family.of(run.case) for run in runs)}


def _solution(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The x with matrix·x = right, of all unknowns. The last of them come first: in the deviations of one family those
    of another have no part, and what is zero costs nothing as long as no constant of the site came before."""
    return solve(cholesky(_turned(matrix)), right[::-1])[::-1]


def _turned(matrix: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    """With the last unknown as the first."""
    return [row[::-1] for row in reversed(matrix)]


def _covered(runs: Sequence[Run], before: Mapping[str, Range]) -> dict[str, Range]:
    result = dict(before)
    for name, (_, value_of) in {**COVERED, **SIZES}.items():
        values = [value_of(run.case) for run in runs]
        if name in before:
            values += [before[name].low, before[name].high]
        result[name] = Range(min(values), max(values))
    return result


class _Measured(NamedTuple):
    """What was measured of a run, as the properties of `Run` say, and the noise of its total time."""

    noise: float
    computing_s: float | None
    writer_turn_s: float | None
    receiving_s: float | None
    gathering_s: float | None
    restarting_s: float | None
    start_s: float | None

    @classmethod
    def of(cls, run: Run, noise: float) -> _Measured:
        return cls(
            noise,
            run.computing_s,
            run.writer_turn_s,
            run.receiving_s,
            run.gathering_s,
            run.restarting_s,
            run.start_s,
        )


@lru_cache(maxsize=4)
def _precision(covariance: Matrix) -> list[list[float]]:
    return inverse(cholesky(covariance))


class _Fit:
    """The unknowns, what is known of them before, and the runs."""

    def __init__(self, runs: Sequence[Run], start: Estimate, scatter: Scatter) -> None:
        self.runs, self.start, self.scatter = runs, start, scatter
        self.groups = tuple(sorted(dict.fromkeys(map(_group, runs)), key=lambda group: group[1]))
        self.measured = [_Measured.of(run, scatter.between_runs(run.case.nodes)) for run in runs]
        self.matter = [self._that_matter(number) for number in range(len(runs))]
        mattering: dict[Group, set[str]] = {}
        for run, places in zip(runs, self.matter, strict=True):
            mattering.setdefault(_group(run), set()).update(NAMES[place] for place in places)
        self.deviations = [
            (group, name)
            for group in self.groups
            for name in scatter.between_families(group[0].nodes)
            if name in mattering[group]
        ]
        self.solution: list[float] = []
        self.parabola: tuple[list[list[float]], list[float]] = [], []
        self.prior_spread = [scatter.between_families(group[0].nodes)[name] for group, name in self.deviations]
        size = len(NAMES)
        self.precision = _precision(start.covariance)
        self.places = [  # for each run: where its deviations are among the unknowns, and which constant they shift
            [
                (size + place, NAMES.index(name))
                for place, (group, name) in enumerate(self.deviations)
                if group == _group(run)
            ]
            for run in runs
        ]

    def solve(self, near: Calibration | None) -> tuple[Estimate, dict[Family, Estimate]]:
        """The most probable constants and their spread, of the site and of each family."""
        size = len(NAMES)
        unknowns = self._beginning(near)
        cost, damping = self._cost(unknowns), 0.0
        for _ in range(_ITERATIONS):
            hessian, gradient = self._parabola(unknowns)
            while True:
                damped = [row.copy() for row in hessian]
                for place, row in enumerate(damped):
                    row[place] *= 1 + damping
                step = _solution(damped, gradient)
                nearer = [value - change for value, change in zip(unknowns, step, strict=True)]
                reached = self._cost(nearer)
                if reached <= cost or damping > 1e6:
                    break
                damping = max(1e-3, 10 * damping)
            if reached > cost:
                break
            unknowns, gain, cost, damping = nearer, cost - reached, reached, damping / 10
            if gain < _SETTLED * (1 + cost):
                break
        self.solution, self.parabola = unknowns, self._parabola(unknowns)
        hessian, _ = self.parabola
        covariance = _turned(inverse(cholesky(_turned(hessian))))
        site = Estimate(tuple(unknowns[:size]), tuple(tuple(row[:size]) for row in covariance[:size]))
        return site, {group[0]: self._of_group(group, unknowns, covariance) for group in self.groups}

    def _beginning(self, near: Calibration | None) -> list[float]:
        """Where to begin to search: what another calibration says of the site and of the families it knows."""
        if near is None:
            return [*self.start.mean, *(0.0 for _ in self.deviations)]
        site = near.estimate.mean
        families = [near.families.get(group[0], near.estimate).mean for group, _ in self.deviations]
        places = [NAMES.index(name) for _, name in self.deviations]
        return [*site, *(own[place] - site[place] for own, place in zip(families, places, strict=True))]

    def without(self, family: Family) -> Constants:
        """What would be most probable without the runs of a family: one step from the solution, which is enough as
        long as a family is a small part of all. To be called after `solve`."""
        runs = [place for place, run in enumerate(self.runs) if Family.of(run.case) == family]
        hessian, gradient = self.parabola
        own_hessian, own_gradient = self._parabola(self.solution, runs, with_prior=False)
        rest = [[a - b for a, b in zip(row, own, strict=True)] for row, own in zip(hessian, own_hessian, strict=True)]
        step = _solution(rest, [a - b for a, b in zip(gradient, own_gradient, strict=True)])
        size = len(NAMES)
        return constants_of(a - b for a, b in zip(self.solution[:size], step[:size], strict=True))

    def _of_group(self, group: Group, unknowns: Sequence[float], covariance: Sequence[Sequence[float]]) -> Estimate:
        """The constants in one family, on its last day: those of the site plus its deviations, and their spread."""
        size = len(NAMES)
        members = [[place] for place in range(size)]
        extra = dict(self.scatter.between_families(group[0].nodes))
        for place, (of, name) in enumerate(self.deviations, start=size):
            if of == group:
                members[NAMES.index(name)].append(place)
                del extra[name]
        mean = tuple(sum(unknowns[place] for place in places) for places in members)
        matrix = tuple(
            tuple(sum(covariance[i][j] for i in rows for j in columns) for columns in members) for rows in members
        )
        return Estimate(mean, matrix).widened(extra)

    def _that_matter(self, number: int) -> tuple[int, ...]:
        """The constants on which anything that was measured of a run depends."""
        logs = self.start.mean
        constants = list(constants_of(logs))
        before = self._misses(number, constants)

        def matters(place: int) -> bool:
            return any(
                self._misses(
                    number, [*constants[:place], constant_of(place, logs[place] + shift), *constants[place + 1 :]]
                )
                != before
                for shift in (-0.5, 0.5)
            )

        return tuple(place for place in range(len(NAMES)) if matters(place))

    def _cost(self, unknowns: Sequence[float]) -> float:
        size = len(NAMES)
        shift = [value - middle for value, middle in zip(unknowns[:size], self.start.mean, strict=True)]
        cost = sum(
            a * b * p for a, row in zip(shift, self.precision, strict=True) for b, p in zip(shift, row, strict=True)
        )
        shifts = zip(unknowns[size:], self.prior_spread, strict=True)
        cost += sum(self._surprise(value / spread) for value, spread in shifts)
        for number, places in enumerate(self.places):
            cost += sum(map(self._surprise, self._misses(number, constants_of(self._logs(unknowns, places)))))
        return cost

    def _parabola(
        self, unknowns: Sequence[float], places: Sequence[int] | None = None, with_prior: bool = True
    ) -> tuple[list[list[float]], list[float]]:
        """Half the second derivatives of the cost, and half the first: of all runs, or of those at some places."""
        size, count = len(NAMES), len(unknowns)
        hessian = [[0.0] * count for _ in range(count)]
        gradient = [0.0] * count
        for i in range(size if with_prior else 0):
            for j in range(size):
                hessian[i][j] = self.precision[i][j]
                gradient[i] += self.precision[i][j] * (unknowns[j] - self.start.mean[j])
        for place, spread in enumerate(self.prior_spread if with_prior else (), start=size):
            hessian[place][place] = self._weight(unknowns[place] / spread) * spread**-2
            gradient[place] = unknowns[place] * hessian[place][place]
        chosen = range(len(self.runs)) if places is None else places
        for shifts, alike in groupby(chosen, key=self.places.__getitem__):
            self._bend(hessian, gradient, unknowns, shifts, alike)
        return hessian, gradient

    def _bend(
        self,
        hessian: list[list[float]],
        gradient: list[float],
        unknowns: Sequence[float],
        shifts: Sequence[tuple[int, int]],
        alike: Iterable[int],
    ) -> None:
        """Add what runs say that have the same deviations: a deviation counts as much as the constant that it shifts,
        so that it is worked out for the constants, and added for all."""
        size = len(NAMES)
        logs = self._logs(unknowns, shifts)
        constants = list(constants_of(logs))
        slope, curve = [0.0] * size, [[0.0] * size for _ in range(size)]
        for number in alike:
            misses = self._misses(number, constants)
            weights = [sqrt(self._weight(miss)) for miss in misses]
            by_constant: list[tuple[int, list[float]]] = []
            for i in self.matter[number]:
                further = constant_of(i, logs[i] + _DIFFERENCE)
                moved = self._misses(number, [*constants[:i], further, *constants[i + 1 :]])
                slopes = [(after - before) / _DIFFERENCE for after, before in zip(moved, misses, strict=True)]
                by_constant.append((i, list(map(mul, slopes, weights))))
            misses = list(map(mul, misses, weights))
            for nth, (i, first) in enumerate(by_constant):
                slope[i] += sum(map(mul, first, misses))
                row = curve[i]
                for j, second in by_constant[nth:]:
                    row[j] += sum(map(mul, first, second))
        members = [[place] for place in range(size)]
        for place, constant in shifts:
            members[constant].append(place)
        for i, row in enumerate(curve):
            for place in members[i]:
                gradient[place] += slope[i]
            for j in range(i, size):
                value = row[j]
                for a in members[i] if value else ():
                    for b in members[j]:
                        hessian[a][b] += value
                        if i != j:
                            hessian[b][a] += value

    def _surprise(self, miss: float) -> float:
        """What a miss by so many standard deviations costs: its square, unless it is one of few that are far off."""
        if len(self.runs) < _MANY:
            return miss * miss
        return (_TAIL + 1) * log1p(miss * miss / _TAIL)

    def _weight(self, miss: float) -> float:
        """For what a miss counts in a step of least squares."""
        return 1.0 if len(self.runs) < _MANY else (_TAIL + 1) / (_TAIL + miss * miss)

    def _logs(self, unknowns: Sequence[float], places: Sequence[tuple[int, int]]) -> list[float]:
        logs = list(unknowns[: len(NAMES)])
        for place, constant in places:
            logs[constant] += unknowns[place]
        return logs

    def _misses(self, number: int, values: Iterable[float]) -> list[float]:
        """By how much the model misses what was measured of a run, in standard deviations."""
        case, known, constants = self.runs[number].case, self.measured[number], Constants(*values)
        parts, turn, restarting = run_and_writers(case, constants)
        misses = [log(sum(parts) / self.runs[number].total_s) / known.noise]
        if known.computing_s and case.n_steps:
            computing = case.n_steps * step_time(case, constants, case.workers)
            misses.append(log(computing / known.computing_s) / (known.noise * _TIMER_NOISE))
        if known.writer_turn_s:
            misses.append(log(turn / known.writer_turn_s) / _WRITING_NOISE)
        if known.receiving_s:
            misses.append(log(receiving_time(case, constants) / known.receiving_s) / _RECEIVING_NOISE)
        if known.gathering_s:
            misses.append(log(parts[_SYNCHRONOUS] / known.gathering_s) / _GATHERING_NOISE)
        if known.restarting_s:
            misses.append(log(restarting / known.restarting_s) / _RESTARTING_NOISE)
        if known.start_s:
            misses.append(log(parts[0] / known.start_s) / _STARTING_NOISE)
        return misses
