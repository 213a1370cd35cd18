"""CPU time and memory of a sweep, beside a plain loop over f90nml and Jinja2 that checks nothing.

    python benchmarks/sweep.py [MAXIMUM]

Points of the R2B5 example are expanded, checked and rendered in memory, for 100 and ten times as many up to MAXIMUM
(10000 by default); a million points are expanded. The loop patches the same namelists and fills a small script.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import f90nml
import jinja2

import nmlgen

EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
GRID = {
    "parallel.num_io_procs": list(range(1, 33)),
    "job.nodes": list(range(2, 66)),
    "parallel.nproma": list(range(4, 516)),
}
DERIVE = {"output.atm.stream_partitions_ml": "num_io_procs"}


def points() -> Iterator[nmlgen.Point]:
    """A little over a million points."""
    return nmlgen.expand(SPEC, grid=GRID, derive=DERIVE)


def measured(count: int, work: Callable[[int], None]) -> str:
    """What so many points cost, as the columns of a row."""
    before = time.process_time()
    work(count)
    seconds = time.process_time() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"{count:>9} {seconds:>9.2f} s {seconds / count * 1000:>8.3f} ms a point {memory:>6.0f} MiB"


def expanded(count: int) -> None:
    """Expand points."""
    for _ in islice(points(), count):
        pass


def built(count: int) -> None:
    """Expand, check and render points."""
    for point in islice(points(), count):
        nmlgen.build(point)


def plain(count: int) -> None:
    """What a script does: namelists by f90nml, a script by Jinja2, no checks."""
    template = jinja2.Environment().from_string(SCRIPT)
    files = nmlgen.build(SPEC).files
    texts = [data.decode() for name, data in files.items() if "NAMELIST" in name or name.endswith(".namelist")]
    for point in islice(points(), count):
        for text in texts:
            namelist = f90nml.Parser().reads(text)
            if "parallel_nml" in namelist:
                namelist["parallel_nml"]["num_io_procs"] = point.values["parallel.num_io_procs"]
                namelist["parallel_nml"]["nproma"] = point.values["parallel.nproma"]
            str(namelist)
        template.render(name=point.name, nodes=point.values["job.nodes"], files=list(files))


SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={{ name }}
#SBATCH --nodes={{ nodes }}
{% for file in files %}cp {{ file }} run/
{% endfor %}srun ./icon
"""
SPEC = nmlgen.load_spec(EXAMPLE)


def main() -> None:
    """Print the tables."""
    maximum = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    nmlgen.build(SPEC)
    print("expanded, checked and rendered")
    count = 100
    while count <= maximum:
        print(measured(count, built))
        count *= 10
    print("expanded")
    for count in (1000, 100_000, 1_000_000):
        print(measured(count, expanded))
    print("f90nml and Jinja2, not checked")
    print(measured(100, plain))
    print(measured(1000, plain))


if __name__ == "__main__":
    main()
