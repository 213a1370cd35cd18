"""CPU time and memory of a sweep, beside a plain loop over f90nml and Jinja2 that checks nothing.

    python benchmarks/sweep.py [MAXIMUM]

Points of the R2B5 example are expanded, checked and rendered in memory, for 100 and ten times as many up to MAXIMUM
(10000 by default); up to a million points are expanded. The loop patches the same namelists and fills a small script.
Every row is a process of its own, so that neither time nor memory of one helps or burdens another; what loading the
example costs is not in the time.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import f90nml
import jinja2

import nmlgen

EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
GRID = {
    "parallel.num_io_procs": list(range(1, 26)),
    "job.nodes": list(range(2, 66)),
    "parallel.nproma": list(range(4, 629)),
}
DERIVE = {"output.atm.stream_partitions_ml": "num_io_procs"}


def points() -> Iterator[nmlgen.Point]:
    """A million points."""
    return nmlgen.expand(SPEC, grid=GRID, derive=DERIVE)


def row(count: int, work: Callable[[int], None]) -> str:
    """What so many points cost in a process that does nothing else, as the columns of a row."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, count, work).result()


def measured(count: int, work: Callable[[int], None]) -> str:
    """What so many points cost after two that fill the caches."""
    work(2)
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


def built_anew(count: int) -> None:
    """The same with points each of which has another layout of I/O ranks, which the advisor looks at anew."""
    layouts = {key: GRID[key] for key in ("parallel.nproma", "job.nodes", "parallel.num_io_procs")}
    for point in islice(nmlgen.expand(SPEC, grid=layouts, derive=DERIVE), count):
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maximum", nargs="?", type=int, default=10_000)
    maximum = parser.parse_args().maximum
    powers = [10**exponent for exponent in range(2, 7)]
    for what, work, counts in (
        ("expanded, checked and rendered", built, [count for count in powers if count <= maximum]),
        ("the same, each with another layout", built_anew, [1000]),
        ("expanded", expanded, powers),
        ("f90nml and Jinja2, not checked", plain, [count for count in powers if count <= min(maximum, 1000)]),
    ):
        print(what)
        for count in counts:
            print(row(count, work), flush=True)


if __name__ == "__main__":
    main()
