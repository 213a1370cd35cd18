"""run_nml: levels, tracers, forcing, parts that not every build has, and where checkpoints go."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.condition import evaluate, variables
from nmlgen.experiment.group import as_list, integer
from nmlgen.experiment.setting import Certainty
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.facts import ComponentFacts
from nmlgen.models.icon.parts import has_part, parts
from nmlgen.models.icon.promised import checkpoint_directories, stream_directories
from nmlgen.models.icon.ranks import domains
from nmlgen.models.icon.schedule import CHANGING
from nmlgen.rules.rule import ComponentRule

_ATMOSPHERE = 1
_AES, _NWP = 2, 3
_MOIST = (-1, 2, 5)
"""iforcing that is neither NWP (3) nor dry: 0 none, 1 Held-Suarez, 4 local diabatic forcing
(`mo_nml_crosscheck.f90:235-241`)."""
_MOST_TRACERS = 1600
_MOST_TRACERS_OF = {"2024.01": 900}
"""max_ntracer (`mo_impl_constants.f90:255`), which other releases set lower."""


def _is_atmosphere(component: Component) -> bool:
    return bool(component["master_model_nml", "model_type"].value == _ATMOSPHERE)


class NoLevels(ComponentRule):
    """The atmosphere has at least one level.

    ## What it does
    Finds a `num_lev` of zero for the first domain.

    ## Why it matters
    ICON accepts it when it reads run_nml and aborts when it lays out the levels.

    ## Evidence
    ICON 2024.10: "illegal number of flat vertical levels" (`mo_init_vgrid.f90:331`); numbers below zero are refused
    at once (`mo_run_nml.f90:239`).

    ## Example
    ```yaml bad
    namelists:
      run_nml: {num_lev: [0, 30]}
    #                    ^
    ```
    ```yaml good
    namelists:
      run_nml: {num_lev: [47, 30]}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "RUN001"
    name = "no-levels"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "num_lev"]
        levels = as_list(setting.value)
        if _is_atmosphere(component) and levels and levels[0] == 0:
            yield self.finding(setting, "num_lev is 0", "expected: 1 or more, as a rule 30 to 120")


class TracersOutOfRange(ComponentRule):
    """The number of tracers has a limit.

    ## What it does
    Finds an `ntracer` below zero or above the release's limit: 1600, in 2024.01 900.

    ## Why it matters
    ICON aborts.

    ## Evidence
    ICON 2024.10 rejected -1 and 10000: "wrong number of tracers" (`mo_run_nml.f90:236`, `mo_impl_constants.f90:255`).

    ## Example
    ```yaml bad
    namelists:
      run_nml: {ntracer: -1}
    #                    ^
    ```
    ```yaml good
    namelists:
      run_nml: {ntracer: 5}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "RUN002"
    name = "tracers-out-of-range"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "ntracer"]
        most = _MOST_TRACERS_OF.get(component.registry.release, _MOST_TRACERS)
        if not 0 <= integer(setting) <= most:
            yield self.finding(setting, f"ntracer is {setting.value}", f"expected: 0 to {most}")


class MoistWithoutMoisture(ComponentRule):
    """Moist thermodynamics needs water vapour, the first tracer.

    ## What it does
    Finds `iforcing` of another kind than a dry atmosphere or NWP physics, such as 2, with `ntracer` 0, no
    `tracer_names` in `transport_nml` and `lmoist_thdyn`, which is the default. NWP physics sets its number of tracers
    itself; names without a number count.

    ## Why it matters
    ICON aborts once it has built its grid.

    ## Evidence
    ICON 2024.10: "Trying to run moist thermodynamics without moisture" (`mo_atmo_model.f90:705`,
    `mo_advection_utils.f90:561`); `mo_advection_nml.f90:263` takes the number of names for an `ntracer` of 0.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {iforcing: 2}
    #                     ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 2, ntracer: 3, ltransport: true}
    ```

    ## References
    ICON namelist overview, run_nml and dynamics_nml.
    """

    code = "RUN003"
    name = "moist-without-moisture"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        forcing, tracers = component["run_nml", "iforcing"], component["run_nml", "ntracer"]
        if forcing.value not in _MOIST or tracers.value >= 1 or not _is_atmosphere(component):
            return
        named = component["transport_nml", "tracer_names"].is_written
        if not named and component["dynamics_nml", "lmoist_thdyn"].value is True:
            yield self.finding(
                forcing,
                f"iforcing is {forcing.value}, a moist atmosphere, and ntracer is {tracers.value}",
                "expected: ntracer 1 or more, or lmoist_thdyn false in dynamics_nml",
            )


class NwpWithoutGroup(ComponentRule):
    """NWP physics needs its group, if an empty one.

    ## What it does
    Finds `iforcing` 3 without `nwp_phy_nml` in a run that does not begin from a restart.

    ## Why it matters
    ICON aborts with a message about `lupatmo_phy`. That variable is true for all domains but the first until the
    group has been read, and then copied from the first.

    ## Evidence
    ICON 2024.10: "Something is wrong with setting of lupatmo_phy" (`mo_nwp_phy_nml.f90:230,384`,
    `mo_upatmo_config.f90:799-807`).

    ## Example
    ```yaml bad
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
    #                     ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_gscp: 1}
    ```

    ## References
    ICON namelist overview, nwp_phy_nml.
    """

    code = "RUN004"
    name = "nwp-without-group"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        forcing = component["run_nml", "iforcing"]
        if forcing.value != _NWP or component["master_nml", "lrestart"].value is not False:
            return
        if _is_atmosphere(component) and not any(g.name.lower() == "nwp_phy_nml" for g in component.namelist):
            yield self.finding(
                forcing,
                "iforcing is 3, NWP physics, and there is no nwp_phy_nml",
                "expected: a group nwp_phy_nml",
            )


class PartOfFewBuilds(ComponentRule):
    """ART and the radar operator are there only in builds that were configured with them.

    ## What it does
    Finds `lart` and `luse_radarfwo` true where nobody says what the executable has; where somebody does, RUN008 judges.

    ## Why it matters
    Any other build aborts. Which one the executable is nobody can see from its name; `model.parts` says it.

    ## Evidence
    ICON 2024.10, a common build: "compiled with --disable-art" (`mo_run_nml.f90:246`), "compiled without
    -DHAVE_RADARFWO" (`mo_nml_crosscheck.f90:984`). configure leaves both out by default.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {lart: true}
    #                 ^
    ```
    ```yaml good
    namelists:
      run_nml: {lart: false}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "RUN005"
    name = "part-of-few-builds"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for name, part, option in (("lart", "ART", "art"), ("luse_radarfwo", "the radar operator", "emvorado")):
            if option in parts(component.experiment):
                continue
            setting = component["run_nml", name]
            if any(value is True for value in as_list(setting.value)):
                yield self.finding(
                    setting,
                    f"{name} is true, and few builds have {part}",
                    f"expected: an executable configured with --enable-{option}, or {name} false",
                )


class PartSilentlyMissing(ComponentRule):
    """Some parts that were not built ICON does without, and says nothing.

    ## What it does
    Finds AES physics that is to compute radiation (`dt_rad` above zero) where the executable lacks RTE-RRTMGP, and a
    switch of `coupling_mode_nml` where it lacks the coupler. What the executable has is known as in RUN008.

    ## Why it matters
    The run goes on without radiation: the fluxes stay as they were at its start. Without the coupler the group is not
    even read, and the models run side by side.

    ## Evidence
    ICON 2024.10: the call stands between `#ifndef __NO_RTE_RRTMGP__` and its end (`mo_interface_aes_rad.f90:88`), the
    reading of the group between `#ifdef YAC_coupling` and its end (`mo_coupling_nml.f90:102`; read, not tried).

    ## Example
    ```yaml bad
    model: {parts: {rte-rrtmgp: false}}
    namelists:
      run_nml: {iforcing: 2, ntracer: 3, ltransport: true}
      aes_phy_nml: {"aes_phy_config(1)%dt_rad": PT1H}
    #                                           ^
    ```
    ```yaml good
    model: {parts: {rte-rrtmgp: true}}
    namelists:
      run_nml: {iforcing: 2, ntracer: 3, ltransport: true}
      aes_phy_nml: {"aes_phy_config(1)%dt_rad": PT1H}
    ```

    ## References
    ICON's `configure --help`.
    """

    code = "RUN009"
    name = "part-silently-missing"
    severity = Severity.WARNING
    kinds = ("atmosphere", "ocean", "waves")

    def check(self, component: Component) -> Iterator[Finding]:
        if has_part(component, "rte-rrtmgp") is False and component["run_nml", "iforcing"].value == _AES:
            for domain in range(1, domains(component) + 1):
                facts = ComponentFacts(component, domain, frozenset())
                if evaluate(_RADIATES, facts) is True:
                    yield self.finding(
                        facts.setting(*variables(_RADIATES)[0]),
                        f"domain {domain}: the executable was built without RTE-RRTMGP and computes no radiation",
                        "expected: an executable configured with --enable-rte-rrtmgp, or no dt_rad",
                    )
        group = component.group("coupling_mode_nml")
        if has_part(component, "coupling") is False and group is not None:
            for name in group.settings:
                switch = component["coupling_mode_nml", name]
                if switch.certainty is not Certainty.UNKNOWN and switch.value is True:
                    yield self.finding(
                        switch,
                        f"{name} is true, and the executable was built without the coupler: ICON does not look at it",
                        "expected: an executable configured with --enable-coupling, or false",
                    )


_RADIATES = "seconds(aes_phy_nml.aes_phy_config%dt_rad) > 0"


class DatedDirectory(ComponentRule):
    """ICON makes no directories, and nobody makes one for each date.

    ## What it does
    Finds a `restart_filename` and a `filename_format` that put a date or a number into the name of a directory, where a
    checkpoint or output is due. Other directories are made by nmlgen's script.

    ## Why it matters
    ICON aborts at its first checkpoint, after all the work up to it, or at its first output.

    ## Evidence
    ICON 2024.10: "netCDF error: No such file or directory" at the first checkpoint, and an error of CDI at the first
    output.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {restart_filename: "<rsttime>/<mtype>.nc"}
    #                             ^
    ```
    ```yaml good
    namelists:
      run_nml: {restart_filename: "restart/<mtype>_<rsttime>.nc"}
    ```

    ## References
    ICON namelist overview, run_nml and output_nml.
    """

    code = "RUN006"
    name = "dated-directory"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        expected = "expected: the date or the number behind the last /"
        setting = component["run_nml", "restart_filename"]
        if any("*" in directory for directory in checkpoint_directories(component)):
            message = f'each checkpoint has a directory of its own in "{setting.value}", and ICON makes none'
            yield self.finding(setting, message, expected)
        for file, directory in stream_directories(component, only_first=True):
            if any(word in directory for word in CHANGING):
                message = f'files of a stream have directories of their own in "{directory}", and ICON makes none'
                yield self.finding(component.stream_setting(file.stream, "filename_format"), message, expected)
