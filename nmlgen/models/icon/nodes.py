"""Which rank of a job sits on which node, and what it does there.

Sources: Slurm's manual, srun, --distribution (block where nothing is said, every node a share as equal as can be); the
manuals of Open MPI, Intel MPI and MPICH (one node after the other is filled).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from nmlgen.experiment.component import MOST_TASKS
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError, unknown
from nmlgen.models.icon.placement import SeatError, placement
from nmlgen.models.icon.ranks import numbers_in_job, rank_numbers, split
from nmlgen.pattern import pattern
from nmlgen.values import frozen

BASE_BYTES = 0.25e9
"""What a rank of ICON takes on small grids: on Levante about 32 GB were measured on a node of 128 ranks, for R2B5 and
R2B6 and whatever the layout (F. Ott, IO-Verhalten und -Effizienz im Klima- und Wettermodell ICON, 2025)."""

_DISTRIBUTIONS = pattern(r"(?:--distribution[= ]|-m[= ]?)(.+)")
_MPI_BY_NODE = pattern(r"--?(?:map-by[= ](?:ppr:1:)?node|bynode|rr|ppn[= ]1|perhost[= ]1)\b.*")


@frozen
class Node:
    """One node of a job: the `ranks` on it in ascending order, and how many of them do what: `crew` is keyed by the
    number of the component and the kind of task (`ranks.KINDS`), behind the components by that of a program that is no
    model and `placement.TASK`. What nobody claims is in no crew."""

    number: int
    ranks: Sequence[int]
    crew: Mapping[tuple[int, str], int]


@remembered
def node_count(experiment: Experiment) -> int:
    """The number of nodes: what is asked for, else as many as the tasks need with so many on a node, or a core each.

    Raises UndecidedError where that is not known.
    """
    asked = experiment.directives.get("nodes")
    if asked is not None:
        return _number(asked)
    tasks = _number(experiment.tasks)
    each = experiment.directives.get("ntasks-per-node")
    if each is not None:
        return ceil(tasks / _number(each))
    cores = experiment.machine.cores_per_node
    partition = experiment.directives.get("partition")
    if partition is not None and partition.certainty is not Certainty.UNKNOWN:
        known = experiment.machine.partitions.get(str(partition.value))
        cores = known.cores_per_node if known is not None and known.cores_per_node else cores
    if not cores:
        raise UndecidedError(unknown("nodes", experiment.directives_span))
    width = experiment.directives.get("cpus-per-task")
    return ceil(tasks * (_number(width) if width is not None else 1) / cores)


_MOST_NODES = 200_000
"""A bound on work: no machine has so many."""


@remembered
def ranks_by_node(experiment: Experiment) -> tuple[Sequence[int], ...]:
    """The ranks of the job on each node, as the launcher deals them out.

    Raises UndecidedError where tasks or nodes are not known, and where the order is one that this does not know.
    """
    if experiment.programs:
        return _placed(experiment)
    if experiment.dealt:
        return experiment.dealt
    tasks, nodes = _number(experiment.tasks), node_count(experiment)
    if tasks > MOST_TASKS or nodes > _MOST_NODES:
        raise UndecidedError(experiment.directives.get("nodes", experiment.tasks))
    turn = _ranks_in_turn(experiment)
    each = experiment.directives.get("ntasks-per-node")
    room = max(_number(each), ceil(tasks / nodes)) if each is not None else ceil(tasks / nodes)
    if turn is not None:
        return tuple(_dealt(tasks, nodes, number, turn) for number in range(nodes))
    if experiment.launch.command.value == "srun":
        share, more = divmod(tasks, nodes)
        ends = [share * (number + 1) + min(number + 1, more) for number in range(nodes)]
    else:
        ends = [min(tasks, room * (number + 1)) for number in range(nodes)]
    return tuple(range(start, end) for start, end in zip([0, *ends], ends, strict=False))


@remembered
def nodes(experiment: Experiment) -> tuple[Node, ...]:
    """Every node of the job with its ranks and what they do.

    Raises UndecidedError where a part of it is not known, and where ICON refuses the split of a component.
    """
    seats = ranks_by_node(experiment)
    roles: dict[int, tuple[int, str]] = {}
    if experiment.programs:
        further = iter(range(len(experiment.components), len(experiment.components) + len(experiment.programs)))
        numbers_of = [next(further) if program.model is None else program.model for program in experiment.programs]
        for seat in placement(experiment):
            roles[seat.rank] = numbers_of[seat.program], seat.kind
        return tuple(Node(number, ranks, _counted(roles, ranks)) for number, ranks in enumerate(seats))
    for component in experiment.components:
        ranks = split(component)
        if ranks.work < 1:
            raise UndecidedError(component.tasks)
        for kind, numbers in rank_numbers(ranks, numbers_in_job(component)).items():
            roles.update(dict.fromkeys(numbers, (component.number, kind)))
    return tuple(Node(number, ranks, _counted(roles, ranks)) for number, ranks in enumerate(seats))


def _counted(roles: Mapping[int, tuple[int, str]], ranks: Sequence[int]) -> Counter[tuple[int, str]]:
    """What the ranks of a node do, as far as they do anything."""
    found = Counter(map(roles.get, ranks))
    return Counter({role: count for role, count in found.items() if role is not None})


def _placed(experiment: Experiment) -> tuple[Sequence[int], ...]:
    """The ranks on each node where programs are placed."""
    found: dict[int, list[int]] = {}
    try:
        seats = placement(experiment)
    except SeatError as error:
        raise UndecidedError(error.setting or experiment.tasks, f"a rank has no seat: {error}") from None
    for seat in seats:
        found.setdefault(seat.node, []).append(seat.rank)
    return tuple(found.get(node, []) for node in range(max(found, default=-1) + 1))


def _dealt(tasks: int, nodes: int, number: int, turn: int) -> Sequence[int]:
    """The ranks of one node where so many in turn go to each node, round after round."""
    starts = range(number * turn, tasks, nodes * turn)
    return starts if turn == 1 else [rank for start in starts for rank in range(start, min(start + turn, tasks))]


def _ranks_in_turn(experiment: Experiment) -> int | None:
    """How many ranks in turn go to a node, None where each node gets its share at once.

    Raises UndecidedError for an order that is not known: a file of hosts, --distribution=arbitrary.
    """
    if experiment.launch.command.value != "srun":
        return 1 if any(_MPI_BY_NODE.fullmatch(text) for text, _ in _options(experiment)) else None
    found: Setting | None = experiment.environment.get("SLURM_DISTRIBUTION", experiment.directives.get("distribution"))
    word = "" if found is None else str(found.value)
    for text, option in _options(experiment):
        match = _DISTRIBUTIONS.fullmatch(text)
        if match:
            found, word = option, match[1]
    first = re.split("[:,]", word.lower())[0]
    if first in ("", "*", "block"):
        return None
    if first == "cyclic":
        return 1
    plane = re.fullmatch(r"plane=0*([1-9]\d{0,6})", first)
    if plane:
        return int(plane[1])
    assert found is not None, "where nothing is said, ranks come in blocks"
    raise UndecidedError(found)


def _options(experiment: Experiment) -> Iterator[tuple[str, Setting]]:
    """The options of the launcher, those in two words as one."""
    words = [option for option in experiment.launch.options if option.certainty is not Certainty.UNKNOWN]
    for number, option in enumerate(words):
        text = str(option.value)
        following = str(words[number + 1].value) if number + 1 < len(words) else ""
        yield (f"{text} {following}" if text in _IN_TWO_WORDS and following else text), option


_IN_TWO_WORDS = ("-m", "--distribution", "--map-by", "-map-by", "-ppn", "-perhost")


def _number(setting: Setting) -> int:
    value = setting.value
    if type(value) is not int or value < 1:
        raise UndecidedError(setting)
    return value
