"""Words of a shell script: quotes, expansions and here-documents."""

from __future__ import annotations

import re
from collections.abc import Sequence as Row
from typing import Any

from nmlgen.script.reading import MOST_COMPLAINTS, Reader
from nmlgen.script.syntax import (
    Arithmetic,
    CommandSubstitution,
    Heredoc,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Sequence,
    Word,
)
from nmlgen.values import fields, has

_NAME = "[A-Za-z_][A-Za-z0-9_]*"


# The text that stands for itself, by what it stands in.
_PLAIN = r" \t\n|&;<>()$`\\\"'"
_IN_WORD = re.compile(rf"[^{_PLAIN}]+")
_IN_PATTERN = re.compile(r"[^()$`\\\"'\n]+")  # within ?(..), *(..), +(..), @(..), !(..)
_IN_REGEX = re.compile(r"[^ \t\n&;<>()$`\\\"']+")
LONE_DOLLAR = r"\$(?![\w@*#?$!{(\[-])"
"""A dollar sign that starts nothing."""
_IN_QUOTES = re.compile(rf"(?:[^\"$`\\]+|\\[^\"$`\\\n]|{LONE_DOLLAR})+")
_IN_ARITHMETIC = re.compile(r"[^$`\\\"()\[\];]+")
_IN_SUBSCRIPT = re.compile(r"[^$`\\\"'\[\]}]+")
_IN_BRACES = {
    (stop, quoted): re.compile(rf"[^}}$`\\\"{stop}{'' if quoted else chr(39)}]+")
    for stop in ("", "/", ":")
    for quoted in (False, True)
}

_REPEATED = re.compile(r"\{[0-9]+(?:,[0-9]*)?\}\Z")  # what comes before those of ksh's {2}(x) and {1,3}(x)
_LONGEST_COUNT = 40  # characters
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
_FUNCTION_BODY = re.compile(r"\([ \t]*\)[ \t\n]*\{[ \t\n]")  # of a function that may be called g++
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


class WordReader(Reader):
    """The reading of words."""

    is_ksh = False

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
                if self.has_returns:
                    self.quoted.append((at, self.at - 1))
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
                if character == "(" and (opened or before is None or self.opens_pattern(start, before)):
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
            raise self.unclosed(opened[0], "(", ")")
        self.spend(len(parts) or 1)

    def opens_pattern(self, start: int, before: str) -> bool:
        """Whether the parenthesis here is that of an extended pattern, in the word that begins at `start`."""
        if not self.is_ksh and _FUNCTION_BODY.match(self.text, self.at, self.end):
            return False
        last = self.text[max(start, self.at - 1)]
        is_repeated = self.is_ksh and last == "}" and self.ends_in_count(start)
        matches_least = self.is_ksh and last == "-" and not self.sees("()")  # *-(x)
        return is_repeated or last in before or matches_least

    def ends_in_count(self, start: int) -> bool:
        """Whether the word that begins at `start` ends here in how often a pattern comes."""
        return _REPEATED.search(self.text, max(start, self.at - _LONGEST_COUNT), self.at) is not None

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
            raise self.unclosed(start, "'", "'")
        self.at = end + 1
        parts.append(Literal(start + 1, end, self.text[start + 1 : end], True))
        if self.has_returns:
            self.quoted.append((start, end))

    def c_string(self, parts: list[Part]) -> None:
        """`$'text'` with the escapes of C."""
        start = self.at
        match = _C_STRING.match(self.text, start, self.end)
        if match is None:
            raise self.unclosed(start, "$'", "'")
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
                raise self.unclosed(start, '"', '"')
        if len(parts) == before:
            parts.append(Literal(self.at, self.at, "", True))
        if self.has_returns:
            self.quoted.append((start, self.at))
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
            raise self.unclosed(start, opener, closer)
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
            raise self.unclosed(start, "`", "`")
        self.deeper(start)
        text, offsets = _unescaped(match[1], start + 1, quoted)
        inner = type(self)(text, text)
        inner.depth, inner.searches, inner.read_at_run_time = self.depth - 1, self.searches, True
        inner.rereadable, inner.parts = self.rereadable, self.parts
        body = inner.sequence(frozenset())
        inner.bodies()
        relocate([body, *inner.comments], offsets)
        self.comments += inner.comments
        self.heredocs += inner.heredocs
        for complaint in list(inner.complaints.values())[: MOST_COMPLAINTS - len(self.complaints)]:
            relocate([complaint], offsets)
            self.complaints.setdefault((complaint.start, complaint.end), complaint)
        self.searches, self.rereadable, self.parts = inner.searches, inner.rereadable, inner.parts
        self.depth -= 1
        self.at = match.end()
        return CommandSubstitution(start, self.at, body, quoted)

    def is_arithmetic(self, start: int) -> bool:
        """Whether what starts with `((` there ends with `))`, and so is arithmetic."""
        if self.searches <= 0 or self.rereadable <= 0:
            return False
        opened = 0
        for match in _PAIRED.finditer(self.text, start, self.end):
            if match["open"]:
                opened += 1
            elif match["close"]:
                opened -= 1
                if opened == 1:
                    self.rereadable -= match.end() - start
                    return self.text.startswith(")", match.end(), self.end)
        self.searches -= 1
        return True  # it is not closed at all

    def arithmetic(self, start: int, opener: str, closer: str, quoted: bool) -> Arithmetic:
        """An arithmetic expansion whose opener was read."""
        expression = self.expression(closer[0], start, opener, closer)
        if not self.sees(closer):
            raise self.unclosed(start, opener, closer)
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
        raise self.unclosed(start, opener, closer)

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
            raise self.unclosed(start, "${", "}")
        self.at += 1
        is_template = _TEMPLATE.search(text, start + 1, self.at) is not None
        if operator == "!" and not is_template and not (indirect and text[self.at - 2] in "*@"):
            shown = text[start : self.at] if self.at - start < 60 else f"{text[start : start + 57]}..."
            expected = "${name}, or a name with an operator"
            message = f'the shell cannot expand "{shown}"'
            self.complain("bad-substitution", message, start, self.at, expected, stops=False, once=False)
        return Parameter(start, self.at, name, subscript, operator, arguments, bool(length), bool(indirect), quoted)

    def arguments(self, operator: str, quoted: bool, start: int) -> tuple[Word, ...]:
        """What follows the operator of a parameter, up to the closing brace.

        Quotes around the braces do not quote a pattern within them.
        """
        if operator in ("^", "^^", ",", ",,") and self.sees("}"):
            return ()
        quoted = quoted and operator[0] not in "#%/^,"
        stop = operator[0] if operator in ("/", "//", "/#", "/%", ":") else ""
        first = self.argument(stop, quoted, start)
        if stop and self.sees(stop):
            self.at += 1
            return first, self.argument("", quoted, start)
        return (first,)

    def argument(self, stop: str, quoted: bool, brace: int) -> Word:
        """A word in braces, up to `stop` or the closing brace. Single quotes are literal if it is quoted."""
        start = self.at
        parts: list[Part] = []
        run = _IN_BRACES[stop, quoted]
        while True:
            at = self.at
            if self.over(run):
                parts.append(Literal(at, self.at, self.text[at : self.at], quoted))
            character = self.character
            if character == "}" or (stop and character == stop):
                return Word(start, self.at, tuple(parts))
            if not character:
                raise self.unclosed(brace, "${", "}")
            if quoted and character == "$":
                parts.append(self.dollar(quoted))
            elif quoted and character == "`":
                parts.append(self.backticks(quoted))
            elif quoted and character == "\\":
                self.escape(parts, '$`"\\}')
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
        raise self.unclosed(bracket, "[", "]")


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
