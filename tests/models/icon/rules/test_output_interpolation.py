"""What goes to other levels and to longitudes and latitudes, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules.output_interpolation import (
    NotInterpolated,
    NotOnLatLonGrid,
    OperationOnIntegers,
    OperationOnLatLonGrid,
)

GRID = "remap: 1, reg_lon_def: [-180.0, 1.0, 179.0], reg_lat_def: [-90.0, 1.0, 90.0]"


def found(rule, stream: str, tmp_path: Path) -> int:
    return len(judge(experiment_of(f"output: {{atm: {{{stream}}}}}\n", tmp_path), [rule]))


@rows(
    ("stream", "count"),
    [
        ("pl_varlist: [temp], p_levels: [50000.0]", 0),
        ("pl_varlist: [gh], p_levels: [50000.0]", 0),
        ("pl_varlist: [pres_sfc], p_levels: [50000.0]", 1),
        ("hl_varlist: [pres], h_levels: [1000.0]", 0),
        ("hl_varlist: [pres_sfc], h_levels: [1000.0]", 1),
        ("il_varlist: [temp], i_levels: [300.0]", 0),
        ("il_varlist: [pres_sfc], i_levels: [300.0]", 1),
        ("pl_varlist: ['grid:clon'], p_levels: [50000.0]", 0),
        ("pl_varlist: [no_such_name], p_levels: [50000.0]", 0),  # another rule's
        ("ml_varlist: [pres_sfc]", 0),
    ],
)
def test_other_levels(stream, count, tmp_path):
    assert found(NotInterpolated, stream, tmp_path) == count


@pytest.mark.parametrize(
    ("stream", "count"),
    [(f"ml_varlist: [temp], {GRID}", 0), (f"ml_varlist: [mask_prog_haloc], {GRID}", 0), ("ml_varlist: [temp]", 0)],
)
def test_longitudes_and_latitudes(stream, count, tmp_path):
    assert found(NotOnLatLonGrid, stream, tmp_path) == count


@pytest.mark.parametrize(
    ("stream", "count"),
    [
        ("ml_varlist: [temp], operation: mean", 0),
        (f"ml_varlist: [temp], operation: mean, {GRID}", 1),
        (f"ml_varlist: [temp], operation: none, {GRID}", 0),
        (f"ml_varlist: [temp], {GRID}", 0),
        ("ml_varlist: [temp], pl_varlist: [temp], p_levels: [50000.0], operation: max", 1),
        ("ml_varlist: [temp], pl_varlist: [temp], p_levels: [50000.0]", 0),
        (f"ml_varlist: [topography_c], operation: mean, {GRID}", 0),  # it does not change
    ],
)
def test_statistics_are_of_model_levels_on_the_own_grid(stream, count, tmp_path):
    assert found(OperationOnLatLonGrid, stream, tmp_path) == count


@pytest.mark.parametrize(
    ("stream", "count"),
    [
        ("ml_varlist: [temp, bdy_halo_c_idx], operation: mean", 1),
        ("ml_varlist: [temp, bdy_halo_c_idx], operation: none", 0),
        ("ml_varlist: [temp, bdy_halo_c_idx]", 0),
        ("ml_varlist: [temp], operation: mean", 0),
        ("ml_varlist: [bdy_halo_c_idx, temp, bdy_halo_c_blk], operation: acc", 2),
        (f"ml_varlist: [bdy_halo_c_idx], operation: mean, {GRID}", 0),  # another rule's
    ],
)
def test_statistics_are_of_real_numbers(stream, count, tmp_path):
    assert found(OperationOnIntegers, stream, tmp_path) == count
