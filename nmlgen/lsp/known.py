"""What is known of a place: the variable that it is about, the value in force and who set it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from nmlgen.codes import explanations, rule_names
from nmlgen.errors import NmlgenError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group, effective
from nmlgen.experiment.setting import Certainty, Origin, Setting
from nmlgen.files import Files
from nmlgen.lift.loading import load
from nmlgen.lift.mkexp import lift_config
from nmlgen.lsp.analysis import Analysis, registry_at, root_of
from nmlgen.lsp.documents import Document
from nmlgen.lsp.places import KeyPlace, NamelistPlace, key_place, namelist_place, toml_place
from nmlgen.namelist.registry import Registry
from nmlgen.source import Span
from nmlgen.spec.sections import VARIABLES, WHOLE_GROUPS
from nmlgen.spec.validate import part_of

_SCHEMAS = {"spec": "spec", "site": "site", "project": "configuration"}
_VARLISTS = ("ml_varlist", "pl_varlist", "hl_varlist", "il_varlist")


def place_at(document: Document, offset: int) -> NamelistPlace | KeyPlace | None:
    """What stands at an offset of a document; None where that is nothing of ICON's or of a spec's."""
    text = document.source.text
    if document.kind in ("spec", "site"):
        return key_place(text, offset)
    if document.kind == "project":
        return toml_place(text, offset)
    return namelist_place(text, offset, is_config=document.kind == "config")


def schema_part(document: Document, path: tuple[str, ...]) -> dict[str, Any]:
    """What the schema of a document says of the value below a path of keys; empty if there is no such key."""
    name = _SCHEMAS.get(document.kind or "")
    part = None if name is None else part_of(name, *path)
    return part if isinstance(part, dict) else {}


def variable_of(place: NamelistPlace | KeyPlace) -> tuple[str, str] | None:
    """The group and the variable that a place is about, in lower case; None for none."""
    if isinstance(place, NamelistPlace):
        return None if place.variable is None else (place.group, place.variable.partition("%")[0])
    path = place.path[2:] if place.path[:1] == ("models",) else place.path
    if len(path) == 2 and path[0] in WHOLE_GROUPS:
        return WHOLE_GROUPS[path[0]], _plain(path[1])
    if len(path) == 2 and (path[0], path[1]) in VARIABLES:
        group, name = VARIABLES[path[0], path[1]]
        return group, name.lower()
    if len(path) == 3 and path[0] in ("namelists", "land"):
        return path[1].lower(), _plain(path[2])
    return ("output_nml", _plain(path[2])) if len(path) == 3 and path[0] == "output" else None


def group_of(place: NamelistPlace | KeyPlace) -> str | None:
    """The group whose variables may stand at a place."""
    if isinstance(place, NamelistPlace):
        return place.group
    above = place.above[2:] if place.above[:1] == ("models",) else place.above
    if len(above) == 1 and above[0] in WHOLE_GROUPS:
        return WHOLE_GROUPS[above[0]]
    if len(above) == 2 and above[0] in ("namelists", "land"):
        return above[1].lower()
    return "output_nml" if len(above) == 2 and above[0] == "output" else None


def _plain(name: str) -> str:
    return name.partition("(")[0].partition("%")[0].strip().lower()


def is_varlist(variable: tuple[str, str] | None) -> bool:
    """Whether a variable lists output variables."""
    return variable is not None and variable[0] == "output_nml" and variable[1] in _VARLISTS


@cache
def pages() -> Mapping[str, str]:
    """The page of each rule and problem, by its code, with a heading."""
    names = rule_names()
    return {code: f"### {code} {names[code]}\n\n{text}" for code, text in explanations().items()}


def experiments_of(analysis: Analysis, files: Files) -> tuple[Experiment, ...]:
    """The experiments that a script, a namelist or a configuration of mkexp says; none where there is none."""
    document = analysis.document
    if analysis.script is not None:
        return tuple(way.experiment for way in analysis.script.ways[:1] if way.experiment is not None)
    registry = registry_at(document, files)
    try:
        if document.kind == "config":
            return lift_config(document.path, registry, files=files).experiments
        return (load(root_of(document, files), icon_release=registry.reference, files=files).experiment,)
    except NmlgenError:
        return ()


def in_force(analysis: Analysis, files: Files, place: NamelistPlace, registry: Registry) -> Setting | None:
    """The value that ICON sees of the variable at a place; None where nobody knows which model reads it."""
    assert place.variable is not None
    document = analysis.document
    line = document.source.text.count("\n", 0, place.header) + 1
    name = place.variable
    for experiment in experiments_of(analysis, files):
        found = list(_groups_named(experiment, place.group))
        for component, group in found:
            span = group.span
            if span is not None and span.source.name == document.source.name and span.line == line:
                if registry.is_repeatable(place.group):
                    return effective(registry, group, place.group, name)
                return component[place.group, name]
        if found and not registry.is_repeatable(place.group):
            return found[0][0][place.group, name]
    return None


def _groups_named(experiment: Experiment, name: str) -> Iterator[tuple[Component, Group]]:
    for component in experiment.components:
        for group in component.all_groups():
            if group.name.lower() == name:
                yield component, group


def setting_lines(setting: Setting, document: Document) -> Iterator[str]:
    """Which value is in force and who set it, a line each."""
    if setting.certainty is Certainty.UNKNOWN:
        where = f", set {_where(setting.span, document)}" if setting.span is not None else ""
        yield f"in force: what only a run knows{where}"
    elif setting.certainty is Certainty.DEFAULT:
        yield f"in force: `{shown(setting.origin.value)}`, the {setting.origin.layer}; nobody sets it"
    else:
        yield f"in force: `{shown(setting.origin.value)}`, set {_where(setting.span, document)}"


def chain_lines(chain: tuple[Origin, ...], document: Document) -> Iterator[str]:
    """Everyone who had a say in a setting of a spec, a line each, the last word first."""
    for number, origin in enumerate(chain):
        where = f", {_where(origin.span, document)}" if origin.span is not None else ""
        kind = "in force" if number == 0 else "replaced"
        value = "null (taken away)" if origin.value is None else shown(origin.value)
        reason = f" ({origin.reason})" if origin.reason else ""
        yield f"{kind}: `{value}`, {origin.layer}{where}{reason}"


def _where(span: Span | None, document: Document) -> str:
    if span is None:
        return "by what stands around it"
    if span.source.name == document.source.name:
        return f"in line {span.line}"
    return f"at {Path(span.source.name).name}:{span.line}"


def shown(value: object) -> str:
    """A value as a reader knows it from specs."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(element) for element in value)
    return "''" if value == "" else str(value)
