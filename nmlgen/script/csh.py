"""Texts of csh below a first line that names another shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.reading import shell_of
from nmlgen.script.syntax import Script

_FIRST = (
    r"(?:foreach[ \t]+\w+[ \t]*\(|setenv[ \t]+\w+[ \t]+\S|set[ \t]+[A-Za-z]\w*[ \t]*="
    r"|if[ \t]*\([^\n;]*\)[ \t]*then[ \t]*(?:\n|\Z))"
)
"""A first statement of csh that no other shell reads, or means."""
_BEGINS = re.compile(rf"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*{_FIRST}")
_OF_CSH = re.compile(
    rf"[ \t]*(?:{_FIRST}|endif[ \t]*(?:#[^\n]*)?\Z|(?:unsetenv|@)[ \t]+[A-Za-z]\w*"
    r"|else[ \t]+if[ \t]*\([^\n;]*\)[ \t]*then[ \t]*\Z)"
)
_OF_ANOTHER = re.compile(
    r"[ \t]*(?:(?:fi|done|esac|then|do)(?![^\s;|&)#])|(?:export|local|typeset|function)[ \t]"
    r"|[A-Za-z_]\w*(?:=|[ \t]*\(\))|(?:el)?if[ \t]+\[)"
)
_FEWEST = 2  # lines


def begins_as_csh(text: str) -> bool:
    """Whether the first statement of a text is one of csh."""
    return _BEGINS.match(text) is not None


def text_of_csh(script: Script) -> SyntaxProblem | None:
    """What is wrong with a script whose text is one of csh and whose first line names another shell, which stops in it,
    or does something else. One line may be a slip, or the text of another program between quotes; in that another
    shell finds nothing wrong, unless the script begins so."""
    text, shell = script.source.text, shell_of(script.source)
    if shell is None or ("endif" not in text and "set" not in text and "foreach" not in text):
        return None
    stops = any(problem.stops for problem in script.problems)
    if not stops and not begins_as_csh(text):
        return None
    lines = list(_commands(script))
    if sum(_OF_CSH.match(line) is not None for line in lines) < _FEWEST or any(map(_OF_ANOTHER.match, lines)):
        return None
    first = script.source.line(1).rstrip()
    message = f'the text is one of csh, and "{first}" has {shell} read it'
    return SyntaxProblem("text-of-csh", message, script.source.span(1, 1, len(first)), "#!/bin/csh", stops=stops)


def _commands(script: Script) -> Iterator[str]:
    """The lines of a script outside its here-documents."""
    text, at = script.source.text, 0
    for start, end in script.bodies:
        yield from text[at:start].split("\n")
        at = end
    yield from text[at:].split("\n")
