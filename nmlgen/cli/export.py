"""nmlgen export: a sweep for a workflow tool."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.sweep.export import TOOLS, Tool


@click.command("export")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--for", "tool", type=click.Choice(TOOLS), required=True, help="Which tool is to run the points.")
@click.option("--force", is_flag=True, help="Overwrite files that are there already.")
@click.option("-q", "--quiet", is_flag=True, help="Do not print the names of the files.")
def command(directory: Path, tool: Tool, force: bool, quiet: bool) -> int:
    """Write into DIRECTORY, which `nmlgen sweep` made, what a workflow tool needs to run its points;
    or, as an RO-Crate, the description of what it holds and of what ran there."""
    for name in nmlgen.export_sweep(directory, tool, force):
        if not quiet:
            click.echo(directory / name)
    return 0
