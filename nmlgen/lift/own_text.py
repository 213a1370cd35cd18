"""What of a namelist stands in its script as it is, so that it can be mended there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nmlgen.findings import Edit, Finding
from nmlgen.lift.namelists import NamelistFile
from nmlgen.script.worlds import WrittenText
from nmlgen.source import Stretches
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
        self.bodies = Stretches(bodies)
        found: dict[int, set[tuple[int, int]]] = {}
        for file in files:
            if isinstance(file.document.origin, WrittenText):
                for text, start, end in file.document.origin.own_characters():
                    found.setdefault(id(text.source), set()).add((start, end))
        self.stretches = {source: Stretches(stretches) for source, stretches in found.items()}

    def can_take(self, edit: Edit) -> bool:
        """Whether an edit can be made. In a text that is no script there is nothing that stands in its way."""
        stretches = self.stretches.get(id(edit.span.source))
        if stretches is None:
            return True
        start, end = edit.span.offsets
        if not stretches.hold(start, end) or edit.span.source.text.endswith("\\", 0, start):
            return False
        safe = _SAFE_IN_HERE_DOCUMENTS if self.bodies.hold(start, end) else _SAFE_ANYWHERE
        return safe.fullmatch(edit.replacement) is not None
