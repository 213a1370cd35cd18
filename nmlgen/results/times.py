"""The model times in a NetCDF file's variable `time`, as ICON and CDI write them.

Sources: files that ICON 2024.10 wrote with `mode = 1` ("day as %Y%m%d.%f") and `mode = 2` ("minutes since ...").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite

from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration

_DAY = 86_400_000
_ABSOLUTE = "day as %Y%m%d.%f"
_SINCE = re.compile(
    r"(?P<unit>second|minute|hour|day)s? since (?P<date>-?\d{1,6}-\d{1,2}-\d{1,2})(?: (?P<time>[\d:.]+))?"
)
_UNITS = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": _DAY}


def positions(values: Iterable[float], units: str, calendar: Calendar) -> tuple[int, ...] | None:
    """The times as positions of the calendar in milliseconds; None where the units are not known or a date is none."""
    values = tuple(values)
    if not values:
        return ()
    try:
        if units.strip() == _ABSOLUTE:
            return tuple(_absolute(value, calendar) for value in values)
        match = _SINCE.match(units.strip())
        if match is None:
            return None
        begin, unit = _instant(match["date"], match["time"] or ""), _UNITS[match["unit"]]
        first = calendar.position(begin)
        return tuple(first + round(value * unit) for value in values)
    except (ValueError, OverflowError):
        return None


def _absolute(value: float, calendar: Calendar) -> int:
    if not isfinite(value):
        raise ValueError
    day = int(value)
    sign = -1 if day < 0 else 1
    year, month, date = sign * (abs(day) // 10_000), abs(day) // 100 % 100, abs(day) % 100
    instant = Instant(year, month, date)
    if not (1 <= month <= 12 and calendar.has(instant) and date >= 1):
        raise ValueError
    return calendar.position(calendar.add(instant, Duration(0, round(abs(value - day) * _DAY))))


def _instant(date: str, time: str) -> Instant:
    sign, text = ("-", date[1:]) if date.startswith("-") else ("", date)
    year, month, day = text.split("-")
    hour, minute, second = (*(time.split(":") if time else ()), "0", "0", "0")[:3]
    seconds = f"{float(second):09.6f}"[:6]
    return Instant.parse(
        f"{sign}{int(year):04d}-{int(month):02d}-{int(day):02d}T{int(hour):02d}:{int(minute):02d}:{seconds}Z"
    )
