"""What changed in ICON's namelists from one release to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nmlgen.namelist.registry import NamelistGroup, Registry, Variable
from nmlgen.values import frozen


@frozen
class Change:
    """One difference between two releases.

    `what` is "group added", "group removed", "variable added", "variable removed", "type", "default", "values" or
    "read by"; `variable` is None where the group as a whole is meant; `old` and `new` are what the releases have, None
    for what one of them lacks. `use` names what replaces a removed name.
    """

    group: str
    variable: str | None
    what: str
    old: Any = None
    new: Any = None
    use: tuple[str, ...] = ()


def differences(old: Registry, new: Registry) -> tuple[Change, ...]:
    """Every change from one release to another, by group and then in the order of the NAMELIST statements."""
    return tuple(_differences(old, new))


def _differences(old: Registry, new: Registry) -> Iterator[Change]:
    for name in sorted({*old.groups, *new.groups}):
        before, after = old.described(name), new.described(name)
        if not before:
            yield Change(name, None, "group added")
        elif not after:
            removal = new.removed_group(name)
            yield Change(name, None, "group removed", use=removal.use if removal else ())
        else:
            yield from _group(old, new, before, after)


def _group(
    old: Registry, new: Registry, before: tuple[NamelistGroup, ...], after: tuple[NamelistGroup, ...]
) -> Iterator[Change]:
    name = after[0].name.lower()
    if _reading(before[0]) != _reading(after[0]):
        yield Change(name, None, "read by", _reading(before[0]), _reading(after[0]))
    was = {(group.file, v.name): v for group in before for v in old.variables_of(group)}
    now = {(group.file, v.name): v for group in after for v in new.variables_of(group)}
    for key, variable in was.items():
        if key not in now:
            removal = new.removed_variable(name, variable.name)
            yield Change(name, variable.name, "variable removed", use=removal.use if removal else ())
    for key, variable in now.items():
        if key not in was:
            yield Change(name, variable.name, "variable added", new=variable.declaration)
        else:
            yield from _variable(name, was[key], variable)


def _reading(group: NamelistGroup) -> str:
    """Who reads a group, and when, in words."""
    if not group.is_read:
        return "nothing"
    condition = f" if {group.condition}" if group.condition else ""
    return f"{', '.join(group.readers)}{condition}"


def _variable(group: str, was: Variable, now: Variable) -> Iterator[Change]:
    if was.declaration != now.declaration or was.full_name != now.full_name:
        old, new = was.declaration, now.declaration
        if was.full_name != now.full_name:
            old, new = f"{was.full_name}: {old}", f"{now.full_name}: {new}"
        yield Change(group, now.name, "type", old, new)
    if (was.has_default, was.default) != (now.has_default, now.default):
        yield Change(group, now.name, "default", was.default, now.default)
    values = [variable.constraint.expected if variable.constraint else None for variable in (was, now)]
    if values[0] != values[1]:
        yield Change(group, now.name, "values", values[0], values[1])
