"""Experiments for the tests of rules: from a fragment of a spec, and with values past every check of a spec."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.group import Group
from nmlgen.experiment.setting import Origin, Setting, UndecidedError
from nmlgen.findings import Finding
from nmlgen.rules.rule import Rule
from nmlgen.spec.spec import load_spec

BASE = Path(__file__).parent / "example.yaml"


def experiment_of(text: str, tmp_path: Path) -> Experiment:
    """The experiment of a fragment laid over the example."""
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return load_spec(path, [f"extends={BASE}", f"site={BASE.with_name('example-site.yaml')}"]).experiment


def with_setting(experiment: Experiment, group: str, name: str, setting: Setting) -> Experiment:
    """The experiment with one variable set, past every check of a spec."""

    def changed(found: Group) -> Group:
        if found.name != group:
            return found
        return evolve(found, settings={**found.settings, name.lower(): setting})

    if group not in [found.name for found in experiment.all_groups()]:
        (model,) = experiment.models
        extra = Group(group, {name.lower(): setting})
        return evolve(experiment, models=(evolve(model, namelist=(*model.namelist, extra)),))
    return experiment.mapped(changed)


def written(group: str, name: str, value: object) -> Setting:
    """A variable that a test wrote."""
    return Setting(f"{group}.{name}", (Origin("test", value),))


def judge(experiment: Experiment, rules: list[type[Rule]]) -> list[Finding]:
    """What the rules find; a value that nobody can use may silence them, nothing else may be raised."""
    findings: list[Finding] = []
    for rule in rules:
        for subject in rule.subjects(experiment):
            try:
                findings += rule().check(subject)
            except UndecidedError:
                continue
    return findings
