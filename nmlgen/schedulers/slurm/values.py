"""What sbatch makes of the values of its options, as Slurm 22.05 was seen to do; what the manual of 25.11 has besides
is taken, too."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from nmlgen.findings import nearest, suggestion
from nmlgen.namelist.placeholders import stands_for_number
from nmlgen.pattern import pattern
from nmlgen.units.size import format_size
from nmlgen.units.whole import decimal, whole_number

COUNTS = (
    "ntasks",
    "ntasks-per-node",
    "tasks-per-node",
    "ntasks-per-core",
    "ntasks-per-socket",
    "ntasks-per-gpu",
    "cpus-per-task",
    "cpus-per-gpu",
    "cores-per-socket",
    "mincpus",
    "sockets-per-node",
    "thread-spec",
    "threads-per-core",
)
_LARGEST = 2**31 - 1
_LATEST_SIGNAL = 65535
_LARGEST_NICE = 2147483645
_SIGNALS = frozenset(
    ("HUP", "INT", "QUIT", "ABRT", "KILL", "USR1", "USR2", "ALRM", "TERM", "CONT", "STOP", "TSTP", "TTIN", "TTOU")
) | {"URG", "XCPU"}
_MAIL = (
    "NONE",
    "BEGIN",
    "END",
    "FAIL",
    "REQUEUE",
    "ALL",
    "INVALID_DEPEND",
    "STAGE_OUT",
    "TIME_LIMIT",
    "TIME_LIMIT_50",
    "TIME_LIMIT_80",
    "TIME_LIMIT_90",
    "ARRAY_TASKS",
)
MAIL_TYPES = f"one or several of {', '.join(_MAIL)}"
_HINTS = ("compute_bound", "memory_bound", "multithread", "nomultithread")
_MOST_NODES = 10_000
_LONGEST_NODE = 255  # characters of a name, and parts of it
_NODE_LIST = pattern(r"(?:[\w.-]|\[[0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*\]|,)+")
_NODE_ITEM = pattern(r"(?:[^,\[]|\[[^\]]*\])+")
_NODE_PART = pattern(r"\[[^\]]*\]|[^\[]+")
_TIME = pattern(r"[0-9]+(:[0-9]+){0,2}|[0-9]+-([0-9]+(:[0-9]+){0,2})?|-[0-9]+|(?i:unlimited|infinite)")
_NUMBERS_OF_NODES = pattern(r"[0-9]+(?:-[0-9]+(?::[0-9]+)?)?(?:,[0-9]+(?:-[0-9]+(?::[0-9]+)?)?)*")  # 1-15:4
_NODES = pattern(r"\s*([+-]?[0-9]+)([kKmM]?)(?:-([0-9]+)([kKmM]?))?\s*")
_RESOURCES = pattern(r"[0-9]+[kmgtp]?", re.IGNORECASE | re.ASCII)
_MEMORY = pattern(r"\+?([0-9]+)([kmgt]?)b?", re.IGNORECASE | re.ASCII)
_SIGNAL = pattern(r"(?:[RrBb]+:)?(?:SIG)?([A-Za-z]+[0-9]?|-?[0-9]+)(?:@([0-9]*))?", re.IGNORECASE | re.ASCII)
_LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK")
_SPREAD = r"(block|cyclic|fcyclic|\*)?"
_DISTRIBUTION = rf"arbitrary|plane=0*[1-9][0-9]*|((block|cyclic|\*)(:{_SPREAD}){{0,2}}(,(no)?pack)?)|(no)?pack"
_WHEN = pattern(
    r"[ \t-]|(?-i:T)|today|tomorrow|midnight|noon|elevenses|fika|teatime|uts[0-9]{7,18}$"
    r"|now(?:[ \t]*(?:$|[+-]\s*[0-9][0-9\s]*(?:(?:second|minute|hour|day|week)s?)?))"
    r"|(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?:\s*[ap]m)?"
    r"|[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])(?![0-9])"
    # The longest of a month and of a day counts, whether there are such or not.
    r"|(?=([0-9]{1,2}))\1[./]?(?=([0-9]{1,2}))\2[./]?(?:[0-9]{2}|(?![0-9]))",
    re.IGNORECASE | re.ASCII,
)
_ARRAY = pattern(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+))?)?")


def read_value(option: str, text: str) -> Any:
    """The value of an option, of the type that a spec has: an int, a text, True.

    Raises ValueError, with what is expected, for what sbatch refuses whatever the cluster.
    """
    read = _READERS.get(option)
    return text if read is None else read(text)


def _count(text: str) -> int:
    match = re.fullmatch(r"\s*\+?([0-9]+)", text, re.ASCII)
    number = decimal(match[1]) if match is not None else None
    if number is None or not 0 < number <= _LARGEST:
        raise ValueError("a whole number above 0")
    return number


def _nodes(text: str) -> int | str:
    """A number of nodes, or the text where it is a range."""
    match = _NODES.fullmatch(text)
    if match is None and _NUMBERS_OF_NODES.fullmatch(text):
        return text
    if match is None:
        raise ValueError("a number of nodes, or the least and the most of them, such as 2-4")
    least = whole_number(match[1]) * _factor(match[2])
    most = whole_number(match[3]) * _factor(match[4]) if match[3] else least
    if least > _LARGEST or (match[3] and 0 < most < least):
        raise ValueError("a number of nodes, the least before the most")
    return int(least) if least == most and least >= 0 else text.strip()


def _factor(suffix: str) -> int:
    return {"": 1, "k": 1024, "m": 1024**2}[suffix.lower()]


def _time(text: str) -> str:
    if not _TIME.fullmatch(text):
        meant = without_limit(text)
        raise ValueError(f"a time limit, such as 08:00:00 or 1-12:00:00{f'; {suggestion(meant)}' if meant else ''}")
    return text


def without_limit(text: str) -> str | None:
    """The word for a time without a limit that was meant, if one was."""
    return nearest(text, ("UNLIMITED", "INFINITE"))


def _begin(text: str) -> str:
    """A time as sbatch puts it together; newer releases have more words for hours than 22.05."""
    at, wrong = 0, ValueError("a time, such as 16:00, 2026-01-31T16:00:00, now+3hours or tomorrow")
    while at < len(text):
        match = _WHEN.match(text, at)
        if match is None or (match[1] and not (1 <= int(match[1]) <= 12 and 1 <= int(match[2]) <= 31)):
            raise wrong
        at = match.end()
    if not text.strip(" \t-T"):
        raise wrong
    return text


def _memory(text: str) -> str:
    """The size as a spec has it; sbatch counts whole MiB, and takes a bare number for them."""
    match = _MEMORY.fullmatch(text)
    if match is None or (text[-1] in "bB" and not match[2]):
        raise ValueError("a whole number with K, M, G or T, such as 200G")
    unit = match[2].lower() or "m"
    number = decimal(match[1])
    if number is None:
        raise ValueError("a size that there is, such as 200G")
    mebibytes = -(-number // 1024) if unit == "k" else number * 1024 ** "mgt".index(unit)
    return format_size(mebibytes * 1024**2)


def _signal(text: str) -> str:
    match = _SIGNAL.fullmatch(text)
    known = match is not None and (match[1].upper() in _SIGNALS or re.fullmatch(r"-?0*[1-9][0-9]*", match[1]))
    if match is None or not known or whole_number(match[2] or "0") > _LATEST_SIGNAL:
        raise ValueError(f"a signal and at most {_LATEST_SIGNAL} seconds, such as B:USR1@300")
    return text


def unheeded(option: str, text: str) -> str | None:
    """What sbatch leaves out of a value that it takes, of which it says nothing; None if that is nothing."""
    if option != "mail-type":
        return None
    words = [word for word in text.split(",") if word]
    if unknown := [word for word in words if word.upper() not in _MAIL]:
        return f"sbatch skips {', '.join(unknown)}"
    return "with NONE nothing is mailed" if {"NONE"} < {word.upper() for word in words} else None


def node_names(text: str) -> set[str] | None:
    """The nodes of a list such as `n[01-03,7],login`; None for what is no such list, such as a file, or a long one."""
    if not _NODE_LIST.fullmatch(text):
        return None
    found: set[str] = set()
    left = _MOST_NODES
    for item in _NODE_ITEM.findall(text):
        parts = _NODE_PART.findall(item)
        if len(parts) > _LONGEST_NODE or sum(len(part) for part in parts if part[0] != "[") > _LONGEST_NODE:
            return None
        ranges = [_ranges(part[1:-1]) if part[0] == "[" else () for part in parts]
        left -= math.prod(sum(map(len, numbers)) for numbers in ranges if numbers)
        if left < 0:
            return None
        if all(any(numbers) or not numbers for numbers in ranges):
            choices = [_numbers(part[1:-1]) if part[0] == "[" else [part] for part in parts]
            found.update(map("".join, product(*choices)))
    return found


def asked_resources(option: str, text: str) -> set[tuple[str, str]]:
    """The generic resources that an option asks for: the name of each, and its type, "" for any."""
    found = set()
    for item in text.split(","):
        name, *rest = (item.removeprefix("gres:") if option == "gres" else f"gpu:{item}").split(":")
        count = rest.pop() if rest and _RESOURCES.fullmatch(rest[-1]) else ""
        kind = rest[0] if rest else ""
        is_known = bool(count) or not (stands_for_number(kind) or len(kind) == 1)  # gpu:NGPUS, gpu:n
        if len(rest) < 2 and re.fullmatch(r"[\w.-]*", kind) and is_known and (count or "1").strip("0"):
            found.add((name, kind))
    return found


def _ranges(text: str) -> Sequence[range]:
    """The numbers between the brackets of a list of nodes."""
    pairs = (item.partition("-") for item in text.split(","))
    return [range(int(first), int(last or first) + 1) for first, _, last in pairs]


def _numbers(text: str) -> Sequence[str]:
    """The same, each as wide as the first of its range."""
    widths = (len(item.partition("-")[0]) for item in text.split(","))
    return [
        str(number).zfill(width) for numbers, width in zip(_ranges(text), widths, strict=True) for number in numbers
    ]


def _mail_types(text: str) -> str:
    """sbatch skips what it does not know, unless it is all there is."""
    if not any(word.upper() in _MAIL for word in text.split(",")):
        raise ValueError(MAIL_TYPES)
    return text


def _array(text: str) -> str:
    for item in re.sub(r"[\[\]]", "", text.partition("%")[0]).split(","):
        match = _ARRAY.fullmatch(item)
        first, last, step = (whole_number(number or "1") for number in match.groups()) if match else (1, 0, 1)
        if item and (((match is None or match[2]) and last < first) or not step):
            raise ValueError("task numbers, such as 0-9, 1,3,5 or 0-9%2")
    return text


def _nice(text: str) -> str:
    match = re.match(r"\s*[+-]?[0-9]+", text)
    if match is not None and abs(whole_number(match[0].strip())) > _LARGEST_NICE:
        raise ValueError(f"at most {_LARGEST_NICE}")
    return text


def _exclusive(text: str) -> str | bool:
    if text.lower() not in ("", "user", "mcs", "topo", "exclusive"):
        raise ValueError("--exclusive, or --exclusive=user, mcs or topo")
    return text.lower() if text.lower() in ("user", "mcs", "topo") else True


def _limits(text: str) -> str:
    if text not in ("", "ALL", "NONE") and any(word not in ("", *_LIMITS) for word in text.split(",")):
        raise ValueError(f"ALL, NONE or some of {', '.join(_LIMITS)}")
    return text


def _words(*known: str) -> Callable[[str], str]:
    """A reader of a list of these words, in any case."""

    def read(text: str) -> str:
        if any(word.lower() not in known for word in text.split(",")):
            raise ValueError(f"one of {', '.join(known)}")
        return text

    return read


def _matching(pattern: str, expected: str) -> Callable[[str], str]:
    """A reader of a text of that form, in any case."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text, re.IGNORECASE | re.ASCII):
            raise ValueError(expected)
        return text

    return read


def _gpus(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) else text


_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(COUNTS, _count),
    **dict.fromkeys(("mem", "mem-per-cpu", "mem-per-gpu", "tmp"), _memory),
    **dict.fromkeys(("time", "time-min"), _time),
    "array": _array,
    "begin": _begin,
    "deadline": _begin,
    "distribution": _matching(_DISTRIBUTION, "block, cyclic or plane=N, such as block:cyclic"),
    "exclusive": _exclusive,
    "gpus-per-node": _gpus,
    "hint": _words(*_HINTS),
    "kill-on-invalid-dep": _matching("yes|no", "yes or no"),
    "mail-type": _mail_types,
    "nice": _nice,
    "no-kill": _matching("|off|no", "--no-kill or --no-kill=off"),
    "nodes": _nodes,
    "open-mode": _matching("[at].*", "append or truncate"),
    "propagate": _limits,
    "signal": _signal,
    "switches": _matching(r"\+?0*[1-9][0-9]*(@.*)?", "a whole number above 0"),
    "wait-all-nodes": _matching(r"0*[01]", "0 or 1"),
}
