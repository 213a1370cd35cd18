"""The rules as their files say them: code, name, severity and page, without loading what it takes to apply them.

A rule is one class in one file of `rules/`, or of the `rules/` of a model; its page is the docstring, its code, name
and severity are written below it. So whoever only asks what there is reads that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc

from nmlgen.findings import Severity
from nmlgen.pattern import pattern
from nmlgen.values import frozen

_CLASS = pattern(
    r'^class \w+\((?:Component)?Rule\):\n    (?P<page>r?"""(?P<text>(?s:.*?))""")[^\n]*\n\n'
    r"(?P<said>    code = [^\n]*\n(?:\n|    \w+ = [^\n]*\n)*)",
    re.MULTILINE,
)
_SAID = pattern(r'^    (\w+) = (?:"([^"\n]*)"|Severity\.(\w+))$', re.MULTILINE)


@frozen
class Entry:
    """What a rule says of itself; see `rules.rule.Rule`."""

    code: str
    name: str
    severity: Severity
    since: str
    document: str

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.document.partition("\n")[0]


def modules_of_rules() -> Iterator[tuple[str, str]]:
    """The name and the file of each module with rules: it is found by being there."""
    house = os.path.dirname(__file__)
    for room in ("rules", *(f"models/{model}/rules" for model in sorted(os.listdir(f"{house}/models")))):
        files = os.listdir(f"{house}/{room}") if os.path.isdir(f"{house}/{room}") else ()
        for file in sorted(files):
            name, extension = os.path.splitext(file)
            if extension == ".py" and not name.startswith("_"):
                yield f"{__package__}.{room.replace('/', '.')}.{name}", f"{house}/{room}/{file}"


@cache
def rulebook() -> tuple[Entry, ...]:
    """Every rule, in the order of the codes."""
    texts = (_text(file) for _, file in modules_of_rules())
    found = (_entry(match) for text in texts for match in _CLASS.finditer(text))
    return tuple(sorted(found, key=lambda entry: entry.code))


def _text(file: str) -> str:
    with open(file, encoding="utf-8") as stream:
        return stream.read()


def _entry(match: re.Match[str]) -> Entry:
    said = {name: text or word for name, text, word in _SAID.findall(match["said"])}
    text = match["text"]
    if "\\" in text:
        from ast import literal_eval  # few pages have one

        text = literal_eval(match["page"])
    return Entry(said["code"], said["name"], Severity[said["severity"]], said.get("since", "0.1"), cleandoc(text))
