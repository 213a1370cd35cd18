"""Every rule's documentation is true: the bad example is found where it says, the good one is clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from grid_files import write_grids
from rules.experiments import BASE

from nmlgen.checking import check_experiment, verdicts
from nmlgen.findings import Report
from nmlgen.lift.namelists import MASTER_FILE, lift_master
from nmlgen.namelist.registry import load_registry
from nmlgen.rules import all_rules
from nmlgen.rules.rule import Rule
from nmlgen.spec.spec import load_spec

HEADINGS = ("## What it does", "## Why it matters", "## Evidence", "## Example", "## References")
FENCE = re.compile(r"```(yaml|namelist) (bad|good)\n(.*?)```", re.DOTALL)
NTASKS = 256
COUPLED = BASE.with_name("example-coupled.yaml")


def examples(rule: type[Rule], kind: str) -> list[str]:
    return [text for _, found, text in FENCE.findall(rule.document()) if found == kind]


@pytest.fixture(autouse=True)
def grids(tmp_path, monkeypatch):
    """Where an example takes the model's directory away, its files lie where it is judged."""
    write_grids(tmp_path)
    monkeypatch.chdir(tmp_path)


def check(text: str, tmp_path: Path, only: type[Rule] | None = None):
    """Judge an example, by all rules or one: a fragment of a spec, or, where no spec can show it, a master namelist by
    itself."""
    if text.startswith("&"):
        return check_master(text, tmp_path)
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    spec = load_spec(path, [f"extends={base_of(text)}", f"site={BASE.with_name('example-site.yaml')}"])

    def ask(experiment, rules, beginning):
        return verdicts(experiment, [rule for rule in rules if only in (None, rule)], beginning)

    return check_experiment(spec.experiment, spec.suppressions, ask=ask)


def base_of(text: str) -> Path:
    """What an example is laid over: a run of one component, or of two that are coupled."""
    return COUPLED if re.search(r"^(models|coupling):", text, re.MULTILINE) else BASE


def check_master(text: str, tmp_path: Path):
    """Judge what a master namelist says of its models; what else a run needs is not in the example."""
    path = tmp_path / MASTER_FILE
    path.write_text(text, encoding="utf-8")
    experiment, _ = lift_master(path, load_registry("2024.10"), NTASKS)
    findings = check_experiment(experiment).findings
    return Report(tuple(finding for finding in findings if finding.code.startswith(("MST", "INP"))))


def marked(text: str) -> tuple[int, int] | None:
    """Line and column that a caret in the example points at."""
    for number, line in enumerate(text.splitlines(), start=1):
        if re.fullmatch(r"[#!]\s*\^+", line):
            return number - 1, line.index("^") + 1
    return None


def pytest_generate_tests(metafunc):
    if "rule" in metafunc.fixturenames:
        metafunc.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


@pytest.mark.parametrize("text", ["nmlgen: 1\n", "models: {}\n"])
def test_base_is_clean(text, tmp_path):
    assert check(text, tmp_path).findings == ()


def test_page_is_true(rule, tmp_path):
    positions = [rule.document().find(heading) for heading in HEADINGS]
    assert -1 not in positions
    assert positions == sorted(positions)
    bad_examples_are_found_and_say_what_is_expected(rule, tmp_path)
    good_examples_are_clean(rule, tmp_path)


def bad_examples_are_found_and_say_what_is_expected(rule, tmp_path):
    texts = examples(rule, "bad")
    assert texts, "a rule shows at least one bad example"
    for text in texts:
        found = [f for f in check(text, tmp_path, rule).findings if f.code == rule.code]
        assert found, text
        assert all(finding.notes and not finding.message.endswith(".") for finding in found)
        where = marked(text)
        if where is None:
            # a caret cannot stand below the first column
            assert found[0].span is None or found[0].column == 1, "the finding points somewhere: mark it with a caret"
        else:
            assert (found[0].line, found[0].column) == where


def good_examples_are_clean(rule, tmp_path):
    texts = examples(rule, "good")
    assert texts, "a rule shows at least one good example"
    about_inputs = rule.code.startswith("INP")  # the others show a fragment, without the files that it takes besides
    for text in texts:
        found = check(text, tmp_path).findings
        assert [one for one in found if about_inputs or one.code != "INP001"] == [], text


def test_codes_and_names_are_unique():
    rules = all_rules()
    assert len({rule.code for rule in rules}) == len(rules)
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(re.fullmatch(r"[A-Z]{3}\d{3}", rule.code) for rule in rules)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name) for rule in rules)
