"""Any input of which one element comes as often as its place can hold: whatever looks behind each element at all the
others shows here, wherever it is."""

from __future__ import annotations

import random
import re

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


def repeated(data: bytes, pick: random.Random) -> bytes:
    """The text with one of its elements many times in its place, sometimes counted, sometimes two by turns."""
    spans = [match.span() for match in re.finditer(pick.choice(_ELEMENTS), data) if match[0]]
    if not spans:
        return data
    first, last = pick.choice(spans)
    element = data[first:last]
    if pick.random() < 0.15:
        element += data[slice(*pick.choice(spans))]
    if pick.random() < 0.15:
        element = pick.choice((b" ", b"\n", b",", b";", b"\\\n", b"|", b"&&", b"\t")) + element
    count = max(1, (pick.choice(_SIZES) - len(data)) // (len(element) + 4))
    word = re.search(rb"[A-Za-z_]\w*|[0-9]+", element)
    if word is None or pick.random() < 0.6:
        return data[:first] + element * count + data[last:]
    head, tail = element[: word.end()], element[word.end() :]
    return data[:first] + b"".join(head + b"%d" % number + tail for number in range(count)) + data[last:]


def repeated_from(fuzzer: Fuzzer) -> Fuzzer:
    """The cases of a fuzzer, of which a file or an answer has an element many times."""
    return changed_from(fuzzer, repeated)
