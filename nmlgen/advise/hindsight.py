"""After a run: why its ranks waited, which of them idled, and how it wrote; each in a sentence.

The sentences rest on what the run itself measured: its timers, the lines of its I/O ranks and its Darshan log. What
another layout would cost is the model's to say (`nmlgen.advise.recommend`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from nmlgen.values import frozen

if TYPE_CHECKING:
    from nmlgen.logs.darshan import DarshanLog
    from nmlgen.logs.rows import LogRun

Cause = Literal["nothing", "no I/O ranks", "imbalance", "queue", "receiving", "stall", "bursts"]
"""What the workers waited for: `queue` is too few writers for what is written, `imbalance` one writer with more than
its share, `receiving` I/O ranks that fetch longer than they write, `stall` single calls that last for seconds, `bursts`
writers that are idle most of the time and yet not ready when their turn comes."""

NOISE = 0.02
"""Below this share of the run nothing is real."""

_UNEVEN = 1.5  # the busiest I/O rank over the mean
_FULL = 0.7  # share of the run that writers are busy for, from which on they are too few
_STALL_S, _STALL_FACTOR = 3.0, 2.0  # a call is a stall from so long on, and so many times the mean
_IDLE = 0.5
_CHUNK = 1_000_000  # bytes: writes above it are as fast on a shared file system


@frozen
class Hindsight:
    """Why a run waited: the cause, the share of the run that the workers spent on output, and the sentences."""

    cause: Cause
    share: float
    sentences: tuple[str, ...]


def hindsight(run: LogRun, darshan: DarshanLog | None = None) -> Hindsight | None:
    """What is to be said of a run whose timers are known, with its Darshan log if there is one; None without timers."""
    if not run.total_s or run.wrt_output_work_s is None:
        return None
    share = run.wrt_output_work_s / run.total_s
    cause = _cause(run, darshan, share)
    sentences = [_why(run, darshan, cause, share), *_idle(run), *_indicator(run, share), *_checkpoints(run)]
    if darshan is not None:
        sentences += _sizes(darshan)
    return Hindsight(cause, share, tuple(sentences))


def _cause(run: LogRun, darshan: DarshanLog | None, share: float) -> Cause:
    if share < NOISE:
        return "nothing"
    if not run.num_io_procs:
        return "no I/O ranks"
    busiest, mean = run.wrt_output_io_max_s or 0.0, _mean_busy(run)
    if _writers(run) > 1 and busiest > _UNEVEN * mean:
        return "imbalance"
    busy = mean / (run.total_s or 1.0)
    if busy >= _FULL:
        received, written = run.output_get_s or 0.0, run.output_write_s or 0.0
        return "receiving" if received > written else "queue"
    return "stall" if _longest(run, darshan) else "bursts"


def _writers(run: LogRun) -> int:
    """The I/O ranks that have a partition to write."""
    ranks, partitions = run.num_io_procs or 0, sum(run.stream_partitions_ml)
    return min(ranks, partitions) if partitions else ranks


def _mean_busy(run: LogRun) -> float:
    """Seconds that an I/O rank with something to write was busy for, on average. ICON's own average is over the ranks
    that called the timer."""
    return run.wrt_output_io_s or 0.0


def _longest(run: LogRun, darshan: DarshanLog | None) -> float | None:
    """The longest single write if it is a stall; by Darshan's log, else by the timer's longest call."""
    if darshan is not None and darshan.longest_write_s is not None and darshan.n_writes:
        mean = darshan.write_s / darshan.n_writes
        longest = darshan.longest_write_s
    else:
        calls = (run.n_outputs or 0) / max(1, _writers(run))
        mean = _mean_busy(run) / calls if calls else 0.0
        longest = run.wrt_output_io_longest_s or 0.0
    return longest if longest >= max(_STALL_S, _STALL_FACTOR * mean) else None


def _why(run: LogRun, darshan: DarshanLog | None, cause: Cause, share: float) -> str:
    waited, total = run.wrt_output_work_s or 0.0, run.total_s or 1.0
    spent = f"The workers spent {waited:.1f} s of {total:.1f} s ({_percent(share)}) on output"
    if cause == "nothing":
        return f"{spent}: nobody waited."
    if cause == "no I/O ranks":
        return f"{spent}: there are no I/O ranks, so all wait while one rank gathers and writes."
    busy = f"{_percent(_mean_busy(run) / total)} of the run"
    if cause == "imbalance":
        most = run.wrt_output_io_max_s or 0.0
        return (
            f"{spent}: one I/O rank was busy for {most:.1f} s, the mean is {_mean_busy(run):.1f} s. It has more to "
            "write than its share: other partitions, or a rank of its own for the large stream (nmlgen ranks)."
        )
    if cause == "queue":
        return f"{spent}: the {_ranks(_writers(run))} had too much to write, busy for {busy}. More writers would help."
    if cause == "receiving":
        got, written = run.output_get_s or 0.0, run.output_write_s or 0.0
        return (
            f"{spent}: the {_ranks(_writers(run))} were busy for {busy}, and longer with receiving ({got:.1f} s) than "
            f"with writing ({written:.1f} s). Receiving grows with the nodes; faster files would not help."
        )
    if cause == "stall":
        longest = _longest(run, darshan) or 0.0
        by = "Darshan" if darshan is not None and darshan.longest_write_s is not None else "the timers"
        who = f" on rank {darshan.longest_write_rank}" if darshan and darshan.longest_write_rank is not None else ""
        return (
            f"{spent}, though the writers were busy for {busy} only: by {by} a call{who} lasted {longest:.1f} s. "
            "The file system, or the memory of the node that holds the I/O ranks, was full for that long."
        )
    return (
        f"{spent}, though the writers were busy for {busy} only: outputs come in bursts, and a rank whose turn it is "
        "has not finished yet. Darshan's heat map shows when (nmlgen logs --what writers)."
    )


def _idle(run: LogRun) -> Iterator[str]:
    """I/O ranks that have nothing to write, or little."""
    ranks, writers = run.num_io_procs or 0, _writers(run)
    if ranks > writers:
        partitions = sum(run.stream_partitions_ml)
        yield f"{ranks - writers} of {ranks} I/O ranks idled all the time: there are {partitions} partitions to write."
    busy = _mean_busy(run) / (run.total_s or 1.0)
    if writers and run.wrt_output_io_s is not None and busy < _IDLE:
        yield f"The I/O ranks that wrote idled {_percent(1 - busy)} of the run."


def _indicator(run: LogRun, share: float) -> Iterator[str]:
    """What the rule of thumb says that needs no model, and why it is not followed."""
    io, work = run.wrt_output_io_s, run.wrt_output_work_s
    if not run.num_io_procs or not io or work is None:
        return
    if work > io / 2:
        yield (
            f"By the usual indicator (workers' wrt_output {work:.1f} s above half of the I/O ranks' {io:.1f} s) more "
            "I/O ranks pay; how many, it does not say (nmlgen advise does)."
        )
    elif share >= NOISE:
        yield (
            f"By the usual indicator (workers' wrt_output {work:.1f} s, half of the I/O ranks' is {io / 2:.1f} s) "
            "there are enough I/O ranks. It misleads: it is content while the workers still wait for up to half of the "
            "time that a writer is busy."
        )


def _checkpoints(run: LogRun) -> Iterator[str]:
    spent, total = run.write_restart_work_s, run.total_s or 1.0
    if spent is not None and spent / total >= NOISE:
        mode = f" ({run.restart_write_mode})" if run.restart_write_mode else ""
        yield f"Checkpoints{mode} held the workers up for {spent:.1f} s ({_percent(spent / total)})."


def _sizes(darshan: DarshanLog) -> Iterator[str]:
    """How large the single writes were, and what follows."""
    if not darshan.n_writes:
        return
    mean = darshan.written_bytes / darshan.n_writes
    shown = f"{mean / 1e6:.1f} MB" if mean >= _CHUNK else f"{mean / 1e3:.1f} kB"
    head = f"A write has {shown} on average (Darshan)"
    if mean >= _CHUNK:
        yield f"{head}: large enough that a node-local file system or more stripes gain nothing."
    else:
        yield f"{head}: so small that a node-local file system may pay, if the writers are waited for."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _ranks(count: int) -> str:
    return "I/O rank" if count == 1 else f"{count} I/O ranks"
