"""Durations: what ICON's time library takes, what it refuses, and that printing loses nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from nmlgen.units.duration import Duration

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000

# What ICON 2024.10 took for checkpointTimeIntval, output_interval, file_interval or modelTimeStep.
ACCEPTED = {
    "PT0S": (0, 0),
    "PT0.5S": (0, 500),
    "PT600.5S": (0, 600_500),
    "PT1800.5S": (0, 1_800_500),
    "PT3600S": (0, HOUR),
    "PT86401S": (0, DAY + 1000),
    "PT25M": (0, 25 * MINUTE),
    "PT60M": (0, HOUR),
    "PT61M": (0, 61 * MINUTE),
    "PT90M": (0, 90 * MINUTE),
    "PT120M": (0, 2 * HOUR),
    "pt30m": (0, 30 * MINUTE),
    "PT01H": (0, HOUR),
    "PT001H": (0, HOUR),
    "PT24H": (0, DAY),
    "PT25H": (0, 25 * HOUR),
    "PT36H": (0, 36 * HOUR),
    "PT1H30M": (0, 90 * MINUTE),
    "P1D": (0, DAY),
    "P01D": (0, DAY),
    "P32D": (0, 32 * DAY),
    "P400D": (0, 400 * DAY),
    "P01DT00H": (0, DAY),
    "P1DT6H": (0, 30 * HOUR),
    "P1DT12H": (0, 36 * HOUR),
    "P0DT0H10M0S": (0, 10 * MINUTE),
    "P0Y0M0DT0H20M0S": (0, 20 * MINUTE),
    "P1M": (1, 0),
    "P1Y": (12, 0),
    "P1Y6M": (18, 0),
    "-PT20M": (0, -20 * MINUTE),
}
# What it refused, with an abort or a crash.
REFUSED = [
    "",
    "P",
    "PT",
    "P1DT",
    "T1H",
    "20M",
    "1H",
    "600",
    "hourly",
    "P30M",
    "P12M",
    "P13M",
    "P24M",
    "PT30",
    "PT1H30",
    "PT 30M",
    "PT1M1H",
    "PT0.5H",
    "PT1.5H",
    "PT30.5M",
    "P0.5D",
    "P1.5D",
    "PT1.5555S",
    "P1W",
    "P2W",
    "P1DT24H",
    "P1DT36H",
    "P35DT1H",
    "PT1H60M",
    "PT1H90M",
    "P0001-00-01T00:00:00",
    "P00000000000000000000000000000001D",
]


@rows(("text", "expected"), ACCEPTED.items())
def test_accepted_text_is_read(text: str, expected: tuple[int, int]) -> None:
    duration = Duration.parse(text)
    assert (duration.months, duration.milliseconds) == expected


@rows("text", REFUSED)
def test_refused_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Duration.parse(text)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("P2W", "write days"),
        ("PT0.5H", "PT30M"),
        ("PT1.5555S", "three decimals"),
        ("P12M", "write years"),
        ("P1DT24H", "hours"),
        ("P00000000000000000000000000000001D", "32 characters"),
        ("PT", "at least one unit"),
    ],
)
def test_refusal_says_what_to_write(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        Duration.parse(text)


@given(st.integers(-(10**12), 10**12))
def test_printing_a_fixed_length_loses_nothing(milliseconds: int) -> None:
    duration = Duration(0, milliseconds)
    text = str(duration)
    if abs(milliseconds) < 32 * DAY:  # days beyond 31 stand beside hours only in what we print for people
        assert Duration.parse(text) == duration


@given(st.integers(0, 1200))
def test_printing_months_loses_nothing(months: int) -> None:
    assert Duration.parse(str(Duration(months, 0))) == Duration(months, 0)


@given(st.integers(0, 10**9))
def test_single_unit_takes_any_number(number: int) -> None:
    assert Duration.parse(f"PT{number}S").milliseconds == 1000 * number
    assert Duration.parse(f"PT{number}M").milliseconds == MINUTE * number
    assert Duration.parse(f"P{number}D").milliseconds == DAY * number


@given(st.text(alphabet="P-+T0159YMWDHS. ", max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        duration = Duration.parse(text)
    except ValueError:
        return
    assert Duration.parse(text.lower()) == duration


def test_seconds() -> None:
    assert Duration.of_seconds(0.5) == Duration.parse("PT0.5S")
    assert Duration.parse("PT1H").seconds == 3600.0
    assert Duration.parse("PT1H").is_fixed
    assert not Duration.parse("P1M").is_fixed
    with pytest.raises(ValueError, match="no fixed length"):
        _ = Duration.parse("P1M").seconds
