"""Bytes of any input that are changed without a thought for what they mean: characters cut in two, other encodings and
forms of Unicode, marks that turn the direction, numbers at the edges of machines, files cut together, lines and nests
without an end."""

from __future__ import annotations

import gzip
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from attrs import evolve

from fuzzing.cases import Case, Fuzzer

_Change = Callable[[bytes, Sequence[bytes], random.Random], bytes]
_LONGEST = 900_000


def _place(data: bytes, pick: random.Random) -> int:
    """Anywhere, or at the beginning of a line."""
    place = pick.randrange(len(data) + 1)
    return data.rfind(b"\n", 0, place) + 1 if pick.random() < 0.4 else place


def _span(data: bytes, pick: random.Random) -> tuple[int, int]:
    first = _place(data, pick)
    return first, min(len(data), first + pick.choice((1, 2, 4, 8, 30, 200, 4000)))


def _cut_together(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """The head of one and the tail of another, or a stretch of another inside."""
    other = pick.choice(others)
    if pick.random() < 0.5:
        return data[: _place(data, pick)] + other[_place(other, pick) :]
    first, last = _span(data, pick)
    begin, end = _span(other, pick)
    return data[:first] + other[begin:end] + data[last if pick.random() < 0.5 else first :]


def _bits(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(pick.choice((1, 1, 4, 32))):
        if made:
            made[pick.randrange(len(made))] ^= 1 << pick.randrange(8)
    return bytes(made)


_HALVES = (
    *(b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc3", b"\x80", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xed\xb0\x80"),
    *(
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xfe\xff",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xef\xbf\xbe",
        b"\x00",
    ),
    *(b"\xed\xa0\xbd\xed\xb8\x80", b"\xe2\x80\xa8", b"\xc2\x85", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xc2\xad", b"\r"),
    *(b"\x1b[2J", b"\x9b", b"\x1f\x8b\x08", b"\x7fELF", b"CDF\x01", b"\x89HDF\r\n\x1a\n", b"BZh9", b"%PDF", b"#!\n"),
)


def _halves(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """A part of a character, or the beginning of another kind of file."""
    place = pick.choice((0, len(data), _place(data, pick), _place(data, pick)))
    return data[:place] + pick.choice(_HALVES) * pick.choice((1, 1, 1, 7, 4000)) + data[place:]


def _number(pick: random.Random) -> str:
    whole = pick.choice(
        (2 ** pick.choice((7, 8, 15, 16, 31, 32, 53, 63, 64, 127, 128, 1024)), 10 ** pick.randrange(40))
    )
    whole = pick.choice((1, 1, -1)) * (whole + pick.choice((-1, 0, 1)))
    return pick.choice(
        (
            *(str(whole), str(whole), str(whole), hex(whole), oct(whole), f"{whole}.0", f"{whole}d0", f"+{whole}"),
            *(f"{whole}e{pick.randrange(400)}", f"0.{'0' * pick.randrange(400)}1", f"000{whole}", f"{whole:_}"),
            *(f"{whole:,}", f"{whole}:00:00", f"PT{whole}S", f"P{whole}D", f"{whole}-01-01T00:00:00Z", f"{whole}*1"),
            *("1" * pick.choice((310, 4299, 4301, 60_000)), "1e400", "-1e-400", "5e-324", "1.7976931348623157e308"),
        )
    )


def _numbers(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    found = list(re.finditer(rb"\d+", data))
    chosen = pick.sample(found, min(len(found), pick.choice((1, 1, 2, 5))))
    for match in sorted(chosen, key=re.Match.start, reverse=True):
        data = data[: match.start()] + _number(pick).encode() + data[match.end() :]
    return data


def _forms(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """Another form of Unicode, or letters with marks that a form takes together."""
    text = data.decode("utf-8", "surrogateescape")
    first = pick.randrange(len(text) + 1)
    last = pick.choice((first + 1, first + 10, len(text)))
    form = pick.choice(("NFC", "NFD", "NFKC", "NFKD"))
    wide = {number: number + 0xFEE0 for number in range(0x21, 0x7F)}
    marked = pick.choice(("\u0301", "\u0327\u0323", "\u200d", "\u200b", "\ufe0f", "\u0345" * 500))
    part = text[first:last]
    part = pick.choice(
        (part.translate(wide), marked.join(part[:2000]), unicodedata.normalize(form, part), part.upper())
    )
    return (text[:first] + part + text[last:]).encode("utf-8", "surrogateescape")


def _turned(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """A word that stands between marks of direction, some of which are never closed."""
    words = list(re.finditer(rb"[A-Za-z_]+", data))
    if not words:
        return data
    first, last = pick.choice(words).span()
    opens, closes = pick.choice(("\u202e\u202c", "\u202d\u202c", "\u2067\u2069", "\u2068\u2069", "\u200f\u200e")) + ""
    closes = closes if pick.random() < 0.5 else ""
    return data[:first] + (opens * pick.choice((1, 200))).encode() + data[first:last] + closes.encode() + data[last:]


def _long(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """A stretch that is repeated to hundreds of kilobytes, or all on one line."""
    if pick.random() < 0.2:
        return data.replace(b"\n", pick.choice((b" ", b"", b"\r", b"\\n", b";")))
    first, last = _span(data, pick)
    part = data[first:last].replace(b"\n", pick.choice((b"\n", b" ", b""))) or b"a"
    return data[:first] + part * (pick.choice((3000, 100_000, 400_000)) // len(part)) + data[last:]


_BRACKETS = (
    *((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"$(", b")"), (b"${a:-", b"}"), (b"$((", b"))"), (b'"', b'"')),
    *((b"`", b"`"), (b"- ", b""), (b"a: ", b""), (b"&a ", b"/"), (b"<!-- ", b"-->"), (b"\\", b""), (b"not ", b"")),
)


def _nested(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    first, last = _span(data, pick)
    opens, closes = pick.choice(_BRACKETS)
    depth = pick.choice((2, 30, 101, 1001, 30_000))
    closed = pick.choice((depth, depth, depth - 1, 0))
    return data[:first] + opens * depth + data[first:last] + closes * closed + data[last:]


def _recoded(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """The whole in another encoding, or compressed."""
    turn = pick.choice(
        ("utf-16", "utf-16-be", "utf-32", "utf-7", "utf-8-sig", "cp037", "latin-1", "gzip", "nul", "cut")
    )
    if turn == "gzip":
        made = gzip.compress(data, 1, mtime=0)
        return made if pick.random() < 0.5 else made[: len(made) // 2]
    if turn == "nul":
        return data + b"\0" * pick.choice((1, 4096, 500_000))
    if turn == "cut":
        return data[: pick.randrange(len(data) + 1)]
    return data.decode("utf-8", "replace").encode(turn, "replace")


_CHANGES: tuple[_Change, ...] = (
    *(_cut_together, _cut_together, _cut_together, _bits, _halves, _halves, _numbers, _numbers, _numbers),
    *(_forms, _turned, _long, _nested, _recoded),
)


def recoded(data: bytes, others: Sequence[bytes], pick: random.Random) -> bytes:
    """One to four changes."""
    for _ in range(pick.choice((1, 1, 2, 4))):
        data = pick.choice(_CHANGES)(data, others, pick)[:_LONGEST]
    return data


def recoded_from(fuzzer: Fuzzer) -> Fuzzer:
    """The cases of a fuzzer, of which one file, or two, are changed once more; its programs stay, their answers do
    not."""

    def cases(generator: random.Random) -> Iterator[Case]:
        for case in fuzzer(generator):
            answers = {name: data for name, data in case.programs.items() if name.endswith(".out")}
            named = {**case.files, **{f"bin/{name}": data for name, data in answers.items()}}
            chosen = generator.sample(sorted(named), min(len(named), generator.choice((1, 1, 2))))
            if answers:
                chosen.append(f"bin/{generator.choice(sorted(answers))}")
            made = {name: recoded(named[name], list(named.values()), generator) for name in chosen}
            files = {name: data for name, data in (case.files | made).items() if not name.startswith("bin/")}
            said = {name.removeprefix("bin/"): data for name, data in made.items() if name.startswith("bin/")}
            yield evolve(case, files=files, programs={**case.programs, **said})

    return cases
