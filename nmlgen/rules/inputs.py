"""The files that a run opens: whether the experiment brings them into the run directory."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.inputs import unbrought
from nmlgen.findings import Finding, Severity
from nmlgen.rules.rule import ComponentRule

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
            )
