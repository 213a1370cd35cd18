"""Coupled components: the switches of coupling_mode_nml, and coupling.yaml, by which YAC exchanges fields."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.coupling import (
    COUPLING_FILE,
    COUPLING_GROUP,
    ELSEWHERE,
    FIELDS,
    GRIDS,
    LATER,
    PARTNERS,
    SWITCHES,
    Couple,
    Side,
)
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Certainty, UndecidedError
from nmlgen.findings import Finding, Severity, did_you_mean
from nmlgen.models.icon.facts import ComponentFacts
from nmlgen.models.icon.rules.coupled import (
    CHECKED,
    OUTPUT_APART_SINCE,
    component_of,
    components_of,
    coupling_of_run,
    is_coupled,
    is_coupled_to,
    partners_of,
    period_milliseconds,
    switch_to,
)
from nmlgen.pattern import pattern
from nmlgen.rules.rule import ComponentRule, Rule
from nmlgen.values import evolve

_WITH_YAC_3_4 = "2024.10"  # the last release


class CouplingFileRefused(Rule):
    """YAC stops at a coupling.yaml that it cannot read.

    ## What it does
    Finds a `coupling.yaml` that is no YAML or is empty, keys of a couple and methods of interpolation that YAC does not
    know, values of another type, what is missing in a couple, and a list `coupling` before its `timestep_unit`. Keys
    at the top that YAC does not know it passes over. YAC is any up to 3.21, with ICON up to 2024.10 one up to 3.4.

    ## Why it matters
    Every coupled component aborts before its first step.

    ## Evidence
    ICON 2024.10 with YAC 3.4 rejected an empty file, one with a tab, the calendar "gregorian", an unknown reduction,
    an unknown parameter of a method, a lag in words and a list without a unit: "could not parse YAML configuration
    file", "is not a valid calendar name", "time unit has to be defined before the couplings" (`config_yaml.c`).

    ## Example
    ```yaml bad
    coupling: {calendar: gregorian}
    #                    ^
    ```
    ```yaml good
    coupling: {calendar: proleptic-gregorian}
    ```

    ## References
    YAC's documentation, "YAML configuration file".
    """

    code = "CPL001"
    name = "coupling-file-refused"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = experiment.coupling
        if coupling is None or not any(is_coupled(component) for component in experiment.components):
            return
        for problem in coupling.problems:
            notes = problem.notes or ("expected: what YAC's documentation shows",)
            yield self.finding(problem.span, f"{COUPLING_FILE}: {problem.message}", *notes)
        registry = experiment.registry
        if registry.release <= _WITH_YAC_3_4 and not registry.is_assumed:
            for word in coupling.later:
                message = f"{COUPLING_FILE}: {word.value} is known to a later YAC than that of ICON {registry.release}"
                yield self.finding(
                    word, message, "expected: what YAC 3.4 takes: src_component, src_grid, units up to hour"
                )
        unit = coupling.settings.get("timestep_unit")
        for couple in coupling.couples:
            period = couple.period
            if period is None or unit is None or coupling.problems:
                continue
            try:
                period_milliseconds(coupling, period)
            except UndecidedError as error:
                if error.setting is period and period.certainty is not period.certainty.UNKNOWN:
                    form = "an ISO 8601 duration such as PT30M" if unit.value == "ISO_format" else "a whole number"
                    yield self.finding(
                        period,
                        f'{COUPLING_FILE}: coupling_period is "{period.value}", in the unit {unit.value}',
                        f"expected: {form}",
                    )


class SomeModelsCoupled(Rule):
    """Either all models of a job are coupled, or none of them is.

    ## What it does
    Finds a model none of whose switches `coupled_to_...` is on, beside one of which one is.

    ## Why it matters
    All ranks of ICON take part when YAC is set up. Those of a model that is not coupled never come, and the others wait
    for them until the time limit; `finish.status` may say OK before that.

    ## Evidence
    ICON 2024.10 did not end with an atmosphere or an ocean that was not coupled beside one that was, nor with a third
    model.

    ## Example
    ```yaml bad
    models: {oce: {namelists: {coupling_mode_nml: {coupled_to_atmo: false}}}}
    #                                                               ^
    ```
    ```yaml good
    models: {oce: {namelists: {coupling_mode_nml: {coupled_to_atmo: true}}}}
    ```

    ## References
    ICON namelist overview, coupling_mode_nml.
    """

    code = "CPL002"
    name = "some-models-coupled"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupled = [component for component in experiment.components if is_coupled(component)]
        for component in experiment.components:
            if not coupled or component in coupled:
                continue
            possible = SWITCHES.get(component.kind or "", ())
            switches = [switch_to(component, partner) for partner in possible if partner in partners_of(component)]
            written = next((setting for setting in switches if setting.is_written), None)
            group = component.group(COUPLING_GROUP)
            yield self.finding(
                (written.span if written else None)
                or (group.span if group else None)
                or component.model.entry.span
                or component["master_model_nml", "model_name"].span,
                f'the model "{component.title}" is not coupled, and "{coupled[0].title}" is: the job hangs',
                f"expected: one of {', '.join(setting.name.rpartition('.')[2] for setting in switches)} true, "
                "or no model coupled"
                if switches
                else "expected: no model coupled, or this one in a job of its own",
            )


class CouplingNotSupported(ComponentRule):
    """A component can be coupled to some others only.

    ## What it does
    Finds a switch `coupled_to_...` that ICON does not take for this kind of component. After 2025.10 an ocean and
    waves can be coupled: where nobody said the release, that is a warning.

    ## Why it matters
    ICON aborts when it reads the namelist.

    ## Evidence
    ICON 2024.10 rejected an atmosphere coupled to an atmosphere: "Component atm does not support coupling to atmo"
    (`mo_coupling_nml.f90:145-225`).

    ## Example
    ```yaml bad
    models: {oce: {namelists: {coupling_mode_nml: {coupled_to_waves: true}}}}
    #                                                                ^
    ```
    ```yaml good
    models: {oce: {namelists: {coupling_mode_nml: {coupled_to_waves: false}}}}
    ```

    ## References
    ICON namelist overview, coupling_mode_nml.
    """

    code = "CPL003"
    name = "coupling-not-supported"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        kind = component.kind
        if kind is None:
            return
        there = partners_of(component)
        possible = [partner for partner in SWITCHES.get(kind, ()) if partner in there]
        for partner in (partner for partner in CHECKED if partner in there):
            setting = switch_to(component, partner)
            if partner not in possible and setting.certainty is not setting.certainty.UNKNOWN and setting.value is True:
                names = ", ".join(f"coupled_to_{name}" for name in possible)
                finding = self.finding(
                    setting,
                    f"{kind} cannot be coupled by coupled_to_{partner}",
                    f"expected: {names or 'no coupling at all'}",
                )
                if (kind, partner) in LATER and component.registry.is_assumed:
                    notes = (*finding.notes, "nobody said the release, and one after 2025.10 takes it")
                    finding = evolve(finding, severity=Severity.WARNING, notes=notes)
                yield finding


class NothingExchanged(Rule):
    """Components that are coupled exchange what coupling.yaml says, and nothing without it.

    ## What it does
    Finds components that are coupled to each other without a `coupling.yaml`, or with one whose list `coupling` has no
    couple of them, and a `coupling.yaml` that no component reads. Of namelists alone it asks for the file beside them.
    Where the job starts nothing but ICON, finds a component that is coupled to a kind of model that is not in it, or
    to the programs that send aerosol (`coupled_to_aero`) and ozone (`coupled_to_o3`).

    ## Why it matters
    ICON runs to its end, and `finish.status` says OK: each component has computed by itself.

    ## Evidence
    ICON 2024.10 accepted a run without the file, one without a list and one from which a couple was left out.

    ## Example
    ```yaml bad
    coupling: {coupling: null}
    ```
    ```yaml good
    coupling: {calendar: proleptic-gregorian}
    ```

    ## References
    YAC's documentation, "YAML configuration file".
    """

    code = "CPL004"
    name = "nothing-exchanged"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = experiment.coupling
        components = [component for component in experiment.components if component.kind in PARTNERS]
        is_read = coupling is None or any(is_coupled(component) for component in experiment.components)
        if coupling is not None and not coupling.is_open and not is_read:
            message = f"no component reads {COUPLING_FILE}: none is coupled"
            yield self.finding(coupling.span, message, "expected: a switch of coupling_mode_nml, in every component")
            return
        if _starts_icon_alone(experiment):
            yield from self._without_partner(components)
        for number, one in enumerate(components):
            for other in components[number + 1 :]:
                if not (
                    is_coupled_to(one, PARTNERS[str(other.kind)]) and is_coupled_to(other, PARTNERS[str(one.kind)])
                ):
                    continue
                where = switch_to(one, PARTNERS[str(other.kind)]).span
                if coupling is not None and coupling.is_open:
                    return
                if coupling is None:
                    yield self.finding(
                        where,
                        f'"{one.title}" and "{other.title}" are coupled, and there is no {COUPLING_FILE}: they '
                        "exchange nothing",
                        f"expected: {COUPLING_FILE} in the run directory; in a spec the section coupling",
                    )
                elif not any(_joins(couple, one.name, other.name) for couple in coupling.couples):
                    yield self.finding(
                        coupling.span,
                        f'"{one.title}" and "{other.title}" are coupled, and no couple of {COUPLING_FILE} is of them: '
                        "they exchange nothing",
                        "expected: an element of the list coupling for each direction",
                    )

    def _without_partner(self, components: list[Component]) -> Iterator[Finding]:
        kinds = {component.kind for component in components}
        for component in components:
            for kind, partner in PARTNERS.items():
                if kind != component.kind and kind not in kinds and is_coupled_to(component, partner):
                    yield self.finding(
                        switch_to(component, partner),
                        f'"{component.title}" is coupled to {kind}, and the job has no such model',
                        f"expected: a model of the type {kind}, or coupled_to_{partner} false",
                    )
            for partner, what in _DATA.items():
                if is_coupled_to(component, partner):
                    yield self.finding(
                        switch_to(component, partner),
                        f'"{component.title}" takes {what} from the coupler, and the job starts nothing that sends it',
                        f"expected: that program under programs, or coupled_to_{partner} false",
                    )


def _joins(couple: Couple, one: str, other: str) -> bool:
    ends = (couple.source.component, couple.target.component)
    return {"" if end is None else str(end.value) for end in ends} == {one, other}


_OF_RIVERS = "river_runoff"
_JSBACH = 2


def _is_without_rivers(component: Component) -> bool:
    """Whether an atmosphere has no JSBACH, which alone sends the discharge of rivers
    (`mo_atmo_coupling_frame.f90:174`)."""
    if component["run_nml", "iforcing"].value == _NWP:
        is_land = component["nwp_phy_nml", "inwp_surface"]
        return bool(as_list(is_land.value)[0] != _JSBACH)
    return ComponentFacts(component, 1, frozenset()).value("aes_phy_nml", "aes_phy_config%ljsb") is False


class UnknownCouple(Rule):
    """A couple names components, grids and fields that are there, and the field goes in its direction.

    ## What it does
    Finds couples of `coupling.yaml` whose component is no `model_name`, whose grid is not the one that ICON gives to
    the component (icon_atmos_grid, icon_ocean_grid, icon_waves_grid), whose field the source does not send to the
    target, as the discharge of rivers without JSBACH, or whose components are not coupled to each other. Components of
    other programs are not known, where the job starts any (`programs`, `--multi-prog`) or a switch says that there are
    any; for `coupled_to_output` the job has to start one. A field that is only sent by programs of one's own is none of
    ICON's.

    ## Why it matters
    YAC aborts: "missing definition", unless `debug: {missing_definition_is_fatal: false}`; then nothing is exchanged.

    ## Evidence
    ICON 2024.10 with YAC 3.4 rejected misspelt components, grids and fields, a component that is not there, and a field
    in the wrong direction: "a put or get operation has already been set"; river_runoff of an aquaplanet, "missing
    definition" (`mo_atmo_coupling_frame.f90:174`).

    ## Example
    ```yaml bad
    coupling:
      coupling:
        - src_component: atmo
    #                    ^
          src_grid: icon_atmos_grid
          tgt_component: oce
          tgt_grid: icon_ocean_grid
          coupling_period: PT30M
          field: [total_heat_flux]
          interpolation: [{fixed: {user_value: 0.0}}]
    ```
    ```yaml good
    coupling:
      coupling:
        - src_component: atm
          src_grid: icon_atmos_grid
          tgt_component: oce
          tgt_grid: icon_ocean_grid
          coupling_period: PT30M
          field: [total_heat_flux]
          interpolation: [{fixed: {user_value: 0.0}}]
    ```

    ## References
    ICON 2024.10, `mo_atmo_ocean_coupling.f90:118-154`, `mo_atmo_wave_coupling.f90:58-69`.
    """

    code = "CPL005"
    name = "unknown-couple"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = coupling_of_run(experiment)
        if coupling is None or coupling.tolerates_missing:
            return
        others = {end for component in experiment.components for end in ELSEWHERE if is_coupled_to(component, end)}
        is_output = "output" in others and _starts_icon_alone(experiment)
        if is_output:
            others.discard("output")  # nobody can take it
        has_others = bool(others) or _starts_others(experiment)
        for couple in coupling.couples:
            source, target = (component_of(experiment, side) for side in (couple.source, couple.target))
            for side, found in ((couple.source, source), (couple.target, target)):
                if not components_of(experiment, side) and not has_others and side.component is not None:
                    names = [component.name for component in experiment.components]
                    titles = " or ".join(component.title for component in experiment.components)
                    yield self.finding(
                        side.component,
                        f'no model is called "{side.component.value}"',
                        *did_you_mean(str(side.component.value), names),
                        f"expected: a model_name, {titles}{is_output * _OR_A_PROGRAM}",
                    )
                elif found is not None:
                    yield from self._grids(side, found)
            if source is not None and target is not None:
                yield from self._fields(couple, source, target)

    def _grids(self, side: Side, component: Component) -> Iterator[Finding]:
        expected = GRIDS.get(component.kind or "")
        for grid in side.grids:
            if expected is not None and grid.value != expected and not is_coupled_to(component, "output"):
                message = f'the grid of "{component.title}" is called "{expected}", not "{grid.value}"'
                yield self.finding(grid, message, f"expected: {expected}")

    def _fields(self, couple: Couple, source: Component, target: Component) -> Iterator[Finding]:
        kinds = (source.kind or "", target.kind or "")
        if kinds not in FIELDS or is_coupled_to(source, "output") or is_coupled_to(target, "output"):
            return
        for one, other in ((source, target), (target, source)):
            switch = switch_to(one, PARTNERS[str(other.kind)])
            if switch.value is not True and couple.source.component is not None:
                yield self.finding(
                    couple.source.component,
                    f'"{one.title}" is not coupled to "{other.title}", so that it knows no such field',
                    f"expected: {switch.name.rpartition('.')[2]} true",
                )
                return
        sent, back = FIELDS[kinds], FIELDS[kinds[1], kinds[0]]
        for names in couple.fields:
            for field in dict.fromkeys(names):
                if field.value in sent:
                    if field is names[0] and field.value == _OF_RIVERS and _is_without_rivers(source):
                        message = f'"{source.title}" does not send "{_OF_RIVERS}": it has no land of JSBACH'
                        yield self.finding(field, message, "expected: the land of JSBACH, or another program's rivers")
                    continue
                reason = "goes the other way" if field.value in back else f"is no field of {kinds[0]} for {kinds[1]}"
                yield self.finding(
                    field,
                    f'"{field.value}" {reason}',
                    *did_you_mean(str(field.value), sent),
                    f"expected: one of {', '.join(sorted(sent))}",
                )
                break


class CoupledAtmosphere(ComponentRule):
    """A coupled atmosphere has the physics whose fluxes it sends.

    ## What it does
    Finds an atmosphere that is coupled to an ocean without physics (`iforcing` neither 2 nor 3), and `coupled_to_o3` or
    `coupled_to_aero` without the radiation of AES physics that asks for it: other physics have none. What NWP physics
    need besides, LND001 and PHY002 know.

    ## Why it matters
    ICON aborts when it sets up the coupling.

    ## Evidence
    ICON 2024.10 rejected an atmosphere without physics beside an ocean, and ozone of a provider without `irad_o3` 5 or
    6: "invalid configuration" (`mo_atmo_o3_provider_coupling.f90:63`, `mo_atmo_aero_provider_coupling.f90:72`); without
    physics it refused either, whatever stood in `aes_rad_nml`, which it does not read then.

    ## Example
    ```yaml bad
    models: {atm: {namelists: {coupling_mode_nml: {coupled_to_o3: true}}}}
    #                                                             ^
    ```
    ```yaml good
    models: {atm: {namelists: {coupling_mode_nml: {coupled_to_o3: false}}}}
    ```

    ## References
    ICON namelist overview, coupling_mode_nml.
    """

    code = "CPL009"
    name = "coupled-atmosphere"
    severity = Severity.ERROR
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        if component.kind != "atmosphere":
            return
        forcing = component["run_nml", "iforcing"]
        if is_coupled_to(component, "ocean") and forcing.value not in (_AES, _NWP):
            message = f"iforcing is {forcing.value}, and the atmosphere is coupled to an ocean"
            yield self.finding(forcing, message, "expected: 2 or 3, physics with fluxes at the surface")
        facts = ComponentFacts(component, 1, frozenset())
        for partner, variable, kinds in (("o3", "irad_o3", (5, 6)), ("aero", "irad_aero", (13, 19))):
            if not is_coupled_to(component, partner) or forcing.value == _NWP:
                continue
            value = facts.value("aes_rad_nml", f"aes_rad_config%{variable}")
            expected = f"{variable} {' or '.join(map(str, kinds))}"
            if forcing.value != _AES:
                expected = f"iforcing 2, AES physics, and {expected}"
                why = f"iforcing is {forcing.value}, without the radiation that takes something from there"
            elif value not in (None, *kinds):
                why = f"the radiation takes nothing from there: {variable} is {value}"
            else:
                continue
            yield self.finding(
                switch_to(component, partner),
                f"coupled_to_{partner} is true, and {why}",
                f"expected: {expected}, or coupled_to_{partner} false",
            )


class OutputToNobody(Rule):
    """Output that a component offers to the coupler is taken by another program.

    ## What it does
    Finds `coupled_to_output` where the job starts no other program (`--multi-prog`) and no couple of `coupling.yaml`
    goes from the component to one that is no model of ICON's; and, from ICON 2025.04 on, a stream with `filetype` 999
    in a component that is not coupled to output.

    ## Why it matters
    ICON offers its fields and goes on. Nothing is written, and the run ends well.

    ## Evidence
    ICON 2024.10 with YAC 3.4 ran to its end with `coupled_to_output` beside an ocean that takes none; ICON 2025.04
    takes 999 for a stream without a file (`mo_name_list_output_types.f90:101`).

    ## Example
    ```yaml bad
    models: {atm: {namelists: {coupling_mode_nml: {coupled_to_output: true}}}}
    #                                                                 ^
    ```
    ```yaml good
    models: {atm: {namelists: {coupling_mode_nml: {coupled_to_output: true}}}}
    launch: {options: [--multi-prog, programs.conf]}
    ```

    ## References
    ICON namelist overview, coupling_mode_nml and output_nml.
    """

    code = "CPL010"
    name = "output-to-nobody"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        has_others = _starts_others(experiment)
        for component in experiment.components:
            if component.kind not in PARTNERS:
                continue
            switch = switch_to(component, "output")
            if switch.value is not True:
                yield from self._without_files(component)
            elif not has_others and _takers(experiment, component) == set():
                yield self.finding(
                    switch,
                    f'coupled_to_output is true, and nobody takes the output of "{component.title}"',
                    "expected: the program that writes, in launch.options with --multi-prog, and couples to it in "
                    f"{COUPLING_FILE}",
                )

    def _without_files(self, component: Component) -> Iterator[Finding]:
        if component.registry.release < _WITHOUT_FILES_SINCE:
            return
        for stream in component.streams:
            kind = component.stream_setting(stream, "filetype")
            if kind.certainty is not kind.certainty.UNKNOWN and kind.value == _NO_FILE:
                message = f"the stream {stream.title} writes no file, and the component is not coupled to output"
                yield self.finding(kind, message, "expected: 4 or 5 (NetCDF), 2 (GRIB2), or coupled_to_output true")


class OutputOfAnotherName(Rule):
    """Output that another program takes comes from the component NAME_output.

    ## What it does
    Finds a couple of `coupling.yaml` that takes a variable of ICON's from a component which is coupled to output only,
    under the component's own name; and one with NAME_output where `coupled_to_output` is not true.

    ## Why it matters
    YAC aborts when the definitions end: "missing definition", unless `debug: {missing_definition_is_fatal: false}`;
    then that variable is never written.

    ## Evidence
    ICON 2024.10 registers NAME_output beside NAME where `coupled_to_output` is true, and all variables with it
    (`mo_coupling_utils.f90:240`, `mo_output_coupling.f90:181`); that YAC aborts was seen with other fields that are
    missing, not with these.

    ## Example
    ```yaml bad
    models: {atm: {namelists: {coupling_mode_nml: {coupled_to_output: true}}}}
    launch: {options: [--multi-prog, programs.conf]}
    coupling:
      coupling:
        - src_component: atm
    #                    ^
          src_grid: icon_atmos_grid
          tgt_component: hiopy
          tgt_grid: healpix
          coupling_period: PT30M
          field: [temp]
          interpolation: [{nnn: {n: 1}}]
        - {src_component: atm, src_grid: icon_atmos_grid, tgt_component: oce, tgt_grid: icon_ocean_grid,
           coupling_period: PT30M, field: [total_heat_flux], interpolation: [{fixed: {user_value: 0.0}}]}
    ```
    ```yaml good
    models: {atm: {namelists: {coupling_mode_nml: {coupled_to_output: true}}}}
    launch: {options: [--multi-prog, programs.conf]}
    coupling:
      coupling:
        - src_component: atm_output
          src_grid: icon_atmos_grid
          tgt_component: hiopy
          tgt_grid: healpix
          coupling_period: PT30M
          field: [temp]
          interpolation: [{nnn: {n: 1}}]
        - {src_component: atm, src_grid: icon_atmos_grid, tgt_component: oce, tgt_grid: icon_ocean_grid,
           coupling_period: PT30M, field: [total_heat_flux], interpolation: [{fixed: {user_value: 0.0}}]}
    ```

    ## References
    ICON 2024.10, `run/standard_experiments/hiopy.yaml.tmpl`.
    """

    code = "CPL011"
    name = "output-of-another-name"
    severity = Severity.ERROR

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        coupling = coupling_of_run(experiment)
        if coupling is None or coupling.tolerates_missing:
            return
        own = {component.name for component in experiment.components}
        for component in experiment.components:
            offering, is_offered = f"{component.name}_output", switch_to(component, "output").value is True
            if component.kind not in PARTNERS or component.registry.release < OUTPUT_APART_SINCE:
                continue
            sends_else = any(is_coupled_to(component, end) for end in ELSEWHERE if end != "output")
            fields = {field for kinds, sent in FIELDS.items() if kinds[0] == component.kind for field in sent}
            for couple in coupling.couples:
                source, target = couple.source.component, couple.target.component
                if source is None or target is None:
                    continue
                named = {str(field.value) for names in couple.fields for field in names}
                is_taken = source.value == component.name and str(target.value) not in own and not named & fields
                if is_taken and is_offered and not sends_else and named:
                    message = f'the model offers its variables as "{offering}", not as "{source.value}"'
                    yield self.finding(source, message, f"expected: {offering}")
                elif source.value == offering and offering not in own and not is_offered:
                    message = f'there is no "{offering}": coupled_to_output of "{component.title}" is not true'
                    yield self.finding(source, message, "expected: coupled_to_output true in coupling_mode_nml")


def _starts_others(experiment: Experiment) -> bool:
    """Whether the job starts programs beside ICON."""
    has_command = any("multi-prog" in str(option.value) for option in experiment.launch.options)
    return has_command or any(program.model is None for program in experiment.programs)


def _starts_icon_alone(experiment: Experiment) -> bool:
    """Whether the job is known to start nothing but ICON."""
    launch = experiment.launch
    if launch.command.certainty is not Certainty.WRITTEN or _starts_others(experiment):
        return False
    return not any(
        option.certainty is Certainty.UNKNOWN or _FURTHER_PROGRAMS.match(str(option.value)) for option in launch.options
    )


def _takers(experiment: Experiment, component: Component) -> set[str] | None:
    """The components of other programs that a couple goes to; None where nobody knows the couples."""
    coupling = experiment.coupling
    if coupling is None:
        return set()
    if coupling.is_open:
        return None
    own = {one.name for one in experiment.components}
    ends = [
        couple.target.component for couple in coupling.couples if component in components_of(experiment, couple.source)
    ]
    return {str(end.value) for end in ends if end is not None} - own


_OR_A_PROGRAM = "; or below programs the program that joins under this name"
_NO_FILE = 999
_FURTHER_PROGRAMS = pattern(r":$|--?(?:app|configfile|het-group|pack-group)\b")
"""Options of srun and mpirun that more than one program is started with."""
_WITHOUT_FILES_SINCE = "2025.04"

_DATA = {"aero": "aerosol", "o3": "ozone"}
_AES, _NWP = 2, 3
