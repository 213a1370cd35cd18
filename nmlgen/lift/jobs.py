"""What one way of a script asks of the machine: directives, environment, striping, input files, the launch of ICON."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import islice, pairwise

from nmlgen.experiment.experiment import Darshan, Experiment, InputFile, Launch, Mpi
from nmlgen.experiment.machine import UNKNOWN_SITE, Machine
from nmlgen.experiment.mpi_io import library_of_module
from nmlgen.experiment.record import recorded
from nmlgen.experiment.setting import Certainty, Setting, unknown, written
from nmlgen.lift.launches import (
    behind_launch,
    idle_parts,
    of_launch,
    options_of,
    out_of_order,
    text_called,
    unlike_master,
)
from nmlgen.lift.removals import of_removals
from nmlgen.lift.striping import Made, striping_of, values_of
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.resources import schema
from nmlgen.schedulers.slurm.directives import Directives
from nmlgen.script.evaluate import Evaluation
from nmlgen.script.events import Field, Ran
from nmlgen.script.launch import LAUNCHERS, LAYER, LaunchCommand, read_launch
from nmlgen.script.listing import Listing, listing_of, named_alike, read_find
from nmlgen.script.options import StaticWord
from nmlgen.script.setstripe import Setstripe, read_setstripe
from nmlgen.script.state import Variable
from nmlgen.script.values import ALWAYS, EMPTY, Guard, Place, Possibility, Value, text_of, within
from nmlgen.script.worlds import World
from nmlgen.source import UNKNOWN, Source, Span, Text
from nmlgen.units.whole import decimal
from nmlgen.values import define, evolve, field

_BEGINNINGS: frozenset[Hashable] = frozenset([("system", "SLURM_SUBMIT_DIR"), ("system", "PWD")])
_PATHS = _BEGINNINGS | {("system", "HOME")}
"""The symbols of directories: one word each, which is no option."""

_GROUP = re.compile(r"^[^!\n]*&[A-Za-z]", re.MULTILINE)
_COLLECTED = re.compile(r"\$\{input_(linked|required)_file\[")
"""How ICON's run scripts name the files that they collected (release 2024.10, `run/add_run_routines`)."""
_COUNTS = ("-n", "-np", "--np", "-ppn", "-N", "-c", "--ntasks", "--nodes", "--cpus-per-task", "--ntasks-per-node")
"""The options of launchers that a number follows."""
_HELPER = re.compile(
    r"(?:hostname|echo|true|date|cp|mv|rm|ls|dsync|dcp|drm|cdo|ncdump|python3?|bash|sh|sleep|uptime)\Z"
)
_OF_THE_SCRIPT = frozenset(
    [
        *("no_of_nodes", "mpi_procs_pernode", "mpi_total_procs", "basedir", "thisdir", "icon_data_rootFolder"),
        *("START", "MODEL", "START_MODEL", "EXPNAME", "RUNSCRIPTDIR", "EXPDIR", "submit", "builder", "PATH"),
    ]
)
"""What ICON's run scripts export although only they themselves use it (release 2024.10, `run/create_target_header`)."""

_PLACING = {"ln": "link", "cp": "copy", "add_link_file": "link", "add_required_file": "copy"}
"""The commands that bring an input file; the last two are functions of ICON's `run/add_run_routines` and act later, in
the directory of the run."""

LIFTED = frozenset((*_PLACING, *LAUNCHERS, "cd", "find", "lfs", "module", "ulimit"))
"""The programs whose words say something of an experiment."""

_SUBMITTING = ("sbatch", "qsub", "llsubmit")
_TIME_CONTROL = "master_time_control_nml"
_OF_DARSHAN = tuple(
    name for name in schema("spec")["properties"]["darshan"]["properties"] if name.startswith("DARSHAN_")
)
_OF_MPI = re.compile(r"I_MPI_(?!ROOT\Z)|OMPI_MCA_|ROMIO_HINTS\Z")
_OF_THREADS = re.compile(
    r"(?:OMP_(?:NUM_THREADS|STACKSIZE|PLACES|PROC_BIND|SCHEDULE)|KMP_AFFINITY|DARSHAN_[A-Z]+|LD_PRELOAD)\Z"
)
_HANDED_ON = re.compile(r"\$\{?LD_PRELOAD\b")
_MEBIBYTES = ("DARSHAN_MODMEM", "DARSHAN_NAMEMEM")
_WITH_DIRECTORY = ("-t", "--target-directory")


@define(eq=False)
class Job:
    """What a way of a script asks of the machine before the model starts.

    `launch` starts it, by the words in `launched`.
    `environment` is what the model gets; `depending` are variables of it that are set, to that value, under a condition
    only. `files` are the texts that the script writes, by their paths, and `named` those of them that a variable names.
    `problems` is what lfs and the launcher refuse, `remarks` what the script does and no experiment can hold;
    `unplaced` are such remarks of single models, `notes` are of the files that it may bring, by their paths. What lfs
    is told behind the launch is `late`; what is wrong with that shows when the experiment is known, in `late_problems`.
    The model starts under the `guard`, if the way `starts` it; the `successor` is the place where the script submits
    itself again.
    """

    directives: Directives
    launch: LaunchCommand | None = None
    launched: list[StaticWord] = field(factory=list)
    environment: dict[str, Setting] = field(factory=dict)
    preloads_for_all: bool = False
    depending: dict[str, Setting] = field(factory=dict)
    run_directory: Setting | None = None
    inputs: list[InputFile] = field(factory=list)
    striping: list[Setstripe] = field(factory=list)
    modules: list[Setting] = field(factory=list)
    stack_limit: Setting | None = None
    files: Mapping[str, str] = field(factory=dict)
    named: dict[str, str] = field(factory=dict)
    problems: list[SyntaxProblem] = field(factory=list)
    remarks: list[str] = field(factory=list)
    notes: dict[str, str] = field(factory=dict)
    unplaced: list[str] = field(factory=list)
    late: list[Setstripe] = field(factory=list)
    late_problems: list[SyntaxProblem] = field(factory=list)
    guard: Guard = ALWAYS
    starts: bool = False
    successor: Span | None = None

    def written(self, name: str) -> Source | None:
        """A file that the script writes, by its name; None if it writes none of that name."""
        text = text_called(name, self.files)
        return None if text is None else Source(name.rpartition(UNKNOWN)[2].removeprefix("./"), text)

    def bring(self, files: Iterable[InputFile]) -> None:
        """Add input files, each in the place of one that it has by that name."""
        found = {file.target: file for file in self.inputs} | {file.target: file for file in files}
        self.inputs = list(found.values())


def lift_job(world: World, evaluation: Evaluation, directives: Directives) -> Job:
    """The job of one world of a script."""
    return _Lifting(world, evaluation, directives).job


def _has_empty(before: Place, behind: Place) -> bool:
    """Whether an expansion between two words of a command left nothing."""
    return before.text is behind.text and "$" in before.text.text[before.end : behind.start]


def _may_lack(word: StaticWord, item: Field) -> bool:
    """Whether a word that is no number comes from a text into which a variable put nothing: `run="mpirun -n $n"`."""
    return word.text is not None and not word.text.isdigit() and any(case.unset for case in item.value)


def _empty_counts(words: list[StaticWord], final: Mapping[str, Variable]) -> Iterator[SyntaxProblem]:
    """Counts in the words of a launch of which `split` has found that the shell puts nothing there."""
    for option, word in pairwise(words):
        shown = word.span.text
        name = _NAMED.fullmatch(shown) if word.text is None else None
        if name is not None and (name[1] or name[2]) not in final:  # one that the script sets may be from `$1`
            message = f"{shown.strip()} is empty: {option.text} takes the next word for its number"
            start, end = word.span.offsets
            begin = start + len(shown) - len(shown.lstrip())
            span = Text(word.span.source).span(begin, end - len(shown) + len(shown.rstrip()))
            yield SyntaxProblem("empty-count", message, span, "a variable that is set before this line", stops=False)


_ENDS_IN_NAME = re.compile(r"\A-{1,2}[a-z-]+=?\$\{?\w+\}?\Z", re.IGNORECASE)
_NAMED = re.compile(r"\s+\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})\s+")


class _Lifting:
    """The state of lifting one job."""

    def __init__(self, world: World, evaluation: Evaluation, directives: Directives) -> None:
        self.guard, self.final = world.guard, evaluation.final
        self.hands_on_preload = _HANDED_ON.search(evaluation.script.source.text) is not None
        self.asked, self.unlikely = evaluation.questions.files, evaluation.questions.unlikely
        self.beginnings = beginnings(evaluation, world.guard)
        self.is_build = bool(recorded(evaluation.script.source.text))
        self.job = Job(directives, files={name: file.text for name, file in world.files.items()})
        commands = [([self.word(item) for item in event.words], event) for event in world.programs]
        start = self.launch(commands)
        if start is None:  # by itself, without a launcher
            named = [number for number, (words, _) in enumerate(commands) if words and _is_program_of_icon(words[0])]
            start = named[-1] if named else None
        launched = commands[start][1] if start is not None else None
        if launched is not None:
            self.job.guard, self.job.starts = launched.guard, True
        variables = launched.environment if launched is not None else evaluation.final
        self.environment(variables)
        preload = evaluation.final.get("LD_PRELOAD")
        self.job.preloads_for_all = preload is not None and "x" in preload.attributes
        if self.job.launch is not None:
            self.job.environment |= self.job.launch.environment
        self.directory = launched.directory if launched is not None else None
        if self.directory is not None:
            path = beginning_at(self.directory, self.guard, self.beginnings)
            if path == "" and evaluation.unresolved:
                path = None  # a command of another file may have gone elsewhere
            if path is not None:
                self.job.run_directory = written("run_directory", path or ".", LAYER, _span(launched))
        self.unrolled: dict[str, str] = {}  # by what is collected, what is said where nobody knows what it is
        is_striped = "setstripe" in evaluation.script.source.text
        self.made = Made(evaluation.events if is_striped else (), world.guard)
        for words, event in commands[:start]:
            self.command(words, event)
        if start is not None:
            self.behind(commands[start + 1 :], variables, evaluation.final)
        self.collected(evaluation.final)
        self.job.problems += of_removals(world.programs, world.guard)

    def word(self, item: Field) -> StaticWord:
        place = item.place
        value = within(item.value, self.guard)
        beginning = value[0].text.partition(UNKNOWN)[0] if len(value) == 1 else ""
        ending = value[0].text.rpartition(UNKNOWN)[2] if len(value) == 1 else ""
        splits = item.is_vague and not all(
            case.symbols[:1] and _is_path(case.text, case.symbols[0]) and " " not in case.text for case in value
        )
        return StaticWord(text_of(value), place.text.span(place.start, place.end), beginning, splits, ending)

    def parts(self, word: StaticWord, item: Field) -> list[StaticWord]:
        """The words that an unquoted expansion falls into, as far as it is known: `$START`."""
        value = within(item.value, self.guard)
        if not item.is_vague or len(value) > 1 or not value[0].symbols or " " not in value[0].text.strip():
            return [word]
        return words_in(value[0], word.span)

    def split(self, words: list[StaticWord], items: tuple[Field, ...]) -> list[StaticWord]:
        """The words of a launch. A number of tasks that is empty, as what `$1` says is until somebody starts the script
        with it, is not known: the next word is none."""
        found: list[StaticWord] = []
        before: Place | None = None
        for word, item in zip(words, items, strict=True):
            if before is not None and found[-1].text in _COUNTS and _has_empty(before, item.place):
                found.append(StaticWord(None, before.text.span(before.end, item.place.start)))
            for part in self.parts(word, item):
                if found and found[-1].text in _COUNTS and _may_lack(part, item):
                    found.append(StaticWord(None, part.span))
                found.append(part)
            if found and found[-1].text in _COUNTS and _ENDS_IN_NAME.search(word.span.text) is not None:  # -n$1
                found.append(StaticWord(None, word.span))
            before = item.place
        return found

    def launch(self, commands: list[tuple[list[StaticWord], Ran]]) -> int | None:
        """The number of the command that starts the model: the first that names ICON, else the first that may be."""
        found: int | None = None
        every: list[tuple[list[StaticWord], LaunchCommand]] = []
        for number, (words, event) in enumerate(commands):
            split = self.split(words, event.words)
            launch = read_launch(split)
            if launch is not None:
                every.append((split, launch))
                self.job.problems += _empty_counts(split, self.final)
            if launch is None or not _may_be_icon(launch):
                continue
            self.job.problems += launch.problems
            self.job.problems += of_launch(split, launch, event, self.job.directives, self.job.files)
            if self.job.launch is None or (_is_icon(launch) and not _is_icon(self.job.launch)):
                self.job.launch, self.job.launched, found = launch, split, number
        self.job.problems += idle_parts(every, self.job.directives)
        return found

    def environment(self, variables: Mapping[str, Variable]) -> None:
        for name, variable in variables.items():
            if "x" not in variable.attributes or variable.elements is not None or name in _OF_THE_SCRIPT:
                continue
            cases = within(variable.value, self.guard)
            place = next((case.origin for case in cases if case.origin is not None), None)
            if place is None or place.text.source.name.startswith("/etc/"):
                continue  # nothing that the script says
            full, span = f"environment.{name}", place.text.span(place.start, place.end)
            given = tuple(case for case in cases if case.is_set)
            if given and given[0].text in self.job.files:
                self.job.named[name] = self.job.files[given[0].text]
            text = text_of(given) if given else None
            if text is None:
                self.job.environment[name] = unknown(full, span)
            elif len(given) == len(cases):
                self.job.environment[name] = written(full, text, LAYER, span)
            else:
                self.job.environment[name] = unknown(full, span)
                self.job.depending[name] = written(full, text, LAYER, span)

    def command(self, words: list[StaticWord], event: Ran) -> None:
        """What a command before the launch does."""
        setstripe = read_setstripe(words)
        if setstripe is not None:
            self.job.striping.append(self.from_run_directory(setstripe, event))
            self.job.problems += [*setstripe.problems, *self.made.striped(setstripe, event)]
            return
        self.job.problems += self.made.note(words, event)
        name = words[0].text if words else None
        if name == "module" and len(words) > 2 and words[1].text in ("load", "add"):
            self.job.modules += [_setting("modules", word) for word in words[2:] if word.text != ""]
        elif name == "ulimit":
            self.limit(words[1:])
        elif name in _PLACING:
            self.place(name, words, event)
        elif name == "find":
            self.place_found(words, event)

    def from_run_directory(self, call: Setstripe, event: Ran) -> Setstripe:
        """The call with directories named from that of the run, where they lie there and only the shell knows where."""
        if all(word.text is not None for word in call.directories):
            return call
        values = values_of(call.directories, event)
        named = (
            evolve(word, text=word.text or self._below_run_directory(value))
            for word, value in zip(call.directories, values, strict=True)
        )
        return evolve(call, directories=tuple(named))

    def behind(
        self,
        commands: list[tuple[list[StaticWord], Ran]],
        variables: Mapping[str, Variable],
        final: Mapping[str, Variable],
    ) -> None:
        """What comes behind the launch and too late for it."""
        again = False
        for words, event in commands:
            if words and words[0].text in _SUBMITTING and self._submits_itself(event):
                self.job.successor = _span(event)
            self.job.problems += behind_launch(words, event, self.guard)
            setstripe = read_setstripe(words)
            if setstripe is not None and not setstripe.migrates:
                self.job.late.append(self.from_run_directory(setstripe, event))
            again |= (launch := read_launch(words)) is not None and _may_be_icon(launch)
        for name, variable in final.items():
            is_of_mpi = _OF_MPI.match(name) is not None
            if not is_of_mpi and (_OF_THREADS.match(name) is None or name in self.job.environment):
                continue
            if name in variables or variable.elements is not None:
                continue
            if name == "LD_PRELOAD" and self.hands_on_preload:
                continue
            if "x" not in variable.attributes:
                self.said_of(name, variable, "variable-not-exported", "is not exported: the model does not get it")
            elif is_of_mpi and not again:
                self.said_of(name, variable, "variable-too-late", "is set after the model was started")

    def _submits_itself(self, event: Ran) -> bool:
        """Whether a command submits the script that it stands in, whatever has become of the run: ICON's word for that,
        `finish.status`, says RESTART only where there is a checkpoint."""
        text, source = event.place.text, event.place.text.source
        written = text.text[event.place.start : event.place.end]
        names = (posixpath.basename(source.name), "$0", "${0}", "${BASH_SOURCE")
        return any(name in written for name in names) and "finish.status" not in source.text

    def said_of(self, name: str, variable: Variable, kind: str, what: str) -> None:
        """A problem with a variable, at the place where it gets its value."""
        cases = within(variable.value, self.guard)
        place = next((case.origin for case in cases if case.origin is not None and case.is_set), None)
        if place is not None and not place.text.source.name.startswith("/etc/"):
            span = place.text.span(place.start, place.end)
            expected = "export before the model is started"
            self.job.problems.append(SyntaxProblem(kind, f"{name} {what}", span, expected, stops=False))

    def limit(self, words: list[StaticWord]) -> None:
        texts = [word.text for word in words]
        if len(words) > 1 and "-s" in texts[:-1]:
            value = words[-1].text
            stack = unknown("shell.limits.stack", words[-1].span)
            if value is not None:
                number = decimal(value)
                stack = written(stack.name, value if number is None else number, LAYER, words[-1].span)
            self.job.stack_limit = stack

    # --- Input files ---

    def place(self, name: str, words: list[StaticWord], event: Ran) -> None:
        """`ln -s` and `cp` into the run directory, by whatever name."""
        is_later = name.startswith("add_")
        is_here = is_later or self._is_run_directory(event.directory)
        words = words[:3] if is_later else words  # they look at two: `add_link_file a b ! a remark`
        parts = _sources_and_target(words[1:], is_symbolic=name != "ln")
        if parts is None:
            return
        sources, target = parts
        path: Value = EMPTY if target is None else within(event.words[target + 1].value, self.guard)
        path, alike = named_alike(path)
        there = None if target is None else self._below_run_directory(path)
        if there is None and not is_here:
            return
        for number in sources:
            source = words[number + 1]
            into = "." if target is None else text_of(path) if there is None else there
            listing = listing_of(event.words[number + 1].value)  # whether one fits or none does
            if listing is not None and alike in (None, listing) and self._bring_all(listing, into, name, source.span):
                continue
            if alike is not None:
                into = None
            is_own = source.text is None and self.is_build  # what lies beside the script, in its `here`
            base = None if is_own else self._base_name(event.words[number + 1].value)
            file = None if into is None else self._called(into, base)
            if "" in (source.text, into) or self._may_lack(event.words[number + 1].value, self.guard):
                continue  # a word that turned out to be none, or a file that may not be there
            text = event.place.text.text[event.place.start : event.place.end]
            collected = _COLLECTED.search(text)
            if file is None or _is_elsewhere(file) or ("/" in file and collected is not None):
                if file is None and (into is None or not _is_elsewhere(posixpath.normpath(into))):
                    remark = f"{_span(event)}: what `{text}` brings is not known: name it in input_files"
                    if collected is not None:
                        self.unrolled[collected[1]] = remark
                    else:
                        self.job.remarks.append(remark)
                continue
            begins = beginning_at(event.words[number + 1].value, self.guard, self.beginnings, self._base())
            setting_name = f"input_files.{file}.source"
            setting = unknown(setting_name, source.span)
            if begins is not None:
                setting = written(setting_name, begins, LAYER, source.span)
            elif is_later:
                setting = next((there.source for there in self.job.inputs if there.target == source.text), setting)
            self.job.bring([InputFile(file, setting, _PLACING[name])])

    def place_found(self, words: list[StaticWord], event: Ran) -> None:
        """`find DIRECTORY -name PATTERN -exec ln -s -t TARGET {} +`, or with cp, into the run directory."""
        found = read_find([word.text for word in words])
        if found is None or not found.action:
            return
        deed = [words[number] for number in found.action]
        method = deed[0].text
        parts = _sources_and_target(deed[1:], is_symbolic=method != "ln") if method in _PLACING else None
        if parts is None or [deed[number + 1].text for number in parts[0]] != ["{}"]:
            return
        target = None if parts[1] is None else found.action[parts[1] + 1]
        into = "." if target is None else self._below_run_directory(event.words[target].value)
        if into is None and target is not None and self._is_run_directory(event.directory):
            into = words[target].text
        directory = within(event.words[found.directory].value, self.guard)
        listing = Listing(directory, found.pattern, found.is_deep, 0)
        is_said = method is not None and self._bring_all(listing, into, method, words[found.directory].span)
        if not is_said and into is not None:
            text = event.place.text.text[event.place.start : event.place.end]
            self.job.remarks.append(f"{_span(event)}: what `{text}` brings is not known: name it in input_files")

    def _bring_all(self, listing: Listing, into: str | None, method: str, span: Span) -> bool:
        """Bring all files of a listing into a directory; whether that can be said."""
        file = None if into is None else self._called(into, listing.pattern)
        if file is None or _is_elsewhere(file) or posixpath.basename(file) != listing.pattern:
            return False
        name = f"input_files.{file}.directory"
        path = beginning_at(listing.directory, self.guard, self.beginnings, self._base())
        setting = unknown(name, span) if path is None else written(name, path or ".", LAYER, span)
        others = {one.target: one.source for one in self.job.inputs}
        while file in others and _differ(others[file], setting) and "*" in file:
            file = file.replace("*", "**", 1)  # the same pattern, for the files of another directory
        self.job.bring([InputFile(file, setting, _PLACING[method], is_pattern=True, is_deep=listing.is_deep)])
        return True

    def _below_run_directory(self, value: Value) -> str | None:
        """A path relative to the directory that the model runs in, if it lies there: "./" for that itself."""
        there = within(value, self.guard)
        here = within(self.directory, self.guard) if self.directory is not None else ()
        if len(there) != 1 or len(here) != 1 or there[0].symbols[: len(here[0].symbols)] != here[0].symbols:
            return None
        text, base = there[0].text, here[0].text.rstrip("/")
        if not base or text.rstrip("/") == base or not text.startswith(f"{base}/"):
            return "./" if base and text.rstrip("/") == base else None
        rest = text[len(base) :].strip("/")
        return None if UNKNOWN in rest else rest

    def _called(self, into: str, name: str | None) -> str | None:
        """The path, from the run directory, of a file of this name that is brought to a file or into a directory; None
        if the name is asked for and not known."""
        if not (
            _is_directory(into) or self.made.is_directory(into, EMPTY if self.directory is None else self.directory)
        ):
            return posixpath.normpath(into)
        return None if name is None else posixpath.normpath(posixpath.join(into, name))

    def _base_name(self, value: Value) -> str | None:
        """The last part of a path, which may be known where its directory is not."""
        names = {case.text.rstrip("/").rpartition("/")[2] for case in within(value, self.guard)}
        name = names.pop() if len(names) == 1 else UNKNOWN
        is_directory = name in (".", "..")  # what lies in it nobody sees
        return None if UNKNOWN in name or is_directory else name

    def collected(self, variables: Mapping[str, Variable]) -> None:
        """The files that ICON's run scripts collect in arrays, and bring where the model starts."""
        guard = self.guard
        for kind, method in (("linked", "link"), ("required", "copy")):
            sources, targets = (variables.get(f"{side}_{kind}_file") for side in ("input", "output"))
            if sources is None or targets is None or sources.elements is None or targets.elements is None:
                if kind in self.unrolled:
                    self.job.remarks.append(self.unrolled[kind])
                continue
            for element in sources.elements.values():
                guard |= self._chosen(within(element, guard))
            found = {file.target: file for file in self.job.inputs}
            for key, value in targets.elements.items():
                source = sources.elements.get(key)
                if source is None or any(not case.text for case in within(value, guard)):
                    continue  # only a run knows whether there is one
                if self._may_lack(source, guard):
                    continue
                path = beginning_at(source, guard, self.beginnings, self._base())
                base = self._base_name(within(source, guard))
                target = self._meant_target(within(value, guard), base)
                name = self._called(target or ".", base or None)
                if name is None or _is_elsewhere(name) or UNKNOWN in name:
                    if kind in self.unrolled:
                        self.job.remarks.append(self.unrolled[kind])
                elif name not in found and path != "":
                    setting_name, span = f"input_files.{name}.source", _span_of(source)
                    setting = unknown(setting_name, span) if path is None else written(setting_name, path, LAYER, span)
                    found[name] = InputFile(name, setting, method)
            self.job.inputs = list(found.values())

    def _chosen(self, cases: Value) -> Guard:
        """The answers with which one of several files is collected, or none: the last, which is what a script does
        unless something is special."""
        usual = [case for case in cases if case.guard and not case.symbols and self.unlikely.isdisjoint(case.guard)]
        if len({case[1:3] for case in cases}) < 2 or not usual:
            return ALWAYS
        for case in cases:
            if case.text and case[1:3] != usual[-1][1:3] and self.unlikely.isdisjoint(case.guard):
                self._left_out(case)
        return usual[-1].guard

    def _may_lack(self, value: Value, guard: Guard) -> bool:
        """Whether a file is one of several that the script may bring, and brought if it is there."""
        case = within(value, guard)[0]
        asked = [path[1:3] for answer in case.guard for path in self.asked.get(answer, ())]
        if case[1:3] not in asked:
            return False
        self._left_out(case)
        return True

    def _left_out(self, case: Possibility) -> None:
        path, place = case.text.replace(UNKNOWN, "..."), case.origin
        where = f"{place.text.span(place.start, place.end)}: " if place is not None else ""
        self.job.notes.setdefault(path, f"{where}only a run knows whether {path} is brought; here it is not")

    def _meant_target(self, value: Value, base: str | None) -> str:
        """Where a collected file goes; "" if that is not known. Where only a run knows whether the target is a
        directory, into which the file would go, it is none."""
        texts = sorted({case.text for case in value}, key=len)
        for text in texts:
            if text and not _is_directory(text) and f"{text.rstrip('/')}/{base}" in texts:
                return text
        return text_of(within(value, self.guard)) or ""

    def _base(self) -> str | None:
        """What a relative source is relative to."""
        run_directory = self.job.run_directory
        return str(run_directory.value) if run_directory is not None else None

    def _is_run_directory(self, directory: Value) -> bool:
        if self.directory is None:
            return False
        here, there = within(directory, self.guard), within(self.directory, self.guard)
        return [case[1:3] for case in here] == [case[1:3] for case in there]


def _sources_and_target(words: list[StaticWord], *, is_symbolic: bool) -> tuple[list[int], int | None] | None:
    """Which words are the sources of ln or cp and which is the target; None of a link that is not symbolic."""
    operands: list[int] = []
    target: int | None = None
    takes_options = True
    skips = False
    for number, word in enumerate(words):
        start = word.start
        if skips:
            target, skips = number, False
        elif takes_options and start == "--":
            takes_options = False
        elif takes_options and start.startswith("-") and len(start) > 1:
            is_symbolic |= start == "--symbolic" or (not start.startswith("--") and "s" in start)
            skips = start in _WITH_DIRECTORY
        else:
            operands.append(number)
    if not operands or not is_symbolic:
        return None
    if target is None and len(operands) > 1:
        target = operands.pop()
    return operands, target


def _is_elsewhere(path: str) -> bool:
    """Whether a path, without detours, leads out of the run directory."""
    return path.startswith(("/", "../"))


def _is_directory(path: str) -> bool:
    return path.endswith("/") or posixpath.normpath(path) in (".", "..")


def words_in(case: Possibility, span: Span) -> list[StaticWord]:
    """The words that a text falls into where it stands unquoted, as far as it is known."""
    found: list[StaticWord] = []
    symbols = iter(case.symbols)
    for text in case.text.split():
        unknown_parts = list(islice(symbols, text.count(UNKNOWN)))
        splits = bool(unknown_parts) and not _is_path(text, unknown_parts[0])
        known_text = None if unknown_parts else text
        found.append(StaticWord(known_text, span, text.partition(UNKNOWN)[0], splits, text.rpartition(UNKNOWN)[2]))
    return found


# --- Paths ---


def _is_path(text: str, symbol: Hashable) -> bool:
    """Whether a word that is not known in part begins with a directory, and so is one word and no option."""
    return text.startswith(UNKNOWN) and symbol in _PATHS


def beginnings(evaluation: Evaluation, guard: Guard) -> frozenset[Hashable]:
    """The symbols that stand for the directory that a script begins in; one that nmlgen wrote calls it `here`."""
    here = evaluation.final.get("here") if recorded(evaluation.script.source.text) else None
    cases = within(here.value, guard) if here is not None else ()
    return _BEGINNINGS.union(case.symbols[0] for case in cases if len(case.symbols) == 1)


def beginning_at(value: Value, guard: Guard, symbols: frozenset[Hashable], base: str | None = "") -> str | None:
    """A path that is known but for the directory that the script begins in, relative to that one; else None.

    `symbols` are those that stand for it. A relative path is one from `base`.
    """
    found: set[str | None] = set()
    for case in within(value, guard):
        if not case.symbols:
            is_whole = case.text.startswith("/") or base == ""
            found.add(case.text if is_whole else None if base is None else posixpath.normpath(f"{base}/{case.text}"))
        elif len(case.symbols) == 1 and case.symbols[0] in symbols and case.text.startswith(UNKNOWN):
            rest = case.text[len(UNKNOWN) :]
            found.add(rest.lstrip("/") if not rest or rest.startswith("/") else None)
        else:
            found.add(None)
    return found.pop() if len(found) == 1 else None


# --- The experiment ---


def with_job(
    experiment: Experiment, job: Job, name: str, ntasks: int | None, machine: Machine | None = None
) -> Experiment:
    """The experiment of a namelist, run by a job. `ntasks` holds where the job does not say how many tasks there are;
    without a `machine` only the scheduler is known, by the directives."""
    directives = dict(job.directives.settings)
    launch, executable = experiment.launch, experiment.executable
    if job.launch is not None:
        launch = _launch(job.launch, directives)
        executable = _executable(job.launch, job)
    if launch.tasks is None and not _says_tasks(directives):
        if ntasks is not None or not directives:
            directives.setdefault("ntasks", experiment.directives["ntasks"])
        elif job.launch is None or job.launch.launch.command.value != "srun":
            launch = evolve(launch, tasks=unknown("ntasks"))
    scheduler = job.directives.scheduler if job.directives.span is not None else "none"
    job.late_problems += _unlike_launch(job, experiment, launch)
    hints, environment = _hints(job.environment, job.named)
    darshan, environment = darshan_of(environment, job.named)
    if darshan is not None and job.preloads_for_all:
        darshan = evolve(darshan, for_all=True)
    striping = tuple(striping_of(job, experiment))
    job.late_problems += _without_checkpoint(job, experiment)
    return evolve(
        experiment,
        name=name,
        machine=machine or Machine(name=UNKNOWN_SITE, scheduler=scheduler),
        directives=directives,
        directives_span=job.directives.span,
        launch=launch,
        environment=environment,
        darshan=darshan,
        mpi=_mpi(environment, job.modules, hints),
        modules=tuple(job.modules),
        executable=executable,
        run_directory=job.run_directory or experiment.run_directory,
        inputs=_inputs(job, experiment),
        stack_limit=job.stack_limit,
        striping=striping,
    )


def _unlike_launch(job: Job, experiment: Experiment, launch: Launch) -> Iterator[SyntaxProblem]:
    """Models that have other ranks than the launch gives them."""
    if job.launch is None or len(experiment.models) < 2:
        return
    started = evolve(experiment, directives=dict(job.directives.settings), launch=launch)
    yield from out_of_order(job.launched, job.launch, job.directives, started)
    if "--multi-prog" in options_of(job.launch):
        yield from unlike_master(job.launch, job.files, started)


def _says_tasks(directives: Mapping[str, Setting]) -> bool:
    """Whether the directives say how many tasks there are, whatever starts them."""
    return "ntasks" in directives or {"nodes", "ntasks-per-node"} <= directives.keys()


def _setting(name: str, word: StaticWord) -> Setting:
    return unknown(name, word.span) if word.text is None else written(name, word.text, LAYER, word.span)


def _span(event: Ran | None) -> Span | None:
    return None if event is None else event.place.text.span(event.place.start, event.place.end)


def _span_of(value: Value) -> Span | None:
    place = value[0].origin
    return place.text.span(place.start, place.end) if place is not None else None


def _may_be_icon(launch: LaunchCommand) -> bool:
    """Whether the program that is launched may be the model, rather than a helper."""
    word = launch.executable
    return word is None or word.text is None or not _HELPER.match(word.text.rpartition("/")[2])


def _is_icon(launch: LaunchCommand) -> bool:
    word = launch.executable
    return word is not None and word.text is not None and "icon" in word.text.rpartition("/")[2].lower()


def _is_program_of_icon(word: StaticWord) -> bool:
    """Whether a command is ICON by the name of its program: a path, as `./icon`."""
    _, slash, name = (word.text or "").rpartition("/")
    return bool(slash) and re.fullmatch(r"icon(\.exe)?", name) is not None


def _launch(launch: LaunchCommand, directives: Mapping[str, Setting]) -> Launch:
    """The launcher with the options that nmlgen does not give it by itself: the number of tasks, and that of CPUs
    for each where it is a directive, too."""
    options = list(launch.other_options)
    if launch.executable is None:
        options.append(unknown("launch.options", launch.launch.command.span))
    cpus, told = launch.cpus_per_task, directives.get("cpus-per-task")
    if cpus is not None and (told is None or not _is_same(cpus, told)):
        options.append(evolve(_plus("--cpus-per-task=", cpus), name="launch.options"))
    return Launch(launch.launch.command, tuple(options), launch.ntasks or _product(launch))


def _is_same(one: Setting, other: Setting) -> bool:
    return Certainty.UNKNOWN not in (one.certainty, other.certainty) and str(one.value) == str(other.value)


def _plus(beginning: str, setting: Setting) -> Setting:
    if setting.certainty is Certainty.UNKNOWN:
        return setting
    return written(setting.name, f"{beginning}{setting.value}", LAYER, setting.span)


def _product(launch: LaunchCommand) -> Setting | None:
    """The tasks of a launch by its nodes and the tasks on each."""
    nodes, each = launch.nodes, launch.tasks_per_node
    if nodes is None or each is None:
        return None
    if Certainty.UNKNOWN in (nodes.certainty, each.certainty):
        return Setting("ntasks", nodes.history, Certainty.UNKNOWN)
    try:
        count = int(nodes.value) * int(each.value)
    except (TypeError, ValueError):
        return Setting("ntasks", nodes.history, Certainty.UNKNOWN)
    return written("ntasks", count, LAYER, each.span)


def _executable(launch: LaunchCommand, job: Job) -> Setting:
    """The program that is launched."""
    word = launch.executable
    if word is None:
        return unknown("model.executable", launch.launch.command.span)
    return path_of(word, job)


def path_of(word: StaticWord, job: Job) -> Setting:
    """A program by a path that does not depend on where the model is started."""
    setting = _setting("model.executable", word)
    if word.text is None or "/" not in word.text or word.text.startswith("/"):
        return setting
    if job.run_directory is None:
        return unknown(setting.name, word.span)
    return written(setting.name, posixpath.normpath(f"{job.run_directory.value}/{word.text}"), LAYER, word.span)


def _differ(one: Setting, other: Setting) -> bool:
    """Whether two paths are known, and not the same."""
    is_known = Certainty.UNKNOWN not in (one.certainty, other.certainty)
    return is_known and one.value != other.value


def _inputs(job: Job, experiment: Experiment) -> tuple[InputFile, ...]:
    """The input files that are neither namelists nor the program."""
    written_files = {name.rpartition("/")[2] for name, text in job.files.items() if _GROUP.search(text)}
    named = {
        str(group.settings["model_namelist_filename"].value).strip().rpartition("/")[2]
        for group in experiment.all_groups()
        if group.name == "master_model_nml"
        and "model_namelist_filename" in group.settings
        and group.settings["model_namelist_filename"].certainty is not Certainty.UNKNOWN
    }
    others = {*written_files, *named, "icon_master.namelist"}
    word = job.launch.executable if job.launch is not None else None
    if word is not None and word.text is not None and posixpath.dirname(posixpath.normpath(word.text)) == "":
        others.add(posixpath.basename(word.text))
    return tuple(file for file in job.inputs if file.target not in others)


def _hints(environment: dict[str, Setting], files: Mapping[str, str]) -> tuple[dict[str, Setting], dict[str, Setting]]:
    """The hints in the file that ROMIO_HINTS names, if the script writes it, and the rest of the environment."""
    named = environment.get("ROMIO_HINTS")
    text = files.get("ROMIO_HINTS")
    if named is None or text is None or UNKNOWN in text:
        return {}, environment
    hints: dict[str, Setting] = {}
    for line in text.splitlines():
        words = line.split(None, 1)
        if len(words) == 2 and not words[0].startswith("#"):
            hints[words[0]] = written(f"mpi.hints.{words[0]}", _number_or_text(words[1].strip()), LAYER, named.span)
    return hints, {name: setting for name, setting in environment.items() if name != "ROMIO_HINTS"}


def _number_or_text(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text) else text


def darshan_of(environment: dict[str, Setting], files: Mapping[str, str]) -> tuple[Darshan | None, dict[str, Setting]]:
    """Darshan, where its library is preloaded; its variables with it."""
    preload = environment.get("LD_PRELOAD")
    if preload is None or preload.certainty is Certainty.UNKNOWN:
        return None, environment
    libraries = re.split(r"[\s:]+", str(preload.value))
    preloaded = next((name for name in libraries if ".so" in name.partition("libdarshan")[2]), None)
    if preloaded is None:
        return None, environment
    library = written("darshan.library", preloaded, LAYER, preload.span)
    own = {name: _of_darshan(name, setting) for name, setting in environment.items() if name in _OF_DARSHAN}
    rest = {name: setting for name, setting in environment.items() if name not in own and name != "LD_PRELOAD"}
    others = [part for part in libraries if part and part != preloaded]
    if others:
        rest["LD_PRELOAD"] = written(preload.name, ":".join(others), LAYER, preload.span)
    if "DARSHAN_JOBID" in rest and rest["DARSHAN_JOBID"].origin.value == "SLURM_JOB_ID":
        del rest["DARSHAN_JOBID"]  # what nmlgen sets by itself
    records = _max_records(rest.get("DARSHAN_CONFIG_PATH"), files.get("DARSHAN_CONFIG_PATH", ""))
    if records is not None:
        del rest["DARSHAN_CONFIG_PATH"]
    return Darshan(preload.span, library, own, records), rest


def _of_darshan(name: str, setting: Setting) -> Setting:
    if setting.certainty is Certainty.UNKNOWN:
        return unknown(f"darshan.{name}", setting.span)
    value = _number_or_text(str(setting.value)) if name in _MEBIBYTES else setting.value
    return written(f"darshan.{name}", value, LAYER, setting.span)


def _max_records(named: Setting | None, text: str) -> Setting | None:
    """MAX_RECORDS in Darshan's configuration, if the script writes nothing else into it."""
    match = re.fullmatch(r"\s*MAX_RECORDS\s+(\d{1,18})\s+\S+\s*", text)
    return written("darshan.MAX_RECORDS", int(match[1]), LAYER, named.span) if match and named is not None else None


def _mpi(environment: Mapping[str, Setting], modules: Iterable[Setting], hints: dict[str, Setting]) -> Mpi:
    """The MPI library, as far as the modules or its variables tell it."""
    for module in modules:
        if module.certainty is Certainty.UNKNOWN:
            continue
        library = library_of_module(str(module.value))
        if library is not None:
            name = written("mpi.implementation", library[0], LAYER, module.span)
            return Mpi(name, written("mpi.version", library[1], LAYER, module.span), hints)
    for prefix, implementation in (("I_MPI_", "intel"), ("OMPI_MCA_", "openmpi")):
        named = next((setting for name, setting in environment.items() if name.startswith(prefix)), None)
        if named is not None:
            return Mpi(written("mpi.implementation", implementation, LAYER, named.span), None, hints)
    return Mpi(None, None, hints)


def _without_checkpoint(job: Job, experiment: Experiment) -> Iterator[SyntaxProblem]:
    """A script that submits itself again, and has no model write a checkpoint to go on from."""
    if job.successor is None or not experiment.components:
        return
    for component in experiment.components:
        for name in ("checkpointTimeIntval", "restartTimeIntval"):
            setting = component[_TIME_CONTROL, name]
            if setting.certainty is Certainty.UNKNOWN or str(setting.value).strip() not in ("", "PT0S"):
                return
        if component["time_nml", "dt_restart"].is_written or component["io_nml", "dt_checkpoint"].is_written:
            return
    message = "the script submits itself again, and the model writes no checkpoint for the next job"
    expected = "restartTimeIntval, the length of a job, in master_time_control_nml"
    yield SyntaxProblem("chain-without-checkpoint", message, job.successor, expected, stops=False)
