"""Findings as SARIF 2.1.0, for code scanning services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen._version import __version__
from nmlgen.findings import Edit, Finding, Fix, Report, Severity
from nmlgen.report.fingerprint import fingerprints
from nmlgen.source import Span
from nmlgen.values import asdict

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_document(report: Report, explanations: Mapping[str, str], pages: str | None = None) -> dict[str, Any]:
    """One run with one result a finding; `explanations` maps codes to the text of their rule's page, `pages` is the URL
    of the directory where these are published: `RST001.html` and its like lie in it.

    What was suppressed is left out, because services show it all the same. What could not be decided is among the
    properties of the run.
    """
    results = report.findings
    names = {finding.code: finding.name for finding in results}
    codes = sorted(names)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "nmlgen",
                        "version": __version__,
                        "rules": [_rule(code, names[code], explanations.get(code, ""), pages) for code in codes],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(finding, codes.index(finding.code), fingerprint)
                    for finding, fingerprint in zip(results, fingerprints(results), strict=True)
                ],
                "properties": {
                    "undecided": [{"code": item.code, "setting": item.setting} for item in report.undecided],
                    "values": None if report.values is None else asdict(report.values),
                },
            }
        ],
    }


def _rule(code: str, name: str, explanation: str, pages: str | None) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code, "name": name}
    if pages is not None:
        rule["helpUri"] = f"{pages.rstrip('/')}/{code}.html"
    if explanation:
        rule["shortDescription"] = {"text": explanation.partition("\n")[0]}
        rule["help"] = {"text": explanation, "markdown": explanation}
    return rule


def _result(finding: Finding, index: int, fingerprint: str) -> dict[str, Any]:
    message = "\n".join([finding.message, *finding.notes])
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": message},
        "partialFingerprints": {"nmlgen/v1": fingerprint},
    }
    if (span := finding.span) is not None:
        region = _region(span)
        if span.end_line == span.line:
            region["endColumn"] = max(span.end_column, span.column + 1)
        result["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(span), "region": region}}]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix)]
    return result


def _fix(fix: Fix) -> dict[str, Any]:
    changes: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.span.source.name, []).append(edit)
    return {
        "description": {"text": fix.description},
        "artifactChanges": [
            {"artifactLocation": _artifact(edits[0].span), "replacements": [_replacement(edit) for edit in edits]}
            for edits in changes.values()
        ],
        "properties": {"isSafe": fix.is_safe},
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _artifact(span: Span) -> dict[str, str]:
    return {"uri": _uri(span.source.name)}


def _uri(name: str) -> str:
    from urllib.parse import quote

    return ("file://" if name.startswith("/") else "") + quote(name, errors="surrogateescape")
