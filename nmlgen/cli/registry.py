"""nmlgen registry: what the releases of ICON know."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import click

from nmlgen import disk
from nmlgen.cli.console import format_option, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.errors import InputError
from nmlgen.findings import did_you_mean
from nmlgen.namelist.difference import differences
from nmlgen.namelist.registry import Registry, catalogue_beside, read_registry, registry_of, releases
from nmlgen.report import registry as texts
from nmlgen.report.json import to_json
from nmlgen.report.table import format_table
from nmlgen.resources import directory
from nmlgen.visible import joined
from nmlgen.writing import write_whole

_RELEASE = "a release such as 2024.10, or the path of a registry file"

_release_option = click.option(
    "--icon-release",
    metavar="RELEASE",
    default=releases()[-1],
    show_default=True,
    help=f"Which ICON: {_RELEASE}.",
)


@click.group("registry")
def command() -> None:
    """Look up ICON's namelist groups and variables, compare releases.

    RELEASE is a release that ships with nmlgen, such as 2024.10, or the path of a registry file of your own.
    """


@command.command("show")
@click.argument("group")
@click.argument("variable", required=False)
@_release_option
@format_option
def show(group: str, variable: str | None, icon_release: str, output_format: str) -> int:
    """Show the namelist GROUP, or one VARIABLE of it."""
    registry = _registry(icon_release)
    found = registry.described(group)
    if not found:
        raise InputError(_no_group(registry, group))
    if variable is None:
        if output_format == "json":
            click.echo(to_json([texts.group_document(registry, one) for one in found]))
        else:
            colour, terminal = uses_colour(sys.stdout), sys.stdout.isatty()
            show_coloured(joined("\n\n", (texts.format_group(registry, one, colour, terminal) for one in found)))
        return 0
    name = variable.lower()
    variables = [v for one in found for v in registry.variables_of(one) if name in (v.name, v.name.partition("%")[0])]
    if not variables:
        raise InputError(_no_variable(registry, group, variable))
    if output_format == "json":
        click.echo(to_json([texts.variable_document(registry, one) for one in variables]))
    else:
        click.echo("\n\n".join(texts.format_variable(registry, one) for one in variables))
    return 0


@command.command("search")
@click.argument("word")
@_release_option
@format_option
def search(word: str, icon_release: str, output_format: str) -> int:
    """List the groups and variables that have WORD in their names, and names that are gone."""
    registry = _registry(icon_release)
    wanted = word.lower()
    described = [group for name in registry.groups for group in registry.described(name)]
    groups = [group for group in described if wanted in group.name.lower()]
    variables = [v for group in described for v in registry.variables_of(group) if wanted in v.name]
    removed = {name: removal for name, removal in registry.removed.items() if wanted in name.rpartition(".")[2]}
    if output_format == "json":
        document = {
            "groups": [group.name for group in groups],
            "variables": [texts.variable_document(registry, variable) for variable in variables],
            "removed": [texts.removal_document(name, removal) for name, removal in removed.items()],
        }
        click.echo(to_json(document))
        return 0
    if not (groups or variables or removed):
        click.echo(f'ICON {registry.release} has no name with "{word}" in it')
        return 0
    rows = [(group.name, "", f"{len(group.variables)} variables", "") for group in groups]
    rows += [(v.group, v.full_name, v.declaration, texts.default_text(v)) for v in variables]
    parts: list[str] = []
    if rows:
        headings = ("group", "variable", "type", "default")
        parts.append(format_table(headings, rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    if removed:
        parts.append("\n".join(texts.format_removal(name, removal) for name, removal in removed.items()))
    show_coloured(joined("\n\n", parts))
    return 0


@command.command("diff")
@click.argument("old", metavar="RELEASE")
@click.argument("new", metavar="RELEASE")
@format_option
def diff(old: str, new: str, output_format: str) -> int:
    """Compare two releases: groups and variables that came and went, types, defaults and values that changed."""
    before, after = _registry(old), _registry(new)
    changes = differences(before, after)
    if output_format == "json":
        document = {"from": before.release, "to": after.release, "changes": list(map(texts.change_document, changes))}
        click.echo(to_json(document))
    elif changes:
        show_coloured(texts.format_changes(changes, uses_colour(sys.stdout), sys.stdout.isatty()))
    else:
        click.echo(f"ICON {before.release} and {after.release} have the same namelists")
    return 0


@command.command("export")
@_release_option
@click.option(
    "--for",
    "tool",
    type=click.Choice(["rose", "nml-tools"]),
    required=True,
    help="Metadata of Rose, or the schemas of nml-tools.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The directory to write rose-meta.conf into, or a schema for each group.",
)
def export(icon_release: str, tool: str, output: Path) -> int:
    """Write what is known of the namelists for other programs: types, values, ranges, units, meanings.

    \b
      nmlgen registry export --for rose -o app/icon/meta
      nmlgen registry export --for nml-tools -o schemas
    """
    from nmlgen.namelist.exported import nml_tools_schemas, rose_metadata

    registry = _registry(icon_release)
    files = {"rose-meta.conf": rose_metadata(registry)} if tool == "rose" else nml_tools_schemas(registry)
    output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_whole(output / name, text.encode(errors="backslashreplace"), is_ours=True)
    click.echo(
        f"{output}: {'rose-meta.conf' if tool == 'rose' else f'{len(files)} schemas'} of ICON {registry.release}"
    )
    return 0


@command.command("make")
@click.argument("source_tree", type=click.Path(path_type=Path))
@click.option("--icon-release", metavar="RELEASE", required=True, help="The release that the tree holds.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write, or nmlgen's own directory schemas.",
)
@click.option(
    "--log",
    "logs",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A nml.atmo.log or its like of a run of that release: its printed defaults are compared. Repeatable.",
)
def make(source_tree: Path, icon_release: str, output: Path, logs: tuple[Path, ...]) -> int:
    """Make what nmlgen knows of another release from ICON's SOURCE_TREE: its namelists, and its output variables in
    a second file beside.

    \b
    Groups, variables, types, shapes, defaults and who reads a group are taken from the Fortran sources, and so are the
    names and the groups of output variables; constraints, units and conditions are those of the release before, where
    a variable is still the same. What the tree lacks, such as an external library that was not fetched, is that of the
    release before, too, and the files say so. To use them, name the first one wherever a release is asked for:
      nmlgen registry make icon-model --icon-release 2026.04 -o 2026.04.json
      nmlgen registry diff 2025.10 2026.04.json
      nmlgen lint run --icon-release ./2026.04.json
      # in a spec: model: {name: icon, release: "2026.04", registry: ./2026.04.json}
    """
    if not re.fullmatch(r"\d{4}\.\d{2}", icon_release):
        raise InputError(f'"{icon_release}" is no release; expected is one such as 2025.04')
    from nmlgen.namelist.extract.document import document_text, make_document
    from nmlgen.namelist.extract.printed import contradictions, read_printed
    from nmlgen.namelist.extract.tree import SourceTree
    from nmlgen.namelist.extract.variables import catalogue_text, make_catalogue

    namelists, variables = _files_of(output, icon_release)
    printed: dict[str, dict[str, str]] = {}
    for log in logs:
        for group, values in read_printed(_text(log)).items():
            printed.setdefault(group, {}).update(values)
    tree = SourceTree(source_tree)
    base, known = _known("icon", icon_release)
    document = make_document(tree, icon_release, known, printed)
    made = make_catalogue(tree, icon_release, _known("icon-variables", icon_release)[1])
    write_whole(namelists, document_text(document).encode())
    write_whole(variables, catalogue_text(made.document).encode())
    registry = read_registry(namelists)
    click.echo(f"{namelists}: {texts.extent(registry)}; constraints are those of ICON {base}")
    for line in texts.carried_lines(registry):
        click.echo(line)
    for found in contradictions(document, printed):
        click.echo(f"{found.group}: {found.variable} is printed as {found.printed}, and read as {found.read!r}")
    count = sum(map(len, made.document["components"].values()))
    click.echo(f"{variables}: {count} output variables, {len(made.added)} new, {len(made.removed)} gone")
    for part, release in made.carried.items():
        click.echo(f"not read, as in ICON {release}: the variables of {part}")
    return 0


def _files_of(output: Path, release: str) -> tuple[Path, Path]:
    """Where the namelists and the variables of a release are written."""
    if output.is_dir():
        return output / "icon" / f"{release}.json", output / "icon-variables" / f"{release}.json"
    return output, catalogue_beside(output)


def _known(kind: str, release: str) -> tuple[str, dict[str, Any]]:
    """The newest release that is not newer than another, and what nmlgen has of it in a directory of schemas."""
    from nmlgen.namelist.extract.document import base_release

    place = directory("schemas") / kind
    base = base_release(release, [path.stem for path in place.glob("*.json")])
    document: dict[str, Any] = json.loads((place / f"{base}.json").read_text(encoding="utf-8"))
    return base, document


def _text(path: Path) -> str:
    try:
        return disk.content(path).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _registry(release: str) -> Registry:
    """The registry of a release, or that of a file."""
    return registry_of(release)


def _no_group(registry: Registry, group: str) -> str:
    removal = registry.removed_group(group)
    if removal is not None:
        return texts.format_removal(group.lower(), removal)
    return _hint(f'ICON {registry.release} has no namelist group "{group}"', did_you_mean(group, registry.groups))


def _no_variable(registry: Registry, group: str, variable: str) -> str:
    removal = registry.removed_variable(group, variable)
    if removal is not None:
        return texts.format_removal(f"{group.lower()}.{variable.lower()}", removal)
    notes = did_you_mean(variable, [name for one in registry.described(group) for name in one.variables])
    elsewhere = [name for name in registry.groups if registry.variable(name, variable) is not None]
    if elsewhere:
        notes = (f"it is a variable of {' and '.join(elsewhere)}",)
    return _hint(f'{group.lower()} of ICON {registry.release} has no variable "{variable}"', notes)


def _hint(message: str, notes: tuple[str, ...]) -> str:
    return "; ".join((message, *notes))
