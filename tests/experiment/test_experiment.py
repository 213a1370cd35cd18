"""What an experiment as a whole answers."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from nmlgen.experiment.experiment import OtherModel
from nmlgen.experiment.setting import UndecidedError

TASKS = "job: {ntasks_per_node: 64, nodes: 2}\n"


def test_what_somebody_wrote_is_not_advised(build):
    experiment = build(f"{TASKS}lustre: {{output: {{stripe_count: 4}}}}\n").experiment
    assert list(experiment.advised()) == []


@pytest.mark.parametrize(("fragment", "name"), [("parallel: {num_io_procs: auto}\n", "parallel_nml.num_io_procs")])
def test_what_was_left_to_the_advisor_is_advised(build, fragment, name):
    assert name in dict(build(fragment).experiment.advised())


def test_tasks_are_nodes_times_tasks_of_a_node(build):
    assert build(TASKS).experiment.tasks.value == 128


@pytest.mark.parametrize(
    ("job", "count", "last"),
    [
        ("ntasks_per_node: 64, nodes: 2", 128, "64"),
        ("ntasks_per_node: null, nodes: 2", 2, "2"),
        ("ntasks_per_node: null, nodes: null", 1, "bin/icon"),
    ],
)
def test_tasks_stand_where_the_last_was_said_that_makes_them(job, count, last, build):
    tasks = build(f"model: {{executable: bin/icon}}\njob: {{{job}}}\n").experiment.tasks
    assert (tasks.value, tasks.span.text) == (count, last)


def test_the_launcher_says_how_many_tasks(build):
    experiment = build(f"{TASKS}job: {{ntasks_per_node: 64, nodes: 2, ntasks: 100}}\n".replace(TASKS, "")).experiment
    assert experiment.tasks.value == 100


@pytest.mark.parametrize(("name", "title"), [("wrf", "WRF"), ("generic", "the model")])
def test_what_messages_call_another_model(name: str, title: str) -> None:
    assert OtherModel(name, {}).title == title


OWN = "grid: {file: g.nc, name: R2B5, num_lev: 30}, time: {modelTimeStep: PT12M}, parallel: {num_io_procs: 0}"


def test_ranks_are_shared_by_the_models_of_a_job(build):
    """Nobody else has any; a single model has all."""
    assert build(TASKS).experiment.shares == (frozenset(range(128)),)
    two = build(f"{TASKS}output: null\nmodels:\n  a: {{type: atmo, tasks: 100, {OWN}}}\n  o: {{type: ocean, {OWN}}}\n")
    assert two.experiment.shares == (frozenset(range(100)), frozenset(range(100, 128)))
    assert two.experiment.others == 0


@pytest.mark.parametrize(("most", "is_known"), [(128, True), (127, False)])
def test_shares_of_more_ranks_than_are_counted_are_not_known(most, is_known, build, monkeypatch):
    monkeypatch.setattr("nmlgen.experiment.experiment.MOST_TASKS", most)
    with nullcontext() if is_known else pytest.raises(UndecidedError):
        assert build(TASKS).experiment.shares == (frozenset(range(128)),)
