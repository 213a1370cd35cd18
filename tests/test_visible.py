"""Text of others, made fit to be shown."""

from __future__ import annotations

import pytest

from nmlgen.findings import Finding, Severity
from nmlgen.report.github import format_github
from nmlgen.report.text import format_finding
from nmlgen.source import Source
from nmlgen.visible import csv_cell, visible, visible_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ä, 日本, e\u0301", "plain, ä, 日本, e\u0301"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("\x9b2J", "\\u009b2J"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\nb\tc\rd", "a\\u000ab\\u0009c\\u000dd"),
        ("a\u2028b", "a\\u2028b"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_nothing_is_obeyed(text, shown):
    assert visible(text) == shown
    assert visible_lines(text) == shown.replace("\\u000a", "\n").replace("\\u0009", "\t")


@pytest.mark.parametrize("text", ["=1+1", "+cmd|x", "-x", "@a", "\t=1", "\r=1", "\n=1", "--", "-1-1"])
def test_no_cell_begins_a_formula(text):
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a", "-1", "+1.5e-3", "-.5", "a=1", "1+1", "2000-01-01"])
def test_other_cells_stay(text):
    assert csv_cell(text) == text


ODD = "a\n::error::b\x1b[2Jc\u202ed\r\x9b1m"


@pytest.mark.parametrize("show", [format_finding, lambda finding: format_github([finding])])
def test_a_finding_shows_names_and_texts_of_others(show):
    span = Source(f"x{ODD}", f"line {ODD}").span(1, 1, 3)
    text = show(Finding("ABC001", "name", Severity.ERROR, f"it is {ODD}", span, (f"note {ODD}",)))
    assert visible_lines(text) == text
    assert "\r" not in text
    assert not any(line.startswith("::error::") for line in text.splitlines())
