"""CPU time of `nmlgen advise`, and of sweeps whose points leave their layout to the advisor.

    python benchmarks/advise.py [POINTS]

The command counts with its start-up: the median of the user and system time of a whole process. POINTS (1000 by
default) are expanded, checked and rendered in memory: with a layout of their own; with `auto` where few cases differ
(nproma and nodes); with `auto` where each case is another one (output interval and nodes).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from startup import median

import nmlgen

EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
LEFT_OPEN = ("parallel.num_io_procs", "output.atm.stream_partitions_ml", "restart.restart_write_mode")
FEW_CASES = {"job.nodes": list(range(2, 18)), "parallel.nproma": list(range(4, 516))}
MANY_CASES = {
    "output.atm.output_interval": [f"PT{2 * number}M" for number in range(1, 61)],
    "job.nodes": list(range(2, 34)),
}


def seconds(spec: nmlgen.Spec, grid: Mapping[str, list[Any]], count: int) -> float:
    """The CPU time of so many points."""
    before = time.process_time()
    for point in islice(nmlgen.expand(spec, grid=grid), count):
        if not point.problems:
            nmlgen.build(point)
    return time.process_time() - before


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="?", type=int, default=1000)
    count = parser.parse_args().points
    command = [sys.executable, "-m", "nmlgen", "advise", str(EXAMPLE)]
    print(f"{'nmlgen advise (the Levante example)':<40} {1000 * median(command):7.0f} ms CPU")
    spec = nmlgen.load_spec(EXAMPLE)
    auto = spec.with_(dict.fromkeys(LEFT_OPEN, "auto"))
    for name, base, grid in (
        ("points without auto", spec, FEW_CASES),
        ("points with auto, few cases", auto, FEW_CASES),
        ("points with auto, each case another", auto, MANY_CASES),
    ):
        print(f"{name:<40} {1000 * seconds(base, grid, count) / count:7.1f} ms CPU a point")


if __name__ == "__main__":
    main()
