"""What to write instead of a name that is gone, where its value means one thing: an edit of the author's own text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Edit, Fix
from nmlgen.namelist.registry import Removal
from nmlgen.namelist.writer import write_value
from nmlgen.source import Source, Span, Text

_YAML = (".yaml", ".yml")
_SEPARATOR = re.compile(r"[ \t]*[,;]?[ \t]*")


def successor(setting: Setting, group: str, removal: Removal | None) -> Fix | None:
    """The fix that puts what means the same in place of an assignment; None where nobody can tell, or where the place
    of it has more in it than that."""
    name, value = setting.name_span, setting.span
    if removal is None or setting.certainty is Certainty.UNKNOWN or name is None or value is None:
        return None
    values = as_list(setting.origin.value)
    now = removal.instead_of(values[0]) if len(values) == 1 else None
    if now is None or name.source is not value.source or name.offsets[1] > value.offsets[0]:
        return None
    if any(not key.startswith(f"{group}.") for key in now):
        return None  # another group, which may be anywhere
    names = {key.partition(".")[2]: new for key, new in now.items()}
    whole = Span(name.source, name.line, name.column, value.end_line, value.end_column)
    if names:
        text = _assignments(names, whole)
        return None if text is None else Fix(f"write {text}", (Edit(whole, text),), is_safe=True)
    line = _alone(whole)
    return None if line is None else Fix(f"take {name.text} away", (Edit(line, ""),), is_safe=True)


def _assignments(names: Mapping[str, Any], whole: Span) -> str | None:
    if not whole.source.name.endswith(_YAML):
        return ", ".join(f"{name} = {write_value(value)}" for name, value in names.items())
    pairs = [f"{name}: {str(value).lower() if isinstance(value, bool) else value}" for name, value in names.items()]
    before = whole.source.line(whole.line)[: whole.column - 1]
    if "{" in before:
        return ", ".join(pairs)
    return f"\n{before}".join(pairs) if not before.strip() else None


def _alone(whole: Span) -> Span | None:
    """The lines that hold an assignment and nothing else, or the assignment with the comma behind it."""
    text = Text(whole.source)
    start, end = whole.offsets
    source: Source = whole.source
    after = _SEPARATOR.match(source.text, end)
    end = after.end() if after is not None else end
    line_start = text.line_start(start)
    line_end = re.compile(r"\r\n|\r|\n").match(source.text, end)
    if not source.text[line_start:start].strip() and line_end is not None:
        return text.span(line_start, line_end.end())
    if source.name.endswith(_YAML):
        return None
    return text.span(start, end)
