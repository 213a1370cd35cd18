"""The variables of a script: what they are where a namelist is written, and where they are set."""

from __future__ import annotations

import re

from nmlgen.lsp.analysis import Analysis
from nmlgen.lsp.places import parameter_at
from nmlgen.script.worlds import WrittenText

Set = tuple[int, int, int]
"""Where a variable is set: the line from 1, and the offsets of the assignment."""


def values_at(analysis: Analysis, offset: int) -> list[tuple[str | None, Set | None]]:
    """What the expansion at an offset of a here-document may be, None where only a run knows, each with where it was
    set."""
    document, lifted = analysis.document, analysis.script
    found: dict[tuple[str | None, Set | None], None] = {}
    for way in lifted.ways if lifted is not None else ():
        for file in way.files:
            origin = file.document.origin
            if not isinstance(origin, WrittenText):
                continue
            for stretch in origin.stretches:
                place = stretch.piece.place
                is_here = stretch.piece.is_expansion and place.text.source.name == document.source.name
                if not is_here or not place.start <= offset <= place.end:
                    continue
                for case in stretch.piece.value:
                    where = None
                    if case.origin is not None and case.origin.text.source.name == document.source.name:
                        start = case.origin.start
                        where = (case.origin.text.position(start)[0], start, case.origin.end)
                    found[(None if case.symbols else case.text, where)] = None
    return list(found)


def settings_of(analysis: Analysis, offset: int) -> list[tuple[int, int]]:
    """Where the variable whose expansion stands at an offset is set: the offsets of the assignments.

    Within a here-document these are the ones that count there; elsewhere the last one above, else all below.
    """
    document = analysis.document
    named = parameter_at(document.source.text, offset)
    if named is None:
        return []
    known = [(where[1], where[2]) for _, where in values_at(analysis, offset) if where is not None]
    if known:
        return list(dict.fromkeys(known))
    name, start, _ = named
    found = _assigned(document.source.text, name)
    above = [place for place in found if place[0] < start]
    return above[-1:] or found


_ASSIGNING = (
    r"(?<![\w${#-])(NAME)(?:\[[^\]\n]*\])?\+?=(?!=)",
    r"\(\([ \t]*(NAME)[ \t]*[-+*/]?=(?!=)",
    r"\bfor[ \t]+(NAME)[ \t]+in\b",
    r"\bread[ \t](?:[^;|\n]*[ \t])?(NAME)(?!\w)",
)
"""What sets a variable, by its looks: name=, (( name = )), for name in, read name."""


def _assigned(text: str, name: str) -> list[tuple[int, int]]:
    """The offsets of the names where a variable is set, by the looks of the text."""
    patterns = (way.replace("NAME", re.escape(name)) for way in _ASSIGNING)
    return sorted({match.span(1) for pattern in patterns for match in re.finditer(pattern, text)})
