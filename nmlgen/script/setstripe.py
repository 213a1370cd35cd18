"""`lfs setstripe` as lfs reads it: what it sets, for which directories, and what it refuses.

Sources: the manual page lfs-setstripe(1) and `lustre/utils/lfs.c` of Lustre 2.15.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from attrs import frozen

from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.words import GivenOption, Option, OptionTable, StaticWord, read_options
from nmlgen.source import Span
from nmlgen.units.size import format_size

LAYER = "lfs setstripe"
"""The layer that speaks in the settings."""

_OPTIONS = OptionTable.of(
    Option(name, short, value)
    for name, short, value in (
        ("stripe-count", "c", "required"),
        ("overstripe-count", "C", "required"),
        ("stripe-size", "S", "required"),
        ("stripe-index", "i", "required"),
        ("ost", "o", "required"),
        ("ost-list", None, "required"),
        ("ost_list", None, "required"),
        ("pool", "p", "required"),
        ("component-end", "E", "required"),
        ("comp-end", None, "required"),
        ("layout", "L", "required"),
        ("component-add", None, "none"),
        ("comp-add", None, "none"),
        ("component-del", None, "none"),
        ("comp-del", None, "none"),
        ("component-id", "I", "required"),
        ("comp-id", None, "required"),
        ("component-flags", None, "required"),
        ("comp-flags", None, "required"),
        ("component-set", None, "none"),
        ("comp-set", None, "none"),
        ("flags", None, "required"),
        ("foreign", None, "optional"),
        ("xattr", "x", "required"),
        ("extension-size", "z", "required"),
        ("ext-size", None, "required"),
        ("mirror-count", "N", "optional"),
        ("yaml", "y", "required"),
        ("copy", None, "required"),
        ("mode", None, "required"),
        ("delete", "d", "none"),
        ("verbose", "v", "none"),
    )
)
_SAME = {"comp-end": "component-end", "ost-list": "ost", "ost_list": "ost"}
_REMOVED = ("-s", "--size")
_SETTINGS = {
    "stripe-count": "stripe_count",
    "overstripe-count": "stripe_count",
    "stripe-size": "stripe_size",
    "stripe-index": "stripe_index",
    "pool": "pool",
}
_EXCLUDED_BY_DELETE = {*_SETTINGS, "ost", "component-end", "layout"}
_NO_POOL = ("", "inherit", "none", "ignore")
_END_OF_FILE = -1
_MOST_STRIPES = 2000
_MOST_OVERSTRIPES = 32
_LAST_INDEX = 65532
_POOL_LENGTH = 15
_KIB = 1024
_LEAST_BYTES = 4096
_ALIGNMENT = 64 * _KIB
_SUFFIXES = "kmgtpe"


@frozen(eq=False)
class Component:
    """One component of a layout: `end` is the byte it goes up to, -1 for the end of the file."""

    end: Setting
    settings: Mapping[str, Setting]


@frozen(eq=False)
class Setstripe:
    """One call of `lfs setstripe`.

    `settings` are those of a spec's `lustre` blocks: stripe_count and stripe_index as int, stripe_size and pool as
    text. Of a layout with `components` they are the last one's, where the bulk of a large file lies. `directories` are
    the words that name them; `deletes` tells that the default layout is taken away. Where `is_complete` is false, words
    that only the running shell knows may hold more options, and every setting is unknown.
    """

    settings: Mapping[str, Setting]
    directories: tuple[StaticWord, ...]
    components: tuple[Component, ...] = ()
    deletes: bool = False
    is_complete: bool = True
    problems: tuple[SyntaxProblem, ...] = ()


def read_setstripe(words: Sequence[StaticWord]) -> Setstripe | None:
    """Read the words of a command; None unless they are `lfs setstripe` and what follows."""
    if len(words) < 2 or words[0].start.rpartition("/")[2] != "lfs" or words[1].text != "setstripe":
        return None
    given, directories = _options_and_directories(words[2:])
    return _Reading(words[1].span, given, directories).setstripe()


def _options_and_directories(words: Sequence[StaticWord]) -> tuple[list[GivenOption], list[StaticWord]]:
    """lfs takes options behind directories, too, up to `--`."""
    given: list[GivenOption] = []
    directories: list[StaticWord] = []
    rest = list(words)
    while rest:
        found, behind = read_options(rest, _OPTIONS)
        given += found
        if len(behind) < len(rest) and rest[len(rest) - len(behind) - 1].text == "--":
            return given, [*directories, *behind]
        directories += behind[:1]
        rest = behind[1:]
    return given, directories


class _Reading:
    """One reading of a call."""

    def __init__(self, command: Span, given: list[GivenOption], directories: list[StaticWord]) -> None:
        self.command = command
        self.directories = tuple(directories)
        self.problems: list[SyntaxProblem] = []
        unknown = (word.text is None and word.splits for word in directories)
        self.is_complete = not any(unknown) and not any(option.is_undecided for option in given)
        self.given = [(name, option) for option in given if (name := self._name(option)) is not None]

    def setstripe(self) -> Setstripe:
        names = [name for name, _ in self.given]
        deletes = "delete" in names
        if deletes and _EXCLUDED_BY_DELETE & set(names):
            span = self.given[names.index("delete")][1].word.span
            self._refuse("lfs setstripe takes no other option beside -d", span, "-d alone")
        if not self.directories and self.is_complete:
            self._refuse("lfs setstripe names no directory", self.command, "a directory, or a file that is to be made")
        first, *others = self._components()
        components = [first[1], *(settings for _, settings in others)]
        if others and first[1]:
            span = next(iter(first[1].values())).name_span or self.command
            self._refuse("options of a layout stand before the first -E", span, "-E first, then its options")
        for earlier, later in pairwise(components):  # a component has what it does not set from the one before
            later.update(earlier | later)
        found = tuple(Component(end, settings) for end, settings in others if end is not None)
        self._check_ends([component.end for component in found])
        return Setstripe(components[-1], self.directories, found, deletes, self.is_complete, tuple(self.problems))

    def _refuse(self, message: str, span: Span, expected: str) -> None:
        self.problems.append(SyntaxProblem("setstripe-refused", message, span, expected))

    def _name(self, given: GivenOption) -> str | None:
        """The name of an option that lfs takes; None, and a problem, for others."""
        span = given.word.span
        if given.is_undecided:
            return None
        if given.option is None:
            expected = "-S or --stripe-size" if given.written in _REMOVED else "an option of lfs setstripe"
            self._refuse(f"lfs setstripe has no option {given.written}", span, expected)
        elif given.is_missing:
            self._refuse(f"{given.written} wants a value", span, f"--{given.option.name}=value")
        elif given.is_unwanted:
            self._refuse(f"{given.written} takes no value", span, given.written)
        else:
            return _SAME.get(given.option.name, given.option.name)
        return None

    def _components(self) -> list[tuple[Setting | None, dict[str, Setting]]]:
        """What stands before the first -E, then the end and the settings of each component."""
        found: list[tuple[Setting | None, dict[str, Setting]]] = [(None, {})]
        for name, option in self.given:
            if option.value is None:
                continue
            if name == "component-end":
                found.append((self._setting("component_end", name, option, option.value), {}))
            elif name == "ost":
                self._ost_list(option, option.value, found[-1][1])
            elif name in _SETTINGS:
                key = _SETTINGS[name]
                found[-1][1][key] = self._setting(key, name, option, option.value)
        for _, settings in found:
            if "pool" in settings and settings["pool"].origin.value in _NO_POOL:
                del settings["pool"]
        return found

    def _ost_list(self, given: GivenOption, word: StaticWord, settings: dict[str, Setting]) -> None:
        """The OSTs one by one: how many they are, and which is the first."""
        listed = self._setting("stripe_index", "ost", given, word)
        for key, position in (("stripe_index", 0), ("stripe_count", 1)):
            value = listed.origin.value[position] if isinstance(listed.origin.value, tuple) else listed.origin.value
            origin = Origin(LAYER, value, word.span)
            own = Setting(f"lustre.{key}", (origin,), listed.certainty, given.word.span)
            settings.setdefault(key, own)

    def _setting(self, key: str, name: str, given: GivenOption, word: StaticWord) -> Setting:
        value: Any = word.text
        is_known = False
        if word.text is not None:
            try:
                value, is_known = _READERS[name](word.text), name != "overstripe-count"
            except ValueError as error:
                self._refuse(f'lfs setstripe refuses {given.written} "{word.text}"', word.span, str(error))
        certainty = Certainty.WRITTEN if is_known and self.is_complete else Certainty.UNKNOWN
        return Setting(f"lustre.{key}", (Origin(LAYER, value, word.span),), certainty, given.word.span)

    def _check_ends(self, ends: list[Setting]) -> None:
        if any(end.certainty is Certainty.UNKNOWN for end in ends):
            return
        for earlier, later in pairwise(ends):
            if later.span is not None and (earlier.value == _END_OF_FILE or 0 <= later.value <= earlier.value):
                message = "the end of a component is not beyond that of the one before"
                self._refuse(message, later.span, "ends that grow, -1 for the last one")
        if ends and ends[-1].value != _END_OF_FILE and ends[-1].span is not None:
            message = "the layout ends before the end of a file: a write beyond it fails"
            note = "-E -1 for the last component"
            self.problems.append(SyntaxProblem("setstripe-open-end", message, ends[-1].span, note, stops=False))


def _integer(text: str) -> int:
    """As strtol with base 0: 0x10 is 16 and 010 is 8."""
    match = re.fullmatch(r"([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text)
    if match is None:
        raise ValueError("a whole number")
    number = int(match[2], 8 if re.fullmatch(r"0[0-7]+", match[2]) else 0)
    return -number if match[1] == "-" else number


def _between(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers within these bounds."""

    def read(text: str) -> int:
        number = _integer(text)
        if not least <= number <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return number

    return read


def _bytes(text: str) -> int:
    match = re.fullmatch(rf"(\d+)(\.\d+)?([{_SUFFIXES}]?)b?", text.lower())
    if match is None or (match[2] and not match[3]):
        raise ValueError("a size, such as 1M or 4M")
    factor = _KIB ** (_SUFFIXES.index(match[3]) + 1) if match[3] else 1
    size = int(float(match[1] + match[2]) * factor) if match[2] else int(match[1]) * factor
    return size * _KIB if size < _LEAST_BYTES else size  # a small bare number is meant in KiB


def _stripe_size(text: str) -> str:
    """The size with its unit; whether Lustre takes it, the rules on striping say."""
    size = _bytes(text)
    if size % _KIB:
        raise ValueError("a multiple of 64K below 4G, such as 1M or 4M")
    return format_size(size)


def _end(text: str) -> int:
    if text.lower() in ("-1", "eof"):
        return _END_OF_FILE
    size = _bytes(text)
    if size == 0 or size % _ALIGNMENT:
        raise ValueError("a multiple of 64K, -1 or eof")
    return size


def _osts(text: str) -> tuple[int, int]:
    """The first of the listed OSTs, and how many they are."""
    listed: list[int] = []
    for item in text.split(","):
        first, dash, last = item.partition("-")
        begin, end = _integer(first), _integer(last if dash else first)
        if not 0 <= begin <= end <= _LAST_INDEX:
            raise ValueError("numbers of OSTs, such as 1,2-4")
        listed += range(begin, end + 1)
    return listed[0], len(listed)


def _pool(text: str) -> str:
    if len(text.rpartition(".")[2]) > _POOL_LENGTH:
        raise ValueError(f"the name of a pool, of at most {_POOL_LENGTH} characters")
    return text


_READERS: dict[str, Callable[[str], Any]] = {
    "stripe-count": _between(-1, _MOST_STRIPES),
    "overstripe-count": _between(-_MOST_OVERSTRIPES, _MOST_STRIPES),
    "stripe-size": _stripe_size,
    "stripe-index": _between(-1, _LAST_INDEX),
    "ost": _osts,
    "pool": _pool,
    "component-end": _end,
}
