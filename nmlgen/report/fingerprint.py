"""What a finding is known by from one version of a file to the next."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from nmlgen.findings import Finding
from nmlgen.source import Source


def fingerprints(findings: Iterable[Finding], directory: Path | None = None) -> list[str]:
    """One for each finding, all different: made of the rule, the file and the text of the line, but not of the line's
    number, so that a finding stays the same when lines are added above it. The file is named as it is, or as it is seen
    from a `directory`."""
    counts: Counter[tuple[str, str | None, str]] = Counter()
    lines: dict[tuple[Source, int], str] = {}  # a long line may have many findings
    begun: dict[tuple[str, str | None, str], hashlib._Hash] = {}
    found = []
    for finding in findings:
        line = finding.message
        if finding.span is not None:
            place = finding.span.source, finding.span.line
            if place not in lines:
                lines[place] = finding.span.source.line(finding.span.line).strip()
            line = lines[place]
        file = finding.file
        if directory is not None and file is not None:
            file = os.path.relpath(file, directory).replace(os.sep, "/")
        key = (finding.code, file, line)
        if key not in begun:
            text = "\0".join((finding.code, file or "", line, ""))
            begun[key] = hashlib.sha256(text.encode("utf-8", "surrogateescape"))
        digest = begun[key].copy()
        digest.update(str(counts[key]).encode())
        found.append(digest.hexdigest()[:32])
        counts[key] += 1
    return found
