"""Times, rates and shares as people read them."""

from __future__ import annotations

import pytest

from nmlgen.report.quantities import format_duration, format_number, format_share


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (0.0719, "0.072"), (12.345, "12.35"), (1504.035, "1 504.0"), (12345.6, "12 346"), (-2.5, "-2.50")],
)
def test_numbers(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.25 s"),
        (59.9, "59.9 s"),
        (59.99, "1 min 0 s"),
        (1504, "25 min 4 s"),
        (3599.7, "1 h 0 min"),
        (7325.6, "2 h 2 min"),
        (100 * 3600, "100 h 0 min"),
    ],
)
def test_durations(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.384, "+38.4 %"),
        (-0.0213, "−2.1 %"),
        (0.0, "0.0 %"),
        (-0.0001, "0.0 %"),
        (3.34, "+334 %"),
        (0.9996, "+100.0 %"),
    ],
)
def test_shares(share, text):
    assert format_share(share) == text
