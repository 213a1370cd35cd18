"""A case of a fuzzer: files, and the calls of nmlgen that read them."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from fuzzing.limited import Asked, Ended, call


@frozen
class Case:
    """Files by their names, symbolic links by where they lead, and the calls that read them.

    `programs` stand in for those of Slurm: they come first in the PATH. `is_whole` says of the ends whether the input
    was good enough for nmlgen to do all its work: a spec that builds, a script that lints.
    """

    files: dict[str, bytes]
    calls: tuple[tuple[str, ...], ...]
    is_whole: Callable[[list[Ended]], bool] = lambda ends: ends[-1].code == 0
    programs: Mapping[str, bytes] = field(factory=dict)
    links: Mapping[str, str] = field(factory=dict)

    def run(self, directory: Path, cpu: int | None = None) -> list[Ended]:
        """Write the files into an empty directory and do the calls there, each of `cpu` seconds at most."""
        shutil.rmtree(directory, ignore_errors=True)
        self._write(directory)
        return [
            call(arguments, directory, environment=self.environment(directory), cpu=cpu) for arguments in self.calls
        ]

    def asked(self, directory: Path) -> list[Asked]:
        """Write the files into a directory; the calls that are to be done there."""
        shutil.rmtree(directory, ignore_errors=True)
        self._write(directory)
        return [Asked(arguments, directory, b"", self.environment(directory)) for arguments in self.calls]

    def _write(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in (self.files | {f"bin/{name}": data for name, data in self.programs.items()}).items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if name.startswith("bin/") or data.startswith(b"#!"):
                path.chmod(0o755)
        for name, leads_to in self.links.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(leads_to)

    def picked(self, generator: random.Random) -> str:
        """The name of one of the files or programs: mostly an answer of a program, where there is one."""
        answers = sorted(name for name in self.programs if name.endswith(".out"))
        return generator.choice(answers if answers and generator.random() < 0.8 else sorted(self.files))

    def data(self, name: str) -> bytes:
        """What a file or a program has in it."""
        return self.programs[name] if name in self.programs else self.files[name]

    def changed(self, name: str, data: bytes) -> Case:
        """The case with other bytes in a file or a program."""
        if name in self.programs:
            return evolve(self, programs={**self.programs, name: data})
        return evolve(self, files={**self.files, name: data})

    def environment(self, directory: Path) -> dict[str, str]:
        """The variables that a call in the directory has otherwise than this process: without stand-ins, no program is
        found at all."""
        programs = f"{directory}/bin:/usr/bin:/bin" if self.programs else f"{directory}/bin"
        return {"PATH": programs, "XDG_CACHE_HOME": f"{directory}-cache"}


Fuzzer = Callable[[random.Random], Iterator[Case]]


def changed_from(fuzzer: Fuzzer, change: Callable[[bytes, random.Random], bytes]) -> Fuzzer:
    """The cases of a fuzzer, of which one file is changed."""

    def cases(generator: random.Random) -> Iterator[Case]:
        for case in fuzzer(generator):
            name = case.picked(generator)
            yield case.changed(name, change(case.data(name), generator))

    return cases


def yaml_of(document: Any) -> bytes:
    """A document as JSON, which is YAML, too."""
    text = json.dumps(document, ensure_ascii=False, indent=1)
    return re.sub(r"[\x7f-\x9f\ufeff\ufffe\uffff]", lambda match: f"\\u{ord(match[0]):04x}", text).encode(
        "utf-8", "backslashreplace"
    )
