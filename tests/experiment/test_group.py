"""The value that ICON sees of a variable: what is written, else the release's default, else nobody knows."""

from __future__ import annotations

import pytest

from nmlgen.experiment.group import Group, as_list, effective
from nmlgen.experiment.setting import Certainty, Origin, Setting, UndecidedError
from nmlgen.namelist.registry import load_registry

REGISTRY = load_registry("2024.10")


def group(is_open: bool = False, **values: object) -> Group:
    settings = {name: Setting(f"run_nml.{name}", (Origin("test", value),)) for name, value in values.items()}
    return Group("run_nml", settings, is_open=is_open)


@pytest.mark.parametrize(
    ("found", "name", "value"),
    [
        (group(num_lev=30), "num_lev", 30),
        (group(num_lev=30), "NUM_LEV", 30),
        (group(num_lev=30), "ntracer", 0),
        (None, "ntracer", 0),
        (group(iforcing=3), "iforcing", 3),
        (None, "output", ["default"]),
    ],
)
def test_what_is_known(found, name, value):
    setting = effective(REGISTRY, found, "run_nml", name)
    assert setting.value == value
    assert setting.is_written is (found is not None and name.lower() in found.settings)


@pytest.mark.parametrize(
    ("found", "name", "is_open"),
    [
        (None, "ntracer", True),  # somebody may have written it
        (group(is_open=True), "ntracer", False),
        (group(), "no_such_variable", False),
        (None, "no_such_variable", False),
        (group(num_lev="many"), "num_lev", False),  # ICON stops at it
    ],
)
def test_what_nobody_knows(found, name, is_open):
    setting = effective(REGISTRY, found, "run_nml", name, is_open=is_open)
    assert setting.certainty is Certainty.UNKNOWN
    with pytest.raises(UndecidedError):
        _ = setting.value


def test_an_open_group_has_what_is_written_in_it():
    assert effective(REGISTRY, group(is_open=True, ntracer=5), "run_nml", "ntracer").value == 5


def test_without_a_group_only_is_open_counts():
    assert effective(REGISTRY, group(ntracer=5), "run_nml", "ntracer", is_open=True).value == 5


def test_a_component_of_what_is_written_as_a_whole_is_not_known():
    whole = Group("io_nml", {"echotop_meta": Setting("io_nml.echotop_meta", (Origin("test", [1.0]),))})
    name = "echotop_meta%time_interval"
    assert effective(REGISTRY, whole, "io_nml", name).certainty is Certainty.UNKNOWN
    assert effective(REGISTRY, Group("io_nml", {}), "io_nml", name).certainty is Certainty.DEFAULT


def test_titles_of_streams():
    name = Setting("output_nml.output_filename", (Origin("test", "a"),))
    assert Group("output_nml", {"output_filename": name}, "atm").title == "atm"
    assert Group("output_nml", {"output_filename": name}).title == "a"
    assert Group("output_nml", {}).title == "without a name"


@pytest.mark.parametrize(("value", "elements"), [(1, [1]), ([1, 2], [1, 2]), ((1, 2), [1, 2]), ("ab", ["ab"])])
def test_elements(value, elements):
    assert as_list(value) == elements


def test_what_a_variable_is_seen_as_is_worked_out_once(monkeypatch):
    asked, variable = [], REGISTRY.variable
    monkeypatch.setattr(REGISTRY, "variable", lambda *given: asked.append(given) or variable(*given))
    streams = [group(num_lev=number) for number in range(10_000)]
    for _ in range(2):
        assert [effective(REGISTRY, stream, "run_nml", "num_lev").value for stream in streams] == list(range(10_000))
    assert len(asked) == 10_000


@pytest.mark.parametrize(("count", "is_known"), [(1, True), (11, True), (1000, True), (1001, False)])
def test_of_far_more_values_than_a_variable_holds_nothing_is_worked_out(count, is_known):
    settings = {"dynamics_grid_filename": Setting("grid_nml.dynamics_grid_filename", (Origin("test", ["g"] * count),))}
    found = effective(REGISTRY, Group("grid_nml", settings), "grid_nml", "dynamics_grid_filename")
    assert (found.certainty is Certainty.WRITTEN) is is_known


def test_a_variable_that_holds_many_has_them():
    variable = next(
        (group, name)
        for group in REGISTRY.groups
        for name in REGISTRY.variables(group)
        if (known := REGISTRY.variable(group, name)) is not None
        and known.type == "character"
        and (known.size or 0) >= 1001
    )
    group, name = variable
    setting = Setting(f"{group}.{name}", (Origin("test", ["x"] * 1001),))
    assert effective(REGISTRY, Group(group, {name: setting}), group, name).certainty is Certainty.WRITTEN
