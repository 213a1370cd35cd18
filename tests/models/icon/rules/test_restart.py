"""Rules about restart: both sides of each boundary."""

from __future__ import annotations

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules import restart
from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.__module__ == restart.__name__ and rule.code not in ("RST013", "RST034")]
"""Those two speak of costs."""
JOB = "job: {nodes: 1, ntasks_per_node: 16}\nparallel: {num_io_procs: 4, nproma: 16}\n"
JOINT, DEDICATED = '"joint procs multifile"', '"dedicated procs multifile"'


def codes(text, tmp_path):
    return [finding.code for finding in judge(experiment_of(f"{JOB}{text}\n", tmp_path), RULES)]


@rows(
    ("restart", "expected"),
    [
        ("restart_write_mode: sync, num_restart_procs: 0", []),
        ("restart_write_mode: sync, num_restart_procs: 1", ["RST001"]),
        ("restart_write_mode: SYNC, num_restart_procs: 1", ["RST001"]),
        ("restart_write_mode: async, num_restart_procs: 0", ["RST002"]),
        ("restart_write_mode: async, num_restart_procs: 1", []),
        (f"restart_write_mode: {DEDICATED}, num_restart_procs: 0", ["RST002"]),
        (f"restart_write_mode: {DEDICATED}, num_restart_procs: 1", []),
        (f"restart_write_mode: {JOINT}, num_restart_procs: 0", []),
        (f"restart_write_mode: {JOINT}, num_restart_procs: 12", []),  # as many as work ranks
        (f"restart_write_mode: {JOINT}, num_restart_procs: 13", ["RST004"]),
        ("restart_write_mode: async, num_restart_procs: 2", ["RST005"]),  # one domain
        ('restart_write_mode: "", num_restart_procs: 2', ["RST005"]),  # stands for async
    ],
)
def test_modes_and_ranks(restart, expected, tmp_path):
    assert codes(f"restart: {{{restart}}}", tmp_path) == expected


@rows(
    ("restart", "expected"),
    [
        (f"restart_write_mode: {JOINT}, nrestart_streams: 1", []),
        (f"restart_write_mode: {JOINT}, nrestart_streams: 2", ["RST009"]),
        (f"restart_write_mode: {DEDICATED}, num_restart_procs: 2, nrestart_streams: 2", []),
        (f"restart_write_mode: {DEDICATED}, num_restart_procs: 2, nrestart_streams: 10", []),  # as many as work ranks
        (f"restart_write_mode: {DEDICATED}, num_restart_procs: 2, nrestart_streams: 11", ["RST010"]),
        (f"restart_write_mode: {DEDICATED}, num_restart_procs: 2, nrestart_streams: 0", ["RST010"]),
        (f"restart_write_mode: {JOINT}, nrestart_streams: 0", []),
        (f"restart_write_mode: {JOINT}, nrestart_streams: -1", ["RST010"]),
        (f"restart_write_mode: {JOINT}, nrestart_streams: 16", ["RST009"]),  # as many as tasks
        (f"restart_write_mode: {JOINT}, nrestart_streams: 17", ["RST009", "RST010"]),
    ],
)
def test_streams(restart, expected, tmp_path):
    assert codes(f"restart: {{{restart}}}", tmp_path) == expected


@pytest.mark.parametrize(
    ("restart", "expected"),
    [
        ("restart_write_mode: sync, restart_file_type: 4", []),
        ("restart_write_mode: sync, restart_file_type: 5", []),
        ("restart_write_mode: sync, restart_file_type: 2", ["RST011"]),
        ("restart_write_mode: async, num_restart_procs: 1, restart_file_type: 6", ["RST011"]),
        (f"restart_write_mode: {JOINT}, restart_file_type: 6", []),
    ],
)
def test_file_types(restart, expected, tmp_path):
    assert codes(f"restart: {{{restart}}}", tmp_path) == expected


@rows(
    ("restart", "expected"),
    [
        ("checkpointTimeIntval: PT10M", []),  # the time step
        ("checkpointTimeIntval: PT15M", ["RST006"]),
        ("restartTimeIntval: P10D", []),
        ("restartTimeIntval: PT15M, checkpointTimeIntval: null", ["RST007"]),
        ("restartTimeIntval: PT25M, checkpointTimeIntval: PT30M", []),  # the job ends at 00:30, with a checkpoint
        ("restartTimeIntval: PT25M, checkpointTimeIntval: PT40M", ["RST007"]),
        ("restartTimeIntval: PT25M, checkpointTimeIntval: PT10M", []),
        ("checkpointTimeIntval: P10D, restartTimeIntval: null", []),  # the length of the run
        ("checkpointTimeIntval: P11D, restartTimeIntval: null", ["RST008"]),
        ("checkpointTimeIntval: P11D, restartTimeIntval: P10D", []),
        ("lrestart_write_last: false, restartTimeIntval: P10D", []),  # one job anyway
        ("lrestart_write_last: false, restartTimeIntval: P9D", ["RST012"]),
        ("lrestart_write_last: true, restartTimeIntval: P9D", []),
        ("lrestart_write_last: false, restartTimeIntval: null", []),
    ],
)
def test_intervals(restart, expected, tmp_path):
    assert codes(f"restart: {{{restart}}}", tmp_path) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (900.0, "is no multiple of the time step PT10M: checkpoints are written every PT30M only"),
        (2592000.0, "is longer than the run of P10D: no checkpoint is written"),
    ],
)
def test_an_older_interval_is_named_where_it_holds(seconds, expected, tmp_path):
    intervals = "restart: {checkpointTimeIntval: null, restartTimeIntval: null}"
    older = f"{intervals}\nnamelists: {{io_nml: {{dt_checkpoint: {seconds}}}}}"
    (found,) = judge(experiment_of(f"{JOB}{older}\n", tmp_path), RULES)
    assert found.message == f"dt_checkpoint {seconds} {expected}"


def test_an_older_interval_that_no_checkpoint_meets_is_named(tmp_path):
    """`restartTimeIntval` is empty: `dt_restart` ends the job, before a checkpoint."""
    intervals = "restart: {checkpointTimeIntval: PT40M, restartTimeIntval: null}"
    older = f"{intervals}\nnamelists: {{time_nml: {{dt_restart: 1500.0}}}}"
    found = [one for one in judge(experiment_of(f"{JOB}{older}\n", tmp_path), RULES) if one.code == "RST007"]
    assert [one.message for one in found] == [
        "dt_restart 1500.0 is no multiple of the time step PT10M: the next job finds no checkpoint"
    ]


def test_an_interval_of_the_master_namelist_stands_before_the_older_one(tmp_path):
    intervals = "restart: {checkpointTimeIntval: PT15M, restartTimeIntval: null}"
    both = f"{intervals}\nnamelists: {{io_nml: {{dt_checkpoint: 900.0}}}}"
    (found,) = judge(experiment_of(f"{JOB}{both}\n", tmp_path), RULES)
    assert found.message.startswith("checkpointTimeIntval PT15M is no multiple")
