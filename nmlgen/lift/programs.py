"""The programs of a launch that starts several, by a file for `srun --multi-prog` or in the parts of a heterogeneous
job: what their wrappers do for their ranks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from nmlgen.command_line import command_words
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting, UndecidedError, written
from nmlgen.files import Files
from nmlgen.lift.jobs import Job
from nmlgen.lift.launches import count_of, name_of, options_of, segments_of, tasks_of_part
from nmlgen.lift.wrappers import Wrapper, gpus_shown, problems_of_wrapper, starts, wrapper_called
from nmlgen.models.icon.ranks import numbers_in_job, rank_numbers, split
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.effort import Effort
from nmlgen.script.launch import LaunchCommand, read_launch
from nmlgen.script.multi_prog import ranks_by_program
from nmlgen.script.options import StaticWord
from nmlgen.source import UNKNOWN
from nmlgen.values import evolve, frozen

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


@frozen(eq=False)
class Line:
    """What some ranks of a job start: the words of its `command`, which hold UNKNOWN where a part is not known, and its
    `ranks`; in a `part` of a heterogeneous job those of each of its `nodes`. `word` is where that stands, `cpus` are
    those of each rank, None where nobody says it."""

    command: tuple[str, ...]
    ranks: Sequence[int]
    word: StaticWord
    part: int | None = None
    nodes: tuple[Sequence[int], ...] = ()
    cpus: int | None = None

    @property
    def words(self) -> tuple[str | None, ...]:
        """The words of its command, None for those that are not known."""
        return tuple(None if UNKNOWN in word else word for word in self.command)


def lines_of(job: Job, experiment: Experiment) -> list[Line]:
    """What each rank starts, where a launch by srun has a file that says it or several parts, in the order of ranks;
    nothing of another launch, and where it is not known."""
    launch = job.launch
    if launch is None or launch.launch.command.value != "srun":
        return []
    overcommits = any(option in ("-O", "--overcommit") for option in options_of(launch))
    cpus = None if overcommits else count_of(launch.cpus_per_task)  # more than there are
    if "--multi-prog" not in options_of(launch):
        return list(_lines_of_parts(job))
    word = launch.executable
    source = job.written(name_of(word) or "") if word is not None else None
    try:
        tasks = count_of(launch.ntasks or experiment.tasks)
    except UndecidedError:
        return []
    if word is None or source is None or tasks is None:
        return []
    commands = sorted((ranks_by_program(source.text, tasks) or {}).items(), key=lambda item: min(item[1]))
    return [Line(_words(command), sorted(ranks), word, cpus=cpus) for command, ranks in commands]


def _lines_of_parts(job: Job) -> Iterator[Line]:
    parts, segments = job.directives.parts, segments_of(job.launched)
    if not parts or len(segments) < 2:
        return
    steps: dict[int, Line] = {}
    for number, segment in enumerate(segments):
        step = read_launch([job.launched[0], *segment] if number else segment)
        group = next((int(match[1]) for word in segment if (match := _PART.fullmatch(word.start))), number)
        if step is None or step.executable is None or group in steps or group >= len(parts):
            return
        count = count_of(step.ntasks) or tasks_of_part(parts[group])
        if count is None:
            return
        words = tuple(word.text if word.text is not None else f"{UNKNOWN}{word.ending}" for word in step.started)
        steps[group] = Line(words, range(count), step.started[0], group, cpus=count_of(step.cpus_per_task))
    first = 0
    for group in sorted(steps):  # ranks are counted by the parts, whatever the order on the line
        line = steps[group]
        ranks = range(first, first + len(line.ranks))
        count = count_of(parts[group].get("nodes")) or 1
        share, more = divmod(len(ranks), count)  # Slurm's own dealing: one node after the other, as equal as can be
        ends = [share * (number + 1) + min(number + 1, more) for number in range(count)]
        nodes = tuple(ranks[start:end] for start, end in pairwise([0, *ends]))
        yield evolve(line, ranks=ranks, nodes=nodes)
        first += len(ranks)


_PART = re.compile(r"--(?:het|pack)-group=(\d{1,3})")


def programs_of(lines: Sequence[Line], job: Job, directory: Path, files: Files) -> list[StartedProgram]:
    """The programs of the lines of a launch, if they are not too many to be followed."""
    found: list[StartedProgram] = []
    for line in lines if len(lines) <= _MOST_PROGRAMS else ():
        ranks = frozenset(line.ranks)
        known = tuple(item.rpartition(UNKNOWN)[2] for item in line.command)
        started = StartedProgram(known, ranks, None)
        for at, name in enumerate(known):
            if at and at == len(known) - 1 and not _SHELL.fullmatch(line.command[at - 1]):
                break  # what another program reads
            arguments = tuple(_argument(item) for item in line.command[at + 1 :])
            wrapper = wrapper_called(name, arguments, line.word, job, directory, files, ranks) if name else None
            if wrapper is not None:
                started = StartedProgram(known[at:], ranks, evolve(wrapper, nodes=line.nodes), at == 0)
                break
        found.append(started)
    return found


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(command_words(command))
    except ValueError:
        return tuple(command.split())


def _argument(word: str) -> str | None:
    """A word as a wrapper gets it; None where that is not known."""
    if _NUMBERED.search(word):
        return None
    _, unknown, ending = word.rpartition(UNKNOWN)
    return word if not unknown else f"@{ending}" if ending else None


@frozen(eq=False)
class OfPrograms:
    """What wrappers do: the `problems` whatever their ranks do; the GPUs that they have `shown` to those ranks of ICON
    that compute on GPUs; the numbers of the `models` that do."""

    problems: tuple[SyntaxProblem, ...]
    shown: Mapping[int, str | None]
    models: frozenset[int]


def in_all_parts(experiment: Experiment, lines: Sequence[Line]) -> Experiment:
    """The experiment with as many tasks as all lines of its launch have together, and on which node those of a
    heterogeneous job are: nobody else says that."""
    word = lines[-1].word
    tasks = written("ntasks", sum(len(line.ranks) for line in lines), "script", word.span)
    dealt = tuple(ranks for line in lines for ranks in line.nodes)
    return evolve(experiment, launch=evolve(experiment.launch, tasks=tasks), dealt=dealt)


def of_programs(programs: Sequence[StartedProgram], experiment: Experiment, effort: Effort) -> OfPrograms:
    """What the wrappers of programs do for their ranks."""
    problems: dict[tuple[str, str], SyntaxProblem] = {}
    shown: dict[int, str | None] = {}
    started = _of_icon(programs, experiment)
    working = frozenset[int]() if started is None else _working(programs, started)
    called: frozenset[int] = frozenset()
    for program in programs:
        if program.wrapper is None or program.name:
            called |= program.ranks if devices_in(program.name) == {"gpu"} else frozenset()
        wrapper = program.wrapper
        if wrapper is None:
            continue
        made = starts(wrapper, experiment, effort)
        for problem in problems_of_wrapper(wrapper, made, is_srun=True):
            problems.setdefault((problem.kind, str(problem.span)), problem)  # two programs may have the same wrapper
        gpus = {rank: text for rank, text in gpus_shown(wrapper, made).items() if rank in working}
        if any(gpus.values()) and _is_on_gpus(program, programs):
            shown |= gpus
    on_gpus = {**dict.fromkeys(called & working, "0"), **{rank: gpus for rank, gpus in shown.items() if gpus}}
    models = frozenset[int]() if started is None else models_of(on_gpus, started)
    return OfPrograms(tuple(problems.values()), shown, models)


def models_of(shown: Mapping[int, str | None], experiment: Experiment) -> frozenset[int]:
    """The numbers of the models that have a rank with a GPU."""
    with_gpu = {rank for rank, gpus in shown.items() if gpus}
    if len(experiment.models) == 1:
        return frozenset([0] if with_gpu else [])
    try:
        return frozenset(number for number, share in enumerate(experiment.shares) if not share.isdisjoint(with_gpu))
    except UndecidedError:
        return frozenset()


def _of_icon(programs: Iterable[StartedProgram], experiment: Experiment) -> Experiment | None:
    """The experiment with ICON's own ranks. The master namelist counts these alone, so that they have to be the first:
    by the names of programs where there is one model; of several it says the ranks itself. None where they are not.
    """
    if len(experiment.models) != 1:
        return experiment
    icon = frozenset[int]().union(*(program.ranks for program in programs if program.is_icon))
    if not icon or max(icon) >= len(icon):
        return None
    tasks = written("ntasks", len(icon), "script", None)
    return evolve(experiment, launch=evolve(experiment.launch, tasks=tasks))


def _working(programs: Iterable[StartedProgram], experiment: Experiment) -> frozenset[int]:
    """The ranks that compute; none where a program has ranks of several models and of none."""
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


def devices_in(name: str) -> set[str]:
    """The devices that a name says: of gpu and cpu."""
    return {device.lower() for device in _DEVICE.findall(name)}


def _is_on_gpus(program: StartedProgram, programs: Iterable[StartedProgram]) -> bool:
    """Whether a program whose wrapper shows GPUs uses them: what its name or its wrapper's says; else if that wrapper
    is its own. One that several programs have may show GPUs to those that use none."""
    assert program.wrapper is not None
    for name in (program.name, program.wrapper.script.source.name.rpartition("/")[2]):
        said = devices_in(name)
        if len(said) == 1:
            return said == {"gpu"}
    path = program.wrapper.script.source.name
    others = [one for one in programs if one.wrapper is not None and one.wrapper.script.source.name == path]
    return len({one.name for one in others}) == 1


def on_processors(programs: Iterable[StartedProgram], job: Job) -> tuple[str, ...]:
    """The programs of ICON whose names say that they are for processors, and that get the environment of the job as it
    is: neither srun, nor a word before them, nor their wrapper may change it."""
    exported = (
        [text for text in options_of(job.launch) if text.startswith("--export")] if job.launch is not None else []
    )
    if job.launch is None or not all(re.match(r"--export=ALL\b", text) for text in exported):
        return ()
    found: list[str] = []
    for program in programs:
        name = program.name
        if devices_in(name) != {"cpu"}:
            continue
        if not _ICON.fullmatch(name.rpartition("/")[2]):
            continue
        wrapper = program.wrapper
        if program.is_first and (wrapper is None or not _SETS.search(wrapper.script.source.text)):
            found.append(name)
    return tuple(found)


def across_models(
    lines: Sequence[Line], programs: Sequence[StartedProgram], experiment: Experiment
) -> Iterator[SyntaxProblem]:
    """Executables of ICON that have some of the ranks that the master namelist gives to a model, and some of another's,
    where a second one has the rest. The master namelist counts the ranks of ICON alone."""
    icon = [(line, program) for line, program in zip(lines, programs, strict=False) if program.is_icon and program.name]
    if len(programs) != len(lines) or len(experiment.models) < 2 or len({program.name for _, program in icon}) < 2:
        return
    if any(program.is_icon and not program.name for program in programs):
        return
    numbers = {rank: number for number, rank in enumerate(sorted(rank for _, one in icon for rank in one.ranks))}
    tasks = written("ntasks", len(numbers), "script", None)
    try:
        shares = evolve(experiment, launch=evolve(experiment.launch, tasks=tasks)).shares
    except UndecidedError:
        return
    own = {program: frozenset(numbers[rank] for rank in program.ranks) for _, program in icon}
    for line, program in icon:
        for number, share in enumerate(shares):
            ranks = own[program]
            others = {other.name for other, there in own.items() if there & share} - {program.name}
            if ranks & share and others and not (share <= ranks or ranks <= share):
                message = (
                    f"{program.name} has the ranks {min(ranks)}-{max(ranks)} of ICON, and the master namelist gives "
                    f"{min(share)}-{max(share)} to {experiment.components[number].title}"
                )
                place = line.word.span
                yield SyntaxProblem("programs-unlike-models", message, place, "the same ranks in both", stops=False)
                return


def others(lines: Sequence[Line], programs: Sequence[StartedProgram], experiment: Experiment) -> int | None:
    """How many ranks the programs have that are no models, by their names; where none is called after ICON, by the
    ranks that the models take. None where that is not known."""
    if len(programs) != len(lines):
        return None
    icon = [program for program in programs if program.is_icon]
    if not icon:
        try:
            claimed = frozenset[int]().union(*experiment.shares)
        except UndecidedError:
            return None
        icon = [program for program in programs if not claimed.isdisjoint(program.ranks)]
    return sum(len(program.ranks) for program in programs) - sum(len(program.ranks) for program in icon)


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
