"""Layers that override each other, and the memory of who set what.

A layer is a document with a label. Merging goes key by key; a list or a scalar replaces the one before; null
takes a key away, so that ICON's own default holds again. Every value keeps the chain of those it replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nmlgen.experiment.setting import Origin
from nmlgen.source import Span
from nmlgen.spec.nodes import Node
from nmlgen.values import frozen


@frozen(eq=False)
class Tree:
    """A merged key: either a value with the chain of its origins, or a mapping of further keys.

    `replaces` says that a mapping does not add to the one in the layers below but takes its place, because a
    value in between did away with it. `key_span` is the place where the key was written; `elements` is a
    list as it was read, whose elements have places of their own.
    """

    history: tuple[Origin, ...] = ()
    children: Mapping[str, Tree] | None = None
    replaces: bool = False
    key_span: Span | None = None
    elements: Node | None = None

    @property
    def is_mapping(self) -> bool:
        """Whether further keys are below."""
        return self.children is not None

    @property
    def is_unset(self) -> bool:
        """Whether the last word was null."""
        return self.children is None and self.history[-1].value is None

    def get(self, key: str) -> Tree | None:
        """What is below `key`; None if nothing is, or null took it away."""
        found = (self.children or {}).get(key)
        return None if found is None or found.is_unset else found

    def below(self, *path: str) -> Tree | None:
        """What any layer said below a path of keys, even if null took it away."""
        found: Tree | None = self
        for key in path:
            found = (found.children or {}).get(key) if found is not None else None
        return found

    def at(self, *path: str) -> Tree | None:
        """What is below a path of keys."""
        found: Tree | None = self
        for key in path:
            found = found.get(key) if found is not None else None
        return found

    @property
    def value(self) -> Any:
        """The value in force, as plain data."""
        return self.history[-1].value

    @property
    def span(self) -> Span | None:
        """Where the value in force, or the mapping's key, was written."""
        return self.history[-1].span if self.history and self.children is None else self.key_span

    def plain(self) -> Any:
        """The same without history and without keys that null took away."""
        if self.children is None:
            return self.value
        return {key: child.plain() for key, child in self.children.items() if not child.is_unset}


def tree_of(node: Node, layer: str, key_span: Span | None = None) -> Tree:
    """The tree of a single layer."""
    if isinstance(node.value, dict):
        children = {key: tree_of(child, layer, node.keys.get(key)) for key, child in node.value.items()}
        return Tree(children=children, key_span=key_span)
    elements = node if isinstance(node.value, list) else None
    origin = Origin(layer, node.plain(), node.span, elements=tuple(node.value) if elements is not None else ())
    return Tree(history=(origin,), key_span=key_span, elements=elements)


def merge(below: Tree, above: Tree) -> Tree:
    """`above` laid over `below`. Associative, with the empty mapping as its neutral element."""
    if above.children is None:
        return Tree(history=below.history + above.history, key_span=above.key_span, elements=above.elements)
    if above.replaces or below.children is None:
        return Tree(below.history + above.history, above.children, replaces=True, key_span=above.key_span)
    children = dict(below.children)
    for key, child in above.children.items():
        children[key] = merge(children[key], child) if key in children else child
    return Tree(below.history + above.history, children, below.replaces, above.key_span or below.key_span)


EMPTY = Tree(children={})


def children_of(tree: Tree | None) -> list[tuple[str, Tree]]:
    """The keys below a tree that null did not take away; none where there is no tree."""
    if tree is None or tree.children is None:
        return []
    return [(key, child) for key, child in tree.children.items() if not child.is_unset]
