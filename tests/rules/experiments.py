"""Experiments for the tests of rules: from a fragment of a spec, and with values past every check of a spec."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from nmlgen.experiment.experiment import Experiment, Group
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

    def changed(groups: tuple[Group, ...]) -> tuple[Group, ...]:
        return tuple(
            evolve(found, settings={**found.settings, name.lower(): setting}) if found.name == group else found
            for found in groups
        )

    if group not in [found.name for found in experiment.all_groups()]:
        extra = Group(group, {name.lower(): setting})
        return evolve(experiment, namelist=(*experiment.namelist, extra))
    return evolve(experiment, master=changed(experiment.master), namelist=changed(experiment.namelist))


def written(group: str, name: str, value: object) -> Setting:
    """A variable that a test wrote."""
    return Setting(f"{group}.{name}", (Origin("test", value),))


def judge(experiment: Experiment, rules: list[type[Rule]]) -> list[Finding]:
    """What the rules find; a value that nobody can use may silence them, nothing else may be raised."""
    findings: list[Finding] = []
    for rule in rules:
        try:
            findings += rule().check(experiment)
        except UndecidedError:
            continue
    return findings
