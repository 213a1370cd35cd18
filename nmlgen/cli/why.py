"""nmlgen why: who set a value."""

from __future__ import annotations

import sys

import click

import nmlgen
from nmlgen.cli.console import format_option, set_option, spec_argument, uses_colour
from nmlgen.experiment.setting import Origin
from nmlgen.report.json import finding_document, to_json
from nmlgen.report.table import format_table


@click.command("why")
@spec_argument
@click.argument("name")
@set_option
@format_option
def command(spec: str, name: str, overrides: tuple[str, ...], output_format: str) -> int:
    """Show who set the value NAME in SPEC, where, and what it replaced.

    NAME is a namelist variable (io_nml.restart_write_mode), a variable of an output stream
    (output.atm.output_interval) or a key of the spec (job.nodes, run_directory).
    """
    try:
        chain = nmlgen.load_spec(spec, overrides).chain(name)
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"name": name, "findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    if output_format == "json":
        click.echo(to_json({"name": name, "chain": [_document(origin) for origin in chain]}))
        return 0
    click.echo(f"{name} = {_value(chain[0])}")
    rows = [
        (origin.layer, str(origin.span or ""), _value(origin), "in force" if number == 0 else "replaced")
        for number, origin in enumerate(chain)
    ]
    click.echo(format_table(("layer", "where", "value", ""), rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    if chain[0].reason is not None:
        click.echo(f"decided by the advisor: {chain[0].reason}")
    return 0


def _value(origin: Origin) -> str:
    if origin.layer == "unknown":
        return "not known"
    if origin.value is None:
        return "null (taken away)"
    if isinstance(origin.value, bool):
        return str(origin.value).lower()
    if isinstance(origin.value, (list, tuple)):
        return ", ".join(str(element) for element in origin.value)
    return str(origin.value) if origin.value != "" else "''"


def _document(origin: Origin) -> dict[str, object]:
    span = origin.span
    return {
        "layer": origin.layer,
        "value": origin.value,
        "file": span.source.name if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        **({"reason": origin.reason} if origin.reason is not None else {}),
    }
