"""run_nml: what ICON refuses, in the combinations that decide it."""

from __future__ import annotations

import pytest
from rules.experiments import experiment_of, judge

from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code.startswith("RUN")]
RESTART = [rule for rule in all_rules() if rule.code in ("RST001", "RST002", "RST003")]


def ours(text, tmp_path):
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


@pytest.mark.parametrize(
    ("run", "others", "expected"),
    [
        ("num_lev: 0", "", ["RUN001"]),
        ("num_lev: [30, 0]", "", []),  # the second domain takes the number of the first
        ("num_lev: 0", "master_model_nml: {model_type: 2}", []),
        ("ntracer: 1600", "", []),
        ("ntracer: 1601", "", ["RUN002"]),
        ("iforcing: 0", "", []),
        ("iforcing: 1", "", []),
        ("iforcing: 4", "", []),
        ("iforcing: 2", "", ["RUN003"]),
        ("iforcing: 5", "", ["RUN003"]),
        ("iforcing: 2, ntracer: 1", "", []),
        ("iforcing: 2", "dynamics_nml: {lmoist_thdyn: false}", []),
        ("iforcing: 3", "", ["RUN004"]),
        ("iforcing: 3", "nwp_phy_nml: {inwp_gscp: 2}", []),
        ("iforcing: 3", "master_nml: {lrestart: true}", []),
        ("luse_radarfwo: [false, true]", "", ["RUN005"]),
        ("luse_radarfwo: [false, false]", "", []),
        ("restart_filename: 'a/b/<rsttime>'", "", ["RUN006"]),
        ("restart_filename: './<rsttime>'", "", []),
        ("restart_filename: '/a/<rsttime>'", "", []),
        ("restart_filename: '../a/<rsttime>'", "", []),
        ("restart_filename: ''", "", []),
    ],
)
def test_run(run, others, expected, tmp_path):
    assert ours(f"namelists:\n  run_nml: {{{run}}}\n" + (f"  {others}\n" if others else ""), tmp_path) == expected


def test_limit_of_tracers_in_an_older_release(tmp_path):
    text = 'model: {release: "2024.01"}\nnamelists: {run_nml: {ntracer: 901}}\n'
    assert ours(text, tmp_path) == ["RUN002"]


def test_no_directory_is_needed_without_checkpoints(tmp_path):
    restart = "restart: {restartTimeIntval: P20D, checkpointTimeIntval: P12D}\n"
    assert ours(f"{restart}namelists: {{run_nml: {{restart_filename: a/b}}}}\n", tmp_path) == []


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("sync", []), ("sync ", []), ("SYNC", []), (" sync", ["RST003"]), (" async", ["RST003"]), (" ", [])],
)
def test_blanks_of_a_restart_mode(mode, expected, tmp_path):
    experiment = experiment_of(f'restart: {{restart_write_mode: "{mode}"}}\n', tmp_path)
    assert [finding.code for finding in judge(experiment, RESTART)] == expected
