"""A call of nmlgen in a process of its own, held by the kernel to the limits that docs/guarantees.md promises."""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import frozen

CPU_SECONDS = 5
MEMORY = 500 * 10**6  # bytes of address space, of which what is resident is a part
_CODES = {"status": (0, 1, 2, 3)}  # 3: not all points are done
_QUOTED = re.compile(r"^ *\d+ \| .*$", re.MULTILINE)  # lines of the input, which may say what they like
MISTAKE = "mistake in nmlgen"  # what a rule that raised, or a command, is called by


@frozen
class Ended:
    """How a call ended: its exit code, or minus the number of the signal; what it said; its CPU in s, its largest
    resident memory in bytes."""

    arguments: tuple[str, ...]
    code: int
    out: str
    error: str
    cpu: float
    memory: int

    @property
    def fault(self) -> str | None:
        """What breaks a promise in this, in a word."""
        if self.code == -signal.SIGXCPU:
            return "CPU"
        if self.code < 0:
            return signal.Signals(-self.code).name
        said = _QUOTED.sub("", self.out + self.error)
        if "MemoryError" in said:
            return "memory"
        if "Traceback (most recent call last)" in said or MISTAKE in said:
            return _last_line(said)
        return None if self.code in _CODES.get(self.arguments[0], (0, 1, 2)) else f"exit code {self.code}"


def _last_line(said: str) -> str:
    """What a traceback ends with, and where: equal for equal mistakes."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if MISTAKE in said:
        return next(line for line in lines if MISTAKE in line)[:200]
    places = [line for line in lines if line.startswith("File ") and "/nmlgen/" in line]
    place = places[-1].rpartition("/nmlgen/")[2] if places else "?"
    return f"{lines[-1].split(':')[0][:60]} at {place}"


def call(
    arguments: Sequence[str],
    directory: Path,
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    cpu: int | None = None,
    killed_at: int | None = None,
    full_at: int | None = None,
    largest_file: int | None = None,
    counted: Path | None = None,
) -> Ended:
    """Run `nmlgen ARGUMENTS` in a directory, within the limit of memory and, if `cpu` is given, so many seconds.

    It is killed before the change of the disk with the number `killed_at`, or finds the disk full from that with the
    number `full_at` on; no file grows beyond `largest_file` bytes. What `warm_up` has loaded costs nothing here. How
    often it calls each function is written into the file `counted`, as JSON.
    """
    with TemporaryDirectory() as place:
        files = {name: Path(place, name) for name in ("in", "out", "error")}
        for name, path in files.items():
            path.write_bytes(stdin if name == "in" else b"")
        code, seconds, memory = _answer(
            {name: str(path) for name, path in files.items()}
            | {"warms": False, "arguments": list(arguments), "directory": str(directory)}
            | {"environment": dict(environment or {}), "memory": MEMORY, "cpu": cpu}
            | {"killed_at": killed_at, "full_at": full_at, "largest_file": largest_file}
            | {"counted": None if counted is None else str(counted)}
        )
        said = {name: path.read_bytes().decode("utf-8", "replace") for name, path in files.items()}
    return Ended(tuple(arguments), int(code), said["out"], said["error"], seconds, int(memory))


@frozen
class Asked:
    """A call that is done among others: where, with what, and the files that hold what it says."""

    arguments: tuple[str, ...]
    directory: Path
    stdin: bytes
    environment: Mapping[str, str]


_ROOMY = 4 * MEMORY  # of address space for many calls, what stays behind of each included


def calls(asked: Sequence[Asked], place: Path, cpu: int | None = None) -> list[Ended]:
    """Do many calls in one process, each of `cpu` seconds at most. Where one is ended by the kernel it is the last of
    the list. `place` is a directory for what they say."""
    place.mkdir(parents=True, exist_ok=True)
    files = [{name: place / f"{number}.{name}" for name in ("in", "out", "error")} for number in range(len(asked))]
    for one, three in zip(asked, files, strict=True):
        for name, path in three.items():
            path.write_bytes(one.stdin if name == "in" else b"")
    noted = place / "ends"
    noted.unlink(missing_ok=True)
    told = [
        {name: str(path) for name, path in three.items()}
        | {"arguments": list(one.arguments), "directory": str(one.directory), "environment": dict(one.environment)}
        for one, three in zip(asked, files, strict=True)
    ]
    status, _, memory = _answer({"calls": told, "ends": str(noted), "memory": _ROOMY, "cpu": cpu})
    found = [json.loads(line) for line in noted.read_text(encoding="utf-8").splitlines()]
    if status:  # the one after the last that came to an end
        found.append([status, 0.0, memory])
    ends = []
    for one, three, (code, seconds, peak) in zip(asked, files, found, strict=False):
        said = {name: path.read_bytes().decode("utf-8", "replace") for name, path in three.items()}
        ends.append(Ended(one.arguments, int(code), said["out"], said["error"], seconds, int(peak)))
    return ends


def warm_up(directory: Path, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Do a call where the others are copied from, so that they have loaded what it needs."""
    asked = {"warms": True, "arguments": list(arguments), "directory": str(directory)}
    _answer(asked | {"environment": dict(environment or {})})


def _answer(asked: Mapping[str, Any]) -> list[float]:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    found: list[float] = json.loads(server.stdout.readline())
    return found


@cache
def _server() -> subprocess.Popen[str]:
    """The process that does the calls: with nothing of this one's environment that nmlgen might look at."""
    server = subprocess.Popen(
        [sys.executable, "-B", str(Path(__file__).with_name("server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={
            "PATH": os.defpath,
            "HOME": "/",
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
    )
    atexit.register(_end, server)
    return server


def _end(server: subprocess.Popen[str]) -> None:
    server.communicate()
