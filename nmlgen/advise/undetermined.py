"""What measured runs leave open, and which cheap run would tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nmlgen.advise.calibration import Estimate
from nmlgen.advise.case import ASYNC, DEDICATED, JOINT, SYNC, Case
from nmlgen.advise.model import Constants, writer_busy

_LEARNT = 0.6
"""A constant counts as determined where the runs bring the variance of its logarithm below this part of before."""
_IDLE = 0.2
"""Writers that are busy for less of the time than this look too fast, and hold nobody up."""


def undetermined(cases: Sequence[Case], before: Estimate, after: Iterable[Estimate]) -> tuple[str, ...]:
    """A sentence for each group of constants that the runs do not determine: the constants known before, and, for
    each family of runs, after them."""
    known = tuple(after)

    def is_open(name: str) -> bool:
        return all(estimate.spread(name) ** 2 > _LEARNT * before.spread(name) ** 2 for estimate in known)

    sentences = []
    if is_open("writer"):
        sentences.append(_writer(cases, known[0].constants))
    elif is_open("contention"):
        sentences.append(
            "how much I/O ranks slow one another when several are busy: a run with num_io_procs: 4 whose I/O ranks "
            "are busy for most of the time would tell"
        )
    if is_open("gather"):
        sentences.append("synchronous output: a short run with num_io_procs: 0 and frequent output would tell")
    modes = {
        DEDICATED: ("restart_dedicated",),
        ASYNC: ("restart_async",),
        JOINT: ("restart_joint", "restart_open"),
        SYNC: ("restart_sync",),
    }
    unknown = [f'"{mode}"' for mode, names in modes.items() if all(map(is_open, names))]
    if unknown:
        sentences.append(
            f"checkpoints written as {', '.join(unknown)}: a short run in that mode with a checkpoint every few steps "
            "would tell"
        )
    return tuple(sentences)


def _writer(cases: Sequence[Case], constants: Constants) -> str:
    cheap = "a short run with num_io_procs: 1 and output every few steps would tell"
    busy = [writer_busy(case, constants) for case in cases if case.io_ranks and case.outputs]
    if not busy:
        return f"how fast an I/O rank is: none of the runs had any; {cheap}"
    if max(busy) >= _IDLE:
        return f"how fast an I/O rank is: its time cannot be told from that of computing; {cheap}"
    return (
        f"how fast an I/O rank is: they were busy for {max(busy):.0%} of the time at most, and held nobody up, so only "
        f"a lower bound is known; {cheap}"
    )
