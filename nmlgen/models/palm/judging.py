"""What is wrong with a namelist of PALM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from nmlgen.findings import Finding, Report, Severity
from nmlgen.models.judging import Judging
from nmlgen.models.palm import problems
from nmlgen.models.palm.checks import CHECKS
from nmlgen.models.palm.checks.check import Check
from nmlgen.models.palm.output import as_named_today, refused_profiles, refused_quantities
from nmlgen.models.palm.registry import RELEASE, key, known_elsewhere, palm_registry
from nmlgen.models.palm.settings import TASKS, Settings, UnknownError
from nmlgen.models.palm.writers import bytes_by_one_task, restart_files
from nmlgen.models.reading import Beside, Read, read_settings
from nmlgen.namelist.syntax import Document, Group
from nmlgen.source import Source, Span

_FIRST = "initialization_parameters"
_RUN = "runtime_parameters"
_MOST_NAMED = 6
_MANY_FILES = 256
_LARGE = 1024**3
_MOST_VALUES = 4


def judge(document: Document, tasks: int | None, beside: Beside) -> Report:
    """Judge a namelist of PALM for a job of so many MPI tasks; None where nobody says how many."""
    read = read_settings(document, palm_registry(), key=key)
    name = document.source.name.rpartition("/")[2]
    return _Judging(read, document.source, Settings(read, name, tasks, beside)).report()


class _Judging(Judging):
    model = f"PALM {RELEASE}"
    unknown_group = "PLM001"
    unreadable = "PLM002"
    strict = (_FIRST,)

    def __init__(self, read: Read, source: Source, asked: Settings) -> None:
        super().__init__(read, source, palm_registry(), problems)
        self.asked = asked

    def settings(self) -> Iterator[Finding]:
        if _FIRST not in self.read.groups and self.other_release is not None:
            return  # what it would make of the groups of that release, PLM001 says
        if _FIRST not in self.read.groups:
            message = f"PALM stops with PAC0256: there is no &{_FIRST}"
            yield self.finding("PLM003", Severity.ERROR, None, message, f"expected: &{_FIRST}")
            return
        refused: set[str] = set()
        for check in CHECKS:
            yield from self.judged(check, refused)
        yield from self.quantities("data_output", refused_quantities)
        yield from self.quantities("data_output_pr", refused_profiles)
        yield from self.otherwise()
        yield from self.writers()

    def judged(self, check: Check, refused: set[str]) -> Iterator[Finding]:
        """What a check of PALM stops at; of settings that were `refused` by themselves nothing follows."""
        self.asked.asked.clear()
        try:
            fails = check.fails(self.asked)
        except (UnknownError, ArithmeticError, ValueError):  # a spacing of 0, a length that is no number
            return
        names = list(self.asked.asked)
        if fails and refused.isdisjoint(names):
            if len(names) == 1:
                refused.update(names)
            told = ", ".join(self.told(names)) or "these settings"
            notes = [f"expected: {check.expected}"]
            if check.of_build:
                notes.append("a PALM that was built with what this needs takes it")
            message = f"PALM stops with {check.code}: {told}"
            severity = Severity.WARNING if check.of_build else Severity.ERROR
            yield self.refusal(severity, self.place(names), message, *notes)

    def quantities(self, name: str, refused: Callable[[Settings], Iterable[tuple[str, str, str]]]) -> Iterator[Finding]:
        """Quantities that PALM cannot write."""
        try:
            found = list(refused(self.asked))
        except UnknownError:
            return
        for written, code, expected in found:
            span = self.value_span(name, written)
            message = f'PALM stops with {code}: {name} has "{written}"'
            notes, severity = [f"expected: {expected}"], Severity.ERROR
            if (newer := as_named_today(written)) != written:
                notes, severity = [f'before 2019 PALM had it by this name; today it is "{newer}"'], Severity.WARNING
            yield self.refusal(severity, span, message, *notes)

    def refusal(self, severity: Severity, span: Span | None, message: str, *notes: str) -> Finding:
        """What PALM stops at; a namelist of another release may be right for that one."""
        if self.other_release is not None:
            severity = Severity.WARNING
            notes = (*notes, f"the namelist is for {self.other_release}")
        return self.if_meant(self.finding("PLM003", severity, span, message, *notes))

    def known_elsewhere(self, group: str, name: str) -> str | None:
        return known_elsewhere(group, name)

    def group_elsewhere(self, group: Group) -> str | None:
        return known_elsewhere(group.name)

    @cached_property
    def other_release(self) -> str | None:
        """For which other release the namelist seems to be, by a group or a variable that only that has."""
        for name, group in self.read.groups.items():
            found = known_elsewhere(name)
            of_variables = (known_elsewhere(name, item.base) for item in group.items)
            found = found or next((release for release in of_variables if release is not None), None)
            if found is not None:
                return found
        return None

    def otherwise(self) -> Iterator[Finding]:
        """What PALM takes and does otherwise."""
        if _RUN not in self.read.groups and not any(name.startswith("runtime") for name in self.read.groups):
            message = f"there is no &{_RUN}: PALM computes no time step and writes nothing"
            yield self.finding("PLM004", Severity.WARNING, None, message, f"expected: &{_RUN} with end_time")
        for name in ("restart_data_format", "restart_data_format_input", "restart_data_format_output"):
            yield from self.shared(name)

    def writers(self) -> Iterator[Finding]:
        """Tasks that all write files of their own, and one that writes for all."""
        try:
            files = restart_files(self.asked) if self.asked.may_write_restart else 0
        except UnknownError:
            files = 0
        if files >= _MANY_FILES:
            message = f"each of {files} tasks writes a restart file of its own: {files} files at a time"
            where = self.span("restart_data_format_output") or self.span("restart_data_format")
            yield self.finding(
                "PLM005", Severity.ADVICE, where, message, "expected: restart_data_format_output = 'mpi', one file"
            )
        try:
            size = bytes_by_one_task(self.asked) if self.asked.tasks > 1 else 0
        except UnknownError:
            size = 0
        if size >= _LARGE:
            message = f"task 0 alone writes about {size / _LARGE:.1f} GiB of volumes at a time, and gathers them before"
            where = self.span("netcdf_data_format") or self.span("data_output")
            expected = (
                "expected: netcdf_data_format = 5, with which all tasks write (PALM built with parallel netCDF-4)"
            )
            yield self.finding("PLM005", Severity.ADVICE, where, message, expected)

    def shared(self, name: str) -> Iterator[Finding]:
        """Restart files through shared memory, which PALM does without for a small domain."""
        span = self.span(name)
        try:
            is_small = span is not None and self.asked.of(name) == "mpi_shared_memory" and self.asked.is_small
        except UnknownError:
            return
        if is_small:
            message = f"PALM replaces {name} = 'mpi_shared_memory' by 'mpi' without a word: nx or ny is below 64"
            yield self.finding("PLM004", Severity.WARNING, span, message, "expected: 'mpi'")

    def place(self, names: Iterable[str]) -> Span | None:
        """Where to look: at the first of the settings that somebody wrote, else at a group."""
        wanted = list(names)
        for name in wanted:
            group = self.read.groups.get(name[1:]) if name.startswith("&") else None
            span = group.name_span if group is not None else self.span(name)
            if span is not None and not name.endswith("switch_off_module"):
                return span
        return self.read.groups[_FIRST].name_span

    def value_span(self, name: str, value: str) -> Span | None:
        """Where a value of an array was written."""
        written = self.read.written.items()
        spans = (given.span for (variable, _), given in written if variable == name and _plain(given.value) == value)
        return next(spans, self.span(name))

    def told(self, names: Iterable[str]) -> list[str]:
        """Settings with their values, and groups."""
        shown = []
        for name in list(names):
            if name.startswith("&"):
                shown.append(name)
            elif name == TASKS:
                shown.append(f"{self.asked.tasks} tasks")
            elif name in self.read.values and not name.endswith("switch_off_module"):
                values = list(self.read.values[name])
                while len(values) > 1 and values[-1] == values[-2]:
                    values.pop()
                more = ", ..." if len(values) > _MOST_VALUES else ""
                shown.append(f"{name} = {', '.join(map(_shown, values[:_MOST_VALUES]))}{more}")
        return shown[:_MOST_NAMED]


def _plain(value: object) -> object:
    return value.rstrip() if isinstance(value, str) else value


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return ".true." if value else ".false."
    return f"'{value.rstrip()}'" if isinstance(value, str) else f"{value}"
