"""Whole numbers of any length."""

from __future__ import annotations

import math

_MOST_DIGITS = 4000  # Python reads no more than 4300, zeros in front included


def whole_number(digits: str) -> int | float:
    """The number that digits with or without a sign are; infinity if they are so many that nobody means them.

    >>> whole_number("-0012"), whole_number("+" + "9" * 5000)
    (-12, inf)
    """
    magnitude = digits.lstrip("+-0")
    number = int(magnitude or "0") if len(magnitude) <= _MOST_DIGITS else math.inf
    return -number if digits.startswith("-") else number
