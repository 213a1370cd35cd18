"""nmlgen init: a first spec."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from grp import getgrgid
from os import getgid
from pathlib import Path
from socket import gethostname

import click

from nmlgen import starter
from nmlgen.cli.console import can_ask
from nmlgen.cli.terminal import show_content
from nmlgen.errors import InputError
from nmlgen.spec import presets
from nmlgen.writing import utf_8, write_whole

_PRESET, _SITE = "icon/jabw", "generic-slurm"


@click.command("init")
@click.option("--preset", help=f"What the experiment builds on; nmlgen presets lists them.  [default: {_PRESET}]")
@click.option("--site", help=f"The machine; nmlgen presets lists them, too.  [default: {_SITE}]")
@click.option("--name", help="The experiment's name; that of the preset by default.")
@click.option("--account", help="The project that is charged.")
@click.option("--grid", "grid_file", help=f"The grid file; that of the preset by default, else {starter.GRID_FILE}.")
@click.option("--directory", help="Where the model lies.  [default: .]")
@click.option("--nodes", type=click.IntRange(min=1), help="How many nodes; as the preset says by default, else 1.")
@click.option(
    "--darshan",
    help=f"The path of libdarshan.so, or {starter.NO_DARSHAN}; that of the site by default, where it is known.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("spec.yaml"),
    show_default=True,
    help="The file to write; - prints it.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: take the defaults.")
def command(
    preset: str | None,
    site: str | None,
    name: str | None,
    account: str | None,
    grid_file: str | None,
    directory: str | None,
    nodes: int | None,
    darshan: str | None,
    output: Path,
    force: bool,
    yes: bool,
) -> int:
    """Write a first spec from a preset and a site, ready to be changed and built.

    On a terminal it asks for what the options do not say; elsewhere it takes the defaults, and names what has none.
    """
    if preset is not None:  # what cannot be is said before anything is asked
        starter.needs_grid(preset)
    if site is not None:
        starter.requires_account(site)
    if str(output) != "-":
        if output.is_dir():
            raise InputError(f"{output} is a directory; a file is expected")
        if output.exists() and not force:
            raise InputError(f"{output} exists; --force overwrites it")
    asks = can_ask(sys.stderr) and not yes
    if asks:
        preset = preset or _asked("preset", _PRESET, starter.needs_grid, _experiments())
        site = site or _asked("site", _site_at_hand(), starter.requires_account, ", ".join(starter.sites()))
        if grid_file is None and starter.needs_grid(preset):
            grid_file = _asked("grid file", starter.GRID_FILE)
        if account is None and starter.requires_account(site):
            account = _asked("account, the project that is charged", _own_group())
        directory = directory or _asked("directory where the model lies", ".")
    preset, site, directory = preset or _PRESET, site or _SITE, directory or "."
    if account is None and starter.requires_account(site):
        raise InputError(f"--account is missing: {site} refuses jobs that name no project")
    if darshan is None and not starter.knows_darshan(site) and starter.is_on_lustre(site):
        darshan = _darshan(site, asks)
    text = starter.starter_spec(preset, site, name, account, grid_file, directory, nodes, darshan)
    if str(output) == "-":
        show_content(text)
        return 0
    write_whole(output, utf_8(text), is_new=not force)
    click.echo(f"wrote {output}\nnext: nmlgen check {shlex.quote(str(output))}")
    return 0


def _darshan(site: str, asks: bool) -> str | None:
    """Where Darshan lies on a site that does not say it; told if that remains unknown."""
    library = starter.darshan_at_hand()
    if library is None and asks:
        library = _asked("libdarshan.so, its path", starter.NO_DARSHAN)
    if library is None:
        click.echo(
            f"note: nothing is known of Darshan on {site}, and it is not preloaded; --darshan PATH says where"
            " libdarshan.so lies",
            err=True,
        )
    return library


def _asked(question: str, default: str, check: Callable[[str], object] | None = None, choices: str = "") -> str:
    """The answer to a question on the terminal, asked again until it is one; stdout is left to the spec."""
    if choices:
        click.echo(choices, err=True)
    while True:
        click.echo(f"{question} [{default}]: ", nl=False, err=True)
        line = sys.stdin.readline()
        if not line:
            click.echo(err=True)
            raise click.Abort
        answer = line.strip() or default
        try:
            if check is not None:
                check(answer)
        except InputError as error:
            click.echo(f"  {error}", err=True)
        else:
            return answer


def _own_group() -> str:
    """The name of the user's group, or the number of one whose name nobody knows, as in a container."""
    try:
        return getgrgid(getgid()).gr_name
    except KeyError:
        return str(getgid())


def _experiments() -> str:
    return ", ".join(name for name in presets.names() if not name.startswith((presets.SITE_PREFIX, "sweeps/")))


def _site_at_hand() -> str:
    """The site whose name is in that of this machine."""
    return next((name for name in starter.sites() if name in gethostname()), _SITE)
