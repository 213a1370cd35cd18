"""Seeded fuzzers that know the structure of what they change. `tests/test_fuzzing.py` runs a few cases of each,
`benchmarks/fuzz.py` as many as one likes."""

from __future__ import annotations

from fuzzing.cases import Fuzzer
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
}
