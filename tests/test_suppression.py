"""Suppressions in comments: where they hold, and what is said of those that are of no use."""

from __future__ import annotations

import pytest

from nmlgen.findings import Finding, Report, Severity, Undecided
from nmlgen.source import Source
from nmlgen.suppression import Suppression, excuse, suppressions_in

RULES = {"AAA001": "first-rule", "AAA002": "second-rule"}


def comments(source: Source) -> list[tuple[int, str]]:
    """The comments of a text in which every `#` begins one."""
    found = []
    for start, line in zip(source.line_starts, source.lines, strict=True):
        if "#" in line:
            found.append((start + line.index("#"), line[line.index("#") :]))
    return found


def read(text: str) -> list[Suppression]:
    source = Source("script", text)
    return list(suppressions_in(source, comments(source)))


def judged(text: str, *places: tuple[str, int], undecided: tuple[str, ...] = ()) -> Report:
    """The report on a text with a finding of a rule at each line given."""
    source = Source("script", text)
    found = tuple(Finding(code, RULES[code], Severity.ERROR, "wrong", source.span(line, 1, 0)) for code, line in places)
    report = Report(found, undecided=tuple(Undecided(code, "x") for code in undecided))
    return excuse(report, suppressions_in(source, comments(source)), RULES)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a=1 # nmlgen: ignore[AAA001] why\nb=2\n", 1),
        ("a=1 # nmlgen: ignore [first-rule]   why  \r\nb=2\r\n", 1),
        ("a=1 # it is so. # nmlgen: ignore[AAA001] why\nb=2\n", 1),
        ("a=1 #nmlgen:ignore[AAA001] why\nb=2\n", 1),
        ("# nmlgen: ignore[AAA001] why\na=1\n", 2),
        ("\t # nmlgen: ignore[AAA001] why\na=1\n", 2),
        ("a=1\nb=2\n# nmlgen: ignore-file[AAA001] why\n", 1),
        ("a=1\nb=2 # nmlgen: ignore-file[AAA001] why", 1),
    ],
)
def test_where_it_holds(text, line):
    report = judged(text, ("AAA001", line))
    assert report.findings == ()
    assert [reason for _, reason in report.suppressed] == ["why"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a=1 # nmlgen: ignore[AAA001] why\nb=2\n", 2),
        ("# nmlgen: ignore[AAA001] why\na=1\nb=2\n", 3),
        ("a=1 # nmlgen: ignore[AAA002] why\n", 1),
    ],
)
def test_where_it_does_not_hold(text, line):
    report = judged(text, ("AAA001", line))
    assert sorted(finding.code for finding in report.findings) == ["AAA001", "SPC009"]
    assert report.suppressed == ()


def test_a_namelist_has_other_comments():
    source = Source("NAMELIST", "&a\n x = 1 ! nmlgen: ignore[AAA001] why\n/\n")
    (suppression,) = suppressions_in(source, [(10, "! nmlgen: ignore[AAA001] why")])
    assert (suppression.rule, suppression.reason, suppression.line) == ("AAA001", "why", 2)
    assert suppression.span.text == "! nmlgen: ignore[AAA001] why"
    assert suppression.removal.text == " ! nmlgen: ignore[AAA001] why"


@pytest.mark.parametrize(
    "text", ["# nmlgen: 1\n", "# nmlgen makes this\n", "# ignore[AAA001]\n", "# nmlgen: ignored\n"]
)
def test_what_is_none(text):
    assert read(text) == []


@pytest.mark.parametrize(
    "text", ["ignore", "ignore[AAA001]", "ignore[] why", "ignore[ , ] why", "ignore why", "ignore["]
)
def test_one_that_is_not_complete(text):
    (finding, problem) = judged(f"a=1 # nmlgen: {text}\n", ("AAA001", 1)).findings
    assert (finding.code, problem.code, problem.severity) == ("AAA001", "SPC011", Severity.ERROR)
    assert (problem.line, problem.column) == (1, 5)


def test_one_without_a_reason_is_found_though_its_rule_could_not_be_applied():
    report = judged("# nmlgen: ignore[AAA001]\n", undecided=("AAA001",))
    assert [finding.code for finding in report.findings] == ["SPC011"]


def test_unknown_rules():
    (problem,) = judged("a=1 # nmlgen: ignore[first-rul] why\n").findings
    assert (problem.code, problem.notes) == ("SPC010", ('did you mean "first-rule"?',))


def test_one_that_finds_nothing_can_be_removed():
    (problem,) = judged("a=1\n  # nmlgen: ignore[AAA001] why\nb=2\n").findings
    assert (problem.code, problem.severity) == ("SPC009", Severity.WARNING)
    (edit,) = problem.fix.edits
    assert problem.fix.is_safe
    assert edit.span.text == "  # nmlgen: ignore[AAA001] why\n"


def test_a_comment_that_stands_for_a_value_stays():
    source = Source("NAMELIST", "&a\n x = 1, ! nmlgen: ignore[AAA001] why\n 2 /\n")
    (suppression,) = suppressions_in(source, [(11, "! nmlgen: ignore[AAA001] why")])
    assert suppression.removal is None


def test_of_several_rules_one_may_find_nothing():
    report = judged("a=1 # nmlgen: ignore[AAA001,AAA002] why\n", ("AAA001", 1))
    (problem,) = report.findings
    assert (problem.code, problem.fix) == ("SPC009", None)
    assert len(report.suppressed) == 1


@pytest.mark.parametrize("rule", ["AAA001", "first-rule"])
def test_a_rule_that_could_not_be_applied_may_yet_find_something(rule):
    assert judged(f"a=1 # nmlgen: ignore[{rule}] why\n", undecided=("AAA001",)).findings == ()


def test_other_files_are_not_meant():
    source, other = Source("script", "# nmlgen: ignore-file[AAA001] why\n"), Source("other", "a=1\n")
    report = Report((Finding("AAA001", "first-rule", Severity.ERROR, "wrong", other.span(1, 1)),))
    assert len(excuse(report, suppressions_in(source, comments(source)), RULES).findings) == 2


def test_of_very_many_rules_that_are_none_some_are_guessed():
    text = "".join(f"a=1 # nmlgen: ignore[AAA00{number}x] why\n" for number in range(1000, 1600))
    report = judged(text)
    assert len(report.findings) == 600
    assert [bool(finding.notes) for finding in report.findings] == [True] * 500 + [False] * 100


def test_rules_of_one_comment_are_told_of_together():
    rules = [f"AAA00{number}x" for number in range(1000)]
    report = judged(f"a=1 # nmlgen: ignore[first-rule,{','.join(rules)},second-rule] why\n")
    assert [(finding.code, finding.message) for finding in report.findings] == [
        ("SPC009", "first-rule, second-rule are suppressed here and find nothing"),
        ("SPC010", 'there are no rules "AAA000x", "AAA001x", "AAA002x", "AAA003x", "AAA004x" and 995 more to suppress'),
    ]
