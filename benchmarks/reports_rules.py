"""What share of the CPU time of a check and of a lint the rules take that say what the reports teach.

    python benchmarks/reports_rules.py             # against the same program without these rules
    python benchmarks/reports_rules.py CHECKOUT    # against an earlier program, another checkout of nmlgen

docs/reports.md tells which reports. Each line is the median, over pairs of whole processes, of the user and system
time; without the rules nothing is loaded that only they need.
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

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "nh_dcmip_tc_52_r2b5.yaml"
RUNS = 15
RULES = (
    "DSH001 LFS002 LOC003 LOC004 LOC006 LOC007 LUS010 LUS011 LUS012 LUS013 LUS014 LUS015 MEM001 MEM002 MEM003 MPI014 "
    "MPI015 MPI016 MPI017 MPI018 MPI019 MPI020 MPI021 MPI022 MPI023 MPI024 OMP001 OUT003 OUT032 PAR013 RST013 RST032 "
    "RST033 SLM026 SLM027"
)
"""Those that came with the advisor's part in every check, and those that ask it since."""

FAR = ["--set", "job.nodes=10", "--set", "parallel.num_io_procs=1", "--set", "output.atm.stream_partitions_ml=1"]
STREAMS = ["--set", "output.more={output_interval: PT1H, file_interval: P1D, ml_varlist: [u, v]}"]
_RUN = """
import sys
import nmlgen.rules
every, without = nmlgen.rules.all_rules, set(sys.argv.pop(1).split())
nmlgen.rules.all_rules = lambda: tuple(rule for rule in every() if rule.code not in without)
from nmlgen.cli import main
sys.exit(main())
"""


def cpu_seconds(command: list[str], without: str = "", program: Path = ROOT) -> float:
    """User and system time of one run of a command of nmlgen, without some rules. Runs in the program's own directory,
    from which Python would take it before PYTHONPATH."""
    environment = {**os.environ, "PYTHONPATH": str(program)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, "-c", _RUN, without, *command]
    done = subprocess.run(line, check=False, stdout=subprocess.DEVNULL, env=environment, cwd=program)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def compare(name: str, command: list[str], earlier: Path | None) -> None:
    """Print a line: before and after, one behind the other, so often."""

    def before() -> float:
        return cpu_seconds(command, RULES) if earlier is None else cpu_seconds(command, program=earlier)

    before(), cpu_seconds(command)
    pairs = [(before(), cpu_seconds(command)) for _ in range(RUNS)]
    first, then = (1000 * statistics.median(times) for times in zip(*pairs, strict=True))
    share = 100 * statistics.median(each / other - 1 for other, each in pairs)
    print(f"{name:<44} {first:6.0f} {then:6.0f} ms CPU {share:+6.1f} %", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", nargs="?", type=Path)
    checkout = parser.parse_args().checkout
    if checkout is not None and not (checkout / "nmlgen").is_dir():
        parser.exit(2, f"{checkout} is no checkout of nmlgen\n")
    earlier = None if checkout is None else checkout.resolve()
    print(f"{'':<44} before  after")
    with tempfile.TemporaryDirectory() as directory:
        built = str(Path(directory) / "run")
        subprocess.run([sys.executable, "-m", "nmlgen", "build", "-q", str(EXAMPLE), "-o", built], check=True)
        for name, command in (
            ("check, the Levante example", ["check", str(EXAMPLE)]),
            ("check, one I/O rank on ten nodes", ["check", str(EXAMPLE), *FAR]),
            ("check, two streams", ["check", str(EXAMPLE), *STREAMS]),
            ("lint, the Levante example built", ["lint", built]),
        ):
            compare(name, command, earlier)


if __name__ == "__main__":
    main()
