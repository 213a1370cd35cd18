"""nmlgen import: a spec made of files that exist already."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

import nmlgen
from nmlgen.errors import InputError
from nmlgen.namelist.registry import releases


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The spec to write; printed by default.")
@click.option("--force", is_flag=True, help="Overwrite it.")
@click.option("--site", metavar="NAME", help="The machine: one of `nmlgen presets`, or a site file as ./mysite.yaml.")
@click.option("--name", help="The experiment's name; by default that of its namelist.")
@click.option("--model", metavar="MODEL_NAME", help="Which model to take where several are started.")
@click.option("--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, which namelists do not say.")
@click.option(
    "--icon-release",
    type=click.Choice(releases()),
    default=releases()[-1],
    show_default=True,
    help="The release whose variables and defaults hold.",
)
def command(
    path: Path,
    output: Path | None,
    force: bool,
    site: str | None,
    name: str | None,
    model: str | None,
    ntasks: int | None,
    icon_release: str,
) -> int:
    """Make a spec of PATH: a directory with an icon_master.namelist, such a file, or a model's namelist.

    \b
      nmlgen import run1 --site levante -o spec.yaml
      nmlgen check spec.yaml

    The spec builds to the same namelists; what stands there stays explicit, even if it is ICON's default. Where the
    files do not say something that a spec needs, a comment says so. Nothing is dropped in silence: the spec is read
    again and compared with PATH, and what it does not say is named on stderr.

    Exit code 1 if something is left to be done by hand.
    """
    if output is not None and output.exists() and not force:
        raise InputError(f"{output} exists; --force overwrites it")
    imported = nmlgen.import_spec(
        path,
        site=site,
        name=name,
        model=model,
        ntasks=ntasks,
        icon_release=icon_release,
        directory=Path() if output is None else output.parent,
    )
    if output is None:
        click.echo(imported.text, nl=False)
    else:
        output.write_text(imported.text, encoding="utf-8")
        click.echo(f"wrote {output}\nnext: nmlgen check {shlex.quote(str(output))}")
    for remark in imported.remarks:
        click.echo(f"left to do: {remark}", err=True)
    return 1 if imported.remarks else 0
