"""nmlgen rules: list the rules."""

from __future__ import annotations

import sys

import click

from nmlgen.cli.console import format_option, uses_colour
from nmlgen.report.json import to_json
from nmlgen.report.table import format_table
from nmlgen.rules import all_rules


@click.command("rules")
@format_option
def command(output_format: str) -> int:
    """List the rules: code, name, severity and what each finds."""
    if output_format == "json":
        click.echo(
            to_json(
                [
                    {
                        "code": rule.code,
                        "name": rule.name,
                        "severity": rule.severity.value,
                        "since": rule.since,
                        "summary": rule.summary(),
                    }
                    for rule in all_rules()
                ]
            )
        )
        return 0
    rows = [(rule.code, rule.name, rule.severity.value, rule.summary()) for rule in all_rules()]
    headings = ("code", "name", "severity", "summary")
    click.echo(format_table(headings, rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0
