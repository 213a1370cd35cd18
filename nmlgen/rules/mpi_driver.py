"""Whether Intel MPI's Lustre driver is on, and whether the libraries that are loaded belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.meeting import PMI_LIBRARY, PMI_TYPE, pmi_option
from nmlgen.experiment.mpi_io import (
    FORCE_VARIABLES,
    INTEL_FILE_SYSTEM_VARIABLES,
    SWITCH_VARIABLES,
    SWITCH_WORDS,
    built_with,
    driver_off,
    is_on,
    is_part,
    library_of_module,
    lustre_variables,
    needs_driver_path,
    version_tuple,
)
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity, did_you_mean
from nmlgen.resources import shipped
from nmlgen.rules.mpi_io import implementation_of, uses_cdi_pio, variables_of, version_of
from nmlgen.rules.rule import Rule

_LISTS = frozenset({"I_MPI_EXTRA_FILESYSTEM_LIST"})
_NEAR = 0.93
_MOST_GUESSED = 1000
"""A bound on work: of more variables that are not known it is not asked what they may mean."""
_LAST_WITHOUT_PMIX = (2021, 10)
_DRIVER_PATH = "LD_LIBRARY_PATH"
_RATES = {True: (6499, 9938), False: (6323, 9756)}  # MB/s off and on: impi/2018.5, impi/2019.9


def _choosing(experiment: Experiment) -> Mapping[str, Setting]:
    """The variables that are set in order to have a driver, whether they succeed or not."""
    names = INTEL_FILE_SYSTEM_VARIABLES & (SWITCH_VARIABLES | FORCE_VARIABLES | _LISTS)
    found = {name: setting for name, setting in variables_of(experiment).items() if name in names}
    words = {name: str(setting.value) for name, setting in found.items()}
    is_wanted = any(name not in SWITCH_VARIABLES or is_on(word) for name, word in words.items())
    return found if is_wanted else {}


def _is_on_lustre(experiment: Experiment, choosing: Mapping[str, Setting]) -> bool:
    """Whether the run is on Lustre, for all one can see: of an unknown file system whoever stripes it, or asks for its
    driver, knows."""
    kind = experiment.file_system.type
    names = any("lustre" in str(setting.value).lower() for setting in choosing.values())
    return kind == "lustre" or (kind == "unknown" and (bool(experiment.striping) or names))


class LustreDriverStaysOff(Rule):
    """Intel MPI writes to Lustre as to any file system, unless its driver is switched on.

    ## What it does
    Finds Intel MPI, of a known version, whose Lustre driver stays off where the run is on Lustre: because nothing
    switches it on in a run with `pio_type` 2, because the variables that are set do not do it in this version, or
    because nothing leads the loader of Intel MPI 2018 to `libmpi_lustre.so`.

    ## Why it matters
    Without its driver the library knows nothing of stripes: its writers do not keep to one OST each.

    ## Evidence
    K. Ketelsen (2021), table 1, 16 nodes and 16 stripes: 6499 MB/s without the variables, 9938 with them (impi/2018.5),
    6323 and 9756 MB/s (impi/2019.9). The libraries themselves, asked for the driver of a file that statfs says lies on
    Lustre: 2018.0.3 wants I_MPI_EXTRA_FILESYSTEM and I_MPI_EXTRA_FILESYSTEM_LIST, and finds libmpi_lustre.so by
    LD_LIBRARY_PATH only; 2019.0 has no way; 2019.4 wants I_MPI_EXTRA_FILE_SYSTEM, written so, and knows neither the
    LIST nor FORCE; 2021.1 to 2021.5 want I_MPI_EXTRA_FILESYSTEM, with FORCE or without; from 2021.6 on FORCE alone does
    it, too; from 2021.11 on I_MPI_FILESYSTEM.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.5"}
    environment: {I_MPI_EXTRA_FILESYSTEM: "off", I_MPI_EXTRA_FILESYSTEM_FORCE: lustre}
    #                                                                          ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.5"}
    environment: {I_MPI_EXTRA_FILESYSTEM: "on", I_MPI_EXTRA_FILESYSTEM_FORCE: lustre}
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 2. Intel MPI Library, developer reference.
    """

    code = "MPI014"
    name = "lustre-driver-stays-off"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        version = version_of(experiment)
        if version is None or implementation_of(experiment) != "intel":
            return
        choosing = _choosing(experiment)
        is_needed = any(map(uses_cdi_pio, experiment.components))
        if not (choosing or is_needed) or not _is_on_lustre(experiment, choosing):
            return
        values = {name: str(setting.value) for name, setting in variables_of(experiment).items() if "I_MPI_" in name}
        if version_tuple(version) >= (2021,) and any(values.get(n, "on") not in SWITCH_WORDS for n in SWITCH_VARIABLES):
            return  # it aborts
        reason = driver_off(version, values)
        if reason is None and needs_driver_path(version) and not _finds_driver(experiment):
            reason = f"nothing leads {_DRIVER_PATH} to libmpi_lustre.so"
        if reason is None:
            return
        off, on = _RATES[needs_driver_path(version)]
        where = [experiment.mpi.version, *choosing.values()][-1]
        yield self.finding(
            where,
            f"the Lustre driver of Intel MPI {version} stays off: {reason}; measured {off} MB/s without, {on} with it",
            f"expected: {_wanted(version)}",
        )


def _wanted(version: str) -> str:
    variables = [f"{name}={value}" for name, value in lustre_variables("intel", version).items()]
    if needs_driver_path(version):
        variables.append(f"{_DRIVER_PATH}=${_DRIVER_PATH}:$I_MPI_ROOT/lib64")
    return ", ".join(variables) or "another version of Intel MPI"


def _finds_driver(experiment: Experiment) -> bool:
    """Whether something may lead the loader to the driver: the script that nmlgen writes does so where it sets the
    variables, and a path that only the shell knows may."""
    path = experiment.environment.get(_DRIVER_PATH)
    if experiment.mpi.lustre_variables:
        return True
    return path is not None and (path.certainty is Certainty.UNKNOWN or "mpi" in str(path.value).lower())


class ModuleOfOtherVersion(Rule):
    """The module that is loaded and the version that is named are two different MPI libraries.

    ## What it does
    Finds modules of an MPI library of which none is of `mpi.implementation` and `mpi.version`.

    ## Why it matters
    The variables of the Lustre driver follow from the version that is named, the library that reads them is the one
    that is loaded: the driver stays off. A program linked with one version and started with another may abort.

    ## Evidence
    K. Ketelsen (2021), section 2: impi/2018.5 and impi/2019.9 want different variables; section 6.2: PALM aborts where
    libraries of impi/2018 and impi/2019.5 meet. Intel MPI 2019.4 supports none of the variables of 2018.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2019.9"}
    modules: [impi/2018.5]
    #        ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2019.9"}
    modules: [intel/19.0.5, impi/2019.9]
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), sections 2 and 6.2.
    """

    code = "MPI015"
    name = "module-of-other-version"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        implementation, version = implementation_of(experiment), version_of(experiment)
        known = [module for module in experiment.modules if module.certainty is not Certainty.UNKNOWN]
        found = [(module, library) for module in known if (library := library_of_module(str(module.value))) is not None]
        if implementation is None or not found or len(known) < len(experiment.modules):
            return
        if any(name == implementation and (version is None or is_part(own, version)) for _, (name, own) in found):
            return
        module, _ = found[0]
        said = implementation if version is None else f"{implementation} {version}"
        yield self.finding(
            module,
            f'the module "{module.value}" is loaded, and mpi says {said}',
            "expected: the version that is loaded, or no modules, which then follow from the version where the site "
            "knows them",
        )


class IoLibraryOfOtherMpi(Rule):
    """HDF5 and NetCDF belong to the MPI library, and to the version of it, that they were built with.

    ## What it does
    Finds modules of HDF5 or NetCDF whose name tells another MPI library, or another version of it, than the run has.

    ## Why it matters
    Two MPI libraries in one program are unpredictable: it may abort, though compiling and linking went well.

    ## Evidence
    K. Ketelsen (2021), section 6.2: PALM aborts with intel/19.0.5 and impi/2019.5 where HDF5 and NetCDF were made with
    impi/2018.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2019.5"}
    modules: [intel/19.0.5, impi/2019.5, netcdf-parallel/impi.18/4.7.3]
    #        ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2019.5"}
    modules: [intel/19.0.5, impi/2019.5, netcdf-parallel/impi.19/4.7.3]
    ```

    ## References
    K. Ketelsen, Parallel IO on HLRN-IV systems (2021), section 6.2.
    """

    code = "MPI016"
    name = "io-library-of-other-mpi"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        implementation, version = implementation_of(experiment), version_of(experiment)
        for module in experiment.modules if implementation is not None else ():
            library = built_with(str(module.value)) if module.certainty is not Certainty.UNKNOWN else None
            if library is None:
                continue
            name, own = library
            is_other = own is not None and version is not None and not is_part(own, version)
            if name != implementation or is_other:
                said = implementation if version is None else f"{implementation} {version}"
                yield self.finding(
                    module,
                    f'"{module.value}" was built with {name}{f" {own}" if own else ""}, the run has {said}',
                    "expected: the MPI library, in the version, that the model is linked with",
                )


class TasksDoNotMeet(Rule):
    """The tasks of Intel MPI that srun starts do not find each other.

    ## What it does
    Finds Intel MPI under `srun` with `--mpi=none`, or with `--mpi=pmix` and a version up to 2021.10, where
    `I_MPI_PMI_LIBRARY` names no library, and with anything but `--mpi=pmi2` where it names Slurm's `libpmi2`;
    `SLURM_MPI_TYPE` says the same as the option. Where neither says anything Slurm's configuration decides, and the
    rule is silent; a build then sets `SLURM_MPI_TYPE`.

    ## Why it matters
    Each task is rank 0 of 1, runs the whole model by itself, and writes the same files as all others; or none starts.

    ## Evidence
    Slurm 22.05, two nodes, four tasks: with `--mpi=none` Intel MPI 2021.10 and 2021.18 are four programs of one process
    each and end with exit code 0, 2018.0.3 and 2019.4 do not start; with `--mpi=pmix` only 2021.18 meets; with
    `--mpi=pmi2` all of them do. With `libpmi2` in
    `I_MPI_PMI_LIBRARY` those of 2021 meet with `--mpi=pmi2` only and end in MPI_Init without.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.5"}
    launch: {options: ["--mpi=none"]}
    #                 ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.5"}
    launch: {options: ["--mpi=pmi2"]}
    ```

    ## References
    Slurm manual, srun, --mpi. Intel MPI Library, developer reference, I_MPI_PMI_LIBRARY.
    """

    code = "MPI024"
    name = "tasks-do-not-meet"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        launch, version = experiment.launch, version_of(experiment)
        if implementation_of(experiment) != "intel":
            return
        if str(launch.command.value).rpartition("/")[2] != "srun":
            return
        said = [(option, pmi_option([str(option.value)])) for option in launch.options]
        given = [(option, kind) for option, kind in said if kind is not None]
        if not given and PMI_TYPE in experiment.environment:
            given = [(experiment.environment[PMI_TYPE], str(experiment.environment[PMI_TYPE].value))]
        if not given:
            return
        setting, kind = given[-1]
        if (library := experiment.environment.get(PMI_LIBRARY)) is not None:
            if kind and kind != "pmi2" and "libpmi2" in str(library.value):
                yield self.finding(
                    setting,
                    f"with {kind} and I_MPI_PMI_LIBRARY the tasks of Intel MPI do not meet: they end in MPI_Init",
                    "expected: pmi2, or no I_MPI_PMI_LIBRARY",
                )
            return
        is_old = version is not None and version_tuple(version) <= _LAST_WITHOUT_PMIX
        if kind == "none" or (kind == "pmix" and is_old):
            yield self.finding(
                setting,
                f"with {kind} the tasks of Intel MPI do not meet: each runs by itself, or none starts",
                "expected: pmi2, or I_MPI_PMI_LIBRARY with the path of Slurm's PMI library",
            )


class MisspeltIntelVariable(Rule):
    """Intel MPI does not know a variable of almost that name.

    ## What it does
    Finds a variable that begins with I_MPI_, is unknown to each of thirteen releases of Intel MPI from 2018 to 2021.18,
    and nearly is one that they know.

    ## Why it matters
    From 2019 on the library prints a line, before it nothing, and what was meant has no effect.

    ## Evidence
    Intel MPI 2021.1 of I_MPI_EXTRA_FILESYTEM: "environment variable is not supported. Similar variables:
    I_MPI_EXTRA_FILESYSTEM". The names are those in the libraries and launchers themselves.

    ## Example
    ```yaml bad
    mpi: {implementation: intel, version: "2021.5"}
    environment: {I_MPI_EXTRA_FILESYTEM: "on"}
    #                                    ^
    ```
    ```yaml good
    mpi: {implementation: intel, version: "2021.5"}
    environment: {I_MPI_EXTRA_FILESYSTEM: "on"}
    ```

    ## References
    Intel MPI Library, developer reference.
    """

    code = "MPI023"
    name = "misspelt-intel-variable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        own = [name for name in experiment.environment if name.startswith("I_MPI_")]
        known = _names_of_intel() if own else frozenset()
        for name in islice((name for name in own if name not in known), _MOST_GUESSED):
            if notes := did_you_mean(name, known, _NEAR):
                message = f"Intel MPI has no variable {name}, and it has no effect"
                yield self.finding(experiment.environment[name], message, *notes)


@cache
def _names_of_intel() -> frozenset[str]:
    return frozenset(shipped("intel-mpi-variables.json")["names"])
