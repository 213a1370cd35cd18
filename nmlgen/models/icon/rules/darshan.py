"""Darshan: whether its log will be written, under which name, and with every file in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import Clock, clock
from nmlgen.models.icon.ranks import (
    PlacementError,
    level_types,
    output_files,
    partition_count,
    placement,
    split,
)
from nmlgen.models.icon.schedule import files_of_a_sequence
from nmlgen.rules.rule import Rule
from nmlgen.units.duration import Duration
from nmlgen.values import evolve

_DEFAULT_RECORDS = 1024
_DEFAULT_MEMORY = 4
_MOST_PARTITIONS = 100_000
"""A bound on work: more are a mistake, and would take long to count."""

_ICONS_OWN_IO, _CDI_PIO = 1, 2
_LOG_VARIABLES = ("DARSHAN_LOGFILE", "DARSHAN_LOGPATH")
_DEPRECATED = {
    "DXT_ENABLE_IO_TRACE": 'darshan.DARSHAN_MOD_ENABLE "DXT_POSIX,DXT_MPIIO"',
    "DARSHAN_EXCLUDE_DIRS": "NAME_EXCLUDE in a file that DARSHAN_CONFIG_PATH names",
}


def _variables(experiment: Experiment) -> dict[str, Setting]:
    """What is exported to the run for Darshan, whichever section says it."""
    own = experiment.darshan.environment if experiment.darshan is not None else {}
    return {**experiment.environment, **own}


class PreloadForEverything(Rule):
    """LD_PRELOAD in the environment lands in every program the script starts.

    ## What it does
    Finds LD_PRELOAD below `environment:`, and in a script one that is exported.

    ## Why it matters
    srun, cp, lfs and every other helper load the library too. A Darshan made for MPI then pulls the MPI library into
    each of them, which slows them down and can break them: programs that cannot find that library end at once, others
    write logs of their own. Reports and manuals show the export since it is one line; the model is the only program
    whose log anybody wants.

    ## Evidence
    Measured with a probe on three ranks: an exported LD_PRELOAD was loaded by srun as well, one set for mpirun by
    mpirun, orted and srun; given with `srun env`, by the three ranks only. The export is what F. Ott, IO-Verhalten und
    -Effizienz im Klima- und Wettermodell ICON, 2025, has in the head of the script; his logs are of the model, since
    the helpers there are no MPI programs and Darshan writes none for them.

    ## Example
    ```yaml bad
    environment: {LD_PRELOAD: /sw/darshan/lib/libdarshan.so}
    #                         ^
    ```
    ```yaml good
    darshan: {library: /sw/darshan/lib/libdarshan.so}
    ```

    ## References
    Darshan runtime documentation, using LD_PRELOAD.
    """

    code = "DSH001"
    name = "preload-for-everything"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        preload = experiment.environment.get("LD_PRELOAD")
        if preload is not None and preload.value != "":
            yield self.finding(
                preload,
                f'LD_PRELOAD "{preload.value}" is loaded by every program that the script starts',
                "expected: darshan.library for Darshan, which only the model loads",
            )
        darshan = experiment.darshan
        if darshan is not None and darshan.for_all and darshan.library is not None:
            yield self.finding(
                darshan.library,
                f'"{darshan.library.value}" is loaded by every program that the script starts, not by the model alone',
                "expected: no export, and the library for the model only, such as: srun env LD_PRELOAD=... ./icon",
            )


class LogNamedTwice(Rule):
    """The script names Darshan's log for the run.

    ## What it does
    Finds DARSHAN_LOGFILE or DARSHAN_LOGPATH below `environment:` while `darshan` is on; in a script of somebody else
    DARSHAN_LOGPATH where DARSHAN_LOGFILE is set, too.

    ## Why it matters
    The script of a build sets DARSHAN_LOGFILE to a name of its own, for each job of a chain another: the setting has no
    effect. Nor has DARSHAN_LOGPATH beside DARSHAN_LOGFILE, which is the whole path.

    ## Evidence
    Darshan runtime documentation: DARSHAN_LOGFILE is the whole path of the log, DARSHAN_LOGPATH a tree of directories
    by date.

    ## Example
    ```yaml bad
    darshan: true
    environment: {DARSHAN_LOGPATH: /work/bb1234/darshan}
    #                              ^
    ```
    ```yaml good
    darshan: true
    ```

    ## References
    Darshan runtime documentation, environment variables.
    """

    code = "DSH002"
    name = "log-named-twice"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        if experiment.darshan is None:
            return
        file, path = (experiment.environment.get(name) for name in _LOG_VARIABLES)
        if experiment.knows_inputs:  # a spec, or its build
            for name, setting in zip(_LOG_VARIABLES, (file, path), strict=True):
                if setting is not None:
                    yield self.finding(
                        setting,
                        f"{name} has no effect: the script names the log of each job",
                        f"expected: no {name}; the log lies with the run",
                    )
        elif file is not None and path is not None:
            yield self.finding(
                path, "DARSHAN_LOGPATH has no effect: DARSHAN_LOGFILE names the log", "expected: one of the two"
            )


class JobIdNotAName(Rule):
    """DARSHAN_JOBID holds the name of a variable, not a job id.

    ## What it does
    Finds another value than a variable's name.

    ## Why it matters
    Darshan looks for a variable of that name, finds none and takes the process id as job id: logs cannot be told apart
    by job.

    ## Evidence
    Darshan runtime documentation. Logs of real runs on Levante have the process id for job id, since the library was
    built without a name.

    ## Example
    ```yaml bad
    environment: {DARSHAN_JOBID: "$SLURM_JOB_ID"}
    #                            ^
    ```
    ```yaml good
    environment: {DARSHAN_JOBID: SLURM_JOB_ID}
    ```

    ## References
    Darshan runtime documentation, environment variables.
    """

    code = "DSH003"
    name = "job-id-not-a-name"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        setting = _variables(experiment).get("DARSHAN_JOBID")
        if setting is not None and not re.fullmatch(r"[A-Za-z_]\w*", str(setting.value)):
            yield self.finding(
                setting,
                f'DARSHAN_JOBID "{setting.value}" is no name of a variable',
                "expected: SLURM_JOB_ID, the name itself without $",
            )


class NonMpiEnabled(Rule):
    """ICON is an MPI program: Darshan needs no DARSHAN_ENABLE_NONMPI for it.

    ## What it does
    Finds DARSHAN_ENABLE_NONMPI.

    ## Why it matters
    It makes Darshan watch programs without MPI. Wherever the library is loaded, helpers and wrappers write logs of
    their own beside the model's.

    ## Evidence
    Darshan runtime documentation of 3.4.

    ## Example
    ```yaml bad
    darshan: true
    environment: {DARSHAN_ENABLE_NONMPI: "1"}
    #                                    ^
    ```
    ```yaml good
    darshan: true
    ```

    ## References
    Darshan runtime documentation, instrumenting non-MPI applications.
    """

    code = "DSH004"
    name = "non-mpi-enabled"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        setting = _variables(experiment).get("DARSHAN_ENABLE_NONMPI")
        if setting is not None:
            yield self.finding(
                setting,
                "DARSHAN_ENABLE_NONMPI has programs without MPI write logs of their own",
                "expected: none; Darshan watches an MPI program as it is",
            )


class NoDarshanLibrary(Rule):
    """Darshan is asked for, and no library of it is known.

    ## What it does
    Finds `darshan` switched on where neither the spec nor the site names the library, or the name is not that of a
    shared library.

    ## Why it matters
    Without the library there is no log: the run is spent and the measurement lost. The loader prints a line for each
    process and goes on.

    ## Evidence
    Measured: a missing library in LD_PRELOAD gives one line of ld.so a process, exit code 0 and no log.

    ## Example
    ```yaml bad
    darshan: {library: /sw/darshan/lib}
    #                  ^
    ```
    ```yaml good
    darshan: {library: /sw/darshan/lib/libdarshan.so}
    ```

    ## References
    Darshan runtime documentation, using LD_PRELOAD.
    """

    code = "DSH005"
    name = "no-darshan-library"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        if experiment.darshan is None:
            return
        library, note = experiment.darshan.library, "expected: darshan.library, the path of libdarshan.so"
        if library is None:
            site = experiment.machine.name
            yield self.finding(
                experiment.darshan.span, f"darshan is on, and site {site} does not know its library", note
            )
        elif not re.search(r"\.so(\.\d+)*$", str(library.value)):
            yield self.finding(library, f'"{library.value}" is no shared library', note)


def _first_job(time: Clock) -> Clock:
    """The clock of the first job of a chain: Darshan writes a log a job."""
    return evolve(time, stop=time.calendar.add(time.start, Duration(0, time.end_of(1))))


def _partitions(component: Component) -> int:
    """Into how many partitions all streams are divided."""
    return sum(
        partition_count(component, stream, level_type)
        for stream in component.streams
        for level_type in level_types(component, stream)
    )


def _files_of_ranks(component: Component) -> Collection[int]:
    """How many output files each rank opens in one job; none where ranks share files."""
    time, pio_type = _first_job(clock(component)), component["parallel_nml", "pio_type"].value
    ranks = split(component)
    if pio_type == _CDI_PIO or ranks.work < 1 or _partitions(component) > _MOST_PARTITIONS:
        return ()
    files: Counter[int] = Counter()
    if pio_type == _ICONS_OWN_IO:
        for file, rank in placement(component):
            files[rank] += files_of_a_sequence(component, file.stream, file.level_type, time)
    else:
        for file in output_files(component):
            files[0] += files_of_a_sequence(component, file.stream, file.level_type, time)
    return files.values()


class RecordsOverflow(Rule):
    """Darshan keeps a record for each file, by default of 1024 files a rank.

    ## What it does
    Finds a rank that opens more output files in one job than Darshan has records for.

    ## Why it matters
    What the rank writes to later files is missing from the log, which is then marked as partial: volumes and rates are
    too small.

    ## Evidence
    Darshan runtime documentation: 1024 records of a module in a process. Logs of measured ICON runs with more files are
    marked so.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 1}
    output: {atm: {output_interval: PT10M, file_interval: PT10M, stream_partitions_ml: 1}}
    darshan: true
    #        ^
    ```
    ```yaml good
    darshan: {MAX_RECORDS: 4096, DARSHAN_MODMEM: 16}
    ```

    ## References
    Darshan runtime documentation, configuration: MAX_RECORDS and MODMEM.
    """

    code = "DSH006"
    name = "records-overflow"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        darshan = experiment.darshan
        if darshan is None:
            return
        limit = darshan.max_records.value if darshan.max_records is not None else _DEFAULT_RECORDS
        try:
            counts = [files for component in experiment.components for files in _files_of_ranks(component)]
        except PlacementError:
            return
        if isinstance(limit, int) and any(files > limit for files in counts):
            files = max(counts)
            memory = _DEFAULT_MEMORY * -(-files // _DEFAULT_RECORDS)
            yield self.finding(
                darshan.max_records or darshan.span,
                f"one rank writes {files} files in a job, Darshan keeps records of {limit}",
                f"expected: MAX_RECORDS {files + 100} or more, with DARSHAN_MODMEM {memory} (MiB; the default is "
                f"{_DEFAULT_MEMORY}), or a longer file_interval",
            )


class DeprecatedDarshanVariable(Rule):
    """Darshan replaced two of its variables.

    ## What it does
    Finds DXT_ENABLE_IO_TRACE and DARSHAN_EXCLUDE_DIRS.

    ## Why it matters
    They are deprecated: a newer library may ignore them.

    ## Evidence
    Darshan runtime documentation of 3.4.

    ## Example
    ```yaml bad
    darshan: {DARSHAN_EXCLUDE_DIRS: "/proc,/etc"}
    #                               ^
    ```
    ```yaml good
    darshan: {DARSHAN_MOD_ENABLE: "DXT_POSIX,DXT_MPIIO"}
    ```

    ## References
    Darshan runtime documentation, configuration.
    """

    code = "DSH007"
    name = "deprecated-darshan-variable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting in _variables(experiment).items():
            if name in _DEPRECATED:
                yield self.finding(setting, f"{name} is deprecated in Darshan 3.4", f"expected: {_DEPRECATED[name]}")
