"""The manual: a page for each command, made of the help that the command line itself prints."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from nmlgen._version import __version__
from nmlgen.values import frozen

_VERBATIM = "\b\n"


@frozen
class ManualPage:
    """What the help of one command says.

    `name` is all its words ("nmlgen registry show"), `summary` its first sentence, `usage` the words after the name.
    `blocks` are the paragraphs of the text, each with whether it stands as it is, line by line; `options` and
    `commands` are names with what they mean.
    """

    name: str
    summary: str
    usage: str
    blocks: tuple[tuple[str, bool], ...]
    options: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]

    @property
    def file(self) -> str:
        """The name of its file: "nmlgen-registry-show.1"."""
        return f"{self.name.replace(' ', '-')}.1"


def manual_pages(application: click.Group) -> Iterator[ManualPage]:
    """The page of the application, and of all its commands."""
    context = _context(application, "nmlgen")
    return _pages(application, context)


def _pages(command: click.Command, context: click.Context) -> Iterator[ManualPage]:
    below = _commands(command, context)
    blocks = tuple(_blocks(command.help or ""))
    records = (option.get_help_record(context) for option in command.get_params(context))
    yield ManualPage(
        name=context.command_path,
        summary=_summary(blocks),
        usage=" ".join(command.collect_usage_pieces(context)),
        blocks=blocks,
        options=tuple(record for record in records if record is not None),
        commands=tuple((name, _summary(_blocks(found.help or ""))) for name, found in below.items()),
    )
    for name, found in below.items():
        yield from _pages(found, _context(found, name, context))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    """With the command's own settings, as a call has them: a command keeps the first help option it is asked for."""
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _commands(command: click.Command, context: click.Context) -> dict[str, click.Command]:
    if not isinstance(command, click.Group):
        return {}
    found = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return {name: one for name, one in found.items() if one is not None}


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    for block in inspect.cleandoc(text).split("\n\n"):
        if block.startswith(_VERBATIM):
            yield inspect.cleandoc(block.removeprefix(_VERBATIM)), True
        else:
            yield " ".join(block.split()), False


def _summary(blocks: Iterator[tuple[str, bool]] | tuple[tuple[str, bool], ...]) -> str:
    first = next(iter(blocks), ("", False))[0]
    return first.partition(". ")[0].rstrip(".")


def to_roff(page: ManualPage) -> str:
    """A page as `man` reads it."""
    section = page.name.replace(" ", "-")
    lines = [f'.TH "{section.upper()}" "1" "" "nmlgen {__version__}" "nmlgen"']
    lines += [".SH NAME", f"{_plain(section)} \\- {_plain(page.summary)}"]
    lines += [".SH SYNOPSIS", f".B {_plain(page.name)}", _plain(page.usage)]
    lines.append(".SH DESCRIPTION")
    for number, (text, is_verbatim) in enumerate(page.blocks):
        lines += [".PP"] * (number > 0)
        lines += [".nf", *map(_line, text.splitlines()), ".fi"] if is_verbatim else [_line(text)]
    for title, entries in (("OPTIONS", page.options), ("COMMANDS", page.commands)):
        if entries:
            lines.append(f".SH {title}")
        for name, meaning in entries:
            lines += [".TP", f"\\fB{_plain(name)}\\fR", _line(meaning)]
    others = [f".BR {_plain(section)}\\-{name} (1)" for name, _ in page.commands]
    if section != "nmlgen":
        others = [f".BR {_plain(section.rpartition('-')[0])} (1)", *others]
    lines += [".SH SEE ALSO", *(f"{other}," for other in others[:-1]), *others[-1:]]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text in which nothing means anything to roff."""
    return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")


def _line(text: str) -> str:
    """A line of text; none may begin as a request does."""
    plain = _plain(text)
    return f"\\&{plain}" if plain.startswith((".", "\\(aq")) else plain
