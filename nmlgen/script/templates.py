"""Scripts that another program fills in before a shell reads them: templates of ecFlow, Autosubmit and others.

ecFlow's own preprocessor takes lines away: `%manual` and `%comment` up to `%end` are for people, what stands in `%nopp`
up to `%end` is left as it is, `%include` stands for a file. Source: the user's manual of ecFlow, "Pre-processing",
"Directives". Expressions of Jinja, of mkexp (`%{nproma|d(16)}`) and of Cactus' SimFactory
(`@("@ID@" != "" ? "-d @ID@" : "")@`) have blanks and brackets that no shell sees.
"""

from __future__ import annotations

import re
from itertools import islice

_INCLUDE = r"include(?:once|nopp)?[ \t]+[<\"%\w./]"
_DIRECTIVE = re.compile(rf"^%(?:(?P<text>(?:manual|comment)\b)|{_INCLUDE}|(?:nopp|ecfmicro|end)\b)", re.MULTILINE)
_BEGINS = re.compile(rf"^%(?:{_INCLUDE}|(?:manual|comment|nopp|ecfmicro)\b)", re.MULTILINE)
_INCLUDES = re.compile(rf"^%{_INCLUDE}", re.MULTILINE)
_FILLED_IN = re.compile(
    r"%[A-Z][A-Z0-9_.]{2,98}(?::[^%\n]{0,99})?%|\{\{[^{}\n]{1,200}\}\}|@[A-Z][A-Z0-9_]{1,98}@"
    r"|\{[a-z_]\w{0,98}\.[\w.]{1,98}\}|%\{[A-Za-z_][^{}\n]{0,300}\}"
)
_REPLACES = re.compile(r"(?<![\w.-])(?:sed|perl)\b|(?<![\w-])-e[ \t]*['\"]?s[^\w\s]|^[ \t]*['\"]?s[/|#@%,]")
_JINJA = re.compile(
    r"(?<!\$)(?:\{\{[^{}\n]{1,200}\}\}|\{%[^%]{1,400}%\}|\{#[^#\n]{1,200}#\}"
    r"|%\{[A-Za-z_][^{}\n]{0,200}(?:\{[^{}\n]{0,100}\}[^{}\n]{0,100}){0,3}\})"
)
_SIMFACTORY = re.compile(r"@\((?=[^@\n]{0,99}@[A-Z][A-Z0-9_]*@)[^\n]{1,400}?\)@")
_WINDOW = 300  # characters
_MOST_PLACES = 5_000  # that are looked at, each with what stands before it
_OF_A_SHELL = re.compile(r"[^\w.-]")
_NONEMPTY_LINE = re.compile(r"^[^\n]", re.MULTILINE)


def is_template(text: str) -> bool:
    """Whether another program fills in words of a script; what it fills in itself, by sed, does not count."""
    has_marks = "%" in text or "{{" in text or "@" in text or ("{" in text and "." in text)
    if not has_marks:
        return False
    own: set[str] = set()
    filled_in: set[str] = set()
    for match in islice(_FILLED_IN.finditer(text), _MOST_PLACES):
        (own if _REPLACES.search(_around(match)[0]) else filled_in).add(match[0])
    return bool(filled_in - own) or _is_of_ecflow(text)


def includes(text: str) -> bool:
    """Whether ecFlow puts other files into a script."""
    return "%include" in text and _INCLUDES.search(text) is not None


def without_directives(text: str) -> str:
    """The text as a shell may read it, at the same places: the lines that ecFlow or Jinja take for their own are
    comments, and an expression of Jinja or SimFactory is a part of one word."""
    if "{{" in text or "{%" in text or "%{" in text:
        text = _JINJA.sub(_of_jinja, text)
    if ")@" in text:
        text = _SIMFACTORY.sub(lambda match: f"@{_OF_A_SHELL.sub('_', match[0][1:-1])}@", text)
    return _without_ecflow(text) if _is_of_ecflow(text) else text


def _of_jinja(match: re.Match[str]) -> str:
    if match[0][:2] in ("{%", "{#"):
        before, after = _around(match)
        if not before.strip() and not after.strip():
            return _commented(f"#{match[0][1:]}")
    end = -1 if match[0][0] == "%" else -2
    return f"{match[0][:2]}{_OF_A_SHELL.sub('_', match[0][2:end])}{match[0][end:]}"


def _around(match: re.Match[str]) -> tuple[str, str]:
    """What stands before and behind a match on its line, as far as one looks."""
    start, end = match.span()
    before, after = match.string[max(0, start - _WINDOW) : start], match.string[end : end + _WINDOW]
    return before.rpartition("\n")[2], after.partition("\n")[0]


def _without_ecflow(text: str) -> str:
    done: list[str] = []
    at = 0
    for match in _DIRECTIVE.finditer(text):
        if match.start() < at:
            continue  # within a text for people
        done += [text[at : match.start()], "#"]
        at = match.start() + 1
        if match["text"]:
            end = text.find("\n%end", at)
            end = len(text) if end < 0 else end + 1
            done.append(_commented(text[at:end]))
            at = end
    return "".join([*done, text[at:]])


def _commented(text: str) -> str:
    """The rest of a line, and the lines behind it as comments."""
    first, line_end, rest = text.partition("\n")
    return first + line_end + _NONEMPTY_LINE.sub("#", rest)


def _is_of_ecflow(text: str) -> bool:
    return (text[:1] == "%" or "\n%" in text) and _BEGINS.search(text) is not None
