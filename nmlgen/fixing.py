"""Mending what linting finds: texts are changed in memory and judged anew; they are written when all is done."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from nmlgen.files import Files, encode
from nmlgen.findings import Finding, Fix, Report
from nmlgen.lift.targets import Target
from nmlgen.linting import lint
from nmlgen.render.write import replace_files
from nmlgen.source import Source
from nmlgen.unified import unified_diff
from nmlgen.values import frozen
from nmlgen.visible import visible

_MOST_PASSES = 20  # a fix may bring up the next one; fixes that undo each other must come to an end


@frozen
class Fixed:
    """What came of mending: the report of what remains, how many fixes were made, and the files that change."""

    report: Report
    count: int
    changes: Mapping[Path, tuple[Source, str]]
    """Each file as it was, and its new text, by the resolved path."""

    def differences(self) -> str:
        """A unified diff that `patch` takes; empty if nothing changes."""
        return "".join(
            line
            for before, after in self.changes.values()
            for name in [visible(before.name)]
            for line in unified_diff(_lines(before.text), _lines(after), name, name)
        )

    def write(self) -> tuple[str, ...]:
        """Write the files, each whole or not at all, and return their names.

        Raises WriteError if the disk refuses, or if a file is no longer what was judged; none is written then.
        """
        replace_files({path: (encode(before.text), encode(after)) for path, (before, after) in self.changes.items()})
        return tuple(before.name for before, _ in self.changes.values())


def fix(
    paths: Iterable[str | Path],
    *,
    is_unsafe: bool = False,
    ntasks: int | None = None,
    icon_release: str | None = None,
    site: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    is_isolated: bool = False,
    is_fragment: bool | None = None,
    variables: Mapping[str, str] | None = None,
    track: Callable[[Sequence[Target]], Iterable[Target]] | None = None,
    passed_over: Callable[[str], None] | None = None,
) -> Fixed:
    """Mend what `lint` finds, with its safe fixes, or with all if `is_unsafe`; nothing is written yet.

    All else of a file stays as it is, to the last byte. Arguments and errors are those of `lint`.
    """
    given, selected, ignored = [Path(path) for path in paths], list(select), list(ignore)

    def judge(files: Files) -> Report:
        return lint(
            given,
            ntasks=ntasks,
            icon_release=icon_release,
            site=site,
            select=selected,
            ignore=ignored,
            is_isolated=is_isolated,
            is_fragment=is_fragment,
            variables=variables,
            files=files,
            track=track,
            passed_over=passed_over,
        )

    return mended(judge, given, is_unsafe=is_unsafe)


def mended(judge: Callable[[Files], Report], given: Iterable[Path], *, is_unsafe: bool = False) -> Fixed:
    """Mend what `judge` finds in some files, again and again until nothing is left to mend; nothing is written yet.

    Only files in the directories that are `given`, or in those of given files, are mended.
    """
    within = _reach(given)
    texts: dict[Path, str] = {}
    before: dict[Path, Source] = {}
    count = 0

    def judged() -> tuple[Report, Files]:
        files = Files(texts)
        report = judge(files)
        for path, source in files.sources.items():
            before.setdefault(path, source)
        return report, files

    report, files = judged()
    for _ in range(_MOST_PASSES):
        made = _apply(applicable(report.findings, is_unsafe), files, texts, within)
        if not made:
            break
        count += made
        report, files = judged()
    return Fixed(report, count, {path: (before[path], text) for path, text in sorted(texts.items())})


def applicable(findings: Iterable[Finding], is_unsafe: bool) -> list[Fix]:
    """The fixes of findings that are made: the safe ones, or all."""
    return [finding.fix for finding in findings if finding.fix is not None and (finding.fix.is_safe or is_unsafe)]


def _reach(given: Iterable[Path]) -> tuple[Path, ...]:
    """The directories in which files may be mended: those that are given, and those of given files."""
    try:
        return tuple(path.resolve() if path.is_dir() else path.resolve().parent for path in given)
    except (OSError, RuntimeError, ValueError):  # linting says what is wrong with the name
        return ()


def _apply(fixes: Iterable[Fix], files: Files, texts: dict[Path, str], within: tuple[Path, ...]) -> int:
    """Make the fixes that do not touch one another, but for what is taken away side by side, and return how many they
    were; `texts` gets the new texts.

    A fix is made whole or not at all, and only where it speaks of the text of a file itself, which lies `within` one of
    these directories: a link in a directory may lead anywhere.
    """
    paths = {
        id(source): path
        for path, source in files.sources.items()
        if any(path.is_relative_to(directory) for directory in within)
    }
    taken: dict[Path, list[tuple[int, int, str]]] = {}
    count = 0
    for found in fixes:
        if any(id(edit.span.source) not in paths for edit in found.edits):
            continue
        edits = [(paths[id(edit.span.source)], *edit.span.offsets, edit.replacement) for edit in found.edits]
        if any(_is_taken(taken.get(path, []), start, end, text) for path, start, end, text in edits):
            continue
        for path, start, end, replacement in edits:
            insort(taken.setdefault(path, []), (start, end, replacement))
        count += 1
    for path, edits_of_file in taken.items():
        texts[path] = "".join(_pieces(files.sources[path].text, edits_of_file))
    return count


def _is_taken(edits: Sequence[tuple[int, int, str]], start: int, end: int, replacement: str) -> bool:
    """Whether one of the edits, which stand in order and apart, touches a stretch of the text.

    Stretches that are taken away may lie side by side: of thousands of lines each would touch the next one.
    """
    before = bisect_right(edits, end, key=itemgetter(0))
    for first, last, text in reversed(edits[max(0, before - 2) : before]):
        if last < start:
            return False
        are_beside = first < last == start < end or start < end == first < last
        if not are_beside or text or replacement:
            return True
    return False


def _pieces(text: str, edits: list[tuple[int, int, str]]) -> Iterator[str]:
    at = 0
    for start, end, replacement in edits:
        yield text[at:start]
        yield replacement
        at = end
    yield text[at:]


def _lines(text: str) -> list[str]:
    """The lines of a text as a diff shows them, each with its end."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()
    return lines if last == "\n" else [*lines, f"{last}\\ No newline at end of file\n"]
