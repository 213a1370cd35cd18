"""What all commands share: common options, colour, printing findings."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable
from typing import Any, TextIO, TypeVar

import click

from nmlgen.findings import Finding, Fix
from nmlgen.report.text import format_findings

F = TypeVar("F", bound=Callable[..., Any])


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


def quiet_option(function: F) -> F:
    """The option --quiet."""
    return click.option("-q", "--quiet", is_flag=True, help="Print findings only, no summary.")(function)


def uses_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal, unless NO_COLOR is set."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def show_findings(findings: Iterable[Finding], err: bool = False, marked: Container[Fix | None] = ()) -> None:
    """Print findings as text, with a mark at those whose fix is among `marked`."""
    stream = sys.stderr if err else sys.stdout
    text = format_findings(findings, uses_colour(stream), marked)
    if text:
        click.echo(text, err=err, color=True)
