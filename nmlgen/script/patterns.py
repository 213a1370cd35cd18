"""The shell's patterns (`*.nc`, `[0-9]`, `@(a|b)`) and braces (`{1..5}`), as bash and ksh take them.

A pattern is a row of pieces, each a text and whether it was quoted: quoted characters stand for themselves. Matching
keeps the set of places that can be reached, so that no pattern takes longer than the product of the lengths.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Literal, TypeAlias

from nmlgen.script.effort import Effort
from nmlgen.values import frozen

Pattern: TypeAlias = Sequence[tuple[str, bool]]


class UndecidedPattern(Exception):
    """What a pattern matches cannot be said: shells differ, the locale decides, or it would take too long."""


# --- Matching -------------------------------------------------------------------------------------------------------


def matches(pattern: Pattern, text: str, *, extglob: bool, effort: Effort | None = None) -> bool:
    """Whether a pattern matches the whole of a text, as in `case`. `extglob`: `@(a|b)` and its kin are known. What it
    takes is added to `effort`, here and below."""
    return len(text) in _Matcher(pattern, text, extglob, effort).ends(0)


def remove_prefix(text: str, pattern: Pattern, *, longest: bool, extglob: bool, effort: Effort | None = None) -> str:
    """`${text#pattern}`, and `${text##pattern}` if `longest`."""
    matcher = _Matcher(pattern, text, extglob, effort)
    if not longest and matcher.has_no_sure_shortest:
        raise UndecidedPattern("the shortest match of !(...) or *(*...), of which ksh finds another")
    ends = matcher.ends(0)
    return text[max(ends) if longest else min(ends) :] if ends else text


def remove_suffix(text: str, pattern: Pattern, *, longest: bool, extglob: bool, effort: Effort | None = None) -> str:
    """`${text%pattern}`, and `${text%%pattern}` if `longest`."""
    matcher = _Matcher(pattern, text, extglob, effort)
    starts = range(len(text) + 1) if longest else range(len(text), -1, -1)
    return next((text[:start] for start in starts if len(text) in matcher.ends(start)), text)


def replace(
    text: str,
    pattern: Pattern,
    replacement: str,
    *,
    everywhere: bool = False,
    anchor: Literal["", "#", "%"] = "",
    extglob: bool,
    is_ksh: bool | None,
    effort: Effort | None = None,
) -> str:
    """`${text/pattern/replacement}`; `everywhere` is `//`, the anchors are `/#` (at the start) and `/%` (at the end).

    The replacement is taken as it is: where it has an unquoted `&` or backslash, which only some shells expand, it is
    for the caller to refuse.
    """
    if not any(piece for piece, _ in pattern):
        if is_ksh is not False and (anchor or not text):
            raise UndecidedPattern("an empty pattern, which only bash anchors")
        return {"": text, "#": replacement + text, "%": text + replacement}[anchor]
    first = next((piece[0], quoted) for piece, quoted in pattern if piece)
    if not anchor and not everywhere and first in (("#", False), ("%", False)):
        raise UndecidedPattern("a pattern that bash takes for an anchor")
    matcher = _Matcher(pattern, text, extglob, effort)
    if anchor:
        return _replace_anchored(text, matcher, replacement, at_end=anchor == "%")
    return _replace_anywhere(text, matcher, replacement, everywhere=everywhere)


def _replace_anchored(text: str, matcher: _Matcher, replacement: str, *, at_end: bool) -> str:
    for start in range(len(text) + 1) if at_end else [0]:
        ends = matcher.ends(start)
        if not ends or (at_end and len(text) not in ends):
            continue
        end = len(text) if at_end else max(ends)
        if end == start:
            raise UndecidedPattern("a replacement of nothing")
        return text[:start] + replacement + text[end:]
    return text


def _replace_anywhere(text: str, matcher: _Matcher, replacement: str, *, everywhere: bool) -> str:
    result, start = [], 0
    while start < len(text):
        end = max(matcher.ends(start), default=-1)
        if end == start:
            raise UndecidedPattern("a replacement of nothing")
        if end < 0:
            result.append(text[start])
            start += 1
            continue
        result.append(replacement)
        start = end
        if not everywhere:
            break
    if not text and matcher.ends(0):
        raise UndecidedPattern("a replacement of nothing")
    return "".join(result) + text[start:]


_LONGEST_PATTERN = 2_000
_LONGEST_TEXT = 100_000
_LONGEST_CLASS = 20  # characters of [:class:]
_MOST_STEPS = 400_000
_STEPS = 25  # that take as long as a look at something else

CHARACTER_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, range(32))) + "\x7f",
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": " \t\n\v\f\r",
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}

_Node: TypeAlias = "_Character | _Star | _OneOf | _Group"


@frozen
class _Character:
    """A character that stands for itself."""

    character: str


@frozen
class _Star:
    """`*`."""


@frozen
class _OneOf:
    """`?` and `[...]`: one character, of these or, if `is_negated`, of all others."""

    characters: frozenset[str]
    is_negated: bool


@frozen
class _Group:
    """`?(a|b)`, `*(...)`, `+(...)`, `@(...)`, `!(...)`."""

    operator: str
    alternatives: tuple[tuple[_Node, ...], ...]


class _Matcher:
    """One pattern against one text."""

    def __init__(self, pattern: Pattern, text: str, extglob: bool, effort: Effort | None) -> None:
        length = sum(len(piece) for piece, _ in pattern)
        if length > _LONGEST_PATTERN or len(text) > _LONGEST_TEXT:
            raise UndecidedPattern("a pattern or a text too long")
        self._effort = effort or Effort()
        self._effort.spent += length
        self._text = text
        self._nodes = _PatternReader(pattern, extglob).read()
        self._steps = 0
        if not text.isascii() and any(isinstance(node, _OneOf | _Group) for node in self._nodes):
            raise UndecidedPattern("characters that are several bytes to some locales")

    @property
    def has_no_sure_shortest(self) -> bool:
        """Whether there is a `!(...)`, or a star within what comes several times."""
        groups = [node for node in self._nodes if isinstance(node, _Group)]
        return any(group.operator == "!" or (group.operator in "*+" and _has_star(group)) for group in groups)

    def ends(self, start: int) -> set[int]:
        """Where a match that starts at an offset can end."""
        before = self._steps
        try:
            return self._ends(self._nodes, {start})
        finally:
            self._effort.spent += 1 + (self._steps - before) // _STEPS

    def _ends(self, nodes: Sequence[_Node], places: set[int]) -> set[int]:
        for node in nodes:
            if not places:
                break
            places = self._after(node, places)
            self._steps += len(places) + 1
            if self._steps > _MOST_STEPS:
                raise UndecidedPattern("a pattern that would take too long")
        return places

    def _after(self, node: _Node, places: set[int]) -> set[int]:
        text = self._text
        if isinstance(node, _Character):
            return {place + 1 for place in places if text.startswith(node.character, place)}
        if isinstance(node, _Star):
            return set(range(min(places), len(text) + 1))
        if isinstance(node, _OneOf):
            return {
                place + 1
                for place in places
                if place < len(text) and (text[place] in node.characters) != node.is_negated
            }
        if node.operator == "!":
            return self._after_all_but(node, places)
        once = self._after_any(node, places)
        if node.operator in "@?":
            return once | places if node.operator == "?" else once
        reached, new = set(once), once
        while new:
            new = self._after_any(node, new) - reached
            reached |= new
        return reached | places if node.operator == "*" else reached

    def _after_any(self, group: _Group, places: set[int]) -> set[int]:
        return set().union(*(self._ends(alternative, places) for alternative in group.alternatives))

    def _after_all_but(self, group: _Group, places: set[int]) -> set[int]:
        reached: set[int] = set()
        for place in places:
            everything = set(range(place, len(self._text) + 1))
            self._steps += len(everything)
            reached |= everything - self._after_any(group, {place})
        return reached


def _escaped(pattern: Pattern) -> Iterator[tuple[str, bool]]:
    """The characters one by one; a backslash that is left in a pattern, from a variable, quotes the next one."""
    characters = iter([(character, quoted) for piece, quoted in pattern for character in piece])
    for character, quoted in characters:
        if character != "\\" or quoted:
            yield character, quoted
            continue
        following, is_quoted = next(characters, ("", True))
        if is_quoted or following.isalnum():
            raise UndecidedPattern("a backslash that shells take differently")
        yield following, True


def _has_star(group: _Group) -> bool:
    parts = (node for alternative in group.alternatives for node in alternative)
    return any(isinstance(node, _Star) or (isinstance(node, _Group) and _has_star(node)) for node in parts)


class _PatternReader:
    """Reads a row of pieces into nodes."""

    def __init__(self, pattern: Pattern, extglob: bool) -> None:
        self._characters = list(_escaped(pattern))
        self._extglob = extglob
        self._offset = 0
        self._depth = 0
        self._is_unclosed = False
        self._has_groups = ("(", False) in self._characters

    def read(self) -> tuple[_Node, ...]:
        nodes = self._sequence()
        if self._offset < len(self._characters):
            raise UndecidedPattern("a parenthesis that some shells take for a pattern")
        _refuse_difficult_groups(nodes)
        return nodes

    def _next_is(self, character: str, ahead: int = 0) -> bool:
        place = self._offset + ahead
        return place < len(self._characters) and self._characters[place] == (character, False)

    def _sequence(self) -> tuple[_Node, ...]:
        nodes: list[_Node] = []
        while self._offset < len(self._characters):
            character, quoted = self._characters[self._offset]
            if self._depth and not quoted and character in "|)":
                break
            nodes.append(self._node(character, quoted))
        return tuple(nodes)

    def _node(self, character: str, quoted: bool) -> _Node:
        if not quoted and self._extglob:
            if character in "?*+@!" and self._next_is("(", 1):
                return self._group(character)
            if (
                character in "(|)"
                or (character == "&" and self._depth)
                or (character in "~%}-" and self._next_is("(", 1))
            ):
                raise UndecidedPattern(f"{character}, which some shells take for a pattern")
        if not quoted and character == "[":
            if not self._is_unclosed and (one_of := self._bracket()):  # behind one that is not closed none is
                return one_of
            if self._has_groups:
                raise UndecidedPattern("[ without ] among groups")
        self._offset += 1
        if not quoted and character == "*":
            return _Star()
        if not quoted and character == "?":
            return _OneOf(frozenset(), True)
        return _Character(character)

    def _group(self, operator: str) -> _Group:
        self._offset += 2
        self._depth += 1
        if self._depth > 10:
            raise UndecidedPattern("a pattern nested too deeply")
        alternatives = [self._sequence()]
        while self._next_is("|"):
            self._offset += 1
            alternatives.append(self._sequence())
        if not self._next_is(")"):
            raise UndecidedPattern("( without )")
        self._offset += 1
        self._depth -= 1
        return _Group(operator, tuple(alternatives))

    def _bracket(self) -> _OneOf | None:
        """`[...]`, or None where it is not closed and `[` stands for itself."""
        place = self._offset + 1
        is_negated = place < len(self._characters) and self._characters[place] in (("!", False), ("^", False))
        place += is_negated
        first = place
        members: set[str] = set()
        while place < len(self._characters):
            character, quoted = self._characters[place]
            if character == "]" and not quoted:
                if place == first:
                    raise UndecidedPattern("] as the first of brackets, which bash's replacement does not find")
                self._offset = place + 1
                return _OneOf(frozenset(members), is_negated)
            if character == "[" and not quoted:
                following = "".join(text for text, _ in self._characters[place : place + _LONGEST_CLASS])
                match = re.match(r"\[:([a-z]+):\]", following)
                if match and match[1] in CHARACTER_CLASSES:
                    members.update(CHARACTER_CLASSES[match[1]])
                    place += match.end()
                    continue
                if following[1:2] in (":", ".", "="):
                    raise UndecidedPattern(f"the class {following[:10]}")
            if character == "/" or not character.isascii():
                raise UndecidedPattern(f"{character} between brackets")
            is_range = (
                place + 2 < len(self._characters)
                and self._characters[place + 1] == ("-", False)
                and self._characters[place + 2] != ("]", False)
            )
            if not is_range:
                members.add(character)
                place += 1
                continue
            members.update(_range(character, self._characters[place + 2][0]))
            place += 3
        if any(character == "]" for character, _ in self._characters[first:]):
            raise UndecidedPattern("brackets that are not closed")
        self._is_unclosed = True
        return None


def _refuse_difficult_groups(nodes: tuple[_Node, ...]) -> None:
    """Refuse groups in whose matching shells have faults: within groups, of what may be empty, `!(...)` beside `*`."""
    for index, node in enumerate(nodes):
        if not isinstance(node, _Group):
            continue
        for alternative in node.alternatives:
            if any(isinstance(inner, _Group) for inner in alternative):
                raise UndecidedPattern("a group within a group")
            if all(isinstance(inner, _Star) for inner in alternative):
                raise UndecidedPattern("a group of what may be empty")
        neighbours = nodes[max(index - 1, 0) : index] + nodes[index + 1 : index + 2]
        if node.operator == "!" and not all(isinstance(other, _Character) for other in neighbours):
            raise UndecidedPattern("!(...) beside another pattern")


def _range(first: str, last: str) -> str:
    """The characters of a range such as `a-z`: of one kind, for only then all locales agree."""
    for kind in (string.digits, string.ascii_lowercase, string.ascii_uppercase):
        if first in kind and last in kind and first <= last:
            return kind[kind.index(first) : kind.index(last) + 1]
    raise UndecidedPattern(f"the range {first}-{last}")


# --- Braces ---------------------------------------------------------------------------------------------------------

_MOST_WORDS = 10_000
_DEEPEST = 20
_SEQUENCE = re.compile(
    r"(?:(?P<first>-?[0-9]{1,15})\.\.(?P<last>-?[0-9]{1,15})(?:\.\.(?P<step>-?[0-9]{1,15}))?"
    r"|(?P<letter>[a-z])\.\.(?P<end>[a-z])|(?P<capital>[A-Z])\.\.(?P<finish>[A-Z]))"
)


def expand_braces(text: str, *, is_ksh: bool | None, effort: Effort | None = None) -> list[str]:
    """The words that `{a,b}` and `{1..5}` in an unquoted text without `$` make of it; `is_ksh` None: of any shell.

    bash drops words that become empty. What it takes is added to `effort`.
    """
    if "{" not in text:
        return [text]
    if len(text) > _LONGEST_PATTERN or re.search(r"[\\$`'\"]", text):
        raise UndecidedPattern("braces among quotes and expansions")
    if effort is not None:  # each character is read once for each of the braces around it
        effort.spent += len(text) * min(text.count("{"), _DEEPEST) // _STEPS
    found = _expanded(text, is_ksh, 0)
    if found.has_empty and is_ksh is None:
        raise UndecidedPattern("an empty word, which ksh keeps and bash drops")
    return [word for word in found.made() if is_ksh or word]


@frozen
class _Words:
    """Words that are not made yet: how many they are, whether one of them is empty, and what makes them."""

    count: int
    has_empty: bool
    made: Callable[[], Iterable[str]]


def _constant(text: str) -> _Words:
    return _Words(1, not text, lambda: (text,))


def _expanded(text: str, is_ksh: bool | None, depth: int) -> _Words:
    if depth > _DEEPEST:
        raise UndecidedPattern("braces nested too deeply")
    factors: list[_Words] = []
    offset = 0
    while (start := text.find("{", offset)) >= 0:
        end = _closing(text, start)
        if end is None:
            if is_ksh is not False or "," in text[start:] or ".." in text[start:]:
                raise UndecidedPattern("{ without }")
            break
        factors += (_constant(text[offset:start]), _alternatives(text[start + 1 : end], text[end + 1 :], is_ksh, depth))
        offset = end + 1
    factors.append(_constant(text[offset:]))
    count = 1
    for factor in factors:
        count = _few(count * factor.count)
    return _Words(
        count,
        all(factor.has_empty for factor in factors),
        lambda: map("".join, product(*(factor.made() for factor in factors))),
    )


def _alternatives(inside: str, rest: str, is_ksh: bool | None, depth: int) -> _Words:
    """What stands for `{inside}`."""
    items = _items(inside)
    if len(items) > 1:
        if is_ksh is not False and any(".." in item and "{" not in item for item in items):
            raise UndecidedPattern("a range among alternatives")
        found = [_expanded(item, is_ksh, depth + 1) for item in items]
        return _Words(
            _few(sum(item.count for item in found)),
            any(item.has_empty for item in found),
            lambda: chain.from_iterable(item.made() for item in found),
        )
    if match := _SEQUENCE.fullmatch(inside):
        return _sequence(match, is_ksh)
    if inside and ("{" in inside or ".." in inside or "," in rest or ".." in rest):
        raise UndecidedPattern("braces that shells take differently")
    return _constant("{" + inside + "}")


def _few(count: int) -> int:
    """The number of words that are to be made; none is where they would be too many."""
    if count > _MOST_WORDS:
        raise UndecidedPattern("braces that make too many words")
    return count


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for offset in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[offset], 0)
        if depth == 0:
            return offset
    return None


def _items(inside: str) -> list[str]:
    """The parts between the commas that stand in no inner braces."""
    items, depth = [""], 0
    for character in inside:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            items.append("")
        else:
            items[-1] += character
    return items


def _sequence(match: re.Match[str], is_ksh: bool | None) -> _Words:
    if match["first"] is None:
        first, last = (match["letter"], match["end"]) if match["letter"] else (match["capital"], match["finish"])
        step = 1 if first <= last else -1
        codes = range(ord(first), ord(last) + step, step)
        return _Words(len(codes), False, lambda: map(chr, codes))
    first, last, step = int(match["first"]), int(match["last"]), abs(int(match["step"] or "1")) or 1
    is_padded = any(re.match(r"-?0[0-9]", number) for number in (match["first"], match["last"]))
    if is_ksh is not False and (is_padded or (match["step"] and (first > last or int(match["step"]) <= 0))):
        raise UndecidedPattern("a range that bash and ksh take differently")
    width = max(len(match["first"]), len(match["last"])) if is_padded else 0
    direction = step if first <= last else -step
    numbers = range(first, last + (1 if direction > 0 else -1), direction)
    return _Words(_few(len(numbers)), False, lambda: (f"{number:0{width}d}" for number in numbers))
