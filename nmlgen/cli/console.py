"""What all commands share: common options, colour, printing findings."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Set, Sized
from contextlib import contextmanager, suppress
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from nmlgen.cli.terminal import show_coloured, unfiltered
from nmlgen.findings import Finding, Fix
from nmlgen.report.text import format_findings
from nmlgen.visible import joined

if TYPE_CHECKING:
    from rich.progress import Progress

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class Amount(click.FloatRange):
    """A number from 0 to what nobody reaches; neither `nan` nor `inf` are one."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that a text says."""
        found: float = super().convert(value, param, ctx)
        if not found <= _MOST:
            self.fail(f"{value!r} is no number from 0 to {_MOST:g}", param, ctx)
        return found


_MOST = 1e9


def spec_argument(function: F) -> F:
    """The argument SPEC."""
    return click.argument("spec", type=click.Path())(function)


def set_option(function: F) -> F:
    """The option --set."""
    return click.option(
        "--set",
        "overrides",
        metavar="KEY=VALUE",
        multiple=True,
        help="Override a key of the spec, such as job.nodes=4; may be repeated.",
    )(function)


def release_option(meaning: str) -> Callable[[F], F]:
    """The option --icon-release; `meaning` says what the release is for, in a sentence."""
    from nmlgen.namelist.registry import releases  # of which many commands need nothing

    return click.option(
        "--icon-release",
        metavar="RELEASE",
        help=f"{meaning} RELEASE is one such as {releases()[-1]}, or the path of a registry file.",
    )


def variables_option(function: F) -> F:
    """The option --set for scripts: the `variables` that are set before one begins."""
    return click.option(
        "--set",
        "variables",
        metavar="NAME=VALUE",
        multiple=True,
        callback=lambda context, option, texts: dict(map(_variable, texts)),
        help="A variable of the shell that is set before a script begins, such as basedir, or that the script sets to "
        "what only a run knows; may be repeated.",
    )(function)


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise click.BadParameter(f'expected NAME=VALUE, not "{text}"')
    return name, value


def format_option(function: F) -> F:
    """The option --format."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="How to print what was found.",
    )(function)


def selection_options(function: F) -> F:
    """The options --select and --ignore."""
    ignore = click.option("--ignore", multiple=True, metavar="RULES", help="Do not report these.")
    return click.option("--select", multiple=True, metavar="RULES", help="Report these only: RST,OUT003,second-copy.")(
        ignore(function)
    )


@contextmanager
def as_far_as_read() -> Iterator[None]:
    """Print what somebody may stop reading: the exit code of the command is what it is all the same."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            _discard_unread(stream)


def _discard_unread(stream: TextIO) -> None:
    """Let what is still buffered go nowhere, if nobody reads it."""
    try:
        stream.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def quiet_option(function: F) -> F:
    """The option --quiet."""
    return click.option("-q", "--quiet", is_flag=True, help="Print findings only, no summary.")(function)


def can_ask(shown: TextIO) -> bool:
    """Whether somebody sits at a terminal who sees there what is asked, and can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and shown.isatty()


def uses_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


_AT_ONCE = 1_000


def show_findings(findings: Iterable[Finding], err: bool = False, marked: Set[Fix | None] = frozenset()) -> None:
    """Print findings as text, with a mark at those whose fix is among `marked`."""
    stream = sys.stderr if err else sys.stdout
    colour, waiting = uses_colour(stream), iter(findings)
    end = ""
    while text := format_findings(islice(waiting, _AT_ONCE), colour, marked):  # of thousands each may show a long line
        show_coloured(joined("", (end, text)), stream)
        end = "\n"


def tracked(items: Iterable[T], verb: str = "reading", count: Callable[[], int] | None = None) -> Iterator[T]:
    """Go through items, with a line on a terminal's stderr that tells how far it is, if it takes longer; `count` tells
    how many there are, of those that are made as they are asked for."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield from items
        return
    started, progress = monotonic(), None
    try:
        for number, item in enumerate(items):
            if progress is None and monotonic() - started > _PATIENCE:
                progress = _progress(len(items) if isinstance(items, Sized) else count() if count else None, verb)
            if progress is not None:
                progress.update(progress.task_ids[0], completed=number)
            yield item
    finally:
        if progress is not None:
            progress.stop()


_PATIENCE = 1.0  # seconds


def _progress(total: int | None, verb: str) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(verb), BarColumn(), MofNCompleteColumn())
    progress = Progress(*columns, console=Console(file=unfiltered(sys.stderr)), transient=True)
    progress.add_task("", total=total)
    progress.start()
    return progress
