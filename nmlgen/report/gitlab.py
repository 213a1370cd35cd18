"""Findings as a Code Quality report of GitLab, which shows them in merge requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nmlgen.findings import Finding, Severity
from nmlgen.report.fingerprint import fingerprints

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.ADVICE: "info"}


def gitlab_document(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """One entry a finding; what stands nowhere is put at the first line of a file without a name."""
    given = list(findings)
    return [_entry(finding, print_) for finding, print_ in zip(given, fingerprints(given), strict=True)]


def _entry(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "check_name": finding.code,
        "description": "; ".join([f"{finding.name}: {finding.message}", *finding.notes]),
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": finding.file or "",
            "positions": {
                "begin": {"line": finding.line or 1, "column": finding.column or 1},
                "end": {
                    "line": finding.span.end_line if finding.span else 1,
                    "column": finding.span.end_column if finding.span else 1,
                },
            },
        },
    }
