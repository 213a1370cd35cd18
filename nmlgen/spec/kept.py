"""Nodes kept as JSON beside the presets and sites that ship with nmlgen.

Python reads JSON some fifty times as fast as ruamel.yaml reads YAML, and every start reads a preset and a site.
`python docs/generate.py` writes the files; one that was made of other bytes than the YAML has now is not taken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmlgen.source import Source, Span
from nmlgen.spec.nodes import Document, Node


def written(document: Document) -> str:
    """The text of the file in which the nodes of a document are kept."""
    kept = {"sha256": document.sha256, "node": _written(document.node)}
    return json.dumps(kept, separators=(",", ":"), ensure_ascii=False) + "\n"


def _written(node: Node) -> list[Any]:
    value = node.value
    if isinstance(value, dict):
        value = {key: [*_stretch(node.keys[key]), *_written(item)] for key, item in value.items()}
    elif isinstance(value, list):
        value = [_written(item) for item in value]
    return [*_stretch(node.span), value]


def _stretch(span: Span | None) -> tuple[int, int, int]:
    assert span is not None, "what was read from a text stands somewhere"
    return span.line, span.column, span.end_column - span.column


def kept_node(path: Path, source: Source, sha256: str) -> Node | None:
    """The root of the nodes that are kept in a file; None where there is none, a half, or one made of other bytes."""
    try:
        found: Mapping[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return _node(source, *found["node"]) if found["sha256"] == sha256 else None


def _node(source: Source, line: int, column: int, length: int, value: Any) -> Node:
    span = source.span(line, column, length)
    if isinstance(value, dict):
        keys = {key: source.span(*item[:3]) for key, item in value.items()}
        return Node({key: _node(source, *item[3:]) for key, item in value.items()}, span, keys)
    if isinstance(value, list):
        return Node([_node(source, *item) for item in value], span)
    return Node(value, span)
