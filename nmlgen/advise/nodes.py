"""How many nodes: what the run costs in time and in node hours with each number, and where more stop paying."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from nmlgen.advise.calibration import Calibration
from nmlgen.advise.case import Case
from nmlgen.advise.experiment import Situation
from nmlgen.advise.model import run_time
from nmlgen.advise.prediction import Prediction, predict
from nmlgen.advise.unlike import widened
from nmlgen.values import evolve, frozen

NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
IO_RANKS = (0, 1, 2, 4, 8, 16, 32)
PAYS = 1.5
"""How much faster twice the nodes have to be, to be worth it: a run then costs a third more."""


@frozen
class NodeCount:
    """What the run takes on so many `nodes` with the I/O ranks that are best there."""

    nodes: int
    num_io_procs: int
    prediction: Prediction

    @property
    def node_hours(self) -> float:
        """What it costs."""
        return self.nodes * self.prediction.total_s / 3600


@frozen
class NodeCounts:
    """Each number of nodes, the last of them that pays, and the seconds below which no further node brings the run."""

    counts: tuple[NodeCount, ...]
    worth: int
    floor_s: float


def node_counts(situation: Situation, calibration: Calibration, nodes: Iterable[int] = NODES) -> NodeCounts:
    """What the run costs with each of these numbers of nodes and that of the experiment, each with as many tasks as
    it has on a node now. Outputs count as one stream that the I/O ranks share."""
    case, constants = situation.case, calibration.estimate.constants
    a_node = case.undivided / case.nodes
    found = []
    for number in sorted({*nodes, case.nodes}):
        tasks = round(number * a_node)
        if number != case.nodes and (case.n_cells < tasks or tasks <= case.restart_ranks + 1):
            continue
        choices = [_with(case, number, tasks, ranks) for ranks in IO_RANKS if ranks < (tasks - case.restart_ranks) / 2]
        best = min(choices, key=lambda choice: sum(run_time(choice, constants)))
        found.append(NodeCount(number, best.num_io_procs, widened(predict(best, calibration), situation.unlike)))
    worth = found[0].nodes
    for smaller, larger in pairwise(found):
        doublings = larger.nodes / smaller.nodes / 2
        if smaller.prediction.total_s < larger.prediction.total_s * (1 + (PAYS - 1) * doublings):
            break
        worth = larger.nodes
    start = run_time(case, constants)[0]
    return NodeCounts(tuple(found), worth, case.n_steps * constants.floor * 1e-3 + start)


def _with(case: Case, nodes: int, tasks: int, ranks: int) -> Case:
    ranks = ranks if case.outputs else 0
    return evolve(
        case,
        nodes=nodes,
        ntasks=tasks if case.gpus is None else tasks + ranks + case.restart_ranks,
        gpus=None if case.gpus is None else tasks,
        num_io_procs=ranks,
        stream_partitions=max(1, ranks),
        files_on_a_rank=None,
    )
