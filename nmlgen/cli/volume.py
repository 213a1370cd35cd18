"""nmlgen volume: how many bytes a spec will write."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

import nmlgen
from nmlgen.cli.console import format_option, set_option, spec_argument, uses_colour
from nmlgen.cli.shown import namelist_options, said_of_mesh, shown_experiment, shown_workload
from nmlgen.cli.terminal import show_coloured
from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import UndecidedError
from nmlgen.files import Files
from nmlgen.models import model_named
from nmlgen.models.icon.ranks import PlacementError, level_types
from nmlgen.models.icon.volume import checkpoint_files, checkpoint_volume, stream_volumes, unknown_names
from nmlgen.models.workload import UnknownWorkloadError, Workload
from nmlgen.report import workload
from nmlgen.report.json import finding_document, to_json
from nmlgen.report.volume import VolumeReport, format_volumes, volume_document
from nmlgen.workloads import namelist_of_other, workload_of_spec


@click.command("volume")
@spec_argument
@set_option
@namelist_options
@format_option
def command(
    spec: str,
    overrides: tuple[str, ...],
    ntasks: int | None,
    icon_release: str | None,
    cells: int | None,
    levels: int | None,
    output_format: str,
) -> int:
    """Show how many bytes SPEC writes: an output step, a file, the run, a checkpoint, and how sure each number is.

    SPEC may also be an icon_master.namelist, or a directory that holds one; --ntasks is needed then, but beside
    the script of a build, which says it. Of other models than ICON it may be their namelist, or its directory, with
    --ntasks where no build says it; how much
    a time of output has is known of WRF, of PALM's netCDF, and of MPAS where the mesh is at hand, or --cells and
    --levels say how large it is.

    Units are decimal. Exit code 1 if ICON would refuse the placement of the output files.
    """
    path, files = Path(spec), Files()
    found = namelist_of_other(path, files)
    if found is not None:
        if overrides:
            raise click.UsageError("namelists are shown without --set")
        said = said_of_mesh(found[1], cells, levels)
        return _show_other(lambda: shown_workload(*found, files, ntasks, said), output_format)
    try:
        experiment = shown_experiment(path, overrides, ntasks, icon_release)
    except nmlgen.SpecError as error:
        if output_format == "text":
            raise
        click.echo(to_json({"findings": [finding_document(finding) for finding in error.findings]}))
        return 1
    said = said_of_mesh(None if experiment.other is None else model_named(experiment.other.name), cells, levels)
    if experiment.other is not None:
        return _show_other(lambda: workload_of_spec(experiment, said), output_format)
    try:
        reports = {component.title: _report(component) for component in experiment.components}
    except PlacementError as error:
        message = f"ICON refuses the placement: {error}"
        click.echo(
            to_json({"refused": str(error)}) if output_format == "json" else message, err=output_format == "text"
        )
        return 1
    if output_format == "json":
        documents = {name: volume_document(report) for name, report in reports.items()}
        click.echo(to_json({"models": documents} if len(documents) > 1 else next(iter(documents.values()))))
        return 0
    for number, (name, report) in enumerate(reports.items()):
        if len(reports) > 1:
            click.echo(("\n" if number else "") + name)
        show_coloured(format_volumes(report, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0


def _show_other(work_out: Callable[[], Workload], output_format: str) -> int:
    """Print how much a job of another model writes; the exit code."""
    try:
        found = work_out()
    except UnknownWorkloadError as error:
        is_text = output_format == "text"
        click.echo(f"what is written is not known: {error}" if is_text else to_json({"undecided": str(error)}))
        return 0
    if output_format == "json":
        click.echo(to_json(workload.volume_document(found)))
    else:
        show_coloured(workload.format_volume(found, uses_colour(sys.stdout), sys.stdout.isatty()))
    return 0


def _report(component: Component) -> VolumeReport:
    undecided: dict[str, str] = {}
    streams = checkpoint = files = None
    names: tuple[str, ...] = ()
    try:
        streams = stream_volumes(component)
        names = tuple(
            name
            for stream in component.streams
            for level_type in level_types(component, stream)
            for name in unknown_names(component, stream, level_type)
        )
    except UndecidedError as error:
        undecided[error.setting.name] = error.reason
    try:
        checkpoint, files = checkpoint_volume(component), checkpoint_files(component)
    except UndecidedError as error:
        undecided[error.setting.name] = error.reason
    return VolumeReport(streams, checkpoint, files, names, undecided)
