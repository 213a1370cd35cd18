"""Any input with stretches of it that hold themselves, come again with other numbers, or change places; specs whose
files are odd ones; expressions that are grown by their grammar."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from specs import changed

from fuzzing.cases import Case, Fuzzer, changed_from, yaml_of
from fuzzing.limited import Ended
from fuzzing.mated import mated, parents
from fuzzing.specs import read, sites

ROOT = Path(__file__).parents[2]
_LONGEST = 900_000

# --- Changes of any bytes


def _stretch(data: bytes, pick: random.Random) -> tuple[int, int]:
    """Some words, a line or some, or what is between two brackets."""
    place = pick.randrange(len(data) + 1)
    turn = pick.randrange(3)
    if turn == 0:
        first = data.rfind(b"\n", 0, place) + 1
        last = data.find(b"\n", min(len(data), place + pick.choice((0, 0, 80, 600))))
        return first, len(data) if last < 0 else last + 1
    if turn == 1:
        words = re.compile(rb"(?:[^\s]+\s*){1,4}").search(data, place)
        return words.span() if words else (place, place)
    pairs = list(re.finditer(rb"[({\[&\"'`<][^\n]{0,200}?[)}\]/\"'`>]", data[place : place + 20_000]))
    if not pairs:
        return place, min(len(data), place + 10)
    first, last = pick.choice(pairs).span()
    return place + first, place + last


def _in_itself(data: bytes, pick: random.Random) -> bytes:
    """A stretch inside of itself, again and again."""
    first, last = _stretch(data, pick)
    part = data[first:last][:2000]
    middle = pick.randrange(len(part) + 1)
    for _ in range(pick.choice((1, 2, 10, 60, 3000 if len(part) < 60 else 20))):
        half = len(part) // 2 if middle > len(part) else middle
        part = data[first:last][:half] + part + data[first:last][half:]
        if len(part) > 200_000:
            break
    return data[:first] + part + data[last:]


def _counted(data: bytes, pick: random.Random) -> bytes:
    """A stretch that comes many times, its last number, or a word of it, counted up."""
    first, last = _stretch(data, pick)
    part = data[first:last][:3000]
    found = list(re.finditer(rb"[0-9]+|[A-Za-z_]+", part))
    if not found:
        return data
    begin, end = pick.choice(found).span()
    is_number = part[begin:end].isdigit()
    head = part[:begin] if is_number else part[:end]
    tail = part[end:]
    count = min(pick.choice((3, 40, 500, 6000)), _LONGEST // (len(part) + 6))
    return data[:first] + b"".join(head + str(number).encode() + tail for number in range(count)) + data[last:]


def _swapped(data: bytes, pick: random.Random) -> bytes:
    """Two stretches in each other's place."""
    one, other = sorted((_stretch(data, pick), _stretch(data, pick)))
    if one[1] > other[0]:
        return data
    between = data[one[1] : other[0]]
    return data[: one[0]] + data[slice(*other)] + between + data[slice(*one)] + data[other[1] :]


def _unmatched(data: bytes, pick: random.Random) -> bytes:
    """Marks that open, or close, and have no other."""
    marks = [match.start() for match in re.finditer(rb"[(){}\[\]&/\"'`<>\\$#:;,=]", data)]
    if not marks:
        return data
    made = bytearray(data)
    for place in pick.sample(marks, min(len(marks), pick.choice((1, 2, 9, 200)))):
        made[place] = pick.choice(b"(){}[]&/\"'`<>\\$#:;,= \n")
    return bytes(made)


def _gone(data: bytes, pick: random.Random) -> bytes:
    """Every mark of a kind is gone, or is twice there, or another."""
    mark = pick.choice(
        (b"\n", b" ", b"'", b'"', b"=", b"/", b"&", b"$", b")", b"}", b":", b",", b"#", b"-", b"|", b"\t")
    )
    return data.replace(mark, pick.choice((b"", mark + mark, b"\n", b" ", b"\\" + mark, b"\r\n", mark * 40)))[:_LONGEST]


def _columns(data: bytes, pick: random.Random) -> bytes:
    """Lines cut at a column, put side by side, or begun anew there."""
    lines = data.split(b"\n")
    column = pick.choice((0, 1, 6, 20, 72, 80, 132))
    turn = pick.randrange(4)
    if turn == 0:
        lines = [line[:column] for line in lines]
    elif turn == 1:
        lines = [line[i : i + max(1, column)] for line in lines for i in range(0, max(1, len(line)), max(1, column))]
    elif turn == 2:
        lines = [one + b" " * column + two for one, two in zip(lines, reversed(lines), strict=True)]
    else:
        lines.sort(key=lambda line: line[column:], reverse=pick.random() < 0.5)
    return b"\n".join(lines)[:_LONGEST]


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(
        _in_itself,
        _in_itself,
        _counted,
        _counted,
        _counted,
        _swapped,
        _swapped,
        _unmatched,
        _unmatched,
        _gone,
        _columns,
    ),
)


def tangled(data: bytes, pick: random.Random) -> bytes:
    """One to three changes."""
    for _ in range(pick.choice((1, 1, 2, 3))):
        data = pick.choice(_CHANGES)(data, pick)[:_LONGEST]
    return data


def tangled_from(fuzzer: Fuzzer) -> Fuzzer:
    """The cases of a fuzzer, of which a file or an answer is tangled."""
    return changed_from(fuzzer, tangled)


# --- Files that are odd ones

_LEADS_TO = (
    *("odd", "other", ".", "nowhere", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/fd/0", "/dev/tty", "/dev/urandom"),
    *("/proc/self/mem", "/proc/self/environ", "/proc/kmsg", "/proc/self/fd/1", "/proc/self/pagemap", "made"),
    *("spec.yaml", "a" * 255, "a" * 300, "x/" * 2000),
)
_WRITTEN_TO = ("out", "other", ".", "nowhere", "/dev/full", "/dev/zero", "there", "spec.yaml", "a" * 255, "x/" * 2000)
_NAMES = (
    *("odd", "./odd", "odd/a", "../work/odd", "./odd/../odd", "spec.yaml", "./spec.yaml", "./chain0.yaml", "/dev/zero"),
    *("./site.yaml", "./preset.yaml", ".", "./", "", "./odd/", "//odd", "././/odd", "~/odd", "$HOME/odd", "*"),
    *("/proc/self/mem", "/dev/stdin", "a" * 300, "a/" * 3000, "odd\n", "odd\0", "http://a/b", "file:///a"),
)
_PLACES: tuple[tuple[str, ...], ...] = (
    *(("extends",), ("site",), ("coupling", "file"), ("model", "registry"), ("model", "directory"), ("grid", "file")),
    *(("run_directory",), ("input_files", "odd", "source"), ("input_files", "odd/*", "directory"), ("after", "submit")),
    *(("start_from", "directory"), ("model", "executable"), ("darshan", "library"), ("model", "pool"), ("name",)),
    *(("sweep", "grid", "site"), ("namelist_files", "odd"), ("launch", "command"), ("after", "nmlgen")),
)


_SCRIPT = b"#!/bin/bash\n#SBATCH --nodes=2\ncat > NAMELIST_a << EOF\n&run_nml\n/\nEOF\nsrun ./icon\n"


def _filled(document: dict[str, Any], place: Sequence[str], value: Any) -> None:
    for key in place[:-1]:
        below = document.get(key)
        document[key] = document = below if isinstance(below, dict) else {}
    document[place[-1]] = value


def odd_files(generator: random.Random) -> Iterator[Case]:
    """Commands that are given links that lead in rings and to devices, and specs that name such."""
    preset = {"nmlgen": 1, "extends": "icon/jabw", "environment": {"A": "b"}}
    while True:
        spec = copy.deepcopy(changed(site="generic-slurm")) if generator.random() < 0.6 else mated(generator)
        site = read(ROOT / "presets/sites/levante.yaml") if generator.random() < 0.3 else sites()["generic-slurm"]
        site = {**copy.deepcopy(site)}
        for _ in range(generator.choice((0, 1, 1, 2))):
            name = generator.choice(_NAMES)
            place = generator.choice(_PLACES)
            value: Any = [name, "levante"] if place[0] == "sweep" else {"a": {"b": 1}} if "files" in place[0] else name
            _filled(spec, place, name if place[0] == "input_files" else value)
        if generator.random() < 0.3:
            site.setdefault("machine", {})["calibration"] = generator.choice(_NAMES)
            spec["site"] = "./site.yaml"
        files = {"spec.yaml": yaml_of(spec), "site.yaml": yaml_of(site), "preset.yaml": yaml_of(preset)}
        length = generator.choice((1, 3, 30, 300))
        for number in range(length):
            link = {"nmlgen": 1, "extends": f"./chain{(number + 1) % length}.yaml"}
            files[f"chain{number}.yaml"] = yaml_of(link)
        files["there/exp.run"] = _SCRIPT
        links = {"odd": generator.choice(_LEADS_TO), "other": generator.choice(("odd", "other", "there", "spec.yaml"))}
        links["out"] = generator.choice(_WRITTEN_TO)
        if generator.random() < 0.5:
            links["there/in"] = generator.choice((*_LEADS_TO, "../there"))
            links["there/NAMELIST_b"] = generator.choice((*_LEADS_TO, "exp.run"))
        given = generator.choice((*_NAMES, "odd", "other", "there", "there/in")).replace("\0", "")
        out = generator.choice(("out", "out", "out/new", "new"))
        one = generator.choice(
            (
                *(("build", "spec.yaml", "-o", out), ("check", given), ("lint", "--", given), ("verify", given)),
                *(("logs", given), ("logs", given, "-o", out), ("report", given, "-o", out), ("ranks", given)),
                *(("status", given), ("submit", given), ("join", given), ("diff", given, "spec.yaml"), ("doctor",)),
                *(("volume", given), ("advise", given), ("compare", given, given), ("presets", given)),
                *(("calibrate", given, "-o", out), ("sweep", "spec.yaml", "-o", out), ("import", given, "-o", out)),
                *(("convert", given, "-o", out), ("lint", "there", "--fix"), ("lint", ".", "--write-baseline", out)),
                *(("lint", "there", "--baseline", given), ("tune", given, "-o", out), ("resubmit", given)),
                *(("export", given, "--for", "jube"), ("cancel", given), ("wait", given), ("why", given, "job")),
                ("migrate", given, "--to", "2025.10"),
            )
        )
        calls = (("build", "spec.yaml", "-o", "made"), one)
        yield Case(files, calls, lambda ends: ends[0].code == 0, links=links)


# --- Expressions

_ATOMS = (
    *(
        "job.nodes",
        "parallel.nproma",
        "name",
        "job.time",
        "1",
        "0",
        "2.5",
        "1e300",
        "'a'",
        '"b c"',
        "true",
        "null",
        "[]",
    ),
    *("[1, 2, 'a']", "9" * 39, "9" * 41, "''", "job", "time.start", "output.atm.ml_varlist", "no.such", ".5", "5."),
)
_GROWN = (
    *("({0})", "({0}) + ({1})", "{0} * {1}", "{0} // {1}", "{0} % {1}", "{0} - {1}", "{0} / {1}", "-{0}", "- + - {0}"),
    *("{0} < {1}", "{0} == {1} != {2}", "({0} < {1}) <= ({2} < {0})", "1 != ({0}) != 1", "{0} >= {1} > {2} == {0}"),
    *("{0} in [{1}, {2}]", "{0} not in {1}", "[{0}, [{1}]] == [{2}]", "not ({0})", "not not {0}", "({0}) and ({1})"),
    *("{0} or {1} or {2}", "({0}) if ({1}) else ({2})", "{0} if true else {1}", "{0} if {1} if {2} else {0} else {1}"),
    *("min({0}, {1}, {2})", "max({0})", "[{0}] + [{1}]", "'a' + ({0})", "{0} + 'b'", "min([{0}])", "{0}({1})", "{0}.x"),
)


def expression(pick: random.Random, size: int) -> str:
    """An expression of so many letters, or a little more."""
    made = pick.choice(_ATOMS)
    favourite = pick.choice(_GROWN)
    while len(made) < size:
        form = favourite if pick.random() < 0.6 else pick.choice(_GROWN)
        parts = [made, pick.choice(_ATOMS), pick.choice(_ATOMS)]
        pick.shuffle(parts)
        made = form.replace("{0}", parts[0]).replace("{1}", parts[1]).replace("{2}", parts[2])
        if pick.random() < 0.02:
            break
    return made


def reckoned_sweeps(generator: random.Random) -> Iterator[Case]:
    """Sweeps of any model whose conditions, values and names are grown."""
    keys = (
        "job.nodes",
        "parallel.nproma",
        "job.time",
        "environment.A",
        "name",
        "job.ntasks_per_node",
        "model.executable",
    )
    while True:
        spec = copy.deepcopy(generator.choice((changed(site="generic-slurm"), *parents())))
        sizes = (1, 5, 40, 200, 980, 1100)
        section: dict[str, Any] = {"grid": {"job.nodes": [1, 2, 3]}}
        for key in generator.sample(keys, generator.choice((0, 1, 3))):
            section.setdefault("derive", {})[key] = expression(generator, generator.choice(sizes))
        for key in ("exclude", "include"):
            if generator.random() < 0.5:
                section[key] = [
                    expression(generator, generator.choice(sizes)) for _ in range(generator.choice((1, 2, 40)))
                ]
        if generator.random() < 0.4:
            section["name"] = (
                "p{" + "}-{".join(expression(generator, generator.choice(sizes[:4])) for _ in range(3)) + "}"
            )
        spec["sweep"] = section
        call = ("sweep", "spec.yaml", *generator.choice((("-o", "points"), ("--dry-run",))))
        yield Case({"spec.yaml": yaml_of(spec)}, (call,), _ended_well)


def _ended_well(ends: list[Ended]) -> bool:
    return ends[-1].code == 0
