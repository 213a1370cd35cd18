"""Namelist groups, and the value that ICON sees for each of their variables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nmlgen.experiment.memory import Subject
from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.namelist.registry import Registry, Variable
from nmlgen.source import Span
from nmlgen.values import frozen

if TYPE_CHECKING:  # a spec has no syntax of namelists that could be wrong
    from nmlgen.namelist.syntax import SyntaxProblem


_MOST_VALUES = 1_000


@frozen(slots=False, eq=False)
class Group(Subject):
    """One namelist group. `label` tells copies of a repeated group apart: the name of an output stream.

    `settings` is keyed by the variable's name in lower case, in the order of writing. `problems` is what a Fortran
    runtime makes of a text that the group was read from. What is not set in a group that `is_open` is not known.
    """

    name: str
    settings: Mapping[str, Setting]
    label: str | None = None
    span: Span | None = None
    problems: tuple[SyntaxProblem, ...] = ()
    is_open: bool = False

    def spelling(self, key: str) -> str:
        """The variable's name as its author spelt it."""
        return self.settings[key].name.rpartition(".")[2] if "%" not in key else key

    @property
    def title(self) -> str:
        """What a table calls an output stream: its name in the spec, else its output_filename."""
        if self.label:
            return self.label
        name = self.settings.get("output_filename")
        return str(name.origin.value) if name is not None and name.history else "without a name"

    def effective(self, registry: Registry, name: str, variable: str) -> Setting:
        """What ICON will see of a variable of the group `name` that is read from this one; see `effective`."""
        found: Setting = self.derived[(_effective_in, registry, name, variable)][0]
        return found


def effective(registry: Registry, group: Group | None, group_name: str, name: str, *, is_open: bool = False) -> Setting:
    """What ICON will see: the written value, else the default of the release, else something unknown.

    A value that the variable cannot hold counts as unknown: ICON stops at it, and one rule says so. Without a group,
    `is_open` tells that there may be one all the same.
    """
    if group is not None:
        return group.effective(registry, group_name, name)
    return _unwritten(registry, group_name, name, is_open)


def _effective_in(group: Group, registry: Registry, group_name: str, name: str) -> Setting:
    key = name.lower()
    if key in group.settings or ("%" in key and key.partition("%")[0] in group.settings):
        return _written(registry, group, group_name, name)
    return _unwritten(registry, group_name, name, group.is_open)


def _written(registry: Registry, group: Group, group_name: str, name: str) -> Setting:
    setting = group.settings.get(name.lower())
    if setting is None:  # given with all components at once
        whole = group.settings[name.lower().partition("%")[0]]
        return Setting(f"{group_name}.{name}", whole.history, Certainty.UNKNOWN)
    variable = registry.variable(group_name, name)
    fits = variable is None or not setting.history or _fits(variable, setting.origin.value)
    return setting if fits else Setting(setting.name, setting.history, Certainty.UNKNOWN)


def _fits(variable: Variable, value: Any) -> bool:
    """Whether a variable can hold a value, and so many; ICON refuses a list that is too long, and of one that is far
    too long nothing else is worked out."""
    if not variable.accepts(value):
        return False
    return not isinstance(value, (list, tuple)) or len(value) <= max(_MOST_VALUES, variable.size or len(value))


@lru_cache(maxsize=8192)
def _unwritten(registry: Registry, group_name: str, name: str, is_open: bool) -> Setting:
    variable = registry.variable(group_name, name)
    if variable is None or not variable.has_default or is_open or _scalar(variable) is None:
        return Setting(f"{group_name}.{name}", (Origin("unknown", None),), Certainty.UNKNOWN)
    default = Origin(f"default of ICON {registry.release}", _scalar(variable))
    return Setting(f"{group_name}.{name}", (default,), Certainty.DEFAULT)


def _scalar(variable: Variable) -> Any:
    """The registry writes an element-wise default as {"set": {"1": a}, "fill": b}; its elements in order, up to the
    last that is set; None where they are not known."""
    if isinstance(variable.default, dict):
        elements = variable.first_elements
        return elements if elements or elements is None else variable.default.get("fill")
    return variable.default


def default_element(variable: Variable | None, place: int) -> Any:
    """The default of an element, by its number in Fortran; None if it is not known."""
    if variable is None or not variable.has_default:
        return None
    default = variable.default
    return default.get("set", {}).get(str(place), default.get("fill")) if isinstance(default, dict) else default


def as_list(value: Any) -> list[Any]:
    """A namelist value as the list of its elements: a scalar given to an array sets the first one."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def integer(setting: Setting) -> int:
    """The value of an integer variable, of an array its first element."""
    return int(as_list(setting.value)[0])
