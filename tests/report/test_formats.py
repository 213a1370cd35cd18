"""Findings for code scanning services and for GitHub Actions."""

from __future__ import annotations

from nmlgen.findings import Finding, Severity
from nmlgen.report.github import format_github
from nmlgen.report.sarif import sarif_document
from nmlgen.source import Source

SOURCE = Source("runs/exp 1/NAMELIST", "&io_nml\n a = 1\n/\n")
FINDINGS = (
    Finding(
        "RST001", "sync-with-restart-procs", Severity.ERROR, "50 % wrong", SOURCE.span(2, 6), ("expected: 0, or 1",)
    ),
    Finding("SLM007", "account-missing", Severity.WARNING, "no account"),
)


def test_sarif():
    document = sarif_document(FINDINGS, {"RST001": "A page.\n\nMore."})
    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["RST001", "SLM007"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"] == {"text": "A page."}
    first, second = run["results"]
    assert (first["ruleId"], first["level"]) == ("RST001", "error")
    assert first["message"]["text"] == "50 % wrong\nexpected: 0, or 1"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "runs/exp%201/NAMELIST"
    assert place["region"] == {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 7}
    assert second["level"] == "warning"
    assert "locations" not in second


def test_github():
    first, second = format_github(FINDINGS).splitlines()
    assert first == (
        "::error title=RST001 sync-with-restart-procs,file=runs/exp 1/NAMELIST,line=2,col=6,endColumn=7"
        "::50 %25 wrong%0Aexpected: 0, or 1"
    )
    assert second == "::warning title=SLM007 account-missing::no account"


def test_nothing_found():
    assert format_github(()) == ""
    assert sarif_document((), {})["runs"][0]["results"] == []
