"""What of a namelist stands in its script as it is, so that it can be mended there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from nmlgen.findings import Edit, Finding
from nmlgen.lift.namelists import NamelistFile
from nmlgen.script.worlds import WrittenText
from nmlgen.values import evolve

_SAFE_IN_HERE_DOCUMENTS = re.compile(r"[^$`\\]*")
_SAFE_ANYWHERE = re.compile(r"[\w.+-]*")


def only_own_text(
    findings: Iterable[Finding], files: Iterable[NamelistFile], bodies: Iterable[tuple[int, int]] = ()
) -> Iterator[Finding]:
    """The findings, without the fixes that cannot be made where the namelists are written.

    A fix changes characters that become those of a namelist one by one: no part of an expansion, nothing that was put
    in, and nothing behind a backslash. `bodies` are the here-documents of the script; outside of them a new text must
    mean nothing to the shell.
    """
    own = _OwnText(files, bodies)
    for finding in findings:
        if finding.fix is None or all(own.can_take(edit) for edit in finding.fix.edits):
            yield finding
        else:
            yield evolve(finding, fix=None)


class _OwnText:
    """The stretches of texts that go into namelists as they are."""

    def __init__(self, files: Iterable[NamelistFile], bodies: Iterable[tuple[int, int]]) -> None:
        self.bodies = tuple(bodies)
        found: dict[int, set[tuple[int, int]]] = {}
        for file in files:
            if isinstance(file.document.origin, WrittenText):
                for text, start, end in file.document.origin.own_characters():
                    found.setdefault(id(text.source), set()).add((start, end))
        self.stretches = {source: _united(sorted(stretches)) for source, stretches in found.items()}

    def can_take(self, edit: Edit) -> bool:
        """Whether an edit can be made. In a text that is no script there is nothing that stands in its way."""
        stretches = self.stretches.get(id(edit.span.source))
        if stretches is None:
            return True
        start, end = edit.span.offsets
        number = bisect_right(stretches, (start, len(edit.span.source.text))) - 1
        if number < 0 or end > stretches[number][1] or edit.span.source.text.endswith("\\", 0, start):
            return False
        is_within = any(first <= start and end <= last for first, last in self.bodies)
        safe = _SAFE_IN_HERE_DOCUMENTS if is_within else _SAFE_ANYWHERE
        return safe.fullmatch(edit.replacement) is not None


def _united(stretches: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in stretches:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
