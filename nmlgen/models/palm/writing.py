"""Which tasks of PALM write which file, and when (`time_integration.f90`, `check_open.f90`, `write_restart_data`).

Measured with 25.10.1: each kind of output has one file in a run. Times are those that are asked for; PALM writes at the
first step that reaches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from nmlgen.models.palm.output import has_plane
from nmlgen.models.palm.registry import key, palm_registry
from nmlgen.models.palm.settings import UNSET, Settings, UnknownError
from nmlgen.models.palm.sizes import bytes_of_profiles, bytes_of_quantities
from nmlgen.models.palm.writers import PARALLEL, restart_files
from nmlgen.models.reading import Beside, Read, read_settings
from nmlgen.models.workload import MOST_TIMES, OutputFile, Role, Tally, UnknownWorkloadError, Workload
from nmlgen.namelist.syntax import Document

_PLANES = ("xy", "xz", "yz")
_WITH_FILES = (
    "particle_parameters",
    "virtual_flight_parameters",
    "virtual_measurement_parameters",
    "surface_data_output_parameters",
    "spectra_parameters",
    "wind_turbine_parameters",
    "user_parameters",
)
"""Modules that write files of their own."""


def work_out(document: Document, tasks: int, beside: Beside) -> Workload:
    """What so many tasks do with a PARIN. Raises UnknownWorkloadError."""
    read = read_settings(document, palm_registry(), key=key).finite
    try:
        return _Run(read, document.source.name.rpartition("/")[2], tasks, beside).workload()
    except UnknownError as error:
        raise UnknownWorkloadError(f"{error} is not known") from None


class _Run:
    def __init__(self, read: Read, name: str, tasks: int, beside: Beside) -> None:
        self.read = read
        self.settings = Settings(read, name, tasks, beside)
        self.count = self.settings.tasks
        self.is_late = False
        self.tally = Tally()

    def workload(self) -> Workload:
        files = [*self.output(), *self.checkpoint()]
        writers = sorted({task for file in files for task in file.tasks})
        roles = [Role("compute", range(self.count))]
        if writers:
            roles.append(Role("write, too", range(writers[-1] + 1)))
        return Workload(self.count, tuple(roles), tuple(files), tuple(self.unknown()))

    def unknown(self) -> Iterator[str]:
        for group in _WITH_FILES:
            if self.settings.has(group):
                yield f"the files of &{group}"
        if self.settings.is_given("data_output_masks"):
            yield "the files of masks"
        on_each = self.settings.data_output_2d_on_each_pe and self.settings.netcdf_data_format not in PARALLEL
        if on_each and any(has_plane(self.settings, plane) for plane in _PLANES):
            yield "the files in which each task leaves its part of sections (data_output_2d_on_each_pe)"
        if self.is_late:
            yield "whether the last step, which may go beyond end_time, reaches what is due soon after it"
        try:
            _ = self.settings.writes_restart
        except UnknownError:
            yield "whether restart files are kept: write_binary of the ENVPAR beside PARIN says it"

    def output(self) -> Iterator[OutputFile]:
        asked = self.settings
        names = [(name, name.endswith("_av") and len(name) > 3) for name in asked.until("data_output", "")]
        kinds: dict[tuple[str, bool], list[str]] = {}
        for name, is_mean in names:
            plain = name.removesuffix("_av") if is_mean else name
            plane = _plane(plain)
            kinds.setdefault((plane, is_mean), []).append(plain.removesuffix(f"_{plane}"))
        for (plane, is_mean), quantities in sorted(kinds.items()):
            what = f"2d_{plane}" if plane else "3d"
            interval = self.interval("data_output_av" if is_mean else f"do{what}")
            times = self.times("data_output_av" if is_mean else f"do{what}", interval)
            named = what.replace("_", " ") + (" mean" if is_mean else "")
            if not is_mean and self.begins_with(plane) and times != ():
                times = ("0 s", *(times or ()))
            if times is not None:
                size = self.size(partial(bytes_of_quantities, asked, plane, quantities))
                name = f"DATA_{what.upper()}{'_AV' if is_mean else ''}_NETCDF"
                yield OutputFile(named, name, times, self.writers, size=size)
        profiles = asked.until("data_output_pr", "")
        if profiles and (times := self.times("dopr", self.interval("dopr"))) is not None:
            initial = any(str(name).startswith("#") for name in profiles) and not asked.is_restart
            # Those of the start come with the first time that is due (`data_output_profiles.f90:109`).
            times = ("0 s", *times) if times and initial else times
            size = self.size(partial(bytes_of_profiles, asked))
            yield OutputFile("profiles", "DATA_1D_PR_NETCDF", times, (0,), size=size)
        if asked.end_time > 0 and (asked.dt_dots == UNSET or asked.dt_dots <= asked.end_time):
            yield OutputFile("time series", "DATA_1D_TS_NETCDF", (), (0,))

    def size(self, counted: Callable[[], int]) -> int | None:
        """The bytes of a time; None where they are not known, or user code may add to them."""
        try:
            return None if self.settings.has("user_parameters") else counted()
        except UnknownError:
            return None

    def begins_with(self, plane: str) -> bool:
        """Whether the state at the start is written, before the first step (`palm.f90:325`)."""
        try:
            said = self.settings.do2d_at_begin if plane else self.settings.do3d_at_begin
        except UnknownError:
            return False
        return bool(said) and not self.settings.is_restart

    @property
    def writers(self) -> Sequence[int]:
        return range(self.count) if self.settings.netcdf_data_format in PARALLEL else (0,)

    def interval(self, what: str) -> float:
        """How often a kind of output is due; that of all output where nobody says it."""
        own = self.settings.of(f"dt_{what}")
        return float(self.settings.dt_data_output if own == UNSET else own)

    def times(self, what: str, interval: float) -> tuple[str, ...] | None:
        """When a kind of output is due, none known where that is each step; None for never."""
        end, skip = float(self.settings.end_time), float(self.settings.of(f"skip_time_{what}"))
        skip = float(self.settings.skip_time_data_output) if skip == UNSET else skip
        if end <= 0 or skip > end:
            return None
        if interval <= 0:
            return ()
        if (end - skip) / interval > MOST_TIMES:
            raise UnknownWorkloadError(f"it writes more than {MOST_TIMES} times")
        first = skip if skip > 0 else interval
        self.is_late |= end < first <= end + self.settings.dt_max
        found = tuple(f"{first + interval * number:g} s" for number in range(int((end - first) // interval) + 1))
        self.tally.add(len(found))
        return found or None

    def checkpoint(self) -> Iterator[OutputFile]:
        try:
            if not self.settings.writes_restart:
                return
        except UnknownError:
            return
        is_split = restart_files(self.settings) > 1
        end = f"{float(self.settings.end_time):g} s"
        yield OutputFile(
            "restart", "BINOUT/" if is_split else "BINOUT", (end,), range(self.count), "_{:06d}" if is_split else ""
        )


def _plane(name: str) -> str:
    return name[-2:] if name[-3:] in ("_xy", "_xz", "_yz") else ""
