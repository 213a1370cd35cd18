"""Which rank sits on which node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from nmlgen.experiment.component import Component
from nmlgen.experiment.setting import Origin, Setting, UndecidedError
from nmlgen.models.icon.nodes import node_count, nodes, ranks_by_node

Build = Callable[[str], Component]


@pytest.mark.parametrize(
    ("job", "launch", "expected"),
    [
        ("nodes: 2, ntasks_per_node: 3", "{}", [[0, 1, 2], [3, 4, 5]]),
        ("nodes: 2, ntasks_per_node: 4, ntasks: 5", "{}", [[0, 1, 2], [3, 4]]),
        ("nodes: null, ntasks_per_node: 4, ntasks: 5", "{}", [[0, 1, 2], [3, 4]]),
        ("nodes: 3, ntasks_per_node: 2, ntasks: 5", "{}", [[0, 1], [2, 3], [4]]),
        ("nodes: 2, ntasks_per_node: 3", "{options: [--distribution=block:cyclic]}", [[0, 1, 2], [3, 4, 5]]),
        ("nodes: 2, ntasks_per_node: 3", "{options: [--distribution=cyclic]}", [[0, 2, 4], [1, 3, 5]]),
        ("nodes: 2, ntasks_per_node: 3", "{options: ['-m', 'cyclic:block']}", [[0, 2, 4], [1, 3, 5]]),
        ("nodes: 2, ntasks_per_node: 4", "{options: [-mplane=2]}", [[0, 1, 4, 5], [2, 3, 6, 7]]),
        ("nodes: 2, ntasks_per_node: null, ntasks: 2", "{}", [[0], [1]]),
        ("nodes: 2, ntasks_per_node: 4, ntasks: 5", "{command: mpirun}", [[0, 1, 2, 3], [4]]),
        ("nodes: 2, ntasks_per_node: 4, ntasks: 5", "{command: mpirun, options: [-ppn, '1']}", [[0, 2, 4], [1, 3]]),
    ],
)
def test_ranks_by_node(build: Build, job: str, launch: str, expected: list[list[int]]) -> None:
    experiment = build(f"job: {{{job}}}\nlaunch: {launch}\n").experiment
    assert [list(ranks) for ranks in ranks_by_node(experiment)] == expected


@pytest.mark.parametrize(("options", "expected"), [("[]", [0, 2]), ("[-m block]", [0, 1])])
def test_sbatch_hands_its_distribution_on(build: Build, options: str, expected: list[int]) -> None:
    experiment = build(f"job: {{nodes: 2, ntasks_per_node: 2}}\nlaunch: {{options: {options}}}\n").experiment
    directives = {**experiment.directives, "distribution": Setting("distribution", (Origin("script", "cyclic"),))}
    assert list(ranks_by_node(evolve(experiment, directives=directives))[0]) == expected


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("nodes: null, ntasks_per_node: 4, ntasks: 8", 2),
        ("nodes: null, ntasks_per_node: 4, ntasks: 9", 3),
        ("nodes: null, ntasks_per_node: null, ntasks: 128, partition: compute, cpus_per_task: 1", 1),
        ("nodes: null, ntasks_per_node: null, ntasks: 129, partition: compute, cpus_per_task: 1", 2),
        ("nodes: null, ntasks_per_node: null, ntasks: 128, partition: compute, cpus_per_task: 2", 2),
    ],
)
def test_node_count(build: Build, job: str, expected: int) -> None:
    assert node_count(build(f"job: {{{job}}}\n").experiment) == expected


@pytest.mark.parametrize(
    "fragment",
    [
        "launch: {options: [--distribution=arbitrary]}\n",
        "launch: {options: [-mplane=0]}\n",
        "parallel: {num_io_procs: 256}\n",
        "job: {nodes: 200001, ntasks_per_node: 1}\n",
    ],
)
def test_what_is_not_known(build: Build, fragment: str) -> None:
    with pytest.raises(UndecidedError):
        nodes(build(fragment).experiment)


def test_the_last_node_has_the_io_ranks(build: Build) -> None:
    experiment = build("job: {nodes: 2, ntasks_per_node: 8}\nparallel: {num_io_procs: 3}\n").experiment
    first, last = nodes(experiment)
    assert first.crew == {(0, "work"): 8}
    assert last.crew == {(0, "work"): 5, (0, "io"): 3}


def crews(build: Build, master: dict[str, Any]) -> list[dict[tuple[int, str], int]]:
    given = {key: value for key, value in master.items() if value is not None}
    experiment = build(f"job: {{nodes: 2, ntasks_per_node: 4}}\nnamelists: {{master_model_nml: {given}}}\n").experiment
    return [dict(node.crew) for node in nodes(experiment)]


def test_a_single_model_has_all_ranks(build: Build) -> None:
    assert crews(build, {"model_min_rank": 2, "model_max_rank": 3}) == crews(build, {})


@pytest.mark.parametrize(
    ("job", "count"),
    [
        ("partition: gpu, ntasks: 128", 1),
        ("partition: gpu, ntasks: 129", 2),
        ("partition: shared, ntasks: 64", 1),  # of which nobody says more than of the machine
        ("partition: shared, ntasks: 65", 2),
        ("partition: gpu, ntasks: 64, cpus_per_task: 2", 1),
        ("partition: gpu, ntasks: 65, cpus_per_task: 2", 2),
        ("partition: null, ntasks: 65", 2),
    ],
)
def test_nodes_follow_from_the_cores_of_the_partition(build: Build, job: str, count: int) -> None:
    experiment = build(f"job: {{nodes: null, ntasks_per_node: null, {job}}}\n").experiment
    narrow = evolve(experiment, machine=evolve(experiment.machine, cores_per_node=64))
    assert node_count(narrow) == count
