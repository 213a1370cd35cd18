"""Why a run ended: the words of ICON, of the Fortran runtime, of MPI and of Slurm.

A line with NaN is a failure though ICON may end with exit code 0 and write OK into finish.status.
"""

from __future__ import annotations

import re

from nmlgen.values import frozen


@frozen
class _Kind:
    """One way to fail. `is_aftermath`: it says that something ended, hardly why. `is_of_job`: it ends the whole
    job, which may have done with ICON. `begins`: what stands before it in the line."""

    name: str
    pattern: re.Pattern[bytes]
    is_aftermath: bool = False
    is_of_job: bool = False
    begins: bytes = b""


_KINDS = (
    _Kind("FINISH", re.compile(rb" PE:\s*(?:\d+|\*+)"), begins=b"FINISH"),
    _Kind("disk", re.compile(rb"No space left on device|Disk quota exceeded")),
    _Kind("disk", re.compile(rb"^cdi +error \(")),
    _Kind("blow-up", re.compile(rb"NaN|Infinity"), begins=b"MAXABS VN, W"),
    _Kind("runtime", re.compile(rb"Fortran runtime error:|forrtl: (?!error \(78\))")),
    _Kind("MPI", re.compile(rb"^\d{4}: [\w:]+: ")),
    _Kind("limit", re.compile(rb"CANCELLED AT"), is_of_job=True),
    _Kind("memory", re.compile(rb"Out Of Memory|oom.kill"), is_of_job=True),
    _Kind("signal", re.compile(rb"Program received signal|exited on signal|Killed|Segmentation fault"), True),
    _Kind("signal", re.compile(rb"Bus error|BAD TERMINATION|: Terminated|: Aborted"), True),
    _Kind("exit", re.compile(rb"MPI_ABORT was invoked|Exited with exit code|Exit code:"), True),
)
_ANY = re.compile(
    rb"FINISH PE:|cdi +error|No space|Disk quota|NaN|Infinity|Fortran runtime|forrtl|CANCELLED|Out Of Mem|oom.kill"
    rb"|signal|Killed|Segmentation|Bus error|BAD TERM|: Terminated|: Aborted|MPI_ABORT|xit code"
)
_LONGEST = 300


class Failures:
    """What one run said about its failing: the first line of each kind."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[bool, str]] = {}

    def read(self, line: bytes, has_ended: bool) -> None:
        """A line in which one of these may be, without labels; `has_ended`: ICON has come to its end before."""
        if line[4:6] != b": " and _ANY.search(line) is None:
            return
        for kind in _KINDS:
            if kind.name not in self._first and (found := kind.pattern.search(line)):
                begin = line.find(kind.begins, 0, found.start()) if kind.begins else 0
                if begin < 0:
                    continue
                text = " ".join(line[begin : begin + _LONGEST].decode("utf-8", "replace").split())
                is_aftermath = kind.is_aftermath or (kind.is_of_job and has_ended)
                self._first[kind.name] = (is_aftermath, text)
                return

    @property
    def causes(self) -> tuple[str, ...]:
        """What says why, in the order of the log."""
        return tuple(text for is_aftermath, text in self._first.values() if not is_aftermath)

    @property
    def aftermath(self) -> tuple[str, ...]:
        """What says only that something was ended."""
        return tuple(text for is_aftermath, text in self._first.values() if is_aftermath)
