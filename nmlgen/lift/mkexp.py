"""Lifting a configuration of mkexp: the namelists that it would write, as far as one file says.

mkexp lays several such files over each other and fills templates with the result. What another file adds, what Python
works out (`eval(...)`) and what the shell puts in (`$$name`) is unknown here: nothing is missing, and nothing is judged
that depends on it. The format is that of ConfigObj, with sections that may have several names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmlgen.experiment.component import MODEL_GROUP
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.files import Files
from nmlgen.lift.namelists import (
    MASTER_FILE,
    NamelistFile,
    lift_document,
    lift_without_master,
)
from nmlgen.namelist.reader import read
from nmlgen.namelist.registry import Registry
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.events import Piece
from nmlgen.script.values import Place, known
from nmlgen.script.values import unknown as unknown_value
from nmlgen.script.worlds import Stretch, WrittenText
from nmlgen.source import UNKNOWN, Source, Text
from nmlgen.values import define, evolve, field, frozen

CONFIG_SUFFIX = ".config"
_NAMELISTS = "namelists"
_JOBS = "jobs"
_RECOGNISED = re.compile(r"^[ \t]*\[+[ \t]*namelists[ \t]*\]+", re.MULTILINE)


def is_mkexp(path: Path, source: Source) -> bool:
    """Whether a file is a configuration of mkexp that has something to lint: a `.config` with namelists in it."""
    return path.suffix == CONFIG_SUFFIX and _RECOGNISED.search(source.text) is not None


@frozen(eq=False)
class LiftedConfig:
    """A configuration, lifted: an experiment for every variant of its namelists, one for each job that changes them.

    `comments` are given by their offsets in the text, with their `#`; `problems` is what mkexp stops at, and
    `of_plan` what is wrong with the plan for hiopy in its section `hiopy`.
    """

    source: Source
    experiments: tuple[Experiment, ...]
    files: tuple[NamelistFile, ...]
    comments: tuple[tuple[int, str], ...]
    problems: tuple[SyntaxProblem, ...]
    of_plan: tuple[SyntaxProblem, ...] = ()


def lift_config(
    path: Path, registry: Registry, *, ntasks: int | None = None, files: Files | None = None
) -> LiftedConfig:
    """Lift a configuration of mkexp; any text is one, if a bad one. Raises InputError if the file cannot be read."""
    files = files or Files()
    source = files.read(path)
    reading = files.made(source, _reading)
    experiments: list[Experiment] = []
    found: list[NamelistFile] = []
    room = _Room(_MOST_WRITTEN, _MOST_FOLLOWED)
    for layers in _variants(reading.root):
        written = dict(_files(layers, registry, reading.text, room))
        found += written.values()
        experiments.append(_experiment(written, registry, ntasks))
        if room.left < _OF_A_VARIANT:
            break
        room.left -= _OF_A_VARIANT
    problems, of_plan = list(reading.problems), tuple(_problems_of_plan(reading.root, reading.text))
    if room.left < _OF_A_VARIANT:
        message = f"the namelists of all jobs have more than {_MOST_WRITTEN} values: what comes behind them is not read"
        problems.append(_too_much(reading, message))
    if room.followed < 0:
        message = f"what values refer to leads to more than {_MOST_FOLLOWED} others: what comes behind them is unknown"
        problems.append(_too_much(reading, message))
    return LiftedConfig(source, tuple(experiments), tuple(found), tuple(reading.comments), tuple(problems), of_plan)


_MOST_WRITTEN = 20_000
"""A bound on work: the values in all namelists of all jobs together, as which groups and jobs count, too."""
_OF_A_GROUP, _OF_A_VARIANT, _IN_A_LIST = 10, 200, 8  # so many elements of a list count as one value more
_MOST_FOLLOWED = 200_000
"""A bound on work: sections that are looked through for what values refer to, which may refer to others in turn."""
_OF_A_TEXT = 32  # so many characters of what is referred to count as one section more


@define
class _Room:
    """How many values may still be written, and how many sections looked through for what they refer to."""

    left: int
    followed: int


def _too_much(reading: _Reading, message: str) -> SyntaxProblem:
    begin = next((section for section in reading.root.sections if _NAMELISTS in section.names), reading.root)
    span = reading.text.span(begin.start, max(begin.end, begin.start + 1))
    return SyntaxProblem("too-much", message, span, "a configuration that somebody could read", stops=False)


def _reading(source: Source) -> _Reading:
    return _Reading(Text(source))


# --- The file's own syntax ---


@frozen(eq=False)
class _Element:
    """One element of a value: the characters `start` up to `end`, without the quotes around them."""

    start: int
    end: int
    text: str


@define(eq=False)
class _Entry:
    """One key with its value; a list, if there is a comma."""

    key: str
    start: int
    elements: list[_Element]
    is_list: bool
    section: _Section

    @property
    def has_value(self) -> bool:
        """Whether anything stands behind the equals sign; nothing there takes away what another file says."""
        return any(element.text for element in self.elements)

    @property
    def word(self) -> str:
        """The value, if it is one element; empty otherwise."""
        return self.elements[0].text if len(self.elements) == 1 and not self.is_list else ""

    @property
    def words(self) -> list[str]:
        """The elements of the value."""
        return [element.text for element in self.elements]


@define(eq=False)
class _Section:
    """A section: its names, of which it usually has one, where these stand, and what is in it."""

    names: tuple[str, ...]
    start: int
    end: int
    depth: int
    parent: _Section | None
    entries: dict[str, _Entry] = field(factory=dict)
    sections: list[_Section] = field(factory=list)
    taken: set[tuple[str, ...]] = field(factory=set)
    """The names that sections in it have."""

    def named(self, name: str) -> Iterator[_Section]:
        """The sections in it that have a name."""
        return (section for section in self.sections if name in section.names)


_SECTION = re.compile(
    r"(?P<open>\[[\[ \t]*)(?P<name>(?:[^\[\]# \t\n][^\[\]#\n]*)?)(?P<close>(?:\][\] \t]*)?)(?:#.*)?\Z"
)
_ENTRY = re.compile(r"(?P<key>(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*|[^'\"=\n][^=\n]*)=[ \t]*")
_TRIPLE = re.compile(r"'''|\"\"\"")
_ELEMENT = re.compile(r"(?P<quoted>\"[^\"\n]*\"|'[^'\n]*')|(?P<plain>[^'\",#\s][^,#\n]*)")
_BLANKS = re.compile(r"[ \t]*")
_LINE = re.compile(r"[^\r\n]*")
_MOST_PROBLEMS = 1_000  # that are told of a text that is no configuration
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")


class _Reading:
    """One pass through a configuration; what mkexp cannot read is a problem, and reading goes on in the next line."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.root = _Section(("",), 0, 0, 0, None)
        self.section = self.root
        self.comments: list[tuple[int, str]] = []
        self.problems: list[SyntaxProblem] = []
        at = 0
        while at < len(text.text):
            at = self._line(at)

    def _problem(self, message: str, start: int, end: int, expected: str) -> None:
        if len(self.problems) >= _MOST_PROBLEMS:
            return
        self.problems.append(
            SyntaxProblem("mkexp-syntax", message, self.text.span(start, max(end, start + 1)), expected)
        )

    def _line(self, at: int) -> int:
        """Read one line, or the several of a value in triple quotes; returns where the next one starts."""
        text = self.text.text
        line_end = _end(_LINE, text, at)
        start = _end(_BLANKS, text, at)
        line = text[start:line_end].rstrip()
        if line.startswith("#"):
            self.comments.append((start, line))
        elif line.startswith("["):
            self._section(start, line)
        elif line:
            match = _ENTRY.match(text, start, line_end)
            if match is None:
                self._problem(
                    f'mkexp does not understand "{line}"', start, start + len(line), "a [section] or key = value"
                )
            else:
                line_end = self._entry(match, line_end)
        return _end(_LINE_END, text, line_end)

    def _section(self, start: int, line: str) -> None:
        match = _SECTION.match(line)
        end = start + len(line)
        if match is None:
            self._problem(f'mkexp does not understand the section "{line}"', start, end, "[name]")
            return
        self._comment(start + len(line.partition("#")[0]), end)
        depth, written = match["open"].count("["), match["name"].rstrip(" \t")
        if depth != match["close"].count("]"):
            self._problem("a section has as many ] as [", start, end, f"{'[' * depth}{written}{']' * depth}")
        parent = self.section
        while parent.depth >= depth and parent.parent is not None:
            parent = parent.parent
        if depth > parent.depth + 1:
            shown = f"{'[' * (parent.depth + 1)}{written}{']' * (parent.depth + 1)}"
            self._problem(f"a section within {parent.names[0] or 'none'} is one deeper, not more", start, end, shown)
        name = match["name"].strip("\"' \t")
        names = tuple(" ".join(part.split()) for part in name.split(","))
        begin = start + match.start("name")
        if names in parent.taken:
            self._problem(f'there is a section "{name}" here already', begin, begin + len(written), "one of the two")
        self.section = _Section(names, begin, begin + len(written), depth, parent)
        parent.sections.append(self.section)
        parent.taken.add(names)

    def _entry(self, match: re.Match[str], line_end: int) -> int:
        """Read a value; returns where its last line ends."""
        text = self.text.text
        start, at = match.start("key"), match.end()
        key = match["key"].strip("\"' \t")
        entry = _Entry(key, start, [], False, self.section)
        triple = _TRIPLE.match(text, at)
        if triple is not None:
            end = text.find(triple[0], at + 3)
            if end < 0:
                self._problem(f"the {triple[0]} is never closed", at, at + 3, f"another {triple[0]}")
                end = len(text)
            entry.elements.append(_Element(at + 3, end, text[at + 3 : end]))
            at = min(end + 3, len(text))
            line_end = _end(_LINE, text, at)
        else:
            at = self._elements(entry, at, line_end)
        at = _end(_BLANKS, text, at)
        if at < line_end:
            if text[at] != "#":
                rest = text[at:line_end].rstrip()
                self._problem(f'mkexp does not understand "{rest}"', at, at + len(rest), "a comma, a # or nothing more")
            self._comment(at, line_end)
        if key in self.section.entries:
            where = self.text.position(self.section.entries[key].start)[0]
            self._problem(
                f"{key} is set at line {where} of this section already",
                start,
                start + len(match["key"].rstrip(" \t")),
                f"one {key}",
            )
        self.section.entries[key] = entry
        return line_end

    def _elements(self, entry: _Entry, at: int, line_end: int) -> int:
        text = self.text.text
        while True:
            found = _ELEMENT.match(text, at, line_end)
            if found is not None:
                inside = 1 if found["quoted"] else 0
                end = at + len(found[0].rstrip())
                entry.elements.append(_Element(at + inside, end - inside, text[at + inside : end - inside]))
                at = end
            at = _end(_BLANKS, text, at)
            if at >= line_end or text[at] != ",":
                return at
            entry.is_list = True
            at = _end(_BLANKS, text, at + 1)

    def _comment(self, start: int, end: int) -> None:
        if start < end and self.text.text[start] == "#":
            self.comments.append((start, self.text.text[start:end]))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


# --- Values ---

_REFERENCE = re.compile(r"\$(?:(?P<dollar>\$)|(?P<name>\.?[A-Za-z_]\w*)|\{(?P<braced>[^{}\n]*)\})|%\{(?P<own>\w+)\}")
_CALL = re.compile(r"(?P<function>[A-Za-z_]\w*)\((?P<inner>.*)\)\Z", re.DOTALL)
_OPEN_CALL = re.compile(r"[a-z_]+\(")
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?|\.?(?:true|false)\.?|\.?[tf]\.?", re.IGNORECASE)
_REPEATED = re.compile(r"\d+\*")
_UNSURE = re.compile(r"%\{|%\(|\$")
_MOST_DEPTH = 20


class _Writing:
    """The text of one namelist, made of stretches that know where in the configuration they stand."""

    def __init__(self, text: Text, room: _Room) -> None:
        self.text, self.room = text, room
        self.stretches: list[Stretch] = []

    def made(self, text: str, at: int) -> None:
        """Characters that mkexp adds."""
        self.stretches.append(Stretch(text, Piece(Place(self.text, at, at), known(text), False), "literal"))

    def own(self, start: int, end: int) -> None:
        """Characters of the configuration itself."""
        text = self.text.text[start:end]
        self.stretches.append(Stretch(text, Piece(Place(self.text, start, end), known(text), False), "literal"))

    def worked_out(self, text: str | None, start: int, end: int) -> None:
        """What becomes of the characters from `start` to `end`; None where that is not known."""
        value = unknown_value(("config", start)) if text is None else known(text)
        kind = "unknown" if text is None else "certain"
        shown = UNKNOWN if text is None else text
        self.stretches.append(Stretch(shown, Piece(Place(self.text, start, end), value, True), kind))

    def group(self, label: str, section: _Section, entries: Iterable[_Entry]) -> None:
        """One group, named by the first word of its label. Nothing is written of a key without a value."""
        name = label.partition(" ")[0]
        start = section.start
        self.made("&", start)
        if self.text.text.startswith(name, start):
            self.own(start, start + len(name))
        else:
            self.made(name, start)
        self.made("\n", start + len(name))
        for entry in entries:
            if entry.has_value:
                self.own(entry.start, entry.start + len(entry.key))
                self.made(" = ", entry.start + len(entry.key))
                self._value(entry, label.partition(" ")[2])
                self.made("\n", entry.elements[-1].end)
        self.made("/\n", section.end)

    def _value(self, entry: _Entry, label: str) -> None:
        start, end = entry.elements[0].start, entry.elements[-1].end
        if entry.is_list and any(_OPEN_CALL.match(text) for text in entry.words):
            self.worked_out(None, start, end)  # a call with a comma, which is no list
            return
        call = _CALL.match(entry.word)
        if call is not None:
            inner = call["inner"].strip() if call["function"] == "raw" else "$$"
            self.worked_out(_resolved(inner, entry.section, label, self.room), start, end)
            return
        for number, element in enumerate(entry.elements):
            if number:
                self.made(", ", element.start)
            self._element(element, entry.section, label)

    def _element(self, element: _Element, section: _Section, label: str) -> None:
        text = _resolved(element.text, section, label, self.room)
        if text is None or _REPEATED.match(text):
            self.worked_out(None, element.start, element.end)
        elif text == element.text and _PLAIN.fullmatch(text):
            self.own(element.start, element.end)
        elif text == element.text and not re.search(r"['\r\n]", text):
            self.made("'", element.start)
            self.own(element.start, element.end)
            self.made("'", element.end)
        else:
            shown = text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "''") + "'"
            self.worked_out(shown, element.start, element.end)


def _resolved(text: str, section: _Section, label: str, room: _Room, depth: int = 0) -> str | None:
    """A text with the values of what it refers to; None where one of them is not known."""
    if UNKNOWN in text or _UNSURE.search(_REFERENCE.sub("", text)):
        return None
    pieces = []
    at = 0
    for match in _REFERENCE.finditer(text):
        value: str | None = None  # as of $$, which leaves a $ to the shell
        if match["own"] == "id":
            value = label or None
        elif match["name"] or match["braced"]:
            value = _looked_up(match["name"] or match["braced"], section, label, room, depth)
        if value is None:
            return None
        pieces += [text[at : match.start()], value]
        at = match.end()
    return "".join([*pieces, text[at:]])


def _looked_up(name: str, section: _Section, label: str, room: _Room, depth: int) -> str | None:
    """The value of a key of a section or of one around it. One without a value waits for that of another file."""
    here: _Section | None = section
    room.followed -= 1
    while here is not None and name not in here.entries:
        here = here.parent
        room.followed -= 1
    if here is None or depth > _MOST_DEPTH or room.followed < 0:
        return None
    word = here.entries[name].word
    room.followed -= len(word) // _OF_A_TEXT
    return None if not word or _CALL.match(word) else _resolved(word, here, label, room, depth + 1)


# --- Namelists ---


def _variants(root: _Section) -> Iterator[list[_Section]]:
    """The namelists sections that belong together: those of the experiment, and again with those of each job."""
    base = list(root.named(_NAMELISTS))
    yield base
    for jobs in root.named(_JOBS):
        for job in jobs.sections:
            own = list(job.named(_NAMELISTS))
            if own:
                yield [*base, *own]


def _files(layers: list[_Section], registry: Registry, text: Text, room: _Room) -> Iterator[tuple[str, NamelistFile]]:
    """The namelist files by their names, each with all its groups, as long as there is room. They are open: other files
    of mkexp may add to them."""
    sections: dict[str, list[_Section]] = {}
    for layer in layers:
        for section in layer.sections:
            for name in dict.fromkeys(section.names):
                sections.setdefault(name, []).append(section)
    for name, of_name in sections.items():
        if room.left < 0:
            return
        writing = _Writing(text, room)
        for label, section, entries in _groups(of_name, room):
            room.left -= _OF_A_GROUP + sum(1 + len(entry.elements) // _IN_A_LIST for entry in entries)
            if room.left < 0:
                break
            if registry.has_group(label.partition(" ")[0]) or _IS_NAMELIST.match(name):
                writing.group(label, section, entries)
        if writing.stretches:
            document = read(text.source, WrittenText(tuple(writing.stretches), text.source))
            file = lift_document(document, registry, is_master=name == MASTER_FILE)
            yield name, evolve(file, groups=tuple(evolve(group, is_open=True) for group in file.groups))


_IS_NAMELIST = re.compile(r"NAMELIST_|.*namelist\Z|.*\.nml\Z")


def _groups(files: list[_Section], room: _Room) -> Iterator[tuple[str, _Section, list[_Entry]]]:
    """The groups of a file that are written: label, the section that stands for it, keys with values.

    A group such as `output_nml atm` begins with what is said of the plain `output_nml`, and of the one that it
    `.extends`. What one hides or removes is not written; whether an expression hides it is not known.
    """
    given: dict[str, list[_Section]] = {}
    for file in files:
        for section in file.sections:
            for label in section.names:
                given.setdefault(label, []).append(section)
    room.left -= sum(map(len, given.values())) // _IN_A_LIST  # also of those that are hidden
    removed = {word for file in files if ".remove" in file.entries for word in file.entries[".remove"].words}
    is_hidden = any(_is_true(file, ".hide") for file in files)
    labelled = {label.partition(" ")[0] for label in given if " " in label}
    known: dict[str, dict[str, _Entry]] = {}
    for label, sections in given.items():
        if is_hidden or label in removed or label in labelled or _is_true(sections[-1], ".hide"):
            continue
        yield label, sections[-1], list(_entries(label, given, known, room, 0).values())


def _entries(
    label: str, given: dict[str, list[_Section]], known: dict[str, dict[str, _Entry]], room: _Room, depth: int
) -> dict[str, _Entry]:
    """What is said of a label; of each it is worked out once. One that extends itself says nothing more by that."""
    if label in known:
        return known[label]
    found = known[label] = {}
    plain = label.partition(" ")[0]
    for other in (plain, *(s.entries[".extends"].word for s in given.get(label, ()) if ".extends" in s.entries)):
        if other != label and other in given and depth < _MOST_DEPTH:
            found |= _entries(other, given, known, room, depth + 1)
    room.left -= len(found) // _IN_A_LIST  # also of those that are removed again
    for section in given.get(label, ()):
        for key in section.entries[".remove"].words if ".remove" in section.entries else ():
            found.pop(key, None)
        found |= {key: entry for key, entry in section.entries.items() if not key.startswith(".")}
        room.left -= len(section.entries) // _IN_A_LIST
    return found


def _is_true(section: _Section, key: str) -> bool:
    return key in section.entries and section.entries[key].word.lower() in ("true", "1", "yes", "on")


# --- The plan for hiopy: how many workers write, and in which chunks (ICON 2025.10, run/mkexp/defaults/hiopy)

_NUMBER = re.compile(r"[+-]?\d+(\.\d*)?", re.ASCII)
_LEVEL = re.compile(r"\d{1,2}", re.ASCII)


def _problems_of_plan(root: _Section, text: Text) -> Iterator[SyntaxProblem]:
    """What is wrong with what the sections `hiopy` say in plain numbers; what other files say is not known."""
    for plan in root.named("hiopy"):
        for key, expected in (
            ("nr_of_workers", "a whole number from 1 on"),
            ("simulated_hours_per_chunk", "a whole number of hours from 1 on"),
            ("chunks_per_shard", "a whole number from 1 on"),
        ):
            entry = plan.entries.get(key)
            if entry is None or not _NUMBER.fullmatch(entry.word):
                continue
            is_workers = key == "nr_of_workers"
            if float(entry.word) < 1 or (is_workers and "." in entry.word):
                result = "no worker writes what ICON sends" if is_workers else "a chunk without a step"
                yield _of_plan(f"{key} is {entry.word}: {result}", entry.elements[0], text, expected, stops=is_workers)
        for grid in plan.named("grid"):
            yield from _problems_of_zooms(grid, text)


def _problems_of_zooms(grid: _Section, text: Text) -> Iterator[SyntaxProblem]:
    """Each level but the finest is made from the next finer one (`init_hierarchy.py`: hiopy::parent)."""
    entry, kind = grid.entries.get("zoom_levels"), grid.entries.get("type")
    if entry is None or not all(map(_LEVEL.fullmatch, entry.words)) or (kind is not None and kind.word != "healpix"):
        return
    levels = {int(word) for word in entry.words}
    for element in entry.elements:
        finer = int(element.text) + 1
        if finer <= max(levels) and finer not in levels:
            message = f"zoom level {element.text} is made from level {finer}, which is not written"
            yield _of_plan(message, element, text, f"{finer} among the zoom_levels", stops=False)


def _of_plan(message: str, element: _Element, text: Text, expected: str, *, stops: bool) -> SyntaxProblem:
    return SyntaxProblem("hiopy-plan", message, text.span(element.start, element.end), expected, stops)


_COMPONENTS = {"atm": "atmosphere", "oce": "ocean", "lnd": "jsbach"}
_NAMED = re.compile(r"NAMELIST_(?P<component>atm|oce|lnd)", re.IGNORECASE)


def _experiment(files: dict[str, NamelistFile], registry: Registry, ntasks: int | None) -> Experiment:
    """A model for each namelist file, with what the master namelist says; for the master alone, if that is all."""
    master = files.get(MASTER_FILE)
    groups = master.groups if master is not None else ()
    found: list[tuple[NamelistFile, str | None]] = []
    for name, file in files.items():
        if name == MASTER_FILE and len(files) > 1:
            continue
        match = _NAMED.match(name)
        kind = _COMPONENTS[match["component"].lower()] if match else None
        found.append((file if name != MASTER_FILE else evolve(file, groups=()), kind))
    experiment = lift_without_master(found, registry, ntasks)
    merged = tuple(_merged(group, groups) for group in experiment.master)
    others = tuple(group for group in groups if group.name not in {group.name for group in merged})
    models = tuple(evolve(model, is_open=True) for model in experiment.models)
    return evolve(experiment, master=(*merged, *others), models=models)


def _merged(assumed: Group, groups: Iterable[Group]) -> Group:
    """A group of the master of which nothing is known, with what is."""
    written = next((group for group in groups if group.name == assumed.name), None)
    if written is None or written.name == MODEL_GROUP:  # several models have one each
        return assumed
    return evolve(written, settings={**assumed.settings, **written.settings})
