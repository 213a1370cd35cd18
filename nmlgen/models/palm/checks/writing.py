"""Output and restart files (`check_parameters.f90`, `netcdf_interface_mod.f90`)."""

from __future__ import annotations

from nmlgen.models.palm.checks.check import Check, Holds, one_of
from nmlgen.models.palm.grid import is_beyond
from nmlgen.models.palm.output import has_average, has_plane
from nmlgen.models.palm.settings import NO_LEVEL, UNSET, Settings


def _has_section_outside(settings: Settings) -> bool:
    return any(
        level != NO_LEVEL and (level < 0.0 or is_beyond(settings, level))
        for level in settings.section_xy_m
        if not settings.may_have("static")
    )


def _has_no_section(plane: str) -> Holds:
    def fails(settings: Settings) -> bool:
        if not has_plane(settings, plane):
            return False
        indices, metres = settings.of(f"section_{plane}"), settings.of(f"section_{plane}_m")
        return all(index == -9999 for index in indices) and all(place == NO_LEVEL for place in metres)

    return fails


def _precisions(settings: Settings) -> list[str]:
    return settings.until("netcdf_precision", "")


_WRITTEN_WITH = frozenset(["2d", "3d", "all", "fl", "masks", "pr", "prt", "sp", "ts", "xy", "xz", "yz"])


def _is_unknown_precision(settings: Settings) -> bool:
    return any(
        "_" in word and word.partition("_")[2] not in ("NF90_REAL4", "NF90_REAL8") for word in _precisions(settings)
    )


def _is_unknown_output(settings: Settings) -> bool:
    return any("_" in word and word.partition("_")[0] not in _WRITTEN_WITH for word in _precisions(settings))


def _is_level_out_of_range(settings: Settings) -> bool:
    method, level = settings.netcdf_compression_method, settings.netcdf_compression_level
    if level > 2_000_000_000 or method not in ("deflate", "zstd"):
        return False
    return bool(not 0 <= level <= 9 if method == "deflate" else not -131072 <= level <= 22)


def _writes_without_interval(settings: Settings) -> bool:
    """Whether files with a fixed number of times have no interval, which is what that number comes from."""
    if settings.netcdf_data_format <= 4 or settings.dt != -1.0:
        return False
    names = ("dt_do3d", "dt_do2d_xy", "dt_do2d_xz", "dt_do2d_yz", "dt_data_output_av")
    return any(settings.interval(name) == 0.0 for name in names)


_FORMATS = ("fortran_binary", "mpi", "mpi_shared_memory")

CHECKS: tuple[Check, ...] = (
    # Restart files
    one_of("PAC0013", "restart_data_format", *_FORMATS),
    one_of("PAC0014", "restart_data_format_input", *_FORMATS, "undefined"),
    one_of("PAC0015", "restart_data_format_output", *_FORMATS, "undefined"),
    Check(
        "PAC0016",
        lambda s: (s.restart_time != UNSET or s.dt_restart != UNSET) and not s.writes_restart,
        "palmrun -a with restart, so that restart files are kept",
    ),
    # Output
    Check(
        "PAC0105",
        lambda s: s.averaging_interval > s.interval("dt_data_output_av"),
        "averaging_interval up to dt_data_output_av",
    ),
    Check(
        "PAC0106",
        lambda s: s.averaging_of_profiles > s.interval("dt_dopr"),
        "averaging_interval_pr up to dt_dopr",
    ),
    Check(
        "PAC0107",
        lambda s: s.dt_averaging_input > 0.0 and s.dt_averaging_input >= s.averaging_interval,
        "dt_averaging_input below averaging_interval",
    ),
    Check(
        "PAC0108",
        lambda s: s.sampling_of_profiles > 0.0 and s.sampling_of_profiles >= s.averaging_of_profiles,
        "dt_averaging_input_pr below averaging_interval_pr",
    ),
    Check("PAC0135", _has_section_outside, "section_xy_m within the domain"),
    Check(
        "PAC0136",
        lambda s: any(p != NO_LEVEL and not 0.0 <= p <= s.ny * s.dy for p in s.section_xz_m),
        "section_xz_m within the domain",
    ),
    Check(
        "PAC0137",
        lambda s: any(p != NO_LEVEL and not 0.0 <= p <= s.nx * s.dx for p in s.section_yz_m),
        "section_yz_m within the domain",
    ),
    Check("PAC0138", lambda s: any(index > s.nz + 1 for index in s.section_xy), "section_xy up to nz + 1"),
    Check("PAC0139", lambda s: any(index > s.ny for index in s.section_xz), "section_xz up to ny"),
    Check("PAC0140", lambda s: any(index > s.nx for index in s.section_yz), "section_yz up to nx"),
    *(
        Check("PAC0141", _has_no_section(plane), f"section_{plane} for what is written in it")
        for plane in ("xy", "xz", "yz")
    ),
    Check(
        "PAC0134", lambda s: s.averaging_interval == 0.0 and has_average(s), "averaging_interval for what is averaged"
    ),
    Check("PAC0177", _writes_without_interval, "an interval of output above 0, or dt"),
    Check("NCI0001", lambda s: any("_" not in word for word in _precisions(s)), "such as all_NF90_REAL4"),
    Check("NCI0002", _is_unknown_precision, "NF90_REAL4 or NF90_REAL8"),
    Check("NCI0003", _is_unknown_output, f"one of {', '.join(sorted(_WRITTEN_WITH))} before the precision"),
    one_of("NCI0009", "netcdf_compression_method", "none", "deflate", "zstd"),
    Check("NCI0004", _is_level_out_of_range, "a level of 0 to 9 for deflate, -131072 to 22 for zstd"),
    Check(
        "NCI0005",
        lambda s: (
            s.netcdf_compression_method in ("deflate", "zstd")
            and s.netcdf_compression_nsd < 2_000_000_000
            and not 1 <= s.netcdf_compression_nsd <= 15
        ),
        "1 to 15 digits",
    ),
    Check(
        "NCI0010",
        lambda s: s.netcdf_compression_method in ("deflate", "zstd"),
        "a PALM built with -D__netcdf4_compression",
        of_build=True,
    ),
    Check("NCF0097", lambda s: s.netcdf_data_format > 6, "netcdf_data_format of 1 to 6"),
    Check("NCF0451", lambda s: s.netcdf_data_format < 1, "netcdf_data_format of 1 to 6"),
)
