"""Rules about GPUs: both sides of what they look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from placements import ATM, OCE, one_program, spec
from rules.experiments import experiment_of, judge

from nmlgen import load_spec
from nmlgen.checking import check_experiment
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("GPU")]
SELECTS = "--gpu-bind=single:1"


def codes(text: str, tmp_path: Path) -> list[str]:
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


def parts(has: str, more: str) -> str:
    return f"model: {{parts: {{gpu: {has}}}}}\nparallel: {{nproma: 0, nblocks_c: 1}}\n{more}\n"


@pytest.mark.parametrize(
    ("has", "namelists", "expected"),
    [
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 2}", ["GPU001"]),
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 1}", []),
        ("false", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 2}", []),
        ("null", "nwp_phy_nml: {inwp_surface: 0, inwp_sso: 2}", []),
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 4}", ["GPU001"]),  # the default solver
        ("true", "nwp_phy_nml: {inwp_surface: 0, inwp_radiation: 4}, radiation_nml: {ecrad_isolver: 2}", []),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, coupling_mode_nml: {coupled_to_ocean: true}", ["GPU001"]),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {ihadv_tracer: [2, 42]}", ["GPU001"]),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {ihadv_tracer: [2, 22]}", []),
        ("true", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {llsq_svd: false}", ["GPU002"]),
        ("false", "nwp_phy_nml: {inwp_surface: 0}, transport_nml: {llsq_svd: false}", []),
    ],
)
def test_what_builds_for_gpus_make_of_settings(has: str, namelists: str, expected: list[str], tmp_path: Path) -> None:
    more = f"namelists: {{run_nml: {{iforcing: 3, ltransport: true}}, {namelists}}}"
    assert codes(parts(has, more), tmp_path) == expected


@pytest.mark.parametrize(("nproma", "expected"), [(999, ["GPU003"]), (1000, []), (8, ["GPU003"])])
def test_block_lengths(nproma: int, expected: list[str], tmp_path: Path) -> None:
    assert codes(f"model: {{parts: {{gpu: true}}}}\nparallel: {{nproma: {nproma}}}\n", tmp_path) == expected
    assert codes(f"parallel: {{nproma: {nproma}}}\n", tmp_path) == []


@pytest.mark.parametrize(
    ("job", "options", "io", "expected"),
    [
        ("nodes: 4, ntasks_per_node: 5, gpus_per_node: 4", [SELECTS], 4, ["GPU004"]),
        ("nodes: 4, ntasks_per_node: 5, gres: 'gpu:a100:4'", [SELECTS], 4, ["GPU004"]),
        ("nodes: 4, ntasks_per_node: 5, gpus_per_node: 4", [SELECTS, "--distribution=plane=4"], 4, []),
        ("nodes: 4, ntasks_per_node: 5, gpus_per_node: 5", [SELECTS], 4, ["GPU005"]),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", [SELECTS], 4, ["GPU005"]),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", [SELECTS], 0, []),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", [], 0, ["GPU006"]),
        ("nodes: 4, ntasks_per_node: 4, gpus_per_node: 4", ["--gpus-per-task=1"], 0, []),
        ("nodes: 4, ntasks_per_node: 1, gpus_per_node: 4", [], 0, []),
        ("nodes: 4, ntasks_per_node: 5", [], 4, []),  # nobody asks for GPUs
    ],
)
def test_ranks_and_gpus(job: str, options: list[str], io: int, expected: list[str], tmp_path: Path) -> None:
    text = f"job: {{{job}}}\nlaunch: {{options: {options}}}\nparallel: {{num_io_procs: {io}}}\n"
    assert codes(text, tmp_path) == expected


def test_ranks_share_by_intention(tmp_path: Path) -> None:
    text = f"job: {{nodes: 4, ntasks_per_node: 5, gpus_per_node: 4}}\nlaunch: {{options: ['{SELECTS}']}}\n"
    assert codes(text, tmp_path) == ["GPU004"]
    assert codes(text + "environment: {CRAY_CUDA_MPS: '1'}\n", tmp_path) == []


def test_a_wrapper_may_choose(tmp_path: Path) -> None:
    text = "job: {nodes: 4, ntasks_per_node: 4, gpus_per_node: 4}\nparallel: {num_io_procs: 0}\n"
    assert codes(text + "model: {executable: run_wrapper.sh}\n", tmp_path) == []


def judged(document: dict[str, Any]) -> list[str]:
    report = check_experiment(load_spec(document).experiment, ())
    return [finding.code for finding in report.findings if finding.code.startswith("GPU")]


def test_programs_that_are_placed(tmp_path: Path) -> None:
    """A program on GPUs is a build for them; the one beside it is not. Where each rank sits needs no rule."""
    nwp = {"run_nml": {"iforcing": 3, "ltransport": True}, "nwp_phy_nml": {"inwp_surface": 0, "inwp_sso": 2}}
    blocks = {"nproma": 0, "nblocks_c": 1}
    on_gpus = spec(tmp_path, {"device": "gpu"}, **one_program(**blocks), namelists=nwp)
    assert judged(on_gpus) == ["GPU001"]
    on_cpus = spec(tmp_path, {"device": "cpu", "tasks_per_node": 4}, **one_program(**blocks), namelists=nwp)
    assert judged(on_cpus) == []
    atm = {**ATM, "parallel": {**ATM["parallel"], **blocks}}
    assert judged(spec(tmp_path, models={"atm": atm, "oce": {**OCE, "parallel": {"nproma": 16}}})) == []


@pytest.mark.parametrize(
    ("io", "shown", "expected"),
    [
        (1, ["0", "1", "2", ""], []),
        (1, ["0", "0", "2", ""], ["the work ranks 0 and 1 both get GPU 0 of node 0"]),
        (1, ["", "1", "2", ""], ["rank 0 computes, and the wrapper gives it no GPU on node 0 of the job"]),
        (1, [None, "1", "2", ""], ["rank 0 computes, and the wrapper gives it no GPU of its own on node 0 of the job"]),
        (1, ["0", "1", "2", "3"], []),  # all that do not compute
        (2, ["0", "1", "2", "3"], []),
        (2, ["0", "1", "2", ""], ["rank 2 (io) does not compute, and the wrapper gives it GPU 2"]),
        (2, ["0", "1", "", ""], []),
    ],
)
def test_what_a_wrapper_gives_each_rank(io: int, shown: list[str | None], expected: list[str], tmp_path: Path) -> None:
    text = "job: {nodes: 1, ntasks_per_node: 4}\nrestart: {restart_write_mode: joint procs multifile}\n"
    experiment = experiment_of(f"{text}parallel: {{num_io_procs: {io}}}\n", tmp_path)
    followed = evolve(experiment, shown=dict(enumerate(shown)))
    assert [finding.message for finding in judge(followed, RULES)] == expected
