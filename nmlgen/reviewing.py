"""Judging a script that somebody wrote by hand: every way it may go, by the same rules as a spec."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import PurePath
from posixpath import normpath

from nmlgen.checking import check_experiment
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError
from nmlgen.findings import Finding, Report, Severity, Undecided, in_order, nearest, suggestion
from nmlgen.lift.file_kinds import says_it_is_a_script
from nmlgen.lift.fragments import fragment_name
from nmlgen.lift.namelists import NamelistFile
from nmlgen.lift.own_text import only_own_text
from nmlgen.lift.problems import finding_of, problem, problems_of
from nmlgen.lift.scripts import LiftedScript, Way
from nmlgen.models.icon.output import output_directories
from nmlgen.models.icon.promised import checkpoint_directories
from nmlgen.namelist.syntax import Document
from nmlgen.rechecking import Rechecker
from nmlgen.script.assignments import DYNAMIC
from nmlgen.script.evaluate import SYSTEM
from nmlgen.script.events import Ended, Piece
from nmlgen.script.hardly_a_script import is_hardly_a_script, is_piece
from nmlgen.script.problems import CODES_OF_KINDS, code_of
from nmlgen.script.syntax import Script
from nmlgen.script.worlds import Stretch, WrittenText
from nmlgen.source import UNKNOWN, Source, Span, Stretches
from nmlgen.suppression import Suppression, suppressions_in
from nmlgen.values import evolve

Writer = tuple[int, int]
"""What writes, within one of several scripts: see `_Writers`."""

_COMMENT = re.compile(r"^[^!\n]*(![^\n]*nmlgen:[^\n]*)", re.MULTILINE)
_STRUCTURAL = ("unclosed-group", "unclosed-before-group", "unclosed-string", "no-name", "misplaced-equals")
_SHORTEST_SLIP = 5
_MOST_SLIPS, _MOST_VARIABLES = 200, 2_000
_MOST_UNSET = 200  # uses in a namelist that are told
_USED = re.compile(r"(?<!\\)\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?=[}\[%#/^,]))")


def review(lifted: LiftedScript) -> Report:
    """Judge a script that was lifted.

    What is found on one way only holds where every way that comes by the place finds it, too: it would else depend
    on what nobody can know.
    """
    script = lifted.script
    beginning = script.source.span(1, 1)
    findings = [finding_of(found, code_of(found.kind)) for found in script.problems]
    if findings and (_is_guessed(lifted) or _is_of_others(script, findings)):
        findings = [evolve(found, severity=Severity.WARNING) for found in findings]
    findings = list(_after_the_first(findings))
    findings += [finding_of(found, CODES_OF_KINDS[found.kind]) for found in lifted.problems]
    for document in lifted.inactive:
        findings += _inactive(document)
    findings += [*_ends_early(lifted), *_given_up(lifted), *_misspelt(lifted)]
    writers = _Writers((script, *lifted.evaluation.sourced))
    # ways are nearly alike, but asking what a rule asks for costs more than a second look does
    check = Rechecker().check if len(lifted.ways) > 2 else check_experiment
    ways = [_Judged(way, beginning, writers, check) for way in lifted.ways]
    undecided = [item for judged in ways for item in judged.undecided]
    everywhere = frozenset().union(*(judged.written for judged in ways))
    of_ways: list[Finding] = []
    for judged in ways:
        for finding in judged.findings:
            place = writers.at(finding.span)
            if all(finding in other.findings or (place in everywhere and place not in other.written) for other in ways):
                of_ways.append(finding)
    findings += only_own_text(of_ways, (file for way in lifted.ways for file in way.files), script.bodies)
    pieces = _expansions(lifted.ways)
    own = lifted.evaluation.final
    found = tuple(_explained(finding, pieces, own) for finding in dict.fromkeys(findings))
    return Report(found, undecided=tuple(dict.fromkeys(undecided)), values=lifted.values)


def _is_guessed(lifted: LiftedScript) -> bool:
    """Whether nothing says that a text is a script: neither itself, nor a namelist that it writes, nor ICON's name for
    an experiment."""
    source = lifted.script.source
    path = PurePath(source.name)
    says_so = says_it_is_a_script(path, source) or fragment_name(path.name) is not None
    return not says_so and not any(way.files for way in lifted.ways)


def _is_of_others(script: Script, findings: list[Finding]) -> bool:
    """Whether a text is a piece of a script, or hardly one, so that no shell reads it as it stands."""
    is_part = is_piece(script.source.name, (found.kind for found in script.problems))
    return is_part or is_hardly_a_script(script.source, findings)


def _after_the_first(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Of what a shell cannot read the first is an error: it comes no further, and the rest may follow from that."""
    is_stopped = False
    for found in in_order(findings):
        is_error = found.code == "SHL001" and found.severity is Severity.ERROR
        yield evolve(found, severity=Severity.WARNING) if is_error and is_stopped else found
        is_stopped = is_stopped or is_error


def suppressions(lifted: LiftedScript) -> Iterator[Suppression]:
    """The suppressions in a script: in comments of the shell, and in those of namelists within it."""
    source = lifted.script.source
    if "nmlgen:" not in source.text:
        return
    comments = [(comment.start, source.text[comment.start : comment.end]) for comment in lifted.script.comments]
    for start, end in lifted.script.bodies:
        comments += [(match.start(1), match[1]) for match in _COMMENT.finditer(source.text, start, end)]
    yield from suppressions_in(source, sorted(comments))


class _Writers:
    """The parts of scripts that write, a script and those that it sources: here-documents, by where their bodies start,
    and all else by its line."""

    def __init__(self, scripts: Iterable[Script]) -> None:
        self._bodies = {id(script.source): script.bodies for script in scripts}

    def of(self, source: Source, offset: int) -> Writer | None:
        """The writer of a place: a positive number for a here-document, a negative one for a line; None where it is in
        none of the scripts."""
        bodies = self._bodies.get(id(source))
        if bodies is None:
            return None
        number = bisect_right(bodies, offset, key=itemgetter(0)) - 1
        if number >= 0 and offset < bodies[number][1]:
            return id(source), bodies[number][0] + 1
        return id(source), -bisect_right(source.line_starts, offset)

    def at(self, span: Span | None) -> Writer | None:
        """The writer of a finding's place; None where it has none in these scripts."""
        return None if span is None else self.of(span.source, span.offsets[0])


class _Judged:
    """What is found on one way, and by which writers its namelists are written."""

    def __init__(
        self,
        way: Way,
        beginning: Span,
        writers: _Writers,
        check: Callable[[Experiment, Iterable[Suppression], Span | None], Report],
    ) -> None:
        self.undecided: list[Undecided] = []
        found: list[Finding] = []
        written: set[Writer | None] = set()
        for file in way.files:
            found += [finding_of(overlooked) for overlooked in file.overlooked]
            origin = file.document.origin
            if isinstance(origin, WrittenText):
                found += islice(_unset(file, origin), _MOST_UNSET)
                places = (stretch.piece.place for stretch in origin.stretches)
                written.update(writers.of(place.text.source, place.start) for place in places)
        if way.experiment is not None:
            experiment = way.experiment
            found += problems_of(experiment, beginning, is_part=_is_lone_master(way))
            groups = (group for model in experiment.models for group in model.namelist)
            first = next((group.span for group in groups if group.span is not None), beginning)
            report = check(experiment, (), first)
            found += report.findings
            self.undecided += report.undecided
            if UNKNOWN not in way.directories and way.makes_all:
                made = _Paths(map(normpath, way.directories))
                for component in experiment.components:
                    found += _missing_directories(made, component)
        self.findings = dict.fromkeys(found)
        self.written = frozenset(written - {None})


def _is_lone_master(way: Way) -> bool:
    """Whether all that a script does is to write a master namelist: it starts nothing, and another makes the rest."""
    return way.has_master and len(way.files) == 1 and not way.job.starts


# --- What only a script can have wrong ---


def _ends_early(lifted: LiftedScript) -> Iterator[Finding]:
    """The command whose failure always ends the script although namelists follow; an `exit` is meant."""
    text = lifted.script.text
    for event in lifted.evaluation.events:
        if isinstance(event, Ended) and not event.guard and not event.lost and event.place.text is text:
            command = text.text[event.place.start : event.place.end].split()
            is_meant = not command or command[0] in ("exit", "return", "exec")
            if not is_meant and any(item.origin.span(0, 1).offsets[0] > event.place.end for item in lifted.inactive):
                yield problem(
                    "SHL006",
                    Severity.WARNING,
                    "this command always fails, and `set -e` ends the script before its other namelists",
                    text.span(event.place.start, event.place.end),
                    "expected: a command that succeeds, such as name=$(( expression )) for (( name = expression ))",
                )
            return


def _given_up(lifted: LiftedScript) -> Iterator[Finding]:
    """The command before which the script was followed no further."""
    place = lifted.evaluation.gave_up
    if place is not None:
        yield problem(
            "SHL007",
            Severity.WARNING,
            "the script is not followed any further: more commands have run than are followed",
            place.text.span(place.start, place.end),
            "what it does from here on is not judged",
            "expected: fewer turns of its loops, or the work of several scripts in several",
        )


def _inactive(document: Document) -> Iterator[Finding]:
    for group in document.groups:
        for found in group.errors:
            if group is document.groups[-1] and found.kind == "unclosed-group":
                continue  # another here-document may end it
            if found.stops and found.kind in _STRUCTURAL:
                yield problem(
                    "SHL005",
                    Severity.WARNING,
                    f"{found.message}, in a here-document that no way of the script comes to",
                    found.span,
                    f"expected: {found.expected}",
                )


def _unset(file: NamelistFile, origin: WrittenText) -> Iterator[Finding]:
    """Values that are empty or 0 because nothing sets a variable; pointed at where the variable is missed."""
    if not any(stretch.unset_case for stretch in origin.stretches):  # as a rule
        return
    for group in file.document.groups:
        for item in group.items:
            for stretch in origin.with_blanks_behind(item.equals, item.end):
                case = stretch.unset_case
                if case is None:
                    continue
                place = case.origin or stretch.piece.place
                names = ", ".join(sorted(case.unset))
                what = f"is {stretch.text.strip()}" if stretch.text.strip() else "is empty"
                where = f"it goes into {group.name}: {item.name}, line {origin.position(item.start)[0]}"
                yield problem(
                    "SHL003",
                    Severity.WARNING,
                    f"`{_source_text(stretch.piece)}` {what}: nothing sets {names}",
                    place.text.span(place.start, place.end),
                    *((where,) if case.origin else ()),
                    f"expected: a value of {names} before this line",
                )


def _misspelt(lifted: LiftedScript) -> Iterator[Finding]:
    """Variables that nothing in a whole script sets, that stand in it once, and are one letter away from one that it
    sets; names that differ in a number, a letter or an s at their end are those of two."""
    text, own = lifted.script.source.text, lifted.evaluation.final
    if lifted.is_fragment:
        return
    used = Counter(match[1] or match[2] for match in _USED.finditer(text))
    once = {name for name, count in used.items() if count == 1 and len(name) >= _SHORTEST_SLIP}
    once -= {*own, *DYNAMIC, *SYSTEM}
    if len(once) > _MOST_SLIPS or len(own) > _MOST_VARIABLES:
        return  # no script that somebody wrote
    if not once:
        return
    comments, given = Stretches((one.start, one.end) for one in lifted.script.comments), _first_given(text)
    for match in (match for match in _USED.finditer(text) if (match[1] or match[2]) in once):
        name = match[1] or match[2]
        if text.count(name) != 1 or match.start() in comments:
            continue
        meant = nearest(name, own, 1)
        if meant is not None and _stem(meant) != _stem(name):
            first = given.get(meant, len(text))
            if first < match.start() and text.find("\n", first, match.start()) < 0:
                continue  # it is given its first value in this line: `case=$CASES/$1`
            message = f"nothing in this script sets {name}: it is empty unless the surroundings set it"
            span = lifted.script.text.span(match.start(), match.end())
            yield problem("SHL003", Severity.WARNING, message, span, suggestion(meant))


_GIVEN = re.compile(r"(?<![\w$-])(?:([A-Za-z_]\w*)=|for[ \t]+([A-Za-z_]\w*)[ \t])")


def _first_given(text: str) -> dict[str, int]:
    """Where variables are given a value first, each by its name."""
    found: dict[str, int] = {}
    for match in _GIVEN.finditer(text):
        found.setdefault(match[1] or match[2], match.start())
    return found


def _stem(name: str) -> str:
    """A name without the number, the single letter or the s at its end."""
    without_number = name.rstrip("0123456789")
    if without_number != name:
        return without_number.removesuffix("_")
    return name[:-2] if name[-2:-1] == "_" else name.removesuffix("s").removesuffix("S")


def _source_text(piece: Piece) -> str:
    place = piece.place
    text = place.text.text[place.start : place.end]
    return text if len(text) <= 60 else f"{text[:57]}..."


class _Paths:
    """Paths in order, of which one is sought by its beginning or its end without looking at all."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted(set(paths))
        self._backwards = sorted(path[::-1] for path in self._paths)

    def hold(self, path: str) -> bool:
        """Whether one of them is this path, leads through it, or ends with it."""
        return any(
            (
                _has_beginning(self._paths, path, is_whole=True),
                _has_beginning(self._paths, f"{path}/"),
                _has_beginning(self._backwards, f"{path[::-1]}/"),
            )
        )


def _has_beginning(texts: list[str], beginning: str, *, is_whole: bool = False) -> bool:
    """Whether one of some sorted texts begins so, or is that."""
    number = bisect_left(texts, beginning)
    found = texts[number] if number < len(texts) else ""
    return found == beginning if is_whole else found.startswith(beginning)


def _missing_directories(made: _Paths, component: Component) -> Iterator[Finding]:
    for setting, named, what in _directories(component):
        directory = normpath(named)
        if directory.startswith(("/", "..", "<")) or directory == ".":
            continue
        if not made.hold(directory):
            yield problem(
                "SHL004",
                Severity.ERROR,
                f'{what} into "{directory}", a directory that the script does not make',
                setting.span,
                f"expected: mkdir -p {directory} before the model starts, in the directory it runs in",
            )


def _directories(component: Component) -> Iterator[tuple[Setting, str, str]]:
    """The directories into which a component writes, with the setting that names them and what is written there."""
    for stream in component.streams:
        settings = [stream.settings.get(name) for name in ("filename_format", "output_filename")]
        written = [setting for setting in settings if setting is not None]
        if written and not any(setting.certainty is Certainty.UNKNOWN for setting in written):
            (directory,) = output_directories([stream]) or ("",)
            named = next((setting for setting in written if "/" in str(setting.value)), written[0])
            yield named, directory, "the stream writes"
    setting = component["run_nml", "restart_filename"]
    if setting.is_written and setting.certainty is not Certainty.UNKNOWN:
        with suppress(UndecidedError):
            for directory in checkpoint_directories(component):
                if "*" not in directory:
                    yield setting, directory, "checkpoints go"


# --- Where a value came from ---


Expansions = dict[tuple[int, int], list[tuple[tuple[int, int], list[Stretch]]]]
"""The expansions in namelists, by the `id` of their source and the line that they start on, in the order of places
there."""


def _expansions(ways: Iterable[Way]) -> Expansions:
    found: dict[tuple[int, int], dict[tuple[int, int], list[Stretch]]] = {}
    for way in ways:
        for file in way.files:
            origin = file.document.origin
            if isinstance(origin, WrittenText):
                for stretch in origin.stretches:
                    if stretch.piece.is_expansion and stretch.kind == "certain":
                        place = stretch.piece.place
                        line = id(place.text.source), place.text.position(place.start)[0]
                        found.setdefault(line, {}).setdefault((place.start, place.end), []).append(stretch)
    return {line: sorted(places.items(), key=itemgetter(0)) for line, places in found.items()}


def _explained(finding: Finding, expansions: Expansions, own: Iterable[str]) -> Finding:
    """A finding with what the shell puts in its place, and where that was set. Where nothing sets a variable, whoever
    starts the script may, unless its name is a slip in one of its `own`."""
    if finding.span is None or finding.code == "SHL003":
        return finding
    places = expansions.get((id(finding.span.source), finding.span.line), [])
    first, last = finding.span.offsets if places else (0, 0)
    notes, missing = [], set[str]()
    for (start, _), stretches in places[bisect_right(places, first, key=lambda place: place[0][1]) :]:
        if start >= last:
            break
        texts = " or ".join(dict.fromkeys(stretch.text or "empty" for stretch in stretches))
        notes.append(f"`{_source_text(stretches[0].piece)}` is {texts}{_where_set(stretches)}")
        missing.update(*(case.unset for one in stretches if (case := one.only_case) is not None))
    if not notes:
        return finding
    is_sure = not missing or any(nearest(name, own, 1) is not None for name in missing)
    severity = finding.severity if is_sure or finding.severity is not Severity.ERROR else Severity.WARNING
    return evolve(finding, severity=severity, notes=(*finding.notes, *notes))


def _where_set(stretches: list[Stretch]) -> str:
    lines: dict[int, None] = {}
    for stretch in stretches:
        for case in stretch.piece.value:
            if case.text == stretch.text and case.origin is not None:
                lines[case.origin.text.position(case.origin.start)[0]] = None
    if not lines:
        return ""
    return f", set at line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
