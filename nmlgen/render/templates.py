"""The templates of shell scripts, in `templates/`."""

from __future__ import annotations

from functools import cache
from typing import Any

from nmlgen.render.shell import shell_path, shell_word
from nmlgen.resources import directory


@cache
def template(name: str) -> Any:
    """The template of that name, with the filters `word` and `path`, which make shell words of values."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(directory("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="{%#",  # "{#" is shell: ${#array[@]}
        comment_end_string="#%}",
        autoescape=False,
    )
    environment.filters["word"] = shell_word
    environment.filters["path"] = shell_path
    return environment.get_template(name)
