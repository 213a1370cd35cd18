"""Which tasks of PALM write, and how much (`check_open.f90`, `data_output_3d.f90`, `restart_data_mpi_io_mod.f90`).

Measured with 25.10.1: of `fortran_binary` each task has a restart file of its own, of `mpi` and `mpi_shared_memory`
there is one; task 0 alone writes all netCDF, unless `netcdf_data_format` is 5 or 6.
"""

from __future__ import annotations

from nmlgen.models.palm.settings import Settings

_BYTES = 4  # NF90_REAL4, unless netcdf_precision says otherwise
PARALLEL = (5, 6)
_PLANES = ("_xy", "_xz", "_yz")


def restart_files(settings: Settings) -> int:
    """How many restart files are written at a time. Raises UnknownError where that is not known."""
    own, common = settings.restart_data_format_output, settings.restart_data_format
    return settings.tasks if (common if own == "undefined" else own) == "fortran_binary" else 1


def bytes_by_one_task(settings: Settings) -> int:
    """How many bytes of volumes task 0 writes by itself for a time of output; 0 where all tasks write. Raises
    UnknownError where that is not known."""
    if settings.netcdf_data_format in PARALLEL:
        return 0
    names = [name.removesuffix("_av") for name in settings.until("data_output", "")]
    volumes = sum(1 for name in names if not name.endswith(_PLANES))
    levels = settings.nz + 2 if settings.nz_do3d < 0 else settings.nz_do3d + 1
    return int(volumes * (settings.nx + 1) * (settings.ny + 1) * min(levels, settings.nz + 2) * _BYTES)
