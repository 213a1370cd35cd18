"""nmlgen init: a first spec."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from nmlgen.errors import InputError
from nmlgen.starter import GRID_FILE, starter_spec
from nmlgen.writing import write_whole


@click.command("init")
@click.option("--preset", default="icon/jabw", show_default=True, help="What the experiment builds on.")
@click.option("--site", default="generic-slurm", show_default=True, help="The machine.")
@click.option("--name", help="The experiment's name; that of the preset by default.")
@click.option("--account", help="The project that is charged.")
@click.option("--grid", "grid_file", help=f"The grid file; that of the preset by default, else {GRID_FILE}.")
@click.option("--directory", default=".", show_default=True, help="Where ICON lies.")
@click.option("--nodes", type=click.IntRange(min=1), help="How many nodes; as the preset says by default, else 1.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("spec.yaml"),
    show_default=True,
    help="The file to write; - prints it.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
def command(
    preset: str,
    site: str,
    name: str | None,
    account: str | None,
    grid_file: str | None,
    directory: str,
    nodes: int | None,
    output: Path,
    force: bool,
) -> int:
    """Write a first spec from a preset and a site, ready to be changed and built."""
    text = starter_spec(preset, site, name, account, grid_file, directory, nodes)
    if str(output) == "-":
        click.echo(text, nl=False)
        return 0
    if output.is_dir():
        raise InputError(f"{output} is a directory; a file is expected")
    if output.exists() and not force:
        raise InputError(f"{output} exists; --force overwrites it")
    write_whole(output, text.encode(), is_new=not force)
    click.echo(f"wrote {output}\nnext: nmlgen check {shlex.quote(str(output))}")
    return 0
