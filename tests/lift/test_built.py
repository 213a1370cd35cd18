"""A built script says the same as its spec: to the rules, and to those who compare."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from rows import rows
from rules.experiments import BASE
from rules.test_examples import base_of, examples
from specs import load, unchecked_build

import nmlgen
from nmlgen.checking import check_experiment
from nmlgen.experiment.difference import differences
from nmlgen.files import Files
from nmlgen.findings import Finding, Report
from nmlgen.lift.built import machine_of
from nmlgen.lift.loading import load as load_path
from nmlgen.lift.scripts import LiftedScript
from nmlgen.linting import Lifted
from nmlgen.rules import all_rules
from nmlgen.source import Source
from nmlgen.spec.document import read_text
from nmlgen.spec.spec import Spec, load_spec

_BUILD = re.compile(r"(?<=[ =])[0-9a-f]{12}(?=[.\n])")
"""What tells one build from another, in a script that need not differ otherwise."""
SITE = BASE.with_name("example-site.yaml")
REFUSED = {"NML003", "NML004", "NML005", "NML006"}
"""Of a value that a variable cannot hold a namelist's text says more than its meaning: the words are others."""


def said(findings) -> set[tuple[str, str, str]]:
    return {(f.code, "" if f.code in REFUSED else f.message, f.severity.value) for f in findings}


class Lint:
    """Lints scripts in one place, one after the other; what one does whose text came before is not worked out again."""

    def __init__(self) -> None:
        self.known: dict[str, LiftedScript] = {}

    def __call__(self, script: Path) -> Report:
        text = _BUILD.sub("0" * 12, script.read_text(encoding="utf-8"))
        script.write_text(text, encoding="utf-8")
        files, lifted = Files(), Lifted()
        if (before := self.known.get(text)) is not None:
            files.sources[script.resolve()] = before.script.source
            lifted.scripts[script] = before
        report = nmlgen.lint([script], site=str(SITE), is_isolated=True, files=files, lifted=lifted)
        self.known[text] = lifted.scripts[script]
        assert before is None or self.known[text].evaluation is before.evaluation
        return report


@pytest.fixture(scope="module")
def lint(tmp_path_factory):
    """With the directory that the builds lie in."""
    return Lint(), tmp_path_factory.mktemp("built") / "build"


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | None:
    """What two documents say; None where they contradict each other."""
    result = dict(one)
    for key, value in other.items():
        if key in result and isinstance(value, dict) and isinstance(result[key], dict):
            below = both(result[key], value)
            if below is None:
                return None
            result[key] = below
        elif result.setdefault(key, value) != value:
            return None
    return result


@frozen
class Example:
    """A bad example, or several that are one document: it is there for these rules."""

    base: Path
    codes: frozenset[str]
    document: dict[str, Any]

    def with_another(self, other: Example) -> Example | None:
        """Both in one; None where they contradict each other."""
        document = both(self.document, other.document)
        if document is None or self.base != other.base:
            return None
        return Example(self.base, self.codes | other.codes, document)


def together(several: list[Example], path: Path) -> Iterator[tuple[Spec, tuple[Finding, ...]]]:
    """The specs of examples, and what is found in them: of all in one, or where one hides what is found in another, of
    the halves."""
    one: Example | None = several[0]
    for other in several[1:]:
        one = one and one.with_another(other)
    if one is not None:
        path.write_text(json.dumps(one.document), encoding="utf-8")
        with nullcontext() if len(several) == 1 else suppress(nmlgen.NmlgenError):
            spec = load_spec(path, [f"extends={one.base}", f"site={SITE}"])
            found = check_experiment(spec.experiment, spec.suppressions).findings
            if len(several) == 1 or one.codes <= {finding.code for finding in found}:
                yield spec, found
                return
    half = len(several) // 2
    yield from together(several[:half], path)
    yield from together(several[half:], path)


TOGETHER = 40
"""So many specs hold the examples of all rules, if they can be together."""


@cache
def all_together() -> list[list[Example]]:
    """The bad examples of every rule, none beside one that it contradicts if that can be."""
    found: list[list[Example]] = [[] for _ in range(TOGETHER)]
    joined: dict[int, Example] = {}
    rules = list(all_rules())
    for rule in (rule for start in range(5) for rule in rules[start::5]):  # neighbours have much to do with each other
        for text in examples(rule, "bad"):
            if text.startswith("&"):  # which is no spec
                continue
            one = Example(base_of(text), frozenset({rule.code}), read_text(Source("spec", text)).plain())
            fits = {n: joined[n].with_another(one) if n in joined else one for n in range(TOGETHER)}
            number = min(fits, key=lambda n: (fits[n] is None, len(found[n])))
            found[number].append(one)
            joined[number] = fits[number] or joined[number]
    return found


@rows("number", range(TOGETHER), parts=4)
def test_findings_of_a_built_script_are_those_of_its_spec(number, lint, tmp_path):
    judge, directory = lint
    several = all_together()[number]
    for spec, found in together(several, tmp_path / "spec.yaml") if several else ():
        shutil.rmtree(directory, ignore_errors=True)
        unchecked_build(spec).write(directory)
        report = judge(directory / f"{spec.experiment.name}.sbatch")
        assert said(report.findings) == said(found), (tmp_path / "spec.yaml").read_text(encoding="utf-8")


def test_the_record_names_the_machine_and_the_release(tmp_path):
    (tmp_path / "spec.yaml").write_text("model: {release: '2024.01'}\nsite: levante\n", encoding="utf-8")
    spec = load_spec(tmp_path / "spec.yaml", [f"extends={BASE}"])
    unchecked_build(spec).write(tmp_path)
    experiment = load_path(tmp_path).experiment
    assert (experiment.machine, experiment.registry.release) == (spec.experiment.machine, "2024.01")
    assert experiment.components[0].namelist[-1].label == "atm"


def test_a_site_file_that_lies_elsewhere_has_its_name_only():
    machine = machine_of({"site": "./nowhere.yaml"}, "slurm")
    assert (machine.name, machine.scheduler, machine.partitions) == ("./nowhere.yaml", "slurm", {})
    assert machine_of({}, "slurm") is None


def test_what_somebody_changed_in_a_build_is_seen(tmp_path):
    spec = load(site="levante", lustre={"output": {"stripe_count": 4}, "restart": {"stripe_count": 1}})
    unchecked_build(spec).write(tmp_path)
    script = tmp_path / "wave.sbatch"
    text = script.read_text()
    for old, new, changed in (
        ("stripe output --stripe-count=4", "stripe output --stripe-count=8", {"output: stripe_count"}),
        ("stripe . --stripe-count=1\n", "", {".: stripe_count"}),
        ("--nodes=2", "--nodes=3", {"--nodes"}),
        ("--ntasks=64", "--ntasks=63", {"tasks"}),
        ("ulimit -s ", "ulimit -s 1024 # ", {"stack_limit"}),
        ("export OMP_STACKSIZE=", "export OMP_STACKSIZE=7", {"OMP_STACKSIZE"}),
        ("ln -sfn -- ", "cp -- ", {"iconR02B05-grid.nc"}),
        ('run="$here"/run', 'run="$here"/again', {"run directory"}),
    ):
        assert old in text
        script.write_text(text.replace(old, new))
        experiment = load_path(script).experiment
        assert {change.name for change in differences(spec.experiment, experiment)} == changed


def test_a_build_that_lost_its_namelists_is_no_experiment(tmp_path):
    unchecked_build(load()).write(tmp_path)
    for name in ("icon_master.namelist", "NAMELIST_wave"):
        Path(tmp_path / name).unlink()
    with pytest.raises(nmlgen.InputError, match="writes no namelist that ICON would read"):
        load_path(tmp_path)


def test_a_node_local_run_comes_back(tmp_path):
    commands = ["cdo -O mergetime output/*.nc all.nc", "echo 'it''s' \"$NMLGEN_LEG\""]
    keys = {"file_system": "beeond", "copy_while_running": True, "before_stage_out": commands}
    spec = load(site="horeka", node_local=keys, job={"signal": "B:USR1@900"})
    unchecked_build(spec).write(tmp_path)
    experiment = load_path(tmp_path).experiment
    assert differences(spec.experiment, experiment) == ()
    assert [command.value for command in experiment.node_local.before_stage_out] == commands
    other = load(site="horeka", node_local={**keys, "copy_while_running": False}, job={"signal": "B:USR1@900"})
    assert [one.name for one in differences(other.experiment, experiment)] == ["copy_while_running"]
