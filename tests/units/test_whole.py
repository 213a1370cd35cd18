from __future__ import annotations

import math

import pytest

from nmlgen.units.whole import whole_number


@pytest.mark.parametrize(
    ("digits", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("-7", -7),
        ("+7", 7),
        ("0" * 5000 + "7", 7),
        ("9" * 4000, 10**4000 - 1),
        ("9" * 4001, math.inf),
        ("-" + "9" * 4001, -math.inf),
    ],
)
def test_a_number_of_any_length(digits, number):
    found = whole_number(digits)
    assert (found, type(found)) == (number, type(number))
