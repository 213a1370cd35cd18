"""Time steps of the slow physics."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isclose, isfinite

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.rules.rule import ComponentRule

_GROUP = "nwp_phy_nml"
_NWP = 3
_LES = (4, 5)
"""inwp_turb with which ICON switches convection off (`mo_atm_phy_nwp_config.f90:404-411`)."""


class RadiationStep(ComponentRule):
    """The step of radiation is a multiple of those of cloud cover and convection.

    ## What it does
    Finds `dt_conv` and `dt_ccov` for which `dt_rad`, rounded up to a multiple of the one and then of the other, is no
    longer a multiple of the first. All are rounded up to the time step before; without convection or cloud cover the
    time step takes their place.

    ## Why it matters
    ICON aborts after it has read its grid.

    ## Evidence
    ICON 2024.10: "Time steps for cloud cover and convection need to be set such that the radiation step can be a
    multiple of both" (`mo_atm_phy_nwp_config.f90:436-529`), with steps of 1800, 2400 and 2400 s, of 1200, 1800 and
    1800 s; it ran with 1800, 2400 and 7200 s.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0, dt_conv: 1800.0, dt_ccov: 2400.0, dt_rad: 2400.0}
    #                                         ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0, dt_conv: 1800.0, dt_ccov: 2400.0, dt_rad: 7200.0}
    ```

    ## References
    ICON namelist overview, nwp_phy_nml.
    """

    code = "PHY006"
    name = "radiation-step"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component.kind != "atmosphere" or component["run_nml", "iforcing"].value != _NWP:
            return
        if not any(component[_GROUP, name].is_written for name in ("dt_conv", "dt_ccov", "dt_rad")):
            return
        convection, cover, radiation = _steps(component)
        rounded = _rounded(_rounded(radiation, cover), convection)
        if not _is_multiple(rounded, cover):
            settings = (component[_GROUP, name] for name in ("dt_conv", "dt_ccov", "dt_rad"))
            yield self.finding(
                next(setting for setting in settings if setting.is_written),
                f"dt_rad becomes {rounded:g} s, no multiple of the {cover:g} s of cloud cover; convection has "
                f"{convection:g} s",
                "expected: a dt_rad that is a multiple of dt_conv and of dt_ccov",
            )


def _steps(component: Component) -> tuple[float, float, float]:
    """The steps of convection, cloud cover and radiation in the first domain, in seconds."""
    step = clock(component).step / 1000
    convects = _first(component, "inwp_convection") != 0 and _first(component, "inwp_turb") not in _LES
    covers = _first(component, "inwp_cldcover") != 0
    wanted = _first(component, "dt_conv")
    covered = _first(component, "dt_ccov") if component[_GROUP, "dt_ccov"].is_written else wanted
    convection = _rounded(wanted, step) if convects else step
    cover = _rounded(covered, step) if covers else step
    if covers and not convects:
        cover = min(cover, 6 * step)
    if convection <= 0 or cover <= 0:
        raise UndecidedError(component[_GROUP, "dt_conv"])
    return convection, cover, _rounded(_first(component, "dt_rad"), step)


def _first(component: Component, name: str) -> float:
    """The value of the first domain; below zero stands for the default."""
    setting = component[_GROUP, name]
    value = as_list(setting.value)[0]
    if value < 0:
        variable = component.registry.variable(_GROUP, name)
        if variable is None or not isinstance(variable.default, (int, float)):
            raise UndecidedError(setting)
        value = variable.default
    return float(value)


def _rounded(length: float, step: float) -> float:
    return length if _is_multiple(length, step) else ceil(length / step) * step


def _is_multiple(length: float, step: float) -> bool:
    if step <= 0:
        return False
    steps = length / step
    return not isfinite(steps) or isclose(steps, round(steps), abs_tol=1e-9)  # numbers that large are all whole
