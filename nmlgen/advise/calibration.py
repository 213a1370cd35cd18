"""What is known of a site: the constants of the model, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import exp, log, sqrt
from operator import mul
from pathlib import Path
from typing import NamedTuple

from nmlgen.advise.case import Case
from nmlgen.advise.model import Constants
from nmlgen.advise.normal import Matrix, Vector, cholesky, standard_points
from nmlgen.values import field, frozen

NAMES = Constants._fields
"""The constants, in the order of every vector and matrix."""

LARGEST = 1e20
"""How far from 1 no constant of a machine is: sums of those within it do not overflow."""

MOST_POWER = 15
POWERS = ("cache_power", "gather_power", "restart_power")
_LEAST_OF_MEAN = 0.1  # power of a mean
_OF_MEANS = ("overlap", "restart_overlap")
_BOUNDS = tuple(
    (log(_LEAST_OF_MEAN if name in _OF_MEANS else 1 / LARGEST), log(MOST_POWER if name in POWERS else LARGEST))
    for name in NAMES
)
_PAIRS = 32


def constant_of(place: int, logarithm: float) -> float:
    """The constant at a place of `NAMES` of which that is the logarithm; no farther off than any is."""
    low, high = _BOUNDS[place]
    return exp(min(max(logarithm, low), high))


def constants_of(logarithms: Iterable[float]) -> Constants:
    """The constants of which these are the logarithms."""
    return Constants(*map(constant_of, range(len(NAMES)), logarithms))


class Estimate(NamedTuple):
    """The logarithms of the constants: a normal distribution, in the order of `NAMES`."""

    mean: Vector
    covariance: Matrix

    @property
    def constants(self) -> Constants:
        """The constants in the middle."""
        return constants_of(self.mean)

    def spread(self, name: str) -> float:
        """The standard deviation of the logarithm of a constant: 0.1 is about 10 %."""
        place = NAMES.index(name)
        return sqrt(self.covariance[place][place])

    def correlation(self, first: str, second: str) -> float:
        """How far an error of one constant goes with an error of another: -1 to 1."""
        i, j = NAMES.index(first), NAMES.index(second)
        return self.covariance[i][j] / sqrt(self.covariance[i][i] * self.covariance[j][j])

    def widened(self, spread: Mapping[str, float]) -> Estimate:
        """The same with each constant less sure, by a standard deviation of its logarithm."""
        rows = [list(row) for row in self.covariance]
        for name, deviation in spread.items():
            place = NAMES.index(name)
            rows[place][place] += deviation**2
        return Estimate(self.mean, tuple(map(tuple, rows)))

    def samples(self) -> tuple[Constants, ...]:
        """What the constants may be, each as likely as the others; the same every time."""
        lower = cholesky(self.covariance)
        return tuple(
            constants_of(middle + sum(map(mul, row, point)) for middle, row in zip(self.mean, lower, strict=True))
            for point in standard_points(len(NAMES), _PAIRS)
        )


class Family(NamedTuple):
    """Runs that differ in nothing but who writes: the same grid, nodes, steps and intervals."""

    n_cells: int
    num_lev: int
    nodes: int
    ntasks: int
    dtime_s: float
    output_interval_s: float | None
    checkpoint_interval_s: float | None

    @classmethod
    def of(cls, case: Case) -> Family:
        """The family of a case; an interval longer than the run is none."""
        output = case.output_interval_s if case.outputs > 2 else None
        checkpoint = case.checkpoint_interval_s if case.checkpoints else None
        return cls(case.n_cells, case.num_lev, case.nodes, case.undivided, case.dtime_s, output, checkpoint)


class Scatter(NamedTuple):
    """How far runs lie apart that the model takes for equal: standard deviations of logarithms.

    Nodes differ and the network is shared, so a job on several nodes, which waits for the slowest of them, varies
    more than a job on one.
    """

    constants: Mapping[str, float]
    """From one family of runs to another, by constant."""
    step_one_node: float
    """The same for `step` in jobs of one node."""
    run: float
    """From run to run within a family, on several nodes."""
    run_one_node: float

    def between_families(self, nodes: int) -> Mapping[str, float]:
        """How far constants differ from family to family."""
        return self.constants if nodes > 1 else {**self.constants, "step": self.step_one_node}

    def between_runs(self, nodes: int) -> float:
        """How far total times differ from run to run."""
        return self.run if nodes > 1 else self.run_one_node


@frozen
class Range:
    """From where to where something was measured."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@frozen
class Calibration:
    """What is known of a site."""

    name: str
    estimate: Estimate
    scatter: Scatter
    measured: Mapping[str, Range] = field(factory=dict)
    """What the runs covered: see `nmlgen.advise.support`."""
    sources: tuple[str, ...] = ()
    families: Mapping[Family, Estimate] = field(factory=dict)
    """The families that were measured, each with the constants that hold for it alone."""
    undetermined: tuple[str, ...] = ()
    """What the runs cannot determine, each with a cheap run that would."""
    on_gpus: bool = False
    """Whether GPUs computed: it says nothing of how fast cores are, nor the other way round."""
    _samples: dict[Family | int, tuple[Constants, ...]] = field(init=False, eq=False, repr=False, factory=dict)

    @classmethod
    def load(cls, path: Path | str) -> Calibration:
        """Read a calibration file. Raises InputError, with file, line and column, if it is none."""
        from nmlgen.advise.document import load

        return load(Path(path))

    def dump(self) -> str:
        """The text of a calibration file, which `load` takes back."""
        from nmlgen.advise.document import dump

        return dump(self)

    def knows_steps_of(self, case: Case) -> bool:
        """Whether it says anything of how long a model step of a case takes: GPUs are no cores."""
        return self.on_gpus == (case.gpus is not None)

    def samples(self, case: Case) -> tuple[Constants, ...]:
        """What the constants may be in a run like this one, each as likely as the others."""
        family = Family.of(case)
        known = self.families.get(family)
        key = family if known else min(case.nodes, 2)
        if key not in self._samples:
            estimate = known or self.estimate.widened(self.scatter.between_families(case.nodes))
            self._samples[key] = estimate.samples()
        return self._samples[key]


@cache
def levante() -> Calibration:
    """The calibration that ships: Levante."""
    from nmlgen.resources import directory

    return Calibration.load(directory("presets") / "calibrations" / "levante.yaml")
