"""Findings and builds as JSON, for programs. Keys are stable; new ones may be added."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import StringIO
from math import isfinite, isnan
from typing import Any

from nmlgen.findings import Finding, Fix, Report
from nmlgen.source import Span
from nmlgen.values import asdict
from nmlgen.visible import visible_json


def finding_document(finding: Finding) -> dict[str, Any]:
    """One finding; `location` is null where there is no text to point at. Lines and columns count from 1."""
    span = finding.span
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "message": finding.message,
        "notes": list(finding.notes),
        "location": None if span is None else _location(span),
        "fix": None if finding.fix is None else _fix(finding.fix),
    }


def _location(span: Span) -> dict[str, Any]:
    return {
        "file": span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "description": fix.description,
        "is_safe": fix.is_safe,
        "edits": [{"location": _location(edit.span), "replacement": edit.replacement} for edit in fix.edits],
    }


def report_document(report: Report) -> dict[str, Any]:
    """A whole report. `values` is null where no script was read."""
    return {
        "findings": [finding_document(finding) for finding in report.findings],
        "suppressed": [{**finding_document(finding), "reason": reason} for finding, reason in report.suppressed],
        "undecided": [
            {
                "code": item.code,
                "setting": item.setting,
                "file": item.file,
                "location": None if item.span is None else _location(item.span),
            }
            for item in report.undecided
        ],
        "values": None if report.values is None else asdict(report.values),
    }


def to_json(document: Any) -> str:
    """The text of a JSON document."""
    try:
        text = _text(document)
    except ValueError:  # of a number that JSON does not have
        text = _text(_with_words_for_numbers(document))
    return visible_json(text)


def _text(document: Any) -> str:
    text = StringIO()  # `dumps` would keep all its pieces until the end
    json.dump(document, text, indent=2, ensure_ascii=False, allow_nan=False, default=_complex)
    return text.getvalue()


def _with_words_for_numbers(value: Any) -> Any:
    """Infinity and NaN as the words that Fortran writes for them: most readers of JSON know no such numbers."""
    if isinstance(value, Mapping):
        return {key: _with_words_for_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_words_for_numbers(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _complex(value: object) -> str:
    """A value of a namelist that JSON does not have, as Fortran writes it."""
    if not isinstance(value, complex):
        raise TypeError(f"{type(value).__name__} is no value of JSON")
    return f"({value.real}, {value.imag})"
