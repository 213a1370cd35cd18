"""nmlgen completion: the shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> int:
    """Print the completion script of a SHELL.

    \b
      bash: nmlgen completion bash >~/.local/share/bash-completion/completions/nmlgen
      zsh:  nmlgen completion zsh >~/.zfunc/_nmlgen
      fish: nmlgen completion fish >~/.config/fish/completions/nmlgen.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "nmlgen", "_NMLGEN_COMPLETE").source())
    return 0
