"""Which component of ICON reads a namelist file, where no master namelist says it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nmlgen.experiment.group import Group
from nmlgen.namelist.registry import Registry

NAMED = {
    "at": "atmosphere",
    "oc": "ocean",
    "la": "jsbach",
    "ln": "jsbach",
    "js": "jsbach",
    "wa": "waves",
    "te": None,
    "ha": None,
}
"""By the first letters of what a file, or the variable that names it, is called: the component."""

_FILE_NAME_PART = re.compile(
    r"(?:^|[_.-])(at|oc|la|ln|js|wa)(?:m|mo|e|ean|nd|d|b|sbach|ves?)?(?![A-Za-z])", re.IGNORECASE
)


def reader_of(name: str, groups: Iterable[Group], registry: Registry) -> str | None:
    """The component that reads a file of that name: the one whose groups, which no other reads, are the most in it;
    without any, the one that the name speaks of. None where neither says it."""
    votes = [
        readers[0]
        for group in groups
        if registry.has_group(group.name) and len(readers := registry.readers(group.name)) == 1
    ]
    if votes:
        return max(dict.fromkeys(votes), key=votes.count)
    match = _FILE_NAME_PART.search(name)
    return NAMED[match[1].lower()] if match else None
