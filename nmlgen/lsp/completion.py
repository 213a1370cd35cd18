"""What may stand at a place: groups, variables, their values, output variables, presets, sites, keys, rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from nmlgen.codes import rule_names
from nmlgen.files import Files
from nmlgen.lsp.analysis import registry_at
from nmlgen.lsp.documents import Document
from nmlgen.lsp.hover import describe, group_text, variable_text
from nmlgen.lsp.known import group_of, is_varlist, pages, place_at, schema_part, variable_of
from nmlgen.lsp.places import KeyPlace, NamelistPlace, Word, word_at
from nmlgen.lsp.positions import Positions
from nmlgen.models.icon.meanings import meaning
from nmlgen.models.icon.variables import catalogue_for
from nmlgen.namelist.constraint import literal
from nmlgen.namelist.registry import Registry, Variable, releases
from nmlgen.report.registry import default_text
from nmlgen.spec import presets
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS, spelling
from nmlgen.spec.spec import Spec
from nmlgen.spec.validate import part_of_spec
from nmlgen.values import frozen

TRIGGERS = ["&", "'", '"', "[", ":", "/"]
_MOST = 500
_SUPPRESSING = re.compile(r"nmlgen:\s*ignore(?:-file)?\[[^\]\n]*$")
_KINDS = types.CompletionItemKind


@frozen
class _Offer:
    """One thing that may stand at a place; `text` is what is written, if that is not its name."""

    name: str
    kind: types.CompletionItemKind
    detail: str = ""
    document: str = ""
    text: str | None = None


def completions_at(
    document: Document, files: Files, position: types.Position, encoding: str, spec: Spec | None = None
) -> types.CompletionList:
    """What may stand at a place, as far as what is written of it goes. `spec` is the document as it last was loaded."""
    positions = Positions(document.source, encoding)
    offset = positions.offset(position)
    word, offers = _offers(document, files, offset, spec)
    before = word.before.lower()
    first = [offer for offer in offers if offer.name.lower().startswith(before)]
    if before:
        first += [offer for offer in offers if before in offer.name.lower() and offer not in first[:_MOST]]
    where = positions.between(word.start, word.end)
    items = [_item(offer, number, where) for number, offer in enumerate(first[:_MOST])]
    return types.CompletionList(is_incomplete=len(first) > _MOST, items=items)


def _item(offer: _Offer, number: int, where: types.Range) -> types.CompletionItem:
    return types.CompletionItem(
        label=offer.name,
        kind=offer.kind,
        detail=offer.detail or None,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, offer.document) if offer.document else None,
        sort_text=f"{number:05d}",
        filter_text=offer.name,
        text_edit=types.TextEdit(where, offer.name if offer.text is None else offer.text),
    )


def _offers(document: Document, files: Files, offset: int, spec: Spec | None) -> tuple[Word, list[_Offer]]:
    text = document.source.text
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if _SUPPRESSING.search(line):
        return word_at(text, offset, re.compile(r"[\w-]")), list(_rules())
    place = place_at(document, offset)
    registry = registry_at(document, files, spec)
    if isinstance(place, KeyPlace):
        return _split(place, text, offset, list(_of_key(document, place, registry)))
    if place is None or place.in_header:
        word = word_at(text, offset, re.compile(r"\w"))
        is_header = re.fullmatch(r"[ \t]*&\w*", line) is not None
        return word, list(_groups(registry)) if is_header else []
    return _split(place, text, offset, list(_of_namelist(place, registry, text)))


def _split(
    place: NamelistPlace | KeyPlace | None, text: str, offset: int, offers: list[_Offer]
) -> tuple[Word, list[_Offer]]:
    return (word_at(text, offset) if place is None else place.word), offers


def _groups(registry: Registry) -> Iterator[_Offer]:
    for group in registry.groups:
        if registry.is_read(group):
            detail = f"{', '.join(registry.readers(group))}, {len(registry.variables(group))} variables"
            yield _Offer(group, _KINDS.Module, detail, group_text(registry, group))


def _of_namelist(place: NamelistPlace, registry: Registry, text: str) -> Iterator[_Offer]:
    if not registry.has_group(place.group):
        return
    if not place.is_value:
        yield from _variables(registry, place.group, " = ")
        return
    found = variable_of(place)
    variable = None if found is None else registry.variable(*found)
    is_quoted = text[: place.word.start].endswith(("'", '"'))
    if is_varlist(found):
        yield from _output_variables(registry, "" if is_quoted else "'")
    elif variable is not None:
        yield from _values(variable, "" if is_quoted else "'", (".true.", ".false."))


def _variables(registry: Registry, group: str, ending: str) -> Iterator[_Offer]:
    for name in registry.variables(group):
        variable = registry.variable(group, name)
        if variable is not None and "%" not in name:
            detail = f"{variable.declaration}, default {default_text(variable)}"
            text = f"{spelling(name)}{ending}"
            yield _Offer(spelling(name), _KINDS.Field, detail, variable_text(registry, group, name) or "", text)


def _values(variable: Variable, quote: str, truths: tuple[str, str]) -> Iterator[_Offer]:
    given: dict[str, str] = {}
    if variable.type == "logical":
        given = dict.fromkeys(truths, "")
    constraint = variable.constraint
    allowed = constraint.allowed if constraint is not None and constraint.allowed else variable.allowed or ()
    for value in allowed:
        given.setdefault(_written(value, quote, truths), "")
    if variable.has_default and isinstance(variable.default, (str, int, float)):
        given[_written(variable.default, quote, truths)] = "the default"
    expected = "" if constraint is None else constraint.expected
    for text, note in given.items():
        yield _Offer(text.strip(quote) if quote else text, _KINDS.EnumMember, note or expected, text=text)


def _written(value: Any, quote: str, truths: tuple[str, str]) -> str:
    if isinstance(value, bool):
        return truths[0] if value else truths[1]
    return f"{quote}{value}{quote}" if isinstance(value, str) else literal(value)


def _output_variables(registry: Registry, quote: str) -> Iterator[_Offer]:
    catalogue = catalogue_for(registry)
    for variable in catalogue.outputs():
        detail = meaning(variable.name) or f"{variable.component}, {variable.axis or 'levels'}"
        name = variable.name
        yield _Offer(name, _KINDS.Variable, detail, describe(variable), f"{quote}{name}{quote}")
    for group in catalogue.groups:
        name = f"group:{group}"
        yield _Offer(
            name, _KINDS.Constant, f"{len(catalogue.group(group))} output variables", "", f"{quote}{name}{quote}"
        )


def _of_key(document: Document, place: KeyPlace, registry: Registry) -> Iterator[_Offer]:
    if place.is_value:
        yield from _of_value(document, place, registry)
        return
    group = group_of(place) if document.kind == "spec" else None
    if group is not None:
        if registry.has_group(group):
            yield from _variables(registry, group, ": ")
        return
    above = place.above[2:] if place.above[:1] == ("models",) else place.above
    if document.kind == "spec" and above in (("namelists",), ("land",)):
        yield from (_Offer(o.name, o.kind, o.detail, o.document, f"{o.name}:") for o in _groups(registry))
        return
    if document.kind == "spec" and place.above in (("sweep", "grid"), ("sweep", "zip"), ("sweep", "derive")):
        yield from _paths(registry)
        return
    part = schema_part(document, place.above)
    for key, said in part.get("items", part).get("properties", {}).items():
        is_mapping = "object" in str(said.get("type", "object" if "$ref" in said else ""))
        ending = " = " if document.kind == "project" else ":" if is_mapping else ": "
        yield _Offer(key, _KINDS.Property, _type(said), said.get("description", ""), f"{key}{ending}")


def _type(said: dict[str, Any]) -> str:
    kind = said.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _paths(registry: Registry) -> Iterator[_Offer]:
    """The keys that a sweep may vary."""
    for section, key in VARIABLES:
        yield _Offer(f"{section}.{key}", _KINDS.Property, text=f"{section}.{key}: ")
    for section, group in WHOLE_GROUPS.items():
        for name in registry.variables(group):
            yield _Offer(f"{section}.{spelling(name)}", _KINDS.Property, text=f"{section}.{spelling(name)}: ")
    for key in part_of_spec("job")["properties"]:
        yield _Offer(f"job.{key}", _KINDS.Property, text=f"job.{key}: ")


def _of_value(document: Document, place: KeyPlace, registry: Registry) -> Iterator[_Offer]:
    is_spec = document.kind == "spec"
    if is_spec and place.path == ("extends",):
        names = (name for name in presets.names() if not name.startswith(presets.SITE_PREFIX))
        yield from (_Offer(name, _KINDS.Reference, "preset") for name in names)
    elif place.path == ("site",):
        yield from _sites()
    elif place.path in (("model", "release"), ("icon-release",)):
        is_quoted = document.source.text[: place.word.start].endswith(("'", '"'))
        yield from (_Offer(r, _KINDS.EnumMember, text=r if is_quoted else f'"{r}"') for r in reversed(releases()))
    elif document.kind == "project" and place.path in (("select",), ("ignore", "rule")):
        yield from _rules()
    elif is_spec and is_varlist(variable_of(place)):
        yield from _output_variables(registry, "")
    else:
        part = schema_part(document, place.path)
        yield from (_Offer(str(value), _KINDS.EnumMember) for value in part.get("enum", ()))
        if part.get("type") == "boolean":
            yield from (_Offer(word, _KINDS.EnumMember) for word in ("true", "false"))
        found = variable_of(place) if is_spec else None
        variable = registry.variable(*found) if found is not None and registry.has_group(found[0]) else None
        if variable is not None:
            yield from _values(variable, "", ("true", "false"))


def _sites() -> Iterator[_Offer]:
    for name in presets.names():
        if name.startswith(presets.SITE_PREFIX):
            yield _Offer(name.removeprefix(presets.SITE_PREFIX), _KINDS.Reference, "site")


def _rules() -> Iterator[_Offer]:
    for code, name in rule_names().items():
        yield _Offer(code, _KINDS.Constant, name, pages().get(code, ""))
