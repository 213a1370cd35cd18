"""The rules on node-local runs beyond their examples."""

from __future__ import annotations

import pytest
from rules.test_examples import check

LARGE = 'grid: {name: R2B10}\njob: {signal: "B:USR1@600"}\n'


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("LOC")]


def test_default_signal_is_too_late(tmp_path):
    report = check("node_local: {file_system: beeond}\n", tmp_path)
    assert [(finding.code, finding.line, finding.column) for finding in report.findings] == [("LOC004", 1, 27)]


def test_whole_nodes_by_partition(tmp_path):
    job = 'job: {exclusive: false, signal: "B:USR1@600"}\n'
    assert codes(f"node_local: {{file_system: beeond}}\n{job}", tmp_path) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("output: {atm: {file_interval: P10D}}", True),
        ("output: {atm: {file_interval: P1D}}", False),
        ("output: {atm: {file_interval: P10D, filetype: 2}}", False),  # packed: nobody knows how large
        ("output: {atm: {file_interval: P10D, ml_varlist: [tot_prec, clct]}}", False),
    ],
)
def test_file_size(text, found, tmp_path):
    node_local = "node_local: {file_system: beeond, directory: stripe_1}\n"
    assert ("LOC003" in codes(f"{LARGE}{node_local}{text}\n", tmp_path)) is found


def test_striping_of_an_unknown_width(tmp_path):
    text = "node_local: {file_system: beeond, directory: stripe_default}\noutput: {atm: {file_interval: P10D}}\n"
    assert codes(LARGE + text, tmp_path) == []
