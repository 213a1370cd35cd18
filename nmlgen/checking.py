"""Running the rules over an experiment, and obeying the author's suppressions."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding, Report, Severity, Undecided, did_you_mean, in_order
from nmlgen.rules import all_rules
from nmlgen.source import Span
from nmlgen.spec.problems import problem
from nmlgen.spec.spec import Suppression


def check_experiment(
    experiment: Experiment, suppressions: Iterable[Suppression] = (), beginning: Span | None = None
) -> Report:
    """Apply every rule; findings come sorted by position, rules that lack a value are counted as undecided.

    A finding about what nobody wrote stands at the `beginning`.
    """
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    for rule in all_rules():
        try:
            for finding in rule().check(experiment):
                findings.append(finding if finding.span is not None else evolve(finding, span=beginning))
        except UndecidedError as error:
            undecided.append(Undecided(rule.code, error.setting.name))
    return _suppress(findings, tuple(suppressions), tuple(undecided))


def _suppress(
    findings: list[Finding], suppressions: tuple[Suppression, ...], undecided: tuple[Undecided, ...]
) -> Report:
    kept: list[Finding] = []
    excused: list[tuple[Finding, str]] = []
    used: set[int] = set()
    for finding in findings:
        matching = [i for i, suppression in enumerate(suppressions) if _excuses(suppression, finding)]
        used.update(matching)
        if matching:
            excused.append((finding, suppressions[matching[0]].reason))
        else:
            kept.append(finding)
    kept += [_unused(s) for i, s in enumerate(suppressions) if i not in used]
    return Report(in_order(kept), tuple(excused), undecided)


def _excuses(suppression: Suppression, finding: Finding) -> bool:
    if suppression.rule not in (finding.code, finding.name):
        return False
    if suppression.line is None:
        return True
    span = finding.span
    return span is not None and span.source is suppression.source and span.line == suppression.line


def _unused(suppression: Suppression) -> Finding:
    names = [word for rule in all_rules() for word in (rule.code, rule.name)]
    if suppression.rule not in names:
        message = f'there is no rule "{suppression.rule}" to suppress'
        return problem("SPC010", message, suppression.span, *did_you_mean(suppression.rule, names))
    return problem(
        "SPC009",
        f"{suppression.rule} is suppressed here and finds nothing",
        suppression.span,
        "remove the suppression",
        severity=Severity.WARNING,
    )
