"""Which model a component is."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.rules.rule import ComponentRule

_MODEL = "master_model_nml"


class NoModelType(ComponentRule):
    """A model says which one it is.

    ## What it does
    Finds a `master_model_nml` without `model_type`.

    ## Why it matters
    ICON aborts as its first act: there is no default.

    ## Evidence
    ICON 2024.10: "my_process_model is unkown" (`mo_master_init.f90:172`).

    ## Example
    ```namelist bad
    &master_nml
    /
    &master_model_nml
     model_name = "atm"
     model_namelist_filename = "NAMELIST_atm"
    /
    ```
    ```yaml good
    namelists: {master_model_nml: {model_type: 1}}
    ```

    ## References
    ICON namelist overview, master_model_nml.
    """

    code = "MST006"
    name = "no-model-type"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        model = component.group(_MODEL)
        if model is not None and not component[_MODEL, "model_type"].is_written:
            yield self.finding(model.span, "model_type is not set", "expected: 1 (atmosphere), 2 (ocean) or 98 (waves)")
