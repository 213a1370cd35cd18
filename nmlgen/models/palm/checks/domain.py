"""The grid and the tasks, the boundaries and the topography (`parin.f90`, `init_pegrid.f90`, `init_grid.f90`,
`check_parameters.f90`, `topography_mod.f90`)."""

from __future__ import annotations

from itertools import pairwise

from nmlgen.models.palm.checks.check import Check, Holds, one_of
from nmlgen.models.palm.settings import MULTIGRID, NO_LEVEL, OCEAN, OFFLINE, UNSET, Settings

_GHOSTS = 3  # columns around each subdomain that the neighbours send
_LEAST_LEVELS = 14
_FACTORS = (2, 3, 5)


def _is_odd_in_x(settings: Settings) -> bool:
    return bool(settings.psolver.startswith("poisfft") and settings.bc_lr == "cyclic" and (settings.nx + 1) % 2)


def _is_odd_in_y(settings: Settings) -> bool:
    return bool(settings.psolver.startswith("poisfft") and settings.bc_ns == "cyclic" and (settings.ny + 1) % 2)


def _has_other_factors(settings: Settings) -> bool:
    """Whether the grid does not fit the Temperton FFT: only factors 2, 3 and 5 do."""
    if not settings.psolver.startswith("poisfft") or settings.fft_method != "temperton-algorithm":
        return False
    return any(_rest(count + 1) > 1 for count in (settings.nx, settings.ny) if count > 0)


def _rest(count: int) -> int:
    for factor in _FACTORS:
        while count % factor == 0:
            count //= factor
    return count


def _are_few_columns(settings: Settings) -> bool:
    """Whether a subdomain is thinner than the columns that its neighbours need."""
    if settings.tasks < 2:
        return False
    x, y = settings.npex, settings.npey
    if x == -1 and y == -1 and settings.psolver != "poisfft_sm":
        x = max(int(settings.tasks**0.5), 1)
        while settings.tasks % x:
            x -= 1
        y = settings.tasks // x
    return bool(x > 0 and y > 0 and min((settings.nx + 1) // x, (settings.ny + 1) // y) < _GHOSTS)


def _does_not_fit(settings: Settings) -> bool:
    x, y = settings.npex, settings.npey
    return bool(x != -1 and y != -1 and x * y != settings.tasks)


def _number_of_spacings(settings: Settings) -> int:
    return sum(1 for spacing in settings.dz if spacing not in (-1.0, settings.dz_max))


def _starts(settings: Settings) -> list[float]:
    starts = list(settings.dz_stretch_level_start)
    if settings.dz_stretch_level != NO_LEVEL:
        starts[0] = settings.dz_stretch_level
    return starts


def _number_of_starts(settings: Settings) -> int:
    return sum(1 for level in _starts(settings) if level != NO_LEVEL)


def _number_of_ends(settings: Settings) -> int:
    return sum(1 for level in settings.dz_stretch_level_end if level != UNSET)


def _stretches_too_fast(settings: Settings) -> bool:
    """Whether the end of a stretching lies too near to its beginning, or, in the ocean, above it."""
    spacings, starts, ends = list(settings.dz), _starts(settings), list(settings.dz_stretch_level_end)
    count = _number_of_starts(settings)
    if count and spacings[count] == -1.0:
        spacings[count] = settings.dz_max
    is_ocean = settings.has("ocean_parameters")
    for start, end, (below, above) in zip(starts[:count], ends[:count], pairwise(spacings), strict=False):
        least = 4 * max(below, above)
        if (end > start - least) if is_ocean else (end < start + least):
            return True
    return False


def _begins_too_low(settings: Settings) -> bool:
    bound = settings.dz[0] * 1.5
    if settings.has("ocean_parameters"):
        return any(level >= -bound for level in _starts(settings))
    return any(abs(level) <= bound for level in _starts(settings))


def _building_does_not_fit(settings: Settings) -> bool:
    if settings.topography != "single_building":
        return False
    wide, deep = round(settings.building_length_x / settings.dx), round(settings.building_length_y / settings.dy)
    left, south = (
        _wall(settings.building_wall_left, settings.nx, wide, settings.dx),
        _wall(settings.building_wall_south, settings.ny, deep, settings.dy),
    )
    is_outside = left < 1 or left + wide > settings.nx - 1 or south < 1 or south + deep > settings.ny - 1
    return bool(is_outside or wide < 3 or deep < 3)


def _wall(given: float, count: int, length: int, spacing: float) -> int:
    """The first column of a building; one that nobody placed is in the middle."""
    return (count + 1 - length) // 2 if given == UNSET else round(given / spacing)


def _canyon_does_not_fit(settings: Settings) -> str | None:
    """The code with which PALM refuses a street canyon."""
    if settings.topography != "single_street_canyon":
        return None
    in_x, in_y = settings.canyon_width_x != UNSET, settings.canyon_width_y != UNSET
    if not in_x and not in_y:
        return "PAC0321"
    return "PAC0324" if in_x and in_y else None


def _is_constant_heat_flux(settings: Settings) -> bool:
    return bool(settings.surface_heatflux != UNSET)


def _is_heat_fixed_twice(settings: Settings) -> bool:
    flux = settings.surface_heatflux
    return flux not in (UNSET, 0.0) and settings.bc_pt_b == "dirichlet"


def _scalar_boundary(name: str, group: str) -> Holds:
    def fails(settings: Settings) -> bool:
        if not settings.of(group) or settings.of(f"bc_{name}_b") != "dirichlet":
            return False
        flux = "surface_waterflux" if name == "q" else "surface_scalarflux"
        if settings.of(flux) == UNSET:
            return False
        return not settings.has("land_surface_parameters") and not settings.large_scale_forcing

    return fails


CHECKS: tuple[Check, ...] = (
    # The grid and the tasks: parin.f90, init_pegrid.f90, init_grid.f90
    Check("PAC0261", lambda s: s.nx <= 0, "nx above 0: the index of the last column in x"),
    Check("PAC0262", lambda s: s.ny <= 0, "ny above 0: the index of the last column in y"),
    Check("PAC0263", lambda s: s.nz <= 0, "nz above 0"),
    Check("PAC0264", lambda s: 0 < s.nz < _LEAST_LEVELS, f"nz of {_LEAST_LEVELS} or more"),
    Check("PAC0365", lambda s: s.dx <= 0.0, "dx above 0"),
    Check("PAC0365", lambda s: s.dy <= 0.0, "dy above 0"),
    Check("PAC0210", lambda s: s.dz[0] == -1.0, "dz, the vertical grid spacing"),
    Check("PAC0211", lambda s: s.dz[0] <= 0.0 and s.dz[0] != -1.0, "dz above 0"),
    Check(
        "PAC0212",
        lambda s: _number_of_spacings(s) != _number_of_ends(s) + 1,
        "one value of dz more than of dz_stretch_level_end",
    ),
    Check(
        "PAC0213",
        lambda s: _number_of_spacings(s) - _number_of_starts(s) not in (0, 1),
        "as many values of dz as of dz_stretch_level_start, or one more",
    ),
    Check(
        "PAC0214",
        lambda s: _number_of_starts(s) - _number_of_ends(s) not in (0, 1),
        "as many values of dz_stretch_level_start as of dz_stretch_level_end, or one more",
    ),
    Check("PAC0215", _stretches_too_fast, "each dz_stretch_level_end 4 * max(dz(n), dz(n+1)) beyond its start"),
    Check("PAC0216", _begins_too_low, "dz_stretch_level_start more than 1.5 * dz(1) from the surface"),
    Check("PAC0234", lambda s: (s.npex == -1) != (s.npey == -1) and s.tasks > 0, "both of npex and npey, or none"),
    Check("PAC0233", _does_not_fit, "npex * npey equal to the number of tasks"),
    Check("PAC0231", lambda s: s.psolver == "poisfft_sm" and s.tasks < 4, "4 tasks or more for poisfft_sm"),
    Check(
        "PAC0232",
        lambda s: s.psolver == "poisfft_sm" and s.npex != -1 and s.npey != -1,
        "neither npex nor npey with poisfft_sm",
    ),
    Check("PAC0240", _are_few_columns, f"{_GHOSTS} columns or more for each task, in x and in y"),
    Check(
        "PAC0236",
        lambda s: s.y_shift != 0 and s.bc_lr == "cyclic" and s.psolver not in MULTIGRID,
        "a multigrid solver with y_shift",
    ),
    Check("PAC0071", _is_odd_in_x, "an odd nx: the FFT needs an even number of columns"),
    Check("PAC0072", _is_odd_in_y, "an odd ny: the FFT needs an even number of columns"),
    Check("PAC0317", _has_other_factors, "nx + 1 and ny + 1 without factors beyond 2, 3 and 5"),
    # Boundaries
    one_of("PAC0258", "bc_lr", "cyclic", "dirichlet/radiation", "radiation/dirichlet"),
    one_of("PAC0259", "bc_ns", "cyclic", "dirichlet/radiation", "radiation/dirichlet"),
    Check("PAC0260", lambda s: "radiation" in s.bc_lr and "radiation" in s.bc_ns, "one of bc_lr and bc_ns cyclic"),
    Check(
        "PAC0073",
        lambda s: s.is_open and not s.psolver.startswith("multigrid") and s.fft_method == "system-specific",
        "another fft_method, or a multigrid solver",
    ),
    Check("PAC0074", lambda s: s.is_open and s.momentum_advec == "up-scheme", "pw-scheme or ws-scheme"),
    Check("PAC0075", lambda s: s.is_open and s.scalar_advec in ("bc-scheme", "up-scheme"), "pw-scheme or ws-scheme"),
    Check("PAC0076", lambda s: s.is_open and s.galilei_transformation, "no galilei_transformation"),
    Check(
        "PAC0077",
        lambda s: (
            (s.bc_lr == "cyclic") != (s.bc_ns == "cyclic") and s.psolver.startswith("poisfft") and not s.has(OFFLINE)
        ),
        "psolver = 'multigrid'",
    ),
    one_of("PAC0079", "bc_e_b", "neumann", "(u*)**2+neumann"),
    one_of("PAC0080", "bc_p_b", "dirichlet", "neumann"),
    one_of("PAC0081", "bc_p_t", "dirichlet", "neumann", when=lambda s: not s.has(OFFLINE)),
    one_of("PAC0082", "bc_pt_b", "dirichlet", "neumann"),
    one_of("PAC0083", "bc_pt_t", "dirichlet", "neumann", "initial_gradient", when=lambda s: not s.has(OFFLINE)),
    one_of("PAC0092", "bc_q_b", "dirichlet", "neumann", when=lambda s: s.humidity),
    one_of(
        "PAC0093",
        "bc_q_t",
        "dirichlet",
        "neumann",
        "initial_gradient",
        when=lambda s: s.humidity and not s.has(OFFLINE),
    ),
    one_of("PAC0092", "bc_s_b", "dirichlet", "neumann", when=lambda s: s.passive_scalar),
    one_of("PAC0093", "bc_s_t", "dirichlet", "neumann", "initial_gradient", when=lambda s: s.passive_scalar),
    one_of("PAC0099", "bc_uv_b", "dirichlet", "neumann"),
    one_of("PAC0100", "bc_uv_t", "dirichlet", "dirichlet_0", "neumann", when=lambda s: not s.has(OFFLINE)),
    Check("PAC0098", lambda s: s.bc_uv_b == "neumann" and s.constant_flux_layer, "constant_flux_layer = .false."),
    Check(
        "PAC0084",
        lambda s: any(flux != 0.0 for flux in s.wall_heatflux) and s.surface_heatflux == UNSET,
        "surface_heatflux, too",
    ),
    Check(
        "PAC0356",
        lambda s: s.use_top_fluxes and s.top_heatflux == UNSET and not s.has(OCEAN),
        "top_heatflux with use_top_fluxes",
    ),
    Check("PAC0085", lambda s: s.neutral and s.surface_heatflux not in (0.0, UNSET), "no heat flux where neutral"),
    Check("PAC0085", lambda s: s.neutral and s.top_heatflux not in (0.0, UNSET), "no heat flux where neutral"),
    Check(
        "PAC0086",
        lambda s: (s.top_momentumflux_u == UNSET) != (s.top_momentumflux_v == UNSET),
        "both of top_momentumflux_u and top_momentumflux_v",
    ),
    Check("PAC0087", _is_heat_fixed_twice, "bc_pt_b = 'neumann' with a heat flux"),
    Check(
        "PAC0088",
        lambda s: _is_constant_heat_flux(s) and s.pt_surface_initial_change != 0.0,
        "no pt_surface_initial_change with a heat flux",
    ),
    Check(
        "PAC0089",
        lambda s: _is_constant_heat_flux(s) and s.pt_surface_heating_rate != 0.0,
        "no pt_surface_heating_rate with a heat flux",
    ),
    Check(
        "PAC0090",
        lambda s: s.bc_pt_t == "dirichlet" and s.top_heatflux not in (0.0, UNSET),
        "bc_pt_t = 'neumann' with a heat flux at the top",
    ),
    Check(
        "PAC0091",
        lambda s: s.humidity and any(f != 0.0 for f in s.wall_humidityflux) and s.surface_waterflux == UNSET,
        "surface_waterflux, too",
    ),
    Check("PAC0094", _scalar_boundary("q", "humidity"), "bc_q_b = 'neumann' with surface_waterflux"),
    Check("PAC0094", _scalar_boundary("s", "passive_scalar"), "bc_s_b = 'neumann' with surface_scalarflux"),
    Check(
        "PAC0095",
        lambda s: s.humidity and s.surface_waterflux != UNSET and s.q_surface_initial_change != 0.0,
        "no q_surface_initial_change with surface_waterflux",
    ),
    Check(
        "PAC0095",
        lambda s: s.passive_scalar and s.surface_scalarflux != UNSET and s.s_surface_initial_change != 0.0,
        "no s_surface_initial_change with surface_scalarflux",
    ),
    Check(
        "PAC0096",
        lambda s: s.passive_scalar and any(f != 0.0 for f in s.wall_scalarflux) and s.surface_scalarflux == UNSET,
        "surface_scalarflux, too",
    ),
    Check(
        "PAC0097",
        lambda s: (
            s.passive_scalar and s.bc_s_t in ("dirichlet", "initial_gradient") and s.top_scalarflux not in (0.0, UNSET)
        ),
        "bc_s_t = 'neumann' with top_scalarflux",
    ),
    # Topography
    Check("PAC0320", _building_does_not_fit, "a building of 3 columns or more, one column away from the boundaries"),
    Check("PAC0321", lambda s: _canyon_does_not_fit(s) == "PAC0321", "canyon_width_x or canyon_width_y"),
    Check("PAC0324", lambda s: _canyon_does_not_fit(s) == "PAC0324", "one of canyon_width_x and canyon_width_y"),
    Check(
        "PAC0325",
        lambda s: s.topography == "tunnel" and s.tunnel_width_x == UNSET and s.tunnel_width_y == UNSET,
        "tunnel_width_x or tunnel_width_y",
    ),
    Check(
        "PAC0326",
        lambda s: s.topography == "tunnel" and UNSET not in (s.tunnel_width_x, s.tunnel_width_y),
        "one of tunnel_width_x and tunnel_width_y",
    ),
    one_of(
        "PAC0332",
        "topography_grid_convention",
        "",
        "cell_edge",
        "cell_center",
        when=lambda s: s.topography != "flat" and not s.cut_cell_topography,
    ),
)
