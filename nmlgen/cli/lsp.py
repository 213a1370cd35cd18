"""nmlgen lsp: the language server."""

from __future__ import annotations

import sys

import click

from nmlgen.errors import InputError


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak through standard input and output, which is the only way.")
def command(stdio: bool) -> int:
    """Start the language server for editors, which speaks through standard input and output.

    \b
    Editors start it by themselves; what to tell them stands in docs/editors.md. It needs pygls:
      pip install 'nmlgen[lsp]'
    """
    try:
        from nmlgen.lsp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise InputError("the language server needs pygls: pip install 'nmlgen[lsp]'") from None
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("the language server speaks with an editor, which starts it by itself: see docs/editors.md")
    return serve()
