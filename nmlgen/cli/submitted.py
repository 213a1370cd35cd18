"""What `nmlgen submit` and `nmlgen resubmit` share: options, and what they say in the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

import nmlgen
from nmlgen.cli.terminal import unfiltered
from nmlgen.report.quantities import format_number
from nmlgen.schedulers import schedulers
from nmlgen.sweep.demand import Hours, demand

F = TypeVar("F", bound=Callable[..., Any])


def submission_options(function: F) -> F:
    """The options --throttle, --pack, --mail and --dry-run."""
    dry_run = click.option("-n", "--dry-run", is_flag=True, help="Ask Slurm what it would do; submit nothing.")
    throttle = click.option(
        "--throttle", metavar="N", type=click.IntRange(min=1), help="Let at most N points of the sweep run at a time."
    )
    mail = click.option(
        "--mail",
        metavar="ADDRESS",
        help="Where the batch system writes to when an array is over, or a task of it has failed.",
    )
    pack = click.option(
        "--pack",
        metavar="N",
        type=click.IntRange(min=1),
        default=1,
        help="Let each job run N points side by side, each on nodes of its own; on Slurm.",
    )
    return throttle(pack(mail(dry_run(function))))


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """A count of the submitted points on the standard error, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), TextColumn("submitting: {task.completed:g} points"))
    with Progress(*columns, console=Console(file=unfiltered(sys.stderr)), transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda points: progress.advance(task, points)


def show_submitted(done: nmlgen.Submitted, directory: Path, dry_run: bool, quiet: bool) -> int:
    """Say what was submitted; returns the exit code."""
    title = schedulers()[done.scheduler].title
    if done.left:
        what = "would be left for later" if dry_run else "not submitted yet"
        click.echo(
            f"{what}: {_points(len(done.left))}; call this again when some have ended. {title} says:\n{done.refusal}",
            err=True,
        )
    elif done.refusal is not None:
        click.echo(f"not all legs are submitted yet; call this again later. {title} says:\n{done.refusal}", err=True)
    if not quiet:
        for array in done.arrays:
            leg = f", leg {array.leg} of {array.legs}" if array.legs > 1 else ""
            throttle = f", {array.throttle} at a time" if array.throttle is not None else ""
            throttle += f", {array.pack} in each job" if array.pack > 1 else ""
            what = "array" if array.job is None else f"array {array.job}"
            answer = f": {array.answer}" if array.answer else ""
            click.echo(f"{what}: {_points(len(array.points))}{leg}{throttle}{answer}")
        if done.points:
            show_demand(directory, done.points)
        if dry_run and done.arrays and all(array.answer is None for array in done.arrays):
            click.echo("no scheduler was asked: there is none here")
        verb = "would be submitted" if dry_run else "submitted"
        click.echo(f"{directory}: {_points(len(done.points))} {verb}{_others(done)}")
    return 1 if done.left or done.refusal is not None else 0


def show_demand(directory: Path, points: Collection[str]) -> None:
    """Say what points may take of a project's budget; nothing where nobody knows."""
    found = demand(directory, points)
    if found.most is None:
        return
    text = f"{_points(found.points)}: at most {_hours(found.most)} by their time limits"
    if found.expected is not None and found.low is not None and found.high is not None:
        low, high = format_number(found.low.node), format_number(found.high.node)
        text += f"; expected: {_hours(found.expected)} ({low} to {high})"
    click.echo(text)


def _hours(hours: Hours) -> str:
    cores = "" if hours.core is None else f", {format_number(hours.core)} core hours"
    return f"{format_number(hours.node)} node hours{cores}"


def _others(done: nmlgen.Submitted) -> str:
    """The points that were not to be submitted, by state."""
    submitted = {*done.points, *done.left}
    states = [point.state for point in done.before if point.name not in submitted]
    counts = {state: states.count(state) for state in dict.fromkeys(states)}
    return "".join(f", {count} {state}" for state, count in counts.items())


def _points(count: int) -> str:
    return f"{count} point{'s' * (count != 1)}"
