"""When nests are computed."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.rules.grid import grid_names
from nmlgen.models.icon.schedule import active_times
from nmlgen.rules.rule import ComponentRule


class NestNeverActive(ComponentRule):
    """A nest begins before the experiment ends, and before it ends itself.

    ## What it does
    Finds a nest whose `start_time` is not before its `end_time` or the end of the experiment, or not before its parent
    ends.

    ## Why it matters
    ICON never computes the nest, without a word: there is no file of it, and the finer grid was for nothing.

    ## Evidence
    ICON 2024.10 ran to its end with a start at the length of the run and with one at the end of the nest; no output
    file and no checkpoint of the domain was there. A domain is looked at only while its parent is computed
    (`mo_nh_stepping.f90:2802`).

    ## Example
    ```yaml bad
    time: {start: 2008-09-01T00:00:00Z, stop: 2008-09-11T00:00:00Z}
    domains: {europe: {file: europe.nc, start: P12D}}
    #                                          ^
    ```
    ```yaml good
    time: {start: 2008-09-01T00:00:00Z, stop: 2008-09-11T00:00:00Z}
    domains: {europe: {file: europe.nc, start: P2D, end: P5D}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD017"
    name = "nest-never-active"
    severity = Severity.WARNING
    kinds = ("atmosphere", "waves")

    def check(self, component: Component) -> Iterator[Finding]:
        starts = component["grid_nml", "start_time"]
        time, domains = clock(component), len(grid_names(component))
        for domain in range(2, domains + 1):
            begin, end = active_times(component, domain, time)
            parent = _parent(component, domain)
            until = active_times(component, parent, time)[1]
            if begin >= end:
                setting = starts if starts.is_written else component["grid_nml", "end_time"]
                message = f"domain {domain} is never computed: it or the experiment is over at {begin / 1000:g} s"
                expected = "expected: a start_time before its end_time and the end of the experiment"
                yield self.finding(setting.element(domain - 1), message, expected)
            elif begin >= until:
                message = f"domain {domain} is never computed: its parent, domain {parent}, ends before it begins"
                expected = f"expected: a start_time below {until / 1000:g} s"
                yield self.finding(starts.element(domain - 1), message, expected)


def _parent(component: Component, domain: int) -> int:
    """The number of a nest's parent where somebody says it, else that of the first domain."""
    setting = component["grid_nml", "dynamics_parent_grid_id"]
    found = as_list(setting.value) if setting.is_written else []
    number = found[domain - 1] if len(found) >= domain else 0
    return number if isinstance(number, int) and 0 < number < domain else 1
