"""What #SBATCH lines ask for, in words of no scheduler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.schedulers.request import SUBMITTED, Array, Exported, FilePattern, Remark, Request, Wish
from nmlgen.schedulers.slurm.directives import PLUGIN_OPTION, Directives, read_directives
from nmlgen.script.options import slurm_options
from nmlgen.source import Source
from nmlgen.units.size import parse_size
from nmlgen.units.wall_time import parse_wall_time

_NONE = "to do it otherwise, or to leave it out"
_SHEBANG = re.compile(r"#![ \t]*((?![ \t])[^\n\r]*[^\s])")
_GAPS = {"j": "job", "A": "array", "a": "array index", "x": "name", "u": "user"}
_GAP = re.compile(r"%([0-9]*)(.)")
_ARRAY = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?(?:%([0-9]{1,9}))?")
_MAIL = {
    "NONE": (),
    "BEGIN": ("begin",),
    "END": ("end",),
    "FAIL": ("fail",),
    "ALL": ("begin", "end", "fail"),
}
_KINDS = ("after", "afterany", "afterok", "afternotok")
_BEGIN = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d))?)?|(\d\d):(\d\d)(?::00)?", re.ASCII)
_RESOURCES = re.compile(r"[A-Za-z]\w*=[\w.]+(?::[A-Za-z]\w*=[\w.]+)*", re.ASCII)


class _UnsaidError(ValueError):
    """A value for which there is no word."""


def read(source: Source, bodies: Iterable[tuple[int, int]] = ()) -> Request:
    """What the #SBATCH lines of a script ask for, and what Slurm does where no line says otherwise."""
    directives = read_directives(source, bodies)
    wishes, remarks = wishes_of({} if directives.parts else directives.settings)
    if (shebang := _SHEBANG.match(source.text)) is not None:
        wishes["shell"] = Wish(shebang[1])
    return Request(wishes, (*_unread(directives), *remarks), tuple((line, line) for line in directives.lines))


def wishes_of(settings: Mapping[str, Setting]) -> tuple[dict[str, Wish], list[Remark]]:
    """What options of sbatch ask for, keyed by their long names, with values as a spec's section `job` has them."""
    wishes = {
        "environment": Wish(Exported(everything=True)),
        "directory": Wish(SUBMITTED),
        "joined": Wish("error" not in settings),
    }
    remarks = []
    for option, setting in settings.items():
        text = _shown(option, setting.origin.value)
        key, reader = _READERS.get(option, ("", None))
        span = setting.name_span or setting.span
        try:
            if reader is None:
                raise _UnsaidError("Slurm alone has this option")
            if setting.value == "" and option != "exclusive":
                raise _UnsaidError("it has no value")
            value = reader(setting.value)
        except UndecidedError:
            remarks.append(Remark(f"{text}: what is asked for is not known", span, "a value that Slurm takes", text))
        except ValueError as error:
            remarks.append(Remark(f"{text}: {error}", span, _NONE, text))
        else:
            if value is not None:
                wishes[key] = Wish(value, span, text)
    return wishes, remarks


def _unread(directives: Directives) -> Iterable[Remark]:
    if directives.parts and directives.span is not None:
        message = "a heterogeneous job: of its parts nothing is translated"
        yield Remark(message, directives.span, "a job of one part", "a heterogeneous job")
    for problem in directives.problems:
        if problem.kind == PLUGIN_OPTION or (problem.stops and problem.kind not in ("first-line", "bad-value")):
            yield Remark(f"{problem.message}", problem.span, problem.expected, problem.span.text)


def _shown(option: str, value: Any) -> str:
    if option == "requeue" and value is False:
        return "--no-requeue"
    known = slurm_options("sbatch").named(option)
    is_switch = value is True and len(known) == 1 and known[0].value != "required"
    return f"--{option}" if is_switch else f"--{option}={value}"


# --- Values ---------------------------------------------------------------------------------------------------


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        match = re.fullmatch(r"[0-9]{1,9}", str(value))
        if match is None:
            raise _UnsaidError("one number is needed")
        return int(match[0])
    return value


def _memory(value: Any) -> int:
    text = str(value)
    size = int(text) * 1024**2 if re.fullmatch(r"[0-9]{1,15}", text) else parse_size(text)
    if not size:
        raise _UnsaidError("all memory of a node; how much that is, only the site knows")
    return size


def _gpus(value: Any) -> int:
    match = re.fullmatch(r"(?:gpu:)?(?:[A-Za-z]\w*:)?([0-9]{1,6})", str(value))
    if match is None:
        raise _UnsaidError("not a number of GPUs")
    return int(match[1])


def _gres(value: Any) -> int:
    if not re.fullmatch(r"gpu(:\w+)?:[0-9]{1,6}", str(value)):
        raise _UnsaidError("not a number of GPUs")
    return _gpus(value)


def _pattern(value: Any) -> FilePattern:
    """A file name pattern of Slurm's; raises for a gap that has no word."""
    parts: list[tuple[str, bool]] = []
    text, at = str(value), 0
    if "\\" in text:  # which switches patterns off
        return FilePattern(((text.replace("\\", ""), False),))
    for match in _GAP.finditer(text):
        parts.append((text[at : match.start()], False))
        if match[2] != "%" and match[2] not in _GAPS:
            raise _UnsaidError(f"{match[0]} has no counterpart")
        parts.append(("%", False) if match[2] == "%" else (_GAPS[match[2]], True))
        at = match.end()
    return FilePattern(tuple(part for part in (*parts, (text[at:], False)) if part[0]))


def _mail_on(value: Any) -> frozenset[str]:
    words = [word.strip().upper() for word in str(value).split(",")]
    odd = [word for word in words if word not in _MAIL]
    if odd:
        raise _UnsaidError(f"{', '.join(odd)} is Slurm's alone")
    return frozenset(event for word in words for event in _MAIL[word])


def _array(value: Any) -> Array:
    match = _ARRAY.fullmatch(str(value))
    if match is None:
        raise _UnsaidError("no plain range of tasks")
    first, last, step, at_once = (int(number) if number else None for number in match.groups())
    return Array(first or 0, first or 0 if last is None else last, step or 1, at_once)


def _dependency(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found = []
    for one in str(value).split(","):
        kind, *jobs = one.split(":")
        if kind not in _KINDS or not jobs or not all(re.fullmatch(r"[0-9]+(?:_[0-9]+)?", job) for job in jobs):
            raise _UnsaidError("not after, afterany, afterok or afternotok of job ids, with commas between them")
        found.append((kind, tuple(jobs)))
    return tuple(found)


def _begin(value: Any) -> str:
    match = _BEGIN.fullmatch(str(value))
    if match is None:
        raise _UnsaidError("no date and time such as 2026-01-31T08:00")
    if match[7]:
        return f"T{match[7]}{match[8]}"
    return f"{match[1]}{match[2]}{match[3]}T{match[4] or '00'}{match[5] or '00'}{match[6] or '00'}"


def _exclusive(value: Any) -> bool | None:
    if value in (True, "exclusive", ""):
        return True
    if value is False:
        return None
    raise _UnsaidError("other jobs of the same user are let in by Slurm alone")


def _exported(value: Any) -> Exported:
    words = [word for word in str(value).split(",") if word]
    if words == ["NONE"]:
        return Exported(everything=False)
    return Exported("ALL" in words, tuple(word for word in words if word not in ("ALL", "NIL")))


def _chunk(value: Any) -> str:
    """Resources of another batch system, which no feature of Slurm's is like."""
    if not _RESOURCES.fullmatch(str(value)):
        raise _UnsaidError("features of nodes are Slurm's alone")
    return str(value)


def _flag(value: Any) -> bool | None:
    return True if value is True else None


def _killed(value: Any) -> None:
    """What PBS does, too: a job whose dependency cannot come true any more is deleted."""
    if str(value).lower() not in ("yes", "true"):
        raise _UnsaidError("a job that can never start is taken away elsewhere")


_READERS: dict[str, tuple[str, Any]] = {
    "account": ("account", str),
    "array": ("array", _array),
    "begin": ("begin", _begin),
    "chdir": ("directory", str),
    "constraint": ("chunk", _chunk),
    "cpus-per-task": ("cpus_per_task", _number),
    "dependency": ("dependency", _dependency),
    "error": ("error", _pattern),
    "exclusive": ("exclusive", _exclusive),
    "export": ("environment", _exported),
    "gpus-per-node": ("gpus_per_node", _gpus),
    "gres": ("gpus_per_node", _gres),
    "hold": ("hold", _flag),
    "job-name": ("name", str),
    "kill-on-invalid-dep": ("", _killed),
    "mail-type": ("mail_on", _mail_on),
    "mail-user": ("mail_to", str),
    "mem": ("memory_per_node", _memory),
    "mem-per-cpu": ("memory_per_cpu", _memory),
    "nodes": ("nodes", _number),
    "ntasks": ("tasks", _number),
    "ntasks-per-node": ("tasks_per_node", _number),
    "output": ("output", _pattern),
    "partition": ("queue", str),
    "requeue": ("rerun", bool),
    "time": ("walltime", lambda value: parse_wall_time(str(value))),
}
