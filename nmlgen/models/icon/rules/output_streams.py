"""What output streams hold, and whether ICON reads them at all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.ranks import (
    LEVEL_TYPES,
    domains,
    level_types,
)
from nmlgen.models.icon.rules.parallel import (
    writes_streams,
)
from nmlgen.models.icon.rules.streams import OPERATIONS, plural, setting_of, short_name, stream_name, streams_read
from nmlgen.rules.rule import ComponentRule
from nmlgen.values import evolve

_KEYWORDS = ("none", "nml", "totint", "maxwinds", "default")


_UNITS = {"pl": "Pa", "hl": "m", "il": "K"}


class OperationWithPartitions(ComponentRule):
    """A statistic over time cannot be written in partitions.

    ## What it does
    Finds a stream with an `operation` and a `stream_partitions` above 1, of whatever level type.

    ## Why it matters
    ICON aborts when output is initialised.

    ## Evidence
    ICON 2024.10: "only supported on global domain 1 and without stream partitioning"
    (`mo_derived_variable_handling.f90:139-142`; read, not tried).

    ## Example
    ```yaml bad
    output: {atm: {operation: mean, stream_partitions_ml: 4}}
    #                                                     ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    output: {atm: {operation: mean, stream_partitions_ml: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT016"
    name = "operation-with-partitions"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            operation = setting_of(component, stream, "operation").value.rstrip()
            if operation not in OPERATIONS:
                continue
            for kind in LEVEL_TYPES:
                setting = setting_of(component, stream, f"stream_partitions_{kind}")
                if setting.value > 1:
                    yield self.finding(
                        setting,
                        f'operation "{operation}" does not go with {short_name(setting)} {setting.value}',
                        "expected: one partition, or no operation",
                    )
                    break


class UnknownOperation(ComponentRule):
    """ICON knows five operations, in lower case only.

    ## What it does
    Finds an `operation` other than mean, max, min, square and acc.

    ## Why it matters
    ICON says nothing and writes instantaneous values.

    ## Evidence
    ICON 2024.10 accepted "median" and ran (`mo_derived_variable_handling.f90:78,101`).

    ## Example
    ```yaml bad
    output: {atm: {operation: MEAN}}
    #                         ^
    ```
    ```yaml good
    parallel: {num_io_procs: 1}
    output: {atm: {operation: mean, stream_partitions_ml: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT017"
    name = "unknown-operation"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            setting = setting_of(component, stream, "operation")
            if setting.value.strip() and setting.value.rstrip() not in OPERATIONS:
                yield self.finding(
                    setting,
                    f'ICON has no operation "{setting.value}" and writes instantaneous values',
                    f"expected: one of {', '.join(OPERATIONS)}",
                )


class LevelsMissing(ComponentRule):
    """Output on pressure, height or isentropic levels needs the levels.

    ## What it does
    Finds `pl_varlist`, `hl_varlist` or `il_varlist` without `p_levels`, `h_levels` or `i_levels`.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10: "Input from output_nml: requested height interpolation without specifying levels!"
    (`mo_name_list_output_init.f90:755`).

    ## Example
    ```yaml bad
    output: {atm: {stream_partitions_ml: 3, pl_varlist: [temp]}}
    #                                                   ^
    ```
    ```yaml good
    output: {atm: {stream_partitions_ml: 3, pl_varlist: [temp], p_levels: [85000.0, 50000.0]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT018"
    name = "levels-missing"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            for kind in level_types(component, stream):
                if kind == "ml":
                    continue
                name = f"{kind[0]}_levels"
                if all(level < 0 for level in as_list(setting_of(component, stream, name).value)):
                    yield self.finding(
                        setting_of(component, stream, f"{kind}_varlist"),
                        f"the stream {stream_name(stream)} sets {kind}_varlist and no {name}",
                        f"expected: {name} in {_UNITS[kind]}",
                    )


class OutputNotEnabled(ComponentRule):
    """Output streams are read only if `run_nml: output` contains `nml`.

    ## What it does
    Finds output streams in an experiment whose `run_nml: output` has no `nml`; as a warning, if it is `none`.

    ## Why it matters
    ICON does not even read the streams: the run ends well, nothing is written, and nothing is said. Who writes "none"
    has said so.

    ## Evidence
    ICON 2024.10 with "totint", "none" or an empty text finished without any of the stream's files; without `output` it
    writes them, as with "nml" in upper or lower case (`mo_run_nml.f90:316-358`).

    ## Example
    ```yaml bad
    namelists: {run_nml: {output: [totint]}}
    #                             ^
    ```
    ```yaml good
    namelists: {run_nml: {output: [nml, totint]}}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "OUT019"
    name = "output-not-enabled"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "output"]
        words = _words(setting)
        aborts = ("none" in words and len(words) > 1) or any(word not in _KEYWORDS for word in words)
        if component.streams and not aborts and not writes_streams(component):
            number = plural(len(component.streams), "output stream")
            found = self.finding(
                setting,
                f'run_nml: output has no "nml": nothing is written of {number}',
                'expected: "nml" among the keywords',
            )
            yield evolve(found, severity=Severity.WARNING) if words == ["none"] else found


class OutputKeywords(ComponentRule):
    """In `run_nml: output` the keyword `none` stands alone.

    ## What it does
    Finds `none` beside another keyword, and, for releases whose registry does not list the keywords, any other than
    none, nml, totint, maxwinds and default.

    ## Why it matters
    ICON aborts while it reads its namelist.

    ## Evidence
    ICON 2024.10: "Syntax error when setting output to 'none'." and "Syntax error: unknown output mode."
    (`mo_run_nml.f90:316-358`).

    ## Example
    ```yaml bad
    namelists: {run_nml: {output: [none, nml]}}
    #                             ^
    ```
    ```yaml good
    namelists: {run_nml: {output: [nml, totint]}}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "OUT020"
    name = "output-keywords"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "output"]
        expected = f"expected: none, or any of {', '.join(_KEYWORDS[1:])}"
        words = _words(setting)
        unknown = [word for word in words if word not in _KEYWORDS]
        variable = component.registry.variable("run_nml", "output")
        if unknown and variable is not None and variable.allowed is None:
            yield self.finding(setting, f'run_nml: output knows no keyword "{unknown[0]}"', expected)
        elif "none" in words and len(words) > 1 and not unknown:
            yield self.finding(setting, 'run_nml: output has "none" beside other keywords', expected)


def _words(setting: Setting) -> list[str]:
    """The keywords of run_nml: output as ICON compares them."""
    return [word.strip().lower() for word in as_list(setting.value) if word.strip()]


class NoVariables(ComponentRule):
    """A stream without variables writes no file.

    ## What it does
    Finds a stream with none of `ml_varlist`, `pl_varlist`, `hl_varlist` and `il_varlist`, or only such whose first
    name is blank.

    ## Why it matters
    ICON accepts the stream and writes nothing.

    ## Evidence
    ICON 2024.10, `mo_name_list_output_init.f90:1283-1370`: a level type counts if its list has a first name.

    ## Example
    ```yaml bad
    output: {atm: {ml_varlist: null}}
    #        ^
    ```
    ```yaml good
    output: {atm: {ml_varlist: [temp]}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT021"
    name = "no-variables"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            if not level_types(component, stream):
                yield self.finding(
                    stream.span,
                    f"the stream {stream_name(stream)} names no variables and writes nothing",
                    f"expected: {', '.join(f'{kind}_varlist' for kind in LEVEL_TYPES[:-1])} or il_varlist, the "
                    "first name not blank",
                )


class NoSuchDomain(ComponentRule):
    """A stream is written for the domains in `dom`, and they count from 1.

    ## What it does
    Finds `dom` with a 0, and, as a warning, with nothing but domains that the experiment does not have.

    ## Why it matters
    With 0 ICON reads outside an array and aborts. A domain that is not there is ignored in silence: the run goes on
    to its end, and of this stream nothing is written.

    ## Evidence
    ICON 2024.10 aborts with 0: "Output name list variable not found: u, patch 8"; with 2 and a single grid it finished
    without a file (`mo_name_list_output_init.f90:594,1164`).

    ## Example
    ```yaml bad
    output: {atm: {dom: 0}}
    #                   ^
    ```
    ```yaml good
    output: {atm: {dom: 1}}
    ```

    ## References
    ICON namelist overview, output_nml.
    """

    code = "OUT025"
    name = "no-such-domain"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for stream in streams_read(component):
            setting = setting_of(component, stream, "dom")
            listed = list(takewhile(lambda domain: domain >= 0, as_list(setting.value)))
            count = domains(component)
            if listed and (0 in listed or min(listed) > count):
                outcome = "ICON aborts" if 0 in listed else "nothing is written"
                found = self.finding(
                    setting,
                    f"dom of the stream {stream_name(stream)} is {', '.join(map(str, listed))}, and the experiment has "
                    f"{plural(count, 'domain')}: {outcome}",
                    f"expected: {'1' if count == 1 else f'1 to {count}'}, or -1 for all",
                )
                yield found if 0 in listed else evolve(found, severity=Severity.WARNING)
