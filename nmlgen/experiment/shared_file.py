"""A file that several processes write at once: how many stripes it wants, and what was measured of that.

Sources: K. Ketelsen, Parallel IO on HLRN-IV systems (2021), table 2: MPI-IO of PALM's test program on 16 nodes, MB/s by
stripe count (the stripe sizes from 512K to 8M differ by a fifth at most; the best of them is given). The TOPIO project
(HLRS), MPAS with PnetCDF on the Lustre WS11: seconds of the whole run by stripe count (best of 1M to 32M), with 40 OSTs
in all, and 222.3 s with the progressive layout that the file system gives by itself.
"""

from __future__ import annotations

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import integer

CDI_PIO = 2
"""The `pio_type` with which the I/O ranks of a component write one file together, through MPI-IO."""

RATES = {1: 868, 2: 1592, 4: 2971, 8: 5523, 16: 10459, 24: 13970}
"""MB/s by stripe count, on HLRN-IV."""

RUN_TIMES = {4: 236.6, 8: 177.1, 16: 147.8, 32: 134.2, 40: 135.8}
"""Seconds by stripe count, of MPAS at HLRS."""

DEFAULT_RUN_TIME = 222.3
"""Seconds with the layout of the file system itself, of the same."""

BEST_MEASURED = min(RUN_TIMES, key=lambda count: RUN_TIMES[count])
"""The stripe count beyond which nothing was gained: 32. Up to 24 each stripe made the other system faster."""


def writers(experiment: Experiment) -> int | None:
    """How many processes write one file together at most; None where each file has a writer of its own.

    Raises UndecidedError where nobody can know.
    """
    sharing = [one for one in experiment.components if one["parallel_nml", "pio_type"].value == CDI_PIO]
    counts = [integer(component["parallel_nml", "num_io_procs"]) for component in sharing]
    return max(*counts, 1) if counts else None


def stripes_for(experiment: Experiment) -> tuple[int, str] | None:
    """The stripe count that a shared output file wants, and why; None where no file is shared.

    Raises UndecidedError where nobody can know.
    """
    processes = writers(experiment)
    if processes is None:
        return None
    machine = experiment.machine
    limits = [
        (BEST_MEASURED, f"up to {BEST_MEASURED} stripes made a shared file faster, and {max(RUN_TIMES)} did not"),
        (processes, f"{processes} I/O ranks write one file: one OST for each"),
        (experiment.file_system.ost_count, "as many as the file system has OSTs"),
        (machine.max_recommended_stripe_count, f"site {machine.name} recommends no more"),
    ]
    known = [(count, reason) for count, reason in limits if count is not None]
    return min(known, key=lambda limit: limit[0])


def measured(count: int) -> str:
    """What the reports measured with the nearest count that is not more, against their best."""
    rate = max((known for known in RATES if known <= count), default=min(RATES))
    text = f"{RATES[rate]} MB/s with {rate} {'stripe' if rate == 1 else 'stripes'}, {RATES[24]} with 24 (HLRN-IV)"
    seconds = max((known for known in RUN_TIMES if known <= count), default=None)
    if seconds is None:
        return text
    return f"{text}; {RUN_TIMES[seconds]} s with {seconds}, {RUN_TIMES[BEST_MEASURED]} with {BEST_MEASURED} (HLRS)"
