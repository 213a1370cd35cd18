"""The texts by which the lines are found that are worth reading."""

from __future__ import annotations

import re

ANCHORS = re.compile(
    rb"Got |I/O PE |Output to |restart|Timer report|Globally run on"
    rb"|FINISH PE:|NaN|Infinity|No space left|No such file|Disk quota|Fortran runtime|forrtl|CANCELLED|Out Of Mem"
    rb"|Detected |SIG|Killed|Segmentation fault|Bus error|Terminated|BAD TERM|MPI_ABORT|Exited with|Exit code"
)
"""What makes a line worth reading while the model steps; most begin with a rare letter, for the sake of speed."""

HEADER_ANCHORS = re.compile(
    ANCHORS.pattern
    + rb"|Time step:|Begin of timestep|Using namelist|Model time step|Checkpoint interval|Restart interval"
    rb"|Experiment stop|Start date of|Stop date of|Number of compute|Number of procs|NetCDF output|# +prognostic"
    rb"|ICON runs|\n\d{4}: "
)
"""What makes a line worth reading before the first step; for the sake of speed each begins with a fixed character."""

BANNER = 20
"""The first lines of a run, which say when it is and which ICON; they are all read."""

NEEDS_STEP = {b"restart", b"Timer report", b"Globally run on"}
"""The anchors for which the model time counts: the step before is looked up."""

RUN_BEGINS = re.compile(rb"(?:Globally run|ICON runs) on +\d+ +mpi processes")
"""The first words of a run, whichever comes first."""

STARTS = re.compile(
    rb"mpi processes|Time step:|Begin of t|I/O PE|Output to|FINISH PE|Write netCDF|restart: f|Timer rep"
)
"""Where there may be the first line of a run."""

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
