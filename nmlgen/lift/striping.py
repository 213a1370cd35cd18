"""`lfs setstripe` in a script: what is there when it is called, and which output its directories are for."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, UndecidedError, written
from nmlgen.experiment.striping import STRIPE_SIZES, Striping, is_stripe_size
from nmlgen.models.icon.output import output_directories
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.events import Event, Opened, Ran, Written
from nmlgen.script.launch import LAYER
from nmlgen.script.options import StaticWord
from nmlgen.script.redirections import FilePath, path_from
from nmlgen.script.setstripe import Setstripe
from nmlgen.script.values import EMPTY, Guard, Place, Value, known, within
from nmlgen.source import Span
from nmlgen.values import evolve

if TYPE_CHECKING:
    from nmlgen.lift.jobs import Job


class Made:
    """The files and directories that a script has made by the time of a command, and what it has striped."""

    def __init__(self, events: Iterable[Event], guard: Guard) -> None:
        self._guard = guard
        self._kinds: dict[FilePath, str] = {}
        self._opened: list[FilePath] = []
        self._count_at: dict[Place, int] = {}  # how many of them are written by the time of each command
        for event in events:
            if not event.guard <= guard:
                continue
            if isinstance(event, Ran):
                self._count_at[event.place] = len(self._opened)
            elif isinstance(event, (Opened, Written)) and (path := self._path(event.path, EMPTY)) is not None:
                self._opened.append(path)

    def striped(self, call: Setstripe, event: Ran) -> Iterator[SyntaxProblem]:
        """A layout is chosen when a file is made: lfs refuses one that is there."""
        for opened in self._opened[: self._count_at.get(event.place, 0)]:
            self._kinds.setdefault(opened, "file")
        words = () if call.migrates else call.directories
        for word, value in zip(words, values_of(words, event), strict=True):
            path = self._path(value, event.directory)
            if path is None:
                continue
            if self._kinds.setdefault(path, "striped") == "file":
                message = f"{word.span.text} is a file that is there already: lfs setstripe refuses it"
                expected = "lfs setstripe before the file is made, or lfs migrate"
                yield SyntaxProblem("setstripe-on-file", message, word.span, expected, stops=False)

    def note(self, words: list[StaticWord], event: Ran) -> Iterator[SyntaxProblem]:
        """What another command makes; a directory of which lfs has made a file is a problem."""
        program = words[0].text if words else None
        if program not in ("mkdir", "cp"):
            return
        texts = [word.text for word in words]
        end = texts.index("--") if "--" in texts else len(words)  # of the options
        named = [*(word for word in words[1:end] if not word.start.startswith("-")), *words[end + 1 :]]
        if program == "cp" and len(named) != 2:
            return
        paths = [self._path(value, event.directory) for value in values_of(named, event)]
        if program == "cp":
            if paths[1] is not None and posixpath.splitext(paths[1][0])[1]:
                self._kinds.setdefault(paths[1], "file")  # of a name such as no directory has
            return
        for word, path in zip(named, paths, strict=True):
            if path is None:
                continue
            if self._kinds.get(path) == "striped":
                what = f"lfs setstripe on {word.span.text}"
                message = f"{what} before there is such a directory makes a file of that name"
                yield SyntaxProblem("setstripe-before-mkdir", message, word.span, "mkdir first", stops=False)
            self._kinds[path] = "directory"

    def is_directory(self, name: str, directory: Value) -> bool:
        """Whether a name, in a directory, is that of a directory that was made."""
        path = self._path(known(name), directory)
        return path is not None and self._kinds.get(path) == "directory"

    def _path(self, name: Value, directory: Value) -> FilePath | None:
        """What a file that is named in a directory is called from where the script starts; None if there may be
        several."""
        names, places = within(name, self._guard), within(directory, self._guard)
        return path_from(places[0], names[0]) if len(names) == len(places) == 1 else None


def values_of(words: Sequence[StaticWord], event: Ran) -> list[Value]:
    """What some words of a command may be."""
    texts = [word.text for word in words if word.text is not None]
    if len(texts) == len(words):  # nearly always, and where a word stands takes time to tell
        return [known(text) for text in texts]
    values = {_begin(item.place.text.span(item.place.start, item.place.end)): item.value for item in event.words}
    return [values[_begin(word.span)] if word.text is None else known(word.text) for word in words]


def _begin(span: Span) -> tuple[str, int, int]:
    return span.source.name, span.line, span.column


def striping_of(job: Job, experiment: Experiment) -> Iterator[Striping]:
    """`lfs setstripe` by what is written to the directories: output, where a stream goes there, else restart; of one
    directory and of each kind the last."""
    outputs: list[str] | None = None
    try:
        outputs = [posixpath.normpath(name) for name in output_directories(experiment.all_groups())]
    except UndecidedError:  # a name that only the running shell knows
        outputs = None
    found: dict[str, Striping] = {}
    job.late_problems += _too_late(job, outputs or [])
    for call in job.striping:
        names = [_within_run(word.text, job) for word in call.directories if word.text is not None]
        made = _made(call)
        if isinstance(made, str) or not names:
            reason = made if isinstance(made, str) else "what this lfs command does is not known"
            job.unplaced.append(f"{_place(call)}: {reason}")
            continue
        for what, directories in _by_use(names, outputs).items():
            if call.migrates:
                there = found.get(what)
                if there is not None and set(there.directories) >= set(directories) and _says_the_same(there, made):
                    migrate = written("lustre.migrate", True, LAYER, call.directories[0].span)
                    found[what] = evolve(there, settings={**there.settings, "migrate": migrate})
                else:
                    job.unplaced.append(f"{_place(call)}: a spec has no place for lfs migrate of {', '.join(names)}")
                continue
            if what in found and set(found[what].directories) == set(directories):
                del found[what]
            if what in found and _says_the_same(found[what], made):
                found[what] = evolve(found[what], directories=(*found[what].directories, *directories))
            elif what in found or what == "other":
                job.unplaced.append(f"{_place(call)}: a spec has no place for the layout of {', '.join(directories)}")
            else:
                found[what] = evolve(made, what=what, directories=tuple(directories))
    yield from found.values()


def wrong_sizes(job: Job, experiment: Experiment | None) -> Iterator[SyntaxProblem]:
    """Sizes of stripes that lfs refuses, for directories of which no rule looks at them."""
    judged = experiment.striping if experiment is not None else ()
    seen = {setting.span for block in judged for extent in block.extents for setting in extent.settings.values()}
    calls = [Striping("", (), call.settings, call.components) for call in (*job.striping, *job.late)]
    for extent in (extent for call in calls for extent in call.extents):
        setting = extent.settings.get("stripe_size")
        if setting is None or setting.certainty is Certainty.UNKNOWN or setting.span is None or setting.span in seen:
            continue
        if extent.size is not None and not is_stripe_size(extent.size):
            message = f"lfs setstripe refuses the size {setting.span.text}"
            yield SyntaxProblem("setstripe-refused", message, setting.span, STRIPE_SIZES)


def _too_late(job: Job, outputs: list[str]) -> Iterator[SyntaxProblem]:
    """Directories of output streams, and that of checkpoints, that are striped behind the launch."""
    for word in (word for call in job.late for word in call.directories):
        if word.text is not None and _within_run(word.text, job) in (*outputs, "."):
            message = f"{word.span.text} is striped after the run: files that are there keep their layout"
            expected = "lfs setstripe before the model is started"
            yield SyntaxProblem("setstripe-after-run", message, word.span, expected, stops=False)


def _made(call: Setstripe) -> Striping | str:
    """What a call makes of its directories, whatever they are for; why no spec can say it."""
    settings = dict(call.settings)
    if call.deletes and call.directories:
        settings["delete"] = written("lustre.delete", True, LAYER, call.directories[0].span)
    if not call.is_complete or (not settings and not call.components):
        return "what this lfs command does is not known"
    if call.without_place:
        return f"a spec has no place for {', '.join(f'--{name}' for name in call.without_place)}"
    if call.components and call.components[-1].end is not None:
        return "a spec has no place for a layout that ends"
    return Striping("", (), settings, call.components)


def _by_use(names: list[str], outputs: list[str] | None) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for name in names:
        if outputs is None:
            what = "restart" if name == "." else "output"
        elif name in outputs or any(output.startswith(f"{name}/") for output in outputs):
            what = "output"
        else:
            what = "restart" if name == "." or "restart" in name.lower() else "other"
        kinds.setdefault(what, []).append(name)
    return kinds


def _says_the_same(one: Striping, other: Striping) -> bool:
    return _said(one) == _said(other)


def _said(striping: Striping) -> list[Any]:
    return [
        (extent.end, {name: s.origin.value for name, s in extent.settings.items() if name != "migrate"})
        for extent in striping.extents
    ]


def _place(call: Setstripe) -> Span | str:
    every = [*call.settings.values(), *(s for extent in call.components for s in extent.settings.values())]
    setting = every[0] if every else None
    if setting is not None and setting.span is not None:
        return setting.span
    return call.directories[0].span if call.directories else "the script"


def _within_run(name: str, job: Job) -> str:
    """A directory relative to that of the run, if it lies there."""
    path = posixpath.normpath(name)
    base = posixpath.normpath(str(job.run_directory.value)) if job.run_directory is not None else None
    if path.startswith("/") and base is not None and (path == base or path.startswith(f"{base}/")):
        return posixpath.relpath(path, base)
    return path
