"""What the components of an experiment exchange: coupling.yaml, which the coupler YAC reads in the run directory.

Sources: ICON 2024.10 `src/coupling/mo_coupling_utils.f90:85` (the file's name), `mo_atmo_ocean_coupling.f90:118-154`,
`mo_atmo_wave_coupling.f90:58-69` (the fields), `src/namelists/mo_coupling_nml.f90` (the switches); YAC 3.4
`src/mci/config_yaml.c` (the format) and `src/mci/event.c` (when something is exchanged).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding
from nmlgen.source import Span
from nmlgen.values import frozen

COUPLING_FILE = "coupling.yaml"
COUPLING_GROUP = "coupling_mode_nml"

GRIDS = {"atmosphere": "icon_atmos_grid", "ocean": "icon_ocean_grid", "waves": "icon_waves_grid"}
"""By the kind of a component the name that ICON gives to its grid."""

SWITCHES = {
    "atmosphere": ("ocean", "waves", "hydrodisc", "output", "aero", "o3", "cleo"),
    "ocean": ("atmo", "hydrodisc", "output"),
    "hamocc": ("atmo",),
    "waves": ("atmo",),
    "jsbach": ("ocean",),
}
"""By the kind of a component what it can be coupled to: `coupled_to_ocean`, ... (`mo_coupling_nml.f90:145-176`); to
CLEO, a model of cloud droplets, from 2025.04 on."""

LATER = frozenset({("ocean", "waves"), ("waves", "ocean")})
"""What can be coupled besides after 2025.10, the newest release that is known."""

PARTNERS = {"atmosphere": "atmo", "ocean": "ocean", "waves": "waves"}
"""By the kind of a component the end of the switch that couples another one to it."""

ELSEWHERE = ("hydrodisc", "output", "aero", "o3", "cleo")
"""The ends of switches that couple to a program which is not ICON."""

FIELDS: Mapping[tuple[str, str], frozenset[str]] = {
    ("atmosphere", "ocean"): frozenset(
        {
            "surface_downward_eastward_stress",
            "surface_downward_northward_stress",
            "surface_fresh_water_flux",
            "total_heat_flux",
            "atmosphere_sea_ice_bundle",
            "10m_wind_speed",
            "sea_level_pressure",
            "co2_mixing_ratio",
            "river_runoff",
        }
    ),
    ("ocean", "atmosphere"): frozenset(
        {
            "sea_surface_temperature",
            "eastward_sea_water_velocity",
            "northward_sea_water_velocity",
            "ocean_sea_ice_bundle",
            "co2_flux",
        }
    ),
    ("atmosphere", "waves"): frozenset(
        {"zonal_wind_in_10m", "meridional_wind_in_10m", "fraction_of_ocean_covered_by_sea_ice"}
    ),
    ("waves", "atmosphere"): frozenset({"roughness_length"}),
}
"""What one kind of component sends to another."""


@frozen(eq=False)
class Side:
    """The source or the target of a couple: the name of its component, those of its grids, and the lag in steps."""

    component: Setting | None
    grids: tuple[Setting, ...]
    lag: Setting | None


@frozen(eq=False)
class Couple:
    """One element of the list `coupling`: what one component sends to another, and how often.

    `fields` are the names of each field at its source and at its target. `period` is as it is written, in the unit
    `timestep_unit` of the file. `interpolation` is the list of methods that YAC tries one after the other.
    """

    source: Side
    target: Side
    fields: tuple[tuple[Setting, Setting], ...]
    period: Setting | None
    span: Span | None
    interpolation: Setting | None = None

    @property
    def weights(self) -> str | None:
        """The file of weights that YAC reads before it does anything else for the couple, None without one."""
        methods = None if self.interpolation is None else self.interpolation.value
        first = methods[0] if isinstance(methods, list) and methods else None
        given = first.get("user_file") if isinstance(first, dict) else None
        if not isinstance(given, dict) or given.get("on_missing_file", "error") != "error":
            return None
        return str(given["filename"]) if given.get("filename") else None


@frozen(eq=False)
class Coupling:
    """The content of coupling.yaml.

    `text` is the file's, None where nobody knows all of it; `content` is what YAC takes of it, as plain data, and
    `settings` are its keys but for the list of `couples`, in the order of writing. `problems` is what YAC stops at when
    it reads the file. Of one that `is_open` there may be more, or less, than what is known. `later` are the words that
    only a YAC after 3.4 takes.
    """

    text: str | None
    settings: Mapping[str, Setting]
    couples: tuple[Couple, ...] = ()
    content: Mapping[str, Any] = {}
    problems: tuple[Finding, ...] = ()
    is_open: bool = False
    span: Span | None = None
    later: tuple[Setting, ...] = ()

    @property
    def tolerates_missing(self) -> bool:
        """Whether YAC only warns of what no component defines."""
        debug = self.settings.get("debug")
        said = debug.value.get("missing_definition_is_fatal") if debug and isinstance(debug.value, dict) else None
        return str(said).lower() in ("false", "no")


UNKNOWN_COUPLING = Coupling(None, {}, is_open=True)
"""Of one of which nobody knows whether it is there."""
