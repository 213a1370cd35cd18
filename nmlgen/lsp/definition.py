"""Where what stands under the cursor is made: a preset, a site, the line that sets a variable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from nmlgen.errors import NmlgenError
from nmlgen.files import Files
from nmlgen.lsp.analysis import Analysis, registry_at
from nmlgen.lsp.documents import Document
from nmlgen.lsp.known import in_force, place_at
from nmlgen.lsp.places import KeyPlace
from nmlgen.lsp.positions import Positions
from nmlgen.lsp.shell import settings_of
from nmlgen.source import Span
from nmlgen.spec import presets
from nmlgen.spec.spec import Spec


def definitions_at(
    analysis: Analysis, files: Files, position: types.Position, encoding: str, spec: Spec | None = None
) -> list[types.Location]:
    """The places that an editor goes to from a place of a document."""
    document = analysis.document
    positions = Positions(document.source, encoding)
    offset = positions.offset(position)
    if document.kind == "script" and (found := settings_of(analysis, offset)):
        return [types.Location(document.uri, positions.between(start, end)) for start, end in found]
    place = place_at(document, offset)
    if isinstance(place, KeyPlace):
        named = _file_named(document, place)
        if named is not None:
            return [types.Location(named.as_uri(), _beginning())]
        spans = _spans_of_key(place, spec)
    elif place is not None and place.variable is not None:
        setting = in_force(analysis, files, place, registry_at(document, files))
        spans = iter(() if setting is None or setting.span is None else (setting.span,))
    else:
        return []
    paths = {source.name: path for path, source in files.sources.items()} | dict(analysis.read)
    return list(_locations(spans, document, paths, encoding))


def _beginning() -> types.Range:
    return types.Range(types.Position(0, 0), types.Position(0, 0))


def _file_named(document: Document, place: KeyPlace) -> Path | None:
    """The file of the preset or the site that stands at a place."""
    kind = {"extends": "preset", "site": "site"}.get(place.key or "")
    if not place.is_value or place.above or kind is None or not place.word.text:
        return None
    try:
        return presets.read(place.word.text, kind, document.path.parent, None)[2].resolve()
    except NmlgenError:
        return None


def _spans_of_key(place: KeyPlace, spec: Spec | None) -> Iterator[Span]:
    if spec is None:
        return
    try:
        chain = spec.chain(".".join(place.path))
    except NmlgenError:
        return
    yield from (origin.span for origin in chain if origin.span is not None)


def _locations(
    spans: Iterator[Span], document: Document, paths: dict[str, Path], encoding: str
) -> Iterator[types.Location]:
    for span in spans:
        name = span.source.name
        uri = document.uri if name == document.source.name else paths[name].as_uri() if name in paths else None
        if uri is not None:
            yield types.Location(uri, Positions(span.source, encoding).range(span))
