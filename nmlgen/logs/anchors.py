"""The texts by which the lines are found that are worth reading."""

from __future__ import annotations

import re

ANCHORS = re.compile(
    rb"Got |I/O PE |Output to |restart|Timer report|Globally run on"
    rb"|FINISH PE:|NaN|Infinity|No space left|No such file|Disk quota|Fortran runtime|forrtl|CANCELLED|Out Of Mem"
    rb"|Detected |SIG|Killed|Segmentation fault|Bus error|Terminated|BAD TERM|MPI_ABORT|Exited with|Exit code"
)
"""What makes a line worth reading while the model steps; most begin with a rare letter, for the sake of speed."""

NEEDS_STEP = {b"restart", b"Timer report", b"Globally run on"}
"""The anchors for which the model time counts: the step before is looked up."""

RUN_BEGINS = re.compile(rb"(?:Globally run|ICON runs) on +\d+ +mpi processes")
"""The first words of a run, whichever comes first."""

RUN_GOES_ON = re.compile(
    rb"Time step: +\d+,? model time|Begin of timestep = +\d|I/O PE +\d+ (?:starting|done)|Output to \S+ at simu"
    rb"|FINISH PE: |Write netCDF\d restart|restart: finished: |Timer report"
)
"""What only a run says: one whose beginning is missing."""

LONGEST = 10_000
"""Bytes of a line that are looked at; ICON's lines are far shorter."""


def line_around(text: bytes, at: int, end: int) -> bytes:
    """The line in which a position is, up to `end`, or as much of it as is looked at."""
    start = max(0, at - LONGEST)
    return text[text.rfind(b"\n", start, at) + 1 or start : end]
