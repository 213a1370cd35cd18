"""What qsub of OpenPBS makes of the values of its options and resources.

Source: OpenPBS 23.06, `src/lib/Libecl/ecl_verify_values.c`, `src/lib/Libattr/attr_fn_*.c`,
`src/lib/Libifl/grunt_parse.c`, `src/server/resc_attr.c`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nmlgen.findings import nearest
from nmlgen.units.whole import decimal

_TIMES = ("cput", "pcput", "walltime", "soft_walltime", "min_walltime", "max_walltime")
_SIZES = ("mem", "file", "pmem", "vmem", "pvmem", "hbmem", "accelerator_memory")
_NUMBERS = ("ncpus", "naccelerators", "nodect", "nchunk", "mpiprocs", "ompthreads", "cpupercent", "nice", "hpm")
_OTHERS = (
    "select place nodes arch vntype energy nodemask ssinodes host vnode resc software site exec_vnode start_time "
    "pe_mask partition aoe eoe pstate preempt_targets accelerator accelerator_model accelerator_group pgov pcap_node "
    "pcap_accelerator"
)
_OWN = (*_TIMES, *_SIZES, *_NUMBERS, *_OTHERS.split())
"""Resources that every OpenPBS has; sites define others."""
_OTHERWISE = (
    "ngpus ngpu gpus gpu cpu pcpu vcpus size nmics mics ppn procs proc cpus ncpu node model bigmem himem memory "
    "nodetype node_type node_type_mem jobfs storage filesystems feature features"
)
_OF_SITES = frozenset(_OTHERWISE.split())
"""Resources of some sites, and of Torque, that look like misspelt ones."""
OF_CHUNKS = ("ncpus", "mem", "vmem", "mpiprocs", "ompthreads", "naccelerators", "arch", "host", "vnode")
"""What stands in `select` where there is one."""

_TIME = re.compile(r"[0-9]+(?::[0-9]+){0,2}(?:\.[0-9]*)?")
_SIZE = re.compile(r"\+?[0-9]+(?:[kmgtp]?[bw]?)?", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]*")
_COUNT = re.compile(r"([0-9]+)[ \t]*(?::|$)")
_PAIR = re.compile(r"""([A-Za-z][^\s=:]*)\s*=\s*("[^"]*"|'[^']*'|[^:]*)""")
_QUOTED = re.compile(r"""["][^"]*"|'[^']*'""")
_ITEM = re.compile(rf"""((?:{_QUOTED.pattern}|[^,])*)(?:,|$)""")  # whatever it is, it ends: nothing is tried again
_PLACES = {"free": 1, "pack": 1, "scatter": 1, "vscatter": 1, "excl": 2, "exclhost": 2, "shared": 2}
_RANGE = re.compile(r"([0-9]+)-([0-9]+)(?::0*[1-9][0-9]*)?(?:%.*)?")
_DATE = re.compile(
    r"(?:(?:(?:(?:\d\d)?\d\d)?(?:0[1-9]|1[0-2]))?(?:0[1-9]|[12]\d|3[01]))?(?:[01]\d|2[0-3])[0-5]\d(?:\.[0-5]\d)?",
    re.ASCII,
)
_PRIORITY = 1024
_LONGEST_NAME = 230
_AFTER = ("after", "afterok", "afternotok", "afterany")
_BEFORE = ("before", "beforeok", "beforenotok", "beforeany")
_DEPENDENCIES = (*_AFTER, *_BEFORE, "on", "synccount", "syncwith", "runone")


class PbsValueError(ValueError):
    """qsub refuses a value; the text is what it expects, `part` what of the value is at fault, None for all of it.

    Of a resource that is unknown `meant` is the one that it is like.
    """

    def __init__(self, expected: str, part: str | None = None, meant: str | None = None) -> None:
        super().__init__(expected)
        self.part = part
        self.meant = meant


def check_option(letter: str, value: str) -> None:
    """Check the value of an option but -l; raises PbsValueError."""
    check = _OPTIONS.get(letter)
    if check is not None:
        check(value)


def resources(value: str) -> Iterator[tuple[str, str]]:
    """The resources of -l with their values, "" without one. Raises PbsValueError for a list that is none."""
    for item in _ITEM.findall(value)[:-1] or [""]:
        if any(quote in _QUOTED.sub("", item) for quote in "\"'"):
            raise PbsValueError("each quote closed")
        name, _, given = item.partition("=")
        if not name.strip():
            raise PbsValueError("resource=value, and commas between them")
        yield name.strip(), given.strip().strip("\"'")


def check_resource(name: str, value: str) -> None:
    """Check a resource, whether of the job or of a chunk; raises PbsValueError."""
    _check_name(name)
    if not value:
        return
    if name in _TIMES and not _TIME.fullmatch(value):
        raise PbsValueError("seconds, or hours:minutes:seconds, such as 08:00:00", value)
    if name in _SIZES and not _SIZE.fullmatch(value):
        raise PbsValueError("a whole number with b, kb, mb, gb, tb or pb, such as 4gb", value)
    if name in _NUMBERS and not _NUMBER.fullmatch(value):
        raise PbsValueError("a whole number", value)
    if name == "select":
        _check_select(value)
    if name == "place":
        _check_place(value)


def is_days(value: str) -> bool:
    """Whether a time is days:hours:minutes:seconds, which Torque takes."""
    return re.fullmatch(r"[0-9]+:[0-9]{1,2}:[0-5]?[0-9]:[0-5]?[0-9]", value) is not None


def _check_name(name: str) -> None:
    if name in _OWN or name in _OF_SITES:
        return
    meant = nearest(name, _OWN)
    if meant is not None:
        raise PbsValueError(f"a resource that PBS has: {meant}", name, meant)


def chunks(value: str) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    """The chunks of select, `[count:]resource=value:...` with + between them: how many, and the resources of each.
    Raises PbsValueError for what is none."""
    for chunk in value.split("+"):
        rest = chunk.strip()
        count = _COUNT.match(rest)
        at = 0 if count is None else count.end()
        if not rest[:1].isalnum() or (count is None and rest[:1].isdigit()):
            raise PbsValueError("a number of chunks, a colon, and resource=value, such as 2:ncpus=4", chunk or value)
        pairs = []
        while at < len(rest):
            pair = _PAIR.match(rest, at)
            if pair is None or pair[2].rstrip().endswith(","):
                raise PbsValueError("resource=value, with colons between them, such as 2:ncpus=4:mem=4gb", rest[at:])
            pairs.append((pair[1], pair[2].strip().strip("\"'")))
            at = pair.end() + 1
        yield decimal(count[1]) or 0 if count is not None else 1, tuple(pairs)


def seconds(value: str) -> int:
    """A time, as [[hours:]minutes:]seconds; raises PbsValueError."""
    if not _TIME.fullmatch(value):
        raise PbsValueError("seconds, or hours:minutes:seconds, such as 08:00:00", value)
    total = 0
    for part in value.partition(".")[0].split(":"):
        total = total * 60 + (decimal(part) or 0)
    return total


def size(value: str) -> int:
    """Bytes of a size such as 4gb; a word, as in 4gw, has eight. Raises PbsValueError."""
    match = re.fullmatch(r"\+?([0-9]{1,15})([kmgtp]?)([bw]?)", value, re.IGNORECASE | re.ASCII)
    if match is None:
        raise PbsValueError("a whole number with b, kb, mb, gb, tb or pb, such as 4gb", value)
    factor: int = 1024 ** " kmgtp".index(match[2].lower() or " ")
    return int(match[1]) * factor * (8 if match[3].lower() == "w" else 1)


def _check_select(value: str) -> None:
    for _, pairs in chunks(value):
        for name, amount in pairs:
            check_resource(name, amount)


def _check_place(value: str) -> None:
    taken = 0
    for word in value.split(":"):
        name, _, group = word.strip().partition("=")
        if name.lower() == "group" and group:
            continue
        kind = _PLACES.get(word.strip().lower(), 0)
        if not kind or kind & taken:
            raise PbsValueError(
                "one of free, pack, scatter, vscatter, and one of excl, exclhost, shared", word or value
            )
        taken |= kind


def _one_of(*known: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        if value not in known:
            raise PbsValueError(f"one of {', '.join(known)}")

    return check


def _mail(value: str) -> None:
    if value != "n" and (not value.strip() or value == "j" or set(value.strip()) - set("abej")):
        raise PbsValueError("n, or letters of a, b and e")


def _keep(value: str) -> None:
    letters = set(value)
    keeps = letters & set("oe")
    if not letters or letters - set("oedn") or (keeps and "n" in letters) or letters == {"d"}:
        raise PbsValueError("n, or letters of o and e, with d for the file itself")


def _array(value: str) -> None:
    match = _RANGE.fullmatch(value)
    if match is None or int(match[1][:18]) >= int(match[2][:18]):
        raise PbsValueError("first-last, or first-last:step, with first below last")


def _date(value: str) -> None:
    if not _DATE.fullmatch(value):
        raise PbsValueError("[[[[CC]YY]MM]DD]hhmm[.SS]")


def _priority(value: str) -> None:
    match = re.match(r"\s*([+-]?[0-9]{1,9})", value)
    if match is not None and not -_PRIORITY <= int(match[1]) < _PRIORITY:
        raise PbsValueError(f"-{_PRIORITY} to {_PRIORITY - 1}")


def _name(value: str) -> None:
    if not re.fullmatch(rf"[\w.+-]{{1,{_LONGEST_NAME}}}", value, re.ASCII):
        raise PbsValueError(f"a name of up to {_LONGEST_NAME} letters, digits, and . _ + -")


def _attributes(value: str) -> None:
    """`attribute=value` of -W, of which `depend` is looked at."""
    name, equals, given = value.strip().partition("=")
    if not name or not equals:
        raise PbsValueError("attribute=value")
    if name.strip() == "depend":
        kind = given.strip().strip("\"'").partition(":")[0]
        if kind not in _DEPENDENCIES:
            raise PbsValueError("depend=afterok:job, or another of after, before, on", kind or None)


def _checkpoint(value: str) -> None:
    if not re.fullmatch(r"[nscw]|[cw]=[0-9]+", value.strip()):
        raise PbsValueError("n, s, c, w, c=minutes or w=minutes")


_OPTIONS: dict[str, Callable[[str], None]] = {
    "J": _array,
    "N": _name,
    "W": _attributes,
    "a": _date,
    "c": _checkpoint,
    "j": _one_of("oe", "eo", "n"),
    "k": _keep,
    "m": _mail,
    "p": _priority,
    "r": _one_of("y", "n"),
}
