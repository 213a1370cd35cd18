"""Several outputs at once: a layout played through, where the closed form sees one output only."""

from __future__ import annotations

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.experiment import Situation
from nmlgen.advise.layout import Layout, case_with
from nmlgen.advise.model import run_time, step_time
from nmlgen.advise.prediction import Prediction
from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.ranks import PlacementError
from nmlgen.values import evolve


def played(situation: Situation, layout: Layout, closed: Prediction, calibration: Calibration) -> Prediction:
    """The prediction of the closed form for a layout, which takes all outputs for one, put right by a play with the
    likeliest constants. With one output it is right as it stands, and where nobody can know who writes what.

    What the play takes longer, or less long, is waiting for the ranks that write.
    """
    if sum(len(output.domains) for output in situation.outputs) <= 1:
        return closed
    from nmlgen.advise.rates import Rates  # a case of its own, which most checks do not have
    from nmlgen.advise.simulation import simulate
    from nmlgen.advise.workload import workload_with

    try:
        workload = workload_with(situation, layout)
    except (PlacementError, UndecidedError):
        return closed
    case, constants = case_with(situation, layout), calibration.estimate.constants
    step_s = step_time(case, constants, case.workers)
    play = simulate(workload, step_s=step_s, rates=Rates.of(case, constants))
    start_up, *rest = run_time(case, constants)
    factor = (start_up + play.total_s) / (start_up + sum(rest))
    total = closed.total_s * factor
    parts = dict(closed.parts)
    waiting = "waiting for writers" if case.io_ranks else "synchronous writes"
    parts[waiting] = max(0.0, parts[waiting] + total - closed.total_s)
    return evolve(closed, total_s=total, low_s=closed.low_s * factor, high_s=closed.high_s * factor, parts=parts)
