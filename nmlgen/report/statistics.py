"""How often each rule has found something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from nmlgen.findings import Finding, ValueCounts


def statistics_document(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """One entry a rule, the most frequent first; `fixable` counts the findings that have a fix."""
    given = list(findings)
    counts = Counter((finding.code, finding.name) for finding in given)
    fixable = Counter(finding.code for finding in given if finding.fix is not None)
    return [
        {"code": code, "name": name, "count": count, "fixable": fixable[code]}
        for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]


def format_statistics(findings: Iterable[Finding]) -> str:
    """The same as aligned lines: count, code, `[*]` where there is a fix, and name."""
    entries = statistics_document(findings)
    width = max((len(str(entry["count"])) for entry in entries), default=0)
    any_fixable = any(entry["fixable"] for entry in entries)
    return "\n".join(
        f"{entry['count']:>{width}}  {entry['code']}  {_mark(entry) if any_fixable else ''}{entry['name']}"
        for entry in entries
    )


def format_values(values: ValueCounts) -> str:
    """How many values with an expansion of the shell are known, in one line."""
    total = values.with_expansion
    parts = ((values.certain, "certain"), (values.set, "one of a set"), (values.unknown, "unknown"))
    shares = ", ".join(f"{count} {word} ({100 * count / total:.1f} %)" for count, word in parts)
    return f"{total} value{'s' if total != 1 else ''} with an expansion: {shares}"


def _mark(entry: dict[str, Any]) -> str:
    return "[*] " if entry["fixable"] else "[ ] "
