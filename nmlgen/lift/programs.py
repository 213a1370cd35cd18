"""The programs that a file for `srun --multi-prog` starts: what their wrappers do for their ranks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import evolve, frozen

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.ranks import numbers_in_job, rank_numbers, split
from nmlgen.experiment.setting import Setting, UndecidedError, written
from nmlgen.files import Files
from nmlgen.lift.jobs import Job
from nmlgen.lift.launches import options_of
from nmlgen.lift.wrappers import Wrapper, gpus_shown, problems_of_wrapper, starts, wrapper_called
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.launch import LaunchCommand, read_launch
from nmlgen.script.multi_prog import ranks_by_program
from nmlgen.script.options import StaticWord
from nmlgen.source import UNKNOWN

_MOST_PROGRAMS = 16
_SHELL = re.compile(r"(?:.*/)?(?:ba|k|da|z)?sh")
_NUMBERED = re.compile(r"%[to]")
"""What srun puts a number in the place of."""
_DEVICE = re.compile(r"[gc]pu", re.IGNORECASE)
_SETS = re.compile(r"MPICH_|^[ \t]*(?:source|\.|module|eval|unset)[ \t]|\benv\b", re.MULTILINE)
"""What a wrapper does that may change how Cray MPICH treats GPUs."""
_ICON = re.compile(r"icon[\w.-]*(?<!sh)")
"""Names of ICON itself, and of no script."""
_JOINS = re.compile(r"(?<![a-z])(?:hiopy|cleo)(?![a-z])", re.IGNORECASE)
"""In words that start a program: a known one that joins YAC and waits for ICON there."""
_COMPUTES = ("test", "work")


@frozen(eq=False)
class StartedProgram:
    """A program: the words of its command, of those that are known in part only their end; its ranks in the job; its
    `wrapper`, None where there is none that can be followed. It `is_first` where no other program stands before it or
    its wrapper."""

    words: tuple[str, ...]
    ranks: frozenset[int]
    wrapper: Wrapper | None
    is_first: bool = True

    @property
    def name(self) -> str:
        """The path of the program itself, behind its wrapper; empty if that names it."""
        return next(iter(self.words if self.wrapper is None else self.words[1:]), "")

    @property
    def is_icon(self) -> bool:
        """Whether its name, or the text of a wrapper that names it, is one of ICON's."""
        if self.wrapper is not None and not self.name:
            return re.search(r"\bicon", self.wrapper.script.source.text, re.IGNORECASE) is not None
        return "icon" in self.name.rpartition("/")[2].lower()


def programs_of(job: Job, experiment: Experiment, directory: Path, files: Files) -> list[StartedProgram]:
    """The programs of a launch by `--multi-prog`, if its file is known and they are not too many to be followed;
    nothing of another launch."""
    launch = job.launch
    if launch is None or launch.launch.command.value != "srun" or "--multi-prog" not in options_of(launch):
        return []
    word = launch.executable
    if word is None or word.text is None:
        return []
    text = job.files.get(word.text, job.files.get(word.text.removeprefix("./")))
    try:
        tasks = experiment.tasks.value
    except UndecidedError:
        return []
    if text is None or type(tasks) is not int:
        return []
    found: list[StartedProgram] = []
    commands = ranks_by_program(text, tasks) or {}
    for command, ranks in commands.items() if len(commands) <= _MOST_PROGRAMS else ():
        words = _words(command)
        known = tuple(item.rpartition(UNKNOWN)[2] for item in words)
        started = StartedProgram(known, ranks, None)
        for at, name in enumerate(known):
            if at and at == len(words) - 1 and not _SHELL.fullmatch(words[at - 1]):
                break  # what another program reads
            arguments = tuple(_argument(item) for item in words[at + 1 :])
            wrapper = wrapper_called(name, arguments, word, job, directory, files, ranks) if name else None
            if wrapper is not None:
                started = StartedProgram(known[at:], ranks, wrapper, at == 0)
                break
        found.append(started)
    return found


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _argument(word: str) -> str | None:
    """A word as a wrapper gets it; None where that is not known."""
    if _NUMBERED.search(word):
        return None
    _, unknown, ending = word.rpartition(UNKNOWN)
    return word if not unknown else f"@{ending}" if ending else None


def of_programs(
    programs: Sequence[StartedProgram], experiment: Experiment
) -> tuple[list[SyntaxProblem], dict[int, str | None]]:
    """What the wrappers of programs do wrong, whatever their ranks do; and the GPUs that they show to those ranks of
    ICON that compute on GPUs."""
    problems: dict[tuple[str, str], SyntaxProblem] = {}
    shown: dict[int, str | None] = {}
    working = _working(programs, experiment)
    for program in programs:
        wrapper = program.wrapper
        if wrapper is None:
            continue
        made = starts(wrapper, experiment)
        for problem in problems_of_wrapper(wrapper, made, is_srun=True):
            problems.setdefault((problem.kind, str(problem.span)), problem)  # two programs may have the same wrapper
        gpus = {rank: text for rank, text in gpus_shown(wrapper, made).items() if rank in working}
        if any(gpus.values()) and _is_on_gpus(program, programs):
            shown |= gpus
    return list(problems.values()), shown


def _working(programs: Iterable[StartedProgram], experiment: Experiment) -> frozenset[int]:
    """The ranks that compute. The master namelist counts the ranks of ICON alone, so that they have to be the first:
    by the names of programs where there is one model; of several it says the ranks itself, which are those of programs.
    """
    if len(experiment.models) == 1:
        icon = frozenset[int]().union(*(program.ranks for program in programs if program.is_icon))
        if not icon or max(icon) >= len(icon):
            return frozenset()
        tasks = written("ntasks", len(icon), "script", None)
        experiment = evolve(experiment, launch=evolve(experiment.launch, tasks=tasks))
    found: set[int] = set()
    try:
        for share in experiment.shares:
            if not all(program.ranks <= share or share.isdisjoint(program.ranks) for program in programs):
                return frozenset()
        for component in experiment.components:
            for kind, numbers in rank_numbers(split(component), numbers_in_job(component)).items():
                found.update(numbers if kind in _COMPUTES else ())
    except (UndecidedError, IndexError):
        return frozenset()
    return frozenset(found)


def _is_on_gpus(program: StartedProgram, programs: Iterable[StartedProgram]) -> bool:
    """Whether a program whose wrapper shows GPUs uses them: what its name or its wrapper's says; else if that wrapper
    is its own. One that several programs have may show GPUs to those that use none."""
    assert program.wrapper is not None
    for name in (program.name, program.wrapper.script.source.name.rpartition("/")[2]):
        said = {device.lower() for device in _DEVICE.findall(name)}
        if len(said) == 1:
            return said == {"gpu"}
    path = program.wrapper.script.source.name
    others = [one for one in programs if one.wrapper is not None and one.wrapper.script.source.name == path]
    return len({one.name for one in others}) == 1


def on_processors(programs: Iterable[StartedProgram], job: Job) -> tuple[str, ...]:
    """The programs of ICON whose names say that they are for processors, and that get the environment of the job as it
    is: neither srun, nor a word before them, nor their wrapper may change it."""
    if job.launch is None or any(text.startswith("--export") for text in options_of(job.launch)):
        return ()
    found: list[str] = []
    for program in programs:
        name = program.name
        if {device.lower() for device in _DEVICE.findall(name)} != {"cpu"}:
            continue
        if not _ICON.fullmatch(name.rpartition("/")[2]):
            continue
        wrapper = program.wrapper
        if program.is_first and (wrapper is None or not _SETS.search(wrapper.script.source.text)):
            found.append(name)
    return tuple(found)


def joining(programs: Iterable[StartedProgram], job: Job) -> tuple[Setting, ...]:
    """The programs that are started with ICON and are known to join the coupler YAC, each at its place in the script:
    those of a file for srun, and those that stand behind a colon."""
    launch = job.launch
    if launch is None or launch.executable is None:
        return ()
    starts_icon = [program for program in programs if program.is_icon]
    found = [
        _joining(program.words, launch.executable) for program in programs if starts_icon and program not in starts_icon
    ]
    segment: list[StaticWord] | None = None
    for word in (*launch.arguments, None):
        if word is None or word.text == ":":
            if segment is not None:
                found.append(_behind_colon(segment, launch))
            segment = []
        elif segment is not None:
            segment.append(word)
    return tuple(setting for setting in found if setting is not None)


def _behind_colon(words: list[StaticWord], launch: LaunchCommand) -> Setting | None:
    command, first = launch.launch.command, launch.executable
    if command.span is None or first is None or not StartedProgram((first.start,), frozenset(), None).is_icon:
        return None
    started = read_launch([StaticWord(str(command.value), command.span), *words])
    if started is None or started.executable is None:
        return None
    return _joining([word.start for word in (started.executable, *started.arguments)], started.executable)


def _joining(words: Sequence[str], place: StaticWord) -> Setting | None:
    program = StartedProgram(tuple(words), frozenset(), None)
    is_known = not program.is_icon and any(map(_JOINS.search, words))
    return written("program", program.name, "script", place.span) if is_known else None
