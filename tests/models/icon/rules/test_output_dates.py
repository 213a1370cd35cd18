"""Dates of output: blanks beside partitions, and forecast mode."""

from __future__ import annotations

from pathlib import Path

import pytest
from rules.experiments import experiment_of, judge, with_setting, written

from nmlgen.models.icon.rules.output_dates import BlankInStart, CalendarOfForecast


@pytest.mark.parametrize(
    ("start", "partitions", "count"),
    [
        ("2008-09-01 00:00:00", 2, 1),
        ("2008-09-01 00:00:00", 1, 0),
        ("2008-09-01T00:00:00Z", 2, 0),
        (" 2008-09-01T00:00:00Z ", 2, 0),
        ("> 2008-09-01T00:00:00Z", 2, 0),
        (["2008-09-01T00:00:00Z", "2008-09-02 00:00:00"], 2, 1),
        (["2008-09-01 00:00:00", "2008-09-02 00:00:00"], 2, 1),
    ],
)
def test_a_blank_in_a_date_beside_partitions(start, partitions, count, tmp_path: Path):
    text = f"parallel: {{num_io_procs: 4}}\noutput: {{atm: {{stream_partitions_ml: {partitions}}}}}\n"
    experiment = with_setting(
        experiment_of(text, tmp_path), "output_nml", "output_start", written("output_nml", "output_start", start)
    )
    assert len(judge(experiment, [BlankInStart])) == count


def test_bounds_have_no_dates(tmp_path: Path):
    experiment = experiment_of("output: {atm: {stream_partitions_ml: 2}}\n", tmp_path)
    for name, value in (("output_start", "2008-09-01 00:00:00"), ("output_bounds", [0.0, 10.0, 1.0])):
        experiment = with_setting(experiment, "output_nml", name, written("output_nml", name, value))
    assert judge(experiment, [BlankInStart]) == []


@pytest.mark.parametrize(
    ("mode", "calendar", "count"),
    [(1, "365 day year", 1), (2, "365 day year", 0), (1, "360 day year", 0), (1, "proleptic gregorian", 0)],
)
def test_forecast_mode_in_other_calendars(mode, calendar, count, tmp_path: Path):
    text = f"time: {{calendar: {calendar}}}\noutput: {{atm: {{mode: {mode}}}}}\n"
    assert len(judge(experiment_of(text, tmp_path), [CalendarOfForecast])) == count
    without = text.replace("mode:", "ml_varlist: null, mode:")
    assert judge(experiment_of(without, tmp_path), [CalendarOfForecast]) == []
