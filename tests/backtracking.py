"""How much work a regular expression is for an engine that goes back: counted, not timed.

The engine of `re` counts nothing, so the parsed pattern is played through here, in the order in which that engine tries
things and with nothing remembered. It need not be quick, and of what a text means to a pattern it knows as much as the
package's patterns use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as parser
else:  # pragma: no cover
    import sre_constants as sre
    import sre_parse as parser

Goal = Callable[[int], bool]
_CATEGORIES = {
    sre.CATEGORY_DIGIT: str.isdigit,
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
}
_OPPOSITES = {
    sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
    sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
    sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
}


Taken = dict[tuple[int, str], bool]


@lru_cache(maxsize=8)
def _parsed(pattern: re.Pattern[str]) -> tuple[list[Any], Taken]:
    """The nodes of a pattern; and which of them, by their `id`, take which character, as far as that was asked."""
    return list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)), {}


class TooMuchError(Exception):
    """The work is more than was allowed."""


class Matcher:
    """A pattern with the number of `steps` that its use has taken so far: one for each character looked at."""

    def __init__(self, pattern: re.Pattern[str], most: int) -> None:
        self.tree, self.taken = _parsed(pattern)
        self.is_dotall, self.is_multiline, self.ignores_case = (
            bool(pattern.flags & flag) for flag in (re.DOTALL, re.MULTILINE, re.IGNORECASE)
        )
        self.most = most
        self.steps = 0
        self.text = ""
        self.groups: dict[int, tuple[int, int]] = {}

    def search(self, text: str) -> bool:
        """Look for the pattern from every place on, as `re.search` does. Raises TooMuchError."""
        return any(self.match(text, start) for start in range(len(text) + 1))

    def match(self, text: str, start: int = 0, *, full: bool = False) -> bool:
        """Try the pattern at a place. Raises TooMuchError."""
        self.text, self.groups = text, {}
        return self._sequence(self.tree, 0, start, lambda end: not full or end == len(text))

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self.most:
            raise TooMuchError

    def _sequence(self, nodes: list[Any], number: int, at: int, goal: Goal) -> bool:
        if number == len(nodes):
            return goal(at)
        return self._node(nodes[number], at, lambda end: self._sequence(nodes, number + 1, end, goal))

    def _node(self, node: tuple[Any, Any], at: int, goal: Goal) -> bool:
        kind, value = node
        self._step()
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return at < len(self.text) and self._takes(node, self.text[at]) and goal(at + 1)
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, body = value
            return self._repeat(list(body), low, high, kind is sre.MAX_REPEAT, at, goal)
        if kind is sre.SUBPATTERN:
            return self._group(value, at, goal)
        if kind is sre.BRANCH:
            return any(self._sequence(list(branch), 0, at, goal) for branch in value[1])
        if kind is sre.AT:
            return self._is_at(value, at) and goal(at)
        if kind in (sre.ASSERT, sre.ASSERT_NOT):
            return self._looks(kind, value, at) and goal(at)
        if kind is sre.GROUPREF:
            start, end = self.groups.get(value, (0, 0))
            return self.text.startswith(self.text[start:end], at) and goal(at + end - start)
        if kind is sre.GROUPREF_EXISTS:
            branch = value[1] if value[0] in self.groups else value[2]
            return self._sequence(list(branch or ()), 0, at, goal)
        raise NotImplementedError(str(kind))

    def _group(self, value: Any, at: int, goal: Goal) -> bool:
        name, _, _, body = value

        def close(end: int) -> bool:
            before = self.groups.get(name)
            self.groups[name] = at, end
            if goal(end):
                return True
            if before is None:
                del self.groups[name]
            else:
                self.groups[name] = before
            return False

        return self._sequence(list(body), 0, at, goal if name is None else close)

    def _looks(self, kind: Any, value: Any, at: int) -> bool:
        direction, body = value
        starts: Iterator[int] | list[int] = [at]
        if direction < 0:
            low, high = body.getwidth()
            starts = [at - width for width in range(low, high + 1) if at - width >= 0]
        found = any(self._sequence(list(body), 0, start, lambda end: direction > 0 or end == at) for start in starts)
        return found is (kind is sre.ASSERT)

    def _repeat(self, body: list[Any], low: int, high: Any, is_greedy: bool, at: int, goal: Goal) -> bool:
        if len(body) == 1 and body[0][0] in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._run(body[0], low, high, is_greedy, at, goal)

        def turn(count: int, start: int) -> bool:
            def again(end: int) -> bool:
                return end > start and turn(count + 1, end)

            if count < low:
                return self._sequence(body, 0, start, lambda end: turn(count + 1, end))
            may_go_on = high is sre.MAXREPEAT or count < high
            if is_greedy:
                return (may_go_on and self._sequence(body, 0, start, again)) or goal(start)
            return goal(start) or (may_go_on and self._sequence(body, 0, start, again))

        return turn(0, at)

    def _run(self, node: Any, low: int, high: Any, is_greedy: bool, at: int, goal: Goal) -> bool:
        """A repeated character, without a call for each."""
        end = at
        last = len(self.text) if high is sre.MAXREPEAT else min(len(self.text), at + int(high))
        while end < last and self._takes(node, self.text[end]):
            end += 1
            self._step()
        if end - at < low:
            return False
        ends = range(end, at + low - 1, -1) if is_greedy else range(at + low, end + 1)
        return any(self._tried(stop, goal) for stop in ends)

    def _tried(self, at: int, goal: Goal) -> bool:
        self._step()
        return goal(at)

    def _takes(self, node: tuple[Any, Any], char: str) -> bool:
        key = id(node), char
        if key not in self.taken:
            self.taken[key] = self._would_take(node, char)
        return self.taken[key]

    def _would_take(self, node: tuple[Any, Any], char: str) -> bool:
        kind, value = node
        if kind is sre.ANY:
            return self.is_dotall or char != "\n"
        if kind is sre.IN:
            return self._in(value, char)
        is_same = char == chr(value) or (self.ignores_case and char.lower() == chr(value).lower())
        return is_same is (kind is sre.LITERAL)

    def _in(self, parts: list[Any], char: str) -> bool:
        chars = {char, char.lower(), char.upper()} if self.ignores_case else {char}
        is_negated = parts[0][0] is sre.NEGATE
        return any(self._holds(part, one) for part in parts[is_negated:] for one in chars) is not is_negated

    def _holds(self, part: tuple[Any, Any], char: str) -> bool:
        kind, value = part
        if kind is sre.LITERAL:
            return char == chr(value)
        if kind is sre.RANGE:
            return len(char) == 1 and value[0] <= ord(char) <= value[1]
        if value in _OPPOSITES:
            return not _CATEGORIES[_OPPOSITES[value]](char)
        return bool(_CATEGORIES[value](char))

    def _is_at(self, where: Any, at: int) -> bool:
        text = self.text
        if where is sre.AT_BEGINNING_STRING:
            return at == 0
        if where is sre.AT_BEGINNING:
            return at == 0 or (self.is_multiline and text[at - 1] == "\n")
        if where is sre.AT_END_STRING:
            return at == len(text)
        if where is sre.AT_END:
            is_line_end = at < len(text) and text[at] == "\n"
            return at == len(text) or (is_line_end and (self.is_multiline or at == len(text) - 1))
        before, after = (0 <= place < len(text) and _is_word(text[place]) for place in (at - 1, at))
        return (before != after) is (where is sre.AT_BOUNDARY)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


# --- Texts that make a pattern go back ---


def stresses(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts of about that length that begin as the pattern wants, repeat what it repeats, and end as it does not."""
    found = list(dict.fromkeys(_attacks(_parsed(pattern)[0], "")))
    found += [("", word) for word in ("a", " ", "\r\n", "!\r\n", "(", "a(", "'", '"', "$(", "1,", "=", "\t \n", "\\")]
    for prefix, pump in dict.fromkeys(found):
        if pump:
            for end in ("\0", "\n\0", ""):
                yield prefix + pump * (length // len(pump)) + end


def _attacks(nodes: list[Any], prefix: str) -> Iterator[tuple[str, str]]:
    """What a text may begin with to come to a repetition, and what is repeated there."""
    for node in nodes:
        kind, value = node
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, _, body = value
            words = list(dict.fromkeys(_words(list(body))))[:6]
            yield from ((prefix, word) for word in words)
            yield from ((prefix, one + two) for one in words for two in words if one != two)
            yield from _attacks(list(body), prefix)
            prefix += words[0] * low if words else ""
            continue
        if kind is sre.SUBPATTERN:
            yield from _attacks(list(value[3]), prefix)
        if kind is sre.BRANCH:
            for branch in value[1]:
                yield from _attacks(list(branch), prefix)
        if kind in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _attacks(list(value[1]), prefix)
            continue
        prefix += next(iter(_words([node])), "")


def _words(nodes: list[Any]) -> Iterator[str]:
    """Some texts that these parts of a pattern take."""
    if not nodes:
        yield ""
        return
    rests = list(_words(nodes[1:]))[:4]
    for first in _firsts(nodes[0]):
        for rest in rests:
            yield first + rest


def _firsts(node: tuple[Any, Any]) -> Iterator[str]:
    kind, value = node
    if kind is sre.LITERAL:
        yield chr(value)
    elif kind in (sre.NOT_LITERAL, sre.ANY, sre.IN):
        probe = Matcher(re.compile(""), 1 << 30)
        yield from [char for char in "a 1\t!'\"$(,=x.-/\\\n\r&<" if probe._would_take(node, char)][:4]
    elif kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        low, _, body = value
        words = list(_words(list(body)))[:3]
        yield from (word * max(1, min(low, 3)) for word in words)
        if low == 0:
            yield ""
    elif kind is sre.SUBPATTERN:
        yield from _words(list(value[3]))
    elif kind is sre.BRANCH:
        for branch in value[1]:
            yield from list(_words(list(branch)))[:2]
    else:
        yield ""
