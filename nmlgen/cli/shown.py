"""What `nmlgen ranks` and `nmlgen volume` show: the experiment of a spec, or of namelists that exist already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

import nmlgen
from nmlgen.cli.console import release_option
from nmlgen.errors import InputError
from nmlgen.experiment.difference import JOB
from nmlgen.experiment.experiment import Experiment
from nmlgen.files import Files
from nmlgen.findings import Report
from nmlgen.lift.launches import count_of
from nmlgen.lift.loading import load, release_of
from nmlgen.lift.namelists import MASTER_FILE, lift_master
from nmlgen.lift.releases import own_script, registry_for
from nmlgen.lift.scripts import lift_script
from nmlgen.linting import Lifted
from nmlgen.models import Model, asks_for
from nmlgen.models.surroundings import CELLS, LEVELS
from nmlgen.models.workload import Workload
from nmlgen.workloads import workload_of_namelist

F = TypeVar("F", bound=Callable[..., Any])


def namelist_options(function: F) -> F:
    """The options --ntasks, --icon-release, --cells and --levels."""
    release = release_option("The release, for namelists that do not show it; the newest one by default.")
    ntasks = click.option(
        "--ntasks", type=click.IntRange(min=1), help="The number of MPI tasks, for namelists without a build's script."
    )
    cells = click.option(CELLS, "--cells", type=click.IntRange(min=1), help=_OF_MESH.format("cells"))
    levels = click.option(LEVELS, "--levels", type=click.IntRange(min=1), help=_OF_MESH.format("levels"))
    return ntasks(release(cells(levels(function))))


_OF_MESH = "How many {} the mesh of MPAS has, where its files are not at hand."


def said_of_mesh(model: Model | None, cells: int | None, levels: int | None) -> dict[str, int]:
    """What --cells and --levels say to a model, None for ICON."""
    said = {name: number for name, number in ((CELLS, cells), (LEVELS, levels)) if number is not None}
    for name in said:
        if name not in asks_for(model):
            raise click.UsageError(f"--{name} is for models whose mesh no namelist tells, such as MPAS")
    return said


def shown_experiment(
    path: Path, overrides: tuple[str, ...], ntasks: int | None, icon_release: str | None
) -> Experiment:
    """The experiment of a spec, or of a master namelist.

    What is shown of an experiment with errors may be ICON's default in place of what was meant: a line on stderr says
    how many there are.
    """
    if not path.is_dir() and path.name != MASTER_FILE:
        if ntasks is not None:
            raise click.UsageError("--ntasks is for namelists; a spec says it: --set job.ntasks=...")
        spec = nmlgen.load_spec(path, overrides)
        _tell_of_errors(path, nmlgen.check(spec), "check")
        return spec.experiment
    master = path / MASTER_FILE if path.is_dir() else path
    if path.is_dir() and not master.is_file():
        raise InputError(f"{path} is a directory without {MASTER_FILE}; a spec is expected")
    if overrides:
        raise click.UsageError("namelists are shown without --set")
    if ntasks is None:
        experiment = _of_build(master, icon_release)
        _tell_of_errors(path, nmlgen.lint([path], icon_release=icon_release), "lint")
        return experiment
    registry, lifted = registry_for(master, "", icon_release or release_of(master.parent)), Lifted()
    report = nmlgen.lint([path], ntasks=ntasks, icon_release=icon_release, lifted=lifted)
    found = lifted.namelists.get(master)
    if found is None or found[0].registry is not registry:  # a configuration says another release
        found = lift_master(master, registry, ntasks)
    _tell_of_errors(path, report, "lint")
    return found[0]


def shown_workload(path: Path, model: Model, files: Files, ntasks: int | None, said: dict[str, int]) -> Workload:
    """What the tasks of a namelist of another model than ICON do; `said` is what options say of the mesh. Raises
    UnknownWorkloadError."""
    ntasks = ntasks or _tasks_of_build(path.parent, files)
    if ntasks is None:
        raise click.UsageError("namelists are shown with --ntasks, where no script of a build beside them says it")
    _tell_of_errors(path, nmlgen.lint([path], ntasks=ntasks), "lint")
    return workload_of_namelist(path, files, model, ntasks, said)


def _tasks_of_build(directory: Path, files: Files) -> int | None:
    """The tasks that a build's script in a directory asks for; None where there is none, or it does not say."""
    script = own_script(directory)
    if script is None:
        return None
    lifted = lift_script(script, registry_for(script, files.read(script).text), files=files, decides=True)
    asked = lifted.ways[0].job.directives.settings
    total, nodes, each = (count_of(asked.get(name)) for name in ("ntasks", "nodes", "ntasks-per-node"))
    if total is not None or nodes is None or each is None:
        return total
    return nodes * each


def _of_build(master: Path, icon_release: str | None) -> Experiment:
    """The experiment of a master namelist with what a build's script beside it says."""
    loaded = load(master.parent, icon_release=icon_release) if master.is_file() else None
    if loaded is None or JOB not in loaded.parts:
        raise click.UsageError("namelists are shown with --ntasks, where no script of a build beside them says it")
    return loaded.experiment


def _tell_of_errors(path: Path, report: Report, command: str) -> None:
    count = len(report.errors)
    if count:
        what = "1 error, which" if count == 1 else f"{count} errors, which"
        click.echo(f"{path} has {what} `nmlgen {command}` shows", err=True)
