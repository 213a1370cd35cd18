"""The nodes of a program's ranks as a spec says them: "4 on 0-15, 1 on 0-4" are four ranks on each of the nodes 0 to
15, then one on each of 0 to 4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from nmlgen.pattern import pattern

_PART = pattern(r"(?<![0-9])([0-9]+) on ([0-9]+)(?:-([0-9]+))?")


def seat_count(text: str) -> int:
    """How many ranks such a text has a node for."""
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
