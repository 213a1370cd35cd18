"""Whether a function is called more often, the larger an input is, than the input grows: no time is measured."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from attrs import evolve, frozen

from fuzzing.cases import Case, Fuzzer
from fuzzing.limited import call, warm_up
from fuzzing.repeated import repetition

_TIMES = (60, 120, 240)
_LARGE = (900_000, 225_000, 56_000, 14_000)  # bytes; where there is a limit, what is below it takes longest
_MANY = 5_000_000  # calls of one function: seconds
_LINEAR = 2.9  # how much more the second doubling of an element may add than the first: 2, and 4 for the square
SECONDS = 60  # of CPU for a call that is counted or tried


def counted(case: Case, directory: Path) -> Counter[str]:
    """How often the last call of a case calls each function."""
    note = directory.parent / "counted.json"
    note.unlink(missing_ok=True)
    evolve(case, calls=case.calls[:-1]).run(directory, SECONDS)
    environment = case.environment(directory)
    call(case.calls[-1], directory, environment=environment, cpu=SECONDS, counted=note)
    return Counter(json.loads(note.read_text(encoding="utf-8"))) if note.is_file() else Counter()


def too_fast(counts: Sequence[Mapping[str, int]], share: float) -> Iterator[str]:
    """The functions whose calls grow too fast: which would be too many for a large input, in which the element is
    `share` times as often as in the last."""
    few, some, many = counts
    for function, last in many.items():
        first, second = some.get(function, 0) - few.get(function, 0), last - some.get(function, 0)
        if first > 0 and second > _LINEAR * first and second / 3 * 4 * share**2 > _MANY:
            yield function


@frozen
class Grown:
    """A case with an element very often, and the functions that are called too often for it, each with how often; all
    of which that seems likely, where the call does not end."""

    case: Case
    functions: Mapping[str, int | None]


def grown(fuzzer: Fuzzer, seed: object, count: int, directory: Path) -> Iterator[Grown]:
    """Of so many cases of a fuzzer those with functions that are called too often."""
    pick = random.Random(f"growth {seed}")
    known = set[str]()
    for case in islice(fuzzer(pick), count):
        name = case.picked(pick)
        text = repetition(case.data(name), pick)
        if text is None:
            continue
        command = case.calls[-1]
        if command[0] not in known:
            known.add(command[0])
            case.run(directory, SECONDS)
            warm_up(directory, command, case.environment(directory))
        share = text.within(_LARGE[0]) / _TIMES[-1]
        counts_of_few = [counted(case.changed(name, text.times(times)), directory) for times in _TIMES]
        suspected = list(too_fast(counts_of_few, share))
        for size in _LARGE if suspected else ():
            large = case.changed(name, text.times(text.within(size)))
            counts = counted(large, directory)
            found = {function: counts[function] if counts else None for function in suspected}
            if often := {function: calls for function, calls in found.items() if calls is None or calls > _MANY}:
                yield Grown(large, often)
                break
