"""The file of `srun --multi-prog`: which program each rank runs.

What Slurm refuses was tried with Slurm 22.05: all of it before anything starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RANKS = re.compile(r"[0-9,:*-]+")
_MOST_RANKS = 100_000  # of a job with more it is not looked at which program each has
_PART = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


def refused(text: str, tasks: int | None) -> Iterator[tuple[str, str]]:
    """What srun refuses of such a file for so many tasks, None where their number is not known: why, and what it takes.

    Nothing is said of a text in which something else than ranks begins a line: it may be known in part only.
    """
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not all(_RANKS.fullmatch(line[0]) for line in lines):
        return
    taken: set[int] = set()
    for number, words in enumerate(lines):
        ranks = words[0]
        if len(words) < 2:
            yield f'the line "{ranks}" names no program', "ranks, a blank and a program"
        elif words[1].startswith('"'):
            yield f"the double quotes of {words[1]} belong to the name of the program", "single quotes"
        if ranks == "*":
            if number < len(lines) - 1:
                yield 'the line with "*" is not the last one', "it behind all others"
            return
        spans = _spans(ranks)
        if spans is None:
            yield f'"{ranks}" is no list of ranks', "numbers and ranges such as 0,4,8-11, without strides"
            return
        last = max(end for _, end in spans)
        if last >= _MOST_RANKS:
            if tasks is not None and last >= tasks:
                yield f"rank {last} has a line, and there are {tasks} tasks", f"ranks below {tasks}"
            return
        found = _numbers(spans)
        if twice := sorted(taken.intersection(found)):
            yield f"rank {twice[0]} has two lines", "a line for each rank"
            return
        if tasks is not None and last >= tasks:
            yield f"rank {last} has a line, and there are {tasks} tasks", f"ranks below {tasks}"
        taken |= found
    missing = next((rank for rank in range(tasks or 0) if rank not in taken), None)
    if missing is not None:
        yield f"rank {missing} of {tasks} has no line", "a line for each rank, or one with * at the end"


def ranks_by_program(text: str, tasks: int) -> dict[str, frozenset[int]] | None:
    """The ranks of each command of such a file for so many tasks; None if it is not known or srun refuses it."""
    found: dict[str, set[int]] = {}
    if tasks > _MOST_RANKS or any(refused(text, tasks)):
        return None
    left = set(range(tasks))
    for line in text.splitlines():
        words = line.split(None, 1)
        if not words or words[0].startswith("#"):
            continue
        spans = _spans(words[0]) if _RANKS.fullmatch(words[0]) else None
        if (spans is None and words[0] != "*") or len(words) < 2:
            return None
        ranks = set(left) if spans is None else _numbers(spans)
        found.setdefault(words[1].strip(), set()).update(ranks)
        left -= ranks
    return {command: frozenset(ranks) for command, ranks in found.items() if ranks}


def _spans(ranks: str) -> list[tuple[int, int]] | None:
    """The first and last ranks of the parts of a list; None where Slurm reads none."""
    found: list[tuple[int, int]] = []
    for part in ranks.split(","):
        match = _PART.fullmatch(part)
        if match is None or (match[2] is not None and int(match[2]) < int(match[1])):
            return None
        found.append((int(match[1]), int(match[2] or match[1])))
    return found


def _numbers(spans: list[tuple[int, int]]) -> set[int]:
    """The ranks of such parts, of which each is counted once."""
    found: set[int] = set()
    at = 0
    for first, last in sorted(spans):
        found.update(range(max(first, at), last + 1))
        at = max(at, last + 1)
    return found
