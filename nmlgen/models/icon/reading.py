"""Which namelist groups ICON reads: those that a reader of the component asks for, in the file they stand in.

Source: ICON 2024.10 `externals/fortran-support/src/mo_namelist.F90:100-169` and the reading routines, whose conditions
stand in the registry of a release.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from nmlgen.experiment.component import LAND_FILE, Component
from nmlgen.experiment.group import Group
from nmlgen.experiment.memory import remembered
from nmlgen.experiment.setting import Certainty, Setting
from nmlgen.namelist.constraint import Condition
from nmlgen.namelist.registry import Registry

_MASTER_FILE = "icon_master.namelist"
_UNKNOWN_READERS = ("hamocc", "ps_radiation")  # which groups these read, no registry tells


@remembered
def groups_read(component: Component) -> Iterator[Group]:
    """The groups that ICON reads; those that depend on a setting come last, as it may be unknown. A group that stands
    in a part of an experiment without that setting is there to be read."""
    groups = [group for group in component.all_groups() if is_read(component, group)]
    conditions = [(group, condition_of(component, group)) for group in groups]
    deciding = [(group, condition, _deciding(component, condition)) for group, condition in conditions]
    yield from (group for group, condition, _ in deciding if condition is None)
    yield from (group for group, condition, setting in deciding if condition is not None and setting is None)
    for group, condition, setting in deciding:
        if condition is not None and setting is not None and condition.holds(setting.value):
            yield group


def _deciding(component: Component, condition: Condition | None) -> Setting | None:
    """The setting with which a group is read; None where there is none, or it stands in another part."""
    if condition is None:
        return None
    setting = component[condition.group, condition.variable]
    return None if setting.certainty is Certainty.UNKNOWN and setting.span is None else setting


def file_of(component: Component, group: Group) -> str:
    """The file a group stands in, as the registry names it."""
    return _files(component).get(id(group), "model")


@remembered
def _files(component: Component) -> dict[int, str]:
    """The file of each group that does not stand in the model's own one; a group is itself whatever it holds."""
    found = {id(group): LAND_FILE for land in component.model.lands for group in land}
    return found | {id(group): "master" for group in component.experiment.master}


@remembered
def _first_of_lands(component: Component) -> frozenset[int]:
    """The first groups of their name in each file of JSBACH's."""
    firsts: set[int] = set()
    for land in component.model.lands:
        by_name: dict[str, Group] = {}
        for group in land:
            by_name.setdefault(group.name, group)
        firsts.update(map(id, by_name.values()))
    return frozenset(firsts)


def is_read(component: Component, group: Group) -> bool:
    """Whether a reader of this component asks for the group; of several copies ICON reads the first."""
    file = file_of(component, group)
    is_first = id(group) in _first_of_lands(component) if file == LAND_FILE else component.group(group.name) is group
    return _asks_for(component.registry, component.kind, group.name, file, is_first)


@lru_cache(maxsize=1024)
def _asks_for(registry: Registry, kind: str | None, name: str, file: str, is_first: bool) -> bool:
    """Whether a reader of such a component asks for the first group of this name in a file, or for another one."""
    if not registry.has_group(name) or not registry.is_read(name):
        return False
    if not is_first and (file == LAND_FILE or not registry.is_repeatable(name, file)):
        return False
    return _foreign_reader(registry, kind, name, file) is None


def foreign_reader(component: Component, group: Group) -> str | None:
    """Who reads a group that does not belong into the file it stands in; None if it belongs there."""
    return _foreign_reader(component.registry, component.kind, group.name, file_of(component, group))


def _foreign_reader(registry: Registry, kind: str | None, name: str, file: str) -> str | None:
    files = registry.files(name)
    if file == LAND_FILE:
        return None if LAND_FILE in files else f"the {registry.component(name)} from its own file"
    if file == "master":
        return None if "master" in files else f"the {registry.component(name)} from its own file"
    if files == ("master",) and registry.component(name) == "master":
        return f"every component from {_MASTER_FILE}"
    if kind not in (None, *_UNKNOWN_READERS) and kind not in registry.readers(name):
        return f"the component {registry.component(name)}"
    return None


def condition_of(component: Component, group: Group) -> Condition | None:
    """With which settings the model reads the group; other models than the group's own read it always."""
    registry = component.registry
    condition = registry.condition(group.name)
    if condition is None or component.kind in (None, "atmosphere", registry.component(group.name)):
        return condition
    return None
