"""A baseline: what lint finds in scripts today, so that only what is new is reported from now on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from nmlgen.disk import parsed, read_bytes
from nmlgen.errors import InputError
from nmlgen.files import decode, encode
from nmlgen.findings import Report
from nmlgen.report.fingerprint import fingerprints
from nmlgen.values import evolve
from nmlgen.writing import write_whole

_FORMAT = 1


def write_baseline(path: Path, report: Report) -> int:
    """Write what a report finds, and return how much that is. Raises WriteError if the disk refuses.

    Files are named as they are seen from the baseline's directory, and lines by their text: a finding stays the same
    when lines are added above it.
    """
    found = {
        fingerprint: f"{finding.code} {finding.message}"
        for fingerprint, finding in zip(fingerprints(report.findings, path.parent), report.findings, strict=True)
    }
    document = {"nmlgen_baseline": _FORMAT, "findings": dict(sorted(found.items(), key=lambda item: item[::-1]))}
    write_whole(path, encode(json.dumps(document, indent=2, ensure_ascii=False) + "\n"))
    return len(found)


def read_baseline(path: Path) -> Mapping[str, str]:
    """What a baseline holds. Raises InputError if there is none, or if it is something else."""
    try:
        document = parsed(decode(read_bytes(path)))
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        document = None
    if not isinstance(document, dict) or document.get("nmlgen_baseline") != _FORMAT:
        raise InputError(f"{path} is no baseline; nmlgen lint --write-baseline {path} makes one")
    found = document.get("findings")
    if not isinstance(found, dict):
        raise InputError(f"{path} is no baseline: it has no findings")
    return found


def beyond(report: Report, baseline: Mapping[str, str], directory: Path) -> Report:
    """What of a report is not in a baseline that lies in that directory."""
    prints = fingerprints(report.findings, directory)
    pairs = zip(prints, report.findings, strict=True)
    return evolve(report, findings=tuple(finding for fingerprint, finding in pairs if fingerprint not in baseline))
