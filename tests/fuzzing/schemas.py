"""The places of documents that their schemas know: none is forgotten by a test that goes through all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing.hostile import STRINGS

SCHEMAS = Path(__file__).parents[2] / "schemas"
KEY = "<key>"
"""The last word of a place that is a key which its author chooses."""
ANY = "*"
"""A key that its author chooses, or the number of an element of a list."""
Place = tuple[str, ...]


@cache
def _document(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return found


def resolved(schema: str, node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node, or what it refers to."""
    while "$ref" in node:
        found: Any = _document(schema)
        for word in node["$ref"].lstrip("#/").split("/"):
            found = found[word]
        node = found
    return node


def places(
    schema: str, node: Mapping[str, Any] | None = None, above: Place = ()
) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Every place of a document with what its schema says of the value there; KEY where the author chooses keys."""
    node = resolved(schema, _document(schema) if node is None else node)
    if above:
        yield above, node
    for key, below in node.get("properties", {}).items():
        yield from places(schema, below, (*above, key))
    others = (node.get("additionalProperties"), *node.get("patternProperties", {}).values())
    for below in others:
        if isinstance(below, dict):
            yield (*above, ANY, KEY), {"type": "string", **_key(node)}
            yield from places(schema, below, (*above, ANY))
    if isinstance(node.get("items"), dict):
        yield from places(schema, node["items"], (*above, ANY))
    for kind in ("anyOf", "oneOf", "allOf"):
        for below in node.get(kind, ()):
            if isinstance(below, dict) and ("type" in below or "properties" in below or "$ref" in below):
                yield from places(schema, below, above)


def _key(node: Mapping[str, Any]) -> Mapping[str, Any]:
    patterns = list(node.get("patternProperties", {}))
    return {**({"pattern": patterns[0]} if len(patterns) == 1 else {}), **node.get("propertyNames", {})}


def takes_texts(node: Mapping[str, Any]) -> bool:
    """Whether a place takes one of the hostile texts, as far as its schema tells."""
    kinds = node.get("type")
    is_text = "string" in kinds if isinstance(kinds, list) else kinds == "string"
    if not is_text or "enum" in node:
        return False
    return any(re.search(node.get("pattern", ""), text) for text in STRINGS if len(text) > 1)


def text_places(schema: str) -> set[Place]:
    """Every place of a document that takes any text, or nearly any."""
    return {place for place, node in places(schema) if takes_texts(node)}


def place_of(schema: str, path: tuple[Any, ...]) -> Place:
    """The place in the schema that a path in a document leads to."""
    node = resolved(schema, _document(schema))
    found: list[str] = []
    for key in path:
        if key == KEY:
            found.append(KEY)
        elif isinstance(key, str) and key in node.get("properties", {}):
            found.append(key)
            node = resolved(schema, node["properties"][key])
        else:
            found.append(ANY)
            below = node.get("items") if isinstance(key, int) else _others(node)
            node = resolved(schema, below) if isinstance(below, dict) else {}
    return tuple(found)


def _others(node: Mapping[str, Any]) -> Any:
    below = node.get("additionalProperties")
    return below if isinstance(below, dict) else next(iter(node.get("patternProperties", {}).values()), None)
