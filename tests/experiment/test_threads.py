"""Threads follow from the cores of a task."""

from __future__ import annotations

import pytest
from rules.experiments import experiment_of

from nmlgen.experiment.setting import written
from nmlgen.experiment.threads import NUM_THREADS, cores_of_a_task

BINDING = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}


def environment(text: str, tmp_path) -> dict[str, str]:
    found = experiment_of(text, tmp_path).environment
    return {name: str(setting.value) for name, setting in found.items() if name[:3] in ("OMP", "KMP")}


@pytest.mark.parametrize(
    ("job", "cores"),
    [
        ("ntasks_per_node: 128", 1),
        ("ntasks_per_node: 32, cpus_per_task: 4", 4),
        ("ntasks_per_node: 128, cpus_per_task: 2", 1),  # two hardware threads of one core
        ("ntasks_per_node: 64, cpus_per_task: 4", 2),
    ],
)
def test_cores(job, cores, tmp_path):
    experiment = experiment_of(f"job: {{{job}}}\n", tmp_path)
    assert cores_of_a_task(experiment.directives, experiment.machine) == cores
    assert (NUM_THREADS in experiment.environment) is (cores > 1)


@pytest.mark.parametrize(
    ("asked", "each", "cores"), [(4, 0, 4), (4, 1, 4), (4, 64, 2), (4, "$n", 4), (256, 1, 128), (256, 0, 256)]
)
def test_a_share_of_a_node_is_that_of_tasks_that_there_are(asked, each, cores, tmp_path):
    machine = experiment_of("nmlgen: 1\n", tmp_path).machine
    directives = {"cpus-per-task": written("a", asked, "test"), "ntasks-per-node": written("b", each, "test")}
    assert cores_of_a_task(directives, machine) == cores


FOUR = "job: {ntasks_per_node: 32, cpus_per_task: 4}\n"


def test_threads_stack_and_binding_are_set(tmp_path):
    assert environment(FOUR, tmp_path) == {NUM_THREADS: "4", "OMP_STACKSIZE": "200M", **BINDING}


def test_what_somebody_says_stays(tmp_path):
    text = FOUR + 'environment: {OMP_NUM_THREADS: "2", KMP_AFFINITY: scatter, OMP_STACKSIZE: null}\n'
    assert environment(text, tmp_path) == {NUM_THREADS: "2", "KMP_AFFINITY": "scatter"}


def test_jobs_on_gpus_are_left_alone(tmp_path):
    assert environment(FOUR.replace("{", "{gpus_per_node: 1, "), tmp_path) == {}
    assert environment(FOUR.replace("{", "{gpus: 1, "), tmp_path) == {}
    assert environment(FOUR.replace("{", "{gres: 'gpu:1', "), tmp_path) == {}
    assert environment(FOUR.replace("{", "{comment: no gpu, "), tmp_path)[NUM_THREADS] == "4"
