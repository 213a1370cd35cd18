"""The model far from what was measured: 1 to 1000 nodes, R2B4 to R2B10, 0 to 64 I/O ranks.

    python benchmarks/advisor_sweep.py        # docs/advisor-sweep.svg, and what is wrong, if anything is

Each case writes an hour's output of 54 variables on 90 levels for ten days, with the likeliest constants. It is held
that computing never grows with the nodes, that nothing takes longer than computing and one rank that writes all bytes
at the slowest rate measured, and that no time is told but a range more than four times beyond what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import log10
from pathlib import Path

from nmlgen.advise.calibration import levante
from nmlgen.advise.case import Case
from nmlgen.advise.model import PARTS, SLOWEST_OUTPUT, run_time, step_time
from nmlgen.advise.prediction import predict

PLOT = Path(__file__).parent.parent / "docs" / "advisor-sweep.svg"
GRIDS = {f"R2B{k}": 20 * 4 * 4**k for k in range(4, 11)}
NODES = (1, 2, 3, 5, 8, 13, 20, 32, 50, 80, 128, 200, 320, 500, 800, 1000)
IO_RANKS = (0, 1, 2, 4, 8, 16, 32, 64)
STEPS_S = {"R2B4": 360, "R2B5": 180, "R2B6": 90, "R2B7": 45, "R2B8": 20, "R2B9": 10, "R2B10": 5}
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


def wrong() -> Iterator[str]:
    """What is not as it must be."""
    constants = levante().estimate.constants
    for grid in GRIDS:
        for ranks in IO_RANKS:
            before = None
            for nodes in NODES:
                case = case_of(grid, nodes, ranks)
                parts = dict(zip(PARTS, run_time(case, constants), strict=True))
                computing, total = parts["computing"] + parts["ranks taken away"], sum(parts.values())
                bound = computing + parts["start-up"] + case.outputs * case.output_bytes / SLOWEST_OUTPUT
                where = f"{grid}, {nodes} nodes, {ranks} I/O ranks"
                if before is not None and computing > before * (1 + 1e-9):
                    yield f"{where}: computing grows with the nodes, {before:.0f} to {computing:.0f} s"
                if total > bound:
                    yield f"{where}: {total:.0f} s, but {bound:.0f} s if one rank wrote all at the slowest rate"
                before = computing
                if step_time(case, constants, case.workers) <= 0:
                    yield f"{where}: a time step takes no time"
                told = predict(case)
                if told.is_far and re.search(r"\d min", str(told)):
                    yield f"{where}: minutes are told, far from what was measured: {told}"


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
    PLOT.write_text(plot(), encoding="utf-8")
    found = list(wrong())
    print("\n".join(found) if found else f"{len(GRIDS) * len(NODES) * len(IO_RANKS)} cases: nothing is wrong")


if __name__ == "__main__":
    main()
