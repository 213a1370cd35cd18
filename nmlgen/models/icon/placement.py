"""Where each rank of a job sits: node, cores, NUMA nodes, GPU and network card.

One placement, of which everything is made that has to agree: the ranks in the master namelist, the file of hosts, the
programs by rank and what each rank is bound to. Work ranks of a program for GPUs have one GPU each; ranks that only
write, read or keep checkpoints never use one (ICON 2024.10, `mo_nh_stepping.f90:501`, `mo_name_list_output.f90:1419`),
and sit on cores beside them, one on a node in turn, or on nodes of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from operator import itemgetter

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import Cores
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.programs import Program
from nmlgen.experiment.seats import TASK, Seat, facts_of, seat_count, seat_nodes
from nmlgen.experiment.setting import Setting, UndecidedError, unknown
from nmlgen.models.icon.ranks import rank_numbers, set_apart, split
from nmlgen.values import frozen

_MOST_NODES = 1_000_000
_MOST_SEATS = 600_000
"""A bound on work, for all programs together: no job of a machine in `presets/sites` gets more cores of processors."""

_MOST_LOOKED_AT = 1_000_000
"""Cores of nodes that each hold other ranks, and four times NUMA nodes for each of these ranks: a second."""

WORK = ("test", "work")
"""The kinds of ranks that compute."""


class SeatError(ValueError):
    """There is no seat for a rank: `setting` is what asks for it, `advice` what would do."""

    def __init__(self, message: str, setting: Setting | None, advice: str) -> None:
        super().__init__(message)
        self.setting = setting
        self.advice = advice


def reason(experiment: Experiment, seat: Seat) -> tuple[str, tuple[Setting, ...]]:
    """Why a rank sits where it does, and the settings that say so."""
    program = experiment.programs[seat.program]

    def said(*keys: str) -> tuple[Setting, ...]:
        return tuple(program.settings[key] for key in keys if key in program.settings)

    nodes = (*said("nodes"), *(program.job[key] for key in ("nodes",) if key in program.job))
    if program.said("seats") is not None:
        return "the spec says the node of each rank", said("seats", "device")
    if seat.kind in (*WORK, TASK):
        if program.uses_gpus:
            return "a rank that computes for each GPU of its nodes, in their order", (*said("device", "tasks"), *nodes)
        why = "ranks on processors fill one of their nodes after the other, with as equal a share as can be"
        return why, (*said("device", "tasks_per_node", "tasks", "cpus_per_task"), *nodes)
    if program.said("io_nodes") is not None:
        return "ranks that do not compute have nodes of their own", (*said("io_nodes"), *nodes)
    if program.uses_gpus:
        why = "ranks that do not compute use no GPU: they sit on cores beside the others, one on a node in turn"
        return why, (*said("device"), *nodes)
    return "ranks that do not compute come behind the others of their program", (*said("device"), *nodes)


@frozen
class Place:
    """The nodes of a program: `work` those of the ranks that compute, `apart` those of the others."""

    work: range
    apart: range


def gpus_per_node(experiment: Experiment, program: Program) -> int:
    """The GPUs of a node that a program may use: those that are asked for, else all that a node has."""
    asked = program.job.get("gpus-per-node") if program.job else experiment.directives.get("gpus-per-node")
    if asked is not None and type(asked.value) is int:
        return asked.value
    gpus = facts_of(experiment, program).gpus
    return gpus.count if gpus is not None else 0


@remembered
def order(experiment: Experiment) -> tuple[int, ...]:
    """The numbers of the programs in the order of their ranks: first all that share the nodes of the job, then those
    with a part of a heterogeneous job of their own, as Slurm counts the ranks of its parts."""
    numbers = range(len(experiment.programs))
    return tuple(sorted(numbers, key=lambda number: bool(experiment.programs[number].job)))


@remembered
def places(experiment: Experiment) -> tuple[Place, ...]:
    """The nodes of each program. Those that all share come first, then those that a program has for itself, then those
    of ranks that do not compute, then the parts of a heterogeneous job.

    Raises SeatError where the job has too few nodes, UndecidedError where nobody says how many.
    """
    asked = experiment.directives.get("nodes")
    if asked is None:
        raise UndecidedError(unknown("job.nodes", experiment.directives_span))
    total, programs = _count(asked), experiment.programs
    main = [program for program in programs if not program.job]
    own = sum(program.said("nodes") or 0 for program in main)
    apart = sum(program.said("io_nodes") or 0 for program in main)
    shared = total - own - apart
    need = any(program.said("nodes") is None and program.said("seats") is None for program in main)
    if shared < need:
        setting = next((p.settings[key] for p in main for key in ("nodes", "io_nodes") if key in p.settings), asked)
        advice = f"expected: {asked.name} above {own + apart}" if need else f"expected: {asked.name} {own + apart}"
        message = f"the job has {total} nodes, and {own + apart} of them are asked for by single programs"
        raise SeatError(message, setting, advice)
    first, first_apart = shared, shared + own
    end, found = total, {}
    for number in order(experiment):
        program = programs[number]
        if program.job:
            count = _count(program.job["nodes"]) if "nodes" in program.job else 1
            helpers = program.said("io_nodes") or 0
            if helpers >= count:
                setting = program.settings["io_nodes"]
                raise SeatError(f"{setting.name} leaves no node to compute on", setting, f"expected: below {count}")
            work = range(end, end + count - helpers)
            found[number] = Place(work, range(work.stop, end + count) if helpers else work)
            end += count
            continue
        if program.said("seats") is not None:
            found[number] = Place(range(total), range(total))
            continue
        work = range(shared)
        if (nodes := program.said("nodes")) is not None:
            work, first = range(first, first + nodes), first + nodes
        others = work
        if (helpers := program.said("io_nodes")) is not None:
            others, first_apart = range(first_apart, first_apart + helpers), first_apart + helpers
        found[number] = Place(work, others)
    return tuple(found[number] for number in range(len(programs)))


def task_count(experiment: Experiment, number: int) -> int:
    """The tasks of a program: those that are said, else so many on each of its nodes, of which a program for GPUs has a
    work rank for each GPU and the others besides. Raises SeatError where nobody says it."""
    program, place = experiment.programs[number], places(experiment)[number]
    if (tasks := program.said("tasks")) is not None:
        return int(tasks)
    if (seats := program.said("seats")) is not None:
        return seat_count(seats)
    apart = set_apart(experiment.components[program.model]).taken if program.model is not None else 0
    if program.uses_gpus:
        return len(place.work) * gpus_per_node(experiment, program) + apart
    each = program.said("tasks_per_node")
    if each is None:
        message = f"nothing says how many tasks {program.path} has"
        raise SeatError(message, program.settings.get("device"), f"expected: {program.path}.tasks_per_node, or .tasks")
    return len(place.work) * int(each) + (apart if place.apart != place.work else 0)


def nodes_of(experiment: Experiment, number: int) -> list[int]:
    """The node of each rank of a program. Raises as `placement` does."""
    return [node for _, node, _ in _of_program(experiment, number)]


@remembered
def placement(experiment: Experiment) -> tuple[Seat, ...]:
    """The seat of each rank of the job, in their order.

    Raises SeatError where a rank has none, UndecidedError where something is not known that decides it.
    """
    crews: dict[int, list[tuple[int, int, str, int | None]]] = {}
    rank = ahead = 0
    for number in order(experiment):
        ahead += (count := task_count(experiment, number))
        _raise_if_too_many(experiment.programs[number], count, ahead)
    for number in order(experiment):
        count = 0
        for kind, node, gpu in _of_program(experiment, number):
            crews.setdefault(node, []).append((rank + count, number, kind, gpu))
            count += 1
        rank += count
    known: dict[tuple[tuple[int, str, int | None], ...], list[tuple[Cores, Cores, str]]] = {}
    seats: list[Seat] = []
    looked_at = 0
    for node, crew in crews.items():
        kinds = tuple((number, kind, gpu) for _, number, kind, gpu in crew)
        if kinds not in known:
            bench = _bench(experiment, kinds)
            looked_at += bench.size + 4 * len(crew) * len(bench.numa)
            if looked_at > _MOST_LOOKED_AT:
                device = experiment.programs[crew[0][1]].settings.get("device")
                message = f"each of more than {len(known)} nodes holds other ranks than all others"
                raise SeatError(message, device, "expected: nodes with the same ranks of the same programs")
            known[kinds] = _bound(experiment, kinds, bench)
        seats += [
            Seat(rank, node, number, kind, gpu, *bound)
            for (rank, number, kind, gpu), bound in zip(crew, known[kinds], strict=True)
        ]
    return tuple(sorted(seats, key=lambda seat: seat.rank))


def _raise_if_too_many(program: Program, count: int, ahead: int) -> None:
    """Where a program, or it and those ahead of it, have more ranks than are placed."""
    if ahead <= _MOST_SEATS:
        return
    setting = next(
        (program.settings[key] for key in ("tasks_per_node", "tasks", "seats") if key in program.settings), None
    )
    message = f"{program.path} has {count} ranks" + (f", and with those ahead of it {ahead}" if ahead > count else "")
    raise SeatError(message, setting, f"expected: at most {_MOST_SEATS} ranks to place")


def _of_program(experiment: Experiment, number: int) -> Iterator[tuple[str, int, int | None]]:
    """What each rank of a program does, its node and its GPU, in the order of the ranks."""
    program, place = experiment.programs[number], places(experiment)[number]
    count = task_count(experiment, number)
    _raise_if_too_many(program, count, count)
    kinds = [TASK] * count
    if program.model is not None:
        ranks = split(experiment.components[program.model])
        kinds = [kind for kind, numbers in rank_numbers(ranks).items() for _ in numbers]
    if program.said("seats") is not None:
        return zip(kinds, *_said_seats(experiment, program, place, kinds), strict=True)
    work = sum(kind in (*WORK, TASK) for kind in kinds)
    if program.uses_gpus:
        each = gpus_per_node(experiment, program)
        if work > len(place.work) * each:
            setting = program.settings.get("tasks") or program.settings["device"]
            raise SeatError(
                f"{work} ranks of {program.path} compute, and its {len(place.work)} nodes have {each} GPUs each",
                setting,
                f"expected: at most {len(place.work) * each} work ranks, one for each GPU",
            )
        nodes = [place.work[index // each] for index in range(work)]
        gpus: Sequence[int | None] = [index % each for index in range(work)]
    else:
        together = work if place.apart != place.work else len(kinds)
        nodes, gpus = _dealt(together, place.work), [None] * together
    others = len(kinds) - len(nodes)
    beside = program.uses_gpus and place.apart == place.work
    if others and beside:
        nodes += [place.work[index % len(place.work)] for index in range(others)]
    elif others:
        nodes += _dealt(others, place.apart)
    return zip(kinds, nodes, [*gpus, *([None] * others)], strict=True)


def _said_seats(
    experiment: Experiment, program: Program, place: Place, kinds: Sequence[str]
) -> tuple[list[int], list[int | None]]:
    """The nodes that a spec says for each rank, and the GPUs of those that compute, in turn on each node."""
    setting = program.settings["seats"]
    numbers = seat_nodes(setting.value)
    if max(numbers) >= len(place.work):
        message = f"{program.path} has a rank on node {max(numbers)}, and its nodes are 0 to {len(place.work) - 1}"
        raise SeatError(message, setting, f"expected: nodes below {len(place.work)}")
    nodes = [place.work[number] for number in numbers]
    gpus: list[int | None] = [None] * len(nodes)
    if not program.uses_gpus:
        return nodes, gpus
    each = gpus_per_node(experiment, program)
    used: Counter[int] = Counter()
    for index, (kind, node) in enumerate(zip(kinds, nodes, strict=True)):
        if kind in (*WORK, TASK):
            gpus[index] = used[node]
            used[node] += 1
    node, most = max(used.items(), key=itemgetter(1), default=(0, 0))
    if most > each:
        message = f"{most} ranks of {program.path} compute on node {node}, and it has {each} GPUs"
        raise SeatError(message, setting, f"expected: at most {each} work ranks on a node")
    return nodes, gpus


def _dealt(count: int, nodes: range) -> list[int]:
    """So many ranks on nodes, one node filled after the other with as equal a share as can be."""
    share, more = divmod(count, len(nodes))
    if not share:
        return list(nodes[:more])
    return [node for index, node in enumerate(nodes) for _ in range(share + (index < more))]


@frozen
class _Bench:
    """What a node gives to its ranks: cores by NUMA node, and near to each GPU its cores and its card; empty where
    nobody is bound."""

    numa: tuple[Cores, ...]
    near: tuple[Cores, ...]
    cards: tuple[str, ...]
    is_said: bool

    @property
    def size(self) -> int:
        """How many cores are gone through."""
        return sum(map(len, self.numa)) + sum(map(len, self.near))


def _bench(experiment: Experiment, crew: Sequence[tuple[int, str, int | None]]) -> _Bench:
    """What the node of these ranks gives; nothing where the site does not say which cores are near to which GPU."""
    facts = facts_of(experiment, experiment.programs[crew[0][0]])
    needs_map = any(gpu is not None for _, _, gpu in crew) and (facts.gpus is None or not facts.gpus.cores)
    numa = () if needs_map else tuple(facts.numa) or (tuple(range(facts.cores_per_node or 0)),)
    if not any(numa):
        return _Bench((), (), (), is_said=False)
    near, cards = (tuple(facts.gpus.cores), facts.gpus.cards) if facts.gpus is not None else ((), ())
    return _Bench(numa, near, cards, is_said=bool(facts.numa))


def _bound(
    experiment: Experiment, crew: Sequence[tuple[int, str, int | None]], bench: _Bench
) -> list[tuple[Cores, Cores, str]]:
    """The cores, NUMA nodes and card of each rank of a node.

    A rank with a GPU has the cores near to it that nobody else has; the others are dealt to the NUMA nodes by the room
    that these have.
    """
    near = bench.near
    if not bench.numa:
        return [((), (), "")] * len(crew)
    cores: list[Cores] = [()] * len(crew)
    seated = {index: near[gpu] for index, (_, _, gpu) in enumerate(crew) if gpu is not None and gpu < len(near)}
    for index, own in seated.items():
        width = experiment.programs[crew[index][0]].said("cpus_per_task") or 1
        if width > len(own):
            said = experiment.programs[crew[index][0]].settings
            setting = said.get("cpus_per_task", said["device"])
            raise SeatError(f"{width} cores for a rank, near to its GPU are {len(own)}", setting, "expected: fewer")
        cores[index] = own[:width]
    taken = set(chain.from_iterable(cores))
    free = [[core for core in own if core not in taken] for own in bench.numa]
    others: dict[tuple[int, str], list[int]] = {}
    for index, (number, kind, _) in enumerate(crew):
        if index not in seated:
            others.setdefault((number, kind), []).append(index)
    for (number, _), ranks in others.items():
        program = experiment.programs[number]
        width = 1 if program.uses_gpus else program.said("cpus_per_task") or 1
        for index, own in zip(ranks, _seated(free, len(ranks), width, program), strict=True):
            cores[index] = own
    left = set(chain.from_iterable(free)) if seated else set()
    for index, own in seated.items():
        if experiment.programs[crew[index][0]].said("cpus_per_task") is None:
            more = tuple(core for core in own if core in left)
            cores[index] = (*cores[index], *more)
            left.difference_update(more)
    owner = {core: number for number, own in enumerate(bench.numa if bench.is_said else ()) for core in own}
    card_of = {core: card for own, card in zip(near, bench.cards, strict=False) for core in own}
    return [(own, tuple(sorted({owner[c] for c in own if c in owner})), card_of.get(own[0], "")) for own in cores]


def _seated(free: list[list[int]], count: int, width: int, program: Program) -> Iterator[Cores]:
    """So many ranks of so many cores each, taken from the ends of what is free, within a NUMA node where they fit."""
    rooms = [len(cores) // width for cores in free]
    if sum(rooms) < count:
        if sum(map(len, free)) < count * width:
            key = next(
                (key for key in ("tasks_per_node", "tasks", "cpus_per_task") if key in program.settings), "device"
            )
            message = (
                f"{count * width} cores are needed on a node for {count} ranks of {program.path}, "
                f"and {sum(map(len, free))} are left"
            )
            raise SeatError(message, program.settings.get(key), "expected: fewer ranks on a node, or more nodes")
        rest = list(islice(chain.from_iterable(free), count * width))
        for start in range(0, count * width, width):
            yield tuple(rest[start : start + width])
        left = len(rest)
        for cores in free:
            gone = min(left, len(cores))
            del cores[:gone]
            left -= gone
        return
    for number, share in enumerate(_shares(count, rooms)):
        first = len(free[number]) - share * width
        taken = free[number][first:]
        del free[number][first:]
        for start in range(0, len(taken), width):
            yield tuple(taken[start : start + width])


def _shares(count: int, rooms: Sequence[int]) -> list[int]:
    """A number dealt to rooms in proportion to their sizes: no room gets more than it holds."""
    total = sum(rooms)
    if not total:
        return [0] * len(rooms)
    ends = [count * end // total for end in accumulate(rooms)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _count(setting: Setting) -> int:
    value = setting.value
    if type(value) is not int or value < 1:
        raise UndecidedError(setting)
    if value > _MOST_NODES:
        raise SeatError(f"{setting.name} is {value}", setting, f"expected: at most {_MOST_NODES} nodes")
    return value
