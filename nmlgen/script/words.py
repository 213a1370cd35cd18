"""Words of a shell script: quotes, expansions and here-documents."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence as Row
from typing import Any

from attrs import define, fields, has

from nmlgen.script.syntax import (
    Arithmetic,
    CommandSubstitution,
    Comment,
    Heredoc,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Redirection,
    Sequence,
    Word,
)
from nmlgen.source import Source, Text

DEEPEST = 60  # as many constructs may stand within one another
_MOST_SEARCHES = 16  # as often may a closing quote or bracket be sought up to the end of the text, and not be there

_NAME = "[A-Za-z_][A-Za-z0-9_]*"

BLANKS = re.compile(r"[ \t]*(?:\\\n[ \t]*)*")
_BLANKS_AND_LINE_ENDS = re.compile(r"[ \t\n]*(?:\\\n[ \t\n]*)*")
_COMMENT = re.compile(r"#[^\n]*")
_SHOWN = re.compile(r"[|&;<>()]{1,3}|[^ \t\n|&;<>()]{1,60}|.", re.DOTALL)

# The text that stands for itself, by what it stands in.
_PLAIN = r" \t\n|&;<>()$`\\\"'"
_IN_WORD = re.compile(rf"[^{_PLAIN}]+")
_IN_PATTERN = re.compile(r"[^()$`\\\"'\n]+")  # within ?(..), *(..), +(..), @(..), !(..)
_IN_REGEX = re.compile(r"[^ \t\n&;<>()$`\\\"']+")
_IN_QUOTES = re.compile(r"(?:[^\"$`\\]+|\\[^\"$`\\\n])+")
_IN_BODY = re.compile(r"(?:[^$`\\]+|\\(?![$`\\\n]))+")
_IN_BODY_LINE = re.compile(r"(?:[^$`\\\n]+|\\(?![$`\\\n]))*\n?")
_IN_ARITHMETIC = re.compile(r"[^$`\\\"()\[\];]+")
_IN_SUBSCRIPT = re.compile(r"[^$`\\\"'\[\]}]+")
_IN_BRACES = {
    (stop, keeps): re.compile(rf"[^}}$`\\\"{stop}{'' if keeps else chr(39)}]+")
    for stop in ("", "/", ":")
    for keeps in (False, True)
}

_BEFORE_PATTERN = "?*+@!~%"  # what comes before the parentheses of an extended pattern; `%` also in a template's %(x)s
_BEFORE_LIST = f"{_BEFORE_PATTERN}="

_PIECE = re.compile(
    rf"""(?P<run>[^{_PLAIN}]+)
    |\$(?P<name>{_NAME})
    |\$\{{(?P<braced>{_NAME})\}}
    |"(?P<double>[^"$`\\]+)"
    |'(?P<single>[^']+)'""",
    re.VERBOSE,
)
_DOLLAR = re.compile(
    rf"""\$(?:(?P<name>{_NAME}|[0-9@*\#?$!-])
    |\{{(?P<braced>{_NAME}|[0-9]+|[@*\#?$!-])\}}
    |(?P<brace>\{{)
    |(?P<double>\(\()
    |(?P<single>\()
    |(?P<bracket>\[))""",
    re.VERBOSE,
)
_LENGTH = re.compile(rf"#(?P<name>{_NAME}|[0-9]+|[@*#?$!-])(?=[\}}\[])")
_INDIRECT = re.compile(rf"!(?P<name>{_NAME}|[0-9]+|[@*#](?=\}}))")
_PARAMETER = re.compile(rf"(?P<name>\.?{_NAME}(?:\.{_NAME})*|[0-9]+|[@*#?$!-])")
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|/[/#%]?|:|\^\^?|,,?|@(?=[A-Za-z]\})")
_TEMPLATE = re.compile(r"\{\{|\{%|%\{|%\(")  # another tool fills this in before the shell sees it
_BACKTICKS = re.compile(r"`([^`\\]*(?:\\.[^`\\]*)*)`", re.DOTALL)
_ESCAPED_IN_BACKTICKS = re.compile(r"\\([$`\\])")
_ESCAPED_IN_QUOTED_BACKTICKS = re.compile(r"\\([$`\\\"])")
_PAIRED = re.compile(
    r"[^()'\"\\]+|\\.|'[^']*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"|['\"\\]|(?P<open>\()|(?P<close>\))", re.DOTALL
)
_C_STRING = re.compile(r"\$'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_C_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<short>[0-9A-Fa-f]{1,4})"
    r"|U(?P<long>[0-9A-Fa-f]{1,8})|c(?P<control>.)|(?P<letter>[abeEfnrtv\\'\"?]))",
    re.DOTALL,
)
_C_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_DELIMITER = re.compile(
    r"(?P<plain>[^ \t\n|&;<>()\\\"']+)|\\(?P<escaped>[^\n])|\\\n|'(?P<single>[^'\n]*)'|\$?\"(?P<double>[^\"\n]*)\""
)
_TABS = re.compile(r"\t+")


class Failure(Exception):
    """Text that cannot be understood; whoever reads commands catches it, reports it and goes on after it.

    `is_unclosed` tells that a quote or bracket was opened at `start` and never closed: what follows it on the next
    lines may still be read.
    """

    def __init__(
        self, kind: str, message: str, start: int, end: int, expected: str, *, is_unclosed: bool = False
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.start, self.end, self.expected = kind, message, start, end, expected
        self.is_unclosed = is_unclosed


@define
class Complaint:
    """What is wrong with the text between two offsets; see `SyntaxProblem`."""

    kind: str
    message: str
    start: int
    end: int
    expected: str
    stops: bool


class WordReader(ABC):
    """The state of one pass through a script, and the reading of words.

    `text` is read from `at` on, up to `end`. `raw` has the same length: the text with its own line ends. A body of a
    here-document is read at the first line end after its operator; until then it is `pending`.
    """

    def __init__(self, text: str, raw: str) -> None:
        self.text = text
        self.raw = raw
        self.origin = Text(Source("", text))
        self.at = 0
        self.end = len(text)
        self.depth = 0
        self.substitutions = 0  # that the reader is in
        self.awaited: list[frozenset[str]] = []  # what may end the sequences that the reader is in
        self.searches = _MOST_SEARCHES
        self.read_at_run_time = False  # text that the shell looks into only when it comes there
        self.pending: list[tuple[Redirection, Heredoc]] = []
        self.heredocs: list[tuple[Redirection, Heredoc]] = []
        self.comments: list[Comment] = []
        self.complaints: dict[tuple[int, int], Complaint] = {}

    @abstractmethod
    def sequence(self, ends: frozenset[str]) -> Sequence:
        """Commands up to one of `ends`, which is left unread."""

    # --- Small steps ---

    def over(self, pattern: re.Pattern[str]) -> bool:
        """Go behind what matches here; tell whether anything does."""
        match = pattern.match(self.text, self.at, self.end)
        if match is None:
            return False
        self.at = match.end()
        return True

    def sees(self, text: str) -> bool:
        """Whether this text comes next."""
        return self.text.startswith(text, self.at, self.end)

    @property
    def character(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at] if self.at < self.end else ""

    def skip_lines(self) -> None:
        """Go over blanks, comments and line ends, and the bodies of here-documents that follow these."""
        while True:
            if self.pending:
                self.over(BLANKS)
                if self.sees("\n"):
                    self.at += 1
                    self.bodies()
                    continue
            else:
                self.over(_BLANKS_AND_LINE_ENDS)
            if not self.sees("#"):
                return
            start = self.at
            self.over(_COMMENT)
            self.comments.append(Comment(start, self.at, self.text[start : self.at].rstrip(" ")))

    def deeper(self, start: int) -> None:
        """Enter a construct. Raises Failure where too many stand within one another."""
        if self.depth >= DEEPEST:
            message = f'"{self.shown(start)}" stands in more than {DEEPEST} constructs within one another'
            raise Failure("too-deep", message, start, min(start + 1, self.end), "a simpler script")
        self.depth += 1

    # --- What is wrong ---

    def complain(
        self, kind: str, message: str, start: int, end: int, expected: str, *, stops: bool = True, once: bool = True
    ) -> None:
        """Report a problem, but only the first on a line: what follows it there follows from it."""
        stops = stops and not self.read_at_run_time
        key = (self.origin.line_start(start), -1 if once else start)
        self.complaints.setdefault(key, Complaint(kind, message, start, end, expected, stops))

    def report(self, failure: Failure) -> None:
        """Report why reading did not go on."""
        self.complain(failure.kind, failure.message, failure.start, failure.end, failure.expected)

    def unexpected(self, expected: str) -> Failure:
        """The failure to find what is expected here."""
        if self.at >= self.end:
            start = max(0, self.end - 1)
            return Failure("unexpected-end", f"the text ends where {expected} should stand", start, self.end, expected)
        if self.sees("\n"):
            message = f"the line ends where {expected} should stand"
            return Failure("unexpected-end", message, self.at, self.at + 1, expected)
        shown = self.shown(self.at)
        message = f'"{shown}" is not expected here'
        return Failure("unexpected-text", message, self.at, self.at + len(shown), expected)

    def unclosed(self, start: int, opener: str, closer: str) -> Failure:
        """The failure to find what closes a quote or bracket."""
        message = f"{opener} is not closed"
        end = min(start + len(opener), self.end)
        return Failure("unclosed-text", message, start, end, f"{closer} at its end", is_unclosed=True)

    def shown(self, start: int) -> str:
        """The word or operator that stands there."""
        match = _SHOWN.match(self.text, start, self.end)
        return match[0] if match else ""

    @property
    def nesting(self) -> tuple[int, int, int]:
        """How deep the reader is within constructs, to go back to after a failure."""
        return self.depth, self.substitutions, len(self.awaited)

    @nesting.setter
    def nesting(self, value: tuple[int, int, int]) -> None:
        self.depth, self.substitutions, awaited = value
        del self.awaited[awaited:]

    # --- Words ---

    def word(self, takes_lists: bool = False) -> Word:
        """A word up to a blank or an operator; without parts if there is none.

        Extended patterns such as `@(a|b)` are literal text of it, and if it `takes_lists`, so is `(a b)` behind `=`.
        """
        start = self.at
        parts: list[Part] = []
        text, end = self.text, self.end
        while match := _PIECE.match(text, self.at, end):
            at, kind = self.at, match.lastgroup
            self.at = match.end()
            if kind == "run":
                parts.append(Literal(at, self.at, match[0]))
            elif kind == "name":
                parts.append(Parameter(at, self.at, match["name"]))
            elif kind == "braced":
                parts.append(Parameter(at, self.at, match["braced"]))
            else:
                parts.append(Literal(at + 1, self.at - 1, match[0][1:-1], True))
        self.pieces(parts, _IN_WORD, start, _BEFORE_LIST if takes_lists else _BEFORE_PATTERN)
        return Word(start, self.at, tuple(parts))

    def regex(self) -> Word:
        """The word on the right of `=~`, in which parentheses and `|` are literal text."""
        start = self.at
        parts: list[Part] = []
        self.pieces(parts, _IN_REGEX, start, None)
        return Word(start, self.at, tuple(parts))

    def pattern(self) -> Word:
        """The word on the right of `==`, which ksh lets start with a parenthesis."""
        start = self.at
        parts: list[Part] = []
        self.pieces(parts, _IN_WORD, start, None if self.sees("(") else _BEFORE_PATTERN)
        return Word(start, self.at, tuple(parts))

    def pieces(self, parts: list[Part], run: re.Pattern[str], start: int, before: str | None) -> None:
        """The parts of a word from here on. `run` is literal text outside parentheses.

        A parenthesis belongs to the word behind a character of `before`; anywhere, if that is None.
        """
        opened: list[int] = []
        while self.at < self.end:
            at = self.at
            if self.over(_IN_PATTERN if opened else run):
                parts.append(Literal(at, self.at, self.text[at : self.at]))
            elif not self.special(parts):
                character = self.text[at]
                if character == "(" and (opened or before is None or self.text[max(start, at - 1)] in before):
                    opened.append(at)
                elif character == ")" and opened:
                    opened.pop()
                elif character in "<>" and self.text.startswith("(", at + 1, self.end) and not opened:
                    parts.append(self.process_substitution())
                    continue
                else:
                    break
                self.at += 1
                parts.append(Literal(at, self.at, character))
        if opened:
            raise self.unclosed(opened[0], '"("', '")"')

    def special(self, parts: list[Part]) -> bool:
        """Read a quote, a backslash or an expansion outside double quotes; tell whether there is one."""
        character = self.character
        if character == "$":
            if self.sees("$'"):
                self.c_string(parts)
            elif self.sees('$"'):
                self.at += 1
                self.double(parts)
            else:
                parts.append(self.dollar(False))
        elif character == '"':
            self.double(parts)
        elif character == "'":
            self.single(parts)
        elif character == "\\":
            self.escape(parts)
        elif character == "`":
            parts.append(self.backticks(False))
        else:
            return False
        return True

    def escape(self, parts: list[Part], escapable: str = "", quoted: bool = True) -> None:
        """A backslash and what it protects: anything, or only the characters of `escapable`."""
        at = self.at
        following = self.text[at + 1 : min(at + 2, self.end)]
        if following == "\n":
            self.at += 2
        elif following and (not escapable or following in escapable):
            self.at += 2
            parts.append(Literal(at + 1, at + 2, following, True))
        else:
            self.at += 1
            parts.append(Literal(at, at + 1, "\\", quoted))

    def single(self, parts: list[Part]) -> None:
        """Text in single quotes."""
        start = self.at
        end = self.text.find("'", start + 1, self.end)
        if end < 0:
            raise self.unclosed(start, "'", "a second '")
        self.at = end + 1
        parts.append(Literal(start + 1, end, self.text[start + 1 : end], True))

    def c_string(self, parts: list[Part]) -> None:
        """`$'text'` with the escapes of C."""
        start = self.at
        match = _C_STRING.match(self.text, start, self.end)
        if match is None:
            raise self.unclosed(start, "$'", "a second '")
        self.at = match.end()
        parts.append(Literal(start + 2, self.at - 1, _C_ESCAPE.sub(_c_character, match[1]), True))

    def double(self, parts: list[Part]) -> None:
        """Text in double quotes."""
        start = self.at
        before = len(parts)
        self.at += 1
        while True:
            at = self.at
            if self.over(_IN_QUOTES):
                parts.append(Literal(at, self.at, self.text[at : self.at], True))
            character = self.character
            if character == '"':
                break
            if character == "$":
                parts.append(self.dollar(True))
            elif character == "`":
                parts.append(self.backticks(True))
            elif character == "\\":
                self.escape(parts, '$`"\\')
            else:
                raise self.unclosed(start, '"', 'a second "')
        if len(parts) == before:
            parts.append(Literal(self.at, self.at, "", True))
        self.at += 1

    # --- Expansions ---

    def dollar(self, quoted: bool) -> Part:
        """What a dollar sign starts; itself, if nothing."""
        start = self.at
        match = _DOLLAR.match(self.text, start, self.end)
        if match is None:
            self.at += 1
            return Literal(start, self.at, "$", quoted)
        kind = match.lastgroup
        if kind in ("name", "braced"):
            self.at = match.end()
            return Parameter(start, self.at, match[kind], quoted=quoted)
        self.deeper(start)
        part: Part
        if kind == "brace":
            part = self.braces(quoted)
        elif kind == "bracket":
            self.at += 2
            part = self.arithmetic(start, "$[", "]", quoted)
        elif kind == "double" and self.is_arithmetic(start + 1):
            self.at += 3
            part = self.arithmetic(start, "$((", "))", quoted)
        else:
            self.at += 2
            body = self.substituted(start, "$(", ")")
            part = CommandSubstitution(start, self.at, body, quoted)
        self.depth -= 1
        return part

    def substituted(self, start: int, opener: str, closer: str) -> Sequence:
        """The commands of a substitution, and what closes it."""
        self.substitutions += 1
        body = self.sequence(frozenset((closer,)))
        self.substitutions -= 1
        if not self.sees(closer):
            raise self.unclosed(start, f'"{opener}"', f'"{closer}"')
        self.at += len(closer)
        return body

    def process_substitution(self) -> ProcessSubstitution:
        """`<(commands)` or `>(commands)`."""
        start = self.at
        self.deeper(start)
        self.at += 2
        body = self.substituted(start, self.text[start : start + 2], ")")
        self.depth -= 1
        return ProcessSubstitution(start, self.at, body)

    def backticks(self, quoted: bool) -> CommandSubstitution:
        """Commands in backticks: what backslashes hide there is a text of its own."""
        start = self.at
        match = _BACKTICKS.match(self.text, start, self.end)
        if match is None:
            raise self.unclosed(start, "`", "a second `")
        self.deeper(start)
        text, offsets = _unescaped(match[1], start + 1, quoted)
        inner = type(self)(text, text)
        inner.depth, inner.searches, inner.read_at_run_time = self.depth - 1, self.searches, True
        body = inner.sequence(frozenset())
        inner.bodies()
        relocate([body, *inner.comments], offsets)
        self.comments += inner.comments
        self.heredocs += inner.heredocs
        for complaint in inner.complaints.values():
            relocate([complaint], offsets)
            self.complaints.setdefault((complaint.start, complaint.end), complaint)
        self.searches = inner.searches
        self.depth -= 1
        self.at = match.end()
        return CommandSubstitution(start, self.at, body, quoted)

    def is_arithmetic(self, start: int) -> bool:
        """Whether what starts with `((` there ends with `))`, and so is arithmetic."""
        if self.searches <= 0:
            return False
        opened = 0
        for match in _PAIRED.finditer(self.text, start, self.end):
            if match["open"]:
                opened += 1
            elif match["close"]:
                opened -= 1
                if opened == 1:
                    return self.text.startswith(")", match.end(), self.end)
        self.searches -= 1
        return True  # it is not closed at all

    def arithmetic(self, start: int, opener: str, closer: str, quoted: bool) -> Arithmetic:
        """An arithmetic expansion whose opener was read."""
        expression = self.expression(closer[0], start, opener, closer)
        if not self.sees(closer):
            raise self.unclosed(start, f'"{opener}"', f'"{closer}"')
        self.at += len(closer)
        return Arithmetic(start, self.at, expression, quoted)

    def expression(self, stops: str, start: int, opener: str, closer: str) -> Word:
        """An arithmetic expression up to a character of `stops` that is in no brackets. Double quotes are dropped."""
        beginning = literal = self.at
        parts: list[Part] = []
        opened: list[str] = []

        def flush() -> None:
            if literal < self.at:
                parts.append(Literal(literal, self.at, self.text[literal : self.at]))

        while self.at < self.end:
            if self.over(_IN_ARITHMETIC):
                continue
            character = self.text[self.at]
            if character in stops and not opened:
                flush()
                return Word(beginning, self.at, tuple(parts))
            if character in "([":
                opened.append(")" if character == "(" else "]")
                self.at += 1
            elif opened and character == opened[-1]:
                opened.pop()
                self.at += 1
            elif character in ")];":
                self.at += 1
            else:
                flush()
                if character == "$":
                    parts.append(self.dollar(True))
                elif character == "`":
                    parts.append(self.backticks(True))
                elif character == "\\":
                    self.escape(parts, quoted=False)
                else:
                    self.at += 1
                literal = self.at
        raise self.unclosed(start, f'"{opener}"', f'"{closer}"')

    # --- Parameters in braces ---

    def braces(self, quoted: bool) -> Part:
        """`${...}`, which is not just a name in braces."""
        start = self.at
        self.at += 2
        if self.character in (" ", "\t", "\n"):
            body = self.substituted(start, "${", "}")
            return CommandSubstitution(start, self.at, body, quoted)
        text, at, end = self.text, self.at, self.end
        length, indirect = _LENGTH.match(text, at, end), _INDIRECT.match(text, at, end)
        match = length or indirect or _PARAMETER.match(text, at, end)
        name, subscript, operator, arguments = "", None, "", ()  # type: str, Word | None, str, tuple[Word, ...]
        is_broken = match is None
        if match is not None:
            name = match["name"]
            self.at = match.end()
            if self.sees("["):
                subscript = self.subscript("}")
                is_broken = subscript.end == self.at
        if is_broken or not self.sees("}"):
            operation = None if is_broken or length else _OPERATOR.match(text, self.at, end)
            operator = operation[0] if operation else "!"
            self.at = operation.end() if operation else self.at
            arguments = self.arguments(operator, quoted, start)
        if not self.sees("}"):
            raise self.unclosed(start, '"${"', '"}"')
        self.at += 1
        is_template = _TEMPLATE.search(text, start + 1, self.at) is not None
        if operator == "!" and not is_template and not (indirect and text[self.at - 2] in "*@"):
            shown = text[start : self.at] if self.at - start < 60 else f"{text[start : start + 57]}..."
            expected = "${name}, or a name with an operator"
            message = f'the shell cannot expand "{shown}"'
            self.complain("bad-substitution", message, start, self.at, expected, stops=False, once=False)
        return Parameter(start, self.at, name, subscript, operator, arguments, bool(length), bool(indirect), quoted)

    def arguments(self, operator: str, quoted: bool, start: int) -> tuple[Word, ...]:
        """What follows the operator of a parameter, up to the closing brace."""
        if operator in ("^", "^^", ",", ",,") and self.sees("}"):
            return ()
        keeps_quotes = quoted and operator[0] not in "#%/^,"
        stop = operator[0] if operator in ("/", "//", "/#", "/%", ":") else ""
        first = self.argument(stop, quoted, keeps_quotes, start)
        if stop and self.sees(stop):
            self.at += 1
            return first, self.argument("", quoted, keeps_quotes, start)
        return (first,)

    def argument(self, stop: str, quoted: bool, keeps_quotes: bool, brace: int) -> Word:
        """A word in braces, up to `stop` or the closing brace. Single quotes are literal if `keeps_quotes`."""
        start = self.at
        parts: list[Part] = []
        run = _IN_BRACES[stop, keeps_quotes]
        while True:
            at = self.at
            if self.over(run):
                parts.append(Literal(at, self.at, self.text[at : self.at], keeps_quotes))
            character = self.character
            if character == "}" or (stop and character == stop):
                return Word(start, self.at, tuple(parts))
            if not character:
                raise self.unclosed(brace, '"${"', '"}"')
            if quoted and character == "$":
                parts.append(self.dollar(keeps_quotes))
            elif quoted and character == "`":
                parts.append(self.backticks(keeps_quotes))
            elif quoted and character == "\\":
                self.escape(parts, '$`"\\}' if keeps_quotes else "")
            else:
                self.special(parts)

    def subscript(self, stop: str = "") -> Word:
        """`[subscript]`; without its closing bracket if `stop` comes first."""
        bracket = self.at
        self.at += 1
        start = self.at
        parts: list[Part] = []
        opened = 0
        while self.at < self.end:
            at = self.at
            if self.over(_IN_SUBSCRIPT):
                parts.append(Literal(at, self.at, self.text[at : self.at]))
            elif not self.special(parts):
                character = self.text[at]
                if not opened and character in ("]", stop):
                    self.at += character == "]"
                    return Word(start, at, tuple(parts))
                opened += (character == "[") - (character == "]")
                self.at += 1
                parts.append(Literal(at, self.at, character))
        raise self.unclosed(bracket, '"["', '"]"')

    # --- Here-documents ---

    def delimiter(self, strips_tabs: bool) -> tuple[Word, Heredoc]:
        """The word behind `<<`, which is not expanded, and the here-document that it announces."""
        start = self.at
        parts: list[Part] = []
        quoted = False
        while match := _DELIMITER.match(self.text, self.at, self.end):
            self.at = match.end()
            kind = match.lastgroup
            if kind is not None:
                is_quoted = kind != "plain"
                quoted = quoted or is_quoted
                parts.append(Literal(*match.span(kind), match[kind], is_quoted))
        if not parts:
            raise self.unexpected("the delimiter of a here-document")
        word = Word(start, self.at, tuple(parts))
        body = Word(self.at, self.at)
        return word, Heredoc(word.literal or "", quoted, strips_tabs, body, is_terminated=False)

    def bodies(self) -> None:
        """Read the bodies that start here."""
        pending, self.pending = self.pending, []
        for redirection, heredoc in pending:
            self.heredocs.append((redirection, heredoc))
            self.body(redirection, heredoc)

    def body(self, redirection: Redirection, heredoc: Heredoc) -> None:
        """Read one body and the line of its delimiter."""
        start = self.at
        searches = self.searches
        if not self.read_at_run_time:
            self.searches = _MOST_SEARCHES
        stop, after = self.delimiter_line(heredoc)
        if after < 0:
            stop = after = self.end
            heredoc.is_terminated = False
            shown = self.text[redirection.start : redirection.end]
            message = f'the here-document "{shown}" goes on to the end of the script'
            expected = f'a line "{heredoc.delimiter}"'
            place = redirection.start, redirection.end
            self.complain("unterminated-heredoc", message, *place, expected, stops=False, once=False)
        else:
            heredoc.is_terminated = True
        heredoc.body = Word(start, stop, self.body_parts(heredoc, stop))
        self.searches = searches
        self.at = after

    def delimiter_line(self, heredoc: Heredoc) -> tuple[int, int]:
        """Where the line of the delimiter starts and where reading goes on; -1 for both if it never comes."""
        raw, start, end, delimiter = self.raw, self.at, self.end, heredoc.delimiter
        found = raw.find(delimiter, start, end)
        while found >= 0:
            line = found
            if heredoc.strips_tabs:
                while line > start and raw[line - 1] == "\t":
                    line -= 1
            if line == start or (raw[line - 1] == "\n" and (heredoc.quoted or not self.is_continued(line, start))):
                after = found + len(delimiter)
                if after == end:
                    return line, end
                for line_end in ("\n", "\r\n"):
                    if raw.startswith(line_end, after, end):
                        return line, after + len(line_end)
                if self.substitutions and raw.startswith(")", after, end):
                    return line, after
            found = raw.find(delimiter, found + 1, end)
        return -1, -1

    def is_continued(self, line: int, start: int) -> bool:
        """Whether a backslash joins the line that starts there to the one before."""
        at = line - 1
        while at > start and self.raw[at - 1] == "\\":
            at -= 1
        return (line - 1 - at) % 2 == 1

    def body_parts(self, heredoc: Heredoc, stop: int) -> tuple[Part, ...]:
        """The parts of a body, which ends at `stop`."""
        parts: list[Part] = []
        run = _IN_BODY_LINE if heredoc.strips_tabs else _IN_BODY
        outer_end, self.end = self.end, stop
        is_line_start = True
        while self.at < stop:
            if heredoc.strips_tabs and is_line_start:
                self.over(_TABS)
            at = self.at
            if heredoc.quoted:
                line_end = self.raw.find("\n", at, stop) if heredoc.strips_tabs else -1
                self.at = stop if line_end < 0 else line_end + 1
            else:
                self.over(run)
            if self.at > at:
                parts.append(Literal(at, self.at, self.raw[at : self.at], True))
                is_line_start = self.raw[self.at - 1] == "\n"
            elif self.at < stop:
                self.body_special(parts)
                is_line_start = False
        self.end = outer_end
        return tuple(parts)

    def body_special(self, parts: list[Part]) -> None:
        """A backslash or an expansion in the body of a here-document; one that cannot be read is literal text."""
        if self.sees("\\"):
            self.escape(parts, "$`\\")
            return
        at, nesting, known = self.at, self.nesting, len(self.complaints)
        at_run_time, self.read_at_run_time = self.read_at_run_time, True
        try:
            parts.append(self.dollar(True) if self.sees("$") else self.backticks(True))
        except Failure as failure:
            self.rewind(at, known)
            self.report(failure)
            self.nesting = nesting
            # Where too many searches were in vain, the rest of the body is left alone.
            self.searches -= 1
            self.at = at + 1 if self.searches > 0 else self.end
            parts.append(Literal(at, self.at, self.raw[at : self.at], True))
        if self.pending:
            self.at, going_on = self.end, self.at
            self.bodies()
            self.at = going_on
        self.read_at_run_time = at_run_time

    def rewind(self, target: int, known: int = 0) -> None:
        """Go back, and forget what was found behind: it will be read once more.

        The first `known` complaints lie before.
        """
        if target >= self.at:
            return
        while self.comments and self.comments[-1].start >= target:
            self.comments.pop()
        recent = [self.complaints.popitem() for _ in range(len(self.complaints) - known)]
        self.complaints.update((key, found) for key, found in reversed(recent) if found.start < target)
        while self.heredocs and self.heredocs[-1][1].body.start >= target:
            self.pending.insert(0, self.heredocs.pop())
        self.pending = [pair for pair in self.pending if pair[0].start < target]
        self.at = target


def _c_character(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    written = match[kind]
    if kind == "letter":
        return _C_LETTERS.get(written, written)
    if kind == "control":
        return chr(ord(written) & 0x1F)
    code = int(written, 8) & 0xFF if kind == "octal" else int(written, 16)
    return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


def _unescaped(text: str, start: int, quoted: bool) -> tuple[str, Row[int]]:
    """What the shell reads in backticks, and where each character of it stands in the script."""
    if "\\" not in text:
        return text, range(start, start + len(text) + 1)
    pattern = _ESCAPED_IN_QUOTED_BACKTICKS if quoted else _ESCAPED_IN_BACKTICKS
    pieces: list[str] = []
    offsets: list[int] = []
    at = 0
    for match in pattern.finditer(text):
        pieces += [text[at : match.start()], match[1]]
        offsets += range(start + at, start + match.start())
        offsets.append(start + match.start(1))
        at = match.end()
    pieces.append(text[at:])
    offsets += range(start + at, start + len(text) + 1)
    return "".join(pieces), offsets


def relocate(nodes: list[Any], offsets: Row[int]) -> None:
    """Move nodes, and all that is in them, to the places in the script that their characters come from."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (tuple, list)):
            waiting += node
            continue
        if not has(type(node)):
            continue
        if isinstance(node, Heredoc):
            node.body.parts = tuple(piece for part in node.body.parts for piece in _contiguous(part, offsets))
        for attribute in fields(type(node)):
            value = getattr(node, attribute.name)
            if not isinstance(value, (str, bool, int)):
                waiting.append(value)
        if hasattr(node, "start"):
            start, end = node.start, node.end
            node.start = offsets[start]
            node.end = offsets[end - 1] + 1 if end > start else offsets[start]


def _contiguous(part: Part, offsets: Row[int]) -> list[Part]:
    """A literal of a here-document, cut where a backslash is left out between two of its characters."""
    if not isinstance(part, Literal):
        return [part]
    cuts = [at for at in range(part.start + 1, part.end) if offsets[at] != offsets[at - 1] + 1]
    if not cuts:
        return [part]
    ends = [*cuts, part.end]
    text, base = part.text, part.start
    return [
        Literal(start, end, text[start - base : end - base], part.quoted)
        for start, end in zip([part.start, *cuts], ends, strict=True)
    ]
