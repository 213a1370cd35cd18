"""What streams interpolate: to levels of pressure, height or potential temperature, to longitudes and latitudes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.ranks import level_types
from nmlgen.models.icon.rules.streams import OPERATIONS, setting_of, streams_read
from nmlgen.models.icon.rules.varlists import LESS, Entry, entries, first_told, softened
from nmlgen.rules.rule import ComponentRule

_LATLON = 1
_LETTERS = {"pl": "P", "hl": "Z", "il": "I"}
_AXES = {"pl": "pressure", "hl": "height", "il": "potential temperature"}
_WORKED_OUT = {
    "pl": ("gh", "temp", "u", "v"),
    "hl": ("temp", "pres", "u", "v"),
    "il": ("gh", "temp", "u", "v"),
}
"""What ICON interpolates by itself for each kind of levels (`mo_pp_scheduler.f90:1118-1123`)."""

_MEANT_ON_LEVELS = ("gh", "pv", "rh")
"""What ICON 2024.10 wrote as a mean on levels; it refused geopot, omega, pres, qv, temp, tempv, tke, u, vor and w."""


class NotInterpolated(ComponentRule):
    """Not every variable can be interpolated to levels of pressure, height or potential temperature.

    ## What it does
    Finds a name in `pl_varlist`, `hl_varlist` or `il_varlist` that ICON does not interpolate to such levels: variables
    of one level, of edges, of half levels in part, and those of the dynamical core such as theta_v.

    ## Why it matters
    ICON aborts when output is set up.

    ## Evidence
    ICON 2024.10: "p-level interpolation: No feasible variable found: pv" (`mo_pp_scheduler.f90:1288`); which variable
    goes where is said in its calls of add_var.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 8}
    output: {atm: {pl_varlist: [temp, theta_v], p_levels: [50000.0], stream_partitions_pl: 4}}
    #                                 ^
    ```
    ```yaml good
    parallel: {num_io_procs: 8}
    output: {atm: {pl_varlist: [temp, u, gh], p_levels: [50000.0], stream_partitions_pl: 4}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT033"
    name = "not-interpolated"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        return (softened(finding, component) for finding in first_told(self._found(component)))

    def _found(self, component: Component) -> Iterator[Finding]:
        for entry in entries(component):
            letter = _LETTERS.get(entry.kind)
            if letter is None or entry.is_group or entry.name in _WORKED_OUT[entry.kind]:
                continue
            if entry.name.startswith((LESS, "grid:")) or not entry.present:
                continue
            if all(letter not in variable.interpolation for variable in entry.present):
                yield self.finding(
                    entry.place,
                    f'"{entry.name}" is not interpolated to levels of {_AXES[entry.kind]}',
                    f"expected: variables such as {', '.join(_WORKED_OUT[entry.kind])} in {entry.kind}_varlist",
                )


class NotOnLatLonGrid(ComponentRule):
    """Some variables cannot go to longitudes and latitudes.

    ## What it does
    Finds, in a stream with `remap: 1`, variables without a vertical axis that have several levels all the same, and
    logical ones, by name or in a group.

    ## Why it matters
    ICON aborts when output is set up.

    ## Evidence
    ICON 2024.10 with group:all and remap: "Inconsistent dimension info: w_ubc!" (`mo_pp_scheduler.f90:617`); logical
    variables by the same file, line 687.

    ## Example
    ```yaml bad
    output: {atm: {remap: 1, reg_lon_def: [0, 5.0, 355], reg_lat_def: [-90, 5.0, 90], ml_varlist: [temp, w_ubc]}}
    #                                                                                                    ^
    ```
    ```yaml good
    output: {atm: {remap: 1, reg_lon_def: [0, 5.0, 355], reg_lat_def: [-90, 5.0, 90], ml_varlist: [temp, w]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT034"
    name = "not-on-latlon-grid"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        return (softened(finding, component) for finding in first_told(self._found(component)))

    def _found(self, component: Component) -> Iterator[Finding]:
        for entry in entries(component):
            if not entry.is_regular or entry.name.startswith(LESS):
                continue
            for variable in entry.present:
                stacked = variable.axis == "surface" and variable.levels != 1
                certain = not entry.is_group or not variable.conditions
                if certain and variable.location == "cell" and (stacked or variable.type == "logical"):
                    of = "" if not entry.is_group else f' of "{entry.name}"'
                    yield self.finding(
                        entry.place,
                        f"{variable.name}{of} does not go to longitudes and latitudes",
                        f"expected: the stream without {variable.name}, or remap 0",
                    )
                    break


class OperationOnLatLonGrid(ComponentRule):
    """A statistic over time is not written on longitudes and latitudes, nor on interpolated levels.

    ## What it does
    Finds a stream with an `operation` and `remap: 1` or a list of interpolated levels, unless all that it writes there
    is constant, or geopotential height, vorticity (pv) and relative humidity on levels.

    ## Why it matters
    ICON aborts when output is set up: it makes the means on its own grid, and looks for them on the other.

    ## Evidence
    ICON 2024.10: "Output name list variable not found: latlon_internal_u|mean|pt600s|..."
    (`mo_derived_variable_handling.f90:204`, `mo_name_list_output_init.f90:2039`), and "u|square|pt10m|..." in
    hl_varlist.

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 1}
    output:
      atm: {stream_partitions_ml: 1, remap: 1, reg_lon_def: [0, 5.0, 355], reg_lat_def: [-90, 5.0, 90], operation: max}
    #                                                                                                              ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    output: {atm: {stream_partitions_ml: 1, operation: max}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT035"
    name = "operation-on-latlon-grid"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        changing = {
            id(entry.setting)
            for entry in entries(component)
            if any(not variable.is_constant for variable in entry.present)
            and not (entry.kind != "ml" and not entry.is_regular and entry.name in _MEANT_ON_LEVELS)
        }
        for stream in streams_read(component):
            operation = setting_of(component, stream, "operation")
            remap = setting_of(component, stream, "remap")
            if str(operation.value).rstrip() not in OPERATIONS:
                continue
            for kind in level_types(component, stream):
                is_changing = id(setting_of(component, stream, f"{kind}_varlist")) in changing
                if is_changing and (remap.value == _LATLON or kind != "ml"):
                    other = "remap 1" if remap.value == _LATLON else f"{kind}_varlist"
                    yield self.finding(
                        operation,
                        f'operation "{operation.value}" does not go with {other}',
                        "expected: model levels on ICON's own grid, or no operation",
                    )
                    break


class OperationOnIntegers(ComponentRule):
    """A statistic over time is made of real numbers.

    ## What it does
    Finds a stream with an `operation` and, in its ml_varlist, an integer or logical variable that changes in time, by
    name or as a member of a group.

    ## Why it matters
    ICON looks for the numbers where those of a real variable would be, and reads memory that belongs to nobody. It
    crashes or goes on with whatever lies there: what is written means nothing. A warning, because it need not crash.

    ## Evidence
    ICON 2024.10 ended in a segmentation fault with bdy_halo_c_idx and each of the five operations, wrote it without
    `operation`, and went on with lsm_ctr_c (`mo_derived_variable_handling.f90:285-366`).

    ## Example
    ```yaml bad
    parallel: {num_io_procs: 1}
    output: {atm: {stream_partitions_ml: 1, operation: mean, ml_varlist: [temp, bdy_halo_c_idx]}}
    #                                                                           ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    output: {atm: {stream_partitions_ml: 1, operation: mean, ml_varlist: [temp]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT045"
    name = "operation-on-integers"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        return (softened(finding, component) for finding in first_told(self._found(component)))

    def _found(self, component: Component) -> Iterator[Finding]:
        if component.kind == "waves":  # which makes no statistics
            return
        written: defaultdict[int, list[Entry]] | None = None
        for stream in streams_read(component):
            operation = str(setting_of(component, stream, "operation").value).rstrip()
            varlist = setting_of(component, stream, "ml_varlist")
            if operation not in OPERATIONS:
                continue
            if written is None:
                written = defaultdict(list)
                for entry in entries(component):
                    written[id(entry.setting)].append(entry)
            for entry in written[id(varlist)]:
                if entry.is_regular or entry.name.startswith(LESS):
                    continue
                changing = [variable for variable in entry.present if not variable.is_constant]
                certain = [variable for variable in changing if not (entry.is_group and variable.conditions)]
                whole = [variable for variable in certain if variable.type != "real"]
                if whole and (entry.is_group or len(whole) == len(entry.present)):
                    of = "" if not entry.is_group else f' of "{entry.name}"'
                    yield self.finding(
                        entry.place,
                        f'operation "{operation}" is not made of {whole[0].name}{of}: it holds no real numbers',
                        f"expected: the stream without {whole[0].name}, or no operation",
                    )
