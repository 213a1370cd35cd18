"""Output along a chain of jobs: what is lost, what lands elsewhere, and neither."""

from __future__ import annotations

from pathlib import Path

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.models.icon.rules import output_chain
from nmlgen.models.icon.rules.output_chain import RecordsInOtherFiles, RecordsLostInChain

RULES = [RecordsLostInChain, RecordsInOtherFiles]
TIMES = "time: {stop: 2008-09-03T00:00:00Z}\nrestart: {restartTimeIntval: %s, checkpointTimeIntval: %s}\n"


def codes(stream: str, tmp_path: Path, leg: str = "P1D", more: str = "") -> list[str]:
    text = f"{TIMES % (leg, leg)}parallel: {{num_io_procs: 3}}\noutput: {{atm: {{{stream}}}{more}}}\n"
    return [finding.code for finding in judge(experiment_of(text, tmp_path), RULES)]


@rows(
    ("hours", "partitions", "files", "expected"),
    [
        (6, 2, "steps_per_file: 1, file_interval: null", ["OUT038"]),
        (6, 2, "file_interval: PT6H", ["OUT038"]),
        (6, 1, "file_interval: PT6H", []),
        (6, 1, "steps_per_file: 3, file_interval: null", []),
        (6, 2, "file_interval: PT18H", ["OUT039"]),
        (6, 3, "file_interval: P1D", ["OUT039"]),
        (6, 1, "file_interval: P2D", ["OUT039"]),
        (6, 2, "file_interval: PT6H, filename_format: '<output_filename>_<datetime2>'", []),
        (5, 2, "file_interval: PT5H", ["OUT038"]),
        (5, 1, "file_interval: PT10H", ["OUT039"]),
    ],
)
def test_partitions_and_lengths_of_files(
    hours: int, partitions: int, files: str, expected: list[str], tmp_path: Path
) -> None:
    stream = f"output_interval: PT{hours}H, stream_partitions_ml: {partitions}, {files}"
    assert codes(stream, tmp_path) == expected
    assert codes(stream, tmp_path, "P2D") == []  # one job


def test_each_stream_is_told_once(tmp_path: Path) -> None:
    lost = "output_interval: PT6H, stream_partitions_ml: 2, file_interval: PT6H"
    moved = "output_interval: PT6H, stream_partitions_ml: 3, file_interval: P1D, ml_varlist: [u]"
    more = f", two: {{{moved}}}, three: {{{lost}, ml_varlist: [v]}}"
    assert codes(lost, tmp_path, more=more) == ["OUT038", "OUT038", "OUT039"]


def test_what_is_lost_is_counted(tmp_path: Path) -> None:
    """Each of three jobs goes on with the number of the last file of the second partition, and opens it anew."""
    times = (TIMES % ("P1D", "P1D")).replace("09-03", "09-05")
    text = f"{times}output: {{atm: {{output_interval: PT6H, stream_partitions_ml: 2, file_interval: PT6H}}}}\n"
    found = judge(experiment_of(text, tmp_path), RULES)
    assert [finding.message.partition(": ")[2] for finding in found] == [
        "3 records of this sequence are lost in the end"
    ]
    assert found[0].message.startswith("job 2 of the chain writes over output/example_atm_DOM01_ML_0004.nc")


@pytest.mark.parametrize(
    ("most", "legs", "is_known"),
    [(18, 4, True), (17, 2, True), (10, 2, True), (9, 2, False)],
)
def test_the_beginning_of_a_long_chain(
    most: int, legs: int, is_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the four jobs so many are looked at as have no more records: 17 in four of them, nine in two."""
    monkeypatch.setattr(output_chain, "_MOST_RECORDS", most - 1)
    monkeypatch.setattr(output_chain, "_OF_A_JOB", 0)
    stream = "output_interval: PT3H, stream_partitions_ml: 2, file_interval: PT3H"
    assert codes(stream, tmp_path, "PT12H") == (["OUT038"] if is_known else [])
