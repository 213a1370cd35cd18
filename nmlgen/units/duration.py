"""Durations as ICON's time library mtime takes them: ISO 8601 with restrictions.

mtime (libmtime as bundled with ICON 2024.10, tried with the library itself) takes a single unit with any number
("P400D", "PT90M"), or several units within their natural bounds ("P1DT12H", but not "P1DT24H"); months never
exceed 11; weeks and fractions of anything but seconds are refused; seconds have up to three decimals.
"""

from __future__ import annotations

import re
from functools import lru_cache

from nmlgen.values import frozen

_PATTERN = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+)(?:\.(?P<fraction>[0-9]{1,3}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
_BOUNDS = {"months": 11, "days": 31, "hours": 23, "minutes": 59, "seconds": 59}
_MAXIMUM_LENGTH = 32


@frozen(order=False)
class Duration:
    """`months` calendar months and `milliseconds` of fixed length, both carrying the sign."""

    months: int
    milliseconds: int

    @property
    def is_fixed(self) -> bool:
        """Whether the length does not depend on the calendar: no years and no months."""
        return self.months == 0

    @property
    def seconds(self) -> float:
        """The length in seconds; raises ValueError for a duration in months or years."""
        if not self.is_fixed:
            raise ValueError("a duration in months or years has no fixed length")
        return self.milliseconds / 1000

    @classmethod
    def of_seconds(cls, seconds: float) -> Duration:
        """The duration of so many seconds, to the millisecond."""
        return cls(0, round(seconds * 1000))

    @classmethod
    @lru_cache(maxsize=1024)
    def parse(cls, text: str) -> Duration:
        """Read an ISO 8601 duration; raises ValueError with what mtime would object to."""
        match = _PATTERN.fullmatch(text)
        if not match or len(text) > _MAXIMUM_LENGTH:
            raise ValueError(_objection(text))
        parts = {unit: int(number) for unit, number in match.groupdict().items() if _is_number(unit, number)}
        if not parts or text.upper().endswith("T"):
            raise ValueError("a duration names at least one unit, such as P1D or PT12M")
        _check_bounds(parts)
        fraction = (match["fraction"] or "").ljust(3, "0")
        milliseconds = int(fraction) + 1000 * (
            parts.get("seconds", 0)
            + 60 * parts.get("minutes", 0)
            + 3600 * parts.get("hours", 0)
            + 86400 * parts.get("days", 0)
        )
        months = 12 * parts.get("years", 0) + parts.get("months", 0)
        return cls(-months, -milliseconds) if match["sign"] == "-" else cls(months, milliseconds)

    def __str__(self) -> str:
        sign = "-" if self.months < 0 or self.milliseconds < 0 else ""
        years, months = divmod(abs(self.months), 12)
        days, rest = divmod(abs(self.milliseconds), 86_400_000)
        hours, rest = divmod(rest, 3_600_000)
        minutes, rest = divmod(rest, 60_000)
        seconds = f"{rest / 1000:.3f}".rstrip("0").rstrip(".")
        date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
        time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
        time += f"{seconds}S" if rest or not (date or time) else ""
        return f"{sign}P{date}{'T' + time if time else ''}"


def _is_number(unit: str, number: str | None) -> bool:
    return number is not None and unit not in ("sign", "fraction")


def _check_bounds(parts: dict[str, int]) -> None:
    several = sum(1 for number in parts.values() if number) > 1
    for unit, bound in _BOUNDS.items():
        if parts.get(unit, 0) > bound and (several or unit == "months"):
            raise ValueError(
                f"{parts[unit]} {unit} are more than {bound}: mtime takes a larger number only when it is the "
                "duration's only unit, and never for months (write years)"
            )


def _objection(text: str) -> str:
    if len(text) > _MAXIMUM_LENGTH:
        return f"mtime takes at most {_MAXIMUM_LENGTH} characters"
    if re.fullmatch(r"[+-]?P[0-9]+W", text, re.IGNORECASE | re.ASCII):
        return "mtime knows no weeks: write days"
    if re.search(r"[0-9][.,][0-9]*[YMDH]", text, re.IGNORECASE | re.ASCII) or re.search(
        r"T[^T]*[.,][0-9]*M", text, re.IGNORECASE | re.ASCII
    ):
        return "mtime takes a fraction of seconds only: write PT30M, not PT0.5H"
    if re.search(r"\.[0-9]{4,}S", text, re.IGNORECASE | re.ASCII):
        return "mtime takes at most three decimals of a second"
    return "an ISO 8601 duration such as PT12M or P10D is expected"
