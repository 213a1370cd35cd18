"""The words of a launcher's command: which are options, which are values of these, and which starts a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from nmlgen.resources import shipped

RUNS_OTHERS = frozenset(("env", "gdb", "nice", "numactl", "perf", "stdbuf", "taskset", "time", "timeout", "valgrind"))
"""Programs that run the command in their words."""

# mpirun and mpiexec of Open MPI 4.1 and 5 and of Intel MPI 2021 (Hydra), each name with one dash or two.
MPIRUN_TASKS = ("n", "np", "c")
MPIRUN_TASKS_PER_NODE = ("ppn", "perhost", "npernode", "N")
MPIRUN_ENVIRONMENT = ("genv", "env")
MPIRUN_WITH_TWO_VALUES = frozenset(("mca", "gmca", "prtemca", "pmixmca", *MPIRUN_ENVIRONMENT))
MPIRUN_WITH_VALUE = frozenset(
    (
        *("H", "app", "bind-to", "bootstrap", "configfile", "cpu-list", "cpu-set", "cpus-per-proc", "cpus-per-rank"),
        *("envlist", "f", "genvlist", "gtool", "gtoolfile", "host", "hostfile", "hosts", "iface", "launcher"),
        *("machine", "machinefile", "map-by", "npersocket", "output-filename", "outfile-pattern", "errfile-pattern"),
        *("path", "personality", "prefix", "rank-by", "rankfile", "rf", "rmk", "timeout", "tune", "wd", "wdir", "x"),
    )
)
MPIRUN_ALONE = frozenset(
    (
        *("V", "allow-run-as-root", "bind-to-core", "bind-to-none", "bind-to-socket", "bycore", "bynode", "byslot"),
        *("bysocket", "check_mpi", "debug-daemons", "display-allocation", "display-map", "envall", "envnone"),
        *("genvall", "genvnone", "l", "nolocal", "nooversubscribe", "ordered-output", "oversubscribe", "prepend-rank"),
        *("print-all-exitcodes", "print-rank-map", "q", "quiet", "report-bindings", "rr", "tag-output"),
        *("timestamp-output", "trace", "use-hwthread-cpus", "v", "verbose"),
    )
)


def first_program(launcher: str, words: Sequence[str]) -> int | None:
    """The number of the first word that is neither an option nor the value of one: the program that the launcher
    starts, or, behind `--multi-prog`, a file of several. None where there is no such word, or where nobody knows, for
    an option before it is known to nobody."""
    number = 0
    while number < len(words):
        word = words[number]
        if not word.startswith("-") or word == "-":
            return number
        if word == "--":
            return number + 1 if number + 1 < len(words) else None
        values = _of_srun(word) if launcher == "srun" else _of_mpirun(word)
        if values is None:
            return None
        number += 1 + values
    return None


def _of_mpirun(word: str) -> int | None:
    name, equals, _ = word.lstrip("-").partition("=")
    if equals or name in MPIRUN_ALONE:
        return 0
    if name in MPIRUN_WITH_TWO_VALUES:
        return 2
    return 1 if name in MPIRUN_WITH_VALUE or name in (*MPIRUN_TASKS, *MPIRUN_TASKS_PER_NODE) else None


def _of_srun(word: str) -> int | None:
    known = _srun_options()
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        found = {name: known[name]} if name in known else {n: v for n, v in known.items() if n.startswith(name)}
        if equals:
            return 0
        return None if len(found) != 1 else int(*(value == "required" for value in found.values()))
    for at, letter in enumerate(word[1:], start=2):
        value = known.get(f"-{letter}")
        if value is None:
            return None
        if value != "none":
            return int(value == "required" and at == len(word))
    return 0


@cache
def _srun_options() -> Mapping[str, str]:
    """Whether a value follows, "none", "required" or "optional" (in the same word only), by the names of srun's options
    (Slurm 22.05), letters with a dash."""
    options = shipped("slurm-options.json")["srun"]
    letters = {f"-{facts['short']}": facts["value"] for facts in options.values() if "short" in facts}
    return letters | {name: facts["value"] for name, facts in options.items()}
