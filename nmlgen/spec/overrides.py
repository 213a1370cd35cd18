"""Single keys laid over a spec: from the command line as KEY=VALUE, from the library, from a sweep.

A key is given by its path, such as job.nodes or output.atm.output_interval; `parallel_nml.nproma` is short for
`namelists.parallel_nml.nproma`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from nmlgen.errors import SpecError
from nmlgen.experiment.setting import Origin
from nmlgen.pattern import pattern
from nmlgen.resources import schema
from nmlgen.source import Source, Span
from nmlgen.spec.document import from_plain, read_text
from nmlgen.spec.layers import Tree, tree_of
from nmlgen.spec.nodes import Node
from nmlgen.spec.problems import problem
from nmlgen.spec.sections import canonical, section_of
from nmlgen.spec.validate import validate
from nmlgen.values import evolve, frozen

_NOT_IN_YAML = pattern("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # as they are, at least


@frozen(eq=False)
class Override:
    """One value laid over a spec: its key in a spec's own words, its value as JSON, and the layer that says so."""

    key: str
    json: str
    layer: Tree

    @property
    def text(self) -> str:
        """The same as --set takes it."""
        return f"{self.key}={self.json}"


def from_text(text: str) -> Tree:
    """The layer of one --set: a path of keys, an equals sign and a value in YAML."""
    source = Source("--set", text)
    path, equals, value = text.partition("=")
    whole = source.span(1, 1, max(1, len(text)))
    if not equals or not all(path.split(".")):
        note = "expected: KEY=VALUE, such as job.nodes=4"
        raise SpecError((problem("SPC004", f'"{text}" sets nothing', whole, note),))
    key_span = source.span(1, 1, len(path))
    value_span = source.span(1, len(path) + 2, max(1, len(value)))
    return _layer(path, _value(value, value_span), key_span, "--set")


def overrides_of(key: str, value: Any, layer: str, span: Span | None = None) -> tuple[Override, ...]:
    """A value at a key, split into its leaves if it is a mapping; what is wrong with it is said at `span`.

    Raises SpecError for a key or a value that a spec cannot have.
    """
    try:
        text = _canonical_json(value)
    except (TypeError, ValueError):
        from_plain(value, key)  # says what it is that no spec can hold
        raise
    return _overrides(key, text, layer, span)


@lru_cache(maxsize=2048)
def _overrides(key: str, text: str, layer: str, span: Span | None) -> tuple[Override, ...]:
    if not all(key.split(".")):
        note = "expected: a path of keys, such as job.nodes"
        raise SpecError((problem("SPC003", f'"{key}" is not the path of a key', span, note),))
    value = from_plain(json.loads(text), key)
    tree = canonical(_layer(key, value if span is None else _at(value, span), span, layer))
    return tuple(_leaves(tree, ()))


@lru_cache(maxsize=1024)
def canonical_key(key: str) -> str:
    """A key in a spec's own words: parallel.nproma for parallel_nml.nproma. Nobody asks whether there is such a key."""
    parts = key.split(".")
    if len(parts) == 2 and parts[0] not in schema("spec")["properties"] and parts[0].endswith("_nml"):
        parts = ["namelists", *parts]
    layer = Tree(history=(Origin("", None),))
    for part in reversed(parts):
        layer = Tree(children={part: layer})
    path: list[str] = []
    layer = canonical(layer)
    while layer.children:
        part, layer = next(iter(layer.children.items()))
        path.append(part)
    return _spelt(tuple(path))


def _leaves(tree: Tree, path: tuple[str, ...]) -> Iterator[Override]:
    if tree.children:
        for key, child in tree.children.items():
            yield from _leaves(child, (*path, key))
        return
    if not path:  # an empty mapping of variables says nothing
        return
    layer = tree
    for key in reversed(path):
        layer = Tree(children={key: layer}, key_span=tree.key_span)
    said = {} if tree.children is not None else tree.value
    yield Override(_spelt(path), _canonical_json(said), layer)


def _spelt(path: tuple[str, ...]) -> str:
    if len(path) == 3 and path[0] == "namelists":
        return section_of(*path[1:])
    if len(path) == 5 and path[0] == "models" and path[2] == "namelists":
        return f"models.{path[1]}.{section_of(*path[3:])}"
    return ".".join(path)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def _canonical_json(value: Any) -> str:
    text = _ENCODER.encode(value)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _layer(path: str, node: Node, key_span: Span | None, label: str) -> Tree:
    parts = path.split(".")
    sections = schema("spec")["properties"]
    if len(parts) == 2 and parts[0] not in sections and parts[0].endswith("_nml"):
        parts = ["namelists", *parts]
    if len(parts) > len(sections):
        raise SpecError((problem("SPC003", "no key of a spec lies that deep", key_span),))
    for part in reversed(parts):
        node = Node({part: node}, key_span, {} if key_span is None else {part: key_span})
    validate(node, "spec")
    return tree_of(node, label)


def _value(text: str, span: Span) -> Node:
    """The value of one --set, read as YAML would read it after a key; mistakes point at the whole of it."""
    try:
        read = read_text(Source("--set", f"value: {text}")).value
    except SpecError as error:
        raise SpecError(tuple(evolve(finding, span=span) for finding in error.findings)) from None
    if set(read) != {"value"}:
        raise SpecError((problem("SPC004", "--set sets one value", span, "expected: KEY=VALUE on one line"),))
    return _at(read["value"], span)


def _at(node: Node, span: Span) -> Node:
    """The same node with all positions at one span."""
    if isinstance(node.value, dict):
        return Node({key: _at(child, span) for key, child in node.value.items()}, span, dict.fromkeys(node.value, span))
    return Node([_at(child, span) for child in node.value] if isinstance(node.value, list) else node.value, span)
