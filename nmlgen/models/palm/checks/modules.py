"""PALM's modules, each on as soon as its group is there (`*_check_parameters`), and files that must be there."""

from __future__ import annotations

from nmlgen.models.palm.checks.check import Check, Holds, is_open, one_of, runs, where
from nmlgen.models.palm.settings import (
    CANOPY,
    CHEMISTRY,
    CLOUDS,
    CONTROL,
    DUST,
    HUGE,
    INFLOW,
    LAND,
    OCEAN,
    OFFLINE,
    PARTICLES,
    RADIATION,
    SALSA,
    SPECTRA,
    STG,
    SURFACE_DATA,
    UNSET,
    URBAN,
    Settings,
)


def _is_turbine_unplaced(settings: Settings) -> bool:
    if settings.may_have("wtmpar"):
        return False
    count = min(settings.n_turbines, len(settings.hub_x))
    return any(UNSET in settings.of(name)[:count] for name in ("hub_x", "hub_y", "hub_z"))


def _controls_wind(settings: Settings) -> bool:
    return settings.has(CONTROL) and bool(settings.geostrophic_wind_controller)


def _writes_particles_shared(settings: Settings) -> bool:
    own, common = settings.restart_data_format_output, settings.restart_data_format
    is_shared = (common if own == "undefined" else own) == "mpi_shared_memory"
    return is_shared and settings.has(PARTICLES) and settings.writes_restart


def _spinup(settings: Settings) -> float:
    return float(settings.spinup_time) if settings.has_surface and settings.spinup_time > 0.0 else 0.0


def _is_own_vegetation_without(name: str) -> Holds:
    return lambda s: s.surface_type == "vegetation" and s.vegetation_type == 0 and s.of(name) == UNSET


def _has_no_dynamic(settings: Settings) -> bool:
    return not settings.file("dynamic")


def _has_no_child(settings: Settings) -> bool:
    """Whether nesting is asked for and no second domain is named."""
    return settings.has("nesting_parameters") and not settings.names_children


def _makes_turbulence(settings: Settings) -> bool:
    return settings.has(STG) and not settings.has(OFFLINE) and not settings.is_one_of_several


def _averaging_of_spectra(settings: Settings) -> float:
    own = settings.averaging_interval_sp
    return float(settings.averaging_interval if own == UNSET else own)


def _flies_outside(settings: Settings) -> bool:
    bounds = (("x_start", settings.nx, settings.dx), ("y_start", settings.ny, settings.dy))
    return any(
        place < HUGE and place < 999999999.0 and not 0.0 <= place <= (count + 1) * spacing
        for name, count, spacing in bounds
        for place in settings.of(name)
    )


CHECKS: tuple[Check, ...] = (
    # Modules
    Check("BCM0010", where(CLOUDS, lambda s: s.cloud_droplets), "one of bulk clouds and cloud_droplets"),
    Check("BCM0011", where(CLOUDS, lambda s: not s.humidity), "humidity = .true. with bulk clouds"),
    one_of(
        "BCM0001",
        "cloud_scheme",
        "saturation_adjust",
        "seifert_beheng",
        "kessler",
        "morrison",
        "morrison_no_rain",
        when=runs(CLOUDS),
    ),
    Check("BCM0002", where(CLOUDS, lambda s: s.snow != s.graupel), "both of snow and graupel, or none"),
    Check(
        "BCM0003",
        where(
            CLOUDS,
            lambda s: (
                s.microphysics_ice_phase and s.cloud_scheme in ("saturation_adjust", "kessler", "morrison_no_rain")
            ),
        ),
        "seifert_beheng or morrison with ice",
    ),
    one_of("BCM0005", "aerosol_bulk", "nacl", "c3h4o4", "nh4no3", when=runs(CLOUDS)),
    Check(
        "CHM0050",
        where(CHEMISTRY, lambda s: s.photolysis_scheme == "simple" and not s.has(RADIATION)),
        "&radiation_parameters with photolysis_scheme = 'simple'",
    ),
    one_of("CHM0005", "photolysis_scheme", "simple", "constant", when=runs(CHEMISTRY)),
    one_of("CHM0007", "bc_cs_b", "dirichlet", "neumann", when=lambda s: s.has(CHEMISTRY) and not s.is_one_of_several),
    one_of(
        "CHM0007",
        "bc_cs_t",
        "dirichlet",
        "neumann",
        "initial_gradient",
        when=lambda s: s.has(CHEMISTRY) and not s.is_one_of_several,
    ),
    one_of("DET0001", "bc_dm_b", "neumann", when=runs(DUST)),
    one_of("DET0001", "bc_dm_t", "dirichlet", "neumann", when=runs(DUST)),
    *(one_of("DET0001", f"bc_dm_{side}", "cyclic", "undefined", when=runs(DUST)) for side in ("l", "n", "s")),
    one_of("DET0001", "bc_dm_r", "cyclic", when=runs(DUST)),  # PALM does not take that of bc_lr here
    Check("DET0001", where(DUST, is_open), "cyclic boundaries with dust"),
    Check("DET0004", where(DUST, lambda s: s.n_dust_bins > len(s.diameter_dust)), "fewer n_dust_bins"),
    Check("DET0005", where(DUST, lambda s: s.n_saltation_bins > len(s.diameter_saltation)), "fewer n_saltation_bins"),
    Check(
        "DET0010",
        where(DUST, lambda s: s.topography != "flat" or s.has(OCEAN) or s.has(URBAN)),
        "dust above flat land only",
    ),
    Check(
        "DMP0001",
        where("damping_parameters", lambda s: s.inertial_oscillation_damping_factor > 0.0 and s.is_open),
        "cyclic boundaries",
    ),
    Check(
        "DMP0002",
        where("damping_parameters", lambda s: s.inertial_oscillation_damping_factor > 0.0 and s.topography != "flat"),
        "flat topography",
    ),
    Check("F8C0001", runs("fastv8_coupler_parameters"), "a PALM built with -D__fastv8", of_build=True),
    Check("FCT0001", lambda s: _controls_wind(s) and s.is_open, "cyclic boundaries"),
    Check("FCT0002", lambda s: _controls_wind(s) and s.topography != "flat", "flat topography"),
    Check(
        "FCT0003",
        lambda s: _controls_wind(s) and s.inertial_oscillation_damping_factor == 0.0,
        "inertial_oscillation_damping_factor above 0",
    ),
    Check("FCT0005", lambda s: _controls_wind(s) and s.rayleigh_damping_factor != 0.0, "rayleigh_damping_factor = 0"),
    Check("PAC0348", _writes_particles_shared, "restart_data_format_output = 'mpi' with particles"),
    one_of("LPM0002", "collision_kernel", "hall", "hall_fast", "wang", "wang_fast", "none", when=runs(PARTICLES)),
    Check(
        "LPM0004",
        where(PARTICLES, lambda s: s.pts_increment != 0 and s.pts_percentage != 0.0),
        "one of pts_increment and pts_percentage",
    ),
    Check("LPM0005", where(PARTICLES, lambda s: s.pts_increment < 0), "pts_increment of 0 or more"),
    Check("LPM0006", where(PARTICLES, lambda s: not 0.0 <= s.pts_percentage <= 100.0), "0 to 100 percent"),
    Check(
        "LPM0035",
        where(PARTICLES, lambda s: s.particle_advection_start >= s.end_time + _spinup(s)),
        "particle_advection_start before end_time",
    ),
    one_of("LPM0009", "bc_par_b", "absorb", "reflect", "nested", when=runs(PARTICLES)),
    one_of("LPM0010", "bc_par_t", "absorb", "reflect", "nested", when=runs(PARTICLES)),
    one_of("LPM0011", "bc_par_lr", "cyclic", "absorb", "reflect", "nested", when=runs(PARTICLES)),
    one_of("LPM0012", "bc_par_ns", "cyclic", "absorb", "reflect", "nested", when=runs(PARTICLES)),
    one_of("LPM0013", "splitting_mode", "const", "cl_av", "gb_av", when=runs(PARTICLES)),
    one_of("LPM0014", "splitting_function", "gamma", "log", "exp", when=runs(PARTICLES)),
    one_of(
        "LSM0005",
        "surface_type",
        "vegetation",
        "pavement",
        "water",
        "netcdf",
        "read_from_file",
        when=runs(LAND),
    ),
    Check(
        "LSM0007",
        where(LAND, lambda s: s.bc_pt_b == "neumann" or s.bc_q_b == "neumann"),
        "bc_pt_b and bc_q_b = 'dirichlet' with a land surface",
    ),
    Check("LSM0008", where(LAND, lambda s: not s.constant_flux_layer), "constant_flux_layer = .true."),
    Check("LSM0009", where(LAND, lambda s: not s.has(RADIATION)), "&radiation_parameters with a land surface"),
    *(
        Check("LSM0018", where(LAND, _is_own_vegetation_without(name)), f"{name} with vegetation_type = 0")
        for name in ("min_canopy_resistance", "leaf_area_index", "vegetation_coverage")
    ),
    Check(
        "LSM0033",
        where(LAND, lambda s: s.of("land_surface_parameters.deep_soil_temperature") == UNSET and _has_no_dynamic(s)),
        "deep_soil_temperature",
    ),
    Check("PMC0030", _has_no_child, "domain_layouts of two domains or more"),
    Check(
        "MSN0002",
        where(OFFLINE, lambda s: "read_from_file" not in s.initializing_actions and not s.is_restart),
        "initializing_actions = 'read_from_file' with offline nesting",
    ),
    Check("MSN0006", where(OFFLINE, lambda s: not s.has(STG)), "&stg_par with offline nesting"),
    Check("OCM0002", where(OCEAN, lambda s: "cyclic_fill" in s.initializing_actions), "no cyclic_fill in the ocean"),
    Check("OCM0004", where(OCEAN, lambda s: not s.use_top_fluxes), "use_top_fluxes = .true. in the ocean"),
    one_of("OCM0005", "bc_sa_t", "dirichlet", "neumann", when=runs(OCEAN)),
    Check("OCM0014", where(OCEAN, is_open), "cyclic boundaries in the ocean"),
    Check("PCM0003", where(CANOPY, runs(OCEAN)), "no plants in the ocean"),
    Check("PCM0004", where(CANOPY, lambda s: s.canopy_drag_coeff == 0.0), "canopy_drag_coeff above 0"),
    Check("PCM0005", where(CANOPY, lambda s: (s.alpha_lad == UNSET) != (s.beta_lad == UNSET)), "both, or none"),
    Check(
        "RAD0011",
        where(RADIATION, lambda s: not s.has_surface and not s.radiation_only),
        "a land or urban surface with radiation, or radiation_only = .true.",
    ),
    Check("RAD0012", where(RADIATION, lambda s: s.has_surface and s.radiation_only), "radiation_only = .false."),
    Check(
        "RAD0013",
        where(RADIATION, lambda s: s.radiation_only and s.radiation_interactions_on),
        "radiation_interactions_on = .false.",
    ),
    Check("RAD0014", where(RADIATION, lambda s: s.radiation_only and s.radiation_scheme != "rrtmg"), "rrtmg"),
    one_of(
        "RAD0015",
        "radiation_scheme",
        "constant",
        "clear-sky",
        "rrtmg",
        "tenstream",
        "external",
        when=runs(RADIATION),
    ),
    Check(
        "RAD0022",
        where(RADIATION, lambda s: s.surface_reflections and not s.raytrace_mpi_rma),
        "raytrace_mpi_rma = .true. with surface_reflections",
    ),
    Check("RAD0025", where(RADIATION, lambda s: s.is_given("dt_radiation") and s.dt_radiation <= 0.0), "above 0"),
    Check(
        "RAD0026",
        where(RADIATION, lambda s: s.raytrace_discrete_elevs < 4 or s.raytrace_discrete_azims < 8),
        "4 elevations and 8 azimuths or more",
    ),
    Check(
        "RAD0065",
        where(RADIATION, lambda s: s.raytrace_discrete_elevs % 2 != 0 or s.raytrace_discrete_azims % 4 != 0),
        "an even number of elevations, of azimuths a multiple of 4",
    ),
    Check("SAL0001", where(SALSA, lambda s: not s.humidity), "humidity = .true. with aerosols"),
    one_of("SAL0002", "bc_aer_b", "dirichlet", "neumann", when=runs(SALSA)),
    one_of("SAL0003", "bc_aer_t", "dirichlet", "neumann", "initial_gradient", "nested", when=runs(SALSA)),
    Check("SAL0004", where(SALSA, lambda s: not 1 <= s.nj3 <= 3), "nj3 of 1 to 3"),
    Check("SDO0002", where(SURFACE_DATA, lambda s: not s.to_vtk and not s.to_netcdf), "to_vtk or to_netcdf"),
    Check("SLU0000", where("slurb_parameters", lambda s: s.neutral), "neutral = .false. with an urban surface"),
    Check("SLU0001", where("slurb_parameters", lambda s: not s.has(RADIATION)), "&radiation_parameters"),
    Check("SLU0006", where("slurb_parameters", runs(URBAN)), "one of the two urban models"),
    Check(
        "STG0004",
        lambda s: (
            _makes_turbulence(s)
            and "set_constant_profiles" not in s.initializing_actions
            and "read_restart_data" not in s.initializing_actions
        ),
        "initializing_actions = 'set_constant_profiles'",
    ),
    Check(
        "STG0005",
        lambda s: _makes_turbulence(s) and s.bc_lr != "dirichlet/radiation",
        "bc_lr = 'dirichlet/radiation' with &stg_par",
    ),
    Check("STG0006", lambda s: _makes_turbulence(s) and s.bc_ns != "cyclic", "bc_ns = 'cyclic' with &stg_par"),
    Check("STG0009", lambda s: s.has(STG) and s.has(INFLOW), "one of &stg_par and &turbulent_inflow_parameters"),
    Check("STG0010", where(STG, lambda s: s.random_generator != "random-parallel"), "random-parallel"),
    Check("STG0014", where(STG, lambda s: s.disturb_theta and s.neutral), "disturb_theta = .false. where neutral"),
    Check("STG0015", where(STG, lambda s: s.disturb_theta and s.theta_amplitude <= 0.0), "above 0"),
    Check("PAC0311", where(SPECTRA, lambda s: _averaging_of_spectra(s) > s.dt_dosp), "up to dt_dosp"),
    Check(
        "PAC0350",
        where(SPECTRA, lambda s: s.sampling_of_profiles > 0.0 and s.sampling_of_profiles >= _averaging_of_spectra(s)),
        "dt_averaging_input_pr below averaging_interval_sp",
    ),
    Check("TRM0004", where("traffic_parameters", lambda s: s.neutral and s.theta_tendency), "theta_tendency = .false."),
    one_of(
        "TUI0001",
        "turbulent_inflow_method",
        "read_from_file",
        "recycle_turbulent_fluctuation",
        "recycle_absolute_value",
        "recycle_absolute_value_thermodynamic",
        when=runs(INFLOW),
    ),
    Check("TUI0002", where(INFLOW, runs(OFFLINE)), "one of offline nesting and turbulent inflow"),
    Check("TUI0004", where(INFLOW, lambda s: s.bc_lr != "dirichlet/radiation"), "bc_lr = 'dirichlet/radiation'"),
    Check(
        "TUI0006",
        where(
            INFLOW,
            lambda s: (
                "recycle" in s.turbulent_inflow_method
                and "cyclic_fill" not in s.initializing_actions
                and s.initializing_actions != "read_restart_data"
            ),
        ),
        "initializing_actions with cyclic_fill, or a restart",
    ),
    Check(
        "TUI0007",
        where(
            INFLOW,
            lambda s: "recycle" in s.turbulent_inflow_method and not s.dx < s.recycling_width < s.nx * s.dx,
        ),
        "recycling_width within the domain",
    ),
    Check(
        "USM0001",
        where(URBAN, lambda s: s.bc_pt_b == "neumann" or s.bc_q_b == "neumann"),
        "bc_pt_b and bc_q_b = 'dirichlet' with urban surfaces",
    ),
    Check("USM0002", where(URBAN, lambda s: not s.constant_flux_layer), "constant_flux_layer = .true."),
    Check("USM0003", where(URBAN, lambda s: not s.has(RADIATION)), "&radiation_parameters with urban surfaces"),
    Check("USM0004", where(URBAN, lambda s: s.topography == "flat"), "topography with urban surfaces"),
    Check(
        "UVM0003",
        where(
            "uv_radiation_parameters",
            lambda s: (
                "from_irradiance" not in s.uv_integration_method and "from_radiance" not in s.uv_integration_method
            ),
        ),
        "from_irradiance or from_radiance",
    ),
    Check("VFL0001", where("virtual_flight_parameters", _flies_outside), "flights within the domain"),
    Check("WTM0003", where("wind_turbine_parameters", _is_turbine_unplaced), "hub_x, hub_y and hub_z of each turbine"),
    Check(
        "WTM0001",
        where("wind_turbine_parameters", lambda s: s.pitch_control and not s.speed_control),
        "speed_control = .true. with pitch_control",
    ),
    # Files that must be there
    Check("DRV0009", lambda s: "read_from_file" in s.initializing_actions and not s.file("dynamic"), "PIDS_DYNAMIC"),
    Check(
        "PAC0339",
        lambda s: s.topography == "read_from_file" and not (s.file("static") or s.file("topo")),
        "PIDS_STATIC or TOPOGRAPHY_DATA",
    ),
    Check(
        "STG0007",
        lambda s: _makes_turbulence(s) and not s.file("stg") and s.bc_lr == "dirichlet/radiation",
        "STG_PROFILES",
    ),
    Check("IDM0001", where("indoor_parameters", lambda s: not s.file("static")), "PIDS_STATIC with buildings"),
    Check(
        "LSM0030",
        where(LAND, lambda s: s.surface_type in ("netcdf", "read_from_file") and not s.file("static")),
        "PIDS_STATIC",
    ),
    Check(
        "TUI0008",
        where(INFLOW, lambda s: s.turbulent_inflow_method == "read_from_file" and not s.file("dynamic")),
        "PIDS_DYNAMIC",
    ),
    Check("UVM0005", where("uv_radiation_parameters", lambda s: not s.file("uv")), "PIDS_UV"),
    Check("VME0001", where("virtual_measurement_parameters", lambda s: not s.file("vmeas")), "PIDS_VM"),
    Check("MAS0005", where("agent_parameters", lambda s: not s.file("nav")), "NAVIGATION_DATA"),
)
