"""Running the rules over an experiment, and obeying the author's suppressions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from attrs import evolve

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.setting import UndecidedError
from nmlgen.findings import Finding, Report, Undecided
from nmlgen.rules import all_rules
from nmlgen.source import Span
from nmlgen.suppression import Suppression, excuse


def check_experiment(
    experiment: Experiment, suppressions: Iterable[Suppression] = (), beginning: Span | None = None
) -> Report:
    """Apply every rule; findings come sorted by position, rules that lack a value are counted as undecided.

    A finding about what nobody wrote stands at the `beginning`.
    """
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    for rule in all_rules():
        for subject in rule.subjects(experiment):
            try:
                for finding in rule().check(subject):
                    findings.append(finding if finding.span is not None else evolve(finding, span=beginning))
            except UndecidedError as error:
                place = error.setting.span or beginning
                file = None if place is None else place.source.name
                undecided.append(Undecided(rule.code, error.setting.name, file, error.setting.span))
    if len(experiment.models) > 1:  # what the components have in common is found with each of them
        findings, undecided = list(dict.fromkeys(findings)), list(dict.fromkeys(undecided))
    report = Report(tuple(findings), undecided=tuple(undecided))
    return excuse(report, suppressions, _names())


@cache
def _names() -> dict[str, str]:
    return {rule.code: rule.name for rule in all_rules()}
