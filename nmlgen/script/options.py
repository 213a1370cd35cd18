"""Words of a command as far as they are known, and options read from them as getopt_long reads them."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile

from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.resources import shipped
from nmlgen.source import Span
from nmlgen.values import evolve, frozen

MOST_WORDS = 5_000
"""Of so many words the directives of a script are read, whatever the scheduler is."""


@frozen
class StaticWord:
    """One word of a command: its `text`, None if only the running shell knows it.

    Of an unknown word `beginning` is the known text before the first unknown character, `ending` that behind the last
    one, and `splits` tells that it may turn out to be several words or none: an unquoted expansion.
    """

    text: str | None
    span: Span
    beginning: str = ""
    splits: bool = False
    ending: str = ""

    @property
    def start(self) -> str:
        """The characters that are known: the text, or the beginning of it."""
        return self.beginning if self.text is None else self.text

    def after(self, length: int) -> StaticWord:
        """The word without its first characters, which are known; points at the whole where they are quoted."""
        text = None if self.text is None else self.text[length:]
        span = self.span
        if span.line == span.end_line:
            written = span.source.line(span.line)[span.column - 1 : span.end_column - 1]
            if length < len(written) and written[:length] == self.start[:length]:
                span = evolve(span, column=span.column + length)
        return StaticWord(text, span, self.beginning[length:], self.splits, self.ending)


@frozen
class Option:
    """An option of a program: its long name (empty if it has none), its letter, and whether a value follows: "none",
    "required", or "optional", which is a value in the same word only. One that only later releases have `is_later`."""

    name: str
    short: str | None
    value: str
    is_later: bool = False


@frozen
class OptionTable:
    """The options of one program."""

    options: tuple[Option, ...]
    _by_name: Mapping[str, Option]
    _by_letter: Mapping[str, Option]
    _sorted: tuple[str, ...]

    @classmethod
    def of(cls, options: Iterable[Option]) -> OptionTable:
        """The table of these options."""
        found = tuple(options)
        return cls(
            found,
            {option.name: option for option in found if option.name},
            {option.short: option for option in found if option.short},
            tuple(sorted({option.name for option in found if option.name})),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All long names."""
        return tuple(self._by_name)

    def letter(self, letter: str) -> Option | None:
        """The option of one letter."""
        return self._by_letter.get(letter)

    def named(self, name: str) -> tuple[Option, ...]:
        """The option of a long name or of a beginning that only one has, or had before later releases; several where it
        is ambiguous."""
        if name in self._by_name:
            return (self._by_name[name],)
        behind = self._sorted[bisect_left(self._sorted, name) :]
        begin = set(takewhile(lambda known: known.startswith(name), behind))
        found = tuple(option for known, option in self._by_name.items() if known in begin) if begin else ()
        earlier = tuple(option for option in found if not option.is_later)
        return earlier if len(earlier) == 1 else found


@frozen
class GivenOption:
    """One option that was given.

    `written` is the option without its value as it stands in `word`, such as "-J"; `option` is None where the program
    does not know it, and then `candidates` are the names that it may be short for. `value` is None where none was
    given. `is_missing` and `is_unwanted` tell of a value that is wanted and not there, or there and not wanted. An
    option that cannot be known because its word is not has `is_undecided`.
    """

    written: str
    word: StaticWord
    option: Option | None = None
    value: StaticWord | None = None
    candidates: tuple[str, ...] = ()
    is_missing: bool = False
    is_unwanted: bool = False
    is_undecided: bool = False

    @property
    def takes_next_word(self) -> bool:
        """Whether the value is a word of its own."""
        here, value = self.word.span, self.value
        return value is not None and (value.span.line, value.span.column) >= (here.end_line, here.end_column)


def read_options(words: Sequence[StaticWord], table: OptionTable) -> tuple[list[GivenOption], list[StaticWord]]:
    """The options up to the first word that is none, and the words from there on; `--` ends the options."""
    rest = deque(words)
    given, _ = take_options(rest, table)
    return given, list(rest)


def take_options(rest: deque[StaticWord], table: OptionTable) -> tuple[list[GivenOption], bool]:
    """The same, taken away from the words; and whether a `--` ended them."""
    given: list[GivenOption] = []
    while rest:
        word = rest[0]
        if word.text == "--":
            rest.popleft()
            return given, True
        if word.start in ("", "-") or not word.start.startswith("-"):
            break
        rest.popleft()
        if word.start.startswith("--"):
            given.append(_long(word, rest, table))
        else:
            given += _letters(word, rest, table)
    return given, False


def _long(word: StaticWord, rest: deque[StaticWord], table: OptionTable) -> GivenOption:
    name, equals, _ = word.start[2:].partition("=")
    written = f"--{name}"
    if word.text is None and not equals:
        return GivenOption(written, word, is_undecided=True)
    found = table.named(name)
    if len(found) != 1:
        return GivenOption(written, word, candidates=tuple(option.name for option in found))
    option = found[0]
    value = word.after(len(written) + 1) if equals else None
    if value is not None:
        return GivenOption(written, word, option, value, is_unwanted=option.value == "none")
    return _with_next(GivenOption(written, word, option), rest)


def _letters(word: StaticWord, rest: deque[StaticWord], table: OptionTable) -> list[GivenOption]:
    """The options of one word such as `-vN2`; one without a value stands among them once."""
    given: list[GivenOption] = []
    switches = set[str]()
    for at, letter in enumerate(word.start[1:], start=1):
        if letter in switches:
            continue
        option = table.letter(letter)
        if option is None:
            return [*given, GivenOption(f"-{letter}", word)]
        if option.value != "none":
            behind = word.after(at + 1) if word.text is None or at + 1 < len(word.text) else None
            one = GivenOption(f"-{letter}", word, option, behind)
            return [*given, one if behind is not None else _with_next(one, rest)]
        switches.add(letter)
        given.append(GivenOption(f"-{letter}", word, option))
    if word.text is None:
        given.append(GivenOption(word.start, word, is_undecided=True))
    return given


def _with_next(given: GivenOption, rest: deque[StaticWord]) -> GivenOption:
    """The option with the next word as its value, if it wants one."""
    if given.option is None or given.option.value != "required":
        return given
    return evolve(given, value=rest.popleft()) if rest else evolve(given, is_missing=True)


@cache
def slurm_options(program: str) -> OptionTable:
    """The options of "sbatch" or "srun" as the programs of Slurm 22.05 know them, and sbatch's of later releases: which
    one a script is for, it does not say."""
    document = shipped("slurm-options.json")
    earlier, later = document[program], document["later"].get(program, {})
    return OptionTable.of(
        Option(name, facts.get("short"), facts["value"], is_later=name not in earlier)
        for name, facts in (earlier | later).items()
    )


def too_many_words(span: Span) -> SyntaxProblem:
    """Where the directives of a script have more words than are read."""
    message = f"more than {MOST_WORDS} words of directives are not read"
    return SyntaxProblem("too-many-words", message, span, "a script with fewer", stops=False)
