"""What a finding is known by from one version of a file to the next."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from nmlgen.findings import Finding


def fingerprints(findings: Iterable[Finding], directory: Path | None = None) -> list[str]:
    """One for each finding, all different: made of the rule, the file and the text of the line, but not of the line's
    number, so that a finding stays the same when lines are added above it. The file is named as it is, or as it is seen
    from a `directory`."""
    counts: Counter[tuple[str, str | None, str]] = Counter()
    found = []
    for finding in findings:
        line = finding.span.source.line(finding.span.line).strip() if finding.span else finding.message
        file = finding.file
        if directory is not None and file is not None:
            file = os.path.relpath(file, directory).replace(os.sep, "/")
        key = (finding.code, file, line)
        text = "\0".join((finding.code, file or "", line, str(counts[key])))
        found.append(hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32])
        counts[key] += 1
    return found
