"""Which stream costs: what each writes, how busy it keeps a writer, and what the run would be without it."""

from __future__ import annotations

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Output, Situation, with_output
from nmlgen.advise.layout import files_of, present_layout
from nmlgen.advise.model import run_time, writer_turn
from nmlgen.advise.play import played
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.advise.simulation import MOST_PLAYED
from nmlgen.advise.unlike import widened
from nmlgen.values import evolve, frozen

_MOST_OUTPUTS = 3000
"""A bound on work: outputs in all runs that are played through to tell what one costs."""
_MOST_WRITTEN = 200_000
"""The same of the records of which a play takes account."""


@frozen
class StreamShare:
    """What one output of an experiment costs in its present layout.

    `writer_share` is for which part of the run it keeps one I/O rank busy, of all it is written by in turn (None
    without I/O ranks); `costs_s` is what the run takes longer with it than without, `again_s` what it takes longer with
    twice as many output times.
    """

    output: Output
    run_bytes: int
    writer_share: float | None
    costs_s: float
    again_s: float


@frozen
class StreamShares:
    """All outputs, that which costs most first, and what the `whole` run is expected to take. Where they have more than
    some fifty files it is told of those that write most; so many more, `others`, there are."""

    shares: tuple[StreamShare, ...]
    whole: Prediction
    others: int = 0


def stream_shares(situation: Situation, calibration: Calibration) -> StreamShares:
    """What each output of an experiment costs."""
    whole = _predicted(situation, calibration)
    found = []
    all_outputs = situation.outputs
    files = files_of(all_outputs, (output.partitions for output in all_outputs))
    records = min(MOST_PLAYED, sum(output.steps for output in all_outputs))
    most = min(_MOST_OUTPUTS // max(1, files), _MOST_WRITTEN // max(1, records))
    asked = all_outputs[: max(1, most)]
    for output in asked:
        without = tuple(other for other in all_outputs if other is not output)
        often = tuple(
            evolve(other, steps=2 * other.steps, interval_s=other.interval_s / 2) if other is output else other
            for other in all_outputs
        )
        found.append(
            StreamShare(
                output,
                output.run_bytes,
                _writer_share(situation, output, calibration),
                whole.total_s - _predicted(_with(situation, without), calibration).total_s,
                _predicted(_with(situation, often), calibration).total_s - whole.total_s,
            )
        )
    shares = tuple(sorted(found, key=lambda share: -share.costs_s))
    return StreamShares(shares, whole, len(all_outputs) - len(asked))


def _with(situation: Situation, outputs: tuple[Output, ...]) -> Situation:
    """The situation with other outputs on the same ranks."""
    plain = evolve(situation.case, output_bytes=0, output_interval_s=None, stream_partitions=1, files_on_a_rank=None)
    ordered = tuple(sorted(outputs, key=lambda output: -output.run_bytes))
    return evolve(situation, case=with_output(situation.component, plain, ordered), outputs=ordered)


def _predicted(situation: Situation, calibration: Calibration) -> Prediction:
    prediction = played(situation, present_layout(situation), predict(situation.case, calibration), calibration)
    return widened(prediction, situation.unlike)


def _writer_share(situation: Situation, output: Output, calibration: Calibration) -> float | None:
    case, constants = situation.case, calibration.estimate.constants
    if not case.io_ranks or not case.outputs:
        return None
    turn = writer_turn(case, constants) * output.step_bytes / case.output_bytes
    ranks = max(1, min(output.partitions, case.io_ranks))
    return output.steps * turn / ranks / sum(run_time(case, constants))
