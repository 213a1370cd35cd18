"""What was found in files before, for as long as nothing is changed that it was found by.

Beside what was found lies all that judging has looked at on the disk, and what it saw there (see `nmlgen.disk`), so
that it can be looked at again. What is found is taken from here only if every answer is the same as then, of the same
nmlgen with the same Python, asked the same. Each entry is a file of its own that is written whole; one that is damaged,
or that another user owns, is none. What cannot be written is not kept: nobody has to know.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from nmlgen import disk
from nmlgen._version import __version__
from nmlgen.files import Files
from nmlgen.findings import Edit, Finding, Fix, Report, Severity, Undecided, ValueCounts
from nmlgen.resources import package_files
from nmlgen.source import Source, Span

_FORMAT = 1
_ROOM = "lint"
_MOST_ENTRIES = 5000
_MOST_BYTES = 4 * 1024 * 1024  # of one entry
_SUFFIX = ".json"
_OWN = re.compile(r"[0-9a-f]{32}\.json(?:\.[0-9a-f]{12})?", re.ASCII)  # an entry, or one that was being written
_TAG = "CACHEDIR.TAG"
_IGNORED = ".gitignore"
_TAG_TEXT = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"  # https://bford.info/cachedir/
    b"# What nmlgen lint has found; `nmlgen clean` removes it, and nothing is lost.\n"
)
Key = Sequence[Any]
"""What a judgement is asked, as JSON has it."""


def default_directory(surroundings: Mapping[str, str] = os.environ) -> Path | None:
    """Where the cache lies if nobody says it: `nmlgen` in `XDG_CACHE_HOME`, else in `.cache` of the home directory.
    None where there is no home."""
    base = surroundings.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # as the specification says; another is no path of it
        return Path(base, "nmlgen")
    home = os.path.expanduser("~")
    return Path(home, ".cache", "nmlgen") if os.path.isabs(home) else None


class Cache:
    """What was found before, in a directory, which is made when there is something to keep. A project may have it
    elsewhere if it `gives_way`."""

    def __init__(self, directory: Path, *, gives_way: bool = False) -> None:
        self.directory = directory
        self.gives_way = gives_way
        self._room = directory / _ROOM
        self._has_room = False

    def at(self, directory: Path | None) -> Cache:
        """The cache that holds where a project has its own in a directory."""
        return self if directory is None or not self.gives_way else Cache(directory)

    def report(self, key: Key, files: Files, judge: Callable[[], Report]) -> Report:
        """What `judge` finds, or has found before when it was asked the same and saw the same.

        The files that were read are read by `files` in any case. What `judge` raises is raised, and not kept.
        """
        try:
            asked = [_FORMAT, _self(), os.getcwd(), *key]
            path = self._room / (disk.digest(json.dumps(asked).encode()) + _SUFFIX)
        except (OSError, TypeError):  # the directory is gone
            return judge()
        known = _read(path, asked, files)
        if known is not None:
            return known
        with disk.recorded() as looks:
            found = judge()
        if looks.repeatable:
            self._keep(path, [asked, [[*pair] for pair in looks.seen.items()], *_report_document(found, files)])
        return found

    def _keep(self, path: Path, document: list[Any]) -> None:
        try:
            body = json.dumps(document, separators=(",", ":")).encode()
        except (TypeError, ValueError):
            return
        if len(body) >= _MOST_BYTES:
            return
        with suppress(OSError):
            if not self._has_room:
                if not self.directory.exists():
                    self.directory.mkdir(mode=0o700, parents=True)
                    _put(self.directory / _TAG, _TAG_TEXT)
                    _put(self.directory / _IGNORED, b"*\n")
                self._room.mkdir(mode=0o700, exist_ok=True)
                self._make_room()
                self._has_room = True
            _put(path, disk.digest(body).encode() + b"\n" + body)

    def _make_room(self) -> None:
        """Remove the older half of the entries where there are too many."""
        entries = self._entries()
        if len(entries) < _MOST_ENTRIES:
            return
        entries.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
        for entry in entries[: len(entries) // 2]:
            with suppress(OSError):  # somebody else was quicker
                os.unlink(entry)

    def _entries(self) -> list[os.DirEntry[str]]:
        """What nmlgen has put there: files of others may lie in a directory that somebody names, too."""
        found = [entry for entry in os.scandir(self._room) if _OWN.fullmatch(entry.name)]
        return [entry for entry in found if entry.is_file(follow_symlinks=False)]

    def clean(self) -> int:
        """Remove all that nmlgen has put there, and the directory if nothing else is in it; how many entries there
        were. Raises OSError where that is not allowed."""
        count = 0
        try:
            entries = self._entries()
        except FileNotFoundError:
            return 0
        for entry in entries:
            with suppress(FileNotFoundError):
                os.unlink(entry)
                count += entry.name.endswith(_SUFFIX)
        with suppress(OSError):  # something of somebody else is in it
            self._room.rmdir()
        if not {*os.listdir(self.directory)} - {_TAG, _IGNORED}:
            for name in (_TAG, _IGNORED):
                (self.directory / name).unlink(missing_ok=True)
            self.directory.rmdir()
        return count


def _put(path: Path, data: bytes) -> None:
    """Write a file in one step. Whatever has its name, a link or a pipe, too, gives its name to it."""
    staged = path.with_name(f"{path.name}.{os.urandom(6).hex()}")
    try:
        with open(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
        os.replace(staged, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(staged)
        raise


@cache
def _self() -> list[Any]:
    """What nmlgen finds things by, beside what it is asked and sees: its own files, and what they run with."""
    own = [
        [str(path), status.st_size, status.st_mtime_ns]
        for path in package_files()
        if stat.S_ISREG((status := os.stat(path)).st_mode)
    ]
    installed = []
    for path in sys.path:
        if os.path.basename(path).endswith("-packages"):  # what is installed or removed shows in the directory's time
            with suppress(OSError):
                installed.append([path, os.stat(path).st_mtime_ns])
    told = json.dumps([own, installed]).encode()
    return [__version__, disk.digest(told), sys.version, sys.getfilesystemencoding()]


def _read(path: Path, asked: list[Any], files: Files) -> Report | None:
    """What an entry says, if it is one and all is as it was."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_size > _MOST_BYTES:
                return None
            sum_, _, body = file.read(_MOST_BYTES).partition(b"\n")
        if sum_ != disk.digest(body).encode():
            return None
        key, looks, *document = json.loads(body)
        if key != asked or not all(files.again(tuple(question)) == answer for question, answer in looks):
            return None
        return _report_of(document, files)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


class _Sources:
    """The texts that findings point into, by number: of a file that is read again its path, of any other the text."""

    def __init__(self, files: Files) -> None:
        self.paths = {id(source): str(path) for path, source in files.sources.items()}
        self.numbers: dict[int, int] = {}
        self.documents: list[list[str]] = []

    def number(self, source: Source) -> int:
        if id(source) not in self.numbers:
            self.numbers[id(source)] = len(self.documents)
            path = self.paths.get(id(source))
            self.documents.append([path] if path is not None else [source.name, source.text])
        return self.numbers[id(source)]

    def span(self, span: Span | None) -> list[int] | None:
        if span is None:
            return None
        return [self.number(span.source), span.line, span.column, span.end_line, span.end_column]

    def finding(self, finding: Finding) -> list[Any]:
        fix = finding.fix and [
            finding.fix.description,
            [[self.span(edit.span), edit.replacement] for edit in finding.fix.edits],
            finding.fix.is_safe,
        ]
        severity, span = finding.severity.value, self.span(finding.span)
        return [finding.code, finding.name, severity, finding.message, span, finding.notes, fix]


def _report_document(report: Report, files: Files) -> list[Any]:
    sources = _Sources(files)
    findings = [sources.finding(finding) for finding in report.findings]
    suppressed = [[sources.finding(finding), reason] for finding, reason in report.suppressed]
    undecided = [[item.code, item.setting, item.file, sources.span(item.span)] for item in report.undecided]
    counts = report.values and [
        *(report.values.with_expansion, report.values.certain, report.values.set, report.values.unknown)
    ]
    return [sources.documents, findings, suppressed, undecided, counts, report.parts]


def _report_of(document: list[Any], files: Files) -> Report:
    """The report that `_report_document` has told of. Raises what comes of a document that it did not make."""
    texts, findings, suppressed, undecided, counts, parts = document
    sources = [files.sources[Path(*told)] if len(told) == 1 else Source(*told) for told in texts]

    def span_of(told: list[int] | None) -> Span | None:
        return None if told is None else Span(sources[told[0]], *told[1:])

    def finding_of(told: list[Any]) -> Finding:
        code, name, severity, message, span, notes, fix = told
        mend = fix and Fix(fix[0], tuple(Edit(_there(span_of(at)), text) for at, text in fix[1]), fix[2])
        return Finding(code, name, Severity(severity), message, span_of(span), tuple(notes), mend)

    return Report(
        tuple(map(finding_of, findings)),
        tuple((finding_of(finding), reason) for finding, reason in suppressed),
        tuple(Undecided(code, setting, file, span_of(span)) for code, setting, file, span in undecided),
        None if counts is None else ValueCounts(*counts),
        tuple(parts),
    )


def _there(span: Span | None) -> Span:
    if span is None:
        raise ValueError("an edit has a place")
    return span
