"""Findings as workflow commands of GitHub Actions, which show them beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from nmlgen.findings import Finding, Severity
from nmlgen.visible import visible

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.ADVICE: "notice"}


def format_github(findings: Iterable[Finding]) -> str:
    """One command a line."""
    return "\n".join(_command(finding) for finding in findings)


def _command(finding: Finding) -> str:
    properties = {"title": f"{finding.code} {finding.name}"}
    if (span := finding.span) is not None:
        properties |= {"file": span.source.name, "line": str(span.line), "col": str(span.column)}
        if span.end_line == span.line:
            properties["endColumn"] = str(span.end_column)
    text = "\n".join(map(visible, [finding.message, *finding.notes]))
    joined = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {joined}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
