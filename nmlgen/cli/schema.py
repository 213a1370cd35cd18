"""nmlgen schema: the JSON Schema that editors complete from."""

from __future__ import annotations

import click

from nmlgen.namelist.registry import load_registry, releases
from nmlgen.report.json import to_json
from nmlgen.spec.schema import editor_schema


@click.command("schema")
@click.option(
    "--icon-release",
    type=click.Choice(releases()),
    default=releases()[-1],
    show_default=True,
    help="The release whose variables to offer.",
)
def command(icon_release: str) -> int:
    """Print the JSON Schema of specs.

    \b
    Save it and name it in the first line of a spec, and editors complete and check as you type:
      nmlgen schema >nmlgen.schema.json
      # yaml-language-server: $schema=nmlgen.schema.json
    """
    click.echo(to_json(editor_schema(load_registry(icon_release))))
    return 0
