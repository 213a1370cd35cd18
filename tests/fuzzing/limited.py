"""A call of nmlgen in a process of its own, held by the kernel to the limits that docs/guarantees.md promises."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

CPU_SECONDS = 5
MEMORY = 500 * 10**6  # bytes of address space, of which what is resident is a part
_PATIENCE = 600  # seconds after which a call is taken for one that waits for ever
_CODES = {"status": (0, 1, 2, 3)}  # 3: not all points are done
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
        said = self.out + self.error
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
    prepare: Callable[[], None] = lambda: None,
) -> Ended:
    """Run `nmlgen ARGUMENTS` in a directory, in a copy of this process, within the limits, after `prepare` there.

    What this process has loaded already costs nothing there: `warm_up` loads what every command needs."""
    files = {name: _temporary(directory, name) for name in ("in", "out", "error")}
    os.write(files["in"], stdin)
    os.lseek(files["in"], 0, os.SEEK_SET)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _run(arguments, directory, files, environment or {}, prepare)
    _, status, usage = os.wait4(child, 0)
    said = {}
    for name, descriptor in files.items():
        os.lseek(descriptor, 0, os.SEEK_SET)
        with open(descriptor, "rb") as file:
            said[name] = file.read().decode("utf-8", "replace")
    return Ended(
        tuple(arguments),
        os.waitstatus_to_exitcode(status),
        said["out"],
        said["error"],
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
    )


def _temporary(directory: Path, name: str) -> int:
    path = directory.parent / f".{name}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    path.unlink()
    return descriptor


def _run(
    arguments: Sequence[str],
    directory: Path,
    files: Mapping[str, int],
    environment: Mapping[str, str],
    prepare: Callable[[], None],
) -> None:
    """What the copy does; it never comes back."""
    code = 70
    try:
        for number, name in enumerate(("in", "out", "error")):
            os.dup2(files[name], number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.chdir(directory)
        os.environ.update(environment)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.alarm(_PATIENCE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        from nmlgen.cli import main

        prepare()
        code = main(list(arguments))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def warm_up(directory: Path, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    """Do a call in this very process, so that its copies have loaded what it needs."""
    from nmlgen.cli import main

    here, standard, before = os.getcwd(), (sys.stdout, sys.stderr), dict(os.environ)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        try:
            os.chdir(directory)
            os.environ.update(environment or {})
            sys.stdout = sys.stderr = nowhere
            main(list(arguments))
        finally:
            sys.stdout, sys.stderr = standard
            os.environ.clear()
            os.environ.update(before)
            os.chdir(here)
    gc.collect()
    gc.freeze()
