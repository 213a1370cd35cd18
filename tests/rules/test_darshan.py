"""Darshan's rules beyond their examples."""

from __future__ import annotations

import pytest
from rules.test_examples import BASE, check

from nmlgen.checking import check_experiment
from nmlgen.spec.spec import load_spec

MANY_FILES = """
parallel: {num_io_procs: RANKS}
output: {atm: {output_interval: PT10M, file_interval: PT10M, stream_partitions_ml: PARTS}}
"""


def codes(text, tmp_path):
    return [finding.code for finding in check(text, tmp_path).findings if finding.code.startswith("DSH")]


def many_files(io, partitions):
    return MANY_FILES.replace("RANKS", str(io)).replace("PARTS", str(partitions))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (many_files(0, 1) + "darshan: true", True),  # work rank 0 writes them all
        (many_files(1, 1) + "darshan: true", True),
        (many_files(2, 2) + "darshan: true", False),
        (many_files(1, 2) + "darshan: true", True),
        (many_files(1, 1) + "darshan: {MAX_RECORDS: 1441}", False),
        (many_files(1, 1) + "darshan: {MAX_RECORDS: 1440}", True),
        (many_files(1, 1) + "darshan: true\nrestart: {restartTimeIntval: P5D}", False),  # a log for each job
        (many_files(1, 1) + "darshan: false", False),
        (many_files(1, 2_000_000_000) + "darshan: true", False),
    ],
)
def test_records(text, found, tmp_path):
    assert ("DSH006" in codes(text + "\n", tmp_path)) is found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("environment: {DARSHAN_LOGFILE: /x}", []),  # without darshan the author looks after it
        ("environment: {DARSHAN_JOBID: '4711'}", ["DSH003"]),
        ("environment: {DXT_ENABLE_IO_TRACE: '1'}", ["DSH007"]),
        ("darshan: {library: /sw/lib/libdarshan.so.0.0.1}", []),
        ("darshan: {library: libdarshan}", ["DSH005"]),
    ],
)
def test_variables(text, expected, tmp_path):
    assert codes(text + "\n", tmp_path) == expected


def test_no_library_at_all(tmp_path):
    site = tmp_path / "site.yaml"
    site.write_text(
        "description: a site\nmachine: {scheduler: slurm, file_system: lustre}\ndefaults: {}\n", encoding="utf-8"
    )
    spec = tmp_path / "spec.yaml"
    spec.write_text("darshan: true\n", encoding="utf-8")
    experiment = load_spec(spec, [f"extends={BASE}", f"site={site}"]).experiment
    findings = check_experiment(experiment).findings
    assert [(finding.code, finding.line, finding.column) for finding in findings] == [("DSH005", 1, 10)]
