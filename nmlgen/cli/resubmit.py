"""nmlgen resubmit: hand points of a sweep to its batch system again."""

from __future__ import annotations

from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import quiet_option
from nmlgen.cli.submitted import progress_bar, show_submitted, submission_options


@click.command("resubmit")
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("points", nargs=-1)
@click.option("--failed", is_flag=True, help="All points that failed, were lost or cancelled.")
@click.option("--stale", is_flag=True, help="All points whose results are of another build; these begin anew.")
@click.option("--go-on", is_flag=True, help="Points that were done and now have a later end date, and else the same.")
@click.option("--restart", is_flag=True, help="Begin with the last checkpoint, in the first leg of a chain, too.")
@submission_options
@quiet_option
def command(
    directory: Path,
    points: tuple[str, ...],
    failed: bool,
    stale: bool,
    go_on: bool,
    restart: bool,
    throttle: int | None,
    pack: int,
    mail: str | None,
    dry_run: bool,
    quiet: bool,
) -> int:
    """Submit again those POINTS of the sweep in DIRECTORY that failed, were lost or cancelled; all with --failed.

    POINTS are names or identifiers. A restart chain goes on with the leg that failed. With --stale all that were done
    before `nmlgen sweep --force` wrote them anew: their results move to DIRECTORY/stale, and they begin anew. With
    --go-on those of them, all or POINTS, of which nothing but the end date is another, a later one: they go on where
    they ended, in the directories where they are. Exit code 1 if not all points are taken for now.
    """
    if failed + stale + (go_on or bool(points)) != 1:
        raise click.UsageError("name the points, or say --failed, --stale or --go-on for all")
    with progress_bar(quiet) as progress:
        done = nmlgen.resubmit(
            directory,
            points,
            stale=stale,
            go_on=go_on,
            restart=restart,
            throttle=throttle,
            pack=pack,
            mail=mail,
            dry_run=dry_run,
            progress=progress,
        )
    return show_submitted(done, directory, dry_run, quiet)
