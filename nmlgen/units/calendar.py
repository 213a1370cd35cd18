"""Instants in the calendars that ICON knows, and the arithmetic between them.

A calendar here is a value that is passed along; libraries that keep the calendar in a process-wide variable
would make two specs in one process disturb each other. The tests hold this arithmetic against one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from enum import Enum
from functools import lru_cache

from nmlgen.units.duration import Duration
from nmlgen.values import frozen

_DAY = 86_400_000
_EXTENDED = re.compile(
    r"([+-]?\d{1,6})-(\d\d)-(\d\d)(?:[Tt ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?)?[Zz]?", re.ASCII
)
_BASIC = re.compile(r"([+-]?\d{4})(\d\d)(\d\d)(?:[Tt ](\d\d)(\d\d)(\d\d)(?:\.(\d{1,3}))?)?[Zz]?", re.ASCII)


@frozen(order=True)
class Instant:
    """A date and a time of day; `milliseconds` counts from midnight."""

    year: int
    month: int
    day: int
    milliseconds: int = 0

    @classmethod
    @lru_cache(maxsize=1024)
    def parse(cls, text: str) -> Instant:
        """Read an instant in mtime's extended (2008-09-01T00:00:00Z) or basic (20080901T000000Z) form.

        Raises ValueError for anything else: another offset than Z, 24:00, a 13th month.
        """
        match = _EXTENDED.fullmatch(text) or _BASIC.fullmatch(text)
        if not match:
            raise ValueError("an ISO 8601 instant such as 2008-09-01T00:00:00Z is expected")
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
        if not (1 <= month <= 12 and 1 <= day <= 31 and hour <= 23 and minute <= 59 and second <= 59):
            raise ValueError("there is no such date or time of day")
        fraction = int((match[7] or "").ljust(3, "0"))
        return cls(year, month, day, ((hour * 60 + minute) * 60 + second) * 1000 + fraction)

    def __str__(self) -> str:
        seconds, fraction = divmod(self.milliseconds, 1000)
        time = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        time += f".{fraction:03d}" if fraction else ""
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}T{time}Z"

    @property
    def basic(self) -> str:
        """The same in the basic form, without a fraction of a second: as in the names of ICON's checkpoints."""
        date, _, time = str(self).partition("T")
        return f"{date.replace('-', '')}T{time[:8].replace(':', '')}Z"


class Calendar(Enum):
    """The calendars of ICON's `master_time_control_nml`, spelt as ICON spells them."""

    PROLEPTIC_GREGORIAN = "proleptic gregorian"
    DAYS_365 = "365 day year"
    DAYS_360 = "360 day year"

    def has(self, instant: Instant) -> bool:
        """Whether the day exists in this calendar."""
        return instant.day <= self._days_in_month(instant.year, instant.month)

    @lru_cache(maxsize=1024)
    def position(self, instant: Instant) -> int:
        """Milliseconds from a fixed beginning: the difference of two positions is the time between them."""
        return self._day_number(instant.year, instant.month, instant.day) * _DAY + instant.milliseconds

    @lru_cache(maxsize=1024)
    def add(self, instant: Instant, duration: Duration) -> Instant:
        """The instant so much later; a day beyond the end of the new month becomes its last day."""
        return self._later(instant, duration)[0]

    def at(self, position: int) -> Instant:
        """The instant at a position."""
        return self._from_day_number(*divmod(position, _DAY))

    def every(self, instant: Instant, duration: Duration) -> Iterator[int]:
        """The positions of an instant and of all that follow, each so much later than the one before."""
        position = self.position(instant)
        while True:
            yield position
            instant, position = self._later(instant, duration)

    def _later(self, instant: Instant, duration: Duration) -> tuple[Instant, int]:
        """The instant so much later, and its position."""
        year, month = divmod(instant.year * 12 + instant.month - 1 + duration.months, 12)
        month += 1
        day = min(instant.day, self._days_in_month(year, month))
        position = self._day_number(year, month, day) * _DAY + instant.milliseconds + duration.milliseconds
        if not duration.milliseconds:
            return Instant(year, month, day, instant.milliseconds), position
        return self._from_day_number(*divmod(position, _DAY)), position

    def _days_in_month(self, year: int, month: int) -> int:
        if self is Calendar.DAYS_360:
            return 30
        if month == 2:
            return 29 if self is Calendar.PROLEPTIC_GREGORIAN and _is_leap(year) else 28
        return 30 if month in (4, 6, 9, 11) else 31

    def _day_number(self, year: int, month: int, day: int) -> int:
        if self is Calendar.DAYS_360:
            return year * 360 + (month - 1) * 30 + day - 1
        if self is Calendar.DAYS_365:
            return year * 365 + date(2001, month, 1).timetuple().tm_yday + day - 2
        shifted = year % 400 + 400  # within datetime's range; 400 years are 146097 days
        return date(shifted, month, 1).toordinal() + day - 1 + (year - shifted) // 400 * 146_097

    def _from_day_number(self, number: int, milliseconds: int) -> Instant:
        if self is Calendar.DAYS_360:
            year, rest = divmod(number, 360)
            return Instant(year, rest // 30 + 1, rest % 30 + 1, milliseconds)
        if self is Calendar.DAYS_365:
            year, rest = divmod(number, 365)
            there = date.fromordinal(date(2001, 1, 1).toordinal() + rest)
            return Instant(year, there.month, there.day, milliseconds)
        cycles, rest = divmod(number - 1, 146_097)
        there = date.fromordinal(rest + 1)
        return Instant(there.year + 400 * cycles, there.month, there.day, milliseconds)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
