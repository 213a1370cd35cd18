"""The model far from what was measured: 1 to 1000 nodes, R2B4 to R2B10, 0 to 64 I/O ranks.

    python benchmarks/advisor_sweep.py        # docs/advisor-sweep.svg, and what is wrong, if anything is

Each case writes an hour's output of 54 variables on 90 levels for ten days, with the likeliest constants. It is held
that computing never grows with the nodes, and waiting for writers never with the I/O ranks; that a run never gets
shorter by a finer grid, by twice the output, by twice as many outputs, or by checkpoints, in whatever mode; that
nothing takes longer than computing and one rank that writes all bytes at the slowest rate measured; that the time lies
within its interval; and that no time is told but a range more than four times beyond what was measured.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from math import log10
from pathlib import Path

from attrs import evolve

from nmlgen.advise.calibration import levante
from nmlgen.advise.case import JOINT, RESTART_MODES, SYNC, Case
from nmlgen.advise.model import PARTS, SLOWEST_CHECKPOINT, SLOWEST_OUTPUT, Constants, run_time, step_time
from nmlgen.advise.prediction import predict

PLOT = Path(__file__).parent.parent / "docs" / "advisor-sweep.svg"
GRIDS = {f"R2B{k}": 20 * 4 * 4**k for k in range(4, 11)}
NODES = (1, 2, 3, 5, 8, 13, 20, 32, 50, 80, 128, 200, 320, 500, 800, 1000)
IO_RANKS = (0, 1, 2, 4, 8, 16, 32, 64)
STEPS_S = {"R2B4": 360, "R2B5": 180, "R2B6": 90, "R2B7": 45, "R2B8": 20, "R2B9": 10, "R2B10": 5}
_SAME = 1e-6
COLOURS = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b", "#c53030")


def case_of(grid: str, nodes: int, ranks: int) -> Case:
    """A case of the sweep."""
    cells, step = GRIDS[grid], STEPS_S[grid]
    return Case(
        n_cells=cells,
        num_lev=90,
        nodes=nodes,
        ntasks=128 * nodes,
        dtime_s=step,
        n_steps=10 * 86400 // step,
        output_bytes=cells * 1000 * 8,
        output_interval_s=3600,
        num_io_procs=ranks,
        stream_partitions=max(1, ranks),
        n_output_slices=1000,
    )


def wrong(nodes: Sequence[int] = NODES) -> Iterator[str]:
    """What is not as it must be, on so many nodes each."""
    for grid, ranks in product(GRIDS, IO_RANKS):
        yield from _not_falling(
            (
                f"{grid}, {number} nodes, {ranks} I/O ranks: computing grows with the nodes",
                _computing(grid, number, ranks),
            )
            for number in reversed(nodes)
        )
    for grid, number in product(GRIDS, nodes):
        where = f"{grid}, {number} nodes: waiting grows with the I/O ranks"
        yield from _not_falling(
            (where, _parts(case_of(grid, number, ranks))["waiting for writers"]) for ranks in reversed(IO_RANKS[1:])
        )
    for number, ranks in product(nodes, IO_RANKS):
        where = f"{number} nodes, {ranks} I/O ranks: a finer grid is faster"
        yield from _not_falling((where, _seconds(case_of(grid, number, ranks))) for grid in GRIDS)
    for grid, number, ranks in product(GRIDS, nodes, IO_RANKS):
        case, where = case_of(grid, number, ranks), f"{grid}, {number} nodes, {ranks} I/O ranks"
        yield from (f"{where}: {what}" for what in _wrong_of(case))


def _wrong_of(case: Case) -> Iterator[str]:
    total, bound = _seconds(case), _without_writing(case) + case.outputs * case.output_bytes / SLOWEST_OUTPUT
    if total > bound * (1 + _SAME):
        yield f"{total:.0f} s, but {bound:.0f} s if one rank wrote all at the slowest rate"
    assert case.output_interval_s is not None
    more = {
        "twice the output": evolve(case, output_bytes=2 * case.output_bytes, n_output_slices=2000),
        "twice as many outputs": evolve(case, output_interval_s=case.output_interval_s / 2),
    }
    for mode in RESTART_MODES:
        size, writers = case.n_cells * 11_000.0, 0 if mode in (SYNC, JOINT) else 1
        other = evolve(
            case,
            checkpoint_bytes=size,
            checkpoint_interval_s=86400,
            restart_write_mode=mode,
            num_restart_procs=writers,
        )
        if _seconds(other) < _seconds(evolve(other, checkpoint_bytes=0)) * (1 - _SAME):
            yield f"checkpoints, {mode}: faster"
        most = _without_writing(other) + bound - _without_writing(case) + 10 * size / SLOWEST_CHECKPOINT
        if _seconds(other) > most * (1 + _SAME):
            yield f"{mode}: {_seconds(other):.0f} s, but {most:.0f} s if one rank wrote all at the slowest rates"
    yield from (f"{what}: faster" for what, other in more.items() if _seconds(other) < total * (1 - _SAME))
    if step_time(case, _constants(), case.workers) <= 0:
        yield "a time step takes no time"
    told = predict(case)
    if not told.low_s < told.total_s < told.high_s:
        yield f"{told.total_s:.0f} s, between {told.low_s:.0f} and {told.high_s:.0f}"
    if told.is_far and re.search(r"\d min", str(told)):
        yield f"minutes are told, far from what was measured: {told}"


def _not_falling(steps: Iterable[tuple[str, float]]) -> Iterator[str]:
    for (_, before), (where, after) in pairwise(steps):
        if after < before * (1 - _SAME):
            yield f"{where}: {before:.1f} and {after:.1f} s"


def _constants() -> Constants:
    return levante().estimate.constants


def _parts(case: Case) -> dict[str, float]:
    return dict(zip(PARTS, run_time(case, _constants()), strict=True))


def _seconds(case: Case) -> float:
    return sum(run_time(case, _constants()))


def _without_writing(case: Case) -> float:
    parts = _parts(case)
    return parts["start-up"] + parts["computing"] + parts["ranks taken away"]


def _computing(grid: str, nodes: int, ranks: int) -> float:
    parts = _parts(case_of(grid, nodes, ranks))
    return parts["computing"] + parts["ranks taken away"]


def plot() -> str:
    """Run time over nodes, a line for each grid with the best number of I/O ranks: an SVG picture."""
    constants, wide, high, left, bottom = levante().estimate.constants, 640, 420, 60, 370
    lines = {
        grid: [min(sum(run_time(case_of(grid, nodes, ranks), constants)) for ranks in IO_RANKS) for nodes in NODES]
        for grid in GRIDS
    }
    low = log10(min(map(min, lines.values())))
    height = log10(max(map(max, lines.values()))) - low

    def x(nodes: float) -> float:
        return left + (wide - left - 70) * log10(nodes) / 3

    def y(seconds: float) -> float:
        return bottom - (bottom - 20) * (log10(seconds) - low) / height

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="11">'
    ]
    parts.append(f'<rect width="{wide}" height="{high}" fill="white"/>')
    for colour, (grid, times) in zip(COLOURS, lines.items(), strict=True):
        points = " ".join(f"{x(nodes):.0f},{y(time):.0f}" for nodes, time in zip(NODES, times, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts.append(f'<text x="{x(1000) + 6:.0f}" y="{y(times[-1]):.0f}" dy="4">{grid}</text>')
    for nodes in (1, 10, 100, 1000):
        parts.append(f'<text x="{x(nodes):.0f}" y="{bottom + 16}" text-anchor="middle">{nodes}</text>')
    for power in range(-(-int(low * 10) // 10) + 1, int(low + height) + 1):
        parts.append(f'<text x="{left - 6}" y="{y(10.0**power):.0f}" dy="4" text-anchor="end">1e{power} s</text>')
    parts.append(f'<text x="{wide // 2}" y="{high - 12}" text-anchor="middle">nodes; ten days, 90 levels</text>')
    parts.append(f'<path d="M{left} 20V{bottom}H{wide - 64}" fill="none" stroke="black"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Write the plot, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    PLOT.write_text(plot(), encoding="utf-8")
    found = list(wrong())
    print("\n".join(found) if found else f"{len(GRIDS) * len(NODES) * len(IO_RANKS)} cases: nothing is wrong")


if __name__ == "__main__":
    main()
