"""What ICON refuses of several settings at once. The checks themselves are data: `schemas/icon-checks.json`."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import Certainty
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.checks import Check, breaches
from nmlgen.models.icon.parts import has_part
from nmlgen.namelist.constraint import literal
from nmlgen.rules.rule import ComponentRule
from nmlgen.values import evolve


def _found(rule: ComponentRule, component: Component) -> Iterator[Finding]:
    for breach in breaches(component, rule.code):
        check = breach.check
        shown = check.name if breach.value is None else f"{check.name} {literal(breach.value)}"
        finding = rule.finding(
            breach.span, f"{shown}: {check.says}", f"expected: {check.expected}", f"ICON: {check.source}"
        )
        runtimes = component.experiment.machine.fortran
        stops = not check.fortran or (bool(runtimes) and set(runtimes) <= set(check.fortran))
        yield finding if stops else _of_other_runtime(finding, check)


def _of_other_runtime(finding: Finding, check: Check) -> Finding:
    """A finding about what programs of some Fortran runtimes stop at, where ICON may be of another: a warning."""
    note = f"programs of {' and '.join(check.fortran)} do so; what those of other compilers do is not known"
    return evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note))


class NwpPhysicsCombination(ComponentRule):
    """The parts of the NWP physics ask for one another.

    ## What it does
    Finds schemes of `nwp_phy_nml` and the groups beside it (les_nml, turbdiff_nml, twomom_mcrph_nml, sppt_nml,
    ls_forcing_nml, nwp_tuning_nml) that do not go together or do not exist: clouds without saturation adjustment, a
    surface scheme in an aquaplanet test, `inwp_turb` 3, a product of `rlam_heat` and `rat_sea` out of range.

    ## Why it matters
    ICON aborts in its cross-check, or once it has read its grid.

    ## Evidence
    ICON 2024.10 rejected the saturation adjustment switched off, a surface scheme with APE_nwp, unknown turbulence
    and radiation schemes, `mu_rain` out of range. [All checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {run_nml: {iforcing: 3, ltransport: true}, nwp_phy_nml: {inwp_satad: 0, inwp_gscp: 1, inwp_surface: 0}}
    #                                                                               ^
    ```
    ```yaml good
    namelists: {run_nml: {iforcing: 3, ltransport: true}, nwp_phy_nml: {inwp_satad: 1, inwp_gscp: 1, inwp_surface: 0}}
    ```

    ## References
    ICON namelist overview, nwp_phy_nml.
    """

    code = "PHY001"
    name = "nwp-physics-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class RadiationCombination(ComponentRule):
    """Gases, aerosol and optics go with some radiation schemes only.

    ## What it does
    Finds settings of `radiation_nml` that the chosen `inwp_radiation` does not take, or that need ART, external
    parameters or another part of the physics.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "irad_aero=6 (Tegen) requires itopo=1" and its like (`mo_nml_crosscheck.f90:341-478`). [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0}
      radiation_nml: {irad_aero: 6}
    #                            ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0}
      radiation_nml: {irad_aero: 2}
    ```

    ## References
    ICON namelist overview, radiation_nml.
    """

    code = "PHY002"
    name = "radiation-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class AesPhysicsCombination(ComponentRule):
    """The AES physics takes certain values only, and some of them only where a process is switched on.

    ## What it does
    Finds values of `aes_rad_nml`, `aes_phy_nml`, `aes_wmo_nml` and `ccycle_nml` that ICON refuses once it sets up the
    processes, or with which it crashes.

    ## Why it matters
    ICON aborts after it has read its grid.

    ## Evidence
    ICON 2024.10, `mo_aes_rad_config.f90:298-593`, `mo_aes_phy_config.f90:395-426` (read, not tried); with `zminwmo`
    500 m and layers of 300 m it crashes. [All checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {iforcing: 2, ntracer: 3, ltransport: true}
      aes_phy_nml: {"aes_phy_config(1)%dt_rad": -PT1H}
    #                                           ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 2, ntracer: 3, ltransport: true}
      aes_phy_nml: {"aes_phy_config(1)%dt_rad": PT1H}
    ```

    ## References
    ICON namelist overview, aes_phy_nml and aes_rad_nml.
    """

    code = "PHY003"
    name = "aes-physics-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class UpperAtmosphereCombination(ComponentRule):
    """The upper atmosphere takes certain values only, and needs parts of the physics.

    ## What it does
    Finds values of `upatmo_nml` that ICON refuses, `lupatmo_phy` without turbulence or radiation, and extrapolation
    that begins below `flat_height`; times of its processes that are none, and nests that begin between two steps.

    ## Why it matters
    ICON aborts while it reads its namelists, this group in every run of the atmosphere, or sets the physics up.

    ## Evidence
    ICON 2024.10, `mo_upatmo_nml.f90:457-854`, `mo_upatmo_config.f90:766-827`, `mo_upatmo_phy_config.f90:866-1739`
    (read, not tried). [All checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {upatmo_nml: {orbit_type: 3}}
    #                                    ^
    ```
    ```yaml good
    namelists: {upatmo_nml: {orbit_type: 2}}
    ```

    ## References
    ICON namelist overview, upatmo_nml.
    """

    code = "PHY004"
    name = "upper-atmosphere-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class ArtCombination(ComponentRule):
    """Parts of ART need one another.

    ## What it does
    Finds ice nuclei of dust without dust, dusty cirrus without dust, and FPLUME without its input file.

    ## Why it matters
    ICON aborts while it reads its namelists.

    ## Evidence
    ICON 2024.10, `mo_art_nml.f90:325-364` (read, not tried). [All checks](../reference/icon-checks.md).

    ## Example
    ```yaml bad
    namelists:
      run_nml: {lart: true, iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0}
      art_nml: {lart_dusty_cirrus: true}
    #                              ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0}
      art_nml: {lart_dusty_cirrus: true, iart_dust: 1}
    ```

    ## References
    ICON namelist overview, art_nml.
    """

    code = "PHY005"
    name = "art-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class TransportCombination(ComponentRule):
    """The transport of tracers takes certain schemes and limiters only.

    ## What it does
    Finds schemes and limiters in `transport_nml` that do not exist, more names than tracers, and turbulent energy that
    is transported without a scheme that computes it.

    ## Why it matters
    ICON aborts: it reads this group in every run, with transport or without.

    ## Evidence
    ICON 2024.10, `mo_advection_nml.f90:270-345`, `mo_advection_config.f90:329`. [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {transport_nml: {itype_hlimit: 1}}
    #                                         ^
    ```
    ```yaml good
    namelists: {transport_nml: {itype_hlimit: [3, 4]}}
    ```

    ## References
    ICON namelist overview, transport_nml.
    """

    code = "TRP001"
    name = "transport-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class InitialStateCombination(ComponentRule):
    """How a run begins must fit its physics, and the couplings of the analysis one another.

    ## What it does
    Finds an `init_mode` that does not exist or needs NWP physics, and couplings of the data assimilation in
    `initicon_nml` without those that they build on.

    ## Why it matters
    ICON aborts while it reads its namelists, in test cases too.

    ## Evidence
    ICON 2024.10, `mo_initicon_nml.f90:381-457`, `mo_nml_crosscheck.f90:712-777`. [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {initicon_nml: {init_mode: 5}}
    #                                     ^
    ```
    ```yaml good
    namelists: {initicon_nml: {init_mode: 2}}
    ```

    ## References
    ICON namelist overview, initicon_nml.
    """

    code = "INI001"
    name = "initial-state-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class BoundaryCombination(ComponentRule):
    """Lateral boundaries and nudging need NWP physics, data that change, and somebody who reads them.

    ## What it does
    Finds nudging of a kind that does not exist, without NWP physics, on a torus or without the prefetch rank, and
    boundary data without an interval.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "Nudging requires: iforcing = 3" and its like (`mo_nudging_nml.f90:228-640`). [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {nudging_nml: {nudge_type: 2}}
    #                                     ^
    ```
    ```yaml good
    namelists: {nudging_nml: {nudge_type: 0}}
    ```

    ## References
    ICON namelist overview, nudging_nml and limarea_nml.
    """

    code = "LBC001"
    name = "boundary-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class LandCombination(ComponentRule):
    """The land of NWP physics, and what it is coupled with.

    ## What it does
    Finds snow in layers without layers, depths of the soil that do not increase, and runs coupled with an ocean, rivers
    or waves without the tiles that this needs.

    ## Why it matters
    ICON aborts while it reads its namelists, or in its cross-check.

    ## Evidence
    ICON 2024.10, `mo_lnd_nwp_nml.f90:333-396`, `mo_nml_crosscheck.f90:853-873` (read, not tried). [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0}
      lnd_nml: {lmulti_snow: true, nlev_snow: 1}
    #                                         ^
    ```
    ```yaml good
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0}
      lnd_nml: {lmulti_snow: true, nlev_snow: 3}
    ```

    ## References
    ICON namelist overview, lnd_nml.
    """

    code = "LND001"
    name = "land-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class TestCaseCombination(ComponentRule):
    """Test cases, single columns and the grid they need.

    ## What it does
    Finds test cases on a grid or with a rotation that they do not take, a single column without the format of its
    input, and a few values of the grid and of the interpolation that ICON refuses.

    ## Why it matters
    ICON aborts in its cross-check, or when the test case is set up.

    ## Evidence
    ICON 2024.10, `mo_nh_testcases.f90:440-1379`, `mo_nml_crosscheck.f90:249`. [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {nh_testcase_nml: {nh_test_name: CBL}}
    #                                           ^
    ```
    ```yaml good
    namelists: {nh_testcase_nml: {nh_test_name: jabw}}
    ```

    ## References
    ICON namelist overview, nh_testcase_nml, scm_nml.
    """

    code = "DYN009"
    name = "test-case-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class RunCombination(ComponentRule):
    """Settings of the ranks, of blocks and of diagnostics that exclude each other.

    ## What it does
    Finds `nproma_sub` beside `nblocks_sub`, a `proc0_shift` that leaves one rank for the grid, an `iorder_sendrecv`
    that exchanges nothing, and diagnostics in a varlist whose heights are missing.

    ## Why it matters
    ICON aborts or crashes before its first step.

    ## Evidence
    ICON 2024.10: "Cannot specify both nproma_sub and nblocks_sub in the namelist" (`mo_parallel_config.f90:353`). [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists: {parallel_nml: {nproma_sub: 16, nblocks_sub: 2}}
    #                                      ^
    ```
    ```yaml good
    namelists: {parallel_nml: {nproma_sub: 16}}
    ```

    ## References
    ICON namelist overview, parallel_nml and io_nml.
    """

    code = "RUN007"
    name = "run-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class PartNotBuilt(ComponentRule):
    """What the experiment asks for must be built into its executable.

    ## What it does
    Finds settings that ask for a part of ICON which the executable lacks: ART, ecRad, YAXT, CDI-PIO, the radar
    operator, RTTOV, NWP or AES physics, JSBACH, a component. What an executable has is read from the `config.log` that
    ICON's configure left where it was built, if `model.directory` and `model.executable` name it on this machine; else
    `model.parts` of the spec says it, or `machine.parts` of the site. Of what nobody says the rule is silent, and
    RUN005, MST003 and PAR013 warn of what few builds have.

    ## Why it matters
    ICON aborts, some parts only once it has read its grid.

    ## Evidence
    ICON 2024.10, a build without them: "compiled with --disable-art", "inwp_radiation = 4 needs -D__ECRAD", "ICON was
    built without YAXT", "ICON was compiled without CDI-PIO", "my_process_component is unknown". [All
    checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    model: {parts: {art: false}}
    namelists: {run_nml: {lart: true}}
    #                           ^
    ```
    ```yaml good
    model: {parts: {art: true}}
    namelists: {run_nml: {lart: true}}
    ```

    ## References
    ICON's `configure --help`.
    """

    code = "RUN008"
    name = "part-not-built"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if has_part(component, "coupling") is False and component.registry.release < _WITHOUT_FILES_SINCE:
            for stream in component.streams:
                kind = component.stream_setting(stream, "filetype")
                if kind.certainty is not Certainty.UNKNOWN and kind.value == _TO_THE_COUPLER:
                    message = f"filetype {_TO_THE_COUPLER}: the executable was built without the coupler"
                    expected = "expected: an executable configured with --enable-coupling, or another filetype"
                    yield self.finding(kind, message, expected, "ICON: mo_io_util.f90:97")
        yield from _found(self, component)


_TO_THE_COUPLER = 999
_WITHOUT_FILES_SINCE = "2025.04"
"""From here on 999 means no file, whatever the executable has (`mo_name_list_output_types.f90:101`)."""


class OceanCombination(ComponentRule):
    """The ocean needs levels, thicknesses and a forcing, and takes certain combinations only.

    ## What it does
    Finds an ocean without `n_zlev`, without a thickness in `dzlev_m` for each level or without `iforc_oce`, one with
    more than one grid, one that writes checkpoints and whose `num_prefetch_proc` is 1, the default, on two ranks or
    more, and combinations of diffusion, solver and tracers that ICON refuses.

    ## Why it matters
    ICON aborts in its cross-check or in the first step.

    ## Evidence
    ICON 2024.10: "n_zlev < 1", "Found zero or negative thicknesses", "Could not determine parent grid ID for grid 2",
    "restartDescriptor_updatePatch: assertion failed". [All checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    models: {oce: {parallel: {num_prefetch_proc: 1}}}
    #                                            ^
    ```
    ```yaml good
    models: {oce: {parallel: {num_prefetch_proc: 0}}}
    ```

    ## References
    ICON 2024.10, `mo_ocean_nml.f90`, `mo_ocean_nml_crosscheck.f90`.
    """

    code = "OCE001"
    name = "ocean-combination"
    severity = Severity.ERROR
    kinds = ("ocean",)

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class OceanComputedTwice(ComponentRule):
    """An ocean has no rank that reads boundary data ahead.

    ## What it does
    Finds an ocean that writes no checkpoint, or is a test (`test_mode`), and whose `num_prefetch_proc` is 1, the
    default, on two ranks or more; one that writes them aborts (OCE001).

    ## Why it matters
    The rank computes the whole ocean by itself, and writes the same files as the others: the job takes as long as it
    would on one rank.

    ## Evidence
    ICON 2024.10, three ranks: two opened and wrote each file, and the run ended well; what stood in the files was that
    of a run without.

    ## Example
    ```yaml bad
    restart: {checkpointTimeIntval: null, restartTimeIntval: null}
    models: {oce: {parallel: {num_prefetch_proc: 1}}}
    #                                            ^
    ```
    ```yaml good
    restart: {checkpointTimeIntval: null, restartTimeIntval: null}
    models: {oce: {parallel: {num_prefetch_proc: 0}}}
    ```

    ## References
    ICON namelist overview, parallel_nml.
    """

    code = "OCE002"
    name = "ocean-computed-twice"
    severity = Severity.WARNING
    kinds = ("ocean",)

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class WavesCombination(ComponentRule):
    """Waves have one level, a tracer for each frequency and direction, and winds.

    ## What it does
    Finds waves with other than one level or without dynamics, an `ntracer` that is not `nfreqs` times `ndirs`, a
    `jtot_tauhf` that is even, waves without winds, and a `num_prefetch_proc` of 1, the default, on two ranks or more.

    ## Why it matters
    ICON aborts in its cross-check, or once it has read its grid.

    ## Evidence
    ICON 2024.10: "num_lev must be 1", "ntracer must be equal to nfreqs*ndirs", "jtot_tauhf must be odd", "wrong value
    of rbf_vec_scale_c". [All checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    grid: {num_lev: 2}
    #               ^
    parallel: {num_prefetch_proc: 0, num_io_procs: 0}
    output: null
    namelists:
      nonhydrostatic_nml: null
      nh_testcase_nml: null
      sleve_nml: null
      master_model_nml: {model_type: 98}
      run_nml: {ntracer: 24}
      wave_nml: {nfreqs: 4, ndirs: 6}
    ```
    ```yaml good
    grid: {num_lev: 1}
    parallel: {num_prefetch_proc: 0, num_io_procs: 0}
    output: null
    namelists:
      nonhydrostatic_nml: null
      nh_testcase_nml: null
      sleve_nml: null
      master_model_nml: {model_type: 98}
      run_nml: {ntracer: 24}
      wave_nml: {nfreqs: 4, ndirs: 6}
    ```

    ## References
    ICON 2024.10, `mo_wave_nml_crosscheck.f90`, `mo_wave_nml.f90`.
    """

    code = "WAV001"
    name = "waves-combination"
    severity = Severity.ERROR
    kinds = ("waves",)

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class NestCombination(ComponentRule):
    """A nest stands behind its parent, and only nests of the first domain are computed by ranks of their own.

    ## What it does
    Finds a `dynamics_parent_grid_id` that is no domain before its own, and `patch_weight` where ICON does not split
    the ranks: for nests of nests, and with a single work rank.

    ## Why it matters
    ICON aborts when it has read the grids.

    ## Evidence
    ICON 2024.10: "Parent grid ID for grid 2 namelist mismatch?", "Weight for higher level patch must be 0", "Processor
    splitting requires at least 2 PEs per patch". [All checks](../reference/icon-checks.md), each with its line.

    ## Example
    ```yaml bad
    namelists:
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc], dynamics_parent_grid_id: [0, 2]}
    #                                                                                                ^
    ```
    ```yaml good
    namelists:
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc], dynamics_parent_grid_id: [0, 1]}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD006"
    name = "nest-combination"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)


class RefusedOnGpus(ComponentRule):
    """What a build of ICON for GPUs refuses, and one for processors takes.

    ## What it does
    Finds schemes that an executable with OpenACC does not have: of clouds, orography, microphysics, snow, aerosol,
    ozone, albedo, ART, radiation, zenith angle, transport, large eddies, nudging, assimilation and the deep atmosphere;
    of the ocean, its solver, mixing, density, Coriolis term and tides; diagnostics that a stream asks for; and NWP
    physics that is coupled. It looks where the
    program is placed on GPUs (`device: gpu`), or where `model.parts`, the site or a `config.log` says that the
    executable is one for GPUs.

    ## Why it matters
    ICON aborts: while it reads its namelists, when it sets up the radiation, or in its first steps.

    ## Evidence
    ICON 2024.10, the lines beside each check (read, not tried: `mo_nml_crosscheck.f90:390-963`,
    `mo_nwp_ecrad_init.f90:427-566` and others). [All checks](../reference/icon-checks.md).

    ## Example
    ```yaml bad
    model: {parts: {gpu: true}}
    parallel: {nproma: 0, nblocks_c: 1}
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0, inwp_cldcover: 3}
    #                                               ^
    ```
    ```yaml good
    model: {parts: {gpu: true}}
    parallel: {nproma: 0, nblocks_c: 1}
    namelists:
      run_nml: {iforcing: 3, ltransport: true}
      nwp_phy_nml: {inwp_surface: 0, inwp_cldcover: 1}
    ```

    ## References
    ICON namelist overview, nwp_phy_nml and radiation_nml.
    """

    code = "GPU001"
    name = "refused-on-gpus"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        yield from _found(self, component)
