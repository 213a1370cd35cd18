"""MPAS: its `namelist.atmosphere` and `namelist.init_atmosphere`, and the streams that are written beside."""

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

name = "MPAS"
namelist = "namelist.atmosphere"
executable = "atmosphere_model"
log = "log.atmosphere.0000.out"
asks = ("cells", "levels")
restarting = Restarting(  # src/core_atmosphere/mpas_atm_core.F: restart_timestamp
    checkpoint="""\
local last=""
if [[ -s restart_timestamp ]]; then read -r last <restart_timestamp || true; fi
printf '%s' "$last"
""",
    go_on="""\
put namelist.atmosphere nhyd_model config_start_time="'$1'"
put namelist.atmosphere restart config_do_restart=.true.""",
)


_page = partial(page, language="fortran")
_stream_page = partial(page, language="xml")

_STREAM = """\
<streams>
<immutable_stream name="input" type="input" filename_template="init.nc" input_interval="initial_only" />
<stream name="out" type="output" filename_template="out.$Y.nc" {} />
</streams>"""

problems = {
    "MPS001": (
        "mpas-unknown-group",
        _page(
            "MPAS looks for the groups that it knows and never at others: all that stands in a group of another name "
            "keeps its default, and one line of the log says that a group was not found.",
            "&nhyd_model\n config_dt = 60.0\n/\n&restarts\n config_do_restart = true\n/",
            "&nhyd_model\n config_dt = 60.0\n/\n&restart\n config_do_restart = true\n/",
        ),
    ),
    "MPS002": (
        "mpas-unreadable-namelist",
        _page(
            "The Fortran runtime stops in a group, and MPAS ends with `Error while reading namelist record`, without a "
            "word about the variable. Several variables that no known release has may be those of a fork, and are "
            "warnings.",
            "&nhyd_model\n config_dtt = 60.0\n/",
            "&nhyd_model\n config_dt = 60.0\n/",
        ),
    ),
    "MPS003": (
        "mpas-refused-settings",
        _page(
            "MPAS stops at these settings: tasks that write and their stride that do not fit into the job "
            "(`src/framework/mpas_io.F:143`), and physics schemes that it does not know or that do not go together "
            "(`mpas_atmphys_control.F`, `physics_namelist_check`).",
            "&nhyd_model\n config_dt = 60.0\n/\n&io\n config_pio_num_iotasks = 4\n config_pio_stride = 2\n/",
            "&nhyd_model\n config_dt = 60.0\n/\n&io\n config_pio_num_iotasks = 2\n config_pio_stride = 2\n/",
        ),
    ),
    "MPS004": (
        "mpas-replaced-setting",
        _page(
            "MPAS replaces a value that somebody wrote: with a boundary layer of MYNN the surface layer is its own, "
            "and radiation is not computed without clouds. A run with a time step of 0 never ends.",
            "&physics\n config_pbl_scheme = 'bl_mynn'\n config_sfclayer_scheme = 'sf_monin_obukhov'\n/\n"
            "&nhyd_model\n config_dt = 60.0\n/",
            "&physics\n config_pbl_scheme = 'bl_mynn'\n config_sfclayer_scheme = 'sf_mynn'\n/\n"
            "&nhyd_model\n config_dt = 60.0\n/",
        ),
    ),
    "MPS005": (
        "mpas-refused-streams",
        _stream_page(
            "MPAS stops at the file of streams beside its namelist: a tag that is not closed, a stream without a type, "
            "a template or an interval, two streams of one name or with one file, a fixed stream that MPAS does not "
            "have or whose contents are changed, an interval that is none, parts of `scalars` as fields of their own, "
            "no stream with the mesh. Fields that this release does not have, and lists of fields that are not there, "
            "are warnings. Where the file cannot be read that is said.",
            _STREAM.format(""),
            _STREAM.format('output_interval="06:00:00"'),
        ),
    ),
    "MPS006": (
        "mpas-ignored-in-streams",
        _stream_page(
            "MPAS goes on, and does otherwise than the file of streams says: an `io_type` that it does not know "
            'becomes pnetcdf, an unknown `precision` the model\'s own, a stream of `type="OUTPUT"` writes no file, and '
            "of a stream within a stream nothing is added if it stands above and its contents are not fixed "
            "(`mpas_stream_manager.F:6147`).",
            _STREAM.format('output_interval="06:00:00" io_type="adios2"'),
            _STREAM.format('output_interval="06:00:00" io_type="netcdf4"'),
        ),
    ),
}
"""The name and the page of each code."""

_NAME = re.compile(r"namelist\.(init_)?atmosphere(?:\..+)?", re.IGNORECASE)
_GROUP = re.compile(r"^[ \t]*&nhyd_model\b", re.MULTILINE | re.IGNORECASE)


def recognises(path: Path, text: str) -> bool:
    """Whether a namelist is called as MPAS's are, or has `&nhyd_model`."""
    return _NAME.fullmatch(path.name) is not None or _GROUP.search(text) is not None


def lint(document: Document, tasks: int | None, beside: Beside) -> Report:
    """Judge a namelist of MPAS and the streams beside it for a job of so many MPI tasks; see `judging`."""
    from nmlgen.models.mpas.judging import judge  # most namelists are of ICON

    return judge(document, tasks, beside)


def workload(document: Document, tasks: int, beside: Beside) -> Workload:
    """What so many tasks do with a namelist.atmosphere and the streams beside it; see `writing`."""
    from nmlgen.models.mpas.writing import work_out  # most namelists are of ICON

    return work_out(document, tasks, beside)
