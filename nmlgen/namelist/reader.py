"""Namelist text to a syntax tree, the way the Fortran runtime goes through it.

The tree is made without knowing the types of the variables. What gfortran's runtime does with each form was tried
with gfortran 12; `tests/real/test_namelist_runtime.py` asks it again. The search for groups is ICON's own.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection
from typing import Any

from nmlgen.findings import Edit, Fix
from nmlgen.namelist.syntax import Document, Group, Index, Item, Part, SyntaxProblem, Token, Value
from nmlgen.source import UNKNOWN, Source, Text
from nmlgen.units.whole import whole_number
from nmlgen.values import evolve

HEADER_COLUMNS = 256  # ICON looks for a header in that many characters of a line (mo_namelist.F90:100)
_LARGEST_REPEAT = 200_000_000

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_BLANK = r"[ \t\r\n]"
_AFTER = r"(?=[ \t\r\n,;/!&$]|\Z)"
_REAL = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eEdDqQ][+-]?[0-9]+|[+-][0-9]+)?"

# A line that starts a group. No statement of another group and no string is taken to go on beyond it, because
# ICON finds the group there all the same.
_HEADER_LINE = re.compile(rf"^[ \t]*&(?!end\b){_NAME}{_AFTER}", re.IGNORECASE | re.MULTILINE)
_OUTSIDE = re.compile(
    rf"(?P<comment>![^\n]*)|(?P<dollar>^[ \t\ufeff]*\$(?!end\b){_NAME}{_AFTER})|&(?!end\b)(?P<name>{_NAME})"
    rf"|&(?P<blank>[ \t]+){_NAME}{_BLANK}",
    re.IGNORECASE | re.MULTILINE,
)
_DESIGNATOR = rf"{_NAME}(?:\([^()\n]*\))*(?:%{_NAME}(?:\([^()\n]*\))*)*"
_TOKEN = re.compile(
    rf"""
    ({_BLANK}*)(?:
    (?P<name>{_DESIGNATOR}){_BLANK}*=(?!=)
    |(?:(?P<ni>[0-9]+)\*)?(?P<integer>[+-]?[0-9]+){_AFTER}
    |(?:(?P<nr>[0-9]+)\*)?(?P<real>[+-]?{_REAL}){_AFTER}
    |(?P<comma>[,;])
    |(?P<comment>![^\n]*)
    |(?P<slash>/)
    |(?P<string>(?:[0-9]+\*)?(?:'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*"))
    |(?P<quote>(?:[0-9]+\*)?['"])
    |(?P<ampersand>[&$])
    |(?P<equals>=)
    |(?P<complex>(?:[0-9]+\*)?\([^()'"=/!]*\))
    |(?P<word>[^ \t\r\n,;/!=&$]+)
    )""",
    re.VERBOSE,
)
_LOOSE = re.compile(rf"(?P<name>{_NAME}(?:[ \t]*\([^()=\n]*\)|[ \t]*%[ \t]*{_NAME})*)(?:{_BLANK}|![^\n]*\n)*=(?!=)")
_PART = re.compile(rf"(?P<name>{_NAME})(?P<lists>(?:[ \t]*\([^()\n]*\))*)")
_LIST = re.compile(r"\(([^()\n]*)\)")
_INDEX = re.compile(
    r"[ \t]*(?:(?P<element>[+-]?[0-9]+)(?P<gap>[ \t]*)"
    r"|(?P<lower>[+-]?[0-9]+)?:[ \t]*(?P<upper>[+-]?[0-9]+)?(?P<stride>:[+-]?[0-9]+)?)\Z"
)
_TRAILING = re.compile(r"(?P<body>.*?:)[ \t]+\Z")
_REAL_WORD = re.compile(r"([+-]?)(?:(inf(?:inity)?)|nan(?:\([^() \t\r\n]*\))?)\Z", re.IGNORECASE)
_UNCLOSED = ("unclosed-group", "unclosed-before-group")
_MOST_PROBLEMS = 500  # of one group
_MOST_SHOWN = 400  # characters that are looked at for the few that a message shows
_MOST_GROUPS = 1_000  # of one text, as are these
_MOST_ITEMS = 15_000
_MOST_COPIES = 200_000  # of values, by repeat counts; of one such count no more than half are followed
_NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:(?:[eEdDqQ]|(?=[+-]))([+-]?[0-9]+))?")
_LOGICAL_WORD = re.compile(r"\.?([tf])", re.IGNORECASE)
_COMPLEX = re.compile(rf"\({_BLANK}*([^ \t\r\n,]+){_BLANK}*,{_BLANK}*([^ \t\r\n,]+){_BLANK}*\)\Z")
_REPEATED = re.compile(r"([0-9]+)\*")
_MAY_BE_HEADER = re.compile(r"[&$]")
_END = re.compile(r"[&$]end", re.IGNORECASE)
_REST_OF_LINE = re.compile(r"[^\n]*")
_REST_OF_WORD = re.compile(r"[^ \t\r\n,;/]*")
_PREPROCESSOR = re.compile(r"#\s*(?:if|ifdef|ifndef|else|elif|endif|include|define|undef)\b")
_LINE_ENDS = re.compile(r"[\r\n]+")
_EQUALS = re.compile(r"=+(?!\?)")  # =? is a command of its own


def read(source: Source, origin: Text | None = None) -> Document:
    """The groups of a namelist file, in order.

    `origin` is the text where it is not the source's own, but written by a script that is: see `Text`. UNKNOWN may
    stand in it for what only a run of the script knows; no problem is made of a line with that.

    Never raises: what cannot be read is a problem of the group it stands in, and reading goes on after it. The
    time it takes grows with the length of the text, and not faster; what comes behind very many groups, assignments or
    values that repeat counts stand for is not read, which is a problem of the text.
    """
    return _Reader(source, origin or Text(source)).document()


def read_namelist(text: str, name: str = "namelist") -> Document:
    """The groups of a namelist text; messages call it `name`. Never raises: see `Document.errors`."""
    return read(Source(name, text))


def read_groups(text: str, names: Collection[str]) -> Document:
    """Only the groups of these names, in small letters, of a namelist text: what is not asked for costs nothing."""
    source = Source("namelist", text)
    return _Reader(source, Text(source), frozenset(names)).document()


def number(text: str) -> float:
    """The value of a Fortran real: with exponents e, d and q, or a sign alone; infinite or not a number.

    Raises ValueError for anything else.
    """
    word = _REAL_WORD.match(text)
    if word:
        size = float("inf") if word[2] else float("nan")
        return -size if word[1] == "-" else size
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a real number")
    return float(f"{match[1]}e{match[2] or 0}")


class _Reader:
    """The state of one pass through a text."""

    def __init__(self, source: Source, origin: Text, wanted: Collection[str] | None = None) -> None:
        self.source = source
        self.wanted = wanted
        self.text = origin.text
        self.origin = origin
        found = [match.span() for match in _HEADER_LINE.finditer(self.text)]
        self.header_lines = [start for start, _ in found]
        self.headers = [end for _, end in found]
        self.last_line_end = self.text.rfind("\n")
        self.passed = 0, -1  # an offset, and the last line end before it
        self.groups: list[Group] = []
        self.left = _MOST_ITEMS  # assignments that may come
        self.copies_left = _MOST_COPIES
        self.problems: list[SyntaxProblem] = []

    def document(self) -> Document:
        at = 0
        while match := _OUTSIDE.search(self.text, at):
            if len(self.groups) >= _MOST_GROUPS:
                self.stop(f"{_MOST_GROUPS} groups")
                break
            at = match.end()
            if match["name"]:
                at = self.group(match.start(), match["name"].lower(), match.end())
            elif match["dollar"]:
                start = self.text.index("$", match.start())
                at = self.group(start, match["dollar"].strip(" \t\ufeff$").lower(), match.end())
            elif match["blank"]:
                at = match.start() + 1
                self.problems.append(
                    self.problem(
                        "blank-in-header",
                        f'"{_shown(match[0])}" does not start a group: the runtime skips it',
                        match.start(),
                        match.end() - 1,
                        "& and the name of the group without a blank between them",
                        stops=False,
                        fix=self.fix("take the blank away", match.start("blank"), match.end("blank"), ""),
                    )
                )
        return Document(self.source, tuple(self.groups), tuple(self.problems), origin=self.origin)

    def stop(self, most: str) -> None:
        """Say, at the last group that was read, that the rest is not."""
        last = self.groups[-1]
        message = f"the text has more than {most}: what comes behind them is not read"
        expected = "a namelist that somebody could read"
        self.problems.append(self.problem("too-much", message, last.start, last.header_end, expected, stops=False))

    def line_end_before(self, offset: int) -> int:
        """The offset of the last line end before another; -1 if there is none. What was looked through before is not
        looked through again."""
        begin, found = self.passed if self.passed[0] <= offset else (0, -1)
        newer = self.text.rfind("\n", begin, offset)
        self.passed = offset, newer if newer >= 0 else found
        return self.passed[1]

    def group(self, start: int, name: str, header_end: int) -> int:
        """Read the group whose header was found, if it is wanted, and return where to go on."""
        following = bisect_left(self.headers, header_end + 1)
        limit = self.header_lines[following] if following < len(self.headers) else len(self.text)
        is_wanted = self.wanted is None or name in self.wanted
        if not is_wanted and not _MAY_BE_HEADER.search(self.text, header_end, limit):
            return limit
        body = _Body(self, name, start, header_end, limit)
        group = body.read()
        if is_wanted:
            hidden = self.hidden(group)
            self.groups.append(group if hidden is None else evolve(group, hidden=hidden))
        self.left -= len(group.items)
        self.copies_left -= body.copies
        if self.left < 0 or self.copies_left < 0:
            self.stop(f"{_MOST_ITEMS} assignments" if self.left < 0 else f"{_MOST_COPIES} values by repeat counts")
            return len(self.text)
        return group.end

    def hidden(self, group: Group) -> SyntaxProblem | None:
        """Why ICON does not find the group's header."""
        window = max(0, group.start - 2 * HEADER_COLUMNS)
        line_start = max(self.text.rfind("\n", window, group.start) + 1, window)
        before = self.text[line_start : group.start]
        shown = self.text[group.start : group.header_end]
        columns = len(before.encode("utf-8", "replace")) + len(group.name) + 1
        if not shown.startswith("&"):
            reason = f'ICON does not see the group "{shown}": it looks for "&{group.name}"'
            fix = self.fix("write & for $", group.start, group.start + 1, "&")
            return self.problem(
                "dollar-header", reason, group.start, group.header_end, f"&{group.name}", stops=False, fix=fix
            )
        if "!" in before:
            reason = f'ICON does not see the group "{shown}": there is a "!" before it on the line'
            expected = "the header on a line of its own"
            return self.problem("header-behind-comment", reason, group.start, group.header_end, expected, stops=False)
        if f"&{group.name}" in before.lower():
            reason = f'ICON does not see the group "{shown}": it stops at the "&{group.name}" before it on the line'
            expected = "the header on a line of its own"
            return self.problem("second-on-line", reason, group.start, group.header_end, expected, stops=False)
        if columns > HEADER_COLUMNS:
            reason = f'ICON does not see the group "{shown}": the header does not end within column {HEADER_COLUMNS}'
            expected = f"the header within the first {HEADER_COLUMNS} characters of its line"
            return self.problem("header-too-far-right", reason, group.start, group.header_end, expected, stops=False)
        return None

    def problem(
        self,
        kind: str,
        message: str,
        start: int,
        end: int,
        expected: str,
        *,
        stops: bool = True,
        fix: Fix | None = None,
    ) -> SyntaxProblem:
        return SyntaxProblem(kind, message, self.origin.span(start, end), expected, stops, fix)

    def fix(self, description: str, start: int, end: int, replacement: str, *, is_safe: bool = False) -> Fix:
        """The fix that puts other characters in the place of some."""
        return Fix(description, (Edit(self.origin.span(start, end), replacement),), is_safe)


class _Body:
    """The state of the pass through one group.

    A value may follow an equals sign, a comma, blanks or a line end. `separated` tells that a comma or a line end
    has been passed since the last value, so that a further comma stands for a null value.
    """

    def __init__(self, reader: _Reader, name: str, start: int, header_end: int, limit: int) -> None:
        self.reader = reader
        self.origin = reader.origin
        self.text = reader.text
        self.name, self.start, self.header_end, self.limit = name, start, header_end, limit
        self.items: list[Item] = []
        self.errors: list[SyntaxProblem] = []
        self.item_start = -1  # of the item that is being read; -1 for none
        self.base = ""
        self.name_end = 0
        self.path: tuple[Part, ...] = ()
        self.equals = 0
        self.values: list[Value] = []
        self.copies = 0  # that repeat counts stand for
        self.nulls: list[tuple[str, int]] = []  # why and where, until a value shows that they matter
        self.separated = False
        self.fresh_line = False  # whether only a line end separates from the last value
        self.newline = False  # whether a line end precedes the token
        self.terminator: Token | None = None
        self.asked: tuple[int, bool] | None = None  # what `is_uncertain` was asked last, and its answer
        self.complained_in = -1  # the start of the line that was last complained of
        self.is_open = False  # whether unknown text stands where a variable should

    def read(self) -> Group:
        token, text = _TOKEN.match, self.text
        handlers = {
            "name": self.on_name,
            "integer": self.on_value,
            "real": self.on_value,
            "string": self.on_quoted,
            "complex": self.on_quoted,
            "comma": self.on_comma,
            "comment": self.on_comment,
            "slash": self.on_slash,
            "ampersand": self.on_ampersand,
            "quote": self.on_quote,
            "equals": self.on_equals,
            "word": self.on_word,
        }
        at = self.after_header()
        while self.terminator is None and not self.is_beyond:
            match = token(text, at, self.limit)
            if match is None:
                break
            start = match.end(1)
            kind = str(match.lastgroup)
            self.newline = start > at and text.find("\n", at, start) >= 0
            if self.newline and not self.separated and self.values:
                self.separated = self.fresh_line = True
            elif kind != "comment":
                self.fresh_line = False
            at = handlers[kind](match, start)
        self.close()
        self.ending()
        end = self.limit if self.terminator is None else self.terminator.end
        items, errors = tuple(self.items), tuple(self.errors)
        return Group(
            self.origin,
            self.start,
            end,
            self.name,
            self.header_end,
            items,
            errors,
            self.terminator,
            is_open=self.is_open,
        )

    @property
    def is_beyond(self) -> bool:
        """Whether there is more than is read of one text."""
        return len(self.items) > self.reader.left or self.copies > self.reader.copies_left

    def after_header(self) -> int:
        at = self.header_end
        if at >= self.limit or self.text[at] in " \t\r\n,;/!":
            return at
        message = f'"{_shown(self.text[self.start : at + 1])}" is no header of &{self.name} to the runtime'
        expected = "a blank or a line end after the name of the group"
        self.complain("header-joined", message, self.start, at + 1, expected)
        return self.skipped(_REST_OF_WORD, at)

    def ending(self) -> None:
        if self.is_open or self.is_beyond:
            return
        if self.terminator is None:
            expected = '"/" on a line of its own after the last variable'
            is_last = self.limit == len(self.text)
            kind, where = ("unclosed-group", "") if is_last else ("unclosed-before-group", " before the next group")
            message = f"&{self.name} is not closed{where}"
            fix = None if self.errors else self.closing()
            self.complain(kind, message, self.start, self.header_end, expected, once=False, fix=fix)
        elif self.terminator.end > self.reader.last_line_end:
            start, end = self.terminator.start, self.terminator.end
            message = f'the file ends after the "{self.terminator.text}" of &{self.name} without a line end'
            expected = "a line end: without it the runtime reports an end of file"
            last = len(self.text)
            fix = self.reader.fix("add a line end", last, last, self.line_end(last), is_safe=True)
            self.complain("no-final-newline", message, start, end, expected, once=False, fix=fix)

    def closing(self) -> Fix:
        """A slash on a line of its own, after the last thing that can belong to the group."""
        last = self.limit
        while last > self.header_end and self.text[last - 1].isspace():
            last -= 1
        line_end = self.line_end(last)
        is_at_end = last > self.reader.last_line_end
        return self.reader.fix('add "/"', last, last, f"{line_end}/{line_end if is_at_end else ''}")

    def line_end(self, offset: int) -> str:
        """How the line before ends."""
        end = self.reader.line_end_before(offset)
        return "\r\n" if end > 0 and self.text[end - 1] == "\r" else "\n"

    # --- Tokens: each method takes one, which begins at `start`, and returns where reading goes on ---

    def on_name(self, match: re.Match[str], start: int) -> int:
        self.close()
        self.open(start, match.end("name"), match.end() - 1)
        return match.end()

    def on_value(self, match: re.Match[str], start: int) -> int:
        kind = str(match.lastgroup)
        if self.item_start < 0:
            self.no_item(start, match.end())
        else:
            if self.nulls:
                self.flush_nulls(kind)
            self.values.append(getattr(self, kind)(match, start))
            self.separated = False
        return match.end()

    def on_quoted(self, match: re.Match[str], start: int) -> int:
        """A string or a complex value, which no other text may follow directly."""
        end = self.on_value(match, start)
        if end >= self.limit or self.text[end] in " \t\r\n,;/!":
            return end
        if match.lastgroup == "string" and "\n" in match[match.lastgroup or 0]:
            if self.values and self.values[-1].start == start:
                self.values.pop()
            return self.on_quote(match, start)
        stop = self.skipped(_REST_OF_WORD, end)
        message = f'"{_shown(self.text[end:stop])}" follows {_shown(match[match.lastgroup or 0])} without a separator'
        self.complain("no-separator", message, end, stop, "a blank or a comma between two values")
        return stop

    def on_quote(self, match: re.Match[str], start: int) -> int:
        """A string without its second quote: it is taken to end with its line."""
        text = self.text[start : self.skipped(_REST_OF_LINE, start)].rstrip()
        _, body = _split_repeat(text)
        message = f"the string {_shown(body)} is not closed"
        self.complain("unclosed-string", message, start, start + len(text), f"{body[0]} at its end", once=False)
        if self.item_start >= 0:
            self.flush_nulls("string")
            kind, value = ("unknown", None) if UNKNOWN in text else ("word", body)
            self.values.append(Value(self.origin, start, start + len(text), kind, value))
            self.separated = False
        return start + len(text)

    def on_comma(self, match: re.Match[str], start: int) -> int:
        if self.separated and self.item_start >= 0:
            self.nulls.append(("line" if self.fresh_line else "comma", start))
        self.separated = True
        return match.end()

    def on_comment(self, match: re.Match[str], start: int) -> int:
        end = match.end()
        if self.item_start < 0:
            return end
        if self.separated and not self.newline:
            self.nulls.append(("comment", start))
            self.separated = self.fresh_line = False
        if not self.separated and self.text.startswith("\n", end) and end < self.limit:
            return end + 1  # the line end belongs to the comment: a comma after it is the separator
        return end

    def on_slash(self, match: re.Match[str], start: int) -> int:
        self.terminator = Token(self.origin, start, match.end(), "end")
        return match.end()

    def on_ampersand(self, match: re.Match[str], start: int) -> int:
        ending = _END.match(self.text, start, self.limit)
        if ending is None and self.text[start] == "$" and self.text[start - 1] != "\n":
            return self.on_dollar(start)
        if ending is None:
            self.limit = start  # another group starts here
            return start
        self.terminator = Token(self.origin, start, ending.end(), "end")
        if self.values and self.values[-1].end == start and self.values[-1].kind in ("integer", "real", "word"):
            value = self.values[-1]
            self.lost(value.start, ending.end(), "a blank before &end")
            self.values[-1] = evolve(value, kind="null", value=None)
        return ending.end()

    def on_dollar(self, start: int) -> int:
        """Such as a variable that no shell has expanded."""
        end = self.skipped(_REST_OF_WORD, start)
        if self.item_start < 0:
            self.no_item(start, end)
        else:
            self.word(start, end)
        return end

    def on_equals(self, match: re.Match[str], start: int) -> int:
        if self.text.startswith("=?", start):
            self.close()
            return start + 2
        first = self.values[-1].start if self.values else start
        before = self.text[first : min(start, first + _MOST_SHOWN)].strip()
        message = f'misplaced "=" after "{_shown(before)}"' if before else 'misplaced "="'
        self.complain("misplaced-equals", message, start, start + 1, "name = value")
        return self.skipped(_EQUALS, start)

    def on_word(self, match: re.Match[str], start: int) -> int:
        """Text that is no plain number and no string."""
        end = match.end()
        text = self.text[start:end]
        if UNKNOWN in text and (self.item_start < 0 or self.newline):
            if len(self.values) > 1 or not self.values:
                self.word(start, end)  # the list may go on
            self.close()
            self.is_open = True
            return self.skipped(_REST_OF_LINE, start)
        if text[0].isalpha() or text[0] == "_":
            loose = _LOOSE.match(self.text, start, self.limit)
            if loose:
                return self.loose_name(loose)
        if text[0] == "#" and not self.text[self.origin.line_start(start) : start].strip():
            end = self.skipped(_REST_OF_LINE, start)
            message = f'"{_shown(self.text[start:end])}" is not a comment to Fortran'
            self.complain("hash-comment", message, start, end, '"!" starts a comment', fix=self.comment(start, end))
        elif text == "?":
            self.close()
        elif self.item_start < 0:
            self.no_item(start, end)
        else:
            self.word(start, end)
        return end

    def comment(self, start: int, end: int) -> Fix | None:
        """The fix of a comment that begins as one of the shell; lines of a preprocessor have none."""
        if _PREPROCESSOR.match(self.text, start, end):
            return None
        return self.reader.fix('write "!" for "#"', start, start + 1, "!", is_safe=True)

    # --- Items ---

    def open(self, start: int, name_end: int, equals: int) -> None:
        self.item_start, self.name_end, self.equals = start, name_end, equals
        name = self.text[start:name_end]
        if "(" in name or "%" in name:
            self.path = self.parts(start, name)
            self.base = self.path[0].name
        else:
            self.path = ()
            self.base = name.lower()
        self.separated = True

    def close(self) -> None:
        if self.item_start >= 0:
            end = self.values[-1].end if self.values else self.equals + 1
            values = tuple(self.values)
            self.items.append(
                Item(self.origin, self.item_start, end, self.base, self.name_end, self.equals, values, self.path)
            )
        self.item_start = -1
        self.values = []
        self.nulls = []

    def parts(self, start: int, text: str) -> tuple[Part, ...]:
        return tuple(
            Part(
                self.origin,
                start + match.start("name"),
                start + match.end(),
                match["name"].lower(),
                tuple(
                    self.subscripts(found[1], start + match.start("lists") + found.start())
                    for found in _LIST.finditer(match["lists"])
                ),
            )
            for match in _PART.finditer(text)
        )

    def subscripts(self, text: str, start: int) -> tuple[Index, ...] | None:
        indices = tuple(_index(part) for part in text.split(","))
        if any(index is None for index in indices):
            self.complain(
                "bad-subscript",
                f'"({_shown(text)})" is not a list of subscripts',
                start,
                start + len(text) + 2,
                "whole numbers n or sections n:m:k, without blanks before a colon",
            )
            return None
        return tuple(index for index in indices if index is not None)

    def no_item(self, start: int, end: int) -> None:
        if self.text[start] == "?":
            return
        self.complain(
            "no-name",
            f'"{_shown(self.text[start:end])}" stands where a variable should',
            start,
            end,
            "name = value",
        )

    # --- Values ---

    def integer(self, match: re.Match[str], start: int) -> Value:
        repeat = match["ni"]
        digits = match["integer"]
        value = whole_number(digits)
        return Value(self.origin, start, match.end(), "integer", value, self.repeat(repeat, start) if repeat else 1)

    def real(self, match: re.Match[str], start: int) -> Value:
        repeat, text = match["nr"], match["real"]
        try:
            value = float(text)
        except ValueError:
            value = number(text)
        return Value(self.origin, start, match.end(), "real", value, self.repeat(repeat, start) if repeat else 1)

    def string(self, match: re.Match[str], start: int) -> Value:
        repeat, text = _split_repeat(match["string"])
        quote, inner = text[0], text[1:-1]
        if "\n" in inner or "\r" in inner:
            inner = _LINE_ENDS.sub("", inner)
        value = inner.replace(quote * 2, quote)
        if UNKNOWN in text:
            return Value(self.origin, start, match.end(), "unknown", None, self.repeat(repeat, start))
        return Value(self.origin, start, match.end(), "string", value, self.repeat(repeat, start))

    def complex(self, match: re.Match[str], start: int) -> Value:
        repeat, text = _split_repeat(match["complex"])
        if UNKNOWN in text:
            return Value(self.origin, start, match.end(), "unknown", None)
        parts = _COMPLEX.match(text)
        kind, value = "word", text  # type: str, Any
        if parts:
            try:
                kind, value = "complex", complex(number(parts[1]), number(parts[2]))
            except ValueError:
                parts = None
        if not parts:
            message = f'"{_shown(text)}" is not a complex value'
            self.complain("bad-complex", message, start, match.end(), "two numbers: (1.0, 2.0)")
        return Value(self.origin, start, match.end(), kind, value, self.repeat(repeat, start))

    def repeat(self, digits: str | None, start: int) -> int:
        if digits is None:
            return 1
        count = int(digits) if len(digits) < 12 else _LARGEST_REPEAT + 1
        if not 0 < count <= _LARGEST_REPEAT:
            message = f'"{_shown(digits)}*" is not a repeat count'
            self.complain("bad-repeat", message, start, start + len(digits) + 1, f"1 to {_LARGEST_REPEAT}")
        count = min(max(count, 1), _LARGEST_REPEAT)
        self.copies += min(count, _MOST_COPIES // 2)
        return count

    def word(self, start: int, end: int) -> None:
        """An unquoted value: logical, infinite, not a number, null, or none at all."""
        if UNKNOWN in self.text[start:end]:
            self.values.append(Value(self.origin, start, end, "unknown", None))
            self.nulls = []
            self.separated = False
            return
        repeat, body = _split_repeat(self.text[start:end])
        kind, value = ("null", None) if repeat is not None and not body else _word(body)
        self.flush_nulls(kind)
        if body in ("+", "-", "."):
            self.lost(start, end, "a number or a logical value")
        elif kind == "word" and repeat is None and not body[0].isdigit():
            message = f'"{_shown(body)}" is neither a number nor a logical value'
            fix = self.comment(start, end) if not body.strip("#") else None
            self.complain("unquoted-text", message, start, end, "a string stands in quotes", fix=fix)
        self.values.append(Value(self.origin, start, end, kind, value, self.repeat(repeat, start)))
        self.separated = False

    def loose_name(self, match: re.Match[str]) -> int:
        """A name with blanks that the runtime does not take, or with a comment before the equals sign."""
        self.close()
        name = match["name"]
        if " " in _without_lists(name) or "\t" in _without_lists(name):
            self.complain(
                "blank-in-name",
                f'"{_shown(name)}" has a blank within the name',
                match.start(),
                match.end("name"),
                "no blank before ( and around %",
                fix=self.reader.fix(
                    "take the blank away", match.start(), match.end("name"), _without_blanks(name), is_safe=True
                ),
            )
        self.open(match.start(), match.end("name"), match.end() - 1)
        return match.end()

    def flush_nulls(self, kind: str) -> None:
        """Take account of the null values before a value."""
        for why, at in self.nulls:
            if why == "comment":
                self.complain(
                    "comment-for-value",
                    'the runtime takes the comment after the comma or "=" for an empty value: the values that follow '
                    "move one place on",
                    at,
                    at + 1,
                    "the comment on a line of its own",
                    stops=kind in ("string", "complex"),
                )
            elif why == "line":
                self.complain(
                    "comma-on-next-line",
                    "the runtime takes the line end before the comma for a separator: the values that follow move "
                    "one place on",
                    at,
                    at + 1,
                    "the comma at the end of the line before",
                    stops=False,
                )
            self.values.append(Value(self.origin, at, at, "null", None))
        self.nulls = []

    # --- What is wrong ---

    def lost(self, start: int, end: int, expected: str) -> None:
        message = f'the runtime reads no value from "{_shown(self.text[start:end])}"'
        self.complain("lost-value", message, start, end, expected, stops=False)

    def complain(
        self,
        kind: str,
        message: str,
        start: int,
        end: int,
        expected: str,
        *,
        stops: bool = True,
        once: bool = True,
        fix: Fix | None = None,
    ) -> None:
        """Report a problem, but only the first on a line: what follows it there follows from it. Of a group that is in
        pieces not all are told."""
        if len(self.errors) >= _MOST_PROBLEMS and kind not in _UNCLOSED:
            return
        line = self.origin.line_start(start)
        if kind not in _UNCLOSED and self.is_uncertain(line, start):
            return
        if once and line == self.complained_in:
            return
        if once:
            self.complained_in = line
        self.errors.append(self.reader.problem(kind, message, start, end, expected, stops=stops, fix=fix))

    def is_uncertain(self, line: int, start: int) -> bool:
        """Whether something on a line, that of `start`, is not known. Of a long line that is asked again and again."""
        if self.asked is None or self.asked[0] != line:
            line_end = self.text.find("\n", start)
            self.asked = line, UNKNOWN in self.text[line : line_end if line_end >= 0 else len(self.text)]
        return self.asked[1]

    def skipped(self, pattern: re.Pattern[str], start: int) -> int:
        match = pattern.match(self.text, start, self.limit)
        return max(match.end(), start + 1) if match else start + 1


def _index(text: str) -> Index | None:
    trailing = _TRAILING.match(text)
    match = _INDEX.match(trailing["body"] if trailing else text)
    if match is None:
        return None
    if match["element"] is not None:
        # A blank behind the number makes it the start of a section that goes on to the end of the dimension.
        return Index(int(match["element"][:20]), is_section=bool(match["gap"]))
    if match["stride"] is not None and match["upper"] is None:
        return None
    lower, upper, stride = match["lower"], match["upper"], match["stride"]
    return Index(
        None if lower is None else int(lower[:20]),
        None if upper is None else int(upper[:20]),
        None if stride is None else int(stride[1:21]),
        is_section=True,
    )


def _word(text: str) -> tuple[str, Any]:
    """The kind and the value of unquoted text, by the types that would take it."""
    if _REAL_WORD.match(text):
        return "real", number(text)
    logical = _LOGICAL_WORD.match(text)
    if logical:
        return "logical", logical[1] in "tT"
    return "word", text


def _split_repeat(text: str) -> tuple[str | None, str]:
    match = _REPEATED.match(text)
    return (match[1], text[match.end() :]) if match else (None, text)


def _without_lists(name: str) -> str:
    return _LIST.sub("", name)


def _without_blanks(name: str) -> str:
    """The name with blanks only where the runtime takes them, within a list of subscripts."""
    pieces = re.split(r"(\([^()]*\))", name)
    return "".join(piece if piece.startswith("(") else re.sub(r"[ \t]", "", piece) for piece in pieces)


def _shown(text: str) -> str:
    """The text on one line, shortened."""
    line = " ".join(text[:_MOST_SHOWN].split())
    return line if len(line) <= 40 else f"{line[:37]}..."
