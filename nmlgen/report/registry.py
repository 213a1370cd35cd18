"""What a registry knows, as text for a terminal and as documents for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nmlgen.namelist.constraint import Constraint, literal
from nmlgen.namelist.difference import Change
from nmlgen.namelist.registry import NamelistGroup, Registry, Removal, Variable
from nmlgen.report.table import format_table
from nmlgen.visible import joined

_FILES = {
    "model": "the file that model_namelist_filename names",
    "master": "icon_master.namelist",
    "jsbach": "the file that jsb_model_nml names",
    "program": "a file of its own",
}
_NO_DEFAULT = {
    "computed": "computed at run time",
    "unset": "none, the variable is not set before the namelist is read",
    "hidden": "depends on how ICON was built",
    "unresolved": "not known",
    None: "not known",
}
_EFFECTS = {
    "abort": "ICON stops",
    "crash": "ICON ends without a message, or hangs",
    "replaced": "ICON takes another value",
    "ignored": "ICON ignores it",
    "unchecked": "ICON does not look",
}


def format_group(registry: Registry, group: NamelistGroup, colour: bool, terminal: bool) -> str:
    """Who reads a group, and its variables as a table."""
    readers = ", ".join(group.readers) if group.is_read else "nothing"
    rows = [("read by", f"{readers}, from {_FILES[group.file]}" if group.is_read else readers)]
    if group.condition is not None:
        rows.append(("if", str(group.condition)))
    rows.append(("copies", "every one is read" if group.is_repeatable else "the first one is read"))
    if group.source:
        rows.append(("source", group.source))
    if group.carried_from:
        rows.append(("known from", f"ICON {group.carried_from}; its own source was not at hand"))
    if group.defaults_printed:
        rows.append(("defaults", "as ICON printed them at run time"))
    variables = [
        (v.full_name, v.declaration, default_text(v), v.constraint.expected if v.constraint else "")
        for v in registry.variables_of(group)
    ]
    head = _lines(f"{group.name}, ICON {registry.release}", rows)
    return joined("\n\n", (head, format_table(("variable", "type", "default", "values"), variables, colour, terminal)))


def format_variable(registry: Registry, variable: Variable) -> str:
    """All that is known of a variable."""
    rows = [("type", variable.declaration), ("default", default_text(variable))]
    if variable.unit:
        rows.append(("unit", variable.unit))
    if variable.syntax:
        rows.append(("form", {"levels": "a list of levels"}.get(variable.syntax, f"an ISO 8601 {variable.syntax}")))
    if variable.carried_from:
        rows.append(("known from", f"ICON {variable.carried_from}; a source that it needs was not at hand"))
    rows += _constraint_rows(variable.constraint)
    return _lines(f"{variable.group}: {variable.full_name}, ICON {registry.release}", rows)


def _constraint_rows(constraint: Constraint | None) -> Iterator[tuple[str, str]]:
    if constraint is None:
        return
    yield "values", constraint.expected
    looks = f", if {constraint.condition}" if constraint.condition else ""
    yield "otherwise", f"{_EFFECTS[constraint.effect]}{looks}"
    if constraint.below:
        yield "below", _EFFECTS[constraint.below]
    if constraint.note:
        yield "note", constraint.note
    if constraint.rules:
        yield "rules", ", ".join(constraint.rules)
    if constraint.source:
        yield "source", constraint.source


def extent(registry: Registry) -> str:
    """How much a registry knows, in words."""
    variables = list(_all_variables(registry))
    unknown = sum(variable.type == "unknown" for variable in variables)
    of_unknown = f", {unknown} of unknown type" if unknown else ""
    return f"{len(registry.groups)} groups, {len(variables)} variables{of_unknown}"


def _all_groups(registry: Registry) -> Iterator[NamelistGroup]:
    return (group for name in registry.groups for group in registry.described(name))


def _all_variables(registry: Registry) -> Iterator[Variable]:
    return (variable for group in _all_groups(registry) for variable in registry.variables_of(group))


def carried_lines(registry: Registry) -> Iterator[str]:
    """What of a registry is known from an earlier release only, a line a kind."""
    parts: dict[tuple[str, str], list[str]] = {}
    for group in _all_groups(registry):
        if group.carried_from:
            part = "/".join((group.source or "").split("/")[:2])
            parts.setdefault((part, group.carried_from), []).append(group.name)
    for (part, release), names in sorted(parts.items()):
        yield f"not in the tree, as in ICON {release}: {part} ({', '.join(names)})"
    single: dict[str, int] = {}
    for variable in _all_variables(registry):
        if variable.carried_from:
            single[variable.carried_from] = single.get(variable.carried_from, 0) + 1
    for release, count in sorted(single.items()):
        yield f"needs what is not in the tree, as in ICON {release}: length or default of {count} variables"


def format_removal(name: str, removal: Removal) -> str:
    """What became of a name, in one line: 'parallel_nml.itype_comm: ICON 2024.01 no longer has it'."""
    date = f", removed on {removal.date}" if removal.date else ""
    use = f"; use {' and '.join(removal.use)}" if removal.use else ""
    note = f"; {removal.note}" if removal.note else ""
    return f"{name}: ICON {removal.release} no longer has it{date}{use}{note}"


def format_changes(changes: Iterable[Change], colour: bool, terminal: bool) -> str:
    """Changes as a table."""
    rows = [
        (change.group, change.variable or "", change.what, _side(change, change.old), _new_side(change))
        for change in changes
    ]
    return format_table(("group", "variable", "change", "from", "to"), rows, colour, terminal)


def _new_side(change: Change) -> str:
    return f"use {' and '.join(change.use)}" if change.use else _side(change, change.new)


def _side(change: Change, value: Any) -> str:
    if value is None:
        return ""
    return default_words(value) if change.what == "default" else str(value)


def default_text(variable: Variable) -> str:
    """The default of a variable, or why there is none."""
    if not variable.has_default:
        return _NO_DEFAULT[variable.default_status]
    return default_words(variable.default)


def default_words(default: Any) -> str:
    """A default as the registry keeps it, in words: element-wise ones as "1: 0.5, 2: 0.7, others 0"."""
    if isinstance(default, dict):
        parts = [f"{index}: {literal(value)}" for index, value in default.get("set", {}).items()]
        return ", ".join(parts + ([f"others {literal(default['fill'])}"] if "fill" in default else []))
    if isinstance(default, list):
        return ", ".join(map(literal, default))
    return literal(default)


def _lines(heading: str, rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join((heading, *(f"  {name:<{width}}  {value}" for name, value in rows)))


def group_document(registry: Registry, group: NamelistGroup) -> dict[str, Any]:
    """A group with its variables, for programs."""
    return {
        "group": group.name,
        "release": registry.release,
        "component": group.component,
        "readers": list(group.readers),
        "file": group.file,
        "read": group.is_read,
        "repeatable": group.is_repeatable,
        "when": None if group.condition is None else str(group.condition),
        "source": group.source,
        "carried_from": group.carried_from,
        "defaults_printed": group.defaults_printed,
        "variables": [variable_document(registry, variable) for variable in registry.variables_of(group)],
    }


def variable_document(registry: Registry, variable: Variable) -> dict[str, Any]:
    """A variable, for programs; `default` is null and `default_status` says why where there is none."""
    return {
        "group": variable.group,
        "variable": variable.name,
        "release": registry.release,
        "type": variable.type,
        "declaration": variable.declaration,
        "default": variable.default,
        "default_status": "known" if variable.has_default else variable.default_status,
        "unit": variable.unit,
        "syntax": variable.syntax,
        "carried_from": variable.carried_from,
        "constraint": None if variable.constraint is None else _constraint_document(variable.constraint),
    }


def _constraint_document(constraint: Constraint) -> dict[str, Any]:
    return {
        "allowed": list(constraint.allowed),
        "forbidden": list(constraint.forbidden),
        "min": constraint.low,
        "max": constraint.high,
        "expected": constraint.expected,
        "effect": constraint.effect,
        "effect_below": constraint.below,
        "when": None if constraint.condition is None else str(constraint.condition),
        "note": constraint.note,
        "rules": list(constraint.rules),
        "source": constraint.source,
    }


def removal_document(name: str, removal: Removal) -> dict[str, Any]:
    """A name that is gone, for programs."""
    group, _, variable = name.partition(".")
    return {
        "group": group,
        "variable": variable or None,
        "release": removal.release,
        "date": removal.date,
        "use": list(removal.use),
        "note": removal.note,
    }


def change_document(change: Change) -> dict[str, Any]:
    """A change, for programs."""
    return {
        "group": change.group,
        "variable": change.variable,
        "change": change.what,
        "from": change.old,
        "to": change.new,
        "use": list(change.use),
    }
