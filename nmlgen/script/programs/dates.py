"""GNU's `date` of a given instant.

Without `-u` the zone is not known, and an answer holds for every zone whose clock is not being put forward or back
between the instants concerned: a date alone, or years, months and days added to it, are calendar arithmetic; hours are
only added in the months in which no zone changes its clock.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from nmlgen.script.programs.command import Command, Result, UndecidedCommand
from nmlgen.values import define

_UNITS = {
    "year": "months", "month": "months", "fortnight": "days", "week": "days", "day": "days",
    "hour": "seconds", "minute": "seconds", "min": "seconds", "second": "seconds", "sec": "seconds",
}  # fmt: skip
_SIZES = {
    "year": 12, "month": 1, "fortnight": 14, "week": 7, "day": 1,
    "hour": 3600, "minute": 60, "min": 60, "second": 1, "sec": 1,
}  # fmt: skip
_TOKEN = re.compile(
    r"[ \t]*(?:(?P<iso>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:T(?=[0-9]{2}:[0-9]{2}))?|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}(?!T))"
    r"|(?P<american>[0-9]{1,2}/[0-9]{1,2}/[0-9]{4})"
    r"|(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?)(?P<zone>Z|(?=[ \t]*[-+]))?"
    r"|(?P<epoch>@-?[0-9]{1,11})(?![0-9.,])"
    r"|(?P<signed>[-+])[ \t]*(?P<amount>[0-9]{1,9})(?![0-9:/.,-])|(?P<number>[0-9]{1,9})(?![0-9:/.,-])"
    r"|(?P<word>[A-Za-z]+)|(?P<end>\Z))"
)


@define
class _Instant:
    """What a text says: a date, a time of day, and what is to be added."""

    date: tuple[int, int, int] | None = None
    time: tuple[int, int, int] | None = None
    epoch: int | None = None
    is_utc: bool = False
    months: int = 0
    days: int = 0
    seconds: int = 0

    def add(self, amount: int, unit: str) -> None:
        """Add so many of a unit."""
        unit = unit.removesuffix("s") if unit not in _UNITS else unit
        if self.epoch is not None or unit not in _UNITS or abs(amount) > 10**9:
            raise UndecidedCommand(f"the unit {unit}")
        field = _UNITS[unit]
        setattr(self, field, getattr(self, field) + amount * _SIZES[unit])


def date(command: Command) -> Result:
    """`date -d TEXT +FORMAT`, and `-u`."""
    names = {"date": "d", "utc": "u", "universal": "u", "iso-8601": "I"}
    arguments = ["-I" if text in ("-Idate", "--iso-8601=date") else text for text in command.arguments]
    pairs, operands = Command(tuple(arguments), None).options("uI", "d", names)
    texts = [value for letter, value in pairs if letter == "d"]
    letters = {letter for letter, _ in pairs}
    formats = operands + ["+%Y-%m-%d"] * ("I" in letters)
    if len(texts) != 1 or len(formats) != 1 or not formats[0].startswith("+"):
        raise UndecidedCommand("the present, or a format of the locale")
    is_utc = "u" in letters
    instant = _read(texts[0])
    moment = _resolved(instant, is_utc)
    return _formatted(moment, formats[0][1:], is_utc) + "\n", 0


def _read(text: str) -> _Instant:
    """The instant that a text says, as far as it is one of the usual forms."""
    instant = _Instant()
    offset = 0
    awaits_unit: int | None = None
    while True:
        match = _TOKEN.match(text, offset)
        if match is None:
            raise UndecidedCommand(f"the date {text}")
        offset = match.end()
        word = (match["word"] or "").lower()
        if awaits_unit is not None:
            if not word:
                raise UndecidedCommand("a number that may be a zone")
            offset = _add(instant, awaits_unit, word, text, offset)
            awaits_unit = None
        elif match["end"] is not None:
            return instant
        elif match["amount"]:
            awaits_unit = int(match["signed"] + match["amount"])
        elif match["number"]:
            awaits_unit = _number(instant, match["number"], text[offset:])
        elif word:
            offset = _word(instant, word, text, offset)
        else:
            _absolute(instant, match)


def _add(instant: _Instant, amount: int, unit: str, text: str, offset: int) -> int:
    """Add so many of a unit; `ago` behind it turns the sign. Where reading goes on."""
    ago = re.compile(r"[ \t]+ago\b", re.IGNORECASE).match(text, offset)
    if ago and (instant.months, instant.days, instant.seconds) != (0, 0, 0):
        raise UndecidedCommand("ago behind several units")
    instant.add(-amount if ago else amount, unit)
    return ago.end() if ago else offset


def _word(instant: _Instant, word: str, text: str, offset: int) -> int:
    if word in ("tomorrow", "yesterday"):
        instant.add(1 if word == "tomorrow" else -1, "day")
        return offset
    if word in ("utc", "gmt", "z") and instant.time is not None:
        instant.is_utc = True
        return offset
    if word in ("next", "last"):
        match = re.compile(r"[ \t]+([A-Za-z]+)").match(text, offset)
        if match is None:
            raise UndecidedCommand(f"the date {text}")
        return _add(instant, 1 if word == "next" else -1, match[1].lower(), text, match.end())
    return _add(instant, 1, word, text, offset)


def _number(instant: _Instant, number: str, rest: str) -> int | None:
    """A number without a sign: a date, a time of day, or an amount whose unit comes next."""
    if re.match(r"[ \t]*[A-Za-z]", rest) and not re.match(r"[ \t]*T[0-9]", rest):
        if len(number) == 8:
            unit = re.match(r"[ \t]*([A-Za-z]+)", rest)
            if unit and unit[1].lower() not in ("tomorrow", "yesterday", "next", "last"):
                raise UndecidedCommand("a date that may be an amount")
        else:
            return int(number)
    if instant.date is None and len(number) == 8:
        instant.date = int(number[:4]), int(number[4:6]), int(number[6:])
    elif instant.date is not None and instant.time is None and len(number) in (1, 2, 4):
        if re.match(r"[ \t]*[-+]", rest):
            raise UndecidedCommand("a zone behind an hour")
        hour, minute = (int(number[:2]), int(number[2:])) if len(number) == 4 else (int(number), 0)
        instant.time = hour, minute, 0
    else:
        raise UndecidedCommand(f"the number {number}")
    return None


def _absolute(instant: _Instant, match: re.Match[str]) -> None:
    if match["epoch"]:
        if instant.date or instant.time or match.start():
            raise UndecidedCommand("an epoch among other things")
        instant.epoch = int(match["epoch"][1:])
    elif match["time"]:
        if instant.time is not None or instant.epoch is not None or match["zone"] == "":
            raise UndecidedCommand("several times, or a zone")
        hour, minute, second = [*map(int, match["time"].split(":")), 0][:3]
        instant.time = hour, minute, second
        instant.is_utc = match["zone"] == "Z"
    else:
        if instant.date is not None or instant.epoch is not None:
            raise UndecidedCommand("several dates")
        parts = [int(part) for part in re.split("[-/]", (match["iso"] or match["american"]).removesuffix("T"))]
        year, month, day = parts if match["iso"] else (parts[2], parts[0], parts[1])
        instant.date = year, month, day


def _resolved(instant: _Instant, is_utc: bool) -> datetime:
    """The moment, on the clock that is asked for."""
    try:
        if instant.epoch is not None:
            if not is_utc or instant.months or instant.days or instant.seconds:
                raise UndecidedCommand("an epoch on a clock that is not known")
            return datetime(1970, 1, 1) + timedelta(seconds=instant.epoch)
        if instant.date is None or (instant.is_utc and not is_utc):
            raise UndecidedCommand("the present, or a clock that is not known")
        year, month, day = instant.date
        start = datetime(year, month, day, *(instant.time or (0, 0, 0)))
        months = year * 12 + month - 1 + instant.months
        first = start.replace(year=months // 12, month=months % 12 + 1, day=1)
        moment = first + timedelta(days=day - 1 + instant.days)
        result = moment + timedelta(seconds=instant.seconds)
    except (ValueError, OverflowError) as error:
        raise UndecidedCommand("a date that does not exist") from error
    if instant.seconds and not is_utc and not _is_of_one_clock(moment, result):
        raise UndecidedCommand("hours across a change of the clock")
    if not 1971 <= result.year <= 2100 or not 1971 <= moment.year <= 2100:
        _refuse_far_years(result)
    return result


def _refuse_far_years(moment: datetime) -> None:
    if moment.year < 1000 or moment.year > 9000:
        raise UndecidedCommand("a year that is unusual")


def _is_of_one_clock(start: datetime, end: datetime) -> bool:
    """Whether no zone changes its clock between two moments: both in one winter, or in one summer."""
    first, last = sorted((start, end))
    if last - first > timedelta(days=120):
        return False
    seasons = ((datetime(2001, 5, 15), datetime(2001, 8, 15)), (datetime(2001, 11, 20), datetime(2002, 2, 10)))
    for opening, closing in seasons:
        for year in (first.year - 1, first.year):
            begin = opening.replace(year=year)
            finish = closing.replace(year=year + closing.year - opening.year)
            if begin <= first and last <= finish:
                return True
    return False


_NUMBERS = {
    "Y": ("%Y", 4, "0"), "m": ("%m", 2, "0"), "d": ("%d", 2, "0"), "H": ("%H", 2, "0"), "M": ("%M", 2, "0"),
    "S": ("%S", 2, "0"), "y": ("%y", 2, "0"), "j": ("%j", 3, "0"), "e": ("%d", 2, " "), "k": ("%H", 2, " "),
    "I": ("%I", 2, "0"), "l": ("%I", 2, " "), "u": ("%u", 1, "0"), "w": ("%w", 1, "0"), "U": ("%U", 2, "0"),
    "W": ("%W", 2, "0"), "V": ("%V", 2, "0"), "G": ("%G", 4, "0"), "C": ("%C", 2, "0"),
}  # fmt: skip
_COMPOUND = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "D": "%m/%d/%y", "R": "%H:%M"}


def _formatted(moment: datetime, text: str, is_utc: bool) -> str:
    """The moment in a format of numbers: names of months and days are the locale's."""

    def conversion(match: re.Match[str]) -> str:
        flag, letter = match[1] or "", match[2] or ""
        if letter in _COMPOUND and not flag:
            return _formatted(moment, _COMPOUND[letter], is_utc)
        if letter in _NUMBERS:
            source, width, padding = _NUMBERS[letter]
            digits = str(int(_number_of(moment, source)))
            padding = {"-": "", "_": " ", "0": "0"}.get(flag, padding)
            return digits.rjust(width, padding) if padding else digits
        if letter in ("s", "z", "Z") and is_utc and not flag:
            epoch = int(moment.replace(tzinfo=timezone.utc).timestamp())
            return {"s": str(epoch), "z": "+0000", "Z": "UTC"}[letter]
        if letter in ("n", "t", "%", "N") and not flag:
            return {"n": "\n", "t": "\t", "%": "%", "N": "000000000"}[letter]
        raise UndecidedCommand(f"the format %{flag}{letter}")

    return re.sub(r"%([-_0]?)([A-Za-z%]?)", conversion, text)


def _number_of(moment: datetime, source: str) -> str:
    if source == "%C":
        return str(moment.year // 100)
    return moment.strftime(source) if source != "%Y" else str(moment.year)


PROGRAMS = {"date": date}
