"""nmlgen ranks: how the MPI ranks split, and which I/O rank writes what."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import nmlgen
from nmlgen.cli.console import format_option, set_option, spec_argument, uses_colour
from nmlgen.cli.shown import namelist_options, said_of_mesh, shown_experiment, shown_workload
from nmlgen.cli.terminal import show_coloured
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.files import Files
from nmlgen.models import model_named
from nmlgen.models.icon.clock import clock
from nmlgen.models.icon.nodes import nodes
from nmlgen.models.icon.placement import placement
from nmlgen.models.icon.ranks import PlacementError, numbers_in_job, split
from nmlgen.models.icon.schedule import Duty, duties, first_writes
from nmlgen.models.icon.volume import Volume, rank_volumes
from nmlgen.models.workload import UnknownWorkloadError, Workload
from nmlgen.report.json import finding_document, to_json
from nmlgen.report.ranks import (
    Roster,
    format_duties,
    format_nodes,
    format_picture,
    format_seats,
    format_split,
    nodes_document,
    ranks_document,
    seats_document,
    split_document,
)
from nmlgen.report.workload import format_workload, workload_document
from nmlgen.visible import joined
from nmlgen.workloads import namelist_of_other, workload_of_spec

_WIDTH = 100
_MOST_SEATS_TOLD = 100_000
"""JSON of more, a mapping for each rank, would take memory without an end; `nodes` tells of them."""

_MOST_CREWS_TOLD = 300_000
"""Programs, and what they do, on each of the nodes."""


@click.command("ranks")
@spec_argument
@set_option
@namelist_options
@click.option(
    "--times",
    type=click.IntRange(min=1),
    default=48,
    show_default=True,
    help="How many output times to show at most; of other models than ICON, how many files.",
)
@format_option
def command(
    spec: str,
    overrides: tuple[str, ...],
    ntasks: int | None,
    icon_release: str | None,
    cells: int | None,
    levels: int | None,
    times: int,
    output_format: str,
) -> int:
    """Show which MPI rank of SPEC sits on which node and does what, and which I/O rank writes which file, in which
    order.

    SPEC may also be an icon_master.namelist, or a directory that holds one; --ntasks is needed then, but beside
    the script of a build, which says it. Of other models than ICON it may be their namelist, or its directory, with
    --ntasks where no build says it.

    The picture has a row for each I/O rank and a cell for each output time of the first job: how many files the rank
    writes to. Exit code 1 if ICON would refuse the split or the placement; `nmlgen check` says more.
    """
    path, files = Path(spec), Files()
    found = namelist_of_other(path, files)
    if found is not None:
        if overrides:
            raise click.UsageError("namelists are shown without --set")
        said = said_of_mesh(found[1], cells, levels)
        return _show_other(lambda: shown_workload(*found, files, ntasks, said), times, output_format)
    try:
        experiment = shown_experiment(path, overrides, ntasks, icon_release)
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    said = said_of_mesh(None if experiment.other is None else model_named(experiment.other.name), cells, levels)
    if experiment.other is not None:
        return _show_other(lambda: workload_of_spec(experiment, said), times, output_format)
    show = _show_json if output_format == "json" else show_text
    return show(experiment, times)


def _show_other(work_out: Callable[[], Workload], times: int, output_format: str) -> int:
    """Print what the tasks of another model do, and up to so many of its files; the exit code."""
    try:
        found = work_out()
    except UnknownWorkloadError as error:
        if output_format == "json":
            click.echo(to_json({"undecided": str(error)}))
            return 0
        return _refuse(f"who writes what is not known: {error}", 0)
    if output_format == "json":
        click.echo(to_json(workload_document(found)))
    else:
        show_coloured(format_workload(found, times, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0


def show_text(experiment: Experiment, times: int) -> int:
    """Print the nodes, and of each component the split and the picture of up to so many output times; the exit code."""
    show_coloured(_nodes_text(experiment))
    codes: list[int] = []
    for component in experiment.components:
        click.echo("\n" + component.title if len(experiment.models) > 1 else "")
        codes.append(_show_component(component, times))
    return max(codes)


def _nodes_text(experiment: Experiment) -> str:
    """The whole job node by node, or why that is not known."""
    try:
        found = nodes(experiment)
    except UndecidedError as error:
        return f"what sits on which node is not known, because {error.setting.name} is not known"
    colour, terminal = uses_colour(sys.stdout), sys.stdout.isatty()
    text = format_nodes(found, _titles(experiment), colour, terminal)
    if not experiment.programs:
        return text
    return joined("\n\n", (text, format_seats(placement(experiment), _programs(experiment), colour, terminal)))


def _programs(experiment: Experiment) -> list[str]:
    return [program.name for program in experiment.programs]


def _titles(experiment: Experiment) -> list[str]:
    programs = [program.name for program in experiment.programs if program.model is None]
    return [*(component.title for component in experiment.components), *programs]


def _show_component(component: Component, times: int) -> int:
    colour, terminal = uses_colour(sys.stdout), sys.stdout.isatty()
    try:
        ranks = split(component)
    except UndecidedError as error:
        return _refuse(f"the split is not known, because {error.reason}", 0)
    if ranks.work < 1:
        return _refuse(f"no rank is left to compute: {ranks.total} tasks, {ranks.total - ranks.work} for others")
    show_coloured(format_split(ranks, colour, terminal, numbers_in_job(component)))
    try:
        roster = _roster(component, times)
    except UndecidedError as error:
        return _refuse(f"who writes what is not known, because {error.reason}", 0)
    except PlacementError as error:
        return _refuse(f"ICON refuses the placement: {error}")
    show_coloured(joined("", ("\n", format_duties(roster, colour, terminal))))
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    show_coloured(joined("", ("\n", format_picture(roster, width, encoding == "utf8", colour))))
    return 0


def _show_json(experiment: Experiment, times: int) -> int:
    documents = {component.title: _document(component, times) for component in experiment.components}
    document: dict[str, Any] = {"models": documents} if len(documents) > 1 else next(iter(documents.values()))
    try:
        found = nodes(experiment)
        is_told = sum(len(node.crew) for node in found) <= _MOST_CREWS_TOLD
        document = {**document, "nodes": nodes_document(found, _titles(experiment)) if is_told else None}
        if not is_told:
            click.echo("note: what sits on each of the nodes is too much to be listed", err=True)
        if experiment.programs:
            seats = placement(experiment)
            is_told = len(seats) <= _MOST_SEATS_TOLD
            document["seats"] = seats_document(seats, _programs(experiment)) if is_told else None
            if not is_told:
                click.echo(f"note: {len(seats)} seats are too many to be listed one by one", err=True)
    except UndecidedError:
        document = {**document, "nodes": None}
    click.echo(to_json(document))
    return 1 if any("refused" in document for document in documents.values()) else 0


def _document(component: Component, times: int) -> dict[str, Any]:
    try:
        ranks, numbers = split(component), numbers_in_job(component)
        if ranks.work < 1:
            return {**split_document(ranks, numbers), "refused": "no rank is left to compute"}
    except UndecidedError as error:
        return {"undecided": error.setting.name}
    try:
        return ranks_document(_roster(component, times))
    except UndecidedError as error:
        return {**split_document(ranks, numbers), "undecided": error.setting.name}
    except PlacementError as error:
        return {**split_document(ranks, numbers), "refused": str(error)}


def _roster(component: Component, times: int) -> Roster:
    time = clock(component)
    writes, output_times = first_writes(component, time, times)
    rows = duties(component, time)
    volumes = _volumes(component, rows)
    return Roster(split(component), rows, writes, output_times, time, volumes, numbers_in_job(component))


def _volumes(component: Component, rows: tuple[tuple[Duty, ...], ...]) -> tuple[Volume, ...] | None:
    try:
        return rank_volumes(component, rows)
    except UndecidedError:  # the grid's size, most often: the records must do
        return None


def _refuse(message: str, code: int = 1) -> int:
    click.echo(message, err=code > 0)
    return code
