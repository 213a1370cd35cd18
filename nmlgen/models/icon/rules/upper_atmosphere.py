"""What the physics of the upper atmosphere ask of output."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.rules.streams import setting_of, stream_name
from nmlgen.models.icon.rules.varlists import domains_of, names_in, varlists
from nmlgen.rules.rule import ComponentRule

_NWP, _GRIB2 = 3, 2
_GROUPS = ("group:upatmo_rad_gases", "group:upatmo_tendencies")


class UpperAtmosphereInGrib(ComponentRule):
    """The fields of the upper atmosphere have no keys in GRIB.

    ## What it does
    Finds `group:upatmo_rad_gases` and `group:upatmo_tendencies` in a stream with `filetype` 2 of an atmosphere with NWP
    physics. Single variables of these groups are taken.

    ## Why it matters
    ICON aborts while it configures the physics, whether or not these run.

    ## Evidence
    ICON 2024.10, `mo_upatmo_phy_config.f90:749-764` (read, not tried).

    ## Example
    ```yaml bad
    output: {atm: {filetype: 2, ml_varlist: ["group:upatmo_tendencies"]}}
    #                                       ^
    namelists: {run_nml: {iforcing: 3, ltransport: true}, nwp_phy_nml: {inwp_surface: 0, lupatmo_phy: true}}
    ```
    ```yaml good
    output: {atm: {filetype: 4, ml_varlist: ["group:upatmo_tendencies"]}}
    namelists: {run_nml: {iforcing: 3, ltransport: true}, nwp_phy_nml: {inwp_surface: 0, lupatmo_phy: true}}
    ```

    ## References
    ICON namelist overview, upatmo_nml.
    """

    code = "OUT044"
    name = "upper-atmosphere-in-grib"
    severity = Severity.ERROR
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        if component["run_nml", "iforcing"].value != _NWP:
            return
        for stream, kind, setting in varlists(component):
            if setting_of(component, stream, "filetype").value != _GRIB2 or not domains_of(component, stream):
                continue
            for name in dict.fromkeys(names_in(setting)):
                if name in _GROUPS:
                    message = f'"{name}" in {kind}_varlist of the stream {stream_name(stream)}, which writes GRIB'
                    yield self.finding(setting, message, "expected: filetype 4 or 5 (NetCDF) for this stream")
