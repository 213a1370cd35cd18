"""What is said where ICON's time library takes two durations of one length for different ones."""

from __future__ import annotations

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.values import evolve

_LAST = "2024.10"
"""The last release whose mtime was tried; 2025.04 brought mtime 1.3.0."""


def by_parts(component: Component, finding: Finding, *, is_by_parts: bool) -> Finding:
    """A finding; where only the way in which durations are written speaks for it, a warning in releases whose library
    nobody tried."""
    if not is_by_parts or component.registry.release <= _LAST:
        return finding
    note = f"so does the time library of ICON {_LAST}; that of {component.registry.release} was not at hand"
    return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note))
