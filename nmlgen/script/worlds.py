"""The ways a script may go, and the files that it leaves behind on each.

A world answers every question that decides which text goes where. What a value is may still be open in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import UserDict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

from nmlgen.namelist.placeholders import hidden
from nmlgen.script.evaluate import Evaluation
from nmlgen.script.events import (
    Altered,
    Copied,
    Ended,
    Event,
    Field,
    Opened,
    Piece,
    Ran,
    Removed,
    Written,
    single_paths,
)
from nmlgen.script.listing import listing_of
from nmlgen.script.patterns import UndecidedPattern, matches
from nmlgen.script.posix_expressions import Expression, Untranslatable, translate_bre, translate_ere
from nmlgen.script.values import ALWAYS, Guard, Place, Possibility, contradicts, text_of
from nmlgen.script.values import unknown as unknown_value
from nmlgen.source import UNKNOWN, Source, Span, Text
from nmlgen.values import field, frozen

_MOST_WORLDS = 64
_MOST_COVERING = 6
_MOST_ENDS = 500  # of a script that are looked at for what is written behind them
_MOST_FILES = 2_000
"""A bound on work: a directory may be copied into itself, again and again."""
_MOST_COPIED, _LOOKED_AT = 200_000, 20
"""The same of the parts of texts that copies hold, of so many characters in them, and of files that are looked at."""
_MOST_EXPANDED, _LONG = 500_000, 1_000
"""A bound on work: characters of variables in all files. A long text may be written again and again."""
_CHARACTERS = 50
_BLANKS = re.compile(r"[ \t]*")

Path: TypeAlias = tuple[str, tuple[Hashable, ...]]
"""A file's name, with the symbols of what is unknown in it."""


class Stretch(NamedTuple):
    """A stretch of a file as one world has it: its text, and the piece that it comes from.

    `kind` is "literal", or of an expansion "certain", "set" (one of several known texts) or "unknown".
    """

    text: str
    piece: Piece
    kind: str

    @property
    def only_case(self) -> Possibility | None:
        """The only text that an expansion may be."""
        if not self.piece.is_expansion or self.kind != "certain":
            return None
        return next((case for case in self.piece.value if case.text == self.text), None)

    @property
    def unset_case(self) -> Possibility | None:
        """The only text that an expansion may be, if it is empty or 0 because nothing sets a variable."""
        case = self.only_case
        return case if case is not None and case.unset and self.text.strip() in ("", "0", "0.0") else None


class WrittenText(Text):
    """The text of a file that a script writes; places in it are places in the script."""

    def __init__(self, stretches: tuple[Stretch, ...], script: Source) -> None:
        super().__init__(script)
        self.text = hidden("".join(stretch.text for stretch in stretches))
        self.stretches = stretches
        self._ends: list[int] = []
        self._shifts: list[int | None] = []  # how much further on in the script its own characters stand
        end = 0
        for stretch in stretches:
            self._shifts.append(stretch.piece.place.start - end if _is_exact(stretch) else None)
            end += len(stretch.text)
            self._ends.append(end)

    def stretch(self, offset: int) -> tuple[Stretch, int] | None:
        """The stretch that a character belongs to, and how many characters of it come before."""
        number = bisect_right(self._ends, offset)
        if number >= len(self.stretches):
            return None
        stretch = self.stretches[number]
        return stretch, offset - (self._ends[number] - len(stretch.text))

    def within(self, start: int, end: int) -> tuple[Stretch, ...]:
        """The stretches that characters `start` up to `end` come from."""
        first = bisect_right(self._ends, start)
        last = bisect_right(self._ends, max(start, end - 1))
        return self.stretches[first : last + 1]

    def with_blanks_behind(self, start: int, end: int) -> tuple[Stretch, ...]:
        """The same with the blanks behind them, among which may be expansions that left nothing there."""
        behind = _BLANKS.match(self.text, end)
        return self.within(start, (behind.end() if behind else end) + 1)

    def is_left_out(self, start: int, end: int) -> bool:
        return any(stretch.unset_case for stretch in self.with_blanks_behind(start, end))

    def expansions(self) -> list[tuple[int, int, str]]:
        """The stretches that come from expansions: their first characters, those behind them, and their kinds."""
        return [
            (end - len(stretch.text), end, stretch.kind)
            for stretch, end in zip(self.stretches, self._ends, strict=True)
            if stretch.piece.is_expansion
        ]

    def identity(self, start: int, end: int) -> Hashable:
        places = tuple((id(s.piece.place.text), s.piece.place.start, s.kind) for s in self.within(start, end))
        first = self.stretch(start)
        return self.text[start:end], None if first is None else first[1], places

    def own_characters(self) -> Iterator[tuple[Text, int, int]]:
        """The stretches of the script, `start` up to `end` of a text, whose characters are in the file one by one."""
        for stretch in self.stretches:
            if _is_exact(stretch):
                yield stretch.piece.place

    def place(self, start: int, end: int) -> Place:
        """Where characters of the file stand in the script. Between two characters is a place, too, if one of them is
        the script's own."""
        number = bisect_right(self._ends, start)
        if start < end and number < len(self._ends) and end <= self._ends[number]:  # within one stretch, as usual
            shift = self._shifts[number]
            if shift is not None:
                return Place(self.stretches[number].piece.place.text, start + shift, end + shift)
        if start == end:
            for offset in (start - 1, start):
                found = self.stretch(offset) if offset >= 0 else None
                if found is not None and _is_exact(found[0]):
                    at = found[0].piece.place.start + found[1] + (start - offset)
                    return Place(found[0].piece.place.text, at, at)
        first = self.stretch(start) or self._last()
        if first is None:
            return Place(Text(self.source), 0, 0)
        stretch, before = first
        text = stretch.piece.place.text
        begin = stretch.piece.place.start + (before if _is_exact(stretch) else 0)
        final = self.stretch(max(start, end - 1)) or first
        other, count = final
        if other.piece.place.text is not text:
            return Place(text, begin, stretch.piece.place.end)
        finish = other.piece.place.start + count + 1 if _is_exact(other) else other.piece.place.end
        return Place(text, begin, max(begin, finish))

    def _last(self) -> tuple[Stretch, int] | None:
        return (self.stretches[-1], len(self.stretches[-1].text)) if self.stretches else None

    def position(self, offset: int) -> tuple[int, int]:
        place = self.place(offset, offset)
        return place.text.position(place.start)

    def span(self, start: int, end: int) -> Span:
        number = bisect_right(self._ends, start)
        if start < end and number < len(self._ends) and end <= self._ends[number]:  # as in `place`
            shift = self._shifts[number]
            if shift is not None:
                return self.stretches[number].piece.place.text.span(start + shift, end + shift)
        place = self.place(start, end)
        return place.text.span(place.start, place.end)


def _is_exact(stretch: Stretch) -> bool:
    """Whether the characters are the script's own, one by one."""
    place = stretch.piece.place
    return not stretch.piece.is_expansion and place.end - place.start == len(stretch.text)


@frozen(eq=False, slots=False)
class WrittenFile:
    """A file that the script writes: its `text`, where UNKNOWN stands for each stretch that cannot be known."""

    name: str
    stretches: tuple[Stretch, ...]
    script: Source = field(repr=False)

    @cached_property
    def origin(self) -> WrittenText:
        """The text with its places in the script."""
        return WrittenText(self.stretches, self.script)

    @property
    def text(self) -> str:
        """The whole of it."""
        return self.origin.text


@frozen(eq=False)
class World:
    """One way a script may go: the answers, the files at its end by name, and the programs it starts."""

    guard: Guard
    files: Mapping[str, WrittenFile]
    programs: tuple[Ran, ...]


def worlds(evaluation: Evaluation) -> tuple[World, ...]:
    """The consistent ways the script may go, as far as its files are concerned; no more than 64 of them.

    Where it may do what nobody can follow, or goes in more ways, the last of them has one file: of a name and a text
    that are not known.
    """
    events = evaluation.single_paths
    files = [event for event in events if not isinstance(event, Ran)]
    answers: list[Guard] = []
    waiting: list[Guard] = [ALWAYS]
    is_lost = False
    while waiting and len(answers) + len(waiting) <= _MOST_WORLDS:
        guard = waiting.pop()
        open_answer = _open_answer(files, guard)
        if open_answer is not None:
            unlikely = abs(open_answer) in evaluation.questions.unlikely
            rather, otherwise = (-open_answer, open_answer) if unlikely else (open_answer, -open_answer)
            waiting += [guard | {otherwise}, guard | {rather}]
        elif _is_lost(files, guard):
            is_lost = True
        else:
            answers.append(guard)
    maker = _Maker(events, evaluation)
    found = [maker.world(guard) for guard in answers]
    if is_lost or waiting:
        found.append(_lost_world(evaluation))
    return tuple(found)


def covering_worlds(evaluation: Evaluation, decisive: str = "") -> tuple[World, ...]:
    """A few ways that the script may go, such that each of its writes happens in one of them, if few suffice, and each
    value in what is written to a file that is called like `decisive`: whether a run is a restart stands there.

    Ways in which something goes wrong are not among them.
    """
    events = single_paths(evaluation.events, last_first=True)
    unlikely = evaluation.questions.unlikely
    given_up = _given_up(events)
    maker = _Maker(events, evaluation)
    found: list[World] = []
    reached = list(_reached(events, unlikely))
    choices = [
        choice for event, guard in reached if isinstance(event, Written) for choice in _choices(event, guard, decisive)
    ]
    choices = [guard for guard in dict.fromkeys(choices) if unlikely.isdisjoint(guard)]
    waiting = [*choices, *dict.fromkeys(guard for _, guard in reached)]
    start: Guard = ALWAYS
    while len(found) < _MOST_COVERING:
        guard = _settled(events, start, unlikely, given_up)
        for choice in choices:
            guard = guard if contradicts(choice, guard) else guard | choice
        found.append(maker.world(guard))
        waiting = [other for other in waiting if not other <= guard]
        if not waiting:
            break
        start = waiting[0]
        waiting = waiting[1:]
    return tuple(found)


def decided(
    evaluation: Evaluation, world: World, programs: Collection[str]
) -> tuple[World, tuple[tuple[Place, str], ...]]:
    """The same way with one value for everything that it writes and tells these `programs`: of several known ones the
    last, which is what a script does unless something is special. With it the places where one was chosen, and each
    text."""
    guard, chosen = world.guard, list[tuple[Place, str]]()
    for event in evaluation.events:
        if not event.guard <= guard:
            continue
        if isinstance(event, Ended):
            break
        items: tuple[Piece | Field, ...] = ()
        if isinstance(event, Written):
            items = event.pieces
        elif isinstance(event, Ran) and event.words and text_of(event.words[0].value) in programs:
            items = event.words
        for item in items:
            cases = [case for case in item.value if not contradicts(case.guard, guard)]
            if listing_of(item.value) is not None:
                continue  # the files of a directory, whichever these are
            if len({(case.text, case.symbols) for case in cases}) < 2:
                continue
            usual = [case for case in cases if evaluation.questions.unlikely.isdisjoint(case.guard)]
            usual = [case for case in usual if case.guard and not case.symbols]
            if usual:
                guard |= usual[-1].guard
                chosen.append((item.place, usual[-1].text))
    if guard == world.guard:
        return world, ()
    return _Maker(evaluation.single_paths, evaluation).world(guard), tuple(chosen)


def _choices(event: Written, reached: Guard, decisive: str) -> Iterator[Guard]:
    """Where each of several values holds in what is written to a file of that name; those that are known come first:
    they are what a script does unless its surroundings say something else."""
    if not decisive or event.path[0].text.rpartition("/")[2] != decisive:
        return
    for piece in event.pieces:
        if len(piece.value) > 1:
            cases = sorted(piece.value, key=lambda case: bool(case.symbols))
            yield from (reached | case.guard for case in cases if not contradicts(case.guard, reached))


def _reached(events: Iterable[Event], unlikely: set[int]) -> Iterator[tuple[Event, Guard]]:
    """What is done to files where nothing goes wrong, each with answers such that the script has not ended before."""
    ends: list[_End] = []
    known: dict[Guard, _Way] = {}
    for event in events:
        if isinstance(event, Ended):
            if len(ends) < _MOST_ENDS:
                ends.append(_End.of(event.guard))
        elif not isinstance(event, Ran) and unlikely.isdisjoint(event.guard):
            way = known.setdefault(event.guard, _Way(event.guard))
            guard = way.behind(ends)
            if guard is not None and unlikely.isdisjoint(guard):
                yield event, guard


class _End(NamedTuple):
    """Where a script ends: by these answers, last asked first; `opposite` are those by which it does not."""

    guard: Guard
    opposite: Guard
    answers: tuple[int, ...]

    @classmethod
    def of(cls, guard: Guard) -> _End:
        return cls(guard, frozenset(-answer for answer in guard), tuple(sorted(guard, key=abs, reverse=True)))


class _Way:
    """The answers with which the script comes to what has one guard; more of them with each end before it."""

    def __init__(self, guard: Guard) -> None:
        self._guard: Guard | None = guard
        self._count = 0  # how many ends were looked at

    def behind(self, ends: list[_End]) -> Guard | None:
        """The answers behind all these ends, of which earlier calls had the first; None where one is certain."""
        if self._guard is None or self._count == len(ends):
            return self._guard
        answers = set(self._guard)
        for number in range(self._count, len(ends)):
            end = ends[number]
            if end.answers and -end.answers[0] in answers:
                continue
            if end.guard <= answers:
                self._guard = None
                return None
            if end.opposite.isdisjoint(answers):
                answers.add(-next(answer for answer in end.answers if answer not in answers))
        self._guard, self._count = frozenset(answers), len(ends)
        return self._guard


def _lost_world(evaluation: Evaluation) -> World:
    source = evaluation.script.source
    piece = Piece(Place(evaluation.script.text, 0, 0), (Possibility(ALWAYS, UNKNOWN, (("lost",),)),), True)
    return World(ALWAYS, {UNKNOWN: WrittenFile(UNKNOWN, (Stretch(UNKNOWN, piece, "unknown"),), source)}, ())


def _open_answer(events: Iterable[Event], guard: Guard) -> int | None:
    """An answer on which it depends whether an event happens; none after the end."""
    for event in events:
        if event.guard <= guard:
            if isinstance(event, Ended):
                return None
        elif not contradicts(event.guard, guard):
            return min(event.guard - guard, key=abs)
    return None


def _is_lost(events: Iterable[Event], guard: Guard) -> bool:
    """Whether nobody knows how the script ends."""
    return next((event.lost for event in events if isinstance(event, Ended) and event.guard <= guard), False)


def _settled(events: Iterable[Event], guard: Guard, unlikely: set[int], given_up: frozenset[Guard]) -> Guard:
    """More answers, so that every event happens or does not; rather that it does, and that nothing goes wrong."""
    answers = set(guard)  # each event may add some
    waiting: dict[int, list[Guard]] = {}  # those that are not reached, by an answer that they lack
    for end in given_up:
        if not end <= guard:
            waiting.setdefault(_last(end - guard), []).append(end)
    is_behind = any(end < guard for end in given_up)  # something has gone wrong already
    sizes = {len(end) for end in given_up}
    for event in events:
        more = event.guard - answers
        if not more:
            if isinstance(event, Ended):
                break
        elif not contradicts(event.guard, answers):
            refused = more & unlikely
            if not refused and (
                isinstance(event, Ended)
                or is_behind
                or any(end - answers <= more for answer in more for end in waiting.get(answer, ()))
            ):
                refused = frozenset((_last(more),))
            added = frozenset(-answer for answer in refused) if refused else more
            is_behind = is_behind or (len(answers) in sizes and frozenset(answers) in given_up)
            answers |= added
            for end in [end for answer in added for end in waiting.pop(answer, ())]:
                if end <= answers:
                    is_behind = is_behind or end < answers
                else:
                    waiting.setdefault(_last(end - answers), []).append(end)
    return frozenset(answers)


def _given_up(events: Iterable[Event]) -> frozenset[Guard]:
    """Where a script only says that something is not as it should be, and ends: behind the question no file was written
    and nothing was submitted."""
    events = tuple(events)
    deciding = {_last(event.guard) for event in events if isinstance(event, Ended) and event.guard}
    found: set[Guard] = set()
    done: dict[int, list[Guard]] = {}  # what was done, by the answers that decide whether the script ends
    known: set[Guard] = set()
    for event in events:
        if isinstance(event, Ended):
            if event.guard and not any(event.guard <= guard for guard in done.get(_last(event.guard), ())):
                found.add(event.guard)
        elif event.guard not in known and (not isinstance(event, Ran) or _submits(event)):
            known.add(event.guard)
            for answer in event.guard & deciding:
                done.setdefault(answer, []).append(event.guard)
    return frozenset(found)


def _last(guard: Guard) -> int:
    """The answer to the question that was asked last."""
    return max(guard, key=abs)


def _submits(event: Ran) -> bool:
    return bool(event.words) and any(case.text == "sbatch" for case in event.words[0].value)


class _Files(UserDict[Path, list[Stretch]]):
    """What is written, by path. Whether anything lies below a directory is asked for each copy, so that the names are
    kept in order."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._copied = 0
        super().__init__()

    def copied(self, content: list[Stretch], instead: list[Stretch]) -> list[Stretch]:
        """What a copy holds; something else `instead` where very much has been copied already."""
        if self._copied <= _MOST_COPIED:
            self._copied += len(content) + sum(len(stretch.text) for stretch in content) // _CHARACTERS
        return content if self._copied <= _MOST_COPIED else instead

    def edited(self, content: list[Stretch], event: Altered) -> list[Stretch]:
        """What `sed -i` leaves: of a line that it touches nothing is known, and of the whole file where very much has
        been looked at already."""
        self._copied += _LOOKED_AT * len(event.program or "") // _CHARACTERS
        patterns = _touched(event.program) if self._copied <= _MOST_COPIED else None
        if patterns is not None:
            texts = ["".join([stretch.text for stretch in line]) for line in _lines(content)]
            self._copied += len(content) + 1 + len(texts)
            self._copied += sum(expression.effort(text) for text in texts for expression in patterns)
        piece = Piece(event.place, (Possibility(ALWAYS, UNKNOWN, (("edited", event.place.start),)),), True)
        if patterns is None or self._copied > _MOST_COPIED:
            return [Stretch(UNKNOWN, piece, "unknown")]
        return list(_edited(content, patterns, piece))

    def like(self, beginning: str) -> list[Path]:
        """The files whose names begin like that; none where very much has been looked at or copied already."""
        if self._copied > _MOST_COPIED:
            return []
        found = [path for path in self.data if path[0].startswith(beginning)]
        self._copied += _LOOKED_AT * (1 + len(found)) + len(self.data) // _LOOKED_AT
        return found

    def __setitem__(self, path: Path, content: list[Stretch]) -> None:
        if path not in self.data:
            insort(self._names, path[0])
        self.data[path] = content

    def __delitem__(self, path: Path) -> None:
        del self.data[path]
        del self._names[bisect_left(self._names, path[0])]

    def has_below(self, directory: str) -> bool:
        """Whether a file lies somewhere in a directory."""
        begin = f"{directory}/"
        place = bisect_left(self._names, begin)
        return place < len(self._names) and self._names[place].startswith(begin)


class _Maker:
    """Makes the worlds of one evaluation."""

    def __init__(self, events: list[Event], evaluation: Evaluation) -> None:
        self.events, self.source = events, evaluation.script.source
        self._fixed: dict[int, list[Stretch] | None] = {}  # what an event writes in every world, by its number
        self._expanded = 0

    def world(self, guard: Guard) -> World:
        """What happens where all answers of `guard` hold."""
        files = _Files()
        directories: set[str] = set()
        programs: list[Ran] = []
        for number, event in enumerate(self.events):
            if not event.guard <= guard:
                continue
            if isinstance(event, Ended):
                break
            if isinstance(event, Ran):
                programs.append(event)
                directories.update(_made(event))
                continue
            path: Path = event.path[0][1:3]
            if isinstance(event, Written):
                files.setdefault(path, []).extend(self._stretches(number, event, guard))
            elif isinstance(event, Opened):
                files[path] = []
            elif isinstance(event, Copied):
                _copy(event, path, files, directories, guard)
            elif isinstance(event, Removed):
                _remove(event, path, files, directories)
            elif path in files:
                files[path] = files.edited(files[path], event)
        written = {path[0]: WrittenFile(path[0], tuple(stretches), self.source) for path, stretches in files.items()}
        return World(guard, written, tuple(programs))

    def _stretches(self, number: int, event: Written, guard: Guard) -> list[Stretch]:
        if number not in self._fixed:
            is_fixed = all(len(piece.value) == 1 for piece in event.pieces)
            self._fixed[number] = [self._stretch(piece, ALWAYS) for piece in event.pieces] if is_fixed else None
        found = self._fixed[number]
        return [self._stretch(piece, guard) for piece in event.pieces] if found is None else found

    def _stretch(self, piece: Piece, guard: Guard) -> Stretch:
        stretch = stretch_of(piece, guard)
        if piece.is_expansion and (guard is ALWAYS or len(stretch.text) > _LONG):  # short ones differ in many worlds
            self._expanded += len(stretch.text)
            if self._expanded > _MOST_EXPANDED:
                value = unknown_value(("written", piece.place.start))
                return Stretch(UNKNOWN, Piece(piece.place, value, True), "unknown")
        return stretch


def _made(event: Ran) -> Iterator[str]:
    texts = [text_of(word.value) for word in event.words]
    if texts and texts[0] == "mkdir":
        yield from (text.rstrip("/") for text in texts[1:] if text is not None and not text.startswith("-"))


def stretch_of(piece: Piece, guard: Guard) -> Stretch:
    """The text of a piece where `guard` holds."""
    value = piece.value
    if len(value) == 1:
        case = value[0]
        kind = "literal" if not piece.is_expansion else "unknown" if case.symbols else "certain"
        return Stretch(case.text, piece, kind)
    cases = [case for case in value if not contradicts(case.guard, guard)] or list(value)
    first = cases[0]
    if all(case[1:3] == first[1:3] for case in cases):
        return Stretch(first.text, piece, "unknown" if first.symbols else "certain")
    return Stretch(UNKNOWN, piece, "unknown" if any(case.symbols for case in cases) else "set")


def _copy(event: Copied, path: Path, files: _Files, directories: set[str], guard: Guard) -> None:
    sources = [case for case in event.source if not contradicts(case.guard, guard)]
    source: Path = (sources or event.source)[0][1:3]
    piece = Piece(event.place, (Possibility(ALWAYS, UNKNOWN, (("file", source),)),), True)
    unknown = [Stretch(UNKNOWN, piece, "unknown")]
    content = unknown if len(sources) > 1 else files.copied(files.get(source, unknown), unknown)
    if event.appends:
        files.setdefault(path, []).extend(content)
        return
    name = source[0].rpartition("/")[2]
    text = path[0]
    inside: Path = (f"{text.rstrip('/')}/{name}" if text not in ("", ".", "./") else name, path[1])
    is_directory = text in ("", ".", "..") or text.endswith("/") or text in directories
    is_directory = is_directory or files.has_below(text)
    if files.has_below(source[0]):
        _copy_directory(f"{source[0]}/", f"{(inside if is_directory else path)[0]}/", path[1], files, event.moves)
        directories.add((inside if is_directory else path)[0])
        return
    if is_directory:
        files[inside] = list(content)
    elif source in files or path in files:
        files[path] = list(content)
        if UNKNOWN in text:  # it may be a directory
            files[inside] = list(content)
    if event.moves and source not in (inside, path):
        files.pop(source, None)


def _copy_directory(below: str, target: str, symbols: tuple[Hashable, ...], files: _Files, moves: bool) -> None:
    for key in files.like(below):
        if len(files) > _MOST_FILES:  # a directory copied into itself, again and again
            return
        content = files.pop(key) if moves else files[key]
        files[target + key[0].removeprefix(below), (*symbols, *key[1])] = list(files.copied(content, []))


_WILDCARD = re.compile(r"[*?\[\\]")


def _remove(event: Removed, path: Path, files: _Files, directories: set[str]) -> None:
    files.pop(path, None)
    text = path[0]
    directories.discard(text)
    if not (event.is_pattern or files.has_below(text)):
        return
    begin = _WILDCARD.split(text, maxsplit=1)[0]
    for key in files.like(begin if event.is_pattern else f"{text}/"):
        if key[0].startswith(f"{text}/"):
            del files[key]
        elif event.is_pattern and key[0].count("/") == text.count("/"):
            try:
                found = matches(((text, False),), key[0], extglob=False)
            except UndecidedPattern:
                found = True
            if found:
                del files[key]


_SUBSTITUTION = re.compile(
    r"\s*s(?P<mark>[^\sA-Za-z0-9\\])(?P<pattern>(?:\\.|(?!(?P=mark))[^\\\n])*)(?P=mark)"
    r"(?:\\.|(?!(?P=mark))[^\\\n])*(?P=mark)[gpiI0-9]*\s*\Z"
)


def _edited(stretches: list[Stretch], patterns: Sequence[Expression], piece: Piece) -> Iterator[Stretch]:
    """The lines that no pattern touches, and something unknown for the others."""
    for line in _lines(stretches):
        text = "".join(stretch.text for stretch in line)
        body = text.rstrip("\n")
        if UNKNOWN in body or any(pattern.may_be_found(body) for pattern in patterns):
            yield Stretch(UNKNOWN, piece, "unknown")
            if text.endswith("\n"):
                yield Stretch("\n", piece, "literal")
        else:
            yield from line


@lru_cache(maxsize=100)
def _touched(program: str | None) -> tuple[Expression, ...] | None:
    """What the substitutions of a program look for; None where it is anything else."""
    if program is None:
        return None
    found = []
    for command in re.split(r"\n|;(?=\s*s)", program):
        match = _SUBSTITUTION.match(command)
        if match is None:
            return None
        try:
            found += [translate(match["pattern"]) for translate in (translate_bre, translate_ere)]
        except Untranslatable:
            return None
    return tuple(found)


def _lines(stretches: list[Stretch]) -> Iterator[list[Stretch]]:
    line: list[Stretch] = []
    for stretch in stretches:
        parts = stretch.text.splitlines(keepends=True) if stretch.text else [""]
        start = stretch.piece.place.start
        for part in parts:
            piece = stretch.piece
            if _is_exact(stretch):
                piece = piece._replace(place=Place(piece.place.text, start, start + len(part)))
                start += len(part)
            line.append(Stretch(part, piece, stretch.kind))
            if part.endswith("\n"):
                yield line
                line = []
    if line:
        yield line
