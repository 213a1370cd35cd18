"""Findings as SARIF 2.1.0, for code scanning services."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nmlgen._version import __version__
from nmlgen.findings import Finding, Severity

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_document(findings: Iterable[Finding], explanations: Mapping[str, str]) -> dict[str, Any]:
    """One run with one result a finding; `explanations` maps codes to the text of their rule's page."""
    results = list(findings)
    names = {finding.code: finding.name for finding in results}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "nmlgen",
                        "version": __version__,
                        "rules": [_rule(code, names[code], explanations.get(code, "")) for code in sorted(names)],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding) for finding in results],
            }
        ],
    }


def _rule(code: str, name: str, explanation: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code, "name": name}
    if explanation:
        rule["shortDescription"] = {"text": explanation.partition("\n")[0]}
        rule["help"] = {"text": explanation, "markdown": explanation}
    return rule


def _result(finding: Finding) -> dict[str, Any]:
    message = "\n".join([finding.message, *finding.notes])
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVELS[finding.severity],
        "message": {"text": message},
    }
    if (span := finding.span) is not None:
        region = {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": max(span.end_column, span.column + 1) if span.end_line == span.line else span.end_column,
        }
        result["locations"] = [
            {"physicalLocation": {"artifactLocation": {"uri": _uri(span.source.name)}, "region": region}}
        ]
    return result


def _uri(name: str) -> str:
    from urllib.parse import quote

    return ("file://" if name.startswith("/") else "") + quote(name, errors="surrogateescape")
