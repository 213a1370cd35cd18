"""What #PBS lines ask for, in words of no scheduler."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from nmlgen.errors import InputError
from nmlgen.schedulers.pbs.directives import is_for_nqsv, pbs_directives, read_pbs_directives
from nmlgen.schedulers.pbs.values import PbsValueError, check_option, check_resource, chunks, resources, seconds, size
from nmlgen.schedulers.request import HOME, Array, Exported, FilePattern, Remark, Request, Wish
from nmlgen.source import Source, Span
from nmlgen.units.whole import decimal

_NONE = "to do it otherwise, or to leave it out"
_ARRAY = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?::([0-9]{1,9}))?(?:%([0-9]{1,9}))?")
_KINDS = ("after", "afterok", "afternotok", "afterany")
_MAIL = {"b": "begin", "e": "end", "a": "fail"}
_GPUS = ("ngpus", "gpus", "naccelerators")
_OF_A_JOB = ("ncpus", "mpiprocs", "ompthreads", "mem", *_GPUS)
_PLACES = ("free", "scatter", "vscatter", "excl", "exclhost", "shared")
_STOPPING = ("pbs-unknown-option", "pbs-wants-value", "pbs-stray-word")
_TEMPLATE = re.compile(r"[$%@{}`<>]|\bXX+\b")


class _UnsaidError(ValueError):
    """A value for which there is no word."""


def read(source: Source, bodies: Iterable[tuple[int, int]] = ()) -> Request:
    """What the #PBS lines of a script ask for, and what PBS does where no line says otherwise. Raises InputError for
    lines that are for NQSV."""
    if is_for_nqsv(source):
        raise InputError(f"{source.name} has lines for NQSV of NEC, which says #PBS, too: their options are others")
    reading = _Reading()
    for problem in read_pbs_directives(source, bodies):
        if problem.kind in _STOPPING:
            reading.remarks.append(Remark(problem.message, problem.span, problem.expected, problem.span.text))
    directives = pbs_directives(source)
    for directive in directives:
        for option in directive.options()[0]:
            if option.is_switch:
                reading.switch(option.letter, option.word.span)
            elif option.is_known and option.value is not None:
                reading.option(option.letter, option.value.start, option.value.span)
    reading.finish()
    lines = tuple(directive.lines for directive in directives)
    return Request(reading.wishes, tuple(reading.remarks), lines)


class _Reading:
    """The options of a script, one after the other; of several that are the same the last one holds."""

    def __init__(self) -> None:
        self.wishes: dict[str, Wish] = {"directory": Wish(HOME)}
        self.remarks: list[Remark] = []
        self.exports = Exported(everything=False)
        self.export_span: Span | None = None
        self.resources: dict[str, tuple[str, Span]] = {}
        self.joined = False

    def lose(self, text: str, span: Span | None, why: str) -> None:
        self.remarks.append(Remark(f"{text}: {why}", span, _NONE, text))

    def switch(self, letter: str, span: Span) -> None:
        if letter == "V":
            self.exports = Exported(True, self.exports.variables)
            self.export_span = span
        elif letter == "h":
            self.wishes["hold"] = Wish(True, span, "-h")
        elif letter != "z":  # which prints less
            self.lose(f"-{letter}", span, "PBS alone has this option")

    def option(self, letter: str, value: str, span: Span) -> None:
        """An option with a value."""
        if letter == "l":
            self.of_resources(value, span)
            return
        text = f"-{letter} {value}"
        if letter not in "oevM" and _TEMPLATE.search(value.replace("%", "") if letter == "J" else value):
            self.lose(text, span, "what is asked for is not known")
            return
        try:
            check_option(letter, value)
            self.asked(letter, value, span, text)
        except ValueError as error:
            why = "qsub refuses it" if isinstance(error, PbsValueError) else str(error)
            self.lose(text, span, why)

    def asked(self, letter: str, value: str, span: Span, text: str) -> None:
        """An option whose value qsub takes; raises _UnsaidError where there is no word for it."""
        if letter in _READERS:
            key, reader = _READERS[letter]
            self.wishes[key] = Wish(reader(value), span, text)
        elif letter == "P":
            if "account" in self.wishes:
                raise _UnsaidError("an account is asked for by -A, too")
            self.wishes["account"] = Wish(value, span, text)
        elif letter in "oe":
            self.wishes["output" if letter == "o" else "error"] = Wish(_pattern(value, letter), span, text)
        elif letter == "j":
            self.joined = value != "n"
        elif letter == "v":
            self.exports = Exported(self.exports.everything, tuple(value.split(",")))
            self.export_span = span
        elif letter == "W":
            self.attribute(value, span, text)
        elif (letter, value) not in (("k", "n"), ("c", "u"), ("C", "#PBS")):
            raise _UnsaidError("PBS alone has this option")

    def attribute(self, value: str, span: Span, text: str) -> None:
        """An attribute of -W."""
        name, _, given = value.partition("=")
        given = given.strip().strip("\"'")
        if name.strip() == "umask":
            raise _UnsaidError("umask in the script does it")
        if name.strip() != "depend":
            raise _UnsaidError("PBS alone has this attribute")
        found = []
        for one in given.split(","):
            kind, *jobs = one.split(":")
            if kind not in _KINDS or not jobs or not all(re.fullmatch(r"[0-9]+(\.[\w.-]+)?", job) for job in jobs):
                raise _UnsaidError("not after, afterany, afterok or afternotok of job ids, with commas between them")
            found.append((kind, tuple(jobs)))
        self.wishes["dependency"] = Wish(tuple(found), span, text)

    # --- Resources --------------------------------------------------------------------------------------------

    def of_resources(self, value: str, span: Span) -> None:
        try:
            for name, amount in resources(value):
                text = f"-l {name}={amount}" if amount else f"-l {name}"
                if _TEMPLATE.search(amount):
                    self.lose(text, span, "what is asked for is not known")
                elif name == "walltime" and not amount:
                    self.lose(f"{text}=", span, "it says no time")
                elif name in (*_OF_A_JOB, "walltime", "select", "place", "nodes"):
                    check_resource(name, amount)
                    self.resources[name] = amount, span
                else:
                    self.lose(text, span, "PBS, or a site of PBS, alone has this resource")
        except PbsValueError:
            self.lose(f"-l {value}", span, "qsub refuses it")

    def finish(self) -> None:
        """What follows from all of them."""
        for key in ("output", "error"):
            if key in self.wishes and self.joined and key == "error":
                del self.wishes[key]  # all goes to the file of the output
        self.wishes["joined"] = Wish(self.joined)
        self.wishes["environment"] = Wish(self.exports, self.export_span)
        if (walltime := self.resources.pop("walltime", None)) is not None:
            amount, span = walltime
            self.wishes["walltime"] = Wish(seconds(amount), span, f"-l walltime={amount}")
        place = self.resources.pop("place", None)
        words = () if place is None else tuple(word.strip().lower() for word in place[0].split(":"))
        packed = "pack" in words
        if place is not None:
            if odd := [word for word in words if word not in (*_PLACES, "pack")]:
                self.lose(f"-l place={place[0]}", place[1], f"{odd[0]} is PBS's alone")
            if "excl" in words or "exclhost" in words:
                self.wishes["exclusive"] = Wish(True, place[1], f"-l place={place[0]}")
        for name in ("select", "nodes"):
            if (given := self.resources.pop(name, None)) is not None:
                self.sizes(name, *given, packed=packed, spread="scatter" in words or "vscatter" in words)
                break
        else:
            if self.resources:
                self.of_whole_job()
        for name, (amount, span) in self.resources.items():
            self.lose(f"-l {name}={amount}", span, "PBS takes it for the whole job")

    def sizes(self, name: str, value: str, span: Span, *, packed: bool, spread: bool) -> None:
        """Nodes and tasks of the chunks."""
        text = f"-l {name}={value}"
        try:
            found = [_Chunk(count, dict(pairs)) for count, pairs in _chunks(name, value)]
        except ValueError as error:
            self.lose(text, span, str(error))
            return
        first = found[0]
        if any(one.needs != first.needs for one in found) or not all(one.count for one in found):
            self.lose(text, span, "chunks that differ are a heterogeneous job of Slurm's")
            return
        nodes = sum(one.count for one in found)
        tasks = sum(one.count * one.tasks for one in found)
        self.wishes["nodes"] = Wish(1 if packed else nodes, span, text)
        if packed or any(one.tasks != first.tasks for one in found):
            self.wishes["tasks"] = Wish(tasks, span, text)
        else:
            self.wishes["tasks_per_node"] = Wish(first.tasks, span, text)
        for key, amount in first.needs.items():
            whole = nodes if packed and key.endswith("_node") else 1
            self.wishes[key] = Wish(amount * whole, span, text)
        if first.others:
            besides = ":".join(f"{other}={told}" for other, told in first.others.items())
            self.wishes["chunk"] = Wish(besides, span, f"-l {name}=...:{besides}")
        if name == "select" and nodes > 1 and not packed and not spread:
            message = f"{text}: PBS may put several chunks on a node, here each has one of its own"
            self.remarks.append(Remark(message, span, "fewer nodes with more tasks, if that is meant"))

    def of_whole_job(self) -> None:
        """Resources of the whole job, which is on one node then."""
        given = {name: amount for name, (amount, _) in self.resources.items()}
        span = next(span for _, span in self.resources.values())
        text = ",".join(f"{name}={amount}" for name, amount in given.items())
        self.resources.clear()
        self.sizes(
            "select",
            ":".join(("1", *(f"{name}={amount}" for name, amount in given.items()))),
            span,
            packed=False,
            spread=True,
        )
        self.wishes |= {
            key: Wish(wish.value, span, f"-l {text}")
            for key, wish in self.wishes.items()
            if wish.text.startswith("-l select=")
        }


class _Chunk:
    """A number of chunks and what each has: tasks, and what a node or a task needs."""

    def __init__(self, count: int, given: dict[str, str]) -> None:
        self.count = count
        cores = decimal(given.pop("ncpus", "")) or 0
        self.tasks = decimal(given.pop("mpiprocs", "")) or 1
        threads = decimal(given.pop("ompthreads", "")) or 0
        self.needs: dict[str, int] = {}
        if cores or threads:
            self.needs["cpus_per_task"] = max(-(-cores // self.tasks), threads, 1)
        if "mem" in given:
            self.needs["memory_per_node"] = size(given.pop("mem"))
        for name in _GPUS:
            if (gpus := decimal(given.pop(name, ""))) is not None:
                self.needs["gpus_per_node"] = gpus
        self.others = given


def _chunks(name: str, value: str) -> Iterator[tuple[int, tuple[tuple[str, str], ...]]]:
    """The chunks of select, or of nodes as Torque has it: ppn are tasks."""
    if name == "select":
        yield from chunks(value)
        return
    for part in value.split("+"):
        count, *words = part.split(":")
        pairs = [(word.partition("=")[0], word.partition("=")[2]) for word in words]
        if decimal(count) is None or any(name not in ("ppn", *_GPUS) for name, _ in pairs):
            raise _UnsaidError("nodes of certain names or kinds are PBS's alone")
        yield int(count), tuple(("mpiprocs" if name == "ppn" else name, amount) for name, amount in pairs)


def _pattern(value: str, letter: str) -> FilePattern:
    """The path of -o or -e: a directory at its end means the usual name there."""
    path = value.partition(":")[2] if re.match(r"[\w.-]+:", value) else value
    if "$" in path or "`" in path:
        raise _UnsaidError("qsub expands it where it is submitted, sbatch does not")
    parts: list[tuple[str, bool]] = []
    for number, text in enumerate(path.split("^array_index^")):
        parts += [*([("array index", True)] if number else []), (text, False)]
    if path.endswith("/"):
        parts += [("name", True), (f".{letter}", False), ("job", True)]
    return FilePattern(tuple(part for part in parts if part[0]))


def _mail_on(value: str) -> frozenset[str]:
    if "j" in value:
        raise _UnsaidError("mail of each task of an array")
    return frozenset(_MAIL[letter] for letter in value.strip() if letter in _MAIL)


def _begin(value: str) -> str:
    digits, _, second = value.partition(".")
    if len(digits) == 4 and not second:
        return f"T{digits}"
    if len(digits) != 12:
        raise _UnsaidError("no date of the form CCYYMMDDhhmm")
    return f"{digits[:8]}T{digits[8:]}{second or '00'}"


def _array(value: str) -> Array:
    match = _ARRAY.fullmatch(value)
    if match is None:
        raise _UnsaidError("no plain range of tasks")
    first, last, step, at_once = (decimal(number) if number else None for number in match.groups())
    return Array(first or 0, last or 0, step or 1, at_once)


def _shell(value: str) -> str:
    """The first of the paths of -S, without its host."""
    return value.partition(",")[0].partition("@")[0]


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "A": ("account", str),
    "J": ("array", _array),
    "M": ("mail_to", str),
    "N": ("name", str),
    "S": ("shell", _shell),
    "a": ("begin", _begin),
    "m": ("mail_on", _mail_on),
    "q": ("queue", str),
    "r": ("rerun", lambda value: value == "y"),
}
