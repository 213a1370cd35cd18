"""The templates of scripts, in `templates/`.

They print nothing but what was quoted for its place by a filter of `nmlgen.render.shell`: a value that went through
none of them is an error and not a hole.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from nmlgen.render import shell
from nmlgen.resources import directory


@cache
def template(name: str) -> Any:
    """The template of that name, with the filters that quote: `word`, `path`, `within` double quotes, `line` of a
    here-document, `comment`, `plain` for names that need no quotes, `joined` for several, and `e` for XML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def quoted(value: Any) -> Any:
        if isinstance(value, (shell.Quoted, Markup)) or type(value) is int:
            return value
        raise TypeError(f"a template prints {value!r}, which no filter has quoted")

    environment = Environment(
        loader=FileSystemLoader(directory("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{%#",  # "{#" is shell: ${#array[@]}
        comment_end_string="#%}",
        autoescape=False,
        optimized=False,  # what little is constant costs less than to look for it
        finalize=quoted,
    )
    environment.filters |= {
        "word": shell.shell_word,
        "path": shell.shell_path,
        "within": shell.in_double_quotes,
        "line": shell.one_line,
        "comment": shell.comment,
        "plain": shell.plain,
        "joined": shell.joined,
    }
    return environment.get_template(name)
