"""Namelists as Fortran reads them: groups and variables that exist, values that fit what was declared."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group, as_list
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.findings import Edit, Finding, Fix, Severity, did_you_mean, most_like, nearest, some_of
from nmlgen.models.icon.reading import condition_of, file_of, foreign_reader, groups_read, is_read
from nmlgen.models.icon.rules.successors import successor
from nmlgen.namelist.constraint import Condition, Constraint, literal
from nmlgen.namelist.registry import Registry, Removal, Shape, Variable, bounds_of, load_registry, releases
from nmlgen.pattern import pattern
from nmlgen.rules.rule import ComponentRule, of_unknown_release
from nmlgen.source import Span, encoded
from nmlgen.values import evolve


class _Written(NamedTuple):
    """A variable as somebody wrote it: `path` is its name in lower case without subscripts, `subscripts` what
    stood in the parentheses after each part of it, None where there were none."""

    group: Group
    key: str
    path: str
    subscripts: tuple[str | None, ...]
    setting: Setting

    @property
    def name(self) -> str:
        return self.key if "%" in self.key or "(" in self.key else self.group.spelling(self.key)


_PART = pattern(r"([a-z]\w*)\s*(?:\(([^()]*)\))?")
_MOST_TOLD = 500
_MOST_LISTED = 200  # names that a group has; those of ICON 2025.10 have 120 at most
_SLIP = 0.8  # of which 1 is the same
_INDEX = pattern(r"[-+]?\d{1,18}")


def _parse(group: Group, key: str, setting: Setting) -> _Written:
    """A name such as `echotop_meta(1)%dbzthresh`; of a name that cannot be read no subscripts are known."""
    if key.isidentifier():
        return _Written(group, key, key.lower(), (None,), setting)
    matches = [_PART.fullmatch(part.strip()) for part in key.lower().split("%")]
    parts = [match.groups() for match in matches if match is not None]
    if len(parts) != len(matches):
        path = re.sub(r"\([^()]*\)|\s", "", key.lower())
        return _Written(group, key, path, (None,) * (path.count("%") + 1), setting)
    path = "%".join(name for name, _ in parts)
    return _Written(group, key, path, tuple(text for _, text in parts), setting)


@remembered
def _known(group: Group, registry: Registry, file: str) -> tuple[tuple[_Written, Variable | None], ...]:
    """The written variables of a group, with what the release knows of each; what nobody has shown is not written."""
    written = (_parse(group, key, setting) for key, setting in group.settings.items() if _is_written(setting))
    return tuple((one, registry.variable(group.name, one.path, file)) for one in written)


def _is_written(setting: Setting) -> bool:
    return setting.certainty is not Certainty.UNKNOWN or setting.span is not None


_Judge = Callable[[_Written, Variable | None], Iterable[Any]]
"""Tells what is wrong with a written variable by that variable alone."""


def _wrong(component: Component, judge: _Judge) -> Iterator[tuple[_Written, Any]]:
    """What a judge tells of the written variables. Those whose value is not known come last: asking for one then ends
    a rule, and what it has found before stays found."""
    yield from ((written, told) for asked, written, told in _faults(component) if asked is judge)
    for written, variable in _unknown(component):
        yield from ((written, told) for told in judge(written, variable))


@remembered
def _faults(component: Component) -> Iterator[tuple[_Judge, _Written, Any]]:
    """What the judges tell of the variables whose value is known."""
    for group, file in _files(component):
        yield from _faults_in(group, component.registry, file)


@remembered
def _faults_in(group: Group, registry: Registry, file: str) -> tuple[tuple[_Judge, _Written, Any], ...]:
    """The same of a group, once, in however many experiments it stands."""
    return tuple(
        (judge, written, told)
        for written, variable in _known(group, registry, file)
        if written.setting.certainty is not Certainty.UNKNOWN and not _is_plainly_right(written, variable)
        for judge in _JUDGES
        for told in judge(written, variable)
    )


@remembered
def _files(component: Component) -> Iterator[tuple[Group, str]]:
    """The groups that ICON reads, each with its file."""
    for group in groups_read(component):
        yield group, file_of(component, group)


@remembered
def _unknown(component: Component) -> Iterator[tuple[_Written, Variable | None]]:
    """The written variables whose value is not known."""
    for group, file in _files(component):
        known = _known(group, component.registry, file)
        yield from (one for one in known if one[0].setting.certainty is Certainty.UNKNOWN)


def _place(group: Group) -> Span | None:
    """Where a group was written, or else where its first value was."""
    return group.span or next((setting.span for setting in group.settings.values() if setting.span), None)


def _knows_dace(component: Component) -> bool:
    """Whether there may be groups for DACE, which reads its own from the file that `dace_namelist_file` names."""
    assimilation = component.group("assimilation_nml")
    return assimilation is not None and any(name.startswith("dace_") for name in assimilation.settings)


def _may_be_of_dace(registry: Registry, group: str) -> bool:
    """Whether a group may be one of DACE, whose names do not end as ICON's do, and are no slips of theirs, either."""
    return not group.lower().endswith("_nml") and most_like(group.lower(), registry.groups, _SLIP) is None


class UnknownGroup(ComponentRule):
    """ICON searches its namelist file for the groups it knows and never looks at the others.

    ## What it does
    Finds a namelist group that the release does not have. Of a namelist most of whose groups are none of ICON's that
    alone is told.

    ## Why it matters
    ICON ignores the group in silence and runs with its defaults: a misspelt `paralel_nml` costs a whole run. A group
    of older releases is ignored as well; the notes say what replaces it.

    ## Evidence
    ICON 2024.10 ran to its end with `bogus_nml`, `paralel_nml` and `io_nlm` (`mo_namelist.F90:100-169`). The groups
    that are gone stand in ICON's list of incompatible changes, and in the differences between the releases.

    ## Example
    ```yaml bad
    namelists:
      sleeve_nml: {top_height: 40000.0}
    #                          ^
    ```
    ```yaml good
    namelists:
      sleve_nml: {top_height: 40000.0}
    ```

    ## References
    ICON namelist overview.
    """

    code = "NML001"
    name = "unknown-group"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        registry, told = component.registry, 0
        there = {group.name.lower() for group in component.all_groups()}
        for group in component.all_groups():
            if registry.has_group(group.name) or (_knows_dace(component) and _may_be_of_dace(registry, group.name)):
                continue
            if (told := told + 1) > _MOST_TOLD:
                yield self.finding(
                    _place(group),
                    f'from "{group.name}" on no more groups are told that ICON {registry.release} does not have',
                    "expected: a namelist of ICON",
                )
                return
            removal = registry.removed_group(group.name)
            gone = _replacement(removal)
            elsewhere = _in_other_releases(registry, group.name)
            notes = (gone or did_you_mean(group.name, registry.groups)) + elsewhere
            yield self.finding(
                _place(group),
                f'ICON {registry.release} has no namelist group "{group.name}" and ignores it in silence',
                *(notes or ("expected: a group of ICON's namelist overview",)),
                fix=_renamed(group, registry, removal, there)
                or (None if gone or elsewhere else _respelt(_place(group), group.name, registry.groups, there)),
            )


class UnknownVariable(ComponentRule):
    """A variable that its group does not have ends the reading of the group.

    ## What it does
    Finds a variable that the release does not have in this group. Subscripts do not matter; of
    `echotop_meta(1)%dbzthresh` both the variable and its component must exist. Of a variable that older releases had,
    the notes say since when it is gone and what replaces it. It is a warning only where the group is known from an
    earlier release, as this one's source of it was not at hand (the land and the hydrology of ICON 2025.04), and where
    nobody said the release and another one has the name, or may have it: where no group has a variable of that name,
    and it is more than a slip away from those of its group.

    ## Why it matters
    ICON reads its namelists without an error exit: the compiler's run-time library ends the job.

    ## Evidence
    ICON 2024.10 rejected `bogus` in `io_nml`, `master_nml`, `diffusion_nml` and `transport_nml`, and
    `num_io_procs` in `run_nml`: "Cannot match namelist object name". The variables that are gone stand in ICON's list
    of incompatible changes, and in the differences between the releases.

    ## Example
    ```yaml bad
    parallel: {num_io_proc: 4}
    #          ^
    ```
    ```yaml good
    parallel: {num_io_procs: 4}
    ```

    ## References
    ICON namelist overview.
    """

    code = "NML002"
    name = "unknown-variable"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        registry, told = component.registry, 0
        for written, _ in _wrong(component, _has_no_variable):
            group = written.group.name.lower()
            file = file_of(component, written.group)
            if _is_derived(registry, group, written.path, file):
                continue
            if (told := told + 1) > _MOST_TOLD:
                yield self.finding(
                    written.setting.name_span or written.setting.span,
                    f'from "{written.name}" on no more variables are told that ICON {registry.release} does not have',
                    "expected: a namelist of ICON",
                )
                return
            known = registry.variables(group, file)
            notes, elsewhere = _notes_on_unknown(registry, group, written.path, file)
            span = written.setting.name_span or written.setting.span
            finding = self.finding(
                span,
                f'{group} of ICON {registry.release} has no variable "{written.name}"',
                *(notes or (f"expected: one of {some_of(known, _MOST_LISTED)}" if known else "expected: no variable",)),
                fix=successor(written.setting, group, registry.removed_variable(group, written.path))
                or (None if elsewhere else _respelt(span, written.path, known, written.group.settings)),
            )
            carried = _carried_from(registry, group, written.path, file)
            if carried is not None:
                yield _as_warning(finding, registry, carried)
            elif registry.is_assumed and _may_be_of_another_release(registry, group, written.path, known):
                yield of_unknown_release(finding)
            else:
                yield finding


class WrongType(ComponentRule):
    """A value must have the type that ICON declares.

    ## What it does
    Finds a string, a boolean or a real number given to an integer, a string or a boolean given to a real,
    anything but a boolean given to a logical and a boolean given to a character variable, each element of a
    list for itself. An integer given to a real is fine. An integer beyond 32 bits does not fit an integer
    variable.

    ## Why it matters
    ICON reads its namelists without an error exit: the compiler's run-time library ends the job, often with a
    message about another variable.

    ## Evidence
    ICON 2024.10 rejected `nproma = 16.0`, `num_lev = '10'`, `damp_height = "25000"`, `ltimer = 1`, `ltimer =
    "T"` and `nproma = 99999999999`.

    ## Example
    ```yaml bad
    parallel: {nproma: 16.0}
    #                  ^
    ```
    ```yaml good
    parallel: {nproma: 16}
    ```

    ## References
    ICON namelist overview; Fortran 2018, 13.11.3.
    """

    code = "NML003"
    name = "wrong-type"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for written, (value, expected) in _wrong(component, _misfit):
            yield self.finding(
                written.setting,
                f"{written.name} is {_describe(value)}",
                f"expected: {expected}, as {written.group.name.lower()} declares it",
            )


class TooManyValues(ComponentRule):
    """A variable takes as many values as it has elements.

    ## What it does
    Finds a list that is longer than the array it is given to, and a list given to a scalar.

    ## Why it matters
    The run-time library takes the first value too many for the name of the next variable and ends the job.

    ## Evidence
    ICON 2024.10 rejected `nproma = 16, 32` and a `num_lev` with 15 values for 10 domains.

    ## Example
    ```yaml bad
    parallel: {nproma: [16, 32]}
    #                  ^
    ```
    ```yaml good
    parallel: {nproma: 16}
    ```

    ## References
    ICON namelist overview; Fortran 2018, 13.11.3.
    """

    code = "NML004"
    name = "too-many-values"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for written, (count, room) in _wrong(component, _overflow):
            yield self.finding(
                written.setting,
                f"{written.name} has {count} values",
                f"expected: at most {room}" if room > 1 else "expected: one value, no list",
            )


class TextTruncated(ComponentRule):
    """Text that is longer than its variable is cut off.

    ## What it does
    Finds a string with more characters than ICON declares, not counting blanks at its end.

    ## Why it matters
    Fortran keeps the first characters and says nothing. Of a path or a file name that is another file.

    ## Evidence
    The run-time library of gfortran cuts text off without a message, as the Fortran standard has it; ICON
    2024.10 took a `modelTimeStep` of 200 characters, most of them blanks, for its 32.

    ## Example
    ```yaml bad
    namelists:
      dbg_index_nml: {str_mod_tst: mo_nh_interface_nwp}
    #                              ^
    ```
    ```yaml good
    namelists:
      dbg_index_nml: {str_mod_tst: nh_stepping}
    ```

    ## References
    ICON namelist overview.
    """

    code = "NML005"
    name = "text-truncated"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for written, (longest, length) in _wrong(component, _cut_off):
            yield self.finding(
                written.setting,
                f"{written.name} has {longest} characters; ICON keeps the first {length}",
                f"expected: at most {length} characters",
            )


class SubscriptOutOfBounds(ComponentRule):
    """A subscript names an element that the variable has.

    ## What it does
    Finds a subscript outside the declared bounds, a subscript after a scalar, and another number of
    subscripts than the variable has dimensions.

    ## Why it matters
    The run-time library ends the job.

    ## Evidence
    ICON 2024.10 rejected `num_lev(0)` ("Index 1 out of range") and `nproma(1)` ("Qualifier for a scalar").

    ## Example
    ```yaml bad
    namelists:
      nonhydrostatic_nml: {"damp_height(11)": 20000.0}
    #                                         ^
    ```
    ```yaml good
    namelists:
      nonhydrostatic_nml: {"damp_height(2)": 20000.0}
    ```

    ## References
    ICON namelist overview; Fortran 2018, 13.11.3.
    """

    code = "NML006"
    name = "subscript-out-of-bounds"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for written, (text, shape) in _wrong(component, _outside):
            expected = ", ".join(f"{low}:{high}" for low, high in map(bounds_of, shape))
            yield self.finding(
                written.setting,
                f"{written.name} is no element: the subscript is ({text})",
                f"expected: within ({expected})" if shape else "expected: a scalar without subscript",
            )


class OtherComponent(ComponentRule):
    """Every component reads its own groups from its own file.

    ## What it does
    Finds a group of another component, such as the ocean, in the namelists of the atmosphere, and a group
    that belongs into icon_master.namelist in the model's own file or the other way round.

    ## Why it matters
    ICON ignores the group in silence and runs with its defaults.

    ## Evidence
    ICON 2024.10, `mo_read_namelists.f90:126-248`. It ran to its end with a `time_nml` in the atmosphere's
    file whose `dt_restart` contradicts `restartTimeIntval`; in icon_master.namelist it rejected the same
    group.

    ## Example
    ```yaml bad
    namelists:
      ocean_dynamics_nml: {n_zlev: 64}
    #                              ^
    ```
    ```yaml good
    grid: {num_lev: 64}
    ```

    ## References
    ICON namelist overview.
    """

    code = "NML007"
    name = "other-component"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        registry = component.registry
        for group in component.all_groups():
            if not registry.has_group(group.name) or not registry.is_read(group.name):
                continue
            reader = foreign_reader(component, group)
            if reader is not None and not (_knows_dace(component) and registry.component(group.name) == "dace"):
                yield self.finding(
                    _place(group),
                    f"{group.name.lower()} is not read from this file and is ignored in silence",
                    f"it is read by {reader}",
                    f"expected: a group of the {component.kind or 'model'}",
                )


class PhysicsGroupNotRead(ComponentRule):
    """The groups of a physics package or of a test case are read with that one only.

    ## What it does
    Finds a group of the NWP or AES physics where `run_nml: iforcing` chooses another physics or none, and
    `aes_bubble_nml` with another `nh_test_name`.

    ## Why it matters
    ICON ignores the group in silence. Mistakes in it show up only once the physics is switched on.

    ## Evidence
    ICON 2024.10 ran to its end with an unknown variable in `radiation_nml` and `aes_phy_nml` and iforcing 0
    (`mo_read_namelists.f90:170-221`).

    ## Example
    ```yaml bad
    namelists:
      nwp_phy_nml: {inwp_gscp: 1}
    #                          ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 3, ltransport: true, ntracer: 5}
      nwp_phy_nml: {inwp_gscp: 1}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "NML008"
    name = "physics-group-not-read"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for group in component.all_groups():
            if not is_read(component, group):
                continue
            condition = condition_of(component, group)
            if condition is None:
                continue
            value = component[condition.group, condition.variable].value
            if not condition.holds(value):
                yield self.finding(
                    _place(group),
                    f"{group.name.lower()} is not read with {condition.variable} {literal(as_list(value)[0])} and is "
                    "ignored in silence",
                    f"expected: {condition.variable} {condition.wanted}, or no such group",
                )


class ValueNotAllowed(ComponentRule):
    """Some variables take certain values only, and ICON checks them.

    ## What it does
    Finds a value outside the list or the range that ICON's own check has, where this check ends the run. Variables
    that other rules judge in view of others, and those whose check depends on what no namelist says, are left out;
    `nmlgen registry show` prints both, with the line of ICON's source.

    ## Why it matters
    ICON aborts while it reads its namelists, or crashes soon after.

    ## Evidence
    ICON 2024.10 rejected `iforcing = 6`, `itime_scheme = 9`, `divdamp_order = 3`, `hdiff_order = 9`,
    `division_method = 2`, `iorder_sendrecv = 4`, `default_comm_pattern_type = 3`, `output = "netcdf"`, `remap
    = -1`, `ndyn_substeps = -1`, `divdamp_fac = -1.0`, `num_lev = -1` and, at the very end of the
    run, `profiling_output = 9`.

    ## Example
    ```yaml bad
    namelists:
      nonhydrostatic_nml: {divdamp_order: 3}
    #                                     ^
    ```
    ```yaml bad
    namelists:
      nonhydrostatic_nml: {ndyn_substeps: 0}
    #                                     ^
    ```
    ```yaml good
    namelists:
      nonhydrostatic_nml: {divdamp_order: 4, ndyn_substeps: 5}
    ```

    ## References
    ICON namelist overview.
    """

    code = "NML009"
    name = "value-not-allowed"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for written, (value, constraint) in _wrong(component, _refused):
            if _is_looked_at(component, written.group, constraint.condition):
                yield self.finding(
                    written.setting,
                    f"ICON refuses {written.name} {literal(value)}",
                    f"expected: {constraint.expected}",
                )


_SERIALIZED = ("ser_nml",)
"""Read by code that only Serialbox's preprocessor brings to life (ICON 2024.10, `mo_read_namelists.f90:251`)."""


class GroupNeverRead(ComponentRule):
    """Some groups stand in ICON's source and are read by nothing.

    ## What it does
    Finds a group for which the release has a NAMELIST statement and no call that reads it, or whose reading
    is not compiled into the model.

    ## Why it matters
    ICON ignores the group in silence.

    ## Evidence
    ICON 2024.10: no call of the readers of `cloud_mig_nml`, `cloud_two_nml` and `mpiom_phy_nml`; `radiation`
    is ecRad's own, which ICON sets up without it. `ser_nml` is read in builds made for Serialbox, and not reported.

    ## Example
    ```yaml bad
    namelists:
      cloud_mig_nml: {"cloud_mig_config(1)%ccraut": 15.0}
    #                                               ^
    ```
    ```yaml good
    namelists:
      dbg_index_nml: {idbg_mxmn: 1}
    ```

    ## References
    ICON namelist overview.
    """

    code = "NML010"
    name = "group-never-read"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        registry = component.registry
        for group in component.all_groups():
            name = group.name.lower()
            if name not in _SERIALIZED and registry.has_group(name) and not registry.is_read(name):
                yield self.finding(
                    _place(group),
                    f"nothing in ICON {registry.release} reads {name}",
                    "expected: no such group",
                )


_EXPECTED = {
    "integer": "an integer of 32 bits",
    "real": "a number",
    "logical": "true or false",
    "character": "a string",
}


def _has_no_variable(_written: _Written, variable: Variable | None) -> Sequence[None]:
    return (None,) if variable is None else ()


def _misfit(written: _Written, variable: Variable | None) -> Sequence[tuple[Any, str]]:
    """The first value of another type, and what is expected."""
    if variable is not None:
        for value in as_list(written.setting.value):
            if value is not None and not _fits(value, variable):
                return ((value, _EXPECTED[variable.type]),)
    return ()


def _overflow(written: _Written, variable: Variable | None) -> Sequence[tuple[int, int]]:
    """The number of values where there are too many, and how many there may be."""
    if variable is None:
        return ()
    count = len(as_list(written.setting.value))
    if count == 1 and not any(written.subscripts):
        return ()
    room = _room(written, variable)
    return ((count, room),) if room is not None and count > room else ()


def _cut_off(written: _Written, variable: Variable | None) -> Sequence[tuple[int, int]]:
    """The length of the longest text where it is too long, and how long it may be."""
    if variable is None or variable.type != "character" or variable.length is None:
        return ()
    texts = [value for value in as_list(written.setting.value) if isinstance(value, str)]
    longest = max((len(encoded(text.rstrip())) for text in texts), default=0)
    return ((longest, variable.length),) if longest > variable.length else ()


def _outside(written: _Written, variable: Variable | None) -> Sequence[tuple[str, Shape]]:
    """Each subscript that names no element, and the shape of what it is asked of."""
    if variable is None or not any(written.subscripts):
        return ()
    return [
        (text, shape)
        for text, shape, is_text in _parts(written, variable)
        if text is not None and not (is_text and not shape) and not _inside(text, shape)
    ]


def _refused(written: _Written, variable: Variable | None) -> Sequence[tuple[Any, Constraint]]:
    """The first value that a reader refuses, and what it takes."""
    if variable is None or variable.constraint is None or variable.constraint.rules:
        return ()
    constraint = variable.constraint
    for value in as_list(written.setting.value):
        if value is not None and _fits(value, variable) and constraint.refuses(value):
            return ((value, constraint),)
    return ()


def _is_plainly_right(written: _Written, variable: Variable | None) -> bool:
    """Whether it is one value that a variable takes of which nothing but its type is known: no judge has anything to
    tell, and most variables are so."""
    if variable is None or variable.constraint is not None or variable.type == "character" or any(written.subscripts):
        return False
    value = written.setting.value
    return not isinstance(value, (list, tuple)) and value is not None and variable.accepts(value)


_JUDGES: tuple[_Judge, ...] = (_has_no_variable, _misfit, _overflow, _cut_off, _outside, _refused)


def _fits(value: Any, variable: Variable) -> bool:
    """Whether the run-time library can read a value into a variable. It takes numbers for text."""
    number_for_text = variable.type == "character" and not isinstance(value, bool)
    return variable.type not in _EXPECTED or number_for_text or variable.accepts(value)


def _describe(value: Any) -> str:
    if isinstance(value, bool):
        return f"{literal(value)}, a boolean"
    if isinstance(value, str):
        return f'the string "{value}"'
    return f"{value}, {'an integer' if isinstance(value, int) else 'a real number'}"


def _is_looked_at(component: Component, group: Group, condition: Condition | None) -> bool:
    """Whether ICON looks at a value of a group; not where the namelists cannot tell."""
    if condition is None:
        return True
    if not condition.is_decidable:
        return False
    if condition.group == "output_nml":
        return condition.holds(component.stream_setting(group, condition.variable).value)
    return condition.holds(component[condition.group, condition.variable].value)


def _is_derived(registry: Registry, group: str, path: str, file: str) -> bool:
    """Whether the path is a variable of derived type as a whole, or one whose components are not known."""
    base = path.partition("%")[0]
    variable = registry.variable(group, base, file)
    if variable is not None and variable.type == "derived":
        return True
    return path == base and bool(registry.components(group, base, file))


def _carried_from(registry: Registry, group: str, path: str, file: str) -> str | None:
    """The earlier release from which the group is known, or the type that the path is a component of."""
    base = path.partition("%")[0]
    known = (registry.variable(group, name, file) for name in registry.components(group, base, file))
    of_type = (variable.carried_from for variable in known if variable is not None)
    return registry.carried_from(group, file) or next(filter(None, of_type), None)


def _as_warning(finding: Finding, registry: Registry, carried: str) -> Finding:
    """A finding in a group that is known from an earlier release only."""
    note = f"the names are those of ICON {carried}: the source of {registry.release} was not at hand"
    return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note))


def _replacement(removal: Removal | None) -> tuple[str, ...]:
    """Notes saying since when a name is gone and what to write instead."""
    if removal is None:
        return ()
    since = f"ICON {removal.release} no longer has it"
    when = f"{since}; removed on {removal.date}" if removal.date else since
    use = " and ".join(name.replace(".", ": ") for name in removal.use)
    note = f"; {removal.note}" if removal.note else ""
    if not use:
        return (f"{when}{note}",)
    return (f"{when}{note}", f"expected: {use}")


@lru_cache(maxsize=1024)
def _notes_on_unknown(registry: Registry, group: str, path: str, file: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What else is known of a variable that a group does not have, and that part of it which names another place."""
    known = registry.variables(group, file)
    notes = _replacement(registry.removed_variable(group, path)) or _elsewhere(registry, path)
    elsewhere = notes + _in_other_releases(registry, group, path)
    return elsewhere if notes else did_you_mean(path, known) + elsewhere, elsewhere


@lru_cache(maxsize=1024)
def _elsewhere(registry: Registry, path: str) -> tuple[str, ...]:
    """A note naming the groups of the atmosphere that have the variable."""
    found = [
        group
        for group in registry.groups
        if registry.component(group) in ("atmosphere", "master") and registry.variable(group, path)
    ]
    return (f"it is a variable of {' and '.join(found)}",) if found else ()


def _respelt(span: Span | None, word: str, known: Iterable[str], there: Container[str]) -> Fix | None:
    """The fix of a misspelt name, if the span is that very name; None if what was meant is not clear, or is `there`
    already, in lower case."""
    meant = nearest(word, known)
    if span is None or meant is None or meant in there:
        return None
    header = "&" if span.text.startswith("&") else ""
    if span.text.lower() != f"{header}{word.lower()}":
        return None
    return Fix(f"write {header}{meant}", (Edit(span, f"{header}{meant}"),))


def _renamed(group: Group, registry: Registry, removal: Removal | None, there: Collection[str]) -> Fix | None:
    """The fix that gives a group its new name: where it has but one, and each variable that stands in it is in that
    one, too; None where that is there already."""
    span = _place(group)
    if removal is None or len(removal.use) != 1 or span is None:
        return None
    (name,) = removal.use
    is_whole = span.text.lower() in (group.name.lower(), f"&{group.name.lower()}")
    known = all(registry.variable(name, variable) is not None for variable in group.settings)
    if "." in name or not is_whole or not known or name in there:
        return None
    header = "&" if span.text.startswith("&") else ""
    return Fix(f"write {header}{name}", (Edit(span, f"{header}{name}"),), is_safe=True)


def _may_be_of_another_release(registry: Registry, group: str, path: str, known: Iterable[str]) -> bool:
    """Whether an older release or a fork may have a variable that this one does not have: it once was there, or it is
    no slip in the name of another one, and stands in no other group."""
    if registry.removed_variable(group, path) is not None:
        return True
    return nearest(path, known) is None and not _elsewhere(registry, path)


def _in_other_releases(registry: Registry, group: str, path: str | None = None) -> tuple[str, ...]:
    """A note naming the other releases that have a group, or a variable of it."""
    found = []
    for release in releases():
        other = load_registry(release)
        known = other.has_group(group) if path is None else other.variable(group, path) is not None
        if known and release != registry.release:
            found.append(release)
    return (f"ICON {' and '.join(found)} {'has' if len(found) == 1 else 'have'} it",) if found else ()


def _parts(written: _Written, variable: Variable) -> Iterator[tuple[str | None, Shape, bool]]:
    """Each part of a name: its subscripts, its shape, and whether it holds text. Parts of unknown shape and
    derived types inside derived types are left out."""
    *bases, last = written.subscripts
    if len(bases) == len(variable.base_shapes):
        for text, shape in zip(bases, variable.base_shapes, strict=True):
            yield text, shape, False
    if variable.shape is not None and variable.type != "derived":
        yield last, variable.shape, variable.type == "character"


def _inside(text: str, shape: Shape) -> bool:
    """Whether subscripts lie within the bounds; of a section `a:b:c` the ends are looked at."""
    subscripts = text.split(",")
    if len(subscripts) != len(shape):
        return False
    for subscript, (low, high) in zip(subscripts, map(bounds_of, shape), strict=True):
        ends = [end.strip() for end in subscript.split(":")[:2]]
        if any(_INDEX.fullmatch(end) and not low <= int(end) <= high for end in ends):
            return False
    return True


def _room(written: _Written, variable: Variable) -> int | None:
    """How many values may follow the equals sign; None if that cannot be told."""
    if variable.shape is None or variable.type not in _EXPECTED:
        return None
    if len(written.subscripts) != len(variable.base_shapes) + 1:
        return None
    rooms = [_elements(text, shape) for text, shape in zip(written.subscripts, variable.base_shapes, strict=False)]
    rooms.append(_elements(written.subscripts[-1], variable.shape, rest=True))
    return None if None in rooms else prod(room for room in rooms if room is not None)


def _elements(text: str | None, shape: Shape, rest: bool = False) -> int | None:
    """The elements that subscripts choose; with `rest` also those after a single element, where gfortran puts
    further values."""
    bounds = [bounds_of(extent) for extent in shape]
    if text is None:
        return prod(high - low + 1 for low, high in bounds)
    if not shape or not _inside(text, shape):
        return None  # a substring, or a subscript that another rule judges
    subscripts = [subscript.strip() for subscript in text.split(",")]
    if all(_INDEX.fullmatch(subscript) for subscript in subscripts):
        if not rest:
            return 1
        before, stride = 0, 1
        for subscript, (low, high) in zip(subscripts, bounds, strict=True):
            before += (int(subscript) - low) * stride
            stride *= high - low + 1
        return stride - before
    return _section(subscripts, bounds)


def _section(subscripts: list[str], bounds: list[tuple[int, int]]) -> int | None:
    counts = []
    for subscript, (low, high) in zip(subscripts, bounds, strict=True):
        first, colon, last = subscript.partition(":")
        ends = (first.strip() or str(low), (last.strip() if colon else first.strip()) or str(high))
        if not all(_INDEX.fullmatch(end) for end in ends):
            return None
        counts.append(max(0, int(ends[1]) - int(ends[0]) + 1))
    return prod(counts)
