#!/usr/bin/env python3
"""``lfs`` where there is no Lustre: ``setstripe`` and ``getstripe`` with Lustre's rules for their arguments.

Each call adds one JSON line, the list of its arguments, to ``$LFS_STAND_IN_LOG``. A layout is kept beside the
file it belongs to, in ``.lfs_stand_in/NAME.json``; a file without one has its directory's. As on Lustre, a
directory takes a default for new files, a name that does not exist becomes an empty file, and a file that
exists is refused. ``$LFS_STAND_IN_OSTS`` is the number of storage targets (default 40).

Needs nothing but Python; the tests also import it for :func:`install`.
"""

from __future__ import annotations

import getopt
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

Layout = dict[str, object]

KIB = 1024
STRIPE_UNIT = 64 * KIB
STRIPE_SIZE_LIMIT = 4 * KIB**3
MDT_LIMIT = KIB**3
MAX_STRIPES = 2000
MAX_OVERSTRIPES_OF_AN_OST = 32
MAX_POOL_NAME = 15
SUFFIXES = "kmgtpe"
END_OF_FILE = -1

# Long name: short name; a colon where a value follows.
OPTIONS = {
    "stripe-count": "c:",
    "overstripe-count": "C:",
    "stripe-size": "S:",
    "stripe-index": "i:",
    "ost": "o:",
    "pool": "p:",
    "component-end": "E:",
    "layout": "L:",
    "delete": "d",
}


class UsageError(Exception):
    """What ``lfs`` says on stderr."""


@dataclass(frozen=True)
class LfsStandIn:
    """An installed stand-in: a directory for PATH, and the log of calls."""

    bin: Path
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(self.bin), os.environ.get("PATH", os.defpath)])
        return {"PATH": path, "LFS_STAND_IN_LOG": str(self.log)}

    def calls(self) -> list[list[str]]:
        """The arguments of every call so far, ``["setstripe", "-c", "4", ...]``."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def install(directory: Path) -> LfsStandIn:
    """Make ``directory/bin/lfs``."""
    program = directory / "bin" / "lfs"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I '{Path(__file__).resolve()}' \"$@\"\n")
    program.chmod(0o755)
    return LfsStandIn(program.parent, directory / "calls.jsonl")


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    _log(arguments, environment)
    command, *rest = arguments or ["help"]
    try:
        if command == "setstripe":
            setstripe(rest, int(environment.get("LFS_STAND_IN_OSTS", "40")))
        elif command == "getstripe":
            getstripe(rest)
        else:
            raise UsageError(f"unknown command '{command}'")
    except UsageError as error:
        print(f"error: {command}: {error}", file=sys.stderr)
        return 1
    return 0


def _log(arguments: list[str], environment: Mapping[str, str]) -> None:
    if path := environment.get("LFS_STAND_IN_LOG"):
        with open(path, "a", encoding="utf-8") as log:
            log.write(json.dumps(arguments) + "\n")


def setstripe(arguments: list[str], osts: int) -> None:
    options, files = _parse(arguments)
    if not files:
        raise UsageError("FILE must be specified")
    deletes = any(name == "delete" for name, _ in options)
    if deletes and len(options) > 1:
        raise UsageError("option -d is mutually exclusive with layout options")
    layout = _components(options, osts)
    for file in files:
        _apply(Path(file), [] if deletes else layout)


def _parse(arguments: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    long_names = [name + ("=" if short.endswith(":") else "") for name, short in OPTIONS.items()]
    long_names.append("comp-end=")
    try:
        found, files = getopt.gnu_getopt(arguments, "".join(OPTIONS.values()), long_names)
    except getopt.GetoptError as error:
        raise UsageError(f"unrecognized option: {error}") from None
    names = {f"-{short[0]}": name for name, short in OPTIONS.items()} | {"--comp-end": "component-end"}
    return [(names.get(option, option.lstrip("-")), value) for option, value in found], files


def _components(options: list[tuple[str, str]], osts: int) -> list[Layout]:
    """One layout, or one for each ``-E``; a later component inherits what it does not set."""
    components: list[Layout] = [{}]
    for name, value in options:
        if name != "component-end":
            components[-1].update(_setting(name, value, osts))
        elif "end" in components[-1]:
            inherited = {key: old for key, old in components[-1].items() if key not in ("layout", "osts")}
            components.append(inherited | {"end": _component_end(value)})
        elif components[-1]:
            raise UsageError("layout options before the first -E")
        else:
            components[-1]["end"] = _component_end(value)
    for number, component in enumerate(components):
        _check(component, number)
    _check_ends([end for component in components if isinstance(end := component.get("end"), int)])
    return components


def _setting(name: str, value: str, osts: int) -> Layout:
    if name == "stripe-count":
        return {"stripe_count": _count(value, least=-1)}
    if name == "overstripe-count":
        count = _count(value, least=-MAX_OVERSTRIPES_OF_AN_OST)
        return {"stripe_count": count, "layout": "raid0,overstriped"}
    if name == "stripe-size":
        return {"stripe_size": _stripe_size(value)}
    if name == "stripe-index":
        return {"stripe_index": _index(value, osts)}
    if name == "ost":
        return {"osts": _ost_list(value, osts)}
    if name == "pool":
        return {"pool": _pool(value)}
    if name == "layout":
        return {"layout": _layout_kind(value)}
    return {}


def _count(text: str, least: int) -> int:
    value = _integer(text, "stripe count")
    if not least <= value <= MAX_STRIPES:
        raise UsageError(f"invalid stripe count '{text}'")
    return value


def _integer(text: str, what: str) -> int:
    """As strtol with base 0: 0x10 is 16 and 010 is 8."""
    if not re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", text):
        raise UsageError(f"invalid {what} '{text}'")
    octal = re.fullmatch(r"[+-]?0[0-7]+", text)
    return int(text, 8 if octal else 0)


def _stripe_size(text: str) -> int:
    value = _size(text, "stripe size")
    if value >= STRIPE_SIZE_LIMIT:
        raise UsageError(f"stripe size must be smaller than 4GiB: '{text}'")
    return value


def _component_end(text: str) -> int:
    return END_OF_FILE if text.lower() in ("-1", "eof") else _size(text, "component end")


def _size(text: str, what: str) -> int:
    match = re.fullmatch(rf"(\d+)([{SUFFIXES}]?)", text.lower())
    if not match:
        raise UsageError(f"invalid {what} '{text}'")
    factor: int = KIB ** (SUFFIXES.index(match[2]) + 1 if match[2] else 0)
    value = int(match[1]) * factor
    if value < 4 * KIB:  # a small bare number is meant in KiB
        value *= KIB
    if value % STRIPE_UNIT:
        raise UsageError(f"invalid {what} '{text}', must be a multiple of 64KiB")
    return value


def _index(text: str, osts: int) -> int:
    value = _integer(text, "stripe index")
    if not -1 <= value < osts:
        raise UsageError(f"invalid stripe index '{text}'")
    return value


def _ost_list(text: str, osts: int) -> list[int]:
    indices: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        begin = _integer(first, "OST list")
        end = _integer(last, "OST list") if dash else begin
        if not 0 <= begin <= end < osts:
            raise UsageError(f"invalid OST list '{text}'")
        indices.extend(range(begin, end + 1))
    return indices


def _pool(text: str) -> str:
    if len(text.rpartition(".")[2]) > MAX_POOL_NAME:
        raise UsageError(f"pool name '{text}' is longer than {MAX_POOL_NAME} characters")
    return text


def _layout_kind(text: str) -> str:
    if text not in ("raid0", "mdt"):
        raise UsageError(f"layout '{text}' is unknown, supported layouts are: 'mdt', 'raid0'")
    return text


def _check(component: Layout, number: int) -> None:
    osts = component.get("osts")
    if isinstance(osts, list):
        if component.get("stripe_count", len(osts)) != len(osts):
            raise UsageError("stripe count does not agree with the OST list")
        if component.get("stripe_index", osts[0]) not in osts:
            raise UsageError("stripe index is not in the OST list")
    if component.get("layout") != "mdt":
        return
    end = component.get("end")
    if number > 0:
        raise UsageError("'mdt' layout can be only the first one")
    if not isinstance(end, int) or not 0 < end <= MDT_LIMIT:
        raise UsageError("'mdt' layout needs an end of at most 1GiB")


def _check_ends(ends: list[int]) -> None:
    *inner, last = ends or [END_OF_FILE]
    if END_OF_FILE in inner:
        raise UsageError("invalid layout: a component after the end of file")
    bounded = inner if last == END_OF_FILE else ends
    if any(left >= right for left, right in pairwise(bounded)):
        raise UsageError("invalid layout: component ends must increase")


def _apply(path: Path, layout: list[Layout]) -> None:
    if path.is_dir():
        _store(path, layout)
        return
    if path.exists():
        raise UsageError(f"cannot set stripe of '{path}': stripe already set")
    try:
        path.touch(exist_ok=False)
    except OSError as error:
        raise UsageError(f"cannot create '{path}': {error.strerror}") from None
    _store(path, layout)


def _layout_file(path: Path) -> Path:
    absolute = path.absolute()
    return absolute.parent / ".lfs_stand_in" / f"{absolute.name}.json"


def _store(path: Path, layout: list[Layout]) -> None:
    file = _layout_file(path)
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(layout) + "\n")


def stored_layout(path: Path) -> list[Layout]:
    """The layout of a file or directory, its directory's default, or none."""
    for owner in (path, path.absolute().parent):
        if (file := _layout_file(owner)).exists():
            layout: list[Layout] = json.loads(file.read_text())
            return layout
    return []


def getstripe(arguments: list[str]) -> None:
    try:
        options, files = getopt.gnu_getopt(arguments, "cSipdy", ["stripe-count", "stripe-size"])
    except getopt.GetoptError as error:
        raise UsageError(f"unrecognized option: {error}") from None
    if not files:
        raise UsageError("FILE must be specified")
    wanted = {option for option, _ in options}
    for file in files:
        if not Path(file).exists():
            raise UsageError(f"cannot find '{file}'")
        for layout in stored_layout(Path(file)) or [{}]:
            _print_layout(file, layout, wanted)


def _print_layout(file: str, layout: Layout, wanted: set[str]) -> None:
    count, size = layout.get("stripe_count", 1), layout.get("stripe_size", KIB**2)
    if wanted & {"-c", "--stripe-count"}:
        print(count)
    elif wanted & {"-S", "--stripe-size"}:
        print(size)
    else:
        offset = layout.get("stripe_index", -1)
        print(f"{file}\nstripe_count:  {count} stripe_size:   {size} stripe_offset: {offset}")


def _exit() -> NoReturn:
    sys.exit(main(sys.argv[1:], os.environ))


if __name__ == "__main__":
    _exit()
