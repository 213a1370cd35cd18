"""What is wrong with a namelist of MPAS and the streams beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmlgen.errors import InputError
from nmlgen.findings import Finding, Report, Severity
from nmlgen.models.judging import Judging
from nmlgen.models.mpas import problems
from nmlgen.models.mpas.fields import problems_of_members
from nmlgen.models.mpas.registry import RELEASE, immutable_streams, known_elsewhere, mpas_registry
from nmlgen.models.mpas.streams import INTERVAL, StreamProblem, problems_of, streams_of
from nmlgen.models.mpas.suites import SUITES
from nmlgen.models.reading import Beside, Read, read_settings
from nmlgen.namelist.syntax import Document, SyntaxProblem
from nmlgen.source import Source
from nmlgen.units.whole import whole_number
from nmlgen.values import evolve

_SCHEMES = {
    "config_microp_scheme": ("off", "mp_kessler", "mp_thompson", "mp_thompson_aerosols", "mp_wsm6"),
    "config_convection_scheme": ("off", "cu_grell_freitas", "cu_kain_fritsch", "cu_tiedtke", "cu_ntiedtke"),
    "config_pbl_scheme": ("off", "bl_mynn", "bl_ysu"),
    "config_gwdo_scheme": ("off", "bl_ysu_gwdo"),
    "config_radt_lw_scheme": ("off", "cam_lw", "rrtmg_lw"),
    "config_radt_sw_scheme": ("off", "cam_sw", "rrtmg_sw"),
    "config_radt_cld_scheme": ("off", "cld_incidence", "cld_fraction"),
    "config_sfclayer_scheme": ("off", "sf_mynn", "sf_monin_obukhov", "sf_monin_obukhov_rev"),
    "config_lsm_scheme": ("off", "sf_noah", "sf_noahmp"),
}
_NEWER = frozenset({"mp_tempo", "mp_nssl2m", "bl_myj", "bl_ugwp_gwdo", "sf_mynnsfclay", "sf_myj", "sf_ruc"})
_NEWER_STREAMS = frozenset({"ugwp_ngw_in", "ugwp_oro_data", "ugwp_oro_data_in"})
_NEWER_CLOUDS = frozenset({"cld_fraction_thompson", "cld_fraction_mynn"})
_INTERVALS = (
    "config_radtlw_interval",
    "config_radtsw_interval",
    "config_conv_interval",
    "config_pbl_interval",
    "config_greeness_update",
    "config_bucket_update",
)
_HALOS = ("mpas_halo", "mpas_dmpar")
_DATE = re.compile(r"-?\d+-(\d+)-(\d+)(?:_.*)?")
_YEAR_0 = re.compile(r"0+-")
"""The year in which the ideal cases of the core that makes initial data begin."""
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def judge(document: Document, tasks: int | None, beside: Beside) -> Report:
    """Judge a namelist of MPAS and the streams beside it for a job of so many MPI tasks; None where nobody says how
    many."""
    core = "atmosphere" if any(group.name == "physics" for group in document.groups) else None
    name = document.source.name.rpartition("/")[2]
    core = "init_atmosphere" if "init_atmosphere" in name else core or "atmosphere"
    judging = _Judging(read_settings(document, mpas_registry(core)), document.source, core, tasks, beside)
    try:
        judging.streams = beside(f"streams.{core}")
    except InputError as error:
        judging.unreadable_streams = str(error)
    return judging.report()


class _Judging(Judging):
    model = f"MPAS {RELEASE}"
    unknown_group = "MPS001"
    unreadable = "MPS002"

    def __init__(self, read: Read, source: Source, core: str, tasks: int | None, beside: Beside) -> None:
        super().__init__(read, source, mpas_registry(core), problems)
        self.core = core
        self.tasks = tasks
        self.beside = beside
        self.streams: Source | None = None
        self.unreadable_streams = ""

    def known_elsewhere(self, group: str, name: str) -> str | None:
        return known_elsewhere(self.core, group, name)

    def problem(self, group: str, problem: SyntaxProblem) -> Finding:
        """What a problem of the text is to MPAS, which takes the end of the file in a group for one that is not there:
        where the last value of the file is of another type, gfortran's runtime reads on to it."""
        found, read = super().problem(group, problem), self.read.groups[group]
        is_last = read.start == self.last and read.items and problem.span.offsets[0] >= read.items[-1].span.offsets[0]
        if problem.kind != "wrong-type" or not is_last:
            return found
        note = f"the last value of the file: MPAS built with gfortran takes its defaults for all of &{group}"
        return evolve(found, severity=Severity.WARNING, notes=(*found.notes, note))

    def settings(self) -> Iterator[Finding]:
        return map(self.if_meant, self.refusals())

    def refusals(self) -> Iterator[Finding]:
        """What MPAS stops at, or does otherwise."""
        if "io" in self.registry.groups:
            yield from self.tasks_that_write()
        if self.core == "atmosphere":
            yield from self.blocks()
            yield from self.halos()
            yield from self.physics()
            yield from self.times()
        if self.unreadable_streams:
            message = f"the streams are not judged: {self.unreadable_streams}"
            yield self.finding("MPS005", Severity.WARNING, None, message, "expected: a file that MPAS can read")
        if self.streams is not None:
            for found in self.problems_of_streams(self.streams):
                code = "MPS005" if found.stops else "MPS006"
                severity = Severity.ERROR if found.stops and found.is_certain else Severity.WARNING
                notes = [f"expected: {found.expected}"]
                if found.span.text.strip("\"'") in _NEWER_STREAMS:
                    severity = Severity.WARNING
                    notes.append("MPAS 8.3 has it")
                yield self.finding(code, severity, found.span, found.message, *notes)

    def problems_of_streams(self, streams: Source) -> Iterator[StreamProblem]:
        """What is wrong with the streams, and with what they hold."""
        found = list(problems_of(streams, immutable_streams(self.core)))
        yield from found
        if self.core == "atmosphere" and not any(problem.stops for problem in found):  # MPAS looks no further
            yield from self.mesh_stream(streams)
            yield from problems_of_members(streams, self.beside)

    def mesh_stream(self, source: Source) -> Iterator[StreamProblem]:
        """The stream from which the mesh is read (`mpas_atm_core_interface.F:337`)."""
        streams = {stream.name: stream for stream in streams_of(source)}
        goes_on, invariant = self.read.value("config_do_restart"), streams.get("invariant")
        if goes_on is None or (invariant and invariant.attributes.get("input_interval") == "initial_only"):
            return
        name = "restart" if goes_on else "input"
        if name not in streams:
            message = f'there is no stream "{name}", from which MPAS reads the mesh'
            yield StreamProblem(source.span(1, 1), message, f'<immutable_stream name="{name}" ... />')

    def tasks_that_write(self) -> Iterator[Finding]:
        """How many tasks write, and which (`mpas_framework.F`, `mpas_io.F:143-190`)."""
        count, stride = self.read.value("config_pio_num_iotasks"), self.read.value("config_pio_stride")
        if count is None or stride is None:
            return
        where = self.span("config_pio_num_iotasks") or self.span("config_pio_stride")
        if count == 0 and stride == 0:
            message = "config_pio_num_iotasks and config_pio_stride are both 0"
            yield self.finding("MPS003", Severity.ERROR, where, message, "expected: one of them above 0")
            return
        if self.tasks is None:
            if count < 0 or stride < 0:
                message = f"{count} tasks that write, each {stride} tasks from the next"
                yield self.finding("MPS003", Severity.ERROR, where, message, "expected: none below 0")
            return
        count, stride = iotasks(self.tasks, count, stride)
        if not (1 <= count <= self.tasks and 1 <= stride <= self.tasks and count * stride <= self.tasks):
            yield self.finding(
                "MPS003",
                Severity.ERROR,
                where,
                f"{count} tasks write, each {stride} tasks from the next: that does not fit into {self.tasks}",
                "expected: config_pio_num_iotasks * config_pio_stride up to the number of tasks",
            )

    def blocks(self) -> Iterator[Finding]:
        """More blocks than tasks, of which this core crashes (https://github.com/MPAS-Dev/MPAS-Model/issues/1032)."""
        blocks = self.read.value("config_number_of_blocks")
        if blocks is not None and self.tasks is not None and blocks > self.tasks:
            message = f"{blocks} blocks for {self.tasks} tasks: MPAS-Atmosphere has one block a task"
            expected = "expected: config_number_of_blocks = 0, which means as many as tasks"
            yield self.finding("MPS003", Severity.ERROR, self.span("config_number_of_blocks"), message, expected)

    def physics(self) -> Iterator[Finding]:
        """Suites and schemes that there are not, or that do not go together."""
        suite = self.read.value("config_physics_suite")
        if suite is None:
            return
        if suite.rstrip() not in SUITES:
            message = f'there is no physics suite "{suite}"'
            notes = f"expected: one of {', '.join(SUITES)}"
            yield self.finding("MPS003", Severity.ERROR, self.span("config_physics_suite"), message, notes)
            return
        chosen: dict[str, str] = {}
        for name, known in _SCHEMES.items():
            value = self.read.value(name)
            if value is None:
                return
            chosen[name] = SUITES[suite.rstrip()].get(name, "off") if value.rstrip() == "suite" else value.rstrip()
            if chosen[name] not in known:
                is_newer = chosen[name] in _NEWER | _NEWER_CLOUDS
                yield self.finding(
                    "MPS003",
                    Severity.WARNING if is_newer else Severity.ERROR,
                    self.span(name),
                    f'{self.model} has no {name} "{value.rstrip()}"',
                    "a newer release has it" if is_newer else f"expected: one of suite, {', '.join(known)}",
                )
                return
        if set(chosen.values()) != {"off"}:
            yield from self.intervals()
        yield from self.together(chosen)
        yield from self.drag(chosen["config_gwdo_scheme"])

    def intervals(self) -> Iterator[Finding]:
        """Intervals of physics that are none: the runtime stops at them (`mpas_atmphys_manager.F:473-600`)."""
        for name in _INTERVALS:
            value = self.read.value(name)
            if value is None or value.strip() == "none" or INTERVAL.fullmatch(value.strip()):
                continue
            message = f'{name} "{value.rstrip()}" is no interval'
            yield self.finding("MPS003", Severity.ERROR, self.span(name), message, "expected: [days_]hh:mm:ss or none")

    def halos(self) -> Iterator[Finding]:
        """How halos are exchanged (`mpas_atm_halos.F:326`)."""
        value = self.read.value("config_halo_exch_method")
        if value is not None and value.rstrip() not in _HALOS:
            message = f'MPAS does not know the config_halo_exch_method "{value.rstrip()}"'
            expected = f"expected: one of {', '.join(_HALOS)}"
            yield self.finding("MPS003", Severity.ERROR, self.span("config_halo_exch_method"), message, expected)

    def together(self, chosen: dict[str, str]) -> Iterator[Finding]:
        """Schemes that need each other, and what MPAS puts in the place of some."""
        surface, boundary = chosen["config_sfclayer_scheme"], chosen["config_pbl_scheme"]
        where = self.span("config_sfclayer_scheme") or self.span("config_pbl_scheme")
        if boundary == "bl_ysu" and not surface.startswith("sf_monin_obukhov"):
            message = f'the boundary layer bl_ysu does not go with the surface layer "{surface}"'
            yield self.finding("MPS003", Severity.ERROR, where, message, "expected: sf_monin_obukhov")
            return
        if boundary == "bl_mynn" and surface != "sf_mynn":
            if self.span("config_sfclayer_scheme") is not None:
                message = f'MPAS replaces config_sfclayer_scheme "{surface}" by sf_mynn, which bl_mynn needs'
                yield self.finding("MPS004", Severity.WARNING, where, message, "expected: sf_mynn")
            surface = "sf_mynn"
        if chosen["config_lsm_scheme"] != "off" and surface == "off":
            message = f'the land surface "{chosen["config_lsm_scheme"]}" needs a surface layer'
            span = self.span("config_lsm_scheme") or where
            yield self.finding("MPS003", Severity.ERROR, span, message, "expected: config_sfclayer_scheme")
        has_radiation = {"off"} != {chosen["config_radt_lw_scheme"], chosen["config_radt_sw_scheme"]}
        if has_radiation and chosen["config_radt_cld_scheme"] == "off":
            span = self.span("config_radt_cld_scheme")
            if span is not None:
                message = "MPAS replaces config_radt_cld_scheme off by cld_incidence, which radiation needs"
                yield self.finding("MPS004", Severity.WARNING, span, message, "expected: cld_incidence or cld_fraction")

    def drag(self, scheme: str) -> Iterator[Finding]:
        """Gravity wave drag over terrain in an ideal case, which has none: MPAS stops at fields that are zero."""
        start = self.read.value("config_start_time")
        if scheme != "off" and start is not None and _YEAR_0.match(start.strip()):
            span = self.span("config_gwdo_scheme") or self.span("config_physics_suite")
            message = (
                f'config_gwdo_scheme "{scheme}" needs fields of the terrain: ideal cases, of the year 0, have none'
            )
            expected = "expected: config_gwdo_scheme = 'off', or config_physics_suite = 'none'"
            yield self.finding("MPS003", Severity.ERROR, span, message, expected)

    def times(self) -> Iterator[Finding]:
        """A step that never ends, and dates that there are not."""
        step = self.read.value("config_dt")
        if step is not None and step <= 0:
            message = f"config_dt = {step}: the run never ends"
            yield self.finding("MPS004", Severity.WARNING, self.span("config_dt"), message, "expected: seconds above 0")
        start = self.read.value("config_start_time")
        if start is not None and start.strip() != "file" and not re.search(r"\d", start):
            message = f'"{start.strip()}" is no date'
            yield self.finding(
                "MPS003",
                Severity.ERROR,
                self.span("config_start_time"),
                message,
                "expected: YYYY-MM-DD_hh:mm:ss, or file",
            )
        found = None if start is None else _DATE.fullmatch(start.strip())
        if found is not None and not _is_date(whole_number(found[1]), whole_number(found[2])):
            message = f'"{start.strip()}" is no date: MPAS takes another one, which its input does not have'
            yield self.finding(
                "MPS003", Severity.ERROR, self.span("config_start_time"), message, "expected: YYYY-MM-DD_hh:mm:ss"
            )


def _is_date(month: float, day: float) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _DAYS[int(month) - 1]


def iotasks(tasks: int, count: int, stride: int) -> tuple[int, int]:
    """How many of the tasks write, and how far each is from the next: where one of the two is 0 the other decides."""
    count = _quotient(tasks, stride) if count == 0 else count
    return count, _quotient(tasks, count) if stride == 0 else stride


def _quotient(one: int, other: int) -> int:
    """A quotient as Fortran has it, without its fraction."""
    quotient = abs(one) // abs(other) if other else 0
    return quotient if (one < 0) == (other < 0) else -quotient
