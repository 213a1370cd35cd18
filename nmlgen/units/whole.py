"""Whole numbers that somebody wrote, of any length."""

from __future__ import annotations

import math
import re

_MOST_DIGITS = 4000  # Python reads no more than 4300, zeros in front included
_DECIMAL = re.compile(r"0*([0-9]{1,18})")


def decimal(text: str) -> int | None:
    """The number that digits are; None for other text, and for one of more than 18 digits, which nobody counts with.

    >>> decimal("0012"), decimal("9" * 19), decimal("\\u00b2"), decimal("-1")
    (12, None, None, None)
    """
    match = _DECIMAL.fullmatch(text)
    return int(match[1]) if match is not None else None


def whole_number(digits: str) -> int | float:
    """The number that digits with or without a sign are; infinity if they are so many that nobody means them.

    >>> whole_number("-0012"), whole_number("+" + "9" * 5000)
    (-12, inf)
    """
    magnitude = digits.lstrip("+-0")
    number = int(magnitude or "0") if len(magnitude) <= _MOST_DIGITS else math.inf
    return -number if digits.startswith("-") else number
