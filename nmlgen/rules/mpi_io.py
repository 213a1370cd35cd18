"""MPI-IO: which variables and hints the MPI library of the run understands, and what they do to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.mpi_io import (
    FORCE_VARIABLES,
    FORCE_WORDS,
    INTEL_FILE_SYSTEM_VARIABLES,
    SWITCH_VARIABLES,
    SWITCH_WORDS,
    romio_component,
    understanding,
    version_tuple,
)
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.rules.rule import Rule

_CDI_PIO = 2
_STRIPING_HINTS = ("striping_factor", "striping_unit")
_OTHER_LIBRARIES = {"I_MPI_": "intel", "OMPI_MCA_": "openmpi"}
_LIBRARY_NAMES = {
    "intel": "Intel MPI",
    "openmpi": "Open MPI",
    "mpich": "MPICH",
    "cray-mpich": "Cray MPICH",
    "parastation": "ParaStation MPI",
}


def implementation_of(experiment: Experiment) -> str | None:
    setting = experiment.mpi.implementation
    return str(setting.value) if setting is not None else None


def version_of(experiment: Experiment) -> str | None:
    """The version of the MPI library, if it is one of numbers and dots."""
    setting = experiment.mpi.version
    value = setting.value if setting is not None else None
    return value if isinstance(value, str) and re.fullmatch(r"\d+(\.\d+)*", value) else None


def variables_of(experiment: Experiment) -> dict[str, Setting]:
    """What the job exports for MPI-IO; what an author wrote wins over what follows from the library."""
    return {**experiment.mpi.lustre_variables, **experiment.environment}


def _intel_variables(experiment: Experiment) -> Iterator[tuple[str, Setting, str]]:
    """The variables that choose Intel MPI's driver, with the version that will read them."""
    version = version_of(experiment)
    if version is None or implementation_of(experiment) != "intel":
        return
    for name, setting in variables_of(experiment).items():
        if name in INTEL_FILE_SYSTEM_VARIABLES:
            yield name, setting, version


def _instead(name: str) -> str:
    return f"expected: {name}" if name else "expected: none; this version has nothing for it"


def uses_cdi_pio(component: Component) -> bool:
    """Whether a component itself writes through MPI-IO: its parallel output with CDI-PIO."""
    return bool(component["parallel_nml", "pio_type"].value == _CDI_PIO)


class UnsupportedIntelVariable(Rule):
    """Intel MPI renamed and dropped the variables of its file system drivers more than once.

    ## What it does
    Finds a variable that the version of Intel MPI in use does not know.

    ## Why it matters
    The library prints one line and goes on: the driver stays off, and writing is slower.

    ## Evidence
    "environment variable is not supported": so 2021.5 and 2021.18 of I_MPI_EXTRA_FILESYSTEM_LIST, which 2018 wants, and
    2021.5 and 2021.10 of I_MPI_FILESYSTEM, which 2021.11 brought. K. Ketelsen (2021), table 1: 6323 MB/s without the
    driver, 9756 MB/s with it.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.5"}
    environment: {I_MPI_EXTRA_FILESYSTEM_LIST: lustre}
    #                                          ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.5"}
    environment: {I_MPI_EXTRA_FILESYSTEM_FORCE: lustre}
    ```

    ## References
    Intel MPI Library, release notes of 2021.11. K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 2.
    """

    code = "MPI001"
    name = "unsupported-intel-variable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting, version in _intel_variables(experiment):
            known = understanding(name, version)
            if known.verdict == "unsupported":
                yield self.finding(setting, f"Intel MPI {version} does not support {name}", _instead(known.instead))


class DeprecatedIntelVariable(Rule):
    """From 2021.11 on the variables are called I_MPI_FILESYSTEM instead of I_MPI_EXTRA_FILESYSTEM.

    ## What it does
    Finds an old name with such a version.

    ## Why it matters
    The old names still work, until a release drops them. Where the new name is set too, the old one is ignored.

    ## Evidence
    Intel MPI's release notes of 2021.11; the library 2021.18 obeys both and calls the old ones deprecated.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.12"}
    environment: {I_MPI_EXTRA_FILESYSTEM: "on"}
    #                                     ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.12"}
    environment: {I_MPI_FILESYSTEM: "on"}
    ```

    ## References
    Intel MPI Library, release notes of 2021.11.
    """

    code = "MPI002"
    name = "deprecated-intel-variable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting, version in _intel_variables(experiment):
            known = understanding(name, version)
            if known.verdict == "deprecated":
                ignored = known.instead in variables_of(experiment)
                effect = f", and ignored since {known.instead} is set" if ignored else ""
                yield self.finding(
                    setting, f"{name} is deprecated in Intel MPI {version}{effect}", _instead(known.instead)
                )


class FileSystemSwitch(Rule):
    """Intel MPI aborts at a switch it cannot read.

    ## What it does
    Finds I_MPI_FILESYSTEM or I_MPI_EXTRA_FILESYSTEM with another word than on, off, yes, no, enable, disable, true,
    false, 1 and 0, all in lower or all in upper case.

    ## Why it matters
    The model aborts in MPI_Init, after the job has waited in the queue.

    ## Evidence
    The libraries 2021.5 and 2021.18: "Unable to parse environment variable" for maybe, lustre, y, 2, On, True and an
    empty value.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.12"}
    environment: {I_MPI_FILESYSTEM: lustre}
    #                               ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.12"}
    environment: {I_MPI_FILESYSTEM: "on", I_MPI_FILESYSTEM_FORCE: lustre}
    ```

    ## References
    Intel MPI Library, developer reference, other environment variables.
    """

    code = "MPI003"
    name = "file-system-switch"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting, version in _intel_variables(experiment):
            value = setting.value
            if name not in SWITCH_VARIABLES or version_tuple(version) < (2021,) or not isinstance(value, str):
                continue
            if understanding(name, version).verdict in ("used", "deprecated") and value not in SWITCH_WORDS:
                yield self.finding(
                    setting,
                    f'Intel MPI {version} cannot read {name} "{value}" and aborts in MPI_Init',
                    'expected: "on" or "off"; I_MPI_FILESYSTEM_FORCE names a driver',
                )


class UnknownDriver(Rule):
    """A file system driver that Intel MPI does not have.

    ## What it does
    Finds I_MPI_FILESYSTEM_FORCE or I_MPI_EXTRA_FILESYSTEM_FORCE with an unknown name.

    ## Why it matters
    The library accepts it without a word, and the driver that was meant stays off.

    ## Evidence
    The libraries 2021.5 and 2021.18 accept `lustr`.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.12"}
    environment: {I_MPI_FILESYSTEM_FORCE: lustr}
    #                                     ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.12"}
    environment: {I_MPI_FILESYSTEM_FORCE: lustre}
    ```

    ## References
    Intel MPI Library, developer reference, other environment variables.
    """

    code = "MPI004"
    name = "unknown-driver"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting in _forced(experiment):
            if str(setting.value).lower() not in FORCE_WORDS:
                yield self.finding(
                    setting,
                    f'Intel MPI has no file system driver "{setting.value}" and does not say so',
                    f"expected: {name} one of {', '.join(sorted(FORCE_WORDS))}",
                )


def _forced(experiment: Experiment) -> Iterator[tuple[str, Setting]]:
    """The variables that force a driver of Intel MPI, unless the version in use does not know them."""
    version = version_of(experiment)
    if implementation_of(experiment) != "intel":
        return
    for name, setting in variables_of(experiment).items():
        if name in FORCE_VARIABLES and (version is None or understanding(name, version).verdict != "unsupported"):
            yield name, setting


def _forced_off_lustre(experiment: Experiment) -> Iterator[Setting]:
    """The variables that force the Lustre driver on a file system that is known not to be Lustre."""
    if experiment.file_system.type in ("lustre", "unknown"):
        return
    for _, setting in _forced(experiment):
        if str(setting.value).lower() == "lustre":
            yield setting


def _crashes(experiment: Experiment) -> bool:
    """Whether a collective write without striping hints is sure to come: ICON's own, or that of Darshan's log."""
    striped = all(hint in experiment.mpi.hints for hint in _STRIPING_HINTS)
    return not striped and (any(map(uses_cdi_pio, experiment.components)) or experiment.darshan is not None)


class LustreDriverCrashes(Rule):
    """Intel MPI's Lustre driver divides by zero off Lustre.

    ## What it does
    Finds the Lustre driver forced where the run directory lies on another file system, or on a node-local one, and
    something writes collectively: ICON with `pio_type` 2, or Darshan its log.

    ## Why it matters
    The driver asks the file for its stripes, gets none, and the first collective write ends with SIGFPE.

    ## Evidence
    Intel MPI 2021.18 on a local file system: "Failure to set stripe info", then SIGFPE in MPI_File_write_all, unless
    hints give the striping.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.12"}
    node_local: {file_system: beeond}
    parallel: {pio_type: 2}
    environment: {I_MPI_FILESYSTEM_FORCE: lustre}
    #                                     ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.12"}
    node_local: {file_system: beeond}
    job: {signal: "B:USR1@600"}
    environment: {I_MPI_FILESYSTEM: "on"}
    ```

    ## References
    Intel MPI Library, developer reference, other environment variables.
    """

    code = "MPI005"
    name = "lustre-driver-crashes"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting in _forced_off_lustre(experiment) if _crashes(experiment) else ():
            yield self.finding(
                setting,
                f"the Lustre driver is forced on {experiment.file_system.type}: the first collective write ends with "
                "SIGFPE",
                "expected: no forced driver off Lustre; I_MPI_FILESYSTEM on lets the library look",
            )


class LustreDriverOffLustre(Rule):
    """The Lustre driver forced where there is no Lustre.

    ## What it does
    Finds it in a run that is not sure to write collectively, or that gives the striping as hints.

    ## Why it matters
    Whatever does write through MPI-IO gets a driver that cannot work there: without striping hints its first collective
    write crashes.

    ## Evidence
    Intel MPI 2021.18 on a local file system: "Failure to set stripe info".

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.12"}
    run_directory: /gpfs/bb1234/run
    environment: {I_MPI_FILESYSTEM_FORCE: lustre}
    #                                     ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.12"}
    run_directory: /work/bb1234/run
    environment: {I_MPI_FILESYSTEM_FORCE: lustre}
    ```

    ## References
    Intel MPI Library, developer reference, other environment variables.
    """

    code = "MPI006"
    name = "lustre-driver-off-lustre"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for setting in () if _crashes(experiment) else _forced_off_lustre(experiment):
            yield self.finding(
                setting,
                f"the Lustre driver is forced, the run directory lies on {experiment.file_system.type}",
                "expected: no forced driver off Lustre; I_MPI_FILESYSTEM on lets the library look",
            )


class VariableOfOtherLibrary(Rule):
    """A variable for another MPI library than the executable is linked with.

    ## What it does
    Finds I_MPI_ variables with another library than Intel MPI, and OMPI_MCA_ variables with another than Open MPI.

    ## Why it matters
    Nobody reads them. The compiler says nothing about the MPI library: executables of the Intel compiler are often
    linked with Open MPI.

    ## Evidence
    ICON 2024.10, `config/dkrz/levante.intel-2021.5.0`: the Intel compiler with Open MPI 4.1.2.

    ## Example
    ```yaml bad
    mpi: {implementation: openmpi}
    environment: {I_MPI_EXTRA_FILESYSTEM: "on"}
    #                                     ^
    ```
    ```yaml good
    mpi: {implementation: openmpi}
    environment: {OMPI_MCA_io: romio321}
    ```

    ## References
    Intel MPI Library, developer reference. Open MPI manual, setting MCA parameters.
    """

    code = "MPI007"
    name = "variable-of-other-library"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        implementation = implementation_of(experiment)
        for name, setting in experiment.environment.items() if implementation else ():
            owner = next((owner for start, owner in _OTHER_LIBRARIES.items() if name.startswith(start)), None)
            if owner is not None and owner != implementation:
                used = _LIBRARY_NAMES.get(str(implementation), implementation)
                yield self.finding(
                    setting,
                    f"{name} is a variable of {_LIBRARY_NAMES[owner]}, the executable is linked with {used}",
                    f"expected: no such variable, or mpi.implementation {owner}",
                )


class HintsIgnoredByOmpio(Rule):
    """Open MPI's own MPI-IO, ompio, does not read ROMIO's hints.

    ## What it does
    Finds `mpi.hints` with Open MPI where OMPI_MCA_io selects something else than ROMIO.

    ## Why it matters
    The hints, striping_factor and striping_unit among them, are ignored without a word.

    ## Evidence
    open-mpi/ompi issue 10132: ompio ignores striping_factor, with ROMIO it works. ICON's settings for Levante select
    romio321 (`run/standard_environments/levante.config`).

    ## Example
    ```yaml bad
    mpi: {implementation: openmpi, hints: {striping_factor: 8}}
    environment: {OMPI_MCA_io: ompio}
    #                          ^
    ```
    ```yaml good
    mpi: {implementation: openmpi}
    environment: {OMPI_MCA_io: romio321}
    ```

    ## References
    Open MPI manual, MPI-IO tuning options.
    """

    code = "MPI008"
    name = "hints-ignored-by-ompio"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        component = variables_of(experiment).get("OMPI_MCA_io")
        if component is None or not experiment.mpi.hints or implementation_of(experiment) != "openmpi":
            return
        words = str(component.value).lower().removeprefix("^").split(",")
        names_romio = any(word.strip().startswith("romio") for word in words)
        if names_romio == str(component.value).startswith("^"):
            yield self.finding(
                component,
                f'mpi.hints are for ROMIO, OMPI_MCA_io "{component.value}" selects another MPI-IO',
                f"expected: {romio_component(version_of(experiment))}, or no hints",
            )


class IntelVersionUnclear(Rule):
    """How Intel MPI's Lustre driver is switched on depends on its version.

    ## What it does
    Finds Intel MPI without a version, or with the bare year 2021, where the run directory is on Lustre.

    ## Why it matters
    Without a version no variables are set, and the driver stays off. The year 2021 says nothing of the names, which
    changed in 2021.11: the old ones are set, and nothing can be said of those that somebody else sets.

    ## Evidence
    K. Ketelsen (2021), table 1: 6323 MB/s without the driver, 9756 MB/s with it. Intel MPI's release notes of 2021.11.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021"}
    #                                     ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.5"}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 2.
    """

    code = "MPI009"
    name = "intel-version-unclear"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        version = experiment.mpi.version
        chosen = any(name in INTEL_FILE_SYSTEM_VARIABLES for name in experiment.environment)
        if implementation_of(experiment) != "intel" or experiment.file_system.type != "lustre" or chosen:
            return
        if version is None:
            yield self.finding(
                experiment.mpi.implementation,
                "the version of Intel MPI is not known: its Lustre driver stays off",
                'expected: mpi.version, such as "2021.5"',
            )
        elif version.value == "2021":
            yield self.finding(
                version,
                'version "2021" may be older or newer than 2021.11, which renamed the variables of the Lustre driver',
                'expected: the release too, such as "2021.5"',
            )


class CollectiveBufferingOff(Rule):
    """Collective writes are more than twice as fast as others, and so are reads.

    ## What it does
    Finds the hints romio_cb_write and romio_cb_read with `disable`.

    ## Why it matters
    Every rank then writes or reads its own pieces of a shared file, instead of a few ranks large ones.

    ## Evidence
    K. Ketelsen (2021), table 3, 16 nodes with 96 tasks each: 98 s without, 44 s with collective writes; 110 s without,
    54 s with collective reads.

    ## Example
    ```yaml bad
    mpi: {hints: {romio_cb_write: disable}}
    #                             ^
    ```
    ```yaml good
    mpi: {implementation: openmpi}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 4.
    """

    code = "MPI010"
    name = "collective-buffering-off"
    severity = Severity.ADVICE

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, what, times in (("romio_cb_write", "writes", "2.2"), ("romio_cb_read", "reads", "2.0")):
            hint = experiment.mpi.hints.get(name)
            if hint is not None and str(hint.value).lower() == "disable":
                yield self.finding(
                    hint,
                    f"{name} disable: {what} that were not collective took {times} times as long",
                    "expected: enable or automatic, which is the default",
                )


class BufferSizeOnLustre(Rule):
    """On Lustre ROMIO chooses the size of its collective buffers itself.

    ## What it does
    Finds the hint cb_buffer_size where the run directory is on Lustre.

    ## Why it matters
    The Lustre driver takes the stripe size instead; the hint does nothing.

    ## Evidence
    pmodels/mpich issue 7935.

    ## Example
    ```yaml bad
    mpi: {hints: {cb_buffer_size: 16777216}}
    #                             ^
    ```
    ```yaml good
    lustre: {output: {stripe_count: 4, stripe_size: 4M}}
    ```

    ## References
    ROMIO user's guide, hints.
    """

    code = "MPI011"
    name = "buffer-size-on-lustre"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        hint = experiment.mpi.hints.get("cb_buffer_size")
        if hint is not None and experiment.file_system.type == "lustre":
            yield self.finding(
                hint,
                "cb_buffer_size has no effect on Lustre, whose driver takes the stripe size",
                "expected: lustre.output.stripe_size, or the hint striping_unit",
            )


class HintsWithoutMpiIo(Rule):
    """ICON writes through MPI-IO with `pio_type` 2 only.

    ## What it does
    Finds `mpi.hints` with another `pio_type`.

    ## Why it matters
    Each file of ICON's own I/O ranks, and each checkpoint, is written by one rank with ordinary calls: the hints reach
    nothing of it.

    ## Evidence
    ICON 2024.10, `mo_icon_output_tools.f90:62-157`.

    ## Example
    ```yaml bad
    parallel: {pio_type: 1}
    mpi: {hints: {striping_factor: 8}}
    #                              ^
    ```
    ```yaml good
    parallel: {pio_type: 1}
    lustre: {output: {stripe_count: 8, stripe_size: 1M}}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "MPI013"
    name = "hints-without-mpi-io"
    severity = Severity.WARNING
    needs_icon = True

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        first = next(iter(experiment.mpi.hints.values()), None)
        if first is not None and not any(map(uses_cdi_pio, experiment.components)):
            yield self.finding(
                first,
                "mpi.hints have no effect on ICON's files: none is written through MPI-IO",
                "expected: no hints, or pio_type 2; lustre.output stripes what the I/O ranks write",
            )
