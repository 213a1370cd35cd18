"""Rules about restart: both sides of each boundary."""

from __future__ import annotations

import pytest
from rules.experiments import experiment_of, judge

from nmlgen.rules import all_rules, restart

RULES = [rule for rule in all_rules() if rule.__module__ == restart.__name__ and rule.code not in ("RST013", "RST034")]
"""Those two speak of costs."""
JOB = "job: {nodes: 1, ntasks_per_node: 16}\nparallel: {num_io_procs: 4, nproma: 16}\n"
JOINT, DEDICATED = '"joint procs multifile"', '"dedicated procs multifile"'


def codes(text, tmp_path):
    return [finding.code for finding in judge(experiment_of(f"{JOB}{text}\n", tmp_path), RULES)]


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
