"""What two texts differ in, line by line, in the form that `patch` takes, in time that grows with them and not faster.

difflib looks for the longest common stretch again and again: of thousands of lines of which every second one is
another that takes time with their square. Lines that both texts have once tell what belongs together instead.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

_FEW = 2_000  # lines of both texts, of which difflib finds it in no time
_VERY_FEW = 40
_AROUND = 3  # lines

_Change = tuple[int, int, int, int]
"""The lines of the old text, from one up to, not including, another, and those of the new one that take their place."""


def unified_diff(old: Sequence[str], new: Sequence[str], old_name: str, new_name: str) -> Iterator[str]:
    """The lines of a unified diff of two texts, given by their lines with their ends; none if they are the same."""
    if len(old) + len(new) <= _FEW:
        yield from difflib.unified_diff(old, new, old_name, new_name)
        return
    changes = list(_changes(old, new))
    if changes:
        yield f"--- {old_name}\n"
        yield f"+++ {new_name}\n"
    for group in _groups(changes):
        yield from _hunk(old, new, group)


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Change]:
    """What is not the same, in order and apart."""
    start, old_end, new_end = _trimmed(old, new, (0, len(old), 0, len(new)))
    counts = Counter(old[start:old_end]), Counter(new[start:new_end])
    at = {line: number for number, line in enumerate(new[start:new_end], start) if counts[1][line] == 1}
    pairs = [(number, at[old[number]]) for number in range(start, old_end) if _is_lone(old[number], counts)]
    before = (start, start)
    for pair in (*_ascending(pairs), (old_end, new_end)):
        yield from _between(old, new, (before[0], pair[0], before[1], pair[1]))
        before = pair


def _is_lone(line: str, counts: tuple[Counter[str], Counter[str]]) -> bool:
    return counts[0][line] == 1 == counts[1][line]


def _trimmed(old: Sequence[str], new: Sequence[str], change: _Change) -> tuple[int, int, int]:
    """How many lines are the same from the beginning on, and where those begin that are the same up to the end."""
    first, old_end, second, new_end = change
    same = 0
    while first + same < old_end and second + same < new_end and old[first + same] == new[second + same]:
        same += 1
    while old_end > first + same and new_end > second + same and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    return same, old_end, new_end


def _ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """As many of the pairs, in the order of their first numbers, as have ascending second ones."""
    ends: list[int] = []  # the lowest second number that a row of each length ends with
    places: list[int] = []
    previous: list[int] = []
    for number, (_, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        ends[length : length + 1] = [second]
        places[length : length + 1] = [number]
        previous.append(places[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    number = places[-1] if places else -1
    while number >= 0:
        found.append(pairs[number])
        number = previous[number]
    return found[::-1]


def _between(old: Sequence[str], new: Sequence[str], change: _Change) -> Iterator[_Change]:
    """What is not the same between two lines that are."""
    same, old_end, new_end = _trimmed(old, new, change)
    first, second = change[0] + same, change[2] + same
    if old_end - first == new_end - second:
        begin = first
        shift = second - first
        for number in range(first, old_end + 1):
            if number == old_end or old[number] == new[number + shift]:
                if begin < number:
                    yield begin, number, begin + shift, number + shift
                begin = number + 1
    elif old_end - first + new_end - second <= _VERY_FEW:
        matcher = difflib.SequenceMatcher(None, old[first:old_end], new[second:new_end], autojunk=False)
        for tag, *places in matcher.get_opcodes():
            if tag != "equal":
                yield first + places[0], first + places[1], second + places[2], second + places[3]
    else:
        yield first, old_end, second, new_end


def _groups(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Changes that share the lines around them."""
    group: list[_Change] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * _AROUND:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(old: Sequence[str], new: Sequence[str], group: list[_Change]) -> Iterator[str]:
    first = max(0, group[0][0] - _AROUND)
    last = min(len(old), group[-1][1] + _AROUND)
    begin, end = group[0][2] - (group[0][0] - first), group[-1][3] + (last - group[-1][1])
    yield f"@@ -{_range(first, last)} +{_range(begin, end)} @@\n"
    for old_start, old_end, new_start, new_end in group:
        yield from (f" {line}" for line in old[first:old_start])
        yield from (f"-{line}" for line in old[old_start:old_end])
        yield from (f"+{line}" for line in new[new_start:new_end])
        first = old_end
    yield from (f" {line}" for line in old[first:last])


def _range(start: int, end: int) -> str:
    """Lines in the words of a diff, which counts from 1, and names the one before where there are none."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"
