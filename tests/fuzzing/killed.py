"""Commands that write, killed at one after the other of the system calls that change the disk, or with a disk that is
full after some bytes: every file is the old one or the new one, and the next try comes to its end."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import icon_logs
from specs import changed

from fuzzing.cases import yaml_of
from fuzzing.limited import call

ROOT = Path(__file__).parents[2]
_DEEDS = frozenset(
    {"os.rename", "os.link", "os.symlink", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "build": ("build", "spec.yaml", "-o", "made"),
    "sweep": ("sweep", "sweep.yaml", "-o", "points"),
    "init": ("init", "--preset", "icon/jabw", "--site", "local", "--force", "-o", "first.yaml"),
    "import": ("import", "built", "--force", "-o", "imported.yaml"),
    "logs": ("logs", "LOG.a", "-o", "runs.csv"),
}
_OUTPUTS = ("made", "points", "first.yaml", "imported.yaml", "runs.csv")


def prepared(directory: Path) -> None:
    """The inputs, and older outputs where a command replaces what is there."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "spec.yaml").write_bytes(yaml_of(changed()))
    one = changed(parallel={"num_io_procs": 1}, sweep={"grid": {"parallel.nproma": [8, 16]}})
    one["output"]["atm"]["stream_partitions_ml"] = 1
    (directory / "sweep.yaml").write_bytes(yaml_of(one))
    shutil.copytree(ROOT / "tests/golden/jabw-generic/expected", directory / "built")
    (directory / "LOG.a").write_bytes(icon_logs.text(icon_logs.log()))
    for name in ("first.yaml", "imported.yaml", "runs.csv"):
        (directory / name).write_text("old\n")


def contents(directory: Path) -> dict[str, bytes]:
    """What the outputs hold, hidden files aside: what is killed outright may leave one."""
    found = {}
    for name in _OUTPUTS:
        for path in [directory / name, *sorted((directory / name).rglob("*"))]:
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(directory).parts):
                found[str(path.relative_to(directory))] = path.read_bytes()
    return found


def _killing(number: int) -> Callable[[], None]:
    """Let the process be killed at the so-manieth of its deeds."""

    def prepare() -> None:
        left = number

        def watch(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal left
            is_writing = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if event in _DEEDS or is_writing:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)

    return prepare


def _full(size: int) -> Callable[[], None]:
    """Let no file become larger than so many bytes."""

    def prepare() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return prepare


def kills(command: str, directory: Path, every: int = 1) -> Iterator[str | None]:
    """For each `every`-th deed of a command: what was lost when it was killed there, or None."""
    arguments = COMMANDS[command]
    prepared(directory)
    before = contents(directory)
    call(arguments, directory)
    after = contents(directory)
    number = 0
    while True:
        prepared(directory)
        if call(arguments, directory, prepare=_killing(number)).code != -signal.SIGKILL:
            return
        wrong = [name for name, data in contents(directory).items() if data not in (before.get(name), after.get(name))]
        gone = [name for name in before if name not in contents(directory)]
        call(arguments, directory)
        unlike = [name for name, data in contents(directory).items() if after.get(name) != data]
        yield (
            f"at deed {number}: half {wrong}, gone {gone}, otherwise the next time {unlike}"
            if wrong or gone or unlike
            else None
        )
        number += every


def full_disks(command: str, directory: Path, sizes: tuple[int, ...] = (200, 1000)) -> Iterator[str | None]:
    """For each size at which the disk is full, with room for a message: what was lost or left, or None."""
    for size in sizes:
        prepared(directory)
        before = contents(directory)
        names = sorted(path.name for path in directory.iterdir())
        end = call(COMMANDS[command], directory, prepare=_full(size))
        wrong = [name for name, data in contents(directory).items() if before.get(name, data) != data]
        left = [path.name for path in directory.iterdir() if path.name not in names and path.name.startswith(".")]
        if end.code in (0, 1) and end.fault is None:  # there was room for all
            wrong = []
        is_told = end.fault is None
        yield None if not wrong and not left and is_told else f"full at {size}: {end.code} {end.fault} {wrong} {left}"
