"""The author's word that a finding is not to be reported, and why.

In a comment of a namelist, a script or a spec:

    ! nmlgen: ignore[NML003] reason            at the end of a line: for that line; alone on a line: for the next one
    # nmlgen: ignore-file[RST001, OUT003] reason    anywhere: for the file

A suppression without a reason, of a rule that does not exist, or of a rule that finds nothing there is itself a
finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

from nmlgen.findings import Edit, Finding, Fix, Report, Severity, did_you_mean, in_order, some_of
from nmlgen.pattern import pattern
from nmlgen.source import Source, Span, Text
from nmlgen.values import evolve, frozen

PROBLEMS = {
    "SPC009": (
        "unused-suppression",
        "A suppression excuses a finding that is not there. It would hide the next one, for which nobody gave a "
        "reason.",
    ),
    "SPC010": ("unknown-rule", "A suppression names a rule that does not exist, so it suppresses nothing."),
    "SPC011": (
        "incomplete-suppression",
        "A comment that would suppress a finding names no rule or gives no reason, so it suppresses nothing.",
    ),
}
"""Code to name and explanation."""

_MOST_GUESSED = 500  # comments of which rules may be meant that there are not
_MOST_SHOWN = 5  # rules of one comment

_Place = tuple[str, int | None, str | None]

_DIRECTIVE = pattern(r"[#!]\s*nmlgen:\s*ignore(?P<whole>-file)?(?![\w-])\s*(?P<rest>.*?)\s*$")
_LINE_END = pattern(r"[ \t]*(?:\r\n|\r|\n|\Z)")
_RULES_AND_REASON = pattern(r"\[(?P<rules>[^\]]*)\]\s*(?P<reason>.*)")


@frozen
class Suppression:
    """One rule, by its code or name, that is not to be reported in `files`, given by their names, and why.

    With a `line` it holds for findings on that line only, without `files` for all. One without a `rule` or without a
    reason holds for nothing. `span` is where it stands; `removal` what to delete in order to be rid of it, None where
    that would take something else with it. One that is not `is_needed` may be there although it finds nothing.
    """

    rule: str
    reason: str
    span: Span | None
    files: frozenset[str] | None = None
    line: int | None = None
    removal: Span | None = None
    is_needed: bool = True

    @property
    def holds(self) -> Iterator[_Place]:
        """What it holds for, by rule, line and file; None for any line or file."""
        if self.reason:
            yield from ((self.rule, self.line, file) for file in (self.files if self.files is not None else (None,)))


def suppressions_in(source: Source, comments: Iterable[tuple[int, str]]) -> Iterator[Suppression]:
    """The suppressions in comments, each given by its offset in the text and its characters, the `#` or `!` included.

    What cannot be read as one is a suppression without a rule.
    """
    text = Text(source)
    for offset, comment in comments:
        match = _DIRECTIVE.search(comment) if "nmlgen:" in comment else None
        if match is None:
            continue
        start, end = offset + match.start(), offset + match.end("rest")
        line = text.position(start)[0]
        is_alone = not source.text[text.line_start(start) : start].strip()
        where = None if match["whole"] else line + 1 if is_alone else line
        parts = _RULES_AND_REASON.match(match["rest"])
        rules = [rule.strip() for rule in parts["rules"].split(",") if rule.strip()] if parts else []
        reason = parts["reason"].strip() if parts else ""
        removal = _removal(text, start, end) if len(rules) == 1 else None
        for rule in rules or [""]:
            yield Suppression(rule, reason, text.span(start, end), frozenset({source.name}), where, removal)


def _removal(text: Text, start: int, end: int) -> Span | None:
    """A comment with the blanks before it, or with its line if nothing else stands there.

    Behind a comma or an equals sign a comment of a namelist stands for a value.
    """
    line_start = text.line_start(start)
    before = text.text[line_start:start].rstrip(" \t")
    if before.endswith((",", "=")):
        return None
    if before:
        return text.span(line_start + len(before), end)
    line_end = _LINE_END.match(text.text, end)
    return text.span(line_start, line_end.end() if line_end else end)


def excuse(report: Report, suppressions: Iterable[Suppression], rules: Mapping[str, str]) -> Report:
    """The report after the suppressions were obeyed, with a finding for each that is of no use.

    `rules` has the name of each code that can be suppressed. A suppression of a rule that could not be applied may
    yet be of use.
    """
    given = tuple(dict.fromkeys(suppressions))
    first: dict[_Place, int] = {}  # of several that hold for the same
    for number, suppression in enumerate(given):
        for place in suppression.holds:
            first.setdefault(place, number)
    kept: list[Finding] = []
    excused: list[tuple[Finding, str]] = []
    used: set[_Place] = set()
    for finding in report.findings:
        matching = {place: first[place] for place in _places(finding) if place in first}
        used.update(matching)
        if matching:
            excused.append((finding, given[min(matching.values())].reason))
        else:
            kept.append(finding)
    undecided = {word for item in report.undecided for word in (item.code, rules.get(item.code))}
    names = dict.fromkeys(word for pair in rules.items() for word in pair)
    useless: dict[tuple[str, Span | int], list[Suppression]] = {}  # by what is wrong, and the comment
    for number, suppression in enumerate(given):
        may_find = suppression.rule in undecided or not suppression.is_needed
        if used.isdisjoint(suppression.holds) and not (may_find and suppression.reason):
            useless.setdefault((_fault(suppression, names), suppression.span or number), []).append(suppression)
    kept += (
        _useless(code, together, names, guesses=number < _MOST_GUESSED)
        for number, ((code, _), together) in enumerate(useless.items())
    )
    return evolve(report, findings=in_order(kept), suppressed=(*report.suppressed, *excused))


def _places(finding: Finding) -> Iterator[_Place]:
    """What suppressions that excuse a finding hold for."""
    return product((finding.code, finding.name), (finding.line, None), (finding.file, None))


def _fault(suppression: Suppression, names: Collection[str]) -> str:
    """The code of what is wrong with one that is of no use."""
    if not suppression.rule or not suppression.reason:
        return "SPC011"
    return "SPC009" if suppression.rule in names else "SPC010"


def _useless(code: str, together: Sequence[Suppression], names: Collection[str], *, guesses: bool) -> Finding:
    """What is told of the suppressions of one comment that have one fault."""
    first, rules = together[0], [*dict.fromkeys(one.rule for one in together)]
    if code == "SPC011":
        message = "a suppression names a rule and gives a reason"
        return _problem(code, Severity.ERROR, message, first.span, "expected: nmlgen: ignore[CODE] and the reason")
    if code == "SPC010":
        quoted = [f'"{rule}"' for rule in rules]
        message = f"there {'are no rules' if quoted[1:] else 'is no rule'} {some_of(quoted, _MOST_SHOWN)} to suppress"
        notes = [note for rule in rules[:_MOST_SHOWN] for note in did_you_mean(rule, names)] if guesses else []
        return _problem(code, Severity.ERROR, message, first.span, *notes)
    verbs = "are suppressed here and find" if rules[1:] else "is suppressed here and finds"
    found = _problem(
        code, Severity.WARNING, f"{some_of(rules, _MOST_SHOWN)} {verbs} nothing", first.span, "remove the suppression"
    )
    if first.removal is None:
        return found
    return evolve(found, fix=Fix("remove the suppression", (Edit(first.removal, ""),), is_safe=True))


def _problem(code: str, severity: Severity, message: str, span: Span | None, *notes: str) -> Finding:
    return Finding(code, PROBLEMS[code][0], severity, message, span, notes)
