"""The templates of scripts, in `templates/`.

They print nothing but what was quoted for its place by a filter of `nmlgen.render.shell`: a value that went through
none of them is an error and not a hole.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from nmlgen.render import shell
from nmlgen.resources import templates

FILTERS = {
    "word": shell.shell_word,
    "path": shell.shell_path,
    "within": shell.in_double_quotes,
    "line": shell.one_line,
    "comment": shell.comment,
    "plain": shell.plain,
    "joined": shell.joined,
}
"""What quotes: a `word`, a `path`, what stands `within` double quotes, a `line` of a here-document, a `comment`, a
`plain` name that needs no quotes, and several, `joined`."""


@cache
def template(name: str) -> Any:
    """The template of that name, with the filters that quote, and `e` for XML."""
    return environment().get_template(name)


def environment() -> Any:
    """How templates are read, and what they may print."""
    made = templates(
        comment_start_string="{%#",  # "{#" is shell: ${#array[@]}
        comment_end_string="#%}",
        autoescape=False,
        optimized=False,  # what little is constant costs less than to look for it
        finalize=quoted,
    )
    made.filters |= FILTERS
    return made


def quoted(value: Any) -> str:
    """What a template prints of a value. Raises TypeError if no filter quoted it, neither for the shell nor for XML."""
    if isinstance(value, shell.Quoted) or type(value) is int or hasattr(value, "__html__"):
        return str(value)
    raise TypeError(f"a template prints {value!r}, which no filter has quoted")
