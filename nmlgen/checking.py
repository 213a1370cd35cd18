"""Running the rules over an experiment, and obeying the author's suppressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmlgen.errors import InputError
from nmlgen.experiment.component import Component
from nmlgen.experiment.experiment import Experiment, OtherModel
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding, Report, Severity, Undecided
from nmlgen.models import model_named
from nmlgen.namelist.registry import load_registry, releases
from nmlgen.rules import all_rules
from nmlgen.rules.rule import Rule, is_of_unknown_release
from nmlgen.source import Source, Span
from nmlgen.suppression import Suppression, excuse
from nmlgen.values import evolve, frozen

if TYPE_CHECKING:
    from nmlgen.namelist.syntax import Document


@frozen
class Verdict:
    """What a rule says of one subject: its findings until the end, or until it lacked a value that nobody can know."""

    findings: tuple[Finding, ...]
    undecided: UndecidedError | None = None


_SILENT = Verdict(())


def verdict(rule: type[Rule], subject: Any, beginning: Span | None) -> Verdict:
    """What a rule says; one that cannot cope says so at the `beginning`. Raises InputError for a file that cannot be
    used."""
    findings: list[Finding] = []
    try:
        findings.extend(rule().check(subject))
    except UndecidedError as error:
        return Verdict(tuple(findings), error)
    except (InputError, MemoryError):  # of a file that somebody gave, such as a registry
        raise
    except Exception as error:  # the other rules go on
        return Verdict((*findings, _failed(rule, error, beginning)))
    return Verdict(tuple(findings)) if findings else _SILENT


Said = tuple[type[Rule], Any, Verdict]
"""A rule, what it looked at, and what it says of that."""


def verdicts(experiment: Experiment, rules: Iterable[type[Rule]], beginning: Span | None) -> Iterator[Said]:
    """What rules say, one after the other."""
    return (
        (rule, subject, verdict(rule, subject, beginning)) for rule in rules for subject in rule.subjects(experiment)
    )


def check_experiment(
    experiment: Experiment,
    suppressions: Iterable[Suppression] = (),
    beginning: Span | None = None,
    ask: Callable[[Experiment, Iterable[type[Rule]], Span | None], Iterable[Said]] = verdicts,
    *,
    only_errors: bool = False,
) -> Report:
    """Apply every rule; findings come sorted by position, rules that lack a value are counted as undecided.

    A finding about what nobody wrote stands at the `beginning`, or at the component that it is about. Where nobody said
    the release, what another release that ships with nmlgen takes is a warning, and what only a release tells where the
    namelists are of another one. `ask` says what the rules say, and may leave out those that say nothing; with
    `only_errors` those that find no errors are not asked: what a layout costs is not worked out.
    """
    if experiment.other is not None:
        report = _judged(experiment, ask(experiment, _rules_of_jobs(only_errors), beginning), beginning)
        report = Report((*report.findings, *_of_namelists(experiment, beginning)), undecided=report.undecided)
        return excuse(report, suppressions, {**_names(), **_names_of(experiment.other)})
    rules = _rules_of(experiment.registry.release, only_errors)
    report = _judged(experiment, ask(experiment, rules, beginning), beginning)
    if experiment.registry.is_assumed and report.errors:
        report = evolve(report, findings=tuple(_of_any_release(experiment, report, beginning)))
        report = evolve(report, findings=tuple(_of_another_release(experiment, report)))
    return excuse(report, suppressions, _names())


def _failed(rule: type[Rule], error: Exception, beginning: Span | None) -> Finding:
    """That a rule could not cope, which is a mistake in nmlgen and says nothing of the experiment."""
    return Finding(
        rule.code,
        rule.name,
        Severity.WARNING,
        f"this rule failed, which is a mistake in nmlgen: {type(error).__name__}: {error}",
        beginning,
        ("what it would have found is not known; please report it with what was judged",),
    )


def _judged(experiment: Experiment, said: Iterable[Said], beginning: Span | None) -> Report:
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    telling = (one for one in said if one[2] is not _SILENT)
    for rule, of_rule in groupby(telling, key=itemgetter(0)):
        unwritten: dict[Finding, list[Experiment | Component]] = {}
        for _, subject, found in of_rule:
            for finding in found.findings:
                if finding.span is None:
                    unwritten.setdefault(finding, []).append(subject)
                else:
                    findings.append(finding)
            if found.undecided is not None:
                setting = found.undecided.setting
                place = setting.span or beginning
                file = None if place is None else place.source.name
                undecided.append(Undecided(rule.code, setting.name, file, setting.span))
        for finding, subjects in unwritten.items():
            findings += (evolve(finding, span=place) for place in _places(experiment, subjects, beginning))
    if len(experiment.models) > 1:  # what the components have in common is found with each of them
        findings, undecided = list(dict.fromkeys(findings)), list(dict.fromkeys(undecided))
    return Report(tuple(findings), undecided=tuple(undecided))


def _places(
    experiment: Experiment, subjects: Iterable[Experiment | Component], beginning: Span | None
) -> list[Span | None]:
    """Where it is said of these that nobody wrote something: at each of several components that others do not share it
    with, else at the beginning."""
    components = [subject for subject in subjects if isinstance(subject, Component)]
    if not components or len(components) == len(experiment.components):
        return [beginning]
    return [component.model.place or beginning for component in components]


def _of_any_release(experiment: Experiment, report: Report, beginning: Span | None) -> Iterator[Finding]:
    """The findings where nobody said the release: what another known release takes is no error, and the notes say
    which one does."""
    codes = {finding.code for finding in report.errors}
    rules = [rule for rule in all_rules() if rule.code in codes]
    refused: dict[str, set[tuple[str, Span | None]]] = {}
    for release in releases():
        if release != experiment.registry.release:
            made_there = [rule for rule in rules if rule.holds_in(release)]
            there = evolve(experiment, registry=load_registry(release))
            other = _judged(there, verdicts(there, made_there, beginning), beginning)
            open_codes = {item.code for item in other.undecided}
            errors = {(found.code, found.span) for found in other.errors}
            refused[release] = {
                (finding.code, finding.span)
                for finding in report.errors
                if finding.code in open_codes or (finding.code, finding.span) in errors
            }
    for finding in report.findings:
        taking = [release for release, places in refused.items() if (finding.code, finding.span) not in places]
        if finding.severity is Severity.ERROR and taking:
            note = f"no error in ICON {' and '.join(taking)}; --icon-release says which one it is"
            yield evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note), fix=None)
        else:
            yield finding


_TOLD_BY_RELEASE = ("CPL", "DYN", "GRD", "INI", "LBC", "LND", "MST", "NML", "OCE", "PHY", "RUN", "TRP", "WAV")
"""Topics of rules whose findings are what a release refuses, and an older one may take."""


_UNKNOWN = "NML002"
_MOST_UNKNOWN = 2
"""Variables that no known release has may be mistakes; where there are more the namelists are of another ICON."""


def _of_another_release(experiment: Experiment, report: Report) -> Iterator[Finding]:
    """The findings where nobody said the release, or only the tree does, one that is not known: if the namelists have
    what was gone before the first known release, or several variables that none of them has, they are of another one,
    whose checks nobody knows."""
    gone = next(_gone(experiment), None)
    strange = {found.span for found in report.warnings if found.code == _UNKNOWN and is_of_unknown_release(found)}
    note: str | None = None
    left: tuple[str, ...] = ()
    if experiment.registry.stranger is not None:
        note = f"the source tree here is that of ICON {experiment.registry.stranger}, whose checks are not known"
    elif gone is not None:
        note = f"{gone[0]} was removed{gone[1]}: these namelists are of an older ICON, whose checks are not known"
    elif len(strange) > _MOST_UNKNOWN:
        note = f"no known release has {len(strange)} variables here: ICON is another one, whose checks are not known"
        left = (_UNKNOWN,)  # nearly one that is known
    for finding in report.findings:
        is_told = finding.code.startswith(_TOLD_BY_RELEASE) and finding.code not in left
        if note is not None and finding.severity is Severity.ERROR and is_told:
            yield evolve(finding, severity=Severity.WARNING, notes=(*finding.notes, note), fix=None)
        else:
            yield finding


def _gone(experiment: Experiment) -> Iterator[tuple[str, str]]:
    """What the namelists have that none of the known releases has any more, and the date of its removal."""
    registry, first = experiment.registry, releases()[0]
    for component in experiment.components:
        for group in component.all_groups():
            for variable in (None, *group.settings):
                name = group.name if variable is None else variable
                removal = (
                    registry.removed_group(group.name)
                    if variable is None
                    else registry.removed_variable(group.name, variable)
                )
                if removal is not None and (removal.release or first) <= first:
                    yield name, f" on {removal.date}" if removal.date else ""


@cache
def _rules_of(release: str, only_errors: bool) -> tuple[type[Rule], ...]:
    return tuple(rule for rule in all_rules() if rule.holds_in(release) and _is_asked(rule, only_errors))


def _is_asked(rule: type[Rule], only_errors: bool) -> bool:
    """Whether a rule may find what it is asked for: what it finds is what it says, or less."""
    return rule.severity is Severity.ERROR or not only_errors


@cache
def _names() -> dict[str, str]:
    return {rule.code: rule.name for rule in all_rules()}


_OF_JOBS = ("DSH", "ENV", "INP", "LOC", "LUS", "MPI", "OMP", "SLM")
"""Topics of rules about the job, whatever model it runs: a rule that asks for components finds none."""


@cache
def _rules_of_jobs(only_errors: bool) -> tuple[type[Rule], ...]:
    return tuple(
        rule
        for rule in all_rules()
        if rule.code.startswith(_OF_JOBS) and not rule.needs_icon and _is_asked(rule, only_errors)
    )


def _names_of(other: OtherModel) -> dict[str, str]:
    model = model_named(other.name)
    return {} if model is None else {code: name for code, (name, _) in model.problems.items()}


def _of_namelists(experiment: Experiment, beginning: Span | None) -> Iterator[Finding]:
    """What a model that is not ICON says of its namelist as it will be written, at the keys that it is made of."""
    assert experiment.other is not None
    model = model_named(experiment.other.name)
    if model is None:
        return
    from nmlgen.namelist.reader import read  # most specs have no namelist that is read again
    from nmlgen.render.namelists import write_groups

    sources = {name: Source(name, write_groups(groups)) for name, groups in experiment.other.files.items()}
    try:
        tasks = experiment.tasks.value
    except UndecidedError:
        tasks = None
    for name, groups in experiment.other.files.items():
        source = sources[name]
        if not model.recognises(Path(name), source.text):
            continue
        document = read(source)
        places = _Places(document, groups)
        for finding in model.lint(document, tasks, sources.get).findings:
            yield evolve(finding, span=places.of(finding.span) or beginning, fix=None)


class _Places:
    """Where in a spec stands what is written to a namelist file."""

    def __init__(self, document: Document, groups: tuple[Group, ...]) -> None:
        self._groups = list(zip(document.groups, groups, strict=False))  # a group may be called "end"

    def of(self, span: Span | None) -> Span | None:
        """The place of a setting or a group, by where it stands in the file; None for the file as a whole."""
        at = -1 if span is None else span.offsets[0]
        for text, group in self._groups:
            if text.start <= at < text.end:
                item = next((item for item in reversed(text.items) if item.start <= at), None)
                said = None if item is None else group.settings.get(item.name) or group.settings.get(item.base)
                if item is not None and said is not None:
                    return said.span if at > item.equals else said.name_span or said.span
                return group.span or next((one.name_span for one in group.settings.values()), None)
        return None
