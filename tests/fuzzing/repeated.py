"""Any input of which one element comes as often as its place can hold: whatever looks behind each element at all the
others shows here, wherever it is."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from attrs import frozen

from fuzzing.cases import Fuzzer, changed_from

_SIZES = (60_000, 250_000, 500_000, 900_000)
_ELEMENTS = (
    rb"[^\s,;:]+[,;:]?[ \t]*",  # a word and what divides it from the next
    rb"[^\s,;:]+[,;:]?[ \t]*",
    rb"[^\n]*\n",
    rb"[^\n]*\n",
    rb"(?:[^\n]*\n){2,8}",
    rb"[({\[<][^\n(){}\[\]<>]{0,200}[)}\]>][,; ]?",
    rb"([\"'`])[^\n\"'`]{0,200}\1[,; ]?",
    rb"[A-Za-z_%.-]+[=:] ?[^\s,]*[,; ]?",
    rb"[^\w\s]+",
    rb"[^\n]",
    rb"\w+",
)


@frozen
class Repetition:
    """A text of which an element may come any number of times in its place, each with a number of its own if it is
    `counted`: `element` is in two parts, between which that stands."""

    head: bytes
    element: tuple[bytes, bytes]
    tail: bytes
    counted: bool

    def times(self, count: int) -> bytes:
        """The text with the element so many times."""
        begin, end = self.element
        numbers = (b"%d" % number if self.counted else b"" for number in range(count))
        return self.head + b"".join(begin + number + end for number in numbers) + self.tail

    def within(self, size: int) -> int:
        """How often the element fits into a text of that size in bytes."""
        length = sum(map(len, self.element)) + 4 * self.counted
        return max(1, (size - len(self.head) - len(self.tail)) // length)


def repetition(data: bytes, pick: random.Random) -> Repetition | None:
    """A text and one of its elements, sometimes two by turns; None if it has none of the kind that is picked."""
    spans = [match.span() for match in re.finditer(pick.choice(_ELEMENTS), data) if match[0]]
    if not spans:
        return None
    first, last = pick.choice(spans)
    element = data[first:last]
    if pick.random() < 0.15:
        element += data[slice(*pick.choice(spans))]
    if pick.random() < 0.15:
        element = pick.choice((b" ", b"\n", b",", b";", b"\\\n", b"|", b"&&", b"\t")) + element
    word = re.search(rb"[A-Za-z_]\w*|[0-9]+", element)
    counted = word is not None and pick.random() < 0.4
    end = word.end() if word is not None else 0
    return Repetition(data[:first], (element[:end], element[end:]), data[last:], counted)


def repeated(data: bytes, pick: random.Random) -> bytes:
    """The text with one of its elements many times in its place."""
    found = repetition(data, pick)
    return data if found is None else found.times(found.within(pick.choice(_SIZES)))


def paired(data: bytes, pick: random.Random) -> bytes:
    """The text with two of its elements, or more, each many times in its place: what holds each of one against all of
    another shows here."""
    line_ends = [match.end() for match in re.finditer(rb"\n|, ", data)]
    cuts = {pick.choice(line_ends) for _ in range(pick.choice((1, 1, 1, 2))) if line_ends}
    size = pick.choice(_SIZES) // (len(cuts) + 1)
    done: list[bytes] = []
    for begin, end in pairwise(sorted({0, *cuts, len(data)})):
        part = data[begin:end]
        found = repetition(part, pick) or repetition(part, pick)
        done.append(part if found is None else found.times(found.within(size)))
    return b"".join(done)


def paired_from(fuzzer: Fuzzer) -> Fuzzer:
    """The cases of a fuzzer, of which a file or an answer has several elements many times each."""
    return changed_from(fuzzer, paired)


def repeated_from(fuzzer: Fuzzer) -> Fuzzer:
    """The cases of a fuzzer, of which a file or an answer has an element many times."""
    return changed_from(fuzzer, repeated)
