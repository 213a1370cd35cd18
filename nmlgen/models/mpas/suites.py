"""The suites of physics of MPAS."""

from __future__ import annotations

SUITES = {
    "mesoscale_reference": {
        "config_microp_scheme": "mp_wsm6",
        "config_convection_scheme": "cu_ntiedtke",
        "config_pbl_scheme": "bl_ysu",
        "config_gwdo_scheme": "bl_ysu_gwdo",
        "config_radt_lw_scheme": "rrtmg_lw",
        "config_radt_sw_scheme": "rrtmg_sw",
        "config_radt_cld_scheme": "cld_fraction",
        "config_sfclayer_scheme": "sf_monin_obukhov_rev",
        "config_lsm_scheme": "sf_noah",
    },
    "convection_permitting": {
        "config_microp_scheme": "mp_thompson",
        "config_convection_scheme": "cu_grell_freitas",
        "config_pbl_scheme": "bl_mynn",
        "config_gwdo_scheme": "bl_ysu_gwdo",
        "config_radt_lw_scheme": "rrtmg_lw",
        "config_radt_sw_scheme": "rrtmg_sw",
        "config_radt_cld_scheme": "cld_fraction",
        "config_sfclayer_scheme": "sf_mynn",
        "config_lsm_scheme": "sf_noah",
    },
    "none": {},
}
"""What stands for `suite` (`mpas_atmphys_control.F`, `physics_namelist_check`)."""
