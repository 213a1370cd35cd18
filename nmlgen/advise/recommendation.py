"""Which layout to choose: the one whose expected time is the shortest, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from nmlgen.advise.calibration import Calibration, levante
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC, Case
from nmlgen.advise.model import receiving_time, slowed, step_time, writer_turn
from nmlgen.advise.prediction import NOISE, Prediction, predict
from nmlgen.values import evolve, frozen

Ranked = tuple[tuple[Case, Prediction], ...]


@frozen
class Recommendation:
    """The recommended layout, and all that were compared."""

    best: Case
    """The case with the layout to choose: of those compared, the one whose expected time is the shortest."""
    ranked: Ranked
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

    @property
    def equal(self) -> Ranked:
        """The other candidates that differ from the best by less than the noise."""
        limit = self.prediction.total_s * (1 + NOISE)
        return tuple(pair for pair in self.ranked[1:] if pair[1].total_s <= limit)


@frozen
class Quantities:
    """The six quantities that decide, as the report of F. Ott (2025) asks for them."""

    nodes: int
    computing_s: float | None
    """Seconds of computing between two outputs; None without output."""
    output_interval_s: float | None
    output_bytes: float
    received_bytes_per_s: float
    """What an I/O rank receives in a second."""
    writer_bytes_per_s: float
    """What an I/O rank receives and writes in a second when no other writes; the workers compute beside it."""
    contended_bytes_per_s: float | None
    """The same while the other I/O ranks of the case are as busy as they will be; None without I/O ranks."""


def quantities(case: Case, calibration: Calibration | None = None) -> Quantities:
    """The six quantities of a case."""
    constants = (calibration or levante()).estimate.constants
    interval = case.output_interval_s if case.outputs else None
    computing = interval and step_time(case, constants, case.workers) * min(interval / case.dtime_s, case.n_steps)
    receiving = receiving_time(case, constants) / case.output_bytes if case.output_bytes else constants.receive / 1e9
    alone = 1 / (receiving + slowed(case, constants)[0] / constants.writer / 1e9)
    contended = None
    if case.outputs and case.io_ranks:
        contended = min(alone, case.output_bytes / writer_turn(case, constants))
    return Quantities(case.nodes, computing, interval, case.output_bytes, 1 / receiving, alone, contended)


def recommend(
    case: Case,
    num_io_procs: Iterable[int] = (0, 1, 2, 4, 8, 16, 32),
    calibration: Calibration | None = None,
) -> Recommendation:
    """Which of these numbers of I/O ranks to choose, each with as many partitions of the stream.

    Numbers that leave no rank for computing are left out. Raises ValueError if none remains.
    """
    calibration = calibration or levante()
    candidates = [
        evolve(case, num_io_procs=count, stream_partitions=max(1, count))
        for count in dict.fromkeys(num_io_procs)
        if 0 <= count < case.ntasks - case.restart_ranks
    ]
    ranked = _ranked(candidates, calibration)
    return Recommendation(ranked[0][0], ranked, _output_reason(ranked, calibration))


def recommend_restart(
    case: Case,
    num_restart_procs: Iterable[int] = (1, 2, 4, 8),
    calibration: Calibration | None = None,
    restart_write_modes: Iterable[str] = (SYNC, ASYNC, DEDICATED, JOINT),
) -> Recommendation:
    """Which restart mode to choose, and with how many restart ranks: each of the modes that needs ranks with each
    of the numbers. Raises ValueError if nothing remains to choose from."""
    ranks = [count for count in dict.fromkeys(num_restart_procs) if 0 < count < case.ntasks - case.io_ranks]
    candidates = [
        evolve(case, restart_write_mode=mode, num_restart_procs=count)
        for mode in restart_write_modes
        for count in (ranks if mode in (ASYNC, DEDICATED) else [0])
    ]
    ranked = _ranked(candidates, calibration or levante())
    return Recommendation(ranked[0][0], ranked, _restart_reason(ranked))


def _ranked(candidates: Sequence[Case], calibration: Calibration) -> Ranked:
    if not candidates:
        raise ValueError("there is no candidate that leaves a rank for computing")
    predicted = [(candidate, predict(candidate, calibration)) for candidate in candidates]
    return tuple(sorted(predicted, key=lambda pair: pair[1].total_s))


def _output_reason(ranked: Ranked, calibration: Calibration) -> str:
    best, first = ranked[0]
    figures = quantities(best, calibration)
    sentences = [f"{_io_ranks(best)}: {_time(first)}"]
    if figures.computing_s is None:
        sentences.append("there is no output, so I/O ranks would only be missing from computing")
    elif not best.io_ranks:
        sentences.append(
            f"{first.parts['synchronous writes']:.0f} s of synchronous writing cost less than ranks that do not compute"
        )
    else:
        contended = figures.contended_bytes_per_s or figures.writer_bytes_per_s
        sentences.append(
            f"an output of {best.output_bytes / 1e9:.3g} GB is due after every {figures.computing_s:.2g} s of "
            f"computing, and an I/O rank needs {best.output_bytes / contended:.2g} s to receive and write it"
        )
        sentences.append(
            f"the workers wait {first.parts['waiting for writers']:.0f} s, and the ranks taken away cost "
            f"{first.parts['ranks taken away']:.0f} s"
        )
    return _with_equals(sentences, ranked, lambda case: str(case.num_io_procs))


def _restart_reason(ranked: Ranked) -> str:
    best, first = ranked[0]
    sentences = [f"{_restart_layout(best)}: {_time(first)}"]
    if best.checkpoints:
        sentences.append(
            f"{best.checkpoints} checkpoints of {best.checkpoint_bytes / 1e9:.3g} GB cost "
            f"{first.parts['checkpoints']:.0f} s, and the ranks taken away {first.parts['ranks taken away']:.0f} s"
        )
    else:
        sentences.append("there are no checkpoints")
    return _with_equals(sentences, ranked, _restart_layout)


def _with_equals(sentences: list[str], ranked: Ranked, name: Callable[[Case], str]) -> str:
    equal = [name(case) for case, prediction in ranked[1:] if prediction.total_s <= ranked[0][1].total_s * (1 + NOISE)]
    if equal:
        sentences.append(f"{', '.join(equal)} differ{'s' * (len(equal) == 1)} by less than the noise of {NOISE:.0%}")
    return "; ".join(sentences)


def _io_ranks(case: Case) -> str:
    return f"{case.num_io_procs} I/O rank{'s' * (case.num_io_procs != 1)}"


def _restart_layout(case: Case) -> str:
    ranks = f" with {case.num_restart_procs}" if case.restart_ranks else ""
    return f'"{case.restart_mode}"{ranks}'


def _time(prediction: Prediction) -> str:
    return f"{prediction.total_s:.0f} s expected ({prediction.low_s:.0f} to {prediction.high_s:.0f} s)"
