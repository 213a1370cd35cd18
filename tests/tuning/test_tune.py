"""The loop, with a stand-in for the cluster."""

from __future__ import annotations

from functools import cache

import pytest
from tuning_stand_in import RANKS, Killed, StandIn, cost, spec

import nmlgen
from nmlgen import InputError
from nmlgen.tuning.candidates import candidates_of


def last(runner: StandIn, **options: object) -> nmlgen.Tuning:
    document = options.pop("spec", spec())
    *_, tuning = nmlgen.tune(document, runner, **options)
    return tuning


def best_of_all() -> tuple[str, float, int]:
    """What trying every candidate finds, and in how many runs."""
    (tuning,) = nmlgen.tune(spec(), StandIn(cost), dry_run=True)
    points = [candidate.point for candidate in tuning.candidates.candidates]
    best = min(points, key=cost)
    return best.name, cost(best), len(points)


def test_the_best_is_found_in_fewer_runs():
    name, seconds, number = best_of_all()
    runner = StandIn(cost)
    tuning = last(runner)
    assert tuning.stop == "noise"
    assert tuning.best.measured_s <= 1.02 * seconds
    assert len(runner.ran) < number
    assert name.startswith("wave-io")


def test_steps_tell_what_was_proposed_and_what_ended():
    steps = list(nmlgen.tune(spec(), StandIn(cost)))
    proposed = [trial.point.name for step in steps for trial in step.proposed]
    ended = [trial.point.name for step in steps for trial in step.ended]
    assert proposed == ended == [trial.point.name for trial in steps[-1].trials]
    assert [step.stop for step in steps[:-1]] == [None] * (len(steps) - 1)
    assert steps[-1].gain < 0.02
    for step in steps[:-1]:
        for trial in step.proposed:
            assert trial.expected.low_s < trial.expected.middle_s < trial.expected.high_s


def test_what_was_expected_of_a_run_does_not_change_when_it_is_over():
    runner = StandIn(cost)
    before = {t.point.name: t.expected for step in nmlgen.tune(spec(), runner) for t in step.proposed}
    after = {trial.point.name: trial.expected for trial in last(runner).trials}
    assert before == after


def test_the_same_again():
    first, second = StandIn(cost), StandIn(cost)
    last(first)
    last(second)
    assert first.ran == second.ran


def test_it_stops_at_once_where_nothing_is_to_gain():
    """All take the same, and noise is large."""
    runner = StandIn(lambda _: 1500.0, timers=False)
    tuning = last(runner, noise=0.3)
    assert tuning.stop == "noise"
    assert len(runner.ran) == 1


def test_without_noise_all_is_tried():
    tuning = last(StandIn(cost), noise=0.0)
    assert tuning.stop == "all tried"
    assert tuning.left == ()
    assert tuning.best.measured_s == best_of_all()[1]


@pytest.mark.parametrize("budget", [0.1, 3.0, 5.0, 8.0])
def test_the_budget_is_kept(budget):
    """Two nodes: a run of half an hour is one node-hour. What a run will cost is what is expected of it."""
    runner = StandIn(cost)
    tuning = last(runner, budget=budget, noise=0.0)
    assert tuning.stop == "budget"
    spent = sum(trial.node_hours for trial in tuning.trials[:-1])
    for trial in tuning.trials[-1:]:
        assert spent + trial.expected.middle_s * 2 / 3600 <= budget
    assert tuning.node_hours == pytest.approx(sum(cost(trial.point) for trial in tuning.trials) * 2 / 3600)


def test_the_number_of_runs_is_kept():
    runner = StandIn(cost)
    assert last(runner, runs=2).stop == "runs"
    assert len(runner.ran) == 2
    last(runner, runs=3)
    assert len(runner.ran) == 3


def test_several_at_once():
    runner = StandIn(cost)
    tuning = last(runner, at_once=3)
    assert runner.most == 3
    assert tuning.best.measured_s <= 1.02 * best_of_all()[1]
    assert len(set(runner.ran)) == len(runner.ran)


@cache
def undisturbed(at_once: int) -> list[str]:
    """What runs, in its order, where nobody is killed."""
    runner = StandIn(cost)
    last(runner, at_once=at_once)
    return runner.ran


MOMENTS = ("before asking", "after asking", "after starting", "while waiting")


@pytest.mark.parametrize(("moment", "at_once"), [*((moment, 2) for moment in MOMENTS), ("after starting", 1)])
def test_killed_at_any_moment_it_goes_on(moment, at_once, monkeypatch):
    """Killed whenever that moment comes, every second time, it finds what it finds undisturbed."""
    runner, document = StandIn(cost), nmlgen.load_spec(spec())
    monkeypatch.setattr("nmlgen.tuning.tune.candidates_of", cache(candidates_of))  # they are the same each time
    times = 0

    def dies(now: str) -> bool:
        nonlocal times
        times += now == moment
        return now == moment and times % 2 == 1

    runner.dies = dies
    for _ in range(100):
        try:
            tuning = last(runner, at_once=at_once, spec=document)
            break
        except Killed:
            continue
    assert times > 2
    assert tuning.stop == "noise"
    assert runner.ran == undisturbed(at_once)


def test_what_fails_is_named_and_not_tried_again():
    def measure(point: nmlgen.Point) -> float | None:
        return None if point.values[RANKS] == 8 else cost(point)

    runner = StandIn(measure)
    tuning = last(runner)
    failed = [trial for trial in tuning.trials if trial.outcome.state == "failed"]
    assert len(set(runner.ran)) == len(runner.ran)
    assert failed
    for trial in failed:
        assert trial.outcome.reason == "exit code 3"
        assert trial.node_hours == pytest.approx(600 * 2 / 3600)
    assert tuning.best.measured_s <= 1.02 * min(
        cost(c.point) for c in tuning.candidates.candidates if c.point.values[RANKS] != 8
    )


def test_it_gives_up_where_everything_fails():
    runner = StandIn(lambda _: None)
    tuning = last(runner)
    assert (tuning.stop, tuning.best, len(runner.ran)) == ("failures", None, 3)


def test_a_dry_run_starts_nothing():
    runner = StandIn(cost)
    (tuning,) = nmlgen.tune(spec(), runner, dry_run=True)
    assert runner.ran == []
    assert len(tuning.proposed) == 1
    assert len(tuning.left) == best_of_all()[2] - 1


def test_keys_that_the_model_does_not_know():
    """Measurements decide on nproma; the model still says what it knows of I/O ranks."""
    seconds = {8: 1.0, 16: 0.8, 32: 0.95}
    grid = {"parallel.nproma": [8, 16, 32], RANKS: [2, 4, 8]}
    derive = {"output.atm.stream_partitions_ml": "num_io_procs"}
    runner = StandIn(lambda point: cost(point) * seconds[point.values["parallel.nproma"]], timers=False)
    tuning = last(runner, spec=spec(sweep={"grid": grid, "derive": derive}))
    assert tuning.candidates.unseen == ("parallel.nproma",)
    assert tuning.best.point.values["parallel.nproma"] == 16
    assert len(runner.ran) < 9


def test_an_experiment_of_which_the_model_knows_nothing():
    """A grid whose size its name does not tell."""
    document = spec(grid={"file": "grids/ours.nc"}, sweep={"grid": {"parallel.nproma": [4, 8, 16, 32]}})
    del document["grid"]["name"]
    runner = StandIn(lambda point: abs(point.values["parallel.nproma"] - 8) + 100.0, timers=False)
    steps = list(nmlgen.tune(document, runner))
    assert steps[0].proposed[0].expected is None
    assert steps[-1].best.measured_s <= 102


@pytest.mark.parametrize("left", [2, 4])
def test_a_candidate_that_was_taken_out_of_the_sweep(left):
    runner = StandIn(cost)
    sweep = {"grid": {RANKS: [2, 4]}, "derive": {"output.atm.stream_partitions_ml": "num_io_procs"}}
    last(runner, spec=spec(sweep=sweep), noise=0.0)
    runner.asked.sort(key=lambda point: point.values[RANKS] != left)  # its directory tells of them in any order
    sweep["grid"] = {RANKS: [left]}
    with pytest.raises(InputError, match="is no candidate any more"):
        last(runner, spec=spec(sweep=sweep))


@pytest.mark.parametrize("options", [{"runs": 0}, {"at_once": 0}, {"budget": -1}, {"noise": -0.1}])
def test_numbers_that_make_no_sense(options):
    with pytest.raises(ValueError, match="or more"):
        last(StandIn(cost), **options)
