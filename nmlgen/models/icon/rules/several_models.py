"""What several models of a job share without meaning to: names, checkpoints, output files."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import MODEL_GROUP, Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import ASSUMED, Certainty, Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.rules.coupled import is_coupled
from nmlgen.models.icon.rules.streams import setting_of, streams_read
from nmlgen.rules.rule import ComponentRule, Rule

_LONGEST_NAME = 8


def _reads_checkpoint(component: Component) -> bool:
    """Whether a job of the chain begins with a checkpoint."""
    return bool(component["master_nml", "lrestart"].value) or clock(component).legs > 1


class LongModelName(ComponentRule):
    """A model that is restarted has a name of at most 8 characters.

    ## What it does
    Finds a `model_name` of more than 8 characters in a chain of jobs, or in a run that begins with a checkpoint.

    ## Why it matters
    ICON writes checkpoints under the whole name, and looks for them under its first 8 characters: the next job aborts.

    ## Evidence
    ICON 2024.10: "no functional symlink found" for an atmosphere, an ocean and waves with names of 9 characters
    (`mo_load_restart.f90`, `mo_var_list_register_utils.f90:302-324`).

    ## Example
    ```yaml bad
    restart: {restartTimeIntval: P5D}
    models: {oce: {name: ocean_abc}}
    #                    ^
    ```
    ```yaml good
    restart: {restartTimeIntval: P10D}
    models: {oce: {name: oce}}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST007"
    name = "long-model-name"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component[MODEL_GROUP, "model_name"]
        name = str(setting.value).strip()
        if len(name) > _LONGEST_NAME and _reads_checkpoint(component):
            message = f'model_name "{name}" has {len(name)} characters: its checkpoints are not found again'
            yield self.finding(setting, message, f'expected: at most {_LONGEST_NAME}, such as "{name[:_LONGEST_NAME]}"')


class SlashInModelName(ComponentRule):
    """A model's name is a part of the names of files.

    ## What it does
    Finds a `model_name` with a slash where checkpoints are written, or where the model is coupled.

    ## Why it matters
    ICON aborts at its first checkpoint, a coupled model before its first step: the name is a part of those of the
    checkpoint, of the link to it and of the output schedule, and the directory is not there.

    ## Evidence
    ICON 2024.10: "restartDescriptor_writeFiles netCDF error: No such file or directory"; the schedule of a coupled
    model could not be opened (`mo_output_event_handler.f90:462`).

    ## Example
    ```yaml bad
    namelists: {master_model_nml: {model_name: a/b}}
    #                                          ^
    ```
    ```yaml good
    namelists: {master_model_nml: {model_name: a_b}}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST011"
    name = "slash-in-model-name"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component[MODEL_GROUP, "model_name"]
        if "/" not in str(setting.value):
            return
        time = clock(component)
        if is_coupled(component) or (time.checkpoint and time.checkpoint <= time.leg):
            yield self.finding(setting, f'model_name "{setting.value}" has a slash', "expected: a name without /")


class SameModelName(Rule):
    """Two models that are restarted have two names.

    ## What it does
    Finds a `model_name` that two models have, in a chain of jobs, or in a run that begins with a checkpoint.

    ## Why it matters
    Checkpoints are called by the name: one model's replace those of the other, and the next job aborts.

    ## Evidence
    ICON 2024.10 accepted two models of one name without a restart; the second job of a chain aborted: "key
    'nml_meteogram_output_nml' not found".

    ## Example
    ```namelist bad
    &master_nml
     lrestart = .true.
    /
    &master_model_nml
      model_type = 1, model_name = "icon", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191
    /
    &master_model_nml
      model_type = 2, model_name = "icon", model_namelist_filename = "NAMELIST_oce"
    !                              ^
      model_min_rank = 192, model_max_rank = 255
    /
    ```
    ```namelist good
    &master_nml
     lrestart = .true.
    /
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 192, model_max_rank = 255
    /
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST008"
    name = "same-model-name"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        seen: set[str] = set()
        for component in experiment.components:
            name = component.name
            if name and name in seen and _reads_checkpoint(component):
                setting = component[MODEL_GROUP, "model_name"]
                yield self.finding(setting, f'two models are called "{name}"', "expected: a name of its own for each")
            seen.add(name)


def _is_named(component: Component) -> bool:
    """Whether a model is known to run beside the others: of a script's namelists it is not known which of them run at
    once, and as which model, where only a run knows the name."""
    return component[MODEL_GROUP, "model_name"].certainty is not Certainty.UNKNOWN


class OutputOfTwoModels(Rule):
    """The output of two models goes into two files.

    ## What it does
    Finds an `output_filename` that streams of two models have, with the same `filename_format`.

    ## Why it matters
    A file's name knows nothing of the model. The later writer replaces what the other has written; ICON ends with OK.

    ## Evidence
    ICON 2024.10, atmosphere and ocean with one name: the ocean's data were gone, coupled and not.

    ## Example
    ```yaml bad
    models:
      atm: {output: {ml: {output_filename: output/sea}}}
      oce: {output: {ml: {output_filename: output/sea}}}
    #                                      ^
    ```
    ```yaml good
    models:
      atm: {output: {ml: {output_filename: output/air}}}
      oce: {output: {ml: {output_filename: output/sea}}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT041"
    name = "output-of-two-models"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        owners: dict[tuple[str, str], Component] = {}
        for component in filter(_is_named, experiment.components):
            for stream in streams_read(component):
                setting = setting_of(component, stream, "output_filename")
                form = setting_of(component, stream, "filename_format")
                key = (str(setting.value).strip(), str(form.value).strip())
                owner = owners.setdefault(key, component)
                if key[0] and owner is not component:
                    yield self.finding(
                        setting,
                        f'"{owner.title}" and "{component.title}" both write {key[0]}: the data of one are lost',
                        "expected: another output_filename",
                    )


class CheckpointOfTwoModels(Rule):
    """The checkpoints of two models have two names.

    ## What it does
    Finds a `restart_filename` that two models have, without `<mtype>` in it, the name of the model, or `<gridfile>`.

    ## Why it matters
    One checkpoint replaces the other; ICON ends with OK, and the next job begins with the fields of another model.

    ## Evidence
    ICON 2024.10, atmosphere and ocean with "rst_<rsttime>.nc": the ocean's link led to a file of the atmosphere.

    ## Example
    ```yaml bad
    models:
      atm: {restart: {restart_filename: "rst_<rsttime>.nc", restart_write_mode: sync}}
      oce: {restart: {restart_filename: "rst_<rsttime>.nc", restart_write_mode: sync}}
    #                                   ^
    ```
    ```yaml good
    models:
      atm: {restart: {restart_filename: "rst_<mtype>_<rsttime>.nc"}}
      oce: {restart: {restart_filename: "rst_<mtype>_<rsttime>.nc"}}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "RST015"
    name = "checkpoint-of-two-models"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        owners: dict[str, tuple[Component, Setting]] = {}
        for component in filter(_is_named, experiment.components):
            setting = component["run_nml", "restart_filename"]
            name = str(setting.value).strip()
            if not name or "<mtype>" in name or "<gridfile>" in name:
                continue
            owner, _ = owners.setdefault(name, (component, setting))
            if owner is not component:
                yield self.finding(
                    setting,
                    f'"{owner.title}" and "{component.title}" both write their checkpoints to {name}',
                    "expected: <mtype> in the name",
                )


class LandWithoutModels(ComponentRule):
    """Land alone is described in the master namelist.

    ## What it does
    Finds a model of type 5, JSBACH by itself, without a `jsb_model_nml` in the master namelist.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10: "Namelist jsb_model_nml missing in icon_master.namelist. One jsb_model_nml section is needed for each
    model incidence" (`mo_jsb_control.f90:187`).

    ## Example
    ```namelist bad
    &master_model_nml
      model_type = 5, model_name = "land", model_namelist_filename = "NAMELIST_land"
    !              ^
    /
    ```
    ```namelist good
    &master_model_nml
      model_type = 5, model_name = "land", model_namelist_filename = "NAMELIST_land"
    /
    &jsb_model_nml
      model_id = 1
    /
    ```

    ## References
    JSBACH's documentation, jsb_model_nml.
    """

    code = "MST009"
    name = "land-without-models"
    severity = Severity.ERROR
    kinds = ("jsbach",)

    def check(self, component: Component) -> Iterator[Finding]:
        experiment = component.experiment
        is_open = component.is_open and component.model.missing_file is None  # the group stands in the master namelist
        setting = component[MODEL_GROUP, "model_type"]
        if component.kind != "jsbach" or is_open or setting.origin.layer == ASSUMED:  # there is no master namelist
            return
        if not any(group.name == "jsb_model_nml" for group in experiment.master):
            yield self.finding(setting, "the master namelist has no jsb_model_nml", "expected: one for each land model")


class EndlessBlocks(Rule):
    """The blocks of ranks of a model come to an end.

    ## What it does
    Where several models share a job, finds a `model_inc_rank` and a `model_rank_group_size` with which each block of
    ranks begins where the one before did, or before it: their sum is less than 2.

    ## Why it matters
    ICON goes round for ever before it has read any namelist of a model.

    ## Evidence
    ICON 2024.10 with two models did not end with `model_inc_rank` 0 and -1, nor with a group size of 0
    (`mo_master_init.f90:72-103`).

    ## Example
    ```namelist bad
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191, model_inc_rank = 0
    !                                                            ^
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 192, model_max_rank = 255
    /
    ```
    ```namelist good
    &master_model_nml
      model_type = 1, model_name = "atm", model_namelist_filename = "NAMELIST_atm"
      model_min_rank = 0, model_max_rank = 191, model_inc_rank = 1
    /
    &master_model_nml
      model_type = 2, model_name = "oce", model_namelist_filename = "NAMELIST_oce"
      model_min_rank = 192, model_max_rank = 255
    /
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST010"
    name = "endless-blocks"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for component in experiment.components if len(experiment.models) > 1 else ():
            gap, size = (component[MODEL_GROUP, name] for name in ("model_inc_rank", "model_rank_group_size"))
            if size.value - 1 + gap.value < 1:
                yield self.finding(
                    gap if gap.is_written else size,
                    f"model_inc_rank {gap.value} with model_rank_group_size {size.value}: the blocks never advance",
                    "expected: a sum of 2 or more",
                )


class OceanInterpolated(ComponentRule):
    """The ocean writes its own levels on its own grid.

    ## What it does
    Finds a stream of an ocean with `remap` 1, or with variables on levels of pressure, height or potential temperature.

    ## Why it matters
    ICON crashes at the first, and aborts at the others: the ocean has no variables there.

    ## Evidence
    ICON 2024.10: `remap` 1 ended with a segmentation fault, `pl_varlist` with "Output name list variable not found".

    ## Example
    ```yaml bad
    models: {oce: {output: {ml: {remap: 1}}}}
    #                                   ^
    ```
    ```yaml good
    models: {oce: {output: {ml: {remap: 0}}}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT042"
    name = "ocean-interpolated"
    severity = Severity.ERROR
    kinds = ("ocean",)

    def check(self, component: Component) -> Iterator[Finding]:
        if component.kind != "ocean":
            return
        for stream in streams_read(component):
            remap = setting_of(component, stream, "remap")
            if remap.value == 1:
                yield self.finding(remap, "remap is 1, and an ocean writes on its own grid", "expected: 0")
            for kind in ("pl", "hl", "il"):
                setting = setting_of(component, stream, f"{kind}_varlist")
                if setting.is_written and any(str(name).strip() for name in as_list(setting.value)):
                    message = f"{kind}_varlist, and an ocean has its own levels only"
                    yield self.finding(setting, message, "expected: ml_varlist")
