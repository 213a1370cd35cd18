"""A registry in the words of other programs: metadata of Rose (`metomi.rose`), and schemas of nml-tools.

What those cannot say is left out rather than said differently: bounds that depend on other variables, constraints of
single elements, defaults that nobody knows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from nmlgen.namelist.constraint import Constraint, literal, number
from nmlgen.namelist.descriptions import description
from nmlgen.namelist.registry import NamelistGroup, Registry, Variable, bounds_of

_ROSE_TYPES = {"integer": "integer", "real": "real", "logical": "logical", "character": "character"}
_JSON_TYPES = {"integer": "integer", "real": "number", "logical": "boolean", "character": "string"}
_JSON_VALUES: dict[str, tuple[type, ...]] = {
    "integer": (int,),
    "real": (int, float),
    "logical": (bool,),
    "character": (str,),
}


def rose_metadata(registry: Registry) -> str:
    """The text of a `rose-meta.conf` for all groups of a release.

    A group that ICON reads more than once is a duplicate one, called `namelist:output_nml(1)` in a `rose-app.conf`.
    """
    lines = [f"# ICON {registry.release}"]
    for group in _groups(registry):
        lines += ["", f"[namelist:{group.name.lower()}]"]
        lines += [f"description=Of {group.component}."]
        lines += ["duplicate=true"] * group.is_repeatable
        for variable in registry.variables_of(group):
            lines += ["", f"[namelist:{group.name.lower()}={variable.name}]", *_rose(group, variable)]
    return "\n".join(lines) + "\n"


def _rose(group: NamelistGroup, variable: Variable) -> Iterator[str]:
    meaning = description(group.name, variable.name)
    if meaning is not None:
        yield f"description={meaning}"
    if variable.unit:
        yield f"help=Unit: {variable.unit}"
    constraint = variable.constraint if not variable.is_array else None
    if constraint is not None and constraint.allowed:
        yield f"values={', '.join(map(_fortran, constraint.allowed))}"
    elif variable.type in _ROSE_TYPES:
        yield f"type={_ROSE_TYPES[variable.type]}"
        if constraint is not None and (found := _rose_range(constraint)):
            yield f"range={found}"
    if variable.is_array:
        yield "length=:"  # an array may be given in part


def _fortran(value: Any) -> str:
    if isinstance(value, bool):
        return f".{str(value).lower()}."
    return f"'{value}'" if isinstance(value, str) else literal(value)


def _rose_range(constraint: Constraint) -> str:
    """The range in Rose's words, which knows `this`; nothing where it is not the whole truth."""
    if constraint.high_expression is not None or constraint.forbidden:
        return ""
    parts = []
    if constraint.low is not None:
        parts.append(f"this {'>' if constraint.low_excluded else '>='} {number(constraint.low)}")
    if constraint.high is not None:
        parts.append(f"this {'<' if constraint.high_excluded else '<='} {number(constraint.high)}")
    if not parts:
        return ""
    return " or ".join([" and ".join(parts), *(f"this == {number(value)}" for value in constraint.also)])


def nml_tools_schemas(registry: Registry) -> dict[str, str]:
    """The schemas of nml-tools, as JSON by file name: one for each group.

    Components of derived types are not in them, nor arrays whose size is not known.
    """
    return {
        f"{group.name.lower()}.json": json.dumps(_schema(registry, group), indent=2, ensure_ascii=False) + "\n"
        for group in _groups(registry)
    }


def _schema(registry: Registry, group: NamelistGroup) -> dict[str, Any]:
    properties = {
        variable.name: found
        for variable in registry.variables_of(group)
        if (found := _property(group, variable)) is not None
    }
    return {
        "title": f"{group.name.lower()} of ICON {registry.release}",
        "description": f"Of {group.component}.",
        "x-fortran-namelist": group.name.lower(),
        "type": "object",
        "properties": properties,
    }


def _property(group: NamelistGroup, variable: Variable) -> dict[str, Any] | None:
    if variable.type not in _JSON_TYPES or "%" in variable.name or variable.shape is None:
        return None
    if any(isinstance(extent, tuple) and extent[0] != 1 for extent in variable.shape):
        return None  # nml-tools counts from 1
    kind: dict[str, Any] = {"type": _JSON_TYPES[variable.type]}
    if variable.type == "character":
        if variable.length is None:
            return None
        kind["x-fortran-len"] = variable.length
    meaning = description(group.name, variable.name)
    about: dict[str, Any] = {"title": meaning or variable.name}
    if variable.unit:
        about["description"] = f"Unit: {variable.unit}"
    if variable.shape:
        shape = [high - low + 1 for low, high in map(bounds_of, variable.shape)]
        return {**about, "type": "array", "x-fortran-shape": shape, "items": kind}
    kind |= _bounds(variable)
    default = variable.default
    if variable.has_default and isinstance(default, _JSON_VALUES[variable.type]):
        kind["default"] = default
    return {**about, **kind}


def _bounds(variable: Variable) -> dict[str, Any]:
    constraint = variable.constraint
    if constraint is None or variable.type == "logical":
        return {}
    if constraint.allowed:
        return {"enum": list(constraint.allowed)}
    if constraint.also or variable.type == "character":
        return {}
    found: dict[str, Any] = {}
    if constraint.low is not None:
        found["exclusiveMinimum" if constraint.low_excluded else "minimum"] = constraint.low
    if constraint.high is not None:
        found["exclusiveMaximum" if constraint.high_excluded else "maximum"] = constraint.high
    return found


def _groups(registry: Registry) -> Iterator[NamelistGroup]:
    """Each name once: where two groups share one, the first of them."""
    return (registry.described(name)[0] for name in registry.groups)
