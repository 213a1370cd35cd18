"""How good the advice is: runs that were kept from the calibration, against what it says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nmlgen.advise.calibration import Calibration, Family
from nmlgen.advise.case import Case
from nmlgen.advise.fitting import Run, calibrate
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.values import frozen


@frozen
class Judged:
    """One family of runs, with what was predicted of each."""

    family: Family
    runs: tuple[Run, ...]
    predictions: tuple[Prediction, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        """Predicted over measured time, minus one."""
        return tuple(
            prediction.total_s / run.total_s - 1 for run, prediction in zip(self.runs, self.predictions, strict=True)
        )

    @property
    def held(self) -> tuple[bool, ...]:
        """Whether the measured time lies in the stated interval."""
        return tuple(
            prediction.low_s <= run.total_s <= prediction.high_s
            for run, prediction in zip(self.runs, self.predictions, strict=True)
        )

    @property
    def chosen(self) -> Run:
        """The run whose layout would have been recommended."""
        return min(zip(self.runs, self.predictions, strict=True), key=lambda pair: pair[1].total_s)[0]

    @property
    def best(self) -> Run:
        """The run that was the fastest."""
        return min(self.runs, key=lambda run: run.total_s)

    @property
    def regret(self) -> float:
        """Measured time of the layout chosen over that of the best, minus one."""
        return self.chosen.total_s / self.best.total_s - 1

    def regret_of(self, layout: Callable[[Case], bool]) -> float | None:
        """The same for a fixed rule: `layout` says which case it takes. None if that was not measured."""
        taken = [run.total_s for run in self.runs if layout(run.case)]
        return taken[0] / self.best.total_s - 1 if taken else None


def by_family(runs: Iterable[Run]) -> Mapping[Family, tuple[Run, ...]]:
    """The runs, sorted into families."""
    families: dict[Family, list[Run]] = {}
    for run in runs:
        families.setdefault(Family.of(run.case), []).append(run)
    return {family: tuple(members) for family, members in families.items()}


def judge(runs: Sequence[Run], calibration: Calibration) -> Judged:
    """What a calibration says of the runs of one family."""
    return Judged(Family.of(runs[0].case), tuple(runs), tuple(predict(run.case, calibration) for run in runs))


def without_family(runs: Sequence[Run], fit: Callable[[Sequence[Run]], Calibration]) -> dict[Family, Calibration]:
    """For each family, what `fit` makes of the runs of all the others."""
    return {family: fit([run for run in runs if Family.of(run.case) != family]) for family in by_family(runs)}


def after_one_run(runs: Sequence[Run], prior: Calibration) -> tuple[Judged, ...]:
    """For each run of a family: what is said of the others once this one is known."""
    return tuple(judge([run for run in runs if run is not known], calibrate([known], prior)) for known in runs)
