"""What is wrong with how a namelist is read, whatever model reads it: groups, variables and values that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

from nmlgen.findings import Edit, Finding, Fix, Report, Severity, did_you_mean, nearest, suggestion
from nmlgen.models.reading import Read, foreign_groups
from nmlgen.namelist.placeholders import has_placeholder, is_named_template, is_within_placeholder
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.runtimes import READERS
from nmlgen.namelist.syntax import Group, SyntaxProblem
from nmlgen.source import Source, Span
from nmlgen.values import evolve

_AT_THE_END = ("no-final-newline", "unclosed-group", "unclosed-string")
_MARKED = re.compile(r"[@$%<{[]+[({]?\w[\w ]*[])}>@%]*[dfis]?|__\w+__|\$\{[A-Za-z_]\w*[^\w{}][^{}]*\}")
"""What templates write where something is put in later: `@word@`, `%(word)s`, `${word}`, `${word:-default}`, `<word>`,
`{{word}}`."""

_OF_VALUES = "+-.0123456789"
"""What may stand around such a mark within a value."""


class Judging:
    """Judges a namelist that was read; a model says what else is wrong in `settings`.

    `model` is what messages call it, `unknown_group` and `unreadable` are the codes of what is found here. A model that
    takes the end of the file for the end of its namelist goes on there, but in groups that are `strict`.
    """

    model = ""
    unknown_group = ""
    unreadable = ""
    strict: tuple[str, ...] = ()

    def __init__(self, read: Read, source: Source, registry: Registry, problems: Mapping[str, tuple[str, str]]) -> None:
        self.read = read
        self.source = source
        self.registry = registry
        self.problems = problems

    def report(self) -> Report:
        """What is found."""
        return Report(tuple(dict.fromkeys(self.findings())))

    def findings(self) -> Iterator[Finding]:
        """What is found in the order in which the model comes to it."""
        yield from self.groups()
        yield from self.reading()
        if not any(p.stops for group in self.read.groups.values() for p in group.errors if group.start != self.last):
            yield from self.settings()  # else nobody knows where groups end

    def settings(self) -> Iterator[Finding]:
        """What the model makes of what it has read."""
        raise NotImplementedError

    def known_elsewhere(self, _group: str, _name: str) -> str | None:
        """Which other release has a variable; None if none is known."""
        return None

    def group_elsewhere(self, _group: Group) -> str | None:
        """Which other release or build has a group; None if none is known."""
        return None

    def knows(self, _group: str) -> bool:
        """Whether the model, built otherwise, has a group that the registry does not."""
        return False

    def is_read(self, _group: str) -> bool:
        """Whether it is sure that the model reads a group."""
        return True

    def finding(
        self, code: str, severity: Severity, span: Span | None, message: str, *notes: str, fix: Fix | None = None
    ) -> Finding:
        """A finding; one without a place is about the file."""
        return Finding(code, self.problems[code][0], severity, message, span or self.source.span(1, 1), notes, fix)

    def span(self, name: str) -> Span | None:
        """Where a variable was first given a value; None where nobody did."""
        return self.read.span(name)

    def groups(self) -> Iterator[Finding]:
        """Groups that nobody looks for."""
        known = self.registry.groups
        for group in foreign_groups(self.read, self.registry):
            meant = nearest(group.name, [name for name in known if name not in self.read.groups])
            elsewhere = self.group_elsewhere(group)
            what_is = f"expected: one of {', '.join(known)}" if elsewhere is None else f"{elsewhere} has it"
            yield self.finding(
                self.unknown_group,
                Severity.WARNING,
                group.name_span,
                f"{self.model} has no namelist group {group.name} and never looks at it",
                *(did_you_mean(group.name, known) or (what_is,)),
                fix=respelt(group.name_span, group.name, meant),
            )

    def reading(self) -> Iterator[Finding]:
        """Where the Fortran runtime stops, or reads otherwise than it seems."""
        ended: set[int] = set()
        placed = {(problem.span.line, problem.span.column) for _, problem in self.read.problems if _is_untyped(problem)}
        for group, problem in self.read.problems:
            is_last = self.read.groups[group].start == self.last or self.has_no_end(problem)
            if problem.kind in _AT_THE_END and is_last and group not in self.strict:
                ended.add(problem.span.line)
                yield self.finding(
                    self.unreadable,
                    Severity.WARNING,
                    problem.span,
                    f"{problem.message}: {self.model} takes that for the end of its namelist and says nothing",
                    f"expected: {problem.expected}",
                )
            elif problem.span.line not in ended and (
                _is_untyped(problem) or (problem.span.line, problem.span.column) not in placed
            ):
                yield self.problem(group, problem)

    @cached_property
    def last(self) -> int:
        """Where the last group begins."""
        return max((group.start for group in self.read.groups.values()), default=0)

    def has_no_end(self, problem: SyntaxProblem) -> bool:
        """Whether a string that is not closed in its group is closed nowhere: the runtime looks for it on all lines."""
        start = problem.span.offsets[0]
        return problem.kind == "unclosed-string" and self.source.text.count(self.source.text[start], start + 1) == 0

    @cached_property
    def placeholders(self) -> int:
        """How many names stand where no text belongs, which something replaces later."""
        return sum(1 for _, problem in self.read.problems if _is_placeholder(problem))

    @cached_property
    def of_nobody(self) -> set[tuple[str, str]]:
        """The variables that no known release has, nor one of nearly that name, each with its group."""
        return {
            (group, name)
            for group, problem in self.read.problems
            if _is_unknown(problem)
            for name in [_name(problem)]
            if self.known_elsewhere(group, name) is None and self.read.meanings[group, name] is None
        }

    @property
    def is_of_fork(self) -> bool:
        """Whether there are several variables that no known release has."""
        return len(self.of_nobody) > 1

    @cached_property
    def groups_of(self) -> dict[str, str]:
        """The first group that has a variable of each name."""
        groups: dict[str, str] = {}
        for group in self.registry.groups:
            for name in self.registry.variables(group):
                groups.setdefault(name, group)
        return groups

    @cached_property
    def is_of_another(self) -> bool:
        """Whether the namelist seems to be for another release or a fork, or is a template: by what only those have."""
        if self.is_of_fork or self.placeholders > 1:
            return True
        unknown = ((group, _name(problem)) for group, problem in self.read.problems if _is_unknown(problem))
        if any(self.known_elsewhere(group, name) is not None for group, name in unknown):
            return True
        foreign = (group.name for group in foreign_groups(self.read, self.registry))
        known = list(self.registry.groups)
        return any(nearest(name, known) is None and not self.knows(name) for name in foreign)

    def if_meant(self, finding: Finding) -> Finding:
        """What the release makes of settings, which is no error where the namelist is for another one, or where another
        program puts in what is meant: `'@START@'`.
        """
        if finding.severity is not Severity.ERROR:
            return finding
        if finding.span is not None and has_placeholder(finding.span.text):
            return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, "is this a template?"))
        if not self.is_of_another:
            return finding
        note = f"the namelist seems to be for another release than {self.model}, or for a fork"
        return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note))

    @cached_property
    def of_the_text(self) -> frozenset[SyntaxProblem]:
        """What is wrong whatever the variables are, of all groups that are read."""
        return frozenset(problem for group in self.read.groups.values() for problem in group.errors)

    @cached_property
    def meant_for_text(self) -> set[int]:
        """Where words stand without quotes that a variable would take for its text."""
        return {problem.span.offsets[0] for _, problem in self.read.problems if problem.kind == "undelimited-text"}

    def problem(self, group: str, problem: SyntaxProblem) -> Finding:
        """What a problem of the text is to the model."""
        severity = Severity.ERROR if problem.stops and self.is_read(group) else Severity.WARNING
        if self.is_of_another and not _is_unknown(problem) and problem not in self.of_the_text:
            severity = Severity.WARNING  # another release may have the variable as another type
        notes, fix = [f"expected: {problem.expected}"], problem.fix
        is_own_name = problem.span.text.lower() in self.registry.variables(group)  # sed may put a value behind it
        is_filled_in = (
            self.placeholders > 1 or _is_marked(problem) or is_named_template(self.source.name) or is_own_name
        )
        if _is_placeholder(problem) and is_filled_in:
            severity = Severity.WARNING
            notes.append(f"{self.placeholders} such words: is this a template?")
        is_word = problem.kind == "unquoted-text" and problem.span.offsets[0] in self.meant_for_text
        readers = READERS.get("undelimited-word" if is_word else problem.kind)
        if readers is not None:
            notes.append(readers.note())
            severity = Severity.WARNING
        if _is_unknown(problem):
            name = _name(problem)
            elsewhere = self.known_elsewhere(group, name)
            there = self.groups_of.get(name)
            meant = self.read.meanings[group, name]
            if elsewhere is not None:
                severity = Severity.WARNING
                notes = [f"{elsewhere} has it; {self.model} ends at it"]
            elif there is not None:
                notes = [f"expected: in &{there}"]
                if self.is_of_fork:
                    severity = Severity.WARNING
                    notes.append(f"no known release has {len(self.of_nobody)} variables here: those of a fork?")
            elif meant is not None:
                notes, fix = [suggestion(meant)], respelt(problem.span, name, meant)
            else:
                notes = [f"expected: a variable of &{group}"]
                if self.is_of_another:
                    severity = Severity.WARNING
                    more = f", as {len(self.of_nobody) - 1} more here" if self.is_of_fork else ""
                    notes = [f"{notes[0]}; no known release has it{more}: that of a fork?"]
            message = f'&{group} of {self.model} has no variable "{name}"'
            return self.finding(self.unreadable, severity, problem.span, message, *notes, fix=fix)
        return self.finding(self.unreadable, severity, problem.span, f"{problem.message} (&{group})", *notes, fix=fix)


def _name(problem: SyntaxProblem) -> str:
    """The variable that a problem is about."""
    return problem.span.text.partition("(")[0].strip().lower()


def _is_unknown(problem: SyntaxProblem) -> bool:
    return problem.kind == "unknown-variable"


def _is_placeholder(problem: SyntaxProblem) -> bool:
    text = problem.span.text
    return _is_marked(problem) or (problem.kind == "unquoted-text" and (text.isupper() or text.isidentifier()))


def _is_marked(problem: SyntaxProblem) -> bool:
    """Whether a template marks a value, or what stands between the dots of a logical one, or behind a sign or digits:
    `<hours>`, `.<restart>.`, `-{{n}}`."""
    span = problem.span
    text = span.text.lstrip(_OF_VALUES)
    column = span.column + len(span.text) - len(text)
    is_marked = _MARKED.fullmatch(text.rstrip(_OF_VALUES)) is not None
    return is_marked or is_within_placeholder(span.source.line(span.line), column)


def _is_untyped(problem: SyntaxProblem) -> bool:
    """Whether something is wrong whatever the type of the variable."""
    return problem.kind in ("unquoted-text", "unclosed-string")


def respelt(span: Span, name: str, meant: str | None) -> Fix | None:
    """The fix of a misspelt name; None where nobody can tell what is meant."""
    if meant is None or name not in span.text.lower():
        return None
    text = span.text
    at = text.lower().index(name)
    return Fix(f"write {meant}", (Edit(span, text[:at] + meant + text[at + len(name) :]),), is_safe=True)
