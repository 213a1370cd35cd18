"""Findings as JSON."""

from __future__ import annotations

import json

from attrs import evolve

from nmlgen.findings import Edit, Finding, Fix, Report, Severity, Undecided, ValueCounts
from nmlgen.report.json import finding_document, report_document, to_json
from nmlgen.source import Source

FOUND = Finding("A1", "a-b", Severity.ERROR, "wrong «x»", Source("ü.yaml", "ab\tc").span(1, 4, 2), ("one", "two"))
PLACELESS = Finding("A2", "c-d", Severity.ADVICE, "slow")


def test_a_finding():
    assert finding_document(FOUND) == {
        "code": "A1",
        "name": "a-b",
        "severity": "error",
        "message": "wrong «x»",
        "notes": ["one", "two"],
        "location": {"file": "ü.yaml", "line": 1, "column": 4, "end_line": 1, "end_column": 6},
        "fix": None,
    }


def test_a_fix():
    fix = Fix("write «y»", (Edit(FOUND.span, "«y»"),), is_safe=True)
    assert finding_document(evolve(FOUND, fix=fix))["fix"] == {
        "description": "write «y»",
        "is_safe": True,
        "edits": [{"location": finding_document(FOUND)["location"], "replacement": "«y»"}],
    }


def test_a_finding_without_a_place():
    assert finding_document(PLACELESS)["location"] is None


def test_a_report():
    report = Report((FOUND,), ((PLACELESS, "known"),), (Undecided("A3", "run_nml.x"),))
    assert report_document(report) == {
        "findings": [finding_document(FOUND)],
        "suppressed": [{**finding_document(PLACELESS), "reason": "known"}],
        "undecided": [{"code": "A3", "setting": "run_nml.x", "file": None, "location": None}],
        "values": None,
    }


def test_an_empty_report():
    assert report_document(Report(())) == {"findings": [], "suppressed": [], "undecided": [], "values": None}


def test_what_is_known_of_values():
    report = Report((), values=ValueCounts(4, 2, 1, 1) + ValueCounts(1, 1))
    assert report_document(report)["values"] == {"with_expansion": 5, "certain": 3, "set": 1, "unknown": 1}


def test_text_comes_back():
    document = report_document(Report((FOUND,)))
    assert json.loads(to_json(document)) == document
    assert "«x»" in to_json(document)
