"""Diagnostics as values: what was found, how bad it is, where, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from nmlgen.source import Span
from nmlgen.values import field, frozen


class Severity(Enum):
    """How sure the harm is.

    `ERROR`: ICON aborts, Slurm rejects, the shell fails, or data are lost. `WARNING`: it runs, but slower or
    not as the author meant. `ADVICE`: it runs; there is a measured reason to do it otherwise.
    """

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"

    @property
    def rank(self) -> int:
        """0 for the worst, so that sorting by it puts errors first."""
        return list(Severity).index(self)


@frozen
class Edit:
    """One change of a text: what stands at `span` becomes `replacement`. An empty span is a place to insert."""

    span: Span
    replacement: str


@frozen
class Fix:
    """How to mend a finding in its own text.

    `description` says what is done, as in "write num_io_procs". A fix `is_safe` if what is meant cannot be anything
    else; otherwise somebody should look at it.
    """

    description: str
    edits: tuple[Edit, ...]
    is_safe: bool = False


@frozen
class Finding:
    """One diagnosis.

    `code` and `name` identify the rule ("RST001", "sync-with-restart-procs"); `span` is the text it is about
    (None where nobody wrote any); `notes` say what is expected and how to mend it; `fix` mends it.
    """

    code: str
    name: str
    severity: Severity
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    fix: Fix | None = None

    @property
    def where(self) -> str:
        """`file:line:column`, or the rule's name when there is no text to point at."""
        return str(self.span) if self.span else self.name

    @property
    def file(self) -> str | None:
        """The name of the text that the finding points into."""
        return self.span.source.name if self.span else None

    @property
    def line(self) -> int | None:
        """The line, counted from 1."""
        return self.span.line if self.span else None

    @property
    def column(self) -> int | None:
        """The column, counted from 1."""
        return self.span.column if self.span else None


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings sorted by file, position and code: the order in which a reader meets them."""
    return tuple(sorted(findings, key=lambda f: (f.file or "", f.line or 0, f.column or 0, f.code, f.message)))


@frozen
class Undecided:
    """A rule that could not be applied to a `file`: `code` and the name of the setting whose value is not known.

    `span` is where the setting was written; None where nobody wrote it.
    """

    code: str
    setting: str
    file: str | None = None
    span: Span | None = None


@frozen
class ValueCounts:
    """How many values of namelists hold an expansion of the shell, and of how many of these the value is `certain`,
    one of a `set`, or `unknown`."""

    with_expansion: int = 0
    certain: int = 0
    set: int = 0
    unknown: int = 0

    def __add__(self, other: ValueCounts) -> ValueCounts:
        return ValueCounts(
            self.with_expansion + other.with_expansion,
            self.certain + other.certain,
            self.set + other.set,
            self.unknown + other.unknown,
        )


@frozen
class Report:
    """What a check found.

    `suppressed` holds the findings that the author excused, with the reason given; `values` what is known of the
    values in scripts, None where there was none. `parts` names the files that are a part of an experiment only: the
    rules that need the rest of it wait.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, str], ...] = ()
    undecided: tuple[Undecided, ...] = field(default=())
    values: ValueCounts | None = None
    parts: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a build."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that stop a build only when strict."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)


def joined(reports: Iterable[Report]) -> Report:
    """Several reports as one; what two of them say is said once."""
    given = list(reports)
    counts = [report.values for report in given if report.values is not None]
    return Report(
        in_order(dict.fromkeys(finding for report in given for finding in report.findings)),
        tuple(dict.fromkeys(pair for report in given for pair in report.suppressed)),
        tuple(dict.fromkeys(item for report in given for item in report.undecided)),
        sum(counts[1:], start=counts[0]) if counts else None,
        tuple(dict.fromkeys(name for report in given for name in report.parts)),
    )


def some_of(words: Sequence[Any], most: int, say: Callable[[Any], str] = str) -> str:
    """The first words of a list, as many as `most`, and how many more there are."""
    more = len(words) - most
    return ", ".join(map(say, words[:most])) + (f" and {more} more" if more > 0 else "")


_MOST_KNOWN = 5_000  # ICON has four thousand output variables
_LONGEST_WORD = 1_000  # characters: each may be held against each of another word


def nearest(word: str, known: Iterable[str], most: int | None = None) -> str | None:
    """The known word that was meant, as far as one can tell: the only one that is fewest mistakes in typing away, as
    many as `most`, which is two, and one in a short word. None if there is none, or more than one, or if more words
    are known than any model has."""
    words = tuple(known)
    if len(words) > _MOST_KNOWN:
        return None
    return _nearest(word.lower(), words, (1 if len(word) <= 5 else 2) if most is None else most)


@lru_cache(maxsize=1024)
def _nearest(word: str, known: tuple[str, ...], most: int) -> str | None:
    letters, by_length = _letters(word), _by_length(known)
    near = [
        (_mistakes(word, lower, most), name)
        for length in range(len(word) - most, len(word) + most + 1)
        for name, lower, others in by_length.get(length, ())  # each letter that the other lacks is a mistake
        if (letters & ~others).bit_count() <= most and (others & ~letters).bit_count() <= most
    ]
    fewest = min((mistakes for mistakes, _ in near), default=most + 1)
    names = [name for mistakes, name in near if mistakes == fewest]
    return names[0] if len(names) == 1 and fewest <= most else None


@lru_cache(maxsize=64)
def _by_length(known: tuple[str, ...]) -> Mapping[int, Sequence[tuple[str, str, int]]]:
    """Known words, each in lower case and with its letters."""
    found: dict[int, list[tuple[str, str, int]]] = {}
    for name in known:
        found.setdefault(len(name), []).append((name, name.lower(), _letters(name.lower())))
    return found


def _letters(word: str) -> int:
    """The letters of a word, a bit each; letters that have the same bit count as one."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _mistakes(word: str, other: str, most: int) -> int:
    """How many letters are missing, too many, wrong or exchanged with their neighbour; of more than `most`, that they
    are more."""
    if abs(len(word) - len(other)) > most:
        return most + 1
    same = 0
    for letter, other_letter in zip(word, other, strict=False):
        if letter != other_letter:
            break
        same += 1
    word, other = word[same:], other[same:]
    if not word or not other or not most:
        return min(len(word) + len(other), most + 1)
    left = most - 1
    fewest = min(
        _mistakes(word[1:], other[1:], left), _mistakes(word[1:], other, left), _mistakes(word, other[1:], left)
    )
    if len(other) > 1 and word.startswith(other[1] + other[0]):
        fewest = min(fewest, _mistakes(word[2:], other[2:], left))
    return fewest + 1


_NEAR = 0.6


def did_you_mean(word: str, known: Iterable[str], cutoff: float = _NEAR) -> tuple[str, ...]:
    """A note naming the nearest known word, if one is as near as the cutoff, of which 1 is the same; of more words than
    any model has, none."""
    names = tuple(known)
    if len(names) > _MOST_KNOWN:
        return ()
    near = most_like(word.lower(), tuple(map(str.lower, names)), cutoff)
    return () if near is None else (suggestion(next(name for name in reversed(names) if name.lower() == near)),)


def suggestion(word: str) -> str:
    """What is asked of those who may have meant a word and wrote another."""
    return f'did you mean "{word}"?'


def meant(finding: Finding) -> str | None:
    """The word that `did_you_mean` asked for, where the finding marks another one, and names it last; None elsewhere:
    what is marked is then more than that word."""
    asked = [found[1] for note in finding.notes if (found := _SUGGESTION.fullmatch(note))]
    named = _NAMED.findall(finding.message)
    if len(asked) != 1 or not named or finding.span is None or finding.span.text != named[-1]:
        return None
    return asked[0]


_SUGGESTION = re.compile(r'did you mean "([^"]*)"\?')
_NAMED = re.compile(r'"([^"]*)"')


def most_like(word: str, known: Iterable[str], cutoff: float) -> str | None:
    """The known word that is most like another one, among those that are as much like it as the cutoff, of which 1 is
    the same; None if there is none, or the word is a long text."""
    return _most_like(word, tuple(known), cutoff) if len(word) <= _LONGEST_WORD else None


@lru_cache(maxsize=1024)  # a file is judged again for each release and each way of its script
def _most_like(word: str, known: tuple[str, ...], cutoff: float) -> str | None:
    from difflib import SequenceMatcher

    letters, length = _letters(word.lower()), len(word)
    bounds = []  # letters that the other lacks cannot be shared
    for other, names in _by_length(known).items():
        least, shortest = cutoff * (length + other), min(length, other)
        for name, _, others in names if 2 * shortest >= least else ():
            shared = min(shortest, length - (letters & ~others).bit_count())
            if 2 * shared >= least:
                bounds.append((2 * shared / (length + other or 1), name))
    matcher = SequenceMatcher()
    matcher.set_seq2(word)
    best: tuple[float, str] | None = None
    for bound, name in sorted(bounds, reverse=True):
        least = cutoff if best is None else best[0]
        if bound < least:
            break
        matcher.set_seq1(name)
        if matcher.quick_ratio() >= least and (ratio := matcher.ratio()) >= least:
            best = max(best or (ratio, name), (ratio, name))
    return None if best is None else best[1]
