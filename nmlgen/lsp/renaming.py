"""Giving an output stream of a spec another name, wherever the spec speaks of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from nmlgen.errors import InputError, SpecError
from nmlgen.lsp.documents import Document
from nmlgen.lsp.places import KeyPlace, key_place
from nmlgen.lsp.positions import Positions
from nmlgen.source import Span
from nmlgen.spec.document import read_text
from nmlgen.spec.nodes import Node
from nmlgen.spec.spec import Spec
from nmlgen.spec.validate import part_of_spec

Place = tuple[int, int]


def stream_at(document: Document, offset: int) -> Place | None:
    """The offsets of the name of the stream that stands at a place of a spec; None for anything else."""
    if document.kind != "spec":
        return None
    place = key_place(document.source.text, offset)
    return None if place is None or _stream(place) is None else (place.word.start, place.word.end)


def _stream(place: KeyPlace) -> tuple[str | None, str] | None:
    """The model, None for all of them, and the name of the stream whose key stands at a place."""
    if place.is_value or place.key is None:
        return None
    if place.above == ("output",):
        return None, place.key
    if len(place.above) == 3 and place.above[0] == "models" and place.above[2] == "output":
        return place.above[1], place.key
    return None


def renamed(document: Document, offset: int, name: str, encoding: str, spec: Spec | None) -> types.WorkspaceEdit:
    """The edits that give the stream at a place another name.

    Raises InputError where that cannot be done: the place is no stream, the name is none or taken, the document cannot
    be read, or a preset says something of the stream.
    """
    place = key_place(document.source.text, offset) if document.kind == "spec" else None
    found = None if place is None else _stream(place)
    if found is None:
        raise InputError("here stands no output stream of a spec")
    model, old = found
    form = part_of_spec("output")["propertyNames"]["pattern"]
    if not re.search(form, name):
        raise InputError(f'"{name}" cannot be the name of a stream: letters, digits and underscores, at most 40')
    try:
        root = read_text(document.source)
    except SpecError as error:
        raise InputError(f"the spec cannot be read: {error.findings[0].message}") from None
    sections = dict(_sections(root))
    chosen = sections if model is None or old in _streams(sections.get(None)) else {model: sections[model]}
    if any(name in _streams(section) for section in chosen.values()):
        raise InputError(f'there is a stream "{name}" already')
    if spec is not None and (layer := _other_layer(spec, model, old)) is not None:
        raise InputError(
            f'{layer} says something of the stream "{old}", too; under another name it would be a second one'
        )
    spans = [section.keys[old] for section in chosen.values() if old in _streams(section)]
    edits = [(span, _written(span, name)) for span in spans]
    paths = ["output", "output_nml"] if model is None or len(chosen) > 1 else []
    paths += [f"models.{one}.output" for one in chosen if one is not None]
    edits += _in_sweep(root, [f"{path}.{old}" for path in paths], [f"{path}.{name}" for path in paths])
    positions = Positions(document.source, encoding)
    changes = [types.TextEdit(positions.range(span), text) for span, text in edits]
    return types.WorkspaceEdit(changes={document.uri: changes})


def _sections(root: Node) -> Iterator[tuple[str | None, Node]]:
    """The sections `output`, of all models and of each."""
    if "output" in root.value:
        yield None, root.value["output"]
    models = root.value.get("models")
    for name, model in models.value.items() if models is not None and isinstance(models.value, dict) else ():
        if isinstance(model.value, dict) and "output" in model.value:
            yield name, model.value["output"]


def _streams(section: Node | None) -> dict[str, Node]:
    return section.value if section is not None and isinstance(section.value, dict) else {}


def _other_layer(spec: Spec, model: str | None, stream: str) -> str | None:
    """A preset or a site that says something of a stream."""
    path = ("output", stream) if model is None else ("models", model, "output", stream)
    tree = spec.tree.below(*path)
    for leaf in (tree.children or {}).values() if tree is not None else ():
        for origin in leaf.history:
            if origin.layer not in ("spec", "--set") and origin.span is not None:
                return origin.layer
    return None


def _written(span: Span, name: str) -> str:
    """The name in the quotes that the old one has."""
    quote = span.text[:1]
    return f"{quote}{name}{quote}" if quote in ("'", '"') else name


def _in_sweep(root: Node, old: list[str], new: list[str]) -> list[tuple[Span, str]]:
    """The edits of keys and expressions of a sweep that name the stream."""
    sweep = root.value.get("sweep")
    if sweep is None:
        return []
    pattern = re.compile("|".join(rf"(?<![\w.]){re.escape(path)}(?=\.)" for path in old))
    instead = dict(zip(old, new, strict=True))
    edits: dict[tuple[int, int], tuple[Span, str]] = {}
    for span in _spans(sweep):
        text = span.text
        changed = pattern.sub(lambda match: instead[match[0]], text)
        if changed != text:
            edits[span.line, span.column] = (span, changed)
    return list(edits.values())


def _spans(node: Node) -> Iterator[Span]:
    """The places of all keys and scalars below a node."""
    if isinstance(node.value, dict):
        yield from node.keys.values()
        for child in node.value.values():
            yield from _spans(child)
    elif isinstance(node.value, list):
        for child in node.value:
            yield from _spans(child)
    elif isinstance(node.value, str) and node.span is not None:
        yield node.span
