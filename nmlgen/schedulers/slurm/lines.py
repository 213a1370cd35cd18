"""From what a job asks for to #SBATCH lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.schedulers.request import HOME, SUBMITTED, Asked, Exported, FilePattern, Request, Written
from nmlgen.units.size import format_size
from nmlgen.units.wall_time import format_wall_time

_GAPS = {"job": "%j", "array": "%A", "array index": "%a", "name": "%x", "user": "%u"}
_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,^&|*\[\]-]+")
_MAIL = {"begin": "BEGIN", "end": "END", "fail": "FAIL"}
_OTHERS_IDS = "the ids of jobs of this batch system, which sbatch prints"


def lines(request: Request) -> Written:
    """The options of sbatch that ask for the same."""
    asked = Asked(request)
    directives = tuple(f"--{name}" if value is None else f"--{name}={_quoted(value)}" for name, value in options(asked))
    before: tuple[str, ...] = ()
    directory = request.wishes.get("directory")
    if directory is not None and directory.value == HOME:
        before = ("cd # where a job of PBS begins; one of Slurm begins where it was submitted",)
    shell = request.wishes.get("shell")
    asked.taken |= {"directory", "shell"}
    return Written(directives, tuple(asked.rest("Slurm")), before, "/bin/bash" if shell is None else str(shell.value))


def options(asked: Asked) -> Iterator[tuple[str, str | None]]:
    """The options of sbatch that ask for the same, with their values, None for a switch."""
    for option, key in (("job-name", "name"), ("account", "account"), ("partition", "queue")):
        if (text := asked.take(key)) is not None:
            yield option, text
    for option in ("nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "gpus-per-node"):
        if (number := asked.take(option.replace("ntasks", "tasks").replace("-", "_"))) is not None:
            yield option, str(number)
    for key, option in (("memory_per_node", "mem"), ("memory_per_cpu", "mem-per-cpu")):
        if (size := asked.take(key)) is not None:
            yield option, format_size(max(1, -(-size // 1024)) * 1024)
    if asked.take("exclusive"):
        yield "exclusive", None
    if (seconds := asked.take("walltime")) is not None:
        minutes = -(-seconds // 60) * 60 if seconds % 60 else seconds
        yield "time", format_wall_time(minutes)
        if minutes != seconds:
            asked.differ("walltime", "Slurm counts whole minutes", "a time limit in minutes")
    yield from _files(asked)
    yield from _mail(asked)
    yield from _when(asked)
    directory = asked.take("directory")
    if directory not in (None, HOME, SUBMITTED):
        yield "chdir", directory
    yield from _environment(asked)


def _when(asked: Asked) -> Iterator[tuple[str, str | None]]:
    """How often the job is run, and from when on."""
    if (array := asked.take("array")) is not None:
        step = f":{array.step}" if array.step != 1 else ""
        at_once = f"%{array.at_once}" if array.at_once is not None else ""
        yield "array", f"{array.first}-{array.last}{step}{at_once}"
    if (dependency := asked.take("dependency")) is not None:
        shown = [":".join((kind, *(job.partition(".")[0] for job in jobs))) for kind, jobs in dependency]
        yield "dependency", ",".join(shown)
        yield "kill-on-invalid-dep", "yes"
        asked.differ("dependency", "the ids are those of the other batch system", _OTHERS_IDS)
    if (begin := asked.take("begin")) is not None:
        day, clock = begin.split("T")
        date = f"{day[:4]}-{day[4:6]}-{day[6:]}T" if day else ""
        yield "begin", date + ":".join(re.findall("..", clock))
    if asked.take("hold"):
        yield "hold", None
    if (rerun := asked.take("rerun")) is not None:
        yield "requeue" if rerun else "no-requeue", None


def _files(asked: Asked) -> Iterator[tuple[str, str]]:
    output, error, joined = asked.take("output"), asked.take("error"), asked.take("joined")
    if output is None and not joined:
        output = _default(asked, "o")
    if output is not None:
        yield "output", _pattern(output)
    if not joined:
        yield "error", _pattern(error or _default(asked, "e"))


def _default(asked: Asked, letter: str) -> FilePattern:
    """The file that PBS makes where a script names none."""
    is_array = "array" in asked.request.wishes
    end = (("array", True), (".", False), ("array index", True)) if is_array else (("job", True),)
    return FilePattern((("name", True), (f".{letter}", False), *end))


def _pattern(pattern: FilePattern) -> str:
    return "".join(_GAPS[text] if is_gap else text.replace("%", "%%") for text, is_gap in pattern.parts)


def _mail(asked: Asked) -> Iterator[tuple[str, str]]:
    address, events = asked.take("mail_to"), asked.take("mail_on")
    if address is not None:
        yield "mail-user", address
    if events is None:
        events = frozenset({"fail"}) if address is not None else None
    if events is not None:
        yield "mail-type", ",".join(_MAIL[event] for event in sorted(events)) or "NONE"


def _environment(asked: Asked) -> Iterator[tuple[str, str]]:
    found: Exported | None = asked.take("environment")
    if found is None:
        return
    if found.variables:
        yield "export", ",".join(("ALL", *found.variables))
    if not found.everything:
        message = "sbatch hands on the whole environment, which qsub does with -V only"
        asked.differ("environment", message, "--export=NONE, and srun --export=ALL, to keep it out")


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
