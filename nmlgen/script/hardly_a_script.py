"""Texts in which a shell finds mistakes, but that are not for one as they stand: templates, pieces of scripts, and
notes for people."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nmlgen.findings import Finding, Severity
from nmlgen.namelist.placeholders import is_named_template
from nmlgen.source import Source, Span

_FORMAT_NAME = re.compile(r"(?<![${\w])\{[A-Za-z_]\w*(?:\.\w+)+\}")
_PLACE = r"\((?:int|float|str|string|bool)\)|<(?:[0-9]{1,2}|\?+|[A-Za-z_](?:[^<>\n|&;$\"'`]{0,99}[\w.)])?)>"
"""What somebody fills in: `<your account>`, `rate(float)`; or a number, which a text for people explains."""
_FILLED_IN, _BEHIND_FILLED_IN = re.compile(_PLACE), re.compile(rf"(?:{_PLACE})(?:[ \t\r]|\\\n)*\Z")
_MOST_BEFORE = 300
_FEWEST_STRANGE, _FEWEST_STRANGE_OF_SHELL = 3, 10  # lines
_STEP = re.compile(r"[ \t]*(?:step[ \t]+)?[0-9]+\)", re.IGNORECASE)
_HEADING = re.compile(r"[A-Z][a-z]+[ \t][^\n=$]{1,200}:[ \t]*")  # For the way back (north):
_OF_NO_SHELL = re.compile(
    r"[ \t]*(?:(?:library|require|setwd)\([\"']?\w|[A-Za-z.][\w.]*[ \t]*<-[ \t]*[A-Za-z][\w.]*\("
    r"|[0-9.]+[ \t]*[-+*/][ \t]*\("
    r"|<(?:[?!/][A-Za-z][^<>\n]*|[A-Za-z][\w:.-]*(?:[ \t]+[\w:-]+=[^<>\n]*)?/?)>[ \t]*$)"
)
"""A statement of R, in what has been written down after its prompt, a sum, or a line of XML: `a <- f(b)`,
`2 * (3 + 4)`, `<?xml version="1.0"?>`."""
_NOTES = re.compile(r"(?i:(?:.*[^a-z])?notes?(?![a-z]))")
_PIECES = {
    "unclosed-block": re.compile(r"(?i:(?:.*[^a-z])?(?:head(?:er)?|prolog(?:ue)?|preamble)(?![a-z]).*)"),
    "stray-word": re.compile(r"(?i:(?:.*[^a-z])?(?:foot(?:er)?|tail|epilog(?:ue)?)(?![a-z]).*)"),
}
"""What is wrong with the beginning or the end of a script that is put together of files, and what such are called."""
_PROMPT = re.compile(r"(?:\([\w.-]{1,99}\)[ \t]*)?\[?[\w.-]{1,99}@[\w.-]{1,99}[: ][^\n$#]{0,99}[$#][ \t]")
_PROMPT_OF_PROGRAM = re.compile(r"(?P<prompt>[A-Za-z][\w.]{0,99}> |\$ )(?![^\n]*<<)[ \t]*[A-Za-z]")
"""What a program waits with: `sqlite> ALTER TABLE a;`, or a shell: `$ ls`. To a shell `> ALTER` is a file to write to,
and `$` a program."""
_SIDE_BY_SIDE = re.compile(r"(#![^\t\n]{1,99})\t{1,99}(?:[|<>]\t)?\1\s")
"""The first line of two scripts that `diff --side-by-side` has put beside each other."""
_LONGEST_LOOKED_AT = 1000  # characters of a line
_FEWEST_PROMPTS = 2
_FEWEST_SENTENCES = 3  # a remark without its # may have two lines
_FEWEST_WORDS, _FEWEST_SMALL = 6, 2
_SMALL = re.compile(
    r"(?i:the|an?|is|are|was|were|be|been|have|has|had|not|of|to|with|that|this|its?|they|we|you|i|my|which|can|will"
    r"|would|so|if|or|and|but|as|by|from|on|at|all|some|also|then|when|there|because|about|into)[,.;:]?"
)
"""Words that sentences have, and hardly what is given to programs."""
_LETTERS = re.compile(r"[A-Za-z]+(?:['\u2019-][a-z]+)?[,.;:?!)]*")
_OTHER_HALF = {"if": "then", "for": "do", "while": "do", "until": "do", "select": "do", "case": "esac"}
_SAYS = ("echo", "print", "printf", "for", "case", "select", "if", "elif", "while", "until", "cat", "logger", "git")
_ERB = re.compile(r"^[ \t]*<%[^%\n]{1,200}%>", re.MULTILINE)
_POUNDS = re.compile(r"£[A-Za-z_({]")  # which become dollars when those of a template have been filled in
_ANGLES = re.compile(r"<<<[A-Za-z_]\w*>>>|<<[A-Za-z_]\w*>>[ \t]*$", re.MULTILINE)  # no shell takes either
_HASHES = re.compile(r"(?<![\w#])#[A-Z]{1,99}:[\w:=.,/$-]{1,200}#")  # #TABLE:site:key=domain:value#
_FORMAT_BRACES = re.compile(r"\(\)[ \t]*\{\{|\$\{\{[A-Za-z_]")


def is_hardly_a_script(source: Source, findings: Iterable[Finding]) -> bool:
    """Whether a text of which a shell cannot read what the findings point at is a template, or written for people."""
    found = tuple(findings)
    return _is_template(source, found) or _is_for_people(source, found)


def is_piece(name: str, kinds: Iterable[str]) -> bool:
    """Whether a file is called as the beginning or the end of a script is, and has nothing wrong but that a block goes
    on behind it, or began before it: `cat job_header body job_footer >job`."""
    forms = {_PIECES.get(kind) for kind in kinds}
    return len(forms) == 1 and all(form is not None and form.fullmatch(name.rpartition("/")[2]) for form in forms)


def _is_template(source: Source, findings: Iterable[Finding]) -> bool:
    """Whether a text that a shell does not take is one of Python's `str.format`, with names in braces, and braces that
    are meant in two; or of ERB (`<% if x %>`), or is called a template or notes, or has a place where somebody
    writes something, such as `<your account>` or `<<<account>>>`.
    """
    text = source.text
    if ("<%" in text and _ERB.search(text) is not None) or ("£" in text and _POUNDS.search(text) is not None):
        return True
    if ":" in text and _HASHES.search(text) is not None:
        return True
    if ">>" in text and _ANGLES.search(text) is not None:
        return True
    if _FORMAT_NAME.search(text) is not None and _FORMAT_BRACES.search(text) is not None:
        return True
    return (
        is_named_template(source.name)
        or _NOTES.match(source.name.rpartition("/")[2]) is not None
        or any(found.span is not None and _is_filled_in(found.span) for found in findings)
    )


def _is_for_people(source: Source, findings: Iterable[Finding]) -> bool:
    """Whether a text makes no sense to a shell in a fourth of its lines, and in more than one mistake makes strange
    where it says of itself by a `#!` that it is for one: a text of another language, or for people. So is one that has
    sentences, or what stood on a terminal, where the shell stops and elsewhere, two scripts that `diff` has put side by
    side, and one that does not say so and stops in a heading or counts steps: `2) copy the files`.
    """
    text, says_so = source.text, source.text.startswith("#!")
    strange = {found.span.line for found in findings if found.span is not None and found.severity is Severity.ERROR}
    if not says_so and "esac" not in text and any(_STEP.match(source.line(line)) for line in strange):
        return True
    stop = source.line(min(strange)) if strange else ""
    if not says_so and (_HEADING.fullmatch(stop) is not None or _OF_NO_SHELL.match(stop) is not None):
        return True
    if not says_so and _is_begun_by_chance(stop, text):
        return True
    if _PROMPT.match(stop) is not None or _is_typed_in(stop, text) or _SIDE_BY_SIDE.match(text) is not None:
        return True
    if _is_sentence(stop) and sum(map(_is_sentence, text.split("\n"))) >= _FEWEST_SENTENCES:
        return True
    lines = sum(1 for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#"))
    fewest = _FEWEST_STRANGE_OF_SHELL if says_so else _FEWEST_STRANGE
    return len(strange) >= fewest and len(strange) * 4 >= lines


def _is_typed_in(line: str, text: str) -> bool:
    """Whether a line has been typed in behind the prompt of a program, and others behind the same one."""
    typed_in = _PROMPT_OF_PROGRAM.match(line)
    return typed_in is not None and text.count("\n" + typed_in["prompt"]) >= _FEWEST_PROMPTS


def _is_begun_by_chance(line: str, text: str) -> bool:
    """Whether a line begins with a word of the shell whose other half begins no command: `if it is done, tell me`."""
    other = _OTHER_HALF.get(line.split(maxsplit=1)[0]) if line.strip() else None
    return other is not None and re.search(rf"(?m)(?:^|;)[ \t]*{other}\b", text) is None


def _is_sentence(line: str) -> bool:
    """Whether a line is written for people: most of its words are of letters, and some are of those that join them."""
    words = line[:_LONGEST_LOOKED_AT].split()
    if len(words) < _FEWEST_WORDS or words[0] in _SAYS or words[0].startswith("#"):
        return False
    small = sum(_SMALL.fullmatch(word) is not None for word in words)
    return small >= _FEWEST_SMALL and 3 * sum(_LETTERS.fullmatch(word) is not None for word in words) >= 2 * len(words)


def _is_filled_in(span: Span) -> bool:
    """Whether a shell stumbles over a place where somebody writes something: before it, right behind it, or in it, as
    over the bracket of `<path (of the grid)>`."""
    text, at = span.source.text, span.offsets[0]
    before = max(0, at - _MOST_BEFORE)  # lines may go on
    if _FILLED_IN.match(text, at) is not None or _BEHIND_FILLED_IN.search(text, before, at) is not None:
        return True
    places = _FILLED_IN.finditer(text, max(before, text.rfind("\n", 0, at) + 1), at + _MOST_BEFORE)
    return any(place.start() < at < place.end() for place in places)
