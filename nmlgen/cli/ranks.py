"""nmlgen ranks: how the MPI ranks split, and which I/O rank writes what."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import format_option, set_option, spec_argument, uses_colour
from nmlgen.cli.shown import namelist_options, shown_experiment
from nmlgen.experiment.clock import clock
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.ranks import PlacementError, split
from nmlgen.experiment.schedule import Duty, duties, first_writes
from nmlgen.experiment.setting import UndecidedError
from nmlgen.experiment.volume import Volume, rank_volumes
from nmlgen.report.json import finding_document, to_json
from nmlgen.report.ranks import (
    Roster,
    format_duties,
    format_picture,
    format_split,
    ranks_document,
    split_document,
)

_WIDTH = 100


@click.command("ranks")
@spec_argument
@set_option
@namelist_options
@click.option(
    "--times",
    type=click.IntRange(min=1),
    default=48,
    show_default=True,
    help="How many output times to show at most.",
)
@format_option
def command(
    spec: str, overrides: tuple[str, ...], ntasks: int | None, icon_release: str, times: int, output_format: str
) -> int:
    """Show how the MPI ranks of SPEC split and which I/O rank writes which file, in which order.

    SPEC may also be an icon_master.namelist, or a directory that holds one; --ntasks is needed then.

    The picture has a row for each I/O rank and a cell for each output time of the first job: how many files the rank
    writes to. Exit code 1 if ICON would refuse the split or the placement; `nmlgen check` says more.
    """
    try:
        experiment = shown_experiment(Path(spec), overrides, ntasks, icon_release)
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    return _show_json(experiment, times) if output_format == "json" else _show_text(experiment, times)


def _show_text(experiment: Experiment, times: int) -> int:
    colour, terminal = uses_colour(sys.stdout), sys.stdout.isatty()
    try:
        ranks = split(experiment)
    except UndecidedError as error:
        return _refuse(f"the split is not known, because {error.setting.name} is not known", 0)
    if ranks.work < 1:
        return _refuse(f"no rank is left to compute: {ranks.total} tasks, {ranks.total - ranks.work} for others")
    click.echo(format_split(ranks, colour, terminal))
    try:
        roster = _roster(experiment, times)
    except UndecidedError as error:
        return _refuse(f"who writes what is not known, because {error.setting.name} is not known", 0)
    except PlacementError as error:
        return _refuse(f"ICON refuses the placement: {error}")
    click.echo("\n" + format_duties(roster, colour, terminal))
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    click.echo("\n" + format_picture(roster, width, encoding == "utf8", colour), color=colour)
    return 0


def _show_json(experiment: Experiment, times: int) -> int:
    try:
        ranks = split(experiment)
        if ranks.work < 1:
            click.echo(to_json({**split_document(ranks), "refused": "no rank is left to compute"}))
            return 1
    except UndecidedError as error:
        click.echo(to_json({"undecided": error.setting.name}))
        return 0
    try:
        document = ranks_document(_roster(experiment, times))
    except UndecidedError as error:
        document = {**split_document(ranks), "undecided": error.setting.name}
    except PlacementError as error:
        document = {**split_document(ranks), "refused": str(error)}
    click.echo(to_json(document))
    return 1 if "refused" in document else 0


def _roster(experiment: Experiment, times: int) -> Roster:
    time = clock(experiment)
    writes, output_times = first_writes(experiment, time, times)
    rows = duties(experiment, time)
    return Roster(split(experiment), rows, writes, output_times, time, _volumes(experiment, rows))


def _volumes(experiment: Experiment, rows: tuple[tuple[Duty, ...], ...]) -> tuple[Volume, ...] | None:
    try:
        return rank_volumes(experiment, rows)
    except UndecidedError:  # the grid's size, most often: the records must do
        return None


def _refuse(message: str, code: int = 1) -> int:
    click.echo(message, err=code > 0)
    return code
