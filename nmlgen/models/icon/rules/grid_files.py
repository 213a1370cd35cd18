"""Grid files that lie on this machine: whether they are those that the experiment is about."""

from __future__ import annotations

from collections.abc import Iterator

from nmlgen.experiment.component import Component
from nmlgen.experiment.grid_file import GridFile, read_grid
from nmlgen.experiment.group import as_list
from nmlgen.experiment.setting import Setting
from nmlgen.findings import Finding, Severity
from nmlgen.models.icon.grids import grid_at_hand, grids_at_hand, path_at_hand, radiation_grid_at_hand
from nmlgen.models.icon.inputs import NeededFile, needed_files
from nmlgen.models.icon.volume import named_cells, other_grid, said_cells
from nmlgen.rules.rule import ComponentRule

_DEPTHS = ("cell_elevation", "cell_sea_land_mask", "edge_elevation", "edge_sea_land_mask")


def _grids(component: Component) -> Setting:
    return component["grid_nml", "dynamics_grid_filename"]


class AnotherGrid(ComponentRule):
    """The grid file has the number of cells that the experiment says.

    ## What it does
    Reads the header of each grid file that lies on this machine: finds one whose number of cells is not that of
    `grid.name`, of `grid.cells`, or of the RnBk in its name. Of one that does not lie there, finds a name that speaks
    of another grid than `grid.name`.

    ## Why it matters
    What a run writes and takes, and the time step that it can take, are worked out for another grid.

    ## Evidence
    A header of ICON's grid generator holds `grid_root` and `grid_level`; RnBk has 20 n² 4ᵏ cells.

    ## Example
    ```yaml bad
    grid: {cells: 81920, name: R2B9, file: iconR02B09-grid.nc}
    #             ^
    ```
    ```yaml good
    grid: {cells: 81920, name: R2B5}
    ```

    ## References
    ICON's tutorial, "Horizontal grids".
    """

    code = "GRD011"
    name = "another-grid"
    severity = Severity.WARNING

    def check(self, component: Component) -> Iterator[Finding]:
        expected = "expected: the file of this grid, or its name and its number of cells"
        cells, named = component.model.cells, named_cells(component, 1)
        if cells is not None and component.grid_name is not None and named not in (None, said_cells(component, 1)):
            message = f"grid.cells is {said_cells(component, 1)}, and a grid {component.grid_name.value} has {named}"
            yield self.finding(cells, message, "expected: the number of cells of this grid, or its name")
            return
        grids = grids_at_hand(component)
        if component.grid_name is not None and not any(file and file.cells for file in grids[:1]):
            other = other_grid(component)
            if other is not None:
                message = f"the grid is called {component.grid_name.value}, and its file that of {other}"
                yield self.finding(component.grid_name, message, expected)
        for domain, file in enumerate(grids, start=1):
            said = said_cells(component, domain)
            wanted = named_cells(component, domain) if said is None else said
            if file is None or not file.cells or wanted in (None, file.cells):
                continue
            where = component.grid_name or _grids(component) if said is None else cells
            name = f", {file.name}" if file.name else ""
            message = f"the grid of domain {domain} has {wanted} cells, and its file has {file.cells}{name}"
            yield self.finding(where, message, expected)


class NestOfAnotherGrid(ComponentRule):
    """A nest's grid file is made for the grid of its parent.

    ## What it does
    Reads the headers of the grid files where all of them lie on this machine: finds a nest whose parent is none of the
    domains before it, or another one than `dynamics_parent_grid_id` says, and one that is not one level finer. To the
    first domain the grid of the radiation is what the parent is to a nest, in an ocean, too, where one is named.

    ## Why it matters
    ICON aborts when it has read the grids.

    ## Evidence
    ICON 2024.10 with two and three domains, files exchanged, left out or of another level: "Could not determine parent
    grid ID", "namelist mismatch", "incorrect grid root and/or bisection level" (`mo_model_domimp_patches.f90:218-390`);
    the last of an ocean with a grid of the radiation of its own level, too.

    ## Example
    ```yaml bad
    model: {directory: null}
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, another-nest.nc]}}
    #                                              ^
    input_files: {another-nest.nc: {source: another-nest.nc}}
    ```
    ```yaml good
    model: {directory: null}
    namelists: {grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}}
    input_files: {nest.nc: {source: nest.nc}}
    ```

    ## References
    ICON namelist overview, grid_nml.
    """

    code = "GRD012"
    name = "nest-of-another-grid"
    severity = Severity.ERROR
    kinds = ("atmosphere", "waves", "ocean")

    def check(self, component: Component) -> Iterator[Finding]:
        files = [file for file in grids_at_hand(component) if file is not None]
        if len(files) < len(grids_at_hand(component)):
            return
        named = component["grid_nml", "radiation_grid_filename"]
        radiation = radiation_grid_at_hand(component)
        fault = None if radiation is None or not files else _too_near(files[0], radiation, "the radiation")
        if fault is not None:
            yield self.finding(named, f"domain 1: {fault}", "expected: the grid that its grid was made from")
            return
        if component.kind == "ocean":
            return
        given = as_list(component["grid_nml", "dynamics_parent_grid_id"].value)
        for domain, file in enumerate(files[1:], start=2):
            said = given[domain - 1] if domain <= len(given) and isinstance(given[domain - 1], int) else 0
            fault = _fault(files, file, domain, said)
            if fault is not None:
                expected = "expected: grids in the order of nesting, each made for the one that it lies in"
                yield self.finding(_grids(component), f"domain {domain}: {fault}", expected)
                return


def _fault(files: list[GridFile], file: GridFile, domain: int, said: int) -> str | None:
    """What ICON objects to in a nest."""
    known = [n for n, other in enumerate(files, start=1) if other.uuid and other.uuid == file.parent]
    parent = known[-1] if known else said
    if known and said > 0 and said != parent:
        return f"its grid was made for domain {parent}, and dynamics_parent_grid_id is {said}"
    if not 0 < parent < domain:
        return "none of the domains before it has the grid that it was made for"
    return _too_near(file, files[parent - 1], f"domain {parent}")


def _too_near(file: GridFile, other: GridFile, whose: str) -> str | None:
    """What is wrong with a grid that has to be one level finer than another one."""
    if file.number("grid_root") != other.number("grid_root"):
        return f"its grid is {file.name}, that of {whose} {other.name}"
    level, above = file.number("grid_level"), other.number("grid_level")
    if level is not None and above is not None and level != above + 1:
        return f"its grid is {file.name}, not one level finer than {other.name} of {whose}"
    return None


class NarrowBoundary(ComponentRule):
    """The boundary of a limited area is deep enough for its nudging zone.

    ## What it does
    Reads the header of each grid file that lies on this machine: finds a `boundary_depth_index` that is less than
    `nudge_zone_width` and four, and a limited area on the grid of a whole sphere, which has no boundary.

    ## Why it matters
    ICON aborts when it sets up the interpolation.

    ## Evidence
    ICON 2024.10, a nest of depth 14: `nudge_zone_width` 10 was accepted, 11 refused: "bdy_indexing_depth in
    prepare_gridref must be at least nudge_zone_width+4" (`mo_intp_coeffs.f90:987`).

    ## Example
    ```yaml bad
    model: {directory: null}
    namelists:
      interpol_nml: {nudge_zone_width: 11}
    #                                  ^
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}
    input_files: {nest.nc: {source: nest.nc}}
    ```
    ```yaml good
    model: {directory: null}
    namelists:
      interpol_nml: {nudge_zone_width: 10}
      grid_nml: {dynamics_grid_filename: [iconR02B05-grid.nc, nest.nc]}
    input_files: {nest.nc: {source: nest.nc}}
    ```

    ## References
    ICON namelist overview, interpol_nml.
    """

    code = "GRD013"
    name = "narrow-boundary"
    severity = Severity.ERROR
    kinds = ("atmosphere", "waves")

    def check(self, component: Component) -> Iterator[Finding]:
        first = 1 if component["grid_nml", "l_limited_area"].value else 2
        width = component["interpol_nml", "nudge_zone_width"]
        for domain, file in enumerate(grids_at_hand(component), start=1):
            depth = None if file is None else file.boundary_depth
            if domain >= first and depth is not None and width.value + _BEYOND > depth:
                yield self.finding(
                    width if width.is_written else _grids(component),
                    f"nudge_zone_width is {width.value}, and the boundary of domain {domain} is {depth} rows deep",
                    f"expected: at most {depth - _BEYOND}, or a grid with a deeper boundary"
                    if depth > _BEYOND
                    else "expected: a grid with a boundary, or l_limited_area false",
                )
                return


_BEYOND = 4


class GridWithoutDepths(ComponentRule):
    """An ocean's grid file holds the depths and the mask of land and sea.

    ## What it does
    Reads the header of the ocean's grid file where it lies on this machine: finds one without `cell_elevation`,
    `cell_sea_land_mask` and those of the edges.

    ## Why it matters
    ICON aborts when it has read the grid: one of an atmosphere does not do.

    ## Evidence
    ICON 2024.10: "check_dimensions(cell_elevation) netCDF error: NetCDF: Variable not found".

    ## Example
    ```yaml bad
    model: {directory: null}
    models: {oce: {grid: {file: iconR02B05-grid.nc}}}
    #                           ^
    ```
    ```yaml good
    model: {directory: null}
    models: {oce: {grid: {file: iconR02B05-ocean.nc}}}
    ```

    ## References
    ICON 2024.10, `mo_model_domimp_patches.f90`.
    """

    code = "GRD014"
    name = "grid-without-depths"
    severity = Severity.ERROR
    kinds = ("ocean",)

    def check(self, component: Component) -> Iterator[Finding]:
        for file in grids_at_hand(component):
            missing = [name for name in _DEPTHS if file is not None and file.variables and name not in file.variables]
            if missing and component.kind == "ocean":
                yield self.finding(
                    _grids(component),
                    f"the grid file has no {missing[0]}: it is no ocean's",
                    f"expected: a grid with {', '.join(_DEPTHS)}",
                )


class ParametersOfAnotherGrid(ComponentRule):
    """External parameters are made for the grid of their domain.

    ## What it does
    Reads the headers of grid and external parameters where both lie on this machine: finds two that carry different
    `uuidOfHGrid`.

    ## Why it matters
    ICON aborts when it reads the parameters, unless `check_uuid_gracefully` makes a warning of it: the soil of
    one place would lie in another one.

    ## Evidence
    ICON 2024.10: "Extpar file and horizontal grid file do not match!" (`mo_ext_data_inquire.f90:239`; read, not tried).

    ## Example
    ```yaml bad
    model: {directory: null}
    namelists:
      run_nml: {iforcing: 3, ltransport: true, ltestcase: false}
      nwp_phy_nml: {inwp_surface: 1}
      extpar_nml: {itopo: 1, extpar_filename: another-extpar.nc}
    #                                         ^
    input_files: {another-extpar.nc: {source: another-extpar.nc}}
    ```
    ```yaml good
    model: {directory: null}
    namelists:
      run_nml: {iforcing: 3, ltransport: true, ltestcase: false}
      nwp_phy_nml: {inwp_surface: 1}
      extpar_nml: {itopo: 1, extpar_filename: extpar.nc}
    input_files: {extpar.nc: {source: extpar.nc}}
    ```

    ## References
    ICON namelist overview, extpar_nml and run_nml.
    """

    code = "GRD015"
    name = "parameters-of-another-grid"
    severity = Severity.ERROR
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        for file, fault in _of_another_grid(component):
            if file.what == _PARAMETERS:
                where = file.setting or _grids(component)
                yield self.finding(where, fault, "expected: external parameters of this grid")
                return


_PARAMETERS = "external parameters"


def _of_another_grid(component: Component) -> Iterator[tuple[NeededFile, str]]:
    """The files at hand that ICON refuses beside the grid of their domain, and what it objects to."""
    grids = grids_at_hand(component)
    bound = [file for file in needed_files(component) if file.grid] if any(grids) else []
    for file in bound:
        path = path_at_hand(component, file.setting or _grids(component), file.pattern)
        found, grid = None if path is None else read_grid(path), grid_at_hand(component, file.domain)
        if found is None or grid is None:
            continue
        if file.grid == "uuid" and grid.uuid and found.uuid and grid.uuid != found.uuid:
            yield (
                file,
                f"{file.pattern} was made for the grid {found.uuid}, and domain {file.domain} has {grid.uuid}",
            )
        elif file.grid == "cells" and grid.cells and found.cells and grid.cells != found.cells:
            yield file, f"{file.pattern} has {found.cells} cells, and the grid of domain {file.domain} has {grid.cells}"


class DataOfAnotherGrid(ComponentRule):
    """Initial data and heights of levels are made for the grid of their domain.

    ## What it does
    Reads the headers of the grid and of first guess, analysis, initial data of another model and the table of heights
    where they lie on this machine, NetCDF or GRIB2: finds those that carry another `uuidOfHGrid`, and initial data of
    another model (`ifs2icon_filename`) that have another number of cells.

    ## Why it matters
    ICON aborts when it has read them. Of first guess, analysis and heights `check_uuid_gracefully` makes a warning;
    `lconsistency_checks: false` looks at none of the first two.

    ## Evidence
    ICON 2024.10: "detected wrong UUID of grid for variable" (`mo_input_request_list.f90:1151`), "Number of patch cells
    and cells in IFS2ICON file do not match." (`mo_initicon_io.f90:331`), "uuidOfHGrid: Horizontal and vertical grid
    file do not match!" (`mo_util_vgrid.f90:433`); read, not tried.

    ## Example
    ```yaml bad
    model: {directory: null}
    namelists:
      run_nml: {iforcing: 3, ltransport: true, ltestcase: false}
      nwp_phy_nml: {inwp_surface: 1}
      extpar_nml: {itopo: 0}
      initicon_nml: {init_mode: 7, dwdfg_filename: another-first-guess.grb}
    #                                              ^
    input_files: {another-first-guess.grb: {source: another-first-guess.grb}}
    ```
    ```yaml good
    model: {directory: null}
    namelists:
      run_nml: {iforcing: 3, ltransport: true, ltestcase: false}
      nwp_phy_nml: {inwp_surface: 1}
      extpar_nml: {itopo: 0}
      initicon_nml: {init_mode: 7, dwdfg_filename: first-guess.grb}
    input_files: {first-guess.grb: {source: first-guess.grb}}
    ```

    ## References
    ICON namelist overview, initicon_nml and run_nml.
    """

    code = "GRD016"
    name = "data-of-another-grid"
    severity = Severity.ERROR
    kinds = ("atmosphere",)

    def check(self, component: Component) -> Iterator[Finding]:
        for file, fault in _of_another_grid(component):
            if file.what != _PARAMETERS:
                yield self.finding(file.setting or _grids(component), fault, "expected: data of this grid")
