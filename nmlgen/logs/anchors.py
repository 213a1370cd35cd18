"""The texts by which the lines are found that are worth reading."""

from __future__ import annotations

import re

ANCHORS = re.compile(
    rb"Got |I/O PE |Output to |restart|Timer report|clean-up finished|Globally run on"
    rb"|FINISH PE:|NaN|Infinity|No space left|Disk quota|cdi  error|Fortran runtime|forrtl|CANCELLED|Out Of Memory|oom"
    rb"|SIG|Killed|Segmentation fault|Bus error|Terminated|BAD TERM|MPI_ABORT|Exited with|Exit code"
)
"""What makes a line worth reading while the model steps; most begin with a rare letter, for the sake of speed."""

NEEDS_STEP = {b"restart", b"Timer report", b"Globally run on"}
"""The anchors for which the model time counts: the step before is looked up."""

RUN_BEGINS = re.compile(rb"(?:Globally run|ICON runs) on +\d+ +mpi processes")
"""The first words of a run, whichever comes first."""
