"""Durations as mtime compares them: by the parts that were written, not by their length.

`compareTimeDelta` of the mtime that ICON 2024.10 bundles looks at years, months, days, hours, minutes, seconds and
milliseconds in turn: PT24H is less than P1D, PT90M less than PT1H30M. Only where one of the two has 59 seconds
or more are the seconds of both spread over the other parts before, and then months and years cannot be compared.
"""

from __future__ import annotations

import re

from nmlgen.units.calendar import Calendar, Instant
from nmlgen.units.duration import Duration
from nmlgen.values import frozen

_DATE = re.compile(r"(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?", re.ASCII)
_TIME = re.compile(r"(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", re.ASCII)
_MANY_SECONDS = 59


@frozen
class TimeDelta:
    """Years, months, days, hours, minutes, seconds and milliseconds, none below zero, and their sign."""

    parts: tuple[int, ...]
    is_negative: bool = False

    @classmethod
    def parse(cls, text: str) -> TimeDelta:
        """Read a duration; raises ValueError for what mtime does not take."""
        Duration.parse(text)
        date, _, time = text.upper().lstrip("+-P").partition("T")
        read = (_DATE.fullmatch(date), _TIME.fullmatch(time))
        numbers = [number or "0" for match in read if match for number in match.groups()]
        numbers[-1] = numbers[-1].ljust(3, "0") if numbers[-1] != "0" else "0"
        return cls(tuple(map(int, numbers)), text.startswith("-"))

    @classmethod
    def of_milliseconds(cls, milliseconds: int, calendar: Calendar) -> TimeDelta | None:
        """What mtime makes of milliseconds above zero (`getPTStringFromMS`): as long as 31 days they become a month,
        counted from the first of January of the year 0. None where the calendar of 365 days counts in a way of its
        own."""
        beginning = Instant(0, 1, 1)
        end = calendar.add(beginning, Duration(0, milliseconds))
        if calendar is Calendar.DAYS_365 and (end.year, end.month) > (0, 1):
            return None
        return cls((end.year, end.month - 1, end.day - 1, *_time_of_day(end.milliseconds)))

    @classmethod
    def of_seconds(cls, seconds: int, milliseconds: int = 0) -> TimeDelta:
        """A number of seconds that stands as such."""
        return cls((0, 0, 0, 0, 0, seconds, milliseconds))

    def compare(self, other: TimeDelta) -> int | None:
        """Below zero where this one is less, above where it is more; None where mtime cannot say."""
        if self.is_negative != other.is_negative:
            return -1 if self.is_negative else 1
        mine, others = self.parts, other.parts
        if mine[5] >= _MANY_SECONDS or others[5] >= _MANY_SECONDS:
            if any(mine[:2]) or any(others[:2]):
                return None
            mine, others = _spread(mine), _spread(others)
        sign = (mine > others) - (mine < others)
        return -sign if self.is_negative else sign


def _spread(parts: tuple[int, ...]) -> tuple[int, ...]:
    years, months, days, hours, minutes, seconds, milliseconds = parts
    more = _time_of_day(seconds % 86_400 * 1000)
    return years, months, days + seconds // 86_400, hours + more[0], minutes + more[1], more[2], milliseconds


def _time_of_day(milliseconds: int) -> tuple[int, int, int, int]:
    """Hours, minutes, seconds and milliseconds."""
    seconds, rest = divmod(milliseconds, 1000)
    return seconds // 3600, seconds // 60 % 60, seconds % 60, rest
