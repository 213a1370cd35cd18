"""Placeholders of templates in namelists: what another program fills in before ICON reads the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from nmlgen.source import UNKNOWN, Source, Text

_PLACEHOLDER = re.compile(
    r"\{\{[^{}\n]*\}\}"  # Jinja, mustache
    r"|\{%[^%\n]*%\}|\{#[^#\n]*#\}"
    r"|%\([A-Za-z_]\w*\)[-0-9.]{0,5}[sdfgie]|%\{[A-Za-z_][\w.:-]*\}"
    r"|%[A-Z_][A-Z0-9_.]{0,98}[A-Z0-9_](?::[^%\n]{0,99})?%"  # Autosubmit, ecFlow: %NAME%, %NAME:default%
    r"|\{[A-Za-z_][\w.]*\}"  # str.format
    r"|@\[[A-Za-z_]\w*\]"  # uwtools, ufs-weather-model
    r"|@[A-Za-z_]\w*@|@(?<![\w.@]@)[A-Z][A-Z0-9_]+(?![\w@])"  # configure: @NAME@, and @NAME of other tools
    r"|#(?<=['\"_.-]#)[A-Z][A-Z0-9_]*#(?=['\"_.-])"  # '#START#': within quotes, as # begins a remark elsewhere
    r"|__(?<!\w__)[A-Za-z](?:\w*?[A-Za-z0-9])?__(?!\w)"
    r"|\[(?<=[=, \t]\[)[A-Za-z_]\w*\](?=[,/ \t\r\n]|\Z)"  # no value of a namelist begins so
)  # each begins with a character of its own, by which the places to look at are found
_FILLED_IN = re.compile(
    r"(\$\{[A-Za-z_]\w*(?:[^\w{}\n][^{}\n]{0,99})?\})"  # by a shell
    r"|([=,'\"][ \t]{0,99}[.+-]?)(\$[A-Za-z_]\w*)"  # .$name. is true or false
    r"|([=,][ \t]{0,99}[.+-]?)(<[A-Za-z_]\w*>)"  # within quotes angles may be the model's own
)
_STAND_IN = re.compile(
    r"([A-Z])\1\1+|xxx+|<[^<>\n]+>|.*(?<![A-Za-z0-9])R(?:XX?|NN?|xx?|nn?)B(?:YY?|XX?|NN?|KK?|yy?|xx?|nn?|kk?)(?![A-Za-z0-9]).*"
    r"|(?i:(?:change|replace|fill|fix)[_-]?(?:me|this|in)|to[_-]?do|tbd)"
)
_STANDS_FOR_NUMBER = re.compile(
    r"(?!(?:ALL|MAX|MIN|NONE|ANY|AUTO)$)_?[A-Z][A-Z0-9_]*"  # NODES, _NTASKS_, X
    r"|[A-Za-z]+(?:_[A-Za-z0-9.]+)+"  # n_cpus, TBG_tasks
    r"|([a-z])\1+|x[A-Z]\w*|(?i:xxx)\w+|%\w+%|%%[\w-]+%%|\*+[A-Z]\w*\*+"
    r"|![A-Za-z_]\w*|%[sd]"  # PIConGPU's !TBG_nodes; printf
)
_SEPARATOR = re.compile(r"[-:=+,%]")
_FORM_OF_NUMBERS = re.compile(r"([A-Za-z])\1{0,3}(?:[-:]([A-Za-z])\2{0,3})+|\.+|\?+")
_BETWEEN_BARS = re.compile(r"(?<![A-Za-z0-9])_[A-Z][A-Z0-9_]*_(?![A-Za-z0-9])")
_MARKS = ("{", "%", "@", "#", "__", "[")
TEMPLATES = (".tmpl", ".templ", ".tpl", ".template", ".in", ".j2", ".jinja", ".jinja2", ".erb", ".mako", ".m4")
"""How the names of files end of which scripts are made."""


def is_named_template(name: str) -> bool:
    """Whether a file is called as those are of which scripts are made, or a directory: `templates/slurm/job.sh`."""
    name = "/".join(name.lower().split("/")[-3:])
    return name.endswith(TEMPLATES) or "template" in name


def has_placeholder(text: str) -> bool:
    """Whether something stands in a text that another program fills in."""
    return any(mark in text for mark in _MARKS) and _PLACEHOLDER.search(text) is not None


def is_within_placeholder(line: str, column: int) -> bool:
    """Whether a character of a line, the first of which is 1, is part of what another program fills in."""
    starts, ends = _placeholders(line)
    number = bisect_left(starts, column) - 1
    return number >= 0 and column <= ends[number]


@lru_cache(maxsize=4)
def _placeholders(line: str) -> tuple[list[int], list[int]]:
    """Where the placeholders of a line begin and end. It is asked for each value that stands there, maybe thousands."""
    found = [match.span() for match in _PLACEHOLDER.finditer(line)]
    return [start for start, _ in found], [end for _, end in found]


def is_stand_in(text: str) -> bool:
    """Whether a whole value stands for one that somebody puts there: RXBY for the name of a grid, XXX, `<name>`,
    CHANGE_ME."""
    return _STAND_IN.fullmatch(text) is not None


def stands_for_number(text: str) -> bool:
    """Whether a whole value, where a number has to be, stands for one that is filled in: NODES, XXXnodes."""
    return _STANDS_FOR_NUMBER.fullmatch(text) is not None or _BETWEEN_BARS.search(text) is not None


def stands_for_numbers(text: str) -> bool:
    """Whether one of several numbers stands for one that is filled in: 1-NODES, walltime=HH:MM:SS, d-hh:mm, YYYY-MM-DD;
    or a whole value is dots or question marks."""
    pieces = text, *_SEPARATOR.split(text)
    return _FORM_OF_NUMBERS.fullmatch(text) is not None or any(map(stands_for_number, pieces))


def has_word_for_number(text: str) -> bool:
    """Whether one of several numbers has no digit at all: `ncores`, `hours:00:00`, `?`. Nobody who means a number
    writes it so; as a rule it is filled in. With an equals sign it is what is left of an option: `-nodes=2`."""
    return "=" not in text and any(piece and not re.search(r"\d", piece) for piece in _SEPARATOR.split(text))


def hidden(text: str) -> str:
    """The text with every character of a placeholder replaced by UNKNOWN; nothing else moves. In a script what has a
    dollar before it is the shell's own: `${NAME}`."""
    if not any(mark in text for mark in _MARKS):
        return text
    is_script = text.startswith("#!")

    def unknown(match: re.Match[str]) -> str:
        is_own = is_script and match[0][0] == "{" and text[match.start() - 1] == "$"
        return match[0] if is_own else UNKNOWN * len(match[0])

    return _PLACEHOLDER.sub(unknown, text)


def template(source: Source) -> Text:
    """The text of a source in which the placeholders are unknown, also those that a shell fills in, and `<name>`: in a
    file by itself nobody has taken them for a script's."""
    text = source.text
    if "$" in text or "<" in text:
        text = _FILLED_IN.sub(_unknown, text)
    return Text(source, hidden(text))


def _unknown(match: re.Match[str]) -> str:
    before = match[2] or match[4] or ""
    return before + UNKNOWN * (len(match[0]) - len(before))
