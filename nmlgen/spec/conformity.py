"""Whether a document surely matches a JSON Schema, without loading jsonschema, which costs more than all of a check.

What matches needs no message. Whatever this does not understand, and whatever does not match, is left to jsonschema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, cast

_SILENT = frozenset(
    {"$schema", "$defs", "$comment", "title", "description", "expected", "deprecated", "examples", "default"}
)


def conforms(value: Any, part: Any, root: Any) -> bool:
    """Whether a plain value matches a part of the schema `root`; False, too, where that is not sure."""
    if isinstance(part, bool):
        return part
    return all(
        keyword in _SILENT or (keyword in _KEYWORDS and _KEYWORDS[keyword](value, said, part, root))
        for keyword, said in part.items()
    )


def search(pattern: str, value: str) -> bool:
    """A pattern's $ is the end of the text, as in JavaScript; Python's comes before a last newline, too."""
    return _compiled(pattern).search(value) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{pattern[:-1]}\\Z" if pattern.endswith("$") else pattern)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _type(value: Any, said: Any, part: Any, root: Any) -> bool:
    return any(kind in _TYPES and _TYPES[kind](value) for kind in ([said] if isinstance(said, str) else said))


def _reference(value: Any, said: Any, part: Any, root: Any) -> bool:
    found = root
    for key in said.removeprefix("#/").split("/"):
        found = found[key]
    return conforms(value, found, root)


def _properties(value: Any, said: Any, part: Any, root: Any) -> bool:
    return not isinstance(value, dict) or all(
        conforms(value[key], each, root) for key, each in said.items() if key in value
    )


def _forms(value: Any, said: Any, part: Any, root: Any) -> bool:
    return not isinstance(value, dict) or all(
        conforms(item, each, root) for form, each in said.items() for key, item in value.items() if re.search(form, key)
    )


def _others(value: Any, said: Any, part: Any, root: Any) -> bool:
    if not isinstance(value, dict):
        return True
    known, forms = part.get("properties", {}), part.get("patternProperties", {})
    return all(
        conforms(item, said, root)
        for key, item in value.items()
        if key not in known and not any(re.search(form, key) for form in forms)
    )


def _choice(value: Any, said: Any, part: Any, root: Any) -> bool:
    return any(type(value) is type(choice) and value == choice for choice in said)


def is_unique(items: list[Any]) -> bool:
    """Without repetitions, as JSON has them: 1 is not true."""
    return len(set(map(_hashable, items))) == len(items)


def _hashable(value: Any) -> Hashable:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if isinstance(value, dict):
        return frozenset((key, _hashable(each)) for key, each in value.items())
    return (bool, value) if isinstance(value, bool) else cast(Hashable, value)


_KEYWORDS: dict[str, Callable[[Any, Any, Any, Any], bool]] = {
    "type": _type,
    "$ref": _reference,
    "properties": _properties,
    "patternProperties": _forms,
    "additionalProperties": _others,
    "propertyNames": lambda value, said, part, root: (
        not isinstance(value, dict) or all(conforms(key, said, root) for key in value)
    ),
    "required": lambda value, said, part, root: not isinstance(value, dict) or all(key in value for key in said),
    "minProperties": lambda value, said, part, root: not isinstance(value, dict) or len(value) >= said,
    "maxProperties": lambda value, said, part, root: not isinstance(value, dict) or len(value) <= said,
    "items": lambda value, said, part, root: (
        not isinstance(value, list) or all(conforms(item, said, root) for item in value)
    ),
    "minItems": lambda value, said, part, root: not isinstance(value, list) or len(value) >= said,
    "maxItems": lambda value, said, part, root: not isinstance(value, list) or len(value) <= said,
    "pattern": lambda value, said, part, root: not isinstance(value, str) or search(said, value),
    "minLength": lambda value, said, part, root: not isinstance(value, str) or len(value) >= said,
    "minimum": lambda value, said, part, root: not _is_number(value) or value >= said,
    "maximum": lambda value, said, part, root: not _is_number(value) or value <= said,
    "enum": _choice,
    "const": lambda value, said, part, root: _choice(value, [said], part, root),
    "uniqueItems": lambda value, said, part, root: not isinstance(value, list) or is_unique(value),
}
