"""The syntax tree of a namelist file: what stands where, down to the last blank.

Every node is a stretch of the text it was read from, so that nothing is lost: the tokens of a document, put
together, are the text again. What a node means is told as the Fortran runtime would read it, as far as that can
be told without knowing the types of the variables; `nmlgen.namelist.assignment` does the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from nmlgen.findings import Fix
from nmlgen.source import Source, Span, Text
from nmlgen.values import field, frozen

_TRIVIA = re.compile(r"(?P<blank>[ \t\r\n]+)|(?P<comment>![^\n]*)|(?P<separator>[,;])|(?P<other>[^ \t\r\n!,;]+)")

_MOST_VALUES = 10_000_000


@frozen(eq=False)
class Node:
    """The characters `start` up to, not including, `end` of a text."""

    origin: Text = field(repr=False)
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters themselves."""
        return self.origin.text[self.start : self.end]

    @property
    def span(self) -> Span:
        """Where the characters stand, by line and column."""
        return self.origin.span(self.start, self.end)


@frozen(eq=False)
class Token(Node):
    """One piece of a document.

    `kind` is "outside" (text between groups, which the runtime skips), "header", "name", "equals", "value",
    "separator", "comment", "blank", "end" or "other" (what does not belong there).
    """

    kind: str


@frozen
class SyntaxProblem:
    """Text that the Fortran runtime does not read as it was meant.

    `kind` names the mistake ("unclosed-group"); `message` quotes the text and `expected` says what should stand
    there; `stops` tells whether the runtime refuses the group, rather than reading something else in silence; `fix`
    mends it.
    """

    kind: str
    message: str
    span: Span
    expected: str
    stops: bool = True
    fix: Fix | None = None


@frozen(eq=False)
class Value(Node):
    """One value, or `repeat` copies of it.

    `kind` is "integer", "real", "logical", "string", "complex", "null" or "word" (unquoted text that is none of
    these); "unknown" where a script decides it when it runs. `value` is the Python value: an int, float, bool, str
    (quotes resolved, line ends dropped, as the runtime does) or complex; None for a null, which leaves the element as
    it is; the text itself for a word.
    """

    kind: str
    value: Any
    repeat: int = 1

    @property
    def is_comment(self) -> bool:
        """Whether it is a null that stands there only because a comment follows a comma or an equals sign."""
        return self.start == self.end and self.origin.text.startswith("!", self.start)


@frozen
class Index:
    """One subscript: `lower` alone for an element; a section `lower:upper:stride`, each None where not written."""

    lower: int | None
    upper: int | None = None
    stride: int | None = None
    is_section: bool = False


@frozen(eq=False)
class Part(Node):
    """A name and the lists of subscripts behind it.

    `name` is in lower case. There is more than one list where a substring of an array element is meant:
    `a(2)(1:3)`. A list that cannot be understood is None.
    """

    name: str
    subscripts: tuple[tuple[Index, ...] | None, ...] = ()


@frozen(eq=False)
class Item(Node):
    """One assignment `designator = values`, from the first character of the name to the last of the values.

    `base` is the name of the variable in lower case, without subscripts and components; `name_end` and `equals` are
    the offsets at which the designator ends and the equals sign stands.
    """

    base: str
    name_end: int
    equals: int
    values: tuple[Value, ...]
    _path: tuple[Part, ...] = field(default=(), repr=False)

    @property
    def path(self) -> tuple[Part, ...]:
        """The parts of the designator: the variable, then its components."""
        return self._path or (Part(self.origin, self.start, self.name_end, self.base),)

    @property
    def is_plain(self) -> bool:
        """Whether it gives one value, once, to a variable named without subscripts and components."""
        return len(self.values) == 1 and self.values[0].repeat == 1 and not self._path

    @property
    def name(self) -> str:
        """The whole designator in lower case and without blanks: `pa(2)%a`."""
        if not self._path:
            return self.base
        written = self.origin.text[self.start : self.name_end]
        return "".join(written.split()).lower()

    @property
    def name_span(self) -> Span:
        """Where the designator stands."""
        return self.origin.span(self.start, self.name_end)

    @property
    def plain(self) -> Any:
        """The Python value, or the list of them where there are several; None without any.

        Raises ValueError where repeat counts ask for more than ten million values.
        """
        if sum(value.repeat for value in self.values) > _MOST_VALUES:
            raise ValueError(f"{self.name} stands for more than {_MOST_VALUES} values")
        values = [element for value in self.values for element in [value.value] * value.repeat]
        return None if not values else values[0] if len(values) == 1 else values


@frozen(eq=False)
class Group(Node):
    """One group, from its `&` to its `/`, or as far as it was read if that is missing.

    `name` is in lower case. `errors` holds what is wrong with its text. `terminator` is the `/` or `&end`, None
    where there is none. `hidden` says why ICON does not find the group when it looks for `&name`, None if it does
    (position_nml, mo_namelist.F90:100-169).
    """

    name: str
    header_end: int
    items: tuple[Item, ...]
    errors: tuple[SyntaxProblem, ...]
    terminator: Token | None
    hidden: SyntaxProblem | None = None
    is_open: bool = False

    @property
    def name_span(self) -> Span:
        """Where `&name` stands."""
        return self.origin.span(self.start, self.header_end)

    @property
    def is_refused(self) -> bool:
        """Whether the Fortran runtime stops in this group, whatever the types of its variables."""
        return any(problem.stops for problem in self.errors)

    def named(self, name: str) -> tuple[Item, ...]:
        """The items that assign to a variable, or to exactly the designator given: "pa" or "pa(2)%a"."""
        wanted = re.sub(r"\s+", "", name).lower()
        return tuple(item for item in self.items if wanted in (item.base, item.name))

    @property
    def tokens(self) -> Iterator[Token]:
        """All of its text, piece by piece."""
        yield Token(self.origin, self.start, self.header_end, "header")
        at = self.header_end
        for token in self._named_tokens():
            yield from trivia(self.origin, at, token.start)
            yield token
            at = token.end
        yield from trivia(self.origin, at, self.end)

    @property
    def comments(self) -> tuple[Token, ...]:
        """The comments between its header and its end."""
        return tuple(token for token in self.tokens if token.kind == "comment")

    def _named_tokens(self) -> Iterator[Token]:
        for item in self.items:
            yield Token(self.origin, item.start, item.name_end, "name")
            yield Token(self.origin, item.equals, item.equals + 1, "equals")
            for value in item.values:
                if value.start < value.end:
                    yield Token(self.origin, value.start, value.end, "value")
        if self.terminator is not None:
            yield self.terminator


def trivia(origin: Text, start: int, end: int) -> Iterator[Token]:
    """What stands between names and values, piece by piece."""
    for match in _TRIVIA.finditer(origin.text, start, end):
        yield Token(origin, match.start(), match.end(), str(match.lastgroup))


@frozen(eq=False)
class Document:
    """A namelist file: its groups in order. `problems` holds what is wrong between them."""

    source: Source
    groups: tuple[Group, ...]
    problems: tuple[SyntaxProblem, ...] = ()
    origin: Text = field(kw_only=True, repr=False)

    @property
    def tokens(self) -> Iterator[Token]:
        """All of the text, piece by piece."""
        at = 0
        for group in self.groups:
            if at < group.start:
                yield Token(self.origin, at, group.start, "outside")
            yield from group.tokens
            at = group.end
        if at < len(self.source.text):
            yield Token(self.origin, at, len(self.source.text), "outside")

    @property
    def comments(self) -> Iterator[Token]:
        """The comments, within the groups and between them."""
        for token in self.tokens:
            if token.kind == "comment":
                yield token
            elif token.kind == "outside":
                yield from (piece for piece in trivia(self.origin, token.start, token.end) if piece.kind == "comment")

    @property
    def text(self) -> str:
        """The text of the file, put together from its pieces."""
        return "".join(token.text for token in self.tokens)

    @property
    def errors(self) -> tuple[SyntaxProblem, ...]:
        """What is wrong, within the groups and between them, by position."""
        found = [*self.problems, *(problem for group in self.groups for problem in group.errors)]
        return tuple(sorted(found, key=lambda problem: (problem.span.line, problem.span.column)))

    def copies(self, name: str) -> tuple[Group, ...]:
        """The groups of that name, whatever their case, in order."""
        return tuple(group for group in self.groups if group.name == name.lower())

    def group(self, name: str, copy: int = 1) -> Group | None:
        """The `copy`-th group of that name, counted from 1; None if there are fewer."""
        found = self.copies(name)
        return found[copy - 1] if 0 < copy <= len(found) else None
