"""nmlgen explain: the page of a rule."""

from __future__ import annotations

import sys

import click

from nmlgen.cli.console import uses_colour
from nmlgen.cli.terminal import unfiltered
from nmlgen.errors import InputError
from nmlgen.findings import did_you_mean
from nmlgen.rulebook import rulebook


@click.command("explain")
@click.argument("code")
def command(code: str) -> int:
    """Explain the rule CODE, given as a code (RST001) or a name (sync-with-restart-procs)."""
    text = _page(code)
    if uses_colour(sys.stdout):
        from rich.console import Console
        from rich.markdown import Markdown

        Console(file=unfiltered(sys.stdout)).print(Markdown(text))
    else:
        click.echo(text)
    return 0


def _page(code: str) -> str:
    for rule in rulebook():
        if code.upper() == rule.code or code.lower() == rule.name:
            return f"# {rule.code}: {rule.name} ({rule.severity.value})\n\n{rule.document}"
    from nmlgen.codes import all_problems

    problems = all_problems()
    for problem, (name, text) in problems.items():
        if code.upper() == problem or code.lower() == name:
            return f"# {problem}: {name}\n\n{text}"
    known = [word for rule in rulebook() for word in (rule.code, rule.name)]
    known += [word for problem, (name, _) in problems.items() for word in (problem, name)]
    notes = did_you_mean(code, known)
    raise InputError(f'there is no rule "{code}"; {notes[0] if notes else "nmlgen rules lists them"}')
