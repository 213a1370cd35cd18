"""How good the advice is, a family of runs at a time kept back from the calibration."""

from __future__ import annotations

import pytest
from advise_cases import ROOT, benchmark

from nmlgen.advise.accuracy import by_family
from nmlgen.advise.measurements import levante_runs


@pytest.fixture(scope="module")
def evidence():
    return benchmark().gather_evidence(levante_runs())


def mean(values):
    listed = list(values)
    return sum(listed) / len(listed)


def test_the_page_is_up_to_date(evidence):
    assert (ROOT / "docs" / "advisor-accuracy.md").read_text(encoding="utf-8") == benchmark().page(
        evidence, benchmark().read(benchmark().NESTED)
    )
    assert (ROOT / "docs" / "advisor-accuracy.svg").read_text(encoding="utf-8") == benchmark().plot(evidence)


def test_regret_of_the_number_of_io_ranks(evidence):
    regrets = [evidence.cold[family].regret for family in evidence.families(output=True)]
    assert len(regrets) == 7
    assert mean(regrets) <= 0.01
    assert max(regrets) <= 0.03


def test_regret_of_restart_layouts_that_output_does_not_hide(evidence):
    families = [family for family in evidence.families(output=False) if not benchmark().hides(family)]
    regrets = [evidence.cold[family].regret for family in families]
    assert len(regrets) == 7
    assert mean(regrets) <= 0.01
    assert max(regrets) <= 0.03


def test_better_than_every_fixed_rule(evidence):
    regrets = benchmark().regrets(evidence)
    advisor = regrets.pop("the advisor")
    for rule, others in regrets.items():
        assert mean(advisor) < mean(others), rule
        assert max(advisor) < max(others), rule


def test_error_of_predicted_times(evidence):
    assert mean(abs(error) for judged in evidence.cold.values() for error in judged.errors) <= 0.05


def test_error_after_one_run_of_the_family(evidence):
    def errors(output):
        return [
            mean(map(abs, one.errors)) for family in evidence.families(output) for one in evidence.after_one[family]
        ]

    assert mean(errors(output=True)) <= 0.045


def test_error_after_one_run_of_any_family(evidence):
    later = [one for judgements in evidence.after_one.values() for one in judgements]
    assert mean(mean(map(abs, one.errors)) for one in later) <= 0.045


def test_runs_that_had_no_part_in_the_model(evidence):
    assert mean(abs(error) for one, _ in evidence.unseen for error in one.errors) <= 0.05
    assert all(one.regret <= 0.03 for one, _ in evidence.unseen)
    assert mean(abs(error) for _, later in evidence.unseen for one in later for error in one.errors) <= 0.045


def test_a_family_of_the_nested_choice_is_what_the_file_says():
    """Of two structures; that no other one is better is what `benchmarks/advisor.py --nested` finds."""
    family = next(family for family in by_family(levante_runs()) if family.nodes == 8)
    near = benchmark().beginnings(levante_runs(), ("all terms", "receiving by bytes alone"))
    again = benchmark().nested_fold(levante_runs(), family, near)
    assert again == [row for row in benchmark().read(benchmark().NESTED) if row["family"] == again[0]["family"]]


def test_intervals_hold_as_often_as_they_say(evidence):
    assert 0.75 <= mean(held for judged in evidence.cold.values() for held in judged.held) <= 0.88
    later = [one for judgements in evidence.after_one.values() for one in judgements]
    assert 0.7 <= mean(held for one in later for held in one.held) <= 0.9


@pytest.mark.parametrize("kind", ["output", "checkpoints"])
def test_regret_after_a_single_run_of_another_family(evidence, kind):
    """The table says it of all families; of one of them it is worked out again."""
    family = evidence.families(kind == "output")[0]
    again = benchmark().elsewhere(evidence, family)
    table = [row for row in benchmark().read(benchmark().ELSEWHERE) if row["kind"] == kind]
    assert again == [row for row in table if row["family"] == again[0]["family"]]
    assert len({row["family"] for row in table}) == 7
    regrets = benchmark().regrets_elsewhere(kind)
    assert len(regrets) > 100
    assert mean(regrets) <= 0.01
    assert max(regrets) <= 0.03


def test_tuning_finds_good_layouts_in_few_runs(evidence):
    """Tuning replayed, a family at a time unknown to the calibration."""
    replay = benchmark("tuning").replay
    replays = [replay(members, evidence.calibrations[family]) for family, members in evidence.runs.items()]
    assert sum(found.runs for found in replays) <= len(replays) * 1.5
    assert sum(found.regret for found in replays) / len(replays) <= 0.01
    assert max(found.regret for found in replays) <= 0.04
