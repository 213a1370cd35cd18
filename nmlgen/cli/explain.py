"""nmlgen explain: the page of a rule, what a key of a spec means, how ranks are placed."""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

import click

from nmlgen.cli.console import uses_colour
from nmlgen.cli.terminal import unfiltered
from nmlgen.errors import InputError
from nmlgen.findings import did_you_mean
from nmlgen.rulebook import rulebook


@click.command("explain")
@click.argument("code")
def command(code: str) -> int:
    """Explain the rule CODE, given as a code (RST001) or a name (sync-with-restart-procs); a key of a spec
    (models.atm.device, or device alone); or `placement`, where ranks sit."""
    text = _page(code)
    if uses_colour(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console(file=unfiltered(sys.stdout)).print(Markdown(text))
    else:
        click.echo(text)
    return 0


def _page(code: str) -> str:
    for rule in rulebook():
        if code.upper() == rule.code or code.lower() == rule.name:
            return f"# {rule.code}: {rule.name} ({rule.severity.value})\n\n{rule.document}"
    from nmlgen.codes import all_problems

    problems = all_problems()
    for problem, (name, text) in problems.items():
        if code.upper() == problem or code.lower() == name:
            return f"# {problem}: {name}\n\n{text}"
    if (page := _placement() if code.lower() == "placement" else _key(code)) is not None:
        return page
    known = [word for rule in rulebook() for word in (rule.code, rule.name)]
    known += [word for problem, (name, _) in problems.items() for word in (problem, name)]
    notes = did_you_mean(code, known)
    raise InputError(f'there is no rule "{code}"; {notes[0] if notes else "nmlgen rules lists them"}')


def _placement() -> str:
    from nmlgen.experiment.programs import KEYS
    from nmlgen.models.icon import placement

    found = [line for key in (*KEYS, "partitions") for line in _descriptions(key.split("."))[:1]]
    return "\n\n".join(("# placement", placement.__doc__ or "", "In a spec say:", *found))


def _key(name: str) -> str | None:
    """What a key of a spec means, by its path or its last word; None where there is none."""
    found = _descriptions(name.split("."))
    return "\n\n".join((f"# {name}", *found)) if found else None


def _descriptions(path: list[str]) -> list[str]:
    """The keys of a spec that end like a path, each with its description, those that are the same but once."""
    from nmlgen.resources import schema

    document = schema("spec")
    found: dict[str, str] = {}

    def walk(node: dict[str, Any], here: tuple[str, ...]) -> None:
        if "$ref" in node:
            own = {key: value for key, value in node.items() if key != "$ref"}
            node = {**reduce(lambda target, part: target[part], node["$ref"].split("/")[1:], document), **own}
        if here and here[-1] != _ANY and _fits(here, path) and "description" in node:
            found.setdefault(node["description"], ".".join(here))
        for key, child in node.get("properties", {}).items():
            walk(child, (*here, key))
        if isinstance(more := node.get("additionalProperties"), dict) and len(here) < _DEEPEST:
            walk(more, (*here, _ANY))

    walk(document, ())
    return [f"`{where}`: {text}" for text, where in found.items()]


_ANY = "<name>"
_DEEPEST = 8


def _fits(here: tuple[str, ...], path: list[str]) -> bool:
    if len(path) == 1:
        return here[-1] == path[0]
    return len(here) == len(path) and all(own in (said, _ANY) for own, said in zip(here, path, strict=True))
