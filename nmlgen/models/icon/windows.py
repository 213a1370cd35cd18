"""Output times of several windows of a stream, which are never listed where they are equidistant."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import overload

from nmlgen.values import frozen


@frozen
class Windows(Sequence[int]):
    """Output times of windows that lie one behind the other: those of equal intervals are never listed."""

    parts: tuple[Sequence[int], ...]

    @cached_property
    def firsts(self) -> list[int]:
        """The number of the first time of each part, and behind them that of all."""
        return list(accumulate(map(len, self.parts), initial=0))

    @cached_property
    def lasts(self) -> list[int]:
        """The last time of each part."""
        return [part[-1] for part in self.parts]

    def __len__(self) -> int:
        return self.firsts[-1]

    def __iter__(self) -> Iterator[int]:
        return chain(*self.parts)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Windows: ...
    def __getitem__(self, index: int | slice) -> int | Windows:
        if isinstance(index, slice):
            begin, end, _ = index.indices(len(self))
            some = (
                part[max(0, begin - first) : max(0, end - first)]
                for part, first in zip(self.parts, self.firsts, strict=False)
            )
            return Windows(tuple(part for part in some if part))
        number = range(len(self))[index]
        place = bisect_right(self.firsts, number) - 1
        return self.parts[place][number - self.firsts[place]]


def number_before(dates: Sequence[int], time: int) -> int:
    """How many of these output times come before another time."""
    if isinstance(dates, range):
        return min(len(dates), max(0, -((dates.start - time) // dates.step)))
    if not isinstance(dates, Windows):
        return bisect_left(dates, time)
    place = bisect_left(dates.lasts, time)
    return len(dates) if place == len(dates.parts) else dates.firsts[place] + number_before(dates.parts[place], time)


def in_turn(*some: Sequence[int]) -> Sequence[int]:
    """These output times, which lie one behind the other."""
    parts = [part for dates in some if dates for part in (dates.parts if isinstance(dates, Windows) else (dates,))]
    return Windows(tuple(parts)) if len(parts) > 1 else parts[0] if parts else ()


def neighbours(dates: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each two output times of which one comes next to the other, but for those within a range, which are all as far
    from each other."""
    before: int | None = None
    for part in dates.parts if isinstance(dates, Windows) else (dates,):
        if before is not None:
            yield before, part[0]
        if not isinstance(part, range):
            yield from pairwise(part)
        before = part[-1] if part else before
