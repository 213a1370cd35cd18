"""Time limits in the six forms of sbatch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from nmlgen.units.wall_time import format_wall_time, parse_wall_time, spoken_time, wall_time_form


@pytest.mark.parametrize(
    ("text", "seconds", "form"),
    [
        ("90", 5400, "minutes"),
        ("8:00", 480, "minutes:seconds"),
        ("00:40:00", 2400, "hours:minutes:seconds"),
        ("1-12", 129600, "days-hours"),
        ("1-12:30", 131400, "days-hours:minutes"),
        ("7-00:00:00", 604800, "days-hours:minutes:seconds"),
    ],
)
def test_every_form_of_sbatch(text: str, seconds: int, form: str) -> None:
    assert parse_wall_time(text) == seconds
    assert wall_time_form(text) == form


@rows("text", ["", "90s", "1h", "1-", "1:2:3:4", "-5", "1.5", "UNLIMITED", "infinite", "00:40:00 "])
def test_time_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="hours:minutes:seconds"):
        parse_wall_time(text)


@given(st.integers(0, 10**8))
def test_printing_loses_nothing(seconds: int) -> None:
    assert parse_wall_time(format_wall_time(seconds)) == seconds


def test_days_are_written_from_a_day_on() -> None:
    assert format_wall_time(86399) == "23:59:59"
    assert format_wall_time(86400) == "1-00:00:00"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5214, "0.521 s"), (9.0, "9 s"), (95.04, "95 s"), (102, "1.7 min"), (5990, "99.8 min"), (9000, "2.5 h")],
)
def test_spoken(seconds, words):
    assert spoken_time(seconds) == words
