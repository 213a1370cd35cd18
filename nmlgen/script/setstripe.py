"""`lfs setstripe` as lfs reads it: what it sets, for which directories, and what it refuses.

Sources: the manual page lfs-setstripe(1) and `lustre/utils/lfs.c` of Lustre 2.15.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.experiment.striping import ON_METADATA_SERVER, Extent, extents_of
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.options import GivenOption, Option, OptionTable, StaticWord, take_options
from nmlgen.source import Span
from nmlgen.units.size import format_size
from nmlgen.units.whole import whole_number
from nmlgen.values import frozen

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
_OF_MIGRATE = OptionTable.of(
    [
        *_OPTIONS.options,
        *(Option(name, short, "none") for name, short in (("block", "b"), ("non-block", "n"), ("non-direct", "D"))),
        Option("mdt-index", "m", "required"),
    ]
)
_SAME = {"comp-end": "component-end", "ost-list": "ost", "ost_list": "ost"}
_REMOVED = ("-s", "--size")
_SETTINGS = {
    "stripe-count": "stripe_count",
    "overstripe-count": "overstripe_count",
    "stripe-size": "stripe_size",
    "stripe-index": "stripe_index",
    "ost": "ost",
    "pool": "pool",
    "layout": "layout",
}
_WITHOUT_PLACE = {
    *("component-add", "comp-add", "component-del", "comp-del", "component-id", "comp-id", "component-flags"),
    *("comp-flags", "component-set", "comp-set", "flags", "foreign", "xattr", "extension-size", "ext-size"),
    *("mirror-count", "yaml", "copy"),
}
"""What a spec cannot say."""

_EXCLUDED_BY_DELETE = {*_SETTINGS, "component-end"}
_OF_FIND = ("-exec", "-execdir", "-ok", "-okdir")
_NO_POOL = ("", "inherit", "none", "ignore")
_END_OF_FILE = -1
_MOST_STRIPES = 2000
_MOST_OVERSTRIPES = 32
_LAST_INDEX = 65532
_POOL_LENGTH = 15
_LARGEST = 2**64 - 1
_KIB = 1024
_LEAST_BYTES = 4096
_ALIGNMENT = 64 * _KIB
_SUFFIXES = "kmgtpe"


@frozen(eq=False)
class Setstripe:
    """One call of `lfs setstripe`, or of `lfs migrate` where it `migrates` files that are there.

    `settings` are those of a spec's `lustre` blocks: counts and stripe_index as int, stripe_size, ost, pool and layout
    as text; empty for a layout with `components`. `directories` are the words that name them; `deletes` tells that the
    default layout is taken away. Where `is_complete` is false, words that only the running shell knows may hold more
    options, and every setting is unknown; `without_place` are the options that a spec has no key for.
    """

    settings: Mapping[str, Setting]
    directories: tuple[StaticWord, ...]
    components: tuple[Extent, ...] = ()
    deletes: bool = False
    migrates: bool = False
    is_complete: bool = True
    without_place: tuple[str, ...] = ()
    problems: tuple[SyntaxProblem, ...] = ()


def read_setstripe(words: Sequence[StaticWord]) -> Setstripe | None:
    """Read the words of a command; None unless they are `lfs setstripe` or `lfs migrate` and what follows, or
    `find DIRECTORY ... -exec lfs migrate`."""
    found: list[StaticWord] = []
    if words and words[0].text == "find":
        begin = next((number for number, word in enumerate(words) if word.text in _OF_FIND), len(words))
        found = [word for word in words[1:begin] if not word.start.startswith("-")][:1]
        words = [word for word in words[begin + 1 :] if word.text not in ("{}", ";", "+")]
    if len(words) < 2 or words[0].start.rpartition("/")[2] != "lfs":
        return None
    verb = words[1].text
    if verb not in ("setstripe", "migrate") or (found and verb != "migrate"):
        return None
    given, directories = _options_and_directories(words[2:], _OPTIONS if verb == "setstripe" else _OF_MIGRATE)
    return _Reading(words[1].span, given, [*found, *directories], migrates=verb == "migrate").setstripe()


def _options_and_directories(
    words: Sequence[StaticWord], options: OptionTable
) -> tuple[list[GivenOption], list[StaticWord]]:
    """lfs takes options behind directories, too, up to `--`."""
    given: list[GivenOption] = []
    directories: list[StaticWord] = []
    rest = deque(words)
    while rest:
        found, is_end = take_options(rest, options)
        given += found
        if is_end:
            return given, [*directories, *rest]
        if rest:
            directories.append(rest.popleft())
    return given, directories


class _Reading:
    """One reading of a call."""

    def __init__(
        self, command: Span, given: list[GivenOption], directories: list[StaticWord], *, migrates: bool
    ) -> None:
        self.command = command
        self.migrates = migrates
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
        if others and first[1]:
            span = next(iter(first[1].values())).name_span or self.command
            self._refuse("options of a layout stand before the first -E", span, "-E first, then its options")
        ends = [end for end, _ in others if end is not None]
        self._check_ends(ends)
        is_complete = self.is_complete and all(end.certainty is not Certainty.UNKNOWN for end in ends)
        extents = [(_byte(end), settings) for end, settings in others] if is_complete else []
        return Setstripe(
            {} if extents else first[1] or (others[-1][1] if others else {}),
            self.directories,
            extents_of(extents),
            deletes,
            self.migrates,
            is_complete,
            tuple(name for name in names if name in _WITHOUT_PLACE),
            tuple(self.problems),
        )

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
            elif name in _SETTINGS:
                key = _SETTINGS[name]
                found[-1][1][key] = self._setting(key, name, option, option.value)
        for _, settings in found:
            if "pool" in settings and settings["pool"].origin.value in _NO_POOL:
                del settings["pool"]
        return found

    def _setting(self, key: str, name: str, given: GivenOption, word: StaticWord) -> Setting:
        value: Any = word.text
        is_known = False
        if word.text is not None:
            try:
                value, is_known = _READERS[name](word.text), True
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


def _byte(end: Setting | None) -> int | None:
    """The byte that a component goes up to; None for the end of the file."""
    return None if end is None or end.value == _END_OF_FILE else int(end.value)


def _integer(text: str) -> int:
    """As strtol with base 0: 0x10 is 16 and 010 is 8."""
    match = re.fullmatch(r"([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text)
    if match is None:
        raise ValueError("a whole number")
    is_decimal = match[2][0] != "0"
    number = whole_number(match[2]) if is_decimal else int(match[2], 8 if re.fullmatch(r"0[0-7]+", match[2]) else 0)
    if abs(number) > _LARGEST:
        raise ValueError("a whole number that fits into 64 bits")
    number = int(number)
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
    match = re.fullmatch(rf"(\d{{1,18}})(\.\d+)?([{_SUFFIXES}]?)b?", text.lower())
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


def _osts(text: str) -> str:
    """The listed OSTs, in decimal numbers."""
    listed: list[str] = []
    for item in text.split(","):
        first, dash, last = item.partition("-")
        begin, end = _integer(first), _integer(last if dash else first)
        if not 0 <= begin <= end <= _LAST_INDEX:
            raise ValueError("numbers of OSTs, such as 1,2-4")
        listed.append(f"{begin}-{end}" if dash else str(begin))
    return ",".join(listed)


def _layout(text: str) -> str:
    if text not in ("raid0", ON_METADATA_SERVER):
        raise ValueError("raid0 or mdt")
    return text


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
    "layout": _layout,
    "component-end": _end,
}
