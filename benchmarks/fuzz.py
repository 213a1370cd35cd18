"""Fuzz nmlgen: inputs that are changed in all ways, each read by whole commands, in processes that the kernel holds to
5 s of CPU and 500 MB of address space.

    python benchmarks/fuzz.py                      # every kind, 1000 cases each
    python benchmarks/fuzz.py specs scripts --count 30000 --seed 7 --keep failures

A case fails if a command ends by a signal, prints a traceback, tells of a mistake in nmlgen, or ends with another exit
code than 0, 1 or 2. Failures are told once for each place where they happen; --keep writes the inputs of the first one.
`whole` says how many inputs were good enough for nmlgen to do all its work.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import evolve

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzzing import EDITOR, KINDS, ends, many
from fuzzing.cases import Case
from fuzzing.limited import CPU_SECONDS, Ended


def fuzz(
    kind: str, count: int, seed: int, keep: Path | None, runs: Callable[..., Iterator[tuple[Case, list[Ended]]]]
) -> int:
    """Run so many cases of a kind; returns how many failed."""
    calls = whole = failed = 0
    cpu = memory = 0.0
    told: Counter[str] = Counter()
    with TemporaryDirectory() as name:
        directory = Path(name) / "work"
        for number, (case, done) in enumerate(runs(kind, seed, count, directory, CPU_SECONDS)):
            calls += len(done)
            whole += case.is_whole(done)
            cpu, memory = max(cpu, *(end.cpu for end in done)), max(memory, *(end.memory for end in done))
            if slow := next((end for end in done if end.cpu > CPU_SECONDS / 2), None):
                print(f"{kind} {number}: {' '.join(slow.arguments)}: {slow.cpu:.1f} s of CPU", flush=True)
                if keep is not None:
                    _keep(keep / f"{kind}-{seed}-{number}-slow", case, slow)
            faults = {fault: end for end in done if (fault := end.fault) is not None}
            failed += bool(faults)
            for fault, end in faults.items():
                told[fault] += 1
                if told[fault] == 1 or fault in ("CPU", "memory"):
                    print(f"{kind} {number}: {' '.join(end.arguments)}: {fault}", flush=True)
                    if keep is not None:
                        _keep(keep / f"{kind}-{seed}-{number}", case, end)
    print(
        f"{kind}: {count} cases, {calls} calls, {whole} whole ({100 * whole / max(1, count):.0f} %), {failed} failed; "
        f"at most {cpu:.2f} s of CPU and {memory / 1e6:.0f} MB in a call",
        flush=True,
    )
    for fault, times in told.most_common():
        print(f"  {times} x {fault}")
    return failed


def _keep(directory: Path, case: Case, end: Ended) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    evolve(case, calls=()).run(directory / "files")
    (directory / "call").write_text(" ".join(end.arguments) + "\n\n" + end.out + end.error, errors="backslashreplace")


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}, {EDITOR}; all by default")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--together", action="store_true", help="many cases in one process, which is much faster")
    arguments = parser.parse_args()
    known = [*KINDS, EDITOR]
    if unknown := set(arguments.kinds) - set(known):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    runs = many if arguments.together else ends
    kinds = arguments.kinds or known
    failed = [fuzz(kind, arguments.count, arguments.seed, arguments.keep, runs) for kind in kinds]
    sys.exit(1 if any(failed) else 0)


if __name__ == "__main__":
    main()
