"""Variables that a runtime looks for by name, and finds no other."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.findings import Finding, Severity, nearest
from nmlgen.rules.rule import Rule

_OPENMP = tuple(
    f"OMP_{name}"
    for name in (
        *("AFFINITY_FORMAT", "ALLOCATOR", "AVAILABLE_DEVICES", "CANCELLATION", "DEBUG", "DEFAULT_DEVICE"),
        *("DISPLAY_AFFINITY", "DISPLAY_ENV", "DYNAMIC", "MAX_ACTIVE_LEVELS", "MAX_TASK_PRIORITY", "NESTED"),
        *("NUM_TEAMS", "NUM_THREADS", "PLACES", "PROC_BIND", "SCHEDULE", "STACKSIZE", "TARGET_OFFLOAD"),
        *("TEAMS_THREAD_LIMIT", "THREAD_LIMIT", "THREADS_RESERVE", "TOOL", "TOOL_LIBRARIES", "TOOL_VERBOSE_INIT"),
        "WAIT_POLICY",
    )
)
"""OpenMP 6.0, section 4."""

_DARSHAN = tuple(
    f"DARSHAN_{name}"
    for name in (
        *("APP_EXCLUDE", "APP_INCLUDE", "CONFIG_PATH", "DISABLE", "DISABLE_SHARED_REDUCTION", "DUMP_CONFIG"),
        *("DXT_SMALL_IO_TRIGGER", "DXT_UNALIGNED_IO_TRIGGER", "ENABLE_NONMPI", "EXCLUDE_DIRS", "INTERNAL_TIMING"),
        *("JOBID", "LOGFILE", "LOGHINTS", "LOGPATH", "MAX_RECORDS", "MEMALIGN", "MMAP_LOGPATH", "MOD_DISABLE"),
        *("MOD_ENABLE", "MODMEM", "NAME_EXCLUDE", "NAME_INCLUDE", "NAMEMEM", "RANK_EXCLUDE", "RANK_INCLUDE"),
    )
)
"""Darshan runtime documentation of 3.4, configuration."""

_KNOWN = {"OMP_": _OPENMP, "DARSHAN_": _DARSHAN}


class MisspeltVariable(Rule):
    """A variable of OpenMP or of Darshan is misspelt.

    ## What it does
    Finds a variable that begins with `OMP_` or `DARSHAN_`, is none of those that they have, and is nearly one of them.

    ## Why it matters
    Nobody reads it, and nobody says so: the threads, their stack or the log are what they are without it.

    ## Evidence
    OpenMP and Darshan look for their own names and ignore all others.

    ## Example
    ```yaml bad
    environment: {OMP_STACKSIZ: "200M"}
    #                           ^
    ```
    ```yaml good
    environment: {OMP_STACKSIZE: "200M"}
    ```

    ## References
    OpenMP 6.0, environment variables; Darshan runtime documentation, configuration.
    """

    code = "ENV003"
    name = "misspelt-variable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting in experiment.environment.items():
            known = next((names for beginning, names in _KNOWN.items() if name.startswith(beginning)), ())
            if known and name not in known and (meant := nearest(name, known)) is not None:
                yield self.finding(setting, f"nothing reads {name}", f'did you mean "{meant}"?')
