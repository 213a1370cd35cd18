"""nmlgen schema: the JSON Schema that editors complete from."""

from __future__ import annotations

import click

from nmlgen.cli.console import release_option
from nmlgen.namelist.registry import registry_of
from nmlgen.report.json import to_json
from nmlgen.spec.schema import editor_schema


@click.command("schema")
@release_option("The release whose variables to offer; the newest one by default.")
def command(icon_release: str | None) -> int:
    """Print the JSON Schema of specs.

    \b
    Save it and name it in the first line of a spec, and editors complete and check as you type:
      nmlgen schema >nmlgen.schema.json
      # yaml-language-server: $schema=nmlgen.schema.json
    """
    click.echo(to_json(editor_schema(registry_of(icon_release))))
    return 0
