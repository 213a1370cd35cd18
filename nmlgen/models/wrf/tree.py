"""What the WRF declares in whose tree a namelist lies: a fork has variables of its own."""

from __future__ import annotations

import re

from nmlgen.errors import InputError
from nmlgen.models.reading import Beside

_DECLARED = re.compile(r"^[ \t]*rconfig[ \t]+\w+[ \t]+(\w+)[ \t]+namelist,(\w+)", re.MULTILINE)
_INCLUDED = re.compile(r"^[ \t]*include[ \t]+([\w.-]+)", re.MULTILINE)
_RELEASE = re.compile(r"release_version[ \t]*=[ \t]*'V?([0-9]{1,4}(?:\.[0-9]{1,4})+)(?![0-9])")
_MOST_ABOVE = 5  # test/em_real/namelist.input, and what packages have in directories of theirs
_MOST_INCLUDED = 40


def declared_above(beside: Beside) -> frozenset[tuple[str, str]]:
    """Group and name of the variables that `Registry/Registry.EM_COMMON` of a directory above declares, with what it
    includes."""
    for number in range(1, _MOST_ABOVE + 1):
        registry = f"{'../' * number}Registry/"
        text = _text(beside, f"{registry}Registry.EM_COMMON")
        if text is not None:
            included = dict.fromkeys(_INCLUDED.findall(text))
            texts = [text, *(_text(beside, registry + name) or "" for name in list(included)[:_MOST_INCLUDED])]
            return frozenset((group.lower(), name.lower()) for each in texts for name, group in _DECLARED.findall(each))
    return frozenset()


def release_above(beside: Beside) -> str | None:
    """The release that `inc/version_decl` of a directory above names, such as 3.5.1; None without one."""
    for number in range(1, _MOST_ABOVE + 1):
        text = _text(beside, f"{'../' * number}inc/version_decl")
        if text is not None:
            match = _RELEASE.search(text)
            return None if match is None else match[1]
    return None


def _text(beside: Beside, name: str) -> str | None:
    try:
        source = beside(name)
    except InputError:
        return None
    return source.text if source is not None else None
