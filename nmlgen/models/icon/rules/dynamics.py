"""The dynamics of the atmosphere: time scheme, vertical coordinate, damping, and test cases."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.findings import Finding, Severity, did_you_mean
from nmlgen.models.icon.heights import half_levels
from nmlgen.rules.rule import ComponentRule

_TRACER_ONLY = 1
_HYBRID, _SLEVE = 1, 2
_POLYNOMIAL = 3
_CLASSIC = 1
_DEEP_TEST = "dcmip_bw_11"
_DEEP_FORCINGS = (0, 2, 3)
_THINNEST = 0.01
"""Metres: below it ICON takes its layers from another formula than itype_laydistr (`mo_init_vgrid.f90:149`)."""

_TEST_CASES = frozenset(
    (
        *("2D_BUBBLE", "3D_BUBBLE", "APE_aes", "APE_nh", "APE_nwp", "APEc_nh", "CBL", "CBL_flxconst", "DF1"),
        *("DF2", "DF3", "DF4", "GATE", "HS_jw", "HS_nh", "PA", "RCE", "RCEMIP_analytical", "RCE_Tconst"),
        *("RCE_Tprescr", "RCE_glb", "RICO", "TPEc", "TPEo", "aes_bubble", "aes_bubble_land", "atm_at_rest"),
        *("bb13", "bell", "dcmip_bw_11", "dcmip_gw_31", "dcmip_gw_32", "dcmip_pa_12", "dcmip_rest_200"),
        *("dcmip_tc_52", "g_lim_area", "gauss3D", "jabw", "jabw_m", "jabw_s", "mrw2_nh", "mrw_nh"),
        *("mwbr_const", "schaer", "straka93", "wk82", "zero"),
    )
)
"""nh_testcase_nml: nh_test_name as init_nh_testtopo takes it (`mo_nh_testcases.f90:138-490`)."""

_FORMER_TEST_CASES = frozenset({"dcmip_tc_51"})
"""Names that releases before 2024.10 take, too."""


def _test_name(component: Component) -> str:
    return str(component["nh_testcase_nml", "nh_test_name"].value).rstrip()


def _has_table(component: Component) -> bool:
    """Whether the heights of the levels come from a file."""
    return bool(str(component["grid_nml", "vct_filename"].value).strip())


class TracerOnlyWithoutTransport(ComponentRule):
    """The time scheme for transport alone needs transport.

    ## What it does
    Finds `itime_scheme` 1 (tracer only) without `ltransport`.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "nonhydrostatic_nml:itime_scheme set to 1(TRACER_ONLY), but ltransport to .FALSE."
    (`mo_nml_crosscheck.f90:590`).

    ## Example
    ```yaml bad
    namelists: {nonhydrostatic_nml: {itime_scheme: 1}}
    #                                              ^
    ```
    ```yaml good
    namelists: {nonhydrostatic_nml: {itime_scheme: 4}}
    ```

    ## References
    ICON namelist overview, nonhydrostatic_nml and run_nml.
    """

    code = "DYN001"
    name = "tracer-only-without-transport"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        scheme = component["nonhydrostatic_nml", "itime_scheme"]
        if scheme.value == _TRACER_ONLY and component["run_nml", "ltransport"].value is False:
            yield self.finding(
                scheme,
                "itime_scheme 1 computes the transport of tracers alone, and ltransport is false",
                "expected: ltransport true, or another itime_scheme; 4 is the default",
            )


class HybridWithoutLevels(ComponentRule):
    """The hybrid coordinate needs somebody to say where its levels lie.

    ## What it does
    Finds `ivctype` 1 with none of `layer_thickness`, `itype_laydistr` 3 and `vct_filename`.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "ivctype=1 requires layer_thickness>0 or itype_laydistr=3 or vct_filename/=''"
    (`mo_nml_crosscheck.f90:210-214`).

    ## Example
    ```yaml bad
    namelists: {nonhydrostatic_nml: {ivctype: 1}}
    #                                         ^
    ```
    ```yaml good
    namelists: {nonhydrostatic_nml: {ivctype: 1}, nh_testcase_nml: {layer_thickness: 500.0}}
    ```

    ## References
    ICON namelist overview, nonhydrostatic_nml, nh_testcase_nml, sleve_nml and grid_nml.
    """

    code = "DYN002"
    name = "hybrid-without-levels"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        coordinate = component["nonhydrostatic_nml", "ivctype"]
        if coordinate.value != _HYBRID or _has_table(component):
            return
        if component["sleve_nml", "itype_laydistr"].value == _POLYNOMIAL:
            return
        thickness = component["nh_testcase_nml", "layer_thickness"]
        if thickness.value < 0:
            yield self.finding(
                coordinate,
                "ivctype 1 (hybrid coordinate), and nothing says where the levels lie",
                "expected: nh_testcase_nml: layer_thickness above 0, sleve_nml: itype_laydistr 3, or "
                "grid_nml: vct_filename",
            )


class UnknownVerticalCoordinate(ComponentRule):
    """ICON knows two vertical coordinates, and their layers by three formulas.

    ## What it does
    Finds an `ivctype` other than 1 and 2, and, for the coordinate 2 without a table of levels, an `itype_laydistr`
    other than 1, 2 and 3.

    ## Why it matters
    ICON aborts when it sets up the vertical grid.

    ## Evidence
    ICON 2024.10: "illegal number of flat vertical levels" and "value for itype_laydistr is unknown"
    (`mo_init_vgrid.f90:149-186`, `:312-334`; read, not tried).

    ## Example
    ```yaml bad
    namelists: {nonhydrostatic_nml: {ivctype: 3}}
    #                                         ^
    ```
    ```yaml bad
    namelists: {sleve_nml: {itype_laydistr: 4}}
    #                                       ^
    ```
    ```yaml good
    namelists: {nonhydrostatic_nml: {ivctype: 2}, sleve_nml: {itype_laydistr: 1}}
    ```

    ## References
    ICON namelist overview, nonhydrostatic_nml and sleve_nml.
    """

    code = "DYN003"
    name = "unknown-vertical-coordinate"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        coordinate = component["nonhydrostatic_nml", "ivctype"]
        if coordinate.value not in (_HYBRID, _SLEVE):
            yield self.finding(
                coordinate, f"ivctype is {coordinate.value}", "expected: 1 (hybrid coordinate) or 2 (SLEVE)"
            )
        layers = component["sleve_nml", "itype_laydistr"]
        if coordinate.value != _SLEVE or layers.value in (1, 2, 3) or _has_table(component):
            return
        if component["sleve_nml", "min_lay_thckn"].value > _THINNEST:
            yield self.finding(layers, f"itype_laydistr is {layers.value}", "expected: 1, 2 or 3")


class NoTerrainFollowingLevel(ComponentRule):
    """Somewhere above the ground the levels become flat, so that height is above zero.

    ## What it does
    Works out the heights of the levels of the SLEVE coordinate: finds settings of `sleve_nml` of which none comes out
    below `flat_height`, such as a `flat_height` of zero or less, or of which nothing comes out at all, such as a
    `stretch_fac` below zero. Levels from a table, or of limited thickness, are not worked out.

    ## Why it matters
    ICON aborts when it sets up the vertical grid: it looks for the first level below that height.

    ## Evidence
    ICON 2024.10 rejected `stretch_fac` -1: "illegal number of flat vertical levels" (`mo_init_vgrid.f90:320-334`).

    ## Example
    ```yaml bad
    namelists: {sleve_nml: {flat_height: 0.0}}
    #                                    ^
    ```
    ```yaml good
    namelists: {sleve_nml: {flat_height: 16000.0}}
    ```

    ## References
    ICON namelist overview, sleve_nml.
    """

    code = "DYN004"
    name = "no-terrain-following-level"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component["nonhydrostatic_nml", "ivctype"].value != _SLEVE or _has_table(component):
            return
        height, heights = component["sleve_nml", "flat_height"], half_levels(component)
        if any(level < height.value for level in heights):
            return
        if not any(isnan(level) for level in heights):
            yield self.finding(
                height,
                f"flat_height is {height.value}: no level lies below",
                "expected: a height in metres; 16000 is the default",
            )
            return
        makers = [component["sleve_nml", name] for name in _MAKERS]
        maker = next((maker for maker in makers if maker.is_written), None)
        if maker is not None:
            yield self.finding(
                maker,
                "of these settings come no heights of levels: ICON computes NaN",
                f"they are {', '.join(f'{name} {maker.value}' for name, maker in zip(_MAKERS, makers, strict=True))}",
                "expected: each above zero, min_lay_thckn below top_height",
            )


_MAKERS = ("stretch_fac", "min_lay_thckn", "top_height")


class UnknownTestCase(ComponentRule):
    """Only test cases that ICON knows can be run, and upper and lower case matter.

    ## What it does
    Finds an `nh_test_name` that ICON does not know, where `ltestcase` is true; the single column model takes none.

    ## Why it matters
    ICON aborts when it sets up the topography. Without `ltestcase` the name is not looked at.

    ## Evidence
    ICON 2024.10 rejects "bogus" and an empty name: "wrong input for nh_test_name" (`mo_nh_testcases.f90:138-492`,
    `mo_atmo_model.f90:599`).

    ## Example
    ```yaml bad
    namelists: {nh_testcase_nml: {nh_test_name: JABW}}
    #                                           ^
    ```
    ```yaml good
    namelists: {nh_testcase_nml: {nh_test_name: jabw}}
    ```

    ## References
    ICON namelist overview, nh_testcase_nml and run_nml.
    """

    code = "DYN005"
    name = "unknown-test-case"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["nh_testcase_nml", "nh_test_name"]
        if not setting.is_written or component["grid_nml", "l_scm_mode"].value is not False:
            return
        name = _test_name(component)
        former = _FORMER_TEST_CASES if component.registry.release < "2024.10" else frozenset()
        if component["run_nml", "ltestcase"].value is True and name not in _TEST_CASES | former:
            yield self.finding(
                setting,
                f'ICON has no test case "{name}"',
                "expected: a name such as jabw, HS_nh or APE_nwp, or ltestcase false",
                *did_you_mean(name, sorted(_TEST_CASES)),
            )


class HeightsOutOfOrder(ComponentRule):
    """Divergence damping and diffusion change with height between four heights, which must come in order.

    ## What it does
    Finds `divdamp_z2` or `hdiff_smag_z2` that is not above z and below z4, and a z3 that equals z2 or z4.

    ## Why it matters
    ICON aborts while it reads its namelists.

    ## Evidence
    ICON 2024.10: "divdamp_z2 <= divdamp_z not allowed" and its like (`mo_nonhydrostatic_nml.f90:343-354`,
    `mo_diffusion_nml.f90:204-215`; read, not tried).

    ## Example
    ```yaml bad
    namelists: {nonhydrostatic_nml: {divdamp_z: 45000.0}}
    #                                           ^
    ```
    ```yaml good
    namelists: {nonhydrostatic_nml: {divdamp_z: 45000.0, divdamp_z2: 50000.0}}
    ```

    ## References
    ICON namelist overview, nonhydrostatic_nml and diffusion_nml.
    """

    code = "DYN006"
    name = "heights-out-of-order"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for group, stem in (("nonhydrostatic_nml", "divdamp_z"), ("diffusion_nml", "hdiff_smag_z")):
            heights = {digit: component[group, f"{stem}{digit}"] for digit in ("", "2", "3", "4")}
            value = {digit: setting.value for digit, setting in heights.items()}
            faults = (
                ("2", "is not above", "", value["2"] <= value[""]),
                ("2", "is not below", "4", value["2"] >= value["4"]),
                ("3", "equals", "2", value["3"] == value["2"]),
                ("3", "equals", "4", value["3"] == value["4"]),
            )
            for digit, relation, other, is_fault in faults:
                if is_fault:
                    where = heights[digit] if heights[digit].is_written else heights[other]
                    yield self.finding(
                        where,
                        f"{stem}{digit} {value[digit]} {relation} {stem}{other} {value[other]}",
                        f"expected: {stem} below {stem}2, that below {stem}4, and {stem}3 unlike both",
                    )
                    break


class ClassicDampingOfRealCase(ComponentRule):
    """Classical Rayleigh damping needs a known state to damp towards, which only test cases have.

    ## What it does
    Finds `rayleigh_type` 1 without `ltestcase`.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "rayleigh_type = RAYLEIGH_CLASSIC not applicable to real case runs." (`mo_nml_crosscheck.f90:224`;
    read, not tried).

    ## Example
    ```yaml bad
    namelists: {run_nml: {ltestcase: false}, nonhydrostatic_nml: {rayleigh_type: 1}}
    #                                                                            ^
    ```
    ```yaml good
    namelists: {run_nml: {ltestcase: true}, nonhydrostatic_nml: {rayleigh_type: 1}}
    ```

    ## References
    ICON namelist overview, nonhydrostatic_nml and run_nml.
    """

    code = "DYN007"
    name = "classic-damping-of-real-case"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        kind = component["nonhydrostatic_nml", "rayleigh_type"]
        if kind.value == _CLASSIC and component["run_nml", "ltestcase"].value is False:
            yield self.finding(
                kind, "rayleigh_type 1 (classical) in a run that is no test case", "expected: 2, which is the default"
            )


class DeepAtmosphereCombination(ComponentRule):
    """The deep atmosphere works with some settings only.

    ## What it does
    Finds `ldeepatmo` with an `iforcing` other than 0, 2 and 3, with a test case other than dcmip_bw_11, on a torus, or
    with an `iadv_rhotheta` other than 2.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "Deep-atmosphere configuration: incompatible iforcing" and its like (`mo_nml_crosscheck.f90:272-284`;
    read, not tried).

    ## Example
    ```yaml bad
    namelists: {dynamics_nml: {ldeepatmo: true}}
    #                                     ^
    ```
    ```yaml good
    namelists: {dynamics_nml: {ldeepatmo: true}, nh_testcase_nml: {nh_test_name: dcmip_bw_11}}
    ```

    ## References
    ICON namelist overview, dynamics_nml.
    """

    code = "DYN008"
    name = "deep-atmosphere-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        deep = component["dynamics_nml", "ldeepatmo"]
        if deep.value is not True:
            return
        forcing = component["run_nml", "iforcing"].value
        scheme = component["nonhydrostatic_nml", "iadv_rhotheta"].value
        test = component["run_nml", "ltestcase"].value is True and _test_name(component) != _DEEP_TEST
        reasons = (
            (forcing not in _DEEP_FORCINGS, f"iforcing {forcing}", "iforcing 0, 2 or 3"),
            (test, f'the test case "{_test_name(component)}"', f"the test case {_DEEP_TEST}, or ltestcase false"),
            (component["grid_nml", "is_plane_torus"].value is True, "a plane torus", "is_plane_torus false"),
            (scheme != 2, f"iadv_rhotheta {scheme}", "iadv_rhotheta 2"),
        )
        for is_fault, found, expected in reasons:
            if is_fault:
                yield self.finding(deep, f"ldeepatmo with {found}", f"expected: {expected}")
                return


class HeightsOfUnsetMemory(ComponentRule):
    """The smoothed orography that `lread_smt` asks for is read by nothing.

    ## What it does
    Finds `lread_smt` true with the SLEVE coordinate (`ivctype` 2), where the heights of the levels are worked out
    (`vertical_grid_filename` empty).

    ## Why it matters
    ICON then leaves out its own smoothing of the orography, and no line of it reads another: the heights of the levels
    follow from memory that nobody has set. They are wrong, and may be others in each run; or ICON aborts.

    ## Evidence
    ICON 2024.10, 2025.04 and 2025.10, `mo_util_vgrid.f90`: `topography_smt` is allocated, and set by
    `compute_smooth_topo` only where `lread_smt` is false. Of three runs of 2024.10 with it two aborted with
    "flat_height in sleve_nml or model top is too low", one went on.

    ## Example
    ```yaml bad
    namelists: {sleve_nml: {lread_smt: true}}
    #                                  ^
    ```
    ```yaml good
    namelists: {sleve_nml: {lread_smt: false}}
    ```

    ## References
    ICON namelist overview, sleve_nml.
    """

    code = "DYN010"
    name = "heights-of-unset-memory"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        reads = component["sleve_nml", "lread_smt"]
        given = as_list(component["grid_nml", "vertical_grid_filename"].value)
        if reads.value is True and component["nonhydrostatic_nml", "ivctype"].value == _SLEVE and not any(given[:1]):
            yield self.finding(
                reads,
                "lread_smt is true, and ICON reads no smoothed orography: the heights of levels come of memory that "
                "nobody has set",
                "expected: false",
            )
