"""Instants and calendars, held against metomi-isodatetime in the three calendars of ICON."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from metomi.isodatetime.data import Calendar as OtherCalendar
from metomi.isodatetime.data import Duration as OtherDuration
from metomi.isodatetime.data import TimePoint
from rows import rows

from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration

DAY = 86_400_000
MODES = {
    Calendar.PROLEPTIC_GREGORIAN: OtherCalendar.MODE_GREGORIAN,
    Calendar.DAYS_365: OtherCalendar.MODE_365,
    Calendar.DAYS_360: OtherCalendar.MODE_360,
}
calendars = st.sampled_from(list(Calendar))
instants = st.builds(
    Instant,
    st.integers(1, 9000),
    st.integers(1, 12),
    st.integers(1, 31),
    st.integers(0, DAY // 1000 - 1).map(lambda seconds: 1000 * seconds),
)


@pytest.fixture(autouse=True, scope="module")
def _other_calendar() -> Iterator[None]:
    """The other library keeps its calendar in the process: give it back."""
    yield
    OtherCalendar.default().set_mode(OtherCalendar.MODE_GREGORIAN)


def other(calendar: Calendar, instant: Instant) -> TimePoint:
    """The same instant in the other library."""
    OtherCalendar.default().set_mode(MODES[calendar])
    seconds = instant.milliseconds // 1000
    return TimePoint(
        year=instant.year,
        month_of_year=instant.month,
        day_of_month=instant.day,
        hour_of_day=seconds // 3600,
        minute_of_hour=seconds // 60 % 60,
        second_of_minute=seconds % 60,
        time_zone_hour=0,
        time_zone_minute=0,
    )


def fields(point: TimePoint) -> Instant:
    """An instant of the other library as ours."""
    seconds = round(point.hour_of_day) * 3600 + round(point.minute_of_hour) * 60 + round(point.second_of_minute)
    return Instant(point.year, point.month_of_year, point.day_of_month, 1000 * seconds)


@given(calendars, instants, instants)
def test_distance_agrees(calendar: Calendar, first: Instant, second: Instant) -> None:
    assume(calendar.has(first) and calendar.has(second))
    difference = other(calendar, second) - other(calendar, first)
    assert calendar.position(second) - calendar.position(first) == 1000 * difference.get_seconds()


@given(calendars, instants, st.integers(0, 5_000_000))
def test_adding_a_fixed_length_agrees(calendar: Calendar, instant: Instant, minutes: int) -> None:
    assume(calendar.has(instant))
    expected = other(calendar, instant) + OtherDuration(minutes=minutes)
    assert calendar.add(instant, Duration(0, 60_000 * minutes)) == fields(expected)


@given(calendars, instants, st.integers(0, 600))
def test_adding_months_agrees(calendar: Calendar, instant: Instant, months: int) -> None:
    assume(instant.day <= 28)  # the other library cuts the day off at every month that it passes
    expected = other(calendar, instant) + OtherDuration(months=months)
    assert calendar.add(instant, Duration(months, 0)) == fields(expected)


@given(calendars, instants, st.integers(-(10**13), 10**13))
def test_adding_is_undone_by_subtracting(calendar: Calendar, instant: Instant, milliseconds: int) -> None:
    assume(calendar.has(instant))
    later = calendar.add(instant, Duration(0, milliseconds))
    assert calendar.has(later)
    assert calendar.position(later) - calendar.position(instant) == milliseconds
    assert calendar.add(later, Duration(0, -milliseconds)) == instant


@given(calendars, instants, instants)
def test_later_instants_have_greater_positions(calendar: Calendar, first: Instant, second: Instant) -> None:
    assume(calendar.has(first) and calendar.has(second))
    assert (calendar.position(first) < calendar.position(second)) == (first < second)


@given(instants)
def test_printing_loses_nothing(instant: Instant) -> None:
    assert Instant.parse(str(instant)) == instant


@rows(
    "text",
    [
        "2000-01-01T00:00:00Z",
        "2000-01-01T00:00:00",
        "2000-01-01t00:00:00z",
        "2000-01-01 00:00:00",
        "2000-01-01T00:00:00.000Z",
        "2000-01-01T00:00",
        "2000-01-01T00",
        "2000-01-01",
        "20000101T000000Z",
        "20000101",
    ],
)
def test_every_form_of_an_instant(text: str) -> None:
    assert Instant.parse(text) == Instant(2000, 1, 1)


@rows(
    "text",
    [
        "yesterday",
        "noon",
        "2000-13-01T00:00:00Z",
        "2000-00-01T00:00:00Z",
        "2000-01-32T00:00:00Z",
        "2000-01-01T24:00:00Z",
        "2000-01-01T00:00:00+01:00",
        "2000-01-01T00:60:00Z",
        "20000101T00:00:00Z",
        "2000-01-01T000000Z",
        "",
    ],
)
def test_no_instant(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Instant.parse(text)


@pytest.mark.parametrize(
    ("calendar", "instant", "exists"),
    [
        (Calendar.PROLEPTIC_GREGORIAN, Instant(2000, 2, 29), True),
        (Calendar.PROLEPTIC_GREGORIAN, Instant(1900, 2, 29), False),
        (Calendar.PROLEPTIC_GREGORIAN, Instant(2000, 2, 30), False),
        (Calendar.DAYS_365, Instant(2000, 2, 29), False),
        (Calendar.DAYS_360, Instant(2000, 2, 30), True),
        (Calendar.DAYS_360, Instant(2000, 1, 31), False),
    ],
)
def test_days_of_a_month(calendar: Calendar, instant: Instant, exists: bool) -> None:
    assert calendar.has(instant) is exists


def test_month_ends_on_its_last_day() -> None:
    assert Calendar.PROLEPTIC_GREGORIAN.add(Instant(2001, 1, 31), Duration(1, 0)) == Instant(2001, 2, 28)
    assert Calendar.DAYS_360.add(Instant(2001, 1, 30), Duration(1, 0)) == Instant(2001, 2, 30)
