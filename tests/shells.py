"""Real shells in a cage: run a script in a fresh directory, and collect the files it wrote.

A script sees an environment of its case's variables and `PATH`, a directory with nothing but links to PROGRAMS. Where
Linux namespaces can be had (`unshare`), it has no network, no other processes, and no file system to write to but its
own directory; `CAGE` says what there is.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from tools import PATIENCE

CORPUS = Path(__file__).parent / "script" / "corpus"
PROGRAMS = (
    *("awk", "basename", "bc", "cat", "cp", "cut", "date", "dirname", "env", "expr", "grep", "head", "hostname", "ln"),
    *("ls", "mkdir", "mv", "printf", "rm", "sed", "seq", "sleep", "sort", "tail", "tee", "tr", "uname", "wc", "whoami"),
)
_SHELLS = {".sh": ("bash", "ksh"), ".bash": ("bash",), ".ksh": ("ksh",)}
_ENTER = """
for mount in / "$1"; do mount -o remount,bind,ro "$mount" || exit 125; done
mount --bind "$2" "$2" && mount -o remount,bind,rw "$2" && cd "$2" || exit 125
shift 2
exec "$@"
"""


@frozen
class Case:
    """One run of a script of the corpus: by which shell, in which environment."""

    script: Path
    shell: str
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return " ".join([self.script.name, self.shell, *(f"{name}={value}" for name, value in self.environment)])


@frozen
class Outcome:
    """What a run left: its files by their path below the directory it ran in, its exit code, what it printed."""

    files: Mapping[str, str]
    code: int
    printed: str


def scripts() -> list[Path]:
    """The scripts of the corpus."""
    return sorted(path for path in CORPUS.iterdir() if path.suffix in _SHELLS)


def cases(script: Path) -> list[Case]:
    """The runs of a script: each of its `# env: NAME=value ...` lines by each shell that its suffix stands for."""
    environments = [
        tuple((name, value) for name, _, value in (word.partition("=") for word in shlex.split(line)))
        for line in header(script, "env")
    ]
    return [
        Case(script, shell, environment) for shell in _SHELLS[script.suffix] for environment in environments or [()]
    ]


def header(script: Path, key: str) -> list[str]:
    """What follows `# key:` on the lines of a script."""
    return re.findall(rf"^# {key}:[ ]*(.*)$", script.read_text(encoding="utf-8"), re.MULTILINE)


def run(case: Case, directory: Path) -> Outcome:
    """Run a script of the corpus in `directory`, which is empty, with the files it may source beside it.

    Raises subprocess.TimeoutExpired if it does not end.
    """
    programs, work = directory / "programs", directory / "work"
    programs.mkdir()
    for program in PROGRAMS:
        (programs / program).symlink_to(_path(program))
    shutil.copytree(case.script.parent / "sourced", work / "sourced")
    shutil.copy(case.script, work)
    given = _files(work)
    command = [_path("env"), "-i", f"PATH={programs}", *(f"{name}={value}" for name, value in case.environment)]
    ended = subprocess.run(
        [*caged(work), *command, _path(case.shell), case.script.name],
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    printed = ended.stdout.decode("utf-8", "surrogateescape")
    assert ended.returncode != 125, printed
    written = {name: text for name, text in _files(work).items() if given.get(name) != text}
    return Outcome(written, ended.returncode, printed)


def caged(directory: Path) -> list[str]:
    """The words before a command that let it write in `directory` only; none where there are no namespaces."""
    if not CAGE:
        return []
    mount = next(str(path) for path in [directory, *directory.parents] if path.is_mount())
    return [*CAGE, _path("sh"), "-c", _ENTER, "sh", mount, str(directory)]


def _path(program: str) -> str:
    found = shutil.which(program)
    assert found, f"not installed: {program}"
    return found


def _files(directory: Path) -> dict[str, str]:
    """The text of every file below a directory, by its path there."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes().decode("utf-8", "surrogateescape")
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def _cage() -> list[str]:
    """The command that enters namespaces of its own for users, files, network and processes; empty if refused."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    command = [unshare, "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"]
    tried = [*command, "sh", "-c", "mount -o remount,bind,ro /"]
    return command if subprocess.run(tried, capture_output=True, check=False).returncode == 0 else []


CAGE = _cage()
