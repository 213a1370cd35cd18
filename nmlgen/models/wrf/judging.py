"""What is wrong with a namelist.input, and what WRF makes of it without a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isclose, isnan
from typing import Any

from attrs import frozen

from nmlgen.findings import Edit, Finding, Fix, Report, Severity, did_you_mean, nearest
from nmlgen.models.wrf import problems
from nmlgen.models.wrf.quilting import ImpossibleLayoutError, Layout, layout
from nmlgen.models.wrf.reading import Read, foreign_groups, read_settings
from nmlgen.models.wrf.registry import RELEASE, known_elsewhere, wrf_registry
from nmlgen.models.wrf.steps import MOST_DOMAINS, Cell, Refusal, Setting, decide
from nmlgen.namelist.runtimes import READERS
from nmlgen.namelist.syntax import Document, SyntaxProblem
from nmlgen.source import Source, Span

_AT_THE_END = ("no-final-newline", "unclosed-group", "unclosed-string")
_MOST_NAMED = 6
_SUITE = "setup_physics_suite"


def judge(document: Document, tasks: int | None) -> Report:
    """Judge a namelist.input for a job of so many MPI tasks; None where nobody says how many."""
    judging = _Judging(read_settings(document, wrf_registry()), document.source, tasks)
    return Report(tuple(dict.fromkeys(judging.findings())))


@frozen
class _Judging:
    read: Read
    source: Source
    tasks: int | None

    def findings(self) -> Iterator[Finding]:
        yield from self.groups()
        yield from self.reading()
        if any(
            problem.stops for group in self.read.groups.values() for problem in group.errors if group.start != self.last
        ):
            return  # where groups end is not known
        found: Layout | None = None
        try:
            found = self.layout()
        except ImpossibleLayoutError as error:
            yield self.finding("WRF005", Severity.ERROR, self.span(error.name), f"WRF stops: {error}", *_OF_LAYOUT)
            return
        yield from self.domains()
        if found is not None:
            yield from self.idle(found)
        decisions = decide(RELEASE, self.read.values, None if found is None else found.mesh)
        yield from map(self.refusal, decisions.refusals)
        if decisions.refusals:
            return
        replaced: dict[str, dict[int, Setting]] = {}
        for (name, place), setting in decisions.set.items():
            replaced.setdefault(name, {})[place] = setting
        of_suite = []
        for name in dict.fromkeys(name for name, _ in self.read.written):
            change = self.replaced(name, replaced.get(name, {}))
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

    def finding(
        self, code: str, severity: Severity, span: Span | None, message: str, *notes: str, fix: Fix | None = None
    ) -> Finding:
        return Finding(code, problems[code][0], severity, message, span or self.source.span(1, 1), notes, fix)

    def span(self, name: str) -> Span | None:
        return self.read.span(name)

    # --- Reading ---

    def groups(self) -> Iterator[Finding]:
        """Groups that nobody looks for, and the one that a job of several tasks must have."""
        known = wrf_registry().groups
        for group in foreign_groups(self.read, wrf_registry()):
            meant = nearest(group.name, [name for name in known if name not in self.read.groups])
            yield self.finding(
                "WRF001",
                Severity.WARNING,
                group.name_span,
                f"WRF {RELEASE} has no namelist group {group.name} and never looks at it",
                *(did_you_mean(group.name, known) or ("expected: a group of WRF's registry",)),
                fix=_respelt(group.name_span, group.name, meant),
            )
        if "namelist_quilt" not in self.read.groups:
            yield self.finding(
                "WRF003",
                Severity.WARNING if self.tasks is None else Severity.ERROR,
                None,
                "there is no &namelist_quilt, without which WRF built for MPI ends",
                "expected: &namelist_quilt with nio_tasks_per_group = 0 and nio_groups = 1 for no writing tasks",
            )

    def reading(self) -> Iterator[Finding]:
        """Where the Fortran runtime stops, or reads otherwise than it seems."""
        ended: set[int] = set()
        placed = {(problem.span.line, problem.span.column) for _, problem in self.read.problems if _is_untyped(problem)}
        for group, problem in self.read.problems:
            is_last = self.read.groups[group].start == self.last or self.has_no_end(problem)
            if problem.kind in _AT_THE_END and is_last and group != "namelist_quilt":
                ended.add(problem.span.line)
                yield self.finding(
                    "WRF002",
                    Severity.WARNING,
                    problem.span,
                    f"{problem.message}: WRF takes that for the end of its namelist and goes on without a word",
                    f"expected: {problem.expected}",
                )
            elif problem.span.line not in ended and (
                _is_untyped(problem) or (problem.span.line, problem.span.column) not in placed
            ):
                yield self.problem(group, problem)

    @property
    def last(self) -> int:
        """Where the last group begins."""
        return max((group.start for group in self.read.groups.values()), default=0)

    def has_no_end(self, problem: SyntaxProblem) -> bool:
        """Whether a string that is not closed in its group is closed nowhere: the runtime looks for it on all lines."""
        start = problem.span.offsets[0]
        return problem.kind == "unclosed-string" and self.source.text.count(self.source.text[start], start + 1) == 0

    @property
    def placeholders(self) -> int:
        """How many words in capitals stand where there is no text, which are replaced before WRF sees the file."""
        return sum(1 for _, problem in self.read.problems if _is_placeholder(problem))

    @property
    def of_nobody(self) -> int:
        """How many variables there are that no WRF has, nor one of nearly that name."""
        registry = wrf_registry()
        names = {
            (group, name)
            for group, problem in self.read.problems
            if problem.kind == "unknown-variable"
            for name in [_name(problem)]
            if known_elsewhere(group, name) is None and nearest(name, registry.variables(group)) is None
        }
        return len(names)

    def problem(self, group: str, problem: SyntaxProblem) -> Finding:
        is_read = group != "namelist_quilt" or self.tasks is not None  # a build without MPI does not look there
        severity = Severity.ERROR if problem.stops and is_read else Severity.WARNING
        notes, fix = [f"expected: {problem.expected}"], problem.fix
        if _is_placeholder(problem) and self.placeholders > 1:
            severity = Severity.WARNING
            notes.append(f"{self.placeholders} such words: is this a template?")
        readers = READERS.get(problem.kind)
        if readers is not None:
            notes.append(readers.note())
            severity = Severity.WARNING
        if problem.kind == "unknown-variable":
            registry = wrf_registry()
            name = _name(problem)
            known = registry.variables(group)
            elsewhere = known_elsewhere(group, name)
            there = [other for other in registry.groups if registry.variable(other, name) is not None]
            meant = nearest(name, known)
            if elsewhere is not None:
                severity = Severity.WARNING
                notes = [f"{elsewhere} has it; WRF {RELEASE} ends at it"]
            elif there:
                notes = [f"expected: in &{there[0]}"]
            elif meant is not None:
                notes, fix = [f'did you mean "{meant}"?'], _respelt(problem.span, name, meant)
            else:
                notes = [f"expected: a variable of &{group}"]
                if self.of_nobody > 1:
                    severity = Severity.WARNING
                    notes = [f"no release of WRF has it, as {self.of_nobody - 1} more here: those of a fork?"]
            message = f'&{group} of WRF {RELEASE} has no variable "{name}"'
            return self.finding("WRF002", severity, problem.span, message, *notes, fix=fix)
        return self.finding("WRF002", severity, problem.span, f"{problem.message} (&{group})", *notes, fix=fix)

    # --- Tasks ---

    def layout(self) -> Layout | None:
        """How the tasks are split; None where that is not known. Raises ImpossibleLayoutError."""
        if self.tasks is None:
            return None
        names = ("nio_tasks_per_group", "nio_groups", "nproc_x", "nproc_y")
        servers, groups, nproc_x, nproc_y = (self.read.value(name) for name in names)
        if None in (servers, groups, nproc_x, nproc_y):
            return None
        found = layout(self.tasks, servers, groups, nproc_x, nproc_y)
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
        is_other = self.of_nobody > 1 or (refusal.of_build and self.is_of_other_build(refusal))
        return self.finding("WRF003", Severity.WARNING if is_other else Severity.ERROR, where, message, *notes)

    def is_of_other_build(self, refusal: Refusal) -> bool:
        """Whether it looks as if WRF was built with what is refused: there are settings of its chemistry, or the scheme
        is one that nobody chooses by mistake, in both halves of the radiation."""
        value = self.read.value
        is_whole = value("ra_lw_physics") == value("ra_sw_physics")
        chosen = {"ra_lw_physics": is_whole, "ra_sw_physics": is_whole, "sf_surface_physics": True}
        return "chem" in self.read.groups or any(chosen.get(name, False) for name, _ in refusal.cells)

    def replaced(self, name: str, became: Mapping[int, Setting]) -> tuple[int, Any, Setting | None] | None:
        """The first value of a variable that somebody wrote and that WRF replaces: its domain, what it becomes, and
        why, None where that happens as it is read."""
        for (variable, place), given in self.read.written.items():
            if variable == name and place <= self.count() and given.value is not None:
                setting = became.get(place)
                value = self.read.value(name, max(place, 1)) if setting is None else setting.value
                if value is not None and not _same(given.value, value):
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
                value = self.read.value(name, max(place, 1))
                shown.setdefault(f"{name}({place})" if place > 1 else name, _shown(value))
        return [f"{name} = {value}" for name, value in shown.items()][:_MOST_NAMED]


def _name(problem: SyntaxProblem) -> str:
    """The variable that a problem is about."""
    return problem.span.text.partition("(")[0].strip().lower()


def _is_placeholder(problem: SyntaxProblem) -> bool:
    return problem.kind == "unquoted-text" and problem.span.text.isupper()


def _is_untyped(problem: SyntaxProblem) -> bool:
    """Whether something is wrong whatever the type of the variable."""
    return problem.kind in ("unquoted-text", "unclosed-string")


_OF_LAYOUT = ("expected: tasks left to compute, and patches for no more than there are",)


def _respelt(span: Span, name: str, meant: str | None) -> Fix | None:
    if meant is None or name not in span.text.lower():
        return None
    text = span.text
    at = text.lower().index(name)
    return Fix(f"write {meant}", (Edit(span, text[:at] + meant + text[at + len(name) :]),), is_safe=True)


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
