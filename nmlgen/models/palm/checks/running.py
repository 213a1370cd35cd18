"""How PALM computes, and what it begins with (`check_parameters.f90`, `turbulence_closure_mod.f90`)."""

from __future__ import annotations

from nmlgen.models.palm.checks.check import Check, Holds, one_of
from nmlgen.models.palm.grid import is_beyond, levels
from nmlgen.models.palm.settings import HUGE, INFLOW, MULTIGRID, NO_LEVEL, OCEAN, UNSET, Settings

_STENCIL = 3  # levels that a disturbance stays away from the ground, and the top


def _damping_is_outside(settings: Settings) -> bool:
    height = settings.rayleigh_damping_height
    if height == -1.0:
        return False
    if settings.has("ocean_parameters"):
        return bool(height > 0.0)
    return bool(height < 0.0 or is_beyond(settings, height, below=1))


def _actions(settings: Settings) -> list[str]:
    return list(settings.initializing_actions.split())


_ACTIONS = frozenset(
    [
        "by_user",
        "initialize_bubble",
        "initialize_ptanom",
        "initialize_vortex",
        "interpolate_from_parent",
        "read_from_file",
        "read_spinup_data",
        "set_1d-model_profiles",
        "set_constant_profiles",
    ]
)


def _has_unknown_action(settings: Settings) -> bool:
    actions = _actions(settings)
    return (
        not {"read_restart_data"} & set(actions)
        and "cyclic_fill" not in " ".join(actions)
        and (bool(set(actions) - _ACTIONS))
    )


def _both(one: str, other: str) -> Holds:
    return lambda settings: one in settings.initializing_actions and other in settings.initializing_actions


def _profiles_are_half(settings: Settings) -> bool:
    u, v = settings.u_profile[0], settings.v_profile[0]
    return not (u == v == UNSET) and not (u == 0.0 and v == 0.0)


def _has_advection(*known: str) -> Holds:
    return lambda settings: settings.scalar_advec in known or settings.momentum_advec in known


def _topography_forbids(settings: Settings) -> bool:
    """What does not go with any topography."""
    if settings.topography == "flat":
        return False
    return bool(
        settings.scalar_advec not in ("pw-scheme", "ws-scheme")
        or settings.momentum_advec not in ("pw-scheme", "ws-scheme")
        or settings.psolver == "sor"
        or settings.alpha_surface != 0.0
        or settings.galilei_transformation
        or settings.cloud_droplets
    )


def _is_outside_of_domain(settings: Settings, width: float) -> bool:
    for boundary, count, spacing in (
        (settings.bc_lr, settings.nx, settings.dx),
        (settings.bc_ns, settings.ny, settings.dy),
    ):
        if boundary != "cyclic" and (width < 0.0 or width > (count + 1) * spacing):
            return True
    return False


def _is_rough(settings: Settings) -> bool:
    is_used = settings.constant_flux_layer or "set_1d-model_profiles" in settings.initializing_actions
    has_own = settings.has("land_surface_parameters") or settings.has("urban_surface_parameters")
    return bool(is_used and not has_own and settings.roughness_length >= 0.5 * settings.dz[0])


CHECKS: tuple[Check, ...] = (
    # Numerics
    one_of("PAC0017", "loop_optimization", "cache", "vector"),
    Check(
        "PAC0018", _topography_forbids, "flat topography, or without sor, slopes, Galilei transformation and droplets"
    ),
    Check(
        "PAC0021", lambda s: s.topography == "closed_channel" and s.constant_flux_layer, "constant_flux_layer = .false."
    ),
    Check("PAC0022", lambda s: s.topography == "closed_channel" and s.has(OCEAN), "no ocean in a closed channel"),
    Check(
        "PAC0023",
        lambda s: (
            s.topography == "closed_channel" and (s.momentum_advec != "ws-scheme" or s.scalar_advec != "ws-scheme")
        ),
        "ws-scheme for both advections",
    ),
    one_of("PAC0024", "approximation", "boussinesq", "anelastic"),
    Check("PAC0025", lambda s: s.approximation == "anelastic" and s.momentum_advec != "ws-scheme", "ws-scheme"),
    Check(
        "PAC0026", lambda s: s.approximation == "anelastic" and s.conserve_volume_flow, "conserve_volume_flow = .false."
    ),
    one_of("PAC0027", "flux_input_mode", "dynamic", "kinematic", "application-specific"),
    one_of("PAC0028", "flux_output_mode", "dynamic", "kinematic", "application-specific"),
    one_of("PAC0030", "psolver", "poisfft", "poisfft_sm", "sor", *MULTIGRID),
    one_of("PAC0031", "cycle_mg", "v", "w", when=lambda s: s.psolver in MULTIGRID),
    one_of("PAC0032", "fft_method", "singleton-algorithm", "temperton-algorithm", "fftw", "system-specific"),
    Check(
        "PAC0034",
        lambda s: s.momentum_advec == "ws-scheme" and not s.call_psolver_at_all_substeps,
        "call_psolver_at_all_substeps = .true.",
    ),
    one_of("PAC0035", "momentum_advec", "pw-scheme", "ws-scheme", "up-scheme"),
    Check(
        "PAC0036",
        lambda s: s.timestep_scheme in ("euler", "runge-kutta-2") and _has_advection("ws-scheme")(s),
        "timestep_scheme = 'runge-kutta-3' with ws-scheme",
    ),
    one_of("PAC0037", "scalar_advec", "pw-scheme", "ws-scheme", "bc-scheme", "up-scheme"),
    Check(
        "PAC0038",
        lambda s: s.scalar_advec == "bc-scheme" and s.loop_optimization == "cache",
        "loop_optimization = 'vector' with bc-scheme",
    ),
    Check(
        "PAC0040",
        lambda s: s.advanced_div_correction and s.scalar_advec == "ws-scheme" and s.loop_optimization != "vector",
        "loop_optimization = 'vector'",
    ),
    Check(
        "PAC0041",
        lambda s: s.advanced_div_correction and s.scalar_advec == "ws-scheme" and s.cfl_factor >= 0.5,
        "cfl_factor below 0.5",
    ),
    one_of("PAC0042", "timestep_scheme", "euler", "runge-kutta-2", "runge-kutta-3"),
    Check(
        "PAC0043",
        lambda s: s.momentum_advec == "up-scheme" and s.timestep_scheme.startswith("runge"),
        "timestep_scheme = 'euler' with up-scheme",
    ),
    one_of("PAC0065", "reference_state", "horizontal_average", "initial_profile", "single_value"),
    Check("PAC0066", lambda s: abs(s.alpha_surface) > 90.0, "alpha_surface of -90 to 90 degrees"),
    Check("PAC0067", lambda s: s.dt <= 0.0 and s.dt != -1.0, "dt above 0"),
    Check("PAC0068", lambda s: not 0.0 < s.cfl_factor <= 1.0 and s.cfl_factor != -1.0, "cfl_factor above 0, up to 1"),
    Check(
        "PAC0069",
        lambda s: (
            s.galilei_transformation
            and s.use_ug_for_galilei_tr
            and any(g != 0.0 for g in (*s.ug_vertical_gradient, *s.vg_vertical_gradient))
        ),
        "a geostrophic wind without gradients",
    ),
    Check("PAC0101", lambda s: s.rayleigh_damping_factor < 0.0, "rayleigh_damping_factor of 0 or more"),
    Check("PAC0102", _damping_is_outside, "rayleigh_damping_height within the domain"),
    Check("PAC0103", lambda s: s.statistic_regions < 0, "statistic_regions of 0 or more"),
    Check("PAC0104", lambda s: not 0 <= s.normalizing_region <= s.statistic_regions, "0 to statistic_regions"),
    Check("PAC0147", lambda s: s.km_constant < 0.0 and s.km_constant != -1.0, "km_constant of 0 or more"),
    Check("PAC0148", lambda s: s.km_constant >= 0.0 and s.prandtl_number < 0.0, "prandtl_number of 0 or more"),
    Check("PAC0149", lambda s: s.km_constant >= 0.0 and s.constant_flux_layer, "constant_flux_layer = .false."),
    Check("PAC0150", lambda s: _is_outside_of_domain(s, s.pt_damping_width), "pt_damping_width within the domain"),
    Check("PAC0351", lambda s: _is_outside_of_domain(s, s.outflow_damping_width), "a width within the domain"),
    Check(
        "PAC0352",
        lambda s: s.outflow_damping_factor > 0.0 and "radiation" not in s.bc_lr and "radiation" not in s.bc_ns,
        "a radiation boundary with outflow_damping_factor",
    ),
    Check("PAC0151", lambda s: s.zeta_min >= s.zeta_max, "zeta_min below zeta_max"),
    one_of("PAC0152", "random_generator", "system-specific", "random-parallel", "numerical-recipes"),
    Check(
        "PAC0153",
        lambda s: s.disturbance_level_b != NO_LEVEL and s.disturbance_level_b < levels(s)[_STENCIL],
        "disturbance_level_b at the third level or above",
    ),
    Check(
        "PAC0154",
        lambda s: s.disturbance_level_b != NO_LEVEL and is_beyond(s, s.disturbance_level_b, below=_STENCIL),
        "disturbance_level_b below the third level from the top",
    ),
    Check(
        "PAC0155",
        lambda s: s.disturbance_level_t != NO_LEVEL and is_beyond(s, s.disturbance_level_t, below=_STENCIL),
        "disturbance_level_t below the third level from the top",
    ),
    Check(
        "PAC0156",
        lambda s: (
            NO_LEVEL not in (s.disturbance_level_t, s.disturbance_level_b)
            and s.disturbance_level_t < s.disturbance_level_b
        ),
        "disturbance_level_t above disturbance_level_b",
    ),
    Check(
        "PAC0158",
        lambda s: s.is_open and s.inflow_disturbance_begin > (s.nx if s.bc_lr != "cyclic" else s.ny),
        "inflow_disturbance_begin within the domain",
    ),
    Check(
        "PAC0159",
        lambda s: s.is_open and s.inflow_disturbance_end > (s.nx if s.bc_lr != "cyclic" else s.ny),
        "inflow_disturbance_end within the domain",
    ),
    Check(
        "PAC0160", lambda s: s.turbulent_outflow and s.bc_lr != "dirichlet/radiation", "bc_lr = 'dirichlet/radiation'"
    ),
    Check(
        "PAC0161",
        lambda s: s.turbulent_outflow and not s.dx <= s.outflow_source_plane <= s.nx * s.dx,
        "outflow_source_plane within the domain",
    ),
    Check(
        "PAC0162",
        lambda s: (
            "set_1d-model_profiles" in s.initializing_actions
            and s.damp_level_1d != -1.0
            and (s.damp_level_1d < 0.0 or is_beyond(s, s.damp_level_1d))
        ),
        "damp_level_1d within the domain",
    ),
    one_of("PAC0163", "mixing_length_1d", "as_in_3d_model", "blackadar"),
    one_of("PAC0164", "dissipation_1d", "as_in_3d_model", "detering", "prognostic"),
    Check(
        "PAC0165",
        lambda s: s.mixing_length_1d != "as_in_3d_model" and s.dissipation_1d == "as_in_3d_model",
        "mixing_length_1d = 'as_in_3d_model', too",
    ),
    Check("PAC0166", lambda s: s.dp_external and s.conserve_volume_flow, "one of dp_external and conserve_volume_flow"),
    Check(
        "PAC0167",
        lambda s: s.dp_external and (s.dp_level_b < 0.0 or is_beyond(s, s.dp_level_b, below=1)),
        "dp_level_b within the domain",
    ),
    one_of(
        "PAC0170",
        "conserve_volume_flow_mode",
        "initial_profiles",
        "bulk_velocity",
        when=lambda s: s.conserve_volume_flow,
    ),
    Check(
        "PAC0171",
        lambda s: s.conserve_volume_flow and s.conserve_volume_flow_mode == "bulk_velocity" and s.is_open,
        "cyclic boundaries with bulk_velocity",
    ),
    Check(
        "PAC0172",
        lambda s: (
            (s.u_bulk != 0.0 or s.v_bulk != 0.0)
            and not (s.conserve_volume_flow and s.conserve_volume_flow_mode == "bulk_velocity")
        ),
        "conserve_volume_flow = .true. and conserve_volume_flow_mode = 'bulk_velocity' with u_bulk or v_bulk",
    ),
    Check("PAC0366", lambda s: s.roughness_length <= 0.0, "roughness_length above 0"),
    Check("PAC0173", _is_rough, "roughness_length below half of dz"),
    Check(
        "PAC0174",
        lambda s: s.terrain_following_mapping and s.topography != "read_from_file",
        "topography = 'read_from_file'",
    ),
    Check(
        "PAC0175",
        lambda s: s.terrain_following_mapping and any(level != NO_LEVEL for level in s.dz_stretch_level_start),
        "no stretching with terrain_following_mapping",
    ),
    one_of("TCM0001", "turbulence_closure", "1.5-order", "1.5-order-dai", "dynamic", "tke-l", "tke-e"),
    Check(
        "TCM0002",
        lambda s: s.turbulence_closure in ("tke-l", "tke-e") and (s.has(INFLOW) or s.turbulent_outflow),
        "another turbulence_closure with turbulent inflow or outflow",
    ),
    Check(
        "PAC0202", lambda s: s.psolver.startswith("poisfft") and s.fft_method == "system-specific", "another fft", True
    ),
    # Initial state
    Check("PAC0044", lambda s: s.initializing_actions == "", "initializing_actions"),
    Check("PAC0046", _has_unknown_action, f"of {', '.join(sorted(_ACTIONS))}, or cyclic_fill, or read_restart_data"),
    Check(
        "PAC0047",
        lambda s: s.initializing_actions == "initialize_vortex" and s.conserve_volume_flow,
        "conserve_volume_flow = .false. with a vortex",
    ),
    Check("PAC0048", _both("set_constant_profiles", "set_1d-model_profiles"), "one of the two profiles"),
    Check("PAC0049", _both("set_constant_profiles", "by_user"), "one of the two"),
    Check("PAC0050", _both("by_user", "set_1d-model_profiles"), "one of the two"),
    Check("PAC0349", lambda s: s.spinup_time > 0.0 and not s.has_surface, "a spinup with a land or urban surface only"),
    Check("PAC0058", lambda s: s.humidity and s.alpha_surface != 0.0, "no humidity above a slope"),
    Check(
        "PAC0059",
        lambda s: s.u_profile[0] == 0.0 and s.v_profile[0] == 0.0 and s.uv_heights[0] != 0.0,
        "uv_heights that begin with 0",
    ),
    Check("PAC0061", _profiles_are_half, "u_profile and v_profile that begin with 0"),
    Check(
        "PAC0062",
        lambda s: s.use_subsidence_tendencies and not (s.large_scale_subsidence and s.large_scale_forcing),
        "large_scale_subsidence and large_scale_forcing with use_subsidence_tendencies",
    ),
    Check(
        "PAC0063",
        lambda s: s.large_scale_subsidence and s.subs_vertical_gradient_level[0] > HUGE and not s.large_scale_forcing,
        "subs_vertical_gradient_level with large_scale_subsidence",
    ),
    Check(
        "PAC0064",
        lambda s: not s.large_scale_subsidence and s.subs_vertical_gradient_level[0] < HUGE,
        "large_scale_subsidence = .true. with subs_vertical_gradient_level",
    ),
    Check("LSF0001", lambda s: s.nudging and not s.large_scale_forcing, "large_scale_forcing with nudging"),
    Check("LSF0002", lambda s: s.large_scale_forcing and s.is_open, "cyclic boundaries with large_scale_forcing"),
    Check("LSF0003", lambda s: s.large_scale_forcing and not s.humidity, "humidity with large_scale_forcing"),
    Check("LSF0004", lambda s: s.large_scale_forcing and s.passive_scalar, "no passive_scalar"),
    Check(
        "LSF0005",
        lambda s: s.large_scale_forcing and s.topography != "flat" and not s.lsf_exception,
        "flat topography, or lsf_exception = .true.",
    ),
    Check("LSF0006", lambda s: s.large_scale_forcing and s.has(OCEAN), "no ocean with large_scale_forcing"),
)
