"""What an editor shows of the word under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from nmlgen.errors import NmlgenError
from nmlgen.files import Files
from nmlgen.lsp.analysis import Analysis, registry_at
from nmlgen.lsp.diagnostics import findings_at
from nmlgen.lsp.documents import Document
from nmlgen.lsp.known import (
    chain_lines,
    group_of,
    in_force,
    is_varlist,
    pages,
    place_at,
    schema_part,
    setting_lines,
    variable_of,
)
from nmlgen.lsp.places import KeyPlace, Word, code_at, parameter_at
from nmlgen.lsp.positions import Positions
from nmlgen.lsp.shell import values_at
from nmlgen.models.icon.meanings import meaning
from nmlgen.models.icon.variables import OutputVariable, catalogue_for
from nmlgen.namelist.descriptions import description
from nmlgen.namelist.registry import Registry
from nmlgen.report.registry import format_removal, format_variable
from nmlgen.spec import presets
from nmlgen.spec.spec import Spec

_RULE = "\n\n---\n\n"


def hover_at(
    analysis: Analysis, files: Files, position: types.Position, encoding: str, spec: Spec | None = None
) -> types.Hover | None:
    """What is known at a place: the variable, the value in force and who set it, the pages of what is found there.

    `spec` is the document as it last could be loaded.
    """
    document = analysis.document
    positions = Positions(document.source, encoding)
    offset = positions.offset(position)
    parts = list(_parts(analysis, files, offset, spec))
    codes = dict.fromkeys(finding.code for finding in findings_at(analysis, position, encoding))
    if (code := code_at(document.source.text, offset)) is not None:
        codes = {code: None, **codes}
    parts += [pages()[code] for code in codes if code in pages()]
    if not parts:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, _RULE.join(parts)))


def _parts(analysis: Analysis, files: Files, offset: int, spec: Spec | None) -> Iterator[str]:
    document = analysis.document
    if document.kind == "script" and (said := _shell_variable(analysis, offset)) is not None:
        yield said
    place = place_at(document, offset)
    if place is None:
        return
    registry = registry_at(document, files, spec)
    variable = variable_of(place)
    if is_varlist(variable) and place.is_value and place.word.text:
        said = output_variable_text(registry, place.word.text)
        if said is not None:
            yield said
            return
    if isinstance(place, KeyPlace):
        yield from _of_key(document, place, variable, registry, spec)
    elif place.in_header:
        yield group_text(registry, place.group)
    elif variable is not None and (text := variable_text(registry, *variable)) is not None:
        setting = in_force(analysis, files, place, registry)
        lines = [] if setting is None else list(setting_lines(setting, document))
        yield "\n\n".join((text, *lines))


def _of_key(
    document: Document, place: KeyPlace, variable: tuple[str, str] | None, registry: Registry, spec: Spec | None
) -> Iterator[str]:
    described = schema_part(document, place.path)
    lines = [described.get("description", "")] if not _is_any_value(described) else []
    if described.get("enum"):
        lines.append(f"one of {', '.join(map(str, described['enum']))}")
    if document.kind != "spec":
        yield from ("\n\n".join(line for line in lines if line),) if any(lines) else ()
        return
    if variable is not None and (text := variable_text(registry, *variable)) is not None:
        lines.append(text)
    elif (group := group_of(KeyPlace(place.path, None, False, place.word))) and registry.has_group(group):
        lines.append(group_text(registry, group))
    if place.is_value and place.above == () and place.key in ("site", "extends"):
        lines.append(_preset_text(place.word))
    if spec is not None:
        try:
            chain = spec.chain(".".join(place.path))
            lines += chain_lines(chain, document)
        except NmlgenError:
            pass  # a mapping, or nothing that anybody sets
    said = [line for line in lines if line]
    if said:
        yield "\n\n".join(said)


def _is_any_value(part: dict[str, Any]) -> bool:
    return isinstance(part.get("type"), list) and "array" in part["type"] and "boolean" in part["type"]


def _preset_text(word: Word) -> str:
    for name in (word.text, f"{presets.SITE_PREFIX}{word.text}"):
        if name in presets.names():
            heading = presets.text(name).splitlines()
            return "\n".join(line.removeprefix("#").strip() for line in heading if line.startswith("#"))[:2000]
    return ""


def group_text(registry: Registry, group: str) -> str:
    """Who reads a group of namelists, and what is in it."""
    found = registry.described(group)
    if not found:
        removal = registry.removed_group(group)
        return f"ICON {registry.release} has no group {group}" if removal is None else format_removal(group, removal)
    one = found[0]
    lines = [f"**{one.name}** of ICON {registry.release}, {len(one.variables)} variables"]
    lines.append(f"read by: {', '.join(one.readers) if one.is_read else 'nothing'}")
    if one.condition is not None:
        lines.append(f"if: {one.condition}")
    lines.append("every copy is read" if one.is_repeatable else "of several copies the first is read")
    return "\n\n".join(lines)


def variable_text(registry: Registry, group: str, name: str) -> str | None:
    """All that the release knows of a variable; None if it knows none of that name."""
    if not registry.has_group(group):
        return None
    variable = registry.variable(group, name)
    if variable is not None:
        said = description(group, variable.name)
        text = f"```text\n{format_variable(registry, variable)}\n```"
        return text if said is None else f"{said}\n\n{text}"
    removal = registry.removed_variable(group, name)
    return None if removal is None else format_removal(f"{group}.{name}", removal)


def output_variable_text(registry: Registry, name: str) -> str | None:
    """What a name in a varlist stands for; None if the release knows none of that name."""
    catalogue = catalogue_for(registry)
    kind, colon, group = name.partition(":")
    if colon and kind.lower() == "group":
        members = catalogue.group(group)
        if not members:
            return None
        names = ", ".join(dict.fromkeys(member.name for member in members))
        shortened = names if len(names) < 1200 else f"{names[:1200].rpartition(',')[0]}, ..."
        return f"**{name}**: {len(members)} output variables\n\n{shortened}"
    found = catalogue.find(name)
    return "\n\n".join(describe(variable) for variable in found) if found else None


def describe(variable: OutputVariable) -> str:
    """An output variable in a few lines."""
    said = meaning(variable.name)
    lines = [f"**{variable.name}**: {said}"] if said else [f"**{variable.name}**"]
    lines.append(f"{variable.component}, on {variable.axis or 'levels'} ({variable.location})")
    if variable.groups:
        lines.append(f"in the groups {', '.join(variable.groups[:12])}")
    if variable.conditions:
        lines.append("exists if " + " and ".join(f"`{condition}`" for condition in variable.conditions))
    return "\n\n".join(lines)


def _shell_variable(analysis: Analysis, offset: int) -> str | None:
    found = parameter_at(analysis.document.source.text, offset)
    if found is None:
        return None
    values = values_at(analysis, offset)
    if not values:
        return None
    lines = [f"`${found[0]}`"]
    for text, place in values:
        where = f", set in line {place[0]}" if place is not None else ""
        lines.append(f"{'what only a run knows' if text is None else f'`{text}`' if text else 'empty'}{where}")
    return "\n\n".join(lines)
