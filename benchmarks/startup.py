"""CPU time of nmlgen's start-up, of a check and of a build, beside what Python, f90nml and Jinja2 cost by themselves.

    python benchmarks/startup.py

Each line is the median of the user and system time of a whole process over several runs, and how many times that of a
bare Python start it is.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 15
# Where nothing compiled is kept, each start would compile all that it imports.
ENVIRONMENT = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
EXAMPLE = Path(__file__).parent.parent / "examples" / "nh_dcmip_tc_52_r2b5.yaml"


def cpu_seconds(command: list[str]) -> float:
    """User and system time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def median(command: list[str]) -> float:
    """The median over RUNS runs, after one that does not count."""
    cpu_seconds(command)
    return statistics.median(cpu_seconds(command) for _ in range(RUNS))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    python = sys.executable
    nmlgen = [str(Path(python).with_name("nmlgen"))]
    with tempfile.TemporaryDirectory() as directory:
        build = [*nmlgen, "build", "-q", str(EXAMPLE), "-o", directory, "--force"]
        rows = [
            ("python -c pass", [python, "-c", "pass"]),
            ("nmlgen --version", [*nmlgen, "--version"]),
            ("python -c 'import nmlgen'", [python, "-c", "import nmlgen"]),
            ("python -c 'import f90nml'", [python, "-c", "import f90nml"]),
            ("python -c 'import jinja2'", [python, "-c", "import jinja2"]),
            ("nmlgen explain RST001", [*nmlgen, "explain", "RST001"]),
            ("nmlgen rules", [*nmlgen, "rules"]),
            ("nmlgen check (the Levante example)", [*nmlgen, "check", str(EXAMPLE)]),
            ("nmlgen build (the Levante example)", build),
        ]
        bare = 0.0
        for name, command in rows:
            took = median(command)
            bare = bare or took
            print(f"{name:<36} {1000 * took:7.0f} ms CPU {took / bare:6.1f}")


if __name__ == "__main__":
    main()
