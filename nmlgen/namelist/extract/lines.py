"""Fortran source as statements: conditional compilation applied, continued lines joined, comments dropped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.units.whole import decimal
from nmlgen.values import frozen

_DIRECTIVE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elif|else|endif)\b(.*)")
_DEFINED = re.compile(r"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)")
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")


@frozen
class Statement:
    """One statement in lower case but for its texts, and the line it begins on, counted from 1."""

    line: int
    text: str


def statements(source: str, macros: frozenset[str]) -> Iterator[Statement]:
    """The statements of a file that are compiled if just these macros are defined."""
    held: list[str] = []  # what the lines before say of a statement that goes on
    quote: str | None = None  # what is open at their end
    start = 0
    for number, line in _compiled(source, macros):
        code = _without_comment(line, quote)
        if not code.strip():
            continue
        if not held:
            start = number
        code = code if quote else code.strip()
        if held and code.lstrip().startswith("&"):
            code = code.lstrip()[1:]
        elif not held:
            code = code.removeprefix("&")
        if code.rstrip().endswith("&"):
            code = code.rstrip()[:-1]
            quote = _open_quote(code, quote)
            held.append(code if quote else code.rstrip() + " ")
            continue
        yield from (Statement(start, text) for text in _split("".join([*held, code])))
        held, quote = [], None
    if any(map(str.strip, held)):
        yield from (Statement(start, text) for text in _split("".join(held)))


def _compiled(source: str, macros: frozenset[str]) -> Iterator[tuple[int, str]]:
    """The lines between the directives of the preprocessor, with their numbers."""
    branches: list[tuple[bool, bool]] = []  # is it compiled, and what is around it; was one of the branches before
    for number, line in enumerate(source.split("\n"), start=1):
        found = _DIRECTIVE.match(line)
        if found is None:
            if not line.lstrip().startswith("#") and _is_active(branches):
                yield number, line
            continue
        keyword, condition = found.groups()
        if keyword == "endif":
            del branches[-1:]
        elif keyword in ("else", "elif") and branches:
            _, taken = branches.pop()
            active = not taken and (keyword == "else" or _holds(condition, macros))
            branches.append((active and _is_active(branches), taken or active))
        elif keyword in ("if", "ifdef", "ifndef"):
            name = condition.split()[0] if condition.split() else ""
            active = {"ifdef": name in macros, "ifndef": name not in macros}.get(keyword)
            active = _holds(condition, macros) if active is None else active
            branches.append((active and _is_active(branches), active))


def _is_active(branches: list[tuple[bool, bool]]) -> bool:
    return not branches or branches[-1][0]


_MOST_TOKENS = 100  # of a condition, whose parentheses are gone through a call within a call


def _holds(condition: str, macros: frozenset[str]) -> bool:
    """Whether the condition of an #if holds; macros that are defined are 1, the others 0."""
    text = re.sub(r"/\*.*?(?:\*/|\Z)", " ", condition, flags=re.DOTALL)
    text = _DEFINED.sub(lambda found: str(int((found[1] or found[2]) in macros)), text)
    text = _WORD.sub(lambda found: str(int(found[0] in macros)), text)
    tokens = re.findall(r"\d+|&&|\|\||[!=<>]=|[!<>()+*-]", text)
    return len(tokens) <= _MOST_TOKENS and _Condition(tokens).value() != 0


class _Condition:
    """The arithmetic of the preprocessor, as far as sources use it: || && ! comparisons and parentheses."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    def _next(self, *wanted: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def value(self) -> int:
        result = self._both()
        while self._next("||"):
            result = int(bool(self._both()) or bool(result))
        return result

    def _both(self) -> int:
        result = self._comparison()
        while self._next("&&"):
            result = int(bool(self._comparison()) and bool(result))
        return result

    def _comparison(self) -> int:
        left = self._single()
        operator = self._next("==", "!=", ">", "<", ">=", "<=")
        if operator is None:
            return left
        right = self._single()
        results = {"==": left == right, "!=": left != right, ">": left > right, "<": left < right}
        return int(results.get(operator, left >= right if operator == ">=" else left <= right))

    def _single(self) -> int:
        if self._next("!"):
            return int(not self._single())
        if self._next("("):
            result = self.value()
            self._next(")")
            return result
        return decimal(self.tokens.pop(0)) or 0 if self.tokens and self.tokens[0].isdigit() else 0


def _open_quote(text: str, quote: str | None) -> str | None:
    """The quotation mark that is still open at the end of a text, if `quote` is before it."""
    for character in text:
        if quote is None and character in "\"'":
            quote = character
        elif character == quote:
            quote = None
    return quote


def _without_comment(line: str, quote: str | None) -> str:
    if "!" not in line:
        return line
    for position, character in enumerate(line):
        if quote is None and character in "\"'":
            quote = character
        elif character == quote:
            quote = None
        elif quote is None and character == "!":
            return line[:position]
    return line


def _split(text: str) -> Iterator[str]:
    """The statements of a line, split at semicolons, in lower case outside of quotation marks."""
    part, quote = "", None
    for character in text:
        if quote is None and character == ";":
            if part.strip():
                yield part.strip()
            part = ""
        elif quote is None:
            quote = character if character in "\"'" else None
            part += character.lower()
        else:
            quote = None if character == quote else quote
            part += character
    if part.strip():
        yield part.strip()


def split_list(text: str, separator: str = ",") -> list[str]:
    """The parts of a list, split where no parenthesis or quotation mark is open."""
    parts, depth, quote, start = [], 0, None, 0
    for position, character in enumerate(text):
        if quote is not None:
            quote = None if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    parts.append(text[start:].strip())
    return parts


def closing(text: str, opening: int) -> int:
    """The position of the parenthesis that closes the one at `opening`; -1 if there is none."""
    depth, quote = 0, None
    for position in range(opening, len(text)):
        character = text[position]
        if quote is not None:
            quote = None if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
            if depth == 0:
                return position
    return -1
