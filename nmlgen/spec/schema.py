"""The JSON Schema of specs for editors: that of `schemas/` with the variables of an ICON release filled in."""

from __future__ import annotations

import copy
from typing import Any

from nmlgen.namelist.registry import Registry, Variable
from nmlgen.resources import schema
from nmlgen.spec.auto import AUTO, VARIABLES
from nmlgen.spec.sections import WHOLE_GROUPS, spelling

_JSON_TYPES = {"integer": "integer", "real": "number", "logical": "boolean", "character": "string"}


def editor_schema(registry: Registry) -> dict[str, Any]:
    """A schema that completes the variables of every group with type and default."""
    document = copy.deepcopy(schema("spec"))
    properties = document["properties"]
    for section, group in WHOLE_GROUPS.items():
        properties[section]["properties"] = _variables(registry, group)
    properties["output"]["additionalProperties"]["properties"] = _variables(registry, "output_nml")
    properties["namelists"]["properties"] = {
        group: {"type": "object", "properties": _variables(registry, group)}
        for group in registry.groups
        if group != "output_nml"
    }
    return document


def _variables(registry: Registry, group: str) -> dict[str, Any]:
    found = {}
    for name in registry.variables(group):
        variable = registry.variable(group, name)
        if variable is not None and "%" not in name:
            found[spelling(name)] = _variable(variable)
            if name in VARIABLES.get(group, ()) and variable.type == "integer":
                found[spelling(name)] |= {"type": ["integer", "string"], "pattern": f"^{AUTO}$"}
    return found


def _variable(variable: Variable) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    kind = _JSON_TYPES.get(variable.type)
    if kind is not None:
        entry["type"] = [kind, "array"] if variable.is_array else kind
    if variable.has_default and not isinstance(variable.default, dict):
        entry["default"] = variable.default
    return entry
