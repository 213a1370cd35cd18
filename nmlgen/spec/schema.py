"""The JSON Schemas for editors: those of `schemas/`, with all that a release of ICON knows filled in.

What nmlgen itself checks by its rules an editor can check by the schema only: names, types, enumerations, ranges. Null
takes a key away, wherever it stands. The schemas keep to what draft 7 has, since many editors know no later one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from nmlgen.namelist.constraint import Constraint
from nmlgen.namelist.descriptions import description
from nmlgen.namelist.registry import Registry, Removal, Variable, releases
from nmlgen.resources import schema
from nmlgen.spec import presets
from nmlgen.spec.auto import AUTO
from nmlgen.spec.auto import VARIABLES as AUTO_VARIABLES
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS, spelling

KINDS = ("spec", "site", "config")
_DRAFT = "http://json-schema.org/draft-07/schema#"
_JSON_TYPES = {"integer": "integer", "real": "number", "logical": "boolean", "character": "string"}
_ENDS_THE_RUN = ("abort", "crash")
_EFFECTS = {
    "abort": "with another value ICON stops",
    "crash": "with another value ICON ends without a message, or hangs",
    "replaced": "ICON takes another value in place of others",
    "ignored": "others have no effect",
    "unchecked": "ICON does not look",
}
_PATH = {"type": "string", "pattern": "^(\\./|\\.\\./|/)"}

Part = dict[str, Any]


def schema_for(kind: str, registry: Registry) -> Part:
    """The schema of a "spec" for a release, of a "site" file, or of a project's "config", which is nmlgen.toml."""
    if kind == "spec":
        return editor_schema(registry)
    document = copy.deepcopy(schema("site" if kind == "site" else "configuration"))
    document["$schema"] = _DRAFT
    if kind == "config":
        _add_names(document["properties"])
        return _with_messages(document)
    return _with_messages(_nullable(document))


def editor_schema(registry: Registry) -> Part:
    """The schema of specs, with the groups and variables of a release, the presets and the sites."""
    document = _with_messages(_nullable(copy.deepcopy(schema("spec"))))
    document["$schema"] = _DRAFT
    properties, definitions = document["properties"], document["$defs"]
    removed: dict[str, dict[str, Removal]] = {}
    for full, removal in registry.removed.items():
        group, _, name = full.partition(".")
        if name:
            removed.setdefault(group, {})[name] = removal
    definitions |= {group: _group(registry, group, removed) for group in registry.groups}
    for section, group in WHOLE_GROUPS.items():
        properties[section] = {**properties[section], **definitions.get(group, {})}
    output = definitions.pop("output_nml", {})
    properties["output"]["additionalProperties"] = {**properties["output"]["additionalProperties"], **output}
    strict = {key: part for key, part in properties["namelists"].items() if key != "propertyNames"}
    definitions["namelists"] = strict | _groups(registry)
    definitions["model"]["properties"]["namelists"]["$ref"] = "#/$defs/namelists"
    is_icon = {"properties": {"model": {"properties": {"name": {"const": "icon"}}}}}
    document |= {"if": is_icon, "then": {"properties": {"namelists": {"$ref": "#/$defs/namelists"}}}}
    properties["land"] |= _groups(registry)
    properties["land"].pop("propertyNames", None)
    for (section, key), (group, name) in VARIABLES.items():
        variable = registry.variable(group, name) if registry.has_group(group) else None
        for keys in (properties, definitions["model"]["properties"]):
            part = keys.get(section, {}).get("properties", {})
            if variable is not None and key in part:
                part[key] = _of_section(part[key], variable)
    _add_names(properties)
    return document


def _add_names(properties: Part) -> None:
    """The presets, sites and releases there are."""
    names = presets.names()
    sites = [name.removeprefix(presets.SITE_PREFIX) for name in names if name.startswith(presets.SITE_PREFIX)]
    others = [name for name in names if not name.startswith(presets.SITE_PREFIX)]
    one = [{"enum": others}, _PATH]
    if "extends" in properties:
        description_ = properties["extends"]["description"]
        several = {"type": "array", "items": {"anyOf": one}, "minItems": 1}
        properties["extends"] = {"description": description_, "anyOf": [*one, several, {"type": "null"}]}
        release = properties["model"]["properties"]["release"]
        release["anyOf"] = [{"enum": list(reversed(releases()))}, {}]  # another one with a registry of one's own
        empty = [{"type": "null"}]
    else:
        empty = []
    said = properties["site"]["description"]
    properties["site"] = {"description": said, "anyOf": [{"enum": sites}, _PATH, *empty]}


# --- Variables of ICON ---


def _groups(registry: Registry) -> Part:
    """The groups that a spec may set, by their names; what is gone says what to write instead."""
    names = [group for group in registry.groups if group != "output_nml"]
    known: Part = {group: {"$ref": f"#/$defs/{group}"} for group in names}
    for name, removal in registry.removed.items():
        if "." not in name and name not in known:
            known[name] = _gone(registry, name, removal)
    return {
        "properties": known,
        "patternProperties": {_in_any_case(names, ""): {"type": ["object", "null"]}},
        "additionalProperties": False,
    }


def _group(registry: Registry, group: str, removed: Mapping[str, Mapping[str, Removal]]) -> Part:
    found: Part = {}
    names: list[str] = []
    for file in registry.files(group) or (None,):
        for name in registry.variables(group, file):
            variable = registry.variable(group, name, file)
            names.append(name)
            if variable is not None and "%" not in name and spelling(name) not in found:
                found[spelling(name)] = _variable(variable, is_auto=name in AUTO_VARIABLES.get(group, ()))
    for name in [name for name in found if name != name.lower()]:
        found[name.lower()] = found[name]
    for name, removal in removed.get(group, {}).items():
        if name not in found:
            found[name] = _gone(registry, name, removal)
    readers = " and ".join(registry.readers(group))
    about = f"{group} of ICON {registry.release}, read by {readers}."
    if not registry.is_read(group):
        about = f"{group} of ICON {registry.release}: nothing reads it."
    part: Part = {
        "description": about,
        "type": ["object", "null"],
        "properties": found,
        "additionalProperties": False,
    }
    if names:
        bases = {name.partition("%")[0] for name in names}
        part["patternProperties"] = {_in_any_case(sorted(bases), r"([(%].*)?"): {"$ref": "#/$defs/namelist_value"}}
    return part


def _gone(registry: Registry, name: str, removal: Removal) -> Part:
    """A name that the release no longer has: nothing but null may stand there."""
    use = f"; write {' and '.join(removal.use)} instead" if removal.use else ""
    note = f"; {removal.note}" if removal.note else ""
    said = f"ICON {registry.release} no longer has {name}{use}{note}."
    return {
        "description": said,
        "type": "null",
        "deprecated": True,
        "deprecationMessage": said,
        "errorMessage": said,
        "doNotSuggest": True,
    }


def _in_any_case(names: Iterable[str], ending: str) -> str:
    """The expression of names whose letters may be small or capital, as Fortran takes them."""
    spelt = ("".join(map(_letter, name.lower())) for name in names)
    return f"^({'|'.join(spelt)}){ending}$"


def _letter(character: str) -> str:
    if character.isalpha():
        return f"[{character}{character.upper()}]"
    return f"\\{character}" if character in "^$\\.*+?()[]{}|/" else character


def _variable(variable: Variable, *, is_auto: bool) -> Part:
    element = _element(variable)
    choices: list[Part] = [element]
    if variable.is_array:
        size = variable.size
        choices.append(
            {"type": "array", "items": element, "minItems": 1} | ({} if size is None else {"maxItems": size})
        )
    if is_auto:
        choices.append({"const": AUTO})  # described where it stands, which an editor shows
    entry: Part = {"description": _described(variable, is_auto=is_auto)}
    if variable.unit:
        entry["unit"] = variable.unit
    if variable.has_default and not isinstance(variable.default, dict):
        entry["default"] = variable.default
    if len(choices) == 1 and "anyOf" not in element and isinstance(element.get("type"), str):
        element = {**element, "type": [element["type"], "null"]}
        if "enum" in element:
            element["enum"] = [*element["enum"], None]
        return entry | element
    return entry | {"anyOf": [*choices, {"type": "null"}]}


def _element(variable: Variable) -> Part:
    """One value of a variable: its type, and what ICON stops at."""
    kind = _JSON_TYPES.get(variable.type)
    if kind is None:
        return {"type": ["boolean", "number", "string"]}
    constraint = variable.constraint
    if constraint is None:
        return {"type": kind}
    is_certain = constraint.condition is None and _permits_default(variable, constraint)
    limits = _limits(constraint) if is_certain else {}
    if not limits and constraint.allowed:
        return {"anyOf": [{"enum": list(constraint.allowed)}, {"type": kind}]}  # offered, and nothing else refused
    return {"type": kind, **limits}


def _limits(constraint: Constraint) -> Part:
    is_fatal = constraint.effect in _ENDS_THE_RUN
    is_fatal_below = (constraint.below or constraint.effect) in _ENDS_THE_RUN
    limits: Part = {}
    if constraint.allowed:
        if not (is_fatal and is_fatal_below):
            return {}
        allowed = list(constraint.allowed)
        if all(isinstance(value, str) for value in allowed):
            return {"anyOf": [{"enum": allowed}, {"pattern": _in_any_case(map(str, allowed), " *")}]}
        return {"enum": [*allowed, *(value for value in constraint.also if value not in allowed)]}
    if constraint.low is not None and is_fatal_below:
        limits["exclusiveMinimum" if constraint.low_excluded else "minimum"] = constraint.low
    if constraint.high is not None and is_fatal:
        limits["exclusiveMaximum" if constraint.high_excluded else "maximum"] = constraint.high
    if constraint.forbidden and is_fatal:
        limits["not"] = {"enum": list(constraint.forbidden)}
    if constraint.also and limits:
        return {"anyOf": [limits, {"enum": list(constraint.also)}]}
    return limits


def _permits_default(variable: Variable, constraint: Constraint) -> bool:
    default = variable.default
    if not variable.has_default or isinstance(default, dict):
        return True
    values = default if isinstance(default, list) else [default]
    return not any(constraint.refuses(value) for value in values)


def _described(variable: Variable, *, is_auto: bool = False) -> str:
    said = [text] if (text := description(variable.group, variable.name)) else []
    said.append(f"{variable.group}: {variable.declaration}{', or auto: the advisor decides' if is_auto else ''}.")
    if variable.unit:
        said.append(f"Unit: {variable.unit}.")
    constraint = variable.constraint
    if constraint is not None and constraint.expected:
        looks = f", if {constraint.condition}" if constraint.condition else ""
        note = f" ({constraint.note})" if constraint.note else ""
        said.append(f"Expected: {constraint.expected}; {_EFFECTS[constraint.effect]}{looks}{note}.")
    if variable.syntax:
        said.append({"levels": "A list of levels."}.get(variable.syntax, f"An ISO 8601 {variable.syntax}."))
    return " ".join(said)


def _of_section(own: Part, variable: Variable) -> Part:
    """A key that is a variable in other words: its own text and form, with the limits that ICON sets."""
    element = _element(variable)
    found = {**own, "description": f"{own['description'].rstrip('.')}. {_described(variable)}"}
    limits = {key: value for key, value in element.items() if key != "type"}
    if limits and "anyOf" not in own:
        words = [{"const": AUTO}] if AUTO in own["description"] else []
        found["anyOf"] = [limits, *words, {"type": "null"}]
    if variable.unit:
        found["unit"] = variable.unit
    if variable.has_default and isinstance(variable.default, (str, int, float)):
        found["default"] = variable.default
    return found


# --- What nmlgen's own schemas say, as editors want it ---


def _nullable(part: Part) -> Part:
    """A part in which null may stand for every key of a mapping: it takes away what other layers say."""
    for keyword in ("properties", "$defs"):
        for key, child in part.get(keyword, {}).items():
            part[keyword][key] = _or_null(_nullable(child))
    below = part.get("additionalProperties")
    if isinstance(below, dict):
        part["additionalProperties"] = _or_null(_nullable(below))
    if isinstance(part.get("items"), dict):
        part["items"] = _nullable(part["items"])
    return part


def _or_null(part: Part) -> Part:
    kinds = part.get("type")
    if isinstance(kinds, str):
        part["type"] = [kinds, "null"]
    elif isinstance(kinds, list) and "null" not in kinds:
        part["type"] = [*kinds, "null"]
    if "enum" in part:
        part["enum"] = [*part["enum"], None]
    if "const" in part:
        part["enum"] = [part.pop("const"), None]
    return part


def _with_messages(part: Part) -> Part:
    """A part with the words for what was expected, as editors know them."""
    found = {key: _any_with_messages(value) for key, value in part.items()}
    if isinstance(found.get("expected"), str):
        found["errorMessage"] = f"expected: {found.pop('expected')}"
    return found


def _any_with_messages(value: Any) -> Any:
    if isinstance(value, list):
        return [_any_with_messages(item) for item in value]
    return _with_messages(value) if isinstance(value, dict) else value
