"""What the launcher is told, against what the job has: both sides of each limit."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.experiment.setting import unknown
from nmlgen.rules.launching import LaunchBeyondAllocation


def severities(job: str, launch: str, tmp_path: Path, more: str = "") -> list[str]:
    text = f"job: {{nodes: 2, ntasks_per_node: 128{job}}}\nlaunch: {{{launch}}}\n{more}\n"
    return [finding.severity.name for finding in judge(experiment_of(text, tmp_path), [LaunchBeyondAllocation])]


@rows(
    ("options", "expected"),
    [
        ("", []),
        ("-n, '512'", []),
        ("-n, '513'", ["ERROR"]),
        ("-n512", []),
        ("--ntasks=513", ["ERROR"]),
        ("-n513, -n1", []),  # the last one counts
        ("-n1, -n513", ["ERROR"]),
        ("-n256, -c2", []),
        ("-n257, -c2", ["ERROR"]),
        ("-n257, -c, '2'", ["ERROR"]),
        ("-n257, --cpus-per-task=2, -c1", []),
        ("-N, '2'", []),
        ("-N, '3'", ["ERROR"]),
        ("--nodes=3", ["ERROR"]),
        ("--nodes=2-3", []),
        ("--nodes=3-4", ["ERROR"]),
        ("-N3, -n513", ["ERROR", "ERROR"]),
        ("-n513, -O", []),
        ("-n513, --overlap", []),
        ("-n513, --overcommits", ["ERROR"]),  # another word
    ],
)
def test_srun_has_the_hardware_threads(options: str, expected: list[str], tmp_path: Path) -> None:
    assert severities("", f"options: [{options}]", tmp_path) == expected


@pytest.mark.parametrize(
    ("job", "options", "expected"),
    [
        ("", "-np, '256'", []),
        ("", "-np, '257'", ["ERROR"]),
        ("", "-np, '257', --oversubscribe", []),
        ("", "-np, '257', --map-by, 'core:OVERSUBSCRIBE'", []),
        ("", "-np, '257', --map-by=core", ["ERROR"]),
        ("", "-N3", []),  # not srun's
        (", ntasks: 100", "-n100", []),
        (", ntasks: 100", "-n101", ["ERROR"]),
        (", ntasks: 100", "-n100, -c9", []),
    ],
)
def test_open_mpi_has_slots(job: str, options: str, expected: list[str], tmp_path: Path) -> None:
    assert severities(job, f"command: mpirun, options: [{options}]", tmp_path) == expected


@pytest.mark.parametrize(
    ("job", "options", "expected"),
    [
        ("", "-n256", []),
        ("", "-n257", ["WARNING"]),
        (", cpus_per_task: 2", "-n512", []),
        (", cpus_per_task: 2", "-n513", ["WARNING"]),
    ],
)
def test_others_are_asked_for_what_the_directives_say(
    job: str, options: str, expected: list[str], tmp_path: Path
) -> None:
    intel = "mpi: {implementation: intel}"
    assert severities(job, f"command: mpirun, options: [{options}]", tmp_path, intel) == expected


def test_tasks_that_nobody_knows_may_fit(tmp_path: Path) -> None:
    experiment = experiment_of("job: {nodes: 2, ntasks_per_node: 128}\n", tmp_path)
    started = evolve(experiment, launch=evolve(experiment.launch, tasks=unknown("ntasks")))
    assert judge(started, [LaunchBeyondAllocation]) == []


@pytest.mark.parametrize(("options", "expected"), [("-np, '512'", []), ("-np, '513'", ["WARNING"])])
def test_mpirun_where_nobody_says_the_tasks(options: str, expected: list[str], tmp_path: Path) -> None:
    text = f"job: {{nodes: 2, ntasks_per_node: null}}\nlaunch: {{command: mpirun, options: [{options}]}}\n"
    found = judge(experiment_of(text, tmp_path), [LaunchBeyondAllocation])
    assert [finding.severity.name for finding in found] == expected


@pytest.mark.parametrize(
    ("job", "options", "expected"),
    [
        ("partition: shared", "-n257", ["WARNING"]),  # of whose nodes nothing is known
        ("partition: shared", "-n256", []),
        ("partition: null", "-n513", ["ERROR"]),
        ("partition: null, nodes: null", "-n513", []),
    ],
)
def test_nodes_of_which_nothing_is_known(job: str, options: str, expected: list[str], tmp_path: Path) -> None:
    text = f"job: {{{job}}}\nlaunch: {{options: [{options}]}}\n"
    found = judge(experiment_of(text, tmp_path), [LaunchBeyondAllocation])
    assert [finding.severity.name for finding in found] == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-n513", "srun is told to start 513 tasks, the job has "),
        ("-n513, -c1", "srun is told to start 513 tasks, the job has "),
        ("-n257, -c2", "srun is told to start 257 tasks with 2 CPUs each, the job has "),
    ],
)
def test_wide_tasks_are_told_to_be_wide(options: str, message: str, tmp_path: Path) -> None:
    text = f"job: {{nodes: 2, ntasks_per_node: 128}}\nlaunch: {{options: [{options}]}}\n"
    (finding,) = judge(experiment_of(text, tmp_path), [LaunchBeyondAllocation])
    assert finding.message.startswith(message)
