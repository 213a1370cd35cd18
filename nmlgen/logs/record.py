"""What really ran: the records that the batch script of a build leaves, one for each leg of a chain.

    RUN/nmlgen.records/LEG.JOB    a line each: a word and what it says

The words: leg, job, build, started, nodes, launch, module, library, executable and input (checksum, size in bytes,
path; the checksum of a large file is one of its ends, "ends:..."), exit, outcome, ended, icon (what ICON's log says of
its version, revision, repository and branch). `templates/job.sbatch.j2` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmlgen.disk import open_regular
from nmlgen.values import frozen

RECORDS = "nmlgen.records"
_NAME = re.compile(r"(\d{1,9})\.\S+")
_FILE = re.compile(r"(\S+) (\d{1,18}) (.+)")
_SHOWN = 12  # digits of a checksum
_LARGEST = 1_000_000  # bytes of a record that are read


@frozen
class RecordedFile:
    """A file that a leg used: its checksum, size in bytes and path."""

    checksum: str
    size: int
    path: str

    def __str__(self) -> str:
        kind, _, digits = self.checksum.rpartition(":")
        return f"{self.path} ({f'{kind}:' if kind else ''}{digits[:_SHOWN]})"


@frozen
class LegRecord:
    """What one leg ran: `words` are the lines of its record as word and text, in their order."""

    leg: int
    path: Path
    words: tuple[tuple[str, str], ...]

    def said(self, word: str) -> tuple[str, ...]:
        """All that the record says by one word."""
        return tuple(text for known, text in self.words if known == word)

    def files(self, word: str) -> tuple[RecordedFile, ...]:
        """The files that it names by one word."""
        found = (_FILE.fullmatch(text) for text in self.said(word))
        return tuple(RecordedFile(match[1], int(match[2]), match[3]) for match in found if match)

    @property
    def executable(self) -> RecordedFile | None:
        """The model's program."""
        return next(iter(self.files("executable")), None)


@frozen
class Ran:
    """Something that two runs ran otherwise: what it is, and what each had; None where one had none."""

    what: str
    old: str | None
    new: str | None


def records_of(path: Path) -> tuple[LegRecord, ...]:
    """The records of a run, the last of each leg, in the order of the legs: of the run's own directory, of one that
    holds it, as a build or a point of a sweep does, or of a log in it. Empty if there are none."""
    home = path if path.is_dir() else path.parent
    try:
        below = sorted(directory for directory in home.iterdir() if directory.is_dir()) if path.is_dir() else []
    except OSError:
        below = []
    for directory in (home, *below):
        if (directory / RECORDS).is_dir():
            return tuple(_read(directory / RECORDS))
    return ()


def executable_of(log: Path, leg: int | None) -> RecordedFile | None:
    """The executable that wrote a log, by the record of its leg, of the last one where the leg is not known; None
    without a record."""
    records = [record for record in records_of(log) if leg in (None, record.leg)]
    return records[-1].executable if records else None


def _read(directory: Path) -> Iterator[LegRecord]:
    last: dict[int, LegRecord] = {}
    for path in directory.iterdir():
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        try:
            with open_regular(path) as file:
                lines = file.read(_LARGEST).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        record = LegRecord(
            int(match[1]), path, tuple((word, text) for word, _, text in (x.partition(" ") for x in lines))
        )
        known = last.get(record.leg)
        if known is None or (known.said("started"), known.path.name) < (record.said("started"), record.path.name):
            last[record.leg] = record
    return (last[leg] for leg in sorted(last))


def ran_otherwise(old: Iterable[LegRecord], new: Iterable[LegRecord]) -> tuple[Ran, ...]:
    """What the last legs of two runs ran otherwise: executable, ICON's own words, modules, libraries, inputs, launch.
    Where a run has no record, nothing is known to differ."""
    left, right = (next(reversed(tuple(one)), None) for one in (old, new))
    if left is None or right is None:
        return ()
    return tuple(one for one in _pairs(left, right) if one.old != one.new)


def _pairs(left: LegRecord, right: LegRecord) -> Iterator[Ran]:
    one, other = left.executable, right.executable
    if (one and one.checksum) != (other and other.checksum):
        yield Ran("executable", _shown(one), _shown(other))
    ours, theirs = (dict(text.partition(" ")[::2] for text in record.said("icon")) for record in (left, right))
    for word in dict.fromkeys((*ours, *theirs)):
        yield Ran(f"ICON's {word}", ours.get(word), theirs.get(word))
    for word, name in (("module", "modules"), ("library", "libraries")):
        yield Ran(name, *_only_each(left.said(word), right.said(word)))
    yield from _inputs(left.files("input"), right.files("input"))
    yield Ran("launch", *(" ".join(record.said("launch")) or None for record in (left, right)))


def _only_each(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str | None, str | None]:
    """What only the one and only the other has."""
    sides = ((old, frozenset(new)), (new, frozenset(old)))
    only = [" ".join(one for one in these if one not in those) or None for these, those in sides]
    return only[0], only[1]


def _inputs(old: tuple[RecordedFile, ...], new: tuple[RecordedFile, ...]) -> Iterator[Ran]:
    """Inputs belong together by their names; one that lies elsewhere and is the same is no difference."""
    ours, theirs = ({Path(file.path).name: file for file in files} for files in (old, new))
    for name in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(name), theirs.get(name)
        if one is None or other is None or (one.checksum, one.size) != (other.checksum, other.size):
            yield Ran(f"input {name}", _shown(one), _shown(other))


def _shown(file: RecordedFile | None) -> str | None:
    return None if file is None else str(file)
