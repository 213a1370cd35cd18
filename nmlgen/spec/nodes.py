"""Values of a document, each with the place where it was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.source import Span
from nmlgen.values import frozen


@frozen(eq=False)
class Node:
    """A value of a document: a scalar, a dict of nodes or a list of nodes, with its span.

    `keys` holds the spans of a mapping's keys.
    """

    value: Any
    span: Span | None
    keys: Mapping[str, Span] = {}

    def plain(self) -> Any:
        """The same without positions: what `json.loads` would give."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


@frozen(eq=False)
class Document:
    """A file that was read: its mapping, and the SHA-256 of its bytes.

    `written` are the values and keys that stand in it, `unfolded` those that its aliases make of them; of what ships
    with nmlgen neither is counted.
    """

    node: Node
    sha256: str
    written: int = 0
    unfolded: int = 0
