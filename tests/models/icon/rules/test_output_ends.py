"""The hang of the I/O ranks at the end of a job, and streams that stop, as the real model showed them.

Steps of 10 minutes, an experiment of an hour in jobs of 30 minutes, records every 10 minutes unless said.
"""

from __future__ import annotations

import pytest
from rows import rows
from rules.experiments import experiment_of, judge

from nmlgen.rules import all_rules

RULES = [rule for rule in all_rules() if rule.code in ("OUT040", "OUT043")]
F = "include_last: false"
P2 = "stream_partitions_ml: 2"
DEFAULT = ""
END = "output_end: 2000-01-01T00:{}Z"
TWO_WINDOWS = (
    "output_start: [2000-01-01T00:00:00Z, {}], output_end: [{}, {}], output_interval: [PT10M, PT10M], " + DEFAULT
)


def codes(streams, ranks, tmp_path, stop="01:00:00", leg="PT30M", more="") -> list[str]:
    text = f"time: {{start: 2000-01-01T00:00:00Z, stop: 2000-01-01T{stop}Z, modelTimeStep: PT10M}}\n"
    text += f"restart: {{restartTimeIntval: {leg}, checkpointTimeIntval: {leg}}}\n"
    text += f"parallel: {{num_io_procs: {ranks}}}\noutput:\n  atm: null\n"
    for number, settings in enumerate(streams):
        said = "" if "output_interval" in settings else "output_interval: PT10M, "
        text += f"  s{number}: {{ml_varlist: [temp], file_interval: P1D, {said}{settings}}}\n"
    return [finding.code for finding in judge(experiment_of(text + more, tmp_path), RULES)]


HANG = ["OUT040"]


def test_the_job_is_said_where_there_are_two(tmp_path):
    text = "time: {start: 2000-01-01T00:00:00Z, stop: 2000-01-01T01:00:00Z, modelTimeStep: PT10M}\n"
    text += "restart: {restartTimeIntval: PT30M, checkpointTimeIntval: PT30M}\nparallel: {num_io_procs: 2}\n"
    text += f"output: {{atm: null, s0: {{ml_varlist: [temp], file_interval: P1D, output_interval: PT10M, {F}}}, "
    text += "s1: {ml_varlist: [temp], file_interval: P1D, output_interval: PT10M}}\n"
    (finding,) = judge(experiment_of(text, tmp_path), RULES)
    assert finding.message.startswith("I/O rank 0 waits for ever at the end of job 1: ")


@rows(
    ("streams", "ranks", "expected"),
    [
        ([P2, DEFAULT], 3, HANG),
        ([P2, DEFAULT], 2, []),
        ([P2, P2], 2, []),
        ([P2], 2, []),
        ([DEFAULT, DEFAULT], 2, []),
        ([F, DEFAULT], 2, HANG),
        ([DEFAULT, F], 2, []),
        ([F, F], 2, []),
        ([END.format("30:00"), DEFAULT], 2, HANG),
        ([END.format("00:00"), DEFAULT], 2, HANG),
        ([F, END.format("50:00")], 2, []),
        ([F, END.format("59:59")], 2, []),
        ([F, "output_end: 2000-01-01T02:00:00Z"], 2, HANG),
        ([F, DEFAULT], 1, []),
        ([F, DEFAULT], 0, []),
        ([P2, F], 3, []),
        ([f"{F}, pe_placement_ml: 1", "pe_placement_ml: 0"], 2, []),
        ([f"{F}, pe_placement_ml: 1", "pe_placement_ml: 2"], 3, []),
        ([F, "output_interval: PT1H"], 2, HANG),
        ([F, DEFAULT, DEFAULT], 2, []),
        ([F, DEFAULT, F], 2, HANG),
        ([F, F, DEFAULT], 3, HANG),
        ([F, TWO_WINDOWS.format("2000-01-01T00:20:00Z", "2000-01-01T01:00:00Z", "2000-01-01T00:30:00Z")], 2, []),
        ([F, TWO_WINDOWS.format("2000-01-01T00:20:00Z", "2000-01-01T00:10:00Z", "2000-01-01T01:00:00Z")], 2, HANG),
    ],
)
def test_the_first_io_rank_waits(streams, ranks, expected, tmp_path):
    assert codes(streams, ranks, tmp_path) == expected


def test_a_job_that_ends_with_the_experiment_ends(tmp_path):
    assert codes([P2, DEFAULT], 3, tmp_path, leg="PT1H") == []


def test_a_stop_within_a_step(tmp_path):
    """No chain is needed: the end falls into the step of the last record."""
    assert codes([F, DEFAULT], 2, tmp_path, stop="00:35:00", leg="P1D") == HANG
    assert codes([DEFAULT, F], 2, tmp_path, stop="00:35:00", leg="P1D") == []


def test_a_later_job_of_the_chain(tmp_path):
    """In the first job of 20 minutes the first rank writes nothing, or the second has no output time."""
    late = "output_start: 2000-01-01T00:30:00Z"
    assert codes([f"{F}, {late}", DEFAULT], 2, tmp_path, leg="PT20M") == HANG
    assert codes([F, late], 2, tmp_path, leg="PT20M") == HANG
    assert codes([f"{F}, {late}, {END.format('40:00')}", END.format("10:00")], 2, tmp_path, leg="PT20M") == []


@pytest.mark.parametrize(
    ("second", "expected"),
    [("00:15:00", ["OUT043"]), ("00:20:00", []), ("00:05:00", ["OUT043"]), ("00:09:59", ["OUT043"])],
)
def test_two_output_times_in_a_step(second, expected, tmp_path):
    begin, end = "2000-01-01T00:00:00Z", "2000-01-01T01:00:00Z"
    settings = f"output_start: [{begin}, 2000-01-01T{second}Z], output_end: [{end}, {end}], {F}"
    stream = f"{settings}, output_interval: [PT10M, PT30M]"
    assert codes([stream], 1, tmp_path, leg="P1D") == expected


def test_streams_that_nobody_waits_for_are_not_gone_through_job_by_job(tmp_path, monkeypatch):
    from nmlgen.models.icon.rules import output_ends

    looked_at = []
    in_job = output_ends._in_job
    monkeypatch.setattr(output_ends, "_in_job", lambda *args: looked_at.append(args) or in_job(*args))
    assert codes([F, F], 2, tmp_path, stop="23:50:00", leg="PT10M") == []
    assert not looked_at
    assert codes([F, DEFAULT], 2, tmp_path, stop="23:50:00", leg="PT20M") == HANG
    assert len(looked_at) == 2


def test_output_times_of_windows_are_not_gone_through_one_by_one(tmp_path, monkeypatch):
    from nmlgen.models.icon.rules import output_ends

    looked_at = []
    step = output_ends._step
    monkeypatch.setattr(output_ends, "_step", lambda *args: looked_at.append(args) or step(*args))
    halves = TWO_WINDOWS.format("2000-01-01T10:05:00Z", "2000-01-01T10:00:00Z", "2000-01-01T23:00:00Z")
    assert codes([f"{F}, {halves}"], 2, tmp_path, stop="23:50:00", leg="P1D") == ["OUT043"]
    assert len(looked_at) < 20
