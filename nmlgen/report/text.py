"""Findings as text: the line, the offending part underlined, what was expected."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set

from nmlgen.findings import Finding, Fix, Report, Severity, Undecided
from nmlgen.report.quantities import counted
from nmlgen.source import Span
from nmlgen.visible import Shown, joined, pictured, visible

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.ADVICE: "36"}
_BLUE = "34"
_LONGEST = 500  # characters that are shown of a line
_BEFORE = 100  # of these before what is underlined


def format_findings(findings: Iterable[Finding], colour: bool = False, marked: Set[Fix | None] = frozenset()) -> str:
    """All findings, one block each, with an empty line between; empty if there are none.

    Those whose fix is among `marked` have a `[*]`, and the fix among their notes.
    """
    return joined("\n\n", (format_finding(finding, colour, marked) for finding in findings))


def format_finding(finding: Finding, colour: bool = False, marked: Set[Fix | None] = frozenset()) -> Shown:
    """One finding."""
    paint = _Paint(colour)
    tone = f"1;{_COLOURS[finding.severity]}"
    fix = finding.fix if finding.fix in marked else None
    mark = " " + paint("36", "[*]") if fix else ""
    kind = paint(tone, f"{finding.severity.value}[{finding.code}]")
    head = kind + mark + paint("1", f" {finding.name}: {visible(finding.message)}")
    width = len(str(finding.line)) if finding.span else 1
    lines = [head]
    if finding.span is not None:
        lines += _excerpt(finding.span, width, tone, paint)
    notes = (*finding.notes, f"fix: {fix.description}") if fix else finding.notes
    lines += [f"{' ' * width} {paint(_BLUE, '=')} {visible(note)}" for note in notes]
    return Shown("\n".join(lines))


def summary(report: Report) -> str:
    """One line: how many findings of each kind, how many suppressed, how many rules could not be applied."""
    counts = Counter(finding.severity for finding in report.findings)
    parts = [
        counted(counts[severity], word)
        for severity, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.ADVICE, "advice"))
        if counts[severity]
    ]
    line = ", ".join(parts) or "no findings"
    if report.suppressed:
        line += f"; {len(report.suppressed)} suppressed"
    if report.undecided:
        codes = {item.code for item in report.undecided}
        line += f"; {counted(len(codes), 'rule')} not applied (--show-undecided)"
    if report.parts:
        files = report.parts[0] if len(report.parts) == 1 else f"{len(report.parts)} files"
        line += f"; of {files} only what a part of an experiment can tell: the rest is not there"
    return line


def format_undecided(undecided: Iterable[Undecided]) -> str:
    """The rules that could not be applied, by file and by the setting whose value is not known."""
    files: dict[str | None, dict[tuple[str, Span | None], list[str]]] = {}
    for item in undecided:
        rules = files.setdefault(item.file, {}).setdefault((item.setting, item.span), [])
        if item.code not in rules:
            rules.append(item.code)
    return "\n".join(line for file, settings in files.items() for line in _not_applied(file, settings))


def _not_applied(file: str | None, settings: Mapping[tuple[str, Span | None], list[str]]) -> Iterator[str]:
    yield f"not applied in {visible(file)}:" if file else "not applied:"
    for (setting, span), codes in settings.items():
        where = f" ({visible(str(span))})" if span is not None else ""
        yield f"  {setting} is not known{where}: {', '.join(codes)}"


def _excerpt(span: Span, width: int, tone: str, paint: _Paint) -> list[str]:
    bar = paint(_BLUE, "|")
    line = span.source.line(span.line)
    start, end = span.column - 1, span.end_column - 1
    if len(line) > _LONGEST:
        line, start, end = _part(line, start, end)
    line = pictured(line)
    before = "\t".join(" " * _columns(part) for part in line[:start].split("\t"))
    length = max(1, _columns(line[start:end]))
    return [
        f"{' ' * width}{paint(_BLUE, '-->')} {visible(str(span))}",
        f"{' ' * width} {bar}",
        f"{paint(_BLUE, str(span.line))} {bar} {line}",
        f"{' ' * width} {bar} {before}{paint(tone, '^' * length)}",
    ]


def _part(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The part of a long line round what is underlined, and where that stands in it."""
    first = max(0, min(start - _BEFORE, len(line) - _LONGEST))
    last = first + _LONGEST
    dots = "..." if first else ""
    part = f"{dots}{line[first:last]}{'...' if last < len(line) else ''}"
    return part, start - first + len(dots), min(end, last) - first + len(dots)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) == "Cf":
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


class _Paint:
    """Wraps text in an ANSI colour, or leaves it alone."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text
