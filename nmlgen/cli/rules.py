"""nmlgen rules: list the rules."""

from __future__ import annotations

import re
import sys

import click

from nmlgen.cli.console import format_option, uses_colour
from nmlgen.cli.terminal import show_coloured
from nmlgen.codes import all_problems
from nmlgen.report.json import to_json
from nmlgen.report.table import format_table
from nmlgen.rulebook import Entry, rulebook


@click.command("rules")
@format_option
def command(output_format: str) -> int:
    """List the rules: code, name, severity and what each finds. What only a text can have wrong has no severity of
    its own."""
    rules = [*map(_rule, rulebook()), *(_problem(code, *about) for code, about in all_problems().items())]
    if output_format == "json":
        click.echo(to_json(rules))
        return 0
    headings = ("code", "name", "severity", "summary")
    rows = [[rule[heading] or "" for heading in headings] for rule in rules]
    show_coloured(format_table(headings, rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0


def _rule(rule: Entry) -> dict[str, str | None]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "since": rule.since,
        "summary": rule.summary,
    }


def _problem(code: str, name: str, text: str) -> dict[str, str | None]:
    summary = re.split(r"(?<=[.:]) |\n", text)[0].rstrip(":.") + "."
    return {"code": code, "name": name, "severity": None, "since": "0.1", "summary": summary}
