"""PALM: its `PARIN`, which palmrun copies from `<run>_p3d`, read and checked as the model does it."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nmlgen.findings import Report
from nmlgen.models.restarting import Restarting
from nmlgen.pages import page

if TYPE_CHECKING:
    from nmlgen.files import Files
    from nmlgen.models.job import ModelJob
    from nmlgen.models.reading import Beside
    from nmlgen.models.workload import Workload
    from nmlgen.namelist.syntax import Document

name = "PALM"
namelist = "PARIN"
executable = "palm"
restarting = Restarting(  # check_for_restart.f90, check_open.f90, restart_data_mpi_io_mod.f90
    checkpoint="if [[ -e BINOUT ]]; then stat --format='BINOUT of %y' BINOUT; fi",
    go_on="""\
local file
for file in PARIN PARIN_N??; do
  if [[ -f $file ]]; then put "$file" initialization_parameters "initializing_actions='read_restart_data'"; fi
done""",
    hand_on="""\
local file
for file in BINOUT BINOUT_N??; do
  if [[ -e $file ]]; then rm -rf "BININ${file#BINOUT}" && mv "$file" "BININ${file#BINOUT}"; fi
done""",
    is_unfinished="[[ -f CONTINUE_RUN ]]",
    marks=("CONTINUE_RUN",),
)


_page = partial(page, language="fortran")

_GRID = """\
&initialization_parameters
 nx = 39, ny = 39, nz = 40,
 dx = 50.0, dy = 50.0, dz = 50.0,
 initializing_actions = 'set_constant_profiles',
"""
_RUN = "/\n&runtime_parameters\n end_time = 3600.0,\n"

problems = {
    "PLM001": (
        "palm-unknown-group",
        _page(
            "PALM looks for the groups that it knows and never at others: all that stands in a group of another name "
            "keeps its default, and nothing is said. With a misspelt `&runtime_parameters` it ends well after no time "
            "step, without output.",
            f"{_GRID}/\n&runtime_parameter\n end_time = 3600.0,\n/",
            f"{_GRID}{_RUN}/",
        ),
    ),
    "PLM002": (
        "palm-unreadable-namelist",
        _page(
            "The Fortran runtime stops in a group: at a variable that it does not have, at a value of another type, at "
            "more values than the variable holds. PALM ends with PAC0247. Several variables that no "
            "known release has may be those of a fork, and are warnings.",
            f"{_GRID}{_RUN} netcdf_data_fromat = 3,\n/",
            f"{_GRID}{_RUN} netcdf_data_format = 3,\n/",
        ),
    ),
    "PLM003": (
        "palm-refused-settings",
        _page(
            "PALM checks its settings against each other, against the number of tasks and against the files that are "
            "there, and ends with the message whose code is named. What the namelist does not decide is not judged: "
            "what a static or dynamic driver holds, a restart file, user code. An input file is missed where the "
            "namelist is called `PARIN`, as then PALM runs where it lies. `--ntasks` says how many tasks there are.",
            f"{_GRID}{_RUN} data_output = 'theta_xy',\n/",
            f"{_GRID}{_RUN} data_output = 'theta_xy',\n section_xy = 10,\n/",
        ),
    ),
    "PLM004": (
        "palm-does-otherwise",
        _page(
            "PALM takes the settings and does otherwise than they say: restart files are not written through shared "
            "memory if the domain has fewer than 65 columns in x or y, and without `&runtime_parameters` no time step "
            "is computed.",
            f"{_GRID}{_RUN} restart_data_format = 'mpi_shared_memory',\n/",
            f"{_GRID}{_RUN} restart_data_format = 'mpi',\n/",
        ),
    ),
    "PLM005": (
        "palm-serial-output",
        _page(
            "For `--ntasks`: who writes. With `restart_data_format = 'fortran_binary'` each task has a restart file of "
            "its own, of which this tells from 256 on; with `mpi` there is one. Volumes of 1 GiB or more at a time are "
            "gathered and written by task 0 alone unless `netcdf_data_format` is 5 or 6.",
            f"{_GRID.replace('39', '1023')}{_RUN} data_output = 'u', 'v', 'w', 'theta', 'p', 'e', 'km',\n/",
            f"{_GRID.replace('39', '1023')}{_RUN} data_output = 'u', 'v', 'w', 'theta', 'p', 'e', 'km',\n"
            " netcdf_data_format = 5,\n/",
        ),
    ),
}
"""The name and the page of each code."""

_NAME = re.compile(r"PARIN(?:_N\d\d|_O)?|.+_p3dr?(?:_N\d\d|_O)?", re.IGNORECASE)
_GROUP = re.compile(r"^[ \t]*[&$](?:initialization_parameters|runtime_parameters)\b", re.MULTILINE | re.IGNORECASE)


def recognises(path: Path, text: str) -> bool:
    """Whether a namelist is called as PALM's are, or has one of the groups of every run."""
    return _GROUP.search(text) is not None or _NAME.fullmatch(path.name) is not None


def lint(document: Document, tasks: int | None, beside: Beside) -> Report:
    """Judge a namelist of PALM for a job of so many MPI tasks; see `judging`."""
    from nmlgen.models.palm.judging import judge  # most namelists are of ICON

    return judge(document, tasks, beside)


def workload(document: Document, tasks: int, beside: Beside) -> Workload:
    """What so many tasks do with a PARIN; see `writing`."""
    from nmlgen.models.palm.writing import work_out  # most namelists are of ICON

    return work_out(document, tasks, beside)


def job_of(path: Path, files: Files) -> ModelJob | None:
    """The job of palmrun whose directory a path is; see `palmrun`."""
    from nmlgen.models.palm.palmrun import job_of as job_of_palmrun  # most imports are of ICON

    return job_of_palmrun(path, files)
