"""What srun makes of a launch in a job of several parts, of several programs, or with a file of hosts.

All of it was tried with Slurm 22.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, islice, pairwise

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Certainty, Setting, UndecidedError, written
from nmlgen.namelist.syntax import SyntaxProblem
from nmlgen.schedulers.slurm.directives import Directives
from nmlgen.script.events import Ran
from nmlgen.script.launch import LaunchCommand, read_launch
from nmlgen.script.multi_prog import ranks_by_program, refused
from nmlgen.script.options import StaticWord
from nmlgen.script.values import Guard, within
from nmlgen.source import UNKNOWN, Span, Text
from nmlgen.units.whole import decimal
from nmlgen.values import evolve

_RECKONED = re.compile(r"\(\(([^\n]*)")
_WORD = re.compile(r"\w+")
_REMARK = re.compile(r"[ \t]*#|[^'\"\n]*?[ \t]#")
_GROUPS = re.compile(r"--(?:het|pack)-group(?:=(.*))?\Z")
_OF_ALL = re.compile(
    r"(?:\$\{?|\(\((?:[^()\n]*[^()\n\w])?)"
    r"(SLURM_(?:NTASKS|NPROCS|JOB_NUM_NODES|NNODES|NTASKS_PER_NODE|TASKS_PER_NODE))\b(?!_(?:HET|PACK))"
)
_HET_SIZE = re.compile(r"SLURM_\w+_(?:HET|PACK)_GROUP_")
_COUNTED = re.compile(
    r"\(\([^()\n]*?\b(SLURM_(?:JOB_)?TASKS_PER_NODE)\b[^()\n]*\)\)"
    r"|\b(?:let|expr|(?:declare|typeset|local)[ \t]+-\w*i\w*|integer)[ \t][^;|\n]{0,200}?"
    r"\b(SLURM_(?:JOB_)?TASKS_PER_NODE)\b(?![^;|\n]{0,3}[%#/])"
    r"|\[\[[^\]\n]{0,200}?\b(SLURM_(?:JOB_)?TASKS_PER_NODE)\}?\"?[ \t]+-(?:eq|ne|lt|le|gt|ge)\b"
)
_KEPT = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(\w+)=\"?\$\{?(SLURM_(?:JOB_)?TASKS_PER_NODE)\b(?![ \t]*[%#/])", re.MULTILINE
)
"""A variable that takes the list as it is."""
_TAKEN_APART = re.compile(
    r"\$\{(SLURM_(?:JOB_|STEP_)?NODELIST)(?:%|#|/|:\d)[^}\n]*\}"
    r"|\$\{?(SLURM_(?:JOB_|STEP_)?NODELIST)\}?\"?[ \t]*\|[ \t]*(?:sed|cut|tr|awk|grep)\b"
    r"|<<<[ \t]*\"?\$\{?(SLURM_(?:JOB_|STEP_)?NODELIST)\b"
)
_EXPANDED = re.compile(r"\bhostnames?[ \t]+[\"']?\Z")
"""What stands before a list that Slurm itself takes apart."""
_NAMED = re.compile(r"^[ \t]*(?:export[ \t]+)?(\w+)=\"?\$\{?(SLURM_(?:JOB_|STEP_)?NODELIST)\}?\"?[ \t]*$", re.MULTILINE)
"""A variable that takes the list as it is."""
_OF_PYTHON = re.compile(r"\bos\.(?:environ(?:\.get)?|getenv)[ \t]?[\[(][ \t]?['\"](SLURM_(?:JOB_|STEP_)?NODELIST)['\"]")
"""Where Python takes it."""
_BRACKETS = re.compile(
    r"\.(?:split|find|index|replace|strip|partition|match|search)\w*\([ \t]?[rf]?"
    r"['\"][^'\"\n]{0,40}[\[\]][^'\"\n]{0,40}['\"]"
)
_MOST_NAMES = 20
_NEAR = 1500
"""Characters before and behind the place where a program takes a list, in which it may take it apart."""
_HOSTS = "SLURM_HOSTFILE"
_CORES = re.compile(r"-c|--cpus-per-(?:task|gpu)|--exclusive|--whole|--cpu-bind=")
_GPUS = re.compile(r"(?:(?!license|craynetwork)[a-z][\w.-]*:){0,2}([1-9]\d?)", re.IGNORECASE)
_EXPORTS_NOTHING = re.compile(r"--export=(?:NONE|NIL)")


def of_launch(
    words: Sequence[StaticWord], launch: LaunchCommand, event: Ran, directives: Directives, files: Mapping[str, str]
) -> Iterator[SyntaxProblem]:
    """What is wrong with one launch of the model by srun; `files` are those that the script has written."""
    if launch.launch.command.value != "srun":
        return
    yield from _of_programs(launch, files)
    if directives.parts:
        yield from _of_parts(words, launch)
        yield from _of_steps(words, launch, directives)
        return
    yield from _of_hosts(launch, event, files)
    yield from _of_cpus(launch, event, directives)
    yield from _of_gpus(launch, directives)


def options_of(launch: LaunchCommand) -> list[str]:
    """The options of a launch that are known, as they stand there."""
    return [str(option.value) for option in launch.launch.options if option.certainty is not Certainty.UNKNOWN]


def is_known(launch: LaunchCommand) -> bool:
    """Whether each option of a launch is."""
    return launch.executable is not None and all(
        option.certainty is not Certainty.UNKNOWN for option in launch.launch.options
    )


def text_called(name: str | None, files: Mapping[str, str]) -> str | None:
    """What a script writes to the file of this name, which may be known in part: of `files`, by their paths, the one
    that is called so; else the last one of that name in a directory that only a run knows, or where the script is. None
    where there is none."""
    if not name or name in files or (name.startswith("/") and UNKNOWN not in name):
        return files.get(name or "")
    plain = _own_name(name)
    found = [text for path, text in files.items() if _own_name(path) == plain]
    return found[-1] if plain and found else None


def _own_name(path: str) -> str:
    """A path without what is not known of its beginning."""
    return path.rpartition(UNKNOWN)[2].lstrip("/").removeprefix("./")


def name_of(word: StaticWord | None) -> str | None:
    """The name of a file as a word has it: where only its end is known, that behind UNKNOWN. None where that is not
    known either."""
    if word is None or word.text is not None:
        return None if word is None else word.text
    return f"{UNKNOWN}{word.ending}" if word.ending.startswith("/") else None


def _shown(word: StaticWord) -> str:
    return word.text if word.text is not None else word.ending.rpartition("/")[2]


def count_of(setting: Setting | None) -> int | None:
    """The number that a setting has, None where that is not known."""
    if setting is None or setting.certainty is Certainty.UNKNOWN or type(setting.value) is not int:
        return None
    return setting.value


def _of_programs(launch: LaunchCommand, files: Mapping[str, str]) -> Iterator[SyntaxProblem]:
    """What srun refuses of the file that says which program each rank runs."""
    word = launch.executable
    text = text_called(name_of(word), files)
    if "--multi-prog" not in options_of(launch) or word is None or text is None:
        return
    for message, expected in _refused(text, count_of(launch.ntasks)):
        yield SyntaxProblem("launch-refused", f"{_shown(word)}: {message}", word.span, expected)


@lru_cache(maxsize=4)
def _refused(text: str, tasks: int | None) -> tuple[tuple[str, str], ...]:
    return tuple(refused(text, tasks))


# --- Heterogeneous jobs ---


def _of_parts(words: Sequence[StaticWord], launch: LaunchCommand) -> Iterator[SyntaxProblem]:
    """One launch in a heterogeneous job."""
    span = launch.launch.command.span
    if span is None or any(word.text is None and word.splits for word in words):
        return
    groups = _groups(words)
    texts = [word.text for word in words]
    if "--multi-prog" in texts and (len(groups) > 1 or any("," in group or "-" in group for group in groups)):
        message = "--multi-prog starts programs in one part of a heterogeneous job, and several are named"
        yield SyntaxProblem("launch-refused", message, span, "srun --het-group=0 ... : --het-group=1 ...")
    elif not groups and ":" not in texts and is_known(launch):
        message = "srun starts the model in part 0 of the job, and leaves the others idle"
        expected = "--het-group=0,1, or --het-group=0 ... : --het-group=1 ..."
        yield SyntaxProblem("part-without-launch", message, span, expected, stops=False)


def _of_steps(words: Sequence[StaticWord], launch: LaunchCommand, directives: Directives) -> Iterator[SyntaxProblem]:
    """What single parts of a heterogeneous job do not ask for, and what a launch starts there needs."""
    steps: dict[int, LaunchCommand] = {}
    for number, segment in enumerate(segments_of(words)):
        step = read_launch([words[0], *segment] if number else segment)
        for group in _numbers_of(_groups(segment), number):
            if step is not None and group < len(directives.parts):
                steps[group] = step
    span, parts = launch.launch.command.span, _of_each_part(directives)
    distinct = {id(step): step for step in steps.values()}
    for number, count in dict.fromkeys((id(step), parts[group][0]) for group, step in steps.items()):
        yield from _without_cpus(distinct[number], count, span)  # of many parts with the same count it is said once
    if not any(parts[group][1] for group in steps):
        return
    words_of = {number: tuple(word.text for word in step.started) for number, step in distinct.items()}
    giving: dict[tuple[str | None, ...], int] = {}  # by what is started, the first part with GPUs that starts it
    for group, step in steps.items():
        program = words_of[id(step)]
        if None not in program and parts[group][1]:
            giving.setdefault(program, group)
    lacking = (group for group, step in steps.items() if words_of[id(step)] in giving and not parts[group][1])
    for group in islice(lacking, _MOST_TOLD):
        other = giving[words_of[id(steps[group])]]
        if span is not None:
            message = f"part {group} of the job asks for no GPUs, and starts the same as part {other}, which does"
            yield SyntaxProblem("not-inherited", message, span, "GPUs in each part that uses some", stops=False)


@lru_cache(maxsize=4)
def _of_each_part(directives: Directives) -> list[tuple[int | None, bool]]:
    """The cores for each task that a part asks for, and whether it asks for GPUs."""
    return [
        (count_of(part.get("cpus-per-task")), not _GPU_KEYS.isdisjoint(part)) for part in directives.parts[:_MOST_PARTS]
    ]


_MOST_PARTS = 1000
_MOST_TOLD = 10  # parts, of one launch
_GPU_KEYS = frozenset(["gpus", "gpus-per-node", "gpus-per-task", "gres"])


def _numbers_of(groups: Sequence[str], number: int) -> list[int]:
    """The parts that options such as 0,1 or 0-2 name, each once; without any the one of this number."""
    found: list[int] = []
    named = 0  # a bit for each of them: a part may be named in thousands of ranges
    for item in ",".join(groups).split(",") if groups else [str(number)]:
        start, _, last = item.partition("-")
        first, end = decimal(start), decimal(last or start)
        if first is not None and end is not None and first <= end < _MOST_PARTS:
            fresh = ((1 << end + 1) - (1 << first)) & ~named
            if fresh:
                found += [part for part in range(first, end + 1) if fresh >> part & 1]
                named |= fresh
    return found


def idle_parts(
    launches: Sequence[tuple[Sequence[StaticWord], LaunchCommand]], directives: Directives
) -> Iterator[SyntaxProblem]:
    """Parts of a heterogeneous job that none of all launches of a script names, where each names some."""
    named: set[int] = set()
    for words, launch in launches:
        segments = segments_of(words)
        groups = _groups(words)
        if (
            launch.launch.command.value != "srun"
            or not groups
            or any(word.text is None and word.splits for word in words)
        ):
            return
        for number, segment in enumerate(segments):
            named.update(_numbers_of(_groups(segment), number))
    idle = sorted(set(range(len(directives.parts))) - named)
    span = launches[-1][1].launch.command.span if launches else None
    if directives.parts and idle and span is not None:
        message = f"nothing is started in part {idle[0]} of the job"
        yield SyntaxProblem("part-without-launch", message, span, "--het-group=0,1, or a launch for each", stops=False)


def segments_of(words: Sequence[StaticWord]) -> list[list[StaticWord]]:
    """The words of a launch, divided by `:`."""
    found: list[list[StaticWord]] = [[]]
    for word in words:
        if word.text == ":":
            found.append([])
        else:
            found[-1].append(word)
    return found


def _groups(words: Iterable[StaticWord]) -> list[str]:
    """The parts of the job that the words of a launch name, in their order."""
    found: list[str] = []
    for word, following in pairwise([*words, None]):
        match = _GROUPS.match(word.start) if word is not None else None
        if match is not None:
            behind = following.start if following is not None else ""
            found.append(match[1] if match[1] is not None else behind)
    return found


def out_of_order(
    words: Sequence[StaticWord], launch: LaunchCommand, directives: Directives, experiment: Experiment
) -> Iterator[SyntaxProblem]:
    """Parts that are named in another order than their own, and a master namelist that follows the launch."""
    groups = _groups(words)
    order = [number for number in map(decimal, groups) if number is not None]
    if not directives.parts or len(groups) < 2 or len(order) < len(groups):
        return
    sizes = [tasks_of_part(part) for part in directives.parts]
    if order == sorted(order) or max(order) >= len(sizes):
        return
    if any(size is None for size in sizes):
        return
    tasks = written("ntasks", sum(size for size in sizes if size is not None), "script", None)
    try:
        started = evolve(experiment, launch=evolve(experiment.launch, tasks=tasks))
        first = sorted(min(share) for share in started.shares if share)
    except UndecidedError:
        return
    asked = [sizes[number] for number in order]
    if len(first) != len(order):
        return
    counts = [size for size in asked if size is not None]
    by_part = [size for _, size in sorted(zip(order, counts, strict=True))]
    if first == [0, *accumulate(counts[:-1])] != [0, *accumulate(by_part[:-1])]:
        message = "ranks are counted by the parts of the job, and the master namelist by the order on this line"
        expected = "the models in the master namelist in the order of their parts"
        span = launch.launch.command.span
        if span is not None:
            yield SyntaxProblem("parts-out-of-order", message, span, expected, stops=False)


def tasks_of_part(part: Mapping[str, Setting]) -> int | None:
    """The tasks that a part of a heterogeneous job asks for, None where that is not known."""
    tasks = count_of(part.get("ntasks"))
    if tasks is not None:
        return tasks
    nodes, each = count_of(part.get("nodes")), count_of(part.get("ntasks-per-node"))
    return nodes * each if nodes is not None and each is not None else None


def of_text(script: Text, directives: Directives) -> Iterator[SyntaxProblem]:
    """What a script takes variables of Slurm for that they are not."""
    text = script.text
    if "SLURM_" not in text:
        return
    for match in _COUNTED.finditer(text) if "TASKS_PER_NODE" in text else ():
        if not _is_comment(script, match.start()):
            group = next(number for number in (1, 2, 3) if match[number])
            message = f"{match[group]} is no number: Slurm writes 4(x3) for three nodes of four tasks"
            expected = "SLURM_NTASKS_PER_NODE, or SLURM_NTASKS for all"
            yield SyntaxProblem("list-as-number", message, script.span(*match.span(group)), expected, stops=False)
    kept = list(_KEPT.finditer(text)) if "TASKS_PER_NODE" in text else []
    reckoned = {name for match in _RECKONED.finditer(text) for name in _WORD.findall(match[1])} if kept else set()
    for match in kept:
        if match[1] in reckoned:
            message = f"{match[2]} is no number: Slurm writes 4(x3) for three nodes of four tasks"
            expected = "SLURM_NTASKS_PER_NODE"
            yield SyntaxProblem("list-as-number", message, script.span(*match.span(2)), expected, stops=False)
    if "NODELIST" in text:
        yield from _of_lists(script)
    if directives.parts and not _HET_SIZE.search(text):
        for match in _OF_ALL.finditer(text):
            if not _is_comment(script, match.start()):
                message = f"{match[1]} is that of part 0 of the job, not of all its parts"
                expected = f"the sum of {match[1]}_HET_GROUP_0, {match[1]}_HET_GROUP_1 and so on"
                yield SyntaxProblem("part-as-whole", message, script.span(*match.span(1)), expected, stops=False)


def _of_lists(script: Text) -> Iterator[SyntaxProblem]:
    """Lists of nodes that are taken apart, by their own name or another one."""
    text = script.text
    for match in _TAKEN_APART.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        if not _is_comment(script, match.start()) and not _EXPANDED.search(before):
            group = next(number for number in (1, 2, 3) if match[number])
            yield _taken_apart(script, match[group], match.span(group))
    for match in islice(_NAMED.finditer(text), _MOST_NAMES):
        name = re.escape(match[1])
        apart = re.search(rf"\$\{{{name}(?:%|#|/|:\d)|\$\{{?{name}\}}?\"?[ \t]*\|[ \t]*(?:sed|cut|tr|awk|grep)\b", text)
        if apart is not None and not _is_comment(script, match.start()):
            yield _taken_apart(script, match[2], match.span(2))
    for match in _OF_PYTHON.finditer(text):
        around = text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
        if _BRACKETS.search(around) and not re.search(r"show[ \t'\",]+hostnames|hostlist", around):
            yield _taken_apart(script, match[1], match.span(1))


def _taken_apart(script: Text, name: str, place: tuple[int, int]) -> SyntaxProblem:
    message = f"{name} is taken apart: a single node has no brackets, and two prefixes have two pairs"
    expected = f'scontrol show hostnames "${name}"'
    return SyntaxProblem("node-list-taken-apart", message, script.span(*place), expected, stops=False)


def _is_comment(script: Text, at: int) -> bool:
    """Whether a remark begins before a place of its line."""
    return _remark(script.text, script.line_start(at)) <= at


@lru_cache(maxsize=1)
def _remark(text: str, line_start: int) -> int:
    """Where the text of a remark begins in a line; behind the text if there is none. In one line thousands of names
    may stand."""
    match = _REMARK.match(text, line_start)
    return match.end() if match is not None else len(text) + 1


# --- Hosts ---


def _of_hosts(launch: LaunchCommand, event: Ran, files: Mapping[str, str]) -> Iterator[SyntaxProblem]:
    """A file of hosts with another number of lines than there are tasks."""
    variable = event.environment.get(_HOSTS)
    cases = within(variable.value, event.guard) if variable is not None else ()
    path = cases[0].text if len(cases) == 1 and cases[0].is_set else None
    text, tasks, span = text_called(path, files), count_of(launch.ntasks), launch.launch.command.span
    if not path or text is None or tasks is None or span is None:
        return
    count, name = _hosts_in(text), path.rpartition(UNKNOWN)[2].lstrip("/")
    if count is None:
        return  # of a loop that nobody knows how often it is gone through
    is_known = UNKNOWN not in text
    if count < tasks and (is_known or 2 * count > tasks):  # else a name may stand for several lines
        message = f"{name} names {count} hosts, and srun starts {tasks} tasks"
        yield SyntaxProblem("launch-refused", message, span, "a line for each task", stops=is_known)
    elif count > tasks:
        message = f"{name} names {count} hosts, and srun starts {tasks} tasks: the last {count - tasks} are not used"
        yield SyntaxProblem("more-hosts-than-tasks", message, span, "a line for each task", stops=False)


@lru_cache(maxsize=4)
def _hosts_in(text: str) -> int | None:
    """How many hosts a file names, which thousands of launches may use; None where several stand in one line."""
    lines = [line for line in text.splitlines() if line.strip()]
    return None if any(line.count(UNKNOWN) > 1 for line in lines) else len(lines)


def behind_launch(words: Sequence[StaticWord], event: Ran, guard: Guard) -> Iterator[SyntaxProblem]:
    """A job or a step that comes behind the model's and takes its file of hosts."""
    name = words[0].text if words else None
    variable = event.environment.get(_HOSTS)
    if name not in ("sbatch", "srun") or variable is None:
        return
    cases = within(variable.value, guard)
    if not all(case.is_set is True and case.text for case in cases):
        return
    texts = [word.text or "" for word in words]
    if any("arbitrary" in text or _EXPORTS_NOTHING.match(text) for text in texts):
        return
    what = "the next job" if name == "sbatch" else "this step"
    message = f"{_HOSTS} is still exported: {what} places its tasks by that file, unasked"
    expected = f"unset {_HOSTS} before it"
    yield SyntaxProblem("stale-hostfile", message, words[0].span, expected, stops=False)


# --- Cores and GPUs ---


def _of_cpus(launch: LaunchCommand, event: Ran, directives: Directives) -> Iterator[SyntaxProblem]:
    """Cores for each task that the job asks for and the step does not."""
    count = count_of(directives.settings.get("cpus-per-task"))
    if "SRUN_CPUS_PER_TASK" not in event.environment:
        yield from _without_cpus(launch, count, launch.launch.command.span)


def _without_cpus(launch: LaunchCommand, count: int | None, span: Span | None) -> Iterator[SyntaxProblem]:
    """A step that does not say how many cores its tasks have, in a job that asks for more than one for each."""
    if count is None or count < 2 or launch.cpus_per_task is not None or not is_known(launch):
        return
    if "SRUN_CPUS_PER_TASK" in launch.environment or any(_CORES.match(text) for text in options_of(launch)):
        return
    if span is not None:
        message = f"each task gets one core, not {count}: srun does not take --cpus-per-task from the job"
        expected = f"srun --cpus-per-task={count}, or SRUN_CPUS_PER_TASK exported"
        yield SyntaxProblem("cpus-not-handed-on", message, span, expected, stops=False)


def _of_gpus(launch: LaunchCommand, directives: Directives) -> Iterator[SyntaxProblem]:
    """More GPUs on a node than the job has there."""
    asked = _gpus(directives.settings.get("gpus-per-node")) or _gpus(directives.settings.get("gres"))
    options = options_of(launch)
    for text, following in pairwise([*options, ""]):
        match = re.match(r"--(?:gpus-per-node|gres)(?:=(.*))?\Z", text)
        value = None if match is None else match[1] if match[1] is not None else following
        wanted = None if value is None else _GPUS.fullmatch(value)
        span = launch.launch.command.span
        if asked is not None and wanted is not None and int(wanted[1]) > asked and span is not None:
            message = f"srun asks for {wanted[1]} GPUs on a node, and the job has {asked}"
            yield SyntaxProblem("launch-refused", message, span, f"at most {asked}")


def _gpus(setting: Setting | None) -> int | None:
    if setting is None or setting.certainty is Certainty.UNKNOWN:
        return None
    match = _GPUS.fullmatch(str(setting.value))
    return int(match[1]) if match is not None else None


# --- Programs and models ---


def unlike_master(launch: LaunchCommand, files: Mapping[str, str], experiment: Experiment) -> Iterator[SyntaxProblem]:
    """Programs that have other ranks than the models in the master namelist: said where there are as many programs as
    models, so that each is one."""
    word, tasks = launch.executable, count_of(launch.ntasks)
    text = text_called(name_of(word), files)
    if word is None or tasks is None or text is None or len(experiment.models) < 2:
        return
    programs = ranks_by_program(text, tasks)
    if programs is None or len(programs) != len(experiment.models):
        return
    try:
        shares = [share for share in experiment.shares if share]
    except UndecidedError:
        return
    models = sorted(shares, key=min)
    if len(models) != len(programs) or any(ranks.isdisjoint(frozenset().union(*models)) for ranks in programs.values()):
        return  # a program that is no model stands beside one that is several
    for (command, ranks), share in zip(sorted(programs.items(), key=lambda item: min(item[1])), models, strict=True):
        if ranks != share:
            name = experiment.components[experiment.shares.index(share)].title
            message = (
                f'{_shown(word)} gives the ranks {min(ranks)}-{max(ranks)} to "{command}", and the master namelist '
                f"{min(share)}-{max(share)} to {name}"
            )
            yield SyntaxProblem("programs-unlike-models", message, word.span, "the same ranks in both", stops=False)
            return
