"""CPU time and memory of the report of a sweep, its size, by the number of its points.

    python benchmarks/report.py [POINTS...]

The points are those of the measured runs on Levante with output, again and again with another nproma. Only the page is
made; reading logs is measured by `benchmarks/logs.py`.
"""

from __future__ import annotations

import argparse
import resource
import time

from nmlgen.advise.measurements import TABLES, levante_runs
from nmlgen.report.sweep.page import sweep_page
from nmlgen.report.sweep.run import Measured, PointRun, Predicted, SweepRuns


def sweep(points: int) -> SweepRuns:
    """A sweep of so many points that have all run."""
    measured = [run for run in levante_runs(TABLES[:1]) if run.case.outputs > 2]
    runs = []
    for number in range(points):
        run, copy = measured[number % len(measured)], number // len(measured)
        case, total = run.case, run.total_s * (1 + 1e-4 * (number * 7919 % 1000))  # no two are the same
        values = {
            "grid.name": f"{case.n_cells} cells",
            "output.atm.output_interval": f"PT{case.output_interval_s or 0:.0f}S",
            "job.nodes": case.nodes,
            "parallel.nproma": 8 + copy,
            "parallel.num_io_procs": case.num_io_procs,
        }
        times = Measured(total_s=total, wrt_output_work_s=total / 10, wrt_output_io_s=total / 2)
        expected = Predicted(total_s=run.total_s, low_s=0.9 * run.total_s, high_s=1.1 * run.total_s)
        runs.append(
            PointRun(
                name=f"point-{number}",
                values=values,
                state="finished",
                nodes=case.nodes,
                measured=times,
                predicted=expected,
                details=(("directory", f"points/point-{number}"), ("log", f"points/point-{number}/run/icon.log")),
            )
        )
    return SweepRuns(name="benchmark", runs=tuple(runs), version="0")


def main() -> None:
    """Make the pages, small ones first, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="*", type=int, default=[100, 1000, 10_000], help="100, 1000, 10000 by default")
    arguments = parser.parse_args()
    print("points  CPU s  page MB  peak MB")
    for points in sorted(arguments.points):
        given = sweep(points)
        before = time.process_time()
        page = sweep_page(given)
        seconds = time.process_time() - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(f"{points:6}  {seconds:5.2f}  {len(page.encode()) / 1e6:7.1f}  {peak:7.0f}")


if __name__ == "__main__":
    main()
