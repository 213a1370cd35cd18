"""Text of others, made fit to be shown."""

from __future__ import annotations

import json

import pytest

from nmlgen.findings import Finding, Severity
from nmlgen.report.github import format_github
from nmlgen.report.junit import format_junit
from nmlgen.report.text import format_finding
from nmlgen.source import Source
from nmlgen.visible import csv_cell, visible, visible_json, visible_lines


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
    assert csv_cell(text) == f"'{visible_lines(text)}"


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


def test_json_holds_no_mark_that_a_terminal_obeys():
    text = "a\x1b[2J\x85\u202eb\U000e0041\udcff\u00e9"
    shown = visible_json(json.dumps({"a": text}, ensure_ascii=False, indent=1))
    assert json.loads(shown) == {"a": text}
    assert shown == '{\n "a": "a\\u001b[2J\\u0085\\u202eb\\udb40\\udc41\\udcff\u00e9"\n}'


def test_a_cell_holds_no_command_of_a_terminal():
    assert csv_cell("a\x1b[2J\u202e\n\tb") == "a\\u001b[2J\\u202e\n\tb"


def test_no_line_of_junit_begins_with_what_others_wrote():
    span = Source(f"x{ODD}", f"line {ODD}").span(1, 1, 4)
    shown = format_junit([Finding("A1", "a", Severity.ERROR, f"m{ODD}", span, (f"n{ODD}",))])
    assert not any(line.startswith("::error") for line in shown.splitlines())
    assert visible_lines(shown) == shown
