"""What an output stream writes: its variables, its levels, its longitudes and latitudes, and how long a file is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from math import floor

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list, default_element
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Severity, did_you_mean, nearest
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.ranks import level_types
from nmlgen.models.icon.rules.streams import is_blank, setting_of, stream_name, streams_read, windows_of, writes_within
from nmlgen.models.icon.rules.varlists import (
    GROUP,
    LESS,
    EmptyGroups,
    Entry,
    as_warning,
    by_list,
    catalogue_of,
    domains_of,
    entries,
    first_told,
    names_in,
    own_catalogue,
    softened,
    tracers,
    varlists,
)
from nmlgen.models.icon.variables import load_catalogue
from nmlgen.models.icon.volume import read_dictionary
from nmlgen.pattern import pattern
from nmlgen.rules.rule import ComponentRule, of_unknown_release
from nmlgen.units.duration import Duration
from nmlgen.values import evolve

_TILES, _GRID = "tiles:", "grid:"
_OF_ART = ("art_", "group:art_")  # registered by ART, of which no release's sources tell
_LATLON = 1
_LONGEST = 1024
_LONGEST_NEAR = 40
_SHORTEST_NEAR, _AS_NEAR = 3, 0.65  # among a thousand names shorter or less like ones mean nothing
_NO_MORE = "from here on no more names are told that ICON does not know"
_NOT_INTERPOLATED = ("edge", "vertex")
_ATMOSPHERE, _OCEAN = 1, 2
_STEP, _NUMBER_OF_POINTS = 1, 2
_LARGEST_STEP = 5.0
"""With `reg_def_mode` 0 what is larger is a number of points (`mo_lonlat_grid.f90:43`)."""


class UnknownOutputVariable(ComponentRule):
    """A stream can write what the release registers, under the names it has there.

    ## What it does
    Finds a name in a varlist, or a group behind `group:`, that the release does not know. Upper and lower case do not
    matter. With a dictionary of names (`output_nml_dict`) that is not at hand, with ART, or with plug-ins of ComIn
    nothing is certain, and nothing is found; a dictionary beside a script is read, and a name that is not in it either
    is a warning. Where nobody said the release, a name is an error only if it is a slip in one that is known.

    ## Why it matters
    ICON aborts when output is initialised, minutes into the job. A group that it does not know it leaves out, behind
    another name; at the head of the list of several the last name takes the place of all.

    ## Evidence
    ICON 2024.10: "Output name list variable not found: group:bogus, patch 1" (`mo_name_list_output_init.f90:2039`). A
    comma that is missing between two names makes one of them: "Output name list variable not found: u"v". Of the list
    zos, group:bogus, to the file had zos and to; of group:bogus, zos it had zos and zos_2; of group:bogus, zos, to it
    had to, to_2 and to_3.

    ## Example
    ```yaml bad
    output: {atm: {ml_varlist: [u, v, temprature]}}
    #                                 ^
    ```
    ```yaml bad
    output: {atm: {ml_varlist: ["group:bogus"]}}
    #                           ^
    ```
    ```yaml good
    output: {atm: {ml_varlist: [u, V, temp, "group:all"]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT026"
    name = "unknown-output-variable"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        translations = read_dictionary(component) if component.model.dictionary is not None else None
        told = first_told(self._found(component, translations), _NO_MORE)
        found = (softened(finding, component) for finding in told)
        return found if translations is None else (_by_dictionary(finding) for finding in found)

    def _found(self, component: Component, translations: Mapping[str, str] | None) -> Iterator[Finding]:
        is_assumed = component.registry.is_assumed
        for stream, kind, setting in varlists(component):
            own_names, meant = tracers(component), translations
            catalogue = catalogue_of(component) if meant is None else own_catalogue(component)
            where = f"{kind}_varlist of the stream {stream_name(stream)}"
            names = names_in(setting)
            unknown = {one for one in names if GROUP in one and not catalogue.has_group(one[len(GROUP) :])}
            groups = EmptyGroups(names, unknown)
            for position, written in enumerate(names):
                name = written if meant is None else meant.get(written, written)
                if name in own_names or _TILES in name or name.startswith((_GRID, LESS, *_OF_ART)):
                    continue
                if GROUP in name:
                    if not catalogue.has_group(name[len(GROUP) :]):
                        group = name[len(GROUP) :]
                        finding = self.finding(
                            setting.element(position),
                            f'ICON {catalogue.release} has no group "{group}" of variables',
                            f"expected: a group of the release in the {where}",
                            *did_you_mean(group, catalogue.groups),
                        )
                        beside = groups if written in unknown else EmptyGroups(names, {*unknown, written})
                        finding = beside.told(finding, written)
                        known = None if catalogue.carried_from else catalogue.may_be_new_group(group)
                        if known is not None and finding.severity is Severity.ERROR:
                            finding = as_warning(finding, known)
                        is_slip = nearest(group, catalogue.groups) is not None
                        yield of_unknown_release(finding) if is_assumed and not is_slip else finding
                elif not catalogue.find(name):
                    comma = ("is a comma missing between two names?",) if '"' in name or "'" in name else ()
                    finding = self.finding(
                        setting.element(position),
                        f'ICON {catalogue.release} has no output variable "{name}"',
                        f"expected: a variable of the release in the {where}",
                        *comma,
                        *_near(name, catalogue.release),
                    )
                    known = None if catalogue.carried_from else catalogue.may_be_new(name)
                    if known is not None:
                        yield as_warning(finding, known)
                    elif is_assumed and not comma and nearest(name, _all_names(catalogue.release)) is None:
                        yield of_unknown_release(finding)
                    else:
                        yield finding


def _by_dictionary(finding: Finding) -> Finding:
    """A finding on a name that a dictionary may translate: a warning, for the one beside the script may be another."""
    note = "nor does the dictionary of names beside the script"
    return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note))


@cache
def _near(name: str, release: str) -> tuple[str, ...]:
    """A note that names the nearest variable of a release."""
    is_judged = _SHORTEST_NEAR <= len(name) <= _LONGEST_NEAR
    return did_you_mean(name, _all_names(release), _AS_NEAR) if is_judged else ()


@cache
def _all_names(release: str) -> tuple[str, ...]:
    return load_catalogue(release).names


class VariableNotInThisRun(ComponentRule):
    """A variable exists only if the part of the model that computes it is switched on.

    ## What it does
    Finds a name in a varlist that the release knows, but registers under other settings or for another model: the
    precipitation of a run without physics, graupel without a scheme that has it, a variable of the ocean in a run of
    the atmosphere. Finds a group (`group:`) and tiles (`tiles:`) of which no member exists, and any of them in a list
    of interpolated levels, where ICON looks for members before there are any; such a group is a warning where ICON
    leaves it out, which is behind another name ([OUT026](OUT026.md)).

    ## Why it matters
    ICON aborts when output is initialised, minutes into the job.

    ## Evidence
    ICON 2024.10: "Output name list variable not found" (`mo_name_list_output_init.f90:2039`), so for
    group:precip_vars alone in a dry run; the conditions are those around its calls of add_var.

    ## Example
    ```yaml bad
    output: {atm: {ml_varlist: [u, v, tot_prec]}}
    #                                 ^
    ```
    ```yaml bad
    output: {atm: {ml_varlist: ["group:precip_vars", u, v]}}
    #                           ^
    ```
    ```yaml good
    output: {atm: {ml_varlist: [u, v, "group:atmo_derived_vars"]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT027"
    name = "variable-not-in-this-run"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        return (softened(finding, component) for finding in first_told(self._found(component)))

    def _found(self, component: Component) -> Iterator[Finding]:
        if component.kind == "jsbach":  # the conditions are those of land in an atmosphere
            return
        found = [entry for entry in entries(component) if not entry.name.startswith(LESS)]
        lists = by_list(found)
        empty: dict[tuple[int, int], EmptyGroups] = {}
        for entry in found:
            if not entry.is_missing or (entry.kind == "ml" and not entry.variables):  # what nobody knows is OUT026's
                continue
            if entry.is_group:
                where = id(entry.setting), entry.domain
                if where not in empty:
                    missing = {other.name for other in lists[where] if other.is_group and other.is_missing}
                    empty[where] = EmptyGroups(names_in(entry.setting), missing)
                yield empty[where].told(self._of_group(entry), entry.name)
            elif entry.variables:
                message = f'there is no output variable "{entry.name}" in this run'
                yield self.finding(entry.place, message, f"expected: {entry.requirement()}")

    def _of_group(self, entry: Entry) -> Finding:
        if entry.kind != "ml":
            message = f'"{entry.name}" in {entry.kind}_varlist: groups hold variables of model levels only'
            return self.finding(entry.place, message, "expected: the names of the variables")
        message = f'there is no member of "{entry.name}" in this run'
        return self.finding(entry.place, message, f"expected: {entry.requirement()}")


class EdgesOnLatLonGrid(ComponentRule):
    """What lies on edges or vertices is not interpolated to longitudes and latitudes.

    ## What it does
    Finds a variable on edges or vertices, such as vn, in a stream with `remap: 1`.

    ## Why it matters
    ICON aborts when output is initialised, minutes into the job.

    ## Evidence
    ICON 2024.10 with vn: "Output name list variable not found: latlon_internal_vn" (`mo_pp_scheduler.f90:586`).

    ## Example
    ```yaml bad
    output: {atm: {remap: 1, reg_lon_def: [0, 5.0, 355], reg_lat_def: [-90, 5.0, 90], ml_varlist: [temp, vn]}}
    #                                                                                                    ^
    ```
    ```yaml good
    output: {atm: {remap: 1, reg_lon_def: [0, 5.0, 355], reg_lat_def: [-90, 5.0, 90], ml_varlist: [temp, u, v]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT028"
    name = "edges-on-latlon-grid"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        return (softened(finding, component) for finding in first_told(self._found(component)))

    def _found(self, component: Component) -> Iterator[Finding]:
        for stream, _, setting in varlists(component):
            if setting_of(component, stream, "remap").value != _LATLON:
                continue
            catalogue = catalogue_of(component)
            for position, name in enumerate(names_in(setting)):
                found = catalogue.find(name)
                if found and all(variable.location in _NOT_INTERPOLATED for variable in found):
                    yield self.finding(
                        setting.element(position),
                        f'the variable "{name}" lies on {found[0].location} points, which remap 1 does not interpolate',
                        "expected: variables at cells, such as u and v for vn, or remap 0",
                    )


class ImpossibleLatLonGrid(ComponentRule):
    """Longitudes and latitudes are a start, a step and an end, and must lead from the one to the other.

    ## What it does
    Finds a `reg_lon_def` whose end lies before its start, or whose step is zero or less where the end lies behind the
    start; a `reg_lat_def` whose step is zero where start and end differ; and `remap: 1` where both are zero. The first
    are found without `remap`, too: ICON checks them wherever they are written. With `remap: 1` also those that make no
    point: a step to the north where the end lies to the south, a single longitude given by a step (the last point is
    left out where the circle closes), or with `reg_def_mode` 2 a number of points below one.

    ## Why it matters
    ICON aborts while it reads its namelists.

    ## Evidence
    ICON 2024.10 rejects them: "Illegal LON increment", "end lon < start lon", "Illegal LAT increment"
    (`mo_name_list_output_init.f90:492-503`). A step of zero for a single longitude or latitude is refused with
    `remap: 1`: "Invalid setting for reg_lon_def increment!" (`mo_lonlat_grid.f90:147`; read, not tried). It counts the
    points without a look at the sign (`mo_lonlat_grid.f90:159-175`): -80, -20, 80 and, as number of points, -20 ended
    in MPI_ERR_COUNT, 0.4 points and the longitudes 10, 1, 10 in an assertion of the library that writes.

    ## Example
    ```yaml bad
    output: {atm: {remap: 1, reg_lon_def: [0, -5.0, 355], reg_lat_def: [-90, 5.0, 90]}}
    #                                     ^
    ```
    ```yaml good
    output: {atm: {remap: 1, reg_lon_def: [0, 5.0, 355], reg_lat_def: [90, -5.0, -90]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT029"
    name = "impossible-latlon-grid"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            longitudes = setting_of(component, stream, "reg_lon_def")
            latitudes = setting_of(component, stream, "reg_lat_def")
            is_remapped = setting_of(component, stream, "remap").value == _LATLON
            if not (is_remapped or longitudes.is_written or latitudes.is_written):
                continue
            west, lon_step, east = _start_step_end(longitudes)
            first, lat_step, last = _start_step_end(latitudes)
            counts = setting_of(component, stream, "reg_def_mode").value != 1  # a number of points may be meant
            expected = "expected: start, step, end in degrees, such as 0, 1, 359"
            if is_remapped and not any((west, lon_step, east, first, lat_step, last)):
                yield self.finding(
                    setting_of(component, stream, "remap"),
                    f"remap 1, and the stream {stream_name(stream)} names neither longitudes nor latitudes",
                    "expected: reg_lon_def and reg_lat_def",
                )
            elif east < west:
                yield self.finding(longitudes, f"the longitude ends at {east:g}, before its start {west:g}", expected)
            elif lon_step <= 0 and (east > west or (is_remapped and lon_step == 0 and not counts)):
                yield self.finding(
                    longitudes, f"the step from longitude {west:g} to {east:g} is {lon_step:g}", expected
                )
            elif lat_step == 0 and (first != last or (is_remapped and not counts)):
                yield self.finding(
                    latitudes,
                    f"the step from latitude {first:g} to {last:g} is 0",
                    "expected: start, step, end in degrees, such as -90, 1, 90 or 90, -1, -90",
                )
            elif is_remapped:
                mode = setting_of(component, stream, "reg_def_mode").value
                for setting, definition in ((longitudes, (west, lon_step, east)), (latitudes, (first, lat_step, last))):
                    is_closed = setting is longitudes and _is_closed(west, east)
                    if _points_on_an_axis(definition, mode, is_closed=is_closed) < 1:
                        name = setting.name.rpartition(".")[2]
                        numbers = ", ".join(f"{number:g}" for number in definition)
                        yield self.finding(
                            setting,
                            f"{name} {numbers} makes no point",
                            "expected: a step that leads from the start to the end"
                            + (", for reg_def_mode 2 the number of points" if mode == _NUMBER_OF_POINTS else ""),
                        )


def _points_on_an_axis(definition: tuple[float, float, float], mode: object, *, is_closed: bool) -> int:
    """How many points a start, a step or their number, and an end make; the last one is left out where a circle
    `is_closed` (`mo_lonlat_grid.f90:97-175`)."""
    start, step, end = definition
    if mode == _NUMBER_OF_POINTS or (mode != _STEP and step > _LARGEST_STEP):
        return floor(min(step, _MOST_POINTS) + 0.5)
    return int(max(-_MOST_POINTS, min((end - start) / step, _MOST_POINTS))) + 1 - is_closed if step else 1


_MOST_POINTS = 1e9  # a number that is not to be counted


def _is_closed(west: float, east: float) -> bool:
    """Whether ICON takes two longitudes for the same one (`mo_lonlat_grid.f90:117-121`)."""
    first, last = (degrees - 360 if degrees >= 360 else degrees for degrees in (west, east))
    return first == last


def _start_step_end(setting: Setting) -> tuple[float, float, float]:
    """The three numbers, zero where none is written."""
    start, step, end = (*as_list(setting.value), 0.0, 0.0, 0.0)[:3]
    return float(start), float(step), float(end)


class ImpossibleLevels(ComponentRule):
    """`m_levels` is a list of level numbers and ranges, such as 1,3,5...10,nlev.

    ## What it does
    Finds a list that ICON cannot read, with numbers beyond the model levels, or of which a variable of the stream has
    no level. Numbers begin with 1; `nlev`, `n` or `N` is the number of levels; sums, differences and parentheses are
    possible.

    ## Why it matters
    ICON aborts when output is initialised, minutes into the job.

    ## Evidence
    ICON 2024.10 with 10 levels: "Parsing of level selection failed for "1...50"" (`mo_level_selection.f90:116`,
    `util_string_parse.rl:118-150`). One number above the half levels passes its check; where all are above the levels
    of a variable: "Invalid level selection!" (`mo_name_list_output_zaxes.f90:577`).

    ## Example
    ```yaml bad
    output: {atm: {m_levels: "1...50"}}
    #                        ^
    ```
    ```yaml bad
    output: {atm: {m_levels: "1:10"}}
    #                        ^
    ```
    ```yaml good
    output: {atm: {m_levels: "1, 3; 5...10, nlev-(2+1), nlev"}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT030"
    name = "impossible-levels"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component["master_model_nml", "model_type"].value not in (_ATMOSPHERE, _OCEAN):
            return
        written: dict[tuple[int, int], list[Entry]] | None = None
        for stream in streams_read(component):
            setting = setting_of(component, stream, "m_levels")
            text = str(setting.value).rstrip()
            if not text or len(text) > _LONGEST or "ml" not in level_types(component, stream):
                continue
            for domain in domains_of(component, stream):
                levels = _levels_of(component, domain)
                if levels <= 0:
                    continue
                fault = level_fault(text, levels)
                if fault is None and lowest_level(text, levels) > levels:
                    written = by_list(entries(component)) if written is None else written
                    names = setting_of(component, stream, "ml_varlist")
                    name = _of_full_levels(written.get((id(names), domain), ()), levels)
                    fault = None if name is None else f"{name} has none of these levels"
                if fault is not None:
                    yield self.finding(
                        setting,
                        f'm_levels "{text}" of the stream {stream_name(stream)}: {fault}',
                        f"expected: numbers and ranges from 1 to {levels}, such as 1,3,5...10,nlev",
                    )
                    break


def _of_full_levels(written: Iterable[Entry], levels: int) -> str | None:
    """The first variable of a list that exists and has so many levels."""
    for entry in written:
        if not entry.is_group:
            known = entry.present
            if known and all(entry.here.levels(variable) == levels for variable in known):
                return f'"{entry.name}"'
    return None


def _levels_of(component: Component, domain: int) -> int:
    """num_lev of a domain, that of the first one where nesting is not vertical, too (`mo_run_config.f90:187`); of an
    ocean its levels."""
    if component["master_model_nml", "model_type"].value == _OCEAN:
        return int(component["ocean_dynamics_nml", "n_zlev"].value)
    setting = component["run_nml", "num_lev"]
    levels = as_list(setting.value)
    if component["run_nml", "lvert_nest"].value is not True:
        return int(levels[0])
    unsaid = default_element(component.registry.variable("run_nml", "num_lev"), domain)
    own = levels[domain - 1] if domain <= len(levels) else unsaid
    if own is None:
        raise UndecidedError(setting)
    return int(own)


_CONSTANT = r"(?:[1-9]\d{0,8}|nlev|n|N)"
_SUM = rf"{_CONSTANT}(?:\s*[-+]\s*{_CONSTANT})*"
_BLANKS = r"(?:(?<!\s)\s+)?"  # all that stand there
_TERM = rf"{_BLANKS}(?:{_CONSTANT}|\(\s*{_SUM}\s*\))"
_EXPRESSION = rf"{_TERM}(?:\s*[-+]{_TERM})*"
_LEVELS = pattern(rf"(?P<start>{_EXPRESSION})(?:\s*\.\.\.(?P<end>{_EXPRESSION}))?\s*|{_BLANKS}[;,]\s*", flags=re.ASCII)
_SYMBOL = pattern(r"\d+|[nN]|[-+()]", flags=re.ASCII)


_Count = tuple[int, int]
"""A number of levels: so many, and so many times all that there are."""


def level_fault(text: str, levels: int) -> str | None:
    """What ICON objects to in a list of levels; None if it takes it.

    Source: ICON 2024.10, `externals/fortran-support/src/util_string_parse.rl:118-150`.
    """
    most = levels + 2
    ranges, rest = _ranges(text)
    for (first, first_times), (last, last_times) in ranges:
        start, end = first + first_times * levels, last + last_times * levels
        if max(start, end) > most:
            return f"there is no level {max(start, end)} of {levels}"
        if start > end:
            return f"the range from {start} to {end} is empty"
    return None if rest is None else f'"{rest}" cannot be read'


def lowest_level(text: str, levels: int) -> int:
    """The least of the levels that a list without a fault selects."""
    return min((first + times * levels for (first, times), _ in _ranges(text)[0]), default=1)


@lru_cache(maxsize=256)  # a list is held against each domain
def _ranges(text: str) -> tuple[tuple[tuple[_Count, _Count], ...], str | None]:
    """The start and the end of each range of a list of levels, and what cannot be read behind them."""
    found: list[tuple[_Count, _Count]] = []
    position = 0
    while position < len(text):
        token = _LEVELS.match(text, position)
        if token is None or token.end() == position:
            return tuple(found), text[position:].strip()
        position = token.end()
        if token["start"] is not None:
            start = _evaluate(token["start"])
            found.append((start, start if token["end"] is None else _evaluate(token["end"])))
    return tuple(found), None


def _evaluate(expression: str) -> _Count:
    """The value of a sum with parentheses, from left to right."""
    total, times, sign = 0, 0, 1
    opened: list[tuple[int, int, int]] = []
    for symbol in _SYMBOL.findall(expression.replace("nlev", "n")):
        if symbol == "(":
            opened.append((total, times, sign))
            total, times, sign = 0, 0, 1
        elif symbol == ")":
            inner, inner_times = total, times
            total, times, sign = opened.pop()
            total, times = total + sign * inner, times + sign * inner_times
        elif symbol in "+-":
            sign = 1 if symbol == "+" else -1
        elif symbol in "nN":
            times += sign
        else:
            total += sign * int(symbol)
    return total, times


class FileIntervalNotPositive(ComponentRule):
    """A file is as long as `file_interval` says, so that must be longer than nothing.

    ## What it does
    Finds a `file_interval` of zero or less in a stream that writes something.

    ## Why it matters
    ICON looks for the file that an output time falls into by going forward in steps of that length, and never finds
    it: the job hangs until its time limit.

    ## Evidence
    ICON 2024.10 with -PT1H did not end (`mo_output_event_control.f90:225-245`).

    ## Example
    ```yaml bad
    output: {atm: {file_interval: -PT1H}}
    #                             ^
    ```
    ```yaml good
    output: {atm: {file_interval: PT1H}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT031"
    name = "file-interval-not-positive"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            setting = setting_of(component, stream, "file_interval")
            if is_blank(setting) or not level_types(component, stream) or not _is_not_positive(setting):
                continue
            time = clock(component)
            if writes_within(windows_of(component, stream, time), time.length):
                yield self.finding(
                    setting,
                    f"file_interval {setting.value} of the stream {stream_name(stream)}: ICON hangs",
                    "expected: a length above 0, such as P1D",
                )


def _is_not_positive(setting: Setting) -> bool:
    try:
        length = Duration.parse(str(setting.value).strip())
    except ValueError:
        raise UndecidedError(setting) from None
    return length.months <= 0 and length.milliseconds <= 0
