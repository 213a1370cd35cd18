"""Commands for tests, written as a shell has them."""

from __future__ import annotations

import re

from nmlgen.script.words import StaticWord
from nmlgen.source import Source


def words_of(command: str) -> list[StaticWord]:
    """The words between blanks. What begins at a `$` only the running shell knows; in double quotes it is one word."""
    source = Source("job.sh", command)
    found = []
    for match in re.finditer(r'"[^"]*"|\S+', command):
        span = source.span(1, match.start() + 1, len(match[0]))
        text, dollar, _ = match[0].strip('"').partition("$")
        if dollar:
            found.append(StaticWord(None, span, beginning=text, splits=not match[0].startswith('"')))
        else:
            found.append(StaticWord(text, span))
    return found
