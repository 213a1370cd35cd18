"""From what a job asks for to #PBS lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.schedulers.pbs.values import PbsValueError, check_option
from nmlgen.schedulers.request import HOME, SUBMITTED, Asked, Exported, FilePattern, Request, Written

_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,^&|*\[\]-]+")
_MAIL = {"begin": "b", "end": "e", "fail": "a"}
_UNITS = ("b", "kb", "mb", "gb", "tb", "pb")
_SHELL = re.compile(r"(/\S*)((?!\S).*)")


def lines(request: Request) -> Written:
    """The options of qsub that ask for the same."""
    asked = Asked(request)
    directives = tuple(f"-{letter} {quoted(value)}".rstrip() for letter, value in _all(asked))
    directory = asked.take("directory")
    before: tuple[str, ...] = ()
    if directory == SUBMITTED:
        before = ('cd "$PBS_O_WORKDIR" || exit # PBS begins in the home directory',)
    elif directory not in (None, HOME):
        there = "'" + directory.replace("'", "'\\''") + "'"
        base = "" if directory.startswith("/") else '"$PBS_O_WORKDIR"/'
        before = (f"cd {base}{there} || exit",)
    return Written(directives, tuple(asked.rest("PBS")), before)


def _all(asked: Asked) -> Iterator[tuple[str, str]]:
    yield from _shell(asked)
    for letter, key in (("N", "name"), ("A", "account"), ("q", "queue")):
        if (text := asked.take(key)) is not None:
            try:
                check_option(letter, text)
            except PbsValueError as error:
                asked.lose(key, "qsub refuses that name", str(error))
            else:
                yield letter, text
    for value in _sizes(asked):
        yield "l", value
    if (seconds := asked.take("walltime")) is not None:
        yield "l", f"walltime={seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    yield from _files(asked)
    yield from _mail(asked)
    yield from _when(asked)
    environment: Exported | None = asked.take("environment")
    if environment is not None:
        if environment.everything:
            yield "V", ""
        if environment.variables:
            yield "v", ",".join(environment.variables)


def _when(asked: Asked) -> Iterator[tuple[str, str]]:
    """How often the job is run, and from when on."""
    if (array := asked.take("array")) is not None:
        if array.first >= array.last:
            asked.lose("array", "PBS has no array of one task", "an array of two tasks or more, or a job")
        else:
            step = f":{array.step}" if array.step != 1 else ""
            yield "J", f"{array.first}-{array.last}{step}{'' if array.at_once is None else f'%{array.at_once}'}"
    if (dependency := asked.take("dependency")) is not None:
        yield "W", "depend=" + ",".join(":".join((kind, *jobs)) for kind, jobs in dependency)
        asked.differ("dependency", "the ids are those of the other batch system", "the ids of jobs that qsub prints")
    if (begin := asked.take("begin")) is not None:
        day, clock = begin.split("T")
        yield "a", f"{day}{clock[:4]}{f'.{clock[4:]}' if len(clock) > 4 else ''}"
    if asked.take("hold"):
        yield "h", ""
    rerun = asked.take("rerun")
    if rerun is False and array is not None:
        asked.lose("rerun", "PBS runs tasks of arrays again where their node fails", "a script that can begin anew")
    elif rerun is not None:
        yield "r", "y" if rerun else "n"


def _shell(asked: Asked) -> Iterator[tuple[str, str]]:
    """The shell: PBS does not look at the first line of a script."""
    shell = asked.take("shell")
    if shell is None:
        return
    match = _SHELL.fullmatch(shell)
    if match is not None and match[1].endswith("/env"):
        asked.differ("shell", f'PBS does not obey the first line, "#!{shell}"', "-S with the path of that shell")
    elif match is not None:
        yield "S", match[1]
        if options := match[2].lstrip(" \t"):
            message = f'PBS does not obey the first line: the shell gets no "{options}"'
            asked.differ("shell", message, "set in the script")


def _sizes(asked: Asked) -> Iterator[str]:
    """The values of select, of as many chunks as nodes or else as tasks, and of place."""
    nodes, tasks, per_node = (asked.take(key) for key in ("nodes", "tasks", "tasks_per_node"))
    cores, gpus = asked.take("cpus_per_task"), asked.take("gpus_per_node")
    memory, of_core = asked.take("memory_per_node"), asked.take("memory_per_cpu")
    exclusive, besides = bool(asked.take("exclusive")), asked.take("chunk")
    is_sized = any(one is not None for one in (nodes, tasks, per_node, cores, gpus, memory, of_core, besides))
    if nodes is None and tasks is not None and per_node is not None:
        nodes = -(-tasks // per_node)
    if gpus is not None:
        asked.differ("gpus_per_node", "ngpus is no resource of PBS itself", "what the site calls its GPUs")
    if nodes is None and tasks is not None and tasks > 1:
        for key in ("gpus_per_node", "memory_per_node"):
            if key in asked.request.wishes:
                asked.lose(key, "on how many nodes the tasks are, is not said", "a number of nodes")
        yield f"select={_chunk(tasks, 1, cores, None, of_core, None, besides)}"
        if exclusive:
            yield "place=excl"
        return
    if not is_sized:
        if exclusive:
            yield "place=excl"
        return
    nodes = nodes or 1
    tasks = tasks or nodes * (per_node or 1)
    share, more = divmod(tasks, nodes)
    chunks = [(more, share + 1), (nodes - more, share)]
    parts = [_chunk(count, each, cores, memory, of_core, gpus, besides) for count, each in chunks if count and each]
    yield f"select={'+'.join(parts)}"
    if nodes > 1 or exclusive:
        yield "place=" + ":".join([*(["scatter"] if nodes > 1 else []), *(["excl"] if exclusive else [])])


def _chunk(
    count: int,
    tasks: int,
    cores: int | None,
    memory: int | None,
    of_core: int | None,
    gpus: int | None,
    besides: str | None,
) -> str:
    if memory is None and of_core is not None:
        memory = of_core * tasks * (cores or 1)
    words = [str(count), f"ncpus={tasks * (cores or 1)}", f"mpiprocs={tasks}"]
    words += [f"ompthreads={cores}"] if cores is not None else []
    words += [f"mem={_size(memory)}"] if memory is not None else []
    words += [f"ngpus={gpus}"] if gpus is not None else []
    return ":".join([*words, *([besides] if besides is not None else [])])


def _size(size: int) -> str:
    power = next(power for power in reversed(range(len(_UNITS))) if not size % 1024**power)
    return f"{size // 1024**power}{_UNITS[power]}"


def _files(asked: Asked) -> Iterator[tuple[str, str]]:
    for letter, key in (("o", "output"), ("e", "error")):
        pattern: FilePattern | None = asked.take(key)
        if pattern is not None and (path := _path(asked, key, pattern)) is not None:
            yield letter, path
    if asked.take("joined"):
        yield "j", "oe"


def _path(asked: Asked, key: str, pattern: FilePattern) -> str | None:
    """A path that qsub takes, which knows one gap: the index in an array. None where it cannot be said."""
    name = asked.request.wishes.get("name")
    texts = [
        (str(name.value), False) if is_gap and text == "name" and name is not None else (text, is_gap)
        for text, is_gap in pattern.parts
    ]
    if all(not is_gap or text == "array index" for text, is_gap in texts):
        return "".join("^array_index^" if is_gap else text for text, is_gap in texts)
    first = next(number for number, (text, is_gap) in enumerate(texts) if is_gap and text != "array index")
    directory, slash, _ = "".join("^array_index^" if is_gap else text for text, is_gap in texts[:first]).rpartition("/")
    if any("/" in text for text, is_gap in texts[first:] if not is_gap):
        asked.lose(key, "qsub puts no job id or user into the name of a directory", "a path without")
        return None
    asked.differ(key, "PBS names the file itself, as NAME.o123", "the file under another name, in the same directory")
    return f"{directory}/" if slash else None


def _mail(asked: Asked) -> Iterator[tuple[str, str]]:
    address, events = asked.take("mail_to"), asked.take("mail_on")
    if events is None and address is not None:
        events = frozenset()
    if events is not None:
        yield "m", "".join(_MAIL[event] for event in sorted(events)) or "n"
        if "fail" in events:
            message = "PBS writes of a job that it ends itself, not of a script that fails"
            asked.differ("mail_on", message, "-m abe, for mail of each end")
    if address is not None:
        yield "M", address


def quoted(value: str) -> str:
    """A word of qsub's. Nothing quotes a line break, of which no option is made here."""
    if not value or _PLAIN.fullmatch(value):
        return value
    return f"'{value}'" if "'" not in value else '"' + value.replace('"', "") + '"'
