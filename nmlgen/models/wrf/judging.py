"""What is wrong with a namelist.input, and what WRF makes of it without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from math import isclose, isnan
from typing import Any

from nmlgen.findings import Finding, Report, Severity
from nmlgen.models.judging import Judging
from nmlgen.models.reading import Beside, Cell, Read, read_settings
from nmlgen.models.wrf import problems
from nmlgen.models.wrf.quilting import ImpossibleLayoutError, Layout, layout
from nmlgen.models.wrf.registry import (
    RELEASE,
    has_elsewhere,
    known_elsewhere,
    lacking,
    latest,
    may_take,
    taken_up_to,
    wrf_registry,
)
from nmlgen.models.wrf.steps import MOST_DOMAINS, Refusal, Setting, decide
from nmlgen.models.wrf.tree import declared_above, release_above
from nmlgen.namelist.syntax import Document, Group
from nmlgen.source import Source, Span
from nmlgen.values import evolve

PASSED_OVER = ("dm_task_split", "logging")
"""Groups in which WRF does not mind what it cannot read (`external/RSL_LITE/module_dm.F:1719`,
`frame/module_wrf_error.F:105`)."""
_MOST_NAMED = 6
_MOST_TASKS = 10_000_000  # no machine has more
_RADIATION = frozenset({-1, 0, 1, 2, 3, 4, 5, 7, 14, 24, 31, 99})
"""The schemes of either half of the radiation (`Registry/Registry.EM_COMMON`), 3.9.1.1 to 4.7.1."""
_SUITE = "setup_physics_suite"


def judge(document: Document, tasks: int | None, beside: Beside) -> Report:
    """Judge a namelist.input for a job of so many MPI tasks; None where nobody says how many. `beside` gives a file by
    its path from there."""
    read = read_settings(document, wrf_registry(), PASSED_OVER)
    shared, last = list(read.values["mp_physics"]), read.value("max_dom")
    if isinstance(last, int) and 1 <= last <= MOST_DOMAINS:  # frame/module_configure.F: "2004/04/28"
        shared[:last] = [shared[last - 1]] * last
        read = evolve(read, values={**read.values, "mp_physics": shared})
    return _Judging(read, document.source, tasks, beside).report()


class _Judging(Judging):
    model = f"WRF {RELEASE}"
    unknown_group = "WRF001"
    unreadable = "WRF002"
    strict = ("namelist_quilt",)

    def __init__(self, read: Read, source: Source, tasks: int | None, beside: Beside) -> None:
        super().__init__(read, source, wrf_registry(), problems)
        self.tasks, self.beside = tasks, beside
        self.mesh: dict[str, int] = {}

    def known_elsewhere(self, group: str, name: str) -> str | None:
        known = known_elsewhere(group, name)
        is_declared = known is None and (group.lower(), name.lower()) in self.declared
        return "the WRF in whose tree it lies" if is_declared else known

    @cached_property
    def declared(self) -> frozenset[tuple[str, str]]:
        """What the tree declares that the namelist lies in."""
        return declared_above(self.beside)

    @cached_property
    def release(self) -> str | None:
        """The release of the tree that the namelist lies in."""
        return release_above(self.beside)

    def group_elsewhere(self, group: Group) -> str | None:
        if group.name.startswith("wrfvar"):
            return "WRFDA"
        return next(filter(None, (known_elsewhere(group.name, item.base) for item in group.items)), None)

    def knows(self, group: str) -> bool:
        return group.startswith("wrfvar") or has_elsewhere(group)

    def is_read(self, group: str) -> bool:
        return group != "namelist_quilt" or self.tasks is not None  # a build without MPI does not look there

    def settings(self) -> Iterator[Finding]:
        if "namelist_quilt" not in self.read.groups:
            yield self.finding(
                "WRF003",
                Severity.WARNING if self.tasks is None else Severity.ERROR,
                None,
                "there is no &namelist_quilt, without which WRF built for MPI ends",
                "expected: &namelist_quilt with nio_tasks_per_group = 0 and nio_groups = 1 for no writing tasks",
            )
        found: Layout | None = None
        try:
            found = self.layout()
        except ImpossibleLayoutError as error:
            yield self.finding("WRF005", Severity.ERROR, self.span(error.name), f"WRF stops: {error}", *_OF_LAYOUT)
            return
        misfits = list(self.domains())
        yield from misfits
        if any(finding.severity is Severity.ERROR for finding in misfits):
            return  # WRF has crashed
        if found is not None:
            yield from self.idle(found)
        decisions = decide(RELEASE, self.read.values, None if found is None else found.mesh)
        yield from map(self.refusal, decisions.refusals)
        if decisions.refusals:
            return
        replaced: dict[str, dict[int, Setting]] = {}
        for (name, place), setting in decisions.set.items():
            replaced.setdefault(name, {})[place] = setting
        written: dict[str, dict[int, Any]] = {}
        for (name, place), given in self.read.written.items():
            written.setdefault(name, {})[place] = given.value
        of_suite = []
        for name, values in written.items():
            change = self.replaced(name, values, replaced.get(name, {}))
            if change is None:
                continue
            place, value, why = change
            if why is not None and why.routine == _SUITE:
                of_suite.append(f"{name} = {_shown(value)}")
            else:
                yield self.replacement(name, place, value, why)
        if of_suite:
            suite = _shown(self.read.value("physics_suite"))
            yield self.finding(
                "WRF007",
                Severity.ADVICE,
                self.span("physics_suite"),
                f"physics_suite = {suite} decides where -1 stands: {', '.join(of_suite)}",
            )

    # --- Tasks ---

    def layout(self) -> Layout | None:
        """How the tasks are split; None where that is not known. Raises ImpossibleLayoutError."""
        if self.tasks is None:
            return None
        names = ("nio_tasks_per_group", "nio_groups", "nproc_x", "nproc_y")
        servers, groups, nproc_x, nproc_y = (self.read.value(name) for name in names)
        if None in (servers, groups, nproc_x, nproc_y) or max(self.tasks, abs(servers * groups)) > _MOST_TASKS:
            return None
        found = layout(self.tasks, servers, groups, nproc_x, nproc_y)
        self.mesh = dict(zip(("nproc_x", "nproc_y"), found.mesh, strict=True))
        for domain in range(1, self.count() + 1):
            start, x, y = (self.read.value(name, domain) for name in ("comm_start", "nest_pes_x", "nest_pes_y"))
            x, y = found.mesh[0] if x is None else x, found.mesh[1] if y is None else y
            if start is not None and start + x * y > self.tasks:
                message = f"domain {domain} is given tasks up to {start + x * y}, of {self.tasks}"
                raise ImpossibleLayoutError(message, "comm_start" if start else "nest_pes_x")
        return found

    def idle(self, found: Layout) -> Iterator[Finding]:
        """Tasks without work."""
        servers, groups = self.read.value("nio_tasks_per_group"), max(1, self.read.value("nio_groups"))
        where = self.span("nio_tasks_per_group")
        if servers > 0 and not found.servers:
            yield self.finding(
                "WRF006",
                Severity.WARNING,
                where,
                f"WRF does not use writing tasks: {found.tasks - servers * groups} would be left to compute, fewer "
                f"than the {servers} of a group; {found.without_patch} of {found.tasks} tasks have no patch then",
                "expected: at least as many computing tasks as a group has writing ones",
            )
        elif found.idle_servers:
            yield self.finding(
                "WRF006",
                Severity.WARNING,
                where,
                f"{found.idle_servers} writing tasks get no data: the mesh of {found.mesh[0]} x {found.mesh[1]} has "
                f"{found.mesh[1]} rows, a group {found.servers} tasks",
                f"expected: nio_tasks_per_group up to {found.mesh[1]}",
            )
        elif found.without_patch:
            yield self.finding(
                "WRF006",
                Severity.WARNING,
                self.span("nproc_x"),
                f"{found.without_patch} of {found.computing} computing tasks have no patch: nproc_x * nproc_y is "
                f"{found.mesh[0] * found.mesh[1]}",
                f"expected: a mesh of {found.computing}",
            )

    # --- Settings ---

    def count(self) -> int:
        """The number of domains, as far as there is one."""
        number = self.read.value("max_dom")
        return min(number, MOST_DOMAINS) if isinstance(number, int) and number > 0 else 1

    def domains(self) -> Iterator[Finding]:
        """Domains that there is no room for, and those whose parents do not lead to the first one."""
        number = self.read.value("max_dom")
        if isinstance(number, int) and number > MOST_DOMAINS:
            yield self.finding(
                "WRF003",
                Severity.ERROR,
                self.span("max_dom"),
                f"max_dom = {number}: WRF as it is configured has room for {MOST_DOMAINS} domains, and crashes",
                f"expected: up to {MOST_DOMAINS}, or WRF built with a larger MAX_DOMAINS",
            )
            return
        for domain in range(2, self.count() + 1):
            seen, parent = {domain}, self.read.value("parent_id", domain)
            while isinstance(parent, int) and parent != 1 and 1 < parent <= MOST_DOMAINS and parent not in seen:
                seen.add(parent)
                parent = self.read.value("parent_id", parent)
            if isinstance(parent, int) and parent != 1:
                is_sure = parent in seen or self.tasks is not None  # else what lies beside the array in memory decides
                written = self.read.written.get(("parent_id", domain))
                yield self.finding(
                    "WRF003",
                    Severity.ERROR if is_sure else Severity.WARNING,
                    self.span("max_dom") if written is None else written.span,
                    f"the parents of domain {domain} do not lead to domain 1: WRF {'ends' if is_sure else 'may crash'}",
                    "expected: parent_id of each domain, an earlier one",
                )
                return

    def refusal(self, refusal: Refusal) -> Finding:
        """What WRF checks and stops at."""
        named = self.told(refusal.cells)
        message = f"WRF stops: {', '.join(named)}" if named else "WRF stops at these settings"
        where = next((self.written(cell) for cell in refusal.cells if self.written(cell) is not None), None)
        notes = [f"refused {_where(refusal.condition)} ({refusal.source})"]
        if refusal.of_build:
            notes.append("a WRF that was built with what this needs takes it")
        if self.is_of_assimilation:
            notes.append("its &wrfvar groups are for da_wrfvar.exe, which makes none of these checks")
        older = self.older(refusal)
        if older is not None:
            notes.append(f"WRF {older} takes it")
        is_earlier = self.release is not None and may_take(self.release, older)
        if is_earlier:
            notes.append(f"the WRF in whose tree it lies is {self.release}, which may take it")
        is_other = is_earlier or self.is_of_assimilation or (refusal.of_build and self.is_of_other_build(refusal))
        severity = Severity.WARNING if is_other else Severity.ERROR
        return self.if_meant(self.finding("WRF003", severity, where, message, *notes))

    def older(self, refusal: Refusal) -> str | None:
        """The last release that takes what is refused; None if none does, or the namelist is for a later one: it has a
        variable that release lacks."""
        given = {name for name, _ in self.read.written}
        taken = taken_up_to(refusal.source, (name for name, _ in refusal.cells if name not in given))
        lacks = latest(lacking()[name] for name in given & lacking().keys())
        return None if taken is None or latest(filter(None, (lacks, taken))) == lacks else taken

    @cached_property
    def is_of_another(self) -> bool:
        """As of any model, or both halves of the radiation are a scheme that WRF does not have: nobody chooses it twice
        by mistake, and NASA's NU-WRF has its own."""
        longwave, shortwave = self.read.value("ra_lw_physics"), self.read.value("ra_sw_physics")
        is_foreign = longwave == shortwave and isinstance(longwave, int) and longwave not in _RADIATION
        return is_foreign or super().is_of_another

    @property
    def is_of_assimilation(self) -> bool:
        """Whether the namelist is for WRF's program of data assimilation, which reads it by the same name."""
        return any(name.startswith("wrfvar") for name in self.read.groups)

    def is_of_other_build(self, refusal: Refusal) -> bool:
        """Whether it looks as if WRF was built with what is refused: there are settings of its chemistry, or the scheme
        is one that nobody chooses by mistake, in both halves of the radiation."""
        value = self.read.value
        is_whole = value("ra_lw_physics") == value("ra_sw_physics")
        chosen = {"ra_lw_physics": is_whole, "ra_sw_physics": is_whole, "sf_surface_physics": True}
        return "chem" in self.read.groups or any(chosen.get(name, False) for name, _ in refusal.cells)

    def replaced(
        self, name: str, written: Mapping[int, Any], became: Mapping[int, Setting]
    ) -> tuple[int, Any, Setting | None] | None:
        """The first value of a variable that somebody wrote and that WRF replaces: its domain, what it becomes, and
        why, None where that happens as it is read."""
        for place, given in written.items():
            if place <= self.count() and given is not None:
                setting = became.get(place)
                value = self.read.value(name, max(place, 1)) if setting is None else setting.value
                if value is not None and not _same(given, value):
                    return place, value, setting
        return None

    def replacement(self, name: str, place: int, value: Any, setting: Setting | None) -> Finding:
        """That WRF replaces a value."""
        given = self.read.written[name, place]
        note = "all domains get the value of the last one (frame/module_configure.F)"
        if setting is not None and not _same(self.read.value(name, max(place, 1)), value):
            named = [text for text in self.told(setting.cells) if not text.startswith(f"{name} ")]
            because = f"because {', '.join(named)}: " if named else ""
            note = f"{because}set {_where(setting.condition)} ({setting.source})"
        where = f"({place})" if place > 1 else ""
        message = f"WRF replaces {name}{where} = {_shown(given.value)} by {_shown(value)} without a word"
        return self.finding("WRF004", Severity.WARNING, given.span, message, note)

    def written(self, cell: Cell) -> Span | None:
        given = self.read.written.get(cell)
        return None if given is None else given.span

    def told(self, cells: Iterable[Cell]) -> list[str]:
        """Some settings with their values."""
        shown: dict[str, str] = {}
        for name, place in cells:
            if name in self.read.values and (place == 0 or place <= self.count()):
                value = self.mesh.get(name, self.read.value(name, max(place, 1)))
                shown.setdefault(f"{name}({place})" if place > 1 else name, _shown(value))
        return [f"{name} = {value}" for name, value in shown.items()][:_MOST_NAMED]


_OF_LAYOUT = ("expected: tasks left to compute, and patches for no more than there are",)


def _same(one: Any, other: Any) -> bool:
    """Whether a setting is as it was written, to the four bytes of WRF's reals."""
    if isinstance(one, (bool, str)) or isinstance(other, (bool, str)):
        return str(one).rstrip() == str(other).rstrip()
    return one is not None and (isnan(one) or isclose(one, other, rel_tol=1e-6))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return ".true." if value else ".false."
    return f"'{value}'" if isinstance(value, str) else f"{value}"


def _where(condition: str) -> str:
    """A condition of `steps` for people."""
    text = condition.replace("[", "(").replace("]", ")").replace("(_i)", "(i)")
    return f"where {text}" if text else "in any case"
