"""Which layout to choose: the one whose expected time is the shortest."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC, Case
from nmlgen.advise.prediction import NOISE, Prediction, predict


@frozen
class Recommendation:
    """The recommended layout, and all that were compared."""

    best: Case
    ranked: tuple[tuple[Case, Prediction], ...]
    """Each candidate with its prediction, the best first."""
    reason: str

    @property
    def num_io_procs(self) -> int:
        """The recommended number of I/O ranks."""
        return self.best.num_io_procs

    @property
    def stream_partitions(self) -> int:
        """The recommended number of partitions of the output stream."""
        return self.best.stream_partitions

    @property
    def restart_write_mode(self) -> str:
        """The recommended restart mode."""
        return self.best.restart_mode

    @property
    def num_restart_procs(self) -> int:
        """The recommended number of restart ranks."""
        return self.best.num_restart_procs

    @property
    def prediction(self) -> Prediction:
        """What the recommended layout will take."""
        return self.ranked[0][1]


def recommend(
    case: Case,
    num_io_procs: Iterable[int] = (0, 1, 2, 4, 8, 16, 32),
    calibration: Calibration | None = None,
) -> Recommendation:
    """Which of these numbers of I/O ranks to choose, each with as many partitions of the stream.

    Numbers that leave no rank for computing are left out. Raises ValueError if none remains.
    """
    candidates = [
        evolve(case, num_io_procs=count, stream_partitions=max(1, count))
        for count in num_io_procs
        if 0 <= count < case.ntasks - case.restart_ranks
    ]
    return _best(candidates, calibration)


def recommend_restart(
    case: Case, num_restart_procs: Iterable[int] = (1, 2, 4, 8), calibration: Calibration | None = None
) -> Recommendation:
    """Which restart mode to choose, and with how many restart ranks."""
    ranks = [count for count in num_restart_procs if 0 < count < case.ntasks - case.io_ranks]
    layouts = [(SYNC, 0), (JOINT, 0), *((mode, count) for mode in (ASYNC, DEDICATED) for count in ranks)]
    candidates = [evolve(case, restart_write_mode=mode, num_restart_procs=count) for mode, count in layouts]
    return _best(candidates, calibration)


def _best(candidates: list[Case], calibration: Calibration | None) -> Recommendation:
    if not candidates:
        raise ValueError("no candidate leaves a rank for computing")
    predicted = [(candidate, predict(candidate, calibration)) for candidate in candidates]
    ranked = tuple(sorted(predicted, key=lambda pair: pair[1].total_s))
    (best, first), *others = ranked
    equal = [other for other, prediction in others if prediction.total_s < first.total_s * (1 + NOISE)]
    reason = f"{first.total_s:.0f} s expected"
    if equal:
        reason += f"; {len(equal)} more within the noise of {NOISE:.0%}"
    return Recommendation(best, ranked, reason)
