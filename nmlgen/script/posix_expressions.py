"""POSIX regular expressions, basic (sed, grep, expr) and extended (`[[ =~ ]]`, sed -E), by way of Python's.

POSIX takes the longest of the leftmost matches, Python the first it comes upon. An expression says for itself whether
both are certain to be the same; a backtracking that could take too long is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TypeAlias

from nmlgen.script.patterns import CHARACTER_CLASSES, Pattern
from nmlgen.values import define, field, frozen


class Untranslatable(Exception):
    """An expression that no longer means the same in Python, or that could take too long."""


@frozen
class Expression:
    """A POSIX regular expression that Python can search for."""

    pattern: re.Pattern[str]
    has_certain_span: bool
    """Whether the text that Python finds, and its groups, are those of POSIX."""
    loops: int
    """How many repetitions can try several lengths each, where a match may begin anywhere."""

    def effort(self, text: str) -> int:
        """What a search in a text may cost, as `Effort` counts."""
        steps = self._steps(text)
        return 1 + steps // _STEPS if steps <= _MOST_STEPS else 1

    def may_be_found(self, text: str) -> bool:
        """Whether it may match anywhere in a text; where that would take too long, too."""
        return self._steps(text) > _MOST_STEPS or self.pattern.search(text) is not None

    def is_found(self, text: str) -> bool:
        """Whether it matches anywhere in a text."""
        self._check(text)
        return self.pattern.search(text) is not None

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The leftmost longest match from an offset on. Raises Untranslatable where Python may find another."""
        if not self.has_certain_span:
            raise Untranslatable("the longest match may be another than Python's")
        self._check(text)
        return self.pattern.search(text, start)

    def _steps(self, text: str) -> int:
        """In how many ways a match can begin somewhere and its repetitions can share out what follows."""
        return comb(len(text) + self.loops, self.loops + 1)

    def _check(self, text: str) -> None:
        if not text.isascii():
            raise Untranslatable("characters that are several bytes to some locales")
        if self._steps(text) > _MOST_STEPS:
            raise Untranslatable("a text too long for this expression")


def translate_ere(expression: str | Pattern, *, ignore_case: bool = False) -> Expression:
    """An extended expression; of a row of pieces, the quoted ones stand for themselves."""
    return _translated(expression, True, ignore_case)


def translate_bre(expression: str | Pattern, *, ignore_case: bool = False) -> Expression:
    """A basic expression, with GNU's `\\+`, `\\?` and `\\|`."""
    return _translated(expression, False, ignore_case)


# --- The tree -------------------------------------------------------------------------------------------------------

_EVERYTHING = frozenset(map(chr, range(128))) | {"other"}
_WORD = frozenset(CHARACTER_CLASSES["alnum"]) | {"_"}
_UNBOUNDED = 255
_LONGEST = 1_000
_MOST_CHOICES = 50  # of one alternation, each of which is held against the others
_MOST_STEPS = 10_000_000
_STEPS = 500  # that take as long as a look at something else


@frozen
class _Set:
    """One character out of some."""

    members: frozenset[str]
    source: str


@frozen
class _Anchor:
    """A place: `^`, `$`, the edge of a word."""

    source: str


@frozen
class _Repeat:
    body: _Node
    least: int
    most: int


@frozen
class _Group:
    body: _Node


@frozen
class _Sequence:
    items: tuple[_Node, ...]


@frozen
class _Alternation:
    choices: tuple[_Node, ...]


_Node: TypeAlias = "_Set | _Anchor | _Repeat | _Group | _Sequence | _Alternation"


def _translated(expression: str | Pattern, is_extended: bool, ignore_case: bool) -> Expression:
    pieces: Pattern = [(expression, False)] if isinstance(expression, str) else expression
    characters = [(character, quoted) for text, quoted in pieces for character in text]
    if len(characters) > _LONGEST:
        raise Untranslatable("an expression too long")
    tree = _Parser(characters, is_extended, ignore_case).parse()
    review = _Review()
    review.check(tree, frozenset())
    flags = re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0)
    return Expression(re.compile(_source(tree), flags), review.is_certain, review.loops + review.runs_on)


def _source(node: _Node) -> str:
    if isinstance(node, _Set | _Anchor):
        return node.source
    if isinstance(node, _Repeat):
        most = "" if node.most == _UNBOUNDED else node.most
        body = _source(node.body)
        return f"(?:{body}){{{node.least},{most}}}"
    if isinstance(node, _Group):
        return f"({_source(node.body)})"
    if isinstance(node, _Sequence):
        return "".join(map(_source, node.items))
    return f"(?:{'|'.join(map(_source, node.choices))})"


def _first(node: _Node) -> tuple[frozenset[str], bool]:
    """The characters that it can begin with, and whether it can be empty."""
    if isinstance(node, _Set):
        return node.members, False
    if isinstance(node, _Anchor):
        return frozenset(), True
    if isinstance(node, _Group):
        return _first(node.body)
    if isinstance(node, _Repeat):
        members, is_empty = _first(node.body)
        return members, is_empty or node.least == 0
    if isinstance(node, _Sequence):
        members = frozenset()
        for item in node.items:
            following, is_empty = _first(item)
            members |= following
            if not is_empty:
                return members, False
        return members, True
    firsts = [_first(choice) for choice in node.choices]
    return frozenset().union(*(members for members, _ in firsts)), any(is_empty for _, is_empty in firsts)


def _beginning(node: _Node) -> tuple[list[frozenset[str]], bool]:
    """The sets of its characters one after another, as far as they are fixed, and whether that is all of it."""
    if isinstance(node, _Set):
        return [node.members], True
    if isinstance(node, _Group):
        return _beginning(node.body)
    if isinstance(node, _Repeat):
        sets, is_whole = _beginning(node.body)
        return (sets * node.least, node.most == node.least) if is_whole else (sets if node.least else [], False)
    if isinstance(node, _Sequence):
        sets = []
        for item in node.items:
            following, is_whole = _beginning(item)
            sets += following
            if not is_whole:
                return sets, False
        return sets, True
    return [], isinstance(node, _Anchor)


@define
class _Review:
    """Finds out whether Python's search is POSIX's, and what it may cost."""

    loops: int = 0
    runs_on: bool = False
    """Whether a repetition whose length is forced may come to the text's end from wherever it begins."""
    _is_ambiguous: bool = False
    _has_alternation: bool = False
    _has_long_repetition: bool = False
    _is_forced: bool = True

    @property
    def is_certain(self) -> bool:
        """Every alternative is forced by the text; and repetitions of one character can only compete with another."""
        return self._is_forced and not (self._is_ambiguous and (self._has_alternation or self._has_long_repetition))

    def check(self, node: _Node, following: frozenset[str]) -> None:
        """`following`: the characters that can come behind the node."""
        if isinstance(node, _Group):
            self.check(node.body, following)
        elif isinstance(node, _Sequence):
            for item in reversed(node.items):
                self.check(item, following)
                members, is_empty = _first(item)
                following = members | following if is_empty else members
        elif isinstance(node, _Alternation):
            self._check_alternation(node, following)
        elif isinstance(node, _Repeat):
            self._check_repetition(node, following)

    def _check_alternation(self, node: _Alternation, following: frozenset[str]) -> None:
        self._has_alternation = True
        if len(node.choices) > _MOST_CHOICES:
            raise Untranslatable("very many alternatives")
        for one, other in combinations([_beginning(choice)[0] for choice in node.choices], 2):
            if all(left & right for left, right in zip(one, other, strict=False)):
                self._is_forced = False
                self.loops += 1
        for choice in node.choices:
            self.check(choice, following)

    def _check_repetition(self, node: _Repeat, following: frozenset[str]) -> None:
        members, is_empty = _first(node.body)
        body = node.body.body if isinstance(node.body, _Group) else node.body
        competes = bool(members & following) and node.least != node.most
        self.runs_on |= not competes and node.most == _UNBOUNDED
        if isinstance(body, _Set):
            self._is_ambiguous |= competes
            self.loops += competes
            return
        if is_empty or competes or _holds(body, _Anchor) or (node.most > 1 and _holds(body, _Group)):
            raise Untranslatable("a repetition that Python and POSIX may share out differently")
        self._has_long_repetition = True
        loops, self.loops = self.loops, 0
        self.check(body, following | members if node.most > 1 else following)
        if self.loops and node.most > 1:
            raise Untranslatable("a repetition of repetitions, which may take too long")
        self.loops += loops


def _holds(node: _Node, kind: type[_Group | _Anchor]) -> bool:
    """Whether it is of a kind, or anything within it."""
    if isinstance(node, kind):
        return True
    if isinstance(node, _Repeat | _Group):
        return _holds(node.body, kind)
    inner = node.items if isinstance(node, _Sequence) else node.choices if isinstance(node, _Alternation) else ()
    return any(_holds(item, kind) for item in inner)


# --- The parser -----------------------------------------------------------------------------------------------------

_BASIC = {"\\(": "(", "\\)": ")", "\\{": "{", "\\|": "|", "\\+": "+", "\\?": "?", "*": "*"}
_EXTENDED = {"(": "(", ")": ")", "{": "{", "|": "|", "+": "+", "?": "?", "*": "*"}
_ESCAPES: dict[str, _Set | _Anchor] = {
    "w": _Set(_WORD, r"[A-Za-z0-9_]"),
    "W": _Set(_EVERYTHING - _WORD, r"[^A-Za-z0-9_]"),
    "s": _Set(frozenset(CHARACTER_CLASSES["space"]), r"[ \t\n\v\f\r]"),
    "S": _Set(_EVERYTHING - frozenset(CHARACTER_CLASSES["space"]), r"[^ \t\n\v\f\r]"),
    "b": _Anchor(r"\b"),
    "<": _Anchor(r"\b(?=\w)"),
    ">": _Anchor(r"\b(?<=\w)"),
}


@define
class _Parser:
    """Reads an expression's characters, each with whether it was quoted."""

    _characters: Sequence[tuple[str, bool]]
    _is_extended: bool
    _ignores_case: bool
    _offset: int = 0
    _depth: int = field(default=0, init=False)

    def parse(self) -> _Node:
        if not self._characters:
            raise Untranslatable("an empty expression")
        tree = self._alternation()
        if self._offset < len(self._characters):
            raise Untranslatable("parentheses that do not match")
        return tree

    def _symbol(self) -> tuple[str, str]:
        """What stands here: its meaning, such as "(" or "character", and its text."""
        character, quoted = self._characters[self._offset]
        if quoted:
            return "character", character
        text = character
        if character == "\\":
            if self._offset + 1 == len(self._characters):
                raise Untranslatable("a backslash at the end")
            following, is_quoted = self._characters[self._offset + 1]
            text += following
            if is_quoted:
                raise Untranslatable("a backslash before quoted text")
        meanings = _EXTENDED if self._is_extended else _BASIC
        if text in meanings:
            return meanings[text], text
        if len(text) == 2:
            return "escape", text
        return {"[": "[", ".": ".", "^": "^", "$": "$"}.get(text, "character"), text

    def _is_at(self, *meanings: str) -> bool:
        return self._offset < len(self._characters) and self._symbol()[0] in meanings

    def _alternation(self) -> _Node:
        choices = [self._sequence()]
        while self._is_at("|"):
            self._offset += len(self._symbol()[1])
            choices.append(self._sequence())
        if len(choices) > 1 and any(isinstance(choice, _Sequence) and not choice.items for choice in choices):
            raise Untranslatable("an empty alternative")
        return choices[0] if len(choices) == 1 else _Alternation(tuple(choices))

    def _sequence(self) -> _Sequence:
        items: list[_Node] = []
        while self._offset < len(self._characters) and not self._is_at("|"):
            if self._is_at(")"):
                if self._depth:
                    break
                raise Untranslatable(") without (")
            item = self._item(is_first=not items)
            items.append(self._repeated(item))
        return _Sequence(tuple(items))

    def _item(self, *, is_first: bool) -> _Node:
        meaning, text = self._symbol()
        if meaning == "[":
            return self._bracket()
        self._offset += len(text)
        if meaning == "(":
            return self._group()
        if meaning == ".":
            return _Set(_EVERYTHING, ".")
        if meaning == "escape":
            return self._escape(text[1])
        if meaning == "^" and (self._is_extended or is_first):
            if self._is_at("*", "+", "?", "{"):
                raise Untranslatable("a repetition behind ^")
            return _Anchor(r"\A")
        if meaning == "$" and (self._is_extended or self._offset == len(self._characters) or self._is_at(")", "|")):
            return _Anchor(r"\Z")
        if meaning in ("*", "+", "?", "{") and (text != "*" or self._is_extended or not is_first):
            raise Untranslatable("a repetition of nothing")
        if meaning == "character" and text in "{}" and self._is_extended and not self._characters[self._offset - 1][1]:
            raise Untranslatable("a brace")
        return self._set(frozenset(text), re.escape(text))

    def _set(self, members: frozenset[str], source: str) -> _Set:
        if self._ignores_case:
            members |= {
                variant for member in members if len(member) == 1 for variant in (member.lower(), member.upper())
            }
        return _Set(members, source)

    def _group(self) -> _Group:
        self._depth += 1
        if self._depth > 20:
            raise Untranslatable("groups nested too deeply")
        body = self._alternation()
        if not self._is_at(")"):
            raise Untranslatable("( without )")
        if isinstance(body, _Sequence) and not body.items:
            raise Untranslatable("an empty group")
        self._offset += len(self._symbol()[1])
        self._depth -= 1
        return _Group(body)

    def _escape(self, character: str) -> _Node:
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character.isalnum() or not character.isascii() or character in "\n`'":
            raise Untranslatable(f"\\{character}")
        if not self._is_extended and character == "}":
            raise Untranslatable("a brace")
        return self._set(frozenset(character), re.escape(character))

    def _repeated(self, item: _Node) -> _Node:
        meaning, text = self._symbol() if self._offset < len(self._characters) else ("", "")
        if meaning not in ("*", "+", "?", "{"):
            return item
        if isinstance(item, _Anchor):
            raise Untranslatable("a repetition of a place")
        self._offset += len(text)
        limits = {"*": (0, _UNBOUNDED), "+": (1, _UNBOUNDED), "?": (0, 1)}
        least, most = limits[meaning] if meaning in limits else self._interval()
        if self._is_at("*", "+", "?", "{"):
            raise Untranslatable("a repetition of a repetition")
        return _Repeat(item, least, most)

    def _interval(self) -> tuple[int, int]:
        rest = "".join(character for character, _ in self._characters[self._offset :])
        match = re.match(r"([0-9]{1,3})(?:(,)([0-9]{1,3})?)?" + ("" if self._is_extended else r"\\") + r"\}", rest)
        if match is None:
            raise Untranslatable("an interval")
        self._offset += match.end()
        least = int(match[1])
        most = int(match[3]) if match[3] else _UNBOUNDED if match[2] else least
        if not least <= most <= _UNBOUNDED or most == 0 or least > 100:
            raise Untranslatable("an interval")
        return least, most

    def _bracket(self) -> _Set:
        rest = "".join(character for character, _ in self._characters[self._offset :])
        match = re.match(r"\[(\^?)(\]?(?:\[:[a-z]+:\]|\[(?![:.=])|[^][])*)\]", rest)
        if match is None or not match[2]:
            raise Untranslatable("brackets")
        if any(quoted for _, quoted in self._characters[self._offset : self._offset + match.end()]):
            raise Untranslatable("quoted text between brackets")
        self._offset += match.end()
        members = self._set(frozenset(_members(match[2])), "").members
        if not all(member.isascii() for member in members):
            raise Untranslatable("characters that are several bytes to some locales")
        source = "".join(f"\\x{ord(member):02x}" for member in sorted(members))
        return _Set(_EVERYTHING - members, f"[^{source}]") if match[1] else _Set(members, f"[{source}]")


def _members(text: str) -> str:
    """The characters between brackets."""
    members, offset = "", 0
    while offset < len(text):
        if match := re.compile(r"\[:([a-z]+):\]").match(text, offset):
            if match[1] not in CHARACTER_CLASSES:
                raise Untranslatable(f"the class {match[1]}")
            members += CHARACTER_CLASSES[match[1]]
            offset = match.end()
        elif text[offset + 1 : offset + 2] == "-" and offset + 2 < len(text):
            first, last = text[offset], text[offset + 2]
            kinds = ("digit", "lower", "upper")
            if first > last or not any({first, last} <= set(CHARACTER_CLASSES[kind]) for kind in kinds):
                raise Untranslatable(f"the range {first}-{last}, which locales take differently")
            members += "".join(map(chr, range(ord(first), ord(last) + 1)))
            offset += 3
        else:
            members += text[offset]
            offset += 1
    return members
