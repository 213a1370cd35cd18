"""Seeded fuzzers that know the structure of what they change. `tests/test_fuzzing.py` runs a few cases of each,
`benchmarks/fuzz.py` as many as one likes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fuzzing.cases import Case, Fuzzer
from fuzzing.large import large
from fuzzing.limited import Ended, warm_up
from fuzzing.slurm import replies
from fuzzing.specs import calibrations, configurations, site_files, specs, sweeps
from fuzzing.texts import logs, namelists, scripts

KINDS: dict[str, Fuzzer] = {
    "specs": specs,
    "sites": site_files,
    "calibrations": calibrations,
    "sweeps": sweeps,
    "configurations": configurations,
    "namelists": namelists,
    "scripts": scripts,
    "logs": logs,
    "slurm": replies,
    "large": large,
}


def ends(
    kind: str, seed: object, count: int, directory: Path, cpu: int | None = None
) -> Iterator[tuple[Case, list[Ended]]]:
    """So many cases of a kind, each with how its calls ended in the directory; `cpu` as `call` has it."""
    known = set[str]()
    for case in islice(KINDS[kind](random.Random(f"{kind} {seed}")), count):
        done = case.run(directory, cpu)
        for end in done:
            if end.fault is None and end.arguments[0] not in known:  # what it loads is loaded once
                known.add(end.arguments[0])
                warm_up(directory, end.arguments, case.environment(directory))
        yield case, done
