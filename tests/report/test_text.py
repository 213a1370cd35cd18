"""Findings as text, to the letter."""

from __future__ import annotations

import pytest

from nmlgen.findings import Finding, Report, Severity, Undecided
from nmlgen.report.text import format_finding, format_findings, summary
from nmlgen.source import Source


def finding(text: str, line: int, column: int, length: int = 1, *notes: str):
    span = Source("f.yaml", text).span(line, column, length)
    return Finding("ABC123", "a-name", Severity.ERROR, "it is wrong", span, notes)


def test_plain():
    found = finding("job:\n  nodes: four\n", 2, 10, 4, "expected: an integer", 'did you mean "4"?')
    assert format_finding(found) == (
        "error[ABC123] a-name: it is wrong\n"
        " --> f.yaml:2:10\n"
        "  |\n"
        "2 |   nodes: four\n"
        "  |          ^^^^\n"
        "  = expected: an integer\n"
        '  = did you mean "4"?'
    )


def test_without_a_place():
    found = Finding("ABC123", "a-name", Severity.WARNING, "name is not set", None, ("set it",))
    assert format_finding(found) == "warning[ABC123] a-name: name is not set\n  = set it"


def test_tabs_stay_tabs_under_the_line():
    assert format_finding(finding("a:\t\tbad", 1, 5, 3)).splitlines()[3:] == ["1 | a:\t\tbad", "  |   \t\t^^^"]


def test_wide_line_numbers():
    found = finding("\n" * 1233 + "  bad: 1", 1234, 3, 3, "a note")
    assert format_finding(found) == (
        "error[ABC123] a-name: it is wrong\n    --> f.yaml:1234:3\n     |\n1234 |   bad: 1\n     |   ^^^\n     = a note"
    )


def test_wide_characters():
    """The caret stands below the text on a terminal, where these take two columns, one and none."""
    text = "漢字: e\u0301 bad"
    assert format_finding(finding(text, 1, 8, 3)).splitlines()[4] == "  | " + " " * 8 + "^^^"
    assert format_finding(finding(text, 1, 1, 2)).splitlines()[4] == "  | ^^^^"


def test_control_characters_do_not_reach_the_terminal():
    assert "\x1b" not in format_finding(finding("a: \x1b[31m\x07", 1, 4))
    assert format_finding(finding("a: \x1b[31m", 1, 4)).splitlines()[3] == "1 | a: ␛[31m"


@pytest.mark.parametrize(
    ("text", "line", "column", "length", "shown"),
    [
        ("abc", 1, 4, 1, "  |    ^"),
        ("abc", 1, 2, 99, "  |  ^^"),
        ("abc", 2, 1, 1, "  | ^"),
        ("", 1, 1, 1, "  | ^"),
        ("abc\r\ndef", 2, 1, 3, "  | ^^^"),
    ],
)
def test_the_caret_at_the_edges(text, line, column, length, shown):
    assert format_finding(finding(text, line, column, length)).splitlines()[4] == shown


def test_colour():
    assert format_finding(finding("bad", 1, 1, 3, "a note"), colour=True) == (
        "\x1b[1;31merror[ABC123]\x1b[0m\x1b[1m a-name: it is wrong\x1b[0m\n"
        " \x1b[34m-->\x1b[0m f.yaml:1:1\n"
        "  \x1b[34m|\x1b[0m\n"
        "\x1b[34m1\x1b[0m \x1b[34m|\x1b[0m bad\n"
        "  \x1b[34m|\x1b[0m \x1b[1;31m^^^\x1b[0m\n"
        "  \x1b[34m=\x1b[0m a note"
    )


def test_several():
    one = Finding("A", "a-b", Severity.ADVICE, "x")
    assert format_findings([one, one]) == "advice[A] a-b: x\n\nadvice[A] a-b: x"
    assert format_findings([]) == ""


@pytest.mark.parametrize(
    ("counts", "suppressed", "undecided", "text"),
    [
        ((0, 0, 0), 0, 0, "no findings"),
        ((1, 0, 0), 0, 0, "1 error"),
        ((2, 1, 3), 0, 0, "2 errors, 1 warning, 3 advice"),
        ((0, 2, 0), 1, 0, "2 warnings; 1 suppressed"),
        ((0, 0, 0), 0, 1, "no findings; 1 rule not applied (--show-undecided)"),
        ((0, 0, 1), 2, 7, "1 advice; 2 suppressed; 3 rules not applied (--show-undecided)"),
    ],
)
def test_summary(counts, suppressed, undecided, text):
    findings = [
        Finding("A", "a-b", severity, "x")
        for severity, count in zip(Severity, counts, strict=True)
        for _ in range(count)
    ]
    excused = tuple((Finding("A", "a-b", Severity.ERROR, "x"), "why") for _ in range(suppressed))
    report = Report(tuple(findings), excused, tuple(Undecided(f"A{number % 3}", "b") for number in range(undecided)))
    assert summary(report) == text


@pytest.mark.parametrize(
    ("size", "column", "shown"),
    [(500, 10, 500), (501, 10, 503), (100_000, 1, 503), (100_000, 50_000, 506), (100_000, 99_990, 503)],
)
def test_of_a_long_line_a_part_is_shown(size, column, shown):
    source = Source("a", "x" * (column - 1) + "!" + "y" * (size - column))
    text = format_finding(Finding("A1", "name", Severity.ERROR, "message", source.span(1, column)))
    line, mark = text.split("\n")[3:5]
    assert len(line) == len("1 | ") + shown
    assert line[mark.index("^")] == "!"
