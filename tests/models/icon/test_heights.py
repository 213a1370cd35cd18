"""Heights of levels, as ICON 2024.10 makes them of sleve_nml (`mo_init_vgrid.f90`)."""

from __future__ import annotations

from itertools import pairwise
from math import inf, isnan

import pytest

from nmlgen.experiment.setting import UndecidedError
from nmlgen.models.icon.heights import flat_level, half_levels

BASE = "top_height: 10000.0, htop_thcknlimit: 1.0"


def heights(build, sleve: str, levels: int = 10, more: str = "") -> tuple[float, ...]:
    text = f"grid: {{num_lev: {levels}}}\nnamelists:\n  nonhydrostatic_nml: {{ivctype: 2}}\n"
    return half_levels(build(f"{text}  sleve_nml: {{{BASE}, {sleve}}}\n{more}"))


@pytest.mark.parametrize("thinnest", [0.0, 0.01])
def test_without_a_thinnest_layer_all_are_alike(build, thinnest):
    found = heights(build, f"min_lay_thckn: {thinnest}, max_lay_thckn: 0.4")  # which limits nothing then
    assert found == pytest.approx([1000.0 * n for n in range(10, -1, -1)])


@pytest.mark.parametrize("kind", [1, 2])
def test_the_lowest_layer_is_the_thinnest(build, kind):
    found = heights(build, f"min_lay_thckn: 50.0, itype_laydistr: {kind}, stretch_fac: 0.9")
    assert len(found) == 11
    assert found[0] == pytest.approx(10000.0)
    assert found[-1] == pytest.approx(0.0, abs=1e-6)
    assert found[-2] == pytest.approx(50.0)
    thickness = [upper - lower for upper, lower in pairwise(found)]
    assert thickness == sorted(thickness, reverse=True)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(1, [10000.0, 2675.112449, 567.168729, 50.0, 0.0]), (2, [10000.0, 2660.0, 140.0, 50.0, 0.0])],
)
def test_the_levels_between(build, kind, expected):
    found = heights(build, f"min_lay_thckn: 50.0, itype_laydistr: {kind}, stretch_fac: 0.9", levels=4)
    assert found == pytest.approx(expected, abs=1e-6)


def test_without_stretching_all_levels_are_at_the_top(build):
    found = heights(build, "min_lay_thckn: 50.0, itype_laydistr: 1, stretch_fac: 0.0", levels=3)
    assert found == (10000.0,) * 4  # the logarithm of nothing, as ICON computes it


def test_a_single_layer(build):
    assert heights(build, "min_lay_thckn: 0.0", levels=1) == (10000.0, 0.0)


def test_a_parabola(build):
    found = heights(build, "min_lay_thckn: 50.0, itype_laydistr: 3, stretch_fac: 0.5", levels=2)
    assert found == pytest.approx([10000.0, 10000.0 * 0.5 * (0.25 + 0.5), 0.0])


@pytest.mark.parametrize(
    ("thickest", "limit", "is_known"),
    [
        (500.0, 1000.0, True),  # no limit: it is not below half of htop_thcknlimit
        (500.0, 1001.0, False),
        (100.0, 1001.0, True),  # nor this: it is not above twice the thinnest layer
        (101.0, 1001.0, False),
        (9000.0, 20000.0, True),  # all layers are thinner
    ],
)
def test_how_limited_layers_are_smoothed_is_not_followed(build, thickest, limit, is_known):
    text = "grid: {num_lev: 10}\nnamelists:\n  nonhydrostatic_nml: {ivctype: 2}\n  sleve_nml: {itype_laydistr: 2, "
    text += "stretch_fac: 0.9, min_lay_thckn: 50.0, top_height: 10000.0, "
    component = build(f"{text}max_lay_thckn: {thickest}, htop_thcknlimit: {limit}}}\n")
    if is_known:
        assert half_levels(component)[0] == pytest.approx(10000.0)
        return
    with pytest.raises(UndecidedError):
        half_levels(component)


@pytest.mark.parametrize(("height", "level"), [(2000.0, 9), (2500.0, 8), (10000.0, 1), (20000.0, 1)])
def test_the_lowest_flat_level(build, height, level):
    text = f"grid: {{num_lev: 10}}\nnamelists:\n  nonhydrostatic_nml: {{ivctype: 2}}\n  sleve_nml: {{{BASE}, "
    assert flat_level(build(f"{text}min_lay_thckn: 0.0, flat_height: {height}}}\n")) == level


@pytest.mark.parametrize(
    "namelists",
    [
        "nonhydrostatic_nml: {ivctype: 1}",
        "grid_nml: {vct_filename: table.txt}",
        "sleve_nml: {itype_laydistr: 4}",
        "grid_nml: {vertical_grid_filename: heights.nc}",
        "run_nml: {num_lev: 0}",
        "run_nml: {num_lev: -1}",
    ],
)
def test_what_is_not_known(build, namelists):
    with pytest.raises(UndecidedError):
        half_levels(build(f"namelists: {{{namelists}}}\n"))


def test_where_all_levels_are_higher_nothing_is_flat(build):
    text = "namelists: {nonhydrostatic_nml: {ivctype: 2}, sleve_nml: {min_lay_thckn: 0.0, flat_height: -1.0}}\n"
    with pytest.raises(UndecidedError):
        flat_level(build(text))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("stretch_fac: -1.0", [True] * 4),  # the arc cosine of what is above one
        ("top_height: -10000.0", [False, True, True, True]),  # 1 to any power is 1
        ("top_height: 49.0", [False, False, False, False]),
    ],
)
def test_what_has_no_logarithm_is_not_a_number(build, settings, expected):
    text = "grid: {num_lev: 3}\nnamelists:\n  nonhydrostatic_nml: {ivctype: 2}\n  sleve_nml: {min_lay_thckn: 50.0, "
    assert [isnan(level) for level in half_levels(build(f"{text}{settings}}}\n"))] == expected


def test_a_negative_power_of_nothing_is_infinite(build):
    text = "grid: {num_lev: 3}\nnamelists:\n  nonhydrostatic_nml: {ivctype: 2}\n  sleve_nml: {min_lay_thckn: 50.0, "
    found = half_levels(build(f"{text}top_height: 49.0}}\n"))
    assert found[0] == 49.0
    assert found[-1] == inf
