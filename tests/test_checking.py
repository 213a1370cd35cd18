"""Checking goes on whatever a rule does."""

from __future__ import annotations

from specs import load

from nmlgen.checking import _judged, verdicts
from nmlgen.findings import Finding, Severity
from nmlgen.rules import all_rules


def test_a_rule_that_fails_is_told_of_and_the_others_go_on(monkeypatch):
    experiment = load(restart={"restart_write_mode": "sync", "num_restart_procs": 2}).experiment
    others = _judged(experiment, verdicts(experiment, all_rules(), None), None).findings
    assert others
    broken = next(rule for rule in all_rules() if rule.code not in {finding.code for finding in others})

    def check(self, subject):
        raise ZeroDivisionError("division by zero")

    def failed(rule, error, beginning):
        return Finding(rule.code, rule.name, Severity.WARNING, f"{type(error).__name__}: {error}", beginning)

    monkeypatch.setattr(broken, "check", check)
    monkeypatch.setattr("nmlgen.checking._failed", failed)
    found = _judged(experiment, verdicts(experiment, all_rules(), None), None).findings
    assert [finding.message for finding in found if finding.code == broken.code] == [
        "ZeroDivisionError: division by zero"
    ]
    assert [finding for finding in found if finding.code != broken.code] == list(others)
