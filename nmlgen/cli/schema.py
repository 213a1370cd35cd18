"""nmlgen schema: the JSON Schemas that editors complete from."""

from __future__ import annotations

import click

from nmlgen.cli.console import release_option
from nmlgen.namelist.registry import registry_of
from nmlgen.report.json import to_json
from nmlgen.spec.schema import KINDS, schema_for


@click.command("schema")
@click.option(
    "--for",
    "kind",
    type=click.Choice(KINDS),
    default="spec",
    show_default=True,
    help="What is written: a spec, a site file, or the project's nmlgen.toml.",
)
@release_option("The release whose variables to offer in specs; the newest one by default.")
def command(kind: str, icon_release: str | None) -> int:
    """Print the JSON Schema of specs, of site files or of nmlgen.toml.

    \b
    Save it and name it in the first line of a spec, and editors complete and check as you type:
      nmlgen schema >nmlgen.schema.json
      # yaml-language-server: $schema=nmlgen.schema.json
    """
    click.echo(to_json(schema_for(kind, registry_of(icon_release))))
    return 0
