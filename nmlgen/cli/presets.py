"""nmlgen presets: what specs can build on."""

from __future__ import annotations

import sys

import click

from nmlgen.cli.console import uses_colour
from nmlgen.cli.terminal import show_coloured, show_content
from nmlgen.report.table import format_table
from nmlgen.spec import presets


@click.group("presets", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> int | None:
    """List the presets and sites that ship with nmlgen, or show one."""
    if context.invoked_subcommand is not None:
        return None
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in presets.names():
        groups.setdefault(presets.group(name), []).append((name, _first_words(name)))
    for number, (group, rows) in enumerate(groups.items()):
        if number:
            click.echo()
        show_coloured(format_table((group, "what it is"), rows, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0


@command.command("show")
@click.argument("name")
def show(name: str) -> int:
    """Print the preset NAME, such as icon/jabw or sites/levante."""
    show_content(presets.text(name))
    return 0


def _first_words(name: str) -> str:
    """The preset's own first line: a site's description, or a comment."""
    line = presets.text(name).partition("\n")[0]
    return line.removeprefix("description:").lstrip("# ").strip()
