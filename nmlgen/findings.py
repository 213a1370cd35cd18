"""Diagnostics as values: what was found, how bad it is, where, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import Enum

from attrs import field, frozen

from nmlgen.source import Span


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
class Finding:
    """One diagnosis.

    `code` and `name` identify the rule ("RST001", "sync-with-restart-procs"); `span` is the text it is about
    (None where nobody wrote any); `notes` say what is expected and how to mend it.
    """

    code: str
    name: str
    severity: Severity
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()

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


def in_order(findings: Iterator[Finding] | tuple[Finding, ...] | list[Finding]) -> tuple[Finding, ...]:
    """The findings sorted by file, position and code: the order in which a reader meets them."""
    return tuple(sorted(findings, key=lambda f: (f.file or "", f.line or 0, f.column or 0, f.code, f.message)))


@frozen
class Undecided:
    """A rule that could not be applied: `code` and the name of the setting whose value is not known."""

    code: str
    setting: str


@frozen
class Report:
    """What a check found. `suppressed` holds the findings that the author excused, with the reason given."""

    findings: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, str], ...] = ()
    undecided: tuple[Undecided, ...] = field(default=())

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a build."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that stop a build only when strict."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)


def did_you_mean(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """A note naming the nearest known word, if one is near."""
    choices = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), choices, n=1, cutoff=0.6)
    return (f'did you mean "{choices[near[0]]}"?',) if near else ()
