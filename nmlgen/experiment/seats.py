"""The seats of a job's ranks: what is known of the nodes, and how people write which ranks sit on which."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.machine import CoreLists, Cores, Partition
from nmlgen.experiment.programs import Program
from nmlgen.experiment.setting import Certainty
from nmlgen.pattern import pattern
from nmlgen.values import frozen

_PART = pattern(r"(?<![0-9])([0-9]+) on ([0-9]+)(?:-([0-9]+))?")

TASK = "task"
"""What a rank of a program does that is no model of ICON."""


@frozen
class Seat:
    """The place of a rank: the number of its node, from 0 in the order in which Slurm lists them; the number of its
    program; what it does there; its GPU, None for none; its cores, their NUMA nodes and its network card, empty where
    the site does not say them."""

    rank: int
    node: int
    program: int
    kind: str
    gpu: int | None
    cores: Cores
    numa: Cores
    card: str


def facts_of(experiment: Experiment, program: Program) -> Partition:
    """What is known of the nodes of a program: its partition, with the figures of the site where it says none."""
    directive = program.job.get("partition") or experiment.directives.get("partition")
    machine = experiment.machine
    name = "" if directive is None or directive.certainty is Certainty.UNKNOWN else str(directive.value)
    found = machine.partitions.get(name)
    if found is not None and found.cores_per_node is not None:
        return found
    numa, gpus = (found.numa, found.gpus) if found is not None else (CoreLists(), None)
    return Partition(name, cores_per_node=machine.cores_per_node, numa=numa, gpus=gpus)


def seat_count(text: str) -> int:
    """How many ranks a text has a node for: "4 on 0-15, 1 on 0-4" are four ranks on each of the nodes 0 to 15, then one
    on each of 0 to 4."""
    return sum(count * len(nodes) for count, nodes in _parts(text))


def seat_nodes(text: str) -> list[int]:
    """The number of the node of each rank."""
    return [node for count, nodes in _parts(text) for node in nodes for _ in range(count)]


def seat_text(nodes: Sequence[int]) -> str:
    """The way back: the text for the nodes of ranks."""
    found: list[tuple[int, int, int]] = []
    for node, ranks in groupby(nodes):
        count = sum(1 for _ in ranks)
        if found and found[-1][0] == count:
            _, first, last = found[-1]
            step = node - last
            if abs(step) == 1 and step * (last - first) >= 0:
                found[-1] = (count, first, node)
                continue
        found.append((count, node, node))
    return ", ".join(f"{count} on {first}" + (f"-{last}" if last != first else "") for count, first, last in found)


def _parts(text: str) -> Iterator[tuple[int, range]]:
    for count, first, last in _PART.findall(text):
        end = int(last or first)
        step = 1 if end >= int(first) else -1
        yield int(count), range(int(first), end + step, step)


def number_ranges(numbers: Iterable[int]) -> str:
    """Numbers as Slurm, numactl and people write them: "0-7,9"."""
    if isinstance(numbers, range) and numbers.step == 1 and len(numbers) > 1:
        return f"{numbers[0]}-{numbers[-1]}"
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)
