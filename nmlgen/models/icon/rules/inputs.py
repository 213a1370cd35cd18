"""The files that a run opens: whether the experiment brings them into the run directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from nmlgen import disk
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment, InputFile
from nmlgen.experiment.group import as_list
from nmlgen.experiment.memory import remembered
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.chain import restart_name, writes_checkpoints
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.grids import source_at_hand
from nmlgen.models.icon.inputs import (
    NeededFile,
    fruitless,
    is_missing,
    missing_in,
    needed_files,
    run_directory,
    search,
    unbrought,
)
from nmlgen.models.icon.pool import POOL, files_for_grid
from nmlgen.models.icon.promised import checkpoint_directories
from nmlgen.models.icon.ranks import output_files
from nmlgen.models.icon.rules.coupled import couples_of_models
from nmlgen.models.icon.schedule import sequence
from nmlgen.rules.rule import ComponentRule, Rule

_FIRST_NAME = ("grid_nml", "dynamics_grid_filename")


class FileNotBrought(ComponentRule):
    """Every file that ICON opens is an input file of the experiment.

    ## What it does
    Works out which files the settings in force make ICON open in its run directory (grids, external parameters, initial
    and boundary data, radiation, ozone, aerosol, names of variables, the ocean's and the land's files) and finds those
    that no `input_files` brings there. Of a name with dates one file that fits it is enough; a directory brings all
    that is in it. Paths to elsewhere are not looked at, nor are scripts that nmlgen did not write.

    ## Why it matters
    ICON aborts when it comes to that file. The batch script looks for those whose name is known before it starts the
    model.

    ## Evidence
    The places where ICON opens files stand in `schemas/icon-inputs.json`. The experiments of ICON's own `run/` that are
    presets here bring all that is found.

    ## Example
    ```yaml bad
    namelists: {io_nml: {output_nml_dict: dict.iconam}}
    #                                     ^
    ```
    ```yaml good
    namelists: {io_nml: {output_nml_dict: dict.iconam}}
    input_files: {dict.iconam: {source: run/dict.iconam.mpim}}
    ```

    ## References
    ICON's tutorial, "Input files".
    """

    code = "INP001"
    name = "file-not-brought"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for file in unbrought(component):
            span = None if file.setting is None else file.setting.span
            where = span or component[_FIRST_NAME].span or component.model.entry.span
            yield self.finding(
                where,
                f'ICON opens "{file.pattern}", {file.what}, and no input file brings it',
                f'expected: input_files: {{"{file.pattern.replace("*", "...")}": {{source: PATH}}}}',
                f"ICON: {file.source}",
                *_known(component, file),
            )


def _known(component: Component, file: NeededFile) -> Iterator[str]:
    """What ICON's own experiments bring as a file, for the grid of its domain."""
    grids = [str(grid) for grid in as_list(component[_FIRST_NAME].value)]
    name = grids[file.domain - 1] if file.domain <= len(grids) else ""
    grid = _first_inputs(component.experiment).get(name.strip())
    if grid is not None and (found := files_for_grid(file, str(grid.source.value))):
        yield f"ICON's own experiments have {', '.join(f'{POOL}/{path}' for path in found)}"


@remembered
def _first_inputs(experiment: Experiment) -> Mapping[str, InputFile]:
    """The input files by what they are called; of two the first."""
    return {file.target: file for file in reversed(experiment.inputs)}


class SourceMissing(Rule):
    """The sources of input files are where the experiment says.

    ## What it does
    Looks for the source of each input file, of a pattern for one file that fits it, and for the files outside of the
    run directory that the settings make ICON open, where the directory that should hold them is on this machine. Paths
    that do not begin with / are looked for below `model.directory` only.

    ## Why it matters
    The batch script ends before it starts the model, and ICON where it comes to such a file.

    ## Evidence
    The script's own check of its input files; ICON 2024.10: "file does not exist", "No such file or directory".

    ## Example
    ```yaml bad
    input_files: {ozone.nc: {source: /proc/no-such-file.nc}}
    #                                ^
    ```
    ```yaml good
    input_files: {ozone.nc: {source: /no-such-directory/ozone.nc}}
    ```

    ## References
    ICON's tutorial, "Input files".
    """

    code = "INP002"
    name = "source-missing"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        expected = "expected: a file that is there, unless something makes it before the job starts"
        files = experiment.inputs if experiment.knows_inputs else ()
        found = [(path, file) for file in files if (path := source_at_hand(experiment, file)) is not None]
        brought = [(path, file) for path, file in found if path.is_absolute()]
        nothing = fruitless(search(path, file) for path, file in brought if file.is_pattern)
        for path, file in brought:
            if is_missing(path):
                yield self.finding(file.source, f"there is no {path} on this machine", expected)
            elif file.is_pattern and search(path, file) in nothing:
                below = " and below it" if file.is_deep else ""
                message = f'no file in {path}{below} on this machine fits "{file.name}"'
                yield self.finding(file.source, message, expected)
        for component in experiment.components:
            for needed in needed_files(component):
                path = Path(needed.pattern)
                if needed.is_exact and path.is_absolute() and is_missing(path):
                    where = needed.setting or component.model.entry.span
                    yield self.finding(where, f"there is no {path}, {needed.what}, on this machine", expected)


class MissingInRunDirectory(ComponentRule):
    """What ICON opens lies in its run directory.

    ## What it does
    Looks at namelists that lie in a directory with their grid file, or with that of another component of the run, which
    is a run directory then: finds the files that the settings make ICON open there and that are not there, the
    checkpoint that a run with `lrestart`, or an ocean with `initialize_fromRestart`, begins with, the weights that
    `coupling.yaml` says to read (`user_file`), and the directories of output files and checkpoints. Of a name with
    dates one file that fits it is enough. Where no grid is there either, something will bring the files, and the rule
    is silent; so it is for specs and scripts, which say what they bring.

    ## Why it matters
    ICON aborts when it comes to that file. It makes no directories.

    ## Evidence
    ICON 2024.10, started in such a directory: "file does not exist" for a radiation grid, "No such file or directory"
    for a dictionary, "no functional symlink found" for a checkpoint, "file "w.nc" does not exist" for weights, an error
    of CDI for an output file. The places where ICON opens files stand in `schemas/icon-inputs.json`.

    ## Example
    ```namelist bad
    &master_model_nml
     model_type = 1
     model_name = "atm"
     model_namelist_filename = "icon_master.namelist"
    /
    &grid_nml
     dynamics_grid_filename = "iconR02B05-grid.nc"
    /
    &io_nml
     output_nml_dict = "dict.iconam"
    !                  ^
    /
    ```
    ```yaml good
    input_files: {dict.iconam: {source: run/dict.iconam.mpim}}
    namelists: {io_nml: {output_nml_dict: dict.iconam}}
    ```

    ## References
    ICON's tutorial, "Input files".
    """

    code = "INP003"
    name = "missing-in-run-directory"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        place = run_directory(component)
        if place is None:
            return
        for file in missing_in(place, component):
            where = file.setting or component[_FIRST_NAME]
            yield self.finding(
                where,
                f'ICON opens "{file.pattern}", {file.what}, and it is not beside the grid',
                "expected: the file, or a link to it, in the run directory",
                f"ICON: {file.source}",
            )
        yield from self._directories(component, place)
        yield from self._checkpoint(component, place)
        if component.number == 0:
            yield from self._weights(component.experiment, place)

    def _weights(self, experiment: Experiment, place: Path) -> Iterator[Finding]:
        for couple in couples_of_models(experiment):
            name = couple.weights
            if name is not None and not name.startswith(("/", "..")) and is_missing(place / name):
                yield self.finding(
                    couple.interpolation,
                    f'YAC opens "{name}", weights of the coupling, and it is not beside the grid',
                    "expected: the file, or a link to it, in the run directory",
                    "YAC: io_utils.c:354",
                )

    def _checkpoint(self, component: Component, place: Path) -> Iterator[Finding]:
        begins = component["master_nml", "lrestart"]
        if begins.value is not True or component.model.entry.settings.get("model_do_restart") is not None:
            if component.kind != "ocean":
                return
            begins = component["ocean_initialConditions_nml", "initialize_fromRestart"]
        if begins.value is not True or not writes_checkpoints(component):
            return
        name = restart_name(component)
        links = f"multifile_restart_{name}.mfr", f"restart_{name}_DOM01.nc"
        if all(is_missing(place / link) for link in links):
            yield self.finding(
                begins,
                f"the run of {component.title} begins with a checkpoint, and there is none beside the grid",
                f"expected: {links[0]} or {links[1]}, or {begins.name.rpartition('.')[2]} false",
                "ICON: mo_load_restart.f90:85",
            )

    def _directories(self, component: Component, place: Path) -> Iterator[Finding]:
        seen: set[str] = set()
        for file in output_files(component):
            first = next(sequence(component, file, 0, clock(component)), None)
            below = "" if first is None else first.name.rpartition("/")[0]
            is_inside = below and not below.startswith(("/", ".."))
            if is_inside and below not in seen and not disk.is_directory(place / below):
                yield self.finding(
                    component.stream_setting(file.stream, "output_filename"),
                    f'the directory "{below}" of an output file is not beside the grid',
                    "expected: a directory that is there, for ICON makes none",
                )
            seen.add(below)
        for below in checkpoint_directories(component):
            if "*" not in below and not below.startswith(("/", "..")) and not disk.is_directory(place / below):
                yield self.finding(
                    component["run_nml", "restart_filename"],
                    f'the directory "{below}" of a checkpoint is not beside the grid',
                    "expected: a directory that is there, for ICON makes none",
                )
