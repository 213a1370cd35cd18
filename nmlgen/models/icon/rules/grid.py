"""The grids of the domains: their names, and what kinds of grid exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Setting, UndecidedError
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.heights import flat_level
from nmlgen.rules.rule import ComponentRule

_MODELS_WITH_GRIDS = (1, 2, 4, 5, 98, 100)
"""master_model_nml: model_type of those that name their grids in grid_nml, all but testbed."""


def _dynamics_grids(component: Component) -> Setting:
    return component["grid_nml", "dynamics_grid_filename"]


def grid_names(component: Component) -> list[str]:
    """The dynamics grids that ICON finds: the names before the first blank one."""
    names: list[str] = []
    for name in as_list(_dynamics_grids(component).value):
        if not str(name).strip():
            break
        names.append(str(name).rstrip())
    return names


class NoDynamicsGrid(ComponentRule):
    """A model needs a grid.

    ## What it does
    Finds a model, other than a testbed, whose `dynamics_grid_filename` is not set, or whose first name is blank: names
    behind a blank one are not read.

    ## Why it matters
    ICON aborts while it reads its namelists.

    ## Evidence
    ICON 2024.10 rejects it with an empty grid_nml and without grid_nml: "no dynamics grid is defined"
    (`mo_grid_config.f90:180`).

    ## Example
    ```yaml bad
    namelists: {grid_nml: {dynamics_grid_filename: ""}}
    #                                              ^
    ```
    ```yaml good
    namelists: {grid_nml: {dynamics_grid_filename: iconR02B05-grid.nc}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD001"
    name = "no-dynamics-grid"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        if component["master_model_nml", "model_type"].value not in _MODELS_WITH_GRIDS:
            return
        if not grid_names(component):
            group = component.group("grid_nml")
            setting = _dynamics_grids(component)
            yield self.finding(
                setting if setting.is_written or group is None else group.span,
                "no dynamics grid is named",
                "expected: the grid of the first domain as the first name of grid_nml: dynamics_grid_filename",
            )


class FirstGridAgain(ComponentRule):
    """A nest needs a grid of its own, whose parent is another grid of the run.

    ## What it does
    Finds a domain whose grid is that of its parent in `dynamics_parent_grid_id`, or, where that does not name it, that
    of the first domain; and two nests with one grid.

    ## Why it matters
    ICON looks for the parent of each nest by the identifiers in the grid files, and aborts if it is none of the grids
    named. The cells of two nests may not overlap.

    ## Evidence
    ICON 2024.10: "Could not determine parent grid ID for grid 2" (`mo_model_domimp_patches.f90:258`); with the parent
    named "incorrect grid root and/or bisection level!"; with a third domain like the second "Cell in DOM 3 overlaps
    with another domain" (`mo_build_decomposition.f90`).

    ## Example
    ```yaml bad
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, iconR02B05-grid.nc]}}
    #                                              ^
    ```
    ```yaml good
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc]}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD002"
    name = "first-grid-again"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        names = grid_names(component)
        parents = as_list(component["grid_nml", "dynamics_parent_grid_id"].value)
        if str(component["grid_nml", "radiation_grid_filename"].value).strip():  # may be the parent
            return
        again = next((name for number, name in enumerate(names[1:]) if name in names[1 : number + 1]), None)
        if again is not None and component.kind in (None, "atmosphere"):
            message = f'two nests have the grid "{again}"'
            yield self.finding(_dynamics_grids(component), message, "expected: another grid for each domain")
            return
        for domain, name in enumerate(names[1:], start=2):
            (parent,) = parents[domain - 1 : domain] or (-1,)
            if 0 < parent < domain and name == names[parent - 1]:
                yield self.finding(
                    _dynamics_grids(component),
                    f'the grid of domain {domain} is that of its parent, domain {parent}, "{name}"',
                    "expected: another grid for each domain",
                )
                return
            if name == names[0] and parent == -1:
                yield self.finding(
                    _dynamics_grids(component),
                    f'the grid of domain {domain} is that of domain 1, "{name}": its parent is not among the grids',
                    "expected: another grid for each domain",
                )
                return


class RadiationGridIsDynamicsGrid(ComponentRule):
    """The grid for radiation is coarser than that of the first domain, so it is another file.

    ## What it does
    Finds a `radiation_grid_filename` that is also the name of a dynamics grid.

    ## Why it matters
    ICON aborts while it reads its namelists.

    ## Evidence
    ICON 2024.10: "radiation_grid_filename must not be equal to dynamics_grid_filename!" (`mo_grid_config.f90:173`).

    ## Example
    ```yaml bad
    namelists: {grid_nml: {radiation_grid_filename: iconR02B05-grid.nc}}
    #                                               ^
    ```
    ```yaml good
    namelists: {grid_nml: {radiation_grid_filename: iconR02B04-grid.nc}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD003"
    name = "radiation-grid-is-dynamics-grid"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["grid_nml", "radiation_grid_filename"]
        name = str(setting.value).rstrip()
        if name and name in grid_names(component):
            yield self.finding(
                setting,
                f'the radiation grid "{name}" is a dynamics grid, too',
                "expected: a coarser grid, or no radiation_grid_filename",
            )


class TorusWithBoundaries(ComponentRule):
    """A torus is periodic in both directions: it has no lateral boundaries.

    ## What it does
    Finds `is_plane_torus` together with `l_limited_area`.

    ## Why it matters
    ICON aborts in its cross-check.

    ## Evidence
    ICON 2024.10: "Plane torus grid requires l_limited_area = .FALSE.!" (`mo_nml_crosscheck.f90:183`; read, not tried).

    ## Example
    ```yaml bad
    namelists: {grid_nml: {is_plane_torus: true, l_limited_area: true}}
    #                                                            ^
    ```
    ```yaml good
    grid: {file: torus.nc, name: null}
    namelists: {grid_nml: {is_plane_torus: true, l_limited_area: false}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD004"
    name = "torus-with-boundaries"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        limited = component["grid_nml", "l_limited_area"]
        if limited.value is True and component["grid_nml", "is_plane_torus"].value is True:
            yield self.finding(
                limited, "l_limited_area is true on a plane torus", "expected: l_limited_area false with is_plane_torus"
            )


class SplittingWithoutRestartProcs(ComponentRule):
    """Ranks can be split between nests only if a rank set apart writes the checkpoints.

    ## What it does
    Finds a `patch_weight` greater than zero without restart ranks, in a job that reaches its restart interval.

    ## Why it matters
    ICON aborts in its cross-check, even with one domain.

    ## Evidence
    ICON 2024.10 rejects 0.5: "Processor splitting cannot be combined with synchronous restart!"
    (`mo_time_management.f90:739-826`).

    ## Example
    ```yaml bad
    namelists: {grid_nml: {patch_weight: [0.5]}}
    #                                    ^
    ```
    ```yaml good
    namelists: {grid_nml: {patch_weight: [0.5]}}
    restart: {restart_write_mode: dedicated procs multifile, num_restart_procs: 1}
    ```

    ## References
    ICON namelist overview, grid_nml and parallel_nml.
    """

    code = "GRD005"
    name = "splitting-without-restart-procs"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        weights = component["grid_nml", "patch_weight"]
        if not any(weight > 0 for weight in as_list(weights.value)):
            return
        if component["parallel_nml", "num_restart_procs"].value != 0:
            return
        lrestart = component["master_nml", "lrestart"]
        if lrestart.value is not False:  # the length of what is left of the experiment is not in the namelists
            raise UndecidedError(lrestart)
        time = clock(component)
        end = time.length if time.steps_of_a_leg is None else time.steps_of_a_leg * time.step
        if time.restart_ends_leg and time.restart and time.restart <= end:
            yield self.finding(
                weights,
                f"patch_weight {', '.join(map(str, as_list(weights.value)))} splits the ranks, and there is no restart "
                "rank",
                "expected: num_restart_procs 1 or more with dedicated procs multifile, or no patch_weight",
            )


class NestWithMoreLevels(ComponentRule):
    """A nest has no more levels than its parent.

    ## What it does
    Where `lvert_nest` is true, finds a nest with more levels than the first domain: what `num_lev` does not say of it
    is 31.

    ## Why it matters
    ICON aborts: the levels of a nest are the lower ones of its parent.

    ## Evidence
    ICON 2024.10 rejected `num_lev` 10, 12, and 10 alone: "flat_height in sleve_nml or model top is too low"; 10, 8 was
    accepted.

    ## Example
    ```yaml bad
    grid: {num_lev: [30, 31]}
    #               ^
    namelists:
      run_nml: {lvert_nest: true}
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}
    ```
    ```yaml good
    grid: {num_lev: [30, 25]}
    namelists:
      run_nml: {lvert_nest: true}
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "GRD007"
    name = "nest-with-more-levels"
    severity = Severity.ERROR
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        if component["run_nml", "lvert_nest"].value is not True:
            return
        setting = component["run_nml", "num_lev"]
        levels = as_list(setting.value)
        for domain in range(2, len(grid_names(component)) + 1):
            own = levels[domain - 1] if domain <= len(levels) else _DEFAULT_LEVELS
            if own > levels[0]:
                said = f"has {own} levels" if domain <= len(levels) else f"has {own} levels, as nobody says it"
                message = f"domain {domain} {said}, and domain 1 has {levels[0]}"
                yield self.finding(setting, message, "expected: no more levels than those of the parent")
                return


class NestBelowFlatLevels(ComponentRule):
    """A nest that begins below its parent's top still has levels that are flat.

    ## What it does
    Where `lvert_nest` is true, finds a nest whose top lies so far below that of the first domain that less than two of
    its levels are above `flat_height`. Levels from a table, or of limited thickness, are not worked out.

    ## Why it matters
    ICON aborts when it sets up the vertical grid.

    ## Evidence
    ICON 2024.10 with 10 levels up to 35 km: nests of 2 levels, of 8 beside 9 in a nest of a nest, and with `nshift` 2
    were refused, one of 8 with `nshift` 1 was not: "flat_height too close to the top of the innermost nested domain"
    (`mo_util_vgrid.f90:170`).

    ## Example
    ```yaml bad
    grid: {num_lev: [30, 12]}
    #               ^
    namelists:
      run_nml: {lvert_nest: true}
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}
    ```
    ```yaml good
    grid: {num_lev: [30, 25]}
    namelists:
      run_nml: {lvert_nest: true}
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}
    ```

    ## References
    ICON namelist overview, run_nml, sleve_nml.
    """

    code = "GRD010"
    name = "nest-below-flat-levels"
    severity = Severity.ERROR
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        if component["run_nml", "lvert_nest"].value is not True or len(grid_names(component)) < _WITH_A_NEST:
            return
        shifts = _shifts(component)
        if not any(shift > 0 for shift in shifts.values()):
            return
        flat = flat_level(component)
        for domain, shift in shifts.items():
            if shift > 0 and flat - shift <= 1:
                height = component["sleve_nml", "flat_height"]
                yield self.finding(
                    component["run_nml", "num_lev"],
                    f"domain {domain} begins {shift} levels below the top of domain 1, of which {flat} are flat",
                    f"expected: at most {max(0, flat - _WITH_A_NEST)}, or a flat_height below {height.value:g} m",
                )
                return


def _shifts(component: Component) -> dict[int, int]:
    """By domain, how many levels of the first one lie above its top (`mo_model_domimp_patches.f90:304-315`).

    Domains are left out whose parent is not known and decides.
    """
    levels, shift = as_list(component["run_nml", "num_lev"].value), as_list(component["run_nml", "nshift"].value)
    parents = as_list(component["grid_nml", "dynamics_parent_grid_id"].value)
    count = len(grid_names(component))
    levels = [*levels, *[_DEFAULT_LEVELS] * count][:count]
    shift = [*shift, *[0] * count][:count]
    found = {1: 0}
    for domain in range(2, count + 1):
        given = parents[domain - 1] if domain <= len(parents) else 0
        parent = given if isinstance(given, int) and 0 < given < domain else 1 if domain == _WITH_A_NEST else None
        if not any(shift):
            found[domain] = levels[0] - levels[domain - 1]  # whoever is the parent
        elif parent in found:
            own = shift[domain - 1] or levels[parent - 1] - levels[domain - 1]
            found[domain] = found[parent] + own
    return found


class NestLevelsIgnored(ComponentRule):
    """The levels of a nest are those of the first domain unless nesting is vertical, too.

    ## What it does
    Finds a `num_lev` that is not the same for all domains where `lvert_nest` is false.

    ## Why it matters
    ICON takes the first number for all domains, without a word.

    ## Evidence
    ICON 2024.10 ran `num_lev` 10, 8 with ten levels in both domains (`mo_run_config.f90:187`).

    ## Example
    ```yaml bad
    grid: {num_lev: [30, 25]}
    #               ^
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}
    ```
    ```yaml good
    grid: {num_lev: [30, 30]}
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}
    ```

    ## References
    ICON namelist overview, run_nml.
    """

    code = "GRD008"
    name = "nest-levels-ignored"
    severity = Severity.WARNING
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        setting = component["run_nml", "num_lev"]
        levels = as_list(setting.value)[: len(grid_names(component))]
        if len(set(levels)) > 1 and component["run_nml", "lvert_nest"].value is False:
            message = f"num_lev of the nests is ignored: all domains have {levels[0]} levels"
            yield self.finding(setting, message, f"expected: {levels[0]} for all, or lvert_nest true")


class PathInGridName(ComponentRule):
    """The name of a grid file is taken as it stands.

    ## What it does
    Finds `<path>` in `dynamics_grid_filename` and `radiation_grid_filename`, and in `vertical_grid_filename` and
    `vct_filename` of an atmosphere. In other names it stands for a directory.

    ## Why it matters
    ICON looks for a file of just that name, and aborts.

    ## Evidence
    ICON 2024.10: "<path>nest_P.nc file does not exist" (`mo_grid_config.f90:144`), "File <path>grid.nc not found!" of
    heights (`mo_util_vgrid.f90:225`); `mo_grid_config.f90:160` and `mo_init_vgrid.f90:145` read.

    ## Example
    ```yaml bad
    namelists: {grid_nml: {dynamics_grid_filename: "<path>iconR02B05-grid.nc"}}
    #                                              ^
    ```
    ```yaml good
    namelists: {grid_nml: {dynamics_grid_filename: iconR02B05-grid.nc}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD009"
    name = "path-in-grid-name"
    severity = Severity.ERROR

    def check(self, component: Component) -> Iterator[Finding]:
        for name in grid_names(component):
            if "<path>" in name:
                yield self.finding(_dynamics_grids(component), f'the grid "{name}"', "expected: a name without <path>")
                return
        heights = ("vertical_grid_filename", "vct_filename") if component.kind == "atmosphere" else ()
        for variable in ("radiation_grid_filename", *heights):
            setting = component["grid_nml", variable]
            if "<path>" in str(as_list(setting.value)[0]):
                yield self.finding(
                    setting, f'{variable} is "{as_list(setting.value)[0]}"', "expected: a name without <path>"
                )


_WITH_A_NEST = 2

_DEFAULT_LEVELS = 31
"""run_nml: num_lev of a domain of which nobody says it (`mo_run_nml.f90:120`)."""
