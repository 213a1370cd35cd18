"""The quantities that PALM can write, and what they need (`check_parameters.f90`, `*_check_data_output` of modules).

Modules whose quantities depend on their mechanism or on user code are named in `OPEN`: with one of them any may do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from nmlgen.models.palm.settings import Settings
from nmlgen.values import frozen

OPEN = (
    "user_parameters",
    "chemistry_parameters",
    "salsa_parameters",
    "det_parameters",
    "dcep_parameters",
    "slurb_parameters",
    "urban_surface_parameters",
    "radiation_parameters",
)


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


_ALWAYS = _names(
    "diss div_new div_old kh km p rh ta theta ti u uu_product uv_product uw_product v vu_product vv_product "
    "vw_product w wdir wq_product wspeed wtheta_product wu_product wv_product ww_product"
)
_OF_FLOW = _names("e hr pc pr q ql ql_c ql_v ql_vp qv s thetal thetav ws_product")
_ON_LEVELS = ("bulk_cloud_parameters", "ocean_parameters")
_FLAT = _names(
    "ghf* kfd* lwp* ol* pres_drag_x* pres_drag_y* qsurf* qsws* qv_2m* r_a* shf* ssurf* ssws* t* ta_2m* theta_2m* "
    "tsurf* us* vf100m* vf25m* vf50m* vf75m* vfd100m* vfd25m* vfd50m* vfd75m* vfdxxm* vfxxm* wdir_10m* "
    "wspeed_10m* z0* z0h* z0q*"
)
_FLAT_OF_LAND = _names("c_liq* c_soil* c_veg* lai* m_liq* qsws_liq* qsws_soil* qsws_veg* r_s*")
_OF_MODULE = {
    "biometeorology_parameters": "bio_mrt bio_mrt* bio_perct* bio_pet* bio_utci*",
    "bulk_cloud_parameters": "nc ng ni nr ns pra* prr prr_cloud prr_graupel prr_ice prr_rain prr_snow qc qg qi qr qs",
    "fastv8_coupler_parameters": "thrx tory torz",
    "indoor_parameters": "im_hf_roof im_hf_roof_waste im_hf_wall_win im_hf_wall_win_waste im_t_indoor_mean "
    "im_t_indoor_roof im_t_indoor_wall im_t_indoor_wall_win im_theta_10cm_roof im_theta_10cm_wall",
    "ocean_parameters": "rho_sea_water sa",
    "plant_canopy_parameters": "pcm_bad pcm_heatflux pcm_heatrate pcm_lad pcm_latentflux pcm_latentrate "
    "pcm_transpirationrate pcm_transpirationvolume pcm_transpirationvolume_pot",
    "traffic_parameters": "trm_tend_theta trm_tend_wind_front trm_tend_wind_side trm_tend_wind_top",
    "uv_radiation_parameters": "uv_ewir1* uv_ewir2* uv_ir1* uv_ir2*",
}
_PROFILES = _names(
    'Sw e e* eta hyp kh km l p qv rh rho rho_zw theta theta*2 thetav u u"theta" u*2 u*theta* ug utheta_t v '
    'v"theta" v*2 v*theta* vg vtheta_t w w"e w"eddz w"theta" w"thetav" w"u" w"v" w*2 w*2theta* w*3 w*e* w*p* '
    "w*p*ddz w*theta* w*theta*2 w*theta*BC w*thetav* w*u* w*u*u*ddz w*v* wtheta wthetaBC wthetav wu wv"
)
_PROFILES_OF_MODULE = {
    "bulk_cloud_parameters": "nc ng ni nr ns prr prr_cloud prr_graupel prr_ice prr_rain prr_snow qc qg qi qr qs",
    "ocean_parameters": 'prho rho_sea_water sa w"sa" w*sa* wsa',
}
_WITH_INITIAL = _names("e kh km l m_soil q qv s sa t_soil theta thetal thetav u v")

_TEMPERATURES = {"pt": "theta", "vpt": "thetav", "lpt": "thetal"}
_TEMPERATURE = re.compile(r"[vl]?pt(?![a-z])")


@frozen
class _Need:
    """What quantities need: PALM's code where it is missing, whether it is there, and its name."""

    code: str
    is_met: Callable[[Settings], bool]
    expected: str


def _needs(table: dict[str, _Need]) -> dict[str, _Need]:
    return {name: need for names, need in table.items() for name in names.split()}


def _has_clouds(settings: Settings) -> bool:
    return settings.has("bulk_cloud_parameters")


def _has_land(settings: Settings) -> bool:
    return settings.has("land_surface_parameters")


def _has_droplets(settings: Settings) -> bool:
    return _has_clouds(settings) or bool(settings.cloud_droplets)


_CLOUDS, _HUMIDITY, _SCALAR = "&bulk_cloud_parameters", "humidity = .true.", "passive_scalar = .true."
_LAND, _DROPLETS = "&land_surface_parameters", "&bulk_cloud_parameters or cloud_droplets = .true."

_OF_QUANTITY = _needs(
    {
        "e": _Need("PAC0120", lambda s: bool(s.km_constant == -1.0), "no km_constant"),
        "thetal qv lwp*": _Need("PAC0121", _has_clouds, _CLOUDS),
        "pc pr": _Need("PAC0122", lambda s: s.has("particle_parameters"), "&particle_parameters"),
        "q thetav": _Need("PAC0123", lambda s: bool(s.humidity), _HUMIDITY),
        "ql": _Need("PAC0124", _has_droplets, _DROPLETS),
        "ql_c ql_v ql_vp": _Need("PAC0125", lambda s: bool(s.cloud_droplets), "cloud_droplets = .true."),
        "s": _Need("PAC0126", lambda s: bool(s.passive_scalar), _SCALAR),
        "qsws*": _Need("PAC0128", lambda s: bool(s.humidity), _HUMIDITY),
        "ghf*": _Need("PAC0129", _has_land, _LAND),
        "r_a*": _Need(
            "PAC0130",
            lambda s: _has_land(s) or s.has("urban_surface_parameters"),
            "&land_surface_parameters or &urban_surface_parameters",
        ),
        "ssws* ssurf*": _Need("PAC0131", lambda s: bool(s.passive_scalar), _SCALAR),
        "hr": _Need("PAC0194", lambda s: not s.neutral, "neutral = .false."),
        "ws_product": _Need("PAC0195", lambda s: bool(s.passive_scalar), _SCALAR),
        "m_soil t_soil": _Need("LSM0001", _has_land, _LAND),
        " ".join(sorted(_FLAT_OF_LAND)): _Need("LSM0003", _has_land, _LAND),
    }
)
_OF_PROFILE = _needs(
    {
        'q w"q" w*q* wq q*2': _Need("PAC0110", lambda s: bool(s.humidity), _HUMIDITY),
        's w"s" w*s* ws': _Need("PAC0111", lambda s: bool(s.passive_scalar), _SCALAR),
        "thetal": _Need("PAC0112", _has_clouds, _CLOUDS),
        'w"qv" w*qv* wqv': _Need("PAC0113", lambda s: bool(s.humidity), _HUMIDITY),
        "ql": _Need("PAC0114", _has_droplets, _DROPLETS),
        "w_subs": _Need("PAC0115", lambda s: bool(s.large_scale_subsidence), "large_scale_subsidence = .true."),
        "s*2": _Need("PAC0116", lambda s: bool(s.passive_scalar), _SCALAR),
        "m_soil t_soil": _Need("LSM0004", _has_land, _LAND),
        "td_lsa_q td_lsa_thetal td_sub_q td_sub_thetal": _Need(
            "LSF0007", lambda s: bool(s.large_scale_forcing), "large_scale_forcing = .true."
        ),
        "td_nud_q td_nud_thetal td_nud_u td_nud_v": _Need("LSF0008", lambda s: bool(s.nudging), "nudging = .true."),
    }
)


def refused_quantities(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """The quantities of data_output at which PALM stops: each with PALM's code, and what it needs."""
    for written in dict.fromkeys(settings.until("data_output", "")):
        plain = written.removesuffix("_av") if len(written) > 3 else written
        is_plane = len(plain) > 3 and plain[-3:] in ("_xy", "_xz", "_yz")
        name = plain[:-3] if is_plane else plain
        if name in _FLAT | _FLAT_OF_LAND and not plain.endswith("_xy"):
            code = "PAC0127" if name in _FLAT else "LSM0002"
            yield written, code, f"{name}_xy, as it is known at the surface only"
            continue
        is_known = name in _ALWAYS | _FLAT or _is_of_module(settings, name, _OF_MODULE)
        yield from _missing(settings, written, _OF_QUANTITY.get(name), "PAC0133", is_known=is_known)


def refused_profiles(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """The profiles of data_output_pr at which PALM stops, in the same form."""
    for written in dict.fromkeys(settings.until("data_output_pr", "")):
        name = written.removeprefix("#") if written[1:] in _WITH_INITIAL else written
        is_known = name in _PROFILES or _is_of_module(settings, name, _PROFILES_OF_MODULE)
        yield from _missing(settings, written, _OF_PROFILE.get(name), "PAC0118", is_known=is_known)


def is_at_surface(name: str) -> bool:
    """Whether a quantity, without its plane, has one level."""
    return "*" in name


def is_on_levels(settings: Settings, name: str) -> bool:
    """Whether a quantity that has no level of its own module's has those of the flow."""
    if name in _ALWAYS | _OF_FLOW and name not in ("m_soil", "t_soil"):
        return True
    return any(name in _OF_MODULE[group].split() and settings.has(group) for group in _ON_LEVELS)


def as_named_today(name: str) -> str:
    """A quantity as PALM calls it since the potential temperature is no longer "pt" to it."""
    today = _TEMPERATURE.sub(lambda found: _TEMPERATURES[found[0]], name)
    known = today.removeprefix("#").removesuffix("_av")
    plain = known[:-3] if known[-3:] in ("_xy", "_xz", "_yz") else known
    return today if plain in _ALWAYS | _PROFILES | _OF_QUANTITY.keys() | _OF_PROFILE.keys() else name


def has_plane(settings: Settings, plane: str) -> bool:
    """Whether anything of data_output is written in a plane, "xy", "xz" or "yz"."""
    return any(name.removesuffix("_av").endswith(f"_{plane}") for name in settings.until("data_output", ""))


def has_average(settings: Settings) -> bool:
    """Whether anything of data_output is averaged over time."""
    return any(len(name) > 3 and name.endswith("_av") for name in settings.until("data_output", ""))


def _missing(
    settings: Settings, written: str, need: _Need | None, code: str, *, is_known: bool
) -> Iterator[tuple[str, str, str]]:
    if need is not None and not need.is_met(settings):
        yield written, need.code, need.expected
    elif need is None and not is_known and not any(settings.has(group) for group in OPEN):
        yield written, code, "a quantity that PALM, or a module that runs, can write"


def _is_of_module(settings: Settings, name: str, names: dict[str, str]) -> bool:
    return any(name in known.split() and settings.has(group) for group, known in names.items())
