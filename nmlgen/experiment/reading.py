"""Which namelist groups ICON reads: those that a reader of the component asks for, in the file they stand in.

Source: ICON 2024.10 `externals/fortran-support/src/mo_namelist.F90:100-169` and the reading routines, whose conditions
stand in the registry of a release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from nmlgen.experiment.experiment import Experiment, Group
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import UndecidedError
from nmlgen.namelist.constraint import Condition

_MASTER_FILE = "icon_master.namelist"
COMPONENTS = {1: "atmosphere", 2: "ocean", 5: "jsbach", 98: "waves", 99: "testbed", 100: "icon_output"}
"""master_model_nml: model_type and the component that it starts (`mo_master_config.f90`)."""


_Item = TypeVar("_Item")


def once(look: Callable[[Experiment], Iterator[_Item]]) -> Callable[[Experiment], Iterator[_Item]]:
    """Looks through an experiment once, however often it is asked; what is not known ends every look alike."""
    seen: WeakKeyDictionary[Experiment, tuple[list[_Item], UndecidedError | None]] = WeakKeyDictionary()

    @wraps(look)
    def again(experiment: Experiment) -> Iterator[_Item]:
        if experiment not in seen:
            items: list[_Item] = []
            try:
                items.extend(look(experiment))
                seen[experiment] = items, None
            except UndecidedError as error:
                seen[experiment] = items, error
        items, end = seen[experiment]
        yield from items
        if end is not None:
            raise UndecidedError(end.setting)

    return again


@once
def groups_read(experiment: Experiment) -> Iterator[Group]:
    """The groups that ICON reads; those that depend on a setting come last, as it may be unknown."""
    groups = [group for group in experiment.all_groups() if is_read(experiment, group)]
    conditions = [(group, condition_of(experiment, group)) for group in groups]
    yield from (group for group, condition in conditions if condition is None)
    for group, condition in conditions:
        if condition is not None and condition.holds(experiment[condition.group, condition.variable].value):
            yield group


def file_of(experiment: Experiment, group: Group) -> str:
    """The file a group stands in, as the registry names it."""
    return "master" if group in experiment.master else "model"


def is_read(experiment: Experiment, group: Group) -> bool:
    """Whether a reader of this component asks for the group; of several copies ICON reads the first."""
    registry = experiment.registry
    if not registry.has_group(group.name) or not registry.is_read(group.name):
        return False
    first = experiment.group(group.name) is group or registry.is_repeatable(group.name, file_of(experiment, group))
    return first and foreign_reader(experiment, group) is None


def foreign_reader(experiment: Experiment, group: Group) -> str | None:
    """Who reads a group that does not belong into the file it stands in; None if it belongs there."""
    registry = experiment.registry
    files = registry.files(group.name)
    if file_of(experiment, group) == "master":
        return None if "master" in files else f"the {registry.component(group.name)} from its own file"
    if files == ("master",) and registry.component(group.name) == "master":
        return f"every component from {_MASTER_FILE}"
    component = component_of(experiment)
    if component is not None and component not in registry.readers(group.name):
        return f"the component {registry.component(group.name)}"
    return None


@remembered
def component_of(experiment: Experiment) -> str | None:
    """The component whose namelist it is, the first that the master starts; None for one that is not known here."""
    if experiment.group("master_model_nml") is None:
        return None
    return COMPONENTS.get(experiment["master_model_nml", "model_type"].value)


def condition_of(experiment: Experiment, group: Group) -> Condition | None:
    """With which settings the model reads the group; other models than the group's own read it always."""
    registry = experiment.registry
    condition = registry.condition(group.name)
    if condition is None or component_of(experiment) in (None, "atmosphere", registry.component(group.name)):
        return condition
    return None
