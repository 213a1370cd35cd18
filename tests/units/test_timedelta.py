"""Durations as mtime compares them, against what the library itself said."""

from __future__ import annotations

import pytest

from nmlgen.units.calendar import Calendar
from nmlgen.units.timedelta import TimeDelta

GREGORIAN, DAYS_365, DAYS_360 = Calendar.PROLEPTIC_GREGORIAN, Calendar.DAYS_365, Calendar.DAYS_360
DAY = 86_400_000

# The mtime of ICON 2024.10, tried with the library: compareTimeDelta, and getPTStringFromMS in each calendar.
COMPARED = [
    ("PT600S", "PT10M", 0),
    ("PT90M", "PT1H30M", -1),
    ("PT5400S", "PT1H30M", 0),
    ("PT24H", "P1D", -1),
    ("PT86400S", "P1D", 0),
    ("PT86400S", "PT24H", 1),
    ("P31D", "P1M", -1),
    ("P1M", "P30D", 1),
    ("P1M", "PT59S", None),
    ("P1M", "PT58S", 1),
    ("P1Y", "PT1H0M59S", None),
    ("P1Y", "P11M30D", 1),
    ("PT59S", "PT1M", -1),
    ("PT90S", "PT1M30S", 0),
    ("PT90S", "PT1M30.5S", -1),
    ("-PT1H", "PT1H", -1),
    ("PT0S", "-P1D", 1),
    ("-PT2H", "-PT1H", -1),
    ("-PT1H", "-PT2H", 1),
    ("-PT0S", "PT0S", -1),
]
MADE = [
    (500, GREGORIAN, "PT0.500S"),
    (90_500, GREGORIAN, "PT1M30.500S"),
    (5_400_000, GREGORIAN, "PT1H30M"),
    (30 * DAY, GREGORIAN, "P30D"),
    (31 * DAY, GREGORIAN, "P1M"),
    (59 * DAY, GREGORIAN, "P1M28D"),
    (365 * DAY, GREGORIAN, "P11M30D"),
    (367 * DAY, GREGORIAN, "P1Y1D"),
    (4000 * DAY, GREGORIAN, "P10Y11M13D"),
    (30 * DAY, DAYS_360, "P1M"),
    (400 * DAY, DAYS_360, "P1Y1M10D"),
    (30 * DAY, DAYS_365, "P30D"),
]


def test_parts_are_compared_as_they_are_written() -> None:
    assert [TimeDelta.parse(one).compare(TimeDelta.parse(other)) for one, other, _ in COMPARED] == [
        compared for _, _, compared in COMPARED
    ]


def test_milliseconds_become_parts() -> None:
    for milliseconds, calendar, text in MADE:
        assert TimeDelta.of_milliseconds(milliseconds, calendar) == TimeDelta.parse(text)
    assert TimeDelta.of_milliseconds(31 * DAY, DAYS_365) is None
    assert TimeDelta.of_seconds(5400).compare(TimeDelta.parse("PT1H30M")) == 0


@pytest.mark.parametrize("text", ["PT", "P1DT24H", "P13M", "soon"])
def test_what_mtime_does_not_take_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        TimeDelta.parse(text)
