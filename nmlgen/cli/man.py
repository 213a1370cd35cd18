"""nmlgen man: the manual pages."""

from __future__ import annotations

from pathlib import Path

import click

from nmlgen.cli.manual import manual_pages, to_roff
from nmlgen.errors import InputError
from nmlgen.findings import did_you_mean
from nmlgen.writing import write_whole


@click.command("man")
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write all pages into this directory.")
@click.pass_context
def command(context: click.Context, words: tuple[str, ...], output: Path | None) -> int:
    """Print the manual page of a command, or write all pages.

    \b
      nmlgen man | man -l -
      nmlgen man registry show | man -l -
      nmlgen man -o ~/.local/share/man/man1     # then: man nmlgen-build
    """
    application = context.find_root().command
    assert isinstance(application, click.Group)
    pages = {page.name: page for page in manual_pages(application)}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        for page in pages.values():
            write_whole(output / page.file, to_roff(page).encode(), is_ours=True)
        return 0
    name = " ".join(("nmlgen", *words))
    if name not in pages:
        notes = did_you_mean(name, pages)
        raise InputError(f'there is no command "{" ".join(words)}"' + "".join(f"; {note}" for note in notes))
    click.echo(to_roff(pages[name]), nl=False)
    return 0
