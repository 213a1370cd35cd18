"""nmlgen wait: until nothing of a sweep waits or runs."""

from __future__ import annotations

from pathlib import Path

import click

from nmlgen.cli.console import quiet_option
from nmlgen.cli.status import exit_code, interval_option
from nmlgen.report.sweep_status import format_summary
from nmlgen.schedulers import schedulers
from nmlgen.sweep.status import SweepStatus
from nmlgen.sweep.waiting import wait


@click.command("wait")
@click.argument("directory", type=click.Path(path_type=Path))
@interval_option
@quiet_option
def command(directory: Path, interval: float, quiet: bool) -> int:
    """Wait until no point of the sweep in DIRECTORY waits or runs.

    A line tells each change. Exit codes as those of nmlgen status: 0 all points are done, 1 some failed, were lost or
    cancelled, 3 none did, but not all were submitted.
    """
    said = [""]

    def tell(found: SweepStatus) -> None:
        line = format_summary(found)
        if found.problem is not None:
            line += f" ({schedulers()[found.scheduler].title} was not asked: {found.problem})"
        if line != said[-1] and not quiet:
            click.echo(line)
        said.append(line)

    return exit_code(wait(directory, interval_s=interval, watch=tell))
