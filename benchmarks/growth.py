"""Does any function of nmlgen work more, the larger an input is, than the input grows?

    python benchmarks/growth.py                                # every kind of inputs, 100 cases each
    python benchmarks/growth.py scripts kept --count 1000 --seed 7

One element of an input comes 60, 120 and 240 times in its place: how often a call of nmlgen calls each function is
counted, so that no machine is too slow or too fast for it. Where that grows faster than the element by far, the input
is tried with as many of it as 14 kB to 0.9 MB hold, and what is called more than 5 million times for it is told.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzzing import KINDS
from fuzzing.growth import SECONDS, grown

_ALIKE = 3  # cases that are tried of one function


def grow(kind: str, count: int, seed: int) -> int:
    """Try so many cases of a kind; returns how many grow too fast."""
    told: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        directory = Path(name) / "work"
        for found in grown(KINDS[kind], f"{kind} {seed}", count, directory):
            for function in found.functions:
                told[function] += 1
            if any(told[function] <= _ALIKE for function in found.functions):
                end = found.case.run(directory, SECONDS)[-1]
                functions = ", ".join(
                    f"{function.rpartition('/nmlgen/')[2]}: {calls or 'no end of'} calls"
                    for function, calls in found.functions.items()
                )
                print(f"{kind}: {' '.join(end.arguments)}: {end.cpu:.1f} s of CPU; {functions}", flush=True)
    print(f"{kind}: {count} cases, {len(told)} functions that grow too fast", flush=True)
    return len(told)


def main() -> None:
    """Try what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if unknown := set(arguments.kinds) - set(KINDS):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    found = [grow(kind, arguments.count, arguments.seed) for kind in arguments.kinds or KINDS]
    sys.exit(1 if any(found) else 0)


if __name__ == "__main__":
    main()
