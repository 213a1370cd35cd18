"""How much work a regular expression is for an engine that goes back: counted, not timed.

The engine of `re` counts nothing, so the parsed pattern is played through here, in the order in which that engine tries
things and with nothing remembered. It need not be quick, and of what a text means to a pattern it knows as much as the
package's patterns use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
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
_OF_ONE = (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN)


def parsed(pattern: re.Pattern[str]) -> Any:
    """The nodes of a pattern."""
    return parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


class TooMuchError(Exception):
    """The work is more than was allowed."""


class Matcher:
    """A pattern with the number of `steps` that its use has taken so far: one for each character looked at.

    Each part of the pattern is a function of a place, which knows what comes behind it and says whether the rest of the
    text is as the pattern wants.
    """

    def __init__(self, pattern: re.Pattern[str], most: int = 1 << 30) -> None:
        self.is_dotall, self.is_multiline, self.ignores_case = (
            bool(pattern.flags & flag) for flag in (re.DOTALL, re.MULTILINE, re.IGNORECASE)
        )
        self.most = most
        self.steps = 0
        self.text = ""
        self.groups: dict[int, tuple[int, int]] = {}
        self._is_full = False
        self._start = self._sequence(list(parsed(pattern)), lambda at: not self._is_full or at == len(self.text))

    def search(self, text: str) -> bool:
        """Look for the pattern from every place on, as `re.search` does. Raises TooMuchError."""
        return any(self.match(text, start) for start in range(len(text) + 1))

    def match(self, text: str, start: int = 0, *, full: bool = False) -> bool:
        """Try the pattern at a place. Raises TooMuchError."""
        self.text, self.groups, self._is_full = text, {}, full
        return self._start(start)

    def takes(self, node: tuple[Any, Any], char: str) -> bool:
        """Whether a node of one character is one for this character."""
        kind, value = node
        if kind is sre.ANY:
            return self.is_dotall or char != "\n"
        if kind is sre.IN:
            return self._in(value, char)
        is_same = char == chr(value) or (self.ignores_case and char.lower() == chr(value).lower())
        return is_same is (kind is sre.LITERAL)

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self.most:
            raise TooMuchError

    def _sequence(self, nodes: list[Any], goal: Goal) -> Goal:
        for node in reversed(nodes):
            goal = self._node(node, goal)
        return goal

    def _node(self, node: tuple[Any, Any], goal: Goal) -> Goal:
        kind, value = node
        if kind in _OF_ONE:
            return self._one(node, goal)
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, body = value
            many = self._run if len(body) == 1 and body[0][0] in _OF_ONE else self._repeat
            return many(list(body), low, high, kind is sre.MAX_REPEAT, goal)
        if kind is sre.SUBPATTERN:
            return self._sequence(list(value[3]), goal) if value[0] is None else self._group(value, goal)
        if kind is sre.BRANCH:
            branches = [self._sequence(list(branch), goal) for branch in value[1]]
            return lambda at: any(branch(at) for branch in branches)
        if kind is sre.AT:
            return self._at(value, goal)
        if kind in (sre.ASSERT, sre.ASSERT_NOT):
            return self._looks(kind is sre.ASSERT, value, goal)
        if kind is sre.GROUPREF:
            return lambda at: self._comes_again(value, at, goal)
        if kind is sre.GROUPREF_EXISTS:
            there, else_ = (self._sequence(list(branch or ()), goal) for branch in value[1:])
            return lambda at: there(at) if value[0] in self.groups else else_(at)
        raise NotImplementedError(str(kind))

    def _one(self, node: tuple[Any, Any], goal: Goal) -> Goal:
        known: dict[str, bool] = {}

        def one(at: int) -> bool:
            self._step()
            if at >= len(self.text):
                return False
            char = self.text[at]
            if char not in known:
                known[char] = self.takes(node, char)
            return known[char] and goal(at + 1)

        return one

    def _group(self, value: Any, goal: Goal) -> Goal:
        name, _, _, body = value
        starts: list[int] = []

        def close(end: int) -> bool:
            before, start = self.groups.get(name), starts.pop()
            self.groups[name] = start, end
            found = goal(end)
            starts.append(start)
            if before is None:
                del self.groups[name]
            else:
                self.groups[name] = before
            return found

        within = self._sequence(list(body), close)

        def open_(at: int) -> bool:
            self._step()
            starts.append(at)
            found = within(at)
            starts.pop()
            return found

        return open_

    def _comes_again(self, name: int, at: int, goal: Goal) -> bool:
        start, end = self.groups.get(name, (0, 0))
        self._step()
        return self.text.startswith(self.text[start:end], at) and goal(at + end - start)

    def _looks(self, is_wanted: bool, value: Any, goal: Goal) -> Goal:
        direction, body = value
        ends: list[int] = []  # where what lies behind ends
        there = self._sequence(list(body), lambda end: direction > 0 or end == ends[-1])
        low, high = body.getwidth() if direction < 0 else (0, 0)

        def looks(at: int) -> bool:
            self._step()
            ends.append(at)
            found = any(there(at - width) for width in range(low, high + 1) if at >= width)
            ends.pop()
            return found is is_wanted and goal(at)

        return looks

    def _repeat(self, body: list[Any], low: int, high: Any, is_greedy: bool, goal: Goal) -> Goal:
        turns: list[tuple[int, int]] = []  # how many there were, and where the one that is tried starts

        def after(end: int) -> bool:
            count, start = turns.pop()
            found = (count < low or end > start) and turn(count + 1, end)
            turns.append((count, start))
            return found

        once = self._sequence(body, after)

        def again(count: int, at: int) -> bool:
            turns.append((count, at))
            found = once(at)
            turns.pop()
            return found

        def turn(count: int, at: int) -> bool:
            self._step()
            if count < low:
                return again(count, at)
            may_go_on = high is sre.MAXREPEAT or count < high
            if is_greedy:
                return (may_go_on and again(count, at)) or goal(at)
            return goal(at) or (may_go_on and again(count, at))

        return lambda at: turn(0, at)

    def _run(self, body: list[Any], low: int, high: Any, is_greedy: bool, goal: Goal) -> Goal:
        """A repeated character, without a call for each."""
        known: dict[str, bool] = {}

        def run(at: int) -> bool:
            end, text = at, self.text
            last = len(text) if high is sre.MAXREPEAT else min(len(text), at + int(high))
            while end < last:
                char = text[end]
                if char not in known:
                    known[char] = self.takes(body[0], char)
                if not known[char]:
                    break
                end += 1
            self._step(1 + end - at)
            for stop in range(end, at + low - 1, -1) if is_greedy else range(at + low, end + 1):
                self._step()
                if goal(stop):
                    return True
            return False

        return run

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

    def _at(self, where: Any, goal: Goal) -> Goal:
        def at_such_a_place(at: int) -> bool:
            self._step()
            return self._is_at(where, at) and goal(at)

        return at_such_a_place

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
    found = list(dict.fromkeys(_attacks(list(parsed(pattern)), "")))
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
            yield from (("", prefix + word) for word in ("", *words[:1]))  # where it is searched for, again and again
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


_PROBE = Matcher(re.compile(""))


def _firsts(node: tuple[Any, Any]) -> Iterator[str]:
    kind, value = node
    if kind is sre.LITERAL:
        yield chr(value)
    elif kind in (sre.NOT_LITERAL, sre.ANY, sre.IN):
        yield from [char for char in "a 1\t!'\"$(,=x.-/\\\n\r&<" if _PROBE.takes(node, char)][:4]
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
