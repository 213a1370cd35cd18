"""Findings as JSON."""

from __future__ import annotations

import json

from nmlgen.findings import Finding, Report, Severity, Undecided
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
    }


def test_a_finding_without_a_place():
    assert finding_document(PLACELESS)["location"] is None


def test_a_report():
    report = Report((FOUND,), ((PLACELESS, "known"),), (Undecided("A3", "run_nml.x"),))
    assert report_document(report) == {
        "findings": [finding_document(FOUND)],
        "suppressed": [{**finding_document(PLACELESS), "reason": "known"}],
        "undecided": [{"code": "A3", "setting": "run_nml.x"}],
    }


def test_an_empty_report():
    assert report_document(Report(())) == {"findings": [], "suppressed": [], "undecided": []}


def test_text_comes_back():
    document = report_document(Report((FOUND,)))
    assert json.loads(to_json(document)) == document
    assert "«x»" in to_json(document)
