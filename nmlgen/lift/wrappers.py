"""Wrappers that a script writes, or that lie beside it: what they do for the ranks of the job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nmlgen import disk
from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError, unknown, written
from nmlgen.files import Files
from nmlgen.lift.jobs import Job
from nmlgen.lift.launches import name_of, options_of
from nmlgen.models.icon.nodes import Node, nodes, ranks_by_node
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.script.effort import Effort
from nmlgen.script.options import StaticWord
from nmlgen.script.parser import parse
from nmlgen.script.syntax import Script
from nmlgen.script.wrapper import Start, effort_of_ranks, follow
from nmlgen.source import UNKNOWN, Source, Span, Text
from nmlgen.values import frozen

_MOST_RANKS = 64
_MOST_BYTES = 200_000
_ANCESTORS = 4
_BINDS = re.compile(r"(--(?:cpunodebind|membind|physcpubind|preferred|localalloc)|-[NmC])=?(.*)\Z")
_EXPORTS = re.compile(
    r"^[ \t]*(?:export|declare[ \t]+-x|typeset[ \t]+-x)[ \t]+([A-Za-z_]\w*)="
    r"(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s;&|\"']*))",
    re.MULTILINE,
)
_TEXT_FOR_SHELL = re.compile(r"\b(?:ba|da|k|z)?sh[ \t]+-\w*c[ \t]+\"[^\"\n]*\$\{?@\}?\"")
"""Words that are put into the text for a shell: only the first of them gets there."""
_SHIFTS = re.compile(r"^[ \t]*shift\b|;[ \t]*shift\b", re.MULTILINE)
_STARTS_PROGRAM = re.compile(r"(?:^|[;&|])([^;&|\n#]{1,1000}?)[ \t]\"?\$\{?[@*]\}?", re.MULTILINE)
_SET_THERE = re.compile(r"(?<![\w$-])([A-Za-z_]\w*)=(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s;&|\"']{0,500}))(?=[ \t]|\Z)")
_SETS_CORES = re.compile(r"(--cpu-list|-[a-z]*c)()\Z")
_OF_OPEN_MPI = re.compile(r"OMPI_COMM_WORLD_(?:LOCAL_)?RANK")
_OF_SLURM = re.compile(r"SLURM_(?:LOCALID|PROCID)|PMIX?_\w{0,40}RANK|MPI_LOCALRANKID")
_SHARES = re.compile(r"\b(?:CRAY_CUDA_MPS|CUDA_MPS_\w+|nvidia-cuda-mps-\w+)\b")
_ONE_TOO_FEW = re.compile(
    r"SLURM_PROCID[ \t]*<[ \t]*(?:\([ \t]*)?(\$?\{?\w*(?:compute|work)\w*\}?)[ \t]*-[ \t]*1[ \t]*(?:\)[ \t]*)?\)\)"
)


@frozen(eq=False)
class Wrapper:
    """A wrapper: its text, the words that it is started with, and where the launch names it. It `is_beside` where it is
    a file of its own, not one that the script writes. It starts these `ranks`, all where that is None; in a part of a
    heterogeneous job those of each of its `nodes`."""

    script: Script
    arguments: tuple[str | None, ...]
    word: StaticWord
    is_beside: bool
    ranks: frozenset[int] | None = None
    nodes: tuple[Sequence[int], ...] = ()

    def span(self, start: int, end: int) -> Span:
        """A place in its text, if that is a file; else that where it is started."""
        return self.script.text.span(start, end) if self.is_beside else self.word.span


def wrapper_of(job: Job, directory: Path, files: Files) -> Wrapper | None:
    """The wrapper that the launch of a job starts; None where it starts a program, or nobody knows what."""
    if job.launch is None or not job.launch.started or "--multi-prog" in options_of(job.launch):
        return None
    word, *rest = job.launch.started
    arguments = tuple(
        item.text if item.text is not None else f"@{item.ending}" if item.ending else None for item in rest
    )
    return wrapper_called(name_of(word) or word.ending, arguments, word, job, directory, files)


def wrapper_called(
    name: str,
    arguments: tuple[str | None, ...],
    word: StaticWord,
    job: Job,
    directory: Path,
    files: Files,
    ranks: frozenset[int] | None = None,
) -> Wrapper | None:
    """The wrapper of this name, or of a path that ends so, which the job writes or which lies beside its script; None
    where there is none, or where a part of it is not known."""
    source = job.written(name)
    if source is not None:
        if UNKNOWN in source.text or not source.text.startswith("#!"):
            return None
        return Wrapper(parse(source), arguments, word, False, ranks)
    source = _beside(name.rpartition(UNKNOWN)[2], directory, files)
    return None if source is None else Wrapper(parse(source), arguments, word, True, ranks)


def may_be_script(path: Path) -> bool:
    """Whether a file is there that is small enough for a script. Raises OSError, and ValueError for what is no path."""
    return disk.is_file(path) and disk.size(path) <= _MOST_BYTES


def script_of_shell(path: Path, files: Files) -> Source | None:
    """The text of a file that is a script of a shell, None of any other. Raises OSError, and InputError as `files`
    does."""
    if disk.head(path, 2) != b"#!":
        return None
    source = files.read(path)
    return source if re.match(r"#!.*\b(?:ba|k|da|z)?sh\b", source.line(1)) else None


def _beside(name: str, directory: Path, files: Files) -> Source | None:
    """A script that lies beside, or where a path from one of the directories above leads to."""
    tail = name.lstrip("/").removeprefix("./")
    if not tail or ".." in tail.split("/"):
        return None
    here = disk.resolved(directory)
    above = [here, *here.parents][: _ANCESTORS if "/" in tail else 1]
    candidates = [*(top / tail for top in above), here / tail.rpartition("/")[2]]
    for path in candidates:
        try:
            if may_be_script(path):
                return script_of_shell(path, files)
        except (OSError, InputError):
            continue
    return None


def starts_model(job: Job) -> bool:
    """Whether the launch of a job starts ICON itself: a program of that name, with nothing before it."""
    if job.launch is None or not job.launch.started or job.launch.executable is not job.launch.started[0]:
        return False
    if "--multi-prog" in options_of(job.launch):
        return False
    return is_named_icon(job.launch.started[0])


def is_named_icon(word: StaticWord) -> bool:
    """Whether a word names ICON's binary, as `bin/icon` does."""
    name = (word.text if word.text is not None else word.ending).rpartition("/")[2]
    return re.fullmatch(r"icon[\w.-]*(?<!sh)", name) is not None


_CHOOSERS = ("gpus-per-task", "gpu-bind", "ntasks-per-gpu")
_CHOOSES = re.compile(rf"--(?:{'|'.join(_CHOOSERS)})\b")
_ASKS = ("gpus", "gpus-per-node", *_CHOOSERS)
_ASKS_IN_STEP = re.compile(r"--gpus\b|--gpus-per-|--gres=gpu|-G\d")
_LONG = 1000
"""Blocks so long are for GPUs: processors are slow with them (ICON 2024.10, `mo_parallel_config.f90:211`)."""


def gives_gpus(job: Job, experiment: Experiment) -> bool:
    """Whether a job asks for GPUs, and its only model is for them: Slurm gives one to each rank, the program is called
    after them, or it computes in blocks as only GPUs do. What is called after processors is for these."""
    if len(experiment.models) != 1 or job.launch is None or "--multi-prog" in options_of(job.launch):
        return False
    word, options, asked = job.launch.executable, options_of(job.launch), job.directives.settings
    name = "" if word is None else (word.text or word.ending).lower()
    if "cpu" in name:
        return False
    if any(_CHOOSES.match(option) for option in options) or any(key in asked for key in _CHOOSERS):
        return True
    gres = asked.get("gres")
    named = "" if gres is None or gres.certainty is Certainty.UNKNOWN else str(gres.value)
    asks = any(key in asked for key in _ASKS) or named.startswith("gpu")
    if not asks and not any(_ASKS_IN_STEP.match(option) for option in options):
        return False
    return "gpu" in name or _has_long_blocks(experiment.components[0])


def _has_long_blocks(component: Component) -> bool:
    try:
        lengths = [component["parallel_nml", name].value for name in ("nproma", "nblocks_c", "nblocks_e")]
    except UndecidedError:
        return False
    nproma, *counts = (length if type(length) is int else 0 for length in lengths)
    return nproma >= _LONG or any(count > 0 for count in counts)


_UNKNOWN_NODE = -1


def followed(experiment: Experiment) -> list[Node]:
    """The nodes whose ranks are looked at, without what they do where that is not known; at least one rank."""
    for known in (nodes, _without_crew):
        try:
            return _telling(known(experiment))
        except UndecidedError:
            continue
    return [Node(0, range(1), {})]


def _without_crew(experiment: Experiment) -> Sequence[Node]:
    return [Node(number, ranks, {}) for number, ranks in enumerate(ranks_by_node(experiment))]


def starts(wrapper: Wrapper, experiment: Experiment, effort: Effort) -> Mapping[int, Start]:
    """What the wrapper does for ranks of some nodes: the first, the last, and those of the last rank that computes and
    of the last one of all; for one of several programs the first and the last of its nodes. The `effort` is
    that of all wrappers of a script."""
    tasks, count = _told(experiment)
    surroundings: dict[str, str | None] = {}
    for name, setting in experiment.environment.items():
        surroundings[name] = None if setting.certainty is Certainty.UNKNOWN else str(setting.value)
    for name in ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"):
        surroundings[name] = tasks
    for name in ("SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_STEP_NUM_NODES"):
        surroundings[name] = count
    is_srun = experiment.launch.command.value == "srun"
    made: dict[int, Start] = {}
    for node in _nodes_of(wrapper, experiment):
        own = [pair for pair in enumerate(node.ranks) if wrapper.ranks is None or pair[1] in wrapper.ranks]
        for local, rank in own if wrapper.ranks is None else own[: _MOST_RANKS // 2]:
            numbers = _numbers(rank, local, node, tasks, is_srun=is_srun)
            if node.number == _UNKNOWN_NODE:
                numbers |= {"SLURM_LOCALID": None, "SLURM_NODEID": None}
            start = follow(
                wrapper.script,
                wrapper.arguments,
                {**surroundings, **numbers},
                effort,
                any_program=wrapper.ranks is not None and not wrapper.arguments,
            )
            if start is not None:
                made[rank] = start
    return made


def _nodes_of(wrapper: Wrapper, experiment: Experiment) -> list[Node]:
    """The nodes whose ranks a wrapper is followed for: of one of several programs the first and the last that it has
    ranks on; the first rank of a job, if no more is known."""
    if wrapper.ranks is None:
        return followed(experiment)
    try:
        every = [Node(number, there, {}) for number, there in enumerate(wrapper.nodes or ranks_by_node(experiment))]
    except UndecidedError:
        first = min(wrapper.ranks)
        return [Node(0 if first == 0 else _UNKNOWN_NODE, range(first, first + 1), {})]
    own = [node for node in every if not wrapper.ranks.isdisjoint(node.ranks)]
    return list({node.number: node for node in (*own[:1], *own[-1:])}.values())


def _told(experiment: Experiment) -> tuple[str | None, str | None]:
    """The number of tasks and that of nodes, where they are known."""
    try:
        return str(experiment.tasks.value), str(len(ranks_by_node(experiment)))
    except UndecidedError:
        return None, None


def _telling(every: Sequence[Node]) -> list[Node]:
    """The nodes that tell most, and not more than can be followed."""
    working = [node for node in every if any(kind in ("test", "work") for _, kind in node.crew)]
    last = max(every, key=lambda node: max(node.ranks, default=-1), default=None)
    chosen = {node.number: node for node in (*every[:1], *working[-1:], *every[-1:], *([last] if last else []))}
    found: list[Node] = []
    for node in chosen.values():
        if sum(len(other.ranks) for other in found) + len(node.ranks) <= _MOST_RANKS:
            found.append(node)
    return found


def _numbers(rank: int, local: int, node: Node, tasks: str | None, *, is_srun: bool) -> dict[str, str | None]:
    """What the launcher tells a rank. Slurm's own srun tells nothing of Open MPI's."""
    of_open_mpi = ("" if is_srun else number for number in (str(rank), str(local), tasks, str(len(node.ranks))))
    names = ("RANK", "LOCAL_RANK", "SIZE", "LOCAL_SIZE")
    found: dict[str, str | None] = {f"OMPI_COMM_WORLD_{n}": text for n, text in zip(names, of_open_mpi, strict=True)}
    if is_srun:
        found |= {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(local), "SLURM_NODEID": str(node.number)}
    else:
        found |= {"MPI_LOCALRANKID": str(local), "PMI_RANK": str(rank)}
    return found


def gpus_shown(wrapper: Wrapper, made: Mapping[int, Start]) -> dict[int, str | None]:
    """The GPUs that a wrapper shows to ranks, of those for which that is known; none where it lets them share one."""
    if _SHARES.search(wrapper.script.source.text):
        return {}
    return {rank: start.gpus for rank, start in made.items() if start.knows_gpus}


def variables_of_ranks(wrappers: Iterable[Text]) -> dict[str, Setting]:
    """The variables that wrappers export for their ranks, whatever they do else; unknown are those that are no text."""
    found: dict[str, Setting] = {}
    for text in wrappers:
        for match in (*_EXPORTS.finditer(text.text), *_before_program(text.text)):
            name, span = f"environment.{match[1]}", text.span(*match.span(1))
            value = next((match[group] for group in (2, 3, 4) if match[group] is not None), None)
            is_known = value is not None and not re.search(rf"[$`\\{UNKNOWN}]", value)
            found[match[1]] = written(name, value, "script", span) if is_known else unknown(name, span)
    return found


def _before_program(text: str) -> Iterator[re.Match[str]]:
    """The variables that stand before the command with which a wrapper starts its program."""
    for line in _STARTS_PROGRAM.finditer(text):
        yield from _SET_THERE.finditer(text, *line.span(1))


def problems_of_wrapper(wrapper: Wrapper, made: Mapping[int, Start], *, is_srun: bool) -> Iterator[SyntaxProblem]:
    """What a wrapper does wrong, whatever the ranks do."""
    text = wrapper.script.source.text
    match = _OF_OPEN_MPI.search(text)
    if is_srun and match is not None and not _OF_SLURM.search(text):
        message = f"srun sets no {match[0]}: every rank takes itself for the first"
        yield _problem(
            "wrapper-without-rank", message, wrapper.span(*match.span()), "${SLURM_LOCALID}, where it is empty"
        )
    few = _ONE_TOO_FEW.search(text)
    if few is not None:
        message = f"the last rank below {few[1]} computes, and is left out"
        yield _problem("wrapper-leaves-out-rank", message, wrapper.span(*few.span()), f"SLURM_PROCID < {few[1]}")
    nowhere = next(((rank, option) for rank, start in made.items() if (option := _unbound(start))), None)
    if nowhere is not None:
        rank, option = nowhere
        start = made[rank]
        tool = (start.words[0] or "").rpartition("/")[2]
        message = f"{tool} gets nothing to bind to: {option} for rank {rank}"
        span = wrapper.span(start.place.start, start.place.end)
        yield _problem("wrapper-binds-nowhere", message, span, "an entry for each rank of a node, or its number modulo")
    for start in made.values():
        lost = _lost(wrapper, start)
        if lost:
            message = f"the program is started without {' '.join(lost)}"
            span = wrapper.span(start.place.start, start.place.end)
            yield _problem("wrapper-loses-arguments", message, span, 'exec "$@"')
            return
    within = _TEXT_FOR_SHELL.search(text)
    behind = [word for word in wrapper.arguments[1:] if word]
    if not made and within is not None and behind and not _SHIFTS.search(text):
        message = f"the program is started without {' '.join(behind)}"
        yield _problem("wrapper-loses-arguments", message, wrapper.span(*within.span()), 'exec "$@"')


def _problem(kind: str, message: str, span: Span, expected: str) -> SyntaxProblem:
    return SyntaxProblem(kind, message, span, expected, stops=False)


def _unbound(start: Start) -> str | None:
    """The option of numactl that gets no nodes or cores."""
    tool = (start.words[0] or "").rpartition("/")[2]
    if tool not in ("numactl", "taskset"):
        return None
    for at, word in enumerate(start.words[1 : start.program], start=1):
        match = (_BINDS if tool == "numactl" else _SETS_CORES).match(word or "")
        if match is None or match[1] == "--localalloc":
            continue
        value = match[2] if match[2] or "=" in (word or "") else start.words[at + 1]
        if value == "":
            return match[1]
    return None


def _lost(wrapper: Wrapper, start: Start) -> list[str]:
    """The arguments of the program that it does not get."""
    program = (start.words[start.program] or "").rpartition(" ")[2]  # `sh -c "exec $@"`
    if program not in wrapper.arguments:
        return []
    behind = wrapper.arguments[wrapper.arguments.index(program) + 1 :]
    passed = () if start.lost else start.words[start.program + 1 :]
    return [] if None in behind or None in passed else [word for word in behind if word and word not in passed]


# --- A wrapper by itself ---

_OPTION = re.compile(r"^[ \t]*\(?([A-Za-z])\)[ \t]*(\w+)=[\"']?\$\{?OPTARG", re.MULTILINE)
_OWN_WORDS = re.compile(r"\$\{?[@*1-9]|\bOPTARG\b")
_PROGRAM = re.compile(r"exe|prog|model|bin|cmd|command", re.IGNORECASE)
_LAUNCHES = re.compile(r"^#SBATCH|^[^#\n]*\bsrun\b", re.MULTILINE)
_IO = re.compile(r"io", re.IGNORECASE)
_TASKS, _LOCAL = 32, 16
_EXAMPLE = "bin/icon"


def alone(script: Script) -> Iterator[SyntaxProblem]:
    """What is wrong with a script that is a wrapper itself, as far as it shows on nodes of 16 ranks."""
    text = script.source.text
    if not (_OF_SLURM.search(text) or _OF_OPEN_MPI.search(text)) or _LAUNCHES.search(text):
        return
    if _OWN_WORDS.search(text) is None:  # what it starts is none of them
        return
    words: list[str] = []
    for letter, name in _OPTION.findall(text):
        is_program = _PROGRAM.search(name) is not None
        words += [f"-{letter}", _EXAMPLE if is_program else "1" if _IO.search(name) else str(_TASKS)]
    if _EXAMPLE not in words:
        words.append(_EXAMPLE)
    made: dict[int, Start] = {}
    effort = effort_of_ranks()
    for arguments in (words, [*words, "--argument"]):
        wrapper = Wrapper(script, tuple(arguments), StaticWord(script.source.name, script.text.span(0, 1)), True)
        for rank in range(_LOCAL):
            node = Node(0, range(_LOCAL), {})
            numbers = _numbers(rank, rank, node, str(_TASKS), is_srun=True)
            numbers |= {f"OMPI_COMM_WORLD_{n}": str(rank) for n in ("RANK", "LOCAL_RANK")}
            if (start := follow(script, arguments, {**numbers, "SLURM_NTASKS": str(_TASKS)}, effort)) is not None:
                made[rank] = start
    if not effort.is_too_much:  # else some ranks were not followed with all the words
        yield from problems_of_wrapper(wrapper, made, is_srun=False)
