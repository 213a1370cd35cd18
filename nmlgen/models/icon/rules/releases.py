"""What newer releases of ICON brought along: restart by component, output of no type."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.rules.streams import setting_of, streams_read
from nmlgen.rules.rule import ComponentRule

_WORDS = ("no", "yes", "for_init")
_NO_FILE = 999
"""FILETYPE_NONE (`mo_name_list_output_types.f90:101` of 2025.04), which was output through YAC before."""


class RestartOfComponent(ComponentRule):
    """A component is told in three words whether it restarts, and the atmosphere knows two of them.

    ## What it does
    Finds a `model_do_restart` other than `no`, `yes` and `for_init`, in lower case, and `for_init` in an atmosphere.

    ## Why it matters
    ICON aborts while it reads the master namelist, or, with `for_init`, once the atmosphere asks for what its
    checkpoint says: with or without a checkpoint.

    ## Evidence
    ICON 2025.04: "invalid setting for model_do_restart" (`mo_master_nml.f90:308`); "restart attributes not yet set up"
    (`mo_restart_nmls_and_atts.f90:114`). The waves start at the experiment's begin with `for_init`.

    ## Example
    ```yaml bad
    model: {release: "2025.04"}
    namelists:
      master_model_nml: {model_do_restart: for_init}
    #                                      ^
    ```
    ```yaml good
    model: {release: "2025.04"}
    namelists:
      master_model_nml: {model_do_restart: "yes"}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "REL001"
    name = "restart-of-component"
    severity = Severity.ERROR
    first_release = "2025.04"

    def check(self, component: Component) -> Iterator[Finding]:
        setting = _do_restart(component)
        if setting is None:
            return
        word = str(setting.value).rstrip()
        if word not in _WORDS:
            yield self.finding(setting, f'model_do_restart is "{word}"', "expected: no, yes or for_init, in lower case")
        elif word == "for_init" and component.kind == "atmosphere":
            yield self.finding(
                setting, "the atmosphere cannot begin anew from a checkpoint", "expected: yes or no for an atmosphere"
            )


class RestartOverruled(ComponentRule):
    """What a component says of its restart overrules `lrestart`.

    ## What it does
    Finds `model_do_restart: no` beside `lrestart: true`.

    ## Why it matters
    The component starts at the beginning of the experiment again, and writes over the files of the first job without a
    word.

    ## Evidence
    ICON 2025.04 did so with `lrestart` true and `model_do_restart` "no"; with `lrestart` false and "yes" it continued
    (`mo_master_nml.f90:273`).

    ## Example
    ```yaml bad
    model: {release: "2025.04"}
    namelists:
      master_nml: {lrestart: true}
      master_model_nml: {model_do_restart: "no"}
    #                                      ^
    ```
    ```yaml good
    model: {release: "2025.04"}
    namelists:
      master_nml: {lrestart: true}
    ```

    ## References
    ICON namelist overview, master_nml and master_model_nml.
    """

    code = "REL002"
    name = "restart-overruled"
    severity = Severity.WARNING
    first_release = "2025.04"

    def check(self, component: Component) -> Iterator[Finding]:
        setting = _do_restart(component)
        lrestart = component["master_nml", "lrestart"]
        if setting is not None and str(setting.value).rstrip() == "no" and lrestart.value is True:
            yield self.finding(
                setting,
                "model_do_restart no overrules lrestart: the component begins anew and writes over what is there",
                "expected: model_do_restart yes, or lrestart false",
            )


class NoFileFromRanks(ComponentRule):
    """I/O ranks cannot write output of no type.

    ## What it does
    Finds a stream with `filetype` 999 beside I/O ranks.

    ## Why it matters
    Release 2025.04 takes 999 for a stream that writes no file. An I/O rank opens its file all the same, ends with code
    1 after the last step, and the launcher ends the job, although finish.status says OK.

    ## Evidence
    ICON 2025.04 with one I/O rank: exit code 1 (`mo_name_list_output.f90:683` has no guard); without I/O ranks it ran
    to its end and wrote no file.

    ## Example
    ```yaml bad
    model: {release: "2025.04"}
    parallel: {num_io_procs: 2}
    output:
      atm: {filetype: 999, stream_partitions_ml: 1}
    #                 ^
    ```
    ```yaml good
    model: {release: "2025.04"}
    parallel: {num_io_procs: 2}
    output:
      atm: {filetype: 4, stream_partitions_ml: 2}
    ```

    ## References
    ICON namelist overview, output_nml: filetype.
    """

    code = "REL003"
    name = "no-file-from-ranks"
    severity = Severity.ERROR
    first_release = "2025.04"

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            filetype = setting_of(component, stream, "filetype")
            if filetype.value != _NO_FILE:
                continue
            ranks = component["parallel_nml", "num_io_procs"].value
            if isinstance(ranks, int) and ranks > 0:
                yield self.finding(
                    filetype,
                    f"a stream that writes no file, and {ranks} I/O ranks that open it",
                    "expected: num_io_procs 0, or no such stream",
                )


def _do_restart(component: Component) -> Setting | None:
    """What somebody wrote of the component's restart."""
    setting = component["master_model_nml", "model_do_restart"]
    return setting if setting.span is not None and setting.certainty is not Certainty.DEFAULT else None
