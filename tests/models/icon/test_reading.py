"""Which groups ICON reads, and who reads the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from nmlgen.experiment.component import Component
from nmlgen.experiment.group import Group
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError, unknown, written
from nmlgen.models.icon.reading import condition_of, file_of, foreign_reader, groups_read, is_read

Build = Callable[[str], Component]


def with_groups(component: Component, *names: str, in_master: bool = False) -> tuple[Component, list[Group]]:
    """The component with these groups alone in its namelist, or with them behind those of the master namelist."""
    experiment, groups = component.experiment, [Group(name, {}) for name in names]
    if in_master:
        return evolve(experiment, master=(*experiment.master, *groups)).components[0], groups
    (model,) = experiment.models
    return evolve(experiment, models=(evolve(model, namelist=tuple(groups)),)).components[0], groups


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("run_nml", None),
        ("master_nml", "every component from icon_master.namelist"),
        ("time_nml", "every component from icon_master.namelist"),
        ("ocean_dynamics_nml", "the component ocean"),
        ("jsb_model_nml", "the component jsbach"),
    ],
)
def test_groups_of_the_model(build: Build, name: str, reader: str | None) -> None:
    component, (group,) = with_groups(build(""), name)
    assert foreign_reader(component, group) == reader
    assert is_read(component, group) is (reader is None)
    assert file_of(component, group) == "model"


@pytest.mark.parametrize(
    ("name", "reader", "is_first"),
    [
        ("run_nml", "the atmosphere from its own file", False),
        ("time_nml", None, True),
        ("master_nml", None, False),  # the preset has one before
    ],
)
def test_groups_of_the_master(build: Build, name: str, reader: str | None, is_first: bool) -> None:
    component, (group,) = with_groups(build(""), name, in_master=True)
    assert foreign_reader(component, group) == reader
    assert is_read(component, group) is is_first
    assert file_of(component, group) == "master"


def test_of_several_copies_the_first_is_read_but_all_streams(build: Build) -> None:
    names = ("run_nml", "output_nml", "run_nml", "output_nml", "unheard_nml")
    component, groups = with_groups(build(""), *names)
    assert [is_read(component, group) for group in groups] == [True, True, False, True, False]


@pytest.mark.parametrize(("kind", "is_unknown"), [("hamocc", True), ("ps_radiation", True), ("ocean", False)])
def test_of_some_components_nobody_knows_what_they_read(build: Build, kind: str, is_unknown: bool) -> None:
    component, (group,) = with_groups(build(""), "nwp_phy_nml")
    vars(component)["kind"] = kind
    assert (foreign_reader(component, group) is None) is is_unknown


@pytest.mark.parametrize(
    ("kind", "is_conditional"), [("atmosphere", True), (None, True), ("ocean", False), ("jsbach", False)]
)
def test_other_models_read_a_group_always(build: Build, kind: str | None, is_conditional: bool) -> None:
    component, (group, plain) = with_groups(build(""), "nwp_phy_nml", "run_nml")
    vars(component)["kind"] = kind
    condition = condition_of(component, group)
    assert (condition is not None) is is_conditional
    assert condition is None or (condition.group, condition.variable) == ("run_nml", "iforcing")
    assert condition_of(component, plain) is None


@pytest.mark.parametrize(("forcing", "names"), [(3, ["run_nml", "nwp_phy_nml"]), (2, ["run_nml"])])
def test_groups_that_depend_on_a_setting_come_last(build: Build, forcing: int, names: list[str]) -> None:
    experiment = build("").experiment
    (model,) = experiment.models
    run = Group("run_nml", {"iforcing": written("run_nml.iforcing", forcing, "test")})
    component = evolve(experiment, models=(evolve(model, namelist=(Group("nwp_phy_nml", {}), run)),)).components[0]
    known = {"run_nml", "nwp_phy_nml"}
    assert [group.name for group in groups_read(component) if group.name in known] == names


def test_a_look_ends_alike_however_often_it_is_asked(build: Build) -> None:
    looks: list[Component] = []

    def look(component: Component):
        looks.append(component)
        yield 1
        raise UndecidedError(unknown("run_nml.iforcing"))

    component, again = build(""), remembered(look)
    for _ in range(2):
        found = again(component)
        assert next(found) == 1
        with pytest.raises(UndecidedError):
            next(found)
    assert looks == [component]
