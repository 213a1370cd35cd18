"""WRF: its `namelist.input`, read, checked and reset as the model does it."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nmlgen.findings import Report
from nmlgen.models.restarting import Restarting
from nmlgen.pages import page

if TYPE_CHECKING:
    from nmlgen.models.reading import Beside
    from nmlgen.models.workload import Workload
    from nmlgen.namelist.syntax import Document

name = "WRF"
namelist = "namelist.input"
executable = "main/wrf.exe"
log = "rsl.error.0000"
restarting = Restarting(
    checkpoint="""\
local file last=""
for file in wrfrst_d01_*; do
  if [[ $file =~ ^wrfrst_d01_([0-9]{4}(-[0-9]{2}){2}_[0-9]{2}([:_][0-9]{2}){2}) && ${BASH_REMATCH[1]} > $last ]]; then
    last=${BASH_REMATCH[1]}
  fi
done
printf '%s' "$last"
""",
    go_on="""\
local year month day hour minute second domains
IFS='-_:' read -r year month day hour minute second <<<"$1"
domains=$(sed -nE 's/^ *max_dom *= *([0-9]+).*/\\1/Ip' namelist.input)
put namelist.input time_control restart=.TRUE. start_year="${domains:=1}*$year" start_month="$domains*$month" \\
  start_day="$domains*$day" start_hour="$domains*$hour" start_minute="$domains*$minute" start_second="$domains*$second"
""",
)


_page = partial(page, language="fortran")

_DOMAINS = """\
&domains
 time_step = 60,
 max_dom   = 2,
 e_we      = 100, 112,
 e_sn      = 100, 97,
 e_vert    = 45, 45,
 dx        = 15000.,
 dy        = 15000.,
 parent_id = 1, 1,
 parent_grid_ratio = 1, 3,
/
"""
_REST = """
&dynamics
 diff_opt = 1, 1,
 km_opt   = 4, 4,
/
&namelist_quilt
 nio_tasks_per_group = 0,
/
"""

problems = {
    "WRF001": (
        "wrf-unknown-group",
        _page(
            "WRF looks for the groups that it knows and never at others: all that stands in a group of another name "
            "keeps its default, and nothing is said.",
            "&domain\n max_dom = 2,\n/\n&time_control\n run_hours = 12,\n/",
            "&domains\n max_dom = 2,\n/\n&time_control\n run_hours = 12,\n/",
        ),
    ),
    "WRF002": (
        "wrf-unreadable-namelist",
        _page(
            "The Fortran runtime stops in a group: at a variable that it does not have, at a value of another type, at "
            "more values than there are domains. WRF then prints all lines that may be at fault, and ends. A variable "
            "that another release of WRF has is a warning, as nobody says for which one the file is, and so are "
            "several that none has, which a fork may, and one that the registry of the tree declares in which the file "
            "lies. It is a warning, too, where the file ends before a group does: "
            "WRF takes that for a group that is not there.",
            "&time_control\n run_hours = 12,\n io_form_histry = 2,\n/\n&domains\n time_step = 60,\n/",
            "&time_control\n run_hours = 12,\n io_form_history = 2,\n/\n&domains\n time_step = 60,\n/",
        ),
    ),
    "WRF003": (
        "wrf-refused-settings",
        _page(
            "WRF checks its settings against each other once they are read, and ends if one check fails. What is "
            "checked is taken from the source of WRF 4.7.1 (`share/module_check_a_mundo.F`), for the ARW core as it is "
            "built without chemistry, CLM, CTSM, CMAQ and the fast RRTMG. A note tells which of the releases from "
            "3.9.1.1 on takes it, unless the namelist has a variable that this one lacks; in the tree of such a "
            "release, or of one before, it is a warning. Without `&namelist_quilt` WRF built for MPI ends, too.",
            f"{_DOMAINS}&physics\n sf_surface_physics = 2, 3,\n/{_REST}",
            f"{_DOMAINS}&physics\n sf_surface_physics = 2, 2,\n/{_REST}",
        ),
    ),
    "WRF004": (
        "wrf-replaced-setting",
        _page(
            "WRF replaces a value that somebody wrote because of other settings, and says nothing of it unless "
            "`debug_level` is 1 or more. Only the domains that there are count.",
            f"{_DOMAINS}&physics\n mp_physics = 6, 8,\n sf_surface_physics = 2, 2,\n/{_REST}",
            f"{_DOMAINS}&physics\n mp_physics = 8, 8,\n sf_surface_physics = 2, 2,\n/{_REST}",
        ),
    ),
    "WRF005": (
        "wrf-impossible-layout",
        _page(
            "The tasks cannot be split as the namelist says, and WRF ends: the writing tasks of `&namelist_quilt` "
            "leave none to compute, or the patches are more than the tasks. `--ntasks` says how many there are.",
            "&domains\n time_step = 60,\n/\n&namelist_quilt\n nio_tasks_per_group = 7,\n nio_groups = 2,\n/",
            "&domains\n time_step = 60,\n/\n&namelist_quilt\n nio_tasks_per_group = 2,\n nio_groups = 1,\n/",
        ),
    ),
    "WRF006": (
        "wrf-idle-tasks",
        _page(
            "Tasks have nothing to do: writing tasks that get no rows of the mesh, as a group has more of them than "
            "the mesh has rows; all of them, where fewer tasks compute than a group has, for WRF then does not use "
            "them (and computes with a mesh for the tasks that were left, the others have no patch); or tasks beyond "
            "`nproc_x * nproc_y`.",
            "&domains\n time_step = 60,\n/\n&namelist_quilt\n nio_tasks_per_group = 5,\n nio_groups = 1,\n/",
            "&domains\n time_step = 60,\n/\n&namelist_quilt\n nio_tasks_per_group = 2,\n nio_groups = 1,\n/",
        ),
    ),
    "WRF007": (
        "wrf-suite-decides",
        _page(
            "Where a physics option is -1, `physics_suite` says which scheme runs. This tells which ones.",
            f"{_DOMAINS}&physics\n physics_suite = 'CONUS',\n cu_physics = -1, 0,\n/{_REST}",
            f"{_DOMAINS}&physics\n physics_suite = 'CONUS',\n cu_physics = 1, 0,\n/{_REST}",
        ),
    ),
}
"""The name and the page of each code."""

_NAME = re.compile(r"namelist\.input(?:\..+)?", re.IGNORECASE)
_GROUP = re.compile(r"^[ \t]*&(time_control|domains)\b", re.MULTILINE | re.IGNORECASE)


def recognises(path: Path, text: str) -> bool:
    """Whether a namelist is called `namelist.input`, or has WRF's `&time_control` and `&domains`."""
    groups = {group.lower() for group in _GROUP.findall(text)}
    return len(groups) == 2 or (_NAME.fullmatch(path.name) is not None and bool(groups))


def lint(document: Document, tasks: int | None, beside: Beside) -> Report:
    """Judge a namelist.input for a job of so many MPI tasks; see `judging`."""
    from nmlgen.models.wrf.judging import judge  # most namelists are of ICON

    return judge(document, tasks, beside)


def workload(document: Document, tasks: int, _beside: Beside) -> Workload:
    """What so many tasks do with a namelist.input; see `writing`."""
    from nmlgen.models.wrf.writing import work_out  # most namelists are of ICON

    return work_out(document, tasks)
